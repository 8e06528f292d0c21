/* The contract of every queue in this folder: one algorithm, one header, the same text on CPU, GPU and the simulated
 * machine.
 *
 * A queue Q holds items of `words` 32-bit words each. It never allocates, prints or exits: it says how many bytes it
 * needs and is given them. `Q` itself is a plain view (pointers and sizes) that costs nothing to make and can be passed
 * by value.
 *
 *   size_t     Q_bytes(shape)                           memory needed, aligned to BL_LINE; the host may call it
 *   void       Q_bind(q, memory, shape, thread)         makes the view of one thread; touches no memory
 *   void       Q_init(q, start, rank, size)             called by `size` threads, each with its rank, before any
 *                                                       operation, or by one with (0, 1); counters begin at `start` (0
 *                                                       but for wrap-around tests)
 *   bl_outcome Q_push(q, item)                          DONE, FULL or RETRY (a lost race is not FULL)
 *   bl_outcome Q_pop(q, item)                           DONE, EMPTY or RETRY
 *   bl_outcome Q_steal(q, item)                         deques: by anyone; FIFO queues: the same as pop
 *   uint32_t   Q_push_n(q, items, n), Q_pop_n(q, items, n), Q_steal_n(q, items, n)    up to n, contiguous; how many
 *   uint32_t   Q_size(q)                                exact at rest, an estimate under way
 *
 * Deques: push and pop by the owner only, steal by anyone. An operation may wait for another that is in progress, never
 * for work (but for the waiting kind). Any lane may call any operation by itself, whatever the other lanes of its warp
 * do.
 *
 * A shape must fit before it is used: BL_SHAPE_FIT(Q, &shape) rounds the capacity up to a power of two and says what is
 * wrong.
 *
 * Each header states its properties as macros; the build reads Q_KIND, Q_PER_THREAD and some of Q_FLAGS:
 *   Q_TEXT                 authors and year
 *   Q_KIND, Q_FLAGS        properties.h
 *   Q_PROGRESS             "wait-free", "lock-free" or "blocking"
 *   Q_BY_HANDLE            1: carries 32-bit handles (words is 1), for which a scheduler keeps a pool of entries
 *   Q_PER_THREAD           1: memory grows with shape.threads and each thread must bind with its own number; else
 *                          neither is looked at
 *   Q_LEAST                the smallest capacity
 *   Q_MOST_THREADS         the most threads that may use it at the same time
 *   Q_DEVICES              "cpu cuda sim"
 *   Q_CLAIMS               1: a deque with slot, bottom, look and claim, lower, room and raise, so that the lanes of a
 *                          warp can copy together (steal_many.h); need not be defined
 *   Q_DRAWS                1: draw_pushes and draw_pops give one lane up to n positions, which its warp's lanes fill
 *                          or empty, with put_at and get_at (broker.h); need not be defined
 */
#ifndef BL_QUEUES_CONTRACT_H
#define BL_QUEUES_CONTRACT_H

#include "../platform/platform.h"
#include "properties.h"

typedef enum bl_outcome {
    BL_QUEUE_DONE, /* the item was pushed or popped */
    BL_QUEUE_EMPTY,
    BL_QUEUE_FULL,
    BL_QUEUE_RETRY, /* another operation won; nothing is known about empty or full */
} bl_outcome;

typedef struct bl_shape {
    uint32_t capacity; /* items, a power of two */
    uint32_t words;    /* per item */
    uint32_t threads;  /* the most that use the queue at the same time, numbered from 0 */
} bl_shape;

#define BL_QUEUE_MOST_CAPACITY (1u << 30) /* differences of counters are looked at with their sign */
#define BL_QUEUE_MOST_WORDS 1024u
#define BL_QUEUE_MOST_THREADS (1u << 29) /* that may hold a ticket each beyond the capacity */

typedef enum bl_fit {
    BL_FIT_EXACT,
    BL_FIT_ROUNDED, /* the capacity was rounded up to a power of two */
    BL_FIT_NO_CAPACITY,
    BL_FIT_SMALL_CAPACITY,
    BL_FIT_LARGE_CAPACITY,
    BL_FIT_NO_WORDS,
    BL_FIT_MANY_WORDS,
    BL_FIT_WORDS_OF_HANDLE,
    BL_FIT_NO_THREADS,
    BL_FIT_MANY_THREADS
} bl_fit;

BL_HOST_FN bl_fit bl__shape_fit(bl_shape *shape, uint32_t least, uint32_t most_threads, int by_handle) {
    uint32_t wanted = shape->capacity;
    if (wanted == 0)
        return BL_FIT_NO_CAPACITY;
    if (wanted < least)
        return BL_FIT_SMALL_CAPACITY;
    if (wanted > BL_QUEUE_MOST_CAPACITY)
        return BL_FIT_LARGE_CAPACITY;
    if (shape->words == 0)
        return BL_FIT_NO_WORDS;
    if (by_handle && shape->words != 1)
        return BL_FIT_WORDS_OF_HANDLE;
    if (shape->words > BL_QUEUE_MOST_WORDS)
        return BL_FIT_MANY_WORDS;
    if (shape->threads == 0)
        return BL_FIT_NO_THREADS;
    if (shape->threads > most_threads)
        return BL_FIT_MANY_THREADS;
    for (shape->capacity = 1; shape->capacity < wanted;)
        shape->capacity *= 2;
    return shape->capacity == wanted ? BL_FIT_EXACT : BL_FIT_ROUNDED;
}
/* The name of a queue Q for people: "abp". */
#define BL_QUEUE_NAME(Q) BL__QUEUE_NAME(Q)
#define BL__QUEUE_NAME(Q) (&#Q[3]) /* less bl_ */

#define BL_SHAPE_FIT(Q, shape) bl__shape_fit((shape), Q##_LEAST, Q##_MOST_THREADS, Q##_BY_HANDLE)

BL_HOST_FN const char *bl_fit_text(bl_fit fit) {
    switch (fit) {
    case BL_FIT_EXACT:
        return "fits";
    case BL_FIT_ROUNDED:
        return "fits; the capacity was rounded up to a power of two";
    case BL_FIT_NO_CAPACITY:
        return "capacity 0: a queue must hold something";
    case BL_FIT_SMALL_CAPACITY:
        return "capacity 1: this algorithm cannot tell a full slot from an empty one with fewer than two";
    case BL_FIT_LARGE_CAPACITY:
        return "capacity beyond 2^30";
    case BL_FIT_NO_WORDS:
        return "items of 0 words";
    case BL_FIT_MANY_WORDS:
        return "items of more than 1024 words";
    case BL_FIT_WORDS_OF_HANDLE:
        return "this queue carries 32-bit handles: items of exactly 1 word";
    case BL_FIT_NO_THREADS:
        return "0 threads";
    case BL_FIT_MANY_THREADS:
        break;
    }
    return "more threads than this algorithm can tell apart";
}

/* Lines for the control words, then the slots; words that all threads change lie farther apart. */
BL_HOST_FN unsigned char *bl__queue_line(void *memory, uint32_t line) {
    return (unsigned char *)memory + (size_t)line * BL_LINE;
}
BL_HOST_FN unsigned char *bl__queue_apart(void *memory, uint32_t i) {
    return (unsigned char *)memory + (size_t)i * BL_APART;
}

#endif
