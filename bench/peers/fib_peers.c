/* fib(n) without a cut-off by Ballast, oneTBB, OpenMP tasks, Lace, Taskflow and plain calls: what a task costs. Loads are n. For Ballast every call is a task. */
#include "fib_peers.h"
#include "peers.h"

#include "fib/fib.h"

#include <stdlib.h>

typedef struct fib_work {
    uint32_t n;
    uint64_t value; /* of the last run of a peer */
    peers_app ours;
} fib_work;

static int run_sequential(peers_run *run) {
    fib_work *w = run->work;
    w->value = fib_twin(w->n);
    return BL_OK;
}

static int run_ours(peers_run *run) { return peers_app_run(&((fib_work *)run->work)->ours, run); }

/* Where none was found, nobody calls it. */
static __attribute__((unused)) int run_peer(peers_run *run, uint64_t (*peer)(uint32_t, uint32_t)) {
    fib_work *w = run->work;
    w->value = peer(w->n, run->threads);
    return BL_OK;
}
#ifdef BENCH_TBB
static int run_tbb(peers_run *run) { return run_peer(run, fib_tbb); }
#else
#define run_tbb NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp(peers_run *run) { return run_peer(run, fib_openmp); }
#else
#define run_openmp NULL
#endif
#ifdef BENCH_LACE
static int run_lace(peers_run *run) { return run_peer(run, fib_lace); }
#else
#define run_lace NULL
#endif
#ifdef BENCH_TASKFLOW
static int run_taskflow(peers_run *run) { return run_peer(run, fib_taskflow); }
#else
#define run_taskflow NULL
#endif

static bool right_peer(const peers_run *run) {
    const fib_work *w = run->work;
    return w->value == fib_known(w->n);
}

static bool right_ours(const peers_run *run) { return peers_app_right(&((fib_work *)run->work)->ours, run); }

static void reset(void *work) { ((fib_work *)work)->value = UINT64_MAX; }

static uint64_t tasks(const void *work) { return 2 * fib_known(((const fib_work *)work)->n + 1) - 1; }

static void close_number(void *work) {
    fib_work *w = work;
    peers_app_close(&w->ours);
    free(w);
}

/* The application reads the number and refuses what is none. */
static void *open_number(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    fib_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    if (peers_app_open(&w->ours, "fib", "--n", name, threads) != 0) {
        close_number(w);
        return NULL;
    }
    w->n = (uint32_t)strtoul(name, NULL, 10);
    return w;
}

enum { SEQUENTIAL, BALLAST, TBB, OPENMP, LACE, TASKFLOW };
enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

static const peers_contest contest = {
    .program = "fib_peers",
    .load = "n",
    .loads = (const char *const[]){"35", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, right_peer},
                [BALLAST] = {"Ballast", BOTH, run_ours, right_ours},
                [TBB] = {"oneTBB", BOTH, run_tbb, right_peer},
                [OPENMP] = {"OpenMP", BOTH, run_openmp, right_peer},
                [LACE] = {"Lace", BOTH, run_lace, right_peer},
                [TASKFLOW] = {"Taskflow", BOTH, run_taskflow, right_peer}},
    .promises = {{"Ballast on 1 thread / sequential", {BALLAST, PEERS_ONE}, {SEQUENTIAL, PEERS_ONE}, 0, true, false},
                 {"speed-up of Ballast on all threads", {BALLAST, PEERS_ONE}, {BALLAST, PEERS_ALL}, 0, false, true},
                 {"Ballast over oneTBB, 1 thread", {TBB, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false},
                 {"Ballast over oneTBB, all threads", {TBB, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over OpenMP, 1 thread", {OPENMP, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false},
                 {"Ballast over OpenMP, all threads", {OPENMP, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over Lace, 1 thread", {LACE, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false},
                 {"Ballast over Lace, all threads", {LACE, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over Taskflow, all threads", {TASKFLOW, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}},
    .open = open_number,
    .close = close_number,
    .tasks = tasks,
    .reset = reset,
    .start = peers_lace_start,
    .stop = peers_lace_stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
