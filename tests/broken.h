/* A queue with a fault selected at run time, to test whether the checks detect it. Apart from the fault it is
 * blocking.h. */
#ifndef BALLAST_TESTS_BROKEN_H
#define BALLAST_TESTS_BROKEN_H

#include <ballast/queues/blocking.h>

typedef enum broken_kind {
    BROKEN_NOT,
    BROKEN_FULL,  /* occasionally reports FULL for no reason */
    BROKEN_EMPTY, /* or EMPTY */
    BROKEN_SWAP,  /* pops the second item and moves the first to the end */
    BROKEN_LOSE,  /* loses an item and returns RETRY */
    BROKEN_TWICE, /* pushes a popped item again */
    BROKEN_TEAR,  /* corrupts one word of an item */
    BROKEN_HANG,  /* waits for ever */
    BROKEN_KINDS
} broken_kind;

static broken_kind broken_fault;

#define bl_broken_KIND BL_QUEUE_KIND_FIFO
#define bl_broken_FLAGS bl_blocking_FLAGS
#define bl_broken_BY_HANDLE 0
#define bl_broken_LEAST 1u

typedef struct bl_broken {
    bl_blocking inner;
    uint32_t *calls, words;
} bl_broken;

BL_HOST_FN size_t bl_broken_bytes(bl_shape shape) {
    return (bl_blocking_bytes(shape) + BL_LINE) / BL_LINE * BL_LINE + BL_LINE;
}

BL_FN void bl_broken_bind(bl_broken *q, void *memory, bl_shape shape, uint32_t thread) {
    bl_blocking_bind(&q->inner, memory, shape, thread);
    q->calls = (uint32_t *)((unsigned char *)memory + bl_broken_bytes(shape) - BL_LINE);
    q->words = shape.words;
}

BL_FN void bl_broken_init(bl_broken *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl_blocking_init(&q->inner, start, rank, size);
    bl_store32_relaxed(q->calls, 0);
}

BL_FN bool broken_strikes(bl_broken *q, broken_kind fault) {
    return broken_fault == fault && bl_fetch_add32_relaxed(q->calls, 1) % 5 == 4;
}

BL_FN bl_outcome bl_broken_push(bl_broken *q, const uint32_t *item) {
    return broken_strikes(q, BROKEN_FULL) ? BL_QUEUE_FULL : bl_blocking_push(&q->inner, item);
}

BL_FN void broken_swap(bl_broken *q, uint32_t *item) {
    uint32_t second[8];
    if (bl_blocking_pop(&q->inner, second) != BL_QUEUE_DONE)
        return;
    (void)bl_blocking_push(&q->inner, item);
    memcpy(item, second, 4 * (size_t)q->words);
}

BL_FN void broken_hang(bl_broken *q) {
    for (uint32_t seen = bl_load32_relaxed(q->calls), tries = 0; seen != UINT32_MAX;)
        bl_wait_change32(q->calls, seen, &tries), seen = bl_load32_relaxed(q->calls);
}

BL_FN bl_outcome bl_broken_pop(bl_broken *q, uint32_t *item) {
    if (broken_strikes(q, BROKEN_EMPTY))
        return BL_QUEUE_EMPTY;
    if (broken_strikes(q, BROKEN_HANG))
        broken_hang(q);
    bl_outcome outcome = bl_blocking_pop(&q->inner, item);
    if (outcome != BL_QUEUE_DONE)
        return outcome;
    if (broken_strikes(q, BROKEN_SWAP))
        broken_swap(q, item);
    if (broken_strikes(q, BROKEN_TWICE))
        (void)bl_blocking_push(&q->inner, item);
    if (broken_strikes(q, BROKEN_TEAR))
        item[q->words - 1]++;
    return broken_strikes(q, BROKEN_LOSE) ? BL_QUEUE_RETRY : BL_QUEUE_DONE;
}

BL_FN uint32_t bl_broken_size(const bl_broken *q) { return bl_blocking_size(&q->inner); }

#define BL_SINGLY bl_broken
#include <ballast/queues/template/singly.inc.h>
#undef BL_SINGLY

#endif
