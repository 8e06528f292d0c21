/* The line of play from a question to one that was asked because of it, and whether the latter still matters.
 *
 * A question about a position is whether its score is at least some bound; the question about the position after a move
 * has the bound 1 minus that. So the line alone determines every question above, and the table tells which of them have
 * been answered since. */
#ifndef BALLAST_FOURROW_LINE_H
#define BALLAST_FOURROW_LINE_H

#include "table.h"

/* `moves`: columns, three bits each, the first in the lowest bits; each refers to the canonical form of the board on
 * which it was played. */
typedef struct fourrow_line_of_play {
    fourrow_board origin; /* canonical */
    uint64_t moves;
} fourrow_line_of_play;

BL_FN uint64_t fourrow_mirror_cells(uint64_t cells) {
    uint64_t mirrored = 0;
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++)
        mirrored |= (cells >> 7 * column & 127) << 7 * (FOURROW_COLUMNS - 1 - column);
    return mirrored;
}

/* A position and its mirror image have the same score; returns the same one of the two for both. */
BL_FN fourrow_board fourrow_canonical(const fourrow_board *b) {
    fourrow_board mirrored;
    mirrored.mine = fourrow_mirror_cells(b->mine);
    mirrored.mask = fourrow_mirror_cells(b->mask);
    return fourrow_key(&mirrored) < fourrow_key(b) ? mirrored : *b;
}

BL_FN fourrow_board fourrow_follow(const fourrow_board *b, uint32_t column) {
    fourrow_board next = fourrow_drop(b, column);
    return fourrow_canonical(&next);
}

/* The number of moves from the origin to a board with `stones`. */
BL_FN uint32_t fourrow_length(const fourrow_line_of_play *line, uint32_t stones) {
    return stones - fourrow_count(line->origin.mask);
}

/* Is the score of the position known to be on one side of `bound`? */
BL_FN bool fourrow_is_answered(const fourrow_table *table, const fourrow_board *b, int32_t bound) {
    fourrow_bounds known;
    known.lower = -22;
    known.upper = 22;
    fourrow_recall(table, fourrow_key(b), &known);
    return known.lower >= bound || known.upper < bound;
}

/* `length` moves lead to a position about which `bound` was asked. True if a question above it has been answered, so
 * that this one no longer matters. */
BL_CALLED_FN bool fourrow_is_idle(const fourrow_table *table, const fourrow_line_of_play *line, uint32_t length,
                                  int32_t bound) {
    fourrow_board b = line->origin;
    for (uint32_t i = 0; i < length; i++) {
        if (fourrow_is_answered(table, &b, (length - i) % 2 != 0 ? 1 - bound : bound))
            return true;
        b = fourrow_follow(&b, (uint32_t)(line->moves >> 3 * i) & 7);
    }
    return false;
}

/* The position before the last move. */
BL_CALLED_FN fourrow_board fourrow_above(const fourrow_line_of_play *line, uint32_t length) {
    fourrow_board b = line->origin;
    for (uint32_t i = 0; i + 1 < length; i++)
        b = fourrow_follow(&b, (uint32_t)(line->moves >> 3 * i) & 7);
    return b;
}

#endif
