/* Cederman and Tsigas 2008: four methods on the octree, particles in a cube and in a tube.
 *
 *   fig2-uniform, fig2-tube   Figures 2 and 3: time over threads per block and blocks per grid
 *   fig2-static               the same for the static method, which has a block per task
 *   fig4-uniform, fig4-tube   Figure 4: time over the number of particles, each method at its best point of figure 2
 *   fig5                      Figure 5: the number of tasks, and of waves
 *
 * The paper's figures 2 and 3 are one experiment on two GPUs; here it is the device at hand. On a CPU workers stand for blocks, of one thread. */
#include "app_grid.h"

#include <inttypes.h>

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
    for (int kind = 0; kind < KINDS; kind++) {
        app_add_series(&t, DISTRIBUTIONS[kind], "static");
        t.series[kind].options = OPTIONS[kind];
    }
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
        app_add_series(&t, METHODS[m], METHODS[m]);
        t.series[m].workers = bests[m].workers;
        t.series[m].lanes = bests[m].lanes;
    }
    app_add_series(&t, "static", "static");
    t.series[METHOD_COUNT].lanes = static_best.lanes;
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
    for (int kind = 0; kind < KINDS; kind++) {
        app_add_series(&t, DISTRIBUTIONS[kind], "static");
        t.series[kind].options = OPTIONS[kind];
    }
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

const bench_suite cederman2008_suite = {
    .name = "cederman2008",
    .text = "four methods on the octree: threads and blocks, particles, tasks (Cederman, Tsigas 2008, Figures 2 to 5)",
    .columns = app_grid_columns,
    .run = run,
};
