// COMPILE: -O1
/* Checkpoints of several nodes of a process, cpu+cpu: a run is stopped by the clock or by the user, or interrupted
 * again and again, and resumed with another number of nodes. Answers and counts are those of an uninterrupted run. */
#include "check.h"

#include "riddles.h"

#include <unistd.h>

static char file[64];
static const char *const devices[] = {"cpu+cpu", "cpu", "cpu+cpu+cpu", "cpu+cpu+cpu+cpu+cpu", "sim"};

typedef struct cancelling {
    bl_context *c;
    long us;
} cancelling;

static void *cancel_later(void *argument) {
    const cancelling *later = argument;
    sleep_us(later->us);
    bl_cancel(later->c);
    return NULL;
}

enum { BY_CLOCK, BY_USER, ON_THE_WAY, STOPS };

static void count_tasks(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    (void)payload;
    *(uint64_t *)arg += end - begin;
}

/* One step of a run: with `seconds` from the start or from the file. */
static int step(const char *device, uint32_t stop, bool resumes, double seconds, riddle *r, bl_stats *stats) {
    uint64_t left = 0;
    bl_config config = {.device = device,
                        .workers = 1 + r->seed % 2,
                        .grain = r->kind == TERMS ? 16 : 0,
                        .checkpoint = file,
                        .resume = resumes ? file : NULL,
                        .left = count_tasks,
                        .left_arg = &left};
    bl_context *c = NULL;
    pthread_t helper;
    if (stop == BY_CLOCK)
        config.time_limit = seconds;
    if (stop == ON_THE_WAY)
        config.checkpoint_seconds = seconds / 2;
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
        exit(check_end());
    cancelling later = {c, (long)(1e6 * seconds)};
    if (stop == BY_USER)
        CHECK_SAME(pthread_create(&helper, NULL, cancel_later, &later), 0);
    memset(stats, 0, sizeof *stats);
    const int status = riddle_run(r, c, stats);
    if (stop == BY_USER)
        pthread_join(helper, NULL);
    if (status != BL_OK && status != BL_ETIME && status != BL_ECANCEL)
        printf("    %s: %s\n", bl_status_name(status), bl_error_detail(c));
    CHECK_SAME(stats->left, left);
    CHECK_SAME(left > 0, status != BL_OK);
    bl_stats one;
    uint64_t tasks = 0;
    for (uint32_t i = 0; bl_node_device(c, i); i++) {
        CHECK_SAME(bl_node_stats(c, i, &one), BL_OK);
        tasks += one.tasks;
    }
    CHECK_SAME(bl_node_device(c, 0) ? tasks : stats->tasks, stats->tasks); /* of all parts of the run */
    CHECK_SAME(bl_close(c), BL_OK);
    return status;
}

static void check_answer(const riddle *got, const bl_stats *stats, const riddle *want) {
    CHECK(riddle_is_right(got, got->number, want));
    CHECK_SAME(stats->tasks, want->tasks);
}

/* Stopped and resumed until it is done, with other nodes each time; and once more from the last file. */
static uint32_t check_steps(uint32_t kind, uint32_t seed, uint32_t stop) {
    const riddle want = riddle_solve(kind, seed);
    riddle got = {.kind = kind, .seed = seed};
    bl_stats stats;
    double seconds = 0.002;
    uint32_t steps = 0;
    int status;
    do {
        const char *device = devices[(seed + steps) % 4];
        check_at("riddle %u, seed %u, stop %u, step %u, %s", kind, seed, stop, steps, device);
        status = step(device, stop, steps > 0, seconds, &got, &stats);
        seconds *= 1.2;
        steps++;
    } while (status == (stop == BY_CLOCK ? BL_ETIME : BL_ECANCEL) && steps < 100);
    CHECK_SAME(status, BL_OK);
    check_answer(&got, &stats, &want);
    if (access(file, F_OK) == 0) { /* else it was done before it could be stopped */
        const char *device = devices[(seed + steps) % 4];
        check_at("riddle %u, seed %u, stop %u, from the last file, %s", kind, seed, stop, device);
        CHECK_SAME(step(device, BY_CLOCK, true, 0, &got, &stats), BL_OK);
        check_answer(&got, &stats, &want);
        remove(file);
    }
    return steps;
}

static void test_steps(void) {
    uint32_t runs = 0, steps = 0;
    for (uint32_t kind = 0; kind < RIDDLES; kind++)
        for (uint32_t stop = 0; stop < STOPS; stop++)
            for (uint32_t seed = 1; seed <= 4 / CHECK_SLOWER + 1; seed++, runs++)
                steps += check_steps(kind, seed, stop);
    CHECK(steps > runs); /* some are stopped */
}

/* ---- several runs in one context: the ones before the one that was stopped are repeated ---- */

static void test_runs(void) {
    const riddle want[] = {riddle_solve(LEAVES, 1), riddle_solve(WORDS, 2), riddle_solve(LEAVES, 3)};
    double limit = 0.01;
    int status;
    uint32_t steps = 0;
    do {
        bl_context *c = NULL;
        bl_config config = {.device = devices[steps % 4], .workers = 1, .checkpoint = file, .time_limit = limit};
        config.resume = steps ? file : NULL;
        check_at("runs, step %u", steps);
        CHECK_SAME(bl_open(&c, &config), BL_OK);
        for (uint32_t i = 0; i < 3; i++) {
            riddle got = {.kind = want[i].kind, .seed = want[i].seed};
            bl_stats stats;
            status = riddle_run(&got, c, &stats);
            if (status != BL_OK)
                break;
            check_answer(&got, &stats, &want[i]);
        }
        bl_close(c);
        limit *= 1.2;
    } while (status == BL_ETIME && ++steps < 100);
    CHECK_SAME(status, BL_OK);
    remove(file);
}

/* ---- files that cannot be written or used ---- */

static void test_wrong_files(void) {
    riddle got = {.kind = WORDS, .seed = 3};
    bl_context *c = NULL;
    check_at("wrong files");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+cpu", .checkpoint = "/nowhere/file"}), BL_OK);
    CHECK_SAME(riddle_run(&got, c, NULL), BL_EFILE);
    CHECK(strstr(bl_error_detail(c), "/nowhere/file: cannot be written"));
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+cpu+cpu", .resume = "/nowhere/file"}), BL_OK);
    CHECK_SAME(riddle_run(&got, c, NULL), BL_EFILE);
    CHECK(strstr(bl_error_detail(c), "/nowhere/file: No such file"));
    CHECK_SAME(bl_close(c), BL_OK);
    bl_stats stats;
    CHECK_SAME(step("cpu+cpu", BY_CLOCK, false, 0.003, &got, &stats), BL_ETIME);
    got.seed++; /* another problem */
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+cpu", .resume = file}), BL_OK);
    CHECK_SAME(riddle_run(&got, c, NULL), BL_EFILE);
    CHECK(strstr(bl_error_detail(c), "another problem"));
    CHECK_SAME(bl_close(c), BL_OK);
    remove(file);
}

typedef struct moving {
    char from[64], to[96];
    int failed;
} moving;

static void *move_later(void *argument) {
    moving *m = argument;
    sleep_us(100000);
    m->failed = rename(m->from, m->to);
    return NULL;
}

/* The folder vanishes after some checkpoints of a run: it ends, and nothing is lost. */
static void test_vanished(void) {
    moving folder = {.from = "/tmp/ballast-nodes-XXXXXX"};
    char path[128];
    uint64_t left = 0;
    garden g = {.endless = true, .widest = 3};
    const garden_of shared = {&g};
    const twig root = {5, 0, 0};
    uint64_t result;
    bl_stats stats;
    bl_context *c = NULL;
    check_at("a folder that vanishes");
    CHECK(mkdtemp(folder.from) != NULL);
    snprintf(folder.to, sizeof folder.to, "%s-moved", folder.from);
    snprintf(path, sizeof path, "%s/file", folder.from);
    const bl_config config = {.device = "cpu+cpu+cpu",
                              .workers = 1,
                              .checkpoint = path,
                              .checkpoint_seconds = 0.01,
                              .left = count_tasks,
                              .left_arg = &left};
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    pthread_t helper;
    CHECK_SAME(pthread_create(&helper, NULL, move_later, &folder), 0);
    CHECK_SAME(bl_run_join(c, bush_sum_cpu(), &shared, &root, 1, &result, &stats), BL_EFILE);
    pthread_join(helper, NULL);
    CHECK_SAME(folder.failed, 0);
    CHECK(strstr(bl_error_detail(c), "cannot be written"));
    CHECK(stats.pauses > 1);
    CHECK_SAME(stats.left, left);
    CHECK_SAME(g.tasks + left, g.forked + 1);
    CHECK_SAME(stats.tasks, g.tasks);
    CHECK_SAME(bl_close(c), BL_OK);
    snprintf(path, sizeof path, "%s/file", folder.to);
    CHECK_SAME(remove(path), 0); /* nothing half-written is there */
    CHECK_SAME(remove(folder.to), 0);
}

/* A task fails in a run that writes checkpoints: that is what the caller hears, and everything is accounted for. */
static void test_failures(void) {
    for (uint32_t i = 0; i < 12; i++) {
        uint64_t left = 0, error = 0, result;
        garden g = {.endless = true, .widest = 3, .fails_at = 2000 + 300 * i};
        const garden_of shared = {&g};
        const twig root = {i, 0, 0};
        bl_stats stats;
        bl_context *c = NULL;
        check_at("failure %u", i);
        const bl_config config = {.device = devices[i % 2 * 2],
                                  .workers = 1 + i % 2,
                                  .checkpoint = file,
                                  .checkpoint_seconds = 0.003,
                                  .left = count_tasks,
                                  .left_arg = &left};
        CHECK_SAME(bl_open(&c, &config), BL_OK);
        CHECK_SAME(bl_run_join(c, bush_sum_cpu(), &shared, &root, 1, &result, &stats), BL_ETASK);
        CHECK(bl_failure(c, &error) != NULL);
        CHECK_SAME(error, 77);
        CHECK_SAME(stats.left, left);
        CHECK_SAME(g.tasks + left, g.forked + 1);
        CHECK_SAME(stats.tasks, g.tasks);
        CHECK_SAME(bl_close(c), BL_OK);
    }
    remove(file);
}

int main(void) {
    check_limit(200 * CHECK_SLOWER);
    snprintf(file, sizeof file, "/tmp/ballast-nodes-%ld", (long)getpid());
    test_steps();
    test_runs();
    test_wrong_files();
    test_vanished();
    test_failures();
    return check_end();
}
