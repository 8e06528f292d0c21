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

/* Whether an entry of so many tasks is cut into many at once: a very long one, except in a deque, where the thieves
 * would get in each other's way. There it is halved, and the halves go from thief to thief. */
#define BL__CUTS(tasks) (!BL__SPLITS && !BL__EMPTY_WHEN_IDLE && (tasks) / BL__BATCH > BL_WARP)

/* The newest entry becomes up to `most` entries of whole batches, the first of them on top; a lane writes each. */
BL_FN void BL__NAME(cut)(bl__worker *w, uint32_t most) {
    bl__stack *s = w->stack;
    uint32_t *given = bl__stack_slot(s, w->words, s->top - 1);
    const uint32_t begin = given[0], end = given[1], batches = (end - begin - 1) / BL__BATCH + 1;
    const uint32_t n = bl__min(bl__min(batches, most), BL_WARP), least = batches / n, larger = batches % n;
    bl_warp_sync();
    if (w->lane < n) {
        uint32_t *part = bl__stack_slot(s, w->words, s->top + n - 2 - w->lane);
        const uint32_t before = w->lane * least + bl__min(w->lane, larger);
        if (part != given)
            bl__words_copy(part + BL__ENTRY_HEAD, given + BL__ENTRY_HEAD, w->words - BL__ENTRY_HEAD);
        part[0] = begin + before * BL__BATCH;
        part[1] = w->lane == n - 1 ? end : part[0] + (least + (w->lane < larger)) * BL__BATCH;
    }
    bl_warp_sync();
    if (w->lane == 0)
        bl__stack_move_top(s, s->top + n - 1);
    bl_warp_sync();
}

/* Nobody can reach this worker's stack during the next batch: all that the batch does not need is published before it.
 * A long entry is divided until one batch is left, and whoever takes a part divides it further. */
BL_FN void BL__NAME(expose)(bl__worker *w, const BL_SHARED *shared) {
    const bl__run *run = w->run;
    if (run->one_per_node || run->alone || run->workers == 1)
        return;
    for (;;) {
        uint32_t count = BL__NAME(held)(w);
        const uint32_t *newest = bl__stack_slot(w->stack, w->words, w->stack->top - 1);
        const uint32_t tasks = newest[1] - newest[0];
        bool is_long = tasks > BL__BATCH;
        bl_warp_sync();
        if (is_long && run->stack_capacity - count > run->outbox) {
            if (BL__CUTS(tasks))
                BL__NAME(cut)(w, run->stack_capacity - count - run->outbox + 1);
            else
                BL__NAME(halve)(w, shared);
            continue;
        }
        uint32_t n = count - (is_long ? 1 : BL__NAME(newest_with)(w, BL__BATCH, count));
        if (n == 0 || BL__NAME(publish)(w, n) < n || !is_long)
            return;
    }
}
#undef BL__CUTS
