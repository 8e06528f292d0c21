/* Template, part of worker_loop.inc.h: in a run of several nodes, the results that another node has sent home. */

/* One parcel, as if this worker had run those children. All of them but one are taken off first; the last is passed on
 * like the result of any task, and whoever comes last continues. The worker is prepared for that as for a task. */
BL_CALLED_FN void BL__NAME(collect)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    const bl__run *run = w->run;
    bl__parcel *parcel = bl__node_collects(run);
    w->collects = false;
    if (!parcel)
        return;
    task->top = w->stack->top;
    task->limit = w->stack->bottom + run->stack_capacity;
    task->join = parcel->join;
    task->index = parcel->begin;
    task->returned->ended = BL__RETURNED;
#if BL_SUM
    memcpy(&task->returned->sum, parcel + 1, sizeof task->returned->sum);
#else
    unsigned char *to = run->results + (size_t)(parcel->join & ~BL__ROOT) * BL__RESULT_BYTES;
    if (!(parcel->join & BL__ROOT))
        to = bl__record_results(bl__record_at(run, bl__record_number(parcel->join)), BL__RESULTS_AT,
                                parcel->join & BL__WIDE) +
             (size_t)parcel->begin * BL__RESULT_BYTES;
    memcpy(to, parcel + 1, parcel->bytes);
#endif
    if (parcel->count > 1) /* only a record has several children; J1 follows */
        bl_fetch_add64_relaxed(&bl__record_at(run, bl__record_number(parcel->join))->state,
                               0 - (uint64_t)(parcel->count - 1) * BL__ONE_CHILD);
    bl__node_collected(parcel);
    BL__NAME(join)(w, task, shared, local);
}

/* A worker that stops collects what a checkpoint could not hold, as far as it has room and records for what follows;
 * the rest is for the next launch. */
BL_CALLED_FN void BL__NAME(collect_last)(bl__worker *w, bl_task *task, const BL_SHARED *shared, BL_LOCAL *local) {
    const bl__run *run = w->run;
    while (bl_load32_host(&run->control->stop) & BL__STOP_HOST && bl__node_has_results(run)) {
        BL__NAME(make_ready)(w);
        if (w->spare[0] == 0 || run->stack_capacity - bl__stack_count(w->stack) < run->outbox)
            break;
        BL__NAME(collect)(w, task, shared, local);
    }
}
