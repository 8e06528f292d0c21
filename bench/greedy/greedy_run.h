/* One run of the suite greedy with Ballast. */
#ifndef BALLAST_BENCH_GREEDY_RUN_H
#define BALLAST_BENCH_GREEDY_RUN_H

#include "greedy_loads.h"

#include <ballast/ballast.h>

typedef struct greedy_result {
    int status;
    bl_stats stats;
    greedy_limits limits;
    bool right; /* every task ran exactly once, and the tree's sum is right */
} greedy_result;

/* NULL: there is none for this target. `lane`: on a GPU, a task per lane instead of one per block. */
const bl_program *greedy_program(const char *target, greedy_shape shape, bool lane);
void greedy_run(bl_context *context, greedy_shape shape, bool lane, const greedy_load *load, greedy_result *result);

#endif
