/* The transposition table of the solver: bounds for positions seen before, shared by all workers without a lock.
 *
 *     word    63 .. 15        14 .. 12    11 .. 6             5 .. 0
 *             key, 49 bits    size        upper bound + 22    lower bound + 22
 *
 * Why it is safe: an entry is one word, read by one relaxed load and written by one relaxed store, so no reader sees
 * half an entry. An entry refers to no other memory, so it needs no ordering with other accesses. The key is the whole
 * position, not a hash, so an entry of another position never matches. Both bounds are facts about the position,
 * whichever worker found them in whichever search, so an old word is as true as a new one. If two workers write one
 * slot at once, one entry is lost: that costs work, never correctness.
 *
 * Two neighbouring words are a bucket. The first keeps the position with the larger size, a measure of its empty cells,
 * since that took longer to search; the second is always overwritten. */
#ifndef BALLAST_FOURROW_TABLE_H
#define BALLAST_FOURROW_TABLE_H

#include "bitboard.h"

/* 2^bits words of device memory, initially zero. */
typedef struct fourrow_table {
    uint64_t *words;
    uint32_t bits; /* at least 1 */
    uint32_t unused;
} fourrow_table;

/* lower <= score <= upper. */
typedef struct fourrow_bounds {
    int32_t lower, upper;
} fourrow_bounds;

/* In each column, mine + mask is different for every height and colouring, and at most 126; the added 1 makes it differ
 * from an empty slot. */
BL_FN uint64_t fourrow_key(const fourrow_board *b) { return b->mine + b->mask + 1; }

BL_FN uint64_t *fourrow_bucket(const fourrow_table *table, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    return table->words + (hash >> (64 - table->bits) & ~UINT64_C(1));
}

BL_FN uint64_t fourrow_word(uint64_t key, uint32_t empty, fourrow_bounds bounds) {
    uint64_t size = empty / 4 < 7 ? empty / 4 : 7;
    return key << 15 | size << 12 | (uint64_t)(uint32_t)(bounds.upper + 22) << 6 | (uint32_t)(bounds.lower + 22);
}

/* Narrows *bounds by the table's entry. */
BL_FN void fourrow_recall(const fourrow_table *table, uint64_t key, fourrow_bounds *bounds) {
    const uint64_t *bucket = fourrow_bucket(table, key);
    uint64_t word = bl_load64_relaxed(bucket);
    if (word >> 15 != key)
        word = bl_load64_relaxed(bucket + 1);
    if (word >> 15 != key)
        return;
    int32_t lower = (int32_t)(word & 63) - 22, upper = (int32_t)(word >> 6 & 63) - 22;
    bounds->lower = lower > bounds->lower ? lower : bounds->lower;
    bounds->upper = upper < bounds->upper ? upper : bounds->upper;
}

BL_FN void fourrow_store(const fourrow_table *table, uint64_t key, uint32_t empty, fourrow_bounds bounds) {
    uint64_t *bucket = fourrow_bucket(table, key);
    uint64_t word = fourrow_word(key, empty, bounds), kept = bl_load64_relaxed(bucket);
    bool first = kept >> 15 == key || (kept >> 12 & 7) <= (word >> 12 & 7);
    bl_store64_relaxed(first ? bucket : bucket + 1, word);
}

#endif
