/* A counter of what there is, from which it is taken in advance: test, decrement, retest (Gottlieb, Lubachevsky and
 * Rudolph 1983, TDR).
 *
 * What was taken too much is given back, and until then the counter is too low, even below 0: somebody else may find
 * nothing where there is something. The test before keeps that short: a thread that polls an empty counter only reads
 * it, so that the others' debts are paid back and what comes in is seen. Without it the debts of many that poll would
 * hide the few items there are for ever.
 *
 * One fetch-and-add and no loop, whatever the others do. It carries no data: relaxed.
 */
#ifndef BL_PARTS_RESERVE_H
#define BL_PARTS_RESERVE_H

#include "../platform/platform.h"

/* The debts of all threads at once must fit into 31 bits. */
#define BL__RESERVE_BATCH 1024u
#define BL__RESERVE_THREADS (1u << 20)

/* Takes up to n, BL__RESERVE_BATCH at most; how many. They are given back, or on, by a fetch-and-add. */
BL_FN uint32_t bl__reserve(uint32_t *count, uint32_t n) {
    int32_t there = (int32_t)bl_load32_relaxed(count);
    n = n < BL__RESERVE_BATCH ? n : BL__RESERVE_BATCH;
    n = there <= 0 ? 0 : (uint32_t)there < n ? (uint32_t)there : n;
    if (n == 0)
        return 0;
    there = (int32_t)bl_fetch_add32_relaxed(count, 0u - n);
    uint32_t got = there <= 0 ? 0 : (uint32_t)there < n ? (uint32_t)there : n;
    if (got < n)
        bl_fetch_add32_relaxed(count, n - got);
    return got;
}

/* The same for one, with amounts that a compiler for GPUs sees to be equal for all lanes: it then makes one addition
 * of a warp's. */
BL_FN bool bl__reserve_one(uint32_t *count) {
    if ((int32_t)bl_load32_relaxed(count) <= 0)
        return false;
    if ((int32_t)bl_fetch_add32_relaxed(count, 0u - 1u) > 0)
        return true;
    bl_fetch_add32_relaxed(count, 1);
    return false;
}

#endif
