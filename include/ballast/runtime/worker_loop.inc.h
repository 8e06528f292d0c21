/* Template: THE worker loop, for every target, scheduler, queue and group.
 *
 *     settle     publish what others should have; keep room for the next spawns and records for the next forks
 *     acquire    with an empty stack: fetch, search, go idle, sleep; notice the end
 *     run        take a batch off the private stack and run it
 *     join       pass on what tasks returned, and go on where all children have
 *
 * A worker of lane tasks is a warp whose lanes run a task each; otherwise the lanes of a block run one task together, and the block's first
 * warp leads: it alone settles and acquires. On a CPU a warp has one lane and both are the same.
 *
 * Included once per instance with BL_PROGRAM, BL_PAYLOAD, ... (program.h), BL_INSTANCE (a word that is part of every name), BL_KIND_LANE and BL_SCHEDULER:
 * on a GPU a file of schedulers/, with its BL_QUEUE; elsewhere policy_queues.inc.h or policy_waves.inc.h, which call the library's schedulers.
 */
#define BL__NAME(x) BL_CAT(BL_CAT(BL__OF_PROGRAM, _##x##_), BL_INSTANCE)
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)

#include BL_SCHEDULER

/* Private stacks that others can reach (CPU), or cannot (GPU). */
#define BL__RAIDS (BL_WARP == 1 && !BL__ENDS_ALONE)
#define BL__HIDES (BL_WARP > 1 && !BL__ENDS_ALONE)
#define BL__KNOWN 4u /* batches after which a worker has seen how long they take */
#if BL__RAIDS
#include "raid.inc.h"
#endif

/* Around calls of the user's code: on a CPU others can take from this worker's stack meanwhile. */
BL_HOT_FN void BL__NAME(open)(bl__worker *w) {
#if BL__RAIDS
    bl__gate_open(w->stack, w->run->fences_alone);
#else
    (void)w;
#endif
}
/* True: a thief has taken something, or looked. */
BL_HOT_FN bool BL__NAME(shut)(bl__worker *w) {
#if BL__RAIDS
    return bl__gate_shut(w->stack);
#else
    return (void)w, false;
#endif
}

#define BL__BATCH (BL_KIND_LANE ? BL_WARP : 1u)

/* Asked again and again by who looks for work, which so knows of long batches too when it has found some. */
BL_FN bool BL__NAME(stopping)(bl__worker *w) {
    if (w->lane == 0)
        w->stop = bl_load32_host(&w->run->control->stop);
    return (bl_warp_broadcast32(w->stop, 0) & ~BL__COARSE) != 0;
}

BL_FN void BL__NAME(stand)(bl__worker *w, bl__standing standing) {
    if (w->lane == 0)
        bl_store32_host(&w->tally->standing, (uint32_t)standing);
}

/* Into the worker's timeline. The part of a wave that a CPU thread runs is noted by its device: it may be many groups. */
BL_FN void BL__NAME(note)(bl__worker *w, bl__standing standing) {
    if (!w->run->trace || w->lane)
        return;
#if !BL__ENDS_ALONE
    bl__worker_turns(w, standing);
#elif BL_WARP == 1
    (void)standing;
#else
    if (standing == BL__AT_END)
        bl__trace_wave_ends(bl__worker_trace(w), w->run->launch, w->tasks);
    else
        bl__trace_wave_begins(bl__worker_trace(w), w->run->launch);
#endif
}

/* Entries on the private stack. Lane 0 may change it next, so no lane goes on before all have looked. */
BL_FN uint32_t BL__NAME(held)(bl__worker *w) {
    uint32_t count = bl__stack_count(w->stack);
    bl_warp_sync();
    return count;
}

/* The newest entry, which is long, becomes two: the first half on top, so that the second can be published. Halves are whole batches, as far as
 * that goes. */
BL_FN void BL__NAME(halve)(bl__worker *w, const BL_SHARED *shared) {
    bl__stack *s = w->stack;
    (void)shared;
    if (w->lane == 0) {
        uint32_t *given = bl__stack_slot(s, w->words, s->top - 1), *kept = bl__stack_slot(s, w->words, s->top);
        bl__words_copy(kept, given, w->words);
        uint32_t middle = BL__MIDDLE(w, kept, given, shared);
        if (!BL__SPLITS && BL__BATCH > 1)
            middle = given[0] + ((given[1] - given[0]) / BL__BATCH + 1) / 2 * BL__BATCH;
        kept[1] = middle;
        given[0] = middle;
        bl__stack_move_top(s, s->top + 1);
    }
    bl_warp_sync();
}

BL_FN bool BL__NAME(can_share)(bl__worker *w, uint32_t count) {
    if (count > 1)
        return true;
    const uint32_t *only = bl__stack_slot(w->stack, w->words, w->stack->bottom);
    return count == 1 && only[1] - only[0] > BL__BATCH;
}

#if BL__JOINS
/* Before the n oldest entries can be seen by others. */
BL_FN void BL__NAME(share)(bl__worker *w, uint32_t n) {
    for (uint32_t i = 0; BL_WARP == 1 && i < n; i++) {
        const uint32_t *entry = bl__stack_slot(w->stack, w->words, w->stack->bottom + i);
        bl__record_share(w->run, entry[BL__ENTRY_HEAD + sizeof(BL_PAYLOAD) / 4]);
    }
}

/* As many free records as the tasks of a batch may need. */
BL_FN void BL__NAME(keep_records)(bl__worker *w) {
    if (w->lane == 0 && w->spare[0] < BL__BATCH &&
        !bl__spare_refill(w->run, w->spare, BL__BATCH, BL__ENDS_ALONE ? BL__BATCH : BL__SPARE_CHUNK))
        w->stop = bl_fetch_or32_relaxed(&w->run->control->stop, BL__STOP_RECORDS) | BL__STOP_RECORDS;
}
#endif

BL_FN uint32_t BL__NAME(share_and_publish)(bl__worker *w, uint32_t n) {
#if BL__JOINS
    BL__NAME(share)(w, n);
#endif
    return BL__NAME(publish)(w, n);
}

#if BL__HIDES
/* The number of newest entries whose tasks make up the next batch. */
BL_FN uint32_t BL__NAME(batch_entries)(bl__worker *w, uint32_t count) {
    const uint32_t *mine = bl__stack_slot(w->stack, w->words, w->stack->top - 1 - w->lane);
    uint32_t n = w->lane < count ? bl__min(mine[1] - mine[0], BL__BATCH + 1) : BL__BATCH + 1;
    return bl_popcount(bl_warp_ballot(bl_warp_prefix_add(n) + n <= BL__BATCH));
}

/* The next batch may take long, and nobody can reach this worker's stack meanwhile: if others are out of work, all that the batch does not need
 * is published before it. A long entry is halved again and again, so that those who take the halves can do the same at once. */
BL_FN void BL__NAME(expose)(bl__worker *w, const BL_SHARED *shared) {
    const bl__run *run = w->run;
    if (run->one_per_node || run->alone || run->workers == 1 ||
        !bl_warp_any(w->lane == 0 && (uint32_t)bl_load64_relaxed(&run->control->idle)))
        return;
    for (;;) {
        uint32_t count = BL__NAME(held)(w);
        const uint32_t *newest = bl__stack_slot(w->stack, w->words, w->stack->top - 1);
        bool is_long = newest[1] - newest[0] > BL__BATCH;
        bl_warp_sync();
        if (is_long && run->stack_capacity - count > run->outbox) {
            BL__NAME(halve)(w, shared);
            continue;
        }
        uint32_t n = count - (is_long ? 1 : BL__NAME(batch_entries)(w, count));
        if (n == 0 || BL__NAME(publish)(w, n) < n || !is_long)
            return;
    }
}
#endif

/* Publishes what others should have: the oldest entries, if there are too many or the queue has run empty. */
BL_FN void BL__NAME(settle)(bl__worker *w, const BL_SHARED *shared) {
    const bl__run *run = w->run;
    if (BL_WARP > 1 && !BL_KIND_LANE)
        bl__close_outbox(w, BL_MAX_SPAWN);
    uint32_t count = BL__NAME(held)(w), published = 0;
    w->peak = bl__max(w->peak, count);
    w->calm = bl__max(w->calm, bl__min(count, run->private_limit));
    if (count > run->private_limit && !run->alone) { /* in a loop run alone nobody would look for it */
        published = BL__NAME(share_and_publish)(w, count - run->private_limit / 2);
    } else if (run->workers > 1 && BL__NAME(can_share)(w, count) && bl_warp_any(w->lane == 0 && w->shown == 0)) {
        if (count == 1)
            BL__NAME(halve)(w, shared);
        published = BL__NAME(share_and_publish)(w, bl__max(count / 2, 1));
    }
    if (published)
        bl__wake_for_work(run);
    if (BL_WARP == 1 && !BL__ENDS_ALONE && w->stack->extras) /* so nobody goes idle while there are any */
        bl__take_extras(w);
}

/* Room for what the next batch may spawn, and records for its forks; else asks for a pause. */
BL_FN void BL__NAME(make_ready)(bl__worker *w) {
    const bl__run *run = w->run;
#if BL__JOINS
    BL__NAME(keep_records)(w);
#endif
    if (w->lane == 0 && run->stack_capacity - bl__stack_count(w->stack) < run->outbox)
        w->stop = bl_fetch_or32_relaxed(&run->control->stop, BL__STOP_GROW) | BL__STOP_GROW;
    bl_warp_sync();
}

#if !BL__ENDS_ALONE
/* True when the run is over. */
BL_FN bool BL__NAME(over)(bl__worker *w, const BL_SHARED *shared) {
    bl__control *control = w->run->control;
    uint32_t over = 0;
    if (w->run->done_test) {
        if (w->lane == 0 && BL_DONE_TEST(shared)) {
            bl_fetch_or32_relaxed(&control->stop, BL__STOP_DONE);
            over = 1;
        }
        return bl_warp_broadcast32(over, 0) != 0;
    }
    uint64_t word = w->lane == 0 ? bl__idle_read(control) : 0;
    uint32_t all = bl_warp_broadcast32(bl__idle_all(word, w->run->workers) ? 1u : 0u, 0);
    /* One look at all queues is enough, where nobody is asleep. */
    if (!all || (!BL_CAN_SLEEP && w->id != 0) || !BL__NAME(all_empty)(w))
        return false;
    if (w->lane == 0)
        over = bl__idle_finish(control, word);
    return bl_warp_broadcast32(over, 0) != 0;
}

/* Waits until there may be work. False when the run is over or paused. */
BL_FN bool BL__NAME(idle)(bl__worker *w, const BL_SHARED *shared) {
    bl__control *control = w->run->control;
    BL__NAME(stand)(w, BL__AT_IDLE);
    BL__NAME(note)(w, BL__AT_IDLE);
    if (w->lane == 0)
        bl__idle_enter(control);
#if BL__RAIDS
    uint64_t since = bl_clock();
    bool looks_out = false;
#elif BL__HIDES
    bl__watched watched = {bl_clock32(), w->id, 0};
#endif
    for (uint32_t tries = 0;; tries++) {
        if (BL__NAME(stopping)(w))
            return false;
        if (BL__NAME(sees_work)(w))
            break;
#if BL__RAIDS
        if (looks_out)
            bl__look_out(w->run, w->id);
        if (BL__NAME(sees_held_up)(w))
            break;
#elif BL__HIDES
        if (w->lane == 0)
            bl__watch_another(w, &watched);
#endif
        uint32_t gone = w->lane == 0 && (bl__idle_read(control) & BL__IDLE_DONE);
        if (bl_warp_broadcast32(gone, 0))
            return false;
        if (BL__NAME(over)(w, shared)) {
            bl__wake_all(w->run);
            return false;
        }
        if (!bl__idle_pause(tries))
            continue;
        /* Asleep only if nothing was published before `sleepers` was raised: pairs with bl__wake_for_work. */
        uint32_t seen = bl__sleep_begin(w->run);
        bool sleeps = BL__NAME(all_empty)(w) && !BL__NAME(stopping)(w) && !(bl__idle_read(control) & BL__IDLE_DONE) &&
                      !(w->run->done_test && BL_DONE_TEST(shared));
#if BL__RAIDS
        looks_out = looks_out || bl__lookout_take(w->run, w->id);
        if (sleeps && looks_out) {
            bl__nap(w->run, seen, bl__nap_length(bl_clock() - since));
            sleeps = false;
        }
#endif
        if (sleeps)
            bl__sleep_now(w->run, seen);
        bl__sleep_end(w->run);
    }
#if BL__RAIDS
    if (looks_out)
        bl__lookout_give(w->run);
#endif
    uint32_t go = w->lane == 0 && bl__idle_leave(control);
    return bl_warp_broadcast32(go, 0) != 0;
}

/* Until it has fetched something, or should end. */
BL_FN bool BL__NAME(search)(bl__worker *w, const BL_SHARED *shared) {
    uint64_t since = bl_clock();
    BL__NAME(stand)(w, BL__AT_SEARCH);
    BL__NAME(note)(w, BL__AT_SEARCH);
    bool got = false;
    for (uint32_t tries = 0;; tries++) {
        if (w->run->alone ? BL__NAME(all_empty)(w) || BL__NAME(stopping)(w)
                          : BL__NAME(stopping)(w) || (tries >= BL__QUICK_TRIES && !BL__NAME(idle)(w, shared)))
            break;
        got = BL__NAME(fetch)(w) != 0;
#if BL__RAIDS
        got = got || (!w->run->alone && BL__NAME(raid)(w, shared) != 0);
#endif
        if (got)
            break;
        if (tries < BL__QUICK_TRIES || w->run->alone)
            bl_backoff(tries);
    }
    w->waited += bl_clock() - since;
    w->piece_begun = 0;
    BL__NAME(stand)(w, BL__AT_WORK);
    if (got)
        bl__wake_for_work(w->run); /* who woke this worker woke only one: where there was work there may be more */
    return got;
}
#endif

/* Fills the empty private stack. False when the worker should end. */
BL_FN bool BL__NAME(acquire)(bl__worker *w, const BL_SHARED *shared) {
#if BL__ENDS_ALONE
    (void)shared;
    return BL__NAME(fetch)(w) != 0;
#else
    if (!BL__NAME(fetch)(w) && !BL__NAME(search)(w, shared))
        return false;
#if BL__HIDES
    if (w->lane == 0)
        bl_store32_relaxed(&w->tally->fetched, 2 * bl_clock32());
#endif
    BL__NAME(note)(w, BL__AT_WORK);
    bl__worker_makes_room(w);
    return true;
#endif
}

/* What settle and prepare go by. A GPU looks before a batch and uses it after, so that nobody waits for memory; a CPU has it near and looks
 * when it needs it. */
BL_FN void BL__NAME(look_around)(bl__worker *w) {
    if (w->lane == 0) {
        w->stop = bl_load32_host(&w->run->control->stop);
        /* A thread that keeps nothing to itself publishes whatever it holds, so it need not ask. */
        w->shown = BL_WARP == 1 && w->run->private_limit == 0 ? 1 : BL__NAME(shown)(w);
    }
}

/* Between two batches. False: stop. */
BL_FN bool BL__NAME(prepare)(bl__worker *w, const BL_SHARED *shared) {
    if (BL_WARP == 1)
        BL__NAME(look_around)(w);
    BL__NAME(settle)(w, shared);
    BL__NAME(make_ready)(w);
    if (w->lane == 0)
        bl_store64_host(&w->tally->beat, w->tasks);
#if BL__HIDES
    const uint32_t now = bl_clock32();
    if (now - w->begun >= BL_LONG_TICKS) /* w->stop was read before the batch: this one knows better */
        w->stop |= BL__COARSE;
    w->begun = now;
#endif
    uint32_t stop = bl_warp_broadcast32(w->stop, 0);
    if (stop & ~BL__COARSE)
        return false;
    if (!BL__NAME(held)(w)) {
        if (!BL__NAME(acquire)(w, shared))
            return false;
#if BL__HIDES
        w->begun = bl_clock32();
        stop = bl_warp_broadcast32(w->stop, 0);
#endif
    }
#if BL__HIDES
    if (stop & BL__COARSE || w->tasks < BL__KNOWN * BL__BATCH)
        BL__NAME(expose)(w, shared);
#endif
    if (BL_WARP > 1)
        BL__NAME(look_around)(w);
    return true;
}

#if BL__JOINS
/* One lane: passes on what its task returned. The record all of whose children have returned, or BL__NO_JOIN. */
BL_HOT_FN uint32_t BL__NAME(pass_on)(const bl__run *run, const bl_task *task) {
    if (task->join & BL__ROOT) {
        if (BL_SUM && task->join != BL__NO_JOIN)
            ((uint64_t *)(void *)run->results)[task->join & ~BL__ROOT] = task->returned->sum;
        return BL__NO_JOIN;
    }
    uint32_t number = BL_SUM ? task->join : bl__record_number(task->join);
    bl__record *r = bl__record_at(run, number);
    uint64_t sum = BL_SUM ? task->returned->sum : 0;
    uint64_t state = BL_WARP == 1 ? bl__record_arrive_own(r, sum)
                     : BL_SUM     ? bl__record_arrive_sum(r, sum)
                                  : bl__record_arrive(r, sum);
    if (BL__CHECKS && BL_SUM && (sum > BL__SUM_MASK || (state & BL__SUM_MASK) < sum)) /* it has wrapped */
        bl__stop_for_misuse(run->control, BL__SUM_TOO_LARGE, 0);
    task->returned->sum = state & BL__SUM_MASK;
    return bl__record_out(state) ? BL__NO_JOIN : number;
}

/* In place of the fork that left this record. True: a thief was there meanwhile. */
BL_HOT_FN bool BL__NAME(go_on)(bl__worker *w, bl_task *task, bl__record *r, const BL_SHARED *shared, BL_LOCAL *local) {
    task->join = r->parent;
    task->index = r->slot;
#if BL_SUM
    (void)w, (void)shared, (void)local;
    if (task->lane == 0)
        task->returned->ended = BL__RETURNED;
    return false;
#else
    const uint32_t count = *bl__record_count(r);
    const bool wide = count > (BL_JOIN_WIDTH);
    unsigned char *payload = (unsigned char *)r + BL__PAYLOAD_AT;
    unsigned char *results = bl__record_results(r, BL__RESULTS_AT, wide);
    BL__NAME(open)(w);
    BL_JOIN(task, (const BL_PAYLOAD *)(const void *)payload, (const BL_RESULT *)(const void *)results, count, shared,
            local);
    const bool visited = BL__NAME(shut)(w);
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
        if (w->lane == 0 && w->spare[0] > BL__SPARE_HIGH)
            bl__spare_trim(w->run, w->spare, BL__SPARE_HIGH);
        bl_warp_sync();
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
        if (task->lane == 0) {
            bl__spare_give(w->spare, done);
            if (w->spare[0] > BL__SPARE_HIGH)
                bl__spare_trim(w->run, w->spare, BL__SPARE_HIGH);
        }
    }
}
#endif
#endif

/* Of the `left` indices of an entry, those to run next. A guess of pieces may be wrong, so never more than an eighth of a worker's part: when
 * somebody is out of work, what is here may be all that is left for all. In a wave what was fetched is what is run. */
BL_FN uint32_t BL__NAME(next)(bl__worker *w, uint32_t left) {
#if BL__TAKES_PIECES
    uint32_t sharers = BL_WARP > 1 ? 2 : (uint32_t)bl_load64_relaxed(&w->run->control->idle) ? w->run->workers : 1;
    return BL__ENDS_ALONE ? left : bl__piece(w, left, bl__max(left / (8 * sharers), 1));
#else
    return (void)w, (void)left, 1;
#endif
}

#if BL_WARP == 1
/* A CPU thread that has enough to do, room to do it in and nobody waiting for it need not prepare. */
BL_HOT_FN bool BL__NAME(may_go_on)(bl__worker *w) {
    const bl__run *run = w->run;
    if (bl__stack_count(w->stack) - 1 >= w->calm || bl_load32_host(&run->control->stop) ||
        (uint32_t)bl_load64_relaxed(&run->control->idle) || (BL__JOINS && w->spare[0] == 0))
        return false;
    bl_store64_host(&w->tally->beat, w->tasks);
    return true;
}

/* A CPU thread stays with its newest entry until that is used up, a task has spawned, or somebody is out of work: the payload
 * stays in registers, and what the tasks of one entry have in common is computed once. Before each task the entry says what is left of it, for
 * thieves; after one that a thief used for a visit it must be looked at anew. */
BL_HOT_FN void BL__NAME(run_entry)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    bl__stack *s = w->stack;
    const bl__run *run = w->run;
    const bl__control *control = run->control;
    const uint32_t words = BL_ENTRY_WORDS; /* w->words, but the compiler knows it */
    uint32_t top = s->top, *entry = bl__stack_slot(s, words, top - 1), index = entry[0], end = entry[1];
    BL__CARRIED carried;
    bl__words_copy((bl_word *)&carried, entry + BL__ENTRY_HEAD, words - BL__ENTRY_HEAD);
    for (;;) {
        uint32_t n = BL__NAME(next)(w, end - index);
        bool last = index + n == end;
        if (last)
            bl__stack_move_top(s, top - 1); /* before the task, so that its spawns take the entry's place */
        else
            entry[0] = index + n;
#if BL__JOINS
        task->join = carried.join;
        task->index = index;
        task->returned->ended = BL__UNENDED;
#endif
        if (BL__ENDS_ALONE) /* room in the out-array was made for so much only */
            task->limit = s->top + run->outbox;
        BL__NAME(open)(w);
        BL__CALL(task, BL__PAYLOAD_OF(&carried), index, n, shared, local);
        bool visited = BL__NAME(shut)(w);
#if BL__JOINS
        visited = BL__NAME(join)(w, task, shared, local) || visited;
#endif
        index += n;
        w->tasks += n;
        if (last || visited || s->top != top || bl_load32_host(&control->stop) ||
            (uint32_t)bl_load64_relaxed(&control->idle))
            return;
        bl_store64_host(&w->tally->beat, w->tasks);
    }
}
#elif BL_KIND_LANE
/* A task for every lane, over as many of the newest entries as that needs. Entries on the stack are never empty, so lane k looks at the k-th
 * newest; a prefix sum gives where its tasks start, and the bits of those starts tell every lane which entry is its own. */
BL_FN bool BL__NAME(take_tasks)(bl__worker *w, bl_word *payload, uint32_t *index) {
    bl__stack *s = w->stack;
    uint32_t lane = w->lane, top = s->top, count = bl__stack_count(s);
    uint32_t *mine = bl__stack_slot(s, w->words, top - 1 - lane);
    uint32_t n = lane < count ? mine[1] - mine[0] : 0;
    uint32_t start = bl_warp_prefix_add(bl__min(n, BL_WARP));
    bool used = n != 0 && start < BL_WARP;
    uint32_t taken = used ? bl__min(n, BL_WARP - start) : 0;
    uint32_t starts = bl_warp_or(used ? 1u << start : 0);
    uint32_t total = bl_warp_broadcast32(bl__min(start + bl__min(n, BL_WARP), BL_WARP), BL_WARP - 1);
    uint32_t which = bl_popcount(starts & ((2u << lane) - 1)) - 1;
    uint32_t offset = lane - bl_warp_broadcast32(start, which);
    const uint32_t *entry = bl__stack_slot(s, w->words, top - 1 - which);
    *index = entry[0] + offset;
    bl__words_copy(payload, entry + BL__ENTRY_HEAD, w->words - BL__ENTRY_HEAD);
    uint32_t emptied = bl_popcount(bl_warp_ballot(used && taken == n));
    bl_warp_sync();
    if (used && taken < n)
        mine[0] += taken;
    if (lane == 0)
        s->top = top - emptied;
    bl_warp_sync();
    w->tasks += total;
    return lane < total;
}
#else
/* The leading warp copies the newest entry to where all lanes of the block read it, and takes one index off it, or a piece. */
BL_FN void BL__NAME(take_task)(bl__worker *w) {
    bl__stack *s = w->stack;
    uint32_t *slot = bl__stack_slot(s, w->words, s->top - 1), *current = bl__stack_current(s, w->words);
    uint32_t n = bl_warp_broadcast32(BL__NAME(next)(w, slot[1] - slot[0]), 0);
    for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
        current[i] = i == 1 ? n : slot[i];
    bl_warp_sync();
    if (w->lane == 0) {
        slot[0] += n;
        if (slot[0] == slot[1])
            s->top--;
        s->limit = s->top + (BL_MAX_SPAWN);
        s->returned.ended = BL__UNENDED;
    }
    w->tasks += n;
}
#endif

/* Leaves what is still private where the host finds it, and adds up. */
BL_FN void BL__NAME(close)(bl__worker *w, uint64_t begun) {
    bl__tally *tally = w->tally;
#ifdef BL__LEAVES
    BL__NAME(leave)(w);
#endif
    uint32_t count = bl__stack_count(w->stack);
#if BL__JOINS
    BL__NAME(share)(w, count);
    for (uint32_t i = 0; BL_WARP == 1 && i < w->stack->extras; i++)
        bl__record_share(w->run,
                         w->stack->extra.entries[(size_t)i * w->words + BL__ENTRY_HEAD + sizeof(BL_PAYLOAD) / 4]);
    if (w->lane == 0 &&
        (BL__ENDS_ALONE || bl_load32_host(&w->run->control->stop) & ~BL__COARSE)) /* after the end nobody needs them */
        bl__spare_trim(w->run, w->spare, 0);
#endif
    if (!BL__ENDS_ALONE) {
        uint32_t *spill = w->run->spill + (size_t)w->id * w->run->stack_capacity * w->words;
        for (uint32_t i = w->lane; i < count * w->words; i += BL_WARP)
            spill[i] = bl__stack_slot(w->stack, w->words, w->stack->bottom + i / w->words)[i % w->words];
    }
    if (w->lane)
        return;
    if (!BL__ENDS_ALONE)
        tally->spilled = count;
    bl_store64_host(&tally->beat, 0);
    bl_fetch_add64_relaxed(&tally->tasks, w->tasks);
    bl_fetch_add64_relaxed(&tally->busy, bl_clock() - begun - w->waited);
    bl_fetch_max64_relaxed(&tally->peak, w->peak);
    bl_fetch_max64_relaxed(&tally->queue_peak, w->queue_peak);
}

/* The whole life of one lane of worker `id`, whose counters go to tally `slot`. */
BL_FN void BL__NAME(work)(const bl__run *run, const BL_SHARED *shared, uint32_t id, uint32_t lane, uint32_t slot,
                          bl__stack *stack, void *scratch) {
    bl__worker w = bl__worker_start(run, stack, id, lane, slot, BL__BATCH, BL_ENTRY_WORDS);
    bool leads = BL_KIND_LANE || lane < BL_WARP;
    BL_ASSUME(run->lanes >= BL_WARP); /* so that a block's tasks need no code for a single lane */
    uint64_t begun = bl_clock();
    BL_LOCAL local;
    memset(&local, 0, sizeof local);
#if BL_WARP > 1
    BL__CARRIED carried;
    uint32_t index;
#endif
    bl__returned mine = {0, BL__FORKED}; /* of a task of one lane; a block's lies where all of it can see it */
    bl_task task = {stack,
                    &run->control->stop,
                    scratch,
                    BL_KIND_LANE ? 0 : lane,
                    BL_KIND_LANE ? 1 : run->lanes,
                    BL_ENTRY_WORDS,
                    run,
                    BL_KIND_LANE ? &mine : &stack->returned,
                    w.spare,
                    BL__NO_JOIN,
                    0,
                    BL__RESULT_BYTES,
                    BL__RESULTS_AT,
                    BL__PAYLOAD_AT,
                    BL_SUM ? BL__MOST_CHILDREN : (BL_JOIN_WIDTH),
                    BL__PAYLOAD_BYTES,
                    BL__CHECKS,
                    BL_MAX_SPAWN,
                    0,
                    0};
#if BL__JOINS
    if (lane == 0)
        w.spare[0] = 0;
#endif
#if BL__ENDS_ALONE
    if (leads)
        BL__NAME(open_share)(&w);
#endif
#if BL__RAIDS
    bl_store32_relaxed(&w.tally->slow, 0); /* of an earlier launch */
    bl_store64_relaxed(&w.tally->dry, 0);
#endif
    if (leads) {
        BL__NAME(stand)(&w, BL__AT_WORK);
        BL__NAME(note)(&w, BL__AT_WORK);
        bl_warp_sync();
    }
#if BL_WARP == 1
    bl__worker near =
        w; /* the scheduler is given the address of w, so the compiler keeps w in memory; this one it need not */
#endif
    for (;;) {
#if BL_WARP == 1
        if (!BL__NAME(may_go_on)(&near)) {
            bl__worker_agree(&w, &near, BL__TAKES_PIECES);
            bool go = BL__NAME(prepare)(&w, shared);
            bl__worker_agree(&near, &w, BL__TAKES_PIECES);
            if (!go)
                break;
            task.limit = stack->bottom + run->stack_capacity;
        }
        BL__NAME(run_entry)(&near, &task, shared, &local);
#elif BL_KIND_LANE
        if (!BL__NAME(prepare)(&w, shared))
            break;
        if (BL__NAME(take_tasks)(&w, (bl_word *)&carried, &index)) {
#if BL__JOINS
            task.join = carried.join;
            task.index = index;
            mine.ended = BL__UNENDED;
#endif
            task.spawned = 0;
            BL__CALL(&task, BL__PAYLOAD_OF(&carried), index, 1u, shared, &local);
        }
        bl_warp_sync();
#if BL__JOINS
        BL__NAME(join)(&w, &task, shared, &local);
#endif
#else
        if (leads) {
            bool go = BL__NAME(prepare)(&w, shared);
            if (go)
                BL__NAME(take_task)(&w);
            if (lane == 0)
                stack->order = go;
        }
        bl__worker_sync(run->lanes);
        if (!stack->order)
            break;
        const uint32_t *current = bl__stack_current(stack, w.words);
        index = current[0];
        bl__words_copy((bl_word *)&carried, current + BL__ENTRY_HEAD, w.words - BL__ENTRY_HEAD);
#if BL__JOINS
        task.join = carried.join;
        task.index = index;
#endif
        BL__CALL(&task, BL__PAYLOAD_OF(&carried), index, current[1], shared, &local);
        bl__worker_sync(run->lanes);
#if BL__JOINS
        BL__NAME(join)(&w, &task, shared, &local);
#endif
#endif
    }
    BL_MERGE(shared, &local);
    if (leads) {
        BL__NAME(stand)(&w, BL__AT_END);
        BL__NAME(note)(&w, BL__AT_END);
        BL__NAME(close)(&w, begun);
        if (lane == 0)
            bl__wake_all_if_stopped(run);
    }
}

#undef BL__BATCH
#undef BL__RAIDS
#undef BL__HIDES
#undef BL__KNOWN
#undef BL__ENDS_ALONE
#undef BL__LEAVES
#undef BL_QUEUE_
#undef BL__NAME
