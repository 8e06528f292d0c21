/* The tasks of four in a row. With FOURROW_WITHOUT_PROGRAM defined only the functions are here, for the sequential
 * twins and the tests.
 *
 * Minimax as in Cederman and Tsigas 2011 (GPU Computing Gems, chapter 35): one task per node of the decision tree.
 * What their task holds, level, parent, value and moves, lies here in two places: level and moves (as the board that
 * they lead to) in the payload, parent and values in the join record that a fork makes. Moves ahead are counted from
 * the position asked about, whose own children are level 1. */
#ifndef BALLAST_FOURROW_TASK_H
#define BALLAST_FOURROW_TASK_H

#include "solve.h"

/* The payload: the position before the move. The task with index i plays the possible column number first + i, from
 * the left. */
typedef struct fourrow_node {
    fourrow_board board;
    uint32_t level; /* of the position after the move */
    uint32_t first;
} fourrow_node;

typedef struct fourrow_shared {
    fourrow_totals *totals;
    uint32_t lookahead;
    uint32_t roots;
} fourrow_shared;

static BL_TASK void fourrow_merge(const fourrow_shared *shared, const fourrow_local *local) {
    if (local->nodes > 0)
        bl_fetch_add64_relaxed(&shared->totals->nodes, local->nodes);
}

/* Of values seen by the side that moves, the best; the side that moved before sees its negative. */
BL_FN int32_t fourrow_answer(const int32_t *values, uint32_t count) {
    int32_t best = values[0];
    for (uint32_t i = 1; i < count; i++)
        best = values[i] > best ? values[i] : best;
    return -best;
}

#ifndef FOURROW_WITHOUT_PROGRAM

/* What the paper asks: the root is complete when all of its moves have their value. */
static BL_TASK bool fourrow_done(const fourrow_shared *shared) {
    return bl_load32_relaxed(&shared->totals->complete) == shared->roots;
}

/* `level` is that of the position with this value. Its worker writes it before it ends, so that counting first does
 * no harm. */
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
#define BL_SCHEDULERS BL_SCHEDULERS_PAPERS
#include <ballast/program.h>

#endif
#endif
