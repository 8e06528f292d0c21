/* Template, part of worker_loop.inc.h: a worker that has work takes more from outside (parts/outside.h). */

/* Whether it may: not if that would crowd out what is there. */
BL_FN bool BL__NAME(has_room)(bl__worker *w) {
    const uint32_t count = BL__NAME(held)(w);
    const uint32_t few = w->lane == 0 && count <= w->run->private_limit && BL__NAME(shown)(w) < w->run->outside.most;
    return bl_warp_broadcast32(few, 0) != 0;
}

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
