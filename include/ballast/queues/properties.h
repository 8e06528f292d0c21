/* What a queue says about itself: the kinds, and the flags of Q_FLAGS. Both are also what `ballast list queues`
 * prints. */
#ifndef BL_QUEUES_PROPERTIES_H
#define BL_QUEUES_PROPERTIES_H

/* Macros instead of an enum, because #if tests them. */
#define BL_QUEUE_KIND_FIFO 0
#define BL_QUEUE_KIND_DEQUE 1   /* push and pop by the owner only, steal by anyone */
#define BL_QUEUE_KIND_WAITING 2 /* FIFO, but a push waits for room and a pop for an item: not for schedulers */
#define BL_QUEUE_KIND_CEILING 3 /* not a queue: an upper bound on the speed of one */
#define BL_QUEUE_KIND_RANGE 4   /* an interval of indices, with a contract of its own: range_contract.h */

enum {
    BL_QUEUE_LINEARIZABLE = 1u << 0, /* items come out in an order that explains all concurrent calls */
    BL_QUEUE_EXACT_EMPTY = 1u << 1,  /* EMPTY is true at a moment within the call */
    BL_QUEUE_EXACT_FULL = 1u << 2,   /* so is FULL */
    BL_QUEUE_BOUNDED =
        1u << 3, /* holds `capacity` items; otherwise at least that many, and FULL when its memory is used up */
    BL_QUEUE_STATIC_MEMORY = 1u << 4, /* never needs more memory than it was given */
    BL_QUEUE_BATCHED = 1u << 5,       /* push_n, pop_n cost less than n operations */
    BL_QUEUE_FAIR = 1u << 6,          /* first come, first served: no operation is overtaken without bound */
    BL_QUEUE_ALL_PARADIGMS = 1u << 7, /* lanes of one warp, warps and blocks may all call it, each by itself */
    BL_QUEUE_MULTI_QUEUE = 1u << 8,   /* returns at once when it is empty or full */
    BL_QUEUE_ORDERS_MEMORY = 1u << 9, /* what was written before a push is seen after the pop of that item */
    BL_QUEUE_NEEDS_CAS128 =
        1u << 10 /* a 128-bit compare-and-swap: x86-64, ARMv8, GPUs of compute capability 9.0 and newer */
};

#endif
