/* Template, part of worker_loop.inc.h: what a GPU's worker publishes, after a batch and before one that may take
 * long. */

/* What to expect of the next batch. Of its first one a worker knows nothing, nor a block of its second, if the first
 * spawned; opaque, or the compiler makes a copy of all for that one. If the last one took very long, somebody may run
 * out of work during the next. If it took long, or another one lately, or those of others do, it is enough to ask
 * whether somebody has. */
BL_FN bool BL__NAME(may_take_long)(bl__worker *w, uint32_t pace) {
    if (bl_opaque32((uint32_t)w->tasks) < (BL__BATCH > 1 ? 1 : 2) || pace & BL__SLOW)
        return true;
    return pace & BL__PACE && bl_warp_any(w->lane == 0 && (uint32_t)bl_load64_relaxed(&w->run->control->idle));
}

/* An entry with many tasks is for all that are idle, at once, however short they are. */
BL_FN uint32_t BL__NAME(pace_of_width)(uint32_t tasks) { return tasks > 4 * BL__BATCH ? BL__COARSE : 0; }

/* How many tasks the newest entry has. Lane 0 may change it next, so no lane continues before all have looked. */
BL_FN uint32_t BL__NAME(width)(bl__worker *w) {
    const uint32_t *newest = bl__stack_slot(w->stack, w->words, w->stack->top - 1);
    const uint32_t tasks = newest[1] - newest[0];
    bl_warp_sync();
    return tasks;
}

/* The number of newest entries that have so many tasks, a batch at most; 0 if the newest has more. */
BL_FN uint32_t BL__NAME(newest_with)(bl__worker *w, uint32_t tasks, uint32_t count) {
    const uint32_t *mine = bl__stack_slot(w->stack, w->words, w->stack->top - 1 - w->lane);
    uint32_t n = w->lane < count ? bl__min(mine[1] - mine[0], BL__BATCH + 1) : BL__BATCH + 1;
    return bl_popcount(bl_warp_ballot(bl_warp_prefix_add(n) + n <= tasks));
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

/* How many of its oldest entries a worker should publish. After a batch: some if it holds too many or its queue has run
 * empty. What the lanes are about to run at the same time is begun sooner here than anywhere else, so that stays. Lanes
 * that join wait for the one that climbs highest: there a quarter of a batch is enough, unless tasks take long.
 *
 * `exposes`: before a batch that may take long. Nobody can reach this worker's stack during the batch, so all that the
 * batch does not need. A long entry is divided until one batch is left, and whoever takes a part divides it further;
 * `more`: the stack was full before that was so, so ask again. */
BL_FN uint32_t BL__NAME(surplus)(bl__worker *w, const BL_SHARED *shared, bool exposes, bool *more) {
    const bl__run *run = w->run;
    *more = false;
    if (exposes && (BL__ONE_PER_NODE(run) || run->alone || run->workers == 1))
        return 0;
    for (;;) {
        const uint32_t count = BL__NAME(held)(w);
        if (!exposes) {
            w->peak = bl__max(w->peak, count);
            if (count > run->private_limit && !run->alone) /* in a loop run alone nobody would look for it */
                return count - run->private_limit / 2;
            if (run->workers == 1 || count == 0 || !bl_warp_any(w->lane == 0 && w->shown == 0))
                return 0;
        }
        const uint32_t tasks = BL__NAME(width)(w);
        const bool is_wide = tasks > BL__BATCH;
        bool divides = exposes && is_wide && run->stack_capacity - count > run->outbox;
        uint32_t keeps = BL__BATCH; /* tasks */
        if (!exposes) {
            divides = count == 1;
            if (divides && !is_wide)
                return 0;
            if (BL__JOINS && !bl_warp_any(w->lane == 0 && w->stop & BL__PACE))
                keeps = bl__max(BL__BATCH / 4, 1);
        }
        if (divides) {
            if (exposes && BL__CUTS(tasks))
                BL__NAME(cut)(w, run->stack_capacity - count - run->outbox + 1);
            else
                BL__NAME(halve)(w, shared);
            if (exposes)
                continue;
            w->stop |= BL__NAME(pace_of_width)(tasks);
            return 1;
        }
        *more = exposes && is_wide;
        const uint32_t most = count - (*more ? 1 : BL__NAME(newest_with)(w, keeps, count));
        return exposes ? most : bl__min(most, bl__max(count / 2, 1));
    }
}
#undef BL__CUTS

BL_FN void BL__NAME(publish_surplus)(bl__worker *w, const BL_SHARED *shared, bool exposes) {
    bool more;
    do {
        const uint32_t n = BL__NAME(surplus)(w, shared, exposes, &more);
        if (n == 0 || BL__NAME(publish)(w, n) < n)
            return;
    } while (more);
}
