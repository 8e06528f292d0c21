// COMPILE: -O1
/* A run on CPU threads that is open to submissions: the contract, bad input, back-pressure, early ends, and how soon
 * what is submitted starts. */
#include "submit_check.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static submit_setup setup_with(bl_config config) {
    config.device = "cpu";
    return (submit_setup){config, trees_cpu(), calls_cpu(), sums_cpu(), 6};
}

static void test_contract(void) {
    for (uint32_t workers = 1; workers <= 4; workers += workers) {
        check_at("%u workers", workers);
        submit_setup s = setup_with((bl_config){.workers = workers});
        submit_contract(&s);
        check_at("%u workers, small queues", workers);
        s = setup_with((bl_config){.workers = workers, .capacity = 2, .private_entries = 1});
        submit_contract(&s);
        check_at("%u workers, the caller waits", workers);
        s = setup_with((bl_config){.workers = workers, .caller_waits = 1});
        submit_contract(&s);
    }
    const char *name;
    for (uint32_t i = 0; (name = bl_scheduler_name(i)); i++) {
        check_at("%s", name);
        submit_setup s = setup_with((bl_config){.workers = 2, .scheduler = name});
        if (!(bl_scheduler_traits(name) & BL_TRAIT_WAVES)) {
            check_trees(&s, 4);
            check_answers(&s, false, 20, 4, false);
            continue;
        }
        bl_context *c = submit_open(&s, 0);
        CHECK_SAME(bl_start_open(c, s.calls, NULL), BL_OK);
        CHECK_SAME(bl_wait(c, NULL), BL_EINVAL);
        CHECK(strstr(bl_error_detail(c), "waves cannot take in work from outside"));
        CHECK_SAME(bl_submit(c, &(call){3}, sizeof(call), 1, NULL), BL_ECLOSED);
        CHECK(strstr(bl_error_detail(NULL), "has ended: an argument is out of range"));
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

/* ---- tasks that the test holds up ---- */

typedef struct gate {
    uint32_t open, entered, tasks, left;
    bl_context *c;
    int inside; /* what bl_submit said to a task */
    double begun[4096];
} gate;

static void pass_gate(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    gate *g = *(gate *const *)shared;
    (void)task, (void)index;
    bl_fetch_add32_relaxed(&g->entered, 1);
    while (!bl_load32_acquire(&g->open))
        sleep_ms(1);
    bl_fetch_add32_relaxed(&g->tasks, *(const uint32_t *)payload);
}

static void count_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    gate *g = arg;
    (void)payload;
    g->left += end - begin;
}

static void *open_later(void *argument) {
    gate *g = argument;
    sleep_ms(60);
    bl_store32_release(&g->open, 1);
    return NULL;
}

static void test_back_pressure(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    gate g = {.open = 0}, *shared = &g;
    uint32_t one = 1, many[64], sent = 0;
    bl_context *c = NULL;
    pthread_t helper;
    check_at("back-pressure");
    for (uint32_t i = 0; i < 64; i++)
        many[i] = 1;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2, .inbox = 7}), BL_OK);
    CHECK_SAME(bl_start_open(c, program, &shared), BL_OK);
    while (sent < 100 && bl_try_submit(c, &one, 4, 1, NULL) == BL_OK)
        sent++, sleep_ms(2);
    CHECK_SAME(sent, 2 + 7); /* the workers have one each */
    CHECK_SAME(bl_try_submit(c, &one, 4, 1, NULL), BL_EFULL);
    CHECK(strstr(bl_error_detail(NULL), "no room for 1 more"));
    CHECK_SAME(bl_try_submit(c, many, 4, 8, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "too many at once"));
    CHECK_SAME(pthread_create(&helper, NULL, open_later, &g), 0);
    double begun = check_now();
    CHECK_SAME(bl_submit(c, many, 4, 64, NULL), BL_OK); /* waits for the helper */
    CHECK(check_now() - begun > 0.03);
    pthread_join(helper, NULL);
    CHECK_SAME(bl_submit_end(c), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(g.tasks, sent + 64);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- ending early ---- */

typedef struct waiting {
    bl_context *c;
    int status;
    char detail[256];
} waiting;

static void *submit_and_wait(void *argument) {
    waiting *w = argument;
    uint32_t payloads[64] = {0};
    w->status = bl_submit(w->c, payloads, 4, 64, NULL);
    snprintf(w->detail, sizeof w->detail, "%s", bl_error_detail(NULL));
    return NULL;
}

static void test_cancel(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    gate g = {.open = 0}, *shared = &g;
    uint32_t payloads[20];
    bl_stats stats;
    pthread_t helper, submitter_thread;
    waiting w = {NULL, BL_OK, ""};
    check_at("cancelled");
    for (uint32_t i = 0; i < 20; i++)
        payloads[i] = 1;
    CHECK_SAME(
        bl_open(&w.c, &(bl_config){.device = "cpu", .workers = 1, .inbox = 31, .left = count_left, .left_arg = &g}),
        BL_OK);
    CHECK_SAME(bl_start_open(w.c, program, &shared), BL_OK);
    CHECK_SAME(bl_submit(w.c, payloads, 4, 20, NULL), BL_OK);
    while (!bl_load32_relaxed(&g.entered))
        sleep_ms(1);
    CHECK_SAME(pthread_create(&submitter_thread, NULL, submit_and_wait, &w), 0); /* there is room for 12 of its 64 */
    sleep_ms(5);
    bl_cancel(w.c);
    CHECK_SAME(pthread_create(&helper, NULL, open_later, &g), 0);
    CHECK_SAME(bl_wait(w.c, &stats), BL_ECANCEL);
    pthread_join(submitter_thread, NULL);
    pthread_join(helper, NULL);
    CHECK_SAME(w.status, BL_ECLOSED);
    CHECK(strstr(w.detail, "has ended: cancelled; "));
    CHECK(strstr(w.detail, " of 64 were submitted"));
    uint32_t sent = 20 + (uint32_t)strtoul(strstr(w.detail, "; ") ? strstr(w.detail, "; ") + 2 : "0", NULL, 10);
    CHECK(sent >= 20 + 12);
    CHECK_SAME(stats.tasks + stats.left, sent);
    CHECK_SAME(g.left, stats.left);
    CHECK(stats.left > 0);
    CHECK_SAME(bl_submit(w.c, payloads, 4, 1, NULL), BL_ECLOSED);
    CHECK_SAME(bl_reset(w.c), BL_OK);
    check_at("cancelled while idle");
    CHECK_SAME(bl_start_open(w.c, program, &shared), BL_OK);
    CHECK_SAME(bl_submit(w.c, payloads, 4, 1, NULL), BL_OK);
    sleep_ms(5);
    bl_cancel(w.c);
    CHECK_SAME(bl_wait(w.c, &stats), BL_ECANCEL);
    CHECK_SAME(stats.tasks, 1);
    CHECK_SAME(bl_close(w.c), BL_OK);
    check_at("time limit");
    CHECK_SAME(bl_open(&w.c, &(bl_config){.device = "cpu", .workers = 2, .time_limit = 0.05}), BL_OK);
    CHECK_SAME(bl_start_open(w.c, program, &shared), BL_OK);
    CHECK_SAME(bl_wait(w.c, &stats), BL_ETIME);
    CHECK_SAME(bl_close(w.c), BL_OK);
    bl_program_free(program);
}

static void test_stall(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    gate g = {.open = 1}, *shared = &g;
    uint32_t one = 1;
    bl_context *c = NULL;
    pthread_t helper;
    check_at("waiting is no stall");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2, .stall_seconds = 0.1}), BL_OK);
    CHECK_SAME(bl_start_open(c, program, &shared), BL_OK);
    CHECK_SAME(bl_wait_for(c, 0.3, NULL), BL_EBUSY);
    CHECK_SAME(bl_submit(c, &one, 4, 1, NULL), BL_OK);
    CHECK_SAME(bl_wait_for(c, 0.3, NULL), BL_EBUSY);
    check_at("a stall in an open run");
    g.open = 0;
    CHECK_SAME(bl_submit(c, &one, 4, 1, NULL), BL_OK);
    sleep_ms(250);
    CHECK_SAME(pthread_create(&helper, NULL, open_later, &g), 0);
    CHECK_SAME(bl_wait(c, NULL), BL_ESTALL);
    pthread_join(helper, NULL);
    CHECK_SAME(bl_submit(c, &one, 4, 1, NULL), BL_ECLOSED);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- bad input ---- */

static void submit_inside(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    gate *g = *(gate *const *)shared;
    (void)task, (void)index;
    g->inside = bl_submit(g->c, payload, 4, 1, NULL);
    bl_fetch_add32_relaxed(&g->tasks, strstr(bl_error_detail(NULL), "might wait for itself") != NULL);
    bl_submit_end(g->c); /* this it may */
}

static void check_refused(bl_context *c, const char *why) {
    uint32_t one = 1;
    CHECK_SAME(bl_submit(c, &one, 4, 1, NULL), BL_ECLOSED);
    CHECK(strstr(bl_error_detail(NULL), why));
    CHECK_SAME(bl_try_submit(c, &one, 4, 1, NULL), BL_ECLOSED);
    CHECK(strstr(bl_error_detail(NULL), why));
}

static void test_bad_input(void) {
    bl_program *program = bl_program_from_function(pass_gate, 4, sizeof(gate *), 1);
    bl_program *inside = bl_program_from_function(submit_inside, 4, sizeof(gate *), 1);
    gate g = {.open = 0}, *shared = &g;
    uint32_t one = 1;
    bl_context *c = NULL;
    check_at("bad input");
    CHECK_SAME(bl_submit(NULL, &one, 4, 1, NULL), BL_EINVAL);
    CHECK_SAME(bl_submit_end(NULL), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .inbox = (1u << 24) + 1}), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "inbox: too large"));
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2}), BL_OK);
    check_refused(c, "no run was opened");
    CHECK_SAME(bl_submit_end(c), BL_ECLOSED);
    CHECK_SAME(bl_start(c, program, &shared, &one, 1), BL_OK); /* not an open one */
    check_refused(c, "no run was opened");
    bl_store32_release(&g.open, 1);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(bl_start_open(c, NULL, NULL), BL_EINVAL);
    CHECK_SAME(bl_start_open(c, program, NULL), BL_EINVAL);
    CHECK_SAME(bl_start_open(c, program, &shared), BL_OK);
    CHECK_SAME(bl_start_open(c, program, &shared), BL_EBUSY);
    CHECK_SAME(bl_submit(c, &one, 8, 1, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "payload_bytes 8:") && strstr(bl_error_detail(NULL), "payloads of 4"));
    CHECK_SAME(bl_submit(c, NULL, 4, 1, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "payloads: NULL"));
    CHECK_SAME(bl_submit(c, NULL, 4, 0, NULL), BL_OK);
    CHECK_SAME(bl_run(c, program, &shared, &one, 1, NULL), BL_EBUSY);
    bl_store32_release(&g.open, 0);
    CHECK_SAME(bl_submit(c, &one, 4, 1, NULL), BL_OK); /* the run lasts until this one may pass */
    CHECK_SAME(bl_submit_end(c), BL_OK);
    check_refused(c, "bl_submit_end has been called");
    bl_store32_release(&g.open, 1);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    check_refused(c, "has ended: success");
    CHECK_SAME(bl_submit_end(c), BL_OK);
    g = (gate){.c = c};
    CHECK_SAME(bl_start_open(c, inside, &shared), BL_OK);
    CHECK_SAME(bl_submit(c, &one, 4, 1, NULL), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(g.inside, BL_EBUSY);
    CHECK_SAME(g.tasks, 1);
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .checkpoint = "rest"}), BL_OK);
    CHECK_SAME(bl_start_open(c, program, &shared), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "writes no checkpoint"));
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(inside);
    bl_program_free(program);
}

/* ---- how soon ---- */

enum { SAMPLES = 100 };

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, by_size);
    return values[count / 2];
}

/* 0: works for 5 us and makes another such task, as long as the gate is shut. Else a sample. */
static void work_on(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    gate *g = *(gate *const *)shared;
    const uint32_t number = *(const uint32_t *)payload;
    (void)index;
    if (number) {
        g->begun[number] = check_now();
        bl_fetch_add32_release(&g->tasks, 1);
        return;
    }
    bl_spend(5000);
    if (!bl_load32_relaxed(&g->open))
        bl_task_spawn(task, payload, 1);
}

/* Median time from bl_submit to the task, with `busy` workers at work. */
static double median_start(gate *g, bl_context *c, const bl_program *program, uint32_t busy) {
    static double took[SAMPLES];
    const uint32_t none = 0;
    g->open = g->tasks = 0;
    CHECK_SAME(bl_start_open(c, program, &g), BL_OK);
    for (uint32_t i = 0; i < busy; i++)
        CHECK_SAME(bl_submit(c, &none, 4, 1, NULL), BL_OK);
    sleep_ms(5);
    for (uint32_t i = 1; i < SAMPLES; i++) {
        double begun = check_now();
        bl_submit(c, &i, 4, 1, NULL);
        while (bl_load32_acquire(&g->tasks) < i)
            sched_yield();
        took[i - 1] = g->begun[i] - begun;
        if (!busy)
            sleep_ms(2); /* until the worker sleeps */
    }
    bl_store32_release(&g->open, 1);
    CHECK_SAME(bl_submit_end(c), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(g->tasks, SAMPLES - 1);
    return median(took, SAMPLES - 1);
}

static void test_latency(void) {
    bl_program *program = bl_program_from_function(work_on, 4, sizeof(gate *), 1);
    static gate g;
    double busy = 1, idle;
    bl_context *c = NULL;
    check_at("how soon a submission starts");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 1}), BL_OK);
    for (int i = 0; i < 20 && busy > 20e-6; i++) { /* others may be using this machine */
        sleep_ms(i);
        busy = median_start(&g, c, program, 1);
    }
    idle = median_start(&g, c, program, 0);
    printf("a submission starts after %.1f us on a worker with tasks of 5 us, after %.1f us on one that sleeps\n",
           1e6 * busy, 1e6 * idle);
    CHECK(CHECK_SLOWER > 1 || busy <= 20e-6);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

static double cpu_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void test_idle(void) {
    submit_setup s = setup_with((bl_config){.workers = 4});
    bl_context *c = submit_open(&s, 0);
    call root = {15};
    check_at("an open run without work");
    CHECK_SAME(bl_start_open(c, s.calls, NULL), BL_OK);
    CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_OK); /* so that all have been awake */
    await_answers(1);
    sleep_ms(20);
    double before = cpu_seconds();
    sleep_ms(400);
    double used = cpu_seconds() - before;
    printf("%.2f ms of CPU time in 400 ms without work\n", 1e3 * used);
    CHECK(used < 0.001 * CHECK_SLOWER);
    CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_OK);
    CHECK_SAME(bl_submit_end(c), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(answered.all, 2);
    CHECK_SAME(bl_close(c), BL_OK);
}

int main(void) {
    check_limit(120 * CHECK_SLOWER);
    test_contract();
    test_back_pressure();
    test_cancel();
    test_stall();
    test_bad_input();
    test_latency();
    test_idle();
    return check_end();
}
