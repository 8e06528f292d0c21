/* ABP deque: one owner at the tail, thieves at the head.
 *
 * Arora, Blumofe, Plaxton 1998, as given by Cederman and Tsigas (GPU Computing Gems 35, Listings 35.1 to 35.4). The
 * owner works without compare-and-swap while two or more items are left; the last one is fought for on `head`, whose
 * counter part makes every reset unique.
 *
 *     line 0: head = index (low 32) and counter (high 32)     line 1: tail, the next free slot     line 2 ..: slots
 *
 *     slots   | taken | taken | item | item | item | free ...
 *                               ^ head.index         ^ tail
 *
 * push, pop: owner. steal, size: anyone. Lock-free. Linearization: push at A1; pop at A2 when two or more are left,
 * else at the compare-and-swap A4 (EMPTY: at A3); steal at B3 (EMPTY: at B2).
 *
 * Order pairs
 *   A1 (tail, release)      with B2 (tail, acquire): the slot is written before tail covers it. Every store to tail is
 *                           at least release, or a thief that reads the later one would not see the slots published by
 *                           the earlier; but for 0, which covers no slot.
 *   A2 (tail), A3 (head) with B3, B1 (head), B2 (tail), all seq_cst: either a thief sees the lowered tail, or the owner
 *     sees the head that the thief takes from; never do both miss. If A3 does not see what a B3 wrote, A2 and A3 come
 *     before it in the order of seq_cst operations, and it before the B1 that reads it and the B2 after that. Only A3
 *     and B2 must be kept behind what their own thread did before (first_seq_cst, platform.h).
 *   A4, A5 (head, release)  with B1: a thief that sees the reset head sees the reset tail.
 *   B3 (release part)       with A3, A6 (acquire), A4 where it fails (acquire): the thief has finished copying before
 *                           the owner can write that slot again.
 *
 * Differences from the listings: 32 + 32 bits instead of 16 + 16; FULL; the room before the head is reused as soon as
 * the deque is found empty, also by push; a thief copies the slot with racing reads and uses the copy only when its
 * compare-and-swap succeeded.
 */
#ifndef BL_QUEUES_ABP_H
#define BL_QUEUES_ABP_H

#include "contract.h"

#define bl_abp_TEXT "work-stealing deque (Arora, Blumofe, Plaxton 1998; Cederman, Tsigas 2008, 2011)"
#define bl_abp_KIND BL_QUEUE_KIND_DEQUE
#define bl_abp_FLAGS                                                                                                   \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED |     \
     BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_abp_PROGRESS "lock-free"
#define bl_abp_BY_HANDLE 0
#define bl_abp_PER_THREAD 0
#define bl_abp_LEAST 1u
#define bl_abp_MOST_THREADS UINT32_MAX
#define bl_abp_DEVICES "cpu cuda sim"

typedef struct bl_abp {
    uint64_t *head;
    uint32_t *tail;
    uint32_t *slots;
    uint32_t capacity, words;
} bl_abp;

BL_HOST_FN size_t bl_abp_bytes(bl_shape shape) { return 2 * BL_LINE + 4u * (size_t)shape.capacity * shape.words; }

BL_FN void bl_abp_bind(bl_abp *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint64_t *)bl__queue_line(memory, 0);
    q->tail = (uint32_t *)bl__queue_line(memory, 1);
    q->slots = (uint32_t *)bl__queue_line(memory, 2);
    q->capacity = shape.capacity;
    q->words = shape.words;
}

BL_FN uint64_t bl_abp_head(uint32_t index, uint32_t counter) { return (uint64_t)counter << 32 | index; }
BL_FN uint32_t bl_abp_index(uint64_t head) { return (uint32_t)head; }
BL_FN uint32_t bl_abp_counter(uint64_t head) { return (uint32_t)(head >> 32); }

/* Indices always begin at 0; what can wrap is the counter. */
BL_FN void bl_abp_init(bl_abp *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store64_relaxed(q->head, bl_abp_head(0, start));
        bl_store32_relaxed(q->tail, 0);
    }
}

BL_FN uint32_t *bl_abp_slot(const bl_abp *q, uint32_t i) { return q->slots + (size_t)i * q->words; }

/* Owner, on an empty deque: both ends back to slot 0. Tail first, so that no thief pairs the new head with the old
 * tail. */
BL_FN void bl_abp_reset(bl_abp *q, uint64_t head) {
    bl_store32_relaxed(q->tail, 0);
    bl_store64_release(q->head, bl_abp_head(0, bl_bump(bl_abp_counter(head)))); /* A5 */
}

BL_FN uint32_t bl_abp_push_n(bl_abp *q, const uint32_t *items, uint32_t n) {
    uint32_t tail = bl_load32_relaxed(q->tail);
    if (tail == q->capacity) {
        uint64_t head = bl_load64_acquire(q->head); /* A6 */
        if (bl_abp_index(head) < tail)
            return 0;
        bl_abp_reset(q, head);
        tail = 0;
    }
    n = n < q->capacity - tail ? n : q->capacity - tail;
    for (uint32_t i = 0; i < n; i++)
        bl_race_write(bl_abp_slot(q, tail + i), items + (size_t)i * q->words, q->words);
    bl_store32_release(q->tail, tail + n); /* A1 */
    return n;
}
BL_FN bl_outcome bl_abp_push(bl_abp *q, const uint32_t *item) {
    return bl_abp_push_n(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_FULL;
}

BL_FN bl_outcome bl_abp_pop(bl_abp *q, uint32_t *item) {
    uint32_t tail = bl_load32_relaxed(q->tail);
    if (tail == 0)
        return BL_QUEUE_EMPTY;
    tail--;
    bl_store32_first_seq_cst(q->tail, tail);    /* A2 */
    uint64_t head = bl_load64_seq_cst(q->head); /* A3 */
    bl_race_read(item, bl_abp_slot(q, tail), q->words);
    if (tail > bl_abp_index(head))
        return BL_QUEUE_DONE;
    if (tail < bl_abp_index(head)) { /* thieves had taken the last one */
        bl_abp_reset(q, head);
        return BL_QUEUE_EMPTY;
    }
    bl_store32_relaxed(q->tail, 0);
    uint64_t reset = bl_abp_head(0, bl_bump(bl_abp_counter(head)));
    if (bl_cas64_release(q->head, &head, reset)) /* A4 */
        return BL_QUEUE_DONE;
    bl_store64_release(q->head, reset); /* A5: a thief won it, and with it the deque became empty */
    return BL_QUEUE_EMPTY;
}

BL_FN bl_outcome bl_abp_steal(bl_abp *q, uint32_t *item) {
    uint64_t head = bl_load64_first_seq_cst(q->head); /* B1 */
    uint32_t index = bl_abp_index(head);
    if (bl_load32_seq_cst(q->tail) <= index) /* B2 */
        return BL_QUEUE_EMPTY;
    bl_race_read(item, bl_abp_slot(q, index), q->words);
    return bl_cas64_first_seq_cst(q->head, &head, bl_abp_head(index + 1, bl_abp_counter(head)))
               ? BL_QUEUE_DONE
               : BL_QUEUE_RETRY; /* B3 */
}

BL_FN uint32_t bl_abp_size(const bl_abp *q) {
    uint32_t index = bl_abp_index(bl_load64_relaxed(q->head));
    uint32_t tail = bl_load32_relaxed(q->tail);
    return tail > index ? tail - index : 0;
}

#define BL_SINGLY bl_abp
#include "template/takes_singly.inc.h"
#undef BL_SINGLY

#endif
