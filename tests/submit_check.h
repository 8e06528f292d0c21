/* Work from outside, on any device: what must hold of a run that is open to submissions, for test_submit.c,
 * test_submit_sim.c and test_submit_cuda.cu. C and C++.
 *
 * Three programs: trees, whose tasks count themselves; calls, the calls of fib(n) with a join; sums, its value with
 * BL_SUM. */
#ifndef BALLAST_TESTS_SUBMIT_CHECK_H
#define BALLAST_TESTS_SUBMIT_CHECK_H

#include "check.h"

#include <ballast/task.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- programs ---- */

typedef struct tree_node {
    uint32_t depth, width;
} tree_node;
typedef struct tree_shared {
    uint64_t *tasks;
} tree_shared;

static BL_TASK void tree_run(bl_task *t, const tree_node *node, uint32_t index, const tree_shared *shared,
                             bl_nothing *local) {
    (void)local;
    if (t->lane) /* of a block */
        return;
    bl_fetch_add64_relaxed(shared->tasks, index + 1);
    tree_node child = {node->depth - 1, node->width};
    if (node->depth)
        bl_spawn_n(t, &child, node->width);
}

typedef struct call {
    uint32_t n;
} call;
typedef struct calls_result {
    uint64_t calls, value;
} calls_result;

static BL_TASK void calls_run(bl_task *t, const call *parent, uint32_t index, const bl_nothing *shared,
                              bl_nothing *local) {
    (void)shared, (void)local;
    call self = {parent->n - 1 - index};
    calls_result leaf = {1, self.n};
    if (self.n > 1)
        bl_fork(t, &self, &self, 2);
    else
        bl_return(t, &leaf);
}
static BL_TASK void calls_join(bl_task *t, const call *self, const calls_result *results, uint32_t count,
                               const bl_nothing *shared, bl_nothing *local) {
    (void)self, (void)count, (void)shared, (void)local;
    calls_result both = {results[0].calls + results[1].calls + 1, results[0].value + results[1].value};
    bl_return(t, &both);
}

static BL_TASK void sums_run(bl_task *t, const call *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    call self = {parent->n - 1 - index};
    uint64_t value = self.n;
    if (self.n > 1)
        bl_fork(t, &self, &self, 2);
    else
        bl_return(t, &value);
}

#define BL_PROGRAM trees
#define BL_PAYLOAD tree_node
#define BL_SHARED tree_shared
#define BL_RUN tree_run
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

#define BL_PROGRAM calls
#define BL_PAYLOAD call
#define BL_RUN calls_run
#define BL_RESULT calls_result
#define BL_JOIN calls_join
#define BL_JOIN_WIDTH 2
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

#define BL_PROGRAM sums
#define BL_PAYLOAD call
#define BL_RUN sums_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

/* ---- the same on the host ---- */

/* Of the root, with index 0, and what it spawns. */
static inline uint64_t tree_expect(tree_node node, uint64_t *tasks) {
    uint64_t level = 1, sum = 1, row = (uint64_t)node.width * (node.width + 1) / 2;
    *tasks += 1;
    for (uint32_t d = 0; d < node.depth; d++) {
        sum += level * row;
        level *= node.width;
        *tasks += level;
    }
    return sum;
}
static inline calls_result call_expect(uint32_t n) { /* fib(n): its calls and its value */
    calls_result last = {1, 0}, self = {1, 1};
    for (uint32_t i = 1; i < n; i++) {
        calls_result next = {last.calls + self.calls + 1, last.value + self.value};
        last = self;
        self = next;
    }
    return n ? self : last;
}

/* ---- answers ---- */

enum { MOST_TICKETS = 256 };
static pthread_mutex_t answering = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t calls[MOST_TICKETS], value[MOST_TICKETS];
    uint32_t times[MOST_TICKETS], wrong, all, sums;
} answered;

static inline void note_answer(uint64_t ticket, const void *result) {
    if (answered.sums) {
        memcpy(&answered.value[ticket], result, sizeof(uint64_t));
    } else {
        calls_result r;
        memcpy(&r, result, sizeof r);
        answered.calls[ticket] = r.calls;
        answered.value[ticket] = r.value;
    }
    answered.times[ticket]++;
    answered.all++;
}
static inline void take_answer(void *arg, uint64_t ticket, const void *result) {
    pthread_mutex_lock(&answering);
    if (arg != &answered || ticket >= MOST_TICKETS)
        answered.wrong++;
    else
        note_answer(ticket, result);
    pthread_mutex_unlock(&answering);
}
static inline uint32_t answers_so_far(void) {
    pthread_mutex_lock(&answering);
    const uint32_t all = answered.all;
    pthread_mutex_unlock(&answering);
    return all;
}
static inline void await_answers(uint32_t count) {
    while (answers_so_far() < count)
        usleep(20);
}

/* ---- what must hold ---- */

typedef struct submit_setup {
    bl_config config; /* without what the tests set themselves */
    const bl_program *trees, *calls, *sums;
    uint32_t depth; /* of the trees; calls are of so many more */
} submit_setup;

static inline bl_context *submit_open(const submit_setup *s, uint32_t inbox) {
    bl_context *c = NULL;
    bl_config config = s->config;
    config.inbox = inbox;
    config.answer = take_answer;
    config.answer_arg = &answered;
    memset(&answered, 0, sizeof answered);
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK)) {
        printf("    %s\n", bl_error_detail(NULL));
        exit(check_end());
    }
    return c;
}

/* Threads that submit the same trees, alone and several at a time. */
enum { SUBMITTERS = 3, TREES = 24 };

static inline tree_node tree_at(const submit_setup *s, uint32_t i) {
    tree_node node = {i % (s->depth + 1), 2 + i % 2};
    return node;
}

typedef struct submitter {
    bl_context *c;
    const submit_setup *s;
    pthread_t thread;
    uint64_t last;
    uint32_t failed;
} submitter;

static inline void *submit_trees(void *argument) {
    submitter *self = (submitter *)argument;
    tree_node nodes[TREES];
    for (uint32_t i = 0; i < TREES; i++)
        nodes[i] = tree_at(self->s, i);
    for (uint32_t i = 0, n = 1; i < TREES; i += n, n = n % 4 + 1) {
        n = n < TREES - i ? n : TREES - i;
        uint64_t ticket = 0;
        int status = bl_submit(self->c, nodes + i, sizeof nodes[0], n, &ticket);
        self->failed += status != BL_OK || (i && ticket <= self->last);
        self->last = ticket + n - 1;
    }
    return NULL;
}

static inline void check_trees(const submit_setup *s, uint32_t inbox) {
    bl_context *c = submit_open(s, inbox);
    uint64_t expected = 0, tasks = 0, sum = 0;
    void *memory = NULL;
    bl_stats stats;
    submitter all[SUBMITTERS];
    CHECK_SAME(bl_alloc(c, &memory, sizeof sum), BL_OK);
    CHECK_SAME(bl_zero(c, memory, sizeof sum), BL_OK);
    tree_shared shared = {(uint64_t *)memory};
    if (!CHECK_SAME(bl_start_open(c, s->trees, &shared), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        all[i].c = c;
        all[i].s = s;
        all[i].last = 0;
        all[i].failed = pthread_create(&all[i].thread, NULL, submit_trees, &all[i]) != 0;
        CHECK_SAME(all[i].failed, 0);
    }
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        pthread_join(all[i].thread, NULL);
        CHECK_SAME(all[i].failed, 0);
    }
    CHECK_SAME(bl_submit_end(c), BL_OK);
    memset(&stats, 0, sizeof stats);
    if (!CHECK_SAME(bl_wait(c, &stats), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    for (uint32_t i = 0; i < TREES; i++)
        expected += tree_expect(tree_at(s, i), &tasks);
    CHECK_SAME(bl_copy_out(c, &sum, memory, sizeof sum), BL_OK);
    CHECK_SAME(sum, SUBMITTERS * expected);
    CHECK_SAME(stats.tasks, SUBMITTERS * tasks);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* Each submission gets its own answer, once. `gaps`: the run is idle in between. */
static inline void check_answers(const submit_setup *s, bool sums, uint32_t count, uint32_t inbox, bool gaps) {
    bl_context *c = submit_open(s, inbox);
    uint64_t tasks = 0;
    bl_stats stats;
    answered.sums = sums;
    if (!CHECK_SAME(bl_start_open(c, sums ? s->sums : s->calls, NULL), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    for (uint32_t i = 0; i < count; i++) {
        call root = {i % (s->depth + 4) + 1};
        uint64_t ticket = 0;
        if (!CHECK_SAME(bl_submit(c, &root, sizeof root, 1, &ticket), BL_OK))
            printf("    %s\n", bl_error_detail(NULL));
        CHECK_SAME(ticket, i);
        if (gaps)
            await_answers(i + 1);
    }
    CHECK_SAME(bl_submit_end(c), BL_OK);
    memset(&stats, 0, sizeof stats);
    if (!CHECK_SAME(bl_wait(c, &stats), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    CHECK_SAME(answered.all, count);
    CHECK_SAME(answered.wrong, 0);
    for (uint32_t i = 0; i < count; i++) {
        calls_result r = call_expect(i % (s->depth + 4)); /* a root is the call of its n, less one */
        tasks += r.calls;
        CHECK_SAME(answered.times[i], 1);
        CHECK_SAME(answered.value[i], r.value);
        if (!sums)
            CHECK_SAME(answered.calls[i], r.calls);
    }
    CHECK_SAME(stats.tasks, tasks);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* Nothing is submitted at all; and an open run is closed with its context. */
static inline void check_nothing(const submit_setup *s) {
    bl_context *c = submit_open(s, 0);
    bl_stats stats;
    call root = {1};
    CHECK_SAME(bl_start_open(c, s->calls, NULL), BL_OK);
    CHECK_SAME(bl_wait_for(c, 0.01, NULL), BL_EBUSY);
    CHECK_SAME(bl_submit_end(c), BL_OK);
    CHECK_SAME(bl_submit_end(c), BL_OK); /* again */
    CHECK_SAME(bl_wait(c, &stats), BL_OK);
    CHECK_SAME(stats.tasks, 0);
    CHECK_SAME(bl_start_open(c, s->calls, NULL), BL_OK);
    CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK_SAME(answered.all, 1);
}

static inline void submit_contract(const submit_setup *s) {
    check_trees(s, 0);
    check_trees(s, 1);
    check_answers(s, false, 60, 8, false);
    check_answers(s, true, 60, 1, false);
    check_answers(s, false, 12, 0, true);
    check_nothing(s);
}

#endif
