/* Four in a row for the host: positions as people write them, what a lookahead finds, the sequential twins. */
#ifndef BALLAST_FOURROW_H
#define BALLAST_FOURROW_H

#include "../common/app.h"
#include "question.h"

/* ---- games: game.c ---- */

typedef struct fourrow_game {
    fourrow_board board;
    uint32_t stones;
} fourrow_game;

/* One line about a text that is not accepted: where, what, and what is accepted. */
typedef struct fourrow_complaint {
    char text[192];
} fourrow_complaint;

bool fourrow_game_over(const fourrow_game *game); /* won, or the board is full */

/* Plays a column, 1 to 7, as a character. False if it is none, if it is full, or if the game is over. */
bool fourrow_game_play(fourrow_game *game, char column);

/* The first `length` characters of `moves`, from the empty board. The game may be over with the last one. */
bool fourrow_game_read(fourrow_game *game, const char *moves, size_t length, fourrow_complaint *complaint);

/* ---- files of positions: input.c ---- */

typedef struct fourrow_line {
    fourrow_board board;
    uint32_t number; /* in the file, from 1 */
    bool has_score;
    int32_t score;
} fourrow_line;

typedef struct fourrow_lines {
    fourrow_line *at;
    uint32_t count;
} fourrow_lines;

/* Lines `moves` or `moves score`, also gzip; empty ones and those that begin with # are passed over. Returns 0, or
 * fills error and returns 1. */
int fourrow_lines_read(fourrow_lines *lines, const char *file, app_error *error);

/* ---- what a lookahead finds: look.c ---- */

typedef struct fourrow_outlook {
    int32_t values[FOURROW_COLUMNS];
    bool open[FOURROW_COLUMNS]; /* false: the column is full and has no value */
    uint32_t move;              /* the best column, from 0; of equal ones the lowest */
    uint64_t nodes;
} fourrow_outlook;

/* Chooses among the values of open columns. */
void fourrow_choose(fourrow_outlook *outlook);
/* `values` are those of the open columns, from the left; chooses. */
void fourrow_spread(const fourrow_board *board, const int32_t *values, fourrow_outlook *outlook);

const bl_program *fourrow_program(void);

/* Minimax on the context's device, where `totals` lies. The game must not be over. Returns a bl_status. */
int fourrow_look(bl_context *context, const fourrow_board *board, uint32_t lookahead, fourrow_totals *totals,
                 fourrow_outlook *outlook, bl_stats *stats);

/* ---- sequential twins: twin.c ---- */

void fourrow_twin(const fourrow_board *board, uint32_t lookahead, fourrow_outlook *outlook);

/* The exact score without threats, bounds from the stones left or the shared table: plain alpha-beta. False: out of
 * memory. */
bool fourrow_twin_score(const fourrow_board *board, int32_t *score);

/* The nodes that a lookahead from the empty board sees; 0 where that is not known. */
uint64_t fourrow_known_nodes(uint32_t lookahead);

#endif
