/* Timelines: what each worker did when, from the files that `ballast run APP --trace NAME.trace.json` wrote. */
#ifndef BALLAST_REPORT_TIMELINE_H
#define BALLAST_REPORT_TIMELINE_H

#include "../bench/harness/suite.h"

/* So many cells are drawn at most. Of more workers a sample is shown, evenly spread; moments that share a column
 * show what took most of the time. */
enum { TIMELINE_ROWS = 48, TIMELINE_COLUMNS = 160 };

typedef enum timeline_kind {
    TIMELINE_TASK,
    TIMELINE_STEAL,
    TIMELINE_IDLE,
    TIMELINE_PAUSE,
    TIMELINE_KINDS
} timeline_kind;

typedef struct timeline {
    char *name; /* of the file, without its ending */
    char app[32], device[64], scheduler[48];
    unsigned workers, rows;
    double milliseconds;          /* until the last worker's end */
    double share[TIMELINE_KINDS]; /* of all workers' time */
    double least, most;           /* share of tasks in the time of the least busy worker, and of the busiest */
    unsigned long long tasks, steals;
    unsigned char cells[TIMELINE_ROWS][TIMELINE_COLUMNS]; /* a kind; TIMELINE_KINDS: nothing known */
    char *plot;                                           /* SVG */
} timeline;

/* 0; 1 with a line in `error`: a file that cannot be read, is not a trace, or is half written. */
int timeline_read(timeline *t, const char *path, bench_error *error);
void timeline_free(timeline *t);

/* `until`: the end of the axis, the same for traces that are to be compared. */
void timeline_script(FILE *script, const timeline *t, double until, unsigned number);

#endif
