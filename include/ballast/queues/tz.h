/* Lock-free queue of Tsigas and Zhang, with lazily moved head and tail.
 *
 * Tsigas and Zhang 2001; the skeleton in Cederman and Tsigas 2008 is Algorithm 3. Items are put into and taken out of
 * the slots themselves by compare-and-swap; head and tail are only hints where to start looking, moved every
 * BL_TZ_INTERVAL operations, so that most operations contend on a slot and not on a shared counter.
 *
 *     parts/handle_ring.h, whose head and tail are the hints. Position p lies in slot p & mask. Since p & mask is
 *     known, bit 0 of the tag is free:
 *       tag = p with bit 0 cleared     empty, waiting for position p
 *       tag = p with bit 0 set         holds the item of position p
 *     and an item taken leaves the tag of position p + capacity, empty.
 *
 * Anyone may call anything. Values are any 32 bits. Lock-free: an operation repeats only because another succeeded.
 * Invariants: an item enters at p only when its slot waits for p, and a walk reaches p only over positions that were
 * filled before it (hints follow successful operations), so positions fill and empty in order. A stale hint walks over
 * slots whose tags are ahead; it cannot put an item behind the head, which is what the skeleton does. Linearization:
 * push at P1, pop at C1 (the compare-and-swap on the slot); FULL and EMPTY at the read P0, C0 that saw the decisive
 * tag: position p - capacity still filled while all before p were filled; position p not filled while all before p were
 * taken. Tags repeat after 2^32 positions: a thread would have to sleep through all of them between its read and its
 * compare-and-swap.
 *
 * Order pairs
 *   P1 (slot cas, release) with C0 (acquire): what the handle stands for is written before the handle appears.
 *   C1 (slot cas, release) with P0 (acquire): the slot's next user comes after its last.
 *   H1, H2 (hint cas, release) with H0 (acquire): a thread that starts at a hint sees every slot before it filled
 *     (taken).
 *
 * Differences from the paper: round tags instead of two null values and a bound on the age of an operation.
 */
#ifndef BL_QUEUES_TZ_H
#define BL_QUEUES_TZ_H

#include "../parts/handle_ring.h"
#include "contract.h"

#define bl_tz_TEXT "lock-free ring with lazy head and tail (Tsigas, Zhang 2001; Cederman, Tsigas 2008, Algorithm 3)"
#define bl_tz_KIND BL_QUEUE_KIND_FIFO
#define bl_tz_FLAGS                                                                                                    \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_tz_PROGRESS "lock-free"
#define bl_tz_BY_HANDLE 1
#define bl_tz_PER_THREAD 0
#define bl_tz_LEAST 2u
#define bl_tz_MOST_THREADS UINT32_MAX
#define bl_tz_DEVICES "cpu cuda sim"

#ifndef BL_TZ_INTERVAL
#define BL_TZ_INTERVAL 8u /* the papers' x: hints move when a position divisible by it has been passed */
#endif

typedef bl__handle_ring bl_tz;

BL_HOST_FN size_t bl_tz_bytes(bl_shape shape) { return bl__handle_ring_bytes(shape.capacity); }

BL_FN void bl_tz_bind(bl_tz *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    bl__handle_ring_bind(q, memory, shape.capacity);
}

BL_FN uint32_t bl_tz_waiting(uint32_t p) { return p & ~1u; }
BL_FN uint32_t bl_tz_filled(uint32_t p) { return p | 1u; }
BL_FN uint64_t bl_tz_slot(uint32_t tag, uint32_t value) { return (uint64_t)tag << 32 | value; }
BL_FN uint32_t bl_tz_tag(uint64_t slot) { return (uint32_t)(slot >> 32); }

BL_FN void bl_tz_init(bl_tz *q, uint32_t start, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i <= q->mask; i += size)
        bl_store64_relaxed(q->slots + ((start + i) & q->mask), bl_tz_slot(bl_tz_waiting(start + i), 0));
    if (rank == 0) {
        bl_store32_relaxed(q->head, start);
        bl_store32_relaxed(q->tail, start);
    }
}

/* After a success at p, reached from the hint that read `seen`. A lost race means that somebody else moved it. */
BL_FN void bl_tz_move(uint32_t *hint, uint32_t seen, uint32_t p) {
    if ((p + 1) % BL_TZ_INTERVAL == 0)
        bl_cas32_release(hint, &seen, p + 1); /* H1, H2 */
}

/* A position whose tag is ahead was passed long ago: look at the hint again if it has moved, else walk on. */
BL_FN uint32_t bl_tz_next(const uint32_t *hint, uint32_t *seen, uint32_t p) {
    uint32_t now = bl_load32_acquire(hint); /* H0 */
    if (now != *seen && (int32_t)(now - p) > 0) {
        *seen = now;
        return now;
    }
    return p + 1;
}

BL_FN bl_outcome bl_tz_push(bl_tz *q, const uint32_t *item) {
    uint32_t seen = bl_load32_acquire(q->tail), p = seen, tries = 0; /* H0 */
    for (;;) {
        uint64_t *at = q->slots + (p & q->mask);
        uint64_t slot = bl_load64_acquire(at); /* P0 */
        if (bl_tz_tag(slot) == bl_tz_waiting(p)) {
            if (!bl_cas64_release(at, &slot, bl_tz_slot(bl_tz_filled(p), *item))) { /* P1 */
                bl_backoff(tries++); /* the slot has changed: look at it again, but not all at once */
                continue;
            }
            bl_tz_move(q->tail, seen, p);
            return BL_QUEUE_DONE;
        }
        if (bl_tz_tag(slot) == bl_tz_filled(p - q->mask - 1))
            return BL_QUEUE_FULL;
        p = bl_tz_next(q->tail, &seen, p);
    }
}

BL_FN bl_outcome bl_tz_pop(bl_tz *q, uint32_t *item) {
    uint32_t seen = bl_load32_acquire(q->head), p = seen, tries = 0; /* H0 */
    for (;;) {
        uint64_t *at = q->slots + (p & q->mask);
        uint64_t slot = bl_load64_acquire(at); /* C0 */
        if (bl_tz_tag(slot) == bl_tz_filled(p)) {
            if (!bl_cas64_release(at, &slot, bl_tz_slot(bl_tz_waiting(p + q->mask + 1), 0))) { /* C1 */
                bl_backoff(tries++);
                continue;
            }
            *item = (uint32_t)slot;
            bl_tz_move(q->head, seen, p);
            return BL_QUEUE_DONE;
        }
        if (bl_tz_tag(slot) == bl_tz_waiting(p))
            return BL_QUEUE_EMPTY;
        p = bl_tz_next(q->head, &seen, p);
    }
}
/* From the hints over the slots they lag behind: a handful, but with a small ring several rounds of it. Tail first:
 * a thread that loses its core in between finds too few, never more than there ever were. */
BL_FN uint32_t bl_tz_size(const bl_tz *q) {
    uint32_t tail = bl_load32_acquire(q->tail);
    for (;; tail++) {
        uint32_t tag = bl_tz_tag(bl_load64_acquire(q->slots + (tail & q->mask)));
        if (tag == bl_tz_waiting(tail) || tag == bl_tz_filled(tail - q->mask - 1))
            break;
    }
    uint32_t head = bl_load32_acquire(q->head);
    for (;; head++) {
        uint32_t tag = bl_tz_tag(bl_load64_relaxed(q->slots + (head & q->mask)));
        if (tag == bl_tz_waiting(head) || tag == bl_tz_filled(head))
            break;
    }
    int32_t size = (int32_t)(tail - head);
    return size > 0 ? (uint32_t)size : 0;
}

#define BL_SINGLY bl_tz
#include "template/singly.inc.h"
#undef BL_SINGLY

#endif
