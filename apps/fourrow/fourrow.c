/* The application `fourrow`: its interface to the command line, the tests and the benchmarks. */
#include "solver.h"

#include "../common/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these the twins take too long and run only with --check. */
static const uint64_t twin_nodes = 100000000;
enum { TWIN_STONES = 18 };

enum { LOOKAHEAD = 7 };

typedef enum fourrow_mode { LOOK, SOLVE, SOLVE_FILE } fourrow_mode;

typedef struct fourrow {
    fourrow_mode mode;
    fourrow_game game;
    uint32_t lookahead;
    fourrow_lines lines; /* of --input */

    fourrow_totals *totals; /* in device memory, like everything that the solver uses */
    fourrow_solver solver;

    fourrow_outlook outlook; /* of the last run */
    fourrow_board *boards;   /* boards of the lines, and their scores */
    int32_t *scores;
} fourrow;

/* ---- options ---- */

enum { OPTION_POSITION, OPTION_LOOKAHEAD, OPTION_SOLVE, OPTION_INPUT };

static const app_option fourrow_options[] = {
    [OPTION_POSITION] = {"--position", "MOVES", "", "the columns played so far, 1 to 7, like 4453; default: none"},
    [OPTION_LOOKAHEAD] = {"--lookahead", "N", "",
                          "moves to look ahead, up to the free cells; default: 7, or the free cells if fewer"},
    [OPTION_SOLVE] = {"--solve", NULL, "", "give the exact score of every move instead, with perfect play to the end"},
    [OPTION_INPUT] =
        {"--input", "FILE", "",
         "with --solve: solve all positions of a file; a line is MOVES, or MOVES and the right score; also .gz"},
    {NULL, NULL, NULL, NULL},
};

static int read_position(fourrow *f, const char *text, app_error *error) {
    fourrow_complaint complaint;
    if (!fourrow_game_read(&f->game, text, strlen(text), &complaint))
        return app_wrong(error, 2, "--position: %s", complaint.text);
    if (fourrow_game_over(&f->game))
        return app_wrong(error, 2, "--position: the game is over after %" PRIu32 " moves, %s (accepted: fewer of them)",
                         f->game.stones, fourrow_is_won(&f->game.board) ? "won" : "drawn");
    return 0;
}

static int read_lookahead(fourrow *f, const char *text, app_error *error) {
    uint32_t most = FOURROW_CELLS - f->game.stones;
    f->lookahead = most < LOOKAHEAD ? most : LOOKAHEAD;
    if (text[0] != '\0' && (!parse_u32(text, &f->lookahead) || f->lookahead < 1 || f->lookahead > most))
        return app_wrong(error, 2,
                         "--lookahead: \"%.100s\" is invalid; accepted: a whole number from 1 to %" PRIu32
                         ", the cells that are free",
                         text, most);
    return 0;
}

/* Rejects options that exclude each other. */
static int read_mode(fourrow *f, const char *const *values, app_error *error) {
    bool solve = values[OPTION_SOLVE][0] != '\0', input = values[OPTION_INPUT][0] != '\0';
    f->mode = !solve ? LOOK : input ? SOLVE_FILE : SOLVE;
    if (input && !solve)
        return app_wrong(error, 2, "--input: needs --solve (accepted: both, or neither)");
    if (input && values[OPTION_POSITION][0] != '\0')
        return app_wrong(error, 2, "--position: contradicts --input (accepted: one of the two)");
    if (solve && values[OPTION_LOOKAHEAD][0] != '\0')
        return app_wrong(error, 2,
                         "--lookahead: contradicts --solve, which looks to the end (accepted: one of the two)");
    return 0;
}

static int read_file(fourrow *f, const char *name, app_error *error) {
    int status = fourrow_lines_read(&f->lines, name, error);
    if (status != 0)
        return status;
    f->boards = malloc(f->lines.count * sizeof *f->boards);
    f->scores = calloc(f->lines.count, sizeof *f->scores);
    if (!f->boards || !f->scores)
        return app_wrong(error, 1, "--input: %.200s: out of memory", name);
    for (uint32_t i = 0; i < f->lines.count; i++)
        f->boards[i] = f->lines.at[i].board;
    return 0;
}

static void fourrow_app_close(void *problem) {
    fourrow *f = problem;
    free(f->lines.at);
    free(f->boards);
    free(f->scores);
    free(f);
}

static int fourrow_app_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    (void)seed; /* no randomness here */
    fourrow *f = calloc(1, sizeof *f);
    *problem = NULL;
    if (!f)
        return app_wrong(error, 1, "fourrow: out of memory");
    int status = read_position(f, values[OPTION_POSITION], error);
    if (status == 0)
        status = read_lookahead(f, values[OPTION_LOOKAHEAD], error);
    if (status == 0)
        status = read_mode(f, values, error);
    if (status == 0 && f->mode == SOLVE_FILE)
        status = read_file(f, values[OPTION_INPUT], error);
    if (status != 0)
        fourrow_app_close(f);
    else
        *problem = f;
    return status;
}

/* Covers --input only; a position is an option. */
static uint64_t fourrow_app_digest(const void *problem) {
    const fourrow *f = problem;
    return app_digest(0, f->boards, f->lines.count * sizeof *f->boards);
}

/* ---- device ---- */

static void fourrow_app_unload(void *problem, bl_context *context) {
    fourrow *f = problem;
    fourrow_solver_unload(&f->solver, context);
    if (f->totals)
        bl_free(context, f->totals);
    f->totals = NULL;
}

/* The largest number of empty cells among the positions to solve. */
static uint32_t empty_cells(const fourrow *f) {
    uint32_t empty = f->mode == SOLVE ? FOURROW_CELLS - f->game.stones : 0;
    for (uint32_t i = 0; i < f->lines.count; i++) {
        uint32_t cells = FOURROW_CELLS - fourrow_count(f->boards[i].mask);
        empty = cells > empty ? cells : empty;
    }
    return empty;
}

static void combine_totals(void *into, const void *from, size_t bytes) {
    fourrow_totals *to = into;
    const fourrow_totals *other = from;
    (void)bytes;
    to->nodes += other->nodes;
    to->complete += other->complete;
}

static int fourrow_app_load(void *problem, bl_context *context) {
    fourrow *f = problem;
    void *totals = NULL;
    if (f->mode != LOOK)
        return fourrow_solver_load(&f->solver, context, empty_cells(f));
    if (!fourrow_program())
        return BL_ENOMEM;
    int status = bl_alloc(context, &totals, sizeof *f->totals);
    f->totals = status == BL_OK ? totals : NULL;
    return status == BL_OK ? bl_combine(context, totals, combine_totals) : status;
}

/* Solves every move, so that each column has its value. The best value for the side to move is the worst for the
 * other. */
static int solve_moves(fourrow *f, bl_context *context, bl_stats *stats) {
    fourrow_board boards[FOURROW_COLUMNS] = {{0, 0}};
    int32_t scores[FOURROW_COLUMNS];
    uint32_t count = fourrow_count(fourrow_possible(&f->game.board));
    for (uint32_t i = 0; i < count; i++)
        boards[i] = fourrow_drop(&f->game.board, fourrow_nth(&f->game.board, i));
    int status = fourrow_solver_run(&f->solver, context, boards, count, scores, &f->outlook.nodes, stats);
    for (uint32_t i = 0; i < count; i++)
        scores[i] = -scores[i];
    if (status == BL_OK)
        fourrow_spread(&f->game.board, scores, &f->outlook);
    return status;
}

static int fourrow_app_run(void *problem, bl_context *context, bl_stats *stats) {
    fourrow *f = problem;
    if (f->mode == LOOK)
        return fourrow_look(context, &f->game.board, f->lookahead, f->totals, &f->outlook, stats);
    if (f->mode == SOLVE)
        return solve_moves(f, context, stats);
    return fourrow_solver_run(&f->solver, context, f->boards, f->lines.count, f->scores, &f->outlook.nodes, stats);
}

/* ---- the check ---- */

static bool same_values(const fourrow_outlook *ours, const fourrow_outlook *right, const char *of, app_error *error) {
    for (uint32_t i = 0; i < FOURROW_COLUMNS; i++)
        if (ours->open[i] != right->open[i] || ours->values[i] != right->values[i])
            return app_wrong(error, false,
                             "fourrow: column %" PRIu32 " has the value %" PRId32 ", but %s says %" PRId32, i + 1,
                             ours->values[i], of, right->values[i]);
    return ours->move == right->move ||
           app_wrong(error, false, "fourrow: the move is %" PRIu32 ", but %s says %" PRIu32, ours->move + 1, of,
                     right->move + 1);
}

static bool same_nodes(uint64_t ours, uint64_t right, const char *of, app_error *error) {
    return ours == right ||
           app_wrong(error, false, "fourrow: %" PRIu64 " nodes, but %s says %" PRIu64, ours, of, right);
}

/* The number of move sequences is known from the empty board on; only the twin knows the values. */
static bool check_look(const fourrow *f, bool force, const char **how, app_error *error) {
    static const char twins[] = "the sequential twin";
    uint64_t known = f->game.stones == 0 ? fourrow_known_nodes(f->lookahead) : 0;
    if (known > 0) {
        *how = "known";
        if (!same_nodes(f->outlook.nodes, known, "the known number of move sequences", error))
            return false;
    }
    if (!force && f->outlook.nodes > twin_nodes)
        return true;
    fourrow_outlook right;
    fourrow_twin(&f->game.board, f->lookahead, &right);
    *how = known > 0 ? "known" : "twin";
    return same_nodes(f->outlook.nodes, right.nodes, twins, error) && same_values(&f->outlook, &right, twins, error);
}

static bool twin_moves(const fourrow *f, fourrow_outlook *right, app_error *error) {
    int32_t scores[FOURROW_COLUMNS];
    uint32_t count = fourrow_count(fourrow_possible(&f->game.board));
    for (uint32_t i = 0; i < count; i++) {
        fourrow_board next = fourrow_drop(&f->game.board, fourrow_nth(&f->game.board, i));
        if (!fourrow_twin_score(&next, &scores[i]))
            return app_wrong(error, false, "fourrow: out of memory for the sequential twin");
        scores[i] = -scores[i];
    }
    fourrow_spread(&f->game.board, scores, right);
    return true;
}

static bool check_solve(const fourrow *f, bool force, const char **how, app_error *error) {
    static const int32_t opening[FOURROW_COLUMNS] = {-2, -1, 0, 1,
                                                     0,  -1, -2}; /* solved by Allen and by Allis in 1988 */
    fourrow_outlook right;
    if (f->game.stones == 0) {
        *how = "known";
        fourrow_spread(&f->game.board, opening, &right);
        return same_values(&f->outlook, &right, "what is known of the opening", error);
    }
    if (!force && f->game.stones < TWIN_STONES)
        return true;
    *how = "twin";
    return twin_moves(f, &right, error) && same_values(&f->outlook, &right, "the sequential twin", error);
}

/* The score that a line should have, from the file or the twin. */
static bool right_score(const fourrow *f, uint32_t i, bool force, int32_t *score, bool *known, app_error *error) {
    const fourrow_line *line = &f->lines.at[i];
    *known = line->has_score || force || fourrow_count(line->board.mask) >= TWIN_STONES;
    *score = line->score;
    return line->has_score || !*known || fourrow_twin_score(&line->board, score) ||
           app_wrong(error, false, "fourrow: out of memory for the sequential twin");
}

static bool check_file(const fourrow *f, bool force, const char **how, app_error *error) {
    uint32_t scored = 0, known = 0;
    for (uint32_t i = 0; i < f->lines.count; i++) {
        int32_t score;
        bool is_known;
        if (!right_score(f, i, force, &score, &is_known, error))
            return false;
        if (is_known && score != f->scores[i])
            return app_wrong(error, false,
                             "fourrow: line %" PRIu32 " of the input has the score %" PRId32 ", but %" PRId32 " %s",
                             f->lines.at[i].number, f->scores[i], score,
                             f->lines.at[i].has_score ? "stands there" : "is what the sequential twin says");
        scored += f->lines.at[i].has_score;
        known += is_known;
    }
    if (known == f->lines.count)
        *how = scored == known ? "known" : "twin";
    return true;
}

static bool fourrow_app_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    (void)stats;
    const fourrow *f = problem;
    *how = "no";
    if (f->mode == LOOK)
        return check_look(f, force, how, error);
    return f->mode == SOLVE ? check_solve(f, force, how, error) : check_file(f, force, how, error);
}

/* ---- results ---- */

static void print_values(const fourrow_outlook *outlook, FILE *out, bool json) {
    for (uint32_t i = 0; i < FOURROW_COLUMNS; i++) {
        fputs(i == 0 ? "" : json ? ", " : " ", out);
        if (outlook->open[i])
            fprintf(out, "%" PRId32, outlook->values[i]);
        else
            fputs(json ? "null" : "-", out);
    }
}

static void print_moves(const fourrow *f, FILE *out, bool json) {
    const fourrow_outlook *outlook = &f->outlook;
    fprintf(out, json ? "\"move\": %" PRIu32 ", \"values\": [" : "move %" PRIu32 "\nvalues ", outlook->move + 1);
    print_values(outlook, out, json);
    fprintf(out, json ? "], \"nodes\": %" PRIu64 : "\nnodes %" PRIu64 "\n", outlook->nodes);
    if (f->mode == SOLVE)
        fprintf(out, json ? ", \"score\": %" PRId32 : "score %" PRId32 "\n", outlook->values[outlook->move]);
}

static void print_file(const fourrow *f, FILE *out, bool json) {
    uint32_t scored = 0, right = 0;
    for (uint32_t i = 0; i < f->lines.count; i++) {
        scored += f->lines.at[i].has_score;
        right += f->lines.at[i].has_score && f->lines.at[i].score == f->scores[i];
    }
    fprintf(out,
            json ? "\"positions\": %" PRIu32 ", \"scored\": %" PRIu32 ", \"right\": %" PRIu32 ", \"nodes\": %" PRIu64
                 : "positions %" PRIu32 "\nscored %" PRIu32 "\nright %" PRIu32 "\nnodes %" PRIu64 "\n",
            f->lines.count, scored, right, f->outlook.nodes);
    if (!json) /* too many lines for a human reader */
        return;
    fputs(", \"scores\": [", out);
    for (uint32_t i = 0; i < f->lines.count; i++)
        fprintf(out, "%s%" PRId32, i > 0 ? ", " : "", f->scores[i]);
    fputs("]", out);
}

static void fourrow_app_print(const void *problem, FILE *out, bool json) {
    const fourrow *f = problem;
    if (f->mode == SOLVE_FILE)
        print_file(f, out, json);
    else
        print_moves(f, out, json);
}

/* Values and scores are results, which all processes have. Nodes are counted where they are visited. */
static const void *fourrow_app_found(const void *problem, size_t *bytes) {
    const fourrow *f = problem;
    *bytes = sizeof f->outlook.nodes;
    return &f->outlook.nodes;
}

static void fourrow_app_add(void *problem, const void *found) {
    ((fourrow *)problem)->outlook.nodes += *(const uint64_t *)found;
}

/* The solver's table and the depth to which it splits depend on the device, so its checkpoints stay there. */
static const app_sample fourrow_samples[] = {
    {.options = "--lookahead 1..9"},
    {.options = "--position 4|44|4453|3333331|12345671234567 --lookahead 1..9"},
    {.options =
         "--solve --position 6637437663362571457336<14641171256716236422<141365443631263256<37226526741243217432",
     .here = true,
     .program = fourrow_solve_program},
    {.options = NULL},
};

const app fourrow_app = {
    .name = "fourrow",
    .text = "four in a row: minimax, a task per node (Cederman, Tsigas 2011), or the exact value",
    .options = fourrow_options,
    .open = fourrow_app_open,
    .close = fourrow_app_close,
    .program = fourrow_program,
    .load = fourrow_app_load,
    .unload = fourrow_app_unload,
    .run = fourrow_app_run,
    .check = fourrow_app_check,
    .print = fourrow_app_print,
    .found = fourrow_app_found,
    .add = fourrow_app_add,
    .digest = fourrow_app_digest,
    .samples = fourrow_samples,
};
