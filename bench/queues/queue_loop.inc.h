/* Template: the measured loops for BL_QUEUE, the same source on CPU and GPU. Waits go through the platform; the loops
 * do not count what the host can compute. With BENCH_MANY, BL_QUEUE stands for many queues (many.inc.h) and is given
 * the number of callers that share one. queue_cpu.inc.h and queue_cuda.inc.h include it and undefine its names. */
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define LOOP(x) BL_CAT(BL_CAT(loop_, BL_QUEUE), _##x)

/* One word per item, as a literal that the compiler can see. */
BL_FN void LOOP(bind)(BL_QUEUE *q, const bench_job *j, uint32_t rank) {
    bl_shape shape = {j->capacity, 1, j->threads};
#ifdef BENCH_MANY
    BL_QUEUE_(bind)(q, j->memory, shape, rank, j->group);
#else
    BL_QUEUE_(bind)(q, j->memory, shape, rank);
#endif
}

BL_FN void LOOP(init)(const bench_job *j, uint32_t rank, uint32_t size) {
    BL_QUEUE q;
    LOOP(bind)(&q, j, 0);
    BL_QUEUE_(init)(&q, 0, rank, size);
}

BL_FN void LOOP(fill)(const bench_job *j, uint32_t rank, uint32_t size) {
    BL_QUEUE q;
    LOOP(bind)(&q, j, rank);
    for (uint32_t i = rank; i < j->items; i += size) {
        uint32_t item = BENCH_FILLED + i;
#ifdef BENCH_MANY
        LOOP(bind)(&q, j, i % j->threads); /* spread over all of them */
#endif
        while (BL_QUEUE_(push)(&q, &item) == BL_QUEUE_RETRY)
            ;
    }
}

/* A caller has pushed an item before it pops one, so there is an item for every pop, though another caller may still be
 * storing it. */
BL_FN uint64_t LOOP(ten)(BL_QUEUE *q, uint32_t value) {
    uint64_t out = 0;
    for (uint32_t i = 0; i < BENCH_PAIRS; i++) {
        uint32_t item = value + i, tries = 0;
        while (BL_QUEUE_(push)(q, &item) != BL_QUEUE_DONE)
            bl_backoff(tries++);
        tries = 0;
        while (BL_QUEUE_(pop)(q, &item) != BL_QUEUE_DONE)
            bl_backoff(tries++);
        out += (uint64_t)item * item;
    }
    return out;
}

BL_FN bl_outcome LOOP(try_push)(BL_QUEUE *q, uint32_t item) {
    bl_outcome outcome = BL_QUEUE_(push)(q, &item);
    for (uint32_t tries = 0; outcome == BL_QUEUE_RETRY; tries++) {
        bl_backoff(tries);
        outcome = BL_QUEUE_(push)(q, &item);
    }
    return outcome;
}
BL_FN bl_outcome LOOP(try_pop)(BL_QUEUE *q, uint32_t *item) {
    bl_outcome outcome = BL_QUEUE_(pop)(q, item);
    for (uint32_t tries = 0; outcome == BL_QUEUE_RETRY; tries++) {
        bl_backoff(tries);
        outcome = BL_QUEUE_(pop)(q, item);
    }
    return outcome;
}

/* One to ten times: a push with one probability, a pop with another. FULL and EMPTY are valid answers. */
BL_FN void LOOP(mixed)(const bench_job *j, uint32_t rank) {
    BL_QUEUE q;
    LOOP(bind)(&q, j, rank);
    uint32_t random = bench_random_start(j, rank), first = bench_first(j, rank), value = first, pops = 0;
    uint64_t out = 0;
    float work = (float)rank; /* not predictable by the compiler */
    for (uint32_t round = 0; round < j->rounds; round++) {
        random = bench_random_next(random);
        for (uint32_t left = bench_some_pairs(random); left > 0; left--) {
            uint32_t item = 0;
            random = bench_random_next(random);
            if (bench_chance(random) < j->push && LOOP(try_push)(&q, value) == BL_QUEUE_DONE)
                value++;
            random = bench_random_next(random);
            if (bench_chance(random) < j->pop && LOOP(try_pop)(&q, &item) == BL_QUEUE_DONE) {
                out += (uint64_t)item * item;
                pops++;
                for (uint32_t i = 0; i < j->fma; i++)
                    work = work * 0.999f + 0.001f;
            }
        }
    }
    j->out[rank] = out;
    j->pushes[rank] = value - first;
    j->pops[rank] = pops;
    j->work[rank] = work;
}

BL_FN void LOOP(drain)(const bench_job *j, uint32_t rank) {
    BL_QUEUE q;
    LOOP(bind)(&q, j, rank);
    uint64_t out = 0;
    uint32_t pops = 0, item = 0;
    while (LOOP(try_pop)(&q, &item) == BL_QUEUE_DONE) {
        out += (uint64_t)item * item;
        pops++;
    }
    j->out[rank] = out;
    j->pops[rank] = pops;
}

/* For deques: pushes ten, and pops those that the thieves have left. No new round starts when enough are done or time
 * is up. */
BL_FN void LOOP(owner)(const bench_job *j, uint32_t rank) {
    BL_QUEUE q;
    LOOP(bind)(&q, j, rank);
    uint32_t first = bench_first(j, rank), value = first, pops = 0, item = 0;
    uint64_t out = 0;
    for (uint32_t round = 0; round < j->rounds && (round % BENCH_ROUNDS != 0 || bl_time() < j->until); round++) {
        for (uint32_t i = 0; i < BENCH_PAIRS; i++)
            value += LOOP(try_push)(&q, value) == BL_QUEUE_DONE;
        for (uint32_t i = 0; i < BENCH_PAIRS && LOOP(try_pop)(&q, &item) == BL_QUEUE_DONE; i++) {
            out += (uint64_t)item * item;
            pops++;
        }
    }
    bl_store32_relaxed(j->ended, 1);
    j->out[rank] = out;
    j->pushes[rank] = value - first;
    j->pops[rank] = pops;
}

BL_FN void LOOP(thief)(const bench_job *j, uint32_t rank) {
    BL_QUEUE q;
    LOOP(bind)(&q, j, rank);
    uint32_t pops = 0, tries = 0, item = 0;
    uint64_t out = 0;
    while (!bl_load32_relaxed(j->ended)) {
        if (BL_QUEUE_(steal)(&q, &item) != BL_QUEUE_DONE) {
            bl_backoff(tries++);
            continue;
        }
        out += (uint64_t)item * item;
        pops++;
        tries = 0;
    }
    j->out[rank] = out;
    j->pushes[rank] = 0;
    j->pops[rank] = pops;
}
