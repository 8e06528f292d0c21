/* Steal-half deque: a thief takes up to half of the items with one compare-and-swap.
 *
 * Hendler and Shavit 2002. On a ring like Chase and Lev's. Where each thief takes one item, owner and thieves can only
 * meet at the last one. Where it takes many, the owner must know how far thieves may reach: a range of 2^e items from
 * the top on, e being part of the word that thieves change. What lies in the range is taken by compare-and-swap on that
 * word, by thieves and owner alike; behind it the owner works without.
 *
 *     line 0: range = top (32), e (5), tag (27)
 *     line 1: bottom, the next free position
 *     line 2 ..: capacity slots, position & mask
 *
 *     | taken | item | item | item | item | item | item | free ...
 *               ^ top         2^e: ^ end                  ^ bottom
 *
 * The range says what the owner must not take without asking, not what is there: it is at least 1 and may reach behind
 * the bottom, so a thief takes what lies before the end AND before a bottom that it read after the range (B1, B2, or
 * B4, B2). If the owner has taken such an item without asking, it saw an older range, so the thief sees the lowered
 * bottom. A range of one is Chase and Lev's deque. Thieves draw the range: one that wants more than it covers makes it
 * longer first (B4: the largest power of two below the number of items, at least half), and one that takes leaves what
 * suits the rest, never a longer one than it found. The owner cuts it to that size when it pops into it (A4): about
 * once per halving. A thief that only ever steals one item never makes it longer than one. The tag counts the cuts,
 * which leave the top where it is: without it the owner could pop and push in the range between a thief's copy and its
 * compare-and-swap. A thief would have to sleep through 2^27 cuts without a steal, or through 2^32 steals.
 *
 * push, pop: owner. steal, size: anyone. Lock-free: a thief's compare-and-swap fails only when another operation's
 * succeeded; the owner's fails only when thieves have taken something or made the range longer, and both come to an end
 * where nothing is pushed. Linearization: push at A1; pop at A2, in the range at A4 (EMPTY: where the range was read
 * first); steal at B3, as many steals as items at one moment (EMPTY: at B2). When B2 finds EMPTY because the owner
 * holds a lowered bottom, what another thief takes behind that bottom counts as stolen at A2, which lies within that
 * steal.
 *
 * Order pairs
 *   A1 (bottom, release)   with B2 (acquire): the slots are written before bottom covers them. A2 is release too, as in
 *                          abp.h.
 *   A2, A3 with B3 or B4, B1, B2 (all seq_cst): if the owner does not see the range that a thief takes from, then A3
 *     comes before the B3 or B4 that wrote it, that before B1, which reads it, or before B2 in its own thread, and B2
 *     sees the lowered bottom. As in abp.h.
 *   A4 (cas, release)      with B1 (acquire part): a thread that sees the range that the owner has cut sees the bottom
 *                          that it lowered before.
 *   B3 (release part)      with A0 (acquire): the thief has finished copying before the owner writes these slots again.
 *                          A thief that copies later has lost: its range is gone.
 *   The acquire in size only keeps its two reads in order.
 *
 * Differences from the paper: there the owner draws the range, a quarter to a half of its items, whenever their number
 * passes a power of two. Here thieves do it, so that pushing never needs compare-and-swap and half is half, rounded up;
 * that costs a thief a second compare-and-swap when the owner has pushed or cut much since. A ring instead of an array
 * that must run empty; items of several words, copied by racing reads; a thief says how many it wants at most.
 */
#ifndef BL_QUEUES_STEAL_HALF_H
#define BL_QUEUES_STEAL_HALF_H

#include "contract.h"

#define bl_steal_half_TEXT "deque of which thieves take up to half at once (Hendler, Shavit 2002)"
#define bl_steal_half_KIND BL_QUEUE_KIND_DEQUE
#define bl_steal_half_FLAGS                                                                                            \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_steal_half_PROGRESS "lock-free"
#define bl_steal_half_BY_HANDLE 0
#define bl_steal_half_PER_THREAD 0
#define bl_steal_half_LEAST 1u
#define bl_steal_half_MOST_THREADS UINT32_MAX
#define bl_steal_half_DEVICES "cpu cuda sim"

typedef struct bl_steal_half {
    uint64_t *range;
    uint32_t *bottom;
    uint32_t *slots;
    uint32_t mask, words;
} bl_steal_half;

BL_HOST_FN size_t bl_steal_half_bytes(bl_shape shape) {
    return 2 * BL_LINE + 4u * (size_t)shape.capacity * shape.words;
}

BL_FN void bl_steal_half_bind(bl_steal_half *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->range = (uint64_t *)bl__queue_line(memory, 0);
    q->bottom = (uint32_t *)bl__queue_line(memory, 1);
    q->slots = (uint32_t *)bl__queue_line(memory, 2);
    q->mask = shape.capacity - 1;
    q->words = shape.words;
}

BL_FN uint64_t bl_steal_half_range(uint32_t top, uint32_t e, uint32_t tag) {
    return (uint64_t)tag << 37 | (uint64_t)e << 32 | top;
}
BL_FN uint32_t bl_steal_half_top(uint64_t range) { return (uint32_t)range; }
BL_FN uint32_t bl_steal_half_e(uint64_t range) { return (uint32_t)(range >> 32) & 31; }
BL_FN uint32_t bl_steal_half_tag(uint64_t range) { return (uint32_t)(range >> 37); }
BL_FN uint32_t bl_steal_half_end(uint64_t range) { return bl_steal_half_top(range) + (1u << bl_steal_half_e(range)); }

/* What suits so many items, half of them or more: the largest power of two below their number, but not beyond
 * 2^most. */
BL_FN uint32_t bl_steal_half_suits(uint32_t items, uint32_t most) {
    uint32_t e = 0;
    while (e < most && 2u << e < items)
        e++;
    return e;
}

/* Top and tag are the counters: both near their ends for a start near 2^32. */
BL_FN void bl_steal_half_init(bl_steal_half *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store64_relaxed(q->range, bl_steal_half_range(start, 0, start));
        bl_store32_relaxed(q->bottom, start);
    }
}

BL_FN uint32_t *bl_steal_half_slot(const bl_steal_half *q, uint32_t i) {
    return q->slots + (size_t)(i & q->mask) * q->words;
}

BL_FN uint32_t bl_steal_half_push_n(bl_steal_half *q, const uint32_t *items, uint32_t n) {
    uint32_t bottom = bl_load32_relaxed(q->bottom);
    uint32_t top = bl_steal_half_top(bl_load64_acquire(q->range)); /* A0 */
    uint32_t room = q->mask + 1 - (bottom - top);
    n = n < room ? n : room;
    for (uint32_t i = 0; i < n; i++)
        bl_race_write(bl_steal_half_slot(q, bottom + i), items + (size_t)i * q->words, q->words);
    bl_store32_release(q->bottom, bottom + n); /* A1 */
    return n;
}
BL_FN bl_outcome bl_steal_half_push(bl_steal_half *q, const uint32_t *item) {
    return bl_steal_half_push_n(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_FULL;
}

/* Owner: the last n positions before `bottom`, which it has lowered by n, reach into the range; how many of them
 * thieves have left. */
BL_FN uint32_t bl_steal_half_cut(bl_steal_half *q, uint64_t range, uint32_t bottom, uint32_t n) {
    uint32_t lowered = n;
    for (;;) {
        uint32_t top = bl_steal_half_top(range), left = bottom - top;
        n = n < left ? n : left;
        uint32_t e = bl_steal_half_suits(left - n, bl_steal_half_e(range));
        if (n == 0 ||
            bl_cas64_release(q->range, &range, bl_steal_half_range(top, e, bl_bump(bl_steal_half_tag(range))))) /* A4 */
            break;
    }
    if (n != lowered)
        bl_store32_relaxed(q->bottom, bottom - n); /* empty: a thread that reads this takes nothing */
    return n;
}

BL_FN uint32_t bl_steal_half_pop_n(bl_steal_half *q, uint32_t *items, uint32_t n) {
    uint32_t bottom = bl_load32_relaxed(q->bottom);
    uint32_t left = bottom - bl_steal_half_top(bl_load64_relaxed(q->range));
    n = n < left ? n : left;
    if (n == 0)
        return 0;
    bl_store32_first_seq_cst(q->bottom, bottom - n); /* A2 */
    uint64_t range = bl_load64_seq_cst(q->range);    /* A3 */
    if ((int32_t)(bottom - n - bl_steal_half_end(range)) < 0)
        n = bl_steal_half_cut(q, range, bottom, n);
    for (uint32_t i = 0; i < n; i++)
        bl_race_read(items + (size_t)i * q->words, bl_steal_half_slot(q, bottom - 1 - i), q->words);
    return n;
}
BL_FN bl_outcome bl_steal_half_pop(bl_steal_half *q, uint32_t *item) {
    return bl_steal_half_pop_n(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_EMPTY;
}

/* After the range was read or drawn, whose top this is. */
BL_FN uint32_t bl_steal_half_left(const bl_steal_half *q, uint32_t top) {
    int32_t left = (int32_t)(bl_load32_seq_cst(q->bottom) - top); /* B2 */
    return left > 0 ? (uint32_t)left : 0;
}

/* *n: how many at most; then, if DONE, how many. */
BL_FN bl_outcome bl_steal_half_take(bl_steal_half *q, uint32_t *items, uint32_t *n) {
    uint64_t range = bl_load64_first_seq_cst(q->range); /* B1 */
    uint32_t top = bl_steal_half_top(range), e = bl_steal_half_e(range), left = bl_steal_half_left(q, top);
    uint32_t want = *n < left - left / 2 ? *n : left - left / 2;
    if (want > 1u << e) {
        e = bl_steal_half_suits(left, 31);
        uint64_t longer = bl_steal_half_range(top, e, bl_steal_half_tag(range));
        if (!bl_cas64_first_seq_cst(q->range, &range, longer)) /* B4 */
            return BL_QUEUE_RETRY;
        range = longer;
        left = bl_steal_half_left(q, top);
        want = want < left - left / 2 ? want : left - left / 2;
    }
    if (want == 0)
        return BL_QUEUE_EMPTY;
    for (uint32_t i = 0; i < want; i++)
        bl_race_read(items + (size_t)i * q->words, bl_steal_half_slot(q, top + i), q->words);
    uint64_t rest = bl_steal_half_range(top + want, bl_steal_half_suits(left - want, e), bl_steal_half_tag(range));
    *n = want;
    return bl_cas64_first_seq_cst(q->range, &range, rest) ? BL_QUEUE_DONE : BL_QUEUE_RETRY; /* B3 */
}

BL_FN bl_outcome bl_steal_half_steal(bl_steal_half *q, uint32_t *item) {
    uint32_t one = 1;
    return bl_steal_half_take(q, item, &one);
}
BL_FN uint32_t bl_steal_half_steal_n(bl_steal_half *q, uint32_t *items, uint32_t n) {
    return n && bl_steal_half_take(q, items, &n) == BL_QUEUE_DONE ? n : 0;
}

/* Bottom first: a thread that loses its core in between finds too few, never more than there ever were. */
BL_FN uint32_t bl_steal_half_size(const bl_steal_half *q) {
    uint32_t bottom = bl_load32_acquire(q->bottom);
    int32_t size = (int32_t)(bottom - bl_steal_half_top(bl_load64_relaxed(q->range)));
    return size > 0 ? (uint32_t)size : 0;
}

#endif
