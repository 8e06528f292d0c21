/* Four in a row: the board of 6 rows and 7 columns in two words, and what can be said about it without lookahead. Plain
 * C11 that is also C++17 and CUDA.
 *
 *     bit of a cell: 7 * column + row          6 13 20 27 34 41 48   always empty: what runs over a column's
 *                                              5 12 19 26 33 40 47   top is seen here, and no line of four
 *     row 0 is the lowest. A column has a      4 11 18 25 32 39 46   continues in the next column
 *     seventh bit above its six cells.         :  :  :  :  :  :  :
 *                                              0  7 14 21 28 35 42
 *
 * Neighbours in a line differ by 1 (column), 7 (row), 6 and 8 (diagonals), so a shift examines all lines of one
 * direction at once. */
#ifndef BALLAST_FOURROW_BITBOARD_H
#define BALLAST_FOURROW_BITBOARD_H

#include <ballast/task.h>
#include <stdbool.h>

#define FOURROW_COLUMNS 7
#define FOURROW_ROWS 6
#define FOURROW_CELLS 42

#define FOURROW_BOTTOM UINT64_C(0x0040810204081)    /* the lowest cell of every column */
#define FOURROW_ALL (FOURROW_BOTTOM * UINT64_C(63)) /* every cell */

/* The stones of the side to move, and of both sides. */
typedef struct fourrow_board {
    uint64_t mine, mask;
} fourrow_board;

BL_FN uint32_t fourrow_count(uint64_t cells) {
    return bl_popcount((uint32_t)cells) + bl_popcount((uint32_t)(cells >> 32));
}

BL_FN uint64_t fourrow_column(uint32_t column) { return UINT64_C(63) << (7 * column); }

/* The cells where the next stone can land, one in each column that is not full. */
BL_FN uint64_t fourrow_possible(const fourrow_board *b) { return (b->mask + FOURROW_BOTTOM) & FOURROW_ALL; }

/* The column of the `n`th possible cell from the left, from 0; it must exist. */
BL_FN uint32_t fourrow_nth(const fourrow_board *b, uint32_t n) {
    uint64_t possible = fourrow_possible(b);
    uint32_t column = 0;
    for (;; column++)
        if ((possible & fourrow_column(column)) != 0 && n-- == 0)
            return column;
}

/* The position after a stone in `cell`, as seen by the other side. */
BL_FN fourrow_board fourrow_play(const fourrow_board *b, uint64_t cell) {
    fourrow_board next;
    next.mine = b->mine ^ b->mask;
    next.mask = b->mask | cell;
    return next;
}

/* The column must not be full. */
BL_FN fourrow_board fourrow_drop(const fourrow_board *b, uint32_t column) {
    return fourrow_play(b, fourrow_possible(b) & fourrow_column(column));
}

BL_FN bool fourrow_is_full(const fourrow_board *b) { return b->mask == FOURROW_ALL; }

BL_FN uint64_t fourrow_fours(uint64_t stones, uint32_t step) {
    uint64_t pairs = stones & stones >> step;
    return pairs & pairs >> 2 * step;
}

BL_FN bool fourrow_has_four(uint64_t stones) {
    return (fourrow_fours(stones, 1) | fourrow_fours(stones, 6) | fourrow_fours(stones, 7) |
            fourrow_fours(stones, 8)) != 0;
}

/* True if the side that moved last has four in a row. */
BL_FN bool fourrow_is_won(const fourrow_board *b) { return fourrow_has_four(b->mine ^ b->mask); }

/* ---- the value of a position at the end of the lookahead ---- */

#define FOURROW_WIN 1000000
#define FOURROW_TWO 1   /* value of a run of exactly two */
#define FOURROW_THREE 4 /* of exactly three: one stone from winning */

/* In one direction. A run is maximal: the cells before its first stone and after its last are not its owner's. */
BL_FN int32_t fourrow_runs(uint64_t stones, uint32_t step) {
    uint64_t first = stones & ~(stones << step), second = first & stones >> step, third = second & stones >> 2 * step;
    uint32_t twos = fourrow_count(second & ~third), threes = fourrow_count(third & ~(stones >> 3 * step));
    return (int32_t)(FOURROW_TWO * twos + FOURROW_THREE * threes);
}

BL_FN int32_t fourrow_all_runs(uint64_t stones) {
    return fourrow_runs(stones, 1) + fourrow_runs(stones, 6) + fourrow_runs(stones, 7) + fourrow_runs(stones, 8);
}

/* As seen by the side that moved last. A full board is a draw, whatever is on it. */
BL_FN int32_t fourrow_value(const fourrow_board *b) {
    if (fourrow_is_won(b))
        return FOURROW_WIN;
    return fourrow_is_full(b) ? 0 : fourrow_all_runs(b->mine ^ b->mask) - fourrow_all_runs(b->mine);
}

#endif
