/* How a run of warps begins and ends where one of them has the only root: the library's own termination word
 * (runtime/termination.h) and deque (queues/steal_many.h), in the order in which a warp uses them
 * (runtime/loop/idle.inc.h, acquire.inc.h, schedulers/own_queue.inc.h). Here a worker has one lane.
 *
 * The last worker counts all others as idle. It runs one task, publishes the rest, and takes back what nobody has
 * stolen. Each of the others looks for work once or twice. When it sees some it leaves the idle count without waiting
 * for the result, and steals half; it runs one of those tasks and publishes the others. A worker that has nothing left
 * goes idle. The last one to do so ends the run, or the first worker, which looks again and again while it is idle.
 *
 * Or the first worker is a porter (loop/porter.inc.h), through which all tasks come in, or the last of them: then it
 * counts as idle at first, as all others do, and rises when it has been counted. It publishes what has come in, runs
 * none itself, and goes idle when nothing of its own is left. Or it rises to steal for another node: one task is gone
 * then, and others it publishes. Only it notices that all are idle: then the node is dry.
 *
 * When the run ends, or the node is dry, every task has been run exactly once. When all workers have returned, a run
 * without a porter has ended. */
#include "prove.h"

#include <ballast/queues/steal_many.h>
#include <ballast/runtime/termination.h>

#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, TASKS = 4, CAPACITY = 4 };

typedef enum porter { NO_PORTER, ALL_COME_IN, ONE_COMES_IN, GIVES } porter;

typedef struct protocol {
    uint32_t workers, tasks, looks;
    porter ported;
    bl__control control;
    uint64_t queues[WORKERS][512];
    uint32_t results[TASKS];
    bool ran[TASKS], over;
    uint32_t brought; /* tasks that have come in through a porter */
} protocol;

static bl_steal_many deque_of(protocol *p, uint32_t worker) {
    bl_steal_many q;
    bl_steal_many_bind(&q, p->queues[worker], (bl_shape){CAPACITY, 1, p->workers}, worker);
    return q;
}

static void run(protocol *p, uint32_t task) {
    if (p->over)
        bl_explore_fail("a task after the end");
    if (task >= p->tasks || p->ran[task])
        bl_explore_fail("a task that was run already, or is none");
    p->ran[task] = true;
    bl_data_write(&p->results[task], &(uint32_t){1}, 1);
}

/* Runs the first of n tasks; the others come into the own deque. */
static void run_and_publish(protocol *p, uint32_t worker, const uint32_t *tasks, uint32_t n) {
    bl_steal_many q = deque_of(p, worker);
    if (n > 1 && bl_steal_many_push_n(&q, tasks + 1, n - 1) != n - 1)
        bl_explore_fail("no room");
    run(p, tasks[0]);
}

static void run_own(protocol *p, uint32_t worker) {
    bl_steal_many q = deque_of(p, worker);
    uint32_t task;
    while (bl_steal_many_size(&q) && bl_steal_many_pop_n(&q, &task, 1))
        run(p, task);
}

/* As the last one does that goes idle. */
static void end_if_last(protocol *p, uint64_t word) {
    if (!bl__idle_all(word, p->workers))
        return;
    bl_fence_acquire(); /* T2 */
    if (!bl__idle_finish(&p->control, word))
        return;
    p->over = true;
    prove_all_done(p->results, p->tasks);
}

/* As the first one does, again and again, while it is idle; a porter looks twice (bl__tell_dry). */
static void watch(protocol *p) {
    const uint64_t word = bl__idle_read(&p->control); /* T2 */
    if (!bl__idle_all(word, p->workers) ||
        !(p->ported ? bl__idle_read(&p->control) == word : bl__idle_finish(&p->control, word)))
        return;
    p->over = true;
    prove_all_done(p->results, p->tasks);
}

/* Half of a deque; how many. */
static uint32_t take_half(bl_steal_many q, uint32_t *tasks) {
    uint64_t word;
    uint32_t n = (bl_steal_many_look(&q, &word) + 1) / 2;
    for (uint32_t i = 0; i < n; i++)
        bl_race_read(tasks + i, bl_steal_many_slot(&q, bl_steal_many_top(word) + i), 1);
    return n && bl_steal_many_claim(&q, word, n) ? n : 0;
}

/* An idle worker looks at another's deque. True: it is idle no longer, whether it has got something or not. */
static bool steal(protocol *p, uint32_t worker, uint32_t victim) {
    bl_steal_many q = deque_of(p, victim);
    uint32_t tasks[TASKS];
    if (!bl_steal_many_size(&q))
        return false;
    bl__idle_leave_to_claim(&p->control);
    const uint32_t n = take_half(q, tasks);
    if (n)
        run_and_publish(p, worker, tasks, n);
    return true;
}

/* The worker with the only root. */
static void begin(protocol *p, uint32_t worker) {
    uint32_t tasks[TASKS];
    for (uint32_t i = 0; i < p->tasks; i++)
        tasks[i] = i;
    if (bl__idle_enter_others(&p->control, p->workers - 1))
        bl_explore_fail("somebody has left sooner than it was counted");
    run_and_publish(p, worker, tasks, p->tasks - (p->ported == ONE_COMES_IN));
}

/* From this task on all come in. */
static void bring_in(protocol *p, uint32_t task) {
    bl_steal_many q = deque_of(p, 0);
    for (; task < p->tasks; task++, p->brought++)
        if (bl_steal_many_push(&q, &task) != BL_QUEUE_DONE)
            bl_explore_fail("no room");
}

static void rise(protocol *p) {
    if (!bl__idle_leave(&p->control))
        bl_explore_fail("the end, and the porter has not said so");
}

/* As far as this node is concerned, a task that is given away has been run. */
static void give(protocol *p, bool *idle) {
    for (uint32_t victim = 1; victim < p->workers; victim++) {
        bl_steal_many q = deque_of(p, victim);
        uint32_t tasks[TASKS], n;
        if (!bl_steal_many_size(&q))
            continue;
        if (*idle)
            rise(p);
        *idle = false;
        if ((n = take_half(q, tasks)))
            run_and_publish(p, 0, tasks, n);
        return;
    }
}

static void carry(protocol *p) {
    bl_steal_many q = deque_of(p, 0);
    bool idle = p->ported != ALL_COME_IN, comes_in = p->ported == ONE_COMES_IN;
    if (!idle)
        bring_in(p, 0);
    for (uint32_t i = 0; i <= p->looks; i++) {
        if (comes_in && bl_load64_relaxed(&p->control.idle)) {
            rise(p);
            bring_in(p, p->tasks - 1);
            idle = comes_in = false;
        }
        if (p->ported == GIVES && i < p->looks && bl_load64_relaxed(&p->control.idle))
            give(p, &idle);
        if (!idle && !bl_steal_many_size(&q)) {
            bl__idle_enter(&p->control);
            idle = true;
        }
        if (idle && !comes_in)
            watch(p);
    }
}

static void work(protocol *p, uint32_t worker) {
    bool idle = p->ported == ALL_COME_IN || worker != p->workers - 1;
    if (!idle)
        begin(p, worker);
    for (uint32_t i = 0; i <= p->looks; i++) {
        if (!idle) {
            run_own(p, worker);
            const uint64_t word = bl__idle_enter(&p->control);
            if (!p->ported)
                end_if_last(p, word);
            idle = true;
        }
        if (worker == 0)
            watch(p);
        for (uint32_t v = 1; i < p->looks && v < p->workers && idle; v++)
            idle = !steal(p, worker, (worker + v) % p->workers);
    }
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    protocol *p = arg;
    (void)lane;
    if (p->ported && worker == 0)
        carry(p);
    else
        work(p, worker);
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->results, 0, sizeof p->results);
    memset(p->ran, 0, sizeof p->ran);
    p->over = false;
    p->brought = 0;
    if (p->ported == ALL_COME_IN) /* the others have gone idle before something came in */
        p->control.idle = p->workers - 1;
    for (uint32_t i = 0; i < p->workers; i++) {
        bl_steal_many q = deque_of(p, i);
        bl_steal_many_init(&q, UINT32_MAX, 0, 1);
    }
}

static const char *after(void *arg) {
    protocol *p = arg;
    const bl_steal_many q = deque_of(p, 0);
    const uint32_t come_in = p->ported == ALL_COME_IN ? p->tasks : p->ported == ONE_COMES_IN;
    /* Workers leave nothing behind, but what a porter has published may still lie there, and the rest outside. */
    uint32_t left = p->ported ? come_in - p->brought + bl_steal_many_size(&q) : 0;
    for (uint32_t i = 0; i < p->tasks; i++)
        left -= !p->ran[i];
    if (left)
        return "a task was lost";
    return p->over || p->ported ? NULL : "all have left, and the run has not ended";
}

static const struct {
    uint32_t workers, tasks, looks;
    porter ported;
} clients[] = {{2, 1, 1, NO_PORTER},    {2, 2, 1, NO_PORTER},    {2, 3, 1, NO_PORTER},    {2, 4, 1, NO_PORTER},
               {2, 2, 2, NO_PORTER},    {2, 3, 2, NO_PORTER},    {3, 1, 1, NO_PORTER},    {3, 2, 1, NO_PORTER},
               {3, 3, 1, NO_PORTER},    {3, 4, 1, NO_PORTER},    {3, 2, 2, NO_PORTER},    {3, 3, 2, NO_PORTER},
               {3, 4, 2, NO_PORTER},    {2, 1, 2, ALL_COME_IN},  {2, 2, 1, ALL_COME_IN},  {2, 2, 2, ALL_COME_IN},
               {3, 1, 1, ALL_COME_IN},  {3, 1, 2, ALL_COME_IN},  {3, 2, 1, ALL_COME_IN},  {3, 2, 2, ALL_COME_IN},
               {2, 2, 1, ONE_COMES_IN}, {2, 2, 2, ONE_COMES_IN}, {2, 3, 2, ONE_COMES_IN}, {3, 2, 1, ONE_COMES_IN},
               {3, 2, 2, ONE_COMES_IN}, {3, 3, 1, ONE_COMES_IN}, {2, 2, 1, GIVES},        {2, 3, 2, GIVES},
               {2, 4, 1, GIVES},        {3, 2, 1, GIVES},        {3, 3, 1, GIVES},        {3, 4, 1, GIVES}};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static void text(uint32_t client, char text[PROVE_TEXT]) {
    static const char *const ported[] = {"", " porter", " porter and root", " porter gives"};
    snprintf(text, PROVE_TEXT, "endings %u workers %u tasks %u looks%s", clients[client].workers, clients[client].tasks,
             clients[client].looks, ported[clients[client].ported]);
}

static bool explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = prove_explore_options(limits, before, after);
    p.workers = clients[client].workers;
    p.tasks = clients[client].tasks;
    p.looks = clients[client].looks;
    p.ported = clients[client].ported;
    return bl_explore(p.workers, body, &p, &o, result);
}

const prove_family prove_endings = {"endings", count, text, explore};
