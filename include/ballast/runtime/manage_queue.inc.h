/* Template: what the host does with the queues of a run while no worker is running: set up, fill, count, drain.
 * Included once per queue with BL_QUEUE; called by `size` threads, each with its rank. No more of them than workers
 * touch a queue that knows its threads. */
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define BL__NAME(x) BL_CAT(BL_QUEUE, __##x)

BL_FN BL_QUEUE BL__NAME(managed)(const bl__run *run, uint32_t i, uint32_t rank) {
    BL_QUEUE q;
    bl_shape shape = {run->capacity, BL_QUEUE_(BY_HANDLE) ? 1 : run->words, run->workers};
    BL_QUEUE_(bind)(&q, run->queues + (size_t)i * run->queue_stride, shape, rank);
    return q;
}

BL_FN uint32_t BL__NAME(helpers)(const bl__run *run, uint32_t size) {
    return BL_QUEUE_(PER_THREAD) && run->workers < size ? run->workers : size;
}

BL_CALLED_FN void BL__NAME(set_up)(const bl__run *run, uint32_t entries, uint32_t rank, uint32_t size) {
    /* All threads share the slots of one queue, and each has a queue, or several, where there are many. */
    uint32_t share = size > run->queue_count ? size / run->queue_count : 1, of = rank % share;
    for (uint32_t i = rank / share; i < run->queue_count; i += size / share) {
        BL_QUEUE q = BL__NAME(managed)(run, i, of);
        BL_QUEUE_(init)(&q, 0, of, share);
    }
#if BL_QUEUE_(BY_HANDLE)
    bl__pool pool;
    bl__pool_bind(&pool, run->pool, run->pool_capacity, run->workers, run->words);
    uint32_t used = (entries + BL__POOL_CHUNK - 1) / BL__POOL_CHUNK * BL__POOL_CHUNK;
    bl__pool_init(&pool, run->workers, used, rank, size);
#else
    (void)entries;
#endif
}

/* A queue that anyone may push to and pop from, alone: all threads help with it, each with its share. */
#define BL__SHARED_QUEUE(run) (BL_QUEUE_(KIND) == BL_QUEUE_KIND_FIFO && (run)->queue_count == 1)
BL_FN uint32_t BL__NAME(share)(uint32_t all, uint32_t rank, uint32_t size) {
    return (uint32_t)((uint64_t)all * rank / size);
}

/* Spreads the entries evenly, or as the host has dealt them out. The caller made the queues large enough. */
BL_CALLED_FN void BL__NAME(fill)(const bl__run *run, const uint32_t *entries, uint32_t count, uint32_t rank,
                                 uint32_t size) {
    size = BL__NAME(helpers)(run, size);
    if (rank >= size)
        return;
#if BL_QUEUE_(BY_HANDLE)
    bl__pool pool;
    bl__pool_bind(&pool, run->pool, run->pool_capacity, run->workers, run->words);
    for (uint32_t i = rank, at = 0; i < count; i += size) {
        while (run->dealt && i >= run->dealt[at + 1])
            at++;
        BL_QUEUE q = BL__NAME(managed)(run, run->dealt ? at : i % run->queue_count, rank);
        bl_data_write(bl__pool_entry(&pool, i), entries + (size_t)i * run->words, run->words);
        while (BL_QUEUE_(push)(&q, &i) != BL_QUEUE_DONE)
            ;
    }
#else
    const bool shared = BL__SHARED_QUEUE(run);
    for (uint32_t i = shared ? 0 : rank; i < run->queue_count; i += size) {
        BL_QUEUE q = BL__NAME(managed)(run, i, rank);
        uint32_t from = shared ? BL__NAME(share)(count, rank, size) : bl__dealt(run, count, i);
        uint32_t to = shared ? BL__NAME(share)(count, rank + 1, size) : bl__dealt(run, count, i + 1);
        while (from < to)
            from += BL_QUEUE_(push_n)(&q, entries + (size_t)from * run->words, to - from);
    }
#endif
}

BL_CALLED_FN void BL__NAME(count)(const bl__run *run, uint64_t *total, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i < run->queue_count; i += size) {
        BL_QUEUE q = BL__NAME(managed)(run, i, rank);
        bl_fetch_add64_relaxed(total, BL_QUEUE_(size)(&q));
    }
}

/* Everything in the queues into one flat array, `count` entries; `total` counts on from what is in it already. */
BL_CALLED_FN void BL__NAME(drain)(const bl__run *run, uint32_t *entries, uint32_t count, uint64_t *total, uint32_t rank,
                                  uint32_t size) {
    size = BL__NAME(helpers)(run, size);
    if (rank >= size)
        return;
#if BL_QUEUE_(BY_HANDLE)
    (void)count;
    /* Anyone may pop, so all threads can help with a single queue. */
    for (uint32_t i = run->queue_count == 1 ? 0 : rank; i < run->queue_count; i += size) {
        BL_QUEUE q = BL__NAME(managed)(run, i, rank);
        bl__pool pool;
        bl__pool_bind(&pool, run->pool, run->pool_capacity, run->workers, run->words);
        uint32_t handle = 0;
        while (BL_QUEUE_(pop)(&q, &handle) == BL_QUEUE_DONE)
            bl_data_read(entries + (size_t)bl_fetch_add64_relaxed(total, 1) * run->words, bl__pool_entry(&pool, handle),
                         run->words);
    }
#else
    const bool shared = BL__SHARED_QUEUE(run);
    for (uint32_t i = shared ? 0 : rank; i < run->queue_count; i += size) {
        BL_QUEUE q = BL__NAME(managed)(run, i, rank);
        uint32_t n =
            shared ? BL__NAME(share)(count, rank + 1, size) - BL__NAME(share)(count, rank, size) : BL_QUEUE_(size)(&q);
        uint64_t at = bl_fetch_add64_relaxed(total, n);
        for (uint32_t done = 0; done < n;)
            done += BL_QUEUE_(pop_n)(&q, entries + (size_t)(at + done) * run->words, n - done);
    }
#endif
}

#undef BL__SHARED_QUEUE
#undef BL__NAME
#undef BL_QUEUE_
