/* Suites of `ballast bench`: one experiment and one file in suites/ each, discovered by the build.
 *
 * A suite fills tables on the screen and writes raw rows, one per repeat, to DIR/SUITE.csv. To add one, write
 * suites/my_name.c with `const bench_suite my_name_suite`: the columns and their meaning, the function that runs it,
 * and the figures for the page. */
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
    const char *device;  /* "auto": the CPU, and the first GPU if there is one; "cpu", "cuda", "cuda:N" */
    int gpu;             /* N of "cuda:N", otherwise 0 */
    const char *queues;  /* "a,b"; "" for all. The floor and the ceiling always run */
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
    const bench_column *columns; /* end with a NULL name. A column "check" says WRONG in a wrong row */
    void (*run)(bench *b, bench_device *d);
    unsigned version;            /* of the rows: increment it when a column changes its meaning */
    const bench_figure *figures; /* end with a NULL name */
} bench_suite;

const bench_suite *bench_suite_at(unsigned i); /* NULL at the end */
const bench_suite *bench_suite_find(const char *name);

/* Runs a suite on every requested device. Returns 0; 1 if a row was wrong or the run was interrupted; 2 for wrong
 * usage. Unless 0, `error` has a line. */
int bench_run(const bench_suite *suite, const bench_request *request, bench_error *error);

/* ---- for suites ---- */

bool bench_quick(const bench *b);
uint32_t bench_repeats(const bench *b); /* as requested, else 5, with --quick 3 */
double bench_limit(const bench *b);     /* seconds after which a growing series is not continued */
bool bench_chosen(const bench *b, const bench_contender *queue);
bool bench_wants(bench *b, const char *name); /* the tables of this case are requested: --case */
bool bench_stopped(void);                     /* interrupted: return as soon as the row is complete */
void bench_wrong(bench *b);                   /* a row failed verification: the exit status is 1 */

/* What an earlier, interrupted run left in the file: adds the values of `column` in the rows whose cells to the left of
 * `repeat` are `key`. Returns how many there are, which need not be measured again. */
uint32_t bench_earlier(const bench *b, const char *key, const char *column, bench_times *values);
bool bench_earlier_any(const bench *b, const char *beginning); /* whether one of its rows begins like this */
/* Writes one complete row; the format has no line end. An interrupt therefore leaves complete rows. */
void bench_row(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A remark for the reader of the file, written as a comment. */
void bench_remark(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Shows progress on standard error if that is a terminal. */
void bench_progress(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This many points of the table are done: progress then also shows the remaining time. 0 starts. */
void bench_pace(bench *b, unsigned done, unsigned total);

/* A table on the screen: a title, a head, lines of cells. A line appears when it ends. */
void bench_table(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_head(bench *b, const char *name, const char *const *labels, unsigned count, int width);
void bench_line(bench *b, const char *name);
void bench_cell(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_line_end(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Numbers in a table: four digits. */
typedef struct bench_number {
    char text[24];
} bench_number;
bench_number bench_digits(double value);

#endif
