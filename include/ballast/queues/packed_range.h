/* Range in one word: both ends change together, by compare-and-swap.
 *
 * The work queue of Toss and Gautier 2012 without its lock.
 *
 *     line 0: begin (low 32) and end (high 32)
 *
 * set, pop, extend, begin: owner. steal, size: anyone. Lock-free, and the owner never waits: its compare-and-swap fails
 * only when a thief has taken half of what was left, and nobody else adds, so after 32 failures nothing is left.
 * Linearization: set at P1, extend at P2, pop, ask and steal at their compare-and-swap; EMPTY and FULL where the word
 * was read. set may simply store, since nobody else changes an empty range.
 *
 * No tag. A range that is emptied and set again to the same values between a thief's look and its compare-and-swap does
 * no harm: the thief has read nothing but this word, the word is the whole range, and half of what is there NOW is what
 * it gets. Not so for what the indices stand for: the look may have seen the range before, so it is the
 * compare-and-swap (S1) that must acquire.
 *
 * Order pairs
 *   P1 (store, release), P2 (cas, release) with S1 (cas, acquire): what the indices stand for is written before they
 *     can be stolen. What other compare-and-swaps do in between, relaxed ones as well, leaves P1 and P2 the heads of
 *     their release sequences.
 *
 * Differences from the paper: one word instead of two and a lock; steal takes half by itself.
 */
#ifndef BL_QUEUES_PACKED_RANGE_H
#define BL_QUEUES_PACKED_RANGE_H

#include "range_contract.h"

#define bl_packed_range_TEXT "interval in one word (after Toss, Gautier 2012)"
#define bl_packed_range_KIND BL_QUEUE_KIND_RANGE
#define bl_packed_range_FLAGS                                                                                          \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_packed_range_PROGRESS "lock-free"
#define bl_packed_range_DEVICES "cpu cuda sim"
#define bl_packed_range_AHEAD 1

typedef struct bl_packed_range {
    uint64_t *ends;
} bl_packed_range;

BL_HOST_FN size_t bl_packed_range_bytes(void) { return BL_LINE; }

BL_FN void bl_packed_range_bind(bl_packed_range *q, void *memory) { q->ends = (uint64_t *)bl__queue_line(memory, 0); }

BL_FN uint64_t bl_packed_range_ends(uint32_t begin, uint32_t end) { return (uint64_t)end << 32 | begin; }
BL_FN uint32_t bl_packed_range_first(uint64_t ends) { return (uint32_t)ends; }
BL_FN uint32_t bl_packed_range_end(uint64_t ends) { return (uint32_t)(ends >> 32); }
BL_FN uint32_t bl_packed_range_left(uint64_t ends) { return bl_packed_range_end(ends) - bl_packed_range_first(ends); }

BL_FN void bl_packed_range_init(bl_packed_range *q, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0)
        bl_store64_relaxed(q->ends, bl_packed_range_ends(0, 0));
}

BL_FN void bl_packed_range_set(bl_packed_range *q, uint32_t begin, uint32_t end) {
    bl_store64_release(q->ends, bl_packed_range_ends(begin, end)); /* P1 */
}

BL_FN bl_outcome bl_packed_range_pop(bl_packed_range *q, uint32_t n, uint32_t *from, uint32_t *to) {
    uint64_t ends = bl_load64_relaxed(q->ends);
    while (bl_packed_range_left(ends)) {
        n = n < bl_packed_range_left(ends) ? n : bl_packed_range_left(ends);
        *from = bl_packed_range_first(ends);
        *to = *from + n;
        if (bl_cas64_relaxed(q->ends, &ends, bl_packed_range_ends(*to, bl_packed_range_end(ends))))
            return BL_QUEUE_DONE;
    }
    return BL_QUEUE_EMPTY;
}

BL_FN uint64_t bl_packed_range_ask(bl_packed_range *q, uint64_t seen, uint32_t n) {
    uint32_t left = bl_packed_range_left(seen);
    uint64_t found = seen;
    if (left)
        bl_cas64_relaxed(
            q->ends, &found,
            bl_packed_range_ends(bl_packed_range_first(seen) + (n < left ? n : left), bl_packed_range_end(seen)));
    return found;
}

BL_FN bl_outcome bl_packed_range_steal(bl_packed_range *q, uint32_t least, uint32_t *from, uint32_t *to) {
    uint64_t ends = bl_load64_relaxed(q->ends);
    uint32_t left = bl_packed_range_left(ends), begin = bl_packed_range_first(ends);
    if (left < least || left == 0)
        return BL_QUEUE_EMPTY;
    *from = bl__range_half(begin, bl_packed_range_end(ends));
    *to = bl_packed_range_end(ends);
    return bl_cas64_acquire(q->ends, &ends, bl_packed_range_ends(begin, *from)) ? BL_QUEUE_DONE
                                                                                : BL_QUEUE_RETRY; /* S1 */
}

BL_FN bl_outcome bl_packed_range_extend(bl_packed_range *q, uint32_t n) {
    uint64_t ends = bl_load64_relaxed(q->ends);
    uint32_t begin = bl_packed_range_first(ends); /* stays: only the owner moves it */
    if (begin < n)
        return BL_QUEUE_FULL;
    while (!bl_cas64_release(q->ends, &ends, bl_packed_range_ends(begin - n, bl_packed_range_end(ends)))) /* P2 */
        ;
    return BL_QUEUE_DONE;
}

BL_FN uint32_t bl_packed_range_begin(const bl_packed_range *q) {
    return bl_packed_range_first(bl_load64_relaxed(q->ends));
}
BL_FN uint32_t bl_packed_range_size(const bl_packed_range *q) {
    return bl_packed_range_left(bl_load64_relaxed(q->ends));
}

#endif
