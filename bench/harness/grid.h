/* A table with a line per queue and a column per point (threads, or chances): what the suites of queues have in
 * common. */
#ifndef BALLAST_BENCH_GRID_H
#define BALLAST_BENCH_GRID_H

#include "suite.h"

extern const bench_column bench_grid_columns[]; /* of its rows */

typedef enum bench_shown { BENCH_SHOW_MOPS, BENCH_SHOW_MS } bench_shown;

typedef struct bench_point {
    char label[16];
    bench_spec spec;         /* but for the queue; threads 0: as many as fit. capacity: at least so many */
    double items_per_caller; /* room for them */
} bench_point;

typedef struct bench_grid {
    const char *name; /* of this case, in the rows */
    bench_shown shown;
    bool growing; /* points become larger: after one over the limit the rest is left out */
    bool (*takes)(const bench_contender *queue); /* NULL: all */
    unsigned count;
    bench_point points[BENCH_LABELS_MAX];
} bench_grid;

/* Another point like `spec`. Its label is made from the format. */
void bench_grid_add(bench_grid *g, bench_spec spec, double items_per_caller, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The points of Figures 2 and 3: 1, 2, 8, 64 threads on a CPU; 2^5 and on up to all that fit on a GPU. */
void bench_grid_add_threads(bench_grid *g, const bench *b, const bench_device *d, bench_spec spec,
                            double items_per_caller);

void bench_grid_run(bench *b, bench_device *d, const bench_grid *g);

#endif
