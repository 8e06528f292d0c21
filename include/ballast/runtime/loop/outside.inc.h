/* Template, part of worker_loop.inc.h: a worker that has work takes more from outside (parts/outside.h). */

/* Whether it may: not if that would crowd out what is there. */
BL_FN bool BL__NAME(has_room)(bl__worker *w) {
    const uint32_t count = BL__NAME(held)(w);
    const uint32_t few = w->lane == 0 && count <= w->run->private_limit && BL__NAME(shown)(w) < w->run->outside.most;
    return bl_warp_broadcast32(few, 0) != 0;
}

#if BL__RAIDS
/* Other processes share the run. A thread that is alone asks them before it is out of work; where there are several,
 * one of them will be idle first. */
BL_CALLED_FN void BL__NAME(listen)(bl__worker *w) {
    if (w->run->workers == 1 && BL__NAME(held)(w) <= BL__FEW && !BL__NAME(shown)(w))
        bl__node_low(w->run);
    bl__node_listens(w->run, false);
}
#endif

#if BL_WARP == 1
/* Another node is out of work. It gets the older half of what is on the stack, or the second half of the only long
 * entry. A worker that has less there first fetches what it would run next. */
BL_CALLED_FN void BL__NAME(give)(bl__worker *w, const BL_SHARED *shared) {
    for (uint32_t i = 0; i < 2 && BL__NAME(held)(w) <= 1 && BL__NAME(shown)(w); i++)
        BL__NAME(fetch)(w);
    const uint32_t count = BL__NAME(held)(w);
    if (!BL__NAME(can_share)(w, count)) {
        bl__node_short(w->run); /* so that it gets something to pass on: the other node may know nobody else */
        return;
    }
    if (count == 1)
        BL__NAME(halve)(w, shared);
    BL__NAME(share_and_give)(w, bl__max(count / 2, 1));
}
#endif

#if BL__IMPORTS
/* The newest entry is from outside. If it comes from another node, a record here stands for the one there. It has room
 * for results up to the last that may come, like any record of so many children. */
BL_FN void BL__NAME(import)(bl__worker *w) {
    uint32_t *entry = bl__stack_slot(w->stack, w->words, w->stack->top - 1);
    uint32_t *join = entry + BL__ENTRY_HEAD + sizeof(BL_PAYLOAD) / 4;
    const uint32_t begin = entry[0], end = entry[1];
    if (begin == end) {
        bl__stack_move_top(w->stack, w->stack->top - 1);
        w->collects = true;
    } else if (bl__is_away(*join)) {
        const uint32_t number = bl__spare_take(w->spare);
        bl__record *r = bl__record_at(w->run, number);
        bl_store64_relaxed(&r->state, (end - begin) * BL__ONE_CHILD);
        r->parent = *join;
        r->slot = 0;
        *join = number;
#if !BL_SUM
        *bl__record_count(r) = end;
        if (end > (BL_JOIN_WIDTH)) {
            unsigned char *wide = bl__fork_wide(w->run, end, BL__RESULT_BYTES);
            *bl__record_wide(r, BL__RESULTS_AT) = wide;
            *join = wide ? number | BL__WIDE : BL__NO_JOIN; /* the run is ending, and nobody wants its results */
        }
#endif
    }
}

/* The worker stops. */
BL_FN void BL__NAME(postpone)(bl__worker *w) {
    if (w->collects)
        bl__node_postpones(w->run);
    w->collects = false;
}
#endif

/* Something from outside onto the stack, as far as there is something; `called`: it has been seen. In a run of several
 * nodes an entry may need a record, and its first task another one. */
BL_FN uint32_t BL__NAME(fetch_outside)(bl__worker *w, bool called) {
    if (BL_WARP > 1 && !called && !bl__inlet_shows(w, false))
        return 0;
#if BL__IMPORTS
    if (w->run->outside.node) {
        if (w->spare[0] < 2 && !bl__spare_refill(w->run, w->lane, w->spare, 2, BL__SPARE_CHUNK)) {
            if (bl__inlet_shows(w, false)) /* else no records are needed yet; what comes in the meantime is not taken */
                w->stop = bl_fetch_or32_relaxed(&w->run->control->stop, BL__STOP_RECORDS) | BL__STOP_RECORDS;
            return 0;
        }
        const uint32_t got = bl__inlet_fetch(w);
        if (got)
            BL__NAME(import)(w);
        return got;
    }
#endif
    return bl__inlet_fetch(w);
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
    /* Where there are many it is enough that some look. */
    if ((w->run->workers >= BL_CROWD && w->id % 8) || !bl__inlet_shows(w, false) || !BL__NAME(has_room)(w))
        return;
#endif
    BL__NAME(fetch_outside)(w, true);
}
