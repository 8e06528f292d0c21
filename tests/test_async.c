/* Runs and copies that are started now and waited for later. */
#include "check.h"

#include <ballast/ballast.h>
#include <ballast/platform/platform.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static bl_context *open_cpu(uint32_t workers) {
    bl_context *c = NULL;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = workers}), BL_OK);
    return c;
}

/* ---- programs ---- */

/* Tasks wait at a gate until the test opens it, so that a run is under way for as long as the test wants. */
typedef struct gate {
    uint32_t open, entered, tasks;
} gate;

static void pass_gate(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    gate *g = *(gate *const *)shared;
    (void)task, (void)payload, (void)index;
    bl_fetch_add32_relaxed(&g->entered, 1);
    while (!bl_load32_acquire(&g->open))
        sleep_ms(1);
    bl_fetch_add32_relaxed(&g->tasks, 1);
}

static void open_gate(gate *g) { bl_store32_release(&g->open, 1); }
static void await_task(gate *g) {
    while (!bl_load32_relaxed(&g->entered))
        sleep_ms(1);
}

typedef struct sum_data {
    uint64_t *sum;
    uint32_t factor;
} sum_data;

static void add_payload(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    const sum_data *data = shared;
    (void)task, (void)index;
    bl_fetch_add64_relaxed(data->sum, data->factor * (uint64_t) * (const uint32_t *)payload);
}

typedef struct arrays {
    const uint32_t *in;
    uint32_t *out;
} arrays;

static void twice(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    const arrays *a = shared;
    (void)task, (void)payload;
    a->out[index] = 2 * a->in[index];
}

static void fail_now(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)index, (void)shared;
    bl_task_fail(task, 5, payload);
}

/* ---- tests ---- */

static void test_start_and_wait(void) {
    bl_program *program = bl_program_from_function(add_payload, 4, sizeof(sum_data), 1);
    for (uint32_t i = 0; i < 2; i++) {
        check_at("start and wait, %u workers", i + 1);
        bl_context *c = open_cpu(i + 1);
        uint64_t sum = 0;
        uint32_t roots[3] = {1, 20, 300};
        sum_data data = {&sum, 7};
        bl_stats stats = {.tasks = 0}, again = {.tasks = 0};
        CHECK_SAME(bl_wait(c, NULL), BL_EINVAL);
        CHECK(strstr(bl_error_detail(c), "nothing was started"));
        CHECK_SAME(bl_start(c, program, &data, roots, 3), BL_OK);
        memset(roots, 0xff, sizeof roots); /* they were copied */
        data.factor = 1;
        CHECK_SAME(bl_wait(c, &stats), BL_OK);
        CHECK_SAME(sum, 7 * 321);
        CHECK_SAME(stats.tasks, 3);
        CHECK_SAME(bl_wait(c, &again), BL_OK); /* twice */
        CHECK(!memcmp(&stats, &again, sizeof stats));
        CHECK_SAME(bl_wait_for(c, 0, NULL), BL_OK);
        CHECK_SAME(bl_progress(c), 3);
        uint32_t root = 5;
        CHECK_SAME(bl_run(c, program, &data, &root, 1, NULL), BL_OK); /* the context is free again */
        CHECK_SAME(bl_start_range(c, program, &data, &root, 1000), BL_OK);
        CHECK_SAME(bl_wait(c, &stats), BL_OK);
        CHECK_SAME(stats.tasks, 1000);
        CHECK_SAME(sum, 7 * 321 + 5 + 5000);
        CHECK_SAME(bl_close(c), BL_OK);
    }
    bl_program_free(program);
}

static void test_under_way(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    gate g = {0, 0, 0}, *shared = &g;
    uint32_t root = 0, word = 0;
    void *memory = NULL;
    bl_stats stats = {.tasks = 77};
    check_at("a run under way");
    bl_context *c = open_cpu(2);
    CHECK_SAME(bl_start(c, program, &shared, &root, 1), BL_OK);
    await_task(&g);
    CHECK_SAME(bl_wait_for(c, 0, &stats), BL_EBUSY);
    CHECK_SAME(stats.tasks, 77);
    double begun = check_now();
    CHECK_SAME(bl_wait_for(c, 0.05, NULL), BL_EBUSY);
    double waited = check_now() - begun;
    CHECK(waited >= 0.05 && waited < 5);
    CHECK_SAME(bl_wait_for(c, -1, NULL), BL_EBUSY);
    CHECK_SAME(bl_wait_for(c, NAN, NULL), BL_EBUSY);
    CHECK_SAME(bl_start(c, program, &shared, &root, 1), BL_EBUSY);
    CHECK_SAME(bl_start_range(c, program, &shared, &root, 1), BL_EBUSY);
    CHECK_SAME(bl_start_join(c, program, &shared, &root, 1, &word), BL_EBUSY);
    CHECK_SAME(bl_run(c, program, &shared, &root, 1, NULL), BL_EBUSY);
    CHECK_SAME(bl_alloc(c, &memory, 4), BL_EBUSY);
    open_gate(&g);
    CHECK_SAME(bl_wait_for(c, 100, &stats), BL_OK);
    CHECK_SAME(stats.tasks, 1);
    CHECK_SAME(g.tasks, 1);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

static void *open_later(void *argument) {
    sleep_ms(100);
    open_gate(argument);
    return NULL;
}

static void test_close(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    for (int cancel = 0; cancel < 2; cancel++) {
        check_at("close with a run under way, cancelled: %d", cancel);
        gate g = {0, 0, 0}, *shared = &g;
        pthread_t thread;
        uint32_t root = 0;
        bl_context *c = open_cpu(2);
        CHECK_SAME(bl_start_range(c, program, &shared, &root, 1000), BL_OK);
        await_task(&g);
        CHECK_SAME(pthread_create(&thread, NULL, open_later, &g), 0);
        if (cancel)
            bl_cancel(c);
        double begun = check_now();
        CHECK_SAME(bl_close(c), BL_OK);
        CHECK(check_now() - begun > 0.02); /* it has waited for the tasks in progress */
        CHECK(cancel ? g.tasks < 1000 : g.tasks == 1000);
        pthread_join(thread, NULL);
    }
    check_at("close without waiting, again and again");
    for (int i = 0; i < 200 / CHECK_SLOWER; i++) {
        gate g = {1, 0, 0}, *shared = &g;
        uint32_t root = 0;
        bl_context *c = open_cpu(2);
        CHECK_SAME(bl_start_range(c, program, &shared, &root, 3), BL_OK);
        CHECK_SAME(bl_close(c), BL_OK);
        CHECK_SAME(g.tasks, 3);
    }
    bl_program_free(program);
}

static void test_cancel(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    gate g = {0, 0, 0}, *shared = &g;
    uint32_t root = 0;
    bl_stats stats;
    check_at("cancel");
    bl_context *c = open_cpu(2);
    CHECK_SAME(bl_start_range(c, program, &shared, &root, 100000), BL_OK);
    await_task(&g);
    bl_cancel(c);
    CHECK_SAME(bl_wait_for(c, 0.02, NULL), BL_EBUSY); /* two tasks are in progress */
    sleep_ms(100);                                    /* the watcher has seen it */
    open_gate(&g);
    CHECK_SAME(bl_wait(c, &stats), BL_ECANCEL);
    CHECK(stats.tasks < 100000 && stats.tasks == g.tasks);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- from inside ---- */

typedef struct inside {
    bl_context *c;
    bl_program *program;
    int status[7];
    uint32_t calls;
} inside;

static void call_all(inside *i) {
    uint32_t n = 0, root = 0;
    void *memory;
    i->status[n++] = bl_wait(i->c, NULL);
    i->status[n++] = bl_wait_for(i->c, 3600, NULL);
    i->status[n++] = bl_close(i->c);
    i->status[n++] = bl_start(i->c, i->program, &i, &root, 1);
    i->status[n++] = bl_run(i->c, i->program, &i, &root, 1, NULL);
    i->status[n++] = bl_alloc(i->c, &memory, 4);
    bl_store32_release(&i->calls, n);
}

static void call_in_task(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload;
    if (index == 0)
        call_all(*(inside *const *)shared);
}

static void linger(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload, (void)index, (void)shared;
    sleep_ms(300);
}

static void call_in_progress(void *argument, uint64_t tasks) {
    inside *i = argument;
    (void)tasks;
    if (!i->calls)
        call_all(i);
}

static void test_inside(void) {
    for (int progress = 0; progress < 2; progress++)
        for (uint32_t waits = 0; waits < 2; waits++) {
            inside i = {.c = NULL}, *shared = &i;
            uint32_t root = 0;
            check_at("calls by %s, caller_waits %u", progress ? "config.progress" : "a task", waits);
            bl_config config = {.device = "cpu", .workers = 2, .caller_waits = waits};
            if (progress) {
                config.progress = call_in_progress;
                config.progress_arg = &i;
            }
            CHECK_SAME(bl_open(&i.c, &config), BL_OK);
            i.program = bl_program_from_function(progress ? linger : call_in_task, 4, sizeof shared, 1);
            CHECK_SAME(bl_start_range(i.c, i.program, &shared, &root, 2), BL_OK);
            CHECK_SAME(bl_wait(i.c, NULL), BL_OK);
            CHECK_SAME(i.calls, 6);
            for (uint32_t k = 0; k < i.calls; k++)
                CHECK_SAME(i.status[k], BL_EBUSY);
            CHECK_SAME(bl_close(i.c), BL_OK);
            bl_program_free(i.program);
        }
}

/* ---- several contexts ---- */

/* Each task waits until the tasks of all contexts have begun: that takes runs that overlap. */
static void meet(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t *here = *(uint32_t *const *)shared;
    (void)task, (void)index;
    bl_fetch_add32_relaxed(here, 1);
    double begun = check_now();
    while (bl_load32_relaxed(here) < *(const uint32_t *)payload && check_now() - begun < 20)
        sleep_ms(1);
}

static void test_overlap(void) {
    enum { CONTEXTS = 4 };
    bl_program *program = bl_program_from_function(meet, 4, sizeof(uint32_t *), 1);
    bl_context *c[CONTEXTS];
    uint32_t here = 0, *shared = &here, all = CONTEXTS;
    check_at("runs of several contexts overlap");
    for (int i = 0; i < CONTEXTS; i++) {
        c[i] = open_cpu(1);
        CHECK_SAME(bl_start(c[i], program, &shared, &all, 1), BL_OK);
    }
    double begun = check_now();
    for (int i = 0; i < CONTEXTS; i++)
        CHECK_SAME(bl_wait(c[i], NULL), BL_OK);
    CHECK(check_now() - begun < 10);
    CHECK_SAME(here, CONTEXTS);
    for (int i = 0; i < CONTEXTS; i++)
        CHECK_SAME(bl_close(c[i]), BL_OK);
    bl_program_free(program);
}

/* ---- copies ---- */

enum { WORDS = 1 << 16 };

static void test_copies(void) {
    static uint32_t in[WORDS], out[WORDS];
    bl_program *program = bl_program_from_function(twice, 4, sizeof(arrays), 1);
    bl_program *failing = bl_program_from_function(fail_now, 4, sizeof(arrays), 1);
    void *from, *to;
    uint32_t root = 0, right = 0;
    check_at("copies and a run, one after another");
    bl_context *c = open_cpu(2);
    CHECK_SAME(bl_alloc(c, &from, sizeof in), BL_OK);
    CHECK_SAME(bl_alloc(c, &to, sizeof out), BL_OK);
    CHECK_SAME(bl_zero(c, to, sizeof out), BL_OK);
    arrays a = {from, to};
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i;
    CHECK_SAME(bl_start_copy_in(c, from, in, sizeof in), BL_OK);
    CHECK_SAME(bl_start_range(c, program, &a, &root, WORDS), BL_OK);
    CHECK_SAME(bl_start_copy_out(c, out, to, sizeof out), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    for (uint32_t i = 0; i < WORDS; i++)
        right += out[i] == 2 * i;
    CHECK_SAME(right, WORDS);
    check_at("after an error the rest is left out");
    memset(out, 0, sizeof out);
    for (int late = 0; late < 2; late++) {
        CHECK_SAME(bl_start(c, failing, &a, &root, 1), BL_OK);
        if (late)
            usleep(20000); /* the run has failed by now, and nobody has been told */
        CHECK_SAME(bl_start_copy_out(c, out, to, sizeof out), BL_OK);
        CHECK_SAME(bl_wait(c, NULL), BL_ETASK);
        CHECK_SAME(out[1], 0);
    }
    CHECK_SAME(bl_wait(c, NULL), BL_ETASK);
    CHECK_SAME(bl_start_copy_out(c, out, to, sizeof out), BL_OK); /* and a new sequence begins */
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(out[1], 2);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(failing);
    bl_program_free(program);
}

/* ---- bad input ---- */

static void test_refused(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    gate g = {0, 0, 0}, *shared = &g;
    uint32_t root = 0;
    check_at("refused");
    CHECK_SAME(bl_start(NULL, program, &shared, &root, 1), BL_EINVAL);
    CHECK_SAME(bl_wait(NULL, NULL), BL_EINVAL);
    bl_context *c = open_cpu(1);
    CHECK_SAME(bl_start(c, NULL, &shared, &root, 1), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "program"));
    CHECK_SAME(bl_start(c, program, NULL, &root, 1), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "shared"));
    CHECK_SAME(bl_wait(c, NULL), BL_EINVAL); /* what was refused was not started */
    CHECK_SAME(bl_start_after(c, &root), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "stream"));
    CHECK_SAME(bl_hold_stream(c, &root), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "stream"));
    check_at("refused behind a copy");
    CHECK_SAME(bl_start_copy_in(c, &g.tasks, &root, 4), BL_OK);
    int status = bl_start(c, program, NULL, &root, 1);
    CHECK_SAME(status, BL_EINVAL);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

static void test_fork(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    gate g = {0, 0, 0}, *shared = &g;
    uint32_t root = 0;
    check_at("a child of a process with a run under way");
    bl_context *c = open_cpu(2);
    CHECK_SAME(bl_start(c, program, &shared, &root, 1), BL_OK);
    await_task(&g);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        bool right =
            bl_wait(c, NULL) == BL_EDEAD && bl_start(c, program, &shared, &root, 1) == BL_EDEAD && bl_close(c) == BL_OK;
        _exit(right ? 0 : 1);
    }
    int how = -1;
    CHECK(waitpid(child, &how, 0) == child && how == 0);
    open_gate(&g);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- many threads ---- */

typedef struct crowd {
    bl_context *c;
    const bl_program *program;
    uint64_t sum;
    uint32_t started, refused, other;
} crowd;

static void *start_often(void *argument) {
    crowd *all = argument;
    sum_data data = {&all->sum, 1};
    for (uint32_t i = 0; i < 300 / CHECK_SLOWER; i++) {
        uint32_t one = 1;
        int status = bl_start_range(all->c, all->program, &data, &one, 10);
        bl_fetch_add32_relaxed(status == BL_OK ? &all->started : status == BL_EBUSY ? &all->refused : &all->other, 1);
        status = i % 2 ? bl_wait(all->c, NULL) : bl_wait_for(all->c, 1e-4, NULL);
        if (status != BL_OK && status != BL_EBUSY)
            bl_fetch_add32_relaxed(&all->other, 1);
        bl_progress(all->c);
    }
    return NULL;
}

static void test_crowd(void) {
    enum { THREADS = 4 };
    bl_program *program = bl_program_from_function(add_payload, 4, sizeof(sum_data), 1);
    crowd all = {.program = program};
    pthread_t threads[THREADS];
    check_at("four threads start and wait on one context");
    all.c = open_cpu(2);
    for (int i = 0; i < THREADS; i++)
        CHECK_SAME(pthread_create(threads + i, NULL, start_often, &all), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_SAME(bl_wait(all.c, NULL), BL_OK);
    CHECK_SAME(all.other, 0);
    CHECK(all.started > 0);
    CHECK_SAME(all.sum, 10 * (uint64_t)all.started);
    CHECK_SAME(bl_close(all.c), BL_OK);
    bl_program_free(program);
}

static void test_progress(void) {
    bl_program *program = bl_program_from_function(linger, 4, 0, 1);
    uint32_t root = 0;
    check_at("progress");
    bl_context *c = open_cpu(1);
    CHECK_SAME(bl_start_range(c, program, NULL, &root, 4), BL_OK);
    while (bl_progress(c) == 0 && bl_wait_for(c, 0.01, NULL) == BL_EBUSY)
        ;
    uint64_t seen = bl_progress(c);
    CHECK(seen > 0 && seen < 4);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(bl_progress(c), 4);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

int main(void) {
    check_limit(300);
    test_start_and_wait();
    test_under_way();
    test_close();
    test_cancel();
    test_inside();
    test_overlap();
    test_copies();
    test_refused();
    test_fork();
    test_crowd();
    test_progress();
    return check_end();
}
