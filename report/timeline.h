/* Timelines: what each worker did over time, from the files that `ballast run APP --trace NAME.trace.json` wrote. */
#ifndef BALLAST_REPORT_TIMELINE_H
#define BALLAST_REPORT_TIMELINE_H

#include "../bench/harness/suite.h"

/* The most cells that are drawn. If there are more workers, each row shows the busiest of its group; a column shows
 * what took most of its time. */
enum { TIMELINE_ROWS = 48, TIMELINE_COLUMNS = 160 };

typedef enum timeline_kind {
    TIMELINE_TASK,
    TIMELINE_STEAL,
    TIMELINE_IDLE,
    TIMELINE_PAUSE,
    TIMELINE_KINDS
} timeline_kind;

typedef struct timeline {
    char *name; /* of the file, without its extension */
    char app[32], device[64], scheduler[48];
    unsigned workers, rows;
    double milliseconds;          /* until the last worker ends */
    double share[TIMELINE_KINDS]; /* of all workers' time */
    double least, most;           /* share of tasks in the time of the least busy worker, and of the busiest */
    unsigned long long tasks, steals;
    unsigned char cells[TIMELINE_ROWS][TIMELINE_COLUMNS]; /* a kind; TIMELINE_KINDS: nothing is known */
    char *plot;                                           /* SVG */
} timeline;

/* Returns 0, or 1 with a line in `error`: the file cannot be read, is not a trace, or is incomplete. */
int timeline_read(timeline *t, const char *path, bench_error *error);
void timeline_free(timeline *t);

/* `until`: the end of the axis, the same for traces that are compared. */
void timeline_script(FILE *script, const timeline *t, double until, unsigned number);

#endif
