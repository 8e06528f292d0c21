/* Template, part of worker_loop.inc.h: a warp takes a task for every lane. */

/* A task for every lane, over as many of the newest entries as that needs. Entries on the stack are never empty, so
 * lane k looks at the k-th newest; a prefix sum gives where its tasks start, and the bits of those starts tell every
 * lane which entry is its own. If the newest entry has all that is taken, nothing need be summed up; only waves check
 * that, because the kernels of other schedulers become slower by it. */
BL_FN bool BL__NAME(take_tasks)(bl__worker *w, bl_word *payload, uint32_t *index) {
    bl__stack *s = w->stack;
    const uint32_t lane = w->lane, top = s->top, count = bl__stack_count(s);
    const uint32_t *entry = bl__stack_slot(s, w->words, top - 1);
    uint32_t *mine = bl__stack_slot(s, w->words, top - 1 - lane);
    const uint32_t n = lane < count ? mine[1] - mine[0] : 0, newest = entry[1] - entry[0];
    uint32_t total = bl__min(newest, BL_WARP), offset = lane, taken = total, emptied = newest <= BL_WARP;
    bool used = lane == 0;
    if (BL__HIDES || (count > 1 && newest < BL_WARP)) {
        const uint32_t start = bl_warp_prefix_add(bl__min(n, BL_WARP));
        used = n != 0 && start < BL_WARP;
        taken = used ? bl__min(n, BL_WARP - start) : 0;
        const uint32_t starts = bl_warp_or(used ? 1u << start : 0);
        total = bl_warp_broadcast32(bl__min(start + bl__min(n, BL_WARP), BL_WARP), BL_WARP - 1);
        const uint32_t which = bl_popcount(starts & ((2u << lane) - 1)) - 1;
        offset = lane - bl_warp_broadcast32(start, which);
        entry = bl__stack_slot(s, w->words, top - 1 - which);
        emptied = bl_popcount(bl_warp_ballot(used && taken == n));
    }
    *index = entry[0] + offset;
    bl__words_copy(payload, entry + BL__ENTRY_HEAD, w->words - BL__ENTRY_HEAD);
    bl_warp_sync();
    if (used && taken < n)
        mine[0] += taken;
    if (lane == 0)
        s->top = top - emptied;
    bl_warp_sync();
    w->tasks += total;
    return lane < total;
}

/* A warp's turns, until it should end. */
BL_HOT_FN void BL__NAME(turns)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    BL__CARRIED carried;
    uint32_t index;
    while (BL__NAME(prepare)(w, shared)) {
        if (BL__NAME(take_tasks)(w, (bl_word *)&carried, &index)) {
#if BL__JOINS
            task->join = carried.join;
            task->index = index;
            task->returned->ended = BL__UNENDED;
#endif
            task->spawned = 0;
            BL__CALL(task, BL__PAYLOAD_OF(&carried), index, 1u, shared, local);
        }
        bl_warp_sync();
#if BL__HIDES
        bl__worker_notes_pace(w); /* without the joins: to climb takes many steps, but little work */
#endif
#if BL__JOINS
        BL__NAME(join)(w, task, shared, local);
#endif
    }
}
