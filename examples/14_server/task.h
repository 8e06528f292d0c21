/* The task: in how many ways n queens can be placed, as a program with a result. A task places one queen and forks the
 * next row; it counts the last rows itself. program.c compiles this file for CPU threads, program.cu for GPUs. */
#ifndef SERVER_TASK_H
#define SERVER_TASK_H

#include "queens_board.h"
#include <ballast/task.h>

enum { ROWS_AT_ONCE = 4 };

static BL_TASK uint32_t free_columns(const board *b) { return ((1u << b->n) - 1) & ~(b->columns | b->left | b->right); }
static BL_TASK board with_queen(const board *b, uint32_t queen) {
    board next = {b->n, b->columns | queen, (b->left | queen) << 1, (b->right | queen) >> 1};
    return next;
}

/* Row by row without recursion, which a GPU has little memory for. */
static BL_TASK uint64_t count_ways(const board *b, uint32_t rows) {
    board row[ROWS_AT_ONCE];
    uint32_t untried[ROWS_AT_ONCE], depth = 0;
    uint64_t ways = 0;
    if (rows == 0)
        return 1;
    row[0] = *b;
    untried[0] = free_columns(b);
    for (;;) {
        if (untried[depth] == 0) {
            if (depth-- == 0)
                return ways;
            continue;
        }
        uint32_t queen = untried[depth] & (0u - untried[depth]);
        untried[depth] ^= queen;
        if (depth + 1 == rows) {
            ways++;
            continue;
        }
        row[depth + 1] = with_queen(&row[depth], queen);
        depth++;
        untried[depth] = free_columns(&row[depth]);
    }
}

/* A request is an empty board. A child's index tells which free column of its parent's board gets the next queen. */
static BL_TASK void ways_run(bl_task *t, const board *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    board mine = *parent;
    (void)shared, (void)local;
    if (!bl_is_root(t)) {
        uint32_t free = free_columns(parent);
        while (index-- > 0)
            free &= free - 1;
        mine = with_queen(parent, free & (0u - free));
    }
    uint32_t rows = mine.n - bl_popcount(mine.columns), children = bl_popcount(free_columns(&mine));
    if (rows > ROWS_AT_ONCE && children) {
        bl_fork(t, &mine, &mine, children);
        return;
    }
    uint64_t ways = rows > ROWS_AT_ONCE ? 0 : count_ways(&mine, rows); /* 0: a dead end */
    bl_return(t, &ways);
}

#define BL_PROGRAM ways
#define BL_PAYLOAD board
#define BL_RUN ways_run
#define BL_RESULT uint64_t
#define BL_SUM 1 /* the results of a fork only add up */
#define BL_LANE_TASKS 1
#define BL_OPEN 1 /* on a GPU: the kernel can take submissions */
#include <ballast/program.h>

#endif
