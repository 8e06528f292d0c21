/* Template, part of worker_loop.inc.h: a GPU's worker publishes what it holds before a batch that may take long. */

/* What to expect of the next batch. Of its first one a worker knows nothing, nor a block of its second, if the first
 * spawned; opaque, or the compiler makes a copy of all for that one. If the last one took very long, somebody may run
 * out of work during the next. If it took long, or another one lately, or those of others do, it is enough to ask
 * whether somebody has. */
BL_FN bool BL__NAME(may_take_long)(bl__worker *w, uint32_t pace) {
    if (bl_opaque32((uint32_t)w->tasks) < (BL__BATCH > 1 ? 1 : 2) || pace & BL__SLOW)
        return true;
    return pace & BL__PACE && bl_warp_any(w->lane == 0 && (uint32_t)bl_load64_relaxed(&w->run->control->idle));
}

/* Nobody can reach this worker's stack during the next batch: all that the batch does not need is published before it.
 * A long entry is halved again and again, so that thieves that take the halves can do the same at once. */
BL_FN void BL__NAME(expose)(bl__worker *w, const BL_SHARED *shared) {
    const bl__run *run = w->run;
    if (run->one_per_node || run->alone || run->workers == 1)
        return;
    for (;;) {
        uint32_t count = BL__NAME(held)(w);
        const uint32_t *newest = bl__stack_slot(w->stack, w->words, w->stack->top - 1);
        bool is_long = newest[1] - newest[0] > BL__BATCH;
        bl_warp_sync();
        if (is_long && run->stack_capacity - count > run->outbox) {
            BL__NAME(halve)(w, shared);
            continue;
        }
        uint32_t n = count - (is_long ? 1 : BL__NAME(newest_with)(w, BL__BATCH, count));
        if (n == 0 || BL__NAME(publish)(w, n) < n || !is_long)
            return;
    }
}
