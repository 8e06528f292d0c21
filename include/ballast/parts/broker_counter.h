/* The broker of the Broker Queue: a counter that weighs pushes against pops before either touches the ring.
 *
 * Kerbl et al. 2018, Algorithm 1, lines 12 to 19 and 32 to 39. `count` is what will be in the queue when all admitted
 * operations have finished. Only an admitted operation draws a position from tail or head, so no position is ever
 * drawn in vain, and a refused operation only has to give back what it added to `count`. n items (at most
 * BL__BROKER_BATCH) are admitted at once; what there is no room for, or no item for, is given back.
 *
 *     count, tail, head: on a GPU BL_APART bytes from each other, on a CPU in one line. Every operation adds to the
 *     count and then to one of the other two. A CPU's core has to fetch the count's line from the core that had it
 *     last, and the second addition then comes for free; a GPU adds in its L2 cache, where neighbours wait for each
 *     other.
 *
 * Orders: all relaxed. The counters hand out rights, not data; the slots order the data (E1, F1 below keep two reads in
 * order, with a partner in broker.h).
 *
 * Differences from the paper
 *   - It always reads the counter before it adds to it. Here a thread whose last operation was admitted adds at once:
 *     one access to the hottest word less where the queue is neither empty nor full. A refused operation looks first:
 *     if all that find nothing kept adding and giving back, the count would never be seen as it is.
 *   - head and tail lie apart instead of in one word that is read at once: they only grow, so two reads in the right
 *     order do. FULL: tail, then a later head that still lies a whole ring behind it. EMPTY: head, then a later tail
 *     that has not passed it.
 */
#ifndef BL_PARTS_BROKER_COUNTER_H
#define BL_PARTS_BROKER_COUNTER_H

#include "../platform/platform.h"

/* The memory is the same for all targets. */
#define BL__BROKER_BYTES (3u * BL_APART)
#define BL__BROKER_APART (BL_WARP == 1 ? 4u : BL_APART)

typedef struct bl__broker {
    uint32_t *count, *tail, *head;
    uint32_t capacity;
    bool hopeful; /* this thread's last operation was admitted */
} bl__broker;

BL_FN void bl__broker_bind(bl__broker *b, void *memory, uint32_t capacity) {
    b->count = (uint32_t *)memory;
    b->tail = (uint32_t *)((unsigned char *)memory + BL__BROKER_APART);
    b->head = (uint32_t *)((unsigned char *)memory + 2 * BL__BROKER_APART);
    b->capacity = capacity;
    b->hopeful = false;
}

BL_FN void bl__broker_init(bl__broker *b, uint32_t start, uint32_t rank) {
    if (rank == 0) {
        bl_store32_relaxed(b->count, 0);
        bl_store32_relaxed(b->tail, start);
        bl_store32_relaxed(b->head, start);
    }
}

/* The largest batch: many threads that add it at the same time must not carry the count past its sign. */
#define BL__BROKER_BATCH 1024u
#define BL__BROKER_MOST_THREADS (1u << 19)

BL_FN uint32_t bl__broker_allows(int32_t free, uint32_t n) {
    return free <= 0 ? 0 : (uint32_t)free < n ? (uint32_t)free : n;
}

/* How many of n pushes are admitted, each to draw one position from tail. Pops may have counted on what was added too
 * much before it was given back: as long as there is room afterwards it must be tried again, or they would wait for
 * items that never come. */
BL_FN uint32_t bl__broker_admit_pushes(bl__broker *b, uint32_t n) {
    int32_t capacity = (int32_t)b->capacity;
    uint32_t left = n < BL__BROKER_BATCH ? n : BL__BROKER_BATCH, admitted = 0;
    int32_t room = b->hopeful ? 1 : capacity - (int32_t)bl_load32_relaxed(b->count);
    b->hopeful = true;
    while (room > 0) {
        uint32_t allowed = bl__broker_allows(capacity - (int32_t)bl_fetch_add32_relaxed(b->count, left), left);
        admitted += allowed;
        left -= allowed;
        if (left == 0)
            return admitted;
        room = capacity - (int32_t)(bl_fetch_add32_relaxed(b->count, 0u - left) - left);
    }
    b->hopeful = admitted != 0;
    return admitted;
}

/* The same for pops, which draw from head. */
BL_FN uint32_t bl__broker_admit_pops(bl__broker *b, uint32_t n) {
    uint32_t left = n < BL__BROKER_BATCH ? n : BL__BROKER_BATCH, admitted = 0;
    int32_t there = b->hopeful ? 1 : (int32_t)bl_load32_relaxed(b->count);
    b->hopeful = true;
    while (there > 0) {
        uint32_t allowed = bl__broker_allows((int32_t)bl_fetch_add32_relaxed(b->count, 0u - left), left);
        admitted += allowed;
        left -= allowed;
        if (left == 0)
            return admitted;
        there = (int32_t)(bl_fetch_add32_relaxed(b->count, left) + left);
    }
    b->hopeful = admitted != 0;
    return admitted;
}

/* Whether the ring is seen full, or empty, at one moment: that of the second read. */
BL_FN bool bl__broker_full(const bl__broker *b) {
    uint32_t tail = bl_load32_acquire(b->tail); /* F1 */
    return (int32_t)(tail - bl_load32_relaxed(b->head)) >= (int32_t)b->capacity;
}
BL_FN bool bl__broker_empty(const bl__broker *b) {
    uint32_t head = bl_load32_acquire(b->head); /* E1 */
    return (int32_t)(bl_load32_relaxed(b->tail) - head) <= 0;
}

BL_FN uint32_t bl__broker_size(const bl__broker *b) {
    uint32_t tail = bl_load32_acquire(b->tail);
    int32_t size = (int32_t)(tail - bl_load32_relaxed(b->head));
    return size > 0 ? (uint32_t)size : 0;
}

#endif
