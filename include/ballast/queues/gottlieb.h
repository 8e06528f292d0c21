/* The queue of Gottlieb, Lubachevsky and Rudolph: tickets for a ring, and two counters that say whether to take one.
 *
 * Gottlieb, Lubachevsky and Rudolph 1983 (GQ in Kerbl et al. 2018). Besides head and tail there are two bounds of the
 * number of items: one counts them only between the end of their push and the beginning of their pop (too few), the
 * other from the beginning of their push to the end of their pop (too many). A pop takes from the first, a push from
 * what the second leaves free, by test, decrement, retest (parts/reserve.h); a thread that gets nothing says EMPTY or
 * FULL. A thread that gets something takes a ticket, which nobody can take away, and finds its slot ready but for
 * operations that began before and are not over yet.
 *
 *     apart from each other: head; tail; items, the lower bound; room, capacity - the upper bound
 *     Then the ring (parts/ring.h)
 *
 * Anyone may call anything. Blocking: a thread that stops with a ticket stops the one that has the same slot next, and
 * what it has reserved is lost to the others. A ticket's partner has its ticket already: pops reserved <= pushes ended
 * <= tickets of the tail, pushes reserved <= capacity + pops ended. So nobody waits for an operation that has not
 * begun.
 *
 * Not linearizable, and EMPTY and FULL are not exact: they can be reported although items (room) were there all the
 * time.
 *   - Items 1 and 2 are pushed, 1 still under way and 2 DONE. The counter is 1; a pop takes the ticket of 1 and waits.
 *     Another pop says EMPTY, with 2 in the queue.
 *   - Two pops test 1, both decrement, the second is at -1; before it gives back, a push is DONE (0), and a third pop
 *     says EMPTY.
 * Items come out in the order of their tickets; at rest both counters are exact.
 *
 * Order pairs: those of the ring. Counters and tickets carry no data: relaxed.
 *
 * Differences from the paper: the upper bound is stored as room, so that one function serves both ends; a turn word per
 * slot instead of two semaphores, so that the k-th push and pop of a slot alternate in the order of their tickets;
 * batches, one fetch-and-add for n, of which 1024 at most are taken at a time.
 */
#ifndef BL_QUEUES_GOTTLIEB_H
#define BL_QUEUES_GOTTLIEB_H

#include "../parts/reserve.h"
#include "../parts/ring.h"
#include "contract.h"

#define bl_gottlieb_TEXT "ring with tickets and two bounds of its length (Gottlieb, Lubachevsky, Rudolph 1983)"
#define bl_gottlieb_KIND BL_QUEUE_KIND_FIFO
#define bl_gottlieb_FLAGS                                                                                              \
    (BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED | BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE |    \
     BL_QUEUE_ORDERS_MEMORY)
#define bl_gottlieb_PROGRESS "blocking"
#define bl_gottlieb_BY_HANDLE 0
#define bl_gottlieb_PER_THREAD 0
#define bl_gottlieb_LEAST 1u
#define bl_gottlieb_MOST_THREADS BL__RESERVE_THREADS
#define bl_gottlieb_DEVICES "cpu cuda sim"

typedef struct bl_gottlieb {
    uint32_t *head, *tail, *items, *room;
    bl__ring ring;
} bl_gottlieb;

BL_HOST_FN size_t bl_gottlieb_bytes(bl_shape shape) {
    return 4 * BL_APART + bl__ring_bytes(shape.capacity, shape.words);
}

BL_FN void bl_gottlieb_bind(bl_gottlieb *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint32_t *)bl__queue_apart(memory, 0);
    q->tail = (uint32_t *)bl__queue_apart(memory, 1);
    q->items = (uint32_t *)bl__queue_apart(memory, 2);
    q->room = (uint32_t *)bl__queue_apart(memory, 3);
    bl__ring_bind(&q->ring, bl__queue_apart(memory, 4), shape.capacity, shape.words);
}

BL_FN void bl_gottlieb_init(bl_gottlieb *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__ring_init(&q->ring, start, rank, size);
    if (rank == 0) {
        bl_store32_relaxed(q->head, start);
        bl_store32_relaxed(q->tail, start);
        bl_store32_relaxed(q->items, 0);
        bl_store32_relaxed(q->room, q->ring.mask + 1);
    }
}

BL_FN uint32_t bl_gottlieb_push_n(bl_gottlieb *q, const uint32_t *items, uint32_t n) {
    n = bl__reserve(q->room, n);
    if (n == 0)
        return 0;
    bl__ring_put(&q->ring, bl_fetch_add32_relaxed(q->tail, n), items, n);
    bl_fetch_add32_relaxed(q->items, n);
    return n;
}
BL_FN uint32_t bl_gottlieb_pop_n(bl_gottlieb *q, uint32_t *items, uint32_t n) {
    n = bl__reserve(q->items, n);
    if (n == 0)
        return 0;
    bl__ring_get(&q->ring, bl_fetch_add32_relaxed(q->head, n), items, n);
    bl_fetch_add32_relaxed(q->room, n);
    return n;
}

BL_FN bl_outcome bl_gottlieb_push(bl_gottlieb *q, const uint32_t *item) {
    if (!bl__reserve_one(q->room))
        return BL_QUEUE_FULL;
    bl__ring_put(&q->ring, bl_fetch_add32_relaxed(q->tail, 1), item, 1);
    bl_fetch_add32_relaxed(q->items, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_gottlieb_pop(bl_gottlieb *q, uint32_t *item) {
    if (!bl__reserve_one(q->items))
        return BL_QUEUE_EMPTY;
    bl__ring_get(&q->ring, bl_fetch_add32_relaxed(q->head, 1), item, 1);
    bl_fetch_add32_relaxed(q->room, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_gottlieb_steal(bl_gottlieb *q, uint32_t *item) { return bl_gottlieb_pop(q, item); }
BL_FN uint32_t bl_gottlieb_steal_n(bl_gottlieb *q, uint32_t *items, uint32_t n) {
    return bl_gottlieb_pop_n(q, items, n);
}

/* What a pop would go by. */
BL_FN uint32_t bl_gottlieb_size(const bl_gottlieb *q) {
    int32_t items = (int32_t)bl_load32_relaxed(q->items);
    return items > 0 ? (uint32_t)items : 0;
}

#endif
