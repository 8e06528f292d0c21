/* The inlet (parts/outside.h) with termination and sleep (runtime/termination.h, parts/idle.h, runtime/lookout.h,
 * runtime/loop): a source that fills a small ring and then shuts it, and workers that have no other work.
 *
 * Workers are out of work at first. They go idle, sleep at once, and end the run, with the library's own code. Every
 * entry is run once, by a worker that finds the plain data the source left in its slot, and the worker that ends the
 * run reads what all tasks left behind. A source or worker that can never continue shows as a deadlock: a slot that
 * does not become free, a lost wake-up, an end that nobody notices.
 *   sleep    as above
 *   held     the same, but the task of an entry spawns another and ends when that has been run: a lookout must be
 *            awake, though it retires while all are out of work
 *   retires  no source: all are out of work, worker 1 is the lookout and retires, worker 0 finds work and wakes
 *            worker 2, which wants the post. One of the two has it in the end
 *   busy     workers do not go idle. They wait for a knock, as a thread sees it between two tasks, take what is there,
 *            and stop when all has been run: a lost knock leaves them waiting */
#include "impatient_thread.h"

#include <ballast/runtime/termination.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, ENTRIES = 4, RING = 4, WORDS = 3, STRIDE = 4, CAPACITY = 4, OUTBOX = 1, STEPS = 1000 };

typedef struct private_stack {
    bl__stack head;
    uint32_t slots[(CAPACITY + 1) * WORDS];
} private_stack;

typedef struct protocol {
    uint32_t workers, entries, ring, start;
    bool busy, held, retires;
    uint32_t asleep; /* retires: workers that do not look out */
    bl__run run;
    bl__control control;
    bl__tally tally[WORKERS];
    private_stack stacks[WORKERS];
    uint32_t slots[RING * STRIDE];
    uint32_t finished; /* next index in `results` */
    uint32_t results[2 * ENTRIES];
} protocol;

enum { CHILD = 100 }; /* the number of what a task has spawned */

/* ---- the source: src/run/submit.c ---- */

static void await_free(const bl__outside *o, uint32_t at) {
    uint32_t tries = 0, *word = bl__inlet_slot(o, at);
    while (!bl__inlet_is_free(o, at))
        bl_wait_change32(word, at + 1 - o->mask - 1, &tries); /* an entry of the last lap */
}

static void knock(const bl__run *run) {
    bl__inlet_knock(run);
    bl__wake_for_entries(run, 1);
}

static void submit(protocol *p) {
    const bl__outside *o = &p->run.outside;
    for (uint32_t i = 0; i < p->entries; i++) {
        const uint32_t at = p->start + i, entry[WORDS] = {0, 1, i + 1};
        await_free(o, at + 1);
        bl_data_write(bl__inlet_slot(o, at) + 1, entry, WORDS);
        bl__inlet_fill(o, at);
        knock(&p->run);
    }
    if (p->busy) /* another knock would make up for one that is lost */
        return;
    bl__inlet_shut(o, p->start + p->entries);
    knock(&p->run);
}

/* ---- workers ---- */

static uint32_t total(const protocol *p) { return p->held ? 2 * p->entries : p->entries; }

/* Another worker has to take the child off the stack. */
static void await_child(protocol *p, bl__worker *w) {
    bl_task t = {.stack = w->stack,
                 .stop = &p->control.stop,
                 .lanes = 1,
                 .words = WORDS,
                 .run = &p->run,
                 .payload_bytes = 4 * (WORDS - BL__ENTRY_HEAD),
                 .limit = w->stack->bottom + p->run.stack_capacity,
                 .top = w->stack->top,
                 .mask = w->stack->mask,
                 .fences_alone = p->run.fences_alone};
    uint32_t child = CHILD;
    bl__gate_open(w->stack, 1, w->run->fences_alone);
    bl_spawn(&t, &child);
    for (uint32_t seen, tries = 0; (seen = bl_load32_acquire(&p->finished)) == 0;)
        bl_wait_change32(&p->finished, seen, &tries);
    bl__gate_shut(w->stack);
}

static void run_task(protocol *p, bl__worker *w, uint32_t number) {
    if (number != CHILD && (number == 0 || number > p->entries))
        bl_explore_fail("an entry that was not submitted");
    if (p->held && number != CHILD)
        await_child(p, w);
    uint32_t at = bl_fetch_add32_acq_rel(&p->finished, 1);
    if (at >= total(p))
        bl_explore_fail("an entry is run twice");
    bl_data_write(&p->results[at], &number, 1);
}

static void run_stack(protocol *p, bl__worker *w) {
    while (w->stack->bottom != w->stack->top) {
        const uint32_t number = bl__stack_slot(w->stack, WORDS, --w->stack->top)[BL__ENTRY_HEAD];
        run_task(p, w, number);
    }
}

/* Between two tasks, over and over. */
static void take_knocks(protocol *p, bl__worker *w) {
    for (uint32_t stop, tries = 0; !((stop = bl_load32_relaxed(&p->control.stop)) & BL__STOP_HOST);) {
        if (!(stop & BL__KNOCK)) {
            bl_wait_change32(&p->control.stop, stop, &tries);
            continue;
        }
        bl__inlet_fetch(w);
        run_stack(p, w);
        if (bl_load32_relaxed(&p->finished) == total(p))
            bl_fetch_or32_relaxed(&p->control.stop, BL__STOP_HOST);
    }
}

/* The worker that ends the run reads all results. */
static bool finish(bl__control *control, uint64_t word) {
    const protocol *p = (const protocol *)(const void *)((const unsigned char *)control - offsetof(protocol, control));
    if (!bl__idle_finish(control, word))
        return false;
    prove_all_done(p->results, total(p));
    return true;
}

static uint32_t worker_publish(bl__worker *w, uint32_t n) { return (void)w, (void)n, 0; } /* it keeps what it took */
static uint32_t worker_fetch(const bl__worker *w) { return (void)w, 0; }
static uint32_t worker_fetch_outside(bl__worker *w, bool called) { return (void)called, bl__inlet_fetch(w); }
static bool worker_all_empty(const bl__worker *w) { return (void)w, true; }
static bool worker_sees_work(const bl__worker *w) { return (void)w, false; }

#define bl__idle_finish finish
#define BL__NAME(x) worker_##x
#define BL_SHARED protocol
#define BL_DONE_TEST(shared) ((void)(shared), false)
#define BL__ENDS_ALONE 0
#define BL__EMPTY_WHEN_IDLE 0
#define BL__TURNS 0
#define BL__TAKES_PIECES 0
#define BL__RAIDS 1
#define BL__HIDES 0
#define BL__OPENS 1
#define BL_PAYLOAD uint32_t
#define BL__MIDDLE(w, kept, given, shared) ((given)[0] + ((given)[1] - (given)[0]) / 2)
#define BL__JOINS 0
#include <ballast/runtime/raid.inc.h>
#include <ballast/runtime/loop/basics.inc.h>
#include <ballast/runtime/loop/idle.inc.h>
#include <ballast/runtime/loop/acquire.inc.h>

static void hand_on(protocol *p, bl__worker *w) {
    if (w->id == 0) {
        bl__idle_leave(&p->control);
        bl__wake_for_work(&p->run);
    } else if (w->id == 1) {
        if (worker_retires(w))
            bl_fetch_add32_relaxed(&p->asleep, 1);
    } else {
        prove_sleep(&p->run, 0);
        bl__sleep_end(&p->run);
        bl__sleep_begin(&p->run);
        if (!bl__lookout_take(&p->run, w->id))
            bl_fetch_add32_relaxed(&p->asleep, 1);
    }
}

static void body(void *arg, uint32_t actor, uint32_t lane) {
    protocol *p = arg;
    (void)lane;
    if (actor == p->workers) {
        if (!p->retires)
            submit(p);
        return;
    }
    bl__worker w = {
        .run = &p->run, .stack = &p->stacks[actor].head, .tally = &p->tally[actor], .id = actor, .words = WORDS};
    if (p->retires)
        hand_on(p, &w);
    else if (p->busy)
        take_knocks(p, &w);
    else
        while (worker_acquire(&w, p)) {
            worker_wake_next(&w);
            run_stack(p, &w);
        }
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->tally, 0, sizeof p->tally);
    memset(p->stacks, 0, sizeof p->stacks);
    memset(p->slots, 0, sizeof p->slots);
    memset(p->results, 0, sizeof p->results);
    p->finished = p->asleep = 0;
    if (p->retires) {
        p->control.idle = p->workers;
        p->control.lookout = 2;
        p->control.sleepers = 1;
    }
    p->run = (bl__run){.control = &p->control,
                       .tally = p->tally,
                       .memory = (unsigned char *)p->stacks,
                       .worker_memory = sizeof p->stacks[0],
                       .workers = p->workers,
                       .words = WORDS,
                       .stack_capacity = CAPACITY,
                       .outbox = OUTBOX,
                       .outside = {.slots = p->slots, .mask = p->ring - 1, .stride = STRIDE, .taken = p->start}};
    for (uint32_t i = 0; i < p->ring; i++)
        *bl__inlet_slot(&p->run.outside, p->start + i) = p->start + i;
    for (uint32_t i = 0; i < p->workers; i++)
        bl__stack_open(&p->stacks[i].head, &p->run);
}

static const char *after(void *arg) {
    const protocol *p = arg;
    uint32_t sum = 0;
    if (p->retires)
        return p->asleep == 2 ? "nobody looks out" : NULL;
    for (uint32_t i = 0; i < total(p); i++)
        sum += p->results[i];
    return sum != p->entries * (p->entries + 1) / 2 + (total(p) - p->entries) * CHILD ? "an entry is lost"
           : p->control.sleepers                                                      ? "a worker counts as asleep"
                                                                                      : NULL;
}

/* ---- the clients ---- */

static const struct {
    uint32_t workers, entries, ring, start;
    const char *how;
} clients[] = {
    {1, 0, 2, 0, "sleep"},          {1, 1, 2, 0, "sleep"}, {1, 2, 2, 0, "sleep"}, {1, 3, 2, UINT32_MAX, "sleep"},
    {1, 2, 4, 0, "sleep"},          {2, 0, 2, 0, "sleep"}, {2, 1, 2, 0, "sleep"}, {2, 2, 2, 0, "sleep"},
    {2, 2, 4, UINT32_MAX, "sleep"}, {1, 1, 2, 0, "busy"},  {1, 2, 2, 0, "busy"},  {1, 3, 4, 0, "busy"},
    {3, 0, 2, 0, "retires"},        {2, 1, 2, 0, "held"},  {3, 1, 2, 0, "held"},  {2, 1, 2, 0, "busy"},
    {2, 2, 2, 0, "busy"},           {2, 2, 4, 0, "busy"},  {2, 3, 4, 0, "busy"}};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static void text(uint32_t i, char text[PROVE_TEXT]) {
    snprintf(text, PROVE_TEXT, "outside %u workers %u entries ring %u from %u %s", clients[i].workers,
             clients[i].entries, clients[i].ring, clients[i].start, clients[i].how);
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = prove_explore_options(limits, before, after);
    o.max_steps = STEPS;
    p.workers = clients[i].workers;
    p.entries = clients[i].entries;
    p.ring = clients[i].ring;
    p.start = clients[i].start;
    p.busy = !strcmp(clients[i].how, "busy");
    p.retires = !strcmp(clients[i].how, "retires");
    p.held = !strcmp(clients[i].how, "held");
    return bl_explore(p.workers + 1, body, &p, &o, result);
}

const prove_family prove_outside = {"outside", count, text, explore};
