/* Static: in- and out-arrays, a launch per wave (Cederman and Tsigas 2008, Algorithm 1; Gems 35, section 35.3.1).
 * BL_SCHEDULER_PROPERTIES static: none one in- and out-array, a launch per wave of tasks
 *
 * The contract is in contract.h. A wave runs the tasks of the in-array; what they spawn goes to the out-array, where one fetch-and-add reserves both
 * slots and task numbers. The host swaps the arrays and starts the next wave. Every group runs an equal, fixed share of the tasks:
 *   static:wave    as many groups as there are tasks (2008): a group per task, handed out by the hardware
 *   static:split   a fixed number of groups (Gems 35)
 * The host makes the out-array large enough for whatever the tasks of a launch may spawn, so a push cannot fail.
 */
#define BL__ENDS_ALONE 1

/* The last entry whose first task is not past `task`. */
BL_FN uint32_t BL__NAME(locate)(const bl__run *run, uint32_t task) {
    uint32_t low = 0, high = run->in_entries;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (run->in_first[middle] <= task)
            low = middle;
        else
            high = middle;
    }
    return low;
}

BL_FN void BL__NAME(open_share)(bl__worker *w) {
    const bl__run *run = w->run;
    w->task = run->first_task + (uint32_t)((uint64_t)run->slice_tasks * w->id / run->groups);
    w->task_end = run->first_task + (uint32_t)((uint64_t)run->slice_tasks * (w->id + 1) / run->groups);
    w->entry = w->task < w->task_end ? BL__NAME(locate)(run, w->task) : 0;
}

/* The next batch of this group's share. No more than that: what stays on the stack after a batch goes to the next wave. */
BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) {
    uint32_t got = 0;
    for (uint32_t tasks = 0; tasks < w->batch && got < w->batch && w->task < w->task_end; got++) {
        const uint32_t *entry = w->run->in + (size_t)w->entry * w->words;
        uint32_t begin = entry[0] + (w->task - w->run->in_first[w->entry]);
        uint32_t n = bl__min(entry[1] - begin, bl__min(w->task_end - w->task, w->batch - tasks));
        uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top + got);
        for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
            slot[i] = i == 0 ? begin : i == 1 ? begin + n : entry[i];
        w->task += n;
        w->entry += begin + n == entry[1] ? 1u : 0u;
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
    for (uint32_t i = w->lane; i < n * w->words; i += BL_WARP) {
        uint32_t word = i % w->words, *to = w->run->out + ((size_t)base + i / w->words) * w->words;
        const uint32_t *slot = bl__stack_slot(s, w->words, s->bottom + i / w->words);
        to[word] = slot[word];
    }
    bl_warp_sync();
    if (w->lane == 0)
        s->bottom += n;
    bl_warp_sync();
    return n;
}

BL_FN uint32_t BL__NAME(shown)(bl__worker *w) { return (void)w, 1; } /* nobody is ever hungry */
