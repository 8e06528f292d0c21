/* Range stealing: a range of indices per worker; a worker that runs out takes the second half of another's (Toss and
 * Gautier 2012).
 * BL_SCHEDULER_PROPERTIES range: range many ranges|steals|greedy capacity|private|victims|steal_half|done_test
 * BL_SCHEDULER_TEXT a range of indices per worker, thieves take half of what is left, greedy
 *
 * The contract is in scheduler_contract.h, that of the ranges in queues/range_contract.h. A worker has two ranges
 * (parts/region.h).
 *
 * `loop` holds indices of the run's loop, dealt out evenly at the start. Its owner takes a few from the front, as many
 * as the run says; a thief takes half and makes that its own range. No entry is written anywhere: an index and the
 * run's payload are all that a task is.
 *
 * `own` holds numbers of slots, and these hold the entries that were spawned: "tasks in an array, their indices in the
 * queue". What a worker publishes is written into the slots in front of its range, and the range is extended over them;
 * so its newest entries are at the front, where it takes them, and thieves take the oldest. A thief copies what it has
 * stolen: the first entries to its stack, the others in front of its own range.
 *
 *     slots    0 ........... begin ............. end ........................ capacity
 *              free: the     entries             stolen since the range was last set: free when the thieves have said
 *              owner has                         so (`emptied`)
 *              used them up
 *
 * Only the owner moves begin, and thieves take from the end: so the slots before begin are free, and those past end
 * have been stolen, all of them. Thieves count what they have copied. If that makes up everything past end, the owner
 * moves its entries to the end of the region and has all the rest free again. Before it steals, a thief sees to it that
 * half of its own slots are free, so what it steals always fits.
 *
 * A loop whose tasks spawn nothing, and whose indices are taken in pieces of a given size, needs no detection of the
 * end: work does not become more, so a worker that finds all ranges empty is done (run->alone).
 *
 * Order pairs
 *   E1 (add, release) with E2 (load, acquire): thieves have read the slots before their owner writes them again.
 *   Entries are written before they can be stolen: extend and set with steal, in the ranges.
 */
#define BL__ENDS_ALONE 0
#define BL__EMPTY_WHEN_IDLE 0
#define BL__CLAIM_LEAVES 0

BL_FN BL_QUEUE BL__NAME(loop_of)(const bl__worker *w, uint32_t i) {
    BL_QUEUE q;
    BL_QUEUE_(bind)(&q, bl__region_of(w->run, i).loop);
    return q;
}
BL_FN BL_QUEUE BL__NAME(own_of)(const bl__worker *w, uint32_t i) {
    BL_QUEUE q;
    BL_QUEUE_(bind)(&q, bl__region_of(w->run, i).own);
    return q;
}

/* All lanes continue with what lane 0 has found, and see what it has acquired. */
BL_FN void BL__NAME(agree)(uint32_t *from, uint32_t *to) {
    bl_warp_sync();
    *from = bl_warp_broadcast32(*from, 0);
    *to = bl_warp_broadcast32(*to, 0);
}

/* Whether worker i shows anything to take. A loop is there only until the first pause; and one that is run alone has
 * nothing else. */
BL_FN bool BL__NAME(shows)(const bl__worker *w, uint32_t i) {
    BL_QUEUE loop = BL__NAME(loop_of)(w, i), own = BL__NAME(own_of)(w, i);
    return (w->run->of_range.loop_tasks && BL_QUEUE_(size)(&loop)) || (!w->run->alone && BL_QUEUE_(size)(&own));
}

/* ---- entries between slots and stack: all lanes of the warp ---- */

/* Slots [from, from + n) onto the stack, the first of them on top. */
BL_FN void BL__NAME(slots_to_stack)(bl__worker *w, bl__region r, uint32_t from, uint32_t n) {
    bl__stack *s = w->stack;
    for (uint32_t i = w->lane; i < n * w->words; i += BL_WARP) {
        uint32_t k = i / w->words, word = i % w->words;
        bl_data_read(bl__stack_slot(s, w->words, s->top + n - 1 - k) + word,
                     bl__region_slot(r, w->words, from + k) + word, 1);
    }
    bl_warp_sync();
    if (w->lane == 0)
        bl__stack_move_top(s, s->top + n);
    bl_warp_sync();
}

/* The n oldest entries of the stack into the slots before `begin`, the oldest last. */
BL_FN void BL__NAME(stack_to_slots)(bl__worker *w, bl__region r, uint32_t begin, uint32_t n) {
    bl__stack *s = w->stack;
    for (uint32_t i = w->lane; i < n * w->words; i += BL_WARP) {
        uint32_t k = i / w->words, word = i % w->words;
        bl_data_write(bl__region_slot(r, w->words, begin - 1 - k) + word,
                      bl__stack_slot(s, w->words, s->bottom + k) + word, 1);
    }
    bl_warp_sync();
    if (w->lane == 0)
        s->bottom += n;
    bl_warp_sync();
}

/* n entries from slot to slot, within a region only towards its end: each lane moves its words in falling order. */
BL_FN void BL__NAME(move_slots)(bl__worker *w, bl__region to, uint32_t at, bl__region from, uint32_t first,
                                uint32_t n) {
    for (uint32_t word = w->lane; word < w->words; word += BL_WARP)
        for (uint32_t k = n; k-- > 0;) {
            uint32_t value;
            bl_data_read(&value, bl__region_slot(from, w->words, first + k) + word, 1);
            bl_data_write(bl__region_slot(to, w->words, at + k) + word, &value, 1);
        }
    bl_warp_sync();
}

/* Makes the slots past the end of the own range free again, if the thieves are done with them. Where the range
 * begins then. */
BL_FN uint32_t BL__NAME(make_room)(bl__worker *w) {
    bl__region r = bl__region_of(w->run, w->id);
    BL_QUEUE own = BL__NAME(own_of)(w, w->id);
    uint32_t from = 0, to = 0, moved = 0, capacity = w->run->capacity;
    if (w->lane == 0) {
        if (BL_QUEUE_(pop)(&own, UINT32_MAX, &from, &to) != BL_QUEUE_DONE)
            from = to = BL_QUEUE_(begin)(&own);
        moved = bl_load32_acquire(r.emptied) - w->of_range.recovered == capacity - to ? capacity - to : 0; /* E2 */
        w->of_range.recovered += moved;
    }
    BL__NAME(agree)(&from, &to);
    moved = bl_warp_broadcast32(moved, 0);
    if (moved && from < to)
        BL__NAME(move_slots)(w, r, from + moved, r, from, to - from);
    if (w->lane == 0)
        BL_QUEUE_(set)(&own, from + moved, to + moved);
    if (from < to)
        bl__wake_for_work(w->run); /* a worker that looked meanwhile saw nothing */
    return from + moved;
}

/* ---- the loop ---- */

/* How many of `left` indices to take at once: what the run says; unless it is to be as in the paper, more of them
 * while there are many. */
BL_FN uint32_t BL__NAME(grain)(const bl__worker *w, uint32_t left) {
    uint32_t least = bl__max(w->run->grain, w->batch);
    return bl__min(left, w->run->grain || BL__ONE_PER_NODE(w->run) ? least : bl__max(left / 4, least));
}

/* Read before it is needed, so that a GPU fetches it while it asks for indices. */
BL_FN uint32_t BL__NAME(loop_word)(const bl__worker *w) { return w->lane < w->words ? w->run->in[w->lane] : 0; }

/* Indices [from, to) of the loop onto the stack; how many entries that is. `own`: this lane's first word of
 * the loop's entry. */
BL_FN uint32_t BL__NAME(push_indices)(bl__worker *w, uint32_t from, uint32_t to, uint32_t own) {
    uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top);
    for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
        slot[i] = i == 0 ? from : i == 1 ? to : i == w->lane ? own : w->run->in[i];
    bl_warp_sync();
    if (w->lane == 0)
        bl__stack_move_top(w->stack, w->stack->top + 1);
    bl_warp_sync();
    return 1;
}

#if BL_QUEUE_(AHEAD)
/* Lane 0, a loop run alone: asks for the next indices, of a range that is taken to be what it was. */
BL_FN void BL__NAME(ask)(bl__worker *w) {
    BL_QUEUE loop = BL__NAME(loop_of)(w, w->id);
    w->of_range.asked = bl__max(w->run->grain, w->batch);
    w->of_range.found = BL_QUEUE_(ask)(&loop, w->of_range.seen, w->of_range.asked);
}

/* What was asked for. Where a thief has been, once more with what is left. */
BL_FN void BL__NAME(answer)(bl__worker *w, uint32_t *from, uint32_t *to) {
    uint64_t all = w->run->of_range.loop_tasks, parts = w->run->queue_count;
    if (w->of_range.asked == 0) {
        if (w->tasks == 0) /* as it was filled; if that is no longer so, asking will tell */
            w->of_range.seen = BL_QUEUE_(ends)((uint32_t)(all * w->id / parts), (uint32_t)(all * (w->id + 1) / parts));
        BL__NAME(ask)(w);
    }
    while (w->of_range.found != w->of_range.seen) {
        w->of_range.seen = w->of_range.found;
        BL__NAME(ask)(w);
    }
    *from = BL_QUEUE_(first)(w->of_range.seen);
    *to = *from + bl__min(w->of_range.asked, BL_QUEUE_(left)(w->of_range.seen));
    w->of_range.seen = BL_QUEUE_(ends)(*to, BL_QUEUE_(end)(w->of_range.seen));
    w->of_range.asked = 0;
}

/* What a worker has taken and not looked at when it stops. */
#define BL__LEAVES 1
BL_FN void BL__NAME(leave)(bl__worker *w) {
    uint32_t from = 0, to = 0;
    if (w->lane == 0 && w->of_range.asked)
        BL__NAME(answer)(w, &from, &to);
    BL__NAME(agree)(&from, &to);
    if (from < to)
        BL__NAME(push_indices)(w, from, to, BL__NAME(loop_word)(w));
}
#endif

BL_FN uint32_t BL__NAME(fetch_loop)(bl__worker *w) {
    uint32_t from = 0, to = 0, own = BL__NAME(loop_word)(w);
#if BL_QUEUE_(AHEAD)
    if (w->lane == 0 && w->run->alone)
        BL__NAME(answer)(w, &from, &to);
#endif
    if (w->lane == 0 && !(BL_QUEUE_(AHEAD) && w->run->alone)) {
        BL_QUEUE loop = BL__NAME(loop_of)(w, w->id);
        uint32_t left = w->run->grain ? UINT32_MAX : BL_QUEUE_(size)(&loop);
        if (left == 0 || BL_QUEUE_(pop)(&loop, BL__NAME(grain)(w, left), &from, &to) != BL_QUEUE_DONE)
            from = to = 0;
    }
    BL__NAME(agree)(&from, &to);
    return from < to ? BL__NAME(push_indices)(w, from, to, own) : 0;
}

BL_FN uint32_t BL__NAME(rob_loop)(bl__worker *w, uint32_t victim) {
    uint32_t from = 0, to = 0, own = BL__NAME(loop_word)(w);
    if (w->lane == 0) {
        BL_QUEUE loop = BL__NAME(loop_of)(w, victim), mine = BL__NAME(loop_of)(w, w->id);
        if (BL_QUEUE_(size)(&loop) == 0 || BL_QUEUE_(steal)(&loop, 1, &from, &to) != BL_QUEUE_DONE) {
            from = to = 0;
        } else {
            uint32_t rest = from + BL__NAME(grain)(w, to - from);
            if (rest < to) {
                BL_QUEUE_(set)(&mine, rest, to);
                bl__wake_for_work(w->run);
            }
#if BL_QUEUE_(AHEAD)
            w->of_range.seen = BL_QUEUE_(ends)(rest, to);
#endif
            to = rest;
        }
    }
    BL__NAME(agree)(&from, &to);
    return from < to ? BL__NAME(push_indices)(w, from, to, own) : 0;
}

/* ---- spawned entries ---- */

/* How many slots make up the rest of a batch, if all are as wide as this one. */
BL_FN uint32_t BL__NAME(slots_of_batch)(const bl__worker *w, bl__region r, uint32_t slot) {
    uint32_t ends[2];
    if (w->batch == 1)
        return 1;
    bl_data_read(ends, bl__region_slot(r, w->words, slot), 2);
    const uint32_t width = bl__max(ends[1] - ends[0], 1);
    return width < w->batch ? (w->batch - w->holds + width - 1) / width : 1;
}

BL_FN uint32_t BL__NAME(fetch_slots)(bl__worker *w) {
    uint32_t from = 0, to = 0;
    bl__region r = bl__region_of(w->run, w->id);
    if (w->lane == 0) {
        BL_QUEUE own = BL__NAME(own_of)(w, w->id);
        if ((w->batch > 1 && BL_QUEUE_(size)(&own) == 0) ||
            BL_QUEUE_(pop)(&own, BL__NAME(slots_of_batch)(w, r, BL_QUEUE_(begin)(&own)), &from, &to) != BL_QUEUE_DONE)
            from = to = 0;
    }
    BL__NAME(agree)(&from, &to);
    if (from < to)
        BL__NAME(slots_to_stack)(w, r, from, to - from);
    return to - from;
}

BL_FN uint32_t BL__NAME(rob_slots)(bl__worker *w, uint32_t victim) {
    uint32_t from = 0, to = 0, half = w->run->capacity / 2, begin = 0;
    BL_QUEUE theirs = BL__NAME(own_of)(w, victim), mine = BL__NAME(own_of)(w, w->id);
    begin = bl_warp_broadcast32(w->lane == 0 ? BL_QUEUE_(begin)(&mine) : 0, 0);
    if (begin < half)
        begin = BL__NAME(make_room)(w);
    if (begin < half) /* somebody is still copying what it stole here: soon */
        return 0;
    if (w->lane == 0 && (BL_QUEUE_(size)(&theirs) == 0 || BL_QUEUE_(steal)(&theirs, 1, &from, &to) != BL_QUEUE_DONE))
        from = to = 0;
    BL__NAME(agree)(&from, &to);
    if (from == to)
        return 0;
    bl__region stolen = bl__region_of(w->run, victim), own = bl__region_of(w->run, w->id);
    uint32_t kept =
        bl__min(bl__min(to - from, w->batch - bl__stack_count(w->stack)), BL__NAME(slots_of_batch)(w, stolen, from));
    uint32_t rest = to - from - kept;
    BL__NAME(slots_to_stack)(w, stolen, from, kept);
    BL__NAME(move_slots)(w, own, begin - rest, stolen, from + kept, rest);
    if (w->lane == 0) {
        bl_fetch_add32_release(bl__region_of(w->run, victim).emptied, to - from); /* E1 */
        if (rest) {
            BL_QUEUE_(extend)(&mine, rest);
            bl__wake_for_work(w->run);
        }
    }
    return to - from;
}

/* Whether its stack has enough to go on with. Where tasks take long, lanes that stay empty cost more than another try:
 * there that is a batch, if all entries are as wide as the newest. */
BL_FN bool BL__NAME(has_enough)(const bl__worker *w, bool slow) {
    const uint32_t count = bl__stack_count(w->stack);
    if (count == 0 || !slow || w->batch == 1)
        return count != 0;
    const uint32_t *newest = bl__stack_slot(w->stack, w->words, w->stack->top - 1);
    return count * bl__min(newest[1] - newest[0], w->batch) >= w->batch;
}

/* ---- the contract ---- */

/* Lane by lane a victim, and whether it shows anything. */
BL_FN bool BL__NAME(look)(bl__worker *w, uint32_t *victim) {
    uint32_t workers = w->run->queue_count, from;
    from = w->run->random_victims && !w->of_steal.primed ? bl__random_victim(w) : w->of_steal.victim;
    w->of_steal.victim = (from + BL_WARP) % workers;
    w->of_steal.primed = 0;
    *victim = (from + w->lane) % workers;
    return *victim != w->id && w->lane < workers && BL__NAME(shows)(w, *victim);
}

BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) {
    uint32_t got = w->run->alone ? 0 : BL__NAME(fetch_slots)(w);
    if (got == 0 && w->run->of_range.loop_tasks)
        got = BL__NAME(fetch_loop)(w);
    if (got)
        return got;
    bl__worker_looks(w);
    uint32_t victim, now;
    bool shows = BL__NAME(look)(w, &victim);
    const bool slow = bl_warp_any(w->lane == 0 && w->stop & BL__PACE && !BL__ONE_PER_NODE(w->run));
    for (uint32_t show = bl_warp_ballot(shows), tries = 0; show && tries < 4 && !BL__NAME(has_enough)(w, slow);
         show &= show - 1, tries++) {
        uint32_t from = bl_warp_broadcast32(victim, bl_lowest_bit(show));
        now = got == 0 && w->run->of_range.loop_tasks ? BL__NAME(rob_loop)(w, from) : 0;
        if (now == 0 && !w->run->alone)
            now = BL__NAME(rob_slots)(w, from);
        bl__worker_tried(w, now);
        got += now;
    }
    return got;
}

BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) {
    BL_QUEUE own = BL__NAME(own_of)(w, w->id);
    uint32_t begin = bl_warp_broadcast32(w->lane == 0 ? BL_QUEUE_(begin)(&own) : 0, 0);
    if (begin < n)
        begin = BL__NAME(make_room)(w);
    n = bl__min(n, begin);
    if (n == 0)
        return 0;
    BL__NAME(stack_to_slots)(w, bl__region_of(w->run, w->id), begin, n);
    if (w->lane == 0) {
        BL_QUEUE_(extend)(&own, n);
        uint32_t size = BL_QUEUE_(size)(&own);
        bl_far_max64_relaxed(&w->tally->queue_peak, size);
        w->peak = bl__max(w->peak, bl__stack_count(w->stack) + size);
    }
    bl_warp_sync();
    return n;
}

/* In a loop run alone nothing stays on the stack that could be shared, and a GPU asks for what comes after the batch
 * that it is about to run. */
BL_FN uint32_t BL__NAME(shown)(bl__worker *w) {
#if BL_QUEUE_(AHEAD)
    if (BL_WARP > 1 && w->run->alone && w->of_range.asked == 0)
        BL__NAME(ask)(w);
#endif
    return w->run->alone || BL__NAME(shows)(w, w->id);
}

BL_FN bool BL__NAME(sees_work)(bl__worker *w) {
    uint32_t victim;
    bool shows = BL__NAME(look)(w, &victim);
    if (bl_warp_any(shows)) { /* fetch comes back to these */
        w->of_steal.victim = bl_warp_broadcast32(victim, 0);
        w->of_steal.primed = 1;
        return true;
    }
    return false;
}

BL_FN bool BL__NAME(all_empty)(bl__worker *w) {
    bool left = false;
    BL_OVERLAP
    for (uint32_t i = w->lane; i < w->run->queue_count; i += BL_WARP)
        left = BL__NAME(shows)(w, i) || left;
    return !bl_warp_any(left);
}
