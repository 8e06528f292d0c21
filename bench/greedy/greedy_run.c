#include "greedy_run.h"

#include "greedy.h"

#include <stdlib.h>
#include <string.h>

enum { TARGETS = 2, FORMS = 3 };

#define OF_TARGETS(program) OF_CPU(program), OF_GPU(program)
#define OF_CPU(program) program##_cpu()
#ifdef BL_HAVE_CUDA
#define OF_GPU(program) program##_cuda()
#else
#define OF_GPU(program) NULL
#endif
const bl_program *greedy_singles_cpu(void);
const bl_program *greedy_pieces_cpu(void);
const bl_program *greedy_joins_cpu(void);
const bl_program *greedy_singles_cuda(void);
const bl_program *greedy_pieces_cuda(void);
const bl_program *greedy_joins_cuda(void);
const bl_program *greedy_lane_singles_cuda(void);
const bl_program *greedy_lane_joins_cuda(void);

const bl_program *greedy_program(const char *target, greedy_shape shape, bool lane) {
    const bl_program *const programs[FORMS][TARGETS] = {
        {OF_TARGETS(greedy_singles)}, {OF_TARGETS(greedy_pieces)}, {OF_TARGETS(greedy_joins)}};
    const bl_program *const of_lanes[FORMS][TARGETS] = {
        {OF_GPU(greedy_lane_singles)}, {NULL}, {OF_GPU(greedy_lane_joins)}};
    const int form = shape == GREEDY_PIECES ? 1 : shape == GREEDY_TREE ? 2 : 0;
    const bl_program *const *const parts = lane ? of_lanes[form] : programs[form];
    for (int i = 0; i < TARGETS && parts[i]; i++)
        if (bl_program_part(parts[i], target))
            return parts[i];
    return NULL;
}

/* What a run needs on its device, and its results. */
typedef struct slate {
    bl_context *context;
    greedy_shared shared;
    void *length, *took, *runs, *began, *worker;
    uint32_t *host; /* results on the host: took, runs, and for lane tasks began, worker and parents, twice as many */
    greedy_span *roots;
    uint64_t sum;
} slate;

static void close_slate(slate *s) {
    bl_free(s->context, s->length);
    bl_free(s->context, s->took);
    bl_free(s->context, s->runs);
    bl_free(s->context, s->began);
    bl_free(s->context, s->worker);
    free(s->host);
    free(s->roots);
}

static int open_slate(slate *s, const greedy_load *load, greedy_shape shape, bool lane) {
    size_t bytes = load->count * sizeof *load->length;
    s->host = malloc(8 * bytes);
    s->roots = calloc(load->count, sizeof *s->roots);
    int status = s->host && s->roots ? bl_alloc(s->context, &s->length, bytes) : BL_ENOMEM;
    status = status ? status : bl_alloc(s->context, &s->took, bytes);
    status = status ? status : bl_alloc(s->context, &s->runs, bytes);
    status = status || !lane ? status : bl_alloc(s->context, &s->began, 2 * bytes);
    status = status || !lane ? status : bl_alloc(s->context, &s->worker, 2 * bytes);
    status = status ? status : bl_copy_in(s->context, s->length, load->length, bytes);
    status = status ? status : bl_zero(s->context, s->took, bytes);
    status = status ? status : bl_zero(s->context, s->runs, bytes);
    for (uint32_t i = 0; s->roots && i < load->count; i++)
        s->roots[i].first = i;
    s->shared.length = s->length;
    s->shared.took = s->took;
    s->shared.runs = s->runs;
    s->shared.began = s->began;
    s->shared.worker = s->worker;
    s->shared.tasks = load->count;
    s->shared.one_entry = shape == GREEDY_RANGE;
    return status;
}

static int run_shape(slate *s, const bl_program *program, greedy_shape shape, uint32_t count, bl_stats *stats) {
    greedy_span all = {0, shape == GREEDY_TREE || count > 1 ? count : 0, 1}, leaf = {0, 0, 1};
    switch (shape) {
    case GREEDY_ROOTS:
        return bl_run(s->context, program, &s->shared, s->roots, count, stats);
    case GREEDY_LOOP:
    case GREEDY_PIECES:
        return bl_run_range(s->context, program, &s->shared, &leaf, count, stats);
    case GREEDY_TREE:
        return bl_run_join(s->context, program, &s->shared, &all, 1, &s->sum, stats);
    default:
        return bl_run(s->context, program, &s->shared, &all, 1, stats);
    }
}

static bool is_right(const slate *s, greedy_shape shape, uint32_t count) {
    const uint32_t *runs = s->host + count;
    uint64_t n = count;
    for (uint32_t i = 0; i < count; i++)
        if (runs[i] != 1)
            return false;
    return shape != GREEDY_TREE || s->sum == n * (n + 1) / 2;
}

/* Tells each lane task, and each that only spawns or forks, which task led to it: `parent` to the `count` tasks from
 * `first` on. */
static void adopt(uint32_t *parents, uint32_t tasks, bool forks, uint32_t first, uint32_t count, uint32_t parent) {
    const uint32_t part = forks ? greedy_half(count) : greedy_lane_part(count);
    const uint32_t mine = greedy_spawner(tasks, first, part);
    if (count == 1) {
        parents[first] = parent;
        return;
    }
    parents[mine] = parent;
    if (forks) {
        adopt(parents, tasks, forks, first, part, mine);
        adopt(parents, tasks, forks, first + part, count - part, mine);
        return;
    }
    for (uint32_t i = 0; i < count; i += part)
        adopt(parents, tasks, forks, first + i, count - i < part ? count - i : part, mine);
}

static void judge(slate *s, greedy_shape shape, bool lane, const greedy_load *load, greedy_result *r) {
    size_t bytes = load->count * sizeof *load->length;
    bool gpu = (bl_device_traits(bl_device_id(s->context)) & BL_DEVICE_GPU) != 0;
    greedy_setting setting = {shape, r->stats.workers, lane ? 32 : 1, gpu};
    r->status = bl_copy_out(s->context, s->host, s->took, bytes);
    r->status = r->status ? r->status : bl_copy_out(s->context, s->host + load->count, s->runs, bytes);
    uint32_t *began = s->host + 2 * (size_t)load->count, *worker = began + 2 * (size_t)load->count;
    uint32_t *parents = worker + 2 * (size_t)load->count;
    const bool spawns = shape == GREEDY_SINGLY || shape == GREEDY_TREE;
    const greedy_batches batches = {began, worker, spawns ? parents : NULL};
    if (lane) {
        r->status = r->status ? r->status : bl_copy_out(s->context, began, s->began, 2 * bytes);
        r->status = r->status ? r->status : bl_copy_out(s->context, worker, s->worker, 2 * bytes);
        memset(parents, 0xff, 2 * bytes); /* GREEDY_NO_TASK */
        if (spawns && load->count)
            adopt(parents, load->count, shape == GREEDY_TREE, 0, load->count, GREEDY_NO_TASK);
    }
    if (r->status == BL_OK) {
        r->limits = greedy_limits_of(&setting, s->host, lane ? &batches : NULL, load->count);
        r->right = is_right(s, shape, load->count);
    }
}

void greedy_run(bl_context *context, greedy_shape shape, bool lane, const greedy_load *load, greedy_result *r) {
    const bl_program *program = greedy_program(bl_device_target(context), shape, lane);
    slate s = {.context = context};
    memset(r, 0, sizeof *r);
    r->status = program ? open_slate(&s, load, shape, lane) : BL_ENOCODE;
    if (r->status == BL_OK)
        r->status = run_shape(&s, program, shape, load->count, &r->stats);
    if (r->status == BL_OK)
        judge(&s, shape, lane, load, r);
    close_slate(&s);
}
