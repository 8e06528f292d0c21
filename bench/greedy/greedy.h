/* The tasks of the suite greedy: each takes a given time, by sleeping on a CPU, so that there can be more workers than
 * cores, and by watching the clock on a GPU. Each records how long it took, and that it ran.
 *
 * The build includes this file once per program and target, with one of GREEDY_WITH_SINGLES, GREEDY_WITH_PIECES and
 * GREEDY_WITH_JOINS, and GREEDY_LANES 1 for lane tasks of a GPU. With none of them it provides what the peers use
 * too. */
#ifndef BALLAST_BENCH_GREEDY_H
#define BALLAST_BENCH_GREEDY_H

#include "common/kernels.h"
#include <ballast/task.h>

#include <errno.h>
#include <time.h>

typedef struct greedy_shared {
    const uint32_t *length; /* nanoseconds of each task */
    uint32_t *took;
    uint32_t *runs;
    uint32_t *began, *worker; /* of lane tasks, and behind them of those that only spawn: when, and where */
    uint32_t tasks;
    uint32_t one_entry; /* spawn all tasks as one entry */
} greedy_shared;

/* Tasks first .. first + count - 1 in `parts` equal parts; a task's index selects its part. count 0: task number first
 * + index. */
typedef struct greedy_span {
    uint32_t first, count, parts;
} greedy_span;

/* Tasks below each task that a lane spawns, and below the first that it forks. */
#define GREEDY_LANE_FAN 4u
BL_FN uint32_t greedy_lane_part(uint32_t count) { return (count + GREEDY_LANE_FAN - 1) / GREEDY_LANE_FAN; }
BL_FN uint32_t greedy_half(uint32_t count) { return count / 2; }

/* The number of a task that only spawns or forks: no other divides its tasks after the first `part` of these. */
BL_FN uint32_t greedy_spawner(uint32_t tasks, uint32_t first, uint32_t part) { return tasks + first + part; }

#ifdef BL_TARGET_CUDA
BL_FN void greedy_wait_until(uint64_t end) {
    while (bl_time() < end)
        bl_backoff(0);
}
#else
BL_FN void greedy_wait_until(uint64_t end) {
    struct timespec at;
    at.tv_sec = (time_t)(end / 1000000000u);
    at.tv_nsec = (long)(end % 1000000000u);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}
#endif

/* Task i, by one of the lanes that share it. */
BL_FN void greedy_spend(const greedy_shared *shared, uint32_t i, uint32_t lane) {
    uint64_t begun = bl_time();
    if (shared->length[i] > 0)
        greedy_wait_until(begun + shared->length[i]);
    if (lane == 0) {
        shared->took[i] = (uint32_t)(bl_time() - begun);
        bl_fetch_add32_relaxed(&shared->runs[i], 1);
    }
}

#endif

#ifndef GREEDY_LANES
#define GREEDY_LANES 0
#endif

#if !defined GREEDY_LEAF && (defined GREEDY_WITH_SINGLES || defined GREEDY_WITH_PIECES || defined GREEDY_WITH_JOINS)
#define GREEDY_LEAF
/* The same for a task of one of these programs. */
static BL_TASK void greedy_leaf(const bl_task *t, const greedy_shared *shared, uint32_t i) {
    greedy_spend(shared, i, t->lane);
}

/* Every task begins with it, when the lanes of a batch are still together. */
static BL_TASK void greedy_begin(const bl_task *t, const greedy_shared *shared, uint32_t i) {
#if GREEDY_LANES
    shared->began[i] = (uint32_t)bl_time();
    shared->worker[i] = t->worker;
#else
    (void)t, (void)shared, (void)i;
#endif
}
#endif

#ifdef GREEDY_WITH_SINGLES
/* The most that one task spawns; other tasks spawn the rest. On a GPU, the room for what all lanes of a warp spawn is
 * taken from the private stack. */
#ifndef BL_TARGET_CUDA
#define GREEDY_FAN 1024u
#elif GREEDY_LANES
#define GREEDY_FAN GREEDY_LANE_FAN
#else
#define GREEDY_FAN 32u
#endif

static BL_TASK void greedy_spawn(bl_task *t, const greedy_span *span, const greedy_shared *shared) {
    /* tasks per spawned task: itself, or those that it spawns */
    uint32_t part = (span->count + GREEDY_FAN - 1) / GREEDY_FAN;
    greedy_span child = {span->first, 0, 1};
    if (shared->one_entry) {
        if (t->lane == 0)
            bl_spawn_n(t, &child, span->count);
        return;
    }
    for (uint32_t i = t->lane * part; i < span->count; i += t->lanes * part) {
        child.first = span->first + i;
        child.count = span->count - i < part ? span->count - i : part;
        if (child.count == 1)
            child.count = 0;
        bl_spawn(t, &child);
    }
}

static BL_TASK void greedy_single_run(bl_task *t, const greedy_span *span, uint32_t index, const greedy_shared *shared,
                                      bl_nothing *local) {
    (void)local;
    greedy_begin(t, shared,
                 span->count ? greedy_spawner(shared->tasks, span->first, greedy_lane_part(span->count))
                             : span->first + index);
    if (span->count == 0)
        greedy_leaf(t, shared, span->first + index);
    else
        greedy_spawn(t, span, shared);
}

#if GREEDY_LANES
#define BL_PROGRAM greedy_lane_singles
#else
#define BL_PROGRAM greedy_singles
#endif
#define BL_RUN greedy_single_run
#define BL_MAX_SPAWN GREEDY_FAN
#endif

#ifdef GREEDY_WITH_PIECES
static BL_TASK void greedy_piece_run(bl_task *t, const greedy_span *span, uint32_t begin, uint32_t end,
                                     const greedy_shared *shared, bl_nothing *local) {
    (void)span, (void)local;
    for (uint32_t i = begin; i < end; i++)
        greedy_leaf(t, shared, i);
}

#define BL_PROGRAM greedy_pieces
#define BL_RANGE_RUN greedy_piece_run
#define BL_MAX_SPAWN 0
#endif

#ifdef GREEDY_WITH_JOINS
static BL_TASK void greedy_join_run(bl_task *t, const greedy_span *span, uint32_t index, const greedy_shared *shared,
                                    bl_nothing *local) {
    uint32_t begin = (uint32_t)((uint64_t)span->count * index / span->parts);
    uint32_t end = (uint32_t)((uint64_t)span->count * (index + 1) / span->parts);
    greedy_span mine = {span->first + begin, end - begin, 2};
    uint64_t value = mine.first + 1;
    (void)local;
    greedy_begin(t, shared,
                 mine.count == 1 ? mine.first : greedy_spawner(shared->tasks, mine.first, greedy_half(mine.count)));
    if (mine.count == 1)
        greedy_leaf(t, shared, mine.first);
    if (t->lane != 0)
        return;
    if (mine.count == 1)
        bl_return(t, &value);
    else
        bl_fork(t, &mine, &mine, 2);
}

#if GREEDY_LANES
#define BL_PROGRAM greedy_lane_joins
#else
#define BL_PROGRAM greedy_joins
#endif
#define BL_RUN greedy_join_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_MAX_SPAWN 1
#define GREEDY_LIST 0 /* for loops only */
#else
#define GREEDY_LIST BL_SCHEDULER_list
#endif

#ifdef BL_PROGRAM
#define BL_PAYLOAD greedy_span
#define BL_SHARED greedy_shared
#define BL_LANE_TASKS GREEDY_LANES
#define BL_LANES 64
#define BL_RESIDENT 28 /* or the number of lane workers would depend on the registers that a scheduler needs */
#define BL_SCHEDULERS                                                                                                  \
    (APP_SCHEDULERS(BL_SCHEDULER_static | GREEDY_LIST | BL_SCHEDULER_central_broker | BL_SCHEDULER_donate_bwd |        \
                        BL_SCHEDULER_range_packed_range | BL_SCHEDULER_steal_abp | BL_SCHEDULER_steal_broker,          \
                    0) |                                                                                               \
     BL_SCHEDULERS_OWN_GROUP)
#include <ballast/program.h>
#endif
#undef GREEDY_LIST
