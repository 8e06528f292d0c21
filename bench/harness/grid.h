/* A table with a line per queue and a column per point (threads, or probabilities), shared by the queue suites. */
#ifndef BALLAST_BENCH_GRID_H
#define BALLAST_BENCH_GRID_H

#include "suite.h"

extern const bench_column bench_grid_columns[]; /* of its rows */

typedef enum bench_shown { BENCH_SHOW_MOPS, BENCH_SHOW_MS } bench_shown;

typedef struct bench_point {
    char label[16];
    bench_spec spec;         /* without the queue; threads 0: as many as fit. capacity: the minimum */
    double items_per_caller; /* room for them */
} bench_point;

typedef struct bench_grid {
    const char *name; /* of this case, in the rows */
    bench_shown shown;
    bool growing;                                /* points grow: after one beyond the limit the rest is skipped */
    bool (*takes)(const bench_contender *queue); /* NULL: all */
    unsigned count;
    bench_point points[BENCH_LABELS_MAX];
} bench_grid;

/* Adds a point like `spec`. The format makes its label. */
void bench_grid_add(bench_grid *g, bench_spec spec, double items_per_caller, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The points of Figures 2 and 3: 1, 2, 8, 64 threads on a CPU; 2^5 and up to all that fit on a GPU. */
void bench_grid_add_threads(bench_grid *g, const bench *b, const bench_device *d, bench_spec spec,
                            double items_per_caller);

void bench_grid_run(bench *b, bench_device *d, const bench_grid *g);

#endif
