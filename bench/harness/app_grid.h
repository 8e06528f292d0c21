/* Tables of applications: a line per point (workers, particles, pop size), a column per scheduler. Shared by the suites
 * that reproduce the papers' figures.
 *
 * A suite is a function that runs tables one after another. It is called twice: once to count the points, so that the
 * remaining time can be estimated, and once to measure them. In each line the schedulers take turns, repeat by repeat,
 * so that disturbances hit all of them; each starts with a warm-up run, which is not a row. The application verifies
 * every row. */
#ifndef BALLAST_BENCH_APP_GRID_H
#define BALLAST_BENCH_APP_GRID_H

#include "suite.h"

enum { APP_SERIES_MAX = 12, APP_POINTS_MAX = 24, APP_OPTIONS_SIZE = 160 };

extern const bench_column app_grid_columns[]; /* of its rows */

typedef struct app_series {
    const char *name;             /* the curve, in the rows */
    const char *scheduler;        /* as for --scheduler */
    const char *options;          /* for the app, in addition to the table's and the point's; NULL: none */
    uint32_t workers, lanes, pop; /* used if the point does not say; 0: the default */
    bool no_private;              /* everything goes through the shared queues, as with the papers' names */
} app_series;

typedef struct app_point {
    char label[16];
    double x; /* 0: the actual number of workers */
    char options[64];
    uint32_t workers, lanes, pop; /* 0: the series', else the default: all that fit, the app's choice */
} app_point;

typedef enum app_shown { APP_SHOW_MS, APP_SHOW_RATE, APP_SHOW_RATE_AND_SLOTS, APP_SHOW_TASKS_AND_WAVES } app_shown;

typedef struct app_table {
    const char *name;    /* of this case, in the rows */
    const char *title;   /* for the screen */
    const char *app;     /* by name; an app that is not in this build is left out, with a remark */
    const char *options; /* for the app; a value that begins with $BALLAST_DATA/ names a file there */
    const char *axis;    /* what x is */
    app_shown shown;
    unsigned series_count, count;
    app_series series[APP_SERIES_MAX];
    app_point points[APP_POINTS_MAX];
} app_table;

/* Medians, 0 if there is none. */
typedef struct app_medians {
    double seconds[APP_SERIES_MAX][APP_POINTS_MAX];
} app_medians;

typedef struct app_bench app_bench;

void app_bench_run(bench *b, bench_device *d, void (*tables)(app_bench *s));

/* ---- for suites ---- */

bool app_quick(const app_bench *s);
const bench_device *app_device(const app_bench *s);
bench *app_screen(app_bench *s); /* for a suite's own tables; NULL while points are counted */

app_series *app_add_series(app_table *t, const char *name, const char *scheduler); /* NULL if there is no room */
/* Adds a point; its fields except label and x may be filled in afterwards. NULL if there is no room. */
app_point *app_add_point(app_table *t, double x, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds numbers of workers like those in the papers: one, one per processor, one more than that, and up to all that fit,
 * with `lanes` each (0: the app's choice). */
void app_add_workers(app_table *t, const app_bench *s, uint32_t lanes);

/* Also for a case that was not requested: then summarises what an earlier run left. `medians` may be NULL. */
void app_table_run(app_bench *s, const app_table *t, app_medians *medians);

/* The fastest point of a series; -1 if nothing was measured. */
int app_best(const app_table *t, const app_medians *medians, unsigned series);

/* For `agrees` of a figure. True, with a verdict that says why, if there can be no verdict: `sum`, of the numbers that
 * it needs, is NAN, or the paper measured a GPU (`gpu`) and this is not one. */
bool app_no_verdict(const bench_panel *panel, bench_verdict *verdict, double sum, bool gpu);

/* A remark for the reader, on the screen and in the file. */
void app_say(app_bench *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the data files that these options name exist; if not, reports that `name` is left out, and why. */
bool app_data_there(app_bench *s, const char *name, const char *options);

#endif
