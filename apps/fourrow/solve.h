/* The exact solver's tasks: alpha-beta with forks and joins near the root; further down, one worker searches alone
 * (search.h). All workers share the table.
 *
 * A root narrows the bounds of its score: it forks one child that asks whether the score is at least some bound, and
 * the join asks again with the next bound until the lower and upper bounds meet.
 *
 * A node with few stones is split. It forks the move that looks best alone, because if that move suffices, searching
 * the others would be wasted work. If it does not suffice, the join forks all others at once. A task that finds a
 * sufficient move writes the new lower bound of the parent position into the table before it returns. All tasks that
 * were forked below that position, at any depth, see the bound when they start or while they search, and return
 * FOURROW_IDLE.
 *
 * A join with idle children checks the table: its own question, or one above it, must have been answered. If the entry
 * has been overwritten, the join forks those moves again. So correctness does not depend on what the table keeps. */
#ifndef BALLAST_FOURROW_SOLVE_H
#define BALLAST_FOURROW_SOLVE_H

#include "common/kernels.h"
#include "question.h"

/* What is known of a score before any search; the exact score if the game is over or ends with this stone. */
BL_FN fourrow_bounds fourrow_before(const fourrow_board *b) {
    uint32_t stones = fourrow_count(b->mask);
    fourrow_bounds bounds;
    bounds.lower = fourrow_lose_next(stones);
    bounds.upper = fourrow_win_now(stones) - 1;
    if (fourrow_is_won(b))
        bounds.lower = bounds.upper = -fourrow_win_now(stones - 1);
    else if (fourrow_is_full(b))
        bounds.lower = bounds.upper = 0;
    else if (fourrow_can_win(b))
        bounds.lower = bounds.upper = fourrow_win_now(stones);
    return bounds;
}

/* The bound to ask about next, far from a draw first: a quick win or loss is found soon, and the search fills the
 * table. */
BL_FN int32_t fourrow_probe(fourrow_bounds bounds) {
    int32_t middle = bounds.lower + (bounds.upper - bounds.lower + 1) / 2;
    if (middle <= 0 && bounds.lower / 2 < middle)
        middle = bounds.lower / 2;
    else if (middle > 0 && bounds.upper / 2 > middle)
        middle = bounds.upper / 2;
    return middle > bounds.lower ? middle : bounds.lower + 1;
}

static BL_TASK void fourrow_solve_merge(const fourrow_solve_shared *shared, const fourrow_local *local) {
    bl_merge_add64(shared->nodes, local->nodes);
}

/* ---- a root ---- */

/* Asks about the next bound, or returns the score once it is known. */
static BL_TASK void fourrow_narrow(bl_task *t, const fourrow_question *root) {
    fourrow_question wait = *root;
    if (root->bounds.lower >= root->bounds.upper) {
        bl_return(t, &root->bounds.lower);
        return;
    }
    wait.bound = fourrow_probe(root->bounds);
    fourrow_question ask = wait;
    ask.kind = FOURROW_ASK;
    bl_fork(t, &wait, &ask, 1);
}

/* ---- a node ---- */

/* Forks the next `count` moves. */
static BL_TASK void fourrow_split(bl_task *t, const fourrow_question *node, uint32_t count) {
    fourrow_question wait = *node, ask = *node;
    wait.first = node->first + count;
    ask.kind = FOURROW_ASK_BELOW;
    ask.bound = 1 - node->bound;
    bl_fork(t, &wait, &ask, count);
}

BL_FN uint32_t fourrow_moves_left(const fourrow_question *node) {
    uint32_t count = 0;
    for (uint32_t moves = node->moves >> 3 * node->first; moves != FOURROW_END; moves >>= 3)
        count++;
    return count;
}

BL_FN bool fourrow_is_unneeded(const fourrow_question *q, const fourrow_solve_shared *shared) {
    uint32_t length = fourrow_length(&q->line, fourrow_count(q->board.mask));
    return fourrow_is_idle(&shared->table, &q->line, length, q->bound);
}

/* Returns the value of q's board. If the move to it suffices, its siblings must learn of it. */
static BL_TASK void fourrow_reply(bl_task *t, const fourrow_question *q, int32_t value,
                                  const fourrow_solve_shared *shared) {
    uint32_t stones = fourrow_count(q->board.mask), length = fourrow_length(&q->line, stones);
    if (length > 0 && value != FOURROW_IDLE && -value >= 1 - q->bound) {
        fourrow_board above = fourrow_above(&q->line, length);
        fourrow_bounds bounds = fourrow_certain(stones - 1);
        fourrow_recall(&shared->table, fourrow_key(&above), &bounds);
        fourrow_record(&shared->table, &above, stones - 1, bounds, -value, 1 - q->bound);
    }
    bl_return(t, &value);
}

/* Some of the last `count` forked moves came back idle: these, and the moves not forked yet, must be tried again. */
BL_FN void fourrow_retry(fourrow_question *node, const int32_t *values, uint32_t count) {
    uint32_t moves = node->moves >> 3 * node->first, forked = node->moves >> 3 * (node->first - count);
    for (uint32_t i = count; i-- > 0;)
        if (values[i] == FOURROW_IDLE)
            moves = moves << 3 | (forked >> 3 * i & 7);
    node->moves = moves;
    node->first = 0;
}

/* Receives the values of the forked moves. */
static BL_TASK void fourrow_gather(bl_task *t, const fourrow_question *forked, const int32_t *values, uint32_t count,
                                   const fourrow_solve_shared *shared) {
    fourrow_question node = *forked;
    bool idle = false;
    for (uint32_t i = 0; i < count; i++) {
        idle = idle || values[i] == FOURROW_IDLE;
        if (values[i] != FOURROW_IDLE && -values[i] > node.best)
            node.best = -values[i];
    }
    if (idle && node.best < node.bound) {
        fourrow_retry(&node, values, count);
        fourrow_recall(&shared->table, fourrow_key(&node.board), &node.bounds);
    }
    uint32_t left = fourrow_moves_left(&node);
    bool answered = node.bounds.lower >= node.bound || node.bounds.upper < node.bound;
    if (answered)
        node.best = node.bounds.lower >= node.bound ? node.bounds.lower : node.bounds.upper;
    if (!answered && node.best < node.bound && left > 0) {
        int32_t none = FOURROW_IDLE;
        if (idle && fourrow_is_unneeded(&node, shared))
            bl_return(t, &none);
        else
            fourrow_split(t, &node, left);
        return;
    }
    if (!answered)
        fourrow_record(&shared->table, &node.board, fourrow_count(node.board.mask), node.bounds, node.best, node.bound);
    fourrow_reply(t, &node, node.best, shared);
}

/* Searches or splits q's board. */
static BL_TASK void fourrow_examine(bl_task *t, const fourrow_question *q, const fourrow_solve_shared *shared,
                                    fourrow_local *local) {
    uint32_t stones = fourrow_count(q->board.mask);
    fourrow_search search;
    int32_t value;
    search.table = &shared->table;
    search.line = &q->line;
    search.nodes = 0;
    if (stones >= shared->split) {
        value = fourrow_at_least(&search, &q->board, stones, q->bound);
        local->nodes += search.nodes;
    } else {
        fourrow_frame *f = &search.frames[0];
        local->nodes++;
        if (!fourrow_decide(&shared->table, &q->board, stones, q->bound, f, &value)) {
            fourrow_question node = *q;
            node.bounds = f->bounds;
            node.best = f->best;
            node.moves = f->moves;
            node.first = 0;
            fourrow_split(t, &node, 1);
            return;
        }
    }
    fourrow_reply(t, q, value, shared);
}

static BL_TASK void fourrow_examine_below(bl_task *t, const fourrow_question *q, uint32_t index,
                                          const fourrow_solve_shared *shared, fourrow_local *local) {
    fourrow_question below = *q;
    uint32_t move = q->moves >> 3 * (q->first + index) & 7;
    uint32_t length = fourrow_length(&q->line, fourrow_count(q->board.mask));
    int32_t none = FOURROW_IDLE;
    below.kind = FOURROW_ASK;
    below.line.moves |= (uint64_t)move << 3 * length;
    below.board = fourrow_follow(&q->board, move);
    if (fourrow_is_unneeded(&below, shared))
        bl_return(t, &none);
    else
        fourrow_examine(t, &below, shared, local);
}

static BL_TASK void fourrow_solve_run(bl_task *t, const fourrow_question *q, uint32_t index,
                                      const fourrow_solve_shared *shared, fourrow_local *local) {
    if (t->lane != 0)
        return;
    if (q->kind == FOURROW_SCORE) {
        fourrow_question root = *q;
        root.board = fourrow_canonical(&q->board);
        root.line.origin = root.board;
        root.line.moves = 0;
        root.bounds = fourrow_before(&root.board);
        fourrow_narrow(t, &root);
    } else if (q->kind == FOURROW_ASK) {
        fourrow_examine(t, q, shared, local);
    } else {
        fourrow_examine_below(t, q, index, shared, local);
    }
}

static BL_TASK void fourrow_solve_join(bl_task *t, const fourrow_question *forked, const int32_t *values,
                                       uint32_t count, const fourrow_solve_shared *shared, fourrow_local *local) {
    (void)local;
    if (t->lane != 0)
        return;
    if (forked->kind != FOURROW_SCORE) {
        fourrow_gather(t, forked, values, count, shared);
        return;
    }
    fourrow_question root = *forked;
    if (values[0] >= root.bound)
        root.bounds.lower = values[0];
    else
        root.bounds.upper = values[0];
    fourrow_narrow(t, &root);
}

#ifndef FOURROW_WITHOUT_PROGRAM
#define BL_PROGRAM fourrow_solve
#define BL_PAYLOAD fourrow_question
#define BL_RESULT int32_t
#define BL_SHARED fourrow_solve_shared
#define BL_LOCAL fourrow_local
#define BL_RUN fourrow_solve_run
#define BL_JOIN fourrow_solve_join
#define BL_JOIN_WIDTH FOURROW_COLUMNS
#define BL_MERGE fourrow_solve_merge
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_DEFAULT, 0)
#include <ballast/program.h>
#endif

#endif
