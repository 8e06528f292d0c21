/* Join records: what a task that forked leaves behind until its children have returned.
 *
 *     bytes 0..7      state: sum (bits 0..47), children still out (48..62), shared (63)
 *     8, 12           parent: where the fork's own result goes; slot: which result of the parent it is
 *     16              children there were                      } not where results only add up
 *     24 ..           the fork's payload, then the results     } each aligned as its type
 *
 * On a CPU a fork may be wider than BL_JOIN_WIDTH: then the results lie in memory of their own, the record holds its
 * address in their place, and what its children carry is the record's number with BL__WIDE.
 *
 * A child's result is written to its slot, or added to the sum, and one is taken off the children still out: one
 * addition does both. The worker that takes off the last one continues in the fork's place. Records are numbers, so
 * that the memory they lie in may grow and move.
 *
 * Of its own records a CPU thread knows that nobody else touches them, until one of the children is published. Before
 * that it marks the record and all above it as shared (bl__record_share); only then is the addition atomic. So a record
 * is private as long as everything below it has been run where it was made, which is nearly always, and a join costs no
 * atomic operation at all.
 *   Why that is safe: a private record can be reached only from entries on its owner's private stack, directly or from
 *   the records below it, which
 *   are private too or would have been marked together with it.
 *
 * Order pairs
 *   J1 (add, release) with J2 (the last add, acquire): results are in their slots before the last one reads them.
 *   Where results only add up the sum is in the state itself, and relaxed is enough: the worker that takes off the
 *   last child has read what all others added.
 *   Everything else in a record is written before its children are published, and read by workers that have run one.
 *   Lanes read parent and slot before they add; only the lane that comes last uses what it read.
 *
 * Free records are numbers in a worker's spare list, plain memory that its lanes take from and give to in turn:
 * spare[0] of them from spare[1] on. A record is free if no children are out.
 */
#ifndef BL_PARTS_RECORD_H
#define BL_PARTS_RECORD_H

#include "run.h"

#define BL__NO_JOIN UINT32_MAX         /* the result is wanted by nobody */
#define BL__ROOT (1u << 31)            /* with the root's number: the result goes to the host */
#define BL__WIDE (1u << 30)            /* with a record's number */
#define BL__AWAY (BL__ROOT | BL__WIDE) /* with a number by which the host knows which record of which other node */
#define BL__SHARED_RECORD (1ull << 63)
#define BL__ONE_CHILD (1ull << 48)
#define BL__MOST_CHILDREN 0x7fffu
#define BL__SUM_MASK (BL__ONE_CHILD - 1)

/* Numbers move between a worker and the others in chunks; the host asks for the size of another target's list. */
#define BL__SPARE_CHUNK_OF(warp) ((warp) > 1 ? (warp) : 64u)
#define BL__SPARE_CHUNK BL__SPARE_CHUNK_OF(BL_WARP)
#define BL__SPARE_HIGH (3 * BL__SPARE_CHUNK)   /* more than that go back, ... */
#define BL__SPARE_MIDDLE (2 * BL__SPARE_CHUNK) /* ... down to so many, or the next ones would go one by one */
/* How many there are, the numbers, and how many a warp has begun with. */
#define BL__SPARE_WORDS_OF(warp) (4 * BL__SPARE_CHUNK_OF(warp) + 2)
#define BL__SPARE_BEGUN (BL__SPARE_WORDS_OF(BL_WARP) - 1)

typedef struct bl__record {
    uint64_t state;
    uint32_t parent, slot;
} bl__record;
#define BL__RECORD_KEEPS ((uint32_t)sizeof(bl__record) + 8) /* bytes before the payload, and what aligns it */

BL_FN bl__record *bl__record_at(const bl__run *run, uint32_t number) {
    return (bl__record *)(void *)(run->records + (size_t)number * run->record_bytes);
}
/* Of what a child carries, or a record below. */
BL_FN uint32_t bl__record_number(uint32_t join) { return BL_WARP == 1 ? join & ~BL__WIDE : join; }
/* Of a record: it stands for one of another node, and its results go there (outside.h). */
BL_FN bool bl__is_away(uint32_t join) { return (join & BL__AWAY) == BL__AWAY && join != BL__NO_JOIN; }
BL_FN uint32_t *bl__record_count(bl__record *r) { return (uint32_t *)(void *)(r + 1); }

/* CPU: memory for the results of a wide fork; NULL when out of memory. What a run that ends early leaves is freed by
 * the host. */
BL_API unsigned char *bl__wide_results(const bl__run *run, size_t bytes);
BL_API void bl__wide_free(unsigned char *results);

BL_FN unsigned char **bl__record_wide(bl__record *r, uint32_t results_at) {
    return (unsigned char **)(void *)((unsigned char *)r + results_at);
}
BL_FN unsigned char *bl__record_results(bl__record *r, uint32_t results_at, bool wide) {
    if (BL_WARP == 1 && wide)
        return *bl__record_wide(r, results_at);
    return (unsigned char *)r + results_at;
}
/* The results of a wide fork have been looked at. */
BL_FN void bl__record_joined(unsigned char *results) {
#if BL_WARP == 1
    bl__wide_free(results);
#else
    (void)results;
#endif
}

BL_FN uint32_t bl__record_out(uint64_t state) { return (uint32_t)(state >> 48) & BL__MOST_CHILDREN; }

/* One child less, and `sum` more; the state after it. */
BL_FN uint64_t bl__record_arrive(bl__record *r, uint64_t sum) {
    return bl_fetch_add64_acq_rel(&r->state, sum - BL__ONE_CHILD) + sum - BL__ONE_CHILD; /* J1, J2 */
}
BL_FN uint64_t bl__record_arrive_sum(bl__record *r, uint64_t sum) {
    return bl_fetch_add64_relaxed(&r->state, sum - BL__ONE_CHILD) + sum - BL__ONE_CHILD;
}
/* The same by a worker of one lane, which may own the record. */
BL_FN uint64_t bl__record_arrive_own(bl__record *r, uint64_t sum) {
    uint64_t state = bl_load64_relaxed(&r->state);
    if (state & BL__SHARED_RECORD)
        return bl__record_arrive(r, sum);
    bl_store64_relaxed(&r->state, state + sum - BL__ONE_CHILD);
    return state + sum - BL__ONE_CHILD;
}

/* Before an entry whose results go to record `number` can be seen by others. */
BL_FN void bl__record_share(const bl__run *run, uint32_t number) {
    while (!(number & BL__ROOT)) {
        bl__record *r = bl__record_at(run, bl__record_number(number));
        uint64_t state = bl_load64_relaxed(&r->state);
        if (state & BL__SHARED_RECORD)
            break;
        bl_store64_relaxed(&r->state, state | BL__SHARED_RECORD);
        number = r->parent;
    }
}

/* A thief inside the gate copies an entry off a stack. Its results go to the record that word `join_at` of it names; 0:
 * it has none. */
BL_FN void bl__entry_steal(const bl__run *run, uint32_t *to, const uint32_t *entry, uint32_t words, uint32_t join_at) {
    bl_data_read(to, entry, words);
    if (join_at)
        bl__record_share(run, to[join_at]);
}

/* Lanes take together and give together, never both at once. */
BL_FN uint32_t bl__spare_take(uint32_t *spare) { return spare[bl_lane_add32(spare, (uint32_t)-1)]; }
BL_FN void bl__spare_give(uint32_t *spare, uint32_t number) { spare[1 + bl_lane_add32(spare, 1)] = number; }

#endif
