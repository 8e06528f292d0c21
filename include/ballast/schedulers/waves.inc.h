/* Template: what schedulers of waves have in common: an in-array of entries whose tasks are numbered, and an out-array
 * for what they spawn.
 *
 * A wave runs the tasks of the in-array; what they spawn goes to the out-array, where one fetch-and-add reserves both
 * slots and task numbers. Then the arrays change places, and the next wave begins: in another launch, or, with
 * run->stays, in the same one, when all workers have met (meeting.h). The host makes the arrays large enough for
 * whatever the tasks of a wave may spawn, so a push cannot fail; workers leave a wave to the host for which that is not
 * so. Nothing is handed from worker to worker during a wave, so a worker that finds no further share has ended it.
 *
 * The including file says how tasks are shared out:
 *   void     BL__NAME(open_share)(w)       when the worker starts: its first share, of_waves.task up to task_end,
 *                                          perhaps none
 *   bool     BL__NAME(next_share)(w)       the next share, when that is used up; false: there is none
 *   uint32_t BL__NAME(at_once)(w)          how many tasks of it to fetch now
 */
#define BL__ENDS_ALONE 1

#ifndef BL_MAX_SPAWN /* the library's, for any program */
#define BL__STAYS (BL_WARP > 1)
#else
#define BL__STAYS (BL_WARP > 1 && (BL_MAX_SPAWN) > 0)
#endif

/* Of the wave: in every other one the arrays have changed places. */
BL_FN bool BL__NAME(swapped)(const bl__worker *w) { return BL__STAYS && w->of_waves.number % 2; }
BL_FN const uint32_t *BL__NAME(in)(const bl__worker *w) { return BL__NAME(swapped)(w) ? w->run->out : w->run->in; }
BL_FN const uint32_t *BL__NAME(in_first)(const bl__worker *w) {
    return BL__NAME(swapped)(w) ? w->run->out_first : w->run->in_first;
}
BL_FN uint32_t BL__NAME(in_entries)(const bl__worker *w) {
    return BL__STAYS ? w->of_waves.entries : w->run->in_entries;
}
BL_FN uint32_t BL__NAME(in_tasks)(const bl__worker *w) { return BL__STAYS ? w->of_waves.tasks : w->run->slice_tasks; }
BL_FN uint32_t BL__NAME(number)(const bl__worker *w) { return BL__STAYS ? w->of_waves.number : 0; }

/* The last entry whose first task is not past `task`. Shares come in rising order, so it is not before the one of
 * the last share. */
BL_FN uint32_t BL__NAME(locate)(const bl__worker *w, uint32_t task) {
    const uint32_t *first = BL__NAME(in_first)(w);
    uint32_t low = w->of_waves.entry, high = BL__NAME(in_entries)(w);
#if BL_WARP > 1
    if (!w->run->sliced && high == BL__NAME(in_tasks)(w)) /* a task each */
        return task;
    while (high - low > 1) { /* each lane looks at one place */
        const uint32_t step = (high - low - 1) / BL_WARP + 1, at = low + w->lane * step;
        low += (bl_popcount(bl_warp_ballot(at < high && first[at] <= task)) - 1) * step;
        high = bl__min(high, low + step);
    }
#else
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (first[middle] <= task)
            low = middle;
        else
            high = middle;
    }
#endif
    return low;
}

/* Whether a lane moves whole entries. The lanes of a warp move long ones together, word after word. */
BL_FN bool BL__NAME(moves_alone)(const bl__worker *w) { return BL_WARP == 1 || w->words <= 8; }

/* Tasks `from` up to `to` of this launch are this worker's next share. */
BL_FN bool BL__NAME(give_share)(bl__worker *w, uint64_t from, uint64_t to) {
    uint64_t all = BL__NAME(in_tasks)(w);
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

#if BL_WARP == 1
/* The next batch of this worker's share onto its stack, at most so many tasks; how many entries. */
BL_FN uint32_t BL__NAME(copy_share)(bl__worker *w, uint32_t most) {
    uint32_t got = 0;
    for (uint32_t tasks = 0; tasks < most && got < w->batch && w->of_waves.task < w->of_waves.task_end; got++) {
        const uint32_t *entry = w->run->in + (size_t)w->of_waves.entry * w->words;
        uint32_t begin = entry[0] + (w->of_waves.task - w->run->in_first[w->of_waves.entry]);
        uint32_t n = bl__min(entry[1] - begin, bl__min(w->of_waves.task_end - w->of_waves.task, most - tasks));
        uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top + got);
        for (uint32_t i = 0; i < w->words; i++)
            slot[i] = i == 0 ? begin : i == 1 ? begin + n : entry[i];
        w->of_waves.task += n;
        w->of_waves.entry += begin + n == entry[1] ? 1u : 0u;
        tasks += n;
    }
    return got;
}

/* Where the n oldest entries of the stack go in the out-array. Lane 0 numbers their tasks. */
BL_FN uint32_t BL__NAME(reserve)(bl__worker *w, uint32_t n) {
    bl__stack *s = w->stack;
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *slot = bl__stack_slot(s, w->words, s->bottom + i);
        tasks += slot[1] - slot[0];
    }
    const uint64_t at = bl_far_add64_relaxed(&w->run->control->out[0], tasks << 32 | n);
    if ((at >> 32) + tasks > UINT32_MAX)
        bl_fetch_or32_relaxed(&w->run->control->stop, BL__STOP_TOO_MANY);
    uint32_t first = (uint32_t)(at >> 32);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *slot = bl__stack_slot(s, w->words, s->bottom + i);
        w->run->out_first[(uint32_t)at + i] = first;
        first += slot[1] - slot[0];
    }
    return (uint32_t)at;
}
#else
/* The same by a warp. Whatever it reads it asks for at once, before it knows how much of it is needed. */
BL_FN uint32_t BL__NAME(copy_part)(bl__worker *w, uint32_t most) {
    const uint32_t *entry = BL__NAME(in)(w) + (size_t)w->of_waves.entry * w->words;
    const uint32_t begin = entry[0] + (w->of_waves.task - BL__NAME(in_first)(w)[w->of_waves.entry]), end = entry[1];
    const uint32_t n = bl__min(end - begin, bl__min(w->of_waves.task_end - w->of_waves.task, most));
    uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top);
    for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
        slot[i] = i == 0 ? begin : i == 1 ? begin + n : entry[i];
    w->of_waves.task += n;
    w->of_waves.entry += begin + n == end ? 1u : 0u;
    return 1;
}

/* ... of several entries: lane i looks at the i-th from the one that comes next. */
BL_FN uint32_t BL__NAME(copy_share)(bl__worker *w, uint32_t most) {
    if (w->batch == 1)
        return BL__NAME(copy_part)(w, most);
    const uint32_t mine = w->of_waves.entry + w->lane, entries = BL__NAME(in_entries)(w);
    const uint32_t task = w->of_waves.task, end = task + bl__min(w->of_waves.task_end - task, most);
    const uint32_t *near = BL__NAME(in)(w) + (size_t)w->of_waves.entry * w->words;
    const uint32_t *entry = near + w->lane * w->words;
    uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top + w->lane);
    uint32_t begin = 0, n = 0, whole = 0;
    if (w->lane < w->batch && mine < entries) {
        const uint32_t first = BL__NAME(in_first)(w)[mine], last = entry[1];
        begin = entry[0];
        for (uint32_t i = BL__ENTRY_HEAD; BL__NAME(moves_alone)(w) && i < w->words; i++)
            slot[i] = entry[i];
        begin += task > first ? task - first : 0;
        n = first < end ? bl__min(last - begin, end - (task > first ? task : first)) : 0;
        whole = n && begin + n == last;
    }
    const uint32_t words = bl__min(w->batch, entries - w->of_waves.entry) * w->words;
    for (uint32_t i = w->lane; !BL__NAME(moves_alone)(w) && i < words; i += BL_WARP)
        bl__stack_slot(w->stack, w->words, w->stack->top + i / w->words)[i % w->words] = near[i];
    bl_warp_sync();
    if (n) {
        slot[0] = begin;
        slot[1] = begin + n;
    }
    w->of_waves.task += bl_warp_add(n);
    w->of_waves.entry += bl_popcount(bl_warp_ballot(whole != 0));
    return bl_popcount(bl_warp_ballot(n != 0));
}

/* The tasks of BL_WARP entries, lane i's are so many: those before lane i, and all. In two halves: a sum of 32 bits may
 * be too small. */
BL_FN uint64_t BL__NAME(tasks_before)(uint32_t tasks, uint64_t *all) {
    const uint32_t low = bl_warp_prefix_add(tasks & 0xffff);
    const uint32_t high = bl_warp_any(tasks >> 16 != 0) ? bl_warp_prefix_add(tasks >> 16) : 0;
    *all = bl_warp_broadcast32(low + (tasks & 0xffff), BL_WARP - 1) +
           ((uint64_t)bl_warp_broadcast32(high + (tasks >> 16), BL_WARP - 1) << 16);
    return low + ((uint64_t)high << 16);
}

BL_FN uint32_t BL__NAME(tasks_of)(bl__worker *w, uint32_t i, uint32_t n) {
    const uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->bottom + i);
    return i < n ? slot[1] - slot[0] : 0;
}

BL_FN uint32_t BL__NAME(reserve)(bl__worker *w, uint32_t n) {
    bl__control *control = w->run->control;
    uint32_t *out_first = BL__NAME(swapped)(w) ? (uint32_t *)(uintptr_t)w->run->in_first : w->run->out_first;
    const uint32_t mine = BL__NAME(tasks_of)(w, w->lane, n);
    uint64_t all, at = 0, before = 0;
    if (n == 1)
        all = bl_warp_broadcast32(mine, 0);
    else
        before = BL__NAME(tasks_before)(mine, &all);
    uint64_t tasks = all;
    BL_ROLLED
    for (uint32_t i = BL_WARP; i < n; i += BL_WARP) {
        uint64_t more;
        (void)BL__NAME(tasks_before)(BL__NAME(tasks_of)(w, i + w->lane, n), &more);
        tasks += more;
    }
    if (w->lane == 0) {
        at = bl_far_add64_relaxed(&control->out[BL__NAME(number)(w) % 3], tasks << 32 | n);
        if ((at >> 32) + tasks > BL__MOST_SPAWNED)
            bl_fetch_or32_relaxed(&control->stop, BL__STOP_TOO_MANY);
        bl__notes_spawned(w, (uint32_t)tasks, n);
    }
    const uint32_t base = bl_warp_broadcast32((uint32_t)at, 0);
    uint32_t first = bl_warp_broadcast32((uint32_t)(at >> 32), 0);
    BL_ROLLED
    for (uint32_t i = 0; i < n; i += BL_WARP) {
        if (i)
            before = BL__NAME(tasks_before)(BL__NAME(tasks_of)(w, i + w->lane, n), &all);
        if (i + w->lane < n)
            out_first[base + i + w->lane] = first + (uint32_t)before;
        first += (uint32_t)all;
    }
    return base;
}
#endif

/* The next batch of this worker's share. No more than that: what stays on the stack after a batch goes to the next
 * wave. */
BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) {
    if (w->of_waves.task == w->of_waves.task_end && !BL__NAME(next_share)(w))
        return 0;
    const uint32_t got = BL__NAME(copy_share)(w, BL__NAME(at_once)(w));
    bl_warp_sync();
    if (w->lane == 0)
        w->stack->top += got;
    bl_warp_sync();
    return got;
}

BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) {
    bl__stack *s = w->stack;
    const uint32_t base = BL__NAME(reserve)(w, n);
    uint32_t *out = (BL__NAME(swapped)(w) ? (uint32_t *)(uintptr_t)w->run->in : w->run->out) + (size_t)base * w->words;
    if (BL__NAME(moves_alone)(w)) {
        BL_ROLLED
        for (uint32_t i = w->lane; i < n; i += BL_WARP)
            bl__words_copy(out + i * w->words, bl__stack_slot(s, w->words, s->bottom + i), w->words);
    } else {
        for (uint32_t i = w->lane; i < n * w->words; i += BL_WARP)
            out[i] = bl__stack_slot(s, w->words, s->bottom + i / w->words)[i % w->words];
    }
    bl_warp_sync();
    if (w->lane == 0)
        s->bottom += n;
    bl_warp_sync();
    return n;
}

/* This worker has ended its part of the wave, and says so. */
BL_FN void BL__NAME(end_share)(bl__worker *w) {
#if BL_WARP > 1
    bl__stack *s = bl__block_stack(w);
    if (w->lane == 0 && w->stop & BL__STOP_HOST)
        s->leaves = 1;
    if (w->run->block_workers > 1)
        bl_block_sync();
    const uint32_t number = BL__NAME(number)(w);
    if (w->lane == 0 && bl__leads_block(w))
        bl__come(w, number, bl__takes_spawned(s), s->leaves != 0 || number + 1 == BL__MOST_MEETINGS);
#else
    (void)w;
#endif
}

/* When all have. True: another wave begins. */
BL_FN bool BL__NAME(next_wave)(bl__worker *w) {
#if BL_WARP > 1
    const bl__run *run = w->run;
    const uint32_t number = BL__NAME(number)(w);
    bl__stack *s = bl__block_stack(w);
    if (w->lane == 0 && bl__leads_block(w))
        bl__wait_for_all(w, number, &s->verdict);
    if (run->block_workers > 1)
        bl_block_sync();
    bl_warp_sync();
    const bool met = s->verdict.meeting == number + 1, stays = s->verdict.stays;
    const uint64_t next = s->verdict.next;
    const uint32_t tasks = (uint32_t)(next >> 32);
    bl_warp_sync();
    if (!met)
        return false;
    if (bl__notes_meetings(w) && w->lane == 0)
        bl__note_meeting(w, number, next);
    if (!stays || tasks == 0 || tasks > run->stays)
        return false;
    w->of_waves.number = number + 1;
    w->of_waves.tasks = tasks;
    w->of_waves.entries = (uint32_t)next;
    w->of_waves.task = w->of_waves.task_end = w->of_waves.entry = 0;
    BL__NAME(open_share)(w);
    return true;
#else
    return (void)w, false;
#endif
}
