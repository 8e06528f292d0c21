/* Template: moving entries between a private stack and a queue of type BL_QUEUE.
 *
 * Queues by value carry the entry itself; queues by handle carry an index into the run's entry pool. One lane moves the
 * entries. Where the queue gives out positions (BL__DRAWS) all lanes do, an entry each.
 */
#define BL__DRAWS (BL_WARP > 1 && BL_QUEUE_(DRAWS))

/* Whether a batch of entries costs less than one after another. */
#define BL__TAKES_MANY (BL_QUEUE_(KIND) == BL_QUEUE_KIND_FIFO && BL_QUEUE_(FLAGS) & BL_QUEUE_BATCHED && w->batch > 1)

BL_FN BL_QUEUE BL__NAME(queue)(const bl__worker *w, uint32_t i) {
    BL_QUEUE q;
    unsigned char *memory = w->run->queues + (size_t)i * w->run->queue_stride;
    bl_shape shape = {w->run->capacity, BL_QUEUE_(BY_HANDLE) ? 1 : w->words, w->run->workers};
    BL_QUEUE_(bind)(&q, memory, shape, w->id);
    return q;
}

/* ---- one lane ---- */

/* n entries that lie one after another; how many the queue took. */
BL_FN uint32_t BL__NAME(put)(bl__worker *w, BL_QUEUE *q, const uint32_t *entries, uint32_t n) {
#if BL_QUEUE_(BY_HANDLE)
    bl__pool pool;
    bl__pool_bind(&pool, w->run->pool, w->run->pool_capacity, w->run->workers, w->words);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t handle = bl__pool_take(&pool, w->id);
        if (handle == BL__POOL_NONE)
            return i;
        bl_data_write(bl__pool_entry(&pool, handle), entries + (size_t)i * w->words, w->words);
        bl_outcome outcome;
        while ((outcome = BL_QUEUE_(push)(q, &handle)) == BL_QUEUE_RETRY)
            ;
        if (outcome == BL_QUEUE_FULL) {
            bl__pool_give(&pool, w->id, handle);
            return i;
        }
    }
    return n;
#else
    (void)w;
    return BL_QUEUE_(push_n)(q, entries, n);
#endif
}

/* One entry onto the top of the private stack, by the owner's end or the thieves'. */
BL_FN bl_outcome BL__NAME(take)(bl__worker *w, BL_QUEUE *q, bool steal) {
    uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top);
#if BL_QUEUE_(BY_HANDLE)
    uint32_t handle = 0; /* for compilers that do not see that DONE has set it */
    bl_outcome outcome = steal ? BL_QUEUE_(steal)(q, &handle) : BL_QUEUE_(pop)(q, &handle);
    if (outcome != BL_QUEUE_DONE)
        return outcome;
    bl__pool pool;
    bl__pool_bind(&pool, w->run->pool, w->run->pool_capacity, w->run->workers, w->words);
    bl_data_read(slot, bl__pool_entry(&pool, handle), w->words);
    bl__pool_give(&pool, w->id, handle);
#else
    bl_outcome outcome = steal ? BL_QUEUE_(steal)(q, slot) : BL_QUEUE_(pop)(q, slot);
    if (outcome != BL_QUEUE_DONE)
        return outcome;
#endif
    bl__stack_move_top(w->stack, w->stack->top + 1);
    return BL_QUEUE_DONE;
}

/* Up to n entries onto the stack; how many. One at a time, except where the queue has more in one go. */
BL_FN uint32_t BL__NAME(take_some)(bl__worker *w, BL_QUEUE *q, bool steal, uint32_t n) {
#if !BL_QUEUE_(BY_HANDLE)
    if (BL__TAKES_MANY) {
        bl__stack *s = w->stack;
        uint32_t *slots = bl__stack_slot(s, w->words, s->top);
        n = bl__min(n, bl__stack_in_line(s));
        n = steal ? BL_QUEUE_(steal_n)(q, slots, n) : BL_QUEUE_(pop_n)(q, slots, n);
        bl__stack_move_top(s, s->top + n);
        return n;
    }
#endif
    (void)n;
    bl_outcome outcome;
    do
        outcome = BL__NAME(take)(w, q, steal);
    while (outcome == BL_QUEUE_RETRY && !steal);
    return outcome == BL_QUEUE_DONE;
}

/* Enough for one batch together with what the worker holds, but `most` entries at most: in most cases one; where every
 * task is an entry of its own, as many as there are lanes. The next ones are taken to be as wide as the last. */
BL_FN uint32_t BL__NAME(take_batch)(bl__worker *w, BL_QUEUE *q, bool steal, uint32_t most) {
    uint32_t tasks = w->holds, got = 0, width = w->batch, n = 1;
    while (tasks < w->batch && got < most) {
        if (BL__TAKES_MANY)
            n = bl__min((w->batch - tasks + width - 1) / width, most - got);
        n = BL__NAME(take_some)(w, q, steal, n);
        if (n == 0)
            break;
        for (uint32_t i = 1; i <= n; i++) {
            const uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top - i);
            width = slot[1] - slot[0];
            tasks += width;
        }
        got += n;
    }
    return got;
}

/* What a batch still needs, from the owner's end. */
BL_FN uint32_t BL__NAME(take_own)(bl__worker *w, BL_QUEUE *q) {
#if !BL_QUEUE_(BY_HANDLE)
    if (BL__ONE_PER_NODE(w->run)) {
        bl__stack *s = w->stack;
        uint32_t room = bl__stack_in_line(s);
        uint32_t got = BL_QUEUE_(pop_n)(q, bl__stack_slot(s, w->words, s->top), bl__min(w->batch, room));
        bl__stack_move_top(s, s->top + got);
        return got;
    }
#endif
    return BL__NAME(take_batch)(w, q, false, w->batch);
}

/* As the papers have it: one entry per task. As many as there is room for are laid out in the free part of the stack,
 * or one in place, with `end` to be put back; how many. */
BL_FN uint32_t BL__NAME(lay_out)(bl__worker *w, uint32_t *entry, uint32_t **singles) {
    bl__stack *s = w->stack;
    uint32_t room = bl__min(s->mask + 1 - bl__stack_count(s), bl__stack_in_line(s));
    uint32_t n = bl__min(entry[1] - entry[0], room);
    *singles = n > 1 ? bl__stack_slot(s, w->words, s->top) : entry;
    for (uint32_t i = 0; n > 1 && i < n; i++) {
        uint32_t *single = *singles + (size_t)i * w->words;
        bl__words_copy(single, entry, w->words);
        single[0] = entry[0] + i;
        single[1] = entry[0] + i + 1;
    }
    return bl__max(n, 1);
}

/* The n oldest entries of the private stack; how many went. What is left of one that the queue did not take as a whole
 * stays, as a shorter range. */
BL_FN uint32_t BL__NAME(put_oldest)(bl__worker *w, BL_QUEUE *q, uint32_t n) {
    bl__stack *s = w->stack;
    uint32_t done = 0;
    while (done < n) {
        uint32_t *entry = bl__stack_slot(s, w->words, s->bottom), *from = entry, end = entry[1];
        uint32_t count = BL__ONE_PER_NODE(w->run) ? BL__NAME(lay_out)(w, entry, &from)
                                                  : bl__min(n - done, s->mask + 1 - (s->bottom & s->mask));
        if (BL__ONE_PER_NODE(w->run) && from == entry)
            entry[1] = entry[0] + 1;
        uint32_t taken = BL__NAME(put)(w, q, from, count), gone = taken;
        if (BL__ONE_PER_NODE(w->run)) {
            entry[0] += taken;
            entry[1] = end;
            gone = entry[0] == end;
        }
        s->bottom += gone;
        done += gone;
        if (taken < count)
            break;
    }
    return done;
}

/* ---- all lanes ---- */

#if BL__DRAWS
/* Up to n entries, BL_WARP at most, onto the stack; how many. */
BL_FN uint32_t BL__NAME(draw)(bl__worker *w, BL_QUEUE *q, uint32_t n) {
    bl__stack *s = w->stack;
    uint32_t first = 0;
    n = bl_warp_broadcast32(w->lane ? 0 : BL_QUEUE_(draw_pops)(q, n, &first), 0);
    first = bl_warp_broadcast32(first, 0);
    if (w->lane < n)
        BL_QUEUE_(get_at)(q, first + w->lane, bl__stack_slot(s, w->words, s->top + w->lane));
    bl_warp_sync();
    if (w->lane == 0)
        bl__stack_move_top(s, s->top + n);
    bl_warp_sync();
    return n;
}

/* Like take_batch. The next entries are taken to be as wide as the last ones were on average. */
BL_FN uint32_t BL__NAME(draw_batch)(bl__worker *w, BL_QUEUE *q, uint32_t most) {
    uint32_t tasks = w->holds, got = 0, width = w->batch, n = 1;
    while (tasks < w->batch && got < most && n) {
        n = BL__NAME(draw)(w, q, bl__min((w->batch - tasks + width - 1) / width, most - got));
        const uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top - 1 - w->lane);
        const uint32_t sum = bl_warp_add(w->lane < n ? bl__min(slot[1] - slot[0], w->batch) : 0);
        width = bl__max(sum / bl__max(n, 1), 1);
        tasks += sum;
        got += n;
    }
    return got;
}

/* Like put_oldest. */
BL_FN uint32_t BL__NAME(put_drawn)(bl__worker *w, BL_QUEUE *q, uint32_t n) {
    bl__stack *s = w->stack;
    uint32_t first = 0;
    n = bl_warp_broadcast32(w->lane ? 0 : BL_QUEUE_(draw_pushes)(q, n, &first), 0);
    first = bl_warp_broadcast32(first, 0);
    for (uint32_t i = w->lane; i < n; i += BL_WARP)
        BL_QUEUE_(put_at)(q, first + i, bl__stack_slot(s, w->words, s->bottom + i));
    bl_warp_sync();
    if (w->lane == 0)
        s->bottom += n;
    bl_warp_sync();
    return n;
}
#endif

/* What a batch still needs, from the owner's end, if the queue shows anything; how many entries. */
BL_FN uint32_t BL__NAME(fill)(bl__worker *w, BL_QUEUE *q) {
    uint32_t got = 0;
    /* A look costs a GPU less than a pop that finds nothing, and keeps workers from contending for one empty queue. */
    if ((BL_WARP > 1 || w->run->queue_count == 1) && bl_warp_broadcast32(w->lane ? 0 : BL_QUEUE_(size)(q), 0) == 0)
        return 0;
#if BL__DRAWS
    if (w->batch > 1)
        return BL__ONE_PER_NODE(w->run) ? BL__NAME(draw)(w, q, w->batch) : BL__NAME(draw_batch)(w, q, w->batch);
#endif
    if (w->lane == 0)
        got = BL__NAME(take_own)(w, q);
    bl_warp_sync();
    return bl_warp_broadcast32(got, 0);
}

/* The n oldest entries of the private stack; how many went. */
BL_FN uint32_t BL__NAME(send_oldest)(bl__worker *w, BL_QUEUE *q, uint32_t n) {
    uint32_t done = 0;
#if BL__DRAWS
    if (!BL__ONE_PER_NODE(w->run))
        return BL__NAME(put_drawn)(w, q, n);
#endif
    if (w->lane == 0)
        done = BL__NAME(put_oldest)(w, q, n);
    bl_warp_sync();
    return bl_warp_broadcast32(done, 0);
}

#undef BL__TAKES_MANY
