/* The blocking queue of Scogland and Feng: tickets for a ring, waiting, and a close that ends it.
 *
 * Scogland and Feng 2015 (SFQ in Kerbl et al. 2018). As cbq, but a thread that waits also looks whether the queue has
 * been closed, so that threads that wait for work can be sent home at the end of it.
 *
 *     apart from each other: head; tail; end.  Then the ring (parts/ring.h)
 *     head, tail: 64 bits, the next ticket and on top the bit CLOSED; a ticket's low 32 bits are its position
 *     end: BL_SFQ_OPEN, and from a close on the first ticket that no item will ever have
 *
 * Anyone may call anything, but only one lane of a warp: lanes that wait for a sister would do so for ever. Until the
 * close a push waits for room and a pop for an item; a batch for all of its n. Fair: places are given out by a
 * fetch-and-add. Blocking: a thread that stops with a ticket stops the one that has the same slot next.
 *
 * bl_sfq_close, by anyone, once or more often, for ever (until bl_sfq_init):
 *   - A push that begins after the close has returned says FULL, and pushes nothing.
 *   - A push that waits for room that no pop has a ticket to make says FULL. All others that had their ticket are DONE;
 *     none waits for a pop that is still to come.
 *   - What was pushed with DONE, before the close or during it, stays and is popped as before, and counted by size.
 *   - A pop for which nothing is left, waiting or new, says EMPTY. None waits for a push that is still to come.
 *   - Batches: as many as before the refused ones; they are the first of the batch.
 *   - What was written before the (first) close is seen after a pop that says EMPTY.
 * How: the close marks the head, where it finds H tickets taken, then the tail, T taken. Pops with a ticket below H,
 * called old, free their slots as always; younger ones read and leave the slot as it is, so that no push can follow
 * there. So a push's turn comes if and only if its ticket is below T and below H + capacity, which is `end`: every slot
 * below it is filled, or will be by a push that waits for old pops at most, and no slot beyond. What is between is
 * known to nobody until the close writes `end`; a thread that needs it waits for that.
 *
 * Linearization, by ticket: as in cbq. FULL: at the read of the mark or of `end`, after the close. EMPTY at the read of
 * `end` (S2): the queue is closed, and tickets before this one have taken all items. So EMPTY is exact; FULL means
 * closed and says nothing about room.
 *
 * Order pairs, besides those of the ring. Tickets and marks carry no data and need no order between them: that a ticket
 * lies below H or T is known from the word it came from.
 *   S0 (end, release) with S1, S2, S3 (acquire): a thread that knows of the close finds the tail marked, so that its
 *     next push is refused; after S2 it also sees what the closer wrote before.
 *
 * Differences from the paper: which waiting operation ends how, is decided by the close alone and not by when each of
 * them looks, so nothing is lost and there are no holes; batches, one fetch-and-add for n.
 */
#ifndef BL_QUEUES_SFQ_H
#define BL_QUEUES_SFQ_H

#include "../parts/ring.h"
#include "contract.h"

#define bl_sfq_TEXT "ring with tickets, waits when empty or full until it is closed (Scogland, Feng 2015)"
#define bl_sfq_KIND BL_QUEUE_KIND_WAITING
#define bl_sfq_FLAGS                                                                                                   \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED |     \
     BL_QUEUE_FAIR | BL_QUEUE_ORDERS_MEMORY)
#define bl_sfq_PROGRESS "blocking"
#define bl_sfq_BY_HANDLE 0
#define bl_sfq_PER_THREAD 0
#define bl_sfq_LEAST 1u
#define bl_sfq_MOST_THREADS BL_QUEUE_MOST_THREADS
#define bl_sfq_DEVICES "cpu cuda sim"

#define BL_SFQ_CLOSED (UINT64_C(1) << 63)
#define BL_SFQ_OPEN UINT64_MAX

typedef struct bl_sfq {
    uint64_t *head, *tail, *end;
    bl__ring ring;
} bl_sfq;

BL_HOST_FN size_t bl_sfq_bytes(bl_shape shape) { return 3 * BL_APART + bl__ring_bytes(shape.capacity, shape.words); }

BL_FN void bl_sfq_bind(bl_sfq *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint64_t *)bl__queue_apart(memory, 0);
    q->tail = (uint64_t *)bl__queue_apart(memory, 1);
    q->end = (uint64_t *)bl__queue_apart(memory, 2);
    bl__ring_bind(&q->ring, bl__queue_apart(memory, 3), shape.capacity, shape.words);
}

BL_FN void bl_sfq_init(bl_sfq *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__ring_init(&q->ring, start, rank, size);
    if (rank == 0) {
        bl_store64_relaxed(q->head, start);
        bl_store64_relaxed(q->tail, start);
        bl_store64_relaxed(q->end, BL_SFQ_OPEN);
    }
}

BL_FN void bl_sfq_close(bl_sfq *q) {
    uint64_t head = bl_fetch_or64_relaxed(q->head, BL_SFQ_CLOSED);
    uint32_t tries = 0;
    if (head & BL_SFQ_CLOSED) {                          /* somebody else does it */
        while (bl_load64_acquire(q->end) == BL_SFQ_OPEN) /* S3 */
            bl_wait_change64(q->end, BL_SFQ_OPEN, &tries);
        return;
    }
    uint64_t tail = bl_fetch_or64_relaxed(q->tail, BL_SFQ_CLOSED), most = head + q->ring.mask + 1;
    bl_store64_release(q->end, tail < most ? tail : most); /* S0 */
}

/* Both loops wait on two words, the slot and `end`: a step of backoff and not a wait for one of them to change. */
BL_FN uint32_t bl_sfq_push_n(bl_sfq *q, const uint32_t *items, uint32_t n) {
    uint64_t ticket = bl_fetch_add64_relaxed(q->tail, n);
    uint32_t done = 0, tries = 0;
    if (ticket & BL_SFQ_CLOSED)
        return 0;
    while (done < n) {
        uint32_t p = (uint32_t)ticket + done;
        if (bl_load32_acquire(bl__ring_slot(&q->ring, p)) == bl__ring_push_turn(&q->ring, p)) { /* R3 */
            bl__ring_write(&q->ring, p, items + (size_t)done * q->ring.words);
            done += bl_opaque32(1);
        } else if (ticket + done >= bl_load64_acquire(q->end)) { /* S1 */
            break;
        } else {
            bl_backoff(tries++);
        }
    }
    return done;
}

/* With the pop's turn. Nobody follows at a slot that is popped after the close: its turn stays what it is, and would be
 * that of a ticket 2^32 further on, which is why a pop after the close goes by `end` first. */
BL_FN void bl_sfq_take(const bl_sfq *q, uint32_t p, uint32_t *item, bool closed) {
    if (closed)
        bl_data_read(item, bl__ring_slot(&q->ring, p) + 1, q->ring.words);
    else
        bl__ring_read(&q->ring, p, item);
}
BL_FN uint32_t bl_sfq_pop_n(bl_sfq *q, uint32_t *items, uint32_t n) {
    uint64_t got = bl_fetch_add64_relaxed(q->head, n), ticket = got & ~BL_SFQ_CLOSED;
    bool closed = (got & BL_SFQ_CLOSED) != 0;
    uint32_t done = 0, tries = 0;
    while (done < n) {
        uint32_t p = (uint32_t)ticket + done;
        bool ready = bl_load32_acquire(bl__ring_slot(&q->ring, p)) == bl__ring_pop_turn(&q->ring, p); /* R4 */
        if ((closed || !ready) && ticket + done >= bl_load64_acquire(q->end)) {                       /* S2 */
            break;
        } else if (ready) {
            bl_sfq_take(q, p, items + (size_t)done * q->ring.words, closed);
            done += bl_opaque32(1);
        } else {
            bl_backoff(tries++);
        }
    }
    return done;
}

/* Tail first: a thread that loses its core between the reads finds too few. */
BL_FN uint32_t bl_sfq_size(const bl_sfq *q) {
    uint64_t tail = bl_load64_relaxed(q->tail) & ~BL_SFQ_CLOSED, end = bl_load64_relaxed(q->end);
    uint64_t head = bl_load64_relaxed(q->head) & ~BL_SFQ_CLOSED;
    tail = tail < end ? tail : end;
    if (tail <= head)
        return 0;
    return tail - head <= q->ring.mask ? (uint32_t)(tail - head) : q->ring.mask + 1;
}

#define BL_BATCHED bl_sfq
#include "template/batched.inc.h"
#undef BL_BATCHED

#endif
