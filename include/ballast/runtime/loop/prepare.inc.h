/* Template, part of worker_loop.inc.h: all that a worker does between two batches. */

/* What a worker goes by then. A GPU looks before a batch and uses it after, so that nobody waits for memory; a CPU has
 * it near and looks when it needs it. */
BL_FN void BL__NAME(look_around)(bl__worker *w) {
    if (w->lane == 0) {
        w->stop = (BL__HIDES ? bl__worker_recalls_pace(w) : 0) | bl_load32_host(&w->run->control->stop);
        /* A thread that keeps nothing to itself publishes whatever it holds, so it need not ask. */
        w->shown = BL_WARP == 1 && w->run->private_limit == 0 ? 1 : BL__NAME(shown)(w);
    }
}

/* Has run its batch. True: the worker should stop. A pause comes between two waves. */
BL_FN bool BL__NAME(is_told_to_stop)(bl__worker *w) {
    if (w->lane == 0)
        bl_store64_host(&w->tally->beat, w->tasks);
    const uint32_t stays = BL__ENDS_ALONE && w->run->stays ? (uint32_t)BL__STOP_HOST : 0;
    return bl_warp_broadcast32(w->stop, 0) & ~(BL__NO_REASON | stays);
}

#if BL__HIDES

/* False: stop. */
BL_FN bool BL__NAME(prepare)(bl__worker *w, const BL_SHARED *shared) {
    if (!BL_KIND_LANE && (BL_MAX_SPAWN) > 0)
        bl__close_outbox(w, BL_MAX_SPAWN);
#if BL__POSTS
    BL__NAME(post)(w);
#endif
    BL__NAME(publish_surplus)(w, shared, false);
    if (BL__IS_OPEN(w->run))
        BL__NAME(admit)(w);
    BL__NAME(make_ready)(w);
    if (BL__NAME(is_told_to_stop)(w))
        return false;
    uint32_t pace = bl_warp_broadcast32(w->stop, 0);
    if (BL__NAME(needs_more)(w, pace)) {
        if (!BL__NAME(acquire)(w, shared))
            return false;
        w->holds = 0;
        pace = bl_warp_broadcast32(w->stop, 0) | BL__NAME(pace_of_width)(BL__NAME(width)(w));
    }
    if (BL__NAME(may_take_long)(w, pace))
        BL__NAME(publish_surplus)(w, shared, true);
    w->begun = bl_clock32();
    BL__NAME(look_around)(w);
    return true;
}

#else

/* False: stop. A thread seldom prepares: its loop is faster without this inside. */
#if BL_WARP == 1
BL_CALLED_FN
#else
BL_FN
#endif
bool BL__NAME(prepare)(bl__worker *w, const BL_SHARED *shared) {
#if BL_WARP > 1
    if (!BL_KIND_LANE && (BL_MAX_SPAWN) > 0)
        bl__close_outbox(w, BL_MAX_SPAWN);
#else
    BL__NAME(look_around)(w);
#if !BL__ENDS_ALONE
    if (w->run->outside.listens)
        BL__NAME(listen)(w);
    if (w->stop & BL__HUNGRY)
        BL__NAME(give)(w, shared);
#endif
#endif
    BL__NAME(settle)(w, shared);
#if !BL__ENDS_ALONE
    if (BL__IS_OPEN(w->run))
        BL__NAME(admit)(w);
#endif
    BL__NAME(make_ready)(w);
    if (BL__NAME(is_told_to_stop)(w)) {
#if BL__IMPORTS
        BL__NAME(postpone)(w);
#endif
        return false;
    }
    if (BL__NAME(held)(w) == 0 && !(BL__IMPORTS && w->collects) && !BL__NAME(acquire)(w, shared))
        return false;
    BL__NAME(wake_next)(w);
    if (BL_WARP > 1)
        BL__NAME(look_around)(w);
    return true;
}

#endif
