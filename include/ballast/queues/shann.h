/* Lock-free ring of Shann, Huang and Chen, as corrected by Colvin and Groves.
 *
 * Shann, Huang and Chen 2000; Colvin and Groves 2005 found the published form wrong (verify/witness/shann_published.h
 * has it and says why). A slot holds a value and a counter in one word. An operation changes the slot at its end by
 * compare-and-swap and then moves that end on; a thread that finds the slot changed and the end not yet moved moves it
 * for the other.
 *
 *     parts/handle_ring.h. The tag counts how often the slot was changed: odd when it holds an item, even when it is
 *     empty
 *
 *     slots   | even | odd  | odd  | even ...      item `head` may be taken already (even) when head is not moved yet,
 *                      ^ head        ^ tail        and item `tail` there already (odd)
 *
 * Anyone may call anything. Values are any 32 bits. Lock-free: an operation repeats only because another succeeded.
 * The order of reads is what was wrong: a full slot at tail means that an item was put there only if the ring was NOT
 * full when the slot was read, or it may be the item of the round before; so head is looked at first. Then the slot,
 * and then tail again: had it moved, the slot would belong to a later round. Head and tail change places for pop.
 * Linearization: push and pop when their end moves past them (T1, H1, by whichever thread does it); FULL and EMPTY at
 * the second read of the other end: the ends only move on, so the own end cannot have moved since it was read.
 * Counters repeat after 2^32 operations on one end, 2^31 on one slot: a thread would have to sleep through all of them.
 *
 * Order pairs
 *   S1 (slot cas, release) with S2 (acquire): what the handle stands for is written before the handle appears; and a
 *     thread that sees a slot of a later round sees its own end moved, because the thread that changed the slot had.
 *   H1 (head cas, release) with H2 (acquire): a thread that sees a position left sees its slot empty; and tail as far
 *     as it was then, or EMPTY would be wrong.
 *   T1 (tail cas, release) with T2 (acquire): a thread that sees a position filled sees its item; and head as far as it
 *     was then, or FULL would be wrong.
 *   X (fence, seq_cst)     with itself, in FULL and EMPTY: one thread pops two, the next finds it EMPTY, a third pushes
 *     and finds it FULL. One of the two would have to be wrong, and without the fence both looks may be old.
 *
 * Differences from the paper: the order of reads; whether a slot is empty is a bit of its counter and not a value of
 * its own.
 */
#ifndef BL_QUEUES_SHANN_H
#define BL_QUEUES_SHANN_H

#include "../parts/handle_ring.h"
#include "contract.h"

#define bl_shann_TEXT "lock-free ring of counted slots (Shann, Huang, Chen 2000; corrected by Colvin, Groves 2005)"
#define bl_shann_KIND BL_QUEUE_KIND_FIFO
#define bl_shann_FLAGS                                                                                                 \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_shann_PROGRESS "lock-free"
#define bl_shann_BY_HANDLE 1
#define bl_shann_PER_THREAD 0
#define bl_shann_LEAST 1u
#define bl_shann_MOST_THREADS UINT32_MAX
#define bl_shann_DEVICES "cpu cuda sim"

typedef bl__handle_ring bl_shann;

BL_HOST_FN size_t bl_shann_bytes(bl_shape shape) { return bl__handle_ring_bytes(shape.capacity); }

BL_FN void bl_shann_bind(bl_shann *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    bl__handle_ring_bind(q, memory, shape.capacity);
}

BL_FN bool bl_shann_filled(uint64_t slot) { return (slot >> 32 & 1) != 0; }
/* The slot with another value, or 0 for none, counted. */
BL_FN uint64_t bl_shann_changed(uint64_t slot, uint32_t value) { return bl_bump(slot >> 32) << 32 | value; }

BL_FN void bl_shann_init(bl_shann *q, uint32_t start, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i <= q->mask; i += size)
        bl_store64_relaxed(q->slots + i, (uint64_t)(start & ~1u) << 32);
    if (rank == 0) {
        bl_store32_relaxed(q->head, start);
        bl_store32_relaxed(q->tail, start);
    }
}

/* Whether the other end stands at `position`, for FULL and EMPTY. */
BL_FN bool bl_shann_stands(const uint32_t *end, uint32_t position) {
    if (bl_load32_acquire(end) != position) /* H2, T2 */
        return false;
    bl_fence_seq_cst();                        /* X */
    return bl_load32_acquire(end) == position; /* H2, T2 */
}

BL_FN bl_outcome bl_shann_push(bl_shann *q, const uint32_t *item) {
    for (uint32_t tries = 0;;) {
        uint32_t tail = bl_load32_acquire(q->tail); /* T2 */
        if (bl_shann_stands(q->head, tail - q->mask - 1))
            return BL_QUEUE_FULL;
        uint64_t *at = q->slots + (tail & q->mask), slot = bl_load64_acquire(at); /* S2 */
        if (bl_load32_relaxed(q->tail) == tail) {
            bool done = !bl_shann_filled(slot) && bl_cas64_release(at, &slot, bl_shann_changed(slot, *item)); /* S1 */
            bool moved = (done || bl_shann_filled(slot)) && bl_cas32_release(q->tail, &tail, tail + 1);       /* T1 */
            if (done)
                return BL_QUEUE_DONE;
            if (moved) /* for somebody else: now it is our turn */
                continue;
        }
        bl_backoff(tries++); /* others were faster */
    }
}

BL_FN bl_outcome bl_shann_pop(bl_shann *q, uint32_t *item) {
    for (uint32_t tries = 0;;) {
        uint32_t head = bl_load32_acquire(q->head); /* H2 */
        if (bl_shann_stands(q->tail, head))
            return BL_QUEUE_EMPTY;
        uint64_t *at = q->slots + (head & q->mask), slot = bl_load64_acquire(at); /* S2 */
        if (bl_load32_relaxed(q->head) == head) {
            uint32_t value = (uint32_t)slot;
            bool done = bl_shann_filled(slot) && bl_cas64_release(at, &slot, bl_shann_changed(slot, 0)); /* S1 */
            bool moved = (done || !bl_shann_filled(slot)) && bl_cas32_release(q->head, &head, head + 1); /* H1 */
            if (done) {
                *item = value;
                return BL_QUEUE_DONE;
            }
            if (moved)
                continue;
        }
        bl_backoff(tries++);
    }
}

/* Tail first: a thread that loses its core in between finds too few, never more than there ever were. */
BL_FN uint32_t bl_shann_size(const bl_shann *q) {
    uint32_t tail = bl_load32_acquire(q->tail);
    int32_t size = (int32_t)(tail - bl_load32_relaxed(q->head));
    return size > 0 ? (uint32_t)size : 0;
}

#define BL_SINGLY bl_shann
#include "template/singly.inc.h"
#undef BL_SINGLY

#endif
