/* Range in one word: both ends change together, by compare-and-swap.
 *
 * The work queue of Toss and Gautier 2012 without its lock.
 *
 *     line 0: begin (low 32) and end (high 32)
 *
 * set, pop, extend, begin: owner. steal, size: anyone. Lock-free, and the owner never waits: its compare-and-swap fails only when a thief has
 * taken half of what was left, and nobody else adds, so after 32 failures nothing is left.
 * Linearization: set at P1, extend at P2, pop, ask and steal at their compare-and-swap; EMPTY and FULL where the word was read.
 * set may simply store, since nobody else changes an empty range.
 *
 * No tag. A range that is emptied and set again to the same values between a thief's look and its compare-and-swap does no harm: the thief
 * has read nothing but this word, the word is the whole range, and half of what is there NOW is what it gets. Not so for what the
 * indices stand for: the look may have seen the range before, so it is the compare-and-swap (S1) that must acquire.
 *
 * Order pairs
 *   P1 (store, release), P2 (cas, release) with S1 (cas, acquire): what the indices stand for is written before they can be stolen. What other
 *                          compare-and-swaps do in between, relaxed ones as well, leaves P1 and P2 the heads of their release sequences.
 *
 * Differences from the paper: one word instead of two and a lock; steal takes half by itself.
 */
#ifndef BALLAST_QUEUES_PACKED_RANGE_H
#define BALLAST_QUEUES_PACKED_RANGE_H

#include "range_contract.h"

#define packed_range_TEXT "interval in one word (after Toss, Gautier 2012)"
#define packed_range_KIND BL_KIND_RANGE
#define packed_range_FLAGS                                                                                             \
    (BL_LINEARIZABLE | BL_EXACT_EMPTY | BL_EXACT_FULL | BL_BOUNDED | BL_STATIC_MEMORY | BL_BATCHED | BL_MULTI_QUEUE |  \
     BL_ORDERS_MEMORY)
#define packed_range_PROGRESS "lock-free"
#define packed_range_DEVICES "cpu cuda sim"
#define packed_range_AHEAD 1

typedef struct packed_range {
    uint64_t *ends;
} packed_range;

BL_HOST_FN size_t packed_range_bytes(void) { return BL_LINE; }

BL_FN void packed_range_bind(packed_range *q, void *memory) { q->ends = (uint64_t *)bl__queue_line(memory, 0); }

BL_FN uint64_t packed_range_ends(uint32_t begin, uint32_t end) { return (uint64_t)end << 32 | begin; }
BL_FN uint32_t packed_range_first(uint64_t ends) { return (uint32_t)ends; }
BL_FN uint32_t packed_range_end(uint64_t ends) { return (uint32_t)(ends >> 32); }
BL_FN uint32_t packed_range_left(uint64_t ends) { return packed_range_end(ends) - packed_range_first(ends); }

BL_FN void packed_range_init(packed_range *q, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0)
        bl_store64_relaxed(q->ends, packed_range_ends(0, 0));
}

BL_FN void packed_range_set(packed_range *q, uint32_t begin, uint32_t end) {
    bl_store64_release(q->ends, packed_range_ends(begin, end)); /* P1 */
}

BL_FN bl_outcome packed_range_pop(packed_range *q, uint32_t n, uint32_t *from, uint32_t *to) {
    uint64_t ends = bl_load64_relaxed(q->ends);
    while (packed_range_left(ends)) {
        n = n < packed_range_left(ends) ? n : packed_range_left(ends);
        *from = packed_range_first(ends);
        *to = *from + n;
        if (bl_cas64_relaxed(q->ends, &ends, packed_range_ends(*to, packed_range_end(ends))))
            return BL_DONE;
    }
    return BL_EMPTY;
}

BL_FN uint64_t packed_range_ask(packed_range *q, uint64_t seen, uint32_t n) {
    uint32_t left = packed_range_left(seen);
    uint64_t found = seen;
    if (left)
        bl_cas64_relaxed(q->ends, &found,
                         packed_range_ends(packed_range_first(seen) + (n < left ? n : left), packed_range_end(seen)));
    return found;
}

BL_FN bl_outcome packed_range_steal(packed_range *q, uint32_t least, uint32_t *from, uint32_t *to) {
    uint64_t ends = bl_load64_relaxed(q->ends);
    uint32_t left = packed_range_left(ends), begin = packed_range_first(ends);
    if (left < least || left == 0)
        return BL_EMPTY;
    *from = bl__range_half(begin, packed_range_end(ends));
    *to = packed_range_end(ends);
    return bl_cas64_acquire(q->ends, &ends, packed_range_ends(begin, *from)) ? BL_DONE : BL_RETRY; /* S1 */
}

BL_FN bl_outcome packed_range_extend(packed_range *q, uint32_t n) {
    uint64_t ends = bl_load64_relaxed(q->ends);
    uint32_t begin = packed_range_first(ends); /* stays: only the owner moves it */
    if (begin < n)
        return BL_FULL;
    while (!bl_cas64_release(q->ends, &ends, packed_range_ends(begin - n, packed_range_end(ends)))) /* P2 */
        ;
    return BL_DONE;
}

BL_FN uint32_t packed_range_begin(const packed_range *q) { return packed_range_first(bl_load64_relaxed(q->ends)); }
BL_FN uint32_t packed_range_size(const packed_range *q) { return packed_range_left(bl_load64_relaxed(q->ends)); }

#endif
