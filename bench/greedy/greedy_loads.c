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

typedef struct stay {
    uint32_t began, ended; /* since the first task of all */
} stay;

static int compare_stays(const void *a, const void *b) {
    const stay *x = a, *y = b;
    return (x->began > y->began) - (x->began < y->began);
}

/* How long a worker was in batches: tasks that overlap are of one. */
static double busy_time(stay *stays, uint32_t count) {
    double busy = 0;
    uint32_t until = 0;
    qsort(stays, count, sizeof *stays, compare_stays);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t from = stays[i].began > until ? stays[i].began : until;
        busy += stays[i].ended > from ? stays[i].ended - from : 0;
        until = stays[i].ended > until ? stays[i].ended : until;
    }
    return busy;
}

/* The tasks of each worker one after another, and where they end. */
static void sort_by_worker(const uint32_t *took, const greedy_batches *b, uint32_t count, uint32_t workers, stay *stays,
                           uint32_t *ends) {
    uint32_t first = count ? b->began[0] : 0, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        first = (int32_t)(b->began[i] - first) < 0 ? b->began[i] : first;
        ends[b->worker[i]]++;
    }
    for (uint32_t i = 0; i < workers; i++) {
        const uint32_t own = ends[i];
        ends[i] = sum;
        sum += own;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t began = b->began[i] - first;
        stays[ends[b->worker[i]]++] = (stay){began, began + took[i]};
    }
}

static double batched_work(const uint32_t *took, const greedy_batches *b, uint32_t count, uint32_t workers) {
    stay *stays = malloc(count * sizeof *stays);
    uint32_t *ends = calloc(workers, sizeof *ends);
    double work = 0;
    if (stays && ends)
        sort_by_worker(took, b, count, workers, stays, ends);
    for (uint32_t i = 0; stays && ends && i < workers; i++) {
        const uint32_t begin = i ? ends[i - 1] : 0;
        work += busy_time(stays + begin, ends[i] - begin);
    }
    work = stays && ends ? work : NAN;
    free(stays);
    free(ends);
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

/* Tasks that a lane spawns become ready when its batch ends, which may hold the longest of all tasks. */
static bool waits_for_batch(const greedy_setting *s) {
    return s->batch > 1 && (s->shape == GREEDY_SINGLY || s->shape == GREEDY_TREE);
}

greedy_limits greedy_limits_of(const greedy_setting *s, const uint32_t *took, const greedy_batches *batches,
                               uint32_t count) {
    greedy_limits l;
    double tasks = plain_work(took, count);
    double work = batches ? batched_work(took, batches, count, s->workers) : tasks;
    double path = longest_piece(took, count, piece_width(s, count)) * (waits_for_batch(s) ? 2 : 1);
    l.filled = work > 0 ? tasks / (s->batch * work) : 1;
    l.share = 1e-9 * work / s->workers;
    l.path = 1e-9 * path;
    l.bound = 1.1 * (l.share + l.path * (s->gpu ? 2 : 1)) + (s->gpu ? 50e-6 : 2e-3);
    return l;
}
