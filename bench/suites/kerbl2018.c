/* Kerbl et al. 2018, Figures 3d and 3e: eight iterations of PageRank, over the number of threads, by queues that may
 * run empty.
 *
 *   fig3d   p2p-Gnutella31, 62,586 nodes
 *   fig3e   web-NotreDame, 325,729 nodes
 *   own-*   both graphs as the library would do it: by sweeps; and data driven, with larger tasks
 *
 * A task per node, everything through the shared queues, as in the paper. The graphs are found through BALLAST_DATA.
 * The paper's synthetic figures are the suites kerbl-*. */
#include "harness/app_grid.h"

#include <inttypes.h>
#include <math.h>

enum { LANES = 64 }; /* of the group that runs a task on a GPU */
#define GNUTELLA "--graph $BALLAST_DATA/graphs/p2p-Gnutella31.txt.gz"
#define NOTREDAME "--graph $BALLAST_DATA/graphs/web-NotreDame.txt.gz"

typedef struct queue_name {
    const char *name, *scheduler;
} queue_name;

/* The paper's names; abp and chase_lev for comparison. */
static const queue_name QUEUES[] = {
    {"BQ", "central:broker"}, {"BWD", "central:bwd"}, {"BSQ", "steal:broker"}, {"GQ", "central:gottlieb"},
    {"LCRQ", "central:lcrq"}, {"WFQ", "central:wfq"}, {"TZ", "central:tz"},    {"ABP", "steal:abp"},
};
enum { QUEUE_COUNT = sizeof QUEUES / sizeof QUEUES[0] };

static void add_threads(app_table *t, const app_bench *s) {
    bool gpu = app_device(s)->warp > 1;
    uint32_t lanes = gpu ? LANES : 1, most = gpu ? 1u << 17 : app_device(s)->processors * (app_quick(s) ? 1 : 2);
    uint32_t factor = app_quick(s) ? 8 : 2;
    for (uint32_t threads = gpu ? 1024 : 1; threads <= most; threads *= gpu ? factor : 2) {
        app_point *p = app_add_point(t, threads, "%" PRIu32, threads);
        p->workers = threads / lanes;
        p->lanes = gpu ? LANES : 0;
    }
}

static void over_threads(app_bench *s, const char *name, const char *title, const char *options) {
    app_table t = {.name = name, .title = title, .app = "pagerank", .options = options, .axis = "threads"};
    for (unsigned i = 0; i < QUEUE_COUNT; i++)
        app_add_series(&t, QUEUES[i].name, QUEUES[i].scheduler)->no_private = true;
    add_threads(&t, s);
    app_table_run(s, &t, NULL);
}

static void own(app_bench *s, const char *name, const char *options) {
    app_table t = {.name = name,
                   .title = "default scheduler, all threads that fit",
                   .app = "pagerank",
                   .options = options,
                   .axis = "iterations"};
    app_add_series(&t, "sweeps", "auto");
    app_add_series(&t, "data driven", "steal:bwd");
    app_add_series(&t, "data driven by nodes", "steal:bwd")->options = "--block 1";
    snprintf(app_add_point(&t, 8, "8")->options, sizeof t.points[0].options, "--iterations 8");
    app_table_run(s, &t, NULL);
}

static void tables(app_bench *s) {
    bool gnutella = app_data_there(s, "p2p-Gnutella31", GNUTELLA),
         notredame = app_data_there(s, "web-NotreDame", NOTREDAME);
    if (gnutella)
        over_threads(s, "fig3d", "PageRank of p2p-Gnutella31, 8 iterations", GNUTELLA " --iterations 8 --block 1");
    if (notredame)
        over_threads(s, "fig3e", "PageRank of web-NotreDame, 8 iterations", NOTREDAME " --iterations 8 --block 1");
    if (gnutella)
        own(s, "own-gnutella", GNUTELLA);
    if (notredame)
        own(s, "own-notredame", NOTREDAME);
}

static void run(bench *b, bench_device *d) { app_bench_run(b, d, tables); }

/* ---- the figures ---- */

/* At the most threads that all three have. */
static void judge_pagerank(const bench_panel *p, bench_verdict *v) {
    double x = bench_panel_full(p) > 10240 ? bench_panel_full(p) : NAN; /* the range that the paper describes */
    double bq = bench_panel_gain(p, "BQ", "GQ", x), bwd = bench_panel_gain(p, "BWD", "GQ", x);
    double bsq = bench_panel_gain(p, "BSQ", "BWD", x);
    if (app_no_verdict(p, v, bq + bwd + bsq, true))
        return;
    bool broker = bq > 1 && bwd > 1, stealing = !strstr(p->name, "fig3e") || bsq > 1;
    bench_say(v,
              broker && stealing   ? BENCH_YES
              : broker || stealing ? BENCH_PARTLY
                                   : BENCH_NO,
              "With %.0f threads BQ is %s and BWD %s times as fast as GQ, BSQ %s times as fast as BWD.", x,
              bench_digits(bq).text, bench_digits(bwd).text, bench_digits(bsq).text);
}

static const char *const SAYS[][2] = {
    {"fig3d", "p2p-Gnutella31"},
    {"fig3e", "web-NotreDame"},
    {"own-gnutella", "p2p-Gnutella31"},
    {"own-notredame", "web-NotreDame"},
    {NULL, NULL},
};

static const bench_figure FIGURES[] = {
    {.name = "pagerank",
     .title = "PageRank, a task per node",
     .asks = "Which queue serves a real workload best, in which queues run empty now and then?",
     .found =
         "Figures 3d and 3e, GTX Titan X: BQ and BWD are 10 to 15 % faster than the Gottlieb queue with more than "
         "10,240 "
         "threads; BSQ is best on web-NotreDame, 9 % ahead of BWD; LCRQ and WFQ are at least 60 and 6 times slower on "
         "p2p-Gnutella31, 95 and 400 times on web-NotreDame.",
     .rows = "case=fig3d|fig3e",
     .says = SAYS,
     .series_text = "queue",
     .each = "device,case",
     .series = "series",
     .x = "x",
     .y = "seconds",
     .y_scale = 1e3,
     .x_text = "threads",
     .y_text = "milliseconds",
     .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS,
     .reference = "BQ",
     .agrees = judge_pagerank},
    {.name = "own",
     .title = "PageRank with the default scheduler",
     .asks = "What do larger tasks gain, and what sweeps with a barrier between them?",
     .rows = "case=own-gnutella|own-notredame",
     .says = SAYS,
     .series = "series",
     .x = "case",
     .y = "seconds",
     .y_scale = 1e3,
     .x_text = "graph",
     .y_text = "milliseconds",
     .flags = BENCH_BARS | BENCH_LESS},
    {.name = NULL},
};

const bench_suite kerbl2018_suite = {
    .name = "kerbl2018",
    .text =
        "PageRank by shared queues, over the number of threads (Kerbl et al. 2018, Figures 3d, 3e); needs BALLAST_DATA",
    .columns = app_grid_columns,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
