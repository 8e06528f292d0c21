/* A binary tree of tasks that do nothing but spawn two others each: what a run costs besides its work. */
#ifndef BALLAST_BENCH_SPAWN_TREE_H
#define BALLAST_BENCH_SPAWN_TREE_H

#include "common/app.h"

typedef struct spawn_node {
    uint32_t depth; /* of the tree below it */
} spawn_node;

extern const app spawn_tree_app; /* for the suite latency only: not a command of the tool */

#endif
