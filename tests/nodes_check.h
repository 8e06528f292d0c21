/* One run over nodes that have a memory each: what must hold, for test_nodes_apart.c with the simulated machine and
 * test_nodes_cuda.c with a GPU. Counts are exact, all nodes work, and an early end, wherever it begins, loses
 * nothing. */
#ifndef BALLAST_TESTS_NODES_CHECK_H
#define BALLAST_TESTS_NODES_CHECK_H

#include "check.h"
#include "nodes_trees.h"

#include <ballast/link.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define OF_NODES(name) const bl_program *name##_cpu(void), *name##_sim(void), *name##_cuda(void)
OF_NODES(wood);
OF_NODES(twig);
OF_NODES(branch);
OF_NODES(stem);
OF_NODES(bark);
OF_NODES(lonely);
#undef OF_NODES

/* A context with rules and totals in its memories. */
typedef struct grove {
    bl_context *c;
    wood_shared shared;
    uint64_t left; /* tasks, as config.left was told */
} grove;

static inline void count_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    grove *g = (grove *)arg;
    (void)payload;
    g->left += end - begin;
}

static inline void wood_combine(void *into, const void *from, size_t bytes) {
    wood_totals *to = (wood_totals *)into;
    const wood_totals *more = (const wood_totals *)from;
    (void)bytes;
    to->tasks += more->tasks;
    to->sum += more->sum;
    to->spawned += more->spawned;
}

/* `link`: to other processes, or NULL. */
static inline void grove_open_on(grove *g, bl_config config, const bl_link *link) {
    void *rules = NULL, *totals = NULL;
    memset(g, 0, sizeof *g);
    config.left = count_left;
    config.left_arg = g;
    if (!CHECK_SAME(link ? bl_open_linked(&g->c, &config, link) : bl_open(&g->c, &config), BL_OK)) {
        printf("    %s\n", bl_error_detail(NULL));
        exit(check_end());
    }
    CHECK_SAME(bl_alloc(g->c, &rules, sizeof(wood_rules)), BL_OK);
    CHECK_SAME(bl_alloc(g->c, &totals, sizeof(wood_totals)), BL_OK);
    g->shared.odd = 1;
    g->shared.rules = (const wood_rules *)rules;
    g->shared.totals = (wood_totals *)totals;
    CHECK_SAME(bl_combine(g->c, rules, NULL), BL_OK);
    CHECK_SAME(bl_combine(g->c, totals, wood_combine), BL_OK);
}

static inline void grove_open(grove *g, bl_config config) { grove_open_on(g, config, NULL); }

static inline void grove_close(grove *g) {
    CHECK_SAME(bl_free(g->c, (void *)(uintptr_t)g->shared.rules), BL_OK);
    CHECK_SAME(bl_close(g->c), BL_OK);
}

static inline void grove_begin(grove *g, const wood_rules *rules) {
    g->left = 0;
    CHECK_SAME(bl_copy_in(g->c, (void *)(uintptr_t)g->shared.rules, rules, sizeof *rules), BL_OK);
    CHECK_SAME(bl_zero(g->c, g->shared.totals, sizeof *g->shared.totals), BL_OK);
}

static inline wood_totals grove_totals(grove *g) {
    wood_totals all = {0, 0, 0}, one = {0, 0, 0};
    for (uint32_t i = 0; i < bl_memories(g->c); i++) {
        CHECK_SAME(bl_copy_out_of(g->c, i, &one, g->shared.totals, sizeof one), BL_OK);
        all.tasks += one.tasks;
        all.sum += one.sum;
        all.spawned += one.spawned;
    }
    return all;
}

static inline void grow_alone(const wood_rules *r, wood_totals *t, wood_place p, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        wood_place child = {mix(p.hash, i), p.depth + 1};
        t->tasks++;
        t->sum += child.hash;
        grow_alone(r, t, child, wood_children(r, child));
    }
}

/* What nodes have done adds up to what the run has. */
static inline void check_nodes(grove *g, const bl_stats *stats) {
    uint64_t tasks = 0, sent = 0, received = 0;
    uint32_t workers = 0;
    for (uint32_t i = 0; bl_node_device(g->c, i); i++) {
        bl_stats of;
        bl_traffic traffic;
        CHECK_SAME(bl_node_stats(g->c, i, &of), BL_OK);
        CHECK_SAME(bl_node_traffic(g->c, i, &traffic), BL_OK);
        tasks += of.tasks;
        workers += of.workers;
        sent += traffic.entries_sent;
        received += traffic.entries_received;
    }
    CHECK_SAME(tasks, stats->tasks);
    CHECK_SAME(workers, stats->workers);
    CHECK_SAME(sent, received);
}

/* Two nodes with a memory each: tasks count where they are run. */
static inline void check_places(grove *g) {
    if (bl_memories(g->c) != 2 || bl_node_device(g->c, 2))
        return;
    for (uint32_t i = 0; i < 2; i++) {
        wood_totals there;
        bl_stats of;
        CHECK_SAME(bl_copy_out_of(g->c, i, &there, g->shared.totals, sizeof there), BL_OK);
        CHECK_SAME(bl_node_stats(g->c, i, &of), BL_OK);
        CHECK_SAME(there.tasks, of.tasks);
    }
}

static inline void check_wood(grove *g, const bl_program *wood, uint32_t seed) {
    const wood_rules rules = {.seed = seed, .deepest = 4 + seed % 12, .widest = 2 + seed % 3};
    const uint32_t roots = seed % 5;
    wood_totals want = {0, 0, 0};
    wood_place all[5];
    bl_stats stats;
    for (uint32_t i = 0; i < roots; i++) {
        all[i] = (wood_place){mix(seed, i), 0};
        grow_alone(&rules, &want, all[i], 1);
    }
    grove_begin(g, &rules);
    if (!CHECK_SAME(bl_run(g->c, wood, &g->shared, all, roots, &stats), BL_OK))
        printf("    %s\n", bl_error_detail(g->c));
    const wood_totals got = grove_totals(g);
    CHECK_SAME(got.tasks, want.tasks);
    CHECK_SAME(got.sum, want.sum);
    CHECK_SAME(stats.tasks, want.tasks);
    CHECK_SAME(stats.left, 0);
    CHECK_SAME(g->left, 0);
    check_nodes(g, &stats);
    check_places(g);
}

static inline void check_woods(const bl_program *wood, bl_config config, uint32_t seeds) {
    grove g;
    grove_open(&g, config);
    CHECK(!strcmp(bl_device_id(g.c), config.device));
    for (uint32_t seed = 1; seed <= seeds / CHECK_SLOWER + 1; seed++) {
        check_at("%s, capacity %u, seed %u", config.device, (unsigned)config.capacity, (unsigned)seed);
        check_wood(&g, wood, seed);
    }
    grove_close(&g);
}

/* A loop: one entry, of which others get a part. */
static inline void check_loop(const bl_program *wood, const char *device, uint32_t n) {
    const wood_rules rules = {.seed = 0};
    const wood_place root = {7, 0};
    wood_totals want = {0, 0, 0};
    bl_stats stats;
    grove g;
    check_at("%s, loop of %u", device, (unsigned)n);
    grove_open(&g, (bl_config){.device = device});
    grow_alone(&rules, &want, root, n);
    grove_begin(&g, &rules);
    CHECK_SAME(bl_run_range(g.c, wood, &g.shared, &root, n, &stats), BL_OK);
    CHECK_SAME(grove_totals(&g).sum, want.sum);
    CHECK_SAME(stats.tasks, n);
    grove_close(&g);
}

/* Seconds until a node must have run something: a busy machine may not run its thread for many runs. */
static const double nodes_patience = 20;

/* How many nodes have run nothing in all runs so far; `worked`: a bit for each that has. */
static inline uint32_t still_idle(grove *g, uint32_t *worked) {
    uint32_t idle = 0;
    for (uint32_t i = 0; bl_node_device(g->c, i); i++) {
        bl_stats of;
        CHECK_SAME(bl_node_stats(g->c, i, &of), BL_OK);
        *worked |= of.tasks ? 1u << i : 0;
        idle += !(*worked >> i & 1);
    }
    return idle;
}

/* Tasks that take a while, until every node has run some. */
static inline void check_all_work(const bl_program *wood, const char *device, uint32_t ticks, uint32_t n) {
    const wood_rules rules = {.seed = 3, .deepest = 8, .widest = 4, .task_ticks = ticks};
    const wood_place root = {7, 0};
    const double until = check_now() + nodes_patience;
    uint32_t idle = 1, worked = 0;
    bl_stats stats;
    grove g;
    check_at("%s, all nodes work", device);
    grove_open(&g, (bl_config){.device = device});
    while (idle && check_now() < until) {
        grove_begin(&g, &rules);
        CHECK_SAME(bl_run_range(g.c, wood, &g.shared, &root, n, &stats), BL_OK);
        idle = still_idle(&g, &worked);
    }
    CHECK_SAME(idle, 0);
    grove_close(&g);
}

/* ---- results ---- */

/* The programs with results; `branches`: those whose order matters. */
typedef struct shoots {
    bl_program *twig, *branches[2], *bark;
} shoots;

static inline uint64_t twig_alone(const wood_rules *r, wood_totals *t, wood_place p) {
    const uint32_t n = wood_children(r, p);
    uint64_t sum = n ? 0 : twig_leaf(p);
    t->tasks++;
    for (uint32_t i = 0; i < n; i++)
        sum += twig_alone(r, t, twig_place(&p, i, false));
    return sum;
}

static inline branch_text branch_alone(const wood_rules *r, wood_totals *t, wood_place p) {
    branch_text results[6], all = branch_leaf(p);
    uint32_t n = wood_children(r, p);
    t->tasks++;
    while (n) {
        for (uint32_t i = 0; i < n; i++)
            results[i] = branch_alone(r, t, twig_place(&p, i, false));
        all = branch_joined(&p, results, n);
        n = branch_again(r, &p, &all);
        p = branch_second(&p, &all);
    }
    return all;
}

enum { SHOOTS = 70 };

/* Nodes have returned what one of them would have. */
static inline void check_shoots(grove *g, const shoots *programs, uint32_t seed, uint32_t ticks) {
    const uint32_t roots = seed % 7 == 0 ? SHOOTS : seed % 7 == 6 ? 0 : seed % 7, kind = seed % 3;
    const wood_rules rules = {.seed = seed,
                              .deepest = 3 + seed % (roots < SHOOTS ? 7 : 3),
                              .widest = 2 + seed % 4,
                              .task_ticks = seed % 3 ? 0 : ticks};
    wood_totals want = {0, 0, 0};
    wood_place all[SHOOTS];
    uint64_t sums[SHOOTS];
    branch_text texts[SHOOTS];
    bl_stats stats;
    for (uint32_t i = 0; i < roots; i++)
        all[i] = (wood_place){mix(seed, i), 0};
    memset(sums, 7, sizeof sums);
    memset(texts, 7, sizeof texts);
    grove_begin(g, &rules);
    const int status = bl_run_join(g->c, kind ? programs->branches[kind - 1] : programs->twig, &g->shared, all, roots,
                                   kind ? (void *)texts : (void *)sums, &stats);
    if (!CHECK_SAME(status, BL_OK))
        printf("    %s\n", bl_error_detail(g->c));
    for (uint32_t i = 0; i < roots; i++) {
        if (!kind) {
            CHECK_SAME(sums[i], twig_alone(&rules, &want, all[i]));
            continue;
        }
        const branch_text expected = branch_alone(&rules, &want, all[i]);
        CHECK_SAME(texts[i].hash, expected.hash);
        CHECK_SAME(texts[i].tasks, expected.tasks);
        CHECK_SAME(texts[i].deepest, expected.deepest);
    }
    CHECK_SAME(grove_totals(g).tasks, want.tasks);
    CHECK_SAME(stats.tasks, want.tasks);
    CHECK_SAME(stats.left, 0);
    check_nodes(g, &stats);
}

static inline void check_results(const shoots *programs, bl_config config, uint32_t seeds, uint32_t ticks) {
    grove g;
    grove_open(&g, config);
    for (uint32_t seed = 1; seed <= seeds / CHECK_SLOWER + 1; seed++) {
        check_at("%s, results, capacity %u, seed %u", config.device, (unsigned)config.capacity, (unsigned)seed);
        check_shoots(&g, programs, seed, ticks);
    }
    grove_close(&g);
}

/* Until every node has run some: entries have been exchanged, and their results. */
static inline void check_all_return(const bl_program *branch, const char *device, uint32_t ticks, uint32_t deepest) {
    const wood_rules rules = {.seed = 3, .deepest = deepest, .widest = 5, .task_ticks = ticks};
    const wood_place root = {21, 0};
    wood_totals none = {0, 0, 0};
    const branch_text want = branch_alone(&rules, &none, root);
    const double until = check_now() + nodes_patience;
    uint32_t idle = 1, worked = 0;
    branch_text got;
    grove g;
    check_at("%s, all nodes return", device);
    grove_open(&g, (bl_config){.device = device});
    while (idle && check_now() < until) {
        grove_begin(&g, &rules);
        CHECK_SAME(bl_run_join(g.c, branch, &g.shared, &root, 1, &got, NULL), BL_OK);
        CHECK_SAME(got.hash, want.hash);
        CHECK_SAME(got.tasks, want.tasks);
        idle = still_idle(&g, &worked);
    }
    CHECK_SAME(idle, 0);
    grove_close(&g);
}

/* ---- early ends ---- */

static inline void *cancel_soon(void *argument) {
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    bl_cancel((bl_context *)argument);
    return NULL;
}

/* Every task spawns one: as many are left as there were roots. */
static inline void check_early_end(const bl_program *wood, const char *device, uint32_t how, uint32_t roots) {
    const wood_rules rules = {.endless = 1, .fails = how == 2 ? 200 : 0};
    const wood_place root = {1, 0};
    uint64_t error = 0;
    bl_stats stats;
    pthread_t helper;
    grove g;
    check_at("%s, early end %u", device, (unsigned)how);
    grove_open(&g, (bl_config){.device = device, .time_limit = how == 1 ? 0.02 : 0});
    grove_begin(&g, &rules);
    if (how == 0)
        CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, g.c), 0);
    CHECK_SAME(bl_run_range(g.c, wood, &g.shared, &root, roots, &stats), how == 0   ? BL_ECANCEL
                                                                         : how == 1 ? BL_ETIME
                                                                                    : BL_ETASK);
    if (how == 0)
        pthread_join(helper, NULL);
    CHECK_SAME(grove_totals(&g).tasks, stats.tasks);
    CHECK_SAME(stats.left, roots);
    CHECK_SAME(g.left, roots);
    CHECK_SAME(bl_failure(g.c, &error) != NULL, how == 2);
    CHECK_SAME(error, how == 2 ? 77 : 0);
    CHECK_SAME(bl_reset(g.c), BL_OK);
    if (how == 2) { /* the context is as good as before */
        check_wood(&g, wood, 7);
        CHECK(bl_failure(g.c, NULL) == NULL);
    }
    grove_close(&g);
}

/* Many short chains, so that nodes exchange entries all the time: nothing of it is lost when the run is cancelled. */
static inline void check_cancelled(const bl_program *wood, const char *device, uint32_t roots, uint32_t rounds) {
    const wood_rules rules = {.deepest = 3, .line = 1};
    const wood_place root = {1, 0};
    uint32_t cancelled = 0;
    bl_stats stats;
    pthread_t helper;
    grove g;
    grove_open(&g, (bl_config){.device = device});
    for (uint32_t i = 0; i < rounds; i++) {
        check_at("%s, cancelled, round %u", device, (unsigned)i);
        grove_begin(&g, &rules);
        CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, g.c), 0);
        const int status = bl_run_range(g.c, wood, &g.shared, &root, roots, &stats);
        pthread_join(helper, NULL);
        CHECK(status == BL_OK || status == BL_ECANCEL);
        cancelled += status == BL_ECANCEL;
        const wood_totals got = grove_totals(&g);
        CHECK_SAME(got.tasks, stats.tasks);
        CHECK_SAME(stats.left, g.left);
        CHECK_SAME(got.tasks + g.left, roots + got.spawned);
        CHECK_SAME(bl_reset(g.c), BL_OK);
    }
    CHECK(cancelled > 0);
    grove_close(&g);
}

/* The same result as one CPU has. */
static inline void check_reduction(const bl_program *bark, const char *device, uint32_t count) {
    const wood_place from = {count, 0};
    uint32_t one = 3, several = 3;
    bl_context *c = NULL, *n = NULL;
    check_at("%s, reduction of %u", device, (unsigned)count);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 1, .grain = 16}), BL_OK);
    CHECK_SAME(bl_open(&n, &(bl_config){.device = device, .grain = 16}), BL_OK);
    CHECK_SAME(bl_run_reduce(c, bark, NULL, &from, count, &one, NULL), BL_OK);
    CHECK_SAME(bl_run_reduce(n, bark, NULL, &from, count, &several, NULL), BL_OK);
    CHECK_SAME(several, one);
    CHECK_SAME(bl_close(n), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* The same for programs with results. What a fork waits for is among what is left, or has been run. */
static inline void check_results_end(const shoots *programs, const char *device, uint32_t how, uint32_t kind) {
    const wood_rules rules = {.seed = 5, .deepest = 14, .widest = 5, .fails = how == 2 ? 4 : 0, .task_ticks = 20};
    wood_place roots[SHOOTS];
    uint64_t results[2 * SHOOTS];
    bl_stats stats;
    pthread_t helper;
    grove g;
    check_at("%s, results, early end %u, program %u", device, (unsigned)how, (unsigned)kind);
    for (uint32_t i = 0; i < SHOOTS; i++)
        roots[i] = (wood_place){mix(5, i), 0};
    grove_open(&g, (bl_config){.device = device, .time_limit = how == 1 ? 0.02 : 0});
    grove_begin(&g, &rules);
    if (how == 0)
        CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, g.c), 0);
    const int status = bl_run_join(g.c, kind ? programs->branches[kind - 1] : programs->twig, &g.shared, roots, SHOOTS,
                                   results, &stats);
    CHECK(status == (how == 0 ? BL_ECANCEL : how == 1 ? BL_ETIME : BL_ETASK) || (how < 2 && status == BL_OK));
    if (how == 0)
        pthread_join(helper, NULL);
    const wood_totals got = grove_totals(&g);
    CHECK_SAME(got.tasks, stats.tasks);
    CHECK_SAME(g.left, stats.left);
    CHECK_SAME(got.tasks + g.left, SHOOTS + got.spawned);
    CHECK_SAME(bl_reset(g.c), BL_OK);
    if (how == 2) /* the context is as good as before */
        check_shoots(&g, programs, 7 + kind, 20);
    grove_close(&g);
}

/* All of it. `ticks`: of a task, and of one that lasts until other nodes have asked for some; `deepest`: of a tree that
 * has work for all. */
static inline void check_all_results(const shoots *programs, const char *device, uint32_t seeds, uint32_t ticks,
                                     uint32_t long_ticks, uint32_t deepest) {
    check_results(programs, (bl_config){.device = device}, seeds, ticks);
    check_results(programs, (bl_config){.device = device, .capacity = 2, .private_entries = 1}, seeds / 2, ticks);
    for (uint32_t count = 0; count <= 100000; count = 100 * count + 10)
        check_reduction(programs->bark, device, count);
    for (uint32_t kind = 0; kind < 3; kind++) {
        if (kind)
            check_all_return(programs->branches[kind - 1], device, long_ticks, deepest);
        for (uint32_t how = 0; how < 3; how++)
            check_results_end(programs, device, how, kind);
    }
}

/* ---- what is refused, and memories ---- */

/* `lonely`: NULL if its code can share on this device. */
static inline void check_refused(const char *device, const bl_program *lonely) {
    const wood_place root = {1, 0};
    wood_totals totals;
    grove g;
    check_at("%s, refused", device);
    grove_open(&g, (bl_config){.device = device});
    CHECK_SAME(bl_memories(g.c), 2);
    if (lonely) {
        CHECK_SAME(bl_run(g.c, lonely, &g.shared, &root, 1, NULL), BL_ENOCODE);
        CHECK(strstr(bl_error_detail(g.c), "accepted: with BL_OPEN 1"));
    }
    CHECK_SAME(bl_run(g.c, wood_cpu(), &g.shared, &root, 1, NULL), BL_ENOCODE);
    CHECK(strstr(bl_error_detail(g.c), "a program with a part for each device"));
    CHECK_SAME(bl_copy_out_of(g.c, 2, &totals, g.shared.totals, sizeof totals), BL_EINVAL);
    CHECK(strstr(bl_error_detail(g.c), "memory 2: there are 2"));
    CHECK_SAME(bl_copy_out_of(g.c, 1, &totals, &totals, 0), BL_EINVAL);
    bl_stats stats;
    CHECK_SAME(bl_node_stats(g.c, 2, &stats), BL_EINVAL);
    CHECK(bl_node_device(g.c, 2) == NULL);
    grove_close(&g);
}

/* What is written to all is in each, and one end of a block is not another. */
static inline void check_memories(const char *device) {
    enum { BLOCKS = 5, WORDS = 100 };
    bl_context *c = NULL;
    void *block[BLOCKS];
    uint32_t in[WORDS], out[WORDS];
    check_at("%s, memories", device);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = device}), BL_OK);
    for (uint32_t i = 0; i < BLOCKS; i++)
        CHECK_SAME(bl_alloc(c, &block[i], sizeof in), BL_OK);
    CHECK_SAME(bl_free(c, block[1]), BL_OK);
    for (uint32_t i = 0; i < BLOCKS; i++)
        for (uint32_t k = 0; i != 1 && k < WORDS; k++) {
            in[k] = 1000 * i + k;
            if (k + 1 == WORDS)
                CHECK_SAME(bl_copy_in(c, block[i], in, sizeof in), BL_OK);
        }
    CHECK_SAME(bl_zero(c, (uint32_t *)block[2] + 10, 4), BL_OK);
    for (uint32_t m = 0; m < bl_memories(c); m++)
        for (uint32_t i = 0; i < BLOCKS; i++) {
            if (i == 1)
                continue;
            CHECK_SAME(bl_copy_out_of(c, m, out + 5, (uint32_t *)block[i] + 5, sizeof out - 20), BL_OK);
            for (uint32_t k = 5; k < WORDS; k++)
                CHECK_SAME(out[k], i == 2 && k == 10 ? 0 : 1000 * i + k);
        }
    CHECK_SAME(bl_close(c), BL_OK);
}

/* ---- how fast ---- */

/* Stopped before it begins, and resumed with so much memory to read that all other nodes begin before that is done,
 * unless they wait for it. */
static inline void check_resumed_memory(const bl_program *wood, const char *device) {
    enum { BYTES = 1 << 24 };
    const wood_rules rules = {.seed = 3, .deepest = 6, .widest = 4};
    const wood_place root = {7, 0};
    char file[] = "/tmp/ballast_resumed_XXXXXX";
    close(mkstemp(file));
    wood_totals want = {0, 0, 0};
    grow_alone(&rules, &want, root, 1);
    for (uint32_t resumes = 0; resumes < 2; resumes++) {
        grove g;
        void *large = NULL;
        check_at("%s, much memory, %s", device, resumes ? "resumed" : "stopped");
        grove_open(&g, resumes ? (bl_config){.device = device, .resume = file}
                               : (bl_config){.device = device, .checkpoint = file, .time_limit = 1e-9});
        CHECK_SAME(bl_alloc(g.c, &large, BYTES), BL_OK);
        CHECK_SAME(bl_zero(g.c, large, BYTES), BL_OK);
        CHECK_SAME(bl_combine(g.c, large, NULL), BL_OK);
        grove_begin(&g, &rules);
        CHECK_SAME(bl_run(g.c, wood, &g.shared, &root, 1, NULL), resumes ? BL_OK : BL_ETIME);
        CHECK_SAME(grove_totals(&g).tasks, resumes ? want.tasks : 0);
        CHECK_SAME(bl_free(g.c, large), BL_OK);
        grove_close(&g);
    }
    remove(file);
}

/* `n` chains of `length` tasks each. All begin at the GPU; a chain that another node runs comes through the ring. */
static inline void measure_chains(const bl_program *wood, const char *device, uint32_t n, uint32_t length,
                                  uint32_t ticks) {
    const wood_rules rules = {.deepest = length, .line = 1, .task_ticks = ticks};
    const wood_place root = {7, 0};
    bl_stats stats;
    grove g;
    grove_open(&g, (bl_config){.device = device});
    for (uint32_t round = 0; round < 5; round++) {
        grove_begin(&g, &rules);
        CHECK_SAME(bl_run_range(g.c, wood, &g.shared, &root, n, &stats), BL_OK);
        CHECK_SAME(stats.tasks, (uint64_t)n * length);
        printf("%s, %u chains of %u tasks, %.3f ms:", device, (unsigned)n, (unsigned)length, 1e3 * stats.seconds);
        for (uint32_t i = 0; bl_node_device(g.c, i); i++) {
            bl_stats of;
            bl_traffic traffic;
            CHECK_SAME(bl_node_stats(g.c, i, &of), BL_OK);
            CHECK_SAME(bl_node_traffic(g.c, i, &traffic), BL_OK);
            printf(" %s %llu tasks, got %llu entries (%.3g/s), %llu times, after %.1f us;", bl_node_device(g.c, i),
                   (unsigned long long)of.tasks, (unsigned long long)traffic.entries_received,
                   stats.seconds > 0 ? (double)traffic.entries_received / stats.seconds : 0,
                   (unsigned long long)traffic.asks,
                   traffic.asks ? 1e6 * traffic.ask_seconds / (double)traffic.asks : 0);
        }
        printf("\n");
    }
    grove_close(&g);
}

#endif
