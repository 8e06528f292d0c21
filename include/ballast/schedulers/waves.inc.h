/* Template: what schedulers of waves have in common: an in-array of entries whose tasks are numbered, and an out-array
 * for what they spawn.
 *
 * A wave runs the tasks of the in-array; what they spawn goes to the out-array, where one fetch-and-add reserves both
 * slots and task numbers. The host swaps the arrays and starts the next wave. It makes the out-array large enough for
 * whatever the tasks of a launch may spawn, so a push cannot fail. Nothing is handed from worker to worker during a
 * wave, so a worker that finds no further share has ended.
 *
 * The including file says how tasks are shared out:
 *   void     BL__NAME(open_share)(w)       when the worker starts: its first share, of_waves.task up to task_end,
 *                                          perhaps none
 *   bool     BL__NAME(next_share)(w)       the next share, when that is used up; false: there is none
 *   uint32_t BL__NAME(at_once)(w)          how many tasks of it to fetch now
 */
#define BL__ENDS_ALONE 1

/* The last entry whose first task is not past `task`. Shares come in rising order, so it is not before the one of
 * the last share. */
BL_FN uint32_t BL__NAME(locate)(const bl__worker *w, uint32_t task) {
    const bl__run *run = w->run;
    uint32_t low = w->of_waves.entry, high = run->in_entries;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (run->in_first[middle] <= task)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Tasks `from` up to `to` of this launch are this worker's next share. */
BL_FN bool BL__NAME(give_share)(bl__worker *w, uint64_t from, uint64_t to) {
    uint64_t all = w->run->slice_tasks;
    if (from >= all || from >= to)
        return false;
    w->of_waves.task = w->run->first_task + (uint32_t)from;
    w->of_waves.task_end = w->run->first_task + (uint32_t)(to < all ? to : all);
    w->of_waves.entry = BL__NAME(locate)(w, w->of_waves.task);
    return true;
}

BL_FN void BL__NAME(open_share)(bl__worker *w);
BL_FN bool BL__NAME(next_share)(bl__worker *w);
BL_FN uint32_t BL__NAME(at_once)(bl__worker *w);

/* The next batch of this worker's share. No more than that: what stays on the stack after a batch goes to the next
 * wave. */
BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) {
    uint32_t got = 0;
    if (w->of_waves.task == w->of_waves.task_end && !BL__NAME(next_share)(w))
        return 0;
    uint32_t most = BL__NAME(at_once)(w);
    for (uint32_t tasks = 0; tasks < most && got < w->batch && w->of_waves.task < w->of_waves.task_end; got++) {
        const uint32_t *entry = w->run->in + (size_t)w->of_waves.entry * w->words;
        uint32_t begin = entry[0] + (w->of_waves.task - w->run->in_first[w->of_waves.entry]);
        uint32_t n = bl__min(entry[1] - begin, bl__min(w->of_waves.task_end - w->of_waves.task, most - tasks));
        uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top + got);
        for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
            slot[i] = i == 0 ? begin : i == 1 ? begin + n : entry[i];
        w->of_waves.task += n;
        w->of_waves.entry += begin + n == entry[1] ? 1u : 0u;
        tasks += n;
    }
    bl_warp_sync();
    if (w->lane == 0)
        w->stack->top += got;
    bl_warp_sync();
    return got;
}

BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) {
    bl__stack *s = w->stack;
    uint64_t at = 0;
    if (w->lane == 0) {
        uint64_t tasks = 0;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t *slot = bl__stack_slot(s, w->words, s->bottom + i);
            tasks += slot[1] - slot[0];
        }
        at = bl_fetch_add64_relaxed(&w->run->control->out, tasks << 32 | n);
        if ((at >> 32) + tasks > UINT32_MAX)
            bl_fetch_or32_relaxed(&w->run->control->stop, BL__STOP_TOO_MANY);
        uint32_t first = (uint32_t)(at >> 32);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t *slot = bl__stack_slot(s, w->words, s->bottom + i);
            w->run->out_first[(uint32_t)at + i] = first;
            first += slot[1] - slot[0];
        }
    }
    uint32_t base = bl_warp_broadcast32((uint32_t)at, 0);
    uint32_t *out = w->run->out + (size_t)base * w->words;
    for (uint32_t i = 0; BL_WARP == 1 && i < n;
         i++) /* divisions by a number that the library does not know would take longer */
        bl__words_copy(out + (size_t)i * w->words, bl__stack_slot(s, w->words, s->bottom + i), w->words);
    for (uint32_t i = w->lane; BL_WARP > 1 && i < n * w->words; i += BL_WARP)
        out[i] = bl__stack_slot(s, w->words, s->bottom + i / w->words)[i % w->words];
    bl_warp_sync();
    if (w->lane == 0)
        s->bottom += n;
    bl_warp_sync();
    return n;
}
