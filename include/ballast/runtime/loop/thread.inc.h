/* Template, part of worker_loop.inc.h: a CPU thread takes its newest entry and runs it, task by task.
 *
 * There are two loops. One takes entries as they come: of a long one it runs task after task, with the payload in
 * registers. Programs that spawn their tasks one by one have no long entries; when it has seen some of these in a row,
 * the other loop continues, which expects nothing else. There a task that does nothing costs about a nanosecond: an
 * entry written and read, the gate opened and shut, four words looked at.
 */
#if BL__RECURSES
#define BL__RECURSION BL__NAME(recursion)
#else
#define BL__RECURSION void /* there is none */
#endif
#define BL__HAS_SINGLES (BL__RAIDS && !BL__JOINS && (BL_MAX_SPAWN) > 0)

/* What a thread has at hand while it goes from task to task. */
typedef struct BL__NAME(hands) {
    bl__worker *w;
    const bl__control *control;
    uint64_t *beat;
    const BL_SHARED *shared;
    BL_LOCAL *local;
    BL__RECURSION *recursion;
} BL__NAME(hands);

/* n tasks, which are no longer on the stack. True: others want something, or a thief was there. mark: gate.h. */
BL_HOT_FN bool BL__NAME(run_tasks)(const BL__NAME(hands) * h, bl_task *task, const BL__CARRIED *carried, uint32_t index,
                                   uint32_t n, uint32_t mark) {

    bl__stack *s = task->stack;
    bool visited = false;
#if BL__JOINS
    task->join = carried->join;
    task->index = index;
    task->returned->ended = BL__UNENDED;
#endif
    if (BL__ENDS_ALONE) /* room in the out-array was made for so much only */
        task->limit = task->top + bl__min(n * (BL_MAX_SPAWN), task->run->outbox);
#if BL__RECURSES
    BL__NAME(lend_frame)(h->recursion, h->w, task);
#endif
    BL__NAME(open)(s, mark, task->fences_alone);
    BL__CALL(task, BL__PAYLOAD_OF(carried), index, n, h->shared, h->local);
#if BL__RECURSES
    visited = BL__NAME(recurse)(h->recursion, h->w, task);
#endif
    visited = BL__NAME(shut)(s) || visited;
#if BL__JOINS
    task->top = s->top; /* a recursion moves it */
    visited = BL__NAME(join)(h->w, task, h->shared, h->local) || visited;
#endif
    return visited || BL_RARELY(bl_peek32(&h->control->stop) | (uint32_t)bl_peek64(&h->control->idle));
}

/* Whether the tasks of an entry are all run at once. */
BL_HOT_FN bool BL__NAME(is_single)(const bl__run *run, uint32_t index, uint32_t end) {
    return index == 0 && (BL__TAKES_PIECES ? end <= run->grain : end == 1);
}

/* The newest entry. The thread stays with it until it is used up, a task has spawned, or others want something: what
 * the tasks have in common is computed once. Before each task the entry says what is left of it, for thieves. `row`:
 * single entries so far, without others in between. */
BL_HOT_FN bl__break BL__NAME(run_entry)(const BL__NAME(hands) * h, bl_task *task, uint32_t *row) {
    const uint32_t words = BL_ENTRY_WORDS(task->run), top = task->top; /* w->words, but the compiler knows it */
    uint32_t *entry = bl__masked_slot(task->stack, words, task->mask, top - 1), index, end;
    BL__CARRIED carried;
    bl_pair_load(entry, &index, &end);
    *row = BL__NAME(is_single)(task->run, index, end) ? *row + 1 : 0;
    bl__words_copy((bl_word *)&carried, entry + BL__ENTRY_HEAD, words - BL__ENTRY_HEAD);
    for (;;) {
        uint32_t n = BL__NAME(next)(h->w, end - index);
        bool last = index + n == end;
        if (last)
            bl__stack_move_top(task->stack, task->top = top - 1); /* so that its spawns take the entry's place */
        else
            bl_pair_store(entry, index + n, end);
        bool wanted = BL__NAME(run_tasks)(h, task, &carried, index, n, 1);
        h->w->tasks += n;
        bl_store64_host(h->beat, h->w->tasks);
        if (wanted)
            return BL__WANTED;
        if (last || task->top != top)
            return BL__HAS_SINGLES && *row >= BL__SINGLES && !task->fences_alone ? BL__UNEXPECTED : BL__NO_BREAK;
        index += n;
    }
}

/* The same for an entry that should be a single one. Any other is left where it is. Tasks are counted in `mark` alone,
 * which saves a store. */
BL_HOT_FN bl__break BL__NAME(run_single)(const BL__NAME(hands) * h, bl_task *task, uint32_t *mark) {
    const uint32_t words = BL_ENTRY_WORDS(task->run);
    uint32_t *entry = bl__masked_slot(task->stack, words, task->mask, task->top - 1), n = 1, index = 0;
    BL__CARRIED carried;
    if (BL__TAKES_PIECES)
        bl_pair_load(entry, &index, &n);
    if (BL_RARELY(BL__TAKES_PIECES ? !BL__NAME(is_single)(task->run, index, n) : !bl_pair_is(entry, 0, 1)))
        return BL__UNEXPECTED;
    bl__words_copy((bl_word *)&carried, entry + BL__ENTRY_HEAD, words - BL__ENTRY_HEAD);
    bl__stack_move_top(task->stack, --task->top);
    bool wanted = BL__NAME(run_tasks)(h, task, &carried, 0, n, *mark);
    *mark += n;
    return wanted ? BL__WANTED : BL__NO_BREAK;
}

/* `more`: entries beyond the first. There is something to do, room for what it spawns, and a record if it forks. */
BL_HOT_FN bool BL__NAME(is_calm)(const bl__worker *near, uint32_t more) {
    return more < near->calm && !(BL__JOINS && near->spare[0] == 0);
}

/* One of the two loops, until there is a break, or too little or too much on the stack. True: the other should
 * continue. w is in memory, since the scheduler is given its address; so what changes with each task is copied, and the
 * task, whose constants the compiler should see here, is made anew. */
BL_HOT_FN bool BL__NAME(run_on)(bl__worker *w, const bl_task *given, const BL_SHARED *shared, BL_LOCAL *local,
                                BL__RECURSION *recursion, bool singles) {
    BL_LOCAL copy; /* first: the user's type may have the name of something below */
    bl__worker near = *w;
    bl__returned returned = {0, BL__FORKED};
    bl_task task = BL__TASK(w->run, w->stack, given->scratch, 0, given->worker, w->spare, &returned);
    const bool copies = singles && sizeof copy <= 64;
    if (copies)
        memcpy(&copy, local, sizeof copy);
    const BL__NAME(hands) h = {&near, w->run->control, &w->tally->beat, shared, copies ? &copy : local, recursion};
    const uint32_t least = task.stack->bottom + 1; /* thieves move it, and have been seen then */
    bl__break why;
    const uint32_t listens = task.run->outside.listens, first = singles && listens ? (1u << 31) - listens : 1;
    const uint64_t until = listens ? near.tasks + listens : UINT64_MAX;
    uint32_t row = 0, mark = first;
    task.top = task.stack->top;
    task.limit = task.stack->bottom + task.run->stack_capacity;
    if (singles)
        task.fences_alone = 0;
    do {
        why = singles ? BL__NAME(run_single)(&h, &task, &mark) : BL__NAME(run_entry)(&h, &task, &row);
    } while (why == BL__NO_BREAK && BL__NAME(is_calm)(&near, task.top - least) &&
             !(singles ? mark >> 31 : near.tasks >= until));
    near.tasks += mark - first;
    bl__worker_agree(w, &near, BL__TAKES_PIECES, BL__RECURSES);
    if (copies)
        memcpy(local, &copy, sizeof copy);
    /* The loop for single entries cannot run what it did not expect, ever. */
    return why == BL__UNEXPECTED && (singles || BL__NAME(is_calm)(&near, task.top - least));
}

/* Called, for the sake of its registers. Not where owners have to order their stores (gate.h), which costs more than
 * all this. */
BL_CALLED_FN bool BL__NAME(run_singles)(bl__worker *w, const bl_task *given, const BL_SHARED *shared, BL_LOCAL *local) {
    return BL__NAME(run_on)(w, given, shared, local, NULL, true);
}

/* A thread's turns, until it should end. While it has enough to do, room to do it in and nobody waiting for it, it need
 * not prepare. */
BL_HOT_FN void BL__NAME(turns)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    BL__RECURSION *recursion = NULL;
    bool singles = false;
#if BL__RECURSES
    BL__NAME(recursion) state;
    recursion = &state;
    const uint32_t frames = BL__NAME(frames_that_fit)(w->run);
    BL__NAME(recursion_start)
    (recursion, w, task, shared, local, bl_stack_take(frames * sizeof(BL__NAME(frame)), BL__ALIGN_OF(BL__NAME(frame))),
     frames);
#endif
    while (BL__NAME(prepare)(w, shared)) {
#if BL__IMPORTS
        if (w->collects) {
            BL__NAME(collect)(w, task, shared, local);
            continue;
        }
#endif
        if (BL__HAS_SINGLES && singles)
            singles = !BL__NAME(run_singles)(w, task, shared, local);
        else
            singles = BL__NAME(run_on)(w, task, shared, local, recursion, false);
    }
#if BL__IMPORTS
    if (w->run->outside.node)
        BL__NAME(collect_last)(w, task, shared, local);
#endif
}
#undef BL__HAS_SINGLES
#undef BL__RECURSION
