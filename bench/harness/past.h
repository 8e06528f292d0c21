/* The file of a suite's rows as it is found: what an earlier run measured is not measured again.
 *
 * A row is known by its cells to the left of the column `repeat`: what was measured. Those to the right are what
 * came out. */
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

/* Reads the file. `head` is what a new one would begin with, up to and with the line of the columns' names. NULL
 * when it can be continued: the same but for the date and the command; otherwise what differs, for a message. A last
 * line without an end is not counted. */
const char *bench_past_read(bench_past *rows, FILE *file, const char *head);
void bench_past_free(bench_past *rows);
bool bench_past_wrong(const bench_past *rows); /* a row says WRONG */

/* Cell number `column` of the i-th row, as a number; and whether its key is this one. */
double bench_past_value(const bench_past *rows, uint32_t i, unsigned column);
bool bench_past_match(const bench_past *rows, uint32_t i, const char *key);

#endif
