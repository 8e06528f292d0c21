/* Template, part of worker_loop.inc.h: a thread runs the children of a fork itself, by recursion, as long as nobody
 * else wants them.
 *
 * When a task function has forked and returned, its worker calls the children one after another, and then BL_JOIN. What
 * it has to remember of the fork meanwhile, the payload and the results, is in a frame (parts/frame.h). No entry is
 * written, no record is taken. Before each child it looks at two words that others write: the stop word, and how many
 * workers are idle. Nearly always both are 0.
 *
 *     frames      | what the first task returns to | oldest | ...   | ...       | newest |
 *                   handed over, as it were        | handed over    | private            |
 *     records                                      | #7 <---- #9    |
 *
 * Frames are an array on the C stack of the worker, and the recursion is a loop that goes up and down in it
 * (`run_frames`): a fork costs no call, and what the loop counts with stays in registers. A frame is written to when
 * the loop leaves it for the next one. A child that returns at once touches nothing of it.
 *
 * Somebody is idle, and neither the worker's queue nor its private stack holds anything, or another node is out of work
 * and the stack holds nothing: the worker hands over the oldest frame that has children which have not begun
 * (`hand_over`). They become an entry, and that frame and all older ones become
 * records. Newer frames stay private, and the recursion continues. When it comes down to a frame that was handed over,
 * the child's result goes to its record like any other (`deliver`): the worker that returns the last child continues,
 * and nobody waits. All older frames have been handed over, too, so the recursion is at its end.
 *
 * The run is stopping, or there are no more frames, or a fork is too wide for a frame, or a task has spawned a task
 * beside its fork: the worker hands over all frames (`hand_over_all`), and continues with what is now on its private
 * stack. There are never more frames than the worker has free records and free slots on its stack, so that this cannot
 * fail.
 *
 * Thieves may raid the private stack throughout: its owner does not touch it, except in `serve`. They cannot reach
 * frames. So a worker recurses only after a while in which its tasks were short, and if the lookout still sees it in a
 * long task, it hands over all frames and has to see more short tasks than before (`trust`, `doubt`).
 */
#ifndef BL_RUNTIME_RECURSE_ONCE
#define BL_RUNTIME_RECURSE_ONCE
#define BL__FRAME_MOST 1024u                 /* bytes */
#define BL__DEEPEST (2 * BL__SPARE_CHUNK)    /* frames */
#ifndef BL__WARY                             /* the explorer trusts at once */
#define BL__WARY 32u                         /* tasks to run with care at first, ... */
#define BL__SHORT_TICKS (BL_LONG_TICKS / 16) /* ... and the time that they may take on average */
#endif
#define BL__WARY_MOST (1u << 20)
#define BL__NEVER UINT32_MAX
#endif

/* Results that a frame holds; a fork with more children is handed over at once. */
#define BL__FRAME_RESULTS                                                                                              \
    ((BL_SUM) ? 1u : BL__MIN((uint32_t)(BL_JOIN_WIDTH), BL__MAX(1u, BL__FRAME_MOST / 2 / (uint32_t)sizeof(BL_RESULT))))

#if BL_SUM
#define BL__RETURNS uint64_t
#else
#define BL__RETURNS BL_RESULT
#endif

typedef struct BL__NAME(frame) {
    bl__frame head;
    BL_PAYLOAD child, kept;
    BL__RETURNS results[BL__FRAME_RESULTS]; /* BL_SUM: the sum */
} BL__NAME(frame);

/* One for all recursions of a worker. */
typedef struct BL__NAME(recursion) {
    bl__control *control;
    uint64_t *beat;
    BL__NAME(frame) * frames; /* [0] stands for what the first task returns to: as if it had been handed over */
    BL__NAME(frame) * last;   /* nothing is forked in this one, or there would be more frames than records */
    const BL_SHARED *shared;
    BL_LOCAL *local;
    bl__worker *w;
    void *scratch;
    uint32_t worker;
    uint32_t deepest; /* frames that there is room for, besides frames[0] */
    uint32_t limit;   /* of the stack, for what tasks spawn */
    uint32_t slow;    /* the last long task that the lookout saw this worker in, as far as it knows */
    bool visited;     /* something was taken off the stack */
    bool doubts;      /* about short tasks */
    /* What is left to do when the frames are gone: */
    uint32_t join, index;
    bl__returned returned;
} BL__NAME(recursion);

/* ---- handing over ---- */

/* A record for what has become of a frame; `busy`: whether a child is in progress. */
BL_FN void BL__NAME(fill_record)(const bl__run *run, const BL__NAME(frame) * f, uint32_t busy) {
    bl__record *r = bl__record_at(run, f->head.record);
    const uint32_t ended = f->head.next - busy;
    uint64_t state = (f->head.end - ended) * BL__ONE_CHILD;
#if BL_SUM
    state += ended ? f->results[0] : 0;
#endif
    bl_store64_relaxed(&r->state, state);
    r->parent = f[-1].head.record;
    r->slot = f[-1].head.next - 1;
#if !BL_SUM
    *bl__record_count(r) = f->head.end;
    unsigned char *payload = (unsigned char *)r + BL__PAYLOAD_AT, *results = (unsigned char *)r + BL__RESULTS_AT;
    bl__words_copy((bl_word *)(void *)payload, (const bl_word *)&f->kept, (uint32_t)sizeof f->kept / 4);
    bl__words_copy((bl_word *)(void *)results, (const bl_word *)f->results, ended * (BL__RESULT_BYTES / 4));
    if (f->head.end > (BL_JOIN_WIDTH))
        *bl__record_wide(r, BL__RESULTS_AT) = f->head.wide;
#endif
}

/* Tasks that it runs; all of a fork, until some are handed over. */
BL_HOT_FN void BL__NAME(count)(const BL__NAME(recursion) * c, uint64_t tasks) {
    bl_store64_host(c->beat, bl_load64_relaxed(c->beat) + tasks);
}

/* The children that have not begun. */
BL_FN void BL__NAME(fill_entry)(const BL__NAME(frame) * f, uint32_t *entry) {
    BL__CARRIED carried;
    memset(&carried, 0, sizeof carried);
    carried.payload = f->child;
    carried.join = !(BL_SUM) && f->head.end > (BL_JOIN_WIDTH) ? f->head.record | BL__WIDE : f->head.record;
    entry[0] = f->head.next;
    entry[1] = f->head.end;
    bl__words_copy(entry + BL__ENTRY_HEAD, (const bl_word *)&carried, (uint32_t)sizeof carried / 4);
}

/* Numbers for the records of a private frame and all below it. */
BL_FN void BL__NAME(take_numbers)(bl__worker *w, BL__NAME(frame) * f) {
    for (; f->head.end; f--)
        f->head.record = bl__spare_take(w->spare);
}

/* The stack is shut and empty. True: the oldest frame with children that have not begun is now an entry there. */
BL_FN bool BL__NAME(hand_over)(BL__NAME(recursion) * c, BL__NAME(frame) * newest) {
    bl__worker *w = c->w;
    BL__NAME(frame) *oldest = NULL;
    for (BL__NAME(frame) *f = newest; f->head.end; f--)
        oldest = f->head.next < f->head.end ? f : oldest;
    if (!oldest)
        return false;
    BL__NAME(take_numbers)(w, oldest);
    BL__NAME(fill_entry)(oldest, bl__stack_slot(w->stack, w->words, w->stack->top));
    bl__stack_move_top(w->stack, w->stack->top + 1);
    BL__NAME(count)(c, (uint64_t)oldest->head.next - oldest->head.end);
    for (BL__NAME(frame) *f = oldest; f->head.end; f--) {
        BL__NAME(fill_record)(w->run, f, 1);
        f->head.end = 0;
    }
    return true;
}

/* Where the entry of the frame with `older` such frames below it goes. A task that has spawned more than BL_MAX_SPAWN
 * may have left too little room; then the oldest become extra entries. */
BL_FN uint32_t *BL__NAME(slot_above)(bl__worker *w, uint32_t older, uint32_t extra) {
    bl__stack *s = w->stack;
    if (older >= extra)
        return bl__stack_slot(s, w->words, s->top + older - extra);
    return bl__outbox_overflow(s, w->words, &w->run->control->stop);
}

/* All frames; `busy`: whether the newest has a child in progress. The oldest entry ends up lowest on the stack. */
BL_CALLED_FN void BL__NAME(hand_over_all)(BL__NAME(recursion) * c, BL__NAME(frame) * newest, uint32_t busy) {
    bl__worker *w = c->w;
    c->visited = BL__NAME(shut)(w->stack) || c->visited;
    uint32_t entries = 0, room = w->run->stack_capacity - bl__stack_count(w->stack);
    for (BL__NAME(frame) *f = newest; f->head.end; f--)
        entries += f->head.next < f->head.end;
    const uint32_t extra = entries > room ? entries - room : 0;
    BL__NAME(take_numbers)(w, newest);
    uint32_t older = entries;
    for (BL__NAME(frame) *f = newest; f->head.end; f--, busy = 1) {
        if (f->head.next < f->head.end) {
            uint32_t *entry = BL__NAME(slot_above)(w, --older, extra);
            if (entry)
                BL__NAME(fill_entry)(f, entry);
            BL__NAME(count)(c, (uint64_t)f->head.next - f->head.end);
        }
        BL__NAME(fill_record)(w->run, f, busy);
        f->head.end = 0;
    }
    bl__stack_move_top(w->stack, w->stack->top + entries - extra);
}

/* The stack is shut. The entries on it: at least one, if the frames have any. */
BL_FN uint32_t BL__NAME(uncover)(BL__NAME(recursion) * c, BL__NAME(frame) * newest) {
    uint32_t count = bl__stack_count(c->w->stack);
    if (count == 0)
        count = BL__NAME(hand_over)(c, newest);
    c->w->peak = bl__max(c->w->peak, count);
    return count;
}

/* Somebody wants something. False: all frames have been handed over. The newest one has taken a child that it has not
 * called. */
BL_CALLED_FN bool BL__NAME(serve)(BL__NAME(recursion) * c, BL__NAME(frame) * newest) {
    bl__worker *w = c->w;
    const bl__run *run = w->run;
    const uint32_t slow = bl_load32_relaxed(&w->tally->slow), stop = bl_load32_host(&c->control->stop);
    bl_store32_relaxed(&w->tally->fetched, bl_load32_relaxed(&w->tally->fetched) + 1); /* the next task is another */
    c->doubts = slow != c->slow;
    c->slow = slow;
    if (c->doubts || stop & ~BL__HUNGRY) {
        newest->head.next--;
        BL__NAME(hand_over_all)(c, newest, 0);
        return false;
    }
    const bool publishes = run->workers > 1 && !BL__NAME(shown)(w);
    if (!stop && !publishes)
        return true;
    BL__NAME(shut)(w->stack);
    c->visited = true; /* what this publishes may be the entry that the first task is from */
    if (stop) {        /* another node is hungry */
        const uint32_t count = BL__NAME(uncover)(c, newest);
        if (count)
            BL__NAME(share_and_give)(w, bl__max(count / 2, 1));
    }
    if (publishes) {
        const uint32_t count = BL__NAME(uncover)(c, newest);
        if (count && BL__NAME(share_and_publish)(w, bl__max(count / 2, 1)))
            bl__wake_for_work(run);
    }
    BL__NAME(open)(w->stack, 1, run->fences_alone);
    return true;
}

/* The child in progress of a frame that has been handed over has returned: BL_SUM: `sum`, else what is in its place. */
BL_CALLED_FN bool BL__NAME(deliver)(BL__NAME(recursion) * c, const BL__NAME(frame) * f, uint64_t sum) {
    c->join = f->head.record;
    c->index = f->head.next - 1;
    c->returned.ended = BL__RETURNED;
#if BL_SUM
    c->returned.sum = sum;
#else
    unsigned char *results = (unsigned char *)bl__record_at(c->w->run, f->head.record) + BL__RESULTS_AT;
    (void)sum;
    bl__words_copy((bl_word *)(void *)(results + (size_t)c->index * BL__RESULT_BYTES),
                   (const bl_word *)(f->results + c->index), BL__RESULT_BYTES / 4);
#endif
    return false;
}

/* A task or join, the child in progress of `f`, has failed: the run ends, and what has not begun is left. Or it has
 * spawned a task beside what it returned, or forked into the next frame: that task is to be run before anything else,
 * or there would be more and more of them. False: all frames have been handed over. */
BL_CALLED_FN bool BL__NAME(interrupted)(BL__NAME(recursion) * c, BL__NAME(frame) * f, bl__returned returned) {
    c->doubts = c->doubts || returned.ended != BL__REFUSED;
    if (returned.ended == BL__FORKED) {
        f[1].head.next = 0;
        BL__NAME(count)(c, f[1].head.end);
        BL__NAME(hand_over_all)(c, f + 1, 0);
        return false;
    }
    if (returned.ended == BL__RETURNED && f == c->frames)
        return true;
    BL__NAME(hand_over_all)(c, f, 1);
    return returned.ended == BL__RETURNED && BL__NAME(deliver)(c, f, returned.sum);
}

/* The child in progress of a frame that has been handed over has returned. BL_SUM: then all have returned `sum`. True:
 * that was the first task. */
BL_CALLED_FN bool BL__NAME(come_back)(BL__NAME(recursion) * c, BL__NAME(frame) * f, uint64_t sum) {
#if BL_SUM
    sum -= f->results[0];
    c->frames->results[0] = sum;
#endif
    return f == c->frames || BL__NAME(deliver)(c, f, sum);
}

/* ---- calling ---- */

/* Where the worker is, in registers. */
typedef struct BL__NAME(place) {
    BL__NAME(frame) * f;
    uint32_t begun, end; /* of its children: that have begun; head.end */
    uint64_t sum;        /* BL_SUM: of those that have returned */
    uint64_t tasks;      /* run so far */
} BL__NAME(place);

BL_HOT_FN bool BL__NAME(is_wanted)(const bl__control *control) {
    return BL_RARELY(bl_peek32(&control->stop) | (uint32_t)bl_peek64(&control->idle));
}

/* What a task sees that may fork into `f`. */
BL_HOT_FN bl_task BL__NAME(task_with_frame)(const BL__NAME(recursion) * c, BL__NAME(frame) * f, bl__returned *returned,
                                            void *to) {
    bl_task task = BL__TASK(c->w->run, c->w->stack, c->scratch, 0, c->worker, c->w->spare, returned);
    task.limit = c->limit;
    task.top = c->w->stack->top;
    task.join = 0; /* no root */
    task.frame = &f->head;
    task.child = &f->child;
    task.kept = &f->kept;
    task.to = to;
    return task;
}

/* Before another frame is entered, or this one may be handed over. */
BL_HOT_FN void BL__NAME(write_down)(const BL__NAME(place) * at) {
    at->f->head.next = at->begun;
#if BL_SUM
    at->f->results[0] = at->sum;
#endif
}

/* `f` has been forked into. False: all frames have been handed over. */
BL_HOT_FN bool BL__NAME(enter_frame)(BL__NAME(recursion) * c, BL__NAME(place) * at, BL__NAME(frame) * f) {
    at->f = f;
    at->begun = 0;
    at->end = f->head.end;
    at->sum = 0;
    at->tasks += at->end;
    bl_store64_host(c->beat, at->tasks);
    if (BL_RARELY(f >= c->last || (!(BL_SUM) && at->end > BL__FRAME_RESULTS))) {
        f->head.next = 0;
        BL__NAME(hand_over_all)(c, f, 0);
        return false;
    }
    return true;
}

/* Back in the frame below. */
BL_HOT_FN void BL__NAME(leave_frame)(BL__NAME(place) * at) {
    at->f--;
    at->begun = at->f->head.next;
    at->end = at->f->head.end;
}

BL_HOT_FN void BL__NAME(add)(bl__control *control, BL__NAME(place) * at, uint64_t sum, uint64_t value) {
    if (BL__CHECKS && BL_SUM && value + sum > BL__SUM_MASK)
        bl__stop_for_misuse(control, BL__SUM_TOO_LARGE, 0);
    at->sum = sum + value;
}

/* The next child of the frame: BL__RETURNED; BL__FORKED: into the next frame, where the worker is then; BL__UNENDED:
 * all frames have been handed over. */
BL_HOT_FN uint32_t BL__NAME(call_child)(BL__NAME(recursion) * c, BL__NAME(place) * at, bl__control *control,
                                        const BL_SHARED *shared, BL_LOCAL *local) {
    BL__NAME(frame) *const f = at->f;
    const uint32_t i = at->begun++;
    bl__returned returned = {0, BL__UNENDED};
    if (BL__NAME(is_wanted)(control)) {
        BL__NAME(write_down)(at);
        if (!BL__NAME(serve)(c, f))
            return BL__UNENDED;
        at->end = f->head.end;
        at->tasks = bl_load64_relaxed(c->beat);
    }
    bl_task task = BL__NAME(task_with_frame)(c, f + 1, &returned, BL_SUM ? NULL : f->results + i);
    task.index = i;
    BL__CALL(&task, &f->child, i, 1u, shared, local);
    bl__must_have_ended(&task);
    if (BL_RARELY(task.spawned || returned.ended == BL__REFUSED)) {
        BL__NAME(write_down)(at);
        BL__NAME(interrupted)(c, f, returned);
        return BL__UNENDED;
    }
    if (returned.ended == BL__FORKED) {
        BL__NAME(write_down)(at);
        return BL__NAME(enter_frame)(c, at, f + 1) ? BL__FORKED : BL__UNENDED;
    }
    BL__NAME(add)(control, at, at->sum, returned.sum);
    return BL__RETURNED;
}

/* All children of the frame have returned: the join, which returns to the frame below, or forks into this one. */
BL_HOT_FN uint32_t BL__NAME(call_join)(BL__NAME(recursion) * c, BL__NAME(place) * at, bl__control *control,
                                       const BL_SHARED *shared, BL_LOCAL *local) {
#if BL_SUM
    (void)c, (void)shared, (void)local;
    const uint64_t sum = at->sum;
    BL__NAME(leave_frame)(at);
    BL__NAME(add)(control, at, at->f->results[0], sum);
#else
    BL__NAME(frame) *const f = at->f, *const below = f - 1;
    const bool first = below == c->frames;
    bl__returned returned = {0, BL__UNENDED};
    bl_task task = BL__NAME(task_with_frame)(c, f, &returned, below->results + (first ? 0 : below->head.next - 1));
    (void)control;
    if (first)
        task.join = below->head.record;
    BL_JOIN(&task, &f->kept, f->results, at->begun, shared, local);
    bl__must_have_ended(&task);
    if (BL_RARELY(task.spawned || returned.ended == BL__REFUSED) && !BL__NAME(interrupted)(c, below, returned))
        return BL__UNENDED;
    if (returned.ended == BL__FORKED)
        return BL__NAME(enter_frame)(c, at, f) ? BL__FORKED : BL__UNENDED;
    BL__NAME(leave_frame)(at);
#endif
    return BL__RETURNED;
}

/* What the first task has forked into frames[1]: children, joins, what these fork, and so on. True: the result is in
 * frames[0]. False: all frames have been handed over. Elsewhere than at the start of a cache line, fib took
 * 5 % longer. */
BL_LOOP_FN bool BL__NAME(run_frames)(BL__NAME(recursion) * c) {
    bl__control *const control = c->control;
    const BL_SHARED *const shared = c->shared;
    BL_LOCAL *const local = c->local;
    BL__NAME(place) at;
    at.tasks = bl_load64_relaxed(c->beat);
    uint32_t ended = BL__NAME(enter_frame)(c, &at, c->frames + 1) ? BL__FORKED : BL__UNENDED;
    while (ended != BL__UNENDED) {
        ended = BL__NAME(call_child)(c, &at, control, shared, local);
        while (ended == BL__RETURNED && at.begun >= at.end) {
            if (at.end == 0) /* it has been handed over */
                return BL__NAME(come_back)(c, at.f, at.sum);
            ended = BL__NAME(call_join)(c, &at, control, shared, local);
        }
    }
    return false;
}

/* ---- the worker ---- */

/* Frames that there is room for: they take at most a quarter of what is left of the C stack. 0: it does not recurse. */
BL_FN uint32_t BL__NAME(frames_that_fit)(const bl__run *run) {
    const size_t one = sizeof(BL__NAME(frame)), most = bl__stack_left() / 4 / one;
    const bool can = one <= BL__FRAME_MOST && (BL_SUM || BL__FRAME_RESULTS > 1) && run->private_limit;
    return can && most > 2 ? (uint32_t)BL__MIN(most, (size_t)BL__DEEPEST + 1) : 0;
}

/* What it has to see before it may recurse. One worker alone keeps nothing from others. */
BL_FN void BL__NAME(recursion_start)(BL__NAME(recursion) * c, bl__worker *w, const bl_task *task,
                                     const BL_SHARED *shared, BL_LOCAL *local, void *frames, uint32_t count) {
    memset(c, 0, sizeof *c);
    c->control = w->run->control;
    c->beat = &w->tally->beat;
    c->frames = (BL__NAME(frame) *)frames;
    c->deepest = count - 1;
    c->shared = shared;
    c->local = local;
    c->w = w;
    c->scratch = task->scratch;
    c->worker = task->worker;
    w->doubt = count ? BL__WARY : BL__NEVER;
    w->wary = count && w->run->workers == 1 ? 0 : w->doubt;
    w->wary_since = bl_clock();
}

/* So many tasks have been run with care. */
BL_FN uint32_t BL__NAME(trust)(uint32_t tasks, uint64_t ticks) {
    return tasks == BL__NEVER || ticks > (uint64_t)tasks * BL__SHORT_TICKS ? tasks : 0;
}

/* Before a task: it may fork into a frame, without a record. */
BL_HOT_FN void BL__NAME(lend_frame)(BL__NAME(recursion) * c, bl__worker *w, bl_task *task) {
    const bl__run *run = w->run;
    BL__NAME(frame) *const bottom = c->frames, *const first = bottom + 1;
    if (w->wary) {
        if (--w->wary == 0) {
            uint64_t now = bl_clock();
            w->wary = BL__NAME(trust)(w->doubt, now - w->wary_since);
            w->wary_since = now;
        }
        return;
    }
    if (w->spare[0] < BL__DEEPEST / 2)
        bl__spare_refill(run, w->lane, w->spare, BL__DEEPEST, BL__SPARE_CHUNK);
    const uint32_t used = bl__stack_count(w->stack) + run->outbox;
    if (used >= run->stack_capacity)
        return;
    c->last = bottom + bl__min(bl__min(w->spare[0], c->deepest), run->stack_capacity - used);
    c->limit = task->limit;
    bottom->head.end = 0;
    bottom->head.record = task->join;
    bottom->head.next = task->index + 1;
#if BL_SUM
    bottom->results[0] = 0;
#endif
    task->spawned = 0;
    task->frame = &first->head;
    task->child = &first->child;
    task->kept = &first->kept;
}

/* After the task: runs what it forked into its frame. Then it is as if the task had returned to the last record that
 * this worker has come to, or had forked. True: a thief was there meanwhile. */
BL_HOT_FN bool BL__NAME(recurse)(BL__NAME(recursion) * c, bl__worker *w, bl_task *task) {
    if (!task->frame)
        return false;
    c->visited = c->doubts = false;
    if (task->returned->ended == BL__FORKED) {
        bl_store64_host(c->beat, w->tasks);
        c->slow = bl_load32_relaxed(&w->tally->slow);
        c->returned.ended = BL__FORKED;
        if (task->spawned ? BL__NAME(interrupted)(c, c->frames, *task->returned) : BL__NAME(run_frames)(c)) {
            task->returned->ended = BL__UNENDED;
            bl__return(task, c->frames->results, (uint32_t)sizeof *c->frames->results);
        } else {
            task->join = c->join;
            task->index = c->index;
            *task->returned = c->returned;
        }
        w->tasks = bl_load64_relaxed(c->beat);
    }
    task->frame = NULL;
    if (c->doubts) {
        w->wary = w->doubt = bl__min(4 * w->doubt, BL__WARY_MOST);
        w->wary_since = bl_clock();
    }
    return c->visited;
}
