/* The loads of the suite greedy by oneTBB and OpenMP:
 *
 *     greedy_peers [--repeats N] [--limit SECONDS] [--threads N] [--unit NANOSECONDS] [SHAPE [LOAD]]
 *
 * Prints a line per run, for `ballast bench greedy`. A method is not repeated further once its runs reach the limit in
 * total. Without SHAPE and LOAD: every shape, bimodal. */
#include "greedy/greedy_loads.h"
#include "greedy_peers.h"
#include "peers.h"

#include "harness/common.h"

#include <inttypes.h>

#ifndef BENCH_TBB
#define greedy_tbb_tasks NULL
#define greedy_tbb_for NULL
#define greedy_tbb_for_simple NULL
#define greedy_tbb_tree NULL
#endif
#ifndef BENCH_OPENMP
#define greedy_openmp_tasks NULL
#define greedy_openmp_taskloop NULL
#define greedy_openmp_for NULL
#define greedy_openmp_tree NULL
#endif

typedef struct method {
    greedy_peer peer;
    unsigned shapes;
    void (*run)(greedy_work *work); /* NULL: not found when this was built */
} method;

#define SHAPE(name) (1u << GREEDY_##name)
static const method METHODS[] = {
    {GREEDY_TBB_TASKS, SHAPE(SINGLY) | SHAPE(ROOTS), greedy_tbb_tasks},
    {GREEDY_TBB_FOR, SHAPE(LOOP) | SHAPE(PIECES), greedy_tbb_for},
    {GREEDY_TBB_SIMPLE, SHAPE(RANGE) | SHAPE(LOOP), greedy_tbb_for_simple},
    {GREEDY_TBB_TASKS, SHAPE(TREE), greedy_tbb_tree},
    {GREEDY_OPENMP_TASKS, SHAPE(SINGLY) | SHAPE(ROOTS), greedy_openmp_tasks},
    {GREEDY_OPENMP_TASKLOOP, SHAPE(RANGE), greedy_openmp_taskloop},
    {GREEDY_OPENMP_FOR, SHAPE(LOOP) | SHAPE(PIECES), greedy_openmp_for},
    {GREEDY_OPENMP_TASKS, SHAPE(TREE), greedy_openmp_tree},
};
enum { COUNT = sizeof METHODS / sizeof METHODS[0] };

typedef struct order {
    uint32_t repeats, threads, unit;
    double limit;
} order;

static bool right(const greedy_work *work, greedy_shape shape) {
    uint64_t wrong = 0, n = work->count;
    for (uint32_t i = 0; i < work->count; i++)
        wrong += work->shared.runs[i] != 1;
    return wrong == 0 && (shape != GREEDY_TREE || work->sum == n * (n + 1) / 2);
}

/* Seconds; negative after a wrong result. */
static double run_once(const method *m, greedy_work *work, greedy_shape shape, const char *load, uint32_t repeat) {
    greedy_setting setting = {shape, work->threads, 1, false};
    memset(work->shared.runs, 0, work->count * sizeof *work->shared.runs);
    work->sum = 0;
    double begun = bench_now();
    m->run(work);
    double seconds = bench_now() - begun;
    greedy_limits l = greedy_limits_of(&setting, work->shared.took, NULL, work->count);
    bool good = right(work, shape);
    if (repeat > 0)
        printf("%s,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.9f,%.9f,%.9f,%.9f,%s\n", greedy_shape_names[shape], load,
               greedy_peer_names[m->peer], work->threads, work->count, repeat, seconds, l.share, l.path, l.bound,
               good ? "right" : "WRONG");
    return good ? seconds : -1;
}

/* Runtimes start their threads on first use; this run has tasks that take no time. */
static void warm_up(const method *m, greedy_work *work, greedy_shape shape) {
    const uint32_t *length = work->shared.length;
    uint32_t *zero = calloc(work->count, sizeof *zero);
    work->shared.length = zero;
    if (zero) {
        run_once(m, work, shape, "", 0);
        bench_settle();
    }
    work->shared.length = length;
    free(zero);
}

static int run_methods(const order *o, greedy_work *work, greedy_shape shape, const char *load) {
    double spent[COUNT] = {0};
    for (uint32_t repeat = 0; repeat <= o->repeats; repeat++)
        for (int i = 0; i < COUNT; i++) {
            const method *m = &METHODS[i];
            if (!m->run || !(m->shapes >> shape & 1) || (repeat > 1 && spent[i] >= o->limit))
                continue;
            if (repeat == 0) {
                warm_up(m, work, shape);
                continue;
            }
            double seconds = run_once(m, work, shape, load, repeat);
            if (seconds < 0)
                return peers_complain(greedy_peer_names[m->peer], "a task was not run exactly once");
            spent[i] += seconds;
        }
    return 0;
}

static int run_load(const order *o, greedy_shape shape, const char *name) {
    greedy_load load = {0, NULL};
    if (!greedy_load_make(&load, name, o->threads, o->unit))
        return peers_complain(name, "unknown load, or out of memory");
    greedy_work work = {.count = load.count, .threads = o->threads};
    work.shared.length = load.length;
    work.shared.took = calloc(load.count, sizeof *work.shared.took);
    work.shared.runs = calloc(load.count, sizeof *work.shared.runs);
    int status = work.shared.took && work.shared.runs ? run_methods(o, &work, shape, name)
                                                      : peers_complain(name, "out of memory");
    free(work.shared.took);
    free(work.shared.runs);
    greedy_load_free(&load);
    return status;
}

static bool take_option(order *o, const char *name, const char *value) {
    char *end;
    double number = strtod(value, &end);
    if (*end || number <= 0 || number > 1e9)
        return false;
    if (strcmp(name, "--repeats") == 0)
        o->repeats = (uint32_t)number;
    else if (strcmp(name, "--limit") == 0)
        o->limit = number;
    else if (strcmp(name, "--threads") == 0)
        o->threads = (uint32_t)number;
    else if (strcmp(name, "--unit") == 0)
        o->unit = (uint32_t)number;
    else
        return false;
    return true;
}

int main(int argc, char **argv) {
    order o = {3, 8, 1000000, 0.1};
    int at = 1, status = 0;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2)
        if (!take_option(&o, argv[at], argv[at + 1]))
            return peers_complain(argv[at], "unknown option, or not a number above 0"), 2;
    int only = at < argc ? greedy_shape_find(argv[at]) : -1;
    if (at < argc && only < 0)
        return peers_complain(argv[at], "unknown shape"), 2;
    printf("shape,load,method,threads,tasks,repeat,seconds,share,path,bound,check\n");
    for (int shape = 0; shape < GREEDY_SHAPES && status == 0; shape++)
        if (only < 0 || only == shape)
            status = run_load(&o, (greedy_shape)shape, at + 1 < argc ? argv[at + 1] : "bimodal");
    return status;
}
