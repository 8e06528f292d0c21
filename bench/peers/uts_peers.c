/* Unbalanced tree search by Ballast, oneTBB, OpenMP tasks, Lace, Taskflow and the sequential twin. Loads are trees with
 * known counts.
 *
 * Every method expands nodes by the same two functions, every result is compared with the published counts, and a time
 * includes everything that a caller waits for. A task is a node, for Ballast as for the peers, which follow published
 * ports of UTS. "inner" are the same libraries after some tuning by the user: only nodes with children become tasks,
 * and no task joins. */
#include "uts_peers.h"
#include "peers.h"

#include "uts/uts_tree.h"

#include <stdlib.h>
#include <string.h>

/* One tree with the state of every method that counts it. */
typedef struct uts_work {
    peers_app ours;
    const uts_known *known;
    uts_table table;
    peer_tree peer;
    peer_tally *tallies;
    uint32_t threads;
    uint64_t left_out; /* nodes that a method leaves to its caller */
    uts_counts counts; /* of the twin */
} uts_work;

static int run_sequential(peers_run *run) {
    uts_work *w = run->work;
    return uts_twin(&w->known->tree, &w->table, &w->counts);
}

/* Unused if no library was found. */
static __attribute__((unused)) int run_peer(peers_run *run, void (*peer)(const peer_tree *, uint32_t, peer_tally *)) {
    uts_work *w = run->work;
    w->left_out = 0;
    peer(&w->peer, run->threads, w->tallies);
    return BL_OK;
}
static __attribute__((unused)) int run_inner(peers_run *run, void (*peer)(const peer_tree *, uint32_t, peer_tally *)) {
    run_peer(run, peer);
    ((uts_work *)run->work)->left_out = 1;
    return BL_OK;
}
#ifdef BENCH_TBB
static int run_tbb_inner(peers_run *run) { return run_inner(run, peer_tbb_inner); }
#else
#define run_tbb_inner NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp_inner(peers_run *run) { return run_inner(run, peer_openmp_inner); }
#else
#define run_openmp_inner NULL
#endif

/* ---- results ---- */

static bool are_known(const uts_work *w, const uts_counts *counts) {
    const uts_counts *known = &w->known->counts;
    return counts->nodes == known->nodes && counts->depth == known->depth &&
           (counts->leaves == known->leaves || known->leaves == 0);
}

static bool right_sequential(const peers_run *run) {
    const uts_work *w = run->work;
    return are_known(w, &w->counts);
}

static bool right_peer(const peers_run *run) {
    const uts_work *w = run->work;
    uts_counts counts = {.nodes = w->left_out};
    for (uint32_t i = 0; i < run->threads; i++) {
        counts.nodes += w->tallies[i].nodes;
        counts.leaves += w->tallies[i].leaves;
        if (counts.depth < w->tallies[i].depth)
            counts.depth = w->tallies[i].depth;
    }
    return are_known(w, &counts);
}

#define PEERS_PEER(library) peer_##library
#include "peers_tasks.h"

static void reset(void *work) {
    uts_work *w = work;
    memset(w->tallies, 0, w->threads * sizeof *w->tallies);
}

static uint64_t tasks(const void *work) { return ((const uts_work *)work)->known->counts.nodes; }

/* ---- a tree ---- */

static void close_tree(void *work) {
    uts_work *w = work;
    peers_app_close(&w->ours);
    uts_table_free(&w->table);
    free(w->tallies);
    free(w);
}

/* The twin extends the table if the tree is deeper; after that the peers only read it. */
static int open_peers(uts_work *w) {
    w->tallies = aligned_alloc(sizeof(peer_tally), w->threads * sizeof(peer_tally));
    if (!w->tallies || uts_table_make(&w->table, &w->known->tree) != BL_OK ||
        uts_twin(&w->known->tree, &w->table, &w->counts) != BL_OK)
        return peers_complain(w->known->name, "out of memory");
    w->peer = (peer_tree){w->table.rows, w->table.count, uts_root_children(&w->known->tree), uts_root(&w->known->tree)};
    return 0;
}

static void *open_tree(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    uts_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->known = uts_known_find(name);
    w->threads = threads[PEERS_ALL];
    int status = 0;
    if (!w->known || uts_root_children(&w->known->tree) == 0)
        status = peers_complain(name, "not a tree with known counts");
    if (status == 0)
        status = open_peers(w);
    if (status == 0)
        status = peers_app_open(&w->ours, "uts", "--tree", name, threads);
    if (status == 0)
        return w;
    close_tree(w);
    return NULL;
}

enum { TBB_INNER = FURTHER, OPENMP_INNER };

static const peers_contest contest = {
    .program = "uts_peers",
    .load = "tree",
    .loads = (const char *const[]){"T1", "T3", NULL},
    .methods = {PEERS_TASK_METHODS, [TBB_INNER] = {"oneTBB inner", BOTH, run_tbb_inner, right_peer},
                [OPENMP_INNER] = {"OpenMP inner", BOTH, run_openmp_inner, right_peer}},
    .promises =
        {PEERS_TASK_PROMISES(1.10, 0.95, 1.3),
         {"Ballast over oneTBB inner, all threads", {TBB_INNER, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
         {"Ballast over OpenMP inner, all threads", {OPENMP_INNER, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}},
    .open = open_tree,
    .close = close_tree,
    .tasks = tasks,
    .reset = reset,
    .start = peers_lace_start,
    .stop = peers_lace_stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
