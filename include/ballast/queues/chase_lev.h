/* Chase–Lev deque: one owner at the bottom, thieves at the top, on a ring.
 *
 * Chase and Lev 2005, with the orders of Lê, Pop, Cohen and Zappa Nardelli 2013. Like ABP, but both ends only ever
 * count up (64 bits: they never wrap in practice), so the ring needs no reset and no tag, and room at the top is reused
 * at once.
 *
 *     line 0: top     line 1: bottom     line 2 ..: capacity slots, counter & mask
 *
 * push, pop: owner. steal, size: anyone. Lock-free. The ring does not grow by itself: FULL is returned, and growth is
 * the runtime's. Linearization: push at A1; pop at A2 when two or more are left, else at A4 (EMPTY: at A3); steal at B3
 * (EMPTY: at B2).
 *
 * Order pairs
 *   A1 (bottom, release)   with B2 (acquire): the slot is written before bottom covers it; A2 is release too, for the
 *                          same reason as in abp.h. A5 need not be: it sets bottom to a top that has been reached, so
 *                          a thread that reads it gets nothing by B3.
 *   A2, A3 with B3, B1, B2 (all seq_cst): either a thief sees the lowered bottom, or the owner sees the top that the
 *     thief takes from. As in abp.h.
 *   A4 (release) with B1: a thief that sees the top after the owner's last item sees the bottom that it lowered before.
 *   B3 (release part) with A0, A3, A4 (acquire): the thief has finished copying before the owner writes that slot
 *     again.
 *   A4 (acquire) keeps A5 behind it: a thief that reads A5 comes too late for the item.
 *
 * Differences from the papers: a bounded ring; items of several words, copied by racing reads; orders on the accesses
 * instead of stand-alone fences, which costs the same on ARM and less on x86, where a thief then needs none, and is
 * visible to ThreadSanitizer; a weaker order of the owner's swap.
 */
#ifndef BL_QUEUES_CHASE_LEV_H
#define BL_QUEUES_CHASE_LEV_H

#include "contract.h"

#define bl_chase_lev_TEXT "work-stealing deque on a ring (Chase, Lev 2005)"
#define bl_chase_lev_KIND BL_QUEUE_KIND_DEQUE
#define bl_chase_lev_FLAGS                                                                                             \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_chase_lev_PROGRESS "lock-free"
#define bl_chase_lev_BY_HANDLE 0
#define bl_chase_lev_PER_THREAD 0
#define bl_chase_lev_LEAST 1u
#define bl_chase_lev_MOST_THREADS UINT32_MAX
#define bl_chase_lev_DEVICES "cpu cuda sim"

typedef struct bl_chase_lev {
    uint64_t *top, *bottom;
    uint32_t *slots;
    uint32_t mask, words;
} bl_chase_lev;

BL_HOST_FN size_t bl_chase_lev_bytes(bl_shape shape) { return 2 * BL_LINE + 4u * (size_t)shape.capacity * shape.words; }

BL_FN void bl_chase_lev_bind(bl_chase_lev *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->top = (uint64_t *)bl__queue_line(memory, 0);
    q->bottom = (uint64_t *)bl__queue_line(memory, 1);
    q->slots = (uint32_t *)bl__queue_line(memory, 2);
    q->mask = shape.capacity - 1;
    q->words = shape.words;
}

BL_FN void bl_chase_lev_init(bl_chase_lev *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store64_relaxed(q->top, start);
        bl_store64_relaxed(q->bottom, start);
    }
}

BL_FN uint32_t *bl_chase_lev_slot(const bl_chase_lev *q, uint64_t i) {
    return q->slots + (size_t)((uint32_t)i & q->mask) * q->words;
}

BL_FN uint32_t bl_chase_lev_push_n(bl_chase_lev *q, const uint32_t *items, uint32_t n) {
    uint64_t bottom = bl_load64_relaxed(q->bottom);
    uint64_t top = bl_load64_acquire(q->top); /* A0 */
    uint32_t room = q->mask + 1 - (uint32_t)(bottom - top);
    n = n < room ? n : room;
    for (uint32_t i = 0; i < n; i++)
        bl_race_write(bl_chase_lev_slot(q, bottom + i), items + (size_t)i * q->words, q->words);
    bl_store64_release(q->bottom, bottom + n); /* A1 */
    return n;
}
BL_FN bl_outcome bl_chase_lev_push(bl_chase_lev *q, const uint32_t *item) {
    return bl_chase_lev_push_n(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_FULL;
}

BL_FN bl_outcome bl_chase_lev_pop(bl_chase_lev *q, uint32_t *item) {
    uint64_t bottom = bl_load64_relaxed(q->bottom) - 1;
    bl_store64_first_seq_cst(q->bottom, bottom); /* A2 */
    uint64_t top = bl_load64_seq_cst(q->top);    /* A3 */
    int64_t left = (int64_t)(bottom - top);
    if (left < 0) {
        bl_store64_relaxed(q->bottom, top); /* A5 */
        return BL_QUEUE_EMPTY;
    }
    bl_race_read(item, bl_chase_lev_slot(q, bottom), q->words);
    if (left > 0)
        return BL_QUEUE_DONE;
    bl_outcome outcome =
        bl_cas64_acq_rel(q->top, &top, top + 1) ? BL_QUEUE_DONE : BL_QUEUE_EMPTY; /* A4: the last one is fought for */
    bl_store64_relaxed(q->bottom, bottom + 1);                                    /* A5 */
    return outcome;
}

BL_FN bl_outcome bl_chase_lev_steal(bl_chase_lev *q, uint32_t *item) {
    uint64_t top = bl_load64_first_seq_cst(q->top); /* B1 */
    uint64_t bottom = bl_load64_seq_cst(q->bottom); /* B2 */
    if ((int64_t)(bottom - top) <= 0)
        return BL_QUEUE_EMPTY;
    bl_race_read(item, bl_chase_lev_slot(q, top), q->words);
    return bl_cas64_first_seq_cst(q->top, &top, top + 1) ? BL_QUEUE_DONE : BL_QUEUE_RETRY; /* B3 */
}

BL_FN uint32_t bl_chase_lev_size(const bl_chase_lev *q) {
    uint64_t top = bl_load64_relaxed(q->top);
    int64_t size = (int64_t)(bl_load64_relaxed(q->bottom) - top);
    return size > 0 ? (uint32_t)size : 0;
}

#define BL_SINGLY bl_chase_lev
#include "template/takes_singly.inc.h"
#undef BL_SINGLY

#endif
