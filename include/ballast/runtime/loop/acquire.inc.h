/* Template, part of worker_loop.inc.h: gets tasks: fetch, search, go idle. */

#if BL__ENDS_ALONE && BL_WARP > 1
/* The worker has ended its part of a wave, and waits for the next one; false: there is none. `rested`: it has waited
 * since an earlier wave, because the last one had nothing for it. It writes as little as possible before it waits:
 * everybody would have to wait until that is in memory. */
BL_FN bool BL__NAME(waits)(bl__worker *w, bool rested) {
    if (!rested) {
#if BL__JOINS
        bl__spare_trim(w->run, w->lane, w->spare, 0); /* so that those in the store are all that there are */
#endif
        BL__NAME(note)(w, BL__AT_END);
    }
    BL__NAME(end_share)(w);
    return BL__NAME(next_wave)(w);
}
/* It has got tasks after such a wait, or it leaves. The time since it `ended` its part does not count as work. */
BL_FN void BL__NAME(resumes)(bl__worker *w, uint64_t ended, bool leaves) {
    BL__NAME(spend)(w, ended - bl_clock());
    if (leaves)
        return;
#if BL__JOINS
    BL__NAME(keep_records)(w);
    bl_warp_sync();
#endif
    BL__NAME(note)(w, BL__AT_WORK);
}
#endif

#if !BL__ENDS_ALONE
#if BL__TURNS
/* A crowd, and one root: all others are out of work when the run begins. The worker with the root counts them as
 * idle; if thousands of them counted themselves, each would wait for the others. */
BL_FN bool BL__NAME(one_begins)(const bl__run *run) {
    return run->roots && run->in_entries == 1 && run->workers >= BL_CROWD;
}
/* One lane, when the worker has taken its roots. It counts the others before it publishes anything. They leave idle
 * only when they see something published, so none of them leaves before it is counted; a porter waits until it is. */
BL_FN void BL__NAME(count_in)(bl__worker *w) {
    bl__quarter_counts(w, BL__HAS_WORK);
    if (BL__NAME(one_begins)(w->run) && bl__stack_count(w->stack))
        (void)bl__idle_enter_others(w->run->control, w->run->workers - 1);
}
#endif

/* A worker of a crowd that has nothing when a run begins: thousands of them would look for it where there is nothing,
 * and be in the way of those that have. `counted`: it counts as idle already. */
BL_FN bool BL__NAME(begins_idle)(bl__worker *w, bool *counted) {
    *counted = false;
#if BL__TURNS
    if (bl_opaque32((uint32_t)w->tasks) || w->holds || w->run->workers < BL_CROWD)
        return false;
    *counted = BL__NAME(one_begins)(w->run);
    return *counted || !bl_warp_any(w->lane == 0 && BL__NAME(shown)(w));
#else
    return (void)w, false;
#endif
}

/* What a worker does from now on that has tried so many times in vain to get work; only WORK counts as busy. */
BL_FN void BL__NAME(turn_to)(bl__worker *w, bl__standing standing, uint32_t tries) {
    const bool works = standing == BL__AT_WORK;
    if (works != (tries == 0))
        BL__NAME(spend)(w, works ? 0 - bl_clock() : bl_clock());
    if (!works || tries) {
        BL__NAME(stand)(w, standing);
        w->piece_begun = 0;
    }
    BL__NAME(note)(w, standing);
}

/* Whether a worker that has found nothing counts as idle: it has tried again, or all others are. */
BL_FN bool BL__NAME(gives_up)(bl__worker *w, uint32_t tries) {
    return tries >= BL__QUICK_TRIES ||
           (BL_WARP > 1 &&
            bl_warp_any(w->lane == 0 && bl__idle_all(bl_load64_relaxed(&w->run->control->idle) + 1, w->run->workers)));
}
#endif

/* Fills the private stack. False when the worker should end. One place that fetches: this is much code, and a GPU reads
 * it from memory again and again when there is little to do. A warp that still has a few tasks tries once. */
BL_FN bool BL__NAME(acquire)(bl__worker *w, const BL_SHARED *shared) {
#if BL__ENDS_ALONE
    (void)shared;
#if BL_WARP == 1
    return BL__NAME(fetch)(w) != 0;
#else
    uint64_t ended = 0;
    bool rested = false, leaves = false;
    while (!leaves && BL__NAME(fetch)(w) == 0) {
        if ((BL_MAX_SPAWN) == 0 || !w->run->stays)
            return false;
        if (!rested)
            ended = bl_clock();
        leaves = !BL__NAME(waits)(w, rested);
        rested = true;
    }
    if (rested)
        BL__NAME(resumes)(w, ended, leaves);
    return !leaves;
#endif
#else
    bool called = false, counted, waits = BL__NAME(begins_idle)(w, &counted);
    for (uint32_t tries = 0;; tries++) {
        bool got = !waits && BL__NAME(fetch)(w) != 0;
        if (!got && w->holds)
            return true;
        if (!got && BL__IS_OPEN(w->run)) {
            got = BL__NAME(fetch_outside)(w, called) != 0;
            called = false;
        }
#if BL__RAIDS
        got = got || (tries && !w->run->alone && BL__NAME(raid)(w, shared) != 0);
#endif
        const bool rests = !got && !w->run->alone && (waits || BL__NAME(gives_up)(w, tries));
        BL__NAME(turn_to)(w, got ? BL__AT_WORK : rests ? BL__AT_IDLE : BL__AT_SEARCH, tries);
        if (got) {
            w->woken = w->woken || tries;
            break;
        }
        if (BL__NAME(stopping)(w) || (rests && !BL__NAME(idle)(w, shared, waits && counted, &called)) ||
            (w->run->alone && BL__NAME(all_empty)(w))) {
            BL__NAME(spend)(w, 0 - bl_clock());
            return false;
        }
        waits = false;
        if (!rests && tries)
            bl_backoff(tries - 1);
    }
#if BL__HIDES
    if (w->lane == 0)
        bl_store32_relaxed(&w->tally->fetched, 2 * bl_clock32());
#endif
    bl__worker_makes_room(w);
    return true;
#endif
}

#if BL__HIDES
/* Whether to acquire before the next batch. Where tasks take long, an empty lane costs more than a look for another
 * task. All entries are taken to be as wide as the newest. Thieves that take half would take too many. */
BL_FN bool BL__NAME(needs_more)(bl__worker *w, uint32_t pace) {
    const uint32_t count = BL__NAME(held)(w);
    if (!BL__TURNS || count == 0 || !(pace & BL__PACE))
        return count == 0;
    const uint32_t tasks = count * bl__min(BL__NAME(width)(w), w->batch);
    const bool fits = count + w->batch <= w->run->stack_capacity - w->run->outbox;
    if (tasks >= w->batch || !fits || BL__ONE_PER_NODE(w->run) || w->run->steal_half)
        return false;
    w->holds = tasks;
    return true;
}
#endif

/* Before its next task. Only this worker was woken: where there was work there may be more. */
BL_FN void BL__NAME(wake_next)(bl__worker *w) {
    if (!BL_CAN_SLEEP || !w->woken)
        return;
    w->woken = false;
    bl__wake_for_work(w->run);
}
