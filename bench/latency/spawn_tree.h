/* A tree of tasks that do nothing but spawn so many others each: what a run costs besides its work. With one child it
 * is a chain: what it costs to pass on a task, or a wave. */
#ifndef BALLAST_BENCH_SPAWN_TREE_H
#define BALLAST_BENCH_SPAWN_TREE_H

#include "common/app.h"

typedef struct spawn_node {
    uint32_t depth; /* of the tree below it */
} spawn_node;

typedef struct spawn_shape {
    uint32_t children;
} spawn_shape;

extern const app spawn_tree_app; /* for the suite latency only: not a command of the tool */

#endif
