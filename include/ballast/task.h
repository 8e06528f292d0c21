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
 * | bl_return, bl_fork               | one lane of the task, once                           |
 * | bl_arrive                        | any lane                                             |
 * | bl_sync                          | all lanes of the task together                       |
 * | bl_warp_* of the platform        | all lanes of a warp together, where t->lanes > 1     |
 * | platform atomics (relaxed, …)    | any lane; on memory of the device                    |
 */
#ifndef BALLAST_TASK_H
#define BALLAST_TASK_H

#include "platform/platform.h"
#include "parts/entry.h"
#include "parts/gate.h"
#include "parts/record.h"

#define BL_TASK BL_INLINE inline
#ifdef BL_TARGET_CUDA
#undef BL_TASK
#define BL_TASK __device__ __forceinline__
#endif

/* What BL_SHARED and BL_LOCAL are for a program that has none. */
typedef struct bl_nothing {
    uint32_t unused;
} bl_nothing;

/* Reasons in a run's stop word: the host's, and those of workers. */
enum {
    BL__STOP_GROW = 1,
    BL__STOP_FAILED = 4,
    BL__STOP_TOO_MANY = 8,
    BL__STOP_DONE = 16,
    BL__STOP_RECORDS = 32,
    BL__STOP_HOST = 1 << 24 /* in a byte of its own, which the host of a GPU can write without the others */
};

typedef struct bl_task bl_task;
struct bl_task {
    bl__stack *stack; /* the worker's private stack; its top is the outbox */
    uint32_t *stop;   /* the run's stop word */
    void *scratch;    /* BL_SCRATCH of the program, shared by the task's lanes; NULL without one */
    uint32_t lane;    /* 0 .. lanes-1 */
    uint32_t lanes;
    uint32_t words; /* per entry */
    /* Programs with BL_RESULT: */
    const bl__run *run;
    bl__returned *returned;
    uint32_t *spare;       /* the worker's free records */
    uint32_t join, index;  /* where this task's result goes: a record, or a root, and a slot of it */
    uint32_t result_bytes; /* 0: no results; */
    uint32_t results_at;   /* where the results lie in a record; 0: they only add up */
};

/* Publishes one entry: `count` sibling tasks with the same payload and the indices 0 .. count-1. A zero count spawns nothing. */
BL_FN void bl__spawn(bl_task *t, const void *payload, uint32_t bytes, uint32_t count, uint32_t join) {
    if (count == 0)
        return;
#if BL_WARP == 1
    const uint32_t top = t->stack->top;
#else
    const uint32_t top = bl_lane_add32(&t->stack->top, 1);
#endif
    uint32_t *entry = bl__stack_slot(t->stack, t->words, top);
    entry[0] = 0;
    entry[1] = count;
    bl__words_copy(entry + BL__ENTRY_HEAD, (const bl_word *)payload, bytes / 4);
    if (t->result_bytes)
        entry[BL__ENTRY_HEAD + bytes / 4] = join;
#if BL_WARP == 1
    bl_store32_release(&t->stack->top, top + 1); /* G1: who is out of work may take it at once */
#endif
}
#define bl_spawn(t, payload) bl__spawn((t), (payload), (uint32_t)sizeof *(payload), 1, BL__NO_JOIN)
#define bl_spawn_n(t, payload, count) bl__spawn((t), (payload), (uint32_t)sizeof *(payload), (count), BL__NO_JOIN)

/* ---- joins: programs with BL_RESULT ----
 *
 * Every task does exactly one of two things: it returns a result, or it forks. A fork is an entry of `count` (at least one) children with the same
 * payload, told apart by their indices, and `forked`, which is kept. When all children have returned, BL_JOIN is called with `forked` and their results in
 * the order of the indices; it too returns or forks. With BL_SUM there is no BL_JOIN: the result of a fork is the sum of its children's results, which
 * must stay below 2^48. A task that was spawned and not forked returns to nobody. */
BL_FN void bl__fork(bl_task *t, const void *forked, const void *child, uint32_t bytes, uint32_t count) {
    uint32_t number = bl__spare_take(t->spare);
    bl__record *r = bl__record_at(t->run, number);
    bl_store64_relaxed(&r->state, count * BL__ONE_CHILD);
    r->parent = t->join;
    r->slot = t->index;
    if (t->results_at) {
        *bl__record_count(r) = count;
        bl__words_copy((bl_word *)bl__record_payload(r), (const bl_word *)forked, bytes / 4);
    }
    bl__spawn(t, child, bytes, count, number);
}
#define bl_fork(t, forked, child, count)                                                                               \
    bl__fork((t), (forked), (child), (uint32_t)(sizeof *(child) + 0 * sizeof((forked) == (child))), (count))

BL_FN void bl__return(bl_task *t, const void *result, uint32_t bytes) {
    unsigned char *to = t->run->results;
    t->returned->any = 1;
    if (t->results_at == 0 && bytes == sizeof t->returned->sum)
        bl__words_copy((bl_word *)&t->returned->sum, (const bl_word *)result, 2);
    else if (!(t->join & BL__ROOT))
        to = (unsigned char *)bl__record_at(t->run, t->join) + t->results_at + (size_t)t->index * bytes;
    else
        to += (size_t)(t->join & ~BL__ROOT) * bytes;
    if (t->results_at && t->join != BL__NO_JOIN)
        bl__words_copy((bl_word *)to, (const bl_word *)result, bytes / 4);
}
#define bl_return(t, result) bl__return((t), (result), (uint32_t)sizeof *(result))

/* Dependencies: `unmet` counts what must be done before something may start. True for who does the last of it, and who should spawn it then: it
 * sees everything that the others had written before they arrived (the addition is release and acquire). */
BL_FN bool bl_arrive(uint32_t *unmet) { return bl_fetch_add32_acq_rel(unmet, (uint32_t)-1) == 1; }

/* Ends the run: no new task starts, and bl_run returns BL_ETASK. */
BL_FN void bl_fail(bl_task *t) { bl_fetch_or32_relaxed(t->stop, BL__STOP_FAILED); }

BL_FN void bl_sync(const bl_task *t) {
    if (t->lanes > BL_WARP)
        bl_block_sync();
    else if (t->lanes > 1)
        bl_warp_sync();
}

#endif
