/* Template, part of worker_loop.inc.h: a thread runs the children of a fork itself, by recursion, as long as nobody else
 * wants them.
 *
 * When a task function has forked and returned, its worker calls the children one after another, with a frame
 * (parts/frame.h) on its C stack that holds the payload and the results, and then BL_JOIN in the same frame. No entry is
 * written, no record is taken. Before each child it looks at two words that others write: the stop word, and how many
 * workers are idle. Nearly always both are 0.
 *
 *     C stack     | oldest | ...       | ...        | newest |
 *     frames      | handed over        | private             |
 *     records     | #7 <------- #9     |
 *
 * Somebody is idle, and neither the worker's queue nor its private stack holds anything, or another node is out of work
 * and the stack holds nothing: the worker hands over the oldest frame that has children which have not begun
 * (`hand_over`). They become an entry, and that frame and all older ones become
 * records. Newer frames stay private, and the recursion continues. When it comes down to a frame that was handed over,
 * the child's result goes to its record like any other (`deliver`): the worker that returns the last child continues, and
 * nobody waits. All older frames have been handed over, too, so the worker returns through them without doing anything.
 *
 * The run is stopping, or the recursion cannot go deeper, or a fork is too wide for a frame, or a task has spawned a task
 * beside its fork: the worker hands over all frames (`hand_over_all`), returns through them, and continues with what is
 * now on its private stack. There are never more frames than the worker has free records and free slots on its stack, so
 * that this cannot fail.
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
    uintptr_t floor; /* of the C stack: no frame lies below */
    const BL_SHARED *shared;
    BL_LOCAL *local;
    bl__worker *w;
    void *scratch;
    uint32_t worker;
    uint32_t limit;   /* of the stack, for what tasks spawn */
    bl__frame bottom; /* stands for what the first task returns to: as if it had been handed over */
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
    r->parent = f->head.below->record;
    r->slot = f->head.below->next - 1;
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
BL_FN void BL__NAME(take_numbers)(bl__worker *w, bl__frame *f) {
    for (; f->end; f = f->below)
        f->record = bl__spare_take(w->spare);
}

/* The stack is shut and empty. True: the oldest frame with children that have not begun is now an entry there. */
BL_FN bool BL__NAME(hand_over)(BL__NAME(recursion) * c, bl__frame *newest) {
    bl__worker *w = c->w;
    bl__frame *oldest = NULL;
    for (bl__frame *f = newest; f->end; f = f->below)
        oldest = f->next < f->end ? f : oldest;
    if (!oldest)
        return false;
    BL__NAME(take_numbers)(w, oldest);
    BL__NAME(fill_entry)((BL__NAME(frame) *)(void *)oldest, bl__stack_slot(w->stack, w->words, w->stack->top));
    bl__stack_move_top(w->stack, w->stack->top + 1);
    BL__NAME(count)(c, (uint64_t)oldest->next - oldest->end);
    for (bl__frame *f = oldest; f->end; f = f->below) {
        BL__NAME(fill_record)(w->run, (BL__NAME(frame) *)(void *)f, 1);
        f->end = 0;
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
BL_CALLED_FN void BL__NAME(hand_over_all)(BL__NAME(recursion) * c, bl__frame *newest, uint32_t busy) {
    bl__worker *w = c->w;
    c->visited = BL__NAME(shut)(w->stack) || c->visited;
    uint32_t entries = 0, room = w->run->stack_capacity - bl__stack_count(w->stack);
    for (bl__frame *f = newest; f->end; f = f->below)
        entries += f->next < f->end;
    const uint32_t extra = entries > room ? entries - room : 0;
    BL__NAME(take_numbers)(w, newest);
    uint32_t older = entries;
    for (bl__frame *f = newest; f->end; f = f->below, busy = 1) {
        if (f->next < f->end) {
            uint32_t *entry = BL__NAME(slot_above)(w, --older, extra);
            if (entry)
                BL__NAME(fill_entry)((BL__NAME(frame) *)(void *)f, entry);
            BL__NAME(count)(c, (uint64_t)f->next - f->end);
        }
        BL__NAME(fill_record)(w->run, (BL__NAME(frame) *)(void *)f, busy);
        f->end = 0;
    }
    bl__stack_move_top(w->stack, w->stack->top + entries - extra);
}

/* The stack is shut. The entries on it: at least one, if the frames have any. */
BL_FN uint32_t BL__NAME(uncover)(BL__NAME(recursion) * c, bl__frame *newest) {
    uint32_t count = bl__stack_count(c->w->stack);
    if (count == 0)
        count = BL__NAME(hand_over)(c, newest);
    c->w->peak = bl__max(c->w->peak, count);
    return count;
}

/* Somebody wants something. False: all frames have been handed over. The newest one has taken a child that it has not
 * called. */
BL_CALLED_FN bool BL__NAME(serve)(BL__NAME(recursion) * c, bl__frame *newest) {
    bl__worker *w = c->w;
    const bl__run *run = w->run;
    const uint32_t slow = bl_load32_relaxed(&w->tally->slow), stop = bl_load32_host(&c->control->stop);
    bl_store32_relaxed(&w->tally->fetched, bl_load32_relaxed(&w->tally->fetched) + 1); /* the next task is another */
    c->doubts = slow != c->slow;
    c->slow = slow;
    if (c->doubts || stop & ~BL__HUNGRY) {
        newest->next--;
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

/* The child in progress of a frame that has been handed over has returned. */
BL_CALLED_FN bool BL__NAME(deliver)(BL__NAME(recursion) * c, const bl__frame *f, const BL__RETURNS *result) {
    c->join = f->record;
    c->index = f->next - 1;
    c->returned.ended = BL__RETURNED;
#if BL_SUM
    c->returned.sum = *result;
#else
    unsigned char *results = (unsigned char *)bl__record_at(c->w->run, f->record) + BL__RESULTS_AT;
    bl__words_copy((bl_word *)(void *)(results + (size_t)c->index * BL__RESULT_BYTES), (const bl_word *)result,
                   BL__RESULT_BYTES / 4);
#endif
    return false;
}

/* A task or join, a child of `below`, has failed: the run ends, and what has not begun is left. */
BL_CALLED_FN bool BL__NAME(refused)(BL__NAME(recursion) * c, bl__frame *below) {
    BL__NAME(hand_over_all)(c, below, 1);
    return false;
}

/* A task or join, a child of `below`, has spawned a task beside what it returned, or forked into `above`. That is to be
 * run before anything else, or there would be more and more of it. */
BL_CALLED_FN bool BL__NAME(spawned_beside)(BL__NAME(recursion) * c, bl__frame *below, bl__frame *above, uint32_t ended,
                                           const BL__RETURNS *result) {
    c->doubts = true;
    if (ended == BL__FORKED) {
        above->below = below;
        above->next = 0;
        BL__NAME(count)(c, above->end);
        BL__NAME(hand_over_all)(c, above, 0);
        return false;
    }
    if (ended == BL__REFUSED)
        return BL__NAME(refused)(c, below);
    if (below == &c->bottom)
        return true;
    BL__NAME(hand_over_all)(c, below, 1);
    return BL__NAME(deliver)(c, below, result);
}

/* ---- calling ---- */

BL_HOT_FN bool BL__NAME(is_wanted)(const BL__NAME(recursion) * c) {
    return (bl_load32_host(&c->control->stop) | (uint32_t)bl_load64_relaxed(&c->control->idle)) != 0;
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

/* The children of `f`, one after another, and then the join, until that returns. True: the result is in *to. False: all
 * frames below, and this one or what is left of it, have been handed over, and the worker is to return through them. */
BL_CALLED_FN bool BL__NAME(run_frame)(BL__NAME(recursion) * c, BL__NAME(frame) * f, BL__RETURNS *to) {
    for (;;) {
        BL__NAME(count)(c, f->head.end);
        const uint32_t left = f->head.below->left;
        if (left == 0 || bl_stack_here() < c->floor || (!(BL_SUM) && f->head.end > BL__FRAME_RESULTS)) {
            f->head.next = 0;
            BL__NAME(hand_over_all)(c, &f->head, 0);
            return false;
        }
        f->head.left = left - 1;
#if BL_SUM
        uint64_t sum = 0;
#endif
        uint32_t i = 0;
        do {
            BL__NAME(frame) above;
            bl__returned returned = {0, BL__UNENDED};
#if BL_SUM
            uint64_t value, *result = &value;
            f->results[0] = sum;
#else
            BL__RETURNS *result = f->results + i;
#endif
            f->head.next = i + 1;
            if (BL__NAME(is_wanted)(c) && !BL__NAME(serve)(c, &f->head))
                return false;
            bl_task task = BL__NAME(task_with_frame)(c, &above, &returned, result);
            task.index = i;
            BL__CALL(&task, &f->child, i, 1u, c->shared, c->local);
            bl__must_have_ended(&task);
#if BL_SUM
            if (returned.ended == BL__RETURNED)
                value = returned.sum;
#endif
            if (task.spawned)
                return BL__NAME(spawned_beside)(c, &f->head, &above.head, returned.ended, result);
            if (returned.ended == BL__REFUSED)
                return BL__NAME(refused)(c, &f->head);
            if (returned.ended == BL__FORKED) {
                above.head.below = &f->head;
                if (!BL__NAME(run_frame)(c, &above, result))
                    return false;
            }
            if (f->head.end == 0)
                return BL__NAME(deliver)(c, &f->head, result);
#if BL_SUM
            if (BL__CHECKS && value + sum > BL__SUM_MASK)
                bl__stop_for_misuse(c->control, BL__SUM_TOO_LARGE, 0);
            sum += value;
#endif
        } while (++i < f->head.end);
#if BL_SUM
        *to = sum;
        return true;
#else
        bl__returned returned = {0, BL__UNENDED};
        bl_task task = BL__NAME(task_with_frame)(c, f, &returned, to);
        if (f->head.below == &c->bottom)
            task.join = c->bottom.record;
        BL_JOIN(&task, &f->kept, f->results, i, c->shared, c->local);
        bl__must_have_ended(&task);
        if (task.spawned)
            return BL__NAME(spawned_beside)(c, f->head.below, &f->head, returned.ended, to);
        if (returned.ended == BL__REFUSED)
            return BL__NAME(refused)(c, f->head.below);
        if (returned.ended == BL__RETURNED)
            return true;
#endif
    }
}

/* ---- the worker ---- */

/* Whether it may recurse at all, and what it has to see first. One worker alone keeps nothing from others. */
BL_FN void BL__NAME(recursion_start)(BL__NAME(recursion) * c, bl__worker *w, const bl_task *task,
                                     const BL_SHARED *shared, BL_LOCAL *local) {
    const size_t left = bl__stack_left();
    const bool fits = sizeof(BL__NAME(frame)) <= BL__FRAME_MOST && (BL_SUM || BL__FRAME_RESULTS > 1);
    memset(c, 0, sizeof *c);
    c->control = w->run->control;
    c->beat = &w->tally->beat;
    c->floor = bl_stack_here() - left / 2; /* the other half is for what the tasks call */
    c->shared = shared;
    c->local = local;
    c->w = w;
    c->scratch = task->scratch;
    c->worker = task->worker;
    w->doubt = left && fits && w->run->private_limit ? BL__WARY : BL__NEVER;
    w->wary = w->doubt != BL__NEVER && w->run->workers == 1 ? 0 : w->doubt;
    w->wary_since = bl_clock();
}

/* So many tasks have been run with care. */
BL_FN uint32_t BL__NAME(trust)(uint32_t tasks, uint64_t ticks) {
    return tasks == BL__NEVER || ticks > (uint64_t)tasks * BL__SHORT_TICKS ? tasks : 0;
}

/* Before a task: it may fork into `first`, without a record. */
BL_HOT_FN void BL__NAME(lend_frame)(BL__NAME(recursion) * c, bl__worker *w, bl_task *task, BL__NAME(frame) * first) {
    const bl__run *run = w->run;
    if (w->wary) {
        if (--w->wary == 0) {
            uint64_t now = bl_clock();
            w->wary = BL__NAME(trust)(w->doubt, now - w->wary_since);
            w->wary_since = now;
        }
        return;
    }
    if (w->spare[0] < BL__DEEPEST / 2)
        bl__spare_refill(run, w->spare, BL__DEEPEST, BL__SPARE_CHUNK);
    const uint32_t used = bl__stack_count(w->stack) + run->outbox;
    if (used >= run->stack_capacity)
        return;
    c->bottom.left = bl__min(bl__min(w->spare[0], BL__DEEPEST), run->stack_capacity - used) - 1;
    c->bottom.record = task->join;
    c->bottom.next = task->index + 1;
    c->limit = task->limit;
    first->head.below = &c->bottom;
    task->spawned = 0;
    task->frame = &first->head;
    task->child = &first->child;
    task->kept = &first->kept;
}

/* After the task: runs what it forked into its frame. Then it is as if the task had returned to the last record that
 * this worker has come to, or had forked. True: a thief was there meanwhile. */
BL_HOT_FN bool BL__NAME(recurse)(BL__NAME(recursion) * c, bl__worker *w, bl_task *task, BL__NAME(frame) * first) {
    if (!task->frame)
        return false;
    c->visited = c->doubts = false;
    if (task->returned->ended == BL__FORKED) {
        bl_store64_host(c->beat, w->tasks);
        c->slow = bl_load32_relaxed(&w->tally->slow);
        c->returned.ended = BL__FORKED;
        BL__RETURNS result;
        if (task->spawned ? BL__NAME(spawned_beside)(c, &c->bottom, &first->head, BL__FORKED, NULL)
                          : BL__NAME(run_frame)(c, first, &result)) {
            task->returned->ended = BL__UNENDED;
            bl__return(task, &result, (uint32_t)sizeof result);
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
