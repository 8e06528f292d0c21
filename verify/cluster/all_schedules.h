/* Every schedule of a small cluster: all orders of running and arriving, all victims, and, if asked for, a node killed
 * at every moment. Depth first; a state that was seen before is not entered again. */
#ifndef VERIFY_CLUSTER_ALL_SCHEDULES_H
#define VERIFY_CLUSTER_ALL_SCHEDULES_H

#include "world.h"

#include <stdio.h>

typedef struct cluster_explored {
    uint64_t states, steps; /* steps: from a state to the next */
    double schedules;       /* complete executions */
    uint32_t depth;         /* steps of the longest one */
    uint64_t messages;      /* most that were sent after the work was done */
    bool complete;          /* false: more than `states_max` states */
    const char *wrong;      /* NULL: nothing */
} cluster_explored;

/* Prints the schedule of an error to `out`, if that is not NULL. */
cluster_explored cluster_explore(const world_options *o, const world_tree *t, bool kills, uint64_t states_max,
                                 FILE *out);

#endif
