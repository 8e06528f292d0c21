/* Template, part of worker_loop.inc.h: fills an empty stack: fetch, search, go idle. */

/* Fills the empty private stack. False when the worker should end. One place that fetches: this is much code, and a GPU
 * reads it from memory again and again when there is little to do. */
BL_FN bool BL__NAME(acquire)(bl__worker *w, const BL_SHARED *shared) {
#if BL__ENDS_ALONE
    (void)shared;
    return BL__NAME(fetch)(w) != 0;
#else
    bool got;
    uint32_t tries = 0;
    for (;; tries++) {
        got = BL__NAME(fetch)(w) != 0;
        if (!got && BL__IS_OPEN(w->run))
            got = BL__NAME(fetch_outside)(w) != 0;
#if BL__RAIDS
        got = got || (tries && !w->run->alone && BL__NAME(raid)(w, shared) != 0);
#endif
        if (got)
            break;
        if (tries == 0) {
            BL__NAME(spend)(w, bl_clock());
            BL__NAME(stand)(w, BL__AT_SEARCH);
            BL__NAME(note)(w, BL__AT_SEARCH);
        } else if (tries <= BL__QUICK_TRIES || w->run->alone) {
            bl_backoff(tries - 1);
        }
        if (w->run->alone ? BL__NAME(all_empty)(w) || BL__NAME(stopping)(w)
                          : BL__NAME(stopping)(w) || (tries >= BL__QUICK_TRIES && !BL__NAME(idle)(w, shared)))
            break;
    }
    if (tries || !got) {
        BL__NAME(spend)(w, 0 - bl_clock());
        w->piece_begun = 0;
        BL__NAME(stand)(w, BL__AT_WORK);
    }
    if (!got)
        return false;
    if (tries)
        bl__wake_for_work(w->run); /* only this worker was woken: where there was work there may be more */
#if BL__HIDES
    if (w->lane == 0)
        bl_store32_relaxed(&w->tally->fetched, 2 * bl_clock32());
#endif
    BL__NAME(note)(w, BL__AT_WORK);
    bl__worker_makes_room(w);
    return true;
#endif
}
