/* The contract of the ranges in this folder: work queues whose items are the indices of an interval [begin, end). The
 * owner takes from the front, thieves take half from the back, and nothing but the two ends is stored. Whatever the
 * indices stand for lies elsewhere.
 *
 *   size_t     R_bytes()                         memory needed, aligned to BL_LINE; the host may call it
 *   void       R_bind(q, memory)                 makes the view of one thread; touches no memory
 *   void       R_init(q, rank, size)             as Q_init: called by `size` threads, each with its rank, before any
 *                                                operation, or by one with (0, 1); the range is empty
 *   void       R_set(q, begin, end)              owner, on an empty range: begin <= end, any two, so up to 2^32 - 1
 *                                                indices
 *   bl_outcome R_pop(q, n, &from, &to)           owner: up to n (at least 1) indices from the front. DONE or EMPTY
 *   bl_outcome R_steal(q, least, &from, &to)     anyone: the second half, the larger one where they differ, so that the
 *                                                last index can be stolen. DONE; EMPTY if fewer than `least` were left,
 *                                                or none; RETRY if a race was lost
 *   bl_outcome R_extend(q, n)                    owner: adds the n indices before begin. DONE, or FULL if there are
 *                                                fewer than n before it
 *   uint32_t   R_begin(q)                        owner: where the range begins, also if it is empty; what extend will
 *                                                add lies before it
 *   uint32_t   R_size(q)                         anyone: exact at rest, an estimate under way
 *
 * Only the owner moves begin, so it knows which indices it may use again: those that it popped. An index that was
 * stolen may be offered again when the thief is known to be done with it, which no range can tell. What the owner wrote
 * before set or extend is seen by the thread that gets the indices. Thieves read the size (R_size) of an empty range
 * and do not contend for it; one that must be sure calls R_steal.
 *
 * Each header states its properties as macros; the build reads R_KIND and makes the list BL_RANGES(X) of
 * generated/queues.h.
 *   R_TEXT         authors and year
 *   R_KIND         BL_QUEUE_KIND_RANGE
 *   R_FLAGS        of properties.h; EMPTY is about `least`, FULL about extend
 *   R_PROGRESS     "wait-free", "lock-free" or "blocking"
 *   R_DEVICES      "cpu cuda sim"
 *   R_AHEAD        1: the range is one word, made by R_ends(begin, end), and there is
 *                    uint64_t R_ask(q, seen, n)   owner: pops up to n indices if the word is still `seen`, and not
 *                                                 empty. What it was: if that is `seen`, they are the first n of it.
 *                                                 Nothing is done with the answer here, so that a GPU can ask first and
 *                                                 look later
 */
#ifndef BL_QUEUES_RANGE_CONTRACT_H
#define BL_QUEUES_RANGE_CONTRACT_H

#include "contract.h"

/* Where the second half of [begin, end) starts. */
BL_FN uint32_t bl__range_half(uint32_t begin, uint32_t end) { return begin + (end - begin) / 2; }

#endif
