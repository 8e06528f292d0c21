/* Tests the checker: histories with known answers, random ones against a search of all orders, and its speed. Every
 * order that it returns is replayed. */
#include "check.h"

#include "../src/platform/clock.h"
#include "../verify/linearize.h"
#include <ballast/parts/random.h>
#include <ballast/queues/contract.h>
#include <stdlib.h>

static lin_search *search;

/* ---- a sequential queue, written for clarity, not speed ---- */

enum { MOST = 1024 };

typedef struct model {
    const lin_spec *spec;
    uint32_t items[MOST], count; /* oldest first */
} model;

static void model_fill(model *m, const lin_spec *spec) {
    m->spec = spec;
    m->count = spec->filled;
    for (uint32_t i = 0; i < m->count; i++)
        m->items[i] = i + 1;
}

static bool model_push(model *m, uint32_t value) {
    if (m->spec->full && m->count >= m->spec->capacity)
        return false;
    m->items[m->count++] = value;
    return true;
}

static bool model_take(model *m, bool newest, uint32_t *value) {
    if (!m->count)
        return false;
    m->count--;
    *value = m->items[newest ? m->count : 0];
    if (!newest)
        memmove(m->items, m->items + 1, m->count * sizeof *m->items);
    return true;
}

/* Whether the queue answers as recorded; changes the queue only then. */
static bool model_agrees(model *m, const lin_op *op) {
    bool newest = m->spec->deque && op->kind == LIN_POP;
    switch (op->outcome) {
    case BL_QUEUE_RETRY:
        return true;
    case BL_QUEUE_EMPTY:
        return op->kind != LIN_PUSH && (!m->spec->empty || !m->count);
    case BL_QUEUE_FULL:
        return op->kind == LIN_PUSH && (!m->spec->full || m->count >= m->spec->capacity);
    default:
        break;
    }
    if (op->kind == LIN_PUSH)
        return model_push(m, op->value);
    uint32_t value;
    return m->count && m->items[newest ? m->count - 1 : 0] == op->value && model_take(m, newest, &value);
}

static bool precedes(const lin_op *a, const lin_op *b) { return a->returned < b->called; }

/* Tries all orders that respect the times. */
static bool some_order(const model *m, const lin_op *ops, uint32_t count, uint32_t left) {
    if (!left)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        bool first = left >> i & 1;
        for (uint32_t j = 0; first && j < count; j++)
            first = !(left >> j & 1) || !precedes(&ops[j], &ops[i]);
        model next;
        if (!first)
            continue;
        next.spec = m->spec;
        next.count = m->count;
        memcpy(next.items, m->items, m->count * sizeof *m->items);
        if (model_agrees(&next, &ops[i]) && some_order(&next, ops, count, left & ~(1u << i)))
            return true;
    }
    return false;
}

static bool explains(const lin_op *ops, uint32_t count, const lin_spec *spec, const uint32_t *order) {
    bool seen[LIN_OPS] = {false};
    model m;
    model_fill(&m, spec);
    for (uint32_t i = 0; i < count; i++) {
        if (order[i] >= count || seen[order[i]] || !model_agrees(&m, &ops[order[i]]))
            return false;
        seen[order[i]] = true;
        for (uint32_t j = i + 1; j < count; j++)
            if (order[j] < count && precedes(&ops[order[j]], &ops[order[i]]))
                return false;
    }
    return true;
}

/* Prints the first few operations. */
static void show(const lin_op *ops, uint32_t count, const lin_spec *spec) {
    static int shown;
    if (shown++ < 4)
        lin_print(stdout, ops, count, spec);
}

static lin_verdict verdict_of(const lin_op *ops, uint32_t count, const lin_spec *spec) {
    uint32_t order[LIN_OPS];
    lin_verdict verdict = linearize(search, ops, count, spec, order);
    if (verdict == LIN_YES && !CHECK(explains(ops, count, spec, order)))
        show(ops, count, spec);
    return verdict;
}

/* ---- histories with known answers ---- */

#define PUSH(thread, called, returned, value)                                                                          \
    { called, returned, thread, value, LIN_PUSH, BL_QUEUE_DONE }
#define POP(thread, called, returned, value)                                                                           \
    { called, returned, thread, value, LIN_POP, BL_QUEUE_DONE }
#define STEAL(thread, called, returned, value)                                                                         \
    { called, returned, thread, value, LIN_STEAL, BL_QUEUE_DONE }
#define SEES(thread, called, returned, kind, outcome)                                                                  \
    { called, returned, thread, 0, kind, outcome }

static const lin_spec fifo = {.empty = true}, loose = {.capacity = 2};
static const lin_spec pair = {.capacity = 2, .empty = true, .full = true};
static const lin_spec deque = {.deque = true, .capacity = 4, .empty = true, .full = true};
static const lin_spec filled = {.empty = true, .filled = 3}, filled_deque = {.deque = true, .empty = true, .filled = 3};

static void known(const char *name, lin_verdict right, const lin_spec *spec, const lin_op *ops, uint32_t count) {
    check_at("%s", name);
    if (!CHECK_SAME(verdict_of(ops, count, spec), right))
        show(ops, count, spec);
}

#define KNOWN(name, right, spec, ...)                                                                                  \
    do {                                                                                                               \
        static const lin_op ops[] = {__VA_ARGS__};                                                                     \
        known(name, right, &(spec), ops, sizeof ops / sizeof *ops);                                                    \
    } while (0)

static void test_fifo_order(void) {
    known("no operation", LIN_YES, &fifo, NULL, 0);
    KNOWN("in order", LIN_YES, fifo, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(1, 4, 5, 5), POP(1, 6, 7, 6));
    KNOWN("pops in the wrong order", LIN_NO, fifo, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(1, 4, 5, 6),
          POP(1, 6, 7, 5));
    KNOWN("overlapping pushes", LIN_YES, fifo, PUSH(0, 0, 3, 5), PUSH(1, 1, 2, 6), POP(1, 4, 5, 6), POP(1, 6, 7, 5));
    KNOWN("overlapping pops", LIN_YES, fifo, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(1, 4, 7, 6), POP(0, 5, 6, 5));
    KNOWN("one tick is concurrent", LIN_YES, fifo, PUSH(0, 0, 1, 5), PUSH(1, 1, 2, 6), POP(1, 3, 4, 6),
          POP(1, 5, 6, 5));
    KNOWN("one tick later is not", LIN_NO, fifo, PUSH(0, 0, 1, 5), PUSH(1, 2, 2, 6), POP(1, 3, 4, 6), POP(1, 5, 6, 5));
    KNOWN("pop overlaps its push", LIN_YES, fifo, POP(1, 0, 2, 5), PUSH(0, 1, 3, 5));
    KNOWN("pop before its push", LIN_NO, fifo, POP(1, 0, 1, 5), PUSH(0, 2, 3, 5));
    KNOWN("later push popped, first stays", LIN_NO, fifo, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(1, 4, 5, 6));
    KNOWN("steal is a pop", LIN_NO, fifo, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), STEAL(1, 4, 5, 6));
    KNOWN("order of three by way of the second", LIN_NO, fifo, PUSH(0, 0, 1, 1), PUSH(0, 2, 3, 2), PUSH(1, 0, 9, 3),
          POP(2, 4, 5, 3), POP(2, 6, 7, 2), POP(2, 8, 9, 1));
}

static void test_values(void) {
    KNOWN("never pushed", LIN_NO, fifo, PUSH(0, 0, 1, 5), POP(1, 0, 9, 7));
    KNOWN("popped twice", LIN_NO, fifo, PUSH(0, 0, 1, 5), POP(1, 0, 9, 5), POP(0, 2, 9, 5));
    KNOWN("lost", LIN_NO, fifo, PUSH(0, 0, 1, 5), SEES(1, 2, 3, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("lost, the rest found", LIN_NO, fifo, PUSH(0, 0, 1, 5), PUSH(1, 0, 1, 6), POP(0, 2, 3, 6),
          SEES(0, 4, 5, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("left in it", LIN_YES, fifo, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(1, 4, 5, 5));
    KNOWN("values 0 and 2^32 - 1", LIN_YES, fifo, PUSH(0, 0, 1, 0), PUSH(0, 2, 3, UINT32_MAX), POP(1, 4, 5, 0),
          POP(1, 6, 7, UINT32_MAX));
    KNOWN("pushed twice cannot be judged", LIN_GAVE_UP, fifo, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 5));
    KNOWN("return before call cannot be judged", LIN_GAVE_UP, fifo, PUSH(0, 3, 1, 5));
    KNOWN("FULL from a pop", LIN_NO, loose, SEES(0, 0, 1, LIN_POP, BL_QUEUE_FULL));
    KNOWN("EMPTY from a push", LIN_NO, loose, SEES(0, 0, 1, LIN_PUSH, BL_QUEUE_EMPTY));
}

static void test_empty_and_full(void) {
    KNOWN("EMPTY while the push is under way", LIN_YES, fifo, PUSH(0, 0, 3, 5), SEES(1, 1, 2, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("EMPTY after another pop", LIN_YES, fifo, PUSH(0, 0, 1, 5), SEES(1, 2, 4, LIN_POP, BL_QUEUE_EMPTY),
          POP(0, 3, 5, 5));
    KNOWN("EMPTY too early", LIN_NO, fifo, PUSH(0, 0, 1, 5), SEES(1, 2, 3, LIN_POP, BL_QUEUE_EMPTY), POP(0, 4, 5, 5));
    KNOWN("EMPTY never, one or the other is in it", LIN_NO, fifo, PUSH(0, 0, 1, 5), PUSH(1, 2, 3, 6), POP(0, 4, 5, 5),
          POP(1, 8, 9, 6), SEES(2, 2, 7, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("EMPTY not claimed", LIN_YES, loose, PUSH(0, 0, 1, 5), SEES(1, 2, 3, LIN_POP, BL_QUEUE_EMPTY),
          POP(0, 4, 5, 5));
    KNOWN("FULL", LIN_YES, pair, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), SEES(0, 4, 5, LIN_PUSH, BL_QUEUE_FULL));
    KNOWN("FULL with room", LIN_NO, pair, PUSH(0, 0, 1, 5), SEES(0, 2, 3, LIN_PUSH, BL_QUEUE_FULL), PUSH(1, 4, 5, 6));
    KNOWN("FULL by one under way", LIN_YES, pair, PUSH(0, 0, 1, 5), SEES(0, 2, 3, LIN_PUSH, BL_QUEUE_FULL),
          PUSH(1, 3, 5, 6));
    KNOWN("FULL before the pop that overlaps", LIN_YES, pair, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(1, 4, 9, 5),
          SEES(0, 5, 6, LIN_PUSH, BL_QUEUE_FULL), PUSH(0, 7, 8, 7));
    KNOWN("FULL not claimed", LIN_YES, loose, PUSH(0, 0, 1, 5), SEES(0, 2, 3, LIN_PUSH, BL_QUEUE_FULL));
    KNOWN("more than it holds", LIN_NO, pair, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), PUSH(0, 4, 5, 7), POP(1, 6, 7, 5));
    KNOWN("no bound where FULL is not claimed", LIN_YES, loose, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), PUSH(0, 4, 5, 7));
    KNOWN("lost races do not count", LIN_YES, fifo, SEES(2, 0, 9, LIN_STEAL, BL_QUEUE_RETRY), PUSH(0, 0, 1, 5),
          SEES(1, 2, 3, LIN_PUSH, BL_QUEUE_RETRY), SEES(1, 4, 5, LIN_POP, BL_QUEUE_RETRY), POP(1, 6, 7, 5));
}

/* Gottlieb, Lubachevsky and Rudolph's queue counts before it takes tickets. Thread 0 has ticket 0 and is slow to write.
 * Thread 1 fills slot 1 and returns. Thread 2 takes the one item that is counted, gets ticket 0 and waits. So thread 3
 * finds no item counted while 6 is in the queue. */
static void test_gottlieb(void) {
    KNOWN("Gottlieb's EMPTY", LIN_NO, pair, PUSH(0, 0, 10, 5), PUSH(1, 1, 2, 6), POP(2, 3, 11, 5),
          SEES(3, 4, 5, LIN_POP, BL_QUEUE_EMPTY), POP(3, 12, 13, 6));
    KNOWN("Gottlieb's EMPTY not claimed", LIN_YES, loose, PUSH(0, 0, 10, 5), PUSH(1, 1, 2, 6), POP(2, 3, 11, 5),
          SEES(3, 4, 5, LIN_POP, BL_QUEUE_EMPTY), POP(3, 12, 13, 6));
    /* The mirror image: thread 2 has the ticket of slot 0 and is slow to empty it, thread 3 empties slot 1, and a slow
     * push has already counted itself. */
    KNOWN("Gottlieb's FULL", LIN_NO, pair, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(2, 4, 20, 5), POP(3, 5, 6, 6),
          PUSH(0, 7, 21, 7), SEES(1, 8, 9, LIN_PUSH, BL_QUEUE_FULL));
}

static void test_deque(void) {
    KNOWN("owner gets the newest", LIN_YES, deque, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(0, 4, 5, 6),
          POP(0, 6, 7, 5));
    KNOWN("owner gets the oldest", LIN_NO, deque, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(0, 4, 5, 5));
    KNOWN("thief gets the oldest", LIN_YES, deque, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), STEAL(1, 4, 5, 5),
          POP(0, 6, 7, 6));
    KNOWN("thief gets the newest", LIN_NO, deque, PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), STEAL(1, 4, 5, 6));
    KNOWN("thief gets the newest after the pop", LIN_YES, deque, PUSH(0, 0, 1, 5), STEAL(1, 2, 9, 6), POP(0, 3, 4, 5),
          PUSH(0, 5, 6, 6));
    KNOWN("both get the last one", LIN_NO, deque, PUSH(0, 0, 1, 5), STEAL(1, 2, 5, 5), POP(0, 3, 4, 5));
    KNOWN("neither gets the last one", LIN_NO, deque, PUSH(0, 0, 1, 5), SEES(1, 2, 5, LIN_STEAL, BL_QUEUE_EMPTY),
          SEES(0, 3, 4, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("one gets the last one", LIN_YES, deque, PUSH(0, 0, 1, 5), SEES(1, 2, 5, LIN_STEAL, BL_QUEUE_EMPTY),
          POP(0, 3, 4, 5));
    KNOWN("thief lost the race", LIN_YES, deque, PUSH(0, 0, 1, 5), SEES(1, 2, 3, LIN_STEAL, BL_QUEUE_RETRY),
          POP(0, 4, 5, 5));
    KNOWN("pushed over what was popped", LIN_YES, deque, PUSH(0, 0, 1, 1), PUSH(0, 2, 3, 2), POP(0, 4, 5, 2),
          PUSH(0, 6, 7, 3), STEAL(1, 0, 9, 1), STEAL(1, 10, 11, 3), SEES(0, 12, 13, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("FULL deque", LIN_NO, deque, PUSH(0, 0, 1, 1), PUSH(0, 2, 3, 2), PUSH(0, 4, 5, 3), STEAL(1, 0, 9, 1),
          SEES(0, 6, 7, LIN_PUSH, BL_QUEUE_FULL));
}

static void test_filled(void) {
    KNOWN("filled, oldest first", LIN_YES, filled, POP(0, 0, 1, 1), PUSH(0, 2, 3, 9), POP(1, 4, 5, 2), POP(1, 6, 7, 3),
          POP(1, 8, 9, 9), SEES(1, 10, 11, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("filled, wrong order", LIN_NO, filled, POP(0, 0, 1, 2), POP(0, 2, 3, 1));
    KNOWN("filled, one passed over", LIN_NO, filled, POP(0, 0, 1, 1), POP(0, 2, 3, 3));
    KNOWN("filled, passed by a push", LIN_NO, filled, PUSH(0, 0, 1, 9), POP(0, 2, 3, 9));
    KNOWN("filled is not EMPTY", LIN_NO, filled, POP(0, 0, 1, 1), SEES(1, 0, 1, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("filled value pushed again", LIN_GAVE_UP, filled, PUSH(0, 0, 1, 3));
    KNOWN("filled deque from both ends", LIN_YES, filled_deque, POP(0, 0, 1, 3), STEAL(1, 0, 1, 1), PUSH(0, 2, 3, 9),
          STEAL(1, 4, 5, 2), STEAL(1, 6, 7, 9), SEES(0, 8, 9, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("filled deque, the middle", LIN_NO, filled_deque, POP(0, 0, 1, 2));
    const lin_spec brim = {.capacity = 1000, .full = true, .empty = true, .filled = 1000};
    KNOWN("filled to the brim", LIN_YES, brim, SEES(0, 0, 1, LIN_PUSH, BL_QUEUE_FULL), POP(0, 2, 3, 1),
          PUSH(0, 4, 5, 1001), SEES(0, 6, 7, LIN_PUSH, BL_QUEUE_FULL));
    KNOWN("not quite the brim", LIN_NO, brim, POP(0, 2, 3, 1), SEES(0, 4, 5, LIN_PUSH, BL_QUEUE_FULL));
}

/* A greedy choice is wrong here: all pushes overlap, and FULL, EMPTY and the pops decide their order. */
static void test_backtracking(void) {
    KNOWN("EMPTY between overlapping pushes", LIN_YES, fifo, PUSH(0, 0, 10, 1), PUSH(1, 0, 11, 2), PUSH(2, 0, 12, 3),
          POP(3, 1, 2, 2), SEES(3, 3, 4, LIN_POP, BL_QUEUE_EMPTY), POP(3, 5, 6, 3),
          SEES(3, 7, 8, LIN_POP, BL_QUEUE_EMPTY));
    KNOWN("pops out of the order of return", LIN_YES, fifo, PUSH(0, 0, 10, 1), PUSH(1, 0, 11, 2), PUSH(2, 0, 12, 3),
          POP(3, 13, 20, 3), POP(4, 14, 15, 2), POP(4, 16, 17, 1));
    KNOWN("FULL between two pops that overlap all", LIN_YES, pair, PUSH(0, 0, 1, 1), PUSH(0, 2, 3, 2), POP(1, 4, 30, 1),
          POP(2, 4, 31, 2), SEES(0, 5, 6, LIN_PUSH, BL_QUEUE_FULL), PUSH(0, 7, 8, 3),
          SEES(0, 9, 10, LIN_PUSH, BL_QUEUE_FULL), PUSH(0, 11, 12, 4), SEES(0, 13, 14, LIN_PUSH, BL_QUEUE_FULL));
    KNOWN("one FULL too many", LIN_NO, pair, PUSH(0, 0, 1, 1), PUSH(0, 2, 3, 2), POP(1, 4, 30, 1),
          SEES(0, 5, 6, LIN_PUSH, BL_QUEUE_FULL), PUSH(0, 7, 8, 3), POP(0, 31, 32, 2),
          SEES(0, 33, 34, LIN_PUSH, BL_QUEUE_FULL));
    KNOWN("stack of pushes that overlap", LIN_YES, deque, PUSH(0, 0, 9, 1), PUSH(1, 0, 8, 2), PUSH(2, 0, 7, 3),
          POP(3, 10, 11, 2), POP(3, 12, 13, 1), STEAL(3, 14, 15, 3));
    KNOWN("the same done, other contents", LIN_YES, deque, PUSH(0, 0, 8, 1), PUSH(1, 0, 7, 2), PUSH(0, 10, 18, 3),
          PUSH(1, 10, 17, 4), POP(2, 20, 21, 4), POP(2, 22, 23, 3), POP(2, 24, 25, 2), POP(2, 26, 27, 1));
}

/* ---- the largest ---- */

static void test_sixty_four(void) {
    lin_op ops[LIN_OPS + 1];
    uint32_t half = LIN_OPS / 2;
    for (uint32_t i = 0; i < half; i++) { /* all pushes overlap, then pops follow one another, in reverse */
        ops[i] = (lin_op)PUSH(i, 0, 100, i + 1);
        ops[half + i] = (lin_op)POP(0, 200 + 2 * i, 201 + 2 * i, half - i);
    }
    ops[LIN_OPS] = ops[0];
    known("64 operations", LIN_YES, &fifo, ops, LIN_OPS);
    known("65 operations", LIN_GAVE_UP, &fifo, ops, LIN_OPS + 1);
    ops[1].called = ops[0].returned = 50; /* 1 and 2 in this order or at once: both are fine */
    known("64 operations, two at one tick", LIN_YES, &fifo, ops, LIN_OPS);
    ops[1].called++;
    known("64 operations, two in the wrong order", LIN_NO, &fifo, ops, LIN_OPS);
    ops[LIN_OPS - 1] = (lin_op)SEES(0, 300, 301, LIN_POP, BL_QUEUE_EMPTY);
    known("64 operations, the last finds nothing", LIN_NO, &fifo, ops, LIN_OPS);
    for (uint32_t i = 0; i < LIN_OPS; i++)
        ops[i] = (lin_op)PUSH(i, 0, 100, i + 1);
    known("64 pushes at once", LIN_YES, &fifo, ops, LIN_OPS);
}

/* Everything overlaps, and one FULL is impossible: more states than the memo can hold. The next history is judged as
 * usual. */
static void test_gives_up(void) {
    const lin_spec large = {.capacity = 64, .empty = true, .full = true};
    lin_op ops[LIN_OPS];
    for (uint32_t i = 0; i < 10; i++) {
        ops[2 * i] = (lin_op)PUSH(i, 0, 100, i + 1);
        ops[2 * i + 1] = (lin_op)POP(i, 0, 100, i + 1);
    }
    ops[20] = (lin_op)SEES(20, 0, 100, LIN_PUSH, BL_QUEUE_FULL);
    known("too many states", LIN_GAVE_UP, &large, ops, 21);
    known("not so many", LIN_NO, &large, ops + 12, 9);
    for (uint32_t i = 0; i < 40; i++)
        ops[i] = (lin_op)PUSH(i, 0, 100, i + 1);
    ops[40] = (lin_op)SEES(20, 0, 100, LIN_PUSH, BL_QUEUE_FULL);
    known("alike", LIN_NO, &large, ops, 41);
    test_backtracking();
}

/* ---- random histories ---- */

static uint64_t seed = 1;

static uint32_t random_below(uint32_t n) { return (uint32_t)(((bl__random64(&seed) >> 32) * n) >> 32); }

typedef struct run {
    lin_op ops[LIN_OPS];
    uint32_t count;
} run;

/* The queue's answer at the moment when the operation takes effect. */
static void take_effect(model *m, lin_op *op) {
    bool done = op->kind == LIN_PUSH ? model_push(m, op->value)
                                     : model_take(m, m->spec->deque && op->kind == LIN_POP, &op->value);
    op->outcome = done ? BL_QUEUE_DONE : op->kind == LIN_PUSH ? BL_QUEUE_FULL : BL_QUEUE_EMPTY;
}

static void call(lin_op *op, const lin_spec *spec, uint32_t thread, uint64_t now, uint32_t value) {
    bool owner = !spec->deque || thread == 0;
    uint32_t kind = !owner                           ? LIN_STEAL
                    : random_below(2)                ? LIN_PUSH
                    : spec->deque || random_below(2) ? LIN_POP
                                                     : LIN_STEAL;
    *op = (lin_op){.called = now, .thread = thread, .kind = kind, .value = kind == LIN_PUSH ? value : 0};
}

/* Threads call, take effect and return, one random thread at a time; several steps may share a tick. */
static void make_run(run *r, const lin_spec *spec, uint32_t threads, uint32_t count) {
    uint32_t current[LIN_OPS], phase[LIN_OPS] = {0}, out = 0;
    uint64_t now = 0;
    model m;
    model_fill(&m, spec);
    for (r->count = 0; r->count < count || out;) {
        uint32_t t = random_below(threads);
        lin_op *op = phase[t] ? &r->ops[current[t]] : NULL;
        now += random_below(4) != 0;
        if (!op && r->count == count)
            continue;
        if (!op) {
            current[t] = r->count;
            call(&r->ops[r->count], spec, t, now, 1000 + r->count);
            r->count++;
            out++;
        } else if (phase[t] == 1) {
            take_effect(&m, op);
        } else {
            op->returned = now;
            out--;
        }
        phase[t] = (phase[t] + 1) % 3;
    }
}

/* Makes most histories wrong, but not all. */
static void spoil(run *r) {
    lin_op *a = &r->ops[random_below(r->count)], *b = &r->ops[random_below(r->count)];
    bool pops = a->kind != LIN_PUSH && b->kind != LIN_PUSH;
    switch (random_below(4)) {
    case 0: /* two pops swap their answers */
        if (pops) {
            uint32_t value = a->value, outcome = a->outcome;
            a->value = b->value;
            a->outcome = b->outcome;
            b->value = value;
            b->outcome = outcome;
        }
        break;
    case 1: /* a false answer */
        a->outcome = random_below(4) == 0 ? BL_QUEUE_RETRY : a->kind == LIN_PUSH ? BL_QUEUE_FULL : BL_QUEUE_EMPTY;
        break;
    case 2: /* returned sooner */
        a->returned = a->called + random_below((uint32_t)(a->returned - a->called) + 1);
        break;
    default: /* called later */
        a->called = a->returned - random_below((uint32_t)(a->returned - a->called) + 1);
    }
}

static lin_spec random_spec(void) {
    lin_spec spec = {.deque = random_below(2), .capacity = 1 + random_below(3), .empty = random_below(4) != 0};
    spec.full = random_below(2);
    spec.filled = random_below(3) ? 0 : random_below(spec.capacity + 1);
    return spec;
}

/* Arbitrary operations at arbitrary times, without a queue. Takes get items that were pushed or filled in, mostly each
 * once. */
static void make_any(run *r, const lin_spec *spec, uint32_t count) {
    uint32_t values[2 * LIN_OPS], available = 0, long_ones = 1 + random_below(20);
    for (; available < spec->filled; available++)
        values[available] = available + 1;
    for (r->count = 0; r->count < count; r->count++) {
        lin_op *op = &r->ops[r->count];
        uint32_t value = 1000 + r->count, pick;
        *op = (lin_op){.called = random_below(12), .thread = r->count, .value = value, .kind = LIN_PUSH};
        op->returned = op->called + random_below(long_ones);
        if (available && random_below(2)) {
            pick = random_below(available);
            op->kind = random_below(2) ? LIN_POP : LIN_STEAL;
            op->value = values[pick];
            values[pick] = values[random_below(16) ? --available : pick];
        } else if (!random_below(3)) {
            op->kind = random_below(2) ? LIN_POP : LIN_PUSH;
            op->outcome = random_below(8) == 0 ? BL_QUEUE_RETRY : op->kind == LIN_PUSH ? BL_QUEUE_FULL : BL_QUEUE_EMPTY;
        } else {
            values[available++] = value;
        }
    }
}

static void make_spoiled(run *r, const lin_spec *spec, uint32_t threads, uint32_t count) {
    make_run(r, spec, threads, count);
    if (!random_below(4))
        return;
    for (uint32_t i = random_below(6); i < 6; i++)
        spoil(r);
}

static void one_against_all_orders(uint32_t threads, uint32_t count, uint32_t *verdicts) {
    lin_spec spec = random_spec();
    run r;
    model m;
    if (threads)
        make_spoiled(&r, &spec, threads, count);
    else
        make_any(&r, &spec, count);
    model_fill(&m, &spec);
    bool right = some_order(&m, r.ops, r.count, (1u << r.count) - 1);
    lin_verdict verdict = verdict_of(r.ops, r.count, &spec);
    if (!CHECK_SAME(verdict, right ? LIN_YES : LIN_NO))
        show(r.ops, r.count, &spec);
    verdicts[verdict]++;
}

/* Arbitrary operations at arbitrary times, without threads. */
static void test_against_all_orders(const char *name, uint32_t runs, uint32_t threads, uint32_t least, uint32_t most) {
    uint32_t verdicts[3] = {0};
    for (uint32_t i = 0; i < runs; i++) {
        check_at("%s, history %u", name, (unsigned)i);
        one_against_all_orders(threads ? 1 + random_below(threads) : 0, least + random_below(most - least + 1),
                               verdicts);
    }
    printf("%-34s %6u linearizable, %6u not\n", name, (unsigned)verdicts[LIN_YES], (unsigned)verdicts[LIN_NO]);
    CHECK(verdicts[LIN_YES] > runs / 8 && verdicts[LIN_NO] > runs / 8 && !verdicts[LIN_GAVE_UP]);
}

/* ---- what is printed ---- */

static char *printed(const lin_op *ops, uint32_t count, const lin_spec *spec) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        exit(check_end());
    lin_print(out, ops, count, spec);
    fclose(out);
    return text;
}

static void prints(const char *name, const char *part, const lin_spec *spec, const lin_op *ops, uint32_t count) {
    char *text = printed(ops, count, spec);
    check_at("%s", name);
    if (!CHECK(strstr(text, part) != NULL))
        printf("%s", text);
    free(text);
}

#define PRINTS(name, part, spec, ...)                                                                                  \
    do {                                                                                                               \
        static const lin_op ops[] = {__VA_ARGS__};                                                                     \
        prints(name, part, &(spec), ops, sizeof ops / sizeof *ops);                                                    \
    } while (0)

static void test_print(void) {
    static const lin_op gottlieb[] = {PUSH(0, 0, 10, 5), PUSH(1, 1, 2, 6), POP(2, 3, 11, 5),
                                      SEES(3, 4, 5, LIN_POP, BL_QUEUE_EMPTY), SEES(1, 6, 7, LIN_STEAL, BL_QUEUE_RETRY)};
    lin_print(stdout, gottlieb, 5, &pair);
    prints("bars", "pop -> EMPTY                 [--]\n", &pair, gottlieb, 5);
    prints("not counted", "steal -> RETRY                   (..)\n", &pair, gottlieb, 5);
    prints("stuck", "and cannot be next: pop -> EMPTY (#3)", &pair, gottlieb, 5);
    PRINTS("never pushed", "pop -> 7 (#0): a value that was never pushed", fifo, POP(0, 0, 1, 7));
    PRINTS("taken twice", "pop -> 7 (#2): a value that was taken before", fifo, PUSH(0, 0, 1, 7), POP(0, 0, 1, 7),
           POP(0, 0, 1, 7));
    PRINTS("filled, taken twice", "pop -> 2 (#1): a value that was taken before", filled, POP(0, 0, 1, 2),
           POP(0, 0, 1, 2));
    PRINTS("wrong order", "leaves in it, oldest first: 5 6\n  and cannot be next: pop -> 6 (#2)\n", fifo,
           PUSH(0, 0, 1, 5), PUSH(0, 2, 3, 6), POP(1, 4, 5, 6));
    PRINTS("explained", "push 5 (#1), pop -> 5 (#0)", fifo, POP(0, 0, 2, 5), PUSH(0, 1, 3, 5));
    PRINTS("longest text", "push 4294967295 -> RETRY", fifo, {0, 1, 9, UINT32_MAX, LIN_PUSH, BL_QUEUE_RETRY});
    prints("nothing", "0 operations", &fifo, NULL, 0);
    run r;
    make_run(&r, &fifo, 1, LIN_OPS); /* a column for each thread */
    prints("64 operations", "#63", &fifo, r.ops, r.count);
}

/* ---- speed ---- */

enum { SAMPLES = 2048 };

static void speed_of(const char *name, const lin_spec *spec, uint32_t threads, uint32_t count, bool spoiled) {
    run *runs = malloc(SAMPLES * sizeof *runs);
    uint32_t order[LIN_OPS], verdicts[3] = {0};
    if (!runs)
        exit(check_end());
    for (uint32_t i = 0; i < SAMPLES; i++) {
        make_run(&runs[i], spec, threads, count);
        if (spoiled)
            spoil(&runs[i]);
    }
    double begin = bl__now(), took, slowest = 0;
    uint64_t judged = 0;
    do {
        for (uint32_t i = 0; i < SAMPLES; i++, judged++)
            verdicts[linearize(search, runs[i].ops, count, spec, order)]++;
        took = bl__now() - begin;
    } while (took < 0.3);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double from = bl__now();
        (void)linearize(search, runs[i].ops, count, spec, order);
        slowest = bl__now() - from > slowest ? bl__now() - from : slowest;
    }
    printf("%-34s %8.0f histories/s, %3.0f %% linearizable, slowest %.0f us\n", name, (double)judged / took,
           100.0 * verdicts[LIN_YES] / (double)judged, slowest * 1e6);
    CHECK(!verdicts[LIN_GAVE_UP] && (spoiled || !verdicts[LIN_NO]));
    free(runs);
}

static void test_speed(void) {
    const lin_spec ring = {.capacity = 4, .empty = true, .full = true};
    check_at("speed");
    speed_of("FIFO, 4 x 8", &fifo, 4, 32, false);
    speed_of("FIFO with FULL, 4 x 8", &ring, 4, 32, false);
    speed_of("deque, 4 x 8", &deque, 4, 32, false);
    speed_of("FIFO, 4 x 8, spoiled", &fifo, 4, 32, true);
    speed_of("FIFO with FULL, 4 x 8, spoiled", &ring, 4, 32, true);
    speed_of("deque, 4 x 8, spoiled", &deque, 4, 32, true);
    speed_of("FIFO with FULL, 8 x 8", &ring, 8, 64, false);
    speed_of("FIFO with FULL, 8 x 8, spoiled", &ring, 8, 64, true);
}

int main(void) {
    check_limit(300);
    search = lin_open();
    if (!CHECK(search != NULL))
        return check_end();
    test_fifo_order();
    test_values();
    test_empty_and_full();
    test_gottlieb();
    test_deque();
    test_filled();
    test_backtracking();
    test_sixty_four();
    test_gives_up();
    test_against_all_orders("all orders, up to 7 at once", 40000 / CHECK_SLOWER, 7, 1, 7);
    test_against_all_orders("all orders, up to 14 by 4 threads", 20000 / CHECK_SLOWER, 4, 8, 14);
    test_against_all_orders("all orders, any 3 to 7", 100000 / CHECK_SLOWER, 0, 3, 7);
    test_against_all_orders("all orders, any 8 to 10", 10000 / CHECK_SLOWER, 0, 8, 10);
    test_print();
    test_speed();
    lin_close(search);
    return check_end();
}
