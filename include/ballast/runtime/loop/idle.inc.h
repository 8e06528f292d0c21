/* Template, part of worker_loop.inc.h: a worker out of work waits until there may be some, or the run is over. */

/* True when the run is over. Where nobody is asleep it is enough that one looks at all queues: worker 0, again and
 * again, and the last of all to become idle, once: for that one `word` is what the idle word was then, else 0. In a run
 * of several nodes only the porter does, which is worker 0. */
BL_FN bool BL__NAME(over)(bl__worker *w, const BL_SHARED *shared, uint64_t word) {
    bl__control *control = w->run->control;
    uint32_t over = 0;
    if (w->run->done_test) {
        if (w->lane == 0 && BL_DONE_TEST(shared)) {
            bl_fetch_or32_relaxed(&control->stop, BL__STOP_DONE);
            over = 1;
        }
        return bl_warp_broadcast32(over, 0) != 0;
    }
    const bool last = bl_warp_any(word != 0);
    if (!BL_CAN_SLEEP && w->id != 0 && !last)
        return false;
    if (last)
        bl_fence_acquire(); /* T2 */
    else if (w->lane == 0)
        word = bl__idle_read(control);
    if (!bl_warp_any(w->lane == 0 && bl__idle_all(word, w->run->workers)) ||
        (!BL__EMPTY_WHEN_IDLE && !BL__NAME(all_empty)(w)))
        return false;
    if ((BL__IS_OPEN(w->run) || BL__HAS_PORTER(w->run)) && !bl_warp_any(w->lane == 0 && bl__inlet_over(w->run))) {
#if BL_WARP == 1
        if (w->run->outside.node)
            bl__node_dry(w->run, word);
#else
        if (w->lane == 0 && BL__HAS_PORTER(w->run))
            bl__tell_dry(w->run, word);
#endif
        return false;
    }
    if (w->lane == 0) {
        over = bl__idle_finish(control, word);
        if (over && !BL_CAN_SLEEP)
            bl_fetch_or32_relaxed(&control->stop, BL__STOP_DONE);
    }
    over = bl_warp_broadcast32(over, 0);
    if (!over)
        return false;
    w->stop |= BL__STOP_DONE;
#if BL__TURNS
    bl__tell_quarters(w);
#endif
    return true;
}

#if BL_WARP == 1

/* ---- a thread: looks around for a short while, and then sleeps ---- */

/* Before it sleeps, in a run that is open: something has come in, or nothing will and nobody is left to notice. */
BL_FN bool BL__NAME(stirs)(bl__worker *w) {
    const uint32_t seen = bl__inlet_look(w->run);
    return seen == 1 || (seen == BL__SHUT && bl__idle_all(bl__idle_read(w->run->control), w->run->workers));
}

/* By the lookout, before it naps: in a run that is open all may be out of work for long, and then there is nobody to
 * look out for. Whoever finds work wakes another, and that one is the next lookout. One that tried before this one gave
 * the post up has gone to sleep, so it looks once more: S1 and S2 are between that worker's leaving idle and this. */
BL_FN bool BL__NAME(retires)(bl__worker *w) {
    bl__control *control = w->run->control;
    if (!BL__IS_OPEN(w->run) || !bl__idle_all(bl__idle_read(control), w->run->workers) ||
        (w->run->outside.node && bl__node_watches(w->run)))
        return false;
    bl__lookout_give(w->run);
    bl_fence_seq_cst(); /* S2 */
    return bl__idle_all(bl__idle_read(control), w->run->workers) || !bl__lookout_take(w->run, w->id);
}

/* Asleep only if nothing was published before `sleepers` was raised: pairs with bl__wake_for_work. `since`: it has been
 * out of work. */
BL_FN void BL__NAME(sleep)(bl__worker *w, const BL_SHARED *shared, uint64_t since, bool *on_duty) {
    bl__control *control = w->run->control;
    const uint32_t seen = bl__sleep_begin(w->run);
    bool sleeps = BL__NAME(all_empty)(w) && !BL__NAME(stopping)(w) && !(bl__idle_read(control) & BL__IDLE_DONE) &&
                  !(w->run->done_test && BL_DONE_TEST(shared));
    sleeps = sleeps && !(BL__IS_OPEN(w->run) && BL__NAME(stirs)(w));
    *on_duty = *on_duty || bl__lookout_take(w->run, w->id);
    if (sleeps && *on_duty && BL__NAME(retires)(w))
        *on_duty = false;
    if (sleeps && *on_duty) {
        if (BL__IS_OPEN(w->run) && w->run->outside.node)
            bl__node_low(w->run);
        bl__nap(w->run, seen, bl__nap_length(bl_clock() - since));
    } else if (sleeps) {
        bl__sleep_now(w->run, seen);
    }
    bl__sleep_end(w->run);
}

/* Until there may be work. False when the run is over or paused. `on_duty`: it is the lookout. `called`: it has seen
 * something come in. */
BL_FN bool BL__NAME(await)(bl__worker *w, const BL_SHARED *shared, bool *on_duty, bool *called) {
    const uint64_t since = bl_clock();
    for (uint32_t tries = 0;; tries++) {
        if (BL__NAME(stopping)(w))
            return false;
        if (w->run->outside.listens)
            bl__node_listens(w->run, true);
        if (BL__IS_OPEN(w->run) && bl__inlet_shows(w, false)) {
            *called = true;
            return true;
        }
        if (BL__NAME(sees_work)(w))
            return true;
        if (*on_duty)
            bl__look_out(w->run, w->id);
        if (BL__NAME(sees_held_up)(w))
            return true;
        if (bl__idle_read(w->run->control) & BL__IDLE_DONE)
            return false;
        if (BL__NAME(over)(w, shared, 0)) {
            bl__wake_all(w->run);
            return false;
        }
        if (bl__idle_pause(tries))
            BL__NAME(sleep)(w, shared, since, on_duty);
    }
}

/* Out of work: waits for some. False when the run is over or paused. `counted`: this worker is in the
 * idle count already. */
BL_FN bool BL__NAME(idle)(bl__worker *w, const BL_SHARED *shared, bool counted, bool *called) {
    bl__control *control = w->run->control;
    bool on_duty = false;
    (void)counted;
    bl__idle_enter(control);
    if (BL__IS_OPEN(w->run) && w->run->outside.node)
        bl__node_low(w->run);
    const bool found = BL__NAME(await)(w, shared, &on_duty, called);
    if (on_duty && found)
        bl__lookout_give(w->run);
    return found && bl__idle_leave(control);
}

#else

/* ---- a GPU: backs off, since there is nobody to wake it ---- */

/* The same. `quarter` and `scouts`: lookout.h; `word`: over. One notices the end for all and tells the others:
 * thousands of warps would get in the way of those that come and go. */
BL_FN bool BL__NAME(await)(bl__worker *w, const BL_SHARED *shared, uint64_t word, bl__tally *quarter, bool *scouts,
                           bool *called) {
    bl__watched watched = {bl_clock32(), w->id, 0, 0};
    (void)quarter, (void)scouts;
    for (uint32_t tries = 0;; tries++) {
        if (BL__NAME(stopping)(w) || (!BL__HAS_PORTER(w->run) && BL__NAME(over)(w, shared, word)))
            return false;
        word = 0;
#if BL__TURNS
        bl__scout_turn turn = *scouts ? BL__TURN_NOW : BL__TURN_LATER;
        /* At first, and while the run is young, a warp reads its quarter's words up to four times for each read of the
         * stop word, which all others read, too. */
        const bool often = tries < 5 || bl_warp_any(w->lane == 0 && bl__is_young(w));
        BL_ROLLED
        for (uint32_t looks = often ? 4 : 1; turn == BL__TURN_LATER && looks; looks--) {
            turn = (bl__scout_turn)bl_warp_broadcast32(w->lane ? 0 : (uint32_t)bl__scout_begins(w, quarter), 0);
            if (turn == BL__TURN_LATER)
                bl__wait_for_turn(w, tries);
        }
        if (turn == BL__TURN_NEVER) {
            w->stop |= BL__STOP_DONE;
            return false;
        }
        if (turn == BL__TURN_LATER)
            continue;
        tries = *scouts ? tries : 0;
        *scouts = true;
#endif
        if (BL__IS_OPEN(w->run) && bl__inlet_shows(w, false)) {
            *called = true;
            return true;
        }
#if BL__TURNS
        for (uint32_t n = bl_warp_broadcast32(w->lane ? 0 : bl__scout_pauses(w, quarter, tries), 0); n; n--)
            bl_backoff(bl__is_young(w) ? 4 : bl__longest_nap(w));
#endif
        if (BL__NAME(sees_work)(w))
            return true;
        if (w->lane == 0)
            bl__watch_another(w, &watched);
        /* So that one looks more often than the others. Scouts are few; so are blocks, and while the work of a run is
         * spreading each of them counts. */
        bl__idle_pause(bl__min(tries, BL__TURNS || w->id == 0 ? 5 : !bl__has_spread(w) ? 6 : tries));
    }
}

BL_FN bool BL__NAME(idle)(bl__worker *w, const BL_SHARED *shared, bool counted, bool *called) {
    bl__control *control = w->run->control;
    bool scouts = false;
    bl__tally *quarter = NULL;
    uint64_t word = w->lane || counted ? 0 : bl__idle_enter(control);
#if BL__TURNS
    quarter = bl__quarter_of(w);
    if (w->lane == 0) {
        bl_fetch_add32_relaxed(&quarter->quarter, 0 - BL__HAS_WORK);
        bl__idler_counts(w, 1);
    }
#endif
    if (!bl__idle_all(word, w->run->workers) || BL__IS_OPEN(w->run))
        word = 0;
    bool found = BL__NAME(await)(w, shared, word, quarter, &scouts, called);
#if BL__TURNS
    if (w->lane == 0) {
        bl__idler_counts(w, (uint32_t)-1);
        bl_fetch_add32_relaxed(&quarter->quarter, BL__HAS_WORK);
        if (scouts)
            bl__scout_ends(w, quarter);
    }
    if (BL__CLAIM_LEAVES && !BL__IS_OPEN(w->run)) {
        if (found && w->lane == 0)
            bl__idle_leave_to_claim(control);
        return found;
    }
#endif
    uint32_t go = found && w->lane == 0 && bl__idle_leave(control);
    return bl_warp_broadcast32(go, 0) != 0;
}

#endif
