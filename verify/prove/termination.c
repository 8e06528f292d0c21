/* The protocols of the runtime: termination, sleep and wake-up, and the pause in which the host lets a queue grow, with
 * the text that the workers are made from (runtime/termination.h, parts/idle.h, runtime/loop/idle.inc.h) and the
 * least queue there is, a number of tasks.
 *
 * Workers run tasks; a task of generation g > 0 publishes one of generation g - 1. A task leaves plain data behind, and
 * the worker that ends the run reads all of it: an end while a task is in flight is a race, or finds data missing. A
 * lost wake-up shows as a worker that can never continue.
 *
 * Pauses: worker 0 has no room for what its first task publishes. It asks for a pause, leaves the task where the host
 * finds it, and every worker returns: none stays asleep, and the tasks that ran, are queued or were left are all there
 * are. */
#include "prove.h"

static uint32_t spins; /* before a worker sleeps */

#undef BL_WARP
#define BL_WARP 1u
#undef BL_CAN_SLEEP
#define BL_CAN_SLEEP 1
#define BL__QUICK_TRIES 0u
#define BL__IDLE_SPINS spins
#define bl__sleep prove_sleep
#define bl__nap prove_nap
#define bl__wake prove_wake
#include <ballast/parts/worker.h>
#include <ballast/parts/idle.h>
#include <ballast/parts/outside.h>
#include <ballast/runtime/termination.h>
#include <ballast/task.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, TASKS = 8 };

typedef struct protocol {
    uint32_t workers, tasks, generations;
    bool sleeps, waits, pauses;
    bl__control control;
    bl__run run;
    bl__tally tally[WORKERS];
    uint32_t queue;    /* tasks published and not taken: generation in steps of 256 */
    uint32_t finished; /* next index in `results` */
    uint32_t results[TASKS];
    uint32_t spilled[WORKERS]; /* tasks left at a pause, including all that they would publish */
} protocol;

/* As in src/device/device_cpu.c, which uses a lock and a condition variable. */
void prove_sleep(const bl__run *run, uint32_t seen) {
    uint32_t tries = 0;
    while (bl_load32_acquire(&run->control->wakes) == seen)
        bl_wait_change32(&run->control->wakes, seen, &tries);
}
void prove_nap(const bl__run *run, uint32_t seen, uint64_t ns) {
    (void)ns; /* it may end at any time */
    if (bl_load32_acquire(&run->control->wakes) == seen)
        bl_backoff(0);
}
void prove_wake(const bl__run *run, uint32_t n) {
    (void)n; /* one or all: spurious wake-ups are allowed, so all is the weaker claim; the loop is the same */
    bl_fetch_add32_release(&run->control->wakes, 1);
}

static uint32_t total(const protocol *p) { return p->tasks * (p->generations + 1); }

/* The queue: a count per generation, a byte each. */
static void publish(protocol *p, uint32_t generation) {
    bl_fetch_add32_release(&p->queue, 1u << 8 * generation);
    if (p->sleeps)
        bl__wake_for_work(&p->run);
}
static bool fetch(protocol *p, uint32_t *generation) {
    uint32_t seen = bl_load32_relaxed(&p->queue);
    while (seen) {
        *generation = (31 - (uint32_t)__builtin_clz(seen)) / 8;
        if (bl_cas32_acquire(&p->queue, &seen, seen - (1u << 8 * *generation)))
            return true;
    }
    return false;
}
static bool stopping(const protocol *p) { return p->pauses && bl_load32_host(&p->control.stop) != 0; }

/* What the host will find: runtime/loop/close.inc.h. */
static void leave(protocol *p, uint32_t worker, uint32_t tasks) {
    uint32_t sum;
    bl_data_read(&sum, &p->spilled[worker], 1);
    sum += tasks;
    bl_data_write(&p->spilled[worker], &sum, 1);
}

static void run_task(protocol *p, uint32_t worker, uint32_t generation) {
    uint32_t one = 1, at = bl_fetch_add32_relaxed(&p->finished, 1);
    if (at >= total(p))
        bl_explore_fail("a task is run twice");
    bl_data_write(&p->results[at], &one, 1);
    if (!generation)
        return;
    if (p->pauses && worker == 0) { /* settle, without room */
        bl_fetch_or32_relaxed(&p->control.stop, BL__STOP_GROW);
        leave(p, worker, generation);
    } else {
        publish(p, generation - 1);
    }
}

/* ---- out of work: the library's own code ---- */

/* The worker that ends the run reads all results. */
static bool finish(bl__control *control, uint64_t word) {
    const protocol *p = (const protocol *)(const void *)((const unsigned char *)control - offsetof(protocol, control));
    if (!bl__idle_finish(control, word))
        return false;
    prove_all_done(p->results, total(p));
    return true;
}

static bool worker_all_empty(const bl__worker *w) {
    return bl_load32_relaxed((const uint32_t *)(const void *)w->run->queues) == 0;
}
static bool worker_sees_work(const bl__worker *w) { return !worker_all_empty(w); }

/* Nobody looks out for workers in long tasks: lookout.c is about that. */
static bool bl__lookout_take(const bl__run *run, uint32_t id) { return (void)run, (void)id, false; }
static void bl__lookout_give(const bl__run *run) { (void)run; }
static void bl__look_out(const bl__run *run, uint32_t id) { (void)run, (void)id; }
static uint64_t bl__nap_length(uint64_t without_work) { return without_work; }
static bool worker_sees_held_up(const bl__worker *w) { return (void)w, false; }

#define bl__idle_finish finish
#define BL__NAME(x) worker_##x
#define BL_SHARED protocol
#define BL_DONE_TEST(shared) ((void)(shared), false)
#define BL__ENDS_ALONE 0
#define BL__EMPTY_WHEN_IDLE 0
#define BL__TURNS 0
#define BL__TAKES_PIECES 0
#define BL__RAIDS 0
#define BL__HIDES 0
#define BL__OPENS 0
#include <ballast/runtime/loop/basics.inc.h>
#include <ballast/runtime/loop/idle.inc.h>

/* Between two tasks a worker checks whether to stop. */
static void work(protocol *p, uint32_t worker) {
    uint32_t generation;
    bl__worker w = {.run = &p->run, .tally = &p->tally[worker], .id = worker};
    bool called; /* from outside, where nothing comes from here */
    for (uint32_t i = worker; i < p->tasks; i += p->workers)
        if (stopping(p))
            leave(p, worker, p->generations + 1);
        else
            run_task(p, worker, p->generations);
    if (p->waits && worker == 0) /* for others, which must be awake: this detects a lost wake-up */
        for (uint32_t seen, tries = 0; (seen = bl_load32_relaxed(&p->finished)) != total(p);)
            bl_wait_change32(&p->finished, seen, &tries);
    do {
        while (!stopping(p) && fetch(p, &generation)) {
            if (p->sleeps)
                bl__wake_for_work(&p->run);
            run_task(p, worker, generation);
        }
    } while (!stopping(p) && worker_idle(&w, p, false, &called));
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    protocol *p = arg;
    (void)lane;
    work(p, worker);
    if (p->sleeps)
        bl__wake_all_if_stopped(&p->run);
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->tally, 0, sizeof p->tally);
    memset(p->results, 0, sizeof p->results);
    memset(p->spilled, 0, sizeof p->spilled);
    p->queue = p->finished = 0;
    p->run = (bl__run){
        .control = &p->control, .tally = p->tally, .queues = (unsigned char *)&p->queue, .workers = p->workers};
}

/* Tasks in the queue, and those that they would publish. */
static uint32_t queued(const protocol *p) {
    uint32_t sum = 0;
    for (uint32_t generation = 0; generation < 4; generation++)
        sum += (p->queue >> 8 * generation & 255) * (generation + 1);
    return sum;
}

static const char *after(void *arg) {
    protocol *p = arg;
    uint32_t spilled = 0;
    for (uint32_t i = 0; i < p->workers; i++)
        spilled += p->spilled[i];
    if (!p->pauses && queued(p))
        return "a task is left";
    return p->finished + queued(p) + spilled != total(p) ? "a task is lost" : NULL;
}

static const struct {
    uint32_t workers, tasks, generations;
    const char *how;
} clients[] = {{2, 1, 0, "spin"},  {2, 1, 1, "spin"},  {2, 2, 0, "spin"},  {2, 2, 1, "spin"},  {2, 1, 2, "spin"},
               {3, 1, 0, "spin"},  {3, 1, 1, "spin"},  {2, 3, 0, "spin"},  {3, 3, 0, "spin"},  {2, 1, 1, "wait"},
               {2, 1, 2, "wait"},  {2, 1, 0, "sleep"}, {2, 1, 1, "sleep"}, {2, 2, 1, "sleep"}, {3, 1, 0, "sleep"},
               {3, 1, 1, "wait"},  {2, 1, 1, "pause"}, {2, 2, 1, "pause"}, {2, 3, 1, "pause"}, {3, 1, 1, "pause"},
               {3, 2, 1, "pause"}, {2, 1, 2, "pause"}};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static void text(uint32_t client, char text[PROVE_TEXT]) {
    snprintf(text, PROVE_TEXT, "termination %u workers %u tasks %u generations %s", clients[client].workers,
             clients[client].tasks, clients[client].generations + 1, clients[client].how);
}

static bool explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    const char *how = clients[client].how;
    bl_explore_options o = prove_explore_options(limits, before, after);
    p.workers = clients[client].workers;
    p.tasks = clients[client].tasks;
    p.generations = clients[client].generations;
    p.waits = !strcmp(how, "wait");
    p.pauses = !strcmp(how, "pause");
    p.sleeps = strcmp(how, "spin") != 0;
    spins = p.sleeps ? 0 : UINT32_MAX;
    return bl_explore(p.workers, body, &p, &o, result);
}

const prove_family prove_termination = {"termination", count, text, explore};
