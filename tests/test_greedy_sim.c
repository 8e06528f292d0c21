// COMPILE: -O0
/* No runnable task waits while a worker is idle: on the simulated machine in virtual time, without noise, a run takes
 * at most
 *
 *     (work / workers + 2 * longest path) * 1.1 + slack
 *
 * for every load, way to spawn, kind of group, scheduler that balances, number of workers and size of private stack.
 * Twice the path, as on a GPU: spawned tasks become ready when their parent has ended. The lanes of a warp that run
 * tasks at the same time count as one task as long as the longest lane. A piece given to BL_RANGE_RUN counts as one
 * task, and is at most 1 / (8 * workers) of the rest. All lengths are measured, so they include the jitter of the
 * machine.
 *
 *     test_greedy_sim [--rounds N] [--table] [--only TEXT]
 *
 * A round tries every scheduler, way to spawn and load once, with a different number of workers, group, private stack
 * and number of tasks in each round; 120 rounds cover all of them. --table prints the worst ratios of time to bound,
 * and the worst share of the time in which a task waited while a worker was idle. --only runs the combinations whose
 * description contains the text, and prints the figures of each. */
#include "check.h"
#include "config.h"
#include "loads.h"

#include "../src/sim/machine.h"

#include <ballast/task.h>
#include <math.h>
#include <stdlib.h>

enum { UNIT = 1000, MOST_TASKS = 400, LANES = 8 };

/* ---- the log of a run ---- */

typedef struct stretch {
    const void *worker;
    uint64_t begin, end;
    uint64_t batch; /* the time of all lanes that ran with it */
} stretch;

/* A flat task is numbered by its index. In a tree, a leaf is numbered by its index, an inner node by MOST_TASKS + its
 * point of division, and its join by 2 * MOST_TASKS + the same. */
enum { ROOT = MOST_TASKS, STRETCHES = 3 * MOST_TASKS };

typedef struct log_book {
    stretch at[STRETCHES];
    uint32_t length[MOST_TASKS],
        left[MOST_TASKS]; /* of the piece that begins here: its number of indices, and those left when it was taken */
    uint32_t begun;       /* indices */
} log_book;

typedef struct load_shared {
    const uint32_t *cost;
    log_book *log;
    uint32_t tasks;
} load_shared;

/* Plain memory: between two scheduling points no other lane runs. */
static void spend(const bl_task *t, log_book *log, uint32_t id, uint32_t ticks) {
    uint64_t begin = bl_clock();
    bl_spend(ticks);
    log->at[id] = (stretch){t->stack, begin, bl_clock(), 0};
}

/* ---- programs, each for tasks of a lane and of a block, in which lane 0 acts for all ---- */

typedef enum load_does { LOAD_WORKS, LOAD_SPAWNS_SINGLY, LOAD_SPAWNS_RANGE } load_does;

typedef struct load_task {
    uint32_t does, first;
} load_task;

static BL_TASK void load_run(bl_task *t, const load_task *p, uint32_t index, const load_shared *s, bl_nothing *local) {
    (void)local;
    if (t->lane)
        return;
    if (p->does == LOAD_WORKS) {
        spend(t, s->log, p->first + index, s->cost[p->first + index]);
        return;
    }
    spend(t, s->log, ROOT, 1);
    load_task child = {LOAD_WORKS, 0};
    if (p->does == LOAD_SPAWNS_RANGE)
        bl_spawn_n(t, &child, s->tasks);
    for (; p->does == LOAD_SPAWNS_SINGLY && child.first < s->tasks; child.first++)
        bl_spawn(t, &child);
}
#define BL_PROGRAM by_lane
#define BL_PAYLOAD load_task
#define BL_SHARED load_shared
#define BL_RUN load_run
#define BL_LANE_TASKS 1
#include <ballast/program.h>
#define BL_PROGRAM by_block
#define BL_PAYLOAD load_task
#define BL_SHARED load_shared
#define BL_RUN load_run
#include <ballast/program.h>
#define BL_PROGRAM singly_by_lane
#define BL_PAYLOAD load_task
#define BL_SHARED load_shared
#define BL_RUN load_run
#define BL_MAX_SPAWN MOST_TASKS
#define BL_LANE_TASKS 1
#include <ballast/program.h>
#define BL_PROGRAM singly_by_block
#define BL_PAYLOAD load_task
#define BL_SHARED load_shared
#define BL_RUN load_run
#define BL_MAX_SPAWN MOST_TASKS
#include <ballast/program.h>

/* A worker may take a piece before it runs the one that it has; what counts is what was left at that time. */
typedef struct pieces_local {
    uint32_t some, left; /* left when it began its last piece */
} pieces_local;

static BL_TASK void pieces_run(bl_task *t, const load_task *p, uint32_t begin, uint32_t end, const load_shared *s,
                               pieces_local *local) {
    uint32_t ticks = 0;
    (void)p;
    if (t->lane)
        return;
    for (uint32_t i = begin; i < end; i++)
        ticks += s->cost[i];
    s->log->length[begin] = end - begin;
    s->log->left[begin] = local->some ? local->left : s->tasks;
    *local = (pieces_local){1, s->tasks - s->log->begun};
    s->log->begun += end - begin;
    spend(t, s->log, begin, ticks);
}
#define BL_PROGRAM pieces_by_lane
#define BL_PAYLOAD load_task
#define BL_SHARED load_shared
#define BL_RANGE_RUN pieces_run
#define BL_LOCAL pieces_local
#define BL_MAX_SPAWN 0
#define BL_LANE_TASKS 1
#include <ballast/program.h>
#define BL_PROGRAM pieces_by_block
#define BL_PAYLOAD load_task
#define BL_SHARED load_shared
#define BL_RANGE_RUN pieces_run
#define BL_LOCAL pieces_local
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

/* A lopsided fork-join tree with a task of the load at each leaf. */
typedef struct tree_node {
    uint32_t low, high; /* leaves of the node that forked; for a root its own */
    uint32_t is_root;
} tree_node;

enum { FORK_TICKS = UNIT / 5, JOIN_TICKS = UNIT / 5 };

static BL_TASK uint32_t tree_middle(uint32_t low, uint32_t high) { return low + (high - low + 2) / 3; }

static BL_TASK tree_node tree_child(const tree_node *p, uint32_t index) {
    tree_node own = {p->low, p->high, 0};
    if (!p->is_root && index == 0)
        own.high = tree_middle(p->low, p->high);
    else if (!p->is_root)
        own.low = tree_middle(p->low, p->high);
    return own;
}

static BL_TASK void tree_run(bl_task *t, const tree_node *p, uint32_t index, const load_shared *s, bl_nothing *local) {
    tree_node own = tree_child(p, index);
    (void)local;
    if (t->lane)
        return;
    if (own.high - own.low == 1) {
        uint64_t result = s->cost[own.low];
        spend(t, s->log, own.low, s->cost[own.low]);
        bl_return(t, &result);
    } else {
        spend(t, s->log, MOST_TASKS + tree_middle(own.low, own.high), FORK_TICKS);
        bl_fork(t, &own, &own, 2);
    }
}

static BL_TASK void tree_join(bl_task *t, const tree_node *p, const uint64_t *results, uint32_t count,
                              const load_shared *s, bl_nothing *local) {
    (void)local, (void)count;
    if (t->lane)
        return;
    uint64_t result = results[0] + results[1];
    spend(t, s->log, 2 * MOST_TASKS + tree_middle(p->low, p->high), JOIN_TICKS);
    bl_return(t, &result);
}
#define BL_PROGRAM tree_by_lane
#define BL_PAYLOAD tree_node
#define BL_SHARED load_shared
#define BL_RUN tree_run
#define BL_RESULT uint64_t
#define BL_JOIN tree_join
#define BL_JOIN_WIDTH 2
#define BL_LANE_TASKS 1
#include <ballast/program.h>
#define BL_PROGRAM tree_by_block
#define BL_PAYLOAD tree_node
#define BL_SHARED load_shared
#define BL_RUN tree_run
#define BL_RESULT uint64_t
#define BL_JOIN tree_join
#define BL_JOIN_WIDTH 2
#include <ballast/program.h>

/* Tasks of the same length, which may have one after them. */
static BL_TASK void chain_run(bl_task *t, const uint32_t *after, uint32_t index, const bl_nothing *s,
                              bl_nothing *local) {
    const uint32_t rest = *after - 1;
    (void)index, (void)s, (void)local;
    bl_spend(UNIT);
    if (*after)
        bl_spawn(t, &rest);
}
#define BL_PROGRAM chains
#define BL_PAYLOAD uint32_t
#define BL_RUN chain_run
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* ---- combinations ---- */

#define FORMS(X) X(singly) X(range) X(roots) X(loop) X(pieces) X(tree)
typedef enum form {
#define X(name) FORM_##name,
    FORMS(X)
#undef X
        FORM_COUNT
} form;
static const char *const form_names[] = {
#define X(name) #name,
    FORMS(X)
#undef X
};

static const char *const schedulers[] = {"steal:chase_lev",    "steal:steal_many", "steal:abp",      "steal:broker",
                                         "range:packed_range", "range:the_range",  "central:broker", "donate:bwd",
                                         "list:faa",           "static:split"};
enum { SPLIT = sizeof schedulers / sizeof schedulers[0] - 1, SCHEDULERS = SPLIT }; /* the last does not balance */
static const uint32_t worker_counts[] = {2, 4, 8, 16, 32}, private_sizes[] = {6, 256};
static const char *const groups[] = {"lane", "warp", "block:16"};

typedef struct combination {
    uint32_t scheduler, form, load, workers, private_entries, group, tasks;
    uint32_t unit; /* ticks of a short task; 0: UNIT */
    uint64_t seed;
} combination;

static bool lane_tasks(const combination *k) { return k->group == 0; }

static bool is_loop(uint32_t form) { return form == FORM_loop || form == FORM_pieces; }

/* A list scheduler runs waves, and balances a wave only if it is one loop. */
static bool fits(const combination *k) {
    const uint32_t list = BL_TRAIT_WAVES | BL_TRAIT_GREEDY;
    return (bl_scheduler_traits(schedulers[k->scheduler]) & list) != list || is_loop(k->form);
}

static const bl_program *program_of(const combination *k) {
    switch (k->form) {
    case FORM_singly:
        return lane_tasks(k) ? singly_by_lane_sim() : singly_by_block_sim();
    case FORM_pieces:
        return lane_tasks(k) ? pieces_by_lane_sim() : pieces_by_block_sim();
    case FORM_tree:
        return lane_tasks(k) ? tree_by_lane_sim() : tree_by_block_sim();
    default:
        return lane_tasks(k) ? by_lane_sim() : by_block_sim();
    }
}

/* ---- the bound ---- */

static int by_worker_and_begin(const void *a, const void *b) {
    const stretch *x = *(stretch *const *)a, *y = *(stretch *const *)b;
    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int longest_first(const void *a, const void *b) {
    const stretch *x = *(stretch *const *)a, *y = *(stretch *const *)b;
    uint64_t p = x->end - x->begin, q = y->end - y->begin;
    return p > q ? -1 : p < q;
}

static stretch *by_begin[STRETCHES]; /* worker after worker */
static uint32_t logged;

/* Finds the stretches that one worker ran at the same time. Returns the total time of these batches. */
static uint64_t find_batches(log_book *log) {
    uint64_t sum = 0;
    logged = 0;
    for (uint32_t i = 0; i < STRETCHES; i++)
        if (log->at[i].worker)
            by_begin[logged++] = &log->at[i];
    qsort(by_begin, logged, sizeof by_begin[0], by_worker_and_begin);
    for (uint32_t i = 0, next; i < logged; i = next) {
        uint64_t end = by_begin[i]->end;
        for (next = i; next < logged && by_begin[next]->worker == by_begin[i]->worker &&
                       (next == i || by_begin[next]->begin < end);
             next++)
            end = by_begin[next]->end > end ? by_begin[next]->end : end;
        for (uint32_t j = i; j < next; j++)
            by_begin[j]->batch = end - by_begin[i]->begin;
        sum += end - by_begin[i]->begin;
    }
    return sum;
}

/* Lanes that run alone add work that full batches would not have: n / 8 full batches take at most as long as the n / 8
 * longest tasks. */
static uint64_t most_full_batches(log_book *log) {
    static stretch *order[STRETCHES];
    uint32_t count = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < STRETCHES; i++)
        if (log->at[i].worker)
            order[count++] = &log->at[i];
    qsort(order, count, sizeof order[0], longest_first);
    for (uint32_t i = 0; i < (count + LANES - 1) / LANES; i++)
        sum += order[i]->end - order[i]->begin;
    return sum;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t tree_path(const log_book *log, uint32_t low, uint32_t high) {
    if (high - low == 1)
        return log->at[low].batch;
    uint32_t middle = tree_middle(low, high);
    return log->at[MOST_TASKS + middle].batch + log->at[2 * MOST_TASKS + middle].batch +
           larger(tree_path(log, low, middle), tree_path(log, middle, high));
}

/* A piece that is too long counts only as long as its longest index, since it should have been divided. */
static bool piece_too_long(const combination *k, const log_book *log, uint32_t begin) {
    uint32_t length = log->length[begin];
    return length > 1 && (uint64_t)length * 8 * k->workers > log->left[begin];
}

static uint64_t flat_path(const combination *k, const log_book *log, const uint32_t *cost) {
    uint64_t longest = 0;
    for (uint32_t i = 0; i < k->tasks; i++) {
        uint64_t takes = log->at[i].worker ? log->at[i].batch : 0;
        if (log->at[i].worker && k->form == FORM_pieces && piece_too_long(k, log, i)) {
            takes = 0;
            for (uint32_t j = i; j < i + log->length[i]; j++)
                takes = larger(takes, cost[j]);
        }
        longest = larger(longest, takes);
    }
    return longest + log->at[ROOT].batch;
}

/* ---- tasks that waited while a worker was idle ---- */

/* A worker is not idle yet: ending one task and starting another takes this long. */
enum { BETWEEN = 300 };

typedef struct change {
    uint64_t at;
    int idle, waiting;
} change;

static change changes[8 * STRETCHES];
static uint32_t change_count;

static void add_time(uint64_t from, uint64_t to, bool idle) {
    if (from >= to)
        return;
    changes[change_count++] = (change){from, idle, !idle};
    changes[change_count++] = (change){to, -idle, -!idle};
}

static int by_time(const void *a, const void *b) {
    const change *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static uint64_t batch_end(const log_book *log, uint32_t id) { return log->at[id].begin + log->at[id].batch; }

static void add_tree(const log_book *log, uint32_t low, uint32_t high, uint64_t ready) {
    uint32_t middle = tree_middle(low, high), id = high - low == 1 ? low : MOST_TASKS + middle;
    add_time(ready, log->at[id].begin, false);
    if (high - low == 1)
        return;
    add_tree(log, low, middle, batch_end(log, id));
    add_tree(log, middle, high, batch_end(log, id));
}

static void add_waiting(const combination *k, const log_book *log) {
    uint64_t ready = log->at[ROOT].worker ? log->at[ROOT].end : 0;
    if (k->form == FORM_tree) {
        add_tree(log, 0, k->tasks, 0);
        return;
    }
    for (uint32_t i = 0; i < k->tasks; i++)
        if (log->at[i].worker)
            add_time(ready, log->at[i].begin, false);
}

static void add_idle(const combination *k, uint64_t end) {
    uint32_t workers = 0;
    for (uint32_t i = 0, next; i < logged; i = next) {
        uint64_t idle_from = 0;
        for (next = i; next < logged && by_begin[next]->worker == by_begin[i]->worker; next++) {
            add_time(idle_from + BETWEEN, by_begin[next]->begin, true);
            idle_from = larger(idle_from, by_begin[next]->end);
        }
        add_time(idle_from + BETWEEN, end, true);
        workers++;
    }
    for (; workers < k->workers; workers++)
        add_time(BETWEEN, end, true);
}

static uint64_t time_lost(const combination *k, const log_book *log, uint64_t end) {
    uint64_t lost = 0;
    int idle = 0, waiting = 0;
    change_count = 0;
    add_waiting(k, log);
    add_idle(k, end);
    qsort(changes, change_count, sizeof changes[0], by_time);
    for (uint32_t i = 0; i < change_count; i++) {
        idle += changes[i].idle;
        waiting += changes[i].waiting;
        if (idle > 0 && waiting > 0)
            lost += changes[i + 1].at - changes[i].at;
    }
    return lost;
}

/* ---- the bound and slack of a run ---- */

typedef struct verdict {
    double work, path, makespan, bound, lost;
    uint32_t long_pieces, pauses;
} verdict;

/* About twice what the load `nothing` takes: to find the first work, to spread it over all workers and to detect the
 * end; to take a task; to publish the entries that one task has spawned. */
static double slack_of(const combination *k) {
    enum { BEGIN_AND_END = 500, TAKE = 20, PUBLISH = 15 };
    return BEGIN_AND_END + TAKE * (double)k->tasks / k->workers + (k->form == FORM_singly ? PUBLISH * k->tasks : 0);
}

static verdict judge(const combination *k, log_book *log, const uint32_t *cost, const bl_stats *stats) {
    verdict v = {.makespan = stats->seconds * 1e9, .pauses = stats->pauses};
    uint64_t batches = find_batches(log);
    if (lane_tasks(k) && k->form != FORM_tree) {
        uint64_t full = most_full_batches(log);
        batches = full < batches ? full : batches;
    }
    v.work = (double)batches;
    v.path = (double)(k->form == FORM_tree ? tree_path(log, 0, k->tasks) : flat_path(k, log, cost));
    v.bound = (v.work / k->workers + 2 * v.path) * 1.1 + slack_of(k);
    v.lost = (double)time_lost(k, log, (uint64_t)v.makespan);
    for (uint32_t i = 0; i < k->tasks && k->form == FORM_pieces; i++)
        v.long_pieces += log->at[i].worker && piece_too_long(k, log, i);
    return v;
}

/* ---- one run ---- */

static int start(bl_context *c, const combination *k, const load_shared *shared, bl_stats *stats) {
    static load_task roots[MOST_TASKS];
    const bl_program *program = program_of(k);
    roots[0] = (load_task){k->form == FORM_singly  ? LOAD_SPAWNS_SINGLY
                           : k->form == FORM_range ? LOAD_SPAWNS_RANGE
                                                   : LOAD_WORKS,
                           0};
    for (uint32_t i = 1; i < k->tasks; i++)
        roots[i] = (load_task){LOAD_WORKS, i};
    if (k->form == FORM_tree) {
        tree_node node = {0, k->tasks, 1};
        uint64_t sum = 0, expected = 0;
        int status = bl_run_join(c, program, shared, &node, 1, &sum, stats);
        for (uint32_t i = 0; i < k->tasks; i++)
            expected += shared->cost[i];
        CHECK(status != BL_OK || sum == expected);
        return status;
    }
    if (is_loop(k->form))
        return bl_run_range(c, program, shared, roots, k->tasks, stats);
    return bl_run(c, program, shared, roots, k->form == FORM_roots ? k->tasks : 1, stats);
}

static verdict try_one(const combination *k) {
    static log_book log;
    static uint32_t cost[MOST_TASKS];
    verdict v = {0};
    bl_config config = {.device = "sim",
                        .scheduler = schedulers[k->scheduler],
                        .group = groups[k->group],
                        .workers = k->workers,
                        .private_entries = k->private_entries,
                        .seed = k->seed};
    bl_context *c;
    bl_stats stats;
    memset(&log, 0, sizeof log);
    load_make((load_kind)k->load, k->seed, k->tasks, k->unit ? k->unit : UNIT, cost);
    load_shared shared = {cost, &log, k->tasks};
    bl_sim_start_clock(); /* the log starts at 0 */
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
        return v;
    if (CHECK_SAME(start(c, k, &shared, &stats), BL_OK))
        v = judge(k, &log, cost, &stats);
    else
        printf("    %s\n", bl_error_detail(c));
    bl_close(c);
    return v;
}

/* ---- all of them ---- */

typedef double figures[SCHEDULERS][FORM_COUNT][LOAD_KINDS];
static figures worst, worst_lost;
static uint32_t tried, beyond;
static const char *only;

static void keep_larger(double *most, double v) { *most = v > *most ? v : *most; }

static void try_and_check(const combination *k) {
    if (!fits(k))
        return;
    check_at("%s %s %s %s, %u tasks, %u workers, private %u, seed %llu", schedulers[k->scheduler], form_names[k->form],
             load_names[k->load], groups[k->group], k->tasks, k->workers, k->private_entries,
             (unsigned long long)k->seed);
    if (only && !strstr(check_doing, only))
        return;
    verdict v = try_one(k);
    if (v.bound <= 0)
        return;
    keep_larger(&worst[k->scheduler][k->form][k->load], v.makespan / v.bound);
    keep_larger(&worst_lost[k->scheduler][k->form][k->load], v.lost / v.makespan);
    tried++;
    beyond += v.makespan > v.bound;
    bool right = CHECK(v.makespan <= v.bound);
    right = CHECK_SAME(v.long_pieces, 0) && right;
    if (only && right)
        printf("%s\n", check_doing);
    if (only || !right)
        printf("    %.2f: %.0f ticks, bound %.0f, work %.0f, path %.0f, %.0f ticks lost, %u pauses\n",
               v.makespan / v.bound, v.makespan, v.bound, v.work, v.path, v.lost, v.pauses);
}

static combination pick(uint32_t scheduler, uint32_t form, uint32_t load, uint32_t variant, uint64_t seed) {
    combination k = {.scheduler = scheduler, .form = form, .load = load, .seed = seed};
    k.workers = worker_counts[variant % 5];
    k.private_entries = private_sizes[variant / 5 % 2];
    k.group = variant / 40;
    const uint32_t tasks[] = {k.workers - k.workers / 4, lane_tasks(&k) ? 6 * k.workers : k.workers + k.workers / 2,
                              108, 25 * k.workers};
    k.tasks = tasks[variant / 10 % 4];
    k.tasks = k.tasks < MOST_TASKS ? k.tasks : MOST_TASKS;
    return k;
}
enum { VARIANTS = 5 * 2 * 4 * 3 };

static void print_table(const char *what, figures f) {
    printf("%-27s", what);
    for (uint32_t l = 0; l < LOAD_KINDS; l++)
        printf(" %12s", load_names[l]);
    printf("\n");
    for (uint32_t i = 0; i < SCHEDULERS * FORM_COUNT; i++) {
        combination k = {.scheduler = i / FORM_COUNT, .form = i % FORM_COUNT};
        if (!fits(&k))
            continue;
        printf("%-18s %-8s", schedulers[k.scheduler], form_names[k.form]);
        for (uint32_t l = 0; l < LOAD_KINDS; l++)
            printf(" %12.2f", f[k.scheduler][k.form][l]);
        printf("\n");
    }
}

/* A static split breaks the bound when all long tasks are in one share, and tasks wait most of the time; a loop drawn
 * from one counter keeps it. Both take the same time again with the same seed. */
static void test_the_test(void) {
    combination k = {.scheduler = SPLIT,
                     .form = FORM_loop,
                     .load = LOAD_long_last,
                     .workers = 8,
                     .group = 2,
                     .tasks = 200,
                     .seed = 1};
    for (; k.seed <= 4; k.seed++) {
        check_at("the test itself, seed %llu", (unsigned long long)k.seed);
        k.scheduler = SPLIT;
        verdict v = try_one(&k), again = try_one(&k);
        CHECK(v.makespan > 2 * v.bound && v.lost > 0.5 * v.makespan);
        CHECK(v.makespan == again.makespan && v.bound == again.bound);
        k.scheduler = SPLIT - 1;
        v = try_one(&k), again = try_one(&k);
        CHECK(v.makespan < v.bound && v.lost < 0.5 * v.makespan);
        CHECK(v.makespan == again.makespan && v.bound == again.bound);
    }
}

/* A range of tasks that are only just long reaches all workers at once, and no worker forgets how long they take. Nor
 * has a worker that spawns a range, and knows nothing of its tasks, to find them long. Else tasks wait half of the
 * time, though the bound, which has twice the longest path, is mostly kept. */
static void test_spread(void) {
    for (uint32_t i = 0; i < 2 * 6 * 6; i++) {
        const uint32_t group = i / 6 % 3, unit = i / 18 % 2 ? 2 * UNIT / 10 : 3 * UNIT / 10;
        const combination k = {.scheduler = i / 36, /* the default of CPUs, and that of GPUs */
                               .form = FORM_range,
                               .load = LOAD_equal,
                               .workers = 32,
                               .private_entries = 6,
                               .group = group,
                               .tasks = group == 0 ? 384 : 4 * 32,
                               .unit = unit,
                               .seed = i % 6 + 1};
        check_at("a range of %u ticks, %s, %s, seed %llu", unit, schedulers[k.scheduler], groups[k.group],
                 (unsigned long long)k.seed);
        const verdict v = try_one(&k);
        if (!CHECK(v.lost < 0.35 * v.makespan))
            printf("    tasks wait while a worker is idle for %.2f of the time\n", v.lost / v.makespan);
    }
}

/* Two chains, and many single tasks. A warp that runs a chain in one lane should run single tasks in the others,
 * from its own queue or another's. Otherwise it would run the chain alone, and the single tasks later. The chains must
 * begin early: they are what each worker's queue gives first, or last, or the only queue first. */
enum { CHAINS = 2, SINGLES = 160, CHAIN = 10, BATCHES = (SINGLES + CHAINS * CHAIN) / (CHAINS * LANES) + 1 };

static double chains_take(const char *scheduler, uint32_t first, uint32_t apart, uint64_t seed) {
    uint32_t after[SINGLES] = {[0] = 0};
    const bl_config config = {.device = "sim", .scheduler = scheduler, .workers = CHAINS, .seed = seed};
    bl_context *c;
    bl_stats stats = {0};
    for (uint32_t i = 0; i < CHAINS; i++)
        after[first + i * apart] = CHAIN;
    bl_sim_start_clock();
    if (CHECK_SAME(bl_open(&c, &config), BL_OK)) {
        CHECK_SAME(bl_run(c, chains_sim(), NULL, after, SINGLES, &stats), BL_OK);
        bl_close(c);
    }
    return stats.seconds * 1e9;
}

static void test_full_batches(void) {
    for (uint32_t i = 0; i < SCHEDULERS * 4; i++) {
        const char *scheduler = schedulers[i / 4];
        if (bl_scheduler_traits(scheduler) & BL_TRAIT_WAVES)
            continue;
        check_at("chains, %s, seed %u", scheduler, i + 1);
        const uint32_t share = SINGLES / CHAINS;
        const double first = chains_take(scheduler, 0, share, i + 1),
                     last = chains_take(scheduler, share - 1, share, i + 1),
                     together = chains_take(scheduler, 0, 1, i + 1);
        if (!CHECK(fmin(fmin(first, last), together) < 1.25 * BATCHES * UNIT) || only)
            printf("%s: %.0f, %.0f and %.0f ticks, full batches would take %d\n", check_doing, first, last, together,
                   BATCHES * UNIT);
    }
}

int main(int argc, char **argv) {
    uint32_t rounds = 1, table = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
            rounds = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--table"))
            table = 1;
        else
            return fprintf(stderr, "usage: test_greedy_sim [--rounds N] [--table] [--only TEXT]\n"), 2;
    check_limit(120 + 60 * rounds);
    bl_sim_use_time(true);
    test_the_test();
    test_spread();
    test_full_batches();
    for (uint32_t i = 0; i < rounds * SCHEDULERS * FORM_COUNT * LOAD_KINDS; i += CHECK_SLOWER) {
        uint32_t load = i % LOAD_KINDS, form = i / LOAD_KINDS % FORM_COUNT,
                 scheduler = i / LOAD_KINDS / FORM_COUNT % SCHEDULERS, round = i / LOAD_KINDS / FORM_COUNT / SCHEDULERS;
        /* Steps are coprime to the number of variants, so all come up. */
        combination k =
            pick(scheduler, form, load, (7 * load + 11 * form + 13 * scheduler + 29 * round) % VARIANTS, i + 1);
        try_and_check(&k);
    }
    if (table) {
        print_table("worst time / bound", worst);
        print_table("worst time lost / time", worst_lost);
    }
    printf("%u runs, %u beyond the bound\n", tried, beyond);
    return check_end();
}
