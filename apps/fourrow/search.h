/* The exact value of a position, by one worker: is the score at least `bound`? Negamax with a null window, on an
 * explicit stack, because a GPU has little room for recursion.
 *
 * Scores are from the point of view of the side to move: a win is 22 minus the stones that the winner has played when
 * the game ends, a loss is the negative of that, a draw is 0. A node asks whether some move leads to a position whose
 * own score is at most -bound, that is, not at least 1 - bound. So bounds alternate down the stack and need not be
 * stored.
 *
 * What makes it fast: moves that lose at once are never played, and a threat is answered at once; the moves that make
 * most threats come first, then those near the middle; the remaining stones bound the score; the table remembers
 * bounds.
 *
 * A position is `quiet` when the side to move cannot win at once. All positions in this file are. */
#ifndef BALLAST_FOURROW_SEARCH_H
#define BALLAST_FOURROW_SEARCH_H

#include "line.h"

/* Cells that would complete a four with three adjacent stones in one direction, occupied or not. */
BL_FN uint64_t fourrow_gaps(uint64_t stones, uint32_t step) {
    uint64_t after = stones << step & stones << 2 * step, before = stones >> step & stones >> 2 * step;
    return (after & (stones << 3 * step | stones >> step)) | (before & (stones >> 3 * step | stones << step));
}

/* The empty cells where the owner of `stones` would win, reachable now or not. */
BL_FN uint64_t fourrow_threats(uint64_t stones, uint64_t mask) {
    uint64_t gaps = (stones << 1 & stones << 2 & stones << 3) | fourrow_gaps(stones, 6) | fourrow_gaps(stones, 7) |
                    fourrow_gaps(stones, 8);
    return gaps & FOURROW_ALL & ~mask;
}

BL_FN bool fourrow_can_win(const fourrow_board *b) {
    return (fourrow_threats(b->mine, b->mask) & fourrow_possible(b)) != 0;
}

/* The possible cells of a quiet position that do not let the opponent win with the next stone. */
BL_FN uint64_t fourrow_sound(const fourrow_board *b) {
    uint64_t theirs = fourrow_threats(b->mine ^ b->mask, b->mask), possible = fourrow_possible(b);
    uint64_t forced = possible & theirs;
    if ((forced & (forced - 1)) != 0) /* two threats cannot both be answered */
        return 0;
    return (forced != 0 ? forced : possible) & ~(theirs >> 1);
}

/* Scores of the earliest possible ends with `stones` on the board: the side to move wins with this stone, or the
 * opponent with the next. */
BL_FN int32_t fourrow_win_now(uint32_t stones) { return 21 - (int32_t)(stones / 2); }
BL_FN int32_t fourrow_lose_next(uint32_t stones) { return (int32_t)((stones + 1) / 2) - 21; }

/* Bounds that hold for any quiet position with a sound move: both sides need at least one more stone. */
BL_FN fourrow_bounds fourrow_certain(uint32_t stones) {
    fourrow_bounds bounds;
    bounds.lower = fourrow_lose_next(stones) + 1;
    bounds.upper = fourrow_win_now(stones) - 1;
    return bounds;
}

/* ---- moves in the order to try them: columns of three bits, the first lowest, terminated by FOURROW_END ---- */

#define FOURROW_END 7u

BL_FN uint32_t fourrow_order(const fourrow_board *b, uint64_t sound) {
    const uint32_t middle =
        1u << 0 | 3u << 4 | 5u << 8 | 7u << 12 | 6u << 16 | 4u << 20 | 2u << 24; /* value of a column */
    uint32_t worth[FOURROW_COLUMNS], count = 0, moves = FOURROW_END;
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++) {
        uint64_t cell = sound & fourrow_column(column);
        if (cell == 0)
            continue;
        uint32_t threats = fourrow_count(fourrow_threats(b->mine | cell, b->mask | cell));
        uint32_t value = threats << 8 | (middle >> 4 * column & 15) << 4 | column, at = count++;
        for (; at > 0 && worth[at - 1] > value; at--)
            worth[at] = worth[at - 1];
        worth[at] = value;
    }
    for (uint32_t i = 0; i < count; i++) /* the worst first, so that the best ends up lowest */
        moves = moves << 3 | (worth[i] & 7);
    return moves;
}

/* ---- the search ---- */

typedef struct fourrow_frame {
    fourrow_board board;
    uint32_t moves; /* not yet tried */
    int32_t best;   /* the best of the moves tried so far */
    fourrow_bounds bounds;
} fourrow_frame;

typedef struct fourrow_search {
    fourrow_frame frames[FOURROW_CELLS];
    const fourrow_table *table;
    const fourrow_line_of_play *line; /* the line that led here; NULL: the answer is always needed */
    uint64_t nodes;
} fourrow_search;

/* Returned when the answer is no longer needed; not a score. */
#define FOURROW_IDLE 64

/* Nodes between two checks whether the answer is still needed: a fraction of a millisecond. */
#define FOURROW_PATIENCE 2048

/* Decides a quiet position if that takes no search (*value is then a bound on the same side of `bound` as the score),
 * or else fills `f`. */
BL_CALLED_FN bool fourrow_decide(const fourrow_table *table, const fourrow_board *b, uint32_t stones, int32_t bound,
                                 fourrow_frame *f, int32_t *value) {
    uint64_t sound = fourrow_sound(b);
    if (sound == 0) {
        *value = stones == FOURROW_CELLS ? 0 : fourrow_lose_next(stones);
        return true;
    }
    fourrow_bounds bounds = fourrow_certain(stones);
    if (stones >= FOURROW_CELLS - 2) /* neither side can win any more */
        bounds.lower = bounds.upper = 0;
    else if (bounds.lower < bound && bounds.upper >= bound)
        fourrow_recall(table, fourrow_key(b), &bounds);
    if (bounds.lower >= bound || bounds.upper < bound) {
        *value = bounds.lower >= bound ? bounds.lower : bounds.upper;
        return true;
    }
    f->board = *b;
    f->bounds = bounds;
    f->best = bounds.lower;
    f->moves = fourrow_order(b, sound);
    return false;
}

/* A move of the frame has `value`. True if that settles the frame: some move is good enough, or no move is left. */
BL_FN bool fourrow_settle(fourrow_frame *f, int32_t value, int32_t bound, bool last) {
    if (value > f->best)
        f->best = value;
    return f->best >= bound || last;
}

/* The best move of a position has the value `best`: records in the table what that implies for the score. */
BL_FN void fourrow_record(const fourrow_table *table, const fourrow_board *b, uint32_t stones, fourrow_bounds bounds,
                          int32_t best, int32_t bound) {
    if (best >= bound)
        bounds.lower = best > bounds.lower ? best : bounds.lower;
    else
        bounds.upper = best < bounds.upper ? best : bounds.upper;
    fourrow_store(table, fourrow_key(b), FOURROW_CELLS - stones, bounds);
}

/* `s` has its table and line; `b` is quiet and holds `stones`. Returns a lower bound of the score if the score is at
 * least `bound`, else an upper bound. */
BL_CALLED_FN int32_t fourrow_at_least(fourrow_search *s, const fourrow_board *b, uint32_t stones, int32_t bound) {
    const int32_t asked = bound;
    uint32_t depth = 0;
    int32_t value;
    s->nodes++;
    if (fourrow_decide(s->table, b, stones, bound, &s->frames[0], &value))
        return value;
    for (;;) {
        fourrow_frame *f = &s->frames[depth];
        fourrow_board next = fourrow_drop(&f->board, f->moves & 7);
        f->moves >>= 3;
        if (++s->nodes % FOURROW_PATIENCE == 0 && s->line &&
            fourrow_is_idle(s->table, s->line, fourrow_length(s->line, stones), asked))
            return FOURROW_IDLE;
        if (!fourrow_decide(s->table, &next, stones + depth + 1, 1 - bound, f + 1, &value)) {
            depth++;
            bound = 1 - bound;
            continue;
        }
        while (fourrow_settle(f, -value, bound, f->moves == FOURROW_END)) {
            fourrow_record(s->table, &f->board, stones + depth, f->bounds, f->best, bound);
            value = f->best;
            if (depth == 0)
                return value;
            depth--;
            f--;
            bound = 1 - bound;
        }
    }
}

#endif
