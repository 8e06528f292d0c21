/* Entries and the private stack.
 *
 * An entry is a payload with an interval of indices; a task is the payload and one index of it. In memory:
 *
 *     word 0      word 1    words 2 ..
 *     begin       end       payload
 *
 * A worker's private stack is a ring of entries, without atomics: plain memory on a CPU, shared memory on a GPU. Tasks
 * are taken at the top (newest), work is published from the bottom (oldest: the largest subtrees). On a GPU only the
 * worker's own lanes can reach it. On a CPU others may take from the bottom while the owner runs a task (gate.h).
 *
 *     bottom                                 top                                                     limit
 *     | oldest | ...           | newest      | outbox: room for every spawn of the tasks about to run |
 *
 * A CPU thread whose task spawns past the limit keeps the entry as an extra, in memory that grows, until the stack has
 * room again. On a GPU such a spawn ends the run with an error.
 */
#ifndef BL_PARTS_ENTRY_H
#define BL_PARTS_ENTRY_H

#include "../export.h"
#include "../platform/platform.h"

#define BL__ENTRY_HEAD 2u /* words before the payload */

/* What a task with a result has come to, until the worker has passed it on. */
enum {
    BL__UNENDED,
    BL__RETURNED,
    BL__FORKED,
    BL__REFUSED = BL_WARP == 1 ? 3 : BL__FORKED /* did something wrong, and the run ends; threads ask */
};
typedef struct bl__returned {
    uint64_t sum;   /* where results only add up; else the result is in its slot already */
    uint32_t ended; /* BL__UNENDED, ... */
} bl__returned;

/* Entries of a thread that found no room on its stack. */
typedef struct bl__extra {
    uint32_t *entries;
    uint32_t room;
} bl__extra;

/* What came of the last meeting (meeting.h), for all workers of a block. */
typedef struct bl__verdict {
    uint64_t next;    /* tasks (high 32) and entries of the next wave */
    uint32_t meeting; /* its number + 1; 0: the worker has stopped waiting */
    uint32_t stays;   /* 0: all leave */
} bl__verdict;

typedef struct bl__stack {
    uint32_t bottom, top; /* counters; the slot is counter & mask */
    uint32_t mask;
    union {
        uint32_t order; /* block workers: what the leading warp decided, for the other lanes */
        uint32_t gate;  /* threads: gate.h */
    };
    union {
        bl__returned returned; /* block workers */
        bl__extra extra;       /* threads */
        bl__verdict verdict;   /* of the first worker of a block, between two waves */
    };
    union {
        uint32_t limit; /* block workers: where the outbox of the task that is being run ends */
        uint32_t open;  /* threads: gate.h */
    };
    union {
        uint32_t extras; /* threads: how many entries found no room */
        uint32_t leaves; /* meeting.h: somebody in the block has been told that the host wants the workers to stop */
    };
    /* meeting.h, in the stack of a block's first worker: tasks and entries that the block has spawned since the last
     * meeting, and control->met after that meeting. They are not in registers because tasks need those. */
    uint32_t tasks, entries;
    uint64_t met;
} bl__stack; /* the slots follow */

BL_FN uint32_t *bl__stack_slot(bl__stack *s, uint32_t words, uint32_t i) {
    return (uint32_t *)(s + 1) + (size_t)(i & s->mask) * words;
}
/* Threads: with a copy of the mask, which the compiler need not read again after each store. */
BL_FN uint32_t *bl__masked_slot(bl__stack *s, uint32_t words, uint32_t mask, uint32_t i) {
    return (uint32_t *)(void *)((unsigned char *)(s + 1) + (size_t)(i & mask) * (4 * words));
}
BL_FN uint32_t bl__stack_count(const bl__stack *s) { return s->top - s->bottom; }
/* The slots from the top up to the ring's end, which lie one after another. */
BL_FN uint32_t bl__stack_in_line(const bl__stack *s) { return s->mask + 1 - (s->top & s->mask); }

/* By the owner. On a CPU others look at it at any time (lookout.h), so it is moved as an atomic word, which costs
 * nothing. */
BL_FN void bl__stack_move_top(bl__stack *s, uint32_t top) {
#if BL_WARP == 1
    bl_poke32(&s->top, top);
#else
    s->top = top;
#endif
}

BL_HOST_FN size_t bl__stack_bytes(uint32_t capacity, uint32_t words) {
    return sizeof(bl__stack) + 4u * ((size_t)capacity + 1) * words;
}

/* Past the slots: the entry that a block is working on, with its index in word 0. */
BL_FN uint32_t *bl__stack_current(bl__stack *s, uint32_t words) {
    return (uint32_t *)(s + 1) + ((size_t)s->mask + 1) * words;
}

/* Past that: the free join records of a worker whose program has results. */
BL_FN uint32_t *bl__stack_spare(bl__stack *s, uint32_t words) { return bl__stack_current(s, words) + words; }

/* CPU: room for one more extra entry; NULL when out of memory. */
BL_API uint32_t *bl__extra_slot(bl__stack *s, uint32_t words);

/* A loop and not memcpy: with a constant count it becomes register moves on every target, of the words that the task
 * has just written. Wider loads would have to wait until these are in the cache (UTS 10 % slower on ARM). The padding
 * of a struct is copied with it, and gcc would say of a user's payload that this was never set. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
BL_FN void bl__words_copy(bl_word *to, const bl_word *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        to[i] = from[i];
}

/* The same where it seldom happens. Compilers unroll no loops there, and what a loop goes over cannot be in registers:
 * a bl_fail in a task, even one that is never reached, would keep the payload in memory. So no loop for 16 words. */
BL_HOT_FN void bl__words_save(bl_word *to, const bl_word *from, uint32_t words) {
#define BL__SAVE(i) (void)(words > (i) ? (to[i] = from[i]) : 0)
#define BL__SAVE4(i) BL__SAVE(i), BL__SAVE((i) + 1), BL__SAVE((i) + 2), BL__SAVE((i) + 3)
    BL__SAVE4(0), BL__SAVE4(4), BL__SAVE4(8), BL__SAVE4(12);
#undef BL__SAVE4
#undef BL__SAVE
    for (uint32_t i = 16; i < words; i++)
        to[i] = from[i];
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* gcc 13 finds that in a large struct too, and says so where the user has declared it, which no pragma of ours covers.
 * So it does not see where the words come from. */
BL_HOT_FN const bl_word *bl__words_of(const void *from, uint32_t bytes) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
    if (bytes > 16)
        __asm__("" : "+r"(from));
#else
    (void)bytes;
#endif
    return (const bl_word *)from;
}

#endif
