/* An existing file of a suite's rows: what an earlier run measured is not measured again.
 *
 * The cells to the left of the column `repeat` are the key of a row: what was measured. Those to the right are the
 * results. */
#ifndef BALLAST_BENCH_PAST_H
#define BALLAST_BENCH_PAST_H

#include "suite.h"

typedef struct bench_past {
    char *text; /* the file, its line ends replaced by '\0' */
    char **row; /* where the rows begin */
    uint32_t count;
    long end; /* bytes of the file that are whole lines */
    unsigned key_columns;
} bench_past;

/* Reads the file. `head` is what a new file would begin with, including the line of column names. Returns NULL if the
 * run can be resumed, that is, if only date and command differ; otherwise what differs, for a message. An incomplete
 * last line is ignored. */
const char *bench_past_read(bench_past *rows, FILE *file, const char *head);
void bench_past_free(bench_past *rows);
bool bench_past_wrong(const bench_past *rows); /* a row says WRONG */

/* Cell number `column` of the i-th row, as a number; and whether the row has this key. */
double bench_past_value(const bench_past *rows, uint32_t i, unsigned column);
bool bench_past_match(const bench_past *rows, uint32_t i, const char *key);

#endif
