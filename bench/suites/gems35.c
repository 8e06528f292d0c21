/* Cederman and Tsigas, GPU Computing Gems, chapter 35: stealing against a static share for each block.
 *
 *   fig35.8    four in a row, tasks per millisecond over lookahead and blocks
 *   fig35.9    four in a row, dynamic against static, with the slots for tasks that each needs
 *   fig35.11   the same for the octree, 1 to 15 million particles
 *
 * The paper had up to eight blocks on each multiprocessor, which was all that fit. Here a worker of four in a row is
 * a warp whose lanes have a task each, and four of them make a block. */
#include "harness/app_grid.h"

#include <inttypes.h>
#include <math.h>

/* Eight stones, with no row of three that could be completed at once; it replaces the scenario of Figure 35.6. */
#define POSITION "--position 44532635"
enum { WARPS_PER_BLOCK = 4, LOOKAHEAD_LEAST = 4, LOOKAHEAD_MOST = 7 };

/* With all workers that fit. */
static void add_methods(app_table *t) {
    app_add_series(t, "dynamic", "abp");
    app_add_series(t, "static", "static:split");
    app_add_series(t, "default", "auto");
}

static void add_blocks(app_table *t, const app_bench *s) {
    static const uint32_t factors[] = {1, 2, 4, 6, 8};
    bool gpu = app_device(s)->warp > 1;
    if (!gpu && app_device(s)->processors > 1)
        app_add_point(t, 1, "1")->workers = 1;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i += app_quick(s) ? 2 : 1) {
        uint32_t workers = app_device(s)->processors * factors[i] * (gpu ? WARPS_PER_BLOCK : 1);
        app_add_point(t, workers, "%" PRIu32, workers)->workers = workers;
    }
    if (gpu)
        app_add_point(t, 0, "all that fit");
}

static void lookahead_and_blocks(app_bench *s) {
    static const char *const NAMES[] = {"4 moves", "5 moves", "6 moves", "7 moves"};
    static const char *const OPTIONS[] = {"--lookahead 4", "--lookahead 5", "--lookahead 6", "--lookahead 7"};
    app_table t = {.name = "fig35.8",
                   .title = "four in a row by stealing, over the number of workers",
                   .app = "fourrow",
                   .options = POSITION,
                   .axis = "workers",
                   .shown = APP_SHOW_RATE};
    for (int i = 0; i <= LOOKAHEAD_MOST - LOOKAHEAD_LEAST; i++)
        app_add_series(&t, NAMES[i], "abp")->options = OPTIONS[i];
    add_blocks(&t, s);
    app_table_run(s, &t, NULL);
}

static void dynamic_and_static(app_bench *s) {
    app_table t = {.name = "fig35.9",
                   .title = "four in a row, over the number of moves ahead",
                   .app = "fourrow",
                   .options = POSITION,
                   .axis = "lookahead",
                   .shown = APP_SHOW_RATE_AND_SLOTS};
    add_methods(&t);
    for (int moves = LOOKAHEAD_LEAST; moves <= LOOKAHEAD_MOST + (app_quick(s) ? 0 : 1); moves++) {
        app_point *p = app_add_point(&t, moves, "%d", moves);
        snprintf(p->options, sizeof p->options, "--lookahead %d", moves);
    }
    app_table_run(s, &t, NULL);
}

/* A CPU gets a smaller scale with --quick. */
static void octree(app_bench *s) {
    static const uint32_t full[] = {1000, 2000, 3000, 5000, 7000, 10000, 15000}, quick[] = {1000, 3000, 10000},
                          small[] = {100, 500, 1000};
    bool gpu = app_device(s)->warp > 1;
    const uint32_t *thousands = !app_quick(s) ? full : gpu ? quick : small;
    size_t count = app_quick(s) ? 3 : sizeof full / sizeof full[0];
    app_table t = {.name = "fig35.11",
                   .title = "octree, over the number of particles",
                   .app = "octree",
                   .options = "--distribution uniform --tasks octants",
                   .axis = "particles",
                   .shown = APP_SHOW_RATE_AND_SLOTS};
    add_methods(&t);
    for (size_t i = 0; i < count; i++) {
        app_point *p = app_add_point(&t, 1e3 * thousands[i], "%" PRIu32 "k", thousands[i]);
        snprintf(p->options, sizeof p->options, "--particles %" PRIu32 "k", thousands[i]);
    }
    app_table_run(s, &t, NULL);
}

static void tables(app_bench *s) {
    lookahead_and_blocks(s);
    dynamic_and_static(s);
    octree(s);
}

static void run(bench *b, bench_device *d) { app_bench_run(b, d, tables); }

/* ---- the figures ---- */

/* Few workers are worst, and with much work the most workers are best. */
static void judge_blocks(const bench_panel *p, bench_verdict *v) {
    const bench_curve *deep = bench_panel_curve(p, "7 moves"), *flat = bench_panel_curve(p, "4 moves");
    if (app_no_verdict(p, v, deep && flat && deep->count > 2 && flat->count > 2 ? 0 : NAN, true))
        return;
    double gain = deep->marks[deep->count - 1].median / deep->marks[0].median;
    double flat_gain = flat->marks[flat->count - 1].median / flat->marks[0].median;
    bool deep_gains = gain > 1.5, flat_gains_less = flat_gain < gain;
    bench_say(v,
              deep_gains && flat_gains_less   ? BENCH_YES
              : deep_gains || flat_gains_less ? BENCH_PARTLY
                                              : BENCH_NO,
              "From %.0f to %.0f workers 7 moves gain a factor of %s, 4 moves one of %s.", deep->marks[0].x,
              deep->marks[deep->count - 1].x, bench_digits(gain).text, bench_digits(flat_gain).text);
}

static void judge_speed(const bench_panel *p, bench_verdict *v) {
    double gain = bench_panel_gain(p, "dynamic", "static", 7), flat = bench_panel_gain(p, "dynamic", "static", 4);
    if (app_no_verdict(p, v, gain + flat, true))
        return;
    bench_say(v,
              gain >= 1.5    ? BENCH_YES
              : gain >= 1.05 ? BENCH_PARTLY
                             : BENCH_NO,
              "At 7 moves dynamic is %s times as fast as static, at 4 moves %s times.", bench_digits(gain).text,
              bench_digits(flat).text);
}

static void judge_slots(const bench_panel *p, bench_verdict *v) {
    double dynamic = bench_panel_at(p, "dynamic", 7), fixed = bench_panel_at(p, "static", 7);
    double ratio = fixed / dynamic;
    if (app_no_verdict(p, v, ratio, false))
        return;
    bench_say(v,
              ratio >= 10 ? BENCH_YES
              : ratio > 1 ? BENCH_PARTLY
                          : BENCH_NO,
              "At 7 moves static needs %.0f slots and dynamic %.0f: %s times as many.", fixed, dynamic,
              bench_digits(ratio).text);
}

static void gain_range(const bench_panel *p, double *least, double *most) {
    const bench_curve *curve = bench_panel_curve(p, "dynamic");
    *least = *most = bench_panel_gain(p, "dynamic", "static", bench_panel_full(p));
    for (unsigned i = 0; curve && i < curve->count; i++) {
        double gain = bench_panel_gain(p, "dynamic", "static", curve->marks[i].x);
        *least = gain < *least ? gain : *least;
        *most = gain > *most ? gain : *most;
    }
}

static void judge_octree(const bench_panel *p, bench_verdict *v) {
    double least, most;
    gain_range(p, &least, &most);
    if (app_no_verdict(p, v, least + most, true))
        return;
    bench_say(v,
              least >= 1.0  ? BENCH_YES
              : most >= 1.0 ? BENCH_PARTLY
                            : BENCH_NO,
              "Dynamic is %s to %s times as fast as static.", bench_digits(least).text, bench_digits(most).text);
}

/* How the number of slots grows from the first point to the last. */
static double growth(const bench_panel *p, const char *name) {
    const bench_curve *curve = bench_panel_curve(p, name);
    return curve && curve->count > 1 ? curve->marks[curve->count - 1].median / curve->marks[0].median : NAN;
}

static void judge_octree_slots(const bench_panel *p, bench_verdict *v) {
    double dynamic = growth(p, "dynamic"), fixed = growth(p, "static");
    if (app_no_verdict(p, v, dynamic + fixed, false))
        return;
    bench_say(v,
              fixed > 2 * dynamic ? BENCH_YES
              : fixed > dynamic   ? BENCH_PARTLY
                                  : BENCH_NO,
              "From the fewest particles to the most, slots grow %s times for dynamic and %s times for static.",
              bench_digits(dynamic).text, bench_digits(fixed).text);
}

static const bench_figure FIGURES[] = {
    {.name = "lookahead-blocks",
     .title = "Four in a row: lookahead and blocks",
     .asks = "How many workers does stealing need, for 4 to 7 moves ahead?",
     .found =
         "Figure 35.8, GTX 280: 30 blocks are poor for all; 4 moves are too few tasks for many blocks; for more moves "
         "240 blocks, 8 on each multiprocessor, are best.",
     .rows = "case=fig35.8",
     .series_text = "looked ahead",
     .series = "series",
     .x = "x",
     .y = "tasks_per_second",
     .y_scale = 1e-3,
     .x_text = "workers",
     .y_text = "tasks per millisecond",
     .no_contest = true,
     .flags = BENCH_LOG_X | BENCH_LOG_Y,
     .agrees = judge_blocks},
    {.name = "lookahead-speed",
     .title = "Four in a row: dynamic against static",
     .asks = "What does stealing gain over a static share for each block?",
     .found =
         "Figure 35.9, GTX 280, 240 blocks: dynamic scales much better with the load; at 7 moves it is twice as fast.",
     .rows = "case=fig35.9",
     .series = "series",
     .x = "x",
     .y = "tasks_per_second",
     .y_scale = 1e-3,
     .x_text = "moves ahead",
     .y_text = "tasks per millisecond",
     .flags = BENCH_LOG_Y,
     .reference = "static",
     .agrees = judge_speed},
    {.name = "lookahead-memory",
     .title = "Four in a row: slots for tasks",
     .asks = "For how many tasks must there be room?",
     .found = "Figure 35.9: at 7 moves about 800,000 for static, the most of one launch, and about 12,000 for dynamic, "
              "50 for "
              "each of 240 deques.",
     .rows = "case=fig35.9",
     .series = "series",
     .x = "x",
     .y = "paper_tasks",
     .x_text = "moves ahead",
     .y_text = "slots",
     .flags = BENCH_LOG_Y | BENCH_LESS,
     .reference = "static",
     .agrees = judge_slots},
    {.name = "octree-speed",
     .title = "Octree of 1 to 15 million particles: dynamic against static",
     .asks = "What does stealing gain where waves are few and wide?",
     .found = "Figure 35.11, GTX 280: dynamic is 10 to 15 % faster.",
     .rows = "case=fig35.11",
     .series = "series",
     .x = "x",
     .y = "tasks_per_second",
     .y_scale = 1e-3,
     .x_text = "particles",
     .y_text = "tasks per millisecond",
     .flags = BENCH_LOG_X,
     .reference = "static",
     .agrees = judge_octree},
    {.name = "octree-memory",
     .title = "Octree of 1 to 15 million particles: slots for tasks",
     .asks = "For how many tasks must there be room?",
     .found = "Figure 35.11: nearly the same number for dynamic whatever the number of particles; it grows quickly for "
              "static.",
     .rows = "case=fig35.11",
     .series = "series",
     .x = "x",
     .y = "paper_tasks",
     .x_text = "particles",
     .y_text = "slots",
     .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS,
     .reference = "static",
     .agrees = judge_octree_slots},
    {.name = NULL},
};

const bench_suite gems35_suite = {
    .name = "gems35",
    .text =
        "stealing against static shares, with memory: four in a row and the octree (Gems 35, Figures 35.8 to 35.11)",
    .columns = app_grid_columns,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
