/* Template, part of worker_loop.inc.h: the end of a worker. */

/* Leaves what is still private where the host finds it, and adds up. */
BL_FN void BL__NAME(close)(bl__worker *w) {
    bl__tally *tally = w->tally;
#ifdef BL__LEAVES
    BL__NAME(leave)(w);
#endif
    uint32_t count = bl__stack_count(w->stack);
#if BL__JOINS
    BL__NAME(share)(w, count);
    for (uint32_t i = 0; BL_WARP == 1 && i < w->stack->extras; i++)
        bl__record_share(w->run,
                         w->stack->extra.entries[(size_t)i * w->words + BL__ENTRY_HEAD + sizeof(BL_PAYLOAD) / 4]);
#if BL__HIDES
    const bool over = (bl_warp_broadcast32(w->stop, 0) & ~BL__NO_REASON) == BL__STOP_DONE;
    /* The porter of several nodes runs no tasks, but joins. */
    bl__spare_leave(w->run, w->id, w->lane, w->spare, over, w->tasks != 0 || BL__HAS_PORTER(w->run));
#else
    bl__spare_trim(w->run, w->lane, w->spare, 0);
#endif
#endif
    if (!BL__ENDS_ALONE) {
        uint32_t *spill = w->run->spill + (size_t)w->id * w->run->stack_capacity * w->words;
        BL_ROLLED
        for (uint32_t i = w->lane; i < count * w->words; i += BL_WARP)
            spill[i] = bl__stack_slot(w->stack, w->words, w->stack->bottom + i / w->words)[i % w->words];
    }
    if (w->lane)
        return;
    if (!BL__ENDS_ALONE)
        tally->spilled = count;
    bl_store64_host(&tally->beat, 0);
    bl_far_add64_relaxed(&tally->tasks, w->tasks);
    BL__NAME(spend)(w, bl_clock());
    bl_far_max64_relaxed(&tally->peak, w->peak);
}
