/* n queens by Ballast, oneTBB, OpenMP tasks, Lace, Taskflow and the sequential twin: a task per queen placed, without a cut-off. Loads are n. */
#include "nqueens_peers.h"
#include "peers.h"

#include "nqueens/counts.h"

#include <stdlib.h>
#include <string.h>

typedef struct queens_work {
    uint32_t n, threads;
    nqueens_counts counts; /* of the twin */
    queens_tally *tallies;
    peers_app ours;
} queens_work;

static int run_sequential(peers_run *run) {
    queens_work *w = run->work;
    w->counts = nqueens_twin(w->n);
    return BL_OK;
}

static int run_ours(peers_run *run) { return peers_app_run(&((queens_work *)run->work)->ours, run); }

/* Where none was found, nobody calls it. */
static __attribute__((unused)) int run_peer(peers_run *run, void (*peer)(uint32_t, uint32_t, queens_tally *)) {
    queens_work *w = run->work;
    peer(w->n, run->threads, w->tallies);
    return BL_OK;
}
#ifdef BENCH_TBB
static int run_tbb(peers_run *run) { return run_peer(run, queens_tbb); }
#else
#define run_tbb NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp(peers_run *run) { return run_peer(run, queens_openmp); }
#else
#define run_openmp NULL
#endif
#ifdef BENCH_LACE
static int run_lace(peers_run *run) { return run_peer(run, queens_lace); }
#else
#define run_lace NULL
#endif
#ifdef BENCH_TASKFLOW
static int run_taskflow(peers_run *run) { return run_peer(run, queens_taskflow); }
#else
#define run_taskflow NULL
#endif

static bool are_known(const queens_work *w, uint64_t solutions, uint64_t nodes) {
    nqueens_counts known = nqueens_known(w->n);
    return solutions == known.solutions && nodes == known.nodes;
}

static bool right_sequential(const peers_run *run) {
    const queens_work *w = run->work;
    return are_known(w, w->counts.solutions, w->counts.nodes);
}

static bool right_ours(const peers_run *run) { return peers_app_right(&((queens_work *)run->work)->ours, run); }

/* The peers count the empty board too. */
static bool right_peer(const peers_run *run) {
    const queens_work *w = run->work;
    uint64_t solutions = 0, nodes = 0;
    for (uint32_t i = 0; i < run->threads; i++) {
        solutions += w->tallies[i].solutions;
        nodes += w->tallies[i].nodes;
    }
    return are_known(w, solutions, nodes - 1);
}

static void reset(void *work) {
    queens_work *w = work;
    memset(w->tallies, 0, w->threads * sizeof *w->tallies);
}

static uint64_t tasks(const void *work) { return nqueens_known(((const queens_work *)work)->n).nodes; }

static void close_board(void *work) {
    queens_work *w = work;
    peers_app_close(&w->ours);
    free(w->tallies);
    free(w);
}

/* The application reads the number and refuses what is none. */
static void *open_board(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    queens_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->threads = threads[PEERS_ALL];
    w->tallies = aligned_alloc(sizeof *w->tallies, w->threads * sizeof *w->tallies);
    if (!w->tallies || peers_app_open(&w->ours, "nqueens", "--n", name, threads) != 0) {
        close_board(w);
        return NULL;
    }
    w->n = (uint32_t)strtoul(name, NULL, 10);
    return w;
}

enum { SEQUENTIAL, BALLAST, TBB, OPENMP, LACE, TASKFLOW };
enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

static const peers_contest contest = {
    .program = "nqueens_peers",
    .load = "n",
    .loads = (const char *const[]){"13", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, right_sequential},
                [BALLAST] = {"Ballast", BOTH, run_ours, right_ours},
                [TBB] = {"oneTBB", BOTH, run_tbb, right_peer},
                [OPENMP] = {"OpenMP", BOTH, run_openmp, right_peer},
                [LACE] = {"Lace", BOTH, run_lace, right_peer},
                [TASKFLOW] = {"Taskflow", BOTH, run_taskflow, right_peer}},
    .promises = {{"Ballast on 1 thread / sequential", {BALLAST, PEERS_ONE}, {SEQUENTIAL, PEERS_ONE}, 3, true, false},
                 {"speed-up of Ballast on all threads", {BALLAST, PEERS_ONE}, {BALLAST, PEERS_ALL}, 0, false, true},
                 {"Ballast over oneTBB, all threads", {TBB, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over OpenMP, all threads", {OPENMP, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over Lace, all threads", {LACE, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over Taskflow, all threads", {TASKFLOW, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}},
    .open = open_board,
    .close = close_board,
    .tasks = tasks,
    .reset = reset,
    .start = peers_lace_start,
    .stop = peers_lace_stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
