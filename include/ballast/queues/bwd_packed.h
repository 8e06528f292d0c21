/* The Broker Work Distributor for 32-bit values, ticket and value in one word.
 *
 * Kerbl et al. 2018, section 6.1: the broker's answer taken at face value, see bwd.h. Where an item is one word that
 * stands for itself, ticket and value share a slot (parts/packed_ring.h): one relaxed store publishes both, no fence is
 * needed, and the reader has the value when it sees the ticket. On a GPU that is the fastest form. It orders no other
 * memory: a value that is an index of something written before the push needs `bwd`.
 *
 *     the broker (parts/broker_counter.h), then capacity slots of 64 bits
 *
 * Anyone may call anything. Blocking: a thread that stops after it was admitted stops the thread that drew its
 * position. Not linearizable: EMPTY and FULL are what the count says, which runs ahead of the ring.
 */
#ifndef BL_QUEUES_BWD_PACKED_H
#define BL_QUEUES_BWD_PACKED_H

#include "../parts/broker_counter.h"
#include "../parts/packed_ring.h"
#include "contract.h"

#define bl_bwd_packed_TEXT "bwd for 32-bit values, ticket and value in one word"
#define bl_bwd_packed_KIND BL_QUEUE_KIND_FIFO
#define bl_bwd_packed_FLAGS                                                                                            \
    (BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED | BL_QUEUE_FAIR | BL_QUEUE_ALL_PARADIGMS |           \
     BL_QUEUE_MULTI_QUEUE)
#define bl_bwd_packed_PROGRESS "blocking"
#define bl_bwd_packed_BY_HANDLE 1
#define bl_bwd_packed_PER_THREAD 0
#define bl_bwd_packed_LEAST 2u
#define bl_bwd_packed_MOST_THREADS BL__BROKER_MOST_THREADS
#define bl_bwd_packed_DEVICES "cpu cuda sim"

typedef struct bl_bwd_packed {
    bl__broker broker;
    uint64_t *slots;
    uint32_t mask, words;
} bl_bwd_packed;

BL_HOST_FN size_t bl_bwd_packed_bytes(bl_shape shape) { return BL__BROKER_BYTES + 8u * (size_t)shape.capacity; }

BL_FN void bl_bwd_packed_bind(bl_bwd_packed *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    bl__broker_bind(&q->broker, memory, shape.capacity);
    q->slots = (uint64_t *)bl__queue_apart(memory, 3);
    q->mask = shape.capacity - 1;
    q->words = 1;
}

BL_FN void bl_bwd_packed_init(bl_bwd_packed *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__broker_init(&q->broker, start, rank);
    bl__packed_init(q->slots, q->mask, start, rank, size);
}

BL_FN uint32_t bl_bwd_packed_push_n(bl_bwd_packed *q, const uint32_t *items, uint32_t n) {
    n = bl__broker_admit_pushes(&q->broker, n);
    uint32_t p = n ? bl_fetch_add32_relaxed(q->broker.tail, n) : 0;
    for (uint32_t i = 0; i < n; i++)
        bl__packed_put(q->slots, q->mask, p + i, items[i]);
    return n;
}
BL_FN uint32_t bl_bwd_packed_pop_n(bl_bwd_packed *q, uint32_t *items, uint32_t n) {
    n = bl__broker_admit_pops(&q->broker, n);
    uint32_t p = n ? bl_fetch_add32_relaxed(q->broker.head, n) : 0;
    for (uint32_t i = 0; i < n; i++)
        items[i] = bl__packed_take(q->slots, q->mask, p + i);
    return n;
}
BL_FN uint32_t bl_bwd_packed_steal_n(bl_bwd_packed *q, uint32_t *items, uint32_t n) {
    return bl_bwd_packed_pop_n(q, items, n);
}

/* Single ones are written out: a compiler for GPUs makes one fetch-and-add of those of a warp only where it sees
 * that each adds the same. */
BL_FN bl_outcome bl_bwd_packed_push(bl_bwd_packed *q, const uint32_t *item) {
    if (!bl__broker_admit_pushes(&q->broker, 1))
        return BL_QUEUE_FULL;
    bl__packed_put(q->slots, q->mask, bl_fetch_add32_relaxed(q->broker.tail, 1), *item);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_bwd_packed_pop(bl_bwd_packed *q, uint32_t *item) {
    if (!bl__broker_admit_pops(&q->broker, 1))
        return BL_QUEUE_EMPTY;
    *item = bl__packed_take(q->slots, q->mask, bl_fetch_add32_relaxed(q->broker.head, 1));
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_bwd_packed_steal(bl_bwd_packed *q, uint32_t *item) { return bl_bwd_packed_pop(q, item); }

BL_FN uint32_t bl_bwd_packed_size(const bl_bwd_packed *q) { return bl__broker_size(&q->broker); }

#endif
