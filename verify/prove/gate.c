/* The gate (parts/gate.h) of a thread's private stack, and raids on it (runtime/raid.inc.h): an owner that runs its
 * stack against thieves that take what it has not started.
 *
 * The owner's stack is given as letters, oldest entry first:
 *   0 1 2    a task that spawns as many
 *   a b c    a range of 2, 3 or 4 tasks
 *   A        a range of 2 tasks that spawn one each
 * It runs its newest entry, index by index as in runtime/loop/thread.inc.h, until nothing is left. Each thief visits as
 * many times as its digit says, and runs what it took. "alone": there is no heavy fence.
 *   Every task runs once, on some worker, and finds the plain data left for it before it was spawned.
 *
 * "forks": one task that forks, with the tree of joins.c. So thieves mark records as shared while their owner, in a
 * task, creates more of them, and may or may not be the last to arrive. Results are plain data in slots, or added up.
 * The root continues once, with all results.
 *
 * gate.h, raid.inc.h, task.h and record.h are the library's own files. Their plain accesses to the stack and to records
 * are declared next to them (bl_data_read, bl_data_write), so that a thief and an owner on the stack at the same time
 * are a race, and so is a missing order between them. The owner's loop is that of worker_loop.inc.h. */
#include "prove.h"

#undef BL_WARP
#define BL_WARP 1u
#undef BL_CAN_SLEEP
#define BL_CAN_SLEEP 1
#define bl__sleep prove_sleep
#define bl__nap prove_nap
#define bl__wake prove_wake
#include <ballast/parts/gate.h>
#include <ballast/parts/worker.h>
#include <ballast/parts/idle.h>
#include <ballast/runtime/lookout.h>
#include <ballast/task.h>

#include <stdio.h>
#include <string.h>

enum {
    WORKERS = 3,
    ENTRIES = 3,
    TASKS = 16,
    WORDS = 5,
    CAPACITY = 4,
    OUTBOX = 2,
    FORKS = 4,
    RECORDS = FORKS * WORKERS
};

typedef struct payload {
    uint32_t first, check; /* task: first + index */
} payload;

typedef struct private_stack {
    bl__stack head;
    uint32_t slots[(CAPACITY + 1) * WORDS], spare[RECORDS + 1];
} private_stack;

typedef struct record {
    bl__record head;
    uint32_t count, pad;
    payload forked;
    uint32_t results[2];
} record;
enum { RESULTS_AT = offsetof(record, results) };

typedef struct client {
    char entries[ENTRIES + 1];
    uint32_t forks; /* set of nodes; 0: no joins */
    bool sums, alone;
    uint32_t thieves, visits[WORKERS - 1];
} client;

typedef struct run {
    client c;
    bl__run run;
    bl__control control;
    bl__tally tally[WORKERS];
    private_stack stacks[WORKERS];
    bl__returned returned[WORKERS];
    record records[RECORDS];
    uint32_t tasks, children[TASKS], first_child[TASKS];
    uint32_t runs[TASKS], left_for[TASKS];
    uint32_t ends;
    uint64_t result; /* of the root */
} run;

static uint32_t check_of(uint32_t first) { return first * 2654435761u + 1; }

/* ---- thieves: raid.inc.h, with its accesses to the victim's stack ---- */

static struct { /* as found by the thief inside the gate; there is only one */
    uint32_t bottom, end;
} inside;

static bool enter(bl__stack *s, uint32_t *top) {
    if (!bl__gate_enter(s, top))
        return false;
    bl_data_read(&inside.bottom, &s->bottom, 1);
    inside.end = bl__stack_slot(s, WORDS, s->bottom)[1];
    return true;
}

static void leave(bl__stack *s) {
    uint32_t *end = &bl__stack_slot(s, WORDS, inside.bottom)[1], bottom = s->bottom, cut = *end;
    if (bottom != inside.bottom)
        bl_data_write(&s->bottom, &bottom, 1);
    else if (cut != inside.end)
        bl_data_write(end, &cut, 1);
    bl__gate_leave(s);
}

static uint32_t raid_publish(bl__worker *w, uint32_t n) { return (void)w, n; } /* no other worker is out of work */

#define BL__NAME(x) raid_##x
#define BL_PAYLOAD payload
#define BL_SHARED run
#define BL__MIDDLE(w, kept, given, shared) ((given)[0] + ((given)[1] - (given)[0]) / 2)
#define BL__JOINS 1
#define bl__gate_enter enter
#define bl__gate_leave leave
#include <ballast/runtime/raid.inc.h>
#undef bl__gate_enter
#undef bl__gate_leave

/* ---- tasks ---- */

static bool is_fork(const run *r, uint32_t node) { return r->c.forks >> node & 1; }

/* The slot that the next spawn writes. */
static void write_slot(bl_task *t) {
    uint32_t words[WORDS] = {0};
    bl_data_write(bl__stack_slot(t->stack, WORDS, t->top), words, WORDS);
}

static void write_result(run *r, bl_task *t) {
    uint32_t nothing = 0;
    if (!r->c.sums && !(t->join & BL__ROOT))
        bl_data_write(&r->records[t->join].results[t->index], &nothing, 1);
}

static void return_value(run *r, bl_task *t, uint64_t value) {
    uint32_t small = (uint32_t)value;
    write_result(r, t);
    bl__return(t, r->c.sums ? (const void *)&value : &small, r->c.sums ? sizeof value : sizeof small);
}

static void fork_node(run *r, bl_task *t, uint32_t node) {
    record *made = &r->records[t->spare[t->spare[0]]];
    payload child = {2 * node, check_of(2 * node)}, forked = {node, check_of(node)};
    uint32_t nothing[2] = {0};
    bl_data_write(&made->head.parent, nothing, 2);
    bl_data_write(&made->forked.first, nothing, 2);
    write_slot(t);
    bl__fork(t, &forked, &child, sizeof child, 2);
}

static void run_task(run *r, bl_task *t, const payload *p, uint32_t index) {
    uint32_t task = p->first + index, left;
    if (p->check != check_of(p->first) || task >= TASKS)
        bl_explore_fail("a task that was never spawned: %u, check %x", p->first, p->check);
    if (r->runs[task]++)
        bl_explore_fail("task %u is run twice", task);
    if (is_fork(r, task)) {
        fork_node(r, t, task);
    } else if (r->c.forks) {
        return_value(r, t, 10 * task);
    } else {
        bl_data_read(&left, &r->left_for[task], 1);
        if (left != task)
            bl_explore_fail("task %u does not find what was left for it", task);
        for (uint32_t i = 0; i < r->children[task]; i++) {
            uint32_t child = r->first_child[task] + i;
            payload spawned = {child, check_of(child)};
            bl_data_write(&r->left_for[child], &child, 1);
            write_slot(t);
            bl_spawn(t, &spawned);
        }
    }
}

/* ---- the owner: run_entry, join, go_on and pass_on of runtime/loop ---- */

/* Thieves visit only worker 0. */
static void open(bl__stack *s, uint32_t worker) {
    if (worker == 0)
        bl__gate_open(s, 1, false);
}
static bool shut(bl__stack *s, uint32_t worker) { return worker == 0 && bl__gate_shut(s); }

static uint32_t pass_on(run *r, bl_task *t) {
    if (t->join & BL__ROOT) {
        if (t->join == BL__NO_JOIN)
            return BL__NO_JOIN;
        if (r->c.sums)
            r->result = t->returned->sum;
        if (r->ends++)
            bl_explore_fail("the root continues twice");
        return BL__NO_JOIN;
    }
    uint64_t state = bl__record_arrive_own(bl__record_at(&r->run, t->join), r->c.sums ? t->returned->sum : 0);
    t->returned->sum = state & BL__SUM_MASK;
    return bl__record_out(state) ? BL__NO_JOIN : t->join;
}

static bool go_on(run *r, bl_task *t, uint32_t worker, uint32_t number) {
    uint32_t to[2], forked[2], results[2];
    record *made = &r->records[number];
    bl_data_read(to, &made->head.parent, 2);
    t->join = to[0];
    t->index = to[1];
    if (r->c.sums) {
        t->returned->ended = BL__RETURNED;
        return false;
    }
    t->returned->ended = BL__UNENDED;
    open(t->stack, worker);
    bl_data_read(forked, &made->forked.first, 2);
    if (!is_fork(r, forked[0]) || forked[1] != check_of(forked[0]))
        bl_explore_fail("a fork does not find what it kept");
    bl_data_read(results, made->results, 2);
    return_value(r, t, results[0] + results[1] + 1);
    return shut(t->stack, worker);
}

static bool join(run *r, bl_task *t, uint32_t worker) {
    bool visited = false;
    while (t->returned->ended == BL__RETURNED) {
        uint32_t done = pass_on(r, t);
        t->returned->ended = BL__FORKED;
        if (done == BL__NO_JOIN)
            continue;
        visited = go_on(r, t, worker, done) || visited;
        bl__spare_give(t->spare, done);
    }
    return visited;
}

static void run_entry(run *r, bl_task *t, uint32_t worker) {
    bl__stack *s = t->stack;
    uint32_t top = t->top, *entry = bl__stack_slot(s, WORDS, top - 1), words[WORDS];
    bl_data_read(words, entry, WORDS);
    payload carried = {words[2], words[3]};
    for (uint32_t index = words[0];; index++) {
        uint32_t left[2] = {index + 1, words[1]};
        bool last = left[0] == left[1];
        if (last)
            bl__stack_move_top(s, t->top = top - 1);
        else
            bl_data_write(entry, left, 2);
        t->join = words[4];
        t->index = index;
        t->returned->ended = BL__UNENDED;
        open(s, worker);
        run_task(r, t, &carried, index);
        bool visited = shut(s, worker);
        visited = join(r, t, worker) || visited;
        if (last || visited || t->top != top)
            return;
    }
}

static void run_all(run *r, uint32_t worker) {
    private_stack *mine = &r->stacks[worker];
    bl_task t = {.stack = &mine->head,
                 .stop = &r->control.stop,
                 .lanes = 1,
                 .words = WORDS,
                 .run = &r->run,
                 .returned = &r->returned[worker],
                 .spare = mine->spare,
                 .join = BL__NO_JOIN,
                 .result_bytes = r->c.sums ? sizeof(uint64_t) : sizeof(uint32_t),
                 .results_at = r->c.sums ? 0 : RESULTS_AT,
                 .payload_at = offsetof(record, forked),
                 .join_width = 2,
                 .payload_bytes = sizeof(payload),
                 .mask = mine->head.mask};
    for (uint32_t bottom;;) {
        bl_data_read(&bottom, &mine->head.bottom, 1);
        if (mine->head.top == bottom)
            return;
        t.top = mine->head.top;
        t.limit = bottom + CAPACITY;
        run_entry(r, &t, worker);
    }
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    run *r = arg;
    (void)lane;
    bl__worker w = {.run = &r->run, .stack = &r->stacks[worker].head, .id = worker, .words = WORDS};
    for (uint32_t i = 0; worker && i < r->c.visits[worker - 1]; i++)
        if (raid_raid_one(&w, 0, r))
            run_all(r, worker);
    if (!worker)
        run_all(r, worker);
}

/* ---- before and after ---- */

static void put(run *r, uint32_t first, uint32_t count, uint32_t to) {
    bl__stack *s = &r->stacks[0].head;
    uint32_t entry[WORDS] = {0, count, first, check_of(first), to};
    memcpy(bl__stack_slot(s, WORDS, s->top++), entry, sizeof entry);
}

static void put_entries(run *r) {
    uint32_t singles = 0, counts[ENTRIES], children[ENTRIES];
    for (uint32_t i = 0; r->c.entries[i]; i++) {
        char c = r->c.entries[i];
        counts[i] = c <= '2' ? 1 : c == 'A' ? 2 : (uint32_t)(c - 'a') + 2;
        children[i] = c <= '2' ? (uint32_t)(c - '0') : c == 'A';
        put(r, r->tasks, counts[i], BL__NO_JOIN);
        r->tasks += counts[i];
    }
    for (uint32_t i = 0; r->c.entries[i]; i++)
        for (uint32_t k = 0; k < counts[i]; k++, singles++) {
            r->children[singles] = children[i];
            r->first_child[singles] = r->tasks;
            r->tasks += children[i];
        }
    for (uint32_t i = 0; i < singles; i++)
        r->left_for[i] = i;
}

static void set_up_run(run *r) {
    r->run = (bl__run){.control = &r->control,
                       .tally = r->tally,
                       .memory = (unsigned char *)r->stacks,
                       .worker_memory = sizeof r->stacks[0],
                       .records = (unsigned char *)r->records,
                       .record_bytes = sizeof r->records[0],
                       .results = (unsigned char *)&r->result,
                       .stack_capacity = CAPACITY,
                       .outbox = OUTBOX,
                       .workers = 1 + r->c.thieves,
                       .words = WORDS,
                       .widest = BL__MOST_CHILDREN,
                       .fences_alone = r->c.alone};
}

static void before(void *arg) {
    run *r = arg;
    client c = r->c;
    memset(r, 0, sizeof *r);
    r->c = c;
    set_up_run(r);
    memset(r->records, 0xa5, sizeof r->records);
    memset(r->left_for, 0xa5, sizeof r->left_for);
    for (uint32_t i = 0; i < WORKERS; i++) {
        private_stack *s = &r->stacks[i];
        memset(s->slots, 0xa5, sizeof s->slots);
        bl__stack_open(&s->head, &r->run);
        s->head.bottom = s->head.top = UINT32_MAX; /* they wrap around immediately */
        s->spare[0] = FORKS;
        for (uint32_t k = 0; k < FORKS; k++)
            s->spare[1 + k] = i * FORKS + k;
    }
    if (c.forks)
        put(r, 1, 1, BL__ROOT);
    else
        put_entries(r);
}

static uint32_t expected(const run *r, uint32_t node) {
    return is_fork(r, node) ? expected(r, 2 * node) + expected(r, 2 * node + 1) + !r->c.sums : 10 * node;
}

static const char *after(void *arg) {
    run *r = arg;
    if (r->c.forks)
        return r->ends != 1 ? "no worker continues in the end" : r->result != expected(r, 1) ? "a wrong result" : NULL;
    for (uint32_t i = 0; i < r->tasks; i++)
        if (r->runs[i] != 1)
            return "a task is lost";
    return NULL;
}

/* ---- the clients ---- */

static const uint32_t forks[] = {1 << 1, 1 << 1 | 1 << 2, 1 << 1 | 1 << 3, 1 << 1 | 1 << 2 | 1 << 3};
static const uint32_t visits[][WORKERS - 1] = {{1, 0}, {2, 0}, {1, 1}, {2, 1}}; /* the last is only for a few */
static const char *const letters[] = {"012abcA", "012abA", "01a"};              /* of stacks of one to three entries */
enum { ONE = 7, TWO = 6, THREE = 3, STACKS = 1 + ONE + TWO * TWO + THREE * THREE * THREE, SHORT = 1 + ONE };
enum { FORKED = 2 * sizeof forks / sizeof forks[0], WAYS = 3 * 2 };

static uint32_t count(void) { return (STACKS + FORKED) * WAYS + SHORT * 2; }

static void spell(uint32_t i, char *entries) {
    uint32_t length = 0, of = 1;
    for (; i >= of; length++) {
        i -= of;
        of = length == 0 ? ONE : length == 1 ? TWO * TWO : THREE * THREE * THREE;
    }
    for (uint32_t n = 0; n < length; n++) {
        uint32_t different = (uint32_t)strlen(letters[length - 1]);
        entries[n] = letters[length - 1][i % different];
        i /= different;
    }
}

static client client_at(uint32_t i) {
    bool few = i >= (STACKS + FORKED) * WAYS;
    uint32_t what = few ? (i - (STACKS + FORKED) * WAYS) / 2 : i / WAYS;
    client c = {.alone = i % 2};
    memcpy(c.visits, visits[few ? WAYS / 2 : i % WAYS / 2], sizeof c.visits);
    c.thieves = c.visits[1] ? 2 : 1;
    if (what < STACKS) {
        spell(what, c.entries);
    } else {
        c.forks = forks[(what - STACKS) / 2];
        c.sums = (what - STACKS) % 2;
    }
    return c;
}

static void text(uint32_t i, char text[PROVE_TEXT]) {
    client c = client_at(i);
    char what[32], second[8] = "";
    if (c.forks)
        snprintf(what, sizeof what, "forks %x%s", c.forks, c.sums ? " sum" : "");
    else
        snprintf(what, sizeof what, "%s", *c.entries ? c.entries : "-");
    if (c.thieves > 1)
        snprintf(second, sizeof second, "|%u", c.visits[1]);
    snprintf(text, PROVE_TEXT, "gate %s visits %u%s%s", what, c.visits[0], second, c.alone ? " alone" : "");
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static run r;
    bl_explore_options o = prove_explore_options(limits, before, after);
    r.c = client_at(i);
    return bl_explore(1 + r.c.thieves, body, &r, &o, result);
}

const prove_family prove_gate = {"gate", count, text, explore};
