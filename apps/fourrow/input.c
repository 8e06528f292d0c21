/* Files of positions with their scores. */
#include "fourrow.h"

#include "../common/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool read_score(source *s, const char *word, fourrow_line *line) {
    char *end;
    long score = strtol(word, &end, 10);
    line->has_score = word[0] != '\0';
    line->score = (int32_t)score;
    return !line->has_score || (*end == '\0' && score >= -21 && score <= 21) ||
           source_fail(s, "line %" PRIu64 ": \"%s\" is not a score (accepted: -21 to 21, or nothing)", s->line, word);
}

static bool read_moves(source *s, const char *word, fourrow_line *line) {
    fourrow_game game;
    fourrow_complaint complaint;
    line->number = (uint32_t)s->line;
    if (!fourrow_game_read(&game, word, strlen(word), &complaint))
        return source_fail(s, "line %" PRIu64 ": %s", s->line, complaint.text);
    line->board = game.board;
    return !fourrow_game_over(&game) ||
           source_fail(s, "line %" PRIu64 ": the game is over (accepted: positions with a move left)", s->line);
}

static bool read_line(source *s, const char *moves, fourrow_line *line) {
    char score[SOURCE_WORD], more[SOURCE_WORD];
    return read_moves(s, moves, line) && text_word(s, score) && read_score(s, score, line) && text_word(s, more) &&
           (more[0] == '\0' ||
            source_fail(s, "line %" PRIu64 ": \"%s\" is one word too many (accepted: moves and a score)", s->line,
                        more));
}

static bool has_room(fourrow_lines *lines, uint32_t *room) {
    if (lines->count < *room)
        return true;
    uint32_t more = *room ? 2 * *room : 1024;
    fourrow_line *at = realloc(lines->at, more * sizeof *at);
    if (!at)
        return false;
    lines->at = at;
    *room = more;
    return true;
}

static bool read_lines(source *s, fourrow_lines *lines) {
    char word[SOURCE_WORD];
    uint32_t room = 0;
    while (source_more(s)) {
        text_skip_blanks(s);
        if (text_peek(s) != '#' && !text_at_line_end(s)) {
            if (!has_room(lines, &room))
                return source_fail(s, "out of memory for %" PRIu32 " positions", lines->count + 1);
            if (!text_word(s, word) || !read_line(s, word, &lines->at[lines->count]))
                return false;
            lines->count++;
        }
        if (!text_skip_line(s))
            return false;
    }
    return !s->failed && (lines->count > 0 || source_fail(s, "holds no positions (accepted: lines of moves)"));
}

int fourrow_lines_read(fourrow_lines *lines, const char *file, app_error *error) {
    size_t length = strlen(file);
    source s;
    *lines = (fourrow_lines){.count = 0};
    bool good =
        source_open(&s, file, length > 3 && strcmp(file + length - 3, ".gz") == 0, error) && read_lines(&s, lines);
    source_close(&s);
    if (good)
        return 0;
    free(lines->at);
    *lines = (fourrow_lines){.count = 0};
    return 1;
}
