/* The Broker Work Distributor: a ring with tickets behind a broker whose answer is taken at face value.
 *
 * Kerbl et al. 2018, section 6.1. The broker (parts/broker_counter.h) admits a push when there is room, or will be once
 * those admitted before have finished; a pop likewise. An admitted operation draws a position and goes to its slot
 * (parts/ring.h), where the other side of that position is, was, or will soon be. The Broker Queue, broker.h, is built
 * on this.
 *
 *     the broker: count, tail, head     then capacity slots: turn | payload
 *
 * Anyone may call anything, lanes of one warp too. Blocking: a thread that stops after it was admitted stops the
 * thread that draws its position. Not linearizable: the count runs ahead of the ring, so EMPTY and FULL may be said
 * while the ring never was empty or full. For distributing work that is enough: EMPTY means that everything which is
 * there, or on its way, has found a taker.
 *
 * Order pairs: R1 to R4 of parts/ring.h.
 */
#ifndef BL_QUEUES_BWD_H
#define BL_QUEUES_BWD_H

#include "../parts/broker_counter.h"
#include "../parts/ring.h"
#include "contract.h"

#define bl_bwd_TEXT "broker work distributor (Kerbl et al. 2018, section 6.1)"
#define bl_bwd_KIND BL_QUEUE_KIND_FIFO
#define bl_bwd_FLAGS                                                                                                   \
    (BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED | BL_QUEUE_FAIR | BL_QUEUE_ALL_PARADIGMS |           \
     BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_bwd_PROGRESS "blocking"
#define bl_bwd_BY_HANDLE 0
#define bl_bwd_PER_THREAD 0
#define bl_bwd_LEAST 1u
#define bl_bwd_MOST_THREADS BL__BROKER_MOST_THREADS
#define bl_bwd_DEVICES "cpu cuda sim"
#define bl_bwd_DRAWS 1

typedef struct bl_bwd {
    bl__broker broker;
    bl__ring ring;
} bl_bwd;

BL_HOST_FN size_t bl_bwd_bytes(bl_shape shape) {
    return BL__BROKER_BYTES + bl__ring_bytes(shape.capacity, shape.words);
}

BL_FN void bl_bwd_bind(bl_bwd *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    bl__broker_bind(&q->broker, memory, shape.capacity);
    bl__ring_bind(&q->ring, (unsigned char *)memory + BL__BROKER_BYTES, shape.capacity, shape.words);
}

BL_FN void bl_bwd_init(bl_bwd *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__broker_init(&q->broker, start, rank);
    bl__ring_init(&q->ring, start, rank, size);
}

/* Up to n positions, from *first on; how many. Every position drawn must be used, by this lane or its sisters. */
BL_FN uint32_t bl_bwd_draw_pushes(bl_bwd *q, uint32_t n, uint32_t *first) {
    n = bl__broker_admit_pushes(&q->broker, n);
    if (n)
        *first = bl_fetch_add32_relaxed(q->broker.tail, n);
    return n;
}
BL_FN uint32_t bl_bwd_draw_pops(bl_bwd *q, uint32_t n, uint32_t *first) {
    n = bl__broker_admit_pops(&q->broker, n);
    if (n)
        *first = bl_fetch_add32_relaxed(q->broker.head, n);
    return n;
}
BL_FN void bl_bwd_put_at(bl_bwd *q, uint32_t position, const uint32_t *item) {
    bl__ring_put(&q->ring, position, item, 1);
}
BL_FN void bl_bwd_get_at(bl_bwd *q, uint32_t position, uint32_t *item) { bl__ring_get(&q->ring, position, item, 1); }

BL_FN uint32_t bl_bwd_push_n(bl_bwd *q, const uint32_t *items, uint32_t n) {
    uint32_t first = 0;
    n = bl_bwd_draw_pushes(q, n, &first);
    bl__ring_put(&q->ring, first, items, n);
    return n;
}
BL_FN uint32_t bl_bwd_pop_n(bl_bwd *q, uint32_t *items, uint32_t n) {
    uint32_t first = 0;
    n = bl_bwd_draw_pops(q, n, &first);
    bl__ring_get(&q->ring, first, items, n);
    return n;
}
BL_FN uint32_t bl_bwd_steal_n(bl_bwd *q, uint32_t *items, uint32_t n) { return bl_bwd_pop_n(q, items, n); }

/* Single ones are written out: a compiler for GPUs makes one fetch-and-add of those of a warp only where it sees
 * that each adds the same. */
BL_FN bl_outcome bl_bwd_push(bl_bwd *q, const uint32_t *item) {
    if (!bl__broker_admit_pushes(&q->broker, 1))
        return BL_QUEUE_FULL;
    bl__ring_put(&q->ring, bl_fetch_add32_relaxed(q->broker.tail, 1), item, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_bwd_pop(bl_bwd *q, uint32_t *item) {
    if (!bl__broker_admit_pops(&q->broker, 1))
        return BL_QUEUE_EMPTY;
    bl__ring_get(&q->ring, bl_fetch_add32_relaxed(q->broker.head, 1), item, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_bwd_steal(bl_bwd *q, uint32_t *item) { return bl_bwd_pop(q, item); }

BL_FN uint32_t bl_bwd_size(const bl_bwd *q) { return bl__broker_size(&q->broker); }

#endif
