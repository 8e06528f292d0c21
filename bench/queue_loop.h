/* Template: the loops of the queue benchmark for BL_QUEUE, and its row of the list. Included once per queue by the build; queues_bench.c has the
 * types. */
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define LOOP(x) BL_CAT(loop_, BL_QUEUE_(x))

static void LOOP(init)(const job *j) {
    BL_QUEUE q;
    bl_shape shape = {CAPACITY, 1, THREADS_MAX};
    BL_QUEUE_(bind)(&q, j->memory, shape, 0);
    BL_QUEUE_(init)(&q, 0, 0, 1);
}

/* Waits while the queue is full, which it is at most for a moment: there are no more items than threads times PAIRS. */
static inline void LOOP(put)(BL_QUEUE *q, uint32_t value, score *s) {
    for (uint32_t tries = 0; BL_QUEUE_(push)(q, &value) != BL_DONE; tries++)
        bl_backoff(tries);
    score_in(s, value);
}

/* For queues of which anyone may do anything. Who has pushed an item pops one, so there is one, though another thread may be on its way
 * to it. */
static inline void LOOP(pairs)(BL_QUEUE *q, uint32_t value, score *s) {
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t popped;
        LOOP(put)(q, value + i, s);
        for (uint32_t tries = 0; BL_QUEUE_(pop)(q, &popped) != BL_DONE; tries++)
            bl_backoff(tries);
        score_out(s, popped);
    }
}

/* For the owner of a deque: as much as is left of it after the thieves. */
static inline void LOOP(owner)(BL_QUEUE *q, uint32_t value, score *s) {
    uint32_t popped;
    for (uint32_t i = 0; i < PAIRS; i++)
        LOOP(put)(q, value + i, s);
    for (uint32_t i = 0; i < PAIRS && BL_QUEUE_(pop)(q, &popped) == BL_DONE; i++)
        score_out(s, popped);
}

static inline void LOOP(thief)(BL_QUEUE *q, score *s, uint32_t *tries) {
    uint32_t stolen;
    if (BL_QUEUE_(steal)(q, &stolen) == BL_DONE) {
        score_out(s, stolen);
        *tries = 0;
    } else {
        bl_backoff((*tries)++);
    }
}

static void LOOP(run)(const job *j, uint32_t thread, score *s) {
    BL_QUEUE q;
    bl_shape shape = {CAPACITY, 1, THREADS_MAX};
    BL_QUEUE_(bind)(&q, j->memory, shape, thread);
    uint32_t value = first_value(thread), tries = 0;
    for (uint32_t round = 0; round % ROUNDS != 0 || bench_now() < j->until; round++) {
        if (!(BL_QUEUE_(KIND) == BL_KIND_DEQUE))
            LOOP(pairs)(&q, value, s);
        else if (thread == 0)
            LOOP(owner)(&q, value, s);
        else
            LOOP(thief)(&q, s, &tries);
        value = next_value(value);
    }
}

/* What the owner left, by one thread after all have ended. */
static void LOOP(drain)(const job *j, score *s) {
    BL_QUEUE q;
    bl_shape shape = {CAPACITY, 1, THREADS_MAX};
    uint32_t popped;
    BL_QUEUE_(bind)(&q, j->memory, shape, 0);
    while ((BL_QUEUE_(KIND) == BL_KIND_DEQUE) && BL_QUEUE_(pop)(&q, &popped) == BL_DONE)
        score_out(s, popped);
}

static size_t LOOP(bytes)(void) {
    bl_shape shape = {CAPACITY, 1, THREADS_MAX};
    return BL_QUEUE_(bytes)(shape);
}

static const contender LOOP(contender) = {BENCH_TEXT(BL_QUEUE), BL_QUEUE_(KIND), LOOP(bytes),
                                          LOOP(init),           LOOP(run),       LOOP(drain)};

#undef LOOP
#undef BL_QUEUE_
