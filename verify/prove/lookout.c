/* The lookout (runtime/lookout.h, parts/idle.h, runtime/raid.inc.h): nobody sleeps for ever while a worker that is
 * held up in a task has something on its stack.
 *
 * Worker 0 is in one task, which ends when others have run all of its entries, so it never publishes. The others are
 * out of work: they search and go idle with the library's own code (runtime/loop), falling asleep at once, until worker
 * 0 stops all of them. The run does not end in any other way; termination.c explores that. The queue to which a thief
 * publishes is just a number of entries.
 *   given    the entries are on the stack when the task begins
 *   spawned  it spawns one, waits until that has run, then spawns the next
 *   met      as given, and their tasks end once all have started: that takes as many workers, and none may stay asleep
 *   handed   the others only take over the lookout, look out once and hand it on */
#include "impatient_thread.h"

#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, WORDS = 3, CAPACITY = 4, OUTBOX = 1, STEPS = 1000 };

typedef struct private_stack {
    bl__stack head;
    uint32_t slots[(CAPACITY + 1) * WORDS];
} private_stack;

typedef struct protocol {
    uint32_t workers, entries;
    bool spawns, meet, hand;
    bl__run run;
    bl__control control;
    bl__tally tally[WORKERS];
    private_stack stacks[WORKERS];
    uint32_t queue;           /* entries that were published and not taken yet */
    uint32_t begun, finished; /* tasks */
} protocol;

/* ---- raids ---- */

static uint32_t *queue_of(const bl__run *run) { return (uint32_t *)(void *)run->queues; }

static uint32_t thief_publish(bl__worker *w, uint32_t n) {
    w->stack->bottom += n;
    bl_fetch_add32_release(queue_of(w->run), n);
    return n;
}

#define BL__NAME(x) thief_##x
#define BL_PAYLOAD uint32_t
#define BL_SHARED protocol
#define BL__MIDDLE(w, kept, given, shared) ((given)[0] + ((given)[1] - (given)[0]) / 2)
#define BL__JOINS 0
#include <ballast/runtime/raid.inc.h>

/* ---- workers out of work ---- */

static bool thief_all_empty(const bl__worker *w) { return bl_load32_relaxed(queue_of(w->run)) == 0; }
static bool thief_sees_work(const bl__worker *w) { return !thief_all_empty(w); }

static uint32_t thief_fetch(bl__worker *w) {
    uint32_t *queue = queue_of(w->run), seen = bl_load32_relaxed(queue);
    while (seen)
        if (bl_cas32_acquire(queue, &seen, seen - 1)) {
            w->stack->top++;
            return 1;
        }
    return 0;
}
/* The run is not open. */
static uint32_t thief_fetch_outside(bl__worker *w, bool called) { return (void)w, (void)called, 0; }

/* Adds the accesses that only the lookout makes to other workers' data. */
static void look_out(const bl__run *run, uint32_t id) {
    for (uint32_t i = 0; i < run->workers; i++) {
        bl__tally *t = &run->tally[i];
        uint32_t since[2], watched = t->watched;
        memcpy(since, &t->since, sizeof since);
        bl_data_write((uint32_t *)(void *)&t->since, since, 2);
        bl_data_write(&t->watched, &watched, 1);
    }
    bl__look_out(run, id);
}

/* Worker 0 never goes idle, so no worker ever sees all idle. */
#define bl__idle_enter(control) ((void)(control))
#define bl__idle_read(control) ((void)(control), UINT64_C(0))
#define bl__idle_all(word, workers) ((void)(word), (void)(workers), false)
#define bl__idle_finish(control, word) ((void)(control), (void)(word), false)
#define bl__idle_leave(control) ((void)(control), true)
#define BL__IDLE_DONE 1u
#define bl__look_out look_out
#define BL_DONE_TEST(shared) ((void)(shared), false)
#define BL__ENDS_ALONE 0
#define BL__EMPTY_WHEN_IDLE 0
#define BL__TURNS 0
#define BL__TAKES_PIECES 0
#define BL__RAIDS 1
#define BL__HIDES 0
#define BL__OPENS 0
#include <ballast/runtime/loop/basics.inc.h>
#include <ballast/runtime/loop/idle.inc.h>
#include <ballast/runtime/loop/acquire.inc.h>

static void wait_for(uint32_t *word, uint32_t wanted) {
    for (uint32_t seen, tries = 0; (seen = bl_load32_acquire(word)) != wanted;)
        bl_wait_change32(word, seen, &tries);
}

static void run_task(protocol *p) {
    if (bl_fetch_add32_relaxed(&p->begun, 1) >= p->entries)
        bl_explore_fail("a task is run twice");
    if (p->meet)
        wait_for(&p->begun, p->entries);
    bl_fetch_add32_release(&p->finished, 1);
}

static void search(protocol *p, bl__worker *w) {
    while (thief_acquire(w, p)) {
        thief_wake_next(w);
        uint32_t got = bl__stack_count(w->stack);
        w->stack->bottom = w->stack->top;
        for (; got; got--)
            run_task(p);
    }
}

static void hand_over(protocol *p, uint32_t id) {
    for (uint32_t i = 0; i < 2; i++)
        if (bl__lookout_take(&p->run, id)) {
            look_out(&p->run, id);
            bl__lookout_give(&p->run);
        }
}

/* ---- the busy worker ---- */

static void hold_up(protocol *p, bl__worker *w) {
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
    uint32_t payload = 0;
    bl__gate_open(w->stack, 1, w->run->fences_alone);
    for (uint32_t i = 0; p->spawns && i < p->entries; i++) {
        bl_spawn(&t, &payload);
        wait_for(&p->finished, i + 1);
    }
    wait_for(&p->finished, p->hand ? 0 : p->entries);
    bl__gate_shut(w->stack);
    bl_fetch_or32_relaxed(&p->control.stop, BL__STOP_HOST);
    bl__wake_all_if_stopped(&p->run);
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    protocol *p = arg;
    (void)lane;
    bl__worker w = {
        .run = &p->run, .stack = &p->stacks[worker].head, .tally = &p->tally[worker], .id = worker, .words = WORDS};
    if (worker == 0)
        hold_up(p, &w);
    else if (p->hand)
        hand_over(p, worker);
    else
        search(p, &w);
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->tally, 0, sizeof p->tally);
    memset(p->stacks, 0, sizeof p->stacks);
    p->queue = p->begun = p->finished = 0;
    p->run = (bl__run){.control = &p->control,
                       .tally = p->tally,
                       .memory = (unsigned char *)p->stacks,
                       .queues = (unsigned char *)&p->queue,
                       .worker_memory = sizeof p->stacks[0],
                       .workers = p->workers,
                       .words = WORDS,
                       .stack_capacity = CAPACITY,
                       .outbox = OUTBOX};
    for (uint32_t i = 0; i < WORKERS; i++)
        bl__stack_open(&p->stacks[i].head, &p->run);
    for (uint32_t i = 0; i < p->entries && !p->spawns; i++)
        bl__stack_slot(&p->stacks[0].head, WORDS, p->stacks[0].head.top++)[1] = 1;
}

static const char *after(void *arg) {
    const protocol *p = arg;
    return p->control.sleepers ? "a worker counts as asleep" : p->queue ? "a task is left" : NULL;
}

/* ---- the clients ---- */

static const struct {
    uint32_t workers, entries;
    const char *how;
} clients[] = {{2, 1, "given"},   {2, 2, "given"},   {2, 3, "given"}, {2, 1, "spawned"},
               {2, 2, "spawned"}, {3, 1, "given"},   {3, 2, "given"}, {3, 3, "given"},
               {3, 1, "spawned"}, {3, 2, "spawned"}, {3, 2, "met"},   {3, 1, "handed"}};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static void text(uint32_t i, char text[PROVE_TEXT]) {
    snprintf(text, PROVE_TEXT, "lookout %u workers %u entries %s", clients[i].workers, clients[i].entries,
             clients[i].how);
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = prove_explore_options(limits, before, after);
    o.max_steps = STEPS;
    p.workers = clients[i].workers;
    p.entries = clients[i].entries;
    p.spawns = !strcmp(clients[i].how, "spawned");
    p.meet = !strcmp(clients[i].how, "met");
    p.hand = !strcmp(clients[i].how, "handed");
    return bl_explore(p.workers, body, &p, &o, result);
}

const prove_family prove_lookout = {"lookout", count, text, explore};
