/* The Broker Work Distributor: a ring with tickets behind a broker whose answer is taken at face value.
 *
 * Kerbl et al. 2018, section 6.1. The broker (parts/broker.h) admits a push when there is room, or will be once those who were admitted before have
 * finished; a pop likewise. Who is admitted draws a position and goes to its slot (parts/ring.h), where the other side of that
 * position is, was, or will soon be. The Broker Queue, broker.h, is built on this.
 *
 *     the broker: count, tail, head     then capacity slots: turn | payload
 *
 * Anyone may call anything, lanes of one warp too. Blocking: a thread that stops after it was admitted stops whoever draws its position.
 * Not linearizable: the count runs ahead of the ring, so EMPTY and FULL may be said while the ring never was empty or full. For distributing work
 * that is enough: EMPTY means that everything which is there, or on its way, has found a taker.
 *
 * Order pairs: R1 to R4 of parts/ring.h.
 */
#ifndef BALLAST_QUEUES_BWD_H
#define BALLAST_QUEUES_BWD_H

#include "../parts/broker.h"
#include "../parts/ring.h"
#include "contract.h"

#define bwd_TEXT "broker work distributor (Kerbl et al. 2018, section 6.1)"
#define bwd_KIND BL_KIND_FIFO
#define bwd_FLAGS                                                                                                      \
    (BL_BOUNDED | BL_STATIC_MEMORY | BL_BATCHED | BL_FAIR | BL_ALL_PARADIGMS | BL_MULTI_QUEUE | BL_ORDERS_MEMORY)
#define bwd_PROGRESS "blocking"
#define bwd_BY_HANDLE 0
#define bwd_PER_THREAD 0
#define bwd_LEAST 1u
#define bwd_MOST_THREADS BL__BROKER_MOST_THREADS
#define bwd_DEVICES "cpu cuda sim"

typedef struct bwd {
    bl__broker broker;
    bl__ring ring;
} bwd;

BL_HOST_FN size_t bwd_bytes(bl_shape shape) { return BL__BROKER_BYTES + bl__ring_bytes(shape.capacity, shape.words); }

BL_FN void bwd_bind(bwd *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    bl__broker_bind(&q->broker, memory, shape.capacity);
    bl__ring_bind(&q->ring, (unsigned char *)memory + BL__BROKER_BYTES, shape.capacity, shape.words);
}

BL_FN void bwd_init(bwd *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__broker_init(&q->broker, start, rank);
    bl__ring_init(&q->ring, start, rank, size);
}

BL_FN uint32_t bwd_push_n(bwd *q, const uint32_t *items, uint32_t n) {
    n = bl__broker_admit_pushes(&q->broker, n);
    if (n)
        bl__ring_put(&q->ring, bl_fetch_add32_relaxed(q->broker.tail, n), items, n);
    return n;
}
BL_FN uint32_t bwd_pop_n(bwd *q, uint32_t *items, uint32_t n) {
    n = bl__broker_admit_pops(&q->broker, n);
    if (n)
        bl__ring_get(&q->ring, bl_fetch_add32_relaxed(q->broker.head, n), items, n);
    return n;
}
BL_FN uint32_t bwd_steal_n(bwd *q, uint32_t *items, uint32_t n) { return bwd_pop_n(q, items, n); }

/* Single ones are written out: a compiler for GPUs makes one fetch-and-add of those of a warp only where it sees that each adds the same. */
BL_FN bl_outcome bwd_push(bwd *q, const uint32_t *item) {
    if (!bl__broker_admit_pushes(&q->broker, 1))
        return BL_FULL;
    bl__ring_put(&q->ring, bl_fetch_add32_relaxed(q->broker.tail, 1), item, 1);
    return BL_DONE;
}
BL_FN bl_outcome bwd_pop(bwd *q, uint32_t *item) {
    if (!bl__broker_admit_pops(&q->broker, 1))
        return BL_EMPTY;
    bl__ring_get(&q->ring, bl_fetch_add32_relaxed(q->broker.head, 1), item, 1);
    return BL_DONE;
}
BL_FN bl_outcome bwd_steal(bwd *q, uint32_t *item) { return bwd_pop(q, item); }

BL_FN uint32_t bwd_size(const bwd *q) { return bl__broker_size(&q->broker); }

#endif
