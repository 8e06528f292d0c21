/* The host's side of history.inc.h: shapes from seeds, batches of recorded histories, and their findings.
 *
 * A queue is judged by its claims. Every history must have an order that a sequential queue could have produced
 * (linearize.h), including EMPTY and FULL if they are claimed to be exact. If a queue claims no such order, values must
 * come out once, and each consumer must see those of one producer in order. For every property that is not claimed, it
 * searches for a history that violates it. */
#include "verify.h"

#include <ballast/parts/random.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32 << 20 }; /* the most bytes of a batch's queues */

struct history_run {
    const verify_target *target;
    const verify_queue *queue;
    lin_search *search;
    lin_spec claimed;
    uint32_t seed, turn; /* of the next history; of the next batch */
    uint64_t count, undecided;
    uint32_t found; /* a bit for each finding */
    verify_history shown[VERIFY_FINDINGS], last;

    history_batch batch, *there; /* batch: its copy here, with the target's pointers */
    history_cell *cells;         /* here */
    lin_op *ops;
};

/* ---- what is claimed, and what is searched for ---- */

static bool has(const verify_queue *q, uint32_t flags) { return (q->flags & flags) == flags; }
static bool answers(const verify_queue *q) { return q->kind != BL_QUEUE_KIND_WAITING; } /* EMPTY and FULL, that is */

uint32_t history_goals(const verify_queue *q) {
    uint32_t goals = 0;
    if (!has(q, BL_QUEUE_LINEARIZABLE))
        return 1u << VERIFY_ORDER;
    if (answers(q) && !has(q, BL_QUEUE_EXACT_EMPTY))
        goals |= 1u << VERIFY_EMPTY;
    if (answers(q) && has(q, BL_QUEUE_BOUNDED) &&
        !has(q, BL_QUEUE_EXACT_FULL)) /* without a bound, FULL means out of memory */
        goals |= 1u << VERIFY_FULL;
    return goals;
}

static lin_spec spec_of(const history_run *r, const history_shape *shape, verify_finding finding) {
    bool bounded = has(r->queue, BL_QUEUE_BOUNDED), all = finding == VERIFY_ORDER;
    lin_spec spec = {
        .deque = r->queue->kind == BL_QUEUE_KIND_DEQUE, .capacity = shape->capacity, .filled = shape->filled};
    spec.empty = answers(r->queue) && (has(r->queue, BL_QUEUE_EXACT_EMPTY) || finding == VERIFY_EMPTY || all);
    spec.full = answers(r->queue) && bounded && (has(r->queue, BL_QUEUE_EXACT_FULL) || finding == VERIFY_FULL || all);
    return spec;
}

/* ---- shapes ---- */

static uint32_t draw(uint64_t *state, uint32_t below) {
    return (uint32_t)((bl__splitmix64(state) >> 32) * below >> 32);
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t most_capacity(const verify_queue *q) { return larger(4, q->least); }

/* threads 0: any number. Prefers few operations, because a short history is easier to read. */
static history_shape shape_of(const verify_queue *q, uint32_t seed, uint32_t threads, uint32_t counted) {
    static const uint32_t starts[] = {0, UINT32_MAX, UINT32_MAX - 2, (UINT32_C(1) << 31) - 2};
    uint64_t random = seed;
    history_shape s = {.seed = seed, .counted = counted};
    s.threads = threads ? threads : 2 + draw(&random, HISTORY_THREADS - 1);
    s.capacity = larger(UINT32_C(1) << draw(&random, 3), q->least);
    s.filled = draw(&random, 2) ? draw(&random, s.capacity + 1) : 0;
    s.start = starts[draw(&random, 4)];
    s.words = draw(&random, 2) && !q->by_handle ? 3 : 1;
    s.style = draw(&random, 4);
    uint32_t most = HISTORY_SCRIPT / s.threads;
    s.operations = 1 + smaller(draw(&random, most), draw(&random, most));
    if (!answers(q)) {
        s.capacity = most_capacity(q);
        s.filled = 0;
        s.style = HISTORY_PUSH_POP;
        s.operations = (s.operations + 1) / 2 * 2;
    }
    return s;
}

static uint64_t bytes_of(const verify_queue *q) {
    bl_shape shape = {most_capacity(q), q->by_handle ? 1 : 3, HISTORY_THREADS};
    uint64_t most = 0;
    for (; shape.capacity >= q->least && shape.capacity; shape.capacity /= 2)
        most = most > q->bytes(shape) ? most : q->bytes(shape);
    return (most + BL_LINE) / BL_LINE * BL_LINE;
}

/* ---- memory ---- */

static void close_batch(history_run *r) {
    const verify_target *t = r->target;
    free(r->cells);
    free(r->ops);
    if (t->trouble()) /* a thread may still be using it */
        return;
    t->release(r->there);
    t->release(r->batch.memory);
    t->release(r->batch.cells);
    t->release(r->batch.ops);
}

static bool open_batch(history_run *r) {
    const verify_target *t = r->target;
    history_batch *b = &r->batch;
    b->bytes = bytes_of(r->queue);
    b->count = (uint32_t)(b->bytes * t->cells > MOST_BYTES ? MOST_BYTES / b->bytes + 1 : t->cells);
    b->patience = t->patience;
    b->memory = t->alloc(b->bytes * b->count);
    b->cells = t->alloc(sizeof *b->cells * b->count);
    b->ops = t->alloc(sizeof *b->ops * LIN_OPS * b->count);
    r->there = t->alloc(sizeof *b);
    r->cells = calloc(b->count, sizeof *r->cells);
    r->ops = calloc(LIN_OPS * (size_t)b->count, sizeof *r->ops);
    return b->memory && b->cells && b->ops && r->there && r->cells && r->ops;
}

history_run *history_open(const verify_target *target, const verify_queue *queue) {
    history_run *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->target = target;
    r->queue = queue;
    r->seed = 1;
    r->search = lin_open();
    if (r->search && open_batch(r))
        return r;
    history_close(r);
    return NULL;
}

void history_close(history_run *r) {
    if (!r)
        return;
    close_batch(r);
    lin_close(r->search);
    free(r);
}

/* ---- without linearizability ---- */

static bool is_done_take(const lin_op *op) { return op->kind != LIN_PUSH && op->outcome == BL_QUEUE_DONE; }

/* Whether `value` was in the queue: an initial item, or pushed. */
static bool went_in(const verify_history *h, uint32_t value) {
    if (value && value <= h->spec.filled)
        return true;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->ops[i].kind == LIN_PUSH && h->ops[i].outcome == BL_QUEUE_DONE && h->ops[i].value == value)
            return true;
    return false;
}

static uint32_t times_out(const verify_history *h, uint32_t value) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->count; i++)
        n += is_done_take(&h->ops[i]) && h->ops[i].value == value;
    return n;
}

/* 0: an initial item. */
static uint32_t producer_of(const history_shape *s, uint32_t value) {
    return value <= s->filled ? 0 : 1 + (value - s->filled - 1) / s->operations;
}

/* Each other thread receives one thread's values in order: values grow. The owner of a deque takes the newest. h holds
 * each thread's operations in program order. */
static bool in_order(const verify_history *h) {
    const history_shape *s = &h->shape;
    for (uint32_t i = 0; i < h->count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const lin_op *first = &h->ops[k], *then = &h->ops[i];
            if (!is_done_take(first) || !is_done_take(then) || first->thread != then->thread ||
                (h->spec.deque && (first->kind == LIN_POP || then->kind == LIN_POP)))
                continue;
            if (producer_of(s, first->value) == producer_of(s, then->value) && first->value > then->value)
                return false;
        }
    return true;
}

/* What is wrong with the values, whatever the order of the operations; NULL: nothing. */
static const char *values_wrong(const verify_history *h) {
    for (uint32_t i = 0; i < h->count; i++) {
        const lin_op *op = &h->ops[i];
        if (op->outcome > BL_QUEUE_RETRY || op->outcome == (op->kind == LIN_PUSH ? BL_QUEUE_EMPTY : BL_QUEUE_FULL))
            return "an answer that no queue gives";
        if (is_done_take(op) && !went_in(h, op->value))
            return "a value came out that never went in";
        if (is_done_take(op) && times_out(h, op->value) > 1)
            return "a value came out twice";
        if (op->kind == LIN_PUSH && op->outcome == BL_QUEUE_DONE && !times_out(h, op->value))
            return "a value was lost";
    }
    for (uint32_t value = 1; value <= h->spec.filled; value++)
        if (!times_out(h, value))
            return "a value was lost";
    return in_order(h) ? NULL : "values of one thread came out in another order";
}

/* ---- judging ---- */

/* The operations that had returned by a moment: a history too, unless an operation was under way (UINT32_MAX). */
static uint32_t start_of(const verify_history *h, lin_op *ops, uint64_t moment) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->ops[i].called <= moment && h->ops[i].returned > moment)
            return UINT32_MAX;
        if (h->ops[i].returned <= moment)
            ops[count++] = h->ops[i];
    }
    return count;
}

/* The shortest prefix that shows the same. */
static void shorten(history_run *r, verify_history *h) {
    lin_op ops[LIN_OPS];
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (uint32_t i = 0; i < h->count && !shorter; i++) {
            uint32_t count = start_of(h, ops, h->ops[i].returned);
            if (count >= h->count || linearize(r->search, ops, count, &h->spec, NULL) != LIN_NO)
                continue;
            memcpy(h->ops, ops, sizeof *ops * count);
            h->count = count;
            shorter = true;
        }
    }
}

static void keep(history_run *r, verify_history *h, verify_finding finding, const char *why) {
    verify_history *kept = &r->shown[finding];
    h->why = why;
    if (!why)
        shorten(r, h);
    if (!(r->found & 1u << finding) || h->count < kept->count)
        *kept = *h;
    r->found |= 1u << finding;
}

/* Searches for `finding`: is there an order with it? */
static void look(history_run *r, verify_history h, verify_finding finding) {
    h.spec = spec_of(r, &h.shape, finding);
    lin_verdict verdict = linearize(r->search, h.ops, h.count, &h.spec, NULL);
    if (verdict == LIN_NO)
        keep(r, &h, finding, NULL);
    r->undecided += verdict == LIN_GAVE_UP;
}

static void judge(history_run *r, const history_cell *cell, verify_history *h) {
    uint32_t goals = history_goals(r->queue);
    const char *wrong = cell->stuck                         ? "an operation never ended"
                        : cell->refused                     ? "a push was refused before anything began"
                        : cell->left != cell->shape.threads ? "the threads did not meet"
                                                            : values_wrong(h);
    h->spec = spec_of(r, &h->shape, VERIFY_BROKEN);
    r->count++;
    r->last = *h;
    if (wrong) {
        keep(r, h, VERIFY_BROKEN, wrong);
        return;
    }
    if (has(r->queue, BL_QUEUE_LINEARIZABLE))
        look(r, *h, VERIFY_BROKEN);
    for (int finding = 0; finding < VERIFY_BROKEN; finding++)
        if (goals & 1u << finding)
            look(r, *h, (verify_finding)finding);
}

/* Reads the log of a cell, without lost races. */
static void read_cell(const history_run *r, const history_cell *cell, const lin_op *ops, verify_history *h) {
    uint32_t count = cell->shape.threads * cell->shape.operations + cell->drained;
    h->shape = cell->shape;
    h->spec = spec_of(r, &cell->shape, VERIFY_BROKEN);
    h->target = r->target;
    h->time = cell->shape.counted ? "counter" : r->target->time;
    h->why = NULL;
    h->count = 0;
    for (uint32_t i = 0; i < count && i < LIN_OPS; i++)
        if (ops[i].outcome != BL_QUEUE_RETRY)
            h->ops[h->count++] = ops[i];
}

/* ---- recording ---- */

/* The first `count` cells of the batch have their shapes. */
static bool record(history_run *r, uint32_t count, verify_spread spread) {
    const verify_target *t = r->target;
    history_batch b = r->batch;
    b.count = count;
    for (uint32_t i = 0; i < LIN_OPS * count; i++)
        r->ops[i].outcome = BL_QUEUE_RETRY; /* until it is done */
    t->fill(b.memory, 0xa5, b.bytes * count);
    t->copy(b.cells, r->cells, sizeof *r->cells * count);
    t->copy(b.ops, r->ops, sizeof *r->ops * LIN_OPS * count);
    t->copy(r->there, &b, sizeof b);
    if (!t->record(r->queue->history, r->there, true, &b, spread) ||
        !t->record(r->queue->history, r->there, false, &b, spread))
        return false;
    t->copy(r->cells, b.cells, sizeof *r->cells * count);
    t->copy(r->ops, b.ops, sizeof *r->ops * LIN_OPS * count);
    return true;
}

static bool record_and_judge(history_run *r, uint32_t count, verify_spread spread) {
    verify_history h;
    if (r->target->trouble() || !record(r, count, spread))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        read_cell(r, &r->cells[i], &r->ops[i * (size_t)LIN_OPS], &h);
        judge(r, &r->cells[i], &h);
    }
    return true;
}

/* Batches alternate the number of threads, the clock, and the placement of the threads. */
bool history_batch_next(history_run *r) {
    const verify_target *t = r->target;
    uint32_t turn = r->turn++,
             lanes_wait = r->queue->kind == BL_QUEUE_KIND_WAITING && !has(r->queue, BL_QUEUE_ALL_PARADIGMS);
    uint32_t counted = t->clocks > 1 ? turn % 2 : 0;
    uint32_t spread = turn / 2 % t->spreads;
    if (lanes_wait && t->spreads > 1)
        spread = VERIFY_WARPS; /* a waiting lane may hold up the one it waits for */
    r->batch.threads = 2 + turn / (2 * t->spreads) % (HISTORY_THREADS - 1);
    r->batch.meets = t->meets;
    memset(r->cells, 0, sizeof *r->cells * r->batch.count);
    for (uint32_t i = 0; i < r->batch.count; i++)
        r->cells[i].shape = shape_of(r->queue, r->seed++, t->meets ? r->batch.threads : 0, counted);
    return record_and_judge(r, r->batch.count, (verify_spread)spread);
}

bool history_one(history_run *r, uint32_t seed) {
    memset(r->cells, 0, sizeof *r->cells);
    r->cells->shape = shape_of(r->queue, seed, 0, 0);
    r->batch.threads = r->cells->shape.threads;
    return record_and_judge(r, 1, VERIFY_LANES);
}

/* ---- what was found ---- */

uint32_t history_found(const history_run *r) { return r->found; }
uint64_t history_count(const history_run *r) { return r->count; }
uint64_t history_undecided(const history_run *r) { return r->undecided; }

const verify_history *history_show(const history_run *r, verify_finding finding) {
    if (finding == VERIFY_FINDINGS)
        return r->count ? &r->last : NULL;
    return r->found & 1u << finding ? &r->shown[finding] : NULL;
}
