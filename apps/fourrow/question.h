/* What tasks carry and count, for the tasks and for the host. */
#ifndef BALLAST_FOURROW_QUESTION_H
#define BALLAST_FOURROW_QUESTION_H

#include "search.h"

/* The payload of a task. FOURROW_SCORE: what is the score of the board? FOURROW_ASK: is it at least `bound`?
 * FOURROW_ASK_BELOW: is the score of the position after a move at least `bound`, where the move is number first + index
 * of `moves`? In the record that a node keeps while its children run, `first` counts the forked moves, and `best` is
 * the best value returned so far. */
typedef struct fourrow_question {
    fourrow_board board;
    fourrow_line_of_play line; /* the moves that led to the board */
    fourrow_bounds bounds;     /* bounds of the board's score */
    int32_t bound, best;
    uint32_t moves, first; /* as made by fourrow_order */
    uint32_t kind;
    uint32_t unused;
} fourrow_question;

enum { FOURROW_SCORE, FOURROW_ASK, FOURROW_ASK_BELOW };

/* The most stones a position may have and still be split: a line of play holds 21 moves. */
#define FOURROW_SPLIT_MOST 21

typedef struct fourrow_solve_shared {
    fourrow_table table;
    uint64_t *nodes;
    uint32_t split; /* positions with fewer stones are split into tasks; one worker searches the others */
    uint32_t unused;
} fourrow_solve_shared;

/* Counted by one lane. */
typedef struct fourrow_local {
    uint64_t nodes;
} fourrow_local;

/* The totals of a lookahead, in device memory. */
typedef struct fourrow_totals {
    uint64_t nodes;
    uint32_t complete; /* moves of the position whose value is known */
    uint32_t unused;
} fourrow_totals;

#endif
