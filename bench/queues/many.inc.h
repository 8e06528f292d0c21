/* Template: BL_QUEUE, a queue BENCH_MANY per group of callers with stealing over the others (Kerbl et al. 2018, section
 * 6.2: the Broker Stealing Queue has a broker queue per block). A push goes to the caller's own queue; a pop that finds
 * it EMPTY tries all others in turn.
 *
 * Not FIFO overall, and EMPTY means only that each queue was empty when it was tried. */
#define MANY(x) BL_CAT(BL_QUEUE, _##x)
#define ONE(x) BL_CAT(BENCH_MANY, _##x)

typedef struct BL_QUEUE {
    BENCH_MANY own;
    unsigned char *memory;
    size_t bytes; /* of one */
    bl_shape shape;
    uint32_t queues, number, thread;
} BL_QUEUE;

/* Each has room for its share, as a power of two. */
BL_HOST_FN bl_shape MANY(share)(bl_shape shape, uint32_t queues) {
    bl_shape one = {ONE(LEAST), shape.words, shape.threads};
    while ((uint64_t)one.capacity * queues < shape.capacity)
        one.capacity *= 2;
    return one;
}
BL_HOST_FN size_t MANY(one_bytes)(bl_shape one) { return (ONE(bytes)(one) + BL_LINE - 1) / BL_LINE * BL_LINE; }
BL_HOST_FN uint32_t MANY(queues)(bl_shape shape, uint32_t group) { return (shape.threads + group - 1) / group; }

BL_HOST_FN size_t MANY(bytes)(bl_shape shape, uint32_t group) {
    uint32_t queues = MANY(queues)(shape, group);
    return queues * MANY(one_bytes)(MANY(share)(shape, queues));
}

BL_FN void MANY(bind_one)(const BL_QUEUE *q, BENCH_MANY *one, uint32_t number) {
    ONE(bind)(one, q->memory + number * q->bytes, q->shape, q->thread);
}

BL_FN void MANY(bind)(BL_QUEUE *q, void *memory, bl_shape shape, uint32_t thread, uint32_t group) {
    q->queues = MANY(queues)(shape, group);
    q->number = thread / group % q->queues;
    q->thread = thread;
    q->shape = MANY(share)(shape, q->queues);
    q->bytes = MANY(one_bytes)(q->shape);
    q->memory = (unsigned char *)memory;
    MANY(bind_one)(q, &q->own, q->number);
}

/* A block of ranks per queue, so that queues are set up in parallel. */
BL_FN void MANY(init)(BL_QUEUE *q, uint32_t start, uint32_t rank, uint32_t size) {
    uint32_t block = size < BENCH_BLOCK ? size : BENCH_BLOCK;
    for (uint32_t number = rank / block; number < q->queues; number += size / block) {
        BENCH_MANY one;
        MANY(bind_one)(q, &one, number);
        ONE(init)(&one, start, rank % block, block);
    }
}

BL_FN bl_outcome MANY(push)(BL_QUEUE *q, const uint32_t *item) { return ONE(push)(&q->own, item); }

BL_FN bl_outcome MANY(steal)(BL_QUEUE *q, uint32_t *item) {
    bl_outcome worst = BL_QUEUE_EMPTY;
    for (uint32_t i = 1; i < q->queues; i++) {
        BENCH_MANY one;
        uint32_t number = q->number + i;
        MANY(bind_one)(q, &one, number < q->queues ? number : number - q->queues);
        bl_outcome outcome = ONE(pop)(&one, item);
        if (outcome == BL_QUEUE_DONE)
            return BL_QUEUE_DONE;
        worst = outcome == BL_QUEUE_RETRY ? BL_QUEUE_RETRY : worst;
    }
    return worst;
}

BL_FN bl_outcome MANY(pop)(BL_QUEUE *q, uint32_t *item) {
    bl_outcome outcome = ONE(pop)(&q->own, item);
    return outcome == BL_QUEUE_EMPTY ? MANY(steal)(q, item) : outcome;
}

#undef MANY
#undef ONE
