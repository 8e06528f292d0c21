/* The sequential twins: the same values by recursion, without tasks. The exact one shares nothing with the solver
 * but the board. */
#define FOURROW_WITHOUT_PROGRAM
#include "fourrow.h"

#include "task.h"

#include <stdlib.h>

/* ---- minimax ---- */

/* The value of the move that led to `b`, to the side that made it. */
static int32_t value_of(const fourrow_board *b, uint32_t left, uint64_t *nodes) {
    int32_t values[FOURROW_COLUMNS] = {0};
    uint32_t count = 0;
    ++*nodes;
    if (left == 0 || fourrow_is_won(b) || fourrow_is_full(b))
        return fourrow_value(b);
    for (uint64_t possible = fourrow_possible(b); possible != 0; possible &= possible - 1) {
        fourrow_board next = fourrow_play(b, possible & (0 - possible));
        values[count++] = value_of(&next, left - 1, nodes);
    }
    return fourrow_answer(values, count);
}

void fourrow_twin(const fourrow_board *board, uint32_t lookahead, fourrow_outlook *outlook) {
    *outlook = (fourrow_outlook){.nodes = 0};
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++) {
        uint64_t cell = fourrow_possible(board) & fourrow_column(column);
        outlook->open[column] = cell != 0;
        if (cell == 0)
            continue;
        fourrow_board next = fourrow_play(board, cell);
        outlook->values[column] = value_of(&next, lookahead - 1, &outlook->nodes);
    }
    fourrow_choose(outlook);
}

/* Numbers of sequences of 1, 2, ... moves from the empty board; a sequence ends at four in a row. */
uint64_t fourrow_known_nodes(uint32_t lookahead) {
    static const uint64_t sequences[] = {7,      49,      343,      2401,      16807,      117649,
                                         823536, 5673234, 39394572, 268031646, 1844590828, 12418296244};
    uint64_t nodes = 0;
    if (lookahead > sizeof sequences / sizeof *sequences)
        return 0;
    for (uint32_t i = 0; i < lookahead; i++)
        nodes += sequences[i];
    return nodes;
}

/* ---- the exact score ---- */

typedef struct twin_entry {
    uint64_t mine, mask;
    int32_t lower, upper;
} twin_entry;

typedef struct twin_table {
    twin_entry *entries;
    uint32_t bits;
} twin_table;

enum { MOST_BITS = 20, MORE_BITS = 2 };

static twin_entry *entry_of(const twin_table *table, const fourrow_board *b) {
    return table->entries + ((b->mine * 3 + b->mask) * UINT64_C(0xd1342543de82ef95) >> (64 - table->bits));
}

static int32_t highest(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t lowest(int32_t a, int32_t b) { return a < b ? a : b; }

/* Exact between alpha and beta, otherwise a bound on the same side. */
static int32_t score_of(const twin_table *table, const fourrow_board *b, uint32_t stones, int32_t alpha, int32_t beta) {
    static const uint32_t from_the_middle[FOURROW_COLUMNS] = {3, 2, 4, 1, 5, 0, 6};
    int32_t best = -22, from = alpha;
    if (fourrow_is_won(b)) /* by the side that is not to move, which has played (stones + 1) / 2 */
        return (int32_t)((stones + 1) / 2) - 22;
    if (stones == FOURROW_CELLS)
        return 0;
    twin_entry *entry = entry_of(table, b);
    if (entry->mask == b->mask && entry->mine == b->mine && b->mask != 0) {
        alpha = from = highest(alpha, entry->lower);
        beta = lowest(beta, entry->upper);
        if (alpha >= beta)
            return entry->lower >= beta ? entry->lower : entry->upper;
    }
    for (uint32_t i = 0; i < FOURROW_COLUMNS && best < beta; i++) {
        uint64_t cell = fourrow_possible(b) & fourrow_column(from_the_middle[i]);
        if (cell == 0)
            continue;
        fourrow_board next = fourrow_play(b, cell);
        best = highest(best, -score_of(table, &next, stones + 1, -beta, -alpha));
        alpha = highest(alpha, best);
    }
    *entry = (twin_entry){b->mine, b->mask, best > from ? best : -21, best < beta ? best : 21};
    return best;
}

bool fourrow_twin_score(const fourrow_board *board, int32_t *score) {
    /* Near the end of a game there are few positions, and to clear a large table would take most of the time. */
    const uint32_t stones = fourrow_count(board->mask), bits = FOURROW_CELLS - stones + MORE_BITS;
    twin_table table = {NULL, bits < MOST_BITS ? bits : MOST_BITS};
    table.entries = calloc((size_t)1 << table.bits, sizeof *table.entries);
    if (!table.entries)
        return false;
    *score = score_of(&table, board, stones, -21, 21);
    free(table.entries);
    return true;
}
