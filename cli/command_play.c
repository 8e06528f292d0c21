/* ballast play: four in a row against the computer. A line-based dialogue, so that it works over a pipe as well as in a
 * terminal. */
#define _POSIX_C_SOURCE 200809L /* getline, isatty */

#include "../apps/fourrow/fourrow.h"
#include "output.h"
#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const app_option PLAY_OPTIONS[] = {
    {"--side", "first|second", "first", "whether you move first"},
    {"--lookahead", "N", "7",
     "moves that the computer looks ahead, 1 to 42; each additional one takes up to 7 times as long"},
    {"--device", "D", "auto", DEVICES_ACCEPTED "; computes the moves"},
    {"--help", NULL, "", "print this help"},
    {NULL, NULL, NULL, NULL},
};

#define KEYS "1 to 7, u undo, h hint, r resign, q quit"

typedef struct play {
    bl_context *context;
    const char *device;
    fourrow_totals *totals; /* in device memory */
    uint32_t lookahead;
    bool second; /* the human moves second */
    bool colour, echo;
    fourrow_game game;
    char moves[FOURROW_CELLS + 1];
} play;

/* The effect of one key. */
typedef enum outcome { AGAIN, MOVED, ENDED, FAILED } outcome;

/* ---- the board ---- */

static bool humans_turn(const play *p) { return (p->game.stones % 2 == 1) == p->second; }

/* X moves first. */
static char stone_at(const play *p, uint32_t column, uint32_t row) {
    uint64_t cell = UINT64_C(1) << (7 * column + row);
    if ((p->game.board.mask & cell) == 0)
        return '.';
    bool to_move = (p->game.board.mine & cell) != 0;
    return to_move == (p->game.stones % 2 == 0) ? 'X' : 'O';
}

static void print_stone(const play *p, char stone) {
    if (p->colour && stone != '.')
        printf(" \033[1;%dm%c\033[0m", stone == 'X' ? 31 : 33, stone);
    else
        printf(" %c", stone);
}

static void print_board(const play *p) {
    putchar('\n');
    for (uint32_t row = FOURROW_ROWS; row-- > 0;) {
        for (uint32_t column = 0; column < FOURROW_COLUMNS; column++)
            print_stone(p, stone_at(p, column, row));
        putchar('\n');
    }
    puts(" 1 2 3 4 5 6 7");
}

/* ---- the computer ---- */

static int thinking_failed(const play *p, int status) {
    const char *detail = bl_error_detail(p->context);
    return run_failed("play: %s%s%s", bl_status_text(status), detail[0] ? ": " : "", detail);
}

/* Deepens the lookahead one move at a time. The first lookahead that sees a win has found the quickest one; once every
 * move loses, the previous lookahead's choice holds out longest. */
static int think(const play *p, char *column) {
    uint32_t most = FOURROW_CELLS - p->game.stones;
    for (uint32_t ahead = 1; ahead <= p->lookahead && ahead <= most; ahead++) {
        fourrow_outlook outlook;
        bl_stats stats;
        int status = fourrow_look(p->context, &p->game.board, ahead, p->totals, &outlook, &stats);
        if (status)
            return thinking_failed(p, status);
        int32_t value = outlook.values[outlook.move];
        if (value > -FOURROW_WIN)
            *column = (char)('1' + outlook.move);
        if (value == FOURROW_WIN || value == -FOURROW_WIN)
            break;
    }
    return STATUS_OK;
}

/* The column must be legal. */
static void move(play *p, char column) {
    p->moves[p->game.stones] = column;
    fourrow_game_play(&p->game, column);
    p->moves[p->game.stones] = '\0';
}

static int computer_moves(play *p) {
    char column = '4';
    int status = think(p, &column);
    if (status)
        return status;
    move(p, column);
    printf("\nThe computer plays %c.\n", column);
    return STATUS_OK;
}

/* ---- the human ---- */

static outcome hint(const play *p) {
    char column = '4';
    if (think(p, &column))
        return FAILED;
    printf("Hint: %c.\n", column);
    return AGAIN;
}

/* Back to the human's previous move, which also takes back the computer's reply. */
static outcome undo(play *p) {
    if (p->game.stones < 2) {
        puts("There is nothing to undo.");
        return AGAIN;
    }
    fourrow_complaint complaint;
    p->moves[p->game.stones - 2] = '\0';
    fourrow_game_read(&p->game, p->moves, strlen(p->moves), &complaint);
    print_board(p);
    return AGAIN;
}

static outcome resign(void) {
    puts("You resign: the computer wins.");
    return ENDED;
}

static outcome take_column(play *p, char column) {
    fourrow_game next = p->game;
    if (!fourrow_game_play(&next, column)) {
        printf("Column %c is full (accepted: one with room for a stone).\n", column);
        return AGAIN;
    }
    move(p, column);
    return MOVED;
}

/* `line` is the input without surrounding blanks. */
static outcome take_key(play *p, const char *line) {
    if (strlen(line) == 1) {
        switch (line[0]) {
        case 'u':
            return undo(p);
        case 'h':
            return hint(p);
        case 'r':
            return resign();
        case 'q':
            return ENDED;
        default:
            if (line[0] >= '1' && line[0] <= '7')
                return take_column(p, line[0]);
        }
    }
    printf("\"%.40s\" is not a move (accepted: " KEYS ").\n", line);
    return AGAIN;
}

/* Control characters must not reach the terminal when the input is echoed. */
static char *tidy(char *line) {
    char *first = line + strspn(line, " \t\r\n");
    size_t length = strlen(first);
    while (length > 0 && strchr(" \t\r\n", first[length - 1]))
        first[--length] = '\0';
    for (char *c = first; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return first;
}

static outcome human_moves(play *p) {
    char *line = NULL;
    size_t room = 0;
    outcome done = AGAIN;
    while (done == AGAIN) {
        printf("Your move (" KEYS "): ");
        fflush(stdout);
        if (getline(&line, &room, stdin) < 0) {
            putchar('\n');
            done = ENDED;
            break;
        }
        const char *typed = tidy(line);
        if (p->echo) /* input from a pipe is not visible */
            puts(typed);
        done = take_key(p, typed);
    }
    free(line);
    return done;
}

/* ---- the game ---- */

static void announce(const play *p) {
    if (!fourrow_is_won(&p->game.board))
        puts("\nA draw: the board is full.");
    else
        puts(humans_turn(p) ? "\nYou lose: the computer has four in a row." : "\nYou win: four in a row.");
}

static int play_game(play *p) {
    printf("Four in a row: you play %s and move %s.\n", p->second ? "O" : "X", p->second ? "second" : "first");
    print_board(p);
    while (!fourrow_game_over(&p->game)) {
        if (!humans_turn(p)) {
            if (computer_moves(p))
                return STATUS_FAILED;
            print_board(p);
            continue;
        }
        outcome done = human_moves(p);
        if (done != MOVED)
            return done == FAILED ? STATUS_FAILED : STATUS_OK;
        print_board(p);
    }
    announce(p);
    return STATUS_OK;
}

static int play_on_device(play *p) {
    bl_config config = {.device = p->device};
    void *totals = NULL;
    int status = bl_open(&p->context, &config);
    if (status == BL_ENODEVICE)
        return wrong_use("--device %.64s: no usable device here (accepted: " DEVICES_ACCEPTED ")", p->device);
    if (status)
        return run_failed("play: %s", bl_status_text(status));
    status = bl_alloc(p->context, &totals, sizeof *p->totals);
    p->totals = totals;
    if (status) {
        status = thinking_failed(p, status);
    } else {
        status = play_game(p);
        bl_free(p->context, totals);
    }
    bl_close(p->context);
    return status;
}

/* ---- the command ---- */

static int read_options(const options *set, play *p) {
    static const char *const SIDES[] = {"first", "second", NULL};
    int side = 0, status;
    uint64_t lookahead = 0;
    if ((status = option_choice(set, "--side", SIDES, &side)) ||
        (status = option_whole(set, "--lookahead", 1, FOURROW_CELLS, &lookahead)) ||
        (status = option_device(set, &p->device)))
        return status;
    p->second = side == 1;
    p->lookahead = (uint32_t)lookahead;
    p->colour = isatty(STDOUT_FILENO);
    p->echo = !isatty(STDIN_FILENO);
    return 0;
}

static int command_play(int argc, char **argv) {
    options set = {.command = "play"};
    const char *word = NULL;
    play p = {.device = "auto"};
    options_add(&set, PLAY_OPTIONS);
    int status = options_parse(&set, argc, argv, "options only", &word);
    if (status)
        return status;
    if (options_given(&set, "--help"))
        return command_help(&play_command);
    if (word)
        return wrong_use("%.64s: unknown word (accepted: options only)", word);
    status = read_options(&set, &p);
    return status ? status : play_on_device(&p);
}

const command play_command = {
    .name = "play",
    .text = "play four in a row against the computer",
    .usage = "[options]",
    .about = "Four in a row against the computer, a line per move: " KEYS ".",
    .options = PLAY_OPTIONS,
    .run = command_play,
};
