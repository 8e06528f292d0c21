/* The task of spawn_tree.h. The build includes this file once per target. */
#include "spawn_tree.h"

#include <ballast/task.h>

static BL_TASK void spawn_tree_run(bl_task *t, const spawn_node *node, uint32_t index, const spawn_shape *shape,
                                   bl_nothing *local) {
    const spawn_node child = {node->depth - 1};
    (void)index, (void)local;
    if (node->depth && t->lane == 0)
        bl_spawn_n(t, &child, shape->children);
}

#define BL_PROGRAM spawn_tree
#define BL_PAYLOAD spawn_node
#define BL_SHARED spawn_shape
#define BL_RUN spawn_tree_run
#define BL_LANE_TASKS 1
#define BL_RESIDENT 32
#define BL_MAX_SPAWN 1
#define BL_SCHEDULERS (BL_SCHEDULER_static | BL_SCHEDULER_list)
#include <ballast/program.h>
