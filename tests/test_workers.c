// COMPILE: -O1
/* Workers: their numbers, hooks at their start and end, hints for roots, and limits. */
#include "check.h"
#include "config.h"
#include "target.h"

#include <ballast/task.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 16 };

/* ---- numbers, begin and merge ---- */

/* Of one worker: nobody else touches it, so nothing here is atomic but what all workers share. */
typedef struct desk {
    uint64_t tasks;
    unsigned char pad[120];
} desk;

typedef struct office {
    desk *desks;
    uint32_t *begun, *ended, *wrong, workers;
} office;

typedef struct mine {
    uint32_t worker, begun, tasks;
} mine;

static BL_TASK void count_begin(const office *o, mine *local, uint32_t worker) {
    if (local->begun || local->tasks)
        bl_fetch_add32_relaxed(o->wrong, 1);
    local->worker = worker;
    local->begun = 1;
    bl_fetch_add32_relaxed(o->begun, 1);
}

static BL_TASK void count_run(bl_task *t, const uint32_t *depth, uint32_t index, const office *o, mine *local) {
    (void)index;
    if (!local->begun || local->worker != t->worker || t->worker >= o->workers)
        bl_fetch_add32_relaxed(o->wrong, 1);
    local->tasks++;
    if (t->lane == 0)
        bl_fetch_add64_relaxed(&o->desks[t->worker % MOST].tasks, 1);
    uint32_t next = *depth - 1;
    if (*depth && t->lane == 0)
        bl_spawn_n(t, &next, 3);
}

static BL_TASK void count_merge(const office *o, const mine *local) {
    if (!local->begun)
        bl_fetch_add32_relaxed(o->wrong, 1);
    bl_fetch_add32_relaxed(o->ended, 1);
}

#define BL_PROGRAM count
#define BL_PAYLOAD uint32_t
#define BL_SHARED office
#define BL_LOCAL mine
#define BL_BEGIN count_begin
#define BL_RUN count_run
#define BL_MERGE count_merge
#include <ballast/program.h>

static void test_numbers(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++)
        for (uint32_t workers = 1; workers <= 4; workers += 3) {
            desk desks[MOST] = {{0, {0}}};
            uint32_t begun = 0, ended = 0, wrong = 0, root = 5, expected = 0;
            office o = {desks, &begun, &ended, &wrong, 0};
            uint64_t tasks = 0;
            bl_context *c;
            bl_stats stats;
            check_at("%s, %u workers", scheduler, workers);
            bl_config config = {.device = DEVICE, .scheduler = scheduler, .workers = workers, .capacity = 2};
            CHECK_SAME(bl_open(&c, &config), BL_OK);
            CHECK_SAME(bl_workers(c, PROGRAM(count), &expected), BL_OK);
            o.workers = expected;
            CHECK_SAME(bl_run(c, PROGRAM(count), &o, &root, 1, &stats), BL_OK);
            CHECK_SAME(stats.workers, expected);
            CHECK_SAME(stats.tasks, 364);
            CHECK_SAME(wrong, 0);
            CHECK(begun > 0 && begun == ended);
            for (uint32_t k = 0; k < MOST; k++)
                tasks += desks[k].tasks;
            CHECK_SAME(tasks, 364);
            CHECK_SAME(bl_close(c), BL_OK);
        }
}

/* ---- in joins, which run by recursion on a CPU ---- */

static BL_TASK void sum_run(bl_task *t, const uint32_t *depth, uint32_t index, const office *o, mine *local) {
    (void)index;
    uint64_t one = 1;
    uint32_t next = *depth - 1;
    if (local->worker != t->worker || t->worker >= o->workers)
        bl_fetch_add32_relaxed(o->wrong, 1);
    if (t->lane)
        return;
    if (*depth)
        bl_fork(t, &next, &next, 2);
    else
        bl_return(t, &one);
}

static BL_TASK void sum_join(bl_task *t, const uint32_t *depth, const uint64_t *results, uint32_t count,
                             const office *o, mine *local) {
    (void)depth, (void)count;
    uint64_t sum = results[0] + results[1];
    if (local->worker != t->worker)
        bl_fetch_add32_relaxed(o->wrong, 1);
    if (t->lane == 0)
        bl_return(t, &sum);
}

#define BL_PROGRAM sum
#define BL_PAYLOAD uint32_t
#define BL_SHARED office
#define BL_LOCAL mine
#define BL_BEGIN count_begin
#define BL_RUN sum_run
#define BL_JOIN sum_join
#define BL_RESULT uint64_t
#include <ballast/program.h>

static void test_joins(void) {
    for (uint32_t workers = 1; workers <= 3; workers++) {
        uint32_t begun = 0, wrong = 0, root = 10;
        office o = {NULL, &begun, NULL, &wrong, workers};
        uint64_t result = 0;
        bl_context *c;
        check_at("joins, %u workers", workers);
        CHECK_SAME(bl_open(&c, &(bl_config){.device = DEVICE, .workers = workers}), BL_OK);
        CHECK_SAME(bl_run_join(c, PROGRAM(sum), &o, &root, 1, &result, NULL), BL_OK);
        CHECK_SAME(result, 1024);
        CHECK_SAME(wrong, 0);
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

#ifndef BL_TARGET_SIM
/* ---- hints for roots ---- */

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

/* A worker that has begun waits until all have, so that none can take another's. */
static void note_worker(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t *seen = *(uint32_t *const *)shared, root = *(const uint32_t *)payload;
    (void)index;
    seen[root] = bl_task_worker(task);
    bl_fetch_add32_relaxed(seen + MOST, 1);
    for (int i = 0; bl_load32_relaxed(seen + MOST) < 4 && i < 5000; i++)
        sleep_ms(1);
}

static uint32_t backwards(void *arg, uint32_t root) { return *(uint32_t *)arg - 1 - root; }

/* As a list says. */
static uint32_t as_listed(void *arg, uint32_t root) { return ((uint32_t *)arg)[root]; }

/* Notes the first root of each of two workers, which begin together. */
static void note_first(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t *first = *(uint32_t *const *)shared, worker = bl_task_worker(task);
    (void)index;
    if (first[worker] == BL_NONE)
        first[worker] = *(const uint32_t *)payload;
    bl_fetch_add32_relaxed(first + 2, 1);
    for (int i = 0; bl_load32_relaxed(first + 2) < 2 && i < 5000; i++)
        sleep_ms(1);
}

static void check_first(const char *scheduler, uint32_t *places, uint32_t worker, uint32_t root) {
    bl_program *program = bl_program_from_function(note_first, 4, sizeof(uint32_t *), 1);
    uint32_t first[3] = {BL_NONE, BL_NONE, 0}, *shared = first, roots[4] = {0, 1, 2, 3};
    bl_context *c;
    check_at("%s, worker %u begins with root %u", scheduler, worker, root);
    bl_config config = {.device = "cpu", .scheduler = scheduler, .workers = 2, .place = as_listed, .place_arg = places};
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    CHECK_SAME(bl_run(c, program, &shared, roots, 4, NULL), BL_OK);
    CHECK_SAME(first[worker], root);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* All roots to one worker: none is lost, however full its queue is. */
static uint32_t to_one(void *arg, uint32_t root) { return (void)root, *(uint32_t *)arg; }

typedef struct tally {
    uint32_t *tasks;
} tally;

static void count_task(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)index;
    bl_fetch_add32_relaxed(((const tally *)shared)->tasks + *(const uint32_t *)payload, 1);
}

static void test_places(void) {
    enum { ROOTS = 5000 };
    bl_program *noting = bl_program_from_function(note_worker, 4, sizeof(uint32_t *), 1);
    bl_program *counting = bl_program_from_function(count_task, 4, sizeof(tally), 1);
    static uint32_t roots[ROOTS], tasks[ROOTS];
    const char *scheduler;
    for (uint32_t i = 0; i < ROOTS; i++)
        roots[i] = i;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++) {
        uint32_t traits = bl_scheduler_traits(scheduler), seen[MOST + 1] = {0}, *shared = seen, four = 4, once = 0;
        bool own = !(traits & (BL_TRAIT_WAVES | BL_TRAIT_ONE_QUEUE));
        bl_context *c;
        check_at("%s, places of roots", scheduler);
        bl_config config = {
            .device = "cpu", .scheduler = scheduler, .workers = 4, .place = backwards, .place_arg = &four};
        CHECK_SAME(bl_open(&c, &config), BL_OK);
        CHECK_SAME(bl_run(c, noting, &shared, roots, 4, NULL), BL_OK);
        for (uint32_t k = 0; k < 4 && own; k++)
            CHECK_SAME(seen[k], 3 - k);
        CHECK_SAME(bl_close(c), BL_OK);
        uint32_t one_of_four[] = {0, 1, 1, 1}, three_of_four[] = {1, 0, 0, 0};
        if (own) {
            check_first(scheduler, one_of_four, 0, 0);
            check_first(scheduler, three_of_four, 1, 0);
        }
        uint32_t which = 6; /* 2, modulo 4 */
        config.place = to_one;
        config.place_arg = &which;
        CHECK_SAME(bl_open(&c, &config), BL_OK);
        memset(tasks, 0, sizeof tasks);
        for (int again = 0; again < 2; again++)
            CHECK_SAME(bl_run(c, counting, &(tally){tasks}, roots, ROOTS, NULL), BL_OK);
        for (uint32_t k = 0; k < ROOTS; k++)
            once += tasks[k] == 2;
        CHECK_SAME(once, ROOTS);
        CHECK_SAME(bl_close(c), BL_OK);
    }
    bl_program_free(counting);
    bl_program_free(noting);
}

/* ---- limits, also of runs within a task ---- */

typedef struct crew {
    uint32_t now, most, tasks;
} crew;

static void be_there(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    crew *w = *(crew *const *)shared;
    (void)task, (void)payload, (void)index;
    bl_fetch_max32_relaxed(&w->most, bl_fetch_add32_relaxed(&w->now, 1) + 1);
    sleep_ms(1);
    bl_fetch_add32_relaxed(&w->now, (uint32_t)-1);
    bl_fetch_add32_relaxed(&w->tasks, 1);
}

static void test_limit(void) {
    bl_program *program = bl_program_from_function(be_there, 4, sizeof(crew *), 1);
    static const char *const schedulers[] = {"auto", "central:tz", "static:split", "list:faa", "range:packed_range"};
    static const uint32_t limits[] = {2, 1, 0, 3, 100};
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t waits = 0; waits < 2; waits++) {
            bl_context *c;
            bl_config config = {.device = "cpu", .scheduler = schedulers[i], .workers = 4, .caller_waits = waits};
            CHECK_SAME(bl_open(&c, &config), BL_OK);
            for (uint32_t k = 0; k < 5; k++) {
                crew w = {0, 0, 0}, *shared = &w;
                uint32_t root = 0, workers = 0, expected = limits[k] && limits[k] < 4 ? limits[k] : 4;
                bl_stats stats;
                check_at("%s, limit %u, caller_waits %u", schedulers[i], limits[k], waits);
                CHECK_SAME(bl_limit(c, limits[k]), BL_OK);
                CHECK_SAME(bl_workers(c, program, &workers), BL_OK);
                CHECK_SAME(workers, expected);
                CHECK_SAME(bl_run_range(c, program, &shared, &root, 40, &stats), BL_OK);
                CHECK_SAME(stats.workers, expected);
                CHECK_SAME(w.tasks, 40);
                CHECK(w.most <= expected && (w.most > 1 || expected == 1));
            }
            CHECK_SAME(bl_close(c), BL_OK);
        }
    check_at("wrong arguments");
    bl_context *c;
    uint32_t workers;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu"}), BL_OK);
    CHECK_SAME(bl_workers(c, NULL, &workers), BL_EINVAL);
    CHECK_SAME(bl_workers(c, program, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "workers"));
    CHECK_SAME(bl_limit(NULL, 1), BL_EINVAL);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- what a run will be ---- */

static void check_foretold(bl_config config, const char *scheduler, int stops) {
    bl_program *program = bl_program_from_function(be_there, 4, sizeof(crew *), 1);
    crew w = {0, 0, 0}, *shared = &w;
    uint32_t root = 0;
    bl_context *c;
    bl_stats stats;
    check_at("what a run on %s will be, scheduler %s", config.device, config.scheduler ? config.scheduler : "auto");
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    for (int i = 0; i < 2; i++) { /* before a run, and between two */
        const char *told = bl_scheduler_of(c, program);
        CHECK(told && !strcmp(told, scheduler));
        CHECK_SAME(bl_stops(c), stops);
        CHECK_SAME(bl_chooses(c), config.scheduler == NULL);
        if (CHECK_SAME(bl_run_range(c, program, &shared, &root, 4, &stats), BL_OK))
            CHECK(!strcmp(stats.scheduler, scheduler));
    }
    CHECK(!bl_scheduler_of(c, NULL) && strstr(bl_error_detail(c), "program"));
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

static void test_foretold(void) {
    check_foretold((bl_config){.device = "cpu"}, "steal:chase_lev", 0);
    check_foretold((bl_config){.device = "cpu", .scheduler = "list"}, "list:locked", 0);
    check_foretold((bl_config){.device = "cpu", .scheduler = "static:cyclic", .time_limit = 60}, "static:cyclic", 1);
    check_foretold((bl_config){.device = "cpu+cpu"}, "steal:chase_lev", 0);
    bl_context *c;
    bl_program *program = bl_program_from_function(be_there, 4, sizeof(crew *), 1);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "sim"}), BL_OK);
    CHECK(!bl_scheduler_of(c, program) && *bl_error_detail(c)); /* no code for it */
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK(!bl_scheduler_of(NULL, program) && !bl_stops(NULL) && !bl_chooses(NULL));
    bl_program_free(program);
}

/* A context for each worker of the outer run, which its tasks use one after another. */
typedef struct nest {
    bl_context *inner[MOST];
    bl_program *program;
    uint32_t wrong;
} nest;

static void run_inner(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    nest *n = *(nest *const *)shared;
    crew w = {0, 0, 0}, *crew_of = &w;
    bl_stats stats;
    (void)index;
    int status = bl_run_range(n->inner[bl_task_worker(task)], n->program, &crew_of, payload, 5, &stats);
    if (status != BL_OK || stats.workers != 2 || w.most > 2 || w.tasks != 5)
        bl_fetch_add32_relaxed(&n->wrong, 1);
}

static void test_nested(void) {
    bl_program *outer = bl_program_from_function(run_inner, 4, sizeof(nest *), 1);
    nest n = {.program = bl_program_from_function(be_there, 4, sizeof(crew *), 1)}, *shared = &n;
    uint32_t root = 0, workers = 0;
    bl_context *c;
    check_at("runs within tasks, limited");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 3}), BL_OK);
    CHECK_SAME(bl_workers(c, outer, &workers), BL_OK);
    for (uint32_t i = 0; i < workers; i++) {
        CHECK_SAME(bl_open(&n.inner[i], &(bl_config){.device = "cpu", .workers = 4}), BL_OK);
        CHECK_SAME(bl_limit(n.inner[i], 2), BL_OK);
    }
    CHECK_SAME(bl_run_range(c, outer, &shared, &root, 30, NULL), BL_OK);
    CHECK_SAME(n.wrong, 0);
    for (uint32_t i = 0; i < workers; i++)
        CHECK_SAME(bl_close(n.inner[i]), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(n.program);
    bl_program_free(outer);
}
#endif

int main(void) {
    check_limit(300);
    test_numbers();
    test_joins();
#ifndef BL_TARGET_SIM
    test_places();
    test_limit();
    test_foretold();
    test_nested();
#endif
    return check_end();
}
