// COMPILE: -O1
/* What is left of a run that ends early, runs after a cancel, and what a task that fails says. */
#include "check.h"
#include "config.h"

#include <ballast/task.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* ---- payloads that own memory: whatever ends a run, all of it is freed ---- */

typedef struct owner {
    uint32_t *memory; /* holds the depth */
} owner;

enum how { TO_THE_END, CANCELLED, FAILED, TOO_LATE };

typedef struct tree {
    bl_context *c;
    uint32_t *live, *tasks, stop_after, how;
} tree;

static owner make_owner(const tree *s, uint32_t depth) {
    owner o = {malloc(sizeof *o.memory)};
    *o.memory = depth;
    bl_fetch_add32_relaxed(s->live, 1);
    return o;
}

static void free_owner(const tree *s, const owner *o) {
    free(o->memory);
    bl_fetch_add32_relaxed(s->live, (uint32_t)-1);
}

static BL_TASK void own_run(bl_task *t, const owner *o, uint32_t index, const tree *s, bl_nothing *local) {
    (void)index, (void)local;
    uint32_t depth = *o->memory, number = bl_fetch_add32_relaxed(s->tasks, 1);
    free_owner(s, o);
    for (uint32_t i = 0; i < 3 && depth; i++) {
        owner child = make_owner(s, depth - 1);
        bl_spawn(t, &child);
    }
    if (number == s->stop_after && s->how == CANCELLED)
        bl_cancel(s->c);
    if (number >= s->stop_after && s->how == CANCELLED)
        bl_spend(100000); /* until the watcher sees it */
    if (number == s->stop_after && s->how == FAILED)
        bl_fail(t, 1000 + depth, o);
    if (s->how == TOO_LATE)
        bl_spend(10000);
}

#define BL_PROGRAM own
#define BL_PAYLOAD owner
#define BL_SHARED tree
#define BL_RUN own_run
#define BL_MAX_SPAWN 3
#include <ballast/program.h>

typedef struct heap {
    tree *s;
    uint64_t tasks;
} heap;

static void free_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    heap *h = arg;
    h->tasks += end - begin;
    free_owner(h->s, payload);
}

static void check_tree(const char *scheduler, uint32_t workers, uint32_t how, uint32_t stop_after) {
    enum { DEPTH = 8, ALL = 9841 };
    uint32_t live = 0, tasks = 0;
    tree s = {NULL, &live, &tasks, stop_after, how};
    heap h = {&s, 0};
    bl_stats stats;
    check_at("%s, %u workers, ended by %u after %u", scheduler, workers, how, stop_after);
    bl_config config = {.device = "cpu",
                        .scheduler = scheduler,
                        .workers = workers,
                        .capacity = 2,
                        .private_entries = stop_after % 2 ? 0 : BL_NONE,
                        .time_limit = how == TOO_LATE ? 0.01 : 0,
                        .left = free_left,
                        .left_arg = &h};
    CHECK_SAME(bl_open(&s.c, &config), BL_OK);
    owner root = make_owner(&s, DEPTH);
    int status = bl_run(s.c, own_cpu(), &s, &root, 1, &stats);
    CHECK_SAME(stats.tasks, tasks);
    CHECK_SAME(stats.left, h.tasks);
    CHECK_SAME(live, 0);
    CHECK(tasks + stats.left <= ALL);
    if (status == BL_OK) {
        CHECK_SAME(stats.left, 0);
        CHECK_SAME(tasks, ALL);
    } else {
        CHECK_SAME(status, how == CANCELLED ? BL_ECANCEL : how == FAILED ? BL_ETASK : BL_ETIME);
        CHECK(stats.left > 0);
    }
    CHECK_SAME(bl_close(s.c), BL_OK);
}

static void test_owners(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++) {
        if (bl_scheduler_traits(scheduler) & BL_TRAIT_WAVES)
            continue;
        for (uint32_t workers = 1; workers <= 3; workers += 2) {
            check_tree(scheduler, workers, TO_THE_END, 1);
            check_tree(scheduler, workers, FAILED, 0);
            check_tree(scheduler, workers, FAILED, 1001);
            check_tree(scheduler, workers, CANCELLED, 100);
            check_tree(scheduler, workers, TOO_LATE, 1);
        }
    }
}

/* ---- loops, and waves, which know less ---- */

typedef struct loop_data {
    uint32_t fail_at, *tasks;
} loop_data;

static void loop_task(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    const loop_data *d = shared;
    bl_fetch_add32_relaxed(d->tasks, 1);
    if (index == d->fail_at)
        bl_task_fail(task, index, payload);
}

static void count_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    *(uint64_t *)arg += *(const uint32_t *)payload == 42 ? end - begin : UINT64_MAX / 2;
}

static void test_loops(void) {
    enum { COUNT = 100000 };
    bl_program *program = bl_program_from_function(loop_task, 4, sizeof(loop_data), 1);
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++) {
        bool waves = bl_scheduler_traits(scheduler) & BL_TRAIT_WAVES;
        uint64_t left = 0, error = 0;
        uint32_t tasks = 0, payload = 42;
        loop_data d = {COUNT / 3, &tasks};
        bl_context *c;
        bl_stats stats;
        check_at("%s, a loop that fails", scheduler);
        bl_config config = {
            .device = "cpu", .scheduler = scheduler, .workers = 2, .left = count_left, .left_arg = &left};
        CHECK_SAME(bl_open(&c, &config), BL_OK);
        CHECK_SAME(bl_run_range(c, program, &d, &payload, COUNT, &stats), BL_ETASK);
        CHECK_SAME(stats.tasks, tasks);
        CHECK_SAME(stats.tasks + stats.left, COUNT);
        CHECK_SAME(left, waves ? 0 : stats.left);
        const uint32_t *failed = bl_failure(c, &error);
        CHECK(failed && *failed == 42);
        CHECK_SAME(error, COUNT / 3);
        CHECK(strstr(bl_error_detail(c), "a task failed with error 33333"));

        check_at("%s, cancelled before it began", scheduler);
        bl_cancel(c);
        left = tasks = 0;
        d.fail_at = COUNT;
        CHECK_SAME(bl_run_range(c, program, &d, &payload, COUNT, &stats), BL_ECANCEL);
        CHECK(bl_failure(c, &error) == NULL);
        CHECK_SAME(tasks, 0);
        CHECK_SAME(left, COUNT);
        CHECK_SAME(stats.left, COUNT);
        CHECK_SAME(bl_run_range(c, program, &d, &payload, COUNT, &stats), BL_ECANCEL); /* and every later one */
        CHECK_SAME(bl_reset(c), BL_OK);
        CHECK_SAME(bl_run_range(c, program, &d, &payload, COUNT, &stats), BL_OK);
        CHECK_SAME(tasks, COUNT);
        CHECK_SAME(stats.left, 0);
        CHECK_SAME(bl_close(c), BL_OK);
    }
    bl_program_free(program);
}

/* ---- joins: forks that wait are left, too, and payloads of both kinds come back ---- */

typedef struct join_node {
    uint32_t depth, fails;
    uint32_t *memory; /* of the fork; children share it, so only the join frees it */
} join_node;

typedef struct join_shared {
    uint32_t *live, *tasks, *wrong, fail_at;
} join_shared;

static BL_TASK void join_run(bl_task *t, const join_node *n, uint32_t index, const join_shared *s, bl_nothing *local) {
    (void)index, (void)local;
    uint32_t number = bl_fetch_add32_relaxed(s->tasks, 1), one = 1;
    if (number == s->fail_at) {
        bl_fail(t, number, n);
        return; /* without a result */
    }
    if (n->depth == 0) {
        bl_return(t, &one);
        return;
    }
    join_node forked = {n->depth, 0, malloc(4)}, child = {n->depth - 1, 0, NULL};
    bl_fetch_add32_relaxed(s->live, 1);
    bl_fork(t, &forked, &child, 3);
}

static BL_TASK void join_join(bl_task *t, const join_node *forked, const uint32_t *results, uint32_t count,
                              const join_shared *s, bl_nothing *local) {
    (void)local;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += results[i];
    uint32_t expected = 1;
    for (uint32_t i = 0; i < forked->depth; i++)
        expected *= 3;
    if (sum != expected) /* the join of a fork with a child that failed must not run */
        bl_fetch_add32_relaxed(s->wrong, 1);
    free(forked->memory);
    bl_fetch_add32_relaxed(s->live, (uint32_t)-1);
    bl_return(t, &sum);
}

#define BL_PROGRAM join
#define BL_PAYLOAD join_node
#define BL_SHARED join_shared
#define BL_RESULT uint32_t
#define BL_RUN join_run
#define BL_JOIN join_join
#include <ballast/program.h>

typedef struct joins_left {
    uint32_t *live;
    uint64_t tasks, forks;
} joins_left;

static void free_fork(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    joins_left *l = arg;
    const join_node *n = payload;
    l->tasks += end - begin;
    if (end)
        return;
    l->forks++;
    free(n->memory);
    bl_fetch_add32_relaxed(l->live, (uint32_t)-1);
}

static void test_joins(void) {
    for (uint32_t workers = 1; workers <= 3; workers++)
        for (uint32_t fail_at = 0; fail_at < 3280; fail_at += fail_at < 10 ? 1 : 197) {
            uint32_t live = 0, tasks = 0, wrong = 0, result = 0;
            join_shared s = {&live, &tasks, &wrong, fail_at};
            join_node root = {7, 0, NULL}; /* 3280 tasks */
            joins_left l = {&live, 0, 0};
            uint64_t error = 0;
            bl_context *c;
            bl_stats stats;
            check_at("joins, %u workers, task %u fails", workers, fail_at);
            bl_config config = {.device = "cpu", .workers = workers, .left = free_fork, .left_arg = &l};
            CHECK_SAME(bl_open(&c, &config), BL_OK);
            CHECK_SAME(bl_run_join(c, join_cpu(), &s, &root, 1, &result, &stats), BL_ETASK);
            CHECK_SAME(stats.tasks, tasks);
            CHECK_SAME(stats.left, l.tasks);
            CHECK_SAME(live, 0);
            CHECK_SAME(wrong, 0);
            const join_node *failed = bl_failure(c, &error);
            CHECK(failed && failed->depth <= 7);
            CHECK_SAME(error, fail_at);
            CHECK_SAME(bl_close(c), BL_OK);
        }
}

/* ---- the first one wins ---- */

static void fail_all(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t number = bl_fetch_add32_relaxed(*(uint32_t *const *)shared, 1);
    (void)index;
    bl_task_fail(task, 7, payload);
    if (number == 0)
        bl_task_fail(task, 8, payload); /* not the first */
}

static void test_first(void) {
    bl_program *program = bl_program_from_function(fail_all, 4, sizeof(uint32_t *), 1);
    for (int i = 0; i < 150 / CHECK_SLOWER; i++) {
        uint32_t tasks = 0, *shared = &tasks, roots[3] = {10, 20, 30};
        uint64_t error = 0;
        bl_context *c;
        check_at("the first one wins");
        CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 3}), BL_OK);
        CHECK(bl_failure(c, &error) == NULL);
        CHECK_SAME(bl_run(c, program, &shared, roots, 3, NULL), BL_ETASK);
        const uint32_t *failed = bl_failure(c, &error);
        CHECK(failed && (*failed == 10 || *failed == 20 || *failed == 30));
        CHECK_SAME(error, 7);
        CHECK_SAME(bl_close(c), BL_OK);
    }
    bl_program_free(program);
}

int main(void) {
    check_limit(300);
    test_owners();
    test_loops();
    test_joins();
    test_first();
    return check_end();
}
