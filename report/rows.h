/* Rows of a suite, read back from the file that bench_row wrote: all of them, or none and a line that says what is
 * wrong with the file. */
#ifndef BALLAST_REPORT_ROWS_H
#define BALLAST_REPORT_ROWS_H

#include "../bench/harness/suite.h"

typedef struct bench_rows {
    const bench_suite *suite;
    char *path;
    char *text; /* the file; everything below points into it */
    char **remarks;
    unsigned remark_count;
    char **cells; /* row by row */
    unsigned *lines;
    unsigned count, columns; /* count may be 0 if a remark says why */
} bench_rows;

/* Returns 0, or 1 with a line in `error`: the file cannot be read, belongs to another suite or version, is incomplete,
 * or has a row that lacks cells. */
int bench_rows_read(const bench_suite *suite, const char *path, bench_rows *rows, bench_error *error);
void bench_rows_free(bench_rows *rows);

const char *bench_rows_cell(const bench_rows *rows, unsigned row, int column);  /* "" for column -1 */
int bench_rows_column(const bench_rows *rows, const char *name, size_t length); /* -1: none of that name */
/* What the head says after this word: "date" gives "2026-..."; NULL: nothing. */
const char *bench_rows_said(const bench_rows *rows, const char *word);

/* Opens a regular file for reading, or returns NULL with a line. A pipe or a device could block or never end. */
FILE *bench_open_file(const char *path, bench_error *error);

/* Fills the line; returns 1. */
int bench_refuse(bench_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- panels ---- */

/* The panels of one figure, in the order of the rows; *count may be 0. Returns 0, or 1 with a line: a cell is not a
 * number, or a measurement occurs twice. */
int bench_panels_make(const bench_rows *rows, const bench_figure *figure, bench_panel **panels, unsigned *count,
                      bench_error *error);
void bench_panels_free(bench_panel *panels, unsigned count);

#endif
