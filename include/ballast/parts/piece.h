/* How much of a range a body that takes pieces (BL_RANGE_RUN) is given at once. */
#ifndef BL_PARTS_PIECE_H
#define BL_PARTS_PIECE_H

#include "worker.h"

/* How many of the `left` indices to take. Unless told, as many as take some microseconds: enough not to feel the
 * loop, too few to keep anybody waiting. The time of the last piece is the guess for the next; a guess may be wrong,
 * so never more than `most`. */
BL_FN uint32_t bl__piece(bl__worker *w, uint32_t left, uint32_t most) {
    uint32_t n = w->run->grain;
    if (n == 0) {
        uint64_t now = bl_clock(), took = now - w->piece_begun;
        if (w->piece_begun && took > 4 * BL_PIECE_TICKS)
            w->piece = bl__max(w->piece / 2, 1);
        else if (w->piece_begun && took < BL_PIECE_TICKS && w->piece_run == w->piece && w->piece < 1u << 30)
            w->piece *= 2;
        w->piece_begun = now;
        n = bl__min(w->piece, most);
    }
    w->piece_run = bl__min(n, left);
    return w->piece_run;
}

#endif
