/* How the lanes of a warp move entries, and the numbers of free join records, together: the library's own code, for
 * workers of four lanes (schedulers/own_queue.inc.h with steal_many, central.inc.h with the Broker Queue,
 * runtime/joins.h).
 *
 * Each warp follows a script. 1, 2: publishes so many entries, or gets so many records; f: fetches, or returns its
 * records. Lane 0 works on the queue's counters, and all lanes copy. So what one lane has acquired the others must be
 * allowed to use, and what they have written must be seen with what lane 0 then shows. An entry is {n, n + 1}: whoever
 * gets one gets both words, each entry is taken once at most, and those that were not are in a queue. A record is in
 * one place. */
#include "prove.h"

#include <ballast/parts/worker.h>
#include <ballast/queues/broker.h>
#include <ballast/queues/steal_many.h>
#include <ballast/runtime/joins.h>

#include <stdio.h>
#include <string.h>

#define BL__PAPER 0 /* no paper's name */
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)

/* Lanes without a victim exchange it, too; nobody uses what they say. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define BL__NAME(x) BL_CAT(deques_, x)
#define BL_QUEUE bl_steal_many
#include <ballast/schedulers/steal.inc.h>
#undef BL__NAME
#undef BL_QUEUE
#undef BL__ENDS_ALONE
#undef BL__EMPTY_WHEN_IDLE
#undef BL__CLAIM_LEAVES

#define BL__NAME(x) BL_CAT(shared_, x)
#define BL_QUEUE bl_broker
#include <ballast/schedulers/central.inc.h>
#undef BL__NAME
#undef BL_QUEUE

enum { WARPS = 3, LANES = 4, WORDS = 2, CAPACITY = 2, STACK = 8, CALLS = 4, ENTRIES = WARPS * 2 * CALLS };

typedef enum kind { DEQUES, CENTRAL, RECORDS } kind;
static const char *const kind_names[] = {"steal:steal_many", "central:broker", "records"};

typedef struct private_stack {
    bl__stack head;
    uint32_t slots[(STACK + 1) * WORDS + 64];
} private_stack;

typedef struct protocol {
    uint32_t warps;
    kind kind;
    const char *scripts[WARPS];
    bl__run run;
    bl__control control;
    bl__tally tally[WARPS];
    private_stack stacks[WARPS];
    uint64_t queues[WARPS][512];
    uint32_t published[WARPS]; /* entries that the warp has made */
    uint32_t taken[ENTRIES];   /* entries; records: those that a warp has */
    uint32_t spare[WARPS][BL__SPARE_WORDS_OF(BL_WARP)];
} protocol;

/* ---- entries ---- */

static uint32_t publish(protocol *p, bl__worker *w, uint32_t n) {
    return p->kind == CENTRAL ? shared_publish(w, n) : deques_publish(w, n);
}
static uint32_t fetch(protocol *p, bl__worker *w) { return p->kind == CENTRAL ? shared_fetch(w) : deques_fetch(w); }

/* n new entries; what the queue has no room for is made again. */
static void give(protocol *p, bl__worker *w, uint32_t n) {
    bl__stack *s = w->stack;
    for (uint32_t i = 0; w->lane == 0 && i < n; i++) {
        const uint32_t number = w->id * 2 * CALLS + p->published[w->id] + i;
        uint32_t *slot = bl__stack_slot(s, WORDS, s->top + i);
        slot[0] = number;
        slot[1] = number + 1;
    }
    bl_warp_sync();
    if (w->lane == 0)
        s->top += n;
    bl_warp_sync();
    const uint32_t went = publish(p, w, n);
    if (w->lane == 0) {
        p->published[w->id] += went;
        s->bottom = s->top;
    }
    bl_warp_sync();
}

static void take(protocol *p, bl__worker *w) {
    bl__stack *s = w->stack;
    fetch(p, w);
    for (uint32_t i = s->bottom; w->lane == 0 && i != s->top; i++) {
        const uint32_t *slot = bl__stack_slot(s, WORDS, i);
        if (slot[0] >= ENTRIES || slot[1] != slot[0] + 1)
            bl_explore_fail("an entry that nobody has published");
        bl_fetch_add32_relaxed(&p->taken[slot[0]], 1);
    }
    bl_warp_sync();
    if (w->lane == 0)
        s->bottom = s->top;
    bl_warp_sync();
}

/* ---- free records ---- */

static void get_records(protocol *p, uint32_t warp, uint32_t lane, uint32_t n) {
    uint32_t *spare = p->spare[warp];
    const uint32_t had = spare[0];
    bl_warp_sync();
    bl__spare_refill(&p->run, lane, spare, n, n);
    for (uint32_t i = had + 1; lane == 0 && i <= spare[0]; i++)
        if (spare[i] >= CAPACITY || bl_fetch_add32_relaxed(&p->taken[spare[i]], 1))
            bl_explore_fail("a number that another warp has, or nobody");
    bl_warp_sync();
}

static void give_records(protocol *p, uint32_t warp, uint32_t lane) {
    uint32_t *spare = p->spare[warp];
    for (uint32_t i = 1; lane == 0 && i <= spare[0]; i++)
        bl_fetch_add32_relaxed(&p->taken[spare[i]], (uint32_t)-1);
    bl_warp_sync();
    bl__spare_trim(&p->run, lane, spare, 0);
}

/* ---- an execution ---- */

static void body_of_records(protocol *p, uint32_t warp, uint32_t lane) {
    for (const char *call = p->scripts[warp]; *call; call++)
        if (*call == 'f')
            give_records(p, warp, lane);
        else
            get_records(p, warp, lane, (uint32_t)(*call - '0'));
}

static void body(void *arg, uint32_t warp, uint32_t lane) {
    protocol *p = arg;
    if (p->kind == RECORDS) {
        body_of_records(p, warp, lane);
        return;
    }
    bl__worker w = bl__worker_start(&p->run, &p->stacks[warp].head, warp, lane, warp, BL_WARP, WORDS);
    for (const char *call = p->scripts[warp]; *call; call++)
        if (*call == 'f')
            take(p, &w);
        else
            give(p, &w, (uint32_t)(*call - '0'));
}

static void before(void *arg) {
    protocol *p = arg;
    const uint32_t queues = p->kind == DEQUES ? p->warps : 1;
    const bl_shape shape = {CAPACITY, WORDS, p->warps};
    memset(&p->control, 0, sizeof p->control);
    memset(p->tally, 0, sizeof p->tally);
    memset(p->stacks, 0, sizeof p->stacks);
    memset(p->queues, 0, sizeof p->queues);
    memset(p->published, 0, sizeof p->published);
    memset(p->taken, 0, sizeof p->taken);
    memset(p->spare, 0, sizeof p->spare);
    p->run = (bl__run){.control = &p->control,
                       .tally = p->tally,
                       .workers = p->warps,
                       .queues = (unsigned char *)p->queues,
                       .queue_stride = sizeof p->queues[0],
                       .queue_count = queues,
                       .capacity = CAPACITY,
                       .stack_capacity = STACK,
                       .private_limit = STACK,
                       .record_capacity = CAPACITY,
                       .free_records = (unsigned char *)p->queues};
    for (uint32_t i = 0; i < p->warps; i++)
        p->stacks[i].head.mask = STACK - 1;
    if (p->kind == RECORDS) {
        bl__records_init(&p->run, 0, 1);
        bl_broker store = bl__free_records(&p->run);
        for (uint32_t number = 0; number < CAPACITY; number++)
            bl__records_give(&store, &number, 1);
        return;
    }
    for (uint32_t i = 0; i < queues; i++)
        if (p->kind == CENTRAL) {
            bl_broker q;
            bl_broker_bind(&q, p->queues[i], shape, 0);
            bl_broker_init(&q, UINT32_MAX, 0, 1);
        } else {
            bl_steal_many q;
            bl_steal_many_bind(&q, p->queues[i], shape, 0);
            bl_steal_many_init(&q, UINT32_MAX, 0, 1);
        }
}

static const char *after_records(protocol *p) {
    const bl_broker store = bl__free_records(&p->run);
    uint32_t numbers = bl_broker_size(&store);
    for (uint32_t i = 0; i < p->warps; i++)
        numbers += p->spare[i][0];
    return numbers == CAPACITY ? NULL : "a number was lost";
}

static const char *after(void *arg) {
    protocol *p = arg;
    if (p->kind == RECORDS)
        return after_records(p);
    uint32_t published = 0, taken = 0, left = 0;
    for (uint32_t i = 0; i < p->warps; i++)
        published += p->published[i];
    for (uint32_t i = 0; i < ENTRIES; i++) {
        if (p->taken[i] > 1)
            return "an entry was taken twice";
        if (p->taken[i] && i % (2 * CALLS) >= p->published[i / (2 * CALLS)])
            return "an entry was taken that did not go into a queue";
        taken += p->taken[i];
    }
    for (uint32_t i = 0; i < p->run.queue_count; i++) {
        bl__worker w = {.run = &p->run, .words = WORDS};
        bl_steal_many deque = deques_queue(&w, i);
        bl_broker shared = shared_queue(&w, i);
        left += p->kind == CENTRAL ? bl_broker_size(&shared) : bl_steal_many_size(&deque);
    }
    return taken + left == published ? NULL : "an entry was lost";
}

/* Capacity is 2, and counters wrap around. */
static const struct {
    kind kind;
    const char *scripts[WARPS];
} clients[] = {
    {DEQUES, {"1", "f"}},    {DEQUES, {"2", "f"}},    {DEQUES, {"1f", "f"}},      {DEQUES, {"2f", "f"}},
    {DEQUES, {"11f", "f"}},  {DEQUES, {"2f1", "f"}},  {DEQUES, {"2", "f", "f"}},  {DEQUES, {"2f", "ff"}},
    {DEQUES, {"1f", "1f"}},  {CENTRAL, {"1", "f"}},   {CENTRAL, {"2", "f"}},      {CENTRAL, {"1f", "f"}},
    {CENTRAL, {"2f", "f"}},  {CENTRAL, {"1", "1"}},   {CENTRAL, {"2", "1", "f"}}, {CENTRAL, {"2", "f", "f"}},
    {CENTRAL, {"1f", "1f"}}, {CENTRAL, {"2f2", "f"}}, {RECORDS, {"1", "1"}},      {RECORDS, {"2", "1"}},
    {RECORDS, {"1f", "1"}},  {RECORDS, {"2f", "1"}},  {RECORDS, {"2f", "2f"}},    {RECORDS, {"1f", "1f", "1"}},
};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static uint32_t warps_of(uint32_t client) {
    uint32_t warps = 0;
    while (warps < WARPS && clients[client].scripts[warps])
        warps++;
    return warps;
}

static void text(uint32_t client, char text[PROVE_TEXT]) {
    const char *const *scripts = clients[client].scripts;
    snprintf(text, PROVE_TEXT, "warps %s %s|%s%s%s", kind_names[clients[client].kind], scripts[0], scripts[1],
             scripts[2] ? "|" : "", scripts[2] ? scripts[2] : "");
}

static bool explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = prove_explore_options(limits, before, after);
    o.lanes = LANES;
    p.warps = warps_of(client);
    p.kind = clients[client].kind;
    memcpy(p.scripts, clients[client].scripts, sizeof p.scripts);
    return bl_explore(p.warps, body, &p, &o, result);
}

const prove_family prove_warps = {"warps", count, text, explore};
