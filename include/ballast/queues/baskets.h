/* Baskets queue: a lock-free list in which pushes that lose the race for the end go into one basket.
 *
 * Hoffman, Shalev and Shavit 2007. As in ms.h an item is put in at the link of the last node. A push that loses that
 * race was there at the same time as the winner, so their order is free: it puts its node between the old last node
 * and the winner's, without going to the new end. Pops mark the links of the items they take, and head is moved, and
 * nodes are freed, only after several of them.
 *
 *     parts/nodes.h: head; tail; free, a stack; capacity + 1 nodes, whose own word is a depth. Bit 31 of a link:
 *     deleted
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
 *     the list. A push that comes later into a basket continues the release of those before, so one acquire at its
 *     first link is enough for all of it.
 *   N1 (own link, release) with L2: a thread that finds a node's next life behind its link finds head moved when it
 *     looks again.
 *   D1 (link cas, release) with L2: a popper has copied the item before somebody walks over its link and frees the
 *     node.
 *   H1 (head cas, release) with H2 (acquire): the node at head is in the list, and tail not before it; a thread that
 *     sees items gone sees what was pushed before.
 *   T1 (tail cas, release) with T2 (acquire): every node before tail has a next.
 *   F1 (free cas, release) with F2 (acquire; also in parts/nodes.h): all of the above before the node is written again;
 *     `depth` is written before it is read.
 *
 * Differences from the paper: nodes from a pool, by index; tags of links follow from tail's, so tail is not read twice,
 * and taking an item does not change them; FULL, and a push that finds no free node frees what is deleted; a chain is
 * freed at once.
 */
#ifndef BL_QUEUES_BASKETS_H
#define BL_QUEUES_BASKETS_H

#include "../parts/nodes.h"
#include "contract.h"

#define bl_baskets_TEXT "lock-free list with baskets (Hoffman, Shalev, Shavit 2007)"
#define bl_baskets_KIND BL_QUEUE_KIND_FIFO
#define bl_baskets_FLAGS                                                                                               \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |                        \
     BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_baskets_PROGRESS "lock-free"
#define bl_baskets_BY_HANDLE 0
#define bl_baskets_PER_THREAD 0
#define bl_baskets_LEAST 1u
#define bl_baskets_MOST_THREADS UINT32_MAX
#define bl_baskets_DEVICES "cpu cuda sim"

#ifndef BL_BASKETS_HOPS
#define BL_BASKETS_HOPS 3u /* the paper's: so many deleted links are walked over before head is moved */
#endif
#define BL_BASKETS_DELETED (1u << 31)

typedef bl__nodes bl_baskets;

BL_HOST_FN size_t bl_baskets_bytes(bl_shape shape) { return bl__nodes_bytes(shape.capacity, 1 + shape.words); }

BL_FN void bl_baskets_bind(bl_baskets *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    bl__nodes_bind(q, memory, shape.capacity, shape.words, 1 + shape.words);
}

BL_FN bool bl_baskets_deleted(uint64_t link) { return (link & BL_BASKETS_DELETED) != 0; }
BL_FN uint32_t *bl_baskets_depth(const bl_baskets *q, uint32_t i) { return bl__node_body(q, i); }
BL_FN uint32_t *bl_baskets_item(const bl_baskets *q, uint32_t i) { return bl__node_body(q, i) + 1; }

BL_FN void bl_baskets_init(bl_baskets *q, uint32_t start, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i <= q->capacity; i += size)
        bl_store32_relaxed(bl_baskets_depth(q, i), q->capacity + 1 - i);
    bl__nodes_init(q, start, start + 1, rank, size);
}

/* ---- the free nodes: a stack, each node with the depth from it on down ---- */

BL_FN uint32_t bl_baskets_count_free(const bl_baskets *q, uint64_t top) {
    return bl__node_index(top) == BL__NODE_NONE ? 0 : bl_load32_relaxed(bl_baskets_depth(q, bl__node_index(top)));
}

/* n nodes, in one chain already. */
BL_FN void bl_baskets_give(bl_baskets *q, uint32_t first, uint32_t last, uint32_t n) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint64_t top = bl_load64_acquire(q->free); /* F2 */
        uint32_t depth = bl_baskets_count_free(q, top), node = first;
        bl_store32_relaxed(bl__node_below(q, last), bl__node_index(top));
        for (uint32_t i = n; i > 0; i--, node = bl_load32_relaxed(bl__node_below(q, node)))
            bl_store32_relaxed(bl_baskets_depth(q, node), depth + i);
        if (bl_cas64_release(q->free, &top, bl__node_word(first, bl__node_tag(top)))) /* F1 */
            return;
    }
}

/* ---- the ends ---- */

/* Over deleted links from head, to tail at most: where it stops, that node's link in *next, and how many there were in
 * *hops. The answer is good if head has not moved, which is looked at on the way too, since links of freed nodes lead
 * anywhere. */
BL_FN uint32_t bl_baskets_walk(const bl_baskets *q, uint64_t head, uint64_t tail, uint64_t *next, uint32_t *hops) {
    uint32_t at = bl__node_index(head);
    *next = bl_load64_acquire(bl__node_link(q, at)); /* L2 */
    for (*hops = 0; bl_baskets_deleted(*next) && at != bl__node_index(tail); ++*hops) {
        if (bl_load64_relaxed(q->head) != head)
            break;
        at = bl__node_index(*next);
        *next = bl_load64_acquire(bl__node_link(q, at)); /* L2 */
    }
    return at;
}

/* Moves head over deleted links to node `end` and frees the nodes before it; false if somebody else has moved head. */
BL_FN bool bl_baskets_free_chain(bl_baskets *q, uint64_t head, uint32_t end) {
    uint32_t first = bl__node_index(head), last = first, next, n = 1;
    if (!bl_cas64_release(q->head, &head, bl__node_word(end, bl__node_tag(head) + 1))) /* H1 */
        return false;
    for (; (next = bl__node_index(bl_load64_relaxed(bl__node_link(q, last)))) != end; last = next, n++)
        bl_store32_relaxed(bl__node_below(q, last), next);
    bl_baskets_give(q, first, last, n);
    return true;
}

/* Somebody has put `next` behind tail: tail goes to the last of that basket. False if somebody else has moved tail. */
BL_FN bool bl_baskets_move_tail(bl_baskets *q, uint64_t tail, uint64_t next) {
    uint32_t last = bl__node_index(next);
    while (bl__node_index(next = bl_load64_relaxed(bl__node_link(q, last))) != BL__NODE_NONE) {
        if (bl_load64_relaxed(q->tail) != tail)
            return false;
        last = bl__node_index(next);
    }
    return bl_cas64_release(q->tail, &tail, bl__node_word(last, bl__node_tag(tail) + 1)); /* T1 */
}

/* ---- push ---- */

/* A free node; if there is none, after freeing what is deleted. */
BL_FN uint32_t bl_baskets_find_node(bl_baskets *q) {
    for (;;) {
        uint32_t node = bl__nodes_take(q), hops;
        if (node != BL__NODE_NONE)
            return node;
        uint64_t head = bl_load64_acquire(q->head); /* H2 */
        uint64_t tail = bl_load64_relaxed(q->tail), next;
        uint32_t at = bl_baskets_walk(q, head, tail, &next, &hops);
        if (bl_load64_relaxed(q->head) != head)
            continue;
        if (hops == 0)
            return BL__NODE_NONE;
        bl_baskets_free_chain(q, head, at);
    }
}

/* Into the basket that was opened behind `last`, as long as its first item is not taken. */
BL_FN bool bl_baskets_join(bl_baskets *q, uint64_t *last, uint32_t node, uint32_t tag) {
    for (uint32_t tries = 0;;) {
        bl_backoff(tries++); /* all that lost are here */
        uint64_t next = bl_load64_relaxed(last);
        if (bl__node_tag(next) != tag || bl_baskets_deleted(next))
            return false;
        bl_store64_release(bl__node_link(q, node), next);            /* N1 */
        if (bl_cas64_release(last, &next, bl__node_word(node, tag))) /* L1 */
            return true;
    }
}

BL_FN bl_outcome bl_baskets_push(bl_baskets *q, const uint32_t *item) {
    uint32_t node = bl_baskets_find_node(q);
    if (node == BL__NODE_NONE)
        return BL_QUEUE_FULL;
    bl_race_write(bl_baskets_item(q, node), item, q->words);
    for (uint32_t tries = 0;;) {
        uint64_t tail = bl_load64_relaxed(q->tail);
        uint32_t tag = bl__node_tag(tail) + 1;
        uint64_t *last = bl__node_link(q, bl__node_index(tail)), next = bl_load64_acquire(last); /* L0 */
        if (next == bl__node_word(BL__NODE_NONE, tag)) {
            bl_store64_release(bl__node_link(q, node), bl__node_word(BL__NODE_NONE, tag + 1)); /* N1 */
            if (bl_cas64_release(last, &next, bl__node_word(node, tag))) {                     /* L1 */
                bl_cas64_release(q->tail, &tail, bl__node_word(node, tag));                    /* T1 */
                return BL_QUEUE_DONE;
            }
            if (bl_baskets_join(q, last, node, tag))
                return BL_QUEUE_DONE;
        } else if (bl__node_tag(next) != tag || !bl_baskets_move_tail(q, tail, next)) {
            bl_backoff(tries++); /* tail has moved on without us */
        }
    }
}

/* The first item that is not taken; false if others were faster. */
BL_FN bool bl_baskets_mark(bl_baskets *q, uint32_t *item, uint64_t head, uint32_t at, uint64_t next, uint32_t hops) {
    bl_race_read(item, bl_baskets_item(q, bl__node_index(next)), q->words);
    if (!bl_cas64_release(bl__node_link(q, at), &next, next | BL_BASKETS_DELETED)) /* D1 */
        return false;
    if (hops >= BL_BASKETS_HOPS)
        bl_baskets_free_chain(q, head, bl__node_index(next));
    return true;
}

BL_FN bl_outcome bl_baskets_pop(bl_baskets *q, uint32_t *item) {
    for (uint32_t tries = 0;;) {
        uint64_t head = bl_load64_acquire(q->head);       /* H2 */
        uint64_t tail = bl_load64_acquire(q->tail), next; /* T2 */
        uint32_t hops, at = bl_baskets_walk(q, head, tail, &next, &hops);
        if (bl_load64_relaxed(q->head) == head) {
            if (at != bl__node_index(tail)) {
                if (bl_baskets_mark(q, item, head, at, next, hops))
                    return BL_QUEUE_DONE;
            } else if (hops == 0 && bl__node_index(next) == BL__NODE_NONE) {
                return BL_QUEUE_EMPTY;
            } else if (hops ? bl_baskets_free_chain(q, head, at) : bl_baskets_move_tail(q, tail, next)) {
                continue;
            }
        }
        bl_backoff(tries++);
    }
}

/* All nodes but the dummy, the free ones and those whose items are taken. */
BL_FN uint32_t bl_baskets_size(const bl_baskets *q) {
    uint32_t out = bl_baskets_count_free(q, bl_load64_relaxed(q->free)), hops;
    uint64_t head = bl_load64_relaxed(q->head), next;
    bl_baskets_walk(q, head, bl_load64_relaxed(q->tail), &next, &hops);
    out += hops;
    return out < q->capacity ? q->capacity - out : 0;
}

#define BL_SINGLY bl_baskets
#include "template/singly.inc.h"
#undef BL_SINGLY

#endif
