/* The task of n queens: places one queen and spawns the free columns of the next row as one entry. A CPU thread is
 * given all columns of a row at once, and goes from one to the next; a lane of a GPU has one of them. */
#ifndef BALLAST_NQUEENS_TASK_H
#define BALLAST_NQUEENS_TASK_H

#include "nqueens.h"
#include "common/kernels.h"
#include <ballast/task.h>

/* Without its `count` lowest columns. Nearly all nodes lie deep in the tree, where few columns are free: the greatest
 * index among 32 tasks is 2.7 on average, so lanes diverge for a few cheap steps. A search by popcounts would take five
 * expensive ones. */
static BL_TASK uint32_t nqueens_skip(uint32_t free, uint32_t count) {
    while (count-- > 0)
        free &= free - 1;
    return free;
}

static BL_TASK void nqueens_place(bl_task *t, const nqueens_board *b, uint32_t queen, uint32_t all,
                                  nqueens_local *local) {
    nqueens_board next = {b->columns | queen, (b->left | queen) << 1, (b->right | queen) >> 1};
    local->solutions += next.columns == all; /* then nothing is free, and nothing is spawned */
    bl_spawn_n(t, &next, bl_popcount(all & ~(next.columns | next.left | next.right)));
}

#if BL_WARP == 1
static BL_TASK void nqueens_run(bl_task *t, const nqueens_board *b, uint32_t begin, uint32_t end,
                                const nqueens_shared *shared, nqueens_local *local) {
    uint32_t all = shared->all, free = nqueens_skip(all & ~(b->columns | b->left | b->right), begin);
    for (uint32_t i = begin; i < end; i++) {
        nqueens_place(t, b, free & (0u - free), all, local);
        free &= free - 1;
    }
}
#define BL_RANGE_RUN nqueens_run
#define BL_GRAIN NQUEENS_MOST
#else
static BL_TASK void nqueens_run(bl_task *t, const nqueens_board *b, uint32_t index, const nqueens_shared *shared,
                                nqueens_local *local) {
    uint32_t all = shared->all;
    if (t->lane != 0) /* one lane is enough for a task this small */
        return;
    uint32_t free = nqueens_skip(all & ~(b->columns | b->left | b->right), index);
    nqueens_place(t, b, free & (0u - free), all, local);
}
#define BL_RUN nqueens_run
#endif

static BL_TASK void nqueens_merge(const nqueens_shared *shared, const nqueens_local *local) {
    bl_merge_add64(shared->solutions, local->solutions);
}

#define BL_PROGRAM nqueens
#define BL_PAYLOAD nqueens_board
#define BL_SHARED nqueens_shared
#define BL_LOCAL nqueens_local
#define BL_MERGE nqueens_merge
#define BL_LANE_TASKS 1
#define BL_RESIDENT 36
#define BL_MAX_SPAWN 1
#define BL_OPEN 1
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_DEFAULT, 0)
#include <ballast/program.h>

#endif
