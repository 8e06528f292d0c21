/* Template, part of worker_loop.inc.h: a block takes a task, or a piece, for all of its lanes. */

/* The leading warp copies the newest entry to where all lanes of the block read it, and takes one index off it, or a
 * piece. */
BL_FN void BL__NAME(take_task)(bl__worker *w) {
    bl__stack *s = w->stack;
    uint32_t *slot = bl__stack_slot(s, w->words, s->top - 1), *current = bl__stack_current(s, w->words);
    uint32_t n = bl_warp_broadcast32(BL__NAME(next)(w, slot[1] - slot[0]), 0);
    for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
        current[i] = i == 1 ? n : slot[i];
    bl_warp_sync();
    if (w->lane == 0) {
        slot[0] += n;
        if (slot[0] == slot[1])
            s->top--;
        if ((BL_MAX_SPAWN) > 0)
            s->limit = s->top + (BL_MAX_SPAWN);
        if (BL__JOINS)
            s->returned.ended = BL__UNENDED;
    }
    w->tasks += n;
}

/* A block's turns, until it should end. */
BL_HOT_FN void BL__NAME(turns)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    const bl__run *run = task->run;
    bl__stack *stack = task->stack;
    BL__CARRIED carried;
    for (;;) {
        if (task->lane < BL_WARP) {
            bool go = BL__NAME(prepare)(w, shared);
            if (go)
                BL__NAME(take_task)(w);
            if (task->lane == 0)
                stack->order = go;
        }
        bl__worker_sync(run->lanes);
        if (!stack->order)
            return;
        const uint32_t *current = bl__stack_current(stack, w->words);
        const uint32_t index = current[0];
        bl__words_copy((bl_word *)&carried, current + BL__ENTRY_HEAD, w->words - BL__ENTRY_HEAD);
#if BL__JOINS
        task->join = carried.join;
        task->index = index;
#endif
        BL__CALL(task, BL__PAYLOAD_OF(&carried), index, current[1], shared, local);
        bl__worker_sync(run->lanes);
#if BL__HIDES
        if (task->lane < BL_WARP)
            bl__worker_notes_pace(w);
#endif
#if BL__JOINS
        BL__NAME(join)(w, task, shared, local);
#endif
    }
}
