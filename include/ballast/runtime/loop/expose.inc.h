/* Template, part of worker_loop.inc.h: a GPU's worker publishes what it holds before a batch that may take long. */

/* The number of newest entries whose tasks make up the next batch. */
BL_FN uint32_t BL__NAME(batch_entries)(bl__worker *w, uint32_t count) {
    const uint32_t *mine = bl__stack_slot(w->stack, w->words, w->stack->top - 1 - w->lane);
    uint32_t n = w->lane < count ? bl__min(mine[1] - mine[0], BL__BATCH + 1) : BL__BATCH + 1;
    return bl_popcount(bl_warp_ballot(bl_warp_prefix_add(n) + n <= BL__BATCH));
}

BL_FN bool BL__NAME(somebody_idle)(bl__worker *w) {
    return bl_warp_any(w->lane == 0 && (uint32_t)bl_load64_relaxed(&w->run->control->idle));
}

/* The next batch may take long, and nobody can reach this worker's stack meanwhile: all that the batch does not need
 * is published before it. A long entry is halved again and again, so that
 * thieves that take the halves can do the same at once. */
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
        uint32_t n = count - (is_long ? 1 : BL__NAME(batch_entries)(w, count));
        if (n == 0 || BL__NAME(publish)(w, n) < n || !is_long)
            return;
    }
}
