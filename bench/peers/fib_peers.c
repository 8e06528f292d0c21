/* fib(n) without a cut-off by Ballast, oneTBB, OpenMP tasks, Lace, Taskflow and plain calls: the cost of a task. Loads
 * are n. For Ballast every call is a task. */
#include "fib_peers.h"
#include "peers.h"

#include "fib/fib.h"

#include <stdlib.h>

typedef struct fib_work {
    peers_app ours;
    uint32_t n;
    uint64_t value; /* of the last run of a peer */
} fib_work;

static int run_sequential(peers_run *run) {
    fib_work *w = run->work;
    w->value = fib_twin(w->n);
    return BL_OK;
}

/* Unused if no library was found. */
static __attribute__((unused)) int run_peer(peers_run *run, uint64_t (*peer)(uint32_t, uint32_t)) {
    fib_work *w = run->work;
    w->value = peer(w->n, run->threads);
    return BL_OK;
}

static bool right_peer(const peers_run *run) {
    const fib_work *w = run->work;
    return w->value == fib_known(w->n);
}

#define right_sequential right_peer
#define PEERS_PEER(library) fib_##library
#include "peers_tasks.h"

static void reset(void *work) { ((fib_work *)work)->value = UINT64_MAX; }

static uint64_t tasks(const void *work) { return 2 * fib_known(((const fib_work *)work)->n + 1) - 1; }

static void close_number(void *work) {
    fib_work *w = work;
    peers_app_close(&w->ours);
    free(w);
}

/* The application reads the number and rejects anything else. */
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

static const peers_contest contest = {
    .program = "fib_peers",
    .load = "n",
    .loads = (const char *const[]){"35", NULL},
    .methods = {PEERS_TASK_METHODS},
    .promises = {PEERS_TASK_PROMISES(0, 0, 0),
                 {"Ballast over oneTBB, 1 thread", {TBB, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false},
                 {"Ballast over OpenMP, 1 thread", {OPENMP, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false},
                 {"Ballast over Lace, 1 thread", {LACE, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false}},
    .open = open_number,
    .close = close_number,
    .tasks = tasks,
    .reset = reset,
    .start = peers_lace_start,
    .stop = peers_lace_stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
