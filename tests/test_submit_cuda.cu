/* A run on a GPU that is open to submissions by threads of the host: the contract, a kernel that waits, a cancel while
 * it waits, and how long answers take. Skipped without a GPU. */
#include "submit_check.h"

static submit_setup setup_with(bl_config config) {
    config.device = "cuda";
    submit_setup s = {config, trees_cuda(), calls_cuda(), sums_cuda(), 8};
    return s;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The kernel waits for input, longer than a stall may last; then it is cancelled, and the context opens another run. */
static void check_waiting(void) {
    bl_config config = {};
    bl_stats stats;
    config.stall_seconds = 0.3;
    submit_setup s = setup_with(config);
    bl_context *c = submit_open(&s, 0);
    call root = {12};
    CHECK_SAME(bl_start_open(c, s.calls, NULL), BL_OK);
    CHECK_SAME(bl_wait_for(c, 0.8, NULL), BL_EBUSY);
    CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_OK);
    await_answers(1);
    CHECK_SAME(bl_wait_for(c, 0.8, NULL), BL_EBUSY);
    bl_cancel(c);
    CHECK_SAME(bl_wait(c, &stats), BL_ECANCEL);
    CHECK_SAME(stats.tasks, call_expect(11).calls);
    CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_ECLOSED);
    CHECK_SAME(bl_reset(c), BL_OK);
    CHECK_SAME(bl_start_open(c, s.calls, NULL), BL_OK);
    CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_OK);
    CHECK_SAME(bl_submit_end(c), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(answered.all, 2);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* From bl_submit to config.answer, one at a time; trees of 1,000 calls and more take about as long as by bl_run. The
 * limits are far above what was measured, for a GPU that others use: it must not be milliseconds. */
static void check_latency(uint32_t n, double most) {
    enum { SAMPLES = 200 };
    bl_config config = {};
    double took[SAMPLES];
    submit_setup s = setup_with(config);
    bl_context *c = submit_open(&s, 0);
    call root = {n};
    CHECK_SAME(bl_start_open(c, s.calls, NULL), BL_OK);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double begun = check_now();
        CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_OK);
        while (answers_so_far() <= i)
            ;
        took[i] = check_now() - begun;
    }
    CHECK_SAME(bl_submit_end(c), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    qsort(took, SAMPLES, sizeof took[0], by_size);
    printf("answers of %llu calls each: median %.1f us, p99 %.1f us\n", (unsigned long long)call_expect(n - 1).calls,
           1e6 * took[SAMPLES / 2], 1e6 * took[SAMPLES - 1 - SAMPLES / 100]);
    CHECK(took[SAMPLES / 2] < most);
}

/* A program without BL_OPEN has no code for it. */
#define BL_PROGRAM shut
#define BL_PAYLOAD call
#define BL_RUN sums_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_LANE_TASKS 1
#define BL_SCHEDULERS BL_SCHEDULERS_OWN_GROUP
#include <ballast/program.h>

static void check_no_code(void) {
    bl_config config = {};
    submit_setup s = setup_with(config);
    bl_context *c = submit_open(&s, 0);
    CHECK_SAME(bl_start_open(c, shut_cuda(), NULL), BL_ENOCODE);
    CHECK(strstr(bl_error_detail(c), "accepted: with BL_OPEN 1"));
    CHECK_SAME(bl_close(c), BL_OK);
}

/* Tasks without a result: how many come through the ring. */
static void show_rate(void) {
    enum { TASKS = 200000, AT_ONCE = 1000 };
    static tree_node nodes[AT_ONCE];
    bl_config config = {};
    uint64_t sum = 0;
    void *memory = NULL;
    submit_setup s = setup_with(config);
    bl_context *c = submit_open(&s, 8191);
    for (uint32_t i = 0; i < AT_ONCE; i++)
        nodes[i].depth = 0;
    CHECK_SAME(bl_alloc(c, &memory, sizeof sum), BL_OK);
    CHECK_SAME(bl_zero(c, memory, sizeof sum), BL_OK);
    tree_shared shared = {(uint64_t *)memory};
    CHECK_SAME(bl_start_open(c, s.trees, &shared), BL_OK);
    double begun = check_now();
    for (uint32_t i = 0; i < TASKS; i += AT_ONCE)
        CHECK_SAME(bl_submit(c, nodes, sizeof nodes[0], AT_ONCE, NULL), BL_OK);
    CHECK_SAME(bl_submit_end(c), BL_OK);
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    double took = check_now() - begun;
    CHECK_SAME(bl_copy_out(c, &sum, memory, sizeof sum), BL_OK);
    CHECK_SAME(sum, TASKS);
    CHECK_SAME(bl_close(c), BL_OK);
    printf("%.2f million submissions per second\n", 1e-6 * TASKS / took);
}

int main(void) {
    bl_device_info info;
    check_limit(120);
    if (!bl_device_find("cuda", &info)) {
        printf("no GPU\n");
        return CHECK_SKIPPED;
    }
    bl_config config = {};
    check_at("latency"); /* first: nothing that this run needs has been used before it */
    check_latency(1, 1e-3);
    check_latency(16, 3e-3);
    check_at("default");
    submit_setup s = setup_with(config);
    submit_contract(&s);
    config.workers = 3;
    config.capacity = 2;
    config.private_entries = 1;
    check_at("small queues");
    s = setup_with(config);
    submit_contract(&s);
    check_at("no code");
    check_no_code();
    check_at("waiting");
    check_waiting();
    check_at("rate");
    show_rate();
    return check_end();
}
