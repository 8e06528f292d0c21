/* Template: records histories of one queue, BL_QUEUE, for the search in linearize.h; written only with the platform's
 * operations, like contract_cases.inc.h.
 *
 *     void NAME_history_set_up(history_batch *b, uint32_t cell)            one thread
 *     void NAME_history_record(history_batch *b, uint32_t cell, uint32_t rank)   cell's shape.threads threads at once
 *
 * Each thread follows a short script derived from the seed and records what it did and when: pushes of unique values,
 * pops, steals. The last thread to finish drains the queue, so that no loss goes unnoticed. The threads wait for each
 * other only at the start, for at most b->patience.
 *
 * Waiting queues: each thread alternates pushes and pops, and the capacity is at least the number of threads, so no
 * thread waits for ever. Deques: thread 0 pushes and pops, the others steal.
 *
 * A lost race (BL_QUEUE_RETRY) has no effect; it is retried a few times, since a history of lost races shows nothing.
 * Include contract_cases.inc.h before this file.
 */
#ifndef BALLAST_VERIFY_HISTORY_ONCE
#define BALLAST_VERIFY_HISTORY_ONCE

#define HISTORY_TORN 0xfffffff0u /* recorded for an item whose words do not match: never pushed */
#define HISTORY_TRIES 4u
#define HISTORY_NEVER 0xffffffffu

/* A moment between this thread's previous and next operations. A fence orders memory accesses, and reading a clock is
 * not one: the branch on a word that is read after the fence delays the clock until everything before is done. The
 * counter is ordered by the fences alone, but it serialises the threads that use it: it tells more about which
 * operation came first, and hides what a weaker order would show. */
BL_FN uint64_t history_now(history_cell *h) {
    uint64_t now = 0;
    bl_fence_seq_cst();
    if (bl_load32_relaxed(&h->arrived) != HISTORY_NEVER)
        now = h->shape.counted ? bl_fetch_add64_relaxed(&h->counter, 1) : bl_time();
    bl_fence_seq_cst();
    return now;
}

/* Waits until all threads of the cell are here. Short steps first, so that they leave together; then longer ones, as
 * there may be more threads than cores. */
BL_FN bool history_meet(history_batch *b, history_cell *h) {
    uint64_t since = bl_clock();
    bl_fetch_add32_acq_rel(&h->arrived, 1);
    for (uint32_t tries = 0; b->meets && bl_load32_acquire(&h->arrived) < h->shape.threads; tries++) {
        if (bl_load32_relaxed(&b->abandoned))
            return false;
        bl_backoff(tries < 256 ? 0 : 16);
        if (tries % 64 == 63 && bl_clock() - since > b->patience)
            bl_store32_relaxed(&b->abandoned, 1);
    }
    return true;
}

BL_FN uint32_t history_random(const history_shape *s, uint32_t rank) {
    return (s->seed * 2654435761u + rank * 2246822519u) | 1u;
}

/* The k-th operation of thread `rank`, if it may push and pop. */
BL_FN lin_kind history_kind(const history_shape *s, uint32_t rank, uint32_t k, uint32_t random) {
    bool push = s->style == HISTORY_MIXED      ? (random >> 9 & 1) != 0
                : s->style == HISTORY_SPLIT    ? rank % 2 == 0
                : s->style == HISTORY_PUSH_POP ? k % 2 == 0
                                               : k % 2 != 0;
    return push ? LIN_PUSH : LIN_POP;
}

#endif

#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define HISTORY_(x) BL_CAT(BL_QUEUE, _history_##x)

BL_FN BL_QUEUE HISTORY_(queue)(const history_batch *b, uint32_t cell, uint32_t rank) {
    const history_shape *s = &b->cells[cell].shape;
    bl_shape shape = {s->capacity, s->words, s->threads};
    BL_QUEUE q;
    BL_QUEUE_(bind)(&q, b->memory + (uint64_t)cell * b->bytes, shape, rank);
    return q;
}

BL_FN void HISTORY_(set_up)(history_batch *b, uint32_t cell) {
    history_cell *h = b->cells + cell;
    BL_QUEUE q = HISTORY_(queue)(b, cell, 0);
    uint32_t item[CONTRACT_WORDS];
    CONTRACT_CALL(init)(&q, h->shape.start, 0, 1);
    for (uint32_t value = 1; value <= h->shape.filled; value++) {
        contract_item(item, value, h->shape.words);
        h->refused += CONTRACT_CALL(push)(&q, item) != BL_QUEUE_DONE ? 1u : 0u;
    }
}

/* One operation. `op` has its thread, kind and, for a push, its value. */
BL_CALLED_FN void HISTORY_(operate)(history_cell *h, BL_QUEUE *q, lin_op *op) {
    uint32_t item[CONTRACT_WORDS], words = h->shape.words;
    bl_outcome outcome = BL_QUEUE_RETRY;
    uint64_t called = 0, returned = 0;
    for (uint32_t tries = 0; tries < HISTORY_TRIES && outcome == BL_QUEUE_RETRY; tries++) {
        contract_item(item, op->kind == LIN_PUSH ? op->value : HISTORY_TORN, words);
        called = history_now(h);
        if (op->kind == LIN_PUSH)
            outcome = CONTRACT_CALL(push)(q, item);
        else if (op->kind == LIN_POP)
            outcome = CONTRACT_CALL(pop)(q, item);
        else
            outcome = CONTRACT_CALL(steal)(q, item);
        returned = history_now(h);
    }
    if (op->kind != LIN_PUSH)
        op->value = contract_whole(item, words) ? item[0] : HISTORY_TORN;
    op->called = called;
    op->returned = returned;
    op->outcome = (uint32_t)outcome;
}

/* Called by the last thread. A waiting queue would wait for an item, but as many were popped as pushed. */
BL_FN void HISTORY_(drain)(history_cell *h, BL_QUEUE *q, lin_op *ops, uint32_t rank) {
    if (BL_QUEUE_(KIND) == BL_QUEUE_KIND_WAITING)
        return;
    bool thief = BL_QUEUE_(KIND) == BL_QUEUE_KIND_DEQUE && rank != 0;
    for (uint32_t n = h->shape.threads * h->shape.operations; n < LIN_OPS; n++) {
        lin_op op = {0, 0, rank, 0, thief ? (uint32_t)LIN_STEAL : (uint32_t)LIN_POP, 0};
        HISTORY_(operate)(h, q, &op);
        ops[n] = op;
        h->drained++;
        if (op.outcome != BL_QUEUE_DONE && op.outcome != BL_QUEUE_RETRY)
            break;
    }
}

BL_FN void HISTORY_(record)(history_batch *b, uint32_t cell, uint32_t rank) {
    history_cell *h = b->cells + cell;
    const history_shape *s = &h->shape;
    lin_op *ops = b->ops + (uint64_t)cell * LIN_OPS;
    BL_QUEUE q = HISTORY_(queue)(b, cell, rank);
    uint32_t random = history_random(s, rank);
    if (!history_meet(b, h))
        return;
    for (uint32_t k = 0; k < s->operations; k++) {
        lin_kind kind = history_kind(s, rank, k, bl__random32(&random));
        if (BL_QUEUE_(KIND) == BL_QUEUE_KIND_DEQUE && rank != 0)
            kind = LIN_STEAL;
        lin_op op = {0, 0, rank, s->filled + 1 + rank * s->operations + k, (uint32_t)kind, 0};
        for (uint32_t pause = random >> 20 & 7; pause > 4; pause--) /* occasionally lets other threads get ahead */
            bl_backoff(0);
        HISTORY_(operate)(h, &q, &op);
        ops[rank * s->operations + k] = op;
    }
    if (bl_fetch_add32_acq_rel(&h->left, 1) + 1 == s->threads)
        HISTORY_(drain)(h, &q, ops, rank);
}

#undef HISTORY_
#undef BL_QUEUE_
