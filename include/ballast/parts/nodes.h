/* Nodes for queues that are linked lists (ms.h, baskets.h): their memory, the words that lead to them, and a stack of
 * the free ones.
 *
 *     apart from each other: head; tail; free, the top of the stack.  Then capacity + 1 nodes:
 *     link, 2 words | below, the next lower node on the stack | body: the queue's own words, item
 *
 *     head, tail, free, links = index of a node (low 31), a bit for the queue (bit 31) and tag (high 32)
 *
 * Order pairs
 *   F2 (free, acquire) with the release by which the queue puts nodes back: `below` is written before it is followed,
 *     and whatever the node's last users did comes before it is written again.
 */
#ifndef BL_PARTS_NODES_H
#define BL_PARTS_NODES_H

#include "../platform/platform.h"

#define BL__NODE_NONE ((1u << 31) - 1)

typedef struct bl__nodes {
    uint64_t *head, *tail, *free;
    uint32_t *nodes;
    uint32_t capacity, words, stride;
} bl__nodes;

/* body: words behind `below`, those of the queue and the item. Links are aligned. */
BL_HOST_FN uint32_t bl__nodes_stride(uint32_t body) { return (3 + body + 1) / 2 * 2; }
BL_HOST_FN size_t bl__nodes_bytes(uint32_t capacity, uint32_t body) {
    return 3 * BL_APART + 4u * ((size_t)capacity + 1) * bl__nodes_stride(body);
}

BL_FN void bl__nodes_bind(bl__nodes *q, void *memory, uint32_t capacity, uint32_t words, uint32_t body) {
    unsigned char *bytes = (unsigned char *)memory;
    q->head = (uint64_t *)(void *)bytes;
    q->tail = (uint64_t *)(void *)(bytes + BL_APART);
    q->free = (uint64_t *)(void *)(bytes + 2 * BL_APART);
    q->nodes = (uint32_t *)(void *)(bytes + 3 * BL_APART);
    q->capacity = capacity;
    q->words = words;
    q->stride = bl__nodes_stride(body);
}

BL_FN uint64_t bl__node_word(uint32_t index, uint32_t tag) { return (uint64_t)tag << 32 | index; }
BL_FN uint32_t bl__node_index(uint64_t word) { return (uint32_t)word & BL__NODE_NONE; }
BL_FN uint32_t bl__node_tag(uint64_t word) { return (uint32_t)(word >> 32); }

BL_FN uint32_t *bl__node_at(const bl__nodes *q, uint32_t i) { return q->nodes + (size_t)i * q->stride; }
BL_FN uint64_t *bl__node_link(const bl__nodes *q, uint32_t i) { return (uint64_t *)(void *)bl__node_at(q, i); }
BL_FN uint32_t *bl__node_below(const bl__nodes *q, uint32_t i) { return bl__node_at(q, i) + 2; }
BL_FN uint32_t *bl__node_body(const bl__nodes *q, uint32_t i) { return bl__node_at(q, i) + 3; }

/* Node 0 is the dummy, the others are free, lowest on top. Links lead nowhere and carry `tag`. */
BL_FN void bl__nodes_init(bl__nodes *q, uint32_t start, uint32_t tag, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i <= q->capacity; i += size) {
        bl_store64_relaxed(bl__node_link(q, i), bl__node_word(BL__NODE_NONE, tag));
        bl_store32_relaxed(bl__node_below(q, i), i < q->capacity ? i + 1 : BL__NODE_NONE);
    }
    if (rank == 0) {
        bl_store64_relaxed(q->head, bl__node_word(0, start));
        bl_store64_relaxed(q->tail, bl__node_word(0, start));
        bl_store64_relaxed(q->free, bl__node_word(1, start));
    }
}

/* A node off the stack, or BL__NODE_NONE. */
BL_FN uint32_t bl__nodes_take(bl__nodes *q) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint64_t top = bl_load64_acquire(q->free); /* F2 */
        if (bl__node_index(top) == BL__NODE_NONE)
            return BL__NODE_NONE;
        uint32_t below = bl_load32_relaxed(bl__node_below(q, bl__node_index(top))); /* stale if the node was taken, */
        uint64_t bumped = bl__node_word(below, bl_bump(bl__node_tag(top)));         /* and then this says so */
        if (bl_cas64_relaxed(q->free, &top, bumped))
            return bl__node_index(top);
    }
}

#endif
