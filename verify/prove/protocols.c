/* The protocols of the runtime: termination, and sleep and wake-up, with the text that the workers are made from
 * (runtime/termination.h, runtime/idle.h) around a loop like theirs and the least queue there is, a number of tasks.
 *
 * Workers run tasks; a task of generation g > 0 publishes one of generation g - 1. What a task leaves behind is plain
 * data, and who ends the run reads all of it: an end while a task is in flight is a race, or finds nothing there. A
 * lost wake-up is a worker that can never go on. */
#include "prove.h"

#undef BL_CAN_SLEEP
#define BL_CAN_SLEEP 1
#define bl__sleep prove_sleep
#define bl__wake prove_wake
#include <ballast/runtime/idle.h>
#include <ballast/runtime/termination.h>

#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, TASKS = 8 };

typedef struct protocol {
    uint32_t workers, tasks, generations;
    bool sleeps, waits;
    bl__control control;
    bl__run run;
    uint32_t queue;    /* tasks published and not taken: generation in steps of 256 */
    uint32_t finished; /* next place of `results` */
    uint32_t results[TASKS];
} protocol;

/* As in src/device_cpu.c, where a lock and a condition variable do it. */
void prove_sleep(const bl__run *run, uint32_t seen) {
    uint32_t tries = 0;
    while (bl_load32_acquire(&run->control->wakes) == seen)
        bl_wait_change32(&run->control->wakes, seen, &tries);
}
void prove_wake(const bl__run *run, int all) {
    (void)all; /* one or all: spurious wake-ups are allowed, so all is the weaker claim; the loop is the same */
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
static bool empty(protocol *p) { return bl_load32_relaxed(&p->queue) == 0; }

static void run_task(protocol *p, uint32_t generation) {
    uint32_t one = 1, at = bl_fetch_add32_relaxed(&p->finished, 1);
    if (at >= total(p))
        bl_explore_fail("a task is run twice");
    bl_data_write(&p->results[at], &one, 1);
    if (generation)
        publish(p, generation - 1);
}

static void end(protocol *p) {
    for (uint32_t i = 0; i < total(p); i++) {
        uint32_t result;
        bl_data_read(&result, &p->results[i], 1);
        if (!result)
            bl_explore_fail("the end while a task is in flight");
    }
    if (p->sleeps)
        bl__wake_all(&p->run);
}

/* BL__NAME(idle) of runtime/worker.h. */
static bool idle(protocol *p) {
    bl__control *control = &p->control;
    bl__idle_enter(control);
    for (uint32_t tries = 0; empty(p); tries++) {
        if (bl__idle_read(control) & BL__IDLE_DONE)
            return false;
        uint64_t word = bl__idle_read(control);
        if (bl__idle_all(word, p->workers) && empty(p) && bl__idle_finish(control, word)) {
            end(p);
            return false;
        }
        if (!p->sleeps) {
            bl_backoff(tries);
            continue;
        }
        uint32_t seen = bl__sleep_begin(&p->run);
        if (empty(p) && !(bl__idle_read(control) & BL__IDLE_DONE))
            bl__sleep_now(&p->run, seen);
        bl__sleep_end(&p->run);
    }
    return bl__idle_leave(control);
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    protocol *p = arg;
    uint32_t generation;
    (void)lane;
    for (uint32_t i = worker; i < p->tasks; i += p->workers)
        run_task(p, p->generations);
    if (p->waits && worker == 0) /* for others, who must be awake: a wake-up that is lost is found here */
        for (uint32_t seen, tries = 0; (seen = bl_load32_relaxed(&p->finished)) != total(p);)
            bl_wait_change32(&p->finished, seen, &tries);
    do {
        while (fetch(p, &generation)) {
            if (p->sleeps)
                bl__wake_for_work(&p->run);
            run_task(p, generation);
        }
    } while (idle(p));
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->results, 0, sizeof p->results);
    p->queue = p->finished = 0;
    p->run.control = &p->control;
}

static const char *after(void *arg) {
    protocol *p = arg;
    return p->finished != total(p) ? "a task is lost" : p->queue ? "a task is left" : NULL;
}

static const struct {
    uint32_t workers, tasks, generations;
    bool sleeps, waits;
} clients[] = {{2, 1, 0, false, false}, {2, 1, 1, false, false}, {2, 2, 0, false, false}, {2, 2, 1, false, false},
               {2, 1, 2, false, false}, {3, 1, 0, false, false}, {3, 1, 1, false, false}, {2, 1, 1, true, true},
               {2, 1, 2, true, true},   {2, 1, 0, true, false},  {2, 1, 1, true, false},  {2, 2, 1, true, false},
               {3, 1, 0, true, false},  {3, 1, 1, true, true}};
enum { CLIENTS = sizeof clients / sizeof clients[0] };

static bool explore(uint32_t client, uint64_t budget, bl_mutant mutant, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = {.before = before, .after = after, .max_executions = budget, .mutant = mutant};
    p.workers = clients[client].workers;
    p.tasks = clients[client].tasks;
    p.generations = clients[client].generations;
    p.sleeps = clients[client].sleeps;
    p.waits = clients[client].waits;
    return bl_explore(p.workers, body, &p, &o, result);
}

int prove_protocols(const prove_options *o) {
    static bl_explore_result result;
    int wrong = 0;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        bool right = explore(i, 40 * o->budget, (bl_mutant){0}, &result);
        printf("protocol: %u workers, %u tasks of %u generations, %-21s %8llu executions, %s%s\n", clients[i].workers,
               clients[i].tasks, clients[i].generations + 1,
               clients[i].waits    ? "one waits for others:"
               : clients[i].sleeps ? "sleeping and woken:"
                                   : "spinning:",
               (unsigned long long)result.executions, result.complete ? "complete" : "cut", right ? "" : ", WRONG: ");
        if (!right)
            printf("  %s: %s\n", result.failure, result.schedule);
        wrong |= !right;
    }
    return wrong;
}

bool prove_protocols_kill(bl_mutant mutant, uint64_t budget, bl_explore_result *result) {
    for (uint32_t i = 0; i < CLIENTS; i++)
        if (!explore(i, budget, mutant, result))
            return true;
    return false;
}
