/* Alternating pushes and pops with the ring of Concurrency Kit for many producers and consumers. It holds pointers.
 * Pushes are published in order and wait for each other without yielding, so it is left out where callers share
 * processors. */
#include "queues_peers.h"

#include <ck_ring.h>
#include <stdlib.h>

typedef struct ring {
    ck_ring_t ring;
    ck_ring_buffer_t slots[PAIRS_CAPACITY];
} ring;

static void *open_queue(void) {
    ring *r = aligned_alloc(BL_LINE, (sizeof *r + BL_LINE - 1) / BL_LINE * BL_LINE);
    if (r)
        ck_ring_init(&r->ring, PAIRS_CAPACITY);
    return r;
}

static void push(void *queue, uint32_t item) {
    ring *r = queue;
    for (uint32_t tries = 0; !ck_ring_enqueue_mpmc(&r->ring, r->slots, (void *)(uintptr_t)item); tries++)
        bl_backoff(tries);
}

static bool pop(void *queue, uint32_t *item) {
    ring *r = queue;
    void *value;
    const bool got = ck_ring_dequeue_mpmc(&r->ring, r->slots, &value);
    if (got)
        *item = (uint32_t)(uintptr_t)value;
    return got;
}

static uint64_t pairs(void *queue, uint32_t first, uint64_t until, uint32_t *rounds) {
    return pairs_loop(queue, first, until, rounds, push, pop);
}

const pairs_peer pairs_ck = {open_queue, pairs, free};
