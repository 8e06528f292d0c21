#include "greedy_loads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const greedy_shape_names[GREEDY_SHAPES] = {"singly", "range", "roots", "loop", "pieces", "tree"};

const char *const greedy_peer_names[GREEDY_PEERS] = {
    "oneTBB task_group", "oneTBB parallel_for", "oneTBB parallel_for simple",
    "OpenMP task",       "OpenMP taskloop",     "OpenMP for dynamic"};

int greedy_shape_find(const char *name) {
    for (int i = 0; i < GREEDY_SHAPES; i++)
        if (strcmp(greedy_shape_names[i], name) == 0)
            return i;
    return -1;
}

/* ---- loads ---- */

/* A number in [0, 1) that depends only on i: the same loads on every machine. */
static double chance(uint32_t i) {
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)(x >> 11) * 0x1p-53;
}

/* The length of task i of n, in units. Work hidden behind a long task shows if long tasks are few and there is little
 * else to do. So each worker has only a few tasks, and one task in sixteen is long. */
static double equal(uint32_t i, uint32_t n) { return (void)i, (void)n, 1; }
static double bimodal(uint32_t i, uint32_t n) { return (void)n, chance(i) < 1.0 / 16 ? 16 : 1; }
static double pareto(uint32_t i, uint32_t n) { return (void)n, fmin(pow(1 - chance(i), -1 / 1.1), 24); }
static double increasing(uint32_t i, uint32_t n) { return 1 + 11.0 * i / n; }
static double decreasing(uint32_t i, uint32_t n) { return increasing(n - 1 - i, n); }
static double giant_first(uint32_t i, uint32_t n) { return (void)n, i == 0 ? 16 : 1; }
static double giant_middle(uint32_t i, uint32_t n) { return i == n / 2 ? 16 : 1; }
static double giant_last(uint32_t i, uint32_t n) { return i + 1 == n ? 16 : 1; }

static const struct {
    const char *name;
    double (*units)(uint32_t i, uint32_t n);
    uint32_t tasks; /* per worker */
} MANY[] = {
    {"equal", equal, 4},
    {"bimodal", bimodal, 4},
    {"pareto", pareto, 3},
    {"increasing", increasing, 2},
    {"decreasing", decreasing, 2},
    {"giant first", giant_first, 3},
    {"giant middle", giant_middle, 3},
    {"giant last", giant_last, 3},
};

/* Tasks number begin .. end - 1 are long, and so is every `period`-th; 0: none. */
static const struct {
    const char *name;
    uint32_t count, begin, end, period, longs, shorts;
} FEW[] = {
    {"100 short then 8 long", 108, 100, 108, 0, 300, 1},
    {"8 long then 8 empty", 16, 0, 8, 0, 250, 0},
    {"264 long", 264, 0, 264, 0, 250, 0},
    {"2048 medium", 2048, 0, 2048, 0, 50, 0},
    {"2048 of which every 64th long", 2048, 0, 0, 64, 250, 1},
    {"20000 of which every 100th long", 20000, 0, 0, 100, 250, 1},
};

const char *greedy_load_name(unsigned i) { return i < sizeof MANY / sizeof MANY[0] ? MANY[i].name : NULL; }

static bool make_room(greedy_load *load, uint32_t count) {
    load->count = count;
    load->length = malloc(count * sizeof *load->length);
    return load->length != NULL;
}

static bool make_many(greedy_load *load, size_t kind, uint32_t workers, uint32_t unit) {
    if (!make_room(load, MANY[kind].tasks * workers))
        return false;
    for (uint32_t i = 0; i < load->count; i++)
        load->length[i] = (uint32_t)(unit * MANY[kind].units(i, load->count));
    return true;
}

static bool make_few(greedy_load *load, size_t kind, uint32_t unit) {
    if (!make_room(load, FEW[kind].count))
        return false;
    for (uint32_t i = 0; i < load->count; i++) {
        bool within = i >= FEW[kind].begin && i < FEW[kind].end;
        bool in_turn = FEW[kind].period > 0 && (i + 1) % FEW[kind].period == 0;
        load->length[i] = unit * (within || in_turn ? FEW[kind].longs : FEW[kind].shorts);
    }
    return true;
}

bool greedy_load_make(greedy_load *load, const char *name, uint32_t workers, uint32_t unit) {
    for (size_t i = 0; i < sizeof MANY / sizeof MANY[0]; i++)
        if (strcmp(MANY[i].name, name) == 0)
            return make_many(load, i, workers, unit);
    for (size_t i = 0; i < sizeof FEW / sizeof FEW[0]; i++)
        if (strcmp(FEW[i].name, name) == 0)
            return make_few(load, i, unit);
    return false;
}

void greedy_load_free(greedy_load *load) {
    free(load->length);
    load->length = NULL;
}

/* ---- the bound ---- */

/* Lanes read the clock by the same instruction, and a worker needs longer from one batch to the next. */
enum { TOGETHER = 200 };

/* What a worker began: a task, or one that only spawns. */
typedef struct start {
    uint32_t worker, began /* since the first of all */, task;
} start;

static int compare_starts(const void *a, const void *b) {
    const start *x = a, *y = b;
    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    return (x->began > y->began) - (x->began < y->began);
}

/* In the order of batches; returns how many. */
static uint32_t sort_starts(start *starts, const greedy_batches *b, uint32_t count) {
    uint32_t first = count ? b->began[0] : 0, n = 0;
    for (uint32_t i = 0; i < (b->parents ? 2 * count : count); i++) {
        if (i >= count && b->parents[i] == GREEDY_NO_TASK)
            continue;
        first = (int32_t)(b->began[i] - first) < 0 ? b->began[i] : first;
        starts[n++] = (start){b->worker[i], b->began[i], i};
    }
    for (uint32_t i = 0; i < n; i++)
        starts[i].began -= first;
    qsort(starts, n, sizeof *starts, compare_starts);
    return n;
}

/* What all batches take; `lasts`: how long that of each task lasts. */
static double batched_work(const start *starts, uint32_t n, const uint32_t *took, uint32_t count, uint32_t *lasts) {
    double work = 0;
    for (uint32_t i = 0, end; i < n; i = end) {
        uint32_t longest = 0;
        for (end = i;
             end < n && starts[end].worker == starts[i].worker && starts[end].began - starts[i].began <= TOGETHER;
             end++)
            if (starts[end].task < count && took[starts[end].task] > longest)
                longest = took[starts[end].task];
        for (uint32_t k = i; k < end; k++)
            lasts[starts[k].task] = longest;
        work += longest;
    }
    return work;
}

/* The longest of all chains of batches from the root to a task. */
static double longest_chain(const greedy_batches *b, uint32_t count, const uint32_t *lasts) {
    double longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        double chain = lasts[i];
        for (uint32_t up = b->parents ? b->parents[i] : GREEDY_NO_TASK; up != GREEDY_NO_TASK; up = b->parents[up])
            chain += lasts[up];
        longest = fmax(longest, chain);
    }
    return longest;
}

/* Work and longest path; NAN without memory. */
static double batches_of(const greedy_batches *b, const uint32_t *took, uint32_t count, double *path) {
    start *starts = malloc(2 * (size_t)count * sizeof *starts);
    uint32_t *lasts = calloc(2 * (size_t)count, sizeof *lasts);
    double work = NAN;
    if (starts && lasts) {
        work = batched_work(starts, sort_starts(starts, b, count), took, count, lasts);
        *path = longest_chain(b, count, lasts);
    }
    free(starts);
    free(lasts);
    return work;
}

static double plain_work(const uint32_t *took, uint32_t count) {
    double work = 0;
    for (uint32_t i = 0; i < count; i++)
        work += took[i];
    return work;
}

/* The longest of all pieces of `width` consecutive tasks. */
static double longest_piece(const uint32_t *took, uint32_t count, uint32_t width) {
    double piece = 0, longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        piece += took[i];
        if (i >= width)
            piece -= took[i - width];
        longest = fmax(longest, piece);
    }
    return longest;
}

/* A piece given to BL_RANGE_RUN counts as one task, and may be 1 / (8 workers) of what is left. */
static uint32_t piece_width(const greedy_setting *s, uint32_t count) {
    uint32_t width = s->shape == GREEDY_PIECES ? count / (8 * s->workers) : 1;
    return width > 1 ? width : 1;
}

greedy_limits greedy_limits_of(const greedy_setting *s, const uint32_t *took, const greedy_batches *batches,
                               uint32_t count) {
    greedy_limits l;
    double tasks = plain_work(took, count);
    double path = longest_piece(took, count, piece_width(s, count));
    double work = batches ? batches_of(batches, took, count, &path) : tasks;
    l.filled = work > 0 ? tasks / (s->batch * work) : 1;
    l.share = 1e-9 * work / s->workers;
    l.path = 1e-9 * path;
    l.bound = 1.1 * (l.share + l.path * (s->gpu ? 2 : 1)) + (s->gpu ? 50e-6 : 2e-3);
    return l;
}
