/* Suites of `ballast bench`: an experiment each, one file of suites/ each, found by the build.
 *
 * A suite fills tables on the screen and writes raw rows, one per repeat, to DIR/SUITE.csv. To add one: a file
 * suites/my_name.c with `const bench_suite my_name_suite`; its rows' columns, what they mean, the function that runs
 * it, and the figures that a page shows of them. */
#ifndef BALLAST_BENCH_SUITE_H
#define BALLAST_BENCH_SUITE_H

#include "common.h"
#include "queues/bench_device.h"
#include "figure.h"

#include <stdio.h>

enum { BENCH_DEVICES_MAX = 2, BENCH_LABELS_MAX = 24 };

typedef struct bench_request {
    const char *command; /* as typed, for the head of the rows */
    const char *out;     /* folder, NULL: only the screen */
    const char *device;  /* "auto": the cpu, and the first GPU where there is one; "cpu", "cuda", "cuda:N" */
    const char *queues;  /* "a,b"; "" for all. The floor and the ceiling are always there */
    const char *only;    /* the tables of this case; "" for all */
    bool quick, force;
    uint32_t repeats; /* 0: the suite's */
} bench_request;

typedef struct bench_error {
    char text[512];
} bench_error;

typedef struct bench bench;

typedef struct bench_column {
    const char *name, *meaning;
} bench_column;

typedef struct bench_suite {
    const char *name, *text;
    const bench_column *columns; /* end with a NULL name. One that is called "check" says WRONG of a wrong row */
    void (*run)(bench *b, bench_device *d);
    unsigned version;            /* of the rows: one more when the same columns come to mean something else */
    const bench_figure *figures; /* end with a NULL name */
} bench_suite;

const bench_suite *bench_suite_at(unsigned i); /* NULL at the end */
const bench_suite *bench_suite_find(const char *name);

/* Runs a suite on every device asked for. 0; 1 when a row was wrong or it was interrupted; 2 wrong use: with a line
 * in `error` unless 0. */
int bench_run(const bench_suite *suite, const bench_request *request, bench_error *error);

/* ---- for suites ---- */

bool bench_quick(const bench *b);
uint32_t bench_repeats(const bench *b); /* as asked for, else 5, with --quick 3 */
double bench_limit(const bench *b);     /* seconds after which a series of growing steps is not continued */
bool bench_chosen(const bench *b, const bench_contender *queue);
bool bench_wants(bench *b, const char *name); /* the tables of this case are asked for: --case */
bool bench_stopped(void);                     /* interrupted: come back as soon as the row is complete */
void bench_wrong(bench *b);                   /* a row did not check: the exit status is 1 */

/* What an earlier run that was interrupted has left in the file: adds the values of `column` in the rows whose cells
 * to the left of `repeat` are `key`. Returns how many there are: they need not be measured again. */
uint32_t bench_earlier(const bench *b, const char *key, const char *column, bench_times *values);
bool bench_earlier_any(const bench *b, const char *beginning); /* whether a row of it begins so */
/* One row of the file, without its line end; nothing else is written for it, so that an interrupt leaves complete
 * rows. */
void bench_row(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Something that a reader of the file must know and that is no row: a comment there. */
void bench_remark(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Where the suite is, on standard error when that is a terminal. */
void bench_progress(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* So many points of the table are done: progress then also tells the time that the rest of it will take. 0 begins. */
void bench_pace(bench *b, unsigned done, unsigned total);

/* A table on the screen: a title, a head, lines of cells. A line appears when it is ended. */
void bench_table(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_head(bench *b, const char *name, const char *const *labels, unsigned count, int width);
void bench_line(bench *b, const char *name);
void bench_cell(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_line_end(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Numbers of a table: four digits. */
typedef struct bench_number {
    char text[24];
} bench_number;
bench_number bench_digits(double value);

#endif
