// COMPILE: -O1
/* Programs with results over several nodes of a process, device cpu+cpu: sums, joins, wide forks and reductions have
 * the results that one node has, roots stay roots, all nodes get work from a recursion, and early ends lose nothing. */
#include "check.h"

#include "bushes.h"

#include <ballast/parts/outside.h>

static bl_context *open_nodes(bl_config config) {
    bl_context *c = NULL;
    if (!config.device)
        config.device = "cpu+cpu";
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
        exit(check_end());
    return c;
}

enum { ROOTS = 9 };

static void check_bush(bl_context *c, uint32_t seed, uint32_t widest, bool sums) {
    garden got = {.deepest = 4 + seed % 6, .widest = widest}, want = got;
    const garden_of shared = {&got};
    const uint32_t count = seed % (ROOTS + 1);
    const bl_program *program = sums ? bush_sum_cpu() : bush_cpu();
    twig roots[ROOTS];
    uint64_t results[ROOTS];
    bl_stats stats;
    for (uint32_t i = 0; i < count; i++)
        roots[i] = (twig){twig_mix(seed, i), 0, 0};
    memset(results, 0, sizeof results);
    if (!CHECK_SAME(bl_run_join(c, program, &shared, roots, count, results, &stats), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    for (uint32_t i = 0; i < count; i++)
        CHECK_SAME(results[i], bush_expect(&want, roots[i], 0, sums));
    CHECK_SAME(got.tasks, want.tasks);
    CHECK_SAME(stats.tasks, want.tasks);
    CHECK_SAME(stats.left, 0);
    CHECK_SAME(got.wrong, 0);
}

/* Hundreds of roots, from which tasks of a node come to another by themselves. */
static void check_words(bl_context *c, uint32_t seed) {
    enum { MANY = 300 };
    static word_node nodes[MANY];
    static word results[MANY];
    uint64_t tasks = 0;
    bl_stats stats;
    for (uint32_t i = 0; i < MANY; i++)
        nodes[i] = (word_node){i * 7919u + seed, 1 + i % 8, 0};
    CHECK_SAME(bl_run_join(c, words_cpu(), NULL, nodes, MANY, results, &stats), BL_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        word expected = word_expect(nodes[i], 0);
        CHECK(results[i].text == expected.text && results[i].tasks == expected.tasks &&
              results[i].depth == expected.depth);
        tasks += expected.tasks;
    }
    CHECK_SAME(stats.tasks, tasks);
}

static void check_leaves(bl_context *c, uint32_t seed) {
    leaf_node root = {seed * 104729u + 1, 11};
    uint64_t result = 0, tasks = 0, expected = leaf_expect(root, 0, &tasks);
    bl_stats stats;
    CHECK_SAME(bl_run_join(c, leaves_cpu(), NULL, &root, 1, &result, &stats), BL_OK);
    CHECK_SAME(result, expected);
    CHECK_SAME(stats.tasks, tasks);
}

static void test_shapes(void) {
    static const struct {
        const char *device;
        uint32_t workers, capacity, private_entries, widest;
    } shapes[] = {{"cpu+cpu", 1, 0, 0, 900},
                  {"cpu+cpu", 2, 0, 0, 900},
                  {"cpu+cpu", 2, 2, 1, 40},
                  {"cpu+cpu+cpu", 1, 2, 0, 900},
                  {"cpu+cpu+cpu", 2, 0, 1, 40},
                  {"cpu+cpu+cpu+cpu", 1, 0, 0, 4000},
                  {"cpu+cpu+cpu+cpu", 2, 2, BL_NONE, 40},
                  {"cpu+cpu+cpu+cpu+cpu", 2, 0, 0, 900},
                  {"cpu+cpu+cpu+cpu+cpu", 1, 2, 1, 900}};
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        bl_context *c = open_nodes((bl_config){.device = shapes[i].device,
                                               .workers = shapes[i].workers,
                                               .capacity = shapes[i].capacity,
                                               .private_entries = shapes[i].private_entries});
        for (uint32_t seed = 1; seed <= 64 / CHECK_SLOWER; seed++) {
            check_at("shape %u, seed %u", i, seed);
            check_bush(c, seed, shapes[i].widest, seed % 3 == 0);
            if (seed % 8 == 0)
                check_words(c, seed);
            if (seed % 8 == 4)
                check_leaves(c, seed);
        }
        CHECK_SAME(bl_close(c), BL_OK);
    }
    const char *name;
    for (uint32_t i = 0; (name = bl_scheduler_name(i)); i++)
        if (!(bl_scheduler_traits(name) & BL_TRAIT_WAVES)) {
            bl_context *c = open_nodes((bl_config){.device = "cpu+cpu+cpu", .workers = 2, .scheduler = name});
            for (uint32_t seed = 1; seed <= 12 / CHECK_SLOWER + 1; seed++) {
                check_at("%s, seed %u", name, seed);
                check_bush(c, seed, 90, seed % 2);
                check_leaves(c, seed);
            }
            CHECK_SAME(bl_close(c), BL_OK);
        }
}

/* A loop of tasks that fork, whose own results nobody wants. */
static void test_loop(void) {
    for (uint32_t workers = 1; workers <= 2; workers++) {
        garden got = {.deepest = 5, .widest = 9}, want = got;
        const garden_of shared = {&got};
        const twig root = {7, 0, 0};
        check_at("loop, %u workers", workers);
        bl_context *c = open_nodes((bl_config){.device = "cpu+cpu+cpu", .workers = workers});
        CHECK_SAME(bl_run_range(c, bush_cpu(), &shared, &root, 3000, NULL), BL_OK);
        for (uint32_t i = 0; i < 3000; i++)
            bush_expect(&want, root, i, false);
        CHECK_SAME(got.tasks, want.tasks);
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

/* ---- reductions ---- */

static void test_reductions(void) {
    static const uint32_t counts[] = {0, 1, 63, 1000, 300000};
    const uint32_t from = 5;
    for (uint32_t i = 0; i < 4 * sizeof counts / sizeof counts[0]; i++) {
        const uint32_t count = counts[i / 4];
        double one = 3, several = 3;
        check_at("reduction of %u, round %u", count, i % 4);
        bl_context *c = open_nodes((bl_config){.device = "cpu", .workers = 1, .grain = 16});
        bl_context *n = open_nodes((bl_config){.device = "cpu+cpu+cpu", .workers = 1 + i % 2, .grain = 16});
        CHECK_SAME(bl_run_reduce(c, terms_cpu(), NULL, &from, count, &one, NULL), BL_OK);
        CHECK_SAME(bl_run_reduce(n, terms_cpu(), NULL, &from, count, &several, NULL), BL_OK);
        CHECK(!memcmp(&one, &several, sizeof one));
        CHECK_SAME(bl_close(n), BL_OK);
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

/* ---- a recursion gives work away ---- */

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_t seen[8];
    uint32_t count, wanted;
    double until;
    bool cries_wolf; /* the root says that its node is dry */
} meeting;

typedef struct meeting_of {
    meeting *meeting;
} meeting_of;

static bool meet(meeting *m) {
    uint32_t i = 0;
    pthread_mutex_lock(&m->lock);
    while (i < m->count && !pthread_equal(m->seen[i], pthread_self()))
        i++;
    if (i == m->count && i < m->wanted)
        m->seen[m->count++] = pthread_self();
    const bool waits = m->count < m->wanted && check_now() < m->until;
    pthread_mutex_unlock(&m->lock);
    return waits;
}

/* That all workers were idle some time ago, as a worker finds that is slow to say so. It must have no effect: if the
 * nodes took it for the truth, the run would be over for the others. */
static BL_TASK void cry_wolf(const bl__run *run) {
    bl__node_dry(run, 0x7777ull << 32 | run->workers);
    sleep_us(5000);
}

/* A tree without an end, until as many threads have seen it as there are workers: the children of one fork after the
 * other are run where they are, by recursion, unless somebody asks for them. */
static BL_TASK void meet_run(bl_task *t, const uint32_t *depth, uint32_t index, const meeting_of *shared,
                             bl_nothing *local) {
    uint32_t below = *depth + 1;
    const uint64_t leaf = 1;
    (void)index, (void)local;
    if (bl_is_root(t) && shared->meeting->cries_wolf)
        cry_wolf(t->run);
    if (meet(shared->meeting) && below < 60)
        bl_fork(t, &below, &below, 2);
    else
        bl_return(t, &leaf);
}

#define BL_PROGRAM gathering
#define BL_PAYLOAD uint32_t
#define BL_SHARED meeting_of
#define BL_RUN meet_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#include <ballast/program.h>

static void test_meeting(void) {
    static const char *const devices[] = {"cpu+cpu+cpu+cpu", "cpu+cpu"};
    for (uint32_t i = 0; i < 24 / CHECK_SLOWER + 2; i++) {
        meeting m = {.wanted = 4, .until = check_now() + 20, .cries_wolf = i % 4 >= 2};
        const meeting_of shared = {&m};
        const uint32_t root = 0;
        uint64_t result;
        check_at("meeting %u", i);
        pthread_mutex_init(&m.lock, NULL);
        bl_context *c = open_nodes((bl_config){.device = devices[i % 2], .workers = 1 + i % 2});
        CHECK_SAME(bl_run_join(c, gathering_cpu(), &shared, &root, 1, &result, NULL), BL_OK);
        CHECK_SAME(m.count, 4);
        CHECK(check_now() < m.until); /* else the last ones came when there was nothing else to do */
        CHECK_SAME(bl_close(c), BL_OK);
        pthread_mutex_destroy(&m.lock);
    }
}

/* ---- early ends ---- */

static void *cancel_soon(void *argument) {
    sleep_us(20000);
    bl_cancel(argument);
    return NULL;
}

static void check_early_end(uint32_t i, uint32_t workers, bool sums) {
    enum { CANCELLED, OUT_OF_TIME, FAILED, FAILED_IN_JOIN, WAYS };
    const uint32_t way = i % WAYS;
    garden g = {.endless = way != FAILED_IN_JOIN, .deepest = 9, .widest = i % 2 ? 3 : 700, .caller = pthread_self()};
    const garden_of shared = {&g};
    twig root = {i + 1, 0, 0};
    bl_config config = {.device = i % 8 < 4 ? "cpu+cpu" : "cpu+cpu+cpu", .workers = workers};
    bl_stats stats;
    uint64_t result, error = 0;
    config.left = bush_left;
    config.left_arg = &g;
    config.time_limit = way == OUT_OF_TIME ? 0.02 : 0;
    g.fails_at = way == FAILED ? 1 + 311 * i : 0;
    if (way == FAILED_IN_JOIN) {
        if (sums)
            return;
        garden all;
        do {
            all = g;
            root.hash++;
            bush_expect(&all, root, 0, false);
        } while (all.joins < 400);
        g.join_fails_at = 1 + 11 * i;
    }
    bl_context *c = open_nodes(config);
    pthread_t helper;
    if (way == CANCELLED)
        CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, c), 0);
    const int status = bl_run_join(c, sums ? bush_sum_cpu() : bush_cpu(), &shared, &root, 1, &result, &stats);
    CHECK_SAME(status, way == CANCELLED ? BL_ECANCEL : way == OUT_OF_TIME ? BL_ETIME : BL_ETASK);
    if (way == CANCELLED)
        pthread_join(helper, NULL);
    CHECK_SAME(stats.tasks, g.tasks);
    CHECK_SAME(stats.left, g.left_tasks);
    CHECK_SAME(g.tasks + g.left_tasks, g.forked + 1);
    CHECK_SAME(g.wrong, 0);
    if (g.left_tasks)
        CHECK(pthread_equal(g.left_in, g.caller));
    CHECK_SAME(bl_failure(c, &error) != NULL, way >= FAILED);
    CHECK_SAME(error, way >= FAILED ? 77 : 0);
    if (way >= FAILED) { /* the context is as good as before */
        check_bush(c, 7 + i, 90, sums);
        CHECK(bl_failure(c, NULL) == NULL);
    }
    CHECK_SAME(bl_reset(c), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
}

static void test_early_ends(void) {
    for (uint32_t workers = 1; workers <= 2; workers++)
        for (uint32_t i = 0; i < 32 / CHECK_SLOWER + 8; i++) {
            check_at("early end %u, %u workers", i, workers);
            check_early_end(i, workers, i / 4 % 2);
        }
}

/* The run fails while a result that has come home waits for a worker. Only the fork is left. */

typedef struct failing {
    uint32_t away;        /* the other child has been run */
    uint32_t left, tasks; /* what is left: calls, tasks */
} failing;

typedef struct failing_of {
    failing *failing;
} failing_of;

static BL_TASK void failing_run(bl_task *t, const uint32_t *depth, uint32_t index, const failing_of *shared,
                                bl_nothing *local) {
    failing *f = shared->failing;
    const uint32_t below = *depth + 1;
    const uint64_t result = 1;
    (void)local;
    const double until = check_now() + 20;
    if (*depth == 0) {
        while (!(bl_load32_host(t->stop) & BL__HUNGRY) && check_now() < until)
            sleep_us(100); /* until the other node is out of work */
        bl_fork(t, &below, &below, 2);
    } else if (index == 1) {
        bl_store32_relaxed(&f->away, 1);
        bl_return(t, &result);
    } else {
        while (bl__inlet_look(t->run) != 1 && check_now() < until)
            sleep_us(100);
        bl_fail(t, 77, depth);
    }
}

static BL_TASK void failing_join(bl_task *t, const uint32_t *depth, const uint64_t *results, uint32_t count,
                                 const failing_of *shared, bl_nothing *local) {
    (void)depth, (void)count, (void)shared, (void)local;
    bl_return(t, results);
}

#define BL_PROGRAM failing_program
#define BL_PAYLOAD uint32_t
#define BL_SHARED failing_of
#define BL_RUN failing_run
#define BL_RESULT uint64_t
#define BL_JOIN failing_join
#define BL_JOIN_WIDTH 2
#include <ballast/program.h>

static void note_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    failing *f = arg;
    f->left += *(const uint32_t *)payload == 1;
    f->tasks += 1 + end - begin;
}

static void test_waiting_result(void) {
    failing f = {0, 0, 0};
    const failing_of shared = {&f};
    const uint32_t root = 0;
    uint64_t result;
    check_at("a result waits");
    bl_context *c = open_nodes((bl_config){.workers = 1, .left = note_left, .left_arg = &f});
    CHECK_SAME(bl_run_join(c, failing_program_cpu(), &shared, &root, 1, &result, NULL), BL_ETASK);
    CHECK_SAME(f.away, 1);
    CHECK_SAME(f.left, 1);
    CHECK_SAME(f.tasks, 1);
    check_bush(c, 5, 90, false);
    CHECK_SAME(bl_close(c), BL_OK);
}

int main(void) {
    check_limit(120 * CHECK_SLOWER);
    test_shapes();
    test_loop();
    test_reductions();
    test_meeting();
    test_early_ends();
    test_waiting_result();
    return check_end();
}
