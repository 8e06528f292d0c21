/* Template, part of worker_loop.inc.h: the porter of a GPU that shares a run with other nodes (parts/outside.h).
 *
 * It is worker 0, and runs no tasks: it looks at the host's memory, and puts what has come in into its queue, from where
 * others steal it. So the others look nowhere, as in a run of one node. A look takes microseconds, and code for it in
 * their loops slows them down even if they do not look: a GPU reads code from memory again and again. */

BL_FN bool BL__NAME(has_none)(bl__worker *w) {
    return !BL__NAME(held)(w) && !bl_warp_any(w->lane == 0 && BL__NAME(shown)(w));
}

/* Idle, and no longer: others do not look into the queue of a worker that is. */
BL_FN void BL__NAME(rest)(bl__worker *w) {
    if (w->lane)
        return;
#if BL__TURNS
    bl__idler_counts(w, 1);
#endif
    bl__idle_enter(w->run->control);
}
BL_FN bool BL__NAME(rise)(bl__worker *w) {
#if BL__TURNS
    if (w->lane == 0)
        bl__idler_counts(w, (uint32_t)-1);
#endif
    return bl_warp_any(w->lane == 0 && bl__idle_leave(w->run->control));
}

/* A function of its own, so that the code of all other workers stays as it is without a porter. */
BL_CALLED_FN void BL__NAME(carry)(bl__worker *w, const BL_SHARED *shared) {
    bool idle = false, over = false;
#if BL__TURNS
    if (w->lane == 0)
        bl_fetch_add32_relaxed(bl__quarter_of(w), 0 - BL__HAS_WORK);
#endif
    BL__NAME(stand)(w, BL__AT_IDLE);
    BL__NAME(spend)(w, bl_clock()); /* this is no work */
    while (!over && !BL__NAME(stopping)(w)) {
        if (bl__inlet_shows(w, true)) {
            over = idle && !BL__NAME(rise)(w);
            idle = false;
            if (!over)
                bl__inlet_fetch(w);
        }
        if (BL__NAME(held)(w))
            BL__NAME(share_and_publish)(w, BL__NAME(held)(w));
        if (!idle && BL__NAME(has_none)(w)) {
            BL__NAME(rest)(w);
            idle = true;
        }
        over = over || (idle && BL__NAME(over)(w, shared));
        bl_backoff(3);
    }
    BL__NAME(spend)(w, 0 - bl_clock());
#if BL__TURNS
    if (w->lane == 0) {
        if (idle)
            bl__idler_counts(w, (uint32_t)-1);
        bl_fetch_add32_relaxed(bl__quarter_of(w), BL__HAS_WORK);
    }
#endif
}
