/* Two-lock queue: a ring with one lock at its head and one at its tail.
 *
 * Michael and Scott 1996, the blocking one of their two queues; Kerbl et al. 2018 call it 2MQ. A push and
 * a pop work at the same time: each locks its own end and only reads the other's counter, which moves when the
 * items are there, or gone.
 *
 *     apart from each other: head lock; head; tail lock; tail.  Then capacity slots
 *
 *     slots   | free | item | item | item | free ...
 *                      ^ head & mask        ^ tail & mask
 *
 * Anyone may call anything. Blocking: a thread that stops inside a lock stops that end.
 * Linearization: push at T1, pop at H1; FULL and EMPTY at the second read of the other end's counter, with the lock or
 * before it: since head <= tail <= head + capacity, an older counter of the own end and a later one of the other that
 * say so make it true.
 *
 * Order pairs
 *   L1 (lock, acquire) with L2 (unlock, release): the end's own counter.
 *   T1 (tail, release) with T2 (acquire): the slots are written before tail covers them.
 *   H1 (head, release) with H2 (acquire): they are read before head leaves them to be written again. Both also with X:
 *     a thread that has seen one counter sees the other at least as far as it was then. X (fence, seq_cst) with itself,
 *     in FULL and EMPTY: one thread pops two, the next finds it EMPTY, a third pushes and finds it FULL. One of the two
 *     would have to be wrong, and without the fence both looks may be old.
 *
 * Differences from the paper: a ring instead of a list, so there is no dummy and no allocator, and FULL; batches under
 * one lock; a look before the lock, since lanes of a warp that took it only to find nothing could keep a sister lane
 * from ever getting it.
 */
#ifndef BL_QUEUES_TWO_LOCK_H
#define BL_QUEUES_TWO_LOCK_H

#include "contract.h"

#define bl_two_lock_TEXT "ring with a lock at each end (Michael, Scott 1996)"
#define bl_two_lock_KIND BL_QUEUE_KIND_FIFO
#define bl_two_lock_FLAGS                                                                                              \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_two_lock_PROGRESS "blocking"
#define bl_two_lock_BY_HANDLE 0
#define bl_two_lock_PER_THREAD 0
#define bl_two_lock_LEAST 1u
#define bl_two_lock_MOST_THREADS UINT32_MAX
#define bl_two_lock_DEVICES "cpu cuda sim"

typedef struct bl_two_lock {
    uint32_t *head_lock, *head, *tail_lock, *tail; /* head, tail: counters, the slot is counter & mask */
    uint32_t *slots;
    uint32_t mask, words;
} bl_two_lock;

BL_HOST_FN size_t bl_two_lock_bytes(bl_shape shape) { return 4 * BL_APART + 4u * (size_t)shape.capacity * shape.words; }

BL_FN void bl_two_lock_bind(bl_two_lock *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head_lock = (uint32_t *)bl__queue_apart(memory, 0);
    q->head = (uint32_t *)bl__queue_apart(memory, 1);
    q->tail_lock = (uint32_t *)bl__queue_apart(memory, 2);
    q->tail = (uint32_t *)bl__queue_apart(memory, 3);
    q->slots = (uint32_t *)bl__queue_apart(memory, 4);
    q->mask = shape.capacity - 1;
    q->words = shape.words;
}

BL_FN void bl_two_lock_init(bl_two_lock *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store32_relaxed(q->head_lock, 0);
        bl_store32_relaxed(q->head, start);
        bl_store32_relaxed(q->tail_lock, 0);
        bl_store32_relaxed(q->tail, start);
    }
}

BL_FN bool bl_two_lock_try(uint32_t *lock) {
    uint32_t unlocked = 0;
    return bl_cas32_acquire(lock, &unlocked, 1); /* L1 */
}
BL_FN void bl_two_lock_leave(uint32_t *lock) { bl_store32_release(lock, 0); /* L2 */ }

BL_FN uint32_t *bl_two_lock_slot(const bl_two_lock *q, uint32_t i) {
    return q->slots + (size_t)(i & q->mask) * q->words;
}

/* The other end's counter; once more if nothing can be done while it is at `far`. */
BL_FN uint32_t bl_two_lock_other(const uint32_t *end, uint32_t far) {
    uint32_t at = bl_load32_acquire(end); /* H2, T2 */
    if (at != far)
        return at;
    bl_fence_seq_cst();            /* X */
    return bl_load32_acquire(end); /* H2, T2 */
}
BL_FN uint32_t bl_two_lock_room(const bl_two_lock *q, uint32_t tail) {
    return q->mask + 1 - (tail - bl_two_lock_other(q->head, tail - q->mask - 1));
}
BL_FN uint32_t bl_two_lock_filled(const bl_two_lock *q, uint32_t head) {
    return bl_two_lock_other(q->tail, head) - head;
}

/* With the tail's lock. */
BL_FN uint32_t bl_two_lock_put(bl_two_lock *q, const uint32_t *items, uint32_t n) {
    uint32_t tail = bl_load32_relaxed(q->tail), room = bl_two_lock_room(q, tail);
    if (!room)
        return 0;
    n = n < room ? n : room;
    for (uint32_t i = 0; i < n; i++)
        bl_data_write(bl_two_lock_slot(q, tail + i), items + (size_t)i * q->words, q->words);
    bl_store32_release(q->tail, tail + n); /* T1 */
    return n;
}
/* With the head's lock. */
BL_FN uint32_t bl_two_lock_take(bl_two_lock *q, uint32_t *items, uint32_t n) {
    uint32_t head = bl_load32_relaxed(q->head), filled = bl_two_lock_filled(q, head);
    if (!filled)
        return 0;
    n = n < filled ? n : filled;
    for (uint32_t i = 0; i < n; i++)
        bl_data_read(items + (size_t)i * q->words, bl_two_lock_slot(q, head + i), q->words);
    bl_store32_release(q->head, head + n); /* H1 */
    return n;
}

/* The critical section stands inside the loop, as in blocking.h and for the same reason. */
BL_FN uint32_t bl_two_lock_push_n(bl_two_lock *q, const uint32_t *items, uint32_t n) {
    uint32_t waiting = bl_two_lock_room(q, bl_load32_relaxed(q->tail)) ? 1 : 0, tries = 0, done = 0;
    while (waiting) {
        if (bl_two_lock_try(q->tail_lock)) {
            done = bl_two_lock_put(q, items, n);
            bl_two_lock_leave(q->tail_lock);
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change32(q->tail_lock, 1, &tries);
        }
    }
    return done;
}
BL_FN uint32_t bl_two_lock_pop_n(bl_two_lock *q, uint32_t *items, uint32_t n) {
    uint32_t waiting = bl_two_lock_filled(q, bl_load32_relaxed(q->head)) ? 1 : 0, tries = 0, done = 0;
    while (waiting) {
        if (bl_two_lock_try(q->head_lock)) {
            done = bl_two_lock_take(q, items, n);
            bl_two_lock_leave(q->head_lock);
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change32(q->head_lock, 1, &tries);
        }
    }
    return done;
}

/* Tail first: a thread that loses its core between the two reads finds too few, never more than there ever were. */
BL_FN uint32_t bl_two_lock_size(const bl_two_lock *q) {
    uint32_t tail = bl_load32_acquire(q->tail);
    int32_t size = (int32_t)(tail - bl_load32_relaxed(q->head));
    return size > 0 ? (uint32_t)size : 0;
}

#define BL_BATCHED bl_two_lock
#include "template/batched.inc.h"
#undef BL_BATCHED

#endif
