/* Lock-free list queue of Michael and Scott.
 *
 * Michael and Scott 1996, with the late look at tail of Doherty, Groves, Luchangco and Moir 2004. A list begins with a
 * dummy; an item is put in by a compare-and-swap on the link of the last node, and taken out by moving head to its
 * node, which becomes the dummy.
 *
 *     parts/nodes.h: head; tail; free, a stack; capacity + 1 nodes. The tag of a word is a number:
 *
 *       head 7              tail 9                  free
 *        v                   v                       v
 *     [ .,7 ]-> [ .,8 ]-> [none,9]                [     ]-> [     ]
 *      dummy     item 8    item 9                    below
 *
 * Nodes are numbered in the order in which they come into the list, and words that lead to a node carry that number:
 * head and tail their node's, a link its own node's, also when it leads nowhere. So a link says whether the node is
 * still the one that was meant, and tail - head is the size. A node gets a larger number each time: it is taken off the
 * stack before tail is read, and was freed after tail had passed it.
 *
 * Anyone may call anything. Lock-free: an operation repeats only because another succeeded. But where the last free
 * node is in the hands of a stalled thread, pushes return RETRY until it continues; items that are in can always be
 * popped.
 * Linearization: push at L1, pop at H1, EMPTY at the second read of the link (the node that was head has no next, so it
 * still is), FULL at the read of head in bl_ms_full: the list never holds more than capacity items, so tail cannot have
 * moved since it was read. Without a free node, but not full: RETRY.
 * Numbers repeat after 2^32 operations: a thread would have to sleep through all of them.
 *
 * Order pairs
 *   L1 (link cas, release) with L2 (acquire): the item and its node's own link are written before the node is in the
 *     list.
 *   H1 (head cas, release) with H2 (acquire): a popper has copied the item before the next popper frees its node. (C11
 *     needs it; a memory that does not let a load wait for a later store cannot show it.) With X: a thread that sees an
 *     item gone sees what was pushed before that.
 *   F1 (free cas, release) with F2 (acquire) of parts/nodes.h: all of the above before the node is written again.
 *   T1 (tail cas, release) with T2 (acquire): a push knows of those before it, and a thread that sees what its thread
 *     pops later does not find an old end of the list and call it EMPTY.
 *   T1 (tail cas, release) with X: a thread that sees an item in sees what was popped before that, and what was pushed
 *     before it.
 *   X (fence, seq_cst)     with itself, in FULL and EMPTY: one thread pops two, the next finds it EMPTY, a third pushes
 *     and finds it FULL. One of the two would have to be wrong, and without the fence both looks may be old.
 *
 * Differences from the paper: nodes from a pool, by index; numbers instead of counts of changes, so neither head nor
 * tail is read twice; FULL; a popper looks after tail when it has the item, before it frees the node that tail may
 * still stand at.
 */
#ifndef BL_QUEUES_MS_H
#define BL_QUEUES_MS_H

#include "../parts/nodes.h"
#include "contract.h"

#define bl_ms_TEXT "lock-free list (Michael, Scott 1996)"
#define bl_ms_KIND BL_QUEUE_KIND_FIFO
#define bl_ms_FLAGS                                                                                                    \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL | BL_QUEUE_BOUNDED | BL_QUEUE_STATIC_MEMORY |  \
     BL_QUEUE_ALL_PARADIGMS | BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_ms_PROGRESS "lock-free"
#define bl_ms_BY_HANDLE 0
#define bl_ms_PER_THREAD 0
#define bl_ms_LEAST 1u
#define bl_ms_MOST_THREADS UINT32_MAX
#define bl_ms_DEVICES "cpu cuda sim"

typedef bl__nodes bl_ms;

BL_HOST_FN size_t bl_ms_bytes(bl_shape shape) { return bl__nodes_bytes(shape.capacity, shape.words); }

BL_FN void bl_ms_bind(bl_ms *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    bl__nodes_bind(q, memory, shape.capacity, shape.words, shape.words);
}

BL_FN void bl_ms_init(bl_ms *q, uint32_t start, uint32_t rank, uint32_t size) {
    bl__nodes_init(q, start, start, rank, size);
}

BL_FN void bl_ms_give(bl_ms *q, uint32_t node) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint64_t top = bl_load64_relaxed(q->free);
        bl_store32_relaxed(bl__node_below(q, node), bl__node_index(top));
        if (bl_cas64_release(q->free, &top, bl__node_word(node, bl__node_tag(top)))) /* F1 */
            return;
    }
}

/* False: somebody else has done it. */
BL_FN bool bl_ms_move_tail(bl_ms *q, uint64_t tail, uint32_t next) {
    return bl_cas64_release(q->tail, &tail, bl__node_word(next, bl__node_tag(tail) + 1)); /* T1 */
}

BL_FN bool bl_ms_full(const bl_ms *q) {
    uint32_t tail = bl__node_tag(bl_load64_relaxed(q->tail));
    bl_fence_seq_cst(); /* X */
    return tail - bl__node_tag(bl_load64_relaxed(q->head)) == q->capacity;
}

BL_FN bl_outcome bl_ms_push(bl_ms *q, const uint32_t *item) {
    uint32_t node = bl__nodes_take(q);
    if (node == BL__NODE_NONE)
        return bl_ms_full(q) ? BL_QUEUE_FULL : BL_QUEUE_RETRY;
    bl_race_write(bl__node_body(q, node), item, q->words);
    for (uint32_t tries = 0;;) {
        uint64_t tail = bl_load64_acquire(q->tail); /* T2 */
        uint32_t number = bl__node_tag(tail);
        uint64_t next = bl__node_word(BL__NODE_NONE, number);
        bl_store64_relaxed(bl__node_link(q, node), bl__node_word(BL__NODE_NONE, number + 1));
        if (bl_cas64_release(bl__node_link(q, bl__node_index(tail)), &next, bl__node_word(node, number))) { /* L1 */
            bl_ms_move_tail(q, tail, node);
            return BL_QUEUE_DONE;
        }
        if (bl__node_tag(next) != number ||
            !bl_ms_move_tail(q, tail, bl__node_index(next))) /* tail has moved on without us */
            bl_backoff(tries++);
    }
}

/* The node that was head before is ours, but tail may still stand at it. */
BL_FN void bl_ms_retire(bl_ms *q, uint64_t head, uint64_t next) {
    uint64_t tail = bl_load64_relaxed(q->tail);
    if (bl__node_tag(tail) == bl__node_tag(head))
        bl_ms_move_tail(q, tail, bl__node_index(next));
    bl_ms_give(q, bl__node_index(head));
}

BL_FN bl_outcome bl_ms_pop(bl_ms *q, uint32_t *item) {
    for (uint32_t tries = 0;; bl_backoff(tries++)) {
        uint64_t head = bl_load64_acquire(q->head);                                /* H2 */
        uint64_t next = bl_load64_acquire(bl__node_link(q, bl__node_index(head))); /* L2 */
        if (bl__node_tag(next) != bl__node_tag(head))                              /* head has moved on */
            continue;
        if (bl__node_index(next) == BL__NODE_NONE) {
            bl_fence_seq_cst(); /* X */
            if (bl_load64_relaxed(bl__node_link(q, bl__node_index(head))) == next)
                return BL_QUEUE_EMPTY;
            continue;
        }
        bl_race_read(item, bl__node_body(q, bl__node_index(next)), q->words);
        uint64_t seen = head;
        if (bl_cas64_release(q->head, &seen, bl__node_word(bl__node_index(next), bl__node_tag(head) + 1))) { /* H1 */
            bl_ms_retire(q, head, next);
            return BL_QUEUE_DONE;
        }
    }
}

/* Tail first: a thread that loses its core in between finds too few, never more than there ever were. */
BL_FN uint32_t bl_ms_size(const bl_ms *q) {
    uint32_t tail = bl__node_tag(bl_load64_acquire(q->tail));
    int32_t size = (int32_t)(tail - bl__node_tag(bl_load64_relaxed(q->head)));
    return size > 0 ? (uint32_t)size : 0;
}

#define BL_SINGLY bl_ms
#include "template/singly.inc.h"
#undef BL_SINGLY

#endif
