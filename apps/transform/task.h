/* The task of the transform: several consecutive chunks. */
#ifndef BALLAST_TRANSFORM_TASK_H
#define BALLAST_TRANSFORM_TASK_H

#include "transform.h"
#include "common/kernels.h"
#include <ballast/task.h>

BL_FN transform_quad transform_of(transform_quad q) {
    for (int i = 0; i < 4; i++)
        q.x[i] = q.x[i] * q.x[i];
    return q;
}

/* Each lane has two quads in flight, to keep a GPU's memory busy. */
static BL_TASK void transform_span(const bl_task *t, const transform_shared *shared, uint64_t from, uint64_t to) {
    const transform_quad *in = shared->in;
    transform_quad *out = shared->out;
    uint64_t i = from + t->lane;
    for (; i + t->lanes < to; i += 2 * t->lanes) {
        transform_quad a = in[i], b = in[i + t->lanes];
        out[i] = transform_of(a);
        out[i + t->lanes] = transform_of(b);
    }
    if (i < to)
        out[i] = transform_of(in[i]);
}

/* Quad number i of the chunks first, first + step, ... */
static BL_TASK uint64_t transform_place(const transform_shared *shared, uint32_t first, uint32_t i) {
    uint32_t chunk = i / shared->chunk;
    return (uint64_t)(first + chunk * shared->step) * shared->chunk + (i - chunk * shared->chunk);
}

/* The chunks with work, shared by all lanes: several at a time if a chunk is small. */
static BL_TASK void transform_some(const bl_task *t, const transform_shared *shared, uint32_t first, uint32_t end) {
    uint32_t all = (end - first + shared->step - 1) / shared->step * shared->chunk;
    for (uint32_t i = t->lane; i < all; i += 2 * t->lanes) {
        uint32_t j = i + t->lanes;
        uint64_t a = transform_place(shared, first, i), b = j < all ? transform_place(shared, first, j) : shared->quads;
        transform_quad x = a < shared->quads ? shared->in[a] : shared->in[0];
        transform_quad y = b < shared->quads ? shared->in[b] : x;
        if (a < shared->quads)
            shared->out[a] = transform_of(x);
        if (b < shared->quads)
            shared->out[b] = transform_of(y);
    }
}

static BL_TASK void transform_run(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end,
                                  const transform_shared *shared, bl_nothing *local) {
    (void)payload, (void)local;
    uint32_t step = shared->step, first = begin + (step - 1 - begin % step);
    uint64_t to = (uint64_t)end * shared->chunk;
    if (step == 1)
        transform_span(t, shared, (uint64_t)begin * shared->chunk, to < shared->quads ? to : shared->quads);
    else if (first < end)
        transform_some(t, shared, first, end);
}

#define BL_PROGRAM transform
#define BL_PAYLOAD bl_nothing
#define BL_SHARED transform_shared
#define BL_RANGE_RUN transform_run
#define BL_MAX_SPAWN 0
#define BL_LANES 512
#define BL_GRAIN 1
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_PAPERS | BL_SCHEDULER_range_packed_range, 0)
#include <ballast/program.h>

#endif
