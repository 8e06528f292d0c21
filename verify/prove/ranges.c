/* The ranges (queues/the_range.h, queues/packed_range.h): every small script of an owner against one and two thieves.
 *
 * A client is a range of `span` indices starting at `base`. The owner's letters: 1, 2 pop that many; e adds the index
 * before; S pops the rest and sets two new ones. A thief's: s steals half, h only if two are left. Before it offers an
 * index, the owner writes plain data for it, which the taker reads. After each execution, every index must have been
 * taken as often as it was offered, and some order of all calls must explain what each of them returned. */
#include "prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWNER = 3, OPS = 16, INDICES = 16, FAR = 8, POISON = 0xa5 };

#define RANGE_MEMBER(r) r r##_view;
typedef union range_view {
    BL_RANGES(RANGE_MEMBER)
} range_view;
#undef RANGE_MEMBER

typedef struct range {
    const char *name;
    size_t (*bytes)(void);
    void (*open)(range_view *v, void *memory, bool first);
    void (*set)(range_view *v, uint32_t begin, uint32_t end);
    bl_outcome (*pop)(range_view *v, uint32_t n, uint32_t *from, uint32_t *to);
    bl_outcome (*steal)(range_view *v, uint32_t least, uint32_t *from, uint32_t *to);
    bl_outcome (*extend)(range_view *v, uint32_t n);
    uint32_t (*begin)(const range_view *v), (*size)(const range_view *v);
} range;

#define RANGE_FUNCTIONS(r)                                                                                             \
    static void open_##r(range_view *v, void *memory, bool first) {                                                    \
        r##_bind(&v->r##_view, memory);                                                                                \
        if (first)                                                                                                     \
            r##_init(&v->r##_view, 0, 1);                                                                              \
    }                                                                                                                  \
    static void set_##r(range_view *v, uint32_t begin, uint32_t end) { r##_set(&v->r##_view, begin, end); }            \
    static bl_outcome pop_##r(range_view *v, uint32_t n, uint32_t *from, uint32_t *to) {                               \
        return r##_pop(&v->r##_view, n, from, to);                                                                     \
    }                                                                                                                  \
    static bl_outcome steal_##r(range_view *v, uint32_t least, uint32_t *from, uint32_t *to) {                         \
        return r##_steal(&v->r##_view, least, from, to);                                                               \
    }                                                                                                                  \
    static bl_outcome extend_##r(range_view *v, uint32_t n) { return r##_extend(&v->r##_view, n); }                    \
    static uint32_t begin_##r(const range_view *v) { return r##_begin(&v->r##_view); }                                 \
    static uint32_t size_##r(const range_view *v) { return r##_size(&v->r##_view); }
#define RANGE_ROW(r)                                                                                                   \
    {BL_QUEUE_NAME(r), r##_bytes, open_##r, set_##r, pop_##r, steal_##r, extend_##r, begin_##r, size_##r},
BL_RANGES(RANGE_FUNCTIONS)
static const range ranges[] = {BL_RANGES(RANGE_ROW)};
#undef RANGE_FUNCTIONS
#undef RANGE_ROW
enum { RANGES = sizeof ranges / sizeof ranges[0] };

typedef struct client {
    uint32_t range, base, span, threads;
    char script[PROVE_THREADS][OWNER + 1];
} client;

typedef struct op {
    char call; /* p pop, s steal, e extend, S set */
    uint8_t outcome, thread;
    uint32_t amount, from, to; /* amount: n, least */
    bl_moment called, returned;
} op;

typedef struct run {
    client c;
    const range *r;
    range_view view[PROVE_THREADS];
    uint32_t next; /* the first index that was never offered */
    uint32_t count[PROVE_THREADS];
    op ops[PROVE_THREADS][OPS];
    uint32_t behind[INDICES], offers[INDICES], taken[INDICES]; /* by index - base, from 1: room for extend */
    _Alignas(BL_LINE) unsigned char memory[4 * BL_LINE];
} run;

/* ---- calls ---- */

static uint32_t place(const run *r, uint32_t index) { return index - r->c.base + 1; }

static op *call(run *r, uint32_t thread, char what, uint32_t amount) {
    op *o = &r->ops[thread][r->count[thread]++];
    memset(o, 0, sizeof *o);
    o->call = what;
    o->thread = (uint8_t)thread;
    o->amount = amount;
    bl_explore_now(&o->called);
    return o;
}

static void returned(op *o, bl_outcome outcome) {
    o->outcome = (uint8_t)outcome;
    bl_explore_now(&o->returned);
}

static void offer(run *r, uint32_t index) {
    uint32_t value = 1000 + index;
    r->offers[place(r, index)]++;
    bl_data_write(&r->behind[place(r, index)], &value, 1);
}

static void use(run *r, const op *o) {
    for (uint32_t i = o->from; o->outcome == BL_QUEUE_DONE && i != o->to; i++) {
        uint32_t value, at = place(r, i);
        if (at >= INDICES || r->taken[at] == r->offers[at])
            bl_explore_fail("index %u is taken and was not offered", i);
        r->taken[at]++;
        bl_data_read(&value, &r->behind[at], 1);
        if (value != 1000 + i)
            bl_explore_fail("what stands behind index %u is not seen", i);
    }
}

static bool pop(run *r, uint32_t n) {
    op *o = call(r, 0, 'p', n);
    returned(o, r->r->pop(&r->view[0], n, &o->from, &o->to));
    use(r, o);
    return o->outcome == BL_QUEUE_DONE;
}

static void steal(run *r, uint32_t thread, uint32_t least) {
    op *o = call(r, thread, 's', least);
    returned(o, r->r->steal(&r->view[thread], least, &o->from, &o->to));
    use(r, o);
}

static void set(run *r, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i != to; i++)
        offer(r, i);
    op *o = call(r, 0, 'S', 0);
    o->from = from;
    o->to = to;
    r->r->set(&r->view[0], from, to);
    returned(o, BL_QUEUE_DONE);
}

/* Only if the owner itself took that index: a thief may still be using one that it took. */
static void extend(run *r) {
    uint32_t begin = r->r->begin(&r->view[0]), at = place(r, begin);
    if (begin && at && at - 1 < INDICES && r->taken[at - 1] == r->offers[at - 1])
        offer(r, begin - 1);
    else if (begin)
        return;
    op *o = call(r, 0, 'e', 1);
    o->from = begin - 1;
    returned(o, r->r->extend(&r->view[0], 1));
}

static void body(void *arg, uint32_t thread, uint32_t lane) {
    run *r = arg;
    (void)lane;
    for (const char *at = r->c.script[thread]; *at; at++) {
        if (*at == '1' || *at == '2')
            pop(r, *at == '1' ? 1 : 2);
        else if (*at == 'e')
            extend(r);
        else if (*at == 's' || *at == 'h')
            steal(r, thread, *at == 's' ? 1 : 2);
        else if (*at == 'S') {
            while (pop(r, 2))
                ;
            set(r, r->next, r->next + 2);
            r->next += 2;
        }
    }
}

static void before(void *arg) {
    run *r = arg;
    memset(r->memory, POISON, sizeof r->memory);
    memset(r->behind, POISON, sizeof r->behind);
    memset(r->offers, 0, sizeof r->offers);
    memset(r->taken, 0, sizeof r->taken);
    memset(r->count, 0, sizeof r->count);
    r->next = r->c.base + FAR;
    for (uint32_t i = 0; i < r->c.threads; i++)
        r->r->open(&r->view[i], r->memory, i == 0);
    r->r->set(&r->view[0], r->c.base, r->c.base + r->c.span);
    for (uint32_t i = r->c.base; i != r->c.base + r->c.span; i++) {
        r->behind[place(r, i)] = 1000 + i;
        r->offers[place(r, i)] = 1;
    }
}

/* ---- some order of all calls ---- */

typedef struct search {
    const op *ops[OPS * 2];
    uint32_t before[OPS * 2], count, begin, end;
} search;

static bool fits(const search *s, const op *o, uint32_t *begin, uint32_t *end) {
    uint32_t left = s->end - s->begin;
    *begin = s->begin;
    *end = s->end;
    switch (o->call) {
    case 'p':
        *begin = o->to;
        return o->outcome == BL_QUEUE_EMPTY
                   ? (*begin = s->begin, left == 0)
                   : o->from == s->begin && o->to - o->from - 1 < o->amount && o->to - o->from <= left;
    case 's':
        if (o->outcome == BL_QUEUE_EMPTY)
            return left < o->amount || left == 0;
        *end = o->from;
        return left && left >= o->amount && o->to == s->end && o->from == s->begin + left / 2;
    case 'e':
        *begin = o->outcome == BL_QUEUE_DONE ? o->from : s->begin;
        return o->outcome == BL_QUEUE_DONE ? o->from == s->begin - 1 : s->begin == 0;
    default:
        *begin = o->from;
        *end = o->to;
        return left == 0;
    }
}

static bool explained(search *s, uint32_t done) {
    if (done == (1u << s->count) - 1)
        return true;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t begin, end, old_begin = s->begin, old_end = s->end;
        if (done >> i & 1 || s->before[i] & ~done || !fits(s, s->ops[i], &begin, &end))
            continue;
        s->begin = begin;
        s->end = end;
        if (explained(s, done | 1u << i))
            return true;
        s->begin = old_begin;
        s->end = old_end;
    }
    return false;
}

static bool is_before(const op *a, const op *b) {
    return a->thread == b->thread ? a < b : bl_happened_before(&a->returned, &b->called);
}

static bool linearizable(const run *r) {
    search s = {.begin = r->c.base, .end = r->c.base + r->c.span};
    for (uint32_t thread = 0; thread < r->c.threads; thread++)
        for (uint32_t i = 0; i < r->count[thread]; i++)
            if (r->ops[thread][i].outcome != BL_QUEUE_RETRY)
                s.ops[s.count++] = &r->ops[thread][i];
    for (uint32_t i = 0; i < s.count; i++)
        for (uint32_t k = 0; k < s.count; k++)
            if (k != i && is_before(s.ops[k], s.ops[i]))
                s.before[i] |= 1u << k;
    return explained(&s, 0);
}

static const char *after(void *arg) {
    run *r = arg;
    uint32_t from, to, left = 0;
    for (uint32_t i = 0; i < INDICES; i++)
        left += r->offers[i] - r->taken[i];
    if (r->r->size(&r->view[0]) != left)
        return "at rest: the size is wrong";
    while (r->r->pop(&r->view[0], 2, &from, &to) == BL_QUEUE_DONE)
        for (uint32_t i = from; i != to; i++)
            if (place(r, i) >= INDICES || r->taken[place(r, i)]++ == r->offers[place(r, i)])
                return "at rest: an index is left that was taken";
    if (memcmp(r->taken, r->offers, sizeof r->taken))
        return "an index is lost";
    return linearizable(r) ? NULL : "not linearizable";
}

/* ---- the clients ---- */

static const char *const owners[] = {"1",   "2",   "e",   "S",   "11",  "12",  "21",  "22", "1e",
                                     "2e",  "e1",  "e2",  "1S",  "2S",  "S1",  "S2",  "SS", "Se",
                                     "1e1", "111", "1e2", "2e1", "11e", "1ee", "121", "e1e"};
static const char *const thieves[][2] = {{"s", ""}, {"ss", ""}, {"h", ""}, {"s", "s"}, {"sh", "s"}};
enum { BASES = 3, SPANS = 4 };
enum { OWNERS = sizeof owners / sizeof owners[0], THIEVES = sizeof thieves / sizeof thieves[0] };

static uint32_t count(void) { return RANGES * OWNERS * THIEVES * BASES * SPANS; }

/* Bases: 0, where nothing can be added; 1; and the last valid indices. */
static client client_at(uint32_t i) {
    client c = {.span = 1 + i % SPANS, .base = i / SPANS % BASES};
    const char *const *thief = thieves[i / SPANS / BASES % THIEVES];
    c.base = c.base == 2 ? UINT32_MAX - FAR - 4 : c.base;
    c.range = i / SPANS / BASES / THIEVES / OWNERS;
    c.threads = thief[1][0] ? 3 : 2;
    strcpy(c.script[0], owners[i / SPANS / BASES / THIEVES % OWNERS]);
    strcpy(c.script[1], thief[0]);
    strcpy(c.script[2], thief[1]);
    return c;
}

static void text(uint32_t i, char text[PROVE_TEXT]) {
    client c = client_at(i);
    snprintf(text, PROVE_TEXT, "%s %u %u %s|%s%s%s", ranges[c.range].name, c.base, c.span, c.script[0], c.script[1],
             c.threads > 2 ? "|" : "", c.script[2]);
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static run r;
    bl_explore_options o = prove_explore_options(limits, before, after);
    r.c = client_at(i);
    r.r = &ranges[r.c.range];
    memset(result, 0, sizeof *result);
    if (r.r->bytes() > sizeof r.memory) {
        snprintf(result->failure, sizeof result->failure, "needs %zu bytes", r.r->bytes());
        result->failed = true;
        return false;
    }
    return bl_explore(r.c.threads, body, &r, &o, result);
}

const prove_family prove_ranges = {"ranges", count, text, explore};
