/* A branch and bound by Ballast, oneTBB, OpenMP tasks, Lace and plain calls: a small task per node, without results.
 * Loads are numbers of items. For Ballast every node is a task. */
#include "knapsack_peers.h"
#include "peers.h"

#include <ballast/task.h>

#include <stdlib.h>
#include <string.h>

/* ---- ours ---- */

typedef struct packings_shared {
    knapsack_items *items; /* all threads read the best value, and any may raise it */
    uint64_t *packings;
} packings_shared;

static BL_TASK void packings_run(bl_task *t, const knapsack_node *node, uint32_t index, const packings_shared *shared,
                                 uint64_t *packings) {
    knapsack_items *k = shared->items;
    (void)index;
    if (!knapsack_promises(k, node, bl_load32_relaxed(&k->best)))
        return;
    if (node->item == k->count) {
        bl_fetch_max32_relaxed(&k->best, node->value);
        ++*packings;
        return;
    }
    knapsack_node next = knapsack_leave(node);
    bl_spawn(t, &next);
    if (knapsack_fits(k, node)) {
        next = knapsack_take(k, node);
        bl_spawn(t, &next);
    }
}

static BL_TASK void packings_merge(const packings_shared *shared, const uint64_t *packings) {
    bl_fetch_add64_relaxed(shared->packings, *packings);
}

#define BL_PROGRAM packings
#define BL_PAYLOAD knapsack_node
#define BL_SHARED packings_shared
#define BL_LOCAL uint64_t
#define BL_RUN packings_run
#define BL_MERGE packings_merge
#define BL_MAX_SPAWN 2
#include <ballast/program.h>

/* ---- the twin ---- */

static void visit(knapsack_items *k, knapsack_node node, knapsack_tally *tally) {
    tally->nodes++;
    if (!knapsack_promises(k, &node, k->best))
        return;
    if (node.item == k->count) {
        k->best = k->best > node.value ? k->best : node.value;
        tally->packings++;
        return;
    }
    if (knapsack_fits(k, &node))
        visit(k, knapsack_take(k, &node), tally);
    visit(k, knapsack_leave(&node), tally);
}

/* ---- methods ---- */

typedef struct knapsack_work {
    knapsack_items items;
    uint32_t threads;
    knapsack_tally expected, *tallies;
    bl_context *context[PEERS_TEAMS];
} knapsack_work;

static knapsack_node root_of(const knapsack_items *k) { return (knapsack_node){0, k->room, 0}; }

static int run_sequential(peers_run *run) {
    knapsack_work *w = run->work;
    visit(&w->items, root_of(&w->items), w->tallies);
    return BL_OK;
}

static int run_ours(peers_run *run) {
    knapsack_work *w = run->work;
    const packings_shared shared = {&w->items, &w->tallies->packings};
    const knapsack_node root = root_of(&w->items);
    bl_stats stats;
    int status = bl_run(w->context[run->team], packings_cpu(), &shared, &root, 1, &stats);
    w->tallies->nodes = stats.tasks;
    run->peak_bytes = stats.peak_bytes;
    return status;
}

/* Unused if no library was found. */
static __attribute__((unused)) int run_peer(peers_run *run,
                                            void (*peer)(const knapsack_items *, uint32_t, knapsack_tally *)) {
    knapsack_work *w = run->work;
    peer(&w->items, run->threads, w->tallies);
    return BL_OK;
}
#ifdef BENCH_TBB
static int run_tbb(peers_run *run) { return run_peer(run, knapsack_tbb); }
#else
#define run_tbb NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp(peers_run *run) { return run_peer(run, knapsack_openmp); }
#else
#define run_openmp NULL
#endif
#ifdef BENCH_LACE
static int run_lace(peers_run *run) { return run_peer(run, knapsack_lace); }
#else
#define run_lace NULL
#endif

static bool is_right(const peers_run *run) {
    const knapsack_work *w = run->work;
    uint64_t packings = 0, nodes = 0;
    for (uint32_t i = 0; i < w->threads; i++) {
        packings += w->tallies[i].packings;
        nodes += w->tallies[i].nodes;
    }
    return packings == w->expected.packings && nodes == w->expected.nodes;
}

static void reset(void *work) {
    knapsack_work *w = work;
    memset(w->tallies, 0, w->threads * sizeof *w->tallies);
}

static uint64_t tasks(const void *work) { return ((const knapsack_work *)work)->expected.nodes; }

/* ---- loads ---- */

static int by_value_per_weight(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    uint32_t left = x[1] * y[0], right = y[1] * x[0];
    return left > right ? -1 : left < right;
}

/* Values that hardly differ from weights are hard: bounds say little. */
static void make_items(knapsack_items *k, uint32_t count) {
    uint32_t items[KNAPSACK_MOST][2], x = 12345;
    k->count = count;
    k->room = 0;
    for (uint32_t i = 0; i < count; i++) {
        x = x * 1664525u + 1013904223u;
        items[i][0] = 1000 + (x >> 8) % 1000;
        x = x * 1664525u + 1013904223u;
        items[i][1] = items[i][0] + 150 + (x >> 8) % 3;
        k->room += items[i][0];
    }
    k->room /= 2;
    qsort(items, count, sizeof items[0], by_value_per_weight);
    for (uint32_t i = 0; i < count; i++) {
        k->weight[i] = items[i][0];
        k->value[i] = items[i][1];
    }
    k->weight[count] = 1;
    k->value[count] = 0;
    k->best = 0;
}

static void close_items(void *work) {
    knapsack_work *w = work;
    for (int team = 0; team < PEERS_TEAMS; team++)
        bl_close(w->context[team]);
    free(w->tallies);
    free(w);
}

/* The first visit finds the best value; the second counts what there is to visit when that is known. */
static void *open_items(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    char *end;
    unsigned long count = strtoul(name, &end, 10);
    if (*end || count < 1 || count > KNAPSACK_MOST) {
        peers_complain(name, "accepted: a number of items from 1 to 64");
        return NULL;
    }
    knapsack_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    make_items(&w->items, (uint32_t)count);
    for (int visits = 0; visits < 2; visits++) {
        memset(&w->expected, 0, sizeof w->expected);
        visit(&w->items, root_of(&w->items), &w->expected);
    }
    w->threads = threads[PEERS_ALL];
    w->tallies = aligned_alloc(sizeof *w->tallies, w->threads * sizeof *w->tallies);
    int status = w->tallies ? BL_OK : BL_ENOMEM;
    for (int team = 0; team < PEERS_TEAMS && status == BL_OK; team++)
        status = bl_open(&w->context[team], &(bl_config){.device = "cpu", .workers = threads[team]});
    if (status == BL_OK)
        return w;
    peers_complain("Ballast", bl_status_text(status));
    close_items(w);
    return NULL;
}

enum { SEQUENTIAL, BALLAST, TBB, OPENMP, LACE };
enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

static const peers_contest contest = {
    .program = "knapsack_peers",
    .load = "items",
    .loads = (const char *const[]){"64", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, is_right},
                [BALLAST] = {"Ballast", BOTH, run_ours, is_right},
                [TBB] = {"oneTBB", BOTH, run_tbb, is_right},
                [OPENMP] = {"OpenMP", BOTH, run_openmp, is_right},
                [LACE] = {"Lace", BOTH, run_lace, is_right}},
    .promises = {{"Ballast on 1 thread / sequential", {BALLAST, PEERS_ONE}, {SEQUENTIAL, PEERS_ONE}, 0, true, false},
                 {"Ballast on all threads / sequential", {BALLAST, PEERS_ALL}, {SEQUENTIAL, PEERS_ONE}, 0, true, false},
                 {"Ballast over oneTBB, all threads", {TBB, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over OpenMP, all threads", {OPENMP, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over Lace, all threads", {LACE, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}},
    .open = open_items,
    .close = close_items,
    .tasks = tasks,
    .reset = reset,
    .start = peers_lace_start,
    .stop = peers_lace_stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
