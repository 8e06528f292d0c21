/* Template, part of worker_loop.inc.h: passes on what tasks returned, and runs joins whose children have all
 * returned. */

/* One lane: passes on what its task returned. The record all of whose children have returned, or BL__NO_JOIN: there is
 * none, or the porter has it. */
BL_HOT_FN uint32_t BL__NAME(pass_on)(const bl__run *run, bl_task *task) {
    if (task->join & BL__ROOT) {
        if (BL_SUM && task->join != BL__NO_JOIN)
            ((uint64_t *)(void *)run->results)[task->join & ~BL__ROOT] = task->returned->sum;
        if (!BL__ENDS_ALONE && (BL__IS_OPEN(run) || BL__HAS_PORTER(run)) && task->join != BL__NO_JOIN)
            bl__answer(run, task->join & ~BL__ROOT);
        return BL__NO_JOIN;
    }
    uint32_t number = BL_SUM ? task->join : bl__record_number(task->join);
    bl__record *r = bl__record_at(run, number);
    uint64_t sum = BL_SUM ? task->returned->sum : 0;
#if BL_KIND_LANE && BL_WARP > 1 /* read while the addition is under way: the lane that comes last needs it */
    task->join = r->parent;
    task->index = r->slot;
#endif
    uint64_t state = BL_WARP == 1 ? bl__record_arrive_own(r, sum)
                     : BL_SUM     ? bl__record_arrive_sum(r, sum)
                                  : bl__record_arrive(r, sum);
    if (BL__CHECKS && BL_SUM && (sum > BL__SUM_MASK || (state & BL__SUM_MASK) < sum)) /* it has wrapped */
        bl__stop_for_misuse(run->control, BL__SUM_TOO_LARGE, 0);
    task->returned->sum = state & BL__SUM_MASK;
#if BL__PORTS
    if (!bl__record_out(state) && bl__is_away(r->parent)) {
        bl__leave_to_porter(run, number, state & BL__SUM_MASK);
        return BL__NO_JOIN;
    }
#endif
    return bl__record_out(state) ? BL__NO_JOIN : number;
}

#if BL__IMPORTS
/* The record stands for one of another node. */
BL_CALLED_FN void BL__NAME(send_home)(const bl__run *run, bl__record *r, uint64_t sum) {
#if BL_SUM
    bl__node_returns(run, r->parent, &sum);
#else
    const bool wide = *bl__record_count(r) > (BL_JOIN_WIDTH);
    unsigned char *results = bl__record_results(r, BL__RESULTS_AT, wide);
    (void)sum;
    bl__node_returns(run, r->parent, results);
    if (wide)
        bl__record_joined(results);
#endif
}
#endif

/* In place of the fork that left this record. True: a thief was there meanwhile. */
BL_HOT_FN bool BL__NAME(go_on)(bl__worker *w, bl_task *task, bl__record *r, const BL_SHARED *shared, BL_LOCAL *local) {
#if BL__IMPORTS
    if (BL_RARELY(bl__is_away(r->parent))) {
        BL__NAME(send_home)(w->run, r, task->returned->sum);
        task->returned->ended = BL__FORKED; /* there is nothing to pass on */
        return false;
    }
#endif
#if !BL_KIND_LANE || BL_WARP == 1
    task->join = r->parent;
    task->index = r->slot;
#endif
#if BL_SUM
    (void)w, (void)r, (void)shared, (void)local;
    if (task->lane == 0)
        task->returned->ended = BL__RETURNED;
    return false;
#else
    const uint32_t count = *bl__record_count(r);
    const bool wide = count > (BL_JOIN_WIDTH);
    unsigned char *payload = (unsigned char *)r + BL__PAYLOAD_AT;
    unsigned char *results = bl__record_results(r, BL__RESULTS_AT, wide);
    BL__NAME(open)(w->stack, 1, task->fences_alone);
    BL_JOIN(task, (const BL_PAYLOAD *)(const void *)payload, (const BL_RESULT *)(const void *)results, count, shared,
            local);
    const bool visited = BL__NAME(shut)(w->stack);
    if (wide)
        bl__record_joined(results);
    return visited;
#endif
}

#if BL_KIND_LANE
/* All lanes of the warp together, each with a task of its own: up from record to record, until nobody came last. */
BL_HOT_FN bool BL__NAME(join)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    bool visited = false;
    bl__must_have_ended(task);
    while (bl_warp_any(task->returned->ended == BL__RETURNED)) {
        uint32_t done = task->returned->ended == BL__RETURNED ? BL__NAME(pass_on)(w->run, task) : BL__NO_JOIN;
        task->returned->ended = BL__FORKED;
        if (done != BL__NO_JOIN) {
            task->returned->ended = BL__UNENDED;
            visited = BL__NAME(go_on)(w, task, bl__record_at(w->run, done), shared, local) || visited;
            bl__must_have_ended(task);
        }
        bl_warp_sync();
        if (done != BL__NO_JOIN)
            bl__spare_give(w->spare, done);
        bl_warp_sync();
        if (w->spare[0] > BL__SPARE_HIGH)
            bl__spare_trim(w->run, w->lane, w->spare, BL__SPARE_MIDDLE);
    }
    return visited;
}
#else
/* All lanes of the block together, of which one returned something. */
BL_HOT_FN void BL__NAME(join)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    bl__stack *s = w->stack;
    for (;;) {
        if (task->lane == 0)
            bl__must_have_ended(task);
        if (task->returned->ended != BL__RETURNED)
            break;
        if (task->lane == 0)
            s->order = BL__NAME(pass_on)(w->run, task);
        bl__worker_sync(task->lanes);
        uint32_t done = s->order;
        if (task->lane == 0)
            task->returned->ended = BL__UNENDED;
        bl__worker_sync(task->lanes);
        if (done == BL__NO_JOIN)
            break;
        BL__NAME(go_on)(w, task, bl__record_at(w->run, done), shared, local);
        bl__worker_sync(task->lanes);
        if (task->lane == 0)
            bl__spare_give(w->spare, done);
        if (task->lane < BL_WARP) {
            bl_warp_sync();
            if (w->spare[0] > BL__SPARE_HIGH)
                bl__spare_trim(w->run, w->lane, w->spare, BL__SPARE_MIDDLE);
        }
    }
}
#endif
