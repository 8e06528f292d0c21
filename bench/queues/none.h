/* The floor of every table: one unshared item in place of a queue, so that only the loop around it is measured. */
#ifndef BALLAST_BENCH_NONE_H
#define BALLAST_BENCH_NONE_H

#include <ballast/queues/contract.h>

#define bl_none_TEXT "the empty loop: not a queue, what the measuring itself costs"
#define bl_none_KIND BL_QUEUE_KIND_CEILING
#define bl_none_FLAGS (BL_QUEUE_STATIC_MEMORY | BL_QUEUE_ALL_PARADIGMS)
#define bl_none_PROGRESS "wait-free"
#define bl_none_BY_HANDLE 0
#define bl_none_PER_THREAD 0
#define bl_none_LEAST 1u
#define bl_none_MOST_THREADS UINT32_MAX
#define bl_none_DEVICES "cpu cuda"

typedef struct bl_none {
    uint32_t value;
} bl_none;

BL_HOST_FN size_t bl_none_bytes(bl_shape shape) { return 4u * (size_t)shape.words; }
BL_FN void bl_none_bind(bl_none *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)memory, (void)shape, (void)thread;
    q->value = 0;
}
BL_FN void bl_none_init(bl_none *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)q, (void)start, (void)rank, (void)size;
}

/* The compiler must not see through it, or it would remove the loop. On a GPU the item stays in a register. */
BL_FN bl_outcome bl_none_push(bl_none *q, const uint32_t *item) {
#if BL_WARP > 1
    q->value = bl_opaque32(*item);
#else
    *(volatile uint32_t *)&q->value = *item;
#endif
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_none_pop(bl_none *q, uint32_t *item) {
#if BL_WARP > 1
    *item = bl_opaque32(q->value);
#else
    *item = *(volatile uint32_t *)&q->value;
#endif
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome bl_none_steal(bl_none *q, uint32_t *item) { return bl_none_pop(q, item); }

#endif
