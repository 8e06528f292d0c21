/* Rows of a suite, read back from the file that bench_row wrote: all of them, or none and a line that says what is
 * wrong with the file. */
#ifndef BALLAST_REPORT_ROWS_H
#define BALLAST_REPORT_ROWS_H

#include "../bench/harness/suite.h"

typedef struct bench_rows {
    const bench_suite *suite;
    char *path;
    char *text; /* of the file; everything below points into it */
    char **remarks;
    unsigned remark_count;
    char **cells; /* row by row */
    unsigned *lines;
    unsigned count, columns; /* count may be 0 when a remark says why */
} bench_rows;

/* 0; 1 with a line in `error`: a file that cannot be read, of another suite or version, half written, or with a row
 * that has not all cells. */
int bench_rows_read(const bench_suite *suite, const char *path, bench_rows *rows, bench_error *error);
void bench_rows_free(bench_rows *rows);

const char *bench_rows_cell(const bench_rows *rows, unsigned row, int column);  /* "" for column -1 */
int bench_rows_column(const bench_rows *rows, const char *name, size_t length); /* -1: none of that name */
/* What the head says after this word: "date" gives "2026-..."; NULL: nothing. */
const char *bench_rows_said(const bench_rows *rows, const char *word);

/* Opens a file for reading; NULL with a line: it cannot be opened, or is none. A pipe or a device would be waited
 * for, or never end. */
FILE *bench_open_file(const char *path, bench_error *error);

/* Fills the line; returns 1. */
int bench_refuse(bench_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- panels ---- */

/* The panels of one figure, in the order of the rows; *count may be 0. 0; 1 with a line: a cell that is no number, a
 * measurement twice. */
int bench_panels_make(const bench_rows *rows, const bench_figure *figure, bench_panel **panels, unsigned *count,
                      bench_error *error);
void bench_panels_free(bench_panel *panels, unsigned count);

#endif
