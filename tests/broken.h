/* A queue with a fault, chosen at run time, to see whether the checks see it. It is blocking.h but for that. */
#ifndef BALLAST_TESTS_BROKEN_H
#define BALLAST_TESTS_BROKEN_H

#include <ballast/queues/blocking.h>

typedef enum broken_kind {
    BROKEN_NOT,
    BROKEN_FULL,  /* now and then FULL for no reason */
    BROKEN_EMPTY, /* or EMPTY */
    BROKEN_SWAP,  /* the second item is popped, and the first goes to the end */
    BROKEN_LOSE,  /* an item is lost, and the answer is RETRY */
    BROKEN_TWICE, /* an item that was popped goes back in */
    BROKEN_TEAR,  /* one word is not the item's */
    BROKEN_HANG,  /* waits for what never comes */
    BROKEN_KINDS
} broken_kind;

static broken_kind broken_fault;

#define broken_KIND BL_KIND_FIFO
#define broken_FLAGS blocking_FLAGS
#define broken_BY_HANDLE 0
#define broken_LEAST 1u

typedef struct broken {
    blocking inner;
    uint32_t *calls, words;
} broken;

BL_HOST_FN size_t broken_bytes(bl_shape shape) {
    return (blocking_bytes(shape) + BL_LINE) / BL_LINE * BL_LINE + BL_LINE;
}

BL_FN void broken_bind(broken *q, void *memory, bl_shape shape, uint32_t thread) {
    blocking_bind(&q->inner, memory, shape, thread);
    q->calls = (uint32_t *)((unsigned char *)memory + broken_bytes(shape) - BL_LINE);
    q->words = shape.words;
}

BL_FN void broken_init(broken *q, uint32_t start, uint32_t rank, uint32_t size) {
    blocking_init(&q->inner, start, rank, size);
    bl_store32_relaxed(q->calls, 0);
}

BL_FN bool broken_strikes(broken *q, broken_kind fault) {
    return broken_fault == fault && bl_fetch_add32_relaxed(q->calls, 1) % 5 == 4;
}

BL_FN bl_outcome broken_push(broken *q, const uint32_t *item) {
    return broken_strikes(q, BROKEN_FULL) ? BL_FULL : blocking_push(&q->inner, item);
}

BL_FN void broken_swap(broken *q, uint32_t *item) {
    uint32_t second[8];
    if (blocking_pop(&q->inner, second) != BL_DONE)
        return;
    (void)blocking_push(&q->inner, item);
    memcpy(item, second, 4 * (size_t)q->words);
}

BL_FN void broken_hang(broken *q) {
    for (uint32_t seen = bl_load32_relaxed(q->calls), tries = 0; seen != UINT32_MAX;)
        bl_wait_change32(q->calls, seen, &tries), seen = bl_load32_relaxed(q->calls);
}

BL_FN bl_outcome broken_pop(broken *q, uint32_t *item) {
    if (broken_strikes(q, BROKEN_EMPTY))
        return BL_EMPTY;
    if (broken_strikes(q, BROKEN_HANG))
        broken_hang(q);
    bl_outcome outcome = blocking_pop(&q->inner, item);
    if (outcome != BL_DONE)
        return outcome;
    if (broken_strikes(q, BROKEN_SWAP))
        broken_swap(q, item);
    if (broken_strikes(q, BROKEN_TWICE))
        (void)blocking_push(&q->inner, item);
    if (broken_strikes(q, BROKEN_TEAR))
        item[q->words - 1]++;
    return broken_strikes(q, BROKEN_LOSE) ? BL_RETRY : BL_DONE;
}

BL_FN uint32_t broken_size(const broken *q) { return blocking_size(&q->inner); }

#define BL_SINGLY broken
#include <ballast/queues/template/singly.h>
#undef BL_SINGLY

#endif
