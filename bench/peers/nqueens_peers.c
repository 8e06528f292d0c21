/* n queens by Ballast, oneTBB, OpenMP tasks, Lace, Taskflow and the sequential twin: a task per queen placed,
 * without a cut-off. Loads are n. */
#include "nqueens_peers.h"
#include "peers.h"

#include "nqueens/counts.h"

#include <stdlib.h>
#include <string.h>

typedef struct queens_work {
    peers_app ours;
    uint32_t n, threads;
    nqueens_counts counts; /* of the twin */
    queens_tally *tallies;
} queens_work;

static int run_sequential(peers_run *run) {
    queens_work *w = run->work;
    w->counts = nqueens_twin(w->n);
    return BL_OK;
}

/* Unused if no library was found. */
static __attribute__((unused)) int run_peer(peers_run *run, void (*peer)(uint32_t, uint32_t, queens_tally *)) {
    queens_work *w = run->work;
    peer(w->n, run->threads, w->tallies);
    return BL_OK;
}

static bool are_known(const queens_work *w, uint64_t solutions, uint64_t nodes) {
    nqueens_counts known = nqueens_known(w->n);
    return solutions == known.solutions && nodes == known.nodes;
}

static bool right_sequential(const peers_run *run) {
    const queens_work *w = run->work;
    return are_known(w, w->counts.solutions, w->counts.nodes);
}

/* The peers also count the empty board. */
static bool right_peer(const peers_run *run) {
    const queens_work *w = run->work;
    uint64_t solutions = 0, nodes = 0;
    for (uint32_t i = 0; i < run->threads; i++) {
        solutions += w->tallies[i].solutions;
        nodes += w->tallies[i].nodes;
    }
    return are_known(w, solutions, nodes - 1);
}

#define PEERS_PEER(library) queens_##library
#include "peers_tasks.h"

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

/* The application reads the number and rejects anything else. */
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

static const peers_contest contest = {
    .program = "nqueens_peers",
    .load = "n",
    .loads = (const char *const[]){"13", NULL},
    .methods = {PEERS_TASK_METHODS},
    .promises = {PEERS_TASK_PROMISES(3, 0, 0)},
    .open = open_board,
    .close = close_board,
    .tasks = tasks,
    .reset = reset,
    .start = peers_lace_start,
    .stop = peers_lace_stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
