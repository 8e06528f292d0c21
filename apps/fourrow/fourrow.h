/* Four in a row for the host: positions as people write them, results of a lookahead, and the sequential twins. */
#ifndef BALLAST_FOURROW_H
#define BALLAST_FOURROW_H

#include "../common/app.h"
#include "question.h"

/* ---- games: game.c ---- */

typedef struct fourrow_game {
    fourrow_board board;
    uint32_t stones;
} fourrow_game;

/* A one-line message about rejected text: where, what, and what is accepted. */
typedef struct fourrow_complaint {
    char text[192];
} fourrow_complaint;

bool fourrow_game_over(const fourrow_game *game); /* won, or the board is full */

/* Plays a column, given as a character from 1 to 7. False if it is not a column, if the column is full, or if the game
 * is over. */
bool fourrow_game_play(fourrow_game *game, char column);

/* Plays the first `length` characters of `moves` from the empty board. The last one may end the game. */
bool fourrow_game_read(fourrow_game *game, const char *moves, size_t length, fourrow_complaint *complaint);

/* ---- files of positions: input.c ---- */

typedef struct fourrow_line {
    fourrow_board board;
    uint32_t number; /* line number in the file, from 1 */
    bool has_score;
    int32_t score;
} fourrow_line;

typedef struct fourrow_lines {
    fourrow_line *at;
    uint32_t count;
} fourrow_lines;

/* Reads lines of the form `moves` or `moves score`, also gzip; ignores empty lines and those that begin with #. Returns
 * 0, or fills error and returns 1. */
int fourrow_lines_read(fourrow_lines *lines, const char *file, app_error *error);

/* ---- results of a lookahead: look.c ---- */

typedef struct fourrow_outlook {
    int32_t values[FOURROW_COLUMNS];
    bool open[FOURROW_COLUMNS]; /* false: the column is full and has no value */
    uint32_t move;              /* the best column, from 0; on a tie the lowest */
    uint64_t nodes;
} fourrow_outlook;

/* Chooses a move by the values of the open columns. */
void fourrow_choose(fourrow_outlook *outlook);
/* `values` are those of the open columns, from the left. Also chooses a move. */
void fourrow_spread(const fourrow_board *board, const int32_t *values, fourrow_outlook *outlook);

const bl_program *fourrow_program(void);

/* Minimax on the context's device, which holds `totals`. The game must not be over. Returns a bl_status. */
int fourrow_look(bl_context *context, const fourrow_board *board, uint32_t lookahead, fourrow_totals *totals,
                 fourrow_outlook *outlook, bl_stats *stats);

/* ---- sequential twins: twin.c ---- */

void fourrow_twin(const fourrow_board *board, uint32_t lookahead, fourrow_outlook *outlook);

/* The exact score by plain alpha-beta, without threats, bounds from the remaining stones or the shared table. False:
 * out of memory. */
bool fourrow_twin_score(const fourrow_board *board, int32_t *score);

/* The number of nodes of a lookahead from the empty board, or 0 if unknown. */
uint64_t fourrow_known_nodes(uint32_t lookahead);

#endif
