/* High-throughput queue: the ring of cbq with two counters that keep it from waiting when it is empty or full.
 *
 * Orozco, Garcia, Khan, Livingston and Gao 2012 (HTQ in Kerbl et al. 2018, which says of it: cbq with the two counters
 * of gottlieb again). One counter has what readers may still ask for, the other what writers may. Each takes from its
 * own (parts/reserve.h), takes a ticket, at once gives the same number to the other side's counter, and only then goes
 * to its slots, where it waits for the operations that have them before.
 *
 *     apart from each other: head; tail; items, for readers; room, for writers
 *     Then the ring (parts/ring.h)
 *
 * The difference from gottlieb is when the other side is told: gottlieb does so at the end, here it happens before the
 * copying. So an item can be asked for while it is being written, and its pop waits at the slot for as long as a push
 * takes, where gottlieb says EMPTY (of its two examples of a false EMPTY the first is gone, the second remains). With
 * long items and a queue that is nearly empty or full more operations succeed and fewer come back in vain.
 *
 * Anyone may call anything. Blocking: a thread that stops between its ticket and its turn stops the one that waits for
 * it. A ticket's partner has its ticket already: pops reserved <= tickets of the tail, pushes reserved <= capacity +
 * tickets of the head. So nobody waits for an operation that has not begun.
 * Not linearizable, and EMPTY and FULL are not exact, by design: debts of others hide what is there. At rest both
 * counters are exact.
 *
 * Order pairs: those of the ring. Counters and tickets carry no data: relaxed.
 *
 * Differences from the paper: written from its description in Kerbl et al. 2018, so where exactly it changes its
 * counters is our decision; batches, one fetch-and-add for n, of which 1024 at most are taken at a time.
 */
#ifndef BL_QUEUES_HTQ_H
#define BL_QUEUES_HTQ_H

#include "gottlieb.h"

#define bl_htq_TEXT "ring with tickets and a count for either side (Orozco et al. 2012)"
#define bl_htq_KIND BL_QUEUE_KIND_FIFO
#define bl_htq_FLAGS                                                                                                   \
    (BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED | BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE |    \
     BL_QUEUE_ORDERS_MEMORY)
#define bl_htq_PROGRESS "blocking"
#define bl_htq_BY_HANDLE 0
#define bl_htq_PER_THREAD 0
#define bl_htq_LEAST 1u
#define bl_htq_MOST_THREADS BL__RESERVE_THREADS
#define bl_htq_DEVICES "cpu cuda sim"

typedef bl_gottlieb bl_htq; /* the same words, changed at other moments */

BL_HOST_FN size_t bl_htq_bytes(bl_shape shape) { return bl_gottlieb_bytes(shape); }
BL_FN void bl_htq_bind(bl_htq *q, void *memory, bl_shape shape, uint32_t thread) {
    bl_gottlieb_bind(q, memory, shape, thread);
}
BL_FN void bl_htq_init(bl_htq *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl_gottlieb_init(q, start, rank, size);
}

BL_FN uint32_t bl_htq_push_n(bl_htq *q, const uint32_t *items, uint32_t n) {
    n = bl__reserve(q->room, n);
    if (n == 0)
        return 0;
    uint32_t p = bl_fetch_add32_relaxed(q->tail, n);
    bl_fetch_add32_relaxed(q->items, n);
    bl__ring_put(&q->ring, p, items, n);
    return n;
}
BL_FN uint32_t bl_htq_pop_n(bl_htq *q, uint32_t *items, uint32_t n) {
    n = bl__reserve(q->items, n);
    if (n == 0)
        return 0;
    uint32_t p = bl_fetch_add32_relaxed(q->head, n);
    bl_fetch_add32_relaxed(q->room, n);
    bl__ring_get(&q->ring, p, items, n);
    return n;
}

BL_FN bl_outcome bl_htq_push(bl_htq *q, const uint32_t *item) {
    if (!bl__reserve_one(q->room))
        return BL_QUEUE_FULL;
    uint32_t p = bl_fetch_add32_relaxed(q->tail, 1);
    bl_fetch_add32_relaxed(q->items, 1);
    bl__ring_put(&q->ring, p, item, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_htq_pop(bl_htq *q, uint32_t *item) {
    if (!bl__reserve_one(q->items))
        return BL_QUEUE_EMPTY;
    uint32_t p = bl_fetch_add32_relaxed(q->head, 1);
    bl_fetch_add32_relaxed(q->room, 1);
    bl__ring_get(&q->ring, p, item, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_htq_steal(bl_htq *q, uint32_t *item) { return bl_htq_pop(q, item); }
BL_FN uint32_t bl_htq_steal_n(bl_htq *q, uint32_t *items, uint32_t n) { return bl_htq_pop_n(q, items, n); }

BL_FN uint32_t bl_htq_size(const bl_htq *q) { return bl_gottlieb_size(q); }

#endif
