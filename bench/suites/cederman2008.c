/* Cederman and Tsigas 2008: four methods on the octree, particles in a cube and in a tube.
 *
 *   fig2-uniform, fig2-tube   Figures 2 and 3: time over threads per block and blocks per grid
 *   fig2-static               the same for the static method, which has a block per task
 *   fig4-uniform, fig4-tube   Figure 4: time over the number of particles, each method at its best point of figure 2
 *   fig5                      Figure 5: the number of tasks, and of waves
 *
 * The paper's figures 2 and 3 are one experiment on two GPUs; here it runs on the selected device. On a CPU, a worker
 * takes the place of a block, with one thread. */
#include "harness/app_grid.h"

#include <inttypes.h>
#include <math.h>

static const char *const DISTRIBUTIONS[] = {"uniform", "tube"};
enum { UNIFORM, TUBE, KINDS };
static const char *const METHODS[] = {"abp", "lockfree", "blocking"};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };
static const char *const OPTIONS[KINDS] = {"--distribution uniform", "--distribution tube"};

/* The best point of a method. 0: the default. */
typedef struct best {
    double seconds;
    uint32_t workers, lanes;
} best;

static uint32_t particles(const app_bench *s) { return app_quick(s) && app_device(s)->warp == 1 ? 100000 : 500000; }

typedef struct lane_list {
    uint32_t count, lanes[8];
} lane_list;

static lane_list lane_counts(const app_bench *s) {
    static const lane_list all = {6, {32, 64, 96, 128, 256, 512}}, few = {2, {64, 256}}, cpu = {1, {1}};
    return app_device(s)->warp == 1 ? cpu : app_quick(s) ? few : all;
}

static void keep_best(const app_table *t, const app_medians *medians, best *bests) {
    for (unsigned i = 0; i < t->series_count; i++) {
        int at = app_best(t, medians, i);
        if (at < 0 || (bests[i].seconds > 0 && bests[i].seconds <= medians->seconds[i][at]))
            continue;
        bests[i] = (best){medians->seconds[i][at], t->points[at].workers, t->points[at].lanes};
    }
}

/* Figures 2 and 3, without the static method. */
static void threads_and_blocks(app_bench *s, int kind, best *bests) {
    static const char *const NAMES[KINDS] = {"fig2-uniform", "fig2-tube"};
    lane_list lanes = lane_counts(s);
    for (uint32_t i = 0; i < lanes.count; i++) {
        char title[96], options[64];
        app_medians medians;
        app_table t = {.name = NAMES[kind], .title = title, .app = "octree", .options = options, .axis = "blocks"};
        snprintf(title, sizeof title, "octree, %s, blocks of %" PRIu32 " threads", DISTRIBUTIONS[kind], lanes.lanes[i]);
        snprintf(options, sizeof options, "--particles %" PRIu32 " %s", particles(s), OPTIONS[kind]);
        for (unsigned m = 0; m < METHOD_COUNT; m++)
            app_add_series(&t, METHODS[m], METHODS[m]);
        app_add_workers(&t, s, lanes.lanes[i]);
        app_table_run(s, &t, &medians);
        keep_best(&t, &medians, bests);
    }
}

/* Figure 2 (d): as many blocks as there are tasks. */
static void static_threads(app_bench *s, best *bests) {
    char options[32];
    app_medians medians;
    app_table t = {.name = "fig2-static",
                   .title = "octree, a block per task",
                   .app = "octree",
                   .options = options,
                   .axis = "threads/block"};
    lane_list lanes = lane_counts(s);
    snprintf(options, sizeof options, "--particles %" PRIu32, particles(s));
    for (int kind = 0; kind < KINDS; kind++)
        app_add_series(&t, DISTRIBUTIONS[kind], "static")->options = OPTIONS[kind];
    for (uint32_t i = 0; i < lanes.count; i++)
        app_add_point(&t, lanes.lanes[i], "%" PRIu32, lanes.lanes[i])->lanes = lanes.lanes[i];
    app_table_run(s, &t, &medians);
    keep_best(&t, &medians, bests);
}

static void add_sizes(app_table *t, const app_bench *s) {
    static const uint32_t all[] = {50, 100, 200, 300, 400, 500, 1000, 2000, 4000}, few[] = {50, 100, 200, 500};
    const uint32_t *thousands = app_quick(s) ? few : all;
    size_t count = app_quick(s) ? sizeof few / 4 : app_device(s)->warp > 1 ? sizeof all / 4 : 7;
    for (size_t i = 0; i < count; i++) {
        app_point *p = app_add_point(t, 1e3 * thousands[i], "%" PRIu32 "k", thousands[i]);
        snprintf(p->options, sizeof p->options, "--particles %" PRIu32 "k", thousands[i]);
    }
}

/* Figure 4. */
static void sizes(app_bench *s, int kind, const best *bests, best static_best) {
    static const char *const NAMES[KINDS] = {"fig4-uniform", "fig4-tube"};
    char title[96];
    app_table t = {.name = NAMES[kind], .title = title, .app = "octree", .options = OPTIONS[kind], .axis = "particles"};
    snprintf(title, sizeof title, "octree, %s, each method at its best point of figure 2", DISTRIBUTIONS[kind]);
    for (unsigned m = 0; m < METHOD_COUNT; m++) {
        app_series *series = app_add_series(&t, METHODS[m], METHODS[m]);
        series->workers = bests[m].workers;
        series->lanes = bests[m].lanes;
    }
    app_add_series(&t, "static", "static")->lanes = static_best.lanes;
    add_sizes(&t, s);
    app_table_run(s, &t, NULL);
}

/* Figure 5. */
static void tasks(app_bench *s) {
    app_table t = {.name = "fig5",
                   .title = "octree, how many tasks there are, and how many waves the static method needs",
                   .app = "octree",
                   .options = "",
                   .axis = "particles",
                   .shown = APP_SHOW_TASKS_AND_WAVES};
    for (int kind = 0; kind < KINDS; kind++)
        app_add_series(&t, DISTRIBUTIONS[kind], "static")->options = OPTIONS[kind];
    add_sizes(&t, s);
    app_table_run(s, &t, NULL);
}

static void tables(app_bench *s) {
    best bests[KINDS][METHOD_COUNT] = {0}, static_bests[KINDS] = {0};
    for (int kind = 0; kind < KINDS; kind++)
        threads_and_blocks(s, kind, bests[kind]);
    static_threads(s, static_bests);
    for (int kind = 0; kind < KINDS; kind++)
        sizes(s, kind, bests[kind], static_bests[kind]);
    tasks(s);
}

static void run(bench *b, bench_device *d) { app_bench_run(b, d, tables); }

/* ---- the figures ---- */

typedef struct fastest {
    const bench_mark *mark;
    const char *curve;
    double most_x;
} fastest;

static fastest find_fastest(const bench_panel *p) {
    fastest found = {NULL, "", 0};
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < p->curves[i].count; j++) {
            const bench_mark *mark = &p->curves[i].marks[j];
            found.most_x = mark->x > found.most_x ? mark->x : found.most_x;
            if (!mark->wrong && (!found.mark || mark->median < found.mark->median)) {
                found.mark = mark;
                found.curve = p->curves[i].name;
            }
        }
    return found;
}

/* A panel is one method. The blocking queue is best with less than the whole device, stealing with most of it. */
static void judge_blocks(const bench_panel *p, bench_verdict *v) {
    fastest best = find_fastest(p);
    bool blocking = strstr(p->name, "blocking") != NULL, stealing = strstr(p->name, "abp") != NULL;
    bool enough = best.mark && best.most_x > 4; /* an interrupted run has only the first few */
    if (app_no_verdict(p, v, enough ? best.mark->median : NAN, true))
        return;
    double share = best.mark->x / best.most_x;
    bool as_found = blocking ? share <= 0.25 : stealing ? share >= 0.1 : share <= 0.75;
    bench_say(
        v, as_found ? BENCH_YES : BENCH_NO,
        "Best: %s ms with %.0f blocks of %s threads, of up to %.0f blocks that were tried. It agrees where the best "
        "takes %s of them.",
        bench_digits(best.mark->median).text, best.mark->x, best.curve, best.most_x,
        blocking   ? "at most a quarter"
        : stealing ? "at least a tenth"
                   : "at most three quarters");
}

static void judge_threads(const bench_panel *p, bench_verdict *v) {
    fastest best = find_fastest(p);
    if (app_no_verdict(p, v, best.mark ? best.mark->median : NAN, true))
        return;
    bench_say(v, best.mark->x <= 64 ? BENCH_YES : BENCH_NO,
              "Best: %s ms (%s) with %.0f threads. It agrees where the best takes at most 64.",
              bench_digits(best.mark->median).text, best.curve, best.mark->x);
}

static void judge_methods(const bench_panel *p, bench_verdict *v) {
    const double x = 500e3;
    double abp = bench_panel_at(p, "abp", x), fixed = bench_panel_at(p, "static", x);
    double lockfree = bench_panel_at(p, "lockfree", x), blocking = bench_panel_at(p, "blocking", x);
    if (app_no_verdict(p, v, abp + fixed + lockfree + blocking, true))
        return;
    int right = (abp < 1.02 * fixed) + (fixed < lockfree) + (lockfree < blocking);
    bench_say(v,
              right == 3  ? BENCH_YES
              : right > 0 ? BENCH_PARTLY
                          : BENCH_NO,
              "500,000 particles: abp %s ms, static %s, lockfree %s, blocking %s.", bench_digits(abp).text,
              bench_digits(fixed).text, bench_digits(lockfree).text, bench_digits(blocking).text);
}

static void judge_tasks(const bench_panel *p, bench_verdict *v) {
    double uniform = bench_panel_at(p, "uniform", 500e3), tube = bench_panel_at(p, "tube", 500e3);
    if (app_no_verdict(p, v, uniform + tube, false))
        return;
    bench_say(v, tube > uniform ? BENCH_YES : BENCH_NO, "500,000 particles: %.0f tasks uniform, %.0f in the tube.",
              uniform, tube);
}

/* The paper starts with an iteration by one block, which it does not count as a wave. */
static void judge_waves(const bench_panel *p, bench_verdict *v) {
    double waves = bench_panel_at(p, "tube", 500e3) - 1;
    if (app_no_verdict(p, v, waves, false))
        return;
    bench_say(v, waves == 7 ? BENCH_YES : BENCH_NO, "500,000 particles in the tube: %.0f waves after the first one.",
              waves);
}

#define OCTREE_TIMES                                                                                                   \
    .x = "x", .y = "seconds", .y_scale = 1e3, .y_text = "milliseconds", .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS

static const char *const SAYS[][2] = {
    {"fig2-uniform", "particles in a cube"},
    {"fig2-tube", "particles in a tube"},
    {"fig4-uniform", "particles in a cube"},
    {"fig4-tube", "particles in a tube"},
    {"0", "1 (a CPU)"},
    {NULL, NULL},
};

static const bench_figure FIGURES[] = {
    {.name = "threads-blocks",
     .title = "Octree: threads per block and blocks per grid",
     .asks = "How many blocks can each method use?",
     .found = "Figures 2 and 3, 8800GT (14 multiprocessors) and 9600GT: the blocking queue is best with fewer than ten "
              "blocks "
              "(72 threads, 8 blocks), the lock-free queue gains up to about 20 blocks, stealing up to about 30 (64 "
              "threads, "
              "32 blocks).",
     .rows = "case=fig2-uniform|fig2-tube",
     .each = "device,case,scheduler",
     .series = "asked_lanes",
     .series_text = "threads per block",
     .says = SAYS,
     .x_text = "blocks",
     OCTREE_TIMES,
     .no_contest = true,
     .agrees = judge_blocks},
    {.name = "static-threads",
     .title = "Octree, static: threads per block",
     .asks = "How large should the block of each task be?",
     .found = "Figures 2d and 3d: it gains up to 32 threads, the best number; more give nothing.",
     .rows = "case=fig2-static",
     .series = "series",
     .series_text = "distribution",
     .x_text = "threads per block",
     OCTREE_TIMES,
     .no_contest = true,
     .agrees = judge_threads},
    {.name = "particles",
     .title = "Octree: the four methods over the number of particles",
     .asks = "Which method is best, each with its best number of threads and blocks?",
     .found =
         "Figure 4: stealing is best and beats the static method, then the lock-free queue; the blocking queue is last "
         "and the slower the more processors there are.",
     .rows = "case=fig4-uniform|fig4-tube",
     .each = "device,case",
     .series = "series",
     .says = SAYS,
     .x_text = "particles",
     OCTREE_TIMES,
     .reference = "abp",
     .agrees = judge_methods},
    {.name = "tasks",
     .title = "Octree: number of tasks",
     .asks = "How much work is there?",
     .found = "Figure 5: the number grows quickly; the tube, less balanced, has more.",
     .rows = "case=fig5",
     .series = "series",
     .series_text = "distribution",
     .x = "x",
     .y = "tasks",
     .x_text = "particles",
     .y_text = "tasks",
     .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_NEITHER,
     .no_contest = true,
     .agrees = judge_tasks},
    {.name = "waves",
     .title = "Octree: number of waves of the static method",
     .asks = "How deep is the tree?",
     .found = "Section 6.1: 500,000 particles in the tube take 7 iterations, after one by a single block.",
     .rows = "case=fig5",
     .series = "series",
     .series_text = "distribution",
     .x = "x",
     .y = "launches",
     .x_text = "particles",
     .y_text = "waves",
     .flags = BENCH_LOG_X | BENCH_NEITHER,
     .no_contest = true,
     .agrees = judge_waves},
    {.name = NULL},
};
#undef OCTREE_TIMES

const bench_suite cederman2008_suite = {
    .name = "cederman2008",
    .text = "four methods on the octree: threads and blocks, particles, tasks (Cederman, Tsigas 2008, Figures 2 to 5)",
    .columns = app_grid_columns,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
