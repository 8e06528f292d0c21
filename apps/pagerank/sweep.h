/* PageRank by sweeps, for schedulers that run in waves: a wave is an iteration, and a task a part of it. What the task
 * code and the host code share; pagerank.h has the definition of the scores. Plain C11 that is also C++17 and CUDA.
 *
 * Rows. A row has a list of nodes whose values of the last step it adds up. Row v is node v with its in-edges; one more
 * row, with number `nodes`, has the dangling nodes: its values are delta. A value is a sum times the row's scale, and
 * all values of a step lie in one array:
 *
 *     value[step] = | node 0 | node 1 | ... | node N-1 | delta(step-1) |
 *
 * Pieces. A list is cut into pieces of at most PAGERANK_FAN values, so that sums have the order of pagerank.h. The
 * piece of a short row is its value. The sums of a longer row's pieces are stored, and added up in turn:
 *
 *     short    one piece
 *     long     up to PAGERANK_FAN pieces, all in one unit: when they are there, one lane adds them up
 *     cut      more, or in several units: the last unit to arrive adds them up, level by level, with all lanes. The
 *              dangling nodes are needed only at the end, so in all steps but the last a task of the next wave does it
 *
 * Units. A unit is a sequence of pieces, about as much work as every other: the task of a wave. Its lanes first load
 * the values of all its lists, at once and whichever row they belong to, and then add up the pieces. The host makes so
 * many that every worker has one task in a wave, or equally many.
 *
 *     wave 1 .. steps    add up, step by step
 *     wave steps + 1     compute the scores from the values of all steps
 */
#ifndef BALLAST_PAGERANK_SWEEP_H
#define BALLAST_PAGERANK_SWEEP_H

#include "pagerank.h"

#define PAGERANK_UNIT_EDGES 3072u             /* the most values that the lists of a unit have */
#define PAGERANK_PARTIAL UINT32_C(0x80000000) /* of a target: not a row, but a place in `partial` */

/* The index of a task: two that the wave needs, then the units. */
enum pagerank_index { PAGERANK_SPAWNS, PAGERANK_DANGLING, PAGERANK_UNITS };

/* The payload. */
typedef struct pagerank_wave {
    uint32_t step;
} pagerank_wave;

/* What a unit has, each from `first` up to `end`. */
typedef struct pagerank_part {
    uint32_t first, end;
} pagerank_part;

typedef struct pagerank_unit {
    pagerank_part source, piece, longs, cut;
} pagerank_unit;

/* A piece of a list, or a long row as a list of partial sums. It ends where the next one begins. */
typedef struct pagerank_piece {
    uint32_t first, target;
} pagerank_piece;

/* `count` partial sums from `first` on; room for those of the higher levels follows. */
typedef struct pagerank_cut {
    uint32_t row, first, count, units;
} pagerank_cut;

typedef struct pagerank_sweep_shared {
    pagerank_unit *unit;
    uint32_t *source;      /* the lists, one after another */
    pagerank_piece *piece; /* ... and one more, where the last ends */
    pagerank_piece *longs; /* the same */
    pagerank_cut *cut;
    uint32_t *arrived;  /* at each of them; 0 between waves */
    double *scale;      /* nodes + 1 */
    double *partial;    /* 2 x partials, for even and odd steps */
    double *value;      /* (steps + 1) x (nodes + 1) */
    const double *base; /* the values of the first run: y' */
    double *next;       /* where the next run's values of step 0 go; NULL: it has none */
    double *score;      /* nodes: the result */
    double *change;     /* nodes: how far the last iteration moved each; NULL if not needed */
    double damping;
    uint32_t nodes, units, steps, partials;
    uint32_t dangling_cut; /* the first of `cut` is that of the dangling nodes */
    uint32_t unused;
} pagerank_sweep_shared;

#endif
