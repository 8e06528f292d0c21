/* The words of queues/wfq.h: cells of an infinite array that lies on a ring, and the record of each thread.
 *
 * Index i, which only ever counts up, lies in cell i & (ring - 1) in lap i / ring. Every word carries the lap (mod
 * 2^29) in which it was written. So a thread that comes late to a cell that has been used again finds another lap and
 * not another's item: a compare-and-swap that expects "open in lap k" or "item v in lap k" cannot succeed in lap k + 1.
 * Laps repeat after 2^29: a thread would have to sleep through all of them between its look at a cell and its
 * compare-and-swap.
 *
 *     cell      lap 29 | state 3 | value, or low half of a request's index 32
 *     owner     lap 29 | for a push or a pop 3 | thread 32
 *
 *     open -> item          a push                    item -> open in the next lap      a pop
 *     open -> lent          kept for a request        item -> held                      kept for a request
 *     lent -> item, shut    it ended here, or not     held -> open in the next lap      the pop that made it
 *     open -> shut          no push comes any more    shut -> open in the next lap      recycling
 *
 * For whom a cell is lent or held says its owner, a word beside it. It changes from an older lap to "a push" to "a pop"
 * and never back: the upper halves of two owners are compared with their sign.
 */
#ifndef BL_PARTS_WFQ_CELLS_H
#define BL_PARTS_WFQ_CELLS_H

#include "../platform/platform.h"

#ifndef BL_WFQ_SEGMENT
#define BL_WFQ_SEGMENT 64u /* cells that are recycled together; a power of two */
#endif

enum { BL_WFQ_OPEN, BL_WFQ_ITEM, BL_WFQ_HELD, BL_WFQ_SHUT, BL_WFQ_LENT }; /* of a cell */
enum { BL_WFQ_PUSHES, BL_WFQ_POPS };                                      /* of an owner */
#define BL_WFQ_NOBODY UINT32_MAX

/* One line: its first half is read by all, its second is the thread's own. */
typedef struct bl_wfq_handle {
    uint64_t push, pop;  /* requests, see below */
    uint64_t pop_from;   /* the index from which the pending pop looks on */
    uint32_t value;      /* of the pending push */
    uint32_t unused[9];  /* to the middle of the line */
    uint64_t tail, head; /* so far were the ends, at least, when this thread looked last; the limit too */
    uint64_t limit;
    uint64_t helped;              /* the push request that was offered a cell in vain, or 0 */
    uint32_t push_peer, pop_peer; /* whose requests are looked at next */
    uint32_t unused_too[6];
} bl_wfq_handle;

BL_FN uint64_t bl_wfq_word(uint64_t lap, uint32_t state, uint32_t payload) {
    return lap << 35 | (uint64_t)state << 32 | payload;
}
BL_FN uint32_t bl_wfq_upper(uint64_t word) { return (uint32_t)(word >> 32); }
BL_FN uint32_t bl_wfq_state(uint64_t word) { return bl_wfq_upper(word) & 7; }
BL_FN bool bl_wfq_same_lap(uint64_t word, uint64_t other) { return (word ^ other) >> 35 == 0; }
BL_FN bool bl_wfq_is(uint64_t word, uint64_t lap, uint32_t state) {
    return bl_wfq_upper(word) == bl_wfq_upper(bl_wfq_word(lap, state, 0));
}

/* A push request pends from an index on, a pop request at the index that is being tried; a settled one ended at its
 * index. */
BL_FN uint64_t bl_wfq_pending(uint64_t i) { return i << 1 | 1; }
BL_FN uint64_t bl_wfq_settled(uint64_t i) { return i << 1; }
BL_FN bool bl_wfq_is_pending(uint64_t request) { return request & 1; }
BL_FN uint64_t bl_wfq_index(uint64_t request) { return request >> 1; }

/* Where index i lies. Cores each want a line: neighbours, which are used at the same time, lie in different ones.
 * The lanes of a warp share. */
BL_FN uint32_t bl_wfq_place(uint64_t i, uint32_t mask) {
    const uint32_t rows = BL_WARP > 1 ? 1 : BL_WFQ_SEGMENT < 8 ? BL_WFQ_SEGMENT : 8, k = (uint32_t)i % BL_WFQ_SEGMENT;
    return ((uint32_t)i & mask) - k + k % rows * (BL_WFQ_SEGMENT / rows) + k / rows;
}

#endif
