/* Games as strings of columns. */
#include "fourrow.h"

#include <stdarg.h>

bool fourrow_game_over(const fourrow_game *game) {
    return fourrow_is_won(&game->board) || fourrow_is_full(&game->board);
}

static bool is_column(char c) { return c >= '1' && c <= '7'; }

static bool is_open(const fourrow_game *game, char column) {
    return (fourrow_possible(&game->board) & fourrow_column((uint32_t)(column - '1'))) != 0;
}

bool fourrow_game_play(fourrow_game *game, char column) {
    if (!is_column(column) || !is_open(game, column) || fourrow_game_over(game))
        return false;
    game->board = fourrow_drop(&game->board, (uint32_t)(column - '1'));
    game->stones++;
    return true;
}

/* Returns false, for use in `return complain(...)`. */
static bool complain(fourrow_complaint *complaint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool explain(const fourrow_game *game, char c, size_t at, fourrow_complaint *complaint) {
    if (c >= ' ' && c <= '~' && !is_column(c))
        return complain(complaint, "character %zu, '%c', is not a column (accepted: 1 to 7)", at, c);
    if (!is_column(c))
        return complain(complaint, "character %zu is not a column (accepted: 1 to 7)", at);
    if (fourrow_game_over(game))
        return complain(complaint, "character %zu comes after the end of the game (accepted: the first %zu)", at,
                        at - 1);
    return complain(complaint, "character %zu: column %c is full (accepted: one with room for a stone)", at, c);
}

bool fourrow_game_read(fourrow_game *game, const char *moves, size_t length, fourrow_complaint *complaint) {
    *game = (fourrow_game){.stones = 0};
    for (size_t i = 0; i < length; i++)
        if (!fourrow_game_play(game, moves[i]))
            return explain(game, moves[i], i + 1, complaint);
    return true;
}
