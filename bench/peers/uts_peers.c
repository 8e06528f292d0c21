/* Unbalanced tree search by Ballast, oneTBB, OpenMP tasks, Lace, Taskflow and the sequential twin. Loads are trees with known counts.
 *
 * Every method expands nodes by the same two functions, every result is compared with the published counts, and a time is all that a
 * caller waits for. A task is a node, for Ballast as for the peers, which are written as published ports of UTS are. "inner" are the same
 * libraries after some tuning by their user: only nodes with children become tasks, and nobody joins. */
#include "uts_peers.h"
#include "peers.h"

#include "uts/uts_tree.h"

#include <stdlib.h>
#include <string.h>

/* One tree with everything that counts it. */
typedef struct uts_work {
    const uts_known *known;
    uts_table table;
    peer_tree peer;
    peer_tally *tallies;
    uint32_t threads;
    uint64_t left_out; /* nodes that a method leaves to its caller */
    uts_counts counts; /* of the twin */
    peers_app ours;
} uts_work;

static int run_sequential(peers_run *run) {
    uts_work *w = run->work;
    return uts_twin(&w->known->tree, &w->table, &w->counts);
}

static int run_ours(peers_run *run) { return peers_app_run(&((uts_work *)run->work)->ours, run); }

/* Where none was found, nobody calls it. */
static __attribute__((unused)) int run_peer(peers_run *run, void (*peer)(const peer_tree *, uint32_t, peer_tally *),
                                            uint64_t left_out) {
    uts_work *w = run->work;
    w->left_out = left_out;
    peer(&w->peer, run->threads, w->tallies);
    return BL_OK;
}
#ifdef BENCH_TBB
static int run_tbb(peers_run *run) { return run_peer(run, peer_tbb, 0); }
static int run_tbb_inner(peers_run *run) { return run_peer(run, peer_tbb_inner, 1); }
#else
#define run_tbb NULL
#define run_tbb_inner NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp(peers_run *run) { return run_peer(run, peer_openmp, 0); }
static int run_openmp_inner(peers_run *run) { return run_peer(run, peer_openmp_inner, 1); }
#else
#define run_openmp NULL
#define run_openmp_inner NULL
#endif
#ifdef BENCH_LACE
static int run_lace(peers_run *run) { return run_peer(run, peer_lace, 0); }
#else
#define run_lace NULL
#endif
#ifdef BENCH_TASKFLOW
static int run_taskflow(peers_run *run) { return run_peer(run, peer_taskflow, 0); }
#else
#define run_taskflow NULL
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

static bool right_ours(const peers_run *run) { return peers_app_right(&((uts_work *)run->work)->ours, run); }

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

/* The twin lengthens the table where the tree is deeper than it; after that the peers only read it. */
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

enum { SEQUENTIAL, BALLAST, TBB, TBB_INNER, OPENMP, OPENMP_INNER, LACE, TASKFLOW };
enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

static const peers_contest contest = {
    .program = "uts_peers",
    .load = "tree",
    .loads = (const char *const[]){"T1", "T3", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, right_sequential},
                [BALLAST] = {"Ballast", BOTH, run_ours, right_ours},
                [TBB] = {"oneTBB", BOTH, run_tbb, right_peer},
                [TBB_INNER] = {"oneTBB inner", BOTH, run_tbb_inner, right_peer},
                [OPENMP] = {"OpenMP", BOTH, run_openmp, right_peer},
                [OPENMP_INNER] = {"OpenMP inner", BOTH, run_openmp_inner, right_peer},
                [LACE] = {"Lace", BOTH, run_lace, right_peer},
                [TASKFLOW] = {"Taskflow", BOTH, run_taskflow, right_peer}},
    .promises =
        {{"Ballast on 1 thread / sequential", {BALLAST, PEERS_ONE}, {SEQUENTIAL, PEERS_ONE}, 1.10, true, false},
         {"speed-up of Ballast on all threads", {BALLAST, PEERS_ONE}, {BALLAST, PEERS_ALL}, 0.95, false, true},
         {"Ballast over oneTBB, all threads", {TBB, PEERS_ALL}, {BALLAST, PEERS_ALL}, 1.3, false, false},
         {"Ballast over OpenMP, all threads", {OPENMP, PEERS_ALL}, {BALLAST, PEERS_ALL}, 1.3, false, false},
         {"Ballast over oneTBB inner, all threads", {TBB_INNER, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
         {"Ballast over OpenMP inner, all threads", {OPENMP_INNER, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
         {"Ballast over Lace, all threads", {LACE, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
         {"Ballast over Taskflow, all threads", {TASKFLOW, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}},
    .open = open_tree,
    .close = close_tree,
    .tasks = tasks,
    .reset = reset,
    .start = peers_lace_start,
    .stop = peers_lace_stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
