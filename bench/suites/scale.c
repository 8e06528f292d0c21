/* How time and memory grow with the problem, over at least three orders of magnitude, for every application: with the
 * default scheduler, and with static shares, a launch per wave. A case per application. */
#include "harness/app_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 8 };

/* Sizes as the option accepts them. `quick` and `cpu`: how many of them are used then. */
typedef struct ladder {
    const char *app, *options, *option, *axis;
    unsigned quick, cpu;
    const char *steps[STEPS_MAX];
} ladder;

static const ladder LADDERS[] = {
    {"fib", "", "--n", "n", 4, 5, {"15", "20", "25", "30", "35", "40"}},
    {"fourrow", "", "--lookahead", "lookahead", 4, 5, {"4", "5", "6", "7", "8", "9"}},
    {"nqueens", "", "--n", "queens", 4, 6, {"8", "9", "10", "12", "13", "14", "15"}},
    {"octree", "--tasks octants", "--particles", "particles", 4, 5, {"1k", "10k", "100k", "1M", "5M", "20M"}},
    {"pagerank",
     "--graph $BALLAST_DATA/graphs/p2p-Gnutella31.txt.gz",
     "--iterations",
     "iterations",
     3,
     4,
     {"1", "10", "100", "1000"}},
    {"transform", "", "--elements", "elements", 4, 4, {"50k", "500k", "5M", "50M"}},
    {"uts", "-t 1 -a 3 -b 4 -r 19", "-d", "depth", 4, 5, {"5", "6", "7", "9", "10", "11"}},
};

/* "1k" is 1000; a name stands for its position. */
static double size_of(const char *text, unsigned place) {
    char *end;
    double value = strtod(text, &end);
    return end == text ? place + 1 : *end == 'k' ? 1e3 * value : *end == 'M' ? 1e6 * value : value;
}

static void climb(app_bench *s, const ladder *l) {
    app_table t = {.name = l->app, .title = "over the size of the problem", .app = l->app, .options = l->options};
    unsigned count = 0;
    t.axis = l->axis;
    while (count < STEPS_MAX && l->steps[count])
        count++;
    if (app_quick(s))
        count = l->quick;
    else if (app_device(s)->warp == 1)
        count = l->cpu;
    app_add_series(&t, "default", "auto");
    app_add_series(&t, "static", "static:split");
    for (unsigned i = 0; i < count; i++) {
        app_point *p = app_add_point(&t, size_of(l->steps[i], i), "%s", l->steps[i]);
        snprintf(p->options, sizeof p->options, "%s %s", l->option, l->steps[i]);
    }
    app_table_run(s, &t, NULL);
}

static void tables(app_bench *s) {
    for (size_t i = 0; i < sizeof LADDERS / sizeof LADDERS[0]; i++)
        if (app_data_there(s, LADDERS[i].app, LADDERS[i].options))
            climb(s, &LADDERS[i]);
}

static void run(bench *b, bench_device *d) { app_bench_run(b, d, tables); }

/* ---- the figures ---- */

/* " 2.62 times for default,": from a curve's first point to its last. */
static void add_growth(char *text, size_t size, const bench_curve *curve) {
    const bench_mark *first = &curve->marks[0], *last = &curve->marks[curve->count - 1];
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s %s times for %.40s", length ? "," : "",
             bench_digits(last->median / first->median).text, curve->name);
}

/* There is no paper; the answer is the growth from the least work to the most. */
static void say_growth(const bench_panel *p, bench_verdict *v) {
    char growth[240] = "", reason[400];
    double least = INFINITY, most = 0;
    for (unsigned i = 0; i < p->count; i++) {
        const bench_curve *curve = &p->curves[i];
        least = fmin(least, curve->marks[0].x);
        most = fmax(most, curve->marks[curve->count - 1].x);
        add_growth(growth, sizeof growth, curve);
    }
    snprintf(reason, sizeof reason, "From %.0f to %.0f tasks, %s times as many, the %s grow%s.", least, most,
             bench_digits(most / least).text, p->figure->y_text, growth);
    bench_say_leader(p, v, reason);
}

static const bench_figure FIGURES[] = {
    {.name = "time",
     .title = "Time over the number of tasks",
     .asks = "Does time grow as the work does?",
     .each = "device,app",
     .series = "series",
     .x = "tasks",
     .y = "seconds",
     .y_scale = 1e3,
     .x_text = "tasks",
     .y_text = "milliseconds",
     .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS,
     .reference = "static",
     .agrees = say_growth},
    {.name = "memory",
     .title = "Memory over the number of tasks",
     .asks = "How much do queues, stacks and pools take?",
     .each = "device,app",
     .series = "series",
     .x = "tasks",
     .y = "peak_bytes",
     .y_scale = 1e-6,
     .x_text = "tasks",
     .y_text = "megabytes",
     .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS,
     .reference = "static",
     .agrees = say_growth},
    {.name = NULL},
};

const bench_suite scale_suite = {
    .name = "scale",
    .text = "time and memory of every application over three orders of magnitude of work",
    .columns = app_grid_columns,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
