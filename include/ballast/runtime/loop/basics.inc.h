/* Template, part of worker_loop.inc.h: what all parts of the loop use. */

/* Around calls of the user's code: on a CPU others can take from this worker's stack meanwhile. */
BL_HOT_FN void BL__NAME(open)(bl__stack *s, uint32_t mark, bool fences_alone) {
#if BL__RAIDS
    bl__gate_open(s, mark, fences_alone);
#else
    (void)s, (void)mark, (void)fences_alone;
#endif
}
/* True: a thief has taken something, or looked. */
BL_HOT_FN bool BL__NAME(shut)(bl__stack *s) {
#if BL__RAIDS
    return bl__gate_shut(s);
#else
    return (void)s, false;
#endif
}

/* A worker that looks for work asks again and again; when it finds some it so knows of long batches, too. */
BL_FN bool BL__NAME(stopping)(bl__worker *w) {
    if (w->lane == 0)
        w->stop = (w->stop & BL__PACE) | bl_load32_host(&w->run->control->stop);
    return (bl_warp_broadcast32(w->stop, 0) & ~BL__NO_REASON) != 0;
}

/* More time at work; less, if what is added is the negative of a time. Added up in memory: nobody waits for it, and a
 * GPU has few registers. */
BL_FN void BL__NAME(spend)(bl__worker *w, uint64_t ticks) {
    if (w->lane == 0)
        bl_far_add64_relaxed(&w->tally->busy, ticks);
}

BL_FN void BL__NAME(stand)(bl__worker *w, bl__standing standing) {
    if (w->lane == 0)
        bl_store32_host(&w->tally->standing, (uint32_t)standing);
}

/* Into the worker's timeline. The part of a wave that a CPU thread runs is noted by its device: it may be many
 * groups. */
BL_FN void BL__NAME(note)(bl__worker *w, bl__standing standing) {
    if (!w->run->trace || w->lane)
        return;
#if !BL__ENDS_ALONE
    bl__worker_turns(w, standing);
#elif BL_WARP == 1
    (void)standing;
#else
    bl__trace *t = bl__worker_trace(w);
    const uint32_t wave = w->run->launch + w->of_waves.number;
    if (!w->run->stays && standing == BL__AT_END)
        bl__trace_wave_ends(t, wave, w->tasks);
    else if (!w->run->stays)
        bl__trace_wave_begins(t, wave);
    else
        bl__trace_stays(t, wave, standing, w->of_waves.number, w->tasks);
#endif
}

/* Entries on the private stack. Lane 0 may change it next, so no lane continues before all have looked. */
BL_FN uint32_t BL__NAME(held)(bl__worker *w) {
    uint32_t count = bl__stack_count(w->stack);
    bl_warp_sync();
    return count;
}

/* Of the `left` indices of an entry, those to run next. A guess of pieces may be wrong, so never more than an eighth
 * of a worker's part: when somebody is out of work, what is here may be all that is left for all. In a wave what was
 * fetched is what is run. */
BL_FN uint32_t BL__NAME(next)(bl__worker *w, uint32_t left) {
#if BL__TAKES_PIECES
    uint32_t sharers = BL_WARP > 1 ? 2 : (uint32_t)bl_load64_relaxed(&w->run->control->idle) ? w->run->workers : 1;
    return BL__ENDS_ALONE ? left : bl__piece(w, left, bl__max(left / (8 * sharers), 1));
#else
    return (void)w, (void)left, 1;
#endif
}
