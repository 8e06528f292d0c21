/* What tasks carry and count, for them and for the host. */
#ifndef BALLAST_FOURROW_QUESTION_H
#define BALLAST_FOURROW_QUESTION_H

#include "search.h"

/* The payload of a task. FOURROW_SCORE: what is the score of the board? FOURROW_ASK: is it at least `bound`?
 * FOURROW_ASK_BELOW: is the score of what a move leads to at least `bound`, where the move is number first + index
 * of `moves`? As what a node keeps while its children run: `first` moves were forked, and `best` is the best of
 * those that came back. */
typedef struct fourrow_question {
    fourrow_board board;
    fourrow_line_of_play line; /* that led to the board */
    fourrow_bounds bounds;     /* of the board's score */
    int32_t bound, best;
    uint32_t moves, first; /* as fourrow_order makes them */
    uint32_t kind;
    uint32_t unused;
} fourrow_question;

enum { FOURROW_SCORE, FOURROW_ASK, FOURROW_ASK_BELOW };

/* The most stones at which a position may still be split: a line of play holds 21 moves. */
#define FOURROW_SPLIT_MOST 21

typedef struct fourrow_solve_shared {
    fourrow_table table;
    uint64_t *nodes;
    uint32_t split; /* positions with fewer stones are split into tasks, the others searched by one worker */
    uint32_t unused;
} fourrow_solve_shared;

/* What one lane has seen. */
typedef struct fourrow_local {
    uint64_t nodes;
} fourrow_local;

/* What a lookahead adds up, in memory of the device. */
typedef struct fourrow_totals {
    uint64_t nodes;
    uint32_t complete; /* moves of the position that have their value */
    uint32_t unused;
} fourrow_totals;

#endif
