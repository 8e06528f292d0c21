/* Template, part of worker_loop.inc.h: a CPU thread takes its newest entry and runs it, task by task. */

#if BL__RECURSES
#define BL__RECURSION BL__NAME(recursion)
#else
#define BL__RECURSION void /* there is none */
#endif

/* A CPU thread that has enough to do, room to do it in and nobody waiting for it need not prepare. */
BL_HOT_FN bool BL__NAME(may_go_on)(bl__worker *w) {
    const bl__run *run = w->run;
    if (bl__stack_count(w->stack) - 1 >= w->calm || bl_load32_host(&run->control->stop) ||
        (uint32_t)bl_load64_relaxed(&run->control->idle) || (BL__JOINS && w->spare[0] == 0))
        return false;
    bl_store64_host(&w->tally->beat, w->tasks);
    return true;
}

/* A CPU thread stays with its newest entry until that is used up, a task has spawned, or somebody is out of work:
 * the payload stays in registers, and what the tasks of one entry have in common is computed once. Before each task
 * the entry says what is left of it, for thieves; after a task during which a thief came, it is read again. */
BL_HOT_FN void BL__NAME(run_entry)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local,
                                   BL__RECURSION *recursion) {
    bl__stack *s = w->stack;
    const bl__run *run = w->run;
    const bl__control *control = run->control;
    (void)recursion;
    const uint32_t words = BL_ENTRY_WORDS(run); /* w->words, but the compiler knows it */
    uint32_t top = s->top, *entry = bl__stack_slot(s, words, top - 1), index = entry[0], end = entry[1];
    BL__CARRIED carried;
    bl__words_copy((bl_word *)&carried, entry + BL__ENTRY_HEAD, words - BL__ENTRY_HEAD);
    for (;;) {
        uint32_t n = BL__NAME(next)(w, end - index);
        bool last = index + n == end;
        if (last)
            bl__stack_move_top(s, top - 1); /* before the task, so that its spawns take the entry's place */
        else
            entry[0] = index + n;
#if BL__JOINS
        task->join = carried.join;
        task->index = index;
        task->returned->ended = BL__UNENDED;
#endif
        if (BL__ENDS_ALONE) /* room in the out-array was made for so much only */
            task->limit = s->top + run->outbox;
#if BL__RECURSES
        BL__NAME(frame) first;
        BL__NAME(lend_frame)(recursion, w, task, &first);
#endif
        BL__NAME(open)(w);
        BL__CALL(task, BL__PAYLOAD_OF(&carried), index, n, shared, local);
        bool visited = false;
#if BL__RECURSES
        visited = BL__NAME(recurse)(recursion, w, task, &first);
#endif
        visited = BL__NAME(shut)(w) || visited;
#if BL__JOINS
        visited = BL__NAME(join)(w, task, shared, local) || visited;
#endif
        index += n;
        w->tasks += n;
        if (last || visited || s->top != top || bl_load32_host(&control->stop) ||
            (uint32_t)bl_load64_relaxed(&control->idle))
            return;
        bl_store64_host(&w->tally->beat, w->tasks);
    }
}

/* A thread's turns, until it should end. The scheduler is given the address of w, so the compiler keeps w in memory;
 * `near`, a copy, it need not. */
BL_HOT_FN void BL__NAME(turns)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    BL__RECURSION *recursion = NULL;
#if BL__RECURSES
    BL__NAME(recursion) state;
    recursion = &state;
    BL__NAME(recursion_start)(recursion, w, task, shared, local);
#endif
    bl__worker near = *w;
    for (;;) {
        if (!BL__NAME(may_go_on)(&near)) {
            bl__worker_agree(w, &near, BL__TAKES_PIECES);
            bool go = BL__NAME(prepare)(w, shared);
            bl__worker_agree(&near, w, BL__TAKES_PIECES);
            if (!go)
                break;
            task->limit = task->stack->bottom + task->run->stack_capacity;
        }
        BL__NAME(run_entry)(&near, task, shared, local, recursion);
    }
}
#undef BL__RECURSION
