/* Parallel loops by Ballast, oneTBB, OpenMP, Taskflow and one thread, over four loads:
 *
 *     eighth     all work lies in the first eighth
 *     triangle   the cost grows with the number of the element
 *     blocks     every other block of 512 is empty
 *     tiny       8 M elements of two or three nanoseconds
 *
 * Only OpenMP's dynamic schedule is given a grain, since nobody would use its default of one element at a time. */
#include "foreach_peers.h"
#include "peers.h"

#include <ballast/task.h>

#include <stdlib.h>
#include <string.h>

/* ---- ours ---- */

static BL_TASK void loop_piece(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end,
                               const loop_load *load, bl_nothing *local) {
    (void)t, (void)payload, (void)local;
    for (uint32_t i = begin; i < end; i++)
        loop_element(load, i);
}

#define BL_PROGRAM loop
#define BL_PAYLOAD bl_nothing
#define BL_SHARED loop_load
#define BL_RANGE_RUN loop_piece
#define BL_MAX_SPAWN 1
#include <ballast/program.h>

typedef struct loop_work {
    loop_load load;
    uint32_t *expected;
    bl_context *context[PEERS_TEAMS];
} loop_work;

/* ---- methods ---- */

static int run_sequential(peers_run *run) {
    const loop_load *load = &((loop_work *)run->work)->load;
    for (uint32_t i = 0; i < load->count; i++)
        loop_element(load, i);
    return BL_OK;
}

static int run_ours(peers_run *run) {
    const loop_work *w = run->work;
    const bl_nothing nothing = {0};
    bl_stats stats;
    int status = bl_run_range(w->context[run->team], loop_cpu(), &w->load, &nothing, w->load.count, &stats);
    run->peak_bytes = stats.peak_bytes;
    return status;
}

/* Unused if no library was found. */
static __attribute__((unused)) int run_peer(peers_run *run, void (*peer)(const loop_load *, uint32_t)) {
    peer(&((loop_work *)run->work)->load, run->threads);
    return BL_OK;
}
#ifdef BENCH_TBB
static int run_tbb(peers_run *run) { return run_peer(run, loop_tbb); }
#else
#define run_tbb NULL
#endif
#ifdef BENCH_OPENMP
static int run_static(peers_run *run) { return run_peer(run, loop_openmp_static); }
static int run_dynamic(peers_run *run) { return run_peer(run, loop_openmp_dynamic); }
static int run_guided(peers_run *run) { return run_peer(run, loop_openmp_guided); }
#else
#define run_static NULL
#define run_dynamic NULL
#define run_guided NULL
#endif
#ifdef BENCH_TASKFLOW
static int run_taskflow(peers_run *run) { return run_peer(run, loop_taskflow); }
#else
#define run_taskflow NULL
#endif

static bool is_right(const peers_run *run) {
    const loop_work *w = run->work;
    return memcmp(w->load.out, w->expected, sizeof *w->expected * w->load.count) == 0;
}

/* An element that was not run must not look right from the previous run. */
static void reset(void *work) {
    loop_work *w = work;
    for (uint32_t i = 0; i < w->load.count; i++)
        w->load.out[i] = ~w->expected[i];
}

static uint64_t tasks(const void *work) { return ((const loop_work *)work)->load.count; }

/* ---- loads ---- */

static const struct {
    const char *name;
    loop_load load;
} loads[] = {
    {"eighth", {NULL, 1000000, 400, LOOP_EIGHTH}},
    {"triangle", {NULL, 1000000, 100, LOOP_TRIANGLE}},
    {"blocks", {NULL, 1000000, 100, LOOP_BLOCKS}},
    {"tiny", {NULL, 8000000, 1, LOOP_TINY}},
};

static void close_loop(void *work) {
    loop_work *w = work;
    for (int team = 0; team < PEERS_TEAMS; team++)
        bl_close(w->context[team]);
    free(w->load.out);
    free(w->expected);
    free(w);
}

static int open_memory(loop_work *w) {
    w->load.out = malloc(sizeof *w->load.out * w->load.count);
    w->expected = malloc(sizeof *w->expected * w->load.count);
    if (!w->load.out || !w->expected)
        return peers_complain("foreach_peers", "out of memory");
    loop_load sequential = w->load;
    sequential.out = w->expected;
    for (uint32_t i = 0; i < sequential.count; i++)
        loop_element(&sequential, i);
    return 0;
}

static int open_ours(loop_work *w, const uint32_t threads[PEERS_TEAMS]) {
    int status = BL_OK;
    for (int team = 0; team < PEERS_TEAMS && status == BL_OK; team++)
        status = bl_open(&w->context[team], &(bl_config){.device = "cpu", .workers = threads[team]});
    return status == BL_OK ? 0 : peers_complain("Ballast", bl_status_text(status));
}

static void *open_loop(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    loop_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        if (strcmp(loads[i].name, name) == 0)
            w->load = loads[i].load;
    int status =
        w->load.count > 0 ? 0 : peers_complain(name, "unknown load (accepted: eighth, triangle, blocks, tiny)");
    if (status == 0)
        status = open_memory(w);
    if (status == 0)
        status = open_ours(w, threads);
    if (status == 0)
        return w;
    close_loop(w);
    return NULL;
}

enum { SEQUENTIAL, BALLAST, TBB, STATIC, DYNAMIC, GUIDED, TASKFLOW };

static const peers_contest contest = {
    .program = "foreach_peers",
    .load = "load",
    .loads = (const char *const[]){"eighth", "triangle", "blocks", "tiny", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, is_right},
                [BALLAST] = {"Ballast", PEERS_ON_ONE | PEERS_ON_ALL, run_ours, is_right},
                [TBB] = {"oneTBB", PEERS_ON_ALL, run_tbb, is_right},
                [STATIC] = {"OpenMP static", PEERS_ON_ALL, run_static, is_right},
                [DYNAMIC] = {"OpenMP dyn. 64", PEERS_ON_ALL, run_dynamic, is_right},
                [GUIDED] = {"OpenMP guided", PEERS_ON_ALL, run_guided, is_right},
                [TASKFLOW] = {"Taskflow", PEERS_ON_ALL, run_taskflow, is_right}},
    .promises =
        {{"Ballast on all threads / sequential", {BALLAST, PEERS_ALL}, {SEQUENTIAL, PEERS_ONE}, 1.05, true, true},
         {"Ballast over oneTBB, all threads", {TBB, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
         {"Ballast over OpenMP dyn. 64, all threads", {DYNAMIC, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
         {"Ballast over OpenMP guided, all threads", {GUIDED, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false},
         {"Ballast over Taskflow, all threads", {TASKFLOW, PEERS_ALL}, {BALLAST, PEERS_ALL}, 0, false, false}},
    .open = open_loop,
    .close = close_loop,
    .tasks = tasks,
    .reset = reset,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
