/* What a task function sees: its lanes, spawn, and the group operations. Include this before the task function, and
 * program.h after it.
 *
 *     static BL_TASK void my_run(bl_task *t, const my_payload *p, uint32_t index, const my_shared *shared, my_local *local);
 *
 * A task is run by t->lanes lanes, this one being t->lane; write `for (i = t->lane; i < n; i += t->lanes)` and the same text runs
 * with one CPU thread, one GPU thread, a warp or a block.
 *
 * | may be called                    | by                                                   |
 * |----------------------------------|------------------------------------------------------|
 * | bl_spawn, bl_spawn_n, bl_fail    | any lane, in divergent code                          |
 * | bl_sync                          | all lanes of the task together                       |
 * | bl_warp_* of the platform        | all lanes of a warp together, where t->lanes > 1     |
 * | platform atomics (relaxed, …)    | any lane; on memory of the device                    |
 */
#ifndef BALLAST_TASK_H
#define BALLAST_TASK_H

#include "platform/platform.h"
#include "parts/entry.h"

#define BL_TASK BL_INLINE inline
#ifdef BL_TARGET_CUDA
#undef BL_TASK
#define BL_TASK __device__ __forceinline__
#endif

/* What BL_SHARED and BL_LOCAL are for a program that has none. */
typedef struct bl_nothing {
    uint32_t unused;
} bl_nothing;

/* Reasons in a run's stop word. */
enum { BL__STOP_GROW = 1, BL__STOP_HOST = 2, BL__STOP_FAILED = 4, BL__STOP_TOO_MANY = 8, BL__STOP_DONE = 16 };

typedef struct bl_task bl_task;
struct bl_task {
    bl__stack *stack; /* the worker's private stack; its top is the outbox */
    uint32_t *stop;   /* the run's stop word */
    void *scratch;    /* BL_SCRATCH of the program, shared by the task's lanes; NULL without one */
    uint32_t lane;    /* 0 .. lanes-1 */
    uint32_t lanes;
    uint32_t words; /* per entry */
};
/* Publishes one entry: `count` sibling tasks with the same payload and the indices 0 .. count-1. A zero count spawns nothing. */
BL_FN void bl__spawn(bl_task *t, const void *payload, uint32_t bytes, uint32_t count) {
    if (count == 0)
        return;
    uint32_t words = bytes / 4 + BL__ENTRY_HEAD;
    uint32_t *entry = bl__stack_slot(t->stack, words, bl_lane_add32(&t->stack->top, 1));
    entry[0] = 0;
    entry[1] = count;
    bl__words_copy(entry + BL__ENTRY_HEAD, (const bl_word *)payload, bytes / 4);
}
#define bl_spawn(t, payload) bl__spawn((t), (payload), (uint32_t)sizeof *(payload), 1)
#define bl_spawn_n(t, payload, count) bl__spawn((t), (payload), (uint32_t)sizeof *(payload), (count))

/* Ends the run: no new task starts, and bl_run returns BL_ETASK. */
BL_FN void bl_fail(bl_task *t) { bl_fetch_or32_relaxed(t->stop, BL__STOP_FAILED); }

BL_FN void bl_sync(const bl_task *t) {
    if (t->lanes > BL_WARP)
        bl_block_sync();
    else if (t->lanes > 1)
        bl_warp_sync();
}

#endif
