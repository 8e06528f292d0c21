/* What a task function sees: its lanes, spawn, and the group operations. Include this before the task function, and
 * program.h after it.
 *
 *     static BL_TASK void my_run(bl_task *t, const my_payload *p, uint32_t index, const my_shared *shared,
 *     my_local *local);
 *
 * A task is run by t->lanes lanes, this one being t->lane; write `for (i = t->lane; i < n; i += t->lanes)` and the same
 * text runs with one CPU thread, one GPU thread, a warp or a block.
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
#ifndef BL_TASK_H
#define BL_TASK_H

#include "platform/floats.h"
#include "platform/platform.h"
#include "parts/entry.h"
#include "parts/frame.h"
#include "parts/gate.h"
#include "parts/record.h"
#include "parts/stop.h"
#include <string.h>

#define BL_TASK BL_INLINE inline
#ifdef BL_TARGET_CUDA
#undef BL_TASK
#define BL_TASK __device__ __forceinline__
#endif

/* What BL_SHARED and BL_LOCAL are for a program that has none. */
typedef struct bl_nothing {
    uint32_t unused;
} bl_nothing;

/* C++ on a CPU: what a task throws ends the run with BL_ETASK. */
#if defined(__cplusplus) && defined(__cpp_exceptions) && BL_WARP == 1
#define BL__CATCHES 1
extern "C++" { /* the file may be included within extern "C" */
#include <exception>
}
#else
#define BL__CATCHES 0
#endif

typedef struct bl_task bl_task;
struct bl_task {
    bl__stack *stack; /* the worker's private stack; its top is the outbox */
    uint32_t *stop;   /* the run's stop word */
    void *scratch;    /* BL_SCRATCH of the program, shared by the task's lanes; NULL without one */
    uint32_t lane;    /* 0 .. lanes-1 */
    uint32_t lanes;
    uint32_t words;  /* per entry */
    uint32_t worker; /* which worker runs it, 0 .. workers-1 (bl_workers). static:wave on a GPU: the multiprocessor */
    /* Programs with BL_RESULT: */
    const bl__run *run;
    bl__returned *returned;
    uint32_t *spare;       /* the worker's free records */
    uint32_t join, index;  /* where this task's result goes: a record, or a root, and a slot of it */
    uint32_t result_bytes; /* 0: no results; */
    uint32_t results_at;   /* where the results lie in a record; 0: they only add up */
    uint32_t payload_at;   /* where the fork's payload lies there */
    uint32_t join_width;   /* results that fit there */
    /* All programs: */
    uint32_t payload_bytes;
    uint32_t checked;   /* BL_CHECKED */
    uint32_t max_spawn; /* machines with lanes: BL_MAX_SPAWN, ... */
    uint32_t spawned;   /* ... and entries that this lane's task has spawned; in a recursion: whether it has */
    /* CPU, copied from memory so that the compiler can keep them in registers: */
    uint32_t limit;        /* where the room on the stack ends, */
    uint32_t top, mask;    /* its top, which only the owner moves, its mask, */
    uint32_t fences_alone; /* and run->fences_alone */
    /* CPU, programs with BL_RESULT, where a worker runs the children of a fork by recursion; else NULL: */
    bl__frame *frame;   /* a fork goes here and makes no record, ... */
    void *kept, *child; /* ... with its payload and its children's, */
    void *to;           /* and the result goes there */
};

BL_HOT_FN void bl__report(const bl_task *t, bl__misuse what, uint32_t number) {
    bl__stop_for_misuse(t->run->control, what, number);
}

/* Programs with BL_RESULT: whether this task is one of the roots given to bl_run_join, and so nobody's child. Its
 * payload is its own then; a child has its fork's, and an index. */
BL_HOT_FN bool bl_is_root(const bl_task *t) { return t->join & BL__ROOT && t->join != BL__NO_JOIN; }

/* The whole index in a loop of bl_run_range that may have 2^32 indices or more: the index passed to a task counts from
 * the start of a part of the loop. Not for tasks that were spawned. */
BL_HOT_FN uint64_t bl_index(const bl_task *t, uint32_t index) { return t->run->base + index; }

/* ---- spawning ---- */

#if BL_WARP == 1
/* The stack is full: into memory that grows. Like all that is called and not inlined it is not given the task, which
 * can so stay in registers. */
BL_COLD_FN uint32_t *bl__outbox_overflow(bl__stack *s, uint32_t words, uint32_t *stop) {
    uint32_t *slot = bl__extra_slot(s, words);
    if (!slot)
        bl_fetch_or32_relaxed(stop, BL__STOP_MEMORY);
    return slot;
}
#endif

/* Where the next entry goes, and its number on the stack; NULL if nowhere: the entry is empty, or the run ends with an
 * error. */
BL_HOT_FN uint32_t *bl__outbox_slot(bl_task *t, uint32_t *number, uint32_t count) {
    bl__stack *s = t->stack;
#if BL_WARP == 1
    uint32_t at = *number = t->top; /* bl__outbox_show moves it */
    if (at == t->limit)
        return count ? bl__outbox_overflow(s, t->words, t->stop) : NULL;
    return bl__masked_slot(s, t->words, t->mask, at);
#else
    (void)count;
    if (t->max_spawn == 0 || (t->lanes == 1 && t->spawned++ >= t->max_spawn)) {
        bl__report(t, BL__SPAWNED_TOO_MANY, t->max_spawn ? t->spawned : 1);
        return NULL;
    }
    uint32_t at = *number = bl_lane_add32(&s->top, 1);
    if (t->lanes > 1 && (int32_t)(at - s->limit) >= 0)
        return NULL; /* when all lanes are done the worker reports how many there were: bl__close_outbox */
    return bl__stack_slot(s, t->words, at);
#endif
}

/* The entry is complete: on a CPU an idle worker may take it at once, unless it is an extra. */
BL_HOT_FN void bl__outbox_show(bl_task *t, uint32_t number, uint32_t count) {
#if BL_WARP == 1
    if (number != t->limit) {
        t->top = number + (count != 0);
        bl_store32_release_light(&t->stack->top, t->top, t->fences_alone); /* G1 */
    }
#else
    (void)t, (void)number, (void)count;
#endif
}

/* Publishes one entry: `count` sibling tasks with the same payload and the indices 0 .. count-1. A zero count spawns
 * nothing. In an irregular search whether it is zero cannot be predicted, so a thread writes the entry all the same,
 * and does not move top. */
BL_HOT_FN void bl__spawn(bl_task *t, const void *payload, uint32_t bytes, uint32_t count, uint32_t join) {
    if (BL_WARP > 1 && count == 0)
        return;
    if (bytes != t->payload_bytes) {
        bl__report(t, BL__SPAWNED_OTHER, bytes);
        return;
    }
    if (t->checked && (uintptr_t)payload % 4) {
        bl__report(t, BL__MISPLACED, 0);
        return;
    }
    uint32_t number, *entry = bl__outbox_slot(t, &number, count);
    if (!entry)
        return;
    bl_pair_store(entry, 0, count);
    bl__words_copy(entry + BL__ENTRY_HEAD, (const bl_word *)payload, bytes / 4);
    if (t->result_bytes) {
        entry[BL__ENTRY_HEAD + bytes / 4] = join;
        if (BL_WARP == 1 && t->frame)
            t->spawned |= count != 0;
    }
    bl__outbox_show(t, number, count);
}

/* ---- joins: programs with BL_RESULT ----
 *
 * Every task does exactly one of two things: it returns a result, or it forks. A fork is an entry of `count` (at
 * least one) children with the same payload, told apart by their indices, and `forked`, which is kept. When all
 * children have returned, BL_JOIN is called with `forked` and their results in the order of the indices; it too
 * returns or forks. With BL_SUM there is no BL_JOIN: the result of a fork is the sum of its children's results,
 * which must stay below 2^48. Nor with BL_REDUCE, which combines them two by two, from the first to the last. The
 * result of a task that was spawned and not forked is discarded. */

/* The first of the two that a task does. */
BL_HOT_FN bool bl__ends(bl_task *t, uint32_t how) {
    uint32_t before = BL__UNENDED;
    if (t->result_bytes == 0) {
        bl__report(t, BL__NO_RESULTS, how == BL__FORKED);
        return false;
    }
    if (t->lanes > 1) {
        before = bl_lane_add32(&t->stack->returned.ended, how); /* t->returned, but a compiler sees where it lies */
    } else {
        before = t->returned->ended;
        t->returned->ended = how;
    }
    if (before != BL__UNENDED)
        bl__report(t, BL__ENDED_TWICE, 0);
    return before == BL__UNENDED;
}

/* After a task: it must have done one of the two. */
BL_HOT_FN void bl__must_have_ended(bl_task *t) {
    if (t->returned->ended != BL__UNENDED)
        return;
    t->returned->ended = BL__REFUSED;
    if (!(bl_load32_relaxed(t->stop) & BL__STOP_FAILED)) /* a task that fails need not return as well */
        bl__report(t, BL__ENDED_NOT_AT_ALL, 0);
}

BL_HOT_FN void bl__refuse_fork(bl_task *t) {
    if (BL_WARP == 1)
        t->returned->ended = BL__REFUSED;
}

/* A fork whose children the worker runs when the task function has returned. A join may fork with payloads that lie
 * where it found its own: `child` is copied first. */
BL_HOT_FN void bl__fork_frame(bl_task *t, const void *forked, const void *child, uint32_t bytes, uint32_t count,
                              unsigned char *wide) {
    if (bytes != t->payload_bytes || (t->checked && (uintptr_t)child % 4)) {
        if (bytes != t->payload_bytes)
            bl__report(t, BL__SPAWNED_OTHER, bytes);
        else
            bl__report(t, BL__MISPLACED, 0);
        bl__refuse_fork(t);
        return;
    }
    bl__words_copy((bl_word *)t->child, (const bl_word *)child, bytes / 4);
    if (t->results_at)
        bl__words_copy((bl_word *)t->kept, (const bl_word *)forked, bytes / 4);
    if (wide)
        t->frame->wide = wide;
    t->frame->end = count;
}

/* A fork for whose results the record has no room. On a CPU: memory for them. NULL: refused. */
BL_COLD_FN unsigned char *bl__fork_wide(const bl__run *run, uint32_t count, uint32_t result_bytes) {
    unsigned char *results = NULL;
    if (count == 0 || count > run->widest) {
        bl__stop_for_misuse(run->control, count ? BL__FORKED_TOO_WIDE : BL__FORKED_NONE, count);
        return NULL;
    }
#if BL_WARP == 1
    results = bl__wide_results(run, (size_t)count * result_bytes);
    if (!results)
        bl_fetch_or32_relaxed(&run->control->stop, BL__STOP_MEMORY);
#endif
    return (void)result_bytes, results;
}

BL_HOT_FN void bl__fork(bl_task *t, const void *forked, const void *child, uint32_t bytes, uint32_t count) {
    unsigned char *wide = NULL;
    if (!bl__ends(t, BL__FORKED))
        return;
    if (count == 0 || count > t->join_width) {
        wide = bl__fork_wide(t->run, count, t->result_bytes);
        if (!wide) {
            bl__refuse_fork(t);
            return;
        }
    }
    if (BL_WARP == 1 && t->frame) {
        bl__fork_frame(t, forked, child, bytes, count, wide);
        return;
    }
    uint32_t number = bl__spare_take(t->spare);
    bl__record *r = bl__record_at(t->run, number);
    bl_store64_relaxed(&r->state, count * BL__ONE_CHILD);
    r->parent = t->join;
    r->slot = t->index;
    if (t->results_at) {
        *bl__record_count(r) = count;
        bl__words_copy((bl_word *)((unsigned char *)r + t->payload_at), (const bl_word *)forked, t->payload_bytes / 4);
        if (wide)
            *bl__record_wide(r, t->results_at) = wide;
    }
    bl__spawn(t, child, bytes, count, wide ? number | BL__WIDE : number);
}

BL_HOT_FN void bl__return(bl_task *t, const void *result, uint32_t bytes) {
    unsigned char *to = t->run->results;
    if (bytes != t->result_bytes && t->result_bytes) {
        bl__report(t, BL__RETURNED_OTHER, bytes);
        t->returned->ended = BL__REFUSED;
        return;
    }
    if (!bl__ends(t, BL__RETURNED))
        return;
    if (t->checked && (uintptr_t)result % 4) {
        bl__report(t, BL__MISPLACED, 1);
        return;
    }
    if (t->results_at == 0 && bytes == sizeof t->returned->sum)
        bl__words_copy((bl_word *)&t->returned->sum, (const bl_word *)result, 2);
    else if (BL_WARP == 1 && t->to)
        to = (unsigned char *)t->to;
    else if (!(t->join & BL__ROOT))
        to = bl__record_results(bl__record_at(t->run, bl__record_number(t->join)), t->results_at, t->join & BL__WIDE) +
             (size_t)t->index * bytes;
    else
        to += (size_t)(t->join & ~BL__ROOT) * bytes;
    if (t->results_at && t->join != BL__NO_JOIN)
        bl__words_copy((bl_word *)to, bl__words_of(result, bytes), bytes / 4);
}

/* Dependencies: `unmet` counts what must be done before something may start. True for the task that does the last of
 * it, which should spawn it then: it sees everything that the others had written before they arrived (the addition is
 * release and acquire). */
BL_FN bool bl_arrive(uint32_t *unmet) { return bl_fetch_add32_acq_rel(unmet, (uint32_t)-1) == 1; }

/* ---- totals: for BL_MERGE ----
 *
 * Each lane of a GPU has a BL_LOCAL of its own: there are more than a hundred thousand of them, and as many atomic
 * operations on one word take 0.1 ms. These combine the values of a warp first, if all its lanes call with the same
 * address. Relaxed. */
BL_FN void bl_merge_add64(uint64_t *total, uint64_t value) {
    value = bl_warp_collect_add64(total, value);
    if (value)
        bl_fetch_add64_relaxed(total, value);
}
BL_FN void bl_merge_add32(uint32_t *total, uint32_t value) {
    value = (uint32_t)bl_warp_collect_add64(total, value);
    if (value)
        bl_fetch_add32_relaxed(total, value);
}
BL_FN void bl_merge_max64(uint64_t *most, uint64_t value) {
    value = bl_warp_collect_max64(most, value);
    if (value)
        bl_fetch_max64_relaxed(most, value);
}
BL_FN void bl_merge_max32(uint32_t *most, uint32_t value) {
    value = (uint32_t)bl_warp_collect_max64(most, value);
    if (value)
        bl_fetch_max32_relaxed(most, value);
}

/* The run ends. True for the first task that fails. The payload is not passed on, so that it can stay in registers. */
BL_COLD_FN bool bl__fails_first(bl__control *c, uint64_t error) {
    uint32_t nobody = 0;
    bool first = bl_cas32_relaxed(&c->failed, &nobody, 1);
    if (first)
        c->error = error;
    bl_fetch_or32_relaxed(&c->stop, BL__STOP_FAILED);
    return first;
}

BL_HOT_FN void bl__fail(bl_task *t, uint64_t error, const void *payload, uint32_t bytes) {
    if (bytes != t->payload_bytes && bytes != t->run->loop_at)
        bl__report(t, BL__FAILED_OTHER, bytes);
    else if (bl__fails_first(t->run->control, error))
        bl__words_save((bl_word *)t->run->failure, (const bl_word *)payload, bytes / 4);
}

/* Every lane of the task waits for all. */
BL_FN void bl_sync(const bl_task *t) {
    if (t->lanes > BL_WARP)
        bl_block_sync();
    else if (t->lanes > 1)
        bl_warp_sync();
}

#if BL_WARP == 1
/* `text`: of the exception; NULL if it is no std::exception. */
BL_COLD_FN bool bl__throws_first(const bl__run *run, uint32_t payload_bytes, const char *text) {
    char *to = (char *)run->failure + payload_bytes;
    if (!bl__fails_first(run->control, 0))
        return false;
    bl_store32_relaxed(&run->control->failed, 2);
    strncpy(to, text ? text : "an exception that is not a std::exception", BL__FAILURE_TEXT - 1);
    to[BL__FAILURE_TEXT - 1] = 0;
    return true;
}
#endif

/* Around a call of the user's code. */
#if BL__CATCHES
BL_HOT_FN void bl__threw(const bl_task *t, const void *payload, const char *text) {
    if (bl__throws_first(t->run, t->payload_bytes, text))
        bl__words_save((bl_word *)t->run->failure, (const bl_word *)payload, t->payload_bytes / 4);
}
#define BL__GUARDED(t, payload, call)                                                                                  \
    try {                                                                                                              \
        call;                                                                                                          \
    } catch (const std::exception &bl__exception) {                                                                    \
        bl__threw(t, payload, bl__exception.what());                                                                   \
    } catch (...) {                                                                                                    \
        bl__threw(t, payload, NULL);                                                                                   \
    }
#else
#define BL__GUARDED(t, payload, call) call;
#endif

/* ---- what a task calls ---- */

/* Publishes one entry: `count` tasks with this payload and the indices 0 .. count-1. A count of 0 spawns nothing; the
 * payload is read even so. */
#define bl_spawn_n(t, payload, count)                                                                                  \
    do {                                                                                                               \
        BL__MUST_BE_PAYLOAD("bl_spawn", payload);                                                                      \
        bl__spawn((t), (payload), (uint32_t)sizeof *(payload), (count), BL__NO_JOIN);                                  \
    } while (0)
/* One task, with index 0. */
#define bl_spawn(t, payload) bl_spawn_n(t, payload, 1)
/* Ends the run: no new task starts, and bl_run returns BL_ETASK. bl_failure gives `error`, a number that means what you
 * like, and a copy of the payload, of the first task that failed. A task of a program with BL_RESULT that has failed
 * need not return. */
#define bl_fail(t, error, payload)                                                                                     \
    do {                                                                                                               \
        BL__MUST_BE_PAYLOAD("bl_fail", payload);                                                                       \
        bl__fail((t), (error), (payload), (uint32_t)sizeof *(payload));                                                \
    } while (0)
/* Programs with BL_RESULT: `count` children with the payload `child`. BL_JOIN gets `forked` and their results. */
#define bl_fork(t, forked, child, count)                                                                               \
    do {                                                                                                               \
        BL__MUST_BE_PAYLOAD("bl_fork", child);                                                                         \
        bl__fork((t), (forked), (child), (uint32_t)(sizeof *(child) + 0 * sizeof((forked) == (child))), (count));      \
    } while (0)
/* Programs with BL_RESULT: the result of this task. */
#define bl_return(t, result)                                                                                           \
    do {                                                                                                               \
        BL__MUST_BE_RESULT("bl_return", result);                                                                       \
        bl__return((t), (result), (uint32_t)sizeof *(result));                                                         \
    } while (0)

#endif

/* Outside of the guard: where BL_PAYLOAD and BL_RESULT are defined before this header is included (again), the
 * compiler compares sizes. Otherwise that is done when it happens, and the run ends with BL_EMISUSE. */
#undef BL__MUST_BE_PAYLOAD
#undef BL__MUST_BE_RESULT
#ifdef BL_PAYLOAD
#define BL__MUST_BE_PAYLOAD(what, x)                                                                                   \
    BL__ASSERT(sizeof *(x) == sizeof(BL_PAYLOAD), what " takes a pointer to BL_PAYLOAD")
#else
#define BL__MUST_BE_PAYLOAD(what, x) ((void)0)
#endif
#ifdef BL_RESULT
#define BL__MUST_BE_RESULT(what, x) BL__ASSERT(sizeof *(x) == sizeof(BL_RESULT), what " takes a pointer to BL_RESULT")
#else
#define BL__MUST_BE_RESULT(what, x) ((void)0)
#endif
