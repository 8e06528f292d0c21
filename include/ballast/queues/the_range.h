/* Range under the THE protocol: the owner takes the lock only where it meets a thief.
 *
 * Toss and Gautier 2012, section 3.2, after Frigo, Leiserson and Randall 1998, in the end after Dijkstra. Thieves take
 * the lock, so at most one works at the back. Owner and thief each announce what they take, by moving their end, and
 * then look at the other's: the one that comes second sees that the ends have crossed. Then the thief gives way, and
 * the owner waits for the lock and takes what is left.
 *
 *     line 0: begin, moved by the owner     line 1: end, lock: moved and taken by thieves
 *
 * set, pop, extend, begin: owner. steal, size: anyone. Blocking: a thief that stops inside the lock stops the owner in
 * set and extend, and in pop where they meet. Thieves never wait: a lock that is taken is a lost race. Linearization:
 * pop at O1, or with the lock; steal at T1; set, extend and the EMPTY of steal with the lock; the EMPTY of pop where
 * the ends were found equal: if a thief in the lock made them so it will find them equal too, because begin stays as
 * long as it has the lock.
 *
 * Order pairs
 *   O1, O2 with T1, T2 (all seq_cst): either the owner sees the lowered end or the thief sees the raised begin; never
 *     do both miss.
 *   L1 (lock, acquire) with L2 (unlock, release): the ends are changed in turn, and what the indices stand for is
 *     written before they can be stolen.
 *   The acquire in size only keeps its two reads in order.
 *
 * Differences from the paper: half is computed with the lock. pop asks for no more than there seems to be, so that
 * begin cannot wrap and the ends cross only in a race. When they have crossed the owner leaves begin raised until it
 * has the lock: with begin put back, a thief that saw it raised could be told EMPTY and a later one be given something.
 * extend takes the lock, where the paper's push does not: a begin that moves back between T1 and T2 would hide from the
 * thief that the owner has popped what it is about to take.
 */
#ifndef BL_QUEUES_THE_RANGE_H
#define BL_QUEUES_THE_RANGE_H

#include "range_contract.h"

#define bl_the_range_TEXT "interval under the THE protocol (Toss, Gautier 2012)"
#define bl_the_range_KIND BL_QUEUE_KIND_RANGE
#define bl_the_range_FLAGS                                                                                             \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_the_range_PROGRESS "blocking"
#define bl_the_range_DEVICES "cpu cuda sim"
#define bl_the_range_AHEAD 0

typedef struct bl_the_range {
    uint32_t *first, *end, *lock;
} bl_the_range;

BL_HOST_FN size_t bl_the_range_bytes(void) { return 2 * BL_LINE; }

BL_FN void bl_the_range_bind(bl_the_range *q, void *memory) {
    q->first = (uint32_t *)bl__queue_line(memory, 0);
    q->end = (uint32_t *)bl__queue_line(memory, 1);
    q->lock = q->end + 1;
}

BL_FN void bl_the_range_init(bl_the_range *q, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store32_relaxed(q->first, 0);
        bl_store32_relaxed(q->end, 0);
        bl_store32_relaxed(q->lock, 0);
    }
}

BL_FN bool bl_the_range_try_lock(bl_the_range *q) {
    uint32_t unlocked = 0;
    return bl_cas32_acquire(q->lock, &unlocked, 1); /* L1 */
}
BL_FN void bl_the_range_unlock(bl_the_range *q) { bl_store32_release(q->lock, 0); /* L2 */ }

/* What is done with the lock stands inside the loop, as in blocking.h. */
BL_FN void bl_the_range_set(bl_the_range *q, uint32_t begin, uint32_t end) {
    for (uint32_t waiting = 1, tries = 0; waiting;) {
        if (bl_the_range_try_lock(q)) {
            bl_store32_relaxed(q->first, begin);
            bl_store32_relaxed(q->end, end);
            bl_the_range_unlock(q);
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change32(q->lock, 1, &tries);
        }
    }
}

/* Owner: waits for the lock, and the range begins behind the first n indices from `begin` on, or as many as there
 * are; how many. */
BL_FN uint32_t bl_the_range_settle(bl_the_range *q, uint32_t begin, uint32_t n) {
    for (uint32_t waiting = 1, tries = 0; waiting;) {
        if (bl_the_range_try_lock(q)) {
            uint32_t left = bl_load32_relaxed(q->end) - begin;
            n = n < left ? n : left;
            bl_store32_relaxed(q->first, begin + n);
            bl_the_range_unlock(q);
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change32(q->lock, 1, &tries);
        }
    }
    return n;
}

BL_FN bl_outcome bl_the_range_pop(bl_the_range *q, uint32_t n, uint32_t *from, uint32_t *to) {
    uint32_t begin = bl_load32_relaxed(q->first), end = bl_load32_relaxed(q->end);
    if (begin == end)
        return BL_QUEUE_EMPTY;
    *from = begin;
    if (begin < end) { /* else a thief has reached too far and is about to give way */
        *to = begin + (n < end - begin ? n : end - begin);
        bl_store32_seq_cst(q->first, *to);    /* O1 */
        if (*to <= bl_load32_seq_cst(q->end)) /* O2 */
            return BL_QUEUE_DONE;
    }
    *to = begin + bl_the_range_settle(q, begin, n);
    return *to > begin ? BL_QUEUE_DONE : BL_QUEUE_EMPTY;
}

/* With the lock. */
BL_FN bl_outcome bl_the_range_halve(bl_the_range *q, uint32_t least, uint32_t *from, uint32_t *to) {
    uint32_t begin = bl_load32_relaxed(q->first), end = bl_load32_relaxed(q->end);
    if (begin >= end ||
        end - begin < least) /* begin > end: the owner waits for the lock and will take all that is left */
        return BL_QUEUE_EMPTY;
    *from = bl__range_half(begin, end);
    *to = end;
    bl_store32_seq_cst(q->end, *from);        /* T1 */
    if (bl_load32_seq_cst(q->first) <= *from) /* T2 */
        return BL_QUEUE_DONE;
    bl_store32_relaxed(q->end, end);
    return BL_QUEUE_RETRY;
}

BL_FN bl_outcome bl_the_range_steal(bl_the_range *q, uint32_t least, uint32_t *from, uint32_t *to) {
    if (!bl_the_range_try_lock(q))
        return BL_QUEUE_RETRY;
    bl_outcome outcome = bl_the_range_halve(q, least, from, to);
    bl_the_range_unlock(q);
    return outcome;
}

BL_FN bl_outcome bl_the_range_extend(bl_the_range *q, uint32_t n) {
    uint32_t begin = bl_load32_relaxed(q->first); /* stays: only the owner moves it */
    if (begin < n)
        return BL_QUEUE_FULL;
    bl_the_range_settle(q, begin - n, 0); /* takes none of the longer range */
    return BL_QUEUE_DONE;
}

BL_FN uint32_t bl_the_range_begin(const bl_the_range *q) { return bl_load32_relaxed(q->first); }

BL_FN uint32_t bl_the_range_size(const bl_the_range *q) {
    uint32_t end = bl_load32_acquire(q->end), begin = bl_load32_relaxed(q->first);
    return end > begin ? end - begin : 0;
}

#endif
