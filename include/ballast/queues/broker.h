/* The Broker Queue: a ring with tickets behind a broker, linearizable.
 *
 * Kerbl et al. 2018, Algorithm 1. It is the Broker Work Distributor (bwd.h has the layout) with one more promise: a
 * refusal by the broker counts only when the ring itself is seen full, or empty. Until then it is due to operations
 * under way, and the refused one asks again.
 *
 * Anyone may call anything, lanes of one warp too. Blocking: a thread that stops after it was admitted stops the
 * thread that draws its position, and keeps others from seeing full or empty. An operation never waits for work, only
 * for operations that have begun. Linearization: push at its draw from tail; pop at the later of its own draw from
 * head and the draw from tail of the same position; EMPTY and FULL at the second read of bl__broker_empty,
 * bl__broker_full.
 *
 * Order pairs: R1 to R4 of parts/ring.h, and
 *   D1 (head, release) with E1 (acquire) of parts/broker_counter.h: a thread that sees a head sees in tail every push
 *     that came before that pop, or EMPTY would be wrong.
 *   D2 (tail, release) with F1 (acquire): a thread that sees a tail sees in head every pop that came before that push,
 *     or FULL would be wrong.
 *
 * Differences from the paper: those of parts/broker_counter.h; a signed difference instead of a margin for the number
 * of threads (lines 8 and 29).
 */
#ifndef BL_QUEUES_BROKER_H
#define BL_QUEUES_BROKER_H

#include "bwd.h"

#define bl_broker_TEXT "broker queue (Kerbl et al. 2018, Algorithm 1)"
#define bl_broker_KIND BL_QUEUE_KIND_FIFO
#define bl_broker_FLAGS                                                                                                \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_FAIR | BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_broker_PROGRESS "blocking"
#define bl_broker_BY_HANDLE 0
#define bl_broker_PER_THREAD 0
#define bl_broker_LEAST 1u
#define bl_broker_MOST_THREADS BL__BROKER_MOST_THREADS
#define bl_broker_DEVICES "cpu cuda sim"
#define bl_broker_DRAWS 1

typedef bl_bwd bl_broker;

BL_HOST_FN size_t bl_broker_bytes(bl_shape shape) { return bl_bwd_bytes(shape); }
BL_FN void bl_broker_bind(bl_broker *q, void *memory, bl_shape shape, uint32_t thread) {
    bl_bwd_bind(q, memory, shape, thread);
}
BL_FN void bl_broker_init(bl_broker *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl_bwd_init(q, start, rank, size);
}

/* Admitted: draw n positions and go there. */
BL_FN void bl_broker_put(bl_broker *q, const uint32_t *items, uint32_t n) {
    bl__ring_put(&q->ring, bl_fetch_add32_release(q->broker.tail, n), items, n); /* D2 */
}
BL_FN void bl_broker_get(bl_broker *q, uint32_t *items, uint32_t n) {
    bl__ring_get(&q->ring, bl_fetch_add32_release(q->broker.head, n), items, n); /* D1 */
}

#define BL_BROKERED bl_broker
#include "template/brokered.inc.h"
#undef BL_BROKERED

/* ---- positions for the lanes of a warp ----
 *
 * One lane draws up to n positions, n > 0, from *first on, and says how many; then each lane puts an item at one of
 * them, or gets one. Every position drawn must be used, and no lane may wait for anything else before that. 0 means
 * FULL, or EMPTY. */
BL_FN uint32_t bl_broker_draw_pushes(bl_broker *q, uint32_t n, uint32_t *first) {
    uint32_t admitted;
    for (uint32_t tries = 0; !(admitted = bl__broker_admit_pushes(&q->broker, n)); tries++) {
        if (bl__broker_full(&q->broker))
            return 0;
        bl_backoff(tries);
    }
    *first = bl_fetch_add32_release(q->broker.tail, admitted); /* D2 */
    return admitted;
}
BL_FN uint32_t bl_broker_draw_pops(bl_broker *q, uint32_t n, uint32_t *first) {
    uint32_t admitted;
    for (uint32_t tries = 0; !(admitted = bl__broker_admit_pops(&q->broker, n)); tries++) {
        if (bl__broker_empty(&q->broker))
            return 0;
        bl_backoff(tries);
    }
    *first = bl_fetch_add32_release(q->broker.head, admitted); /* D1 */
    return admitted;
}
BL_FN void bl_broker_put_at(bl_broker *q, uint32_t position, const uint32_t *item) {
    bl__ring_put(&q->ring, position, item, 1);
}
BL_FN void bl_broker_get_at(bl_broker *q, uint32_t position, uint32_t *item) {
    bl__ring_get(&q->ring, position, item, 1);
}

/* ---- a slot to fill or to read in place (section 4.3) ----
 *
 * bl_broker_reserve gives a slot of `words` words, which is the caller's until bl_broker_publish; bl_broker_claim
 * gives one that holds an item, until bl_broker_release. NULL: FULL, EMPTY. The thread that draws that slot next waits
 * meanwhile, so hold it for a short time, and use no more than one lane of a warp at a time: a lane that holds a
 * slot must not wait for a sister lane. */
BL_FN uint32_t *bl_broker_await(bl_broker *q, uint32_t position, uint32_t turn) {
    uint32_t *slot = bl__ring_slot(&q->ring, position), tries = 0;
    for (uint32_t now; (now = bl_load32_acquire(slot)) != turn;) /* R3, R4 */
        bl_wait_change32(slot, now, &tries);
    return slot + 1;
}

BL_FN uint32_t *bl_broker_reserve(bl_broker *q, uint32_t *position) {
    if (!bl_broker_draw_pushes(q, 1, position))
        return NULL;
    return bl_broker_await(q, *position, bl__ring_push_turn(&q->ring, *position));
}
BL_FN void bl_broker_publish(bl_broker *q, uint32_t position) {
    bl_store32_release(bl__ring_slot(&q->ring, position), bl__ring_pop_turn(&q->ring, position)); /* R1 */
}

BL_FN const uint32_t *bl_broker_claim(bl_broker *q, uint32_t *position) {
    if (!bl_broker_draw_pops(q, 1, position))
        return NULL;
    return bl_broker_await(q, *position, bl__ring_pop_turn(&q->ring, *position));
}
BL_FN void bl_broker_release(bl_broker *q, uint32_t position) {
    bl_store32_release(bl__ring_slot(&q->ring, position), bl__ring_next_turn(&q->ring, position)); /* R2 */
}

#endif
