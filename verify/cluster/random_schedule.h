/* One random schedule of a random cluster with a random tree, all from one seed: 2 to 64 nodes, slow and fast pairs,
 * nodes that work faster than messages travel, or slower, and sometimes killed nodes. */
#ifndef VERIFY_CLUSTER_RANDOM_SCHEDULE_H
#define VERIFY_CLUSTER_RANDOM_SCHEDULE_H

#include "world.h"

#include <stdio.h>

typedef struct cluster_schedule {
    uint32_t nodes, entries, killed;
    uint64_t steps;
    world_sums sums;
    uint64_t allowed;  /* messages after the work was done */
    const char *wrong; /* NULL: nothing */
} cluster_schedule;

/* Prints every step to `out`, if that is not NULL. */
cluster_schedule cluster_random(uint64_t seed, FILE *out);

#endif
