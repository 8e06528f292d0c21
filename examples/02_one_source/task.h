/* The task, written once: n queens on an n x n board, row by row. A task places one queen and spawns the next row as
 * one entry, whose indices are the free columns. program.c compiles this text for CPU threads, program.cu for GPUs. */
#ifndef QUEENS_TASK_H
#define QUEENS_TASK_H

#include "queens.h"
#include <ballast/task.h>

static BL_TASK uint32_t queens_free(const queens_board *b, uint32_t all) {
    return all & ~(b->columns | b->left | b->right);
}

static BL_TASK void queens_run(bl_task *t, const queens_board *b, uint32_t index, const queens_shared *shared,
                               queens_local *local) {
    uint32_t all = (1u << shared->n) - 1, free = queens_free(b, all);
    if (t->lane != 0) /* one lane is enough for a task this small */
        return;
    while (index-- > 0) /* find the free column with this number */
        free &= free - 1;
    uint32_t queen = free & (0u - free);
    queens_board next = {b->columns | queen, (b->left | queen) << 1, (b->right | queen) >> 1};
    if (next.columns == all)
        local->solutions++;
    else
        bl_spawn_n(t, &next, bl_popcount(queens_free(&next, all))); /* if none is free: a dead end */
}

/* Called once per worker when it finishes, instead of an atomic addition per solution. */
static BL_TASK void queens_merge(const queens_shared *shared, const queens_local *local) {
    bl_merge_add64(shared->solutions, local->solutions);
}

#define BL_PROGRAM queens
#define BL_PAYLOAD queens_board
#define BL_SHARED queens_shared
#define BL_LOCAL queens_local
#define BL_RUN queens_run
#define BL_MERGE queens_merge
#define BL_LANE_TASKS 1 /* on a GPU, every lane of a warp runs its own task */
#include <ballast/program.h>

#endif
