/* The suite greedy: its bound, computed by hand, its loads, and that every way to create tasks runs each task once. And
 * that a worker is found for each of a few long tasks, whether its thread has joined the run or not. */
#include "check.h"

#include "../bench/greedy/greedy_run.h"

#include <math.h>
#include <stdlib.h>

static bool near(double a, double b) { return fabs(a - b) < 1e-12; }

/* Sixteen tasks of 1 to 16 ms. */
static void check_bound(void) {
    uint32_t took[16];
    for (uint32_t i = 0; i < 16; i++)
        took[i] = (i + 1) * 1000000;
    greedy_limits plain = greedy_limits_of(&(greedy_setting){GREEDY_SINGLY, 2, 1, false}, took, NULL, 16);
    CHECK(near(plain.share, 0.068) && near(plain.path, 0.016) && near(plain.bound, 1.1 * 0.084 + 0.002));
    greedy_limits one = greedy_limits_of(&(greedy_setting){GREEDY_PIECES, 2, 1, false}, took, NULL, 16);
    CHECK(near(one.path, 0.016)); /* a sixteenth */
    greedy_limits two = greedy_limits_of(&(greedy_setting){GREEDY_PIECES, 1, 1, false}, took, NULL, 16);
    CHECK(near(two.path, 0.031)); /* an eighth: the last two */
    greedy_limits gpu = greedy_limits_of(&(greedy_setting){GREEDY_RANGE, 4, 1, true}, took, NULL, 16);
    CHECK(near(gpu.share, 0.034) && near(gpu.path, 0.016) && near(gpu.bound, 1.1 * 0.066 + 50e-6));
    /* Worker 0 has a batch of the first eight and one of the next four, worker 2 the others, one after another. */
    uint32_t began[32], worker[32];
    for (uint32_t i = 0; i < 16; i++) {
        began[i] = UINT32_MAX - 5 + (i < 8 ? i : i < 12 ? 10000000 : 20000000 * (i - 11));
        worker[i] = i < 12 ? 0 : 2;
    }
    greedy_batches batches = {began, worker, NULL};
    greedy_limits lanes = greedy_limits_of(&(greedy_setting){GREEDY_RANGE, 4, 8, true}, took, &batches, 16);
    CHECK(near(lanes.share, (0.008 + 0.012 + 0.013 + 0.014 + 0.015 + 0.016) / 4) && near(lanes.path, 0.016));
    CHECK(near(lanes.filled, 0.136 / (8 * 0.078)));
    /* The root, task 24, forks task 28, which shares the batch of the first eight and forks the eighth task and task
     * 30, and that one, in the batch of the thirteenth task, forks all others. */
    uint32_t parents[32];
    memset(parents, 0xff, sizeof parents);
    for (uint32_t i = 0; i < 16; i++)
        parents[i] = i < 7 ? 24 : i == 7 ? 28 : 30;
    parents[28] = 24;
    parents[30] = 28;
    began[28] = began[3];
    began[30] = began[12] + 1;
    worker[28] = 0;
    worker[30] = 2;
    batches.parents = parents;
    greedy_limits forks = greedy_limits_of(&(greedy_setting){GREEDY_TREE, 4, 8, true}, took, &batches, 16);
    CHECK(near(forks.share, lanes.share) && near(forks.path, 0.008 + 0.013 + 0.016));
    CHECK(near(forks.bound, 1.1 * (forks.share + 2 * forks.path) + 50e-6));
}

static void check_loads(void) {
    greedy_load a, b;
    for (unsigned i = 0; greedy_load_name(i); i++) {
        uint32_t least = UINT32_MAX, most = 0;
        check_at("%s", greedy_load_name(i));
        if (!CHECK(greedy_load_make(&a, greedy_load_name(i), 64, 1000)) ||
            !CHECK(greedy_load_make(&b, greedy_load_name(i), 64, 1000)))
            return;
        CHECK(a.count == b.count && memcmp(a.length, b.length, a.count * sizeof *a.length) == 0);
        for (uint32_t k = 0; k < a.count; k++) {
            least = a.length[k] < least ? a.length[k] : least;
            most = a.length[k] > most ? a.length[k] : most;
        }
        CHECK(least >= 1000 && most <= 24000 && (i == 0 || most > 10 * least));
        greedy_load_free(&a);
        greedy_load_free(&b);
    }
    check_at("%s", "");
    CHECK(!greedy_load_make(&a, "nothing", 8, 1000));
}

/* On every scheduler, with tasks that take no time. */
static void check_runs(void) {
    static uint32_t nothing[1500];
    greedy_load load = {1500, nothing};
    const char *name;
    for (uint32_t i = 0; (name = bl_scheduler_name(i)); i++) {
        bl_context *context;
        bl_config config = {.device = "cpu", .workers = 3};
        config.scheduler = name;
        if (!CHECK_SAME(bl_open(&context, &config), BL_OK))
            return;
        for (int shape = 0; shape < GREEDY_SHAPES; shape++) {
            greedy_result r;
            check_at("%s, %s", name, greedy_shape_names[shape]);
            greedy_run(context, (greedy_shape)shape, false, &load, &r);
            CHECK_SAME(r.status, BL_OK);
            CHECK(r.right && r.stats.tasks >= load.count && r.stats.workers == 3);
        }
        bl_close(context);
    }
}

/* As many tasks as workers, which sleep: they take as long as one. Not in every run, the machine may be busy. */
static void check_few(bool caller_waits) {
    enum { WORKERS = 8, LENGTH = 80000000 /* ns */, RUNS = 8, MOST_LATE = 2 };
    static const greedy_shape shapes[] = {GREEDY_SINGLY, GREEDY_RANGE, GREEDY_ROOTS, GREEDY_LOOP};
    uint32_t length[WORKERS];
    greedy_load load = {WORKERS, length};
    bl_context *context;
    const bl_config config = {.device = "cpu", .workers = WORKERS, .caller_waits = caller_waits};
    if (!CHECK_SAME(bl_open(&context, &config), BL_OK))
        return;
    for (uint32_t i = 0; i < WORKERS; i++)
        length[i] = LENGTH;
    for (uint32_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        uint32_t late = 0;
        check_at("%u long tasks, %s, caller %s", (unsigned)WORKERS, greedy_shape_names[shapes[k]],
                 caller_waits ? "waits" : "works");
        for (uint32_t i = 0; i < RUNS; i++) {
            greedy_result r;
            greedy_run(context, shapes[k], false, &load, &r);
            CHECK_SAME(r.status, BL_OK);
            CHECK(r.right);
            late += r.stats.seconds > 1.8e-9 * LENGTH;
        }
        if (!CHECK(late <= MOST_LATE))
            printf("%s: %u of %u runs late\n", check_doing, (unsigned)late, (unsigned)RUNS);
    }
    bl_close(context);
}

int main(void) {
    check_limit(120);
    CHECK(greedy_shape_find("tree") == GREEDY_TREE && greedy_shape_find("nothing") < 0);
    check_bound();
    check_loads();
    check_runs();
    check_few(false);
    check_few(true);
    return check_end();
}
