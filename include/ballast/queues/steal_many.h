/* Steal-many deque: a thief takes any number of items with one compare-and-swap, and so does the owner.
 *
 * On a ring like Chase and Lev's (2005). Where each thief takes one item, owner and thieves can only meet at the last
 * one, and the owner pops all others without asking. Where it takes many, the owner must know how far thieves may
 * reach. Hendler and Shavit (2002, steal_half.h) draw a range for that. Here the owner always asks: a pop changes a tag
 * beside the top, and so undoes what thieves are about to take. That is for owners that pop seldom and many at a time,
 * like a GPU's warps, which keep what they run next to themselves. In return nobody needs a sequentially consistent
 * fence, and a steal is two loads, a copy and a compare-and-swap, however many items it takes.
 *
 *     line 0: word = top (32), tag (32)
 *     line 1: bottom, the next free position
 *     line 2 ..: capacity slots, position & mask
 *
 * A thief takes what lies before a bottom that it read after the word (B1, B2). If the owner has popped such an item by
 * then, the thief has read the word before the owner changed the tag (A3), and its compare-and-swap fails. A thief
 * would have to sleep through 2^32 pops without a steal, or through 2^32 steals, to be wrong.
 *
 * Between look and claim a thief may read the items, and so may all lanes of its warp; it may use what they read only
 * if the claim succeeds. After lower the items from the new bottom on are the owner's, until it pushes. Between room
 * and raise it may write the slots from the bottom on, and so may all lanes of its warp.
 *
 * push, pop: owner. steal, size: anyone. Lock-free: a thief's compare-and-swap fails only when another operation's
 * succeeded, and the owner's only when thieves have taken something. Linearization: push at A1; pop at A3 (EMPTY: where
 * the word was read first); steal at B3, as many steals as items at one moment (EMPTY: at B2). When B2 finds EMPTY
 * because the owner holds a lowered bottom, that pop, and what another thief takes behind that bottom, count as taken
 * at A2, which lies within those calls.
 *
 * Order pairs
 *   A1 (bottom, release)   with B2 (acquire): the slots are written before bottom covers them. A2 is release too, as in
 *                          abp.h.
 *   A3 (cas, release)      with B1 (acquire): a thread that sees the new tag sees the bottom that was lowered before.
 *   B3 (release part)      with A0 (acquire): the thief has finished copying before the owner writes these slots again.
 *                          A thief that copies later has lost: its word is gone.
 */
#ifndef BL_QUEUES_STEAL_MANY_H
#define BL_QUEUES_STEAL_MANY_H

#include "contract.h"

#define bl_steal_many_TEXT "deque of which thieves and owner take any number at once"
#define bl_steal_many_KIND BL_QUEUE_KIND_DEQUE
#define bl_steal_many_FLAGS                                                                                            \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_BATCHED | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_steal_many_PROGRESS "lock-free"
#define bl_steal_many_BY_HANDLE 0
#define bl_steal_many_PER_THREAD 0
#define bl_steal_many_LEAST 1u
#define bl_steal_many_MOST_THREADS UINT32_MAX
#define bl_steal_many_DEVICES "cpu cuda sim"
#define bl_steal_many_CLAIMS 1

typedef struct bl_steal_many {
    uint64_t *word;
    uint32_t *bottom;
    uint32_t *slots;
    uint32_t mask, words;
} bl_steal_many;

BL_HOST_FN size_t bl_steal_many_bytes(bl_shape shape) {
    return 2 * BL_LINE + 4u * (size_t)shape.capacity * shape.words;
}

BL_FN void bl_steal_many_bind(bl_steal_many *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->word = (uint64_t *)bl__queue_line(memory, 0);
    q->bottom = (uint32_t *)bl__queue_line(memory, 1);
    q->slots = (uint32_t *)bl__queue_line(memory, 2);
    q->mask = shape.capacity - 1;
    q->words = shape.words;
}

BL_FN uint64_t bl_steal_many_word(uint32_t top, uint32_t tag) { return (uint64_t)tag << 32 | top; }
BL_FN uint32_t bl_steal_many_top(uint64_t word) { return (uint32_t)word; }
BL_FN uint32_t bl_steal_many_tag(uint64_t word) { return (uint32_t)(word >> 32); }

/* Top and tag are the counters. */
BL_FN void bl_steal_many_init(bl_steal_many *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store64_relaxed(q->word, bl_steal_many_word(start, start));
        bl_store32_relaxed(q->bottom, start);
    }
}

BL_FN uint32_t *bl_steal_many_slot(const bl_steal_many *q, uint32_t i) {
    return q->slots + (size_t)(i & q->mask) * q->words;
}

/* Owner: how many more there is room for, from `bottom` on. */
BL_FN uint32_t bl_steal_many_room(const bl_steal_many *q, uint32_t *bottom) {
    *bottom = bl_load32_relaxed(q->bottom);
    return q->mask + 1 - (*bottom - bl_steal_many_top(bl_load64_acquire(q->word))); /* A0 */
}
/* It has written them up to the new bottom. */
BL_FN void bl_steal_many_raise(bl_steal_many *q, uint32_t bottom) { bl_store32_release(q->bottom, bottom); /* A1 */ }

BL_FN uint32_t bl_steal_many_push_n(bl_steal_many *q, const uint32_t *items, uint32_t n) {
    uint32_t bottom;
    const uint32_t room = bl_steal_many_room(q, &bottom);
    n = n < room ? n : room;
    for (uint32_t i = 0; i < n; i++)
        bl_race_write(bl_steal_many_slot(q, bottom + i), items + (size_t)i * q->words, q->words);
    bl_steal_many_raise(q, bottom + n);
    return n;
}
BL_FN bl_outcome bl_steal_many_push(bl_steal_many *q, const uint32_t *item) {
    return bl_steal_many_push_n(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_FULL;
}

/* Owner: takes up to n of the newest; how many. They lie from the new bottom on, which is the old one less that. */
BL_FN uint32_t bl_steal_many_lower(bl_steal_many *q, uint32_t n) {
    const uint32_t bottom = bl_load32_relaxed(q->bottom);
    uint64_t word = bl_load64_relaxed(q->word);
    uint32_t left = bottom - bl_steal_many_top(word);
    n = n < left ? n : left;
    if (n == 0)
        return 0;
    const uint32_t lowered = n;
    bl_store32_release(q->bottom, bottom - n); /* A2 */
    while (n &&
           !bl_cas64_release(q->word, &word,
                             bl_steal_many_word(bl_steal_many_top(word), bl_bump(bl_steal_many_tag(word))))) { /* A3 */
        left = bottom - bl_steal_many_top(word);
        n = n < left ? n : left;
    }
    if (n != lowered)
        bl_store32_relaxed(q->bottom, bottom - n); /* empty: a thread that reads this takes nothing */
    return n;
}

BL_FN uint32_t bl_steal_many_pop_n(bl_steal_many *q, uint32_t *items, uint32_t n) {
    const uint32_t bottom = bl_load32_relaxed(q->bottom);
    n = bl_steal_many_lower(q, n);
    for (uint32_t i = 0; i < n; i++)
        bl_race_read(items + (size_t)i * q->words, bl_steal_many_slot(q, bottom - 1 - i), q->words);
    return n;
}
BL_FN bl_outcome bl_steal_many_pop(bl_steal_many *q, uint32_t *item) {
    return bl_steal_many_pop_n(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_EMPTY;
}

/* A thief: how many there are, from the word's top on. */
BL_FN uint32_t bl_steal_many_look(const bl_steal_many *q, uint64_t *word) {
    *word = bl_load64_acquire(q->word);                                                      /* B1 */
    const int32_t left = (int32_t)(bl_load32_acquire(q->bottom) - bl_steal_many_top(*word)); /* B2 */
    return left > 0 ? (uint32_t)left : 0;
}
/* The first n of them, which it has copied. */
BL_FN bool bl_steal_many_claim(bl_steal_many *q, uint64_t word, uint32_t n) {
    const uint64_t rest = bl_steal_many_word(bl_steal_many_top(word) + n, bl_steal_many_tag(word));
    return bl_cas64_release(q->word, &word, rest); /* B3 */
}

/* *n: how many at most; then, if DONE, how many. */
BL_FN bl_outcome bl_steal_many_take(bl_steal_many *q, uint32_t *items, uint32_t *n) {
    uint64_t word;
    const uint32_t left = bl_steal_many_look(q, &word);
    *n = *n < left ? *n : left;
    if (*n == 0)
        return BL_QUEUE_EMPTY;
    for (uint32_t i = 0; i < *n; i++)
        bl_race_read(items + (size_t)i * q->words, bl_steal_many_slot(q, bl_steal_many_top(word) + i), q->words);
    return bl_steal_many_claim(q, word, *n) ? BL_QUEUE_DONE : BL_QUEUE_RETRY;
}

BL_FN bl_outcome bl_steal_many_steal(bl_steal_many *q, uint32_t *item) {
    uint32_t one = 1;
    return bl_steal_many_take(q, item, &one);
}
BL_FN uint32_t bl_steal_many_steal_n(bl_steal_many *q, uint32_t *items, uint32_t n) {
    return n && bl_steal_many_take(q, items, &n) == BL_QUEUE_DONE ? n : 0;
}

/* In any order, so that a GPU waits for both reads at the same time. */
BL_FN uint32_t bl_steal_many_size(const bl_steal_many *q) {
    const uint32_t top = bl_steal_many_top(bl_load64_relaxed(q->word));
    const int32_t size = (int32_t)(bl_load32_relaxed(q->bottom) - top);
    return size > 0 ? (uint32_t)size : 0;
}

#endif
