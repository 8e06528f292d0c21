/* Template, part of worker_loop.inc.h: the porter of a GPU that shares a run with other nodes (parts/outside.h).
 *
 * It is worker 0, and runs no tasks: it looks at the host's memory, and puts what has come in into its queue, from
 * where others steal it. So the others look nowhere, as in a run of one node. A look takes microseconds, and code for
 * it in their loops slows them down even if they do not look: a GPU reads code from memory again and again.
 *
 * If another node is out of work it steals for that one (give). In a program with results it also makes the records of
 * entries that come in, sends their results home, and puts those that come home into their records. If they were the
 * last it continues in the fork's place: the only code of the user that a porter runs is BL_JOIN and BL_SPLIT. */

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

#if BL__PORTS
/* The n newest entries have come in, a lane for each. Of one that is another node's, a record here stands for the
 * record there. */
BL_FN void BL__NAME(import)(bl__worker *w, uint32_t n) {
    uint32_t *entry = bl__stack_slot(w->stack, w->words, w->stack->top - 1 - w->lane);
    uint32_t *join = entry + BL__ENTRY_HEAD + sizeof(BL_PAYLOAD) / 4;
    if (w->lane < n && bl__is_away(*join)) {
        const uint32_t number = bl__spare_take(w->spare);
        bl__record *r = bl__record_at(w->run, number);
        bl_store64_relaxed(&r->state, (entry[1] - entry[0]) * BL__ONE_CHILD);
        r->parent = *join;
        r->slot = 0;
#if !BL_SUM
        *bl__record_count(r) = entry[1];
#endif
        *join = number;
    }
    bl_warp_sync();
}

/* How many lanes in a row, from the first on, have it. */
BL_FN uint32_t BL__NAME(in_a_row)(bool has) {
    const uint32_t ones = bl_warp_ballot(has);
    return ~ones ? bl_lowest_bit(~ones) : BL_WARP;
}

/* Results of records that stand for others, a lane for each, as far as the host has room for them. */
BL_FN void BL__NAME(send_home)(bl__worker *w) {
    const bl__run *run = w->run;
    const bl__parcels *p = &run->outlet.away;
    bl__control *c = run->control;
    while (bl_warp_any(w->lane == 0 && bl_load32_relaxed(&c->finished))) {
        const uint32_t at = p->moved + c->sent + w->lane, room = BL__NAME(in_a_row)(bl__parcel_has_room(p, at));
        uint32_t number = BL__NO_JOIN, sent = 0;
        for (; sent < room; sent++) {
            const uint32_t next = bl_warp_broadcast32(w->lane ? 0 : bl__next_finished(run), 0);
            if (next == BL__NO_JOIN)
                break;
            number = sent == w->lane ? next : number;
        }
        if (number != BL__NO_JOIN) {
            bl__record *r = bl__record_at(run, number);
            bl__parcel *parcel = (bl__parcel *)(void *)(bl__parcel_slot(p, at) + 1);
            const uint64_t sum = bl_load64_relaxed(&r->state) & BL__SUM_MASK;
#if BL_SUM
            bl__words_copy((bl_word *)(parcel + 1), (const bl_word *)&sum, 2);
#else
            (void)sum;
            bl__words_copy((bl_word *)(parcel + 1), (const bl_word *)bl__record_results(r, BL__RESULTS_AT, false),
                           *bl__record_count(r) * (BL__RESULT_BYTES / 4));
#endif
            parcel->join = r->parent;
            bl__parcel_fill(p, at);
            bl_store64_relaxed(&r->state, 0);
        }
        bl_warp_sync();
        if (number != BL__NO_JOIN)
            bl__spare_give(w->spare, number);
        bl_warp_sync();
        if (w->lane == 0)
            c->sent += sent;
        if (w->spare[0] > BL__SPARE_HIGH)
            bl__spare_trim(run, w->lane, w->spare, BL__SPARE_MIDDLE);
        bl_warp_sync();
        if (!sent)
            return;
    }
}

BL_FN bool BL__NAME(home_shows)(bl__worker *w) {
    const bl__parcels *p = &w->run->outlet.home;
    return bl_warp_any(w->lane == 0 && bl__parcel_is_there(p, p->moved + w->run->control->brought));
}

/* Results that have come home into their records, as if a lane had run those children: a parcel for each lane, or one
 * for a block. All children but one are taken off; the last is passed on like the result of any task. Lanes that have
 * one: true. */
BL_FN bool BL__NAME(bring_home)(bl__worker *w, bl_task *task) {
    const bl__run *run = w->run;
    const bl__parcels *p = &run->outlet.home;
    const uint32_t at = p->moved + run->control->brought + w->lane;
    const uint32_t n = BL__NAME(in_a_row)(w->lane < BL__BATCH && bl__parcel_is_there(p, at));
    if (w->lane < n) {
        const bl__parcel *parcel = (const bl__parcel *)(const void *)(bl__parcel_slot(p, at) + 1);
        const bl__parcel head = *parcel;
        const bl_word *results = (const bl_word *)(parcel + 1);
        task->join = head.join;
        task->index = head.begin;
        task->spawned = 0;
#if BL_SUM
        bl__words_copy((bl_word *)&task->returned->sum, results, 2);
#else
        unsigned char *to = run->results + (size_t)(head.join & ~BL__ROOT) * BL__RESULT_BYTES;
        if (!(head.join & BL__ROOT))
            to = bl__record_results(bl__record_at(run, head.join), BL__RESULTS_AT, false) +
                 (size_t)head.begin * BL__RESULT_BYTES;
        bl__words_copy((bl_word *)to, results, head.bytes / 4);
#endif
        bl__parcel_clear(p, at);
        if (head.count > 1) /* only a record has several children; J1 follows */
            bl_fetch_add64_relaxed(&bl__record_at(run, head.join)->state,
                                   0 - (uint64_t)(head.count - 1) * BL__ONE_CHILD);
    }
    bl_warp_sync(); /* all have read `brought` */
    if (w->lane == 0) {
        run->control->brought += n;
        if (!BL_KIND_LANE && (BL_MAX_SPAWN) > 0)
            w->stack->limit = w->stack->top + (BL_MAX_SPAWN);
    }
    return w->lane < n;
}

/* Records for entries that come in and forks of joins, and room for what a join may spawn; else asks for a pause. */
BL_FN bool BL__NAME(is_ready)(bl__worker *w) {
    if (w->spare[0] < BL_WARP && !bl__spare_refill(w->run, w->lane, w->spare, BL_WARP, BL__SPARE_CHUNK) && w->lane == 0)
        w->stop = bl_fetch_or32_relaxed(&w->run->control->stop, BL__STOP_RECORDS) | BL__STOP_RECORDS;
    bl_warp_sync();
    return bl_warp_broadcast32(w->spare[0], 0) >= BL_WARP &&
           w->run->stack_capacity - BL__NAME(held)(w) >= w->run->outbox;
}
#endif

#if BL__PORTS
/* The leading warp, in a launch that only sees to results, because the run is to be written to a file: whatever has
 * come home goes into its record, and what belongs elsewhere goes there. Then it leaves; or if there are no records
 * left, or no room for forks of joins, and is started again. */
BL_FN uint32_t BL__NAME(only_results)(bl__worker *w, bl_task *task, bool *brought) {
    BL__NAME(send_home)(w);
    if (!BL__NAME(home_shows)(w)) {
        const bool waits = bl_warp_any(w->lane == 0 && bl_load32_relaxed(&w->run->control->finished));
        if (waits) /* for the host, which takes results out of the ring */
            bl_backoff(3);
        return waits ? BL__PORTER_LOOKS : BL__PORTER_LEAVES;
    }
    if (!BL__NAME(is_ready)(w))
        return BL__PORTER_LEAVES;
    *brought = BL__NAME(bring_home)(w, task);
    return BL__PORTER_JOINS;
}
#endif

/* Whether there is something to steal. Entries in the porter's own deque do not count: a node must run some of those
 * that it received. */
BL_FN bool BL__NAME(sees_prey)(bl__worker *w) {
    return BL__NAME(sees_work)(w) && (!BL__EMPTY_WHEN_IDLE || bl_warp_any(w->of_steal.size > 0));
}

/* Steals up to `wished` entries for a node that is out of work. If a steal brings one wide entry, this node keeps its
 * first half. If the scheduler fetches from the porter's own queue first, it keeps one of several entries, for the same
 * reason. */
BL_FN void BL__NAME(give)(bl__worker *w, const BL_SHARED *shared, uint32_t wished) {
    for (uint32_t tries = 1; !BL__NAME(held)(w) && BL__NAME(fetch)(w); tries++) {
        uint32_t n = BL__NAME(held)(w);
        if (n == 1 && BL__NAME(width)(w) > BL__BATCH)
            BL__NAME(halve)(w, shared);
        else if (!BL__EMPTY_WHEN_IDLE && n > 1)
            n--;
        n = bl__min(n, wished);
        bl__outlet_put(w, n);
        wished -= n;
        if (BL__NAME(held)(w))
            BL__NAME(share_and_publish)(w, BL__NAME(held)(w));
        if (!wished || tries == BL__GIFTS || !BL__NAME(sees_prey)(w))
            return;
    }
}

/* The leading warp. What all lanes do next; with BL__PORTER_JOINS, `brought`: this one has a result to pass on. */
BL_FN uint32_t BL__NAME(port)(bl__worker *w, bl_task *task, const BL_SHARED *shared, bool *idle, bool *brought) {
    bool entries = bl__inlet_shows(w, *idle), results = false;
    (void)task, (void)brought;
    if (*idle && !bl_warp_any(w->lane == 0 && bl_load64_relaxed(&w->run->control->idle)))
        return BL__PORTER_LOOKS; /* the worker with the root has yet to count the others: count_in */
#if BL__PORTS
    BL__NAME(send_home)(w);
    results = BL__NAME(home_shows)(w);
    if ((entries || results) && !BL__NAME(is_ready)(w))
        entries = results = false;
#endif
    const uint32_t wished = bl_warp_broadcast32(w->lane ? 0 : bl__wished(w, *idle), 0);
    const bool gives = wished && BL__NAME(sees_prey)(w);
    if ((entries || results || gives) && *idle) {
        if (!BL__NAME(rise)(w))
            return BL__PORTER_LEAVES;
        *idle = false;
    }
    if (gives)
        BL__NAME(give)(w, shared, wished);
    if (entries) {
        const uint32_t n = bl__inlet_fetch(w);
        (void)n;
#if BL__PORTS
        BL__NAME(import)(w, n);
        results = results && BL__NAME(is_ready)(w);
#endif
    }
    if (BL__NAME(held)(w))
        BL__NAME(share_and_publish)(w, BL__NAME(held)(w));
#if BL__PORTS
    if (results) {
        *brought = BL__NAME(bring_home)(w, task);
        return BL__PORTER_JOINS;
    }
#endif
    if (!*idle && BL__NAME(has_none)(w)) {
        BL__NAME(rest)(w);
        *idle = true;
    }
    if (*idle && BL__NAME(over)(w, shared, 0))
        return BL__PORTER_LEAVES;
    bl_backoff(3);
    return BL__PORTER_LOOKS;
}

/* What the leading warp does next, in all lanes of a block. */
BL_FN uint32_t BL__NAME(told)(bl__stack *s, uint32_t lane, uint32_t lanes, uint32_t next) {
#if BL_KIND_LANE
    return (void)s, (void)lane, (void)lanes, next;
#else
    if (lane == 0)
        s->order = next;
    bl__worker_sync(lanes);
    next = s->order;
    bl__worker_sync(lanes);
    return next;
#endif
}

/* A function of its own, so that the code of all other workers stays as it is without a porter. All lanes. */
BL_CALLED_FN void BL__NAME(carry)(bl__worker *w, uint32_t lane, void *scratch, const BL_SHARED *shared,
                                  BL_LOCAL *local) {
    const bl__run *run = w->run;
    const bool leads = BL_KIND_LANE || lane < BL_WARP;
    uint32_t next = BL__PORTER_LOOKS;
    bool idle = false, brought = false;
    bl__returned mine = {0, BL__FORKED};
    bl_task task = BL__TASK(run, w->stack, scratch, lane, (uint32_t)(w->tally - run->tally), w->spare,
                            BL_KIND_LANE ? &mine : &w->stack->returned);
    (void)local, (void)brought;
    if (leads) {
#if BL__TURNS
        if (w->lane == 0)
            bl__quarter_counts(w, 0 - BL__HAS_WORK);
        idle = BL__NAME(one_begins)(run);
        if (w->lane == 0 && idle)
            bl__idler_counts(w, 1);
#endif
        BL__NAME(stand)(w, BL__AT_IDLE);
        BL__NAME(spend)(w, bl_clock()); /* this is no work */
    }
    while (next != BL__PORTER_LEAVES) {
#if BL__PORTS
        if (leads && run->settles)
            next = BL__NAME(only_results)(w, &task, &brought);
        else
#endif
            if (leads)
            next = BL__NAME(stopping)(w) ? BL__PORTER_LEAVES : BL__NAME(port)(w, &task, shared, &idle, &brought);
        next = BL__NAME(told)(w->stack, lane, run->lanes, next);
#if BL__PORTS
        if (next == BL__PORTER_JOINS) {
            if (leads && brought) /* not sooner: lanes of a block look at it until they have left the last join */
                task.returned->ended = BL__RETURNED;
            next = BL__NAME(told)(w->stack, lane, run->lanes, next);
            BL__NAME(join)(w, &task, shared, local);
            if (leads && !BL_KIND_LANE && (BL_MAX_SPAWN) > 0)
                bl__close_outbox(w, BL_MAX_SPAWN);
        }
#endif
    }
    if (!leads)
        return;
    BL__NAME(spend)(w, 0 - bl_clock());
#if BL__TURNS
    if (w->lane == 0) {
        if (idle)
            bl__idler_counts(w, (uint32_t)-1);
        bl__quarter_counts(w, BL__HAS_WORK);
    }
#endif
}
