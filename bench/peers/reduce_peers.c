/* What the same bits cost: the sum of an array of doubles, reduced in the order of the indices (BL_REDUCE), exactly
 * (bl_exact) and in the order of the workers (BL_MERGE), beside oneTBB's parallel_reduce, its deterministic form, and
 * OpenMP. Loads are numbers of doubles, 8 bytes each: a sum that fits into the caches, and one that does not. Methods
 * that promise the same bits must give them with one thread and with all. */
#include "reduce_peers.h"
#include "peers.h"

#include <ballast/exact.h>
#include <ballast/task.h>
#include <math.h>
#include <stdlib.h>

typedef struct array {
    const double *values;
    double *sum;
    bl_exact *exact;
} array;

static BL_TASK void reduced_run(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end, const array *a,
                                bl_nothing *local) {
    double sum = reduce_piece(a->values, begin, end);
    (void)payload, (void)local;
    bl_return(t, &sum);
}
static BL_TASK void reduced_add(double *into, const double *next) { *into += *next; }
#define BL_PROGRAM reduced
#define BL_PAYLOAD bl_nothing
#define BL_SHARED array
#define BL_RESULT double
#define BL_RANGE_RUN reduced_run
#define BL_REDUCE reduced_add
#define BL_LANE_TASKS 1
#include <ballast/program.h>

typedef struct partial {
    double sum;
} partial;

static BL_TASK void merged_run(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end, const array *a,
                               partial *local) {
    (void)t, (void)payload;
    local->sum += reduce_piece(a->values, begin, end);
}
static BL_TASK void merged_merge(const array *a, const partial *local) {
    bl_fetch_add_double_relaxed(a->sum, local->sum);
}
#define BL_PROGRAM merged
#define BL_PAYLOAD bl_nothing
#define BL_SHARED array
#define BL_LOCAL partial
#define BL_RANGE_RUN merged_run
#define BL_MERGE merged_merge
#define BL_MAX_SPAWN 0
#define BL_LANE_TASKS 1
#include <ballast/program.h>

static BL_TASK void exact_run(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end, const array *a,
                              bl_exact *local) {
    (void)t, (void)payload;
    for (uint32_t i = begin; i < end; i++)
        bl_exact_add(local, a->values[i]);
}
static BL_TASK void exact_merge(const array *a, const bl_exact *local) { bl_exact_merge(a->exact, local); }
#define BL_PROGRAM exact
#define BL_PAYLOAD bl_nothing
#define BL_SHARED array
#define BL_LOCAL bl_exact
#define BL_RANGE_RUN exact_run
#define BL_MERGE exact_merge
#define BL_MAX_SPAWN 0
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* ---- the methods ---- */

enum { SEQUENTIAL, REDUCED, EXACT, MERGED, TBB_FIXED, TBB, OPENMP };

typedef struct reduce_work {
    bl_context *context[PEERS_TEAMS];
    double *values, sum, fixed[OPENMP + 1]; /* the first sum of those that promise the same bits */
    uint32_t count;
} reduce_work;

static int run_sequential(peers_run *run) {
    reduce_work *w = run->work;
    w->sum = reduce_piece(w->values, 0, w->count);
    return BL_OK;
}
static int run_reduced(peers_run *run) {
    reduce_work *w = run->work;
    return bl_run_reduce(w->context[run->team], reduced_cpu(), &(array){w->values, NULL, NULL}, &(bl_nothing){0},
                         w->count, &w->sum, NULL);
}
static int run_merged(peers_run *run) {
    reduce_work *w = run->work;
    return bl_run_range(w->context[run->team], merged_cpu(), &(array){w->values, &w->sum, NULL}, &(bl_nothing){0},
                        w->count, NULL);
}
static int run_exact(peers_run *run) {
    reduce_work *w = run->work;
    bl_exact sum = {.adds = 0};
    int status = bl_run_range(w->context[run->team], exact_cpu(), &(array){w->values, NULL, &sum}, &(bl_nothing){0},
                              w->count, NULL);
    w->sum = bl_exact_value(&sum);
    return status;
}
#ifdef BENCH_TBB
static int run_tbb(peers_run *run) {
    reduce_work *w = run->work;
    w->sum = reduce_tbb(w->values, w->count, run->threads);
    return BL_OK;
}
static int run_tbb_fixed(peers_run *run) {
    reduce_work *w = run->work;
    w->sum = reduce_tbb_fixed(w->values, w->count, run->threads);
    return BL_OK;
}
#else
#define run_tbb NULL
#define run_tbb_fixed NULL
#endif
#ifdef BENCH_OPENMP
static int run_openmp(peers_run *run) {
    reduce_work *w = run->work;
    w->sum = reduce_openmp(w->values, w->count, run->threads);
    return BL_OK;
}
#else
#define run_openmp NULL
#endif

/* 1 + 1/2 + 1/3 + ..., by Euler and Maclaurin. */
static bool right(const peers_run *run) {
    const reduce_work *w = run->work;
    const double n = w->count, exact = log(n) + 0.57721566490153286 + 1 / (2 * n) - 1 / (12 * n * n);
    return fabs(w->sum - exact) < 1e-9;
}

static const peers_contest contest;

static bool right_and_same(const peers_run *run) {
    reduce_work *w = run->work;
    double *first = &w->fixed[run->method - contest.methods];
    *first = *first == 0 ? w->sum : *first;
    return right(run) && memcmp(first, &w->sum, sizeof *first) == 0;
}

static void reset(void *work) { ((reduce_work *)work)->sum = 0; }
static uint64_t elements(const void *work) { return ((const reduce_work *)work)->count; }

static void close_array(void *work) {
    reduce_work *w = work;
    for (int i = 0; i < PEERS_TEAMS; i++)
        bl_close(w->context[i]);
    free(w->values);
    free(w);
}

static void *open_array(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    char *end;
    unsigned long count = strtoul(name, &end, 10);
    reduce_work *w = calloc(1, sizeof *w);
    if (*end || count == 0 || count > 1000000000 || !w) {
        peers_complain(name, w ? "not a number of doubles (accepted: 1 to 1000000000)" : "no memory");
        free(w);
        return NULL;
    }
    w->count = (uint32_t)count;
    w->values = malloc(count * sizeof *w->values);
    for (int i = 0; i < PEERS_TEAMS; i++)
        if (!w->values || bl_open(&w->context[i], &(bl_config){.device = "cpu", .workers = threads[i]}) != BL_OK) {
            peers_complain(name, "cannot open a context");
            close_array(w);
            return NULL;
        }
    for (uint32_t i = 0; i < w->count; i++)
        w->values[i] = 1.0 / (i + 1);
    return w;
}

enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

static const peers_contest contest = {
    .program = "reduce_peers",
    .load = "doubles",
    .loads = (const char *const[]){"10000", "100000", "1000000", "20000000", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_sequential, right},
                [REDUCED] = {"BL_REDUCE", BOTH, run_reduced, right_and_same},
                [EXACT] = {"bl_exact", BOTH, run_exact, right_and_same},
                [MERGED] = {"BL_MERGE", BOTH, run_merged, right},
                [TBB_FIXED] = {"oneTBB, fixed", BOTH, run_tbb_fixed, right_and_same},
                [TBB] = {"oneTBB", BOTH, run_tbb, right},
                [OPENMP] = {"OpenMP", BOTH, run_openmp, right}},
    .promises = {{"BL_REDUCE / BL_MERGE, 1 thread", {REDUCED, PEERS_ONE}, {MERGED, PEERS_ONE}, 0, false, false},
                 {"BL_REDUCE / BL_MERGE, all threads", {REDUCED, PEERS_ALL}, {MERGED, PEERS_ALL}, 0, false, false}},
    .open = open_array,
    .close = close_array,
    .tasks = elements,
    .reset = reset,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
