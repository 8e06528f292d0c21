/* One client: its threads, and what must be true after each execution.
 *
 * Values are 1 .. filled, then consecutive ones for each thread, so that a producer's values are ordered like its
 * pushes. The second word of a two-word item reveals whether it is torn or stale; the data behind a value is plain, so
 * that a missing order is a race. Memory is poisoned beforehand, and followed by a guard. */
#include "queue_client.h"
#include "linearize_partial.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#ifndef BL_TARGET_SIM
#error "compile this with -DBL_TARGET_SIM"
#endif

enum { OPS = PROVE_THREADS * 2 * PROVE_CALLS, POISON = 0xa5, GUARD = 64, STEPS = 1500 };

typedef struct op {
    char call;
    uint8_t thread, outcome, piece; /* piece: of a batch, from 0 */
    uint32_t value;
    uint32_t called_at, returned_at;
    bl_moment called, returned;
} op;

typedef struct run {
    const prove_client *c;
    const prove_queue *q;
    const prove_more *more;
    bool sequential, apart;
    uint32_t words, clock, closes;
    prove_view view[PROVE_THREADS];
    uint32_t count[PROVE_THREADS]; /* operations */
    op ops[PROVE_THREADS][2 * PROVE_CALLS];
    uint32_t payload[PROVE_ITEMS];
    uint32_t farewell; /* written before the close, if there is one */
    uint8_t pushed[PROVE_ITEMS], taken[PROVE_ITEMS];
    size_t bytes;
    unsigned char *memory;
    history history;
    char wrong[128];
} run;

static bool orders_memory(const run *r) { return (r->q->flags & BL_QUEUE_ORDERS_MEMORY) != 0; }
static uint32_t second_word(uint32_t value) { return ~value * 0x9e3779b9u; }
static uint32_t behind(uint32_t value) { return value + 1000; }

static uint32_t producer_of(const run *r, uint32_t value) {
    return value <= r->c->filled ? PROVE_THREADS : (value - r->c->filled - 1) / (2 * PROVE_CALLS);
}

static void make_item(uint32_t *item, uint32_t value) {
    item[0] = value;
    item[1] = second_word(value);
}

/* What is wrong with an item that was taken; also counts it. */
static const char *wrong_item(run *r, const uint32_t *item) {
    if (item[0] == 0 || item[0] >= PROVE_ITEMS)
        return "takes what was never pushed";
    if (r->words == 2 && item[1] != second_word(item[0]))
        return "takes a torn item";
    return r->taken[item[0]]++ ? "takes an item twice" : NULL;
}

/* ---- an execution ---- */

static void before(void *arg) {
    run *r = arg;
    const prove_client *c = r->c;
    bl_shape shape = {c->capacity, r->words, c->threads};
    uint32_t item[2];
    memset(r->memory, POISON, r->bytes + GUARD);
    memset(r->payload, 0, sizeof r->payload);
    memset(r->pushed, 0, sizeof r->pushed);
    memset(r->taken, 0, sizeof r->taken);
    memset(r->count, 0, sizeof r->count);
    r->clock = 0;
    for (uint32_t i = 0; i < c->threads; i++)
        r->q->bind(&r->view[i], r->memory, shape, i);
    r->q->init(&r->view[0], c->start);
    for (uint32_t value = 1; value <= c->filled; value++) {
        make_item(item, value);
        r->payload[value] = behind(value);
        r->pushed[value] = r->q->push(&r->view[0], item) == BL_QUEUE_DONE;
    }
}

/* Stamps only without weak memory: they would order calls that nothing else orders. */
static uint32_t stamp(run *r) { return r->sequential ? bl_fetch_add32_relaxed(&r->clock, 1) : 0; }

static void called(run *r, op *o, char call, uint32_t thread) {
    memset(o, 0, sizeof *o);
    o->call = call;
    o->thread = (uint8_t)thread;
    o->called_at = stamp(r);
    bl_explore_now(&o->called);
}

/* A call counts as as many operations as it moved items, or as one if it moved none. */
static void returned(run *r, op *first, bl_outcome outcome, const uint32_t *items, uint32_t n) {
    uint32_t thread = first->thread;
    first->outcome = (uint8_t)outcome;
    first->returned_at = stamp(r);
    bl_explore_now(&first->returned);
    for (uint32_t i = 0; i < n; i++) {
        op *o = first + i;
        *o = *first;
        o->piece = (uint8_t)i;
        o->value = items[(size_t)i * r->words];
    }
    r->count[thread] += n ? n : 1;
}

static void call_push(run *r, uint32_t thread, uint32_t value, uint32_t n, bool in_place) {
    uint32_t items[2 * PROVE_WORDS];
    op *o = &r->ops[thread][r->count[thread]];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t payload = behind(value + i);
        make_item(items + (size_t)i * r->words, value + i);
        if (orders_memory(r))
            bl_data_write(&r->payload[value + i], &payload, 1);
    }
    called(r, o, '+', thread);
    if (n == 1) {
        bl_outcome outcome =
            in_place ? r->more->put(&r->view[thread], items, r->words) : r->q->push(&r->view[thread], items);
        n = outcome == BL_QUEUE_DONE;
        returned(r, o, outcome, items, n);
    } else {
        n = r->q->push_n(&r->view[thread], items, n);
        returned(r, o, n ? BL_QUEUE_DONE : BL_QUEUE_RETRY, items, n);
    }
    for (uint32_t i = 0; i < n; i++)
        r->pushed[value + i] = 1;
}

static void call_take(run *r, uint32_t thread, char call, uint32_t n, bool in_place) {
    uint32_t items[2 * PROVE_WORDS] = {0}, payload;
    prove_view *v = &r->view[thread];
    op *o = &r->ops[thread][r->count[thread]];
    called(r, o, call, thread);
    if (n == 1) {
        bl_outcome outcome =
            in_place ? r->more->get(v, items, r->words) : (call == 's' ? r->q->steal : r->q->pop)(v, items);
        n = outcome == BL_QUEUE_DONE;
        returned(r, o, outcome, items, n);
    } else {
        n = (call == 's' ? r->q->steal_n : r->q->pop_n)(v, items, n);
        returned(r, o, n ? BL_QUEUE_DONE : BL_QUEUE_RETRY, items, n);
    }
    if (r->closes == 1 && o->outcome == BL_QUEUE_EMPTY) /* what was written before the close must be visible */
        bl_data_read(&payload, &r->farewell, 1);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *item = items + (size_t)i * r->words;
        const char *wrong = wrong_item(r, item);
        if (wrong)
            bl_explore_fail("%s: %x", wrong, item[0]);
        if (!orders_memory(r))
            continue;
        bl_data_read(&payload, &r->payload[item[0]], 1);
        if (payload != behind(item[0]))
            bl_explore_fail("what stands behind %u is not seen", item[0]);
    }
}

/* An estimate; but a bounded queue never holds more than its capacity. */
static void call_size(run *r, uint32_t thread) {
    uint32_t size = r->q->size(&r->view[thread]);
    if (r->q->flags & BL_QUEUE_BOUNDED && size > r->c->capacity)
        bl_explore_fail("size is %u of %u", size, r->c->capacity);
}

static void call_close(run *r, uint32_t thread) {
    op *o = &r->ops[thread][r->count[thread]];
    uint32_t one = 1;
    if (r->closes == 1)
        bl_data_write(&r->farewell, &one, 1);
    called(r, o, 'c', thread);
    r->more->close(&r->view[thread]);
    returned(r, o, BL_QUEUE_DONE, NULL, 0);
}

static void body(void *arg, uint32_t thread, uint32_t lane) {
    run *r = arg;
    uint32_t value = 1 + r->c->filled + thread * 2 * PROVE_CALLS;
    (void)lane;
    for (const char *at = r->c->script[thread]; *at; at++) {
        uint32_t n = *at == 'P' || *at == 'O' || *at == 'S' ? 2 : 1;
        if (*at == '+' || *at == 'P' || *at == 'R') {
            call_push(r, thread, value, n, *at == 'R');
            value += n;
        } else if (*at == 'n') {
            call_size(r, thread);
        } else if (*at == 'c') {
            call_close(r, thread);
        } else {
            call_take(r, thread, *at == 's' || *at == 'S' ? 's' : '-', n, *at == 'C');
        }
    }
}

/* ---- at rest ---- */

static const char *say(run *r, const char *format, uint32_t a, uint32_t b) {
    snprintf(r->wrong, sizeof r->wrong, format, a, b);
    return r->wrong;
}

static uint32_t held(const run *r) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < PROVE_ITEMS; i++)
        sum += r->pushed[i] - (uint32_t)r->taken[i];
    return sum;
}

/* Takes everything that is left, oldest first, into the history. */
static const char *drain(run *r) {
    uint32_t item[2], left = held(r), size = r->q->size(&r->view[0]);
    bool deque = r->q->kind == BL_QUEUE_KIND_DEQUE;
    if (size != left)
        return say(r, "at rest: size is %u, and %u are left", size, left);
    r->history.rest_count = left;
    for (uint32_t i = 0; i < left; i++) {
        bl_outcome outcome = r->q->pop(&r->view[0], item);
        if (outcome != BL_QUEUE_DONE)
            return say(r, "at rest: %u items are lost (outcome %u)", left - i, outcome);
        const char *wrong = wrong_item(r, item);
        if (wrong)
            return say(r, "at rest: the %u. item is wrong or was taken before: %x", i + 1, item[0]);
        r->history.rest[deque ? left - 1 - i : i] = item[0];
    }
    if (memcmp(r->pushed, r->taken, sizeof r->pushed))
        return "at rest: pushed and taken differ";
    if ((r->q->kind != BL_QUEUE_KIND_WAITING || r->closes) && r->q->pop(&r->view[0], item) != BL_QUEUE_EMPTY)
        return "at rest: not EMPTY in the end";
    return NULL;
}

/* It must hold as many items as at first. */
static const char *refill(run *r) {
    uint32_t item[2] = {0};
    if (r->closes)
        return r->q->push(&r->view[0], item) == BL_QUEUE_FULL ? NULL : "at rest: closed, and a push is not refused";
    for (uint32_t i = 0; i < r->c->capacity; i++) {
        make_item(item, 1 + i);
        bl_outcome outcome = r->q->push(&r->view[0], item);
        if (outcome != BL_QUEUE_DONE)
            return say(r, "at rest: with %u items in it a push fails (outcome %u)", i, outcome);
    }
    if (r->q->flags & BL_QUEUE_BOUNDED && r->q->kind != BL_QUEUE_KIND_WAITING &&
        r->q->push(&r->view[0], item) != BL_QUEUE_FULL)
        return "at rest: not FULL at its capacity";
    return NULL;
}

/* ---- the history ---- */

static bool is_before(const run *r, const op *a, const op *b) {
    if (a->thread == b->thread) /* program order, as in the array */
        return a < b;
    return r->sequential ? a->returned_at < b->called_at : bl_happened_before(&a->returned, &b->called);
}

static bool counts(const run *r, const op *o, history_act *act) {
    bool oldest = r->q->kind != BL_QUEUE_KIND_DEQUE || o->call == 's';
    if (o->call == 'c')
        return false;
    switch (o->outcome) {
    case BL_QUEUE_DONE:
        *act = o->call == '+' ? HISTORY_ADD : oldest ? HISTORY_TAKE_OLDEST : HISTORY_TAKE_NEWEST;
        return true;
    case BL_QUEUE_EMPTY:
        *act = HISTORY_EMPTY;
        return (r->q->flags & BL_QUEUE_EXACT_EMPTY) != 0;
    case BL_QUEUE_FULL:
        *act = HISTORY_FULL;
        return (r->q->flags & BL_QUEUE_EXACT_FULL) != 0;
    default:
        return false;
    }
}

static uint32_t collect(const run *r, const op *all[OPS]) {
    uint32_t count = 0;
    for (uint32_t thread = 0; thread < r->c->threads; thread++)
        for (uint32_t i = 0; i < r->count[thread]; i++)
            all[count++] = &r->ops[thread][i];
    return count;
}

/* The history without the operations of this kind. */
static history without(const history *h, history_act act) {
    history some = *h;
    uint32_t number[HISTORY_OPS];
    some.count = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->ops[i].act == act)
            continue;
        number[some.count] = i;
        some.ops[some.count++] = h->ops[i];
    }
    for (uint32_t i = 0; i < some.count; i++) {
        some.ops[i].before = 0;
        for (uint32_t k = 0; k < some.count; k++)
            some.ops[i].before |= (h->ops[number[i]].before >> number[k] & 1) << k;
    }
    return some;
}

/* One order explains EMPTY and another FULL. */
static bool explained_apart(const history *h) {
    history empties = without(h, HISTORY_FULL), fulls = without(h, HISTORY_EMPTY);
    empties.capacity = 0;
    return history_explained(&empties) && history_explained(&fulls);
}

static const char *why_not(const history *h) {
    history empties = without(h, HISTORY_FULL), fulls = without(h, HISTORY_EMPTY),
            none = without(&empties, HISTORY_EMPTY);
    if (history_explained(&fulls))
        return history_explained(&empties) ? "not linearizable (EMPTY with FULL)" : "not linearizable (EMPTY)";
    if (history_explained(&empties))
        return "not linearizable (FULL)";
    none.capacity = 0;
    return history_explained(&none) ? "not linearizable (EMPTY, FULL, or more items than there is room for)"
                                    : "not linearizable (the order of items)";
}

static const char *check_linearizable(run *r) {
    const op *all[OPS], *kept[OPS];
    history *h = &r->history;
    h->count = 0;
    h->filled = r->c->filled;
    h->capacity = r->q->flags & BL_QUEUE_EXACT_FULL ? r->c->capacity : 0;
    for (uint32_t i = 0, count = collect(r, all); i < count; i++) {
        uint32_t n = h->count;
        if (!counts(r, all[i], &h->ops[n].act))
            continue;
        h->ops[n].value = all[i]->value;
        kept[n] = all[i];
        h->count++;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        h->ops[i].before = 0;
        for (uint32_t k = 0; k < h->count; k++)
            if (k != i && is_before(r, kept[k], kept[i]))
                h->ops[i].before |= 1u << k;
    }
    if (history_explained(h))
        return NULL;
    return r->apart && explained_apart(h) ? NULL : why_not(h);
}

/* What remains if linearizability is not claimed: a producer's items are taken in its order. */
static const char *check_producers(run *r) {
    const op *all[OPS];
    uint32_t count = collect(r, all), newest[PROVE_THREADS + 1] = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (all[i]->call == '+' || all[i]->outcome != BL_QUEUE_DONE)
            continue;
        uint32_t producer = producer_of(r, all[i]->value);
        for (uint32_t k = 0; k < count; k++)
            if (k != i && all[k]->call != '+' && all[k]->outcome == BL_QUEUE_DONE && is_before(r, all[i], all[k]) &&
                producer_of(r, all[k]->value) == producer && all[k]->value < all[i]->value)
                return say(r, "%u is taken before %u of the same producer", all[i]->value, all[k]->value);
        newest[producer] = newest[producer] > all[i]->value ? newest[producer] : all[i]->value;
    }
    for (uint32_t i = 0; i < r->history.rest_count; i++) {
        uint32_t value = r->history.rest[i], producer = producer_of(r, value);
        if (value < newest[producer])
            return say(r, "%u is left behind %u of the same producer", value, newest[producer]);
        newest[producer] = value;
    }
    return NULL;
}

/* A queue that waits rejects no call before it is closed, and every push afterwards. */
static const char *check_closing(const run *r) {
    const op *all[OPS];
    uint32_t count = collect(r, all);
    for (uint32_t i = 0; i < count; i++) {
        bool refused = all[i]->outcome == BL_QUEUE_FULL || all[i]->outcome == BL_QUEUE_EMPTY, before = true,
             behind = false;
        for (uint32_t k = 0; k < count; k++) {
            before = before && (all[k]->call != 'c' || is_before(r, all[i], all[k]));
            behind = behind || (all[k]->call == 'c' && is_before(r, all[k], all[i]));
        }
        if (refused && before)
            return "refused before the queue was closed";
        if (behind && all[i]->call == '+' && all[i]->outcome == BL_QUEUE_DONE)
            return "a push is not refused after the close";
    }
    return NULL;
}

/* ---- the checks, with a watchdog for queues that never return ---- */

static sigjmp_buf rescue;
static volatile sig_atomic_t at_rest, seconds_at_rest;

static void tick(int signal_number) {
    (void)signal_number;
    if (at_rest && ++seconds_at_rest > 2)
        siglongjmp(rescue, 1);
}

void prove_guard(void) {
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_NODEFER | SA_RESTART};
    struct itimerval every = {.it_interval = {1, 0}, .it_value = {1, 0}};
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &every, NULL);
}

static const char *check(run *r) {
    const char *wrong = drain(r);
    if (!wrong)
        wrong = r->q->flags & BL_QUEUE_LINEARIZABLE ? check_linearizable(r) : check_producers(r);
    if (!wrong && r->q->kind == BL_QUEUE_KIND_WAITING)
        wrong = check_closing(r);
    if (!wrong)
        wrong = refill(r);
    for (uint32_t i = 0; i < GUARD && !wrong; i++)
        if (r->memory[r->bytes + i] != POISON)
            wrong = "wrote past its memory";
    return wrong;
}

static const char *after(void *arg) {
    seconds_at_rest = 0;
    if (sigsetjmp(rescue, 0)) {
        at_rest = 0;
        return "at rest: hangs";
    }
    at_rest = 1;
    const char *wrong = check(arg);
    at_rest = 0;
    return wrong;
}

bl_explore_options prove_explore_options(const prove_limits *limits, void (*before)(void *),
                                         const char *(*after)(void *)) {
    return (bl_explore_options){.before = before,
                                .after = after,
                                .max_executions = limits->executions,
                                .preemptions = limits->preemptions,
                                .sequential = limits->sequential,
                                .mutant = limits->mutant,
                                .replay = limits->replay,
                                .table = limits->replay ? stdout : NULL};
}

bool prove_explore(const prove_client *c, const prove_limits *limits, bl_explore_result *result) {
    static run r;
    static _Alignas(BL_APART) unsigned char memory[1 << 16];
    bl_explore_options o = prove_explore_options(limits, before, after);
    r.c = c;
    r.q = &prove_queues[c->queue];
    r.more = prove_more_of(c->queue);
    r.words = r.q->by_handle ? 1 : 2;
    r.closes = 0;
    for (uint32_t i = 0; i < c->threads; i++)
        for (const char *at = c->script[i]; *at; at++)
            r.closes += *at == 'c';
    r.sequential = limits->sequential;
    r.apart = !r.sequential && prove_is_apart(c->queue);
    r.bytes = r.q->bytes((bl_shape){c->capacity, r.words, c->threads});
    r.memory = memory;
    memset(result, 0, sizeof *result);
    if (r.bytes + GUARD > sizeof memory) {
        snprintf(result->failure, sizeof result->failure, "needs %zu bytes", r.bytes);
        result->failed = true;
        return false;
    }
    o.max_steps = STEPS;
    if (!bl_explore(c->threads, body, &r, &o, result))
        return false;
    if (result->cut) {
        snprintf(result->failure, sizeof result->failure, "%llu of %llu executions do not end",
                 (unsigned long long)result->cut, (unsigned long long)(result->cut + result->executions));
        result->failed = true;
    }
    return !result->failed;
}
