/* Runs of one task on an open context, beside parallel regions of OpenMP and groups of oneTBB: what it costs to start
 * and to end. And runs that would never end and are cancelled by their first task. Loads are numbers of runs; a "task"
 * of the table is a run. Between runs all threads may sleep. */
#include "starts_peers.h"
#include "peers.h"

#include <stdlib.h>

typedef struct starts_work {
    bl_program *program, *endless;
    bl_context *context[PEERS_TEAMS];
    uint32_t times;
    uint64_t count; /* of the last run */
} starts_work;

static void task(bl_task *t, const void *payload, uint32_t index, const void *data) {
    (void)t, (void)payload, (void)index;
    starts_task(*(uint64_t *const *)data);
}

typedef struct endless_data {
    bl_context *context;
    uint64_t *count, before;
} endless_data;

static void endless(bl_task *t, const void *payload, uint32_t index, const void *data) {
    const endless_data *d = data;
    (void)index;
    if (*d->count == d->before) {
        starts_task(d->count);
        bl_cancel(d->context);
    }
    bl_task_spawn(t, payload, 1);
}

static int run_sequential(peers_run *run) {
    starts_work *w = run->work;
    for (uint32_t i = 0; i < w->times; i++)
        starts_task(&w->count);
    return BL_OK;
}

static int run_ours(peers_run *run) {
    starts_work *w = run->work;
    uint64_t *count = &w->count;
    int status = BL_OK;
    for (uint32_t i = 0; i < w->times && status == BL_OK; i++)
        status = bl_run(w->context[run->team], w->program, &count, NULL, 1, NULL);
    return status;
}

static int cancel_ours(peers_run *run) {
    starts_work *w = run->work;
    bl_context *context = w->context[run->team];
    int status = BL_ECANCEL;
    for (uint32_t i = 0; i < w->times && status == BL_ECANCEL; i++) {
        const endless_data data = {context, &w->count, w->count};
        status = bl_run(context, w->endless, &data, &i, 1, NULL);
        bl_reset(context);
    }
    return status == BL_ECANCEL ? BL_OK : status == BL_OK ? BL_EINVAL : status;
}

#ifdef BENCH_TBB
static int cancel_tbb(peers_run *run) {
    starts_work *w = run->work;
    cancels_tbb(&w->count, w->times, run->threads);
    return BL_OK;
}
static int run_tbb(peers_run *run) {
    starts_work *w = run->work;
    starts_tbb(&w->count, w->times, run->threads);
    return BL_OK;
}
#else
#define run_tbb NULL
#define cancel_tbb NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp(peers_run *run) {
    starts_work *w = run->work;
    starts_openmp(&w->count, w->times, run->threads);
    return BL_OK;
}
#else
#define run_openmp NULL
#endif

static bool right(const peers_run *run) {
    const starts_work *w = run->work;
    return w->count == w->times;
}

static void reset(void *work) { ((starts_work *)work)->count = 0; }
static uint64_t runs(const void *work) { return ((const starts_work *)work)->times; }

static void close_runs(void *work) {
    starts_work *w = work;
    for (int i = 0; i < PEERS_TEAMS; i++)
        bl_close(w->context[i]);
    bl_program_free(w->program);
    bl_program_free(w->endless);
    free(w);
}

static void *open_runs(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    char *end;
    unsigned long times = strtoul(name, &end, 10);
    starts_work *w = calloc(1, sizeof *w);
    if (*end || times == 0 || times > 1000000000 || !w) {
        peers_complain(name, w ? "not a number of runs (accepted: 1 to 1000000000)" : "no memory");
        free(w);
        return NULL;
    }
    w->times = (uint32_t)times;
    w->program = bl_program_from_function(task, 0, sizeof(uint64_t *), 1);
    w->endless = bl_program_from_function(endless, sizeof(uint32_t), sizeof(endless_data), 1);
    for (int i = 0; i < PEERS_TEAMS; i++)
        if (!w->program || !w->endless ||
            bl_open(&w->context[i], &(bl_config){.device = "cpu", .workers = threads[i]}) != BL_OK) {
            peers_complain(name, "cannot open a context");
            close_runs(w);
            return NULL;
        }
    return w;
}

enum { SEQUENTIAL, BALLAST, TBB, OPENMP, CANCEL, CANCEL_TBB };
enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

static const peers_contest contest = {
    .program = "starts_peers",
    .load = "runs",
    .loads = (const char *const[]){"10000", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, right},
                [BALLAST] = {"Ballast", BOTH, run_ours, right},
                [TBB] = {"oneTBB", BOTH, run_tbb, right},
                [OPENMP] = {"OpenMP", BOTH, run_openmp, right},
                [CANCEL] = {"Ballast, cancel", BOTH, cancel_ours, right},
                [CANCEL_TBB] = {"oneTBB, cancel", BOTH, cancel_tbb, right}},
    .promises = {{"Ballast over oneTBB, 1 thread", {TBB, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false},
                 {"Ballast over OpenMP, 1 thread", {OPENMP, PEERS_ONE}, {BALLAST, PEERS_ONE}, 0, false, false},
                 {"Ballast over oneTBB, all threads", {TBB, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
                 {"Ballast over OpenMP, all threads", {OPENMP, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}},
    .open = open_runs,
    .close = close_runs,
    .tasks = runs,
    .reset = reset,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
