/* The fetch-and-add ceiling: what any queue with one shared counter per end could at best do.
 *
 * push and pop each take a ticket by one fetch-and-add and touch the ticket's slot, with nothing that makes a pop wait
 * for its push. It is NOT a queue: it never reports EMPTY or FULL and a pop may read a slot before it is written. No
 * scheduler uses it; benchmarks draw it as the bound that the real queues are measured against.
 */
#ifndef BL_QUEUES_FAA_H
#define BL_QUEUES_FAA_H

#include "contract.h"

#define bl_faa_TEXT "fetch-and-add ceiling: not a queue, a bound to measure against"
#define bl_faa_KIND BL_QUEUE_KIND_CEILING
#define bl_faa_FLAGS                                                                                                   \
    (BL_QUEUE_STATIC_MEMORY | BL_QUEUE_BATCHED | BL_QUEUE_FAIR | BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE)
#define bl_faa_PROGRESS "wait-free"
#define bl_faa_BY_HANDLE 0
#define bl_faa_PER_THREAD 0
#define bl_faa_LEAST 1u
#define bl_faa_MOST_THREADS UINT32_MAX
#define bl_faa_DEVICES "cpu cuda sim"

typedef struct bl_faa {
    uint32_t *head, *tail;
    uint32_t *slots;
    uint32_t mask, words;
} bl_faa;

BL_HOST_FN size_t bl_faa_bytes(bl_shape shape) { return 2 * BL_APART + 4u * (size_t)shape.capacity * shape.words; }

BL_FN void bl_faa_bind(bl_faa *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint32_t *)bl__queue_apart(memory, 0);
    q->tail = (uint32_t *)bl__queue_apart(memory, 1);
    q->slots = (uint32_t *)bl__queue_apart(memory, 2);
    q->mask = shape.capacity - 1;
    q->words = shape.words;
}

BL_FN void bl_faa_init(bl_faa *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0) {
        bl_store32_relaxed(q->head, start);
        bl_store32_relaxed(q->tail, start);
    }
}

BL_FN uint32_t bl_faa_push_n(bl_faa *q, const uint32_t *items, uint32_t n) {
    uint32_t ticket = bl_fetch_add32_relaxed(q->tail, n);
    for (uint32_t i = 0; i < n; i++)
        bl_race_write(q->slots + (size_t)((ticket + i) & q->mask) * q->words, items + (size_t)i * q->words, q->words);
    return n;
}
BL_FN uint32_t bl_faa_pop_n(bl_faa *q, uint32_t *items, uint32_t n) {
    uint32_t ticket = bl_fetch_add32_relaxed(q->head, n);
    for (uint32_t i = 0; i < n; i++)
        bl_race_read(items + (size_t)i * q->words, q->slots + (size_t)((ticket + i) & q->mask) * q->words, q->words);
    return n;
}

BL_FN bl_outcome bl_faa_push(bl_faa *q, const uint32_t *item) { return bl_faa_push_n(q, item, 1), BL_QUEUE_DONE; }
BL_FN bl_outcome bl_faa_pop(bl_faa *q, uint32_t *item) { return bl_faa_pop_n(q, item, 1), BL_QUEUE_DONE; }
BL_FN bl_outcome bl_faa_steal(bl_faa *q, uint32_t *item) { return bl_faa_pop(q, item); }
BL_FN uint32_t bl_faa_steal_n(bl_faa *q, uint32_t *items, uint32_t n) { return bl_faa_pop_n(q, items, n); }

BL_FN uint32_t bl_faa_size(const bl_faa *q) {
    int32_t size = (int32_t)(bl_load32_relaxed(q->tail) - bl_load32_relaxed(q->head));
    return size > 0 ? (uint32_t)size : 0;
}

#endif
