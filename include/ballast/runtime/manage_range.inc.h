/* Template: manage_queue.inc.h for a range: what the host does with the regions of a run while no worker is running.
 * Included once per range with BL_QUEUE. */
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define BL__NAME(x) BL_CAT(BL_QUEUE, __##x)

BL_FN BL_QUEUE BL__NAME(bound)(unsigned char *memory) {
    BL_QUEUE q;
    BL_QUEUE_(bind)(&q, memory);
    return q;
}

BL_CALLED_FN void BL__NAME(set_up)(const bl__run *run, uint32_t entries, uint32_t rank, uint32_t size) {
    (void)entries;
    for (uint32_t i = rank; i < run->queue_count; i += size) {
        bl__region r = bl__region_of(run, i);
        BL_QUEUE loop = BL__NAME(bound)(r.loop), own = BL__NAME(bound)(r.own);
        BL_QUEUE_(init)(&loop, 0, 1);
        BL_QUEUE_(init)(&own, 0, 1);
        bl_store32_relaxed(r.emptied, 0);
    }
}

/* The entries, evenly, to the end of each region; and the indices of the loop, if there is one. */
BL_CALLED_FN void BL__NAME(fill)(const bl__run *run, const uint32_t *entries, uint32_t count, uint32_t rank,
                                 uint32_t size) {
    uint64_t all = run->of_range.loop_tasks, queues = run->queue_count;
    for (uint32_t i = rank; i < run->queue_count; i += size) {
        bl__region r = bl__region_of(run, i);
        BL_QUEUE loop = BL__NAME(bound)(r.loop), own = BL__NAME(bound)(r.own);
        uint32_t from = bl__dealt(run, count, i), n = bl__dealt(run, count, i + 1) - from;
        uint32_t first = run->capacity - n;
        if (n) /* of a loop there are none, and no array of them */
            bl_data_write(bl__region_slot(r, run->words, first), entries + (size_t)from * run->words, n * run->words);
        BL_QUEUE_(set)(&own, first, run->capacity);
        BL_QUEUE_(set)(&loop, (uint32_t)(all * i / queues), (uint32_t)(all * (i + 1) / queues));
    }
}

BL_CALLED_FN void BL__NAME(count)(const bl__run *run, uint64_t *total, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i < run->queue_count; i += size) {
        bl__region r = bl__region_of(run, i);
        BL_QUEUE loop = BL__NAME(bound)(r.loop), own = BL__NAME(bound)(r.own);
        bl_fetch_add64_relaxed(total, BL_QUEUE_(size)(&own) + (BL_QUEUE_(size)(&loop) ? 1u : 0u));
    }
}

/* What is left of a loop range becomes one entry. */
BL_CALLED_FN void BL__NAME(drain)(const bl__run *run, uint32_t *entries, uint32_t count, uint64_t *total, uint32_t rank,
                                  uint32_t size) {
    (void)count;
    for (uint32_t i = rank; i < run->queue_count; i += size) {
        bl__region r = bl__region_of(run, i);
        BL_QUEUE loop = BL__NAME(bound)(r.loop), own = BL__NAME(bound)(r.own);
        uint32_t from = 0, to = 0;
        if (BL_QUEUE_(pop)(&own, UINT32_MAX, &from, &to) == BL_QUEUE_DONE) {
            uint64_t at = bl_fetch_add64_relaxed(total, to - from);
            bl_data_read(entries + at * run->words, bl__region_slot(r, run->words, from), (to - from) * run->words);
        }
        if (BL_QUEUE_(pop)(&loop, UINT32_MAX, &from, &to) == BL_QUEUE_DONE) {
            uint32_t *entry = entries + bl_fetch_add64_relaxed(total, 1) * run->words;
            bl_data_read(entry, run->in, run->words);
            entry[0] = from;
            entry[1] = to;
        }
    }
}

#undef BL__NAME
#undef BL_QUEUE_
