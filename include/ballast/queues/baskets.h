/* Baskets queue: a lock-free list in which pushes that lose the race for the end go into one basket.
 *
 * Hoffman, Shalev and Shavit 2007. As in ms.h an item is put in at the link of the last node. Who loses that race was
 * there at the same time as who won it, so their order is free: it puts its node between the old last node and the
 * winner's, without going to the new end. Pops mark the links of the items they take, and head is moved, and nodes are
 * freed, only after several of them.
 *
 *     apart from each other: head; tail; free, a stack.  Then capacity + 1 nodes: link, below, depth, item
 *     head, tail, free, links = index of a node (low 31), deleted (bit 31) and tag (high 32)
 *
 *      head                  tail K
 *       v                     v
 *     [x--]->[x--]->[---]->[K+1]->[K+1]->[K+1]->[none,K+2]      x: deleted, the item behind that link is taken
 *                                 \___ basket K+1 _____/          the basket's last came first; tail will go there
 *
 * Tail counts baskets: at tail K the link's tag is K + 1, also those of all but the last in the basket behind it, so a
 * link's tag says whether the node is still the one that was meant. A node gets larger tags each time: it is taken off
 * the stack before tail is read, and freed after tail had passed it.
 *
 * Anyone may call anything. Lock-free: an operation repeats only because another succeeded. FULL means that no node was
 * free, so it can come early while others are inside an operation, with nodes in their hands; at rest it means
 * `capacity` items.
 * Linearization: pop at D1, EMPTY at L2 (the node that is head is the last). Push at L1 if it came first; the others of
 * its basket between their look at the end (L0) and its L1, last come first: all of them have looked before, and none
 * joins once the basket's first item is taken, since that is the link at which they join. Tags repeat after 2^32
 * baskets: a thread would have to sleep through all of them.
 *
 * Order pairs
 *   L1 (link cas, release) with L0, L2 (acquire): the item and its node's own link are written before the node is in
 *     the list. Who comes later into a basket goes on with the release of those before, so one acquire at its first
 *     link is enough for all of it.
 *   N1 (own link, release) with L2: who finds a node's next life behind its link finds head moved when it looks again.
 *   D1 (link cas, release) with L2: a popper has copied the item before somebody walks over its link and frees the
 *     node.
 *   H1 (head cas, release) with H2 (acquire): the node at head is in the list, and tail not before it; who sees items
 *     gone sees what was pushed before.
 *   T1 (tail cas, release) with T2 (acquire): every node before tail has a next.
 *   F1 (free cas, release) with F2 (acquire): all of the above before the node is written again; `below`, `depth` are
 *     written before they are read.
 *
 * Differences from the paper: nodes from a pool, by index; tags of links follow from tail's, so tail is not read twice,
 * and taking an item does not change them; FULL, and a push that finds no free node frees what is deleted; a chain is
 * freed at once.
 */
#ifndef BALLAST_QUEUES_BASKETS_H
#define BALLAST_QUEUES_BASKETS_H

#include "contract.h"

#define baskets_TEXT "lock-free list with baskets (Hoffman, Shalev, Shavit 2007)"
#define baskets_KIND BL_KIND_FIFO
#define baskets_FLAGS                                                                                                  \
    (BL_LINEARIZABLE | BL_EXACT_EMPTY | BL_BOUNDED | BL_STATIC_MEMORY | BL_ALL_PARADIGMS | BL_MULTI_QUEUE |            \
     BL_ORDERS_MEMORY)
#define baskets_PROGRESS "lock-free"
#define baskets_BY_HANDLE 0
#define baskets_PER_THREAD 0
#define baskets_LEAST 1u
#define baskets_MOST_THREADS UINT32_MAX
#define baskets_DEVICES "cpu cuda sim"

#ifndef BASKETS_HOPS
#define BASKETS_HOPS 3u /* the paper's: so many deleted links are walked over before head is moved */
#endif
#define BASKETS_DELETED (1u << 31)
#define BASKETS_NONE (BASKETS_DELETED - 1)

typedef struct baskets {
    uint64_t *head, *tail, *free;
    uint32_t *nodes;
    uint32_t capacity, words, stride;
} baskets;

BL_HOST_FN uint32_t baskets_stride(uint32_t words) { return (4 + words + 1) / 2 * 2; } /* links are aligned */
BL_HOST_FN size_t baskets_bytes(bl_shape shape) {
    return 3 * BL_APART + 4u * ((size_t)shape.capacity + 1) * baskets_stride(shape.words);
}

BL_FN void baskets_bind(baskets *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint64_t *)bl__queue_apart(memory, 0);
    q->tail = (uint64_t *)bl__queue_apart(memory, 1);
    q->free = (uint64_t *)bl__queue_apart(memory, 2);
    q->nodes = (uint32_t *)bl__queue_apart(memory, 3);
    q->capacity = shape.capacity;
    q->words = shape.words;
    q->stride = baskets_stride(shape.words);
}

BL_FN uint64_t baskets_word(uint32_t index, uint32_t tag) { return (uint64_t)tag << 32 | index; }
BL_FN uint32_t baskets_index(uint64_t word) { return (uint32_t)word & BASKETS_NONE; }
BL_FN uint32_t baskets_tag(uint64_t word) { return (uint32_t)(word >> 32); }
BL_FN bool baskets_deleted(uint64_t link) { return (link & BASKETS_DELETED) != 0; }

BL_FN uint32_t *baskets_node(const baskets *q, uint32_t i) { return q->nodes + (size_t)i * q->stride; }
BL_FN uint64_t *baskets_link(const baskets *q, uint32_t i) { return (uint64_t *)(void *)baskets_node(q, i); }
BL_FN uint32_t *baskets_below(const baskets *q, uint32_t i) { return baskets_node(q, i) + 2; }
BL_FN uint32_t *baskets_depth(const baskets *q, uint32_t i) { return baskets_node(q, i) + 3; }
BL_FN uint32_t *baskets_item(const baskets *q, uint32_t i) { return baskets_node(q, i) + 4; }

/* Node 0 is the dummy, the others are free, lowest on top. */
BL_FN void baskets_init(baskets *q, uint32_t start, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i <= q->capacity; i += size) {
        bl_store64_relaxed(baskets_link(q, i), baskets_word(BASKETS_NONE, start + 1));
        bl_store32_relaxed(baskets_below(q, i), i < q->capacity ? i + 1 : BASKETS_NONE);
        bl_store32_relaxed(baskets_depth(q, i), q->capacity + 1 - i);
    }
    if (rank == 0) {
        bl_store64_relaxed(q->head, baskets_word(0, start));
        bl_store64_relaxed(q->tail, baskets_word(0, start));
        bl_store64_relaxed(q->free, baskets_word(1, start));
    }
}

/* ---- the free nodes: a stack, each node with the depth from it on down ---- */

BL_FN uint32_t baskets_take(baskets *q) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint64_t top = bl_load64_acquire(q->free); /* F2 */
        if (baskets_index(top) == BASKETS_NONE)
            return BASKETS_NONE;
        uint32_t below = bl_load32_relaxed(baskets_below(q, baskets_index(top))); /* stale if the node was taken, */
        uint64_t bumped = baskets_word(below, bl_bump(baskets_tag(top)));         /* and then this says so */
        if (bl_cas64_relaxed(q->free, &top, bumped))
            return baskets_index(top);
    }
}

BL_FN uint32_t baskets_count_free(const baskets *q, uint64_t top) {
    return baskets_index(top) == BASKETS_NONE ? 0 : bl_load32_relaxed(baskets_depth(q, baskets_index(top)));
}

/* n nodes, in one chain already. */
BL_FN void baskets_give(baskets *q, uint32_t first, uint32_t last, uint32_t n) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint64_t top = bl_load64_acquire(q->free); /* F2 */
        uint32_t depth = baskets_count_free(q, top), node = first;
        bl_store32_relaxed(baskets_below(q, last), baskets_index(top));
        for (uint32_t i = n; i > 0; i--, node = bl_load32_relaxed(baskets_below(q, node)))
            bl_store32_relaxed(baskets_depth(q, node), depth + i);
        if (bl_cas64_release(q->free, &top, baskets_word(first, baskets_tag(top)))) /* F1 */
            return;
    }
}

/* ---- the ends ---- */

/* Over deleted links from head, to tail at most: where it stops, that node's link in *next, and how many there were in
 * *hops. The answer is good if head has not moved, which is looked at on the way too, since links of freed nodes lead
 * anywhere. */
BL_FN uint32_t baskets_walk(const baskets *q, uint64_t head, uint64_t tail, uint64_t *next, uint32_t *hops) {
    uint32_t at = baskets_index(head);
    *next = bl_load64_acquire(baskets_link(q, at)); /* L2 */
    for (*hops = 0; baskets_deleted(*next) && at != baskets_index(tail); ++*hops) {
        if (bl_load64_relaxed(q->head) != head)
            break;
        at = baskets_index(*next);
        *next = bl_load64_acquire(baskets_link(q, at)); /* L2 */
    }
    return at;
}

/* Moves head over deleted links to node `end` and frees the nodes before it; false if somebody else has moved head. */
BL_FN bool baskets_free_chain(baskets *q, uint64_t head, uint32_t end) {
    uint32_t first = baskets_index(head), last = first, next, n = 1;
    if (!bl_cas64_release(q->head, &head, baskets_word(end, baskets_tag(head) + 1))) /* H1 */
        return false;
    for (; (next = baskets_index(bl_load64_relaxed(baskets_link(q, last)))) != end; last = next, n++)
        bl_store32_relaxed(baskets_below(q, last), next);
    baskets_give(q, first, last, n);
    return true;
}

/* Somebody has put `next` behind tail: tail goes to the last of that basket. False if somebody else has moved tail. */
BL_FN bool baskets_move_tail(baskets *q, uint64_t tail, uint64_t next) {
    uint32_t last = baskets_index(next);
    while (baskets_index(next = bl_load64_relaxed(baskets_link(q, last))) != BASKETS_NONE) {
        if (bl_load64_relaxed(q->tail) != tail)
            return false;
        last = baskets_index(next);
    }
    return bl_cas64_release(q->tail, &tail, baskets_word(last, baskets_tag(tail) + 1)); /* T1 */
}

/* ---- push ---- */

/* A free node; if there is none, after freeing what is deleted. */
BL_FN uint32_t baskets_find_node(baskets *q) {
    for (;;) {
        uint32_t node = baskets_take(q), hops;
        if (node != BASKETS_NONE)
            return node;
        uint64_t head = bl_load64_acquire(q->head); /* H2 */
        uint64_t tail = bl_load64_relaxed(q->tail), next;
        uint32_t at = baskets_walk(q, head, tail, &next, &hops);
        if (bl_load64_relaxed(q->head) != head)
            continue;
        if (hops == 0)
            return BASKETS_NONE;
        baskets_free_chain(q, head, at);
    }
}

/* Into the basket that was opened behind `last`, as long as its first item is not taken. */
BL_FN bool baskets_join(baskets *q, uint64_t *last, uint32_t node, uint32_t tag) {
    for (uint32_t tries = 0;;) {
        bl_backoff(tries++); /* all that lost are here */
        uint64_t next = bl_load64_relaxed(last);
        if (baskets_tag(next) != tag || baskets_deleted(next))
            return false;
        bl_store64_release(baskets_link(q, node), next);            /* N1 */
        if (bl_cas64_release(last, &next, baskets_word(node, tag))) /* L1 */
            return true;
    }
}

BL_FN bl_outcome baskets_push(baskets *q, const uint32_t *item) {
    uint32_t node = baskets_find_node(q);
    if (node == BASKETS_NONE)
        return BL_FULL;
    bl_race_write(baskets_item(q, node), item, q->words);
    for (uint32_t tries = 0;;) {
        uint64_t tail = bl_load64_relaxed(q->tail);
        uint32_t tag = baskets_tag(tail) + 1;
        uint64_t *last = baskets_link(q, baskets_index(tail)), next = bl_load64_acquire(last); /* L0 */
        if (next == baskets_word(BASKETS_NONE, tag)) {
            bl_store64_release(baskets_link(q, node), baskets_word(BASKETS_NONE, tag + 1)); /* N1 */
            if (bl_cas64_release(last, &next, baskets_word(node, tag))) {                   /* L1 */
                bl_cas64_release(q->tail, &tail, baskets_word(node, tag));                  /* T1 */
                return BL_DONE;
            }
            if (baskets_join(q, last, node, tag))
                return BL_DONE;
        } else if (baskets_tag(next) != tag || !baskets_move_tail(q, tail, next)) {
            bl_backoff(tries++); /* tail has moved on without us */
        }
    }
}

/* The first item that is not taken; false if others were faster. */
BL_FN bool baskets_mark(baskets *q, uint32_t *item, uint64_t head, uint32_t at, uint64_t next, uint32_t hops) {
    bl_race_read(item, baskets_item(q, baskets_index(next)), q->words);
    if (!bl_cas64_release(baskets_link(q, at), &next, next | BASKETS_DELETED)) /* D1 */
        return false;
    if (hops >= BASKETS_HOPS)
        baskets_free_chain(q, head, baskets_index(next));
    return true;
}

BL_FN bl_outcome baskets_pop(baskets *q, uint32_t *item) {
    for (uint32_t tries = 0;;) {
        uint64_t head = bl_load64_acquire(q->head);       /* H2 */
        uint64_t tail = bl_load64_acquire(q->tail), next; /* T2 */
        uint32_t hops, at = baskets_walk(q, head, tail, &next, &hops);
        if (bl_load64_relaxed(q->head) == head) {
            if (at != baskets_index(tail)) {
                if (baskets_mark(q, item, head, at, next, hops))
                    return BL_DONE;
            } else if (hops == 0 && baskets_index(next) == BASKETS_NONE) {
                return BL_EMPTY;
            } else if (hops ? baskets_free_chain(q, head, at) : baskets_move_tail(q, tail, next)) {
                continue;
            }
        }
        bl_backoff(tries++);
    }
}

/* All nodes but the dummy, the free ones and those whose items are taken. */
BL_FN uint32_t baskets_size(const baskets *q) {
    uint32_t out = baskets_count_free(q, bl_load64_relaxed(q->free)), hops;
    uint64_t head = bl_load64_relaxed(q->head), next;
    baskets_walk(q, head, bl_load64_relaxed(q->tail), &next, &hops);
    out += hops;
    return out < q->capacity ? q->capacity - out : 0;
}

#define BL_SINGLY baskets
#include "template/singly.h"
#undef BL_SINGLY

#endif
