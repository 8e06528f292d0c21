/* Template: taking entries off the private stack of a thread that is in a long task (lookout.h says which, gate.h lets
 * the thief in).
 *
 * A thief takes the older half; of a single entry the second half of its indices. It keeps one entry and publishes the
 * others, so that all idle workers find them at once.
 */

/* The oldest of `count` entries that `from` holds onto the own stack. */
BL_FN void BL__NAME(raid_entry)(bl__worker *w, bl__stack *from, uint32_t count, const BL_SHARED *shared) {
    uint32_t *entry = bl__stack_slot(from, w->words, from->bottom);
    uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top);
    bl__stack_move_top(w->stack, w->stack->top + 1);
    (void)shared;
    bl__entry_steal(w->run, slot, entry, w->words, BL__JOINS ? BL__ENTRY_HEAD + (uint32_t)sizeof(BL_PAYLOAD) / 4 : 0);
    if (count == 1 && slot[1] - slot[0] > 1) {
        uint32_t middle = BL__MIDDLE(w, entry, slot, shared);
        entry[1] = middle;
        slot[0] = middle;
    } else {
        from->bottom++;
    }
}

/* How many entries the own, empty stack got. */
BL_FN uint32_t BL__NAME(raid_one)(bl__worker *w, uint32_t victim, const BL_SHARED *shared) {
    const bl__run *run = w->run;
    bl__stack *from = bl__stack_of(run, victim);
    uint32_t top;
    if (!bl__gate_enter(from, &top))
        return 0;
    uint32_t count = top - from->bottom, took = 0;
    uint32_t want =
        bl__min((count + 1) / 2, run->stack_capacity - run->outbox); /* the next task must have room to spawn */
    for (; took < want; took++)
        BL__NAME(raid_entry)(w, from, count, shared);
    if (from->bottom == top)
        bl_store64_relaxed(&run->tally[victim].dry, (uint64_t)bl__task_mark(run, victim) << 32 | top);
    bl__gate_leave(from);
    return took;
}

BL_FN bool BL__NAME(sees_held_up)(const bl__worker *w) {
    const bl__run *run = w->run;
    if (bl_load32_relaxed(&run->control->held_up) == 0)
        return false;
    for (uint32_t i = 1; i < run->workers; i++)
        if (bl__is_held_up(run, (w->id + i) % run->workers))
            return true;
    return false;
}

BL_CALLED_FN uint32_t BL__NAME(raid)(bl__worker *w, const BL_SHARED *shared) {
    const bl__run *run = w->run;
    uint32_t took = 0;
    if (bl_load32_relaxed(&run->control->held_up) == 0)
        return 0;
    bl__worker_looks(w);
    for (uint32_t i = 1; i < run->workers && took == 0; i++) {
        uint32_t victim = (w->id + i) % run->workers;
        if (!bl__is_held_up(run, victim))
            continue;
        took = BL__NAME(raid_one)(w, victim, shared);
        bl__worker_tried(w, took);
    }
    if (took > 1)
        bl__wake_for_entries(run, BL__NAME(publish)(w, took - 1));
    return took;
}
