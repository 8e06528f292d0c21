/* The non-blocking interface of Scogland and Feng: a ticket only when the slot is ready.
 *
 * Scogland and Feng 2015, enqueue_nb and dequeue_nb (NSFQ in Kerbl et al. 2018). The ring of sfq, but a ticket cannot
 * be given back, so it is taken only when its slot is seen to be ready, by compare-and-swap: push when the slot at the
 * tail is free, pop when the one at the head is filled.
 *
 *     apart from each other: head; tail.  Then the ring (parts/ring.h)
 *
 * Anyone may call anything. Every call comes back: with FULL or EMPTY, or with RETRY when the slot belongs to an
 * operation that has its ticket and after some waiting has not finished. Blocking all the same: a thread that stops
 * there stops the next operation at that end.
 *
 * Invariant: head <= tail <= head + capacity, at any time. The push that moves tail to p + 1 has seen the pop of
 * p - capacity finished, so head was beyond p - capacity; the pop that moves head to p + 1 has seen the push of p
 * finished. So the queue is what lies between head and tail; push and pop linearize at P1, C1, where they move them.
 * Linearizable with FULL and EMPTY, as Table 1 of Kerbl et al. has it, but only because of a second look. "The slot at
 * the head is not filled" is not enough for EMPTY: let push 1 stop between P1 and its turn, and push 2 be DONE; a pop
 * then finds the slot unfilled and the queue is not empty. Here EMPTY is said only when the tail, read after the head
 * (E1), equals it: with the invariant both are equal at that moment. FULL likewise (F1). What is neither is
 * RETRY.
 * A ticket repeats after 2^32 operations: a thread would have to sleep through all of them between its look and its
 * compare-and-swap.
 *
 * Order pairs, besides those of the ring
 *   C1 (head cas, release) with E1 (acquire): a thread that finds the head moved by a pop also finds every push before
 *     that pop in the tail.
 *   P1 (tail cas, release) with F1 (acquire): a thread that finds the tail moved by a push also finds every pop before
 *     that push in the head.
 *
 * Differences from the paper: EMPTY and FULL by head and tail, RETRY between them.
 */
#ifndef BL_QUEUES_NSFQ_H
#define BL_QUEUES_NSFQ_H

#include "../parts/ring.h"
#include "contract.h"

#define bl_nsfq_TEXT "ring with tickets taken by compare-and-swap (Scogland, Feng 2015, non-blocking interface)"
#define bl_nsfq_KIND BL_QUEUE_KIND_FIFO
#define bl_nsfq_FLAGS                                                                                                  \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_nsfq_PROGRESS "blocking"
#define bl_nsfq_BY_HANDLE 0
#define bl_nsfq_PER_THREAD 0
#define bl_nsfq_LEAST 1u
#define bl_nsfq_MOST_THREADS UINT32_MAX
#define bl_nsfq_DEVICES "cpu cuda sim"

#define BL_NSFQ_PATIENCE 20u /* waits for an operation in progress before RETRY: long enough to give it the core */

typedef struct bl_nsfq {
    uint32_t *head, *tail;
    bl__ring ring;
    uint32_t words;
} bl_nsfq;

BL_HOST_FN size_t bl_nsfq_bytes(bl_shape shape) { return 2 * BL_APART + bl__ring_bytes(shape.capacity, shape.words); }

BL_FN void bl_nsfq_bind(bl_nsfq *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint32_t *)bl__queue_apart(memory, 0);
    q->tail = (uint32_t *)bl__queue_apart(memory, 1);
    bl__ring_bind(&q->ring, bl__queue_apart(memory, 2), shape.capacity, shape.words);
    q->words = shape.words;
}

BL_FN void bl_nsfq_init(bl_nsfq *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__ring_init(&q->ring, start, rank, size);
    if (rank == 0) {
        bl_store32_relaxed(q->head, start);
        bl_store32_relaxed(q->tail, start);
    }
}

/* Slot p is not ready for a push (a pop): because of whom? DONE: look again, *p is where this end is now. */
BL_FN bl_outcome bl_nsfq_full(const bl_nsfq *q, uint32_t *p, uint32_t turn, uint32_t *waits) {
    uint32_t seen = *p;
    *p = bl_load32_acquire(q->tail); /* F1 */
    if (*p != seen)
        return BL_QUEUE_DONE;
    if (*p - bl_load32_relaxed(q->head) == q->ring.mask + 1)
        return BL_QUEUE_FULL;
    bl_wait_change32(bl__ring_slot(&q->ring, seen), turn, waits);
    return *waits < BL_NSFQ_PATIENCE ? BL_QUEUE_DONE : BL_QUEUE_RETRY;
}
BL_FN bl_outcome bl_nsfq_empty(const bl_nsfq *q, uint32_t *p, uint32_t turn, uint32_t *waits) {
    uint32_t seen = *p;
    *p = bl_load32_acquire(q->head); /* E1 */
    if (*p != seen)
        return BL_QUEUE_DONE;
    if (*p == bl_load32_relaxed(q->tail))
        return BL_QUEUE_EMPTY;
    bl_wait_change32(bl__ring_slot(&q->ring, seen), turn, waits);
    return *waits < BL_NSFQ_PATIENCE ? BL_QUEUE_DONE : BL_QUEUE_RETRY;
}

/* A thread with a ticket uses it inside the loop: see parts/ring.h. */
BL_FN bl_outcome bl_nsfq_push(bl_nsfq *q, const uint32_t *item) {
    uint32_t p = bl_load32_relaxed(q->tail), tries = 0, waits = 0, going = 1;
    bl_outcome outcome = BL_QUEUE_DONE;
    while (going) {
        uint32_t turn = bl_load32_acquire(bl__ring_slot(&q->ring, p)); /* R3 */
        if (turn != bl__ring_push_turn(&q->ring, p)) {
            outcome = bl_nsfq_full(q, &p, turn, &waits);
            going = outcome == BL_QUEUE_DONE ? 1u : 0u;
        } else if (bl_cas32_release(q->tail, &p, p + 1)) { /* P1 */
            bl__ring_write(&q->ring, p, item);
            going = bl_opaque32(0);
        } else {
            bl_backoff(tries++); /* p is the tail that was found */
        }
    }
    return outcome;
}

BL_FN bl_outcome bl_nsfq_pop(bl_nsfq *q, uint32_t *item) {
    uint32_t p = bl_load32_relaxed(q->head), tries = 0, waits = 0, going = 1;
    bl_outcome outcome = BL_QUEUE_DONE;
    while (going) {
        uint32_t turn = bl_load32_acquire(bl__ring_slot(&q->ring, p)); /* R4 */
        if (turn != bl__ring_pop_turn(&q->ring, p)) {
            outcome = bl_nsfq_empty(q, &p, turn, &waits);
            going = outcome == BL_QUEUE_DONE ? 1u : 0u;
        } else if (bl_cas32_release(q->head, &p, p + 1)) { /* C1 */
            bl__ring_read(&q->ring, p, item);
            going = bl_opaque32(0);
        } else {
            bl_backoff(tries++);
        }
    }
    return outcome;
}

/* Tail first: a thread that loses its core between the two reads finds too few. */
BL_FN uint32_t bl_nsfq_size(const bl_nsfq *q) {
    uint32_t tail = bl_load32_relaxed(q->tail);
    return bl__ring_between(&q->ring, bl_load32_relaxed(q->head), tail);
}

#define BL_SINGLY bl_nsfq
#include "template/singly.inc.h"
#undef BL_SINGLY

#endif
