/* Alternating pushes and pops with the wfcqueue of liburcu: pushes are wait-free, pops take a lock. A caller pushes the
 * node that it popped last, so that nothing is allocated on the way. */
#define _LGPL_SOURCE /* inlined, its fastest form */
#include "queues_peers.h"

#include <stdlib.h>
#include <urcu/wfcqueue.h>

typedef struct queue {
    struct cds_wfcq_head head;
    unsigned char pad[BL_APART];
    struct cds_wfcq_tail tail;
} queue;

typedef struct node {
    struct cds_wfcq_node link;
    uint32_t item;
} node;

typedef struct user {
    queue *queue;
    node *node; /* that it does not have in the queue */
} user;

static void *open_queue(void) {
    queue *q = aligned_alloc(BL_LINE, (sizeof *q + BL_LINE - 1) / BL_LINE * BL_LINE);
    if (q)
        cds_wfcq_init(&q->head, &q->tail);
    return q;
}

static void close_queue(void *shared) {
    queue *q = shared;
    if (q)
        cds_wfcq_destroy(&q->head, &q->tail);
    free(q);
}

static void push(void *queue, uint32_t item) {
    user *u = queue;
    u->node->item = item;
    cds_wfcq_node_init(&u->node->link);
    cds_wfcq_enqueue(&u->queue->head, &u->queue->tail, &u->node->link);
}

static bool pop(void *queue, uint32_t *item) {
    user *u = queue;
    struct cds_wfcq_node *link = cds_wfcq_dequeue_blocking(&u->queue->head, &u->queue->tail);
    if (!link)
        return false;
    u->node = caa_container_of(link, node, link);
    *item = u->node->item;
    return true;
}

static uint64_t pairs(void *queue, uint32_t first, uint64_t until, uint32_t *rounds) {
    user u = {queue, malloc(sizeof *u.node)};
    const uint64_t out = u.node ? pairs_loop(&u, first, until, rounds, push, pop) : 0; /* 0: not what went in */
    free(u.node);
    return out;
}

const pairs_peer pairs_urcu = {open_queue, pairs, close_queue};
