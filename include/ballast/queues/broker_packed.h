/* The Broker Queue for 32-bit values, ticket and value in one word.
 *
 * Kerbl et al. 2018, Algorithm 1, see broker.h; the slots are those of bwd_packed.h, and so are the reasons and the
 * limits: it orders no other memory.
 *
 *     the broker (parts/broker_counter.h), then capacity slots of 64 bits
 *
 * Anyone may call anything. Blocking, linearizable. Linearization: push at the draw from tail, pop at the later of its
 * own draw from head and the draw from tail of the same position; EMPTY and FULL at the second read of
 * bl__broker_empty, bl__broker_full. Order pairs: D1 with E1, D2 with F1, as in broker.h; none else.
 */
#ifndef BL_QUEUES_BROKER_PACKED_H
#define BL_QUEUES_BROKER_PACKED_H

#include "bwd_packed.h"

#define bl_broker_packed_TEXT "broker for 32-bit values, ticket and value in one word"
#define bl_broker_packed_KIND BL_QUEUE_KIND_FIFO
#define bl_broker_packed_FLAGS                                                                                         \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_FAIR | BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE)
#define bl_broker_packed_PROGRESS "blocking"
#define bl_broker_packed_BY_HANDLE 1
#define bl_broker_packed_PER_THREAD 0
#define bl_broker_packed_LEAST 2u
#define bl_broker_packed_MOST_THREADS BL__BROKER_MOST_THREADS
#define bl_broker_packed_DEVICES "cpu cuda sim"

typedef bl_bwd_packed bl_broker_packed;

BL_HOST_FN size_t bl_broker_packed_bytes(bl_shape shape) { return bl_bwd_packed_bytes(shape); }
BL_FN void bl_broker_packed_bind(bl_broker_packed *q, void *memory, bl_shape shape, uint32_t thread) {
    bl_bwd_packed_bind(q, memory, shape, thread);
}
BL_FN void bl_broker_packed_init(bl_broker_packed *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl_bwd_packed_init(q, start, rank, size);
}

/* Admitted: draw n positions and go to each. */
BL_FN void bl_broker_packed_put(bl_broker_packed *q, const uint32_t *items, uint32_t n) {
    uint32_t p = bl_fetch_add32_release(q->broker.tail, n); /* D2 */
    for (uint32_t i = 0; i < n; i++)
        bl__packed_put(q->slots, q->mask, p + i, items[i]);
}
BL_FN void bl_broker_packed_get(bl_broker_packed *q, uint32_t *items, uint32_t n) {
    uint32_t p = bl_fetch_add32_release(q->broker.head, n); /* D1 */
    for (uint32_t i = 0; i < n; i++)
        items[i] = bl__packed_take(q->slots, q->mask, p + i);
}

#define BL_BROKERED bl_broker_packed
#include "template/brokered.inc.h"
#undef BL_BROKERED

#endif
