/* The UTS task: one node of the tree. With UTS_WITHOUT_PROGRAM defined, this header provides only the functions, for
 * the sequential twin and the tests. */
#ifndef BALLAST_UTS_TASK_H
#define BALLAST_UTS_TASK_H

#include "sha1.h"
#include "uts.h"
#include "common/kernels.h"
#include <ballast/task.h>

#include <math.h>

/* Most nodes are leaves and return at the first comparison. The others start where a logarithm points, usually the
 * right place, so that the lanes of a warp stay together. The thresholds on both sides decide, so devices may round the
 * logarithm as they like. */
BL_FN uint32_t uts_children(const uts_row *row, uint32_t value) {
    const uint32_t *thresholds = row->thresholds;
    uint32_t flipped = value ^ row->flip;
    if (flipped < thresholds[0])
        return 0;
    uint32_t n = (uint32_t)(row->scale * (31.0f - log2f((float)(UTS_NEVER - flipped))));
    n = n < 1 ? 1 : n < UTS_MOST_CHILDREN ? n : UTS_MOST_CHILDREN;
    while (thresholds[n - 1] > flipped)
        n--;
    while (thresholds[n] <= flipped)
        n++;
    return n * row->step;
}

static BL_TASK void uts_run(bl_task *t, const uts_node *parent, uint32_t index, const uts_shared *shared,
                            uts_local *local) {
    uint32_t depth = parent->depth, row = depth;
    if (t->lane != 0)
        return;
    if (row >= shared->row_count) {
        if (!shared->lasts) {
            bl_fail(t, depth, parent);
            return;
        }
        row = shared->row_count - 1;
    }
    uts_node node;
    uts_sha1_child(node.state, parent->state, index);
    node.depth = depth + 1;
    uint32_t children = uts_children(shared->rows + row, node.state[4] & UTS_VALUE_MASK);
    if (children > 0)
        bl_spawn_n(t, &node, children);
    else
        local->leaves++;
    if (local->depth < depth)
        local->depth = depth;
}

static BL_TASK void uts_merge(const uts_shared *shared, const uts_local *local) {
    bl_merge_add64(&shared->totals->leaves, local->leaves);
    bl_merge_max32(&shared->totals->depth, local->depth);
}

#ifndef UTS_WITHOUT_PROGRAM
#define BL_PROGRAM uts
#define BL_PAYLOAD uts_node
#define BL_SHARED uts_shared
#define BL_LOCAL uts_local
#define BL_RUN uts_run
#define BL_MERGE uts_merge
#define BL_LANE_TASKS 1
#define BL_MAX_SPAWN 1
#define BL_RESIDENT 32
#define BL_OPEN 1
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_ALL, 0)
#include <ballast/program.h>
#endif

#endif
