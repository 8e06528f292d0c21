/* The tasks of four in a row. With FOURROW_WITHOUT_PROGRAM defined this header provides only the functions, for the
 * sequential twins and the tests.
 *
 * Minimax as in Cederman and Tsigas 2011 (GPU Computing Gems, chapter 35): one task per node of the decision tree.
 * Their task holds level, parent, value and moves. Here the payload holds the level and the moves (as the resulting
 * board), and the join record of a fork holds parent and values. Levels count from the position asked about, whose
 * children are at level 1. */
#ifndef BALLAST_FOURROW_TASK_H
#define BALLAST_FOURROW_TASK_H

#include "common/kernels.h"
#include "solve.h"

/* The payload: the position before the move. The task with index i plays the possible column number first + i, from
 * the left. */
typedef struct fourrow_node {
    fourrow_board board;
    uint32_t level; /* level of the position after the move */
    uint32_t first;
} fourrow_node;

typedef struct fourrow_shared {
    fourrow_totals *totals;
    uint32_t lookahead;
    uint32_t roots;
} fourrow_shared;

static BL_TASK void fourrow_merge(const fourrow_shared *shared, const fourrow_local *local) {
    bl_merge_add64(&shared->totals->nodes, local->nodes);
}

/* The best of values seen by the side to move; the side that moved before sees the negative. */
BL_FN int32_t fourrow_answer(const int32_t *values, uint32_t count) {
    int32_t best = values[0];
    for (uint32_t i = 1; i < count; i++)
        best = values[i] > best ? values[i] : best;
    return -best;
}

#ifndef FOURROW_WITHOUT_PROGRAM

/* The paper's criterion: the root is complete when all of its moves have their value. */
static BL_TASK bool fourrow_done(const fourrow_shared *shared) {
    return bl_load32_relaxed(&shared->totals->complete) == shared->roots;
}

/* `level` is that of the position with this value. The worker writes the value before the run ends, so counting first
 * is harmless. */
static BL_TASK void fourrow_finish(bl_task *t, int32_t value, uint32_t level, const fourrow_shared *shared) {
    if (level == 1)
        bl_fetch_add32_relaxed(&shared->totals->complete, 1);
    bl_return(t, &value);
}

static BL_TASK void fourrow_run(bl_task *t, const fourrow_node *node, uint32_t index, const fourrow_shared *shared,
                                fourrow_local *local) {
    if (t->lane != 0)
        return;
    fourrow_node next;
    next.board = fourrow_drop(&node->board, fourrow_nth(&node->board, node->first + index));
    next.level = node->level + 1;
    next.first = 0;
    local->nodes++;
    if (node->level < shared->lookahead && !fourrow_is_won(&next.board) && !fourrow_is_full(&next.board)) {
        bl_fork(t, &next, &next, fourrow_count(fourrow_possible(&next.board)));
        return;
    }
    fourrow_finish(t, fourrow_value(&next.board), node->level, shared);
}

/* A value is what the move is worth to the side that made it. */
static BL_TASK void fourrow_join(bl_task *t, const fourrow_node *node, const int32_t *values, uint32_t count,
                                 const fourrow_shared *shared, fourrow_local *local) {
    (void)local;
    fourrow_finish(t, fourrow_answer(values, count), node->level - 1, shared);
}

#define BL_PROGRAM fourrow
#define BL_PAYLOAD fourrow_node
#define BL_RESULT int32_t
#define BL_SHARED fourrow_shared
#define BL_LOCAL fourrow_local
#define BL_RUN fourrow_run
#define BL_JOIN fourrow_join
#define BL_JOIN_WIDTH FOURROW_COLUMNS
#define BL_MERGE fourrow_merge
#define BL_DONE_TEST fourrow_done
#define BL_LANE_TASKS 1
#define BL_RESIDENT 24
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_PAPERS, 0)
#define BL_OPEN 1
#include <ballast/program.h>

#endif
#endif
