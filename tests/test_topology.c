// COMPILE: -O1
/* Where workers run, on topologies made up by hwloc: which workers are near each other, that thieves try near victims
 * first and still reach all others, and runs whose workers are in several places. Skipped without hwloc, which knows
 * the places. */
#include "check.h"
#include "config.h"
#include "join_trees.h"
#include "platform/topology.h"

#include <ballast/parts/worker.h>
#include <stdlib.h>

enum { MOST = 64 };

typedef struct crowd {
    uint32_t n;
    bl__place places[MOST];
    bl__near near[MOST];
    uint32_t order[MOST];
    bool several;
} crowd;

static bl__topology *read_or_exit(const char *text) {
    bl__topology *t = bl__topology_read(text);
    if (!CHECK(t != NULL))
        exit(check_end());
    return t;
}

/* Worker i is on core cpus[i]; -1: nobody knows. */
static void seat_all(crowd *c, const bl__topology *t, const int *cpus, uint32_t n) {
    memset(c, 0, sizeof *c);
    c->n = n;
    for (uint32_t i = 0; i < n; i++)
        c->places[i] = bl__topology_place(t, cpus[i]);
    c->several = bl__near_make(c->places, n, c->near, c->order);
}

/* A bit for each worker that is near at this level. */
static uint64_t near_to(const crowd *c, uint32_t worker, uint32_t level) {
    const bl__near *near = &c->near[worker];
    uint64_t bits = 0;
    CHECK(near->count[level] >= 1 && near->first[level] + near->count[level] <= c->n);
    for (uint32_t i = 0; i < near->count[level]; i++)
        bits |= 1ull << c->order[near->first[level] + i];
    return bits;
}

static void test_groups(void) {
    bl__topology *t = read_or_exit("node:2 l3:2 core:4 pu:1");
    int cpus[MOST];
    crowd c;
    check_at("two nodes of two caches");
    for (uint32_t i = 0; i < MOST; i++)
        cpus[i] = (int)i;
    seat_all(&c, t, cpus, 16);
    CHECK(c.several);
    for (uint32_t i = 0; i < 16; i++) {
        CHECK_SAME(near_to(&c, i, 0), 0xfull << i / 4 * 4);
        CHECK_SAME(near_to(&c, i, 1), 0xffull << i / 8 * 8);
    }
    check_at("numbers that do not follow the cores");
    for (uint32_t i = 0; i < 16; i++)
        cpus[i] = (int)(i * 5 % 16);
    seat_all(&c, t, cpus, 16);
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t k = 0; k < 16; k++) {
            CHECK_SAME(near_to(&c, i, 0) >> k & 1, cpus[i] / 4 == cpus[k] / 4);
            CHECK_SAME(near_to(&c, i, 1) >> k & 1, cpus[i] / 8 == cpus[k] / 8);
        }
    check_at("alone at its cache: the node; alone there: all");
    seat_all(&c, t, (const int[]){0, 4, 1, 8}, 4);
    CHECK_SAME(near_to(&c, 0, 0), 5);
    CHECK_SAME(near_to(&c, 1, 0), 7);
    CHECK_SAME(near_to(&c, 1, 1), 7);
    CHECK_SAME(near_to(&c, 3, 0), 15);
    CHECK_SAME(near_to(&c, 3, 1), 15);
    check_at("not known where: all are near");
    seat_all(&c, t, (const int[]){-1, 9, -1, 8, 100000}, 5);
    CHECK(c.several);
    CHECK_SAME(near_to(&c, 0, 0), 31);
    CHECK_SAME(near_to(&c, 4, 1), 31);
    CHECK_SAME(near_to(&c, 1, 0), 10);
    check_at("nothing to tell apart");
    seat_all(&c, t, (const int[]){-1, -1, -1}, 3);
    CHECK(!c.several);
    seat_all(&c, t, (const int[]){0, 1, 2, 3, 0, 1}, 6);
    CHECK(!c.several);
    seat_all(&c, t, (const int[]){0}, 1);
    CHECK(!c.several);
    bl__topology_free(t);
    t = read_or_exit("node:1 l3:1 core:8 pu:2");
    seat_all(&c, t, cpus, 16);
    CHECK(!c.several);
    bl__topology_free(t);
    CHECK(bl__topology_read("no such thing") == NULL);
}

/* Half of all looks and more go to the cache, three quarters and more to the node, and everybody is looked at. */
static void test_victims(void) {
    enum { LOOKS = 16000 };
    bl__topology *t = read_or_exit("node:4 l3:2 core:4 pu:1");
    int cpus[32];
    crowd c;
    for (int i = 0; i < 32; i++)
        cpus[i] = (i * 5) % 32;
    seat_all(&c, t, cpus, 32);
    for (uint32_t id = 0; id < 32; id += 7) {
        bl__run run;
        bl__worker w;
        uint32_t seen[32] = {0}, cache = 0, node = 0, least = LOOKS;
        memset(&run, 0, sizeof run);
        memset(&w, 0, sizeof w);
        run.queue_count = run.workers = 32;
        run.near = c.near;
        run.order = c.order;
        w.run = &run;
        w.id = id;
        w.random = 2654435761u * id | 1;
        check_at("victims of worker %u", id);
        for (uint32_t i = 0; i < LOOKS; i++)
            seen[bl__random_victim(&w)]++;
        for (uint32_t i = 0; i < 32; i++) {
            cache += cpus[i] / 4 == cpus[id] / 4 ? seen[i] : 0;
            node += cpus[i] / 8 == cpus[id] / 8 ? seen[i] : 0;
            least = seen[i] < least ? seen[i] : least;
        }
        CHECK(cache > LOOKS / 2 && cache < LOOKS * 3 / 4);
        CHECK(node > LOOKS * 3 / 4 && node < LOOKS * 9 / 10);
        CHECK(least > LOOKS / 4 / 32 / 2); /* of the quarter that goes to all */
        run.near = NULL;
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < LOOKS; i++)
            seen[bl__random_victim(&w)]++;
        for (uint32_t i = 0; i < 32; i++)
            CHECK(seen[i] > LOOKS / 32 / 2 && seen[i] < LOOKS / 32 * 2);
    }
    bl__topology_free(t);
}

/* To node 0, which every machine has, whatever hwloc makes up. */
static void test_memory(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bl__topology *two = read_or_exit("node:2 core:4 pu:1"), *one = read_or_exit("node:1 core:8 pu:1");
    unsigned char *memory = malloc(200 * page);
    uintptr_t at = ((uintptr_t)memory + page - 1) / page * page;
    unsigned char *first = (unsigned char *)at;
    check_at("memory");
    if (!CHECK(memory != NULL))
        return;
    for (size_t i = 0; i < 100 * page; i++)
        first[i] = (unsigned char)(i * 7 + i / page);
    const bl__place here = bl__topology_place(two, 0);
    const size_t asked = bl__topology_move(two, here, first, 199 * page);
    CHECK(asked == 199 || asked == 0); /* 0: the system refuses it */
    CHECK_SAME(bl__topology_move(two, here, first + 1, 2 * page), asked ? 1 : 0);
    CHECK_SAME(bl__topology_move(two, here, first + 1, page), 0);
    CHECK_SAME(bl__topology_move(two, bl__topology_place(two, -1), first, 10 * page), 0);
    CHECK_SAME(bl__topology_move(one, bl__topology_place(one, 0), first, 10 * page), 0);
    for (size_t i = 0; i < 100 * page; i++)
        if (first[i] != (unsigned char)(i * 7 + i / page)) {
            CHECK(false);
            break;
        }
    free(memory);
    bl__topology_free(one);
    bl__topology_free(two);
}

/* The first two cores count as two nodes: see main. */
static void test_runs(void) {
    const char *scheduler;
    CHECK(bl__topology_machine() != NULL);
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++)
        for (uint32_t bind = 0; bind < 2; bind++) {
            bl_config config = config_for((bl_config){
                .device = "cpu", .scheduler = scheduler, .workers = 5, .bind = bind, .victims = BL_VICTIMS_RANDOM});
            bl_context *c = NULL;
            check_at("%s, bind %u", scheduler, bind);
            CHECK_SAME(bl_open(&c, &config), BL_OK);
            for (uint32_t repeat = 0; repeat < 3; repeat++) {
                word_node node = {repeat + 11, 9, 0};
                word result, expected = word_expect(node, 0);
                bl_stats stats;
                CHECK_SAME(bl_limit(c, repeat == 1 ? 3 : 0), BL_OK);
                CHECK_SAME(bl_run_join(c, words_cpu(), NULL, &node, 1, &result, &stats), BL_OK);
                CHECK(result.text == expected.text && stats.tasks == expected.tasks);
            }
            bl_close(c);
        }
}

int main(void) {
    check_limit(120);
    setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1", 1); /* before anything looks at the machine */
    bl__topology *t = bl__topology_read(NULL);
    if (!t) {
        printf("skipped: built without hwloc\n");
        return CHECK_SKIPPED;
    }
    bl__topology_free(t);
    test_groups();
    test_victims();
    test_memory();
    test_runs();
    return check_end();
}
