/* Template, part of worker_loop.inc.h: publishes what others should have; makes room for the next spawns and gets
 * records for the next forks. */

/* The newest entry, which is long, becomes two: the first half on top, so that the second can be published. Halves
 * are whole batches, as far as that goes. */
BL_FN void BL__NAME(halve)(bl__worker *w, const BL_SHARED *shared) {
    bl__stack *s = w->stack;
    (void)shared;
    if (w->lane == 0) {
        uint32_t *given = bl__stack_slot(s, w->words, s->top - 1), *kept = bl__stack_slot(s, w->words, s->top);
        bl__words_copy(kept, given, w->words);
        uint32_t middle = BL__MIDDLE(w, kept, given, shared);
        if (!BL__SPLITS && BL__BATCH > 1)
            middle = given[0] + ((given[1] - given[0]) / BL__BATCH + 1) / 2 * BL__BATCH;
        kept[1] = middle;
        given[0] = middle;
        bl__stack_move_top(s, s->top + 1);
    }
    bl_warp_sync();
}

#if BL__POSTS
/* The newest entry, except for its first task, goes to a board, if there is one. */
BL_FN void BL__NAME(post)(bl__worker *w) {
    const bl__run *run = w->run;
    if (!run->boards || BL__NAME(held)(w) == 0)
        return;
    uint32_t *newest = bl__stack_slot(w->stack, w->words, w->stack->top - 1);
    const uint32_t others = newest[1] - newest[0] - 1;
    bl_warp_sync();
    if (others < BL__LEAST_POSTED || others / BL__MOST_POSTED > run->workers)
        return;
    uint32_t is_free = bl_warp_ballot(w->lane < BL__BOARDS_SEEN && bl__board_is_free(run, w->lane));
    while (is_free && !bl_warp_any(w->lane == 0 && bl__board_reserve(run, bl_lowest_bit(is_free), others)))
        is_free &= is_free - 1;
    if (is_free == 0)
        return;
    const uint32_t board = bl_lowest_bit(is_free);
    for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
        bl_data_write(bl__board_entry(run, board, w->words) + i, newest + i, 1);
    bl_warp_sync();
    if (w->lane == 0) {
        newest[1] = newest[0] + 1;
        bl__board_post(run, board, others);
    }
    bl_warp_sync();
}
#endif

BL_FN bool BL__NAME(can_share)(bl__worker *w, uint32_t count) {
    if (count > 1)
        return true;
    const uint32_t *only = bl__stack_slot(w->stack, w->words, w->stack->bottom);
    return count == 1 && only[1] - only[0] > BL__BATCH;
}

#if BL__JOINS
/* Before the n oldest entries can be seen by others. */
BL_FN void BL__NAME(share)(bl__worker *w, uint32_t n) {
    for (uint32_t i = 0; BL_WARP == 1 && i < n; i++) {
        const uint32_t *entry = bl__stack_slot(w->stack, w->words, w->stack->bottom + i);
        bl__record_share(w->run, entry[BL__ENTRY_HEAD + sizeof(BL_PAYLOAD) / 4]);
    }
}

/* As many free records as the tasks of a batch may need. */
BL_FN void BL__NAME(keep_records)(bl__worker *w) {
    if (w->spare[0] < BL__BATCH &&
        !bl__spare_refill(w->run, w->lane, w->spare, BL__BATCH, BL__ENDS_ALONE ? BL__BATCH : BL__SPARE_CHUNK) &&
        w->lane == 0)
        w->stop = bl_fetch_or32_relaxed(&w->run->control->stop, BL__STOP_RECORDS) | BL__STOP_RECORDS;
}
#endif

BL_FN uint32_t BL__NAME(share_and_publish)(bl__worker *w, uint32_t n) {
#if BL__JOINS
    BL__NAME(share)(w, n);
#endif
    return BL__NAME(publish)(w, n);
}

#if BL_WARP == 1
/* The same, to another node. */
BL_FN void BL__NAME(share_and_give)(bl__worker *w, uint32_t n) {
#if BL__JOINS
    BL__NAME(share)(w, n);
#endif
    bl__node_gives(w->run, w->stack, n);
}
#endif

#if !BL__HIDES
/* Publishes what others should have: the oldest entries, if there are too many or the queue has run empty. A GPU's
 * worker does it in expose.inc.h. */
BL_FN void BL__NAME(settle)(bl__worker *w, const BL_SHARED *shared) {
    const bl__run *run = w->run;
    if (BL_WARP > 1 && (BL_MAX_SPAWN) == 0) /* a wave that is all there is */
        return;
    uint32_t count = BL__NAME(held)(w), n = 0;
    w->peak = bl__max(w->peak, count);
    if (BL_WARP == 1)
        w->calm = bl__max(w->calm, bl__min(count, run->private_limit));
    if (count > run->private_limit && !run->alone) { /* in a loop run alone nobody would look for it */
        n = count - run->private_limit / 2;
    } else if (run->workers > 1 && BL__NAME(can_share)(w, count) && bl_warp_any(w->lane == 0 && w->shown == 0)) {
        if (count == 1)
            BL__NAME(halve)(w, shared);
        n = bl__max(count / 2, 1);
    }
    if (n && BL__NAME(share_and_publish)(w, n))
        bl__wake_for_work(run);
    if (BL_WARP == 1 && !BL__ENDS_ALONE && w->stack->extras) /* so nobody goes idle while there are any */
        bl__take_extras(w);
}
#endif

/* Room for what the next batch may spawn, and records for its forks; else asks for a pause. */
BL_FN void BL__NAME(make_ready)(bl__worker *w) {
    const bl__run *run = w->run;
#if BL__JOINS
    BL__NAME(keep_records)(w);
#endif
    if (w->lane == 0 && run->stack_capacity - bl__stack_count(w->stack) < run->outbox)
        w->stop = bl_fetch_or32_relaxed(&run->control->stop, BL__STOP_GROW) | BL__STOP_GROW;
    bl_warp_sync();
}
