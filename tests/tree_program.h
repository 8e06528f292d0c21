/* The tiny program of test_runtime and test_runtime_sim: a tree that counts itself. Define TREE_NAME before including
 * it, and TREE_LANE_TASKS for a task per lane. Defines the program and tree_expect, which computes the same numbers
 * directly.
 *
 * A node of depth d > 0 has `width` children of depth d - 1, spawned one by one (they all get index 0) or, with
 * `range`, as one entry. The lanes of a task share the spawning, so that lanes spawn in divergent code. */
#ifndef BALLAST_TESTS_TREE_PROGRAM_H
#define BALLAST_TESTS_TREE_PROGRAM_H

#include <ballast/task.h>

#define TREE_WIDTH 5u /* at most, if spawned one by one */

typedef struct tree_node {
    uint32_t depth, width, range;
} tree_node;

typedef struct tree_totals {
    uint64_t tasks, sum;
} tree_totals;

typedef struct tree_shared {
    tree_totals *totals;
} tree_shared;

typedef struct tree_local {
    uint64_t tasks, sum;
} tree_local;

/* Two swapped tasks, or an index run twice instead of its neighbour, change the sum. */
BL_FN uint64_t tree_weight(const tree_node *node, uint32_t index) {
    return ((uint64_t)node->depth * 1000003u + node->width * 7u + 1) * (index + 1ull);
}

static BL_TASK void tree_run(bl_task *t, const tree_node *node, uint32_t index, const tree_shared *shared,
                             tree_local *local) {
    (void)shared;
    if (t->lane == 0) {
        local->tasks++;
        local->sum += tree_weight(node, index);
    }
    if (node->depth == 0)
        return;
    tree_node child = {node->depth - 1, node->width, node->range};
    if (!node->range)
        for (uint32_t i = t->lane; i < node->width; i += t->lanes)
            bl_spawn(t, &child);
    else if (t->lane == 0)
        bl_spawn_n(t, &child, node->width);
}

static BL_TASK void tree_merge(const tree_shared *shared, const tree_local *local) {
    bl_merge_add64(&shared->totals->tasks, local->tasks);
    bl_merge_add64(&shared->totals->sum, local->sum);
}

/* The totals of the subtree of `siblings` nodes, all with index 0 or with 0 .. siblings - 1. */
static inline tree_totals tree_expect(tree_node node, uint32_t siblings) {
    tree_totals all = {0, 0};
    uint64_t copies = 1; /* nodes of this depth with the same index */
    uint32_t indices = siblings;
    for (;; node.depth--) {
        for (uint32_t i = 0; i < indices; i++)
            all.sum += copies * tree_weight(&node, i);
        all.tasks += copies * indices;
        if (node.depth == 0)
            return all;
        copies *= (uint64_t)indices * (node.range ? 1 : node.width);
        indices = node.range ? node.width : 1;
    }
}
#endif

#define BL_PROGRAM TREE_NAME
#define BL_PAYLOAD tree_node
#define BL_SHARED tree_shared
#define BL_LOCAL tree_local
#define BL_RUN tree_run
#define BL_MERGE tree_merge
#define BL_MAX_SPAWN TREE_WIDTH
#define BL_LANE_TASKS TREE_LANE_TASKS
#include <ballast/program.h>
#undef TREE_NAME
#undef TREE_LANE_TASKS
