/* The ring of Shann, Huang and Chen as published in 2000: WRONG, and kept as a witness that tests the checks.
 *
 * queues/shann.h is the corrected form and describes layout and idea; only the order of reads differs. Here an
 * operation reads its end, the slot, its end again, and only then the other end for FULL or EMPTY. So what it concludes
 * from the slot was true before it knew that the ring was not full or empty. Colvin and Groves (2005) found the error
 * when they tried to prove the algorithm.
 *
 * A pop that loses an item, on an empty ring with head = tail = h:
 *     pop:   head is h; slot h is empty; head is still h
 *     push:  all of it: slot h is filled, tail is h + 1
 *     pop:   tail is h + 1, so not EMPTY; the slot was empty, so another pop must have taken item h and not yet
 *            moved head: head becomes h + 1
 *     pop:   head is tail: EMPTY, and the item is lost, until tail comes round and takes it for a new one
 *
 * A push that leaves a hole, on a full ring with tail = t:
 *     push:  tail is t; slot t is filled, by the oldest item; tail is still t
 *     pop:   all of it: the slot is empty, and head has left room
 *     push:  not FULL; the slot was filled, so another push must have stored item t and not yet moved tail:
 *            tail becomes t + 1
 *     push:  FULL, with one item less than fit; and a push that saw slot t empty in between may still store its item in
 *            the hole, ahead of older items, or behind head, where it is lost as above
 *
 * The build does not discover it, since it is not in queues/. tests/test_witness_sim.c shows both.
 */
#ifndef BALLAST_VERIFY_SHANN_PUBLISHED_H
#define BALLAST_VERIFY_SHANN_PUBLISHED_H

#include <ballast/queues/shann.h>

#define bl_shann_published_TEXT "lock-free ring of counted slots, not corrected (Shann, Huang, Chen 2000)"
#define bl_shann_published_KIND BL_QUEUE_KIND_FIFO
#define bl_shann_published_FLAGS bl_shann_FLAGS /* what the paper claims */
#define bl_shann_published_PROGRESS bl_shann_PROGRESS
#define bl_shann_published_BY_HANDLE 1
#define bl_shann_published_PER_THREAD 0
#define bl_shann_published_LEAST bl_shann_LEAST
#define bl_shann_published_MOST_THREADS bl_shann_MOST_THREADS
#define bl_shann_published_DEVICES bl_shann_DEVICES

typedef bl_shann bl_shann_published;

BL_HOST_FN size_t bl_shann_published_bytes(bl_shape shape) { return bl_shann_bytes(shape); }
BL_FN void bl_shann_published_bind(bl_shann_published *q, void *memory, bl_shape shape, uint32_t thread) {
    bl_shann_bind(q, memory, shape, thread);
}
BL_FN void bl_shann_published_init(bl_shann_published *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl_shann_init(q, start, rank, size);
}
BL_FN uint32_t bl_shann_published_size(const bl_shann_published *q) { return bl_shann_size(q); }

BL_FN bl_outcome bl_shann_published_push(bl_shann_published *q, const uint32_t *item) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint32_t tail = bl_load32_acquire(q->tail);
        uint64_t *at = q->slots + (tail & q->mask), slot = bl_load64_acquire(at);
        if (bl_load32_acquire(q->tail) != tail)
            continue;
        if (tail - bl_load32_acquire(q->head) == q->mask + 1) /* too late: the slot is from before */
            return BL_QUEUE_FULL;
        bool filled = bl_shann_filled(slot),
             done = !filled && bl_cas64_release(at, &slot, bl_shann_changed(slot, *item));
        if (done || filled)
            bl_cas32_release(q->tail, &tail, tail + 1);
        if (done)
            return BL_QUEUE_DONE;
    }
}

BL_FN bl_outcome bl_shann_published_pop(bl_shann_published *q, uint32_t *item) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint32_t head = bl_load32_acquire(q->head);
        uint64_t *at = q->slots + (head & q->mask), slot = bl_load64_acquire(at);
        if (bl_load32_acquire(q->head) != head)
            continue;
        if (bl_load32_acquire(q->tail) == head) /* too late: the slot is from before */
            return BL_QUEUE_EMPTY;
        uint32_t value = (uint32_t)slot;
        bool filled = bl_shann_filled(slot), done = filled && bl_cas64_release(at, &slot, bl_shann_changed(slot, 0));
        if (done || !filled)
            bl_cas32_release(q->head, &head, head + 1);
        if (done) {
            *item = value;
            return BL_QUEUE_DONE;
        }
    }
}

#define BL_SINGLY bl_shann_published
#include <ballast/queues/template/singly.inc.h>
#undef BL_SINGLY

#endif
