/* The Broker Queue for 32-bit values, ticket and value in one word.
 *
 * Kerbl et al. 2018, Algorithm 1, see broker.h; the slots are those of bwd_packed.h, and so are the reasons and the limits: it orders no other
 * memory.
 *
 *     the broker (parts/broker.h), then capacity slots of 64 bits
 *
 * Anyone may call anything. Blocking, linearizable. Linearization: push at the draw from tail, pop at the later of its own draw from head and
 * the draw from tail of the same position; EMPTY and FULL at the second read of bl__broker_empty, bl__broker_full.
 * Order pairs: D1 with E1, D2 with F1, as in broker.h; none else.
 */
#ifndef BALLAST_QUEUES_BROKER_PACKED_H
#define BALLAST_QUEUES_BROKER_PACKED_H

#include "bwd_packed.h"

#define broker_packed_TEXT "broker for 32-bit values, ticket and value in one word"
#define broker_packed_KIND BL_KIND_FIFO
#define broker_packed_FLAGS                                                                                            \
    (BL_LINEARIZABLE | BL_EXACT_EMPTY | BL_EXACT_FULL | BL_BOUNDED | BL_STATIC_MEMORY | BL_BATCHED | BL_FAIR |         \
     BL_ALL_PARADIGMS | BL_MULTI_QUEUE)
#define broker_packed_PROGRESS "blocking"
#define broker_packed_BY_HANDLE 1
#define broker_packed_PER_THREAD 0
#define broker_packed_LEAST 2u
#define broker_packed_MOST_THREADS BL__BROKER_MOST_THREADS
#define broker_packed_DEVICES "cpu cuda sim"

typedef bwd_packed broker_packed;

BL_HOST_FN size_t broker_packed_bytes(bl_shape shape) { return bwd_packed_bytes(shape); }
BL_FN void broker_packed_bind(broker_packed *q, void *memory, bl_shape shape, uint32_t thread) {
    bwd_packed_bind(q, memory, shape, thread);
}
BL_FN void broker_packed_init(broker_packed *q, uint32_t start, uint32_t rank, uint32_t size) {
    bwd_packed_init(q, start, rank, size);
}

/* Admitted: draw n positions and go to each. */
BL_FN void broker_packed_put(broker_packed *q, const uint32_t *items, uint32_t n) {
    uint32_t p = bl_fetch_add32_release(q->broker.tail, n); /* D2 */
    for (uint32_t i = 0; i < n; i++)
        bl__packed_put(q->slots, q->mask, p + i, items[i]);
}
BL_FN void broker_packed_get(broker_packed *q, uint32_t *items, uint32_t n) {
    uint32_t p = bl_fetch_add32_release(q->broker.head, n); /* D1 */
    for (uint32_t i = 0; i < n; i++)
        items[i] = bl__packed_take(q->slots, q->mask, p + i);
}

#define BL_BROKERED broker_packed
#include "template/brokered.h"
#undef BL_BROKERED

#endif
