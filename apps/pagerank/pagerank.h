/* PageRank without a barrier between iterations (Kerbl et al. 2018, section 7.2): what the task code, the host code and
 * the sequential twin share. Plain C11 that is also C++17 and CUDA.
 *
 *     r' = (1 - d) / N + d (sum over in-edges of r[u] / outdegree[u] + mass of the dangling nodes / N),     r0 = 1 / N
 *
 * The dangling mass ties every node to every other. Only the linear part runs by data: with M r the sum over in-edges,
 * times d, the vectors y(i) = M^i y(0) need of a node its in-neighbours and nothing else. With delta(i) the mass of the
 * dangling nodes in y(i), what all nodes are given alike in iteration j is s(j) / N, and
 *
 *     s(j) = (1 - d) + d (delta(j) + sum over i < j of s(i) delta'(j-1-i)),     r(k) = y(k) + sum over j < k of s(j)
 *                                                                               y'(k-1-j)
 *
 * where y' starts at 1 / N everywhere, and y at what r was when this run began: the same for the first PAGERANK_STEPS
 * iterations.
 *
 * Cells. A node is a cell whose value is y, times d / outdegree, or as it is where the node is dangling: what its
 * neighbours add up. No cell adds up more than PAGERANK_FAN values. Longer lists are cut into pieces, each a cell of
 * its own that adds up its piece, and so on, level by level; the dangling nodes are the list of one more cell at the
 * very end, whose values are delta:
 *
 *     | nodes      | pieces     | pieces of pieces | ...    | dangling |      each part fills whole units
 *     | unit 0 | unit 1 | ...
 *
 * So every sum has one order, whoever computes it, and nobody has to add up ten thousand values while others wait.
 *
 * Units. `unit_cells` neighbouring cells are one task per step: a unit is published for a step when every unit that it
 * adds up from has arrived. With one cell per unit this is the paper's scheme; web pages link to their neighbours
 * mostly, so larger units have far fewer arrivals, and still run ahead of each other. Values and counters are kept for
 * every step.
 */
#ifndef BALLAST_PAGERANK_H
#define BALLAST_PAGERANK_H

#include <stdint.h>

#define PAGERANK_FAN 32u      /* values that a cell adds up at most */
#define PAGERANK_STEPS 8u     /* iterations of one run; more are more runs */
#define PAGERANK_ARRIVALS 62u /* arrivals that one task makes at most */

/* START, COMBINE: the index is the unit. PULL: one task. ARRIVE: the arrivals beyond the first PAGERANK_ARRIVALS, as
 * many per index. */
enum pagerank_kind { PAGERANK_START, PAGERANK_PULL, PAGERANK_ARRIVE, PAGERANK_COMBINE };

/* The payload. */
typedef struct pagerank_work {
    uint32_t unit;
    uint16_t step, kind;
} pagerank_work;

/* The task graph, as the host makes it and as the device has it. */
typedef struct pagerank_cells {
    uint32_t *source_first; /* cells + 1 */
    uint32_t *source;       /* the cells that a cell adds up, in order: all of them nodes, or all of them pieces */
    double *scale;          /* cells: a sum times this is the cell's value */
    uint32_t *target_first; /* units + 1 */
    uint32_t *target;       /* units that add up from a unit */
    uint32_t *needs;        /* units: how many units a unit adds up from */
    uint32_t nodes, node_units, units, unit_cells;
    uint32_t dangling; /* nodes without out-edges; if there are any, the last unit adds them up */
    uint32_t unused;
} pagerank_cells;

typedef struct pagerank_shared {
    pagerank_cells graph;
    uint32_t *unmet;              /* (steps + 1) x units: arrivals that a unit waits for in a step */
    double *value;                /* (steps + 1) x cells */
    const double *base;           /* the same of the first run: y' */
    double *score;                /* nodes: where the run starts, and then its result */
    double *change;               /* nodes: by how much the last iteration moved each; NULL if nobody asks */
    double given[PAGERANK_STEPS]; /* s */
    uint32_t steps;               /* of this run */
    uint32_t unused;
} pagerank_shared;

#endif
