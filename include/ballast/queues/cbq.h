/* Circular buffer queue: tickets for a ring, and waiting.
 *
 * Orozco, Garcia, Khan, Livingston and Gao 2012 (CBQ in Kerbl et al. 2018). A push takes the next ticket of the tail, a
 * pop the next of the head, by one fetch-and-add that cannot fail, and each waits at the ticket's slot until its turn
 * has come: a push until the slot's last item is out, a pop until its item is in.
 *
 *     apart from each other: head; tail.  Then the ring (parts/ring.h)
 *
 * Anyone may call anything, but only one lane of a warp: lanes that wait for a sister would do so for ever. A push
 * waits for room and a pop for an item, a batch for all of its n. Fair: places are given out by the fetch-and-add.
 * Blocking: a thread that stops with a ticket stops the one that has the same slot next. Tickets may run ahead of each
 * other by as many as are asked for at the same time, which must stay below 2^31.
 *
 * Linearization, by position i: the push at its ticket or, if that is later, where the pop of i - capacity linearizes;
 * the pop at its ticket or, if that is later, where the push of i linearizes. Both lie inside the call, since it waits
 * for the other, and both grow with i. It never says EMPTY or FULL.
 *
 * Order pairs: those of the ring. Tickets carry no data: relaxed.
 * Difference from the paper: batches, one fetch-and-add for n.
 */
#ifndef BL_QUEUES_CBQ_H
#define BL_QUEUES_CBQ_H

#include "../parts/ring.h"
#include "contract.h"

#define bl_cbq_TEXT "ring with tickets, waits when empty or full (Orozco et al. 2012)"
#define bl_cbq_KIND BL_QUEUE_KIND_WAITING
#define bl_cbq_FLAGS                                                                                                   \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED | BL_QUEUE_FAIR |            \
     BL_QUEUE_ORDERS_MEMORY)
#define bl_cbq_PROGRESS "blocking"
#define bl_cbq_BY_HANDLE 0
#define bl_cbq_PER_THREAD 0
#define bl_cbq_LEAST 1u
#define bl_cbq_MOST_THREADS BL_QUEUE_MOST_THREADS
#define bl_cbq_DEVICES "cpu cuda sim"

typedef struct bl_cbq {
    uint32_t *head, *tail;
    bl__ring ring;
} bl_cbq;

BL_HOST_FN size_t bl_cbq_bytes(bl_shape shape) { return 2 * BL_APART + bl__ring_bytes(shape.capacity, shape.words); }

BL_FN void bl_cbq_bind(bl_cbq *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint32_t *)bl__queue_apart(memory, 0);
    q->tail = (uint32_t *)bl__queue_apart(memory, 1);
    bl__ring_bind(&q->ring, bl__queue_apart(memory, 2), shape.capacity, shape.words);
}

BL_FN void bl_cbq_init(bl_cbq *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__ring_init(&q->ring, start, rank, size);
    if (rank == 0) {
        bl_store32_relaxed(q->head, start);
        bl_store32_relaxed(q->tail, start);
    }
}

BL_FN uint32_t bl_cbq_push_n(bl_cbq *q, const uint32_t *items, uint32_t n) {
    bl__ring_put(&q->ring, bl_fetch_add32_relaxed(q->tail, n), items, n);
    return n;
}
BL_FN uint32_t bl_cbq_pop_n(bl_cbq *q, uint32_t *items, uint32_t n) {
    bl__ring_get(&q->ring, bl_fetch_add32_relaxed(q->head, n), items, n);
    return n;
}

BL_FN bl_outcome bl_cbq_push(bl_cbq *q, const uint32_t *item) { return bl_cbq_push_n(q, item, 1), BL_QUEUE_DONE; }
BL_FN bl_outcome bl_cbq_pop(bl_cbq *q, uint32_t *item) { return bl_cbq_pop_n(q, item, 1), BL_QUEUE_DONE; }
BL_FN bl_outcome bl_cbq_steal(bl_cbq *q, uint32_t *item) { return bl_cbq_pop(q, item); }
BL_FN uint32_t bl_cbq_steal_n(bl_cbq *q, uint32_t *items, uint32_t n) { return bl_cbq_pop_n(q, items, n); }

/* Tail first: a thread that loses its core between the two reads finds too few. */
BL_FN uint32_t bl_cbq_size(const bl_cbq *q) {
    uint32_t tail = bl_load32_relaxed(q->tail);
    return bl__ring_between(&q->ring, bl_load32_relaxed(q->head), tail);
}

#endif
