/* The contract of every queue in this folder: one algorithm, one header, the same text on CPU, GPU and the simulated machine.
 *
 * A queue Q holds items of `words` 32-bit words each. It never allocates, prints or exits: it says how many bytes it needs and
 * is given them. `Q` itself is a plain view (pointers and sizes) that costs nothing to make and can be passed by value.
 *
 *   size_t     Q_bytes(capacity, words)                 memory needed; the host may call it
 *   void       Q_bind(q, memory, capacity, words)       makes the view; touches no memory
 *   void       Q_init(q, start, rank, size)             called by `size` threads, each with its rank, before any operation, or by one
 *                                                       with (0, 1); counters begin at `start` (0 but for wrap-around tests)
 *   bl_outcome Q_push(q, item)                          OK, FULL or RETRY (a lost race is not FULL)
 *   bl_outcome Q_pop(q, item)                           OK, EMPTY or RETRY
 *   bl_outcome Q_steal(q, item)                         deques: by anyone; FIFO queues: the same as pop
 *   uint32_t   Q_push_n(q, items, n), Q_pop_n(q, items, n)   up to n, contiguous; how many
 *   uint32_t   Q_size(q)                                exact at rest, an estimate under way
 *
 * Capacities are powers of two from 2 on. Deques: push and pop by the owner only, steal by anyone. An operation may wait for another
 * that is in progress, never for work. All operations are called by one lane.
 *
 * Each header states its properties in a line that the build reads, and as macros:
 *   BL_QUEUE_PROPERTIES Q: fifo|deque value|handle
 *   Q_TEXT, Q_DEQUE, Q_BOUNDED, Q_DEVICES, Q_BY_HANDLE (carries 32-bit handles: words is 1), Q_LINEARIZABLE, Q_PROGRESS,
 *   Q_BATCHED, Q_CEILING
 */
#ifndef BALLAST_QUEUES_CONTRACT_H
#define BALLAST_QUEUES_CONTRACT_H

#include "../platform/platform.h"

typedef enum bl_outcome {
    BL_DONE, /* the item was pushed or popped */
    BL_EMPTY,
    BL_FULL,
    BL_RETRY, /* another operation won; nothing is known about empty or full */
} bl_outcome;

/* Lines for the control words, then the slots. */
BL_HOST_FN unsigned char *bl__queue_line(void *memory, uint32_t line) {
    return (unsigned char *)memory + (size_t)line * BL_LINE;
}

#endif
