/* Template, part of worker_loop.inc.h: a worker that has work takes more from outside (parts/outside.h). */

/* Whether it may: not if that would crowd out what is there. */
BL_FN bool BL__NAME(has_room)(bl__worker *w) {
    const uint32_t count = BL__NAME(held)(w);
    const uint32_t few = w->lane == 0 && count <= w->run->private_limit && BL__NAME(shown)(w) < w->run->outside.most;
    return bl_warp_broadcast32(few, 0) != 0;
}

#if BL_WARP == 1 && !BL__JOINS
/* Another node is out of work. It gets the older half of what is on the stack, or the second half of the only long
 * entry. A worker that has less there first fetches what it would
 * run next. */
BL_CALLED_FN void BL__NAME(give)(bl__worker *w, const BL_SHARED *shared) {
    for (uint32_t i = 0; i < 2 && BL__NAME(held)(w) <= 1 && BL__NAME(shown)(w); i++)
        BL__NAME(fetch)(w);
    const uint32_t count = BL__NAME(held)(w);
    if (!BL__NAME(can_share)(w, count)) {
        bl__node_low(w->run); /* so that it gets something to pass on: the other node may know nobody else */
        return;
    }
    if (count == 1)
        BL__NAME(halve)(w, shared);
    bl__node_gives(w->run, w->stack, bl__max(count / 2, 1));
}
#endif

BL_FN void BL__NAME(admit)(bl__worker *w) {
#if BL_WARP == 1
    if (!(w->stop & BL__KNOCK))
        return;
    if (!BL__NAME(has_room)(w)) {
        bl__inlet_hush(w->run); /* until more is submitted, or somebody runs dry */
        return;
    }
#else
    if (!bl__inlet_shows(w) || !BL__NAME(has_room)(w))
        return;
#endif
    bl__inlet_fetch(w);
}
