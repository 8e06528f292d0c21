/* Blocking queue: a ring under one lock.
 *
 * Cederman and Tsigas 2008, Algorithm 2. As printed the loop runs while the lock is NOT taken; here its body is entered
 * with the lock, which is released on every path, and the ring wraps and reports FULL.
 *
 *     apart: lock, head tail; then capacity slots of `words` words
 *
 * Anyone may call anything. Blocking: a thread that stops inside the lock stops all others. Linearization points: the
 * accesses to head and tail under the lock; EMPTY and FULL without it at the second read of bl_blocking_empty,
 * bl_blocking_full. Difference from the paper: a look before the lock. Order pairs: E0 (head, release) with E1
 * (acquire): a thread that sees a head sees every push before the pop that moved it; F0 (tail, release) with F1
 * (acquire) likewise; L1 (lock, acquire) with L2 (unlock, release): the ring is plain data guarded by the lock.
 */
#ifndef BL_QUEUES_BLOCKING_H
#define BL_QUEUES_BLOCKING_H

#include "contract.h"

#define bl_blocking_TEXT "ring under a lock (Cederman, Tsigas 2008, Algorithm 2)"
#define bl_blocking_KIND BL_QUEUE_KIND_FIFO
#define bl_blocking_FLAGS                                                                                              \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_blocking_PROGRESS "blocking"
#define bl_blocking_BY_HANDLE 0
#define bl_blocking_PER_THREAD 0
#define bl_blocking_LEAST 1u
#define bl_blocking_MOST_THREADS UINT32_MAX
#define bl_blocking_DEVICES "cpu cuda sim"

typedef struct bl_blocking {
    uint32_t *lock;
    uint32_t *ends; /* head, tail: counters, the slot is counter & mask */
    uint32_t *slots;
    uint32_t mask, words;
} bl_blocking;

BL_HOST_FN size_t bl_blocking_bytes(bl_shape shape) { return 2 * BL_APART + 4u * (size_t)shape.capacity * shape.words; }

BL_FN void bl_blocking_bind(bl_blocking *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->lock = (uint32_t *)bl__queue_apart(memory, 0);
    q->ends = (uint32_t *)bl__queue_apart(memory, 1);
    q->slots = (uint32_t *)bl__queue_apart(memory, 2);
    q->mask = shape.capacity - 1;
    q->words = shape.words;
}

BL_FN void bl_blocking_init(bl_blocking *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store32_relaxed(q->lock, 0);
        bl_store32_relaxed(q->ends + 0, start);
        bl_store32_relaxed(q->ends + 1, start);
    }
}

BL_FN bool bl_blocking_try_lock(bl_blocking *q) {
    uint32_t unlocked = 0;
    return bl_cas32_acquire(q->lock, &unlocked, 1); /* L1 */
}
BL_FN void bl_blocking_unlock(bl_blocking *q) { bl_store32_release(q->lock, 0); /* L2 */ }

/* With the lock. head and tail are atomics only because they are also looked at without it. */
BL_FN uint32_t bl_blocking_put(bl_blocking *q, const uint32_t *items, uint32_t n) {
    uint32_t tail = bl_load32_relaxed(q->ends + 1);
    uint32_t room = q->mask + 1 - (tail - bl_load32_relaxed(q->ends + 0));
    n = n < room ? n : room;
    for (uint32_t i = 0; i < n; i++)
        bl_data_write(q->slots + (size_t)((tail + i) & q->mask) * q->words, items + (size_t)i * q->words, q->words);
    bl_store32_release(q->ends + 1, tail + n); /* F0 */
    return n;
}
BL_FN uint32_t bl_blocking_take(bl_blocking *q, uint32_t *items, uint32_t n) {
    uint32_t head = bl_load32_relaxed(q->ends + 0);
    uint32_t filled = bl_load32_relaxed(q->ends + 1) - head;
    n = n < filled ? n : filled;
    for (uint32_t i = 0; i < n; i++)
        bl_data_read(items + (size_t)i * q->words, q->slots + (size_t)((head + i) & q->mask) * q->words, q->words);
    bl_store32_release(q->ends + 0, head + n); /* E0 */
    return n;
}

/* A look without the lock: an empty or full queue is not fought for. Lanes of one warp that took the lock only to
 * find nothing could keep a sister lane from ever getting it. Since head <= tail <= head + capacity, equality of an
 * older head with a later tail means empty at the second read, and the older tail lying a whole ring before a later
 * head means full (E0 with E1, F0 with F1: the reads are in this order). */
BL_FN bool bl_blocking_empty(const bl_blocking *q) {
    uint32_t head = bl_load32_acquire(q->ends + 0); /* E1 */
    return bl_load32_relaxed(q->ends + 1) == head;
}
BL_FN bool bl_blocking_full(const bl_blocking *q) {
    uint32_t tail = bl_load32_acquire(q->ends + 1); /* F1 */
    return tail - bl_load32_relaxed(q->ends + 0) == q->mask + 1;
}

/* The critical section stands inside the loop, and the compiler must leave it there: where lanes of one warp fight
 * for the lock, the warp comes together again behind the loop, and a winner that waited there with the lock in its
 * hand would wait for ever. */
BL_FN uint32_t bl_blocking_push_n(bl_blocking *q, const uint32_t *items, uint32_t n) {
    uint32_t waiting = bl_blocking_full(q) ? 0 : 1, tries = 0, done = 0;
    while (waiting) {
        if (bl_blocking_try_lock(q)) {
            done = bl_blocking_put(q, items, n);
            bl_blocking_unlock(q);
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change32(q->lock, 1, &tries);
        }
    }
    return done;
}
BL_FN uint32_t bl_blocking_pop_n(bl_blocking *q, uint32_t *items, uint32_t n) {
    uint32_t waiting = bl_blocking_empty(q) ? 0 : 1, tries = 0, done = 0;
    while (waiting) {
        if (bl_blocking_try_lock(q)) {
            done = bl_blocking_take(q, items, n);
            bl_blocking_unlock(q);
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change32(q->lock, 1, &tries);
        }
    }
    return done;
}

/* Tail first: a thread that loses its core between the two reads finds too few, never more than there ever were. */
BL_FN uint32_t bl_blocking_size(const bl_blocking *q) {
    uint32_t tail = bl_load32_acquire(q->ends + 1);
    int32_t size = (int32_t)(tail - bl_load32_relaxed(q->ends + 0));
    return size > 0 ? (uint32_t)size : 0;
}

#define BL_BATCHED bl_blocking
#include "template/batched.inc.h"
#undef BL_BATCHED

#endif
