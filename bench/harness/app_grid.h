/* Tables of applications: a line per point (workers, particles, pop size), a column per scheduler. What the suites that
 * redo the papers' figures have in common.
 *
 * A suite is a function that runs tables one after the other. It is called twice: once to count the points, so that
 * the time left can be told, and once to measure them. In each line the schedulers take turns, repeat after repeat,
 * so that whatever else the machine does hits all of them; each begins with a run that is no row. Every row is
 * checked by the application. */
#ifndef BALLAST_BENCH_APP_GRID_H
#define BALLAST_BENCH_APP_GRID_H

#include "suite.h"

enum { APP_SERIES_MAX = 12, APP_POINTS_MAX = 24, APP_OPTIONS_SIZE = 160 };

extern const bench_column app_grid_columns[]; /* of its rows */

typedef struct app_series {
    const char *name;             /* the curve, in the rows */
    const char *scheduler;        /* as for --scheduler */
    const char *options;          /* of the app, beside the table's and the point's; NULL: none */
    uint32_t workers, lanes, pop; /* where the point says nothing; 0: the default */
    bool no_private;              /* everything goes through the shared queues, as with the papers' names */
} app_series;

typedef struct app_point {
    char label[16];
    double x; /* 0: the workers that there were */
    char options[64];
    uint32_t workers, lanes, pop; /* 0: the series', else the default: all that fit, the app's own */
} app_point;

typedef enum app_shown { APP_SHOW_MS, APP_SHOW_RATE, APP_SHOW_RATE_AND_SLOTS, APP_SHOW_TASKS_AND_WAVES } app_shown;

typedef struct app_table {
    const char *name;    /* of this case, in the rows */
    const char *title;   /* for the screen */
    const char *app;     /* by name: one that is not in this build is left out, with a remark */
    const char *options; /* of the app; a value that begins with $BALLAST_DATA/ is a file there */
    const char *axis;    /* what x is */
    app_shown shown;
    unsigned series_count, count;
    app_series series[APP_SERIES_MAX];
    app_point points[APP_POINTS_MAX];
} app_table;

/* Medians, 0 where there is none. */
typedef struct app_medians {
    double seconds[APP_SERIES_MAX][APP_POINTS_MAX];
} app_medians;

typedef struct app_bench app_bench;

void app_bench_run(bench *b, bench_device *d, void (*tables)(app_bench *s));

/* ---- for suites ---- */

bool app_quick(const app_bench *s);
const bench_device *app_device(const app_bench *s);
bench *app_screen(app_bench *s); /* for tables of its own; NULL while points are counted */

app_series *app_add_series(app_table *t, const char *name, const char *scheduler); /* NULL when there is no room */
/* Another point; its fields but for label and x may be filled in afterwards. NULL when there is no room. */
app_point *app_add_point(app_table *t, double x, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Numbers of workers around what the papers had: from one, by way of one for each processor and one more, to all
 * that fit. `lanes` for each (0: the app's own). */
void app_add_workers(app_table *t, const app_bench *s, uint32_t lanes);

/* Also when the table's case is not asked for: then what an earlier run has left is summed up. `medians` may be
 * NULL. */
void app_table_run(app_bench *s, const app_table *t, app_medians *medians);

/* The fastest point of a series; -1 when nothing was measured. */
int app_best(const app_table *t, const app_medians *medians, unsigned series);

/* For `agrees` of a figure. True, and a verdict that says so, when there can be none: `sum`, of the numbers that it
 * needs, is NAN, or the paper measured a GPU (`gpu`) and this is none. */
bool app_no_verdict(const bench_panel *panel, bench_verdict *verdict, double sum, bool gpu);

/* Something that a reader must know and that is no row: on the screen and in the file. */
void app_say(app_bench *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the files of known data that these options name are there; otherwise says that `name` is left out, and
 * why. */
bool app_data_there(app_bench *s, const char *name, const char *options);

#endif
