/* PageRank without a barrier between iterations (Kerbl et al. 2018, section 7.2): what the task code, the host code and
 * the sequential twin share. Plain C11 that is also C++17 and CUDA. sweep.h has the form with a barrier.
 *
 *     r' = (1 - d) / N + d (sum over in-edges of r[u] / outdegree[u] + mass of the dangling nodes / N),     r0 = 1 / N
 *
 * The dangling mass makes every node depend on every other. Only the linear part is data driven: if M r is d times the
 * sum over in-edges, then for the vectors y(i) = M^i y(0) a node needs only its in-neighbours. With delta(i) the mass
 * of the dangling nodes in y(i), the share that all nodes get alike in iteration j is s(j) / N, and
 *
 *     s(j) = (1 - d) + d (delta(j) + sum over i < j of s(i) delta'(j-1-i)),     r(k) = y(k) + sum over j < k of s(j)
 *                                                                               y'(k-1-j)
 *
 * where y' starts at 1 / N everywhere, and y at the r with which this run began. In the first PAGERANK_STEPS iterations
 * these are the same.
 *
 * Cells. A node is a cell. Its value, which its neighbours add up, is y times d / outdegree, or y itself if the node is
 * dangling. No cell adds up more than PAGERANK_FAN values. Longer lists are cut into pieces; each piece becomes a cell
 * that holds its sum, and so on, level by level. One last cell, whose values are delta, has the dangling nodes as its
 * list:
 *
 *     | nodes      | pieces     | pieces of pieces | ...    | dangling |      each part fills whole units
 *     | unit 0 | unit 1 | ...
 *
 * So every sum has one order, whichever worker computes it, and no worker adds up ten thousand values while others
 * wait.
 *
 * Units. `unit_cells` neighbouring cells are one task per step: a unit is published for a step when every unit whose
 * values it adds up has arrived. With one cell per unit this is the paper's scheme; web pages mostly link to their
 * neighbours, so larger units need far fewer arrivals and can still run ahead of each other. Values and counters are
 * kept for every step.
 */
#ifndef BALLAST_PAGERANK_H
#define BALLAST_PAGERANK_H

#include <ballast/platform/platform.h>
#include <stdint.h>

#define PAGERANK_FAN 32u      /* the most values that a cell adds up */
#define PAGERANK_STEPS 8u     /* the most iterations of one run; more take several runs */
#define PAGERANK_ARRIVALS 62u /* the most arrivals that one task makes */

/* START, COMBINE: the index is the unit. PULL: one task. ARRIVE: the arrivals after the first PAGERANK_ARRIVALS, that
 * many again per index. */
enum pagerank_kind { PAGERANK_START, PAGERANK_PULL, PAGERANK_ARRIVE, PAGERANK_COMBINE };

/* The payload. */
typedef struct pagerank_work {
    uint32_t unit;
    uint16_t step, kind;
} pagerank_work;

/* The task graph, as built by the host and stored on the device. */
typedef struct pagerank_cells {
    uint32_t *source_first; /* cells + 1 */
    uint32_t *source;       /* the cells that a cell adds up, in order: either all nodes or all pieces */
    double *scale;          /* cells: a sum times this is the cell's value */
    uint32_t *target_first; /* units + 1 */
    uint32_t *target;       /* units that add up values of a unit */
    uint32_t *needs;        /* units: how many units each one adds up */
    uint32_t nodes, node_units, units, unit_cells;
    uint32_t dangling; /* nodes without out-edges; if there are any, the last unit adds them up */
    uint32_t unused;
} pagerank_cells;

typedef struct pagerank_shared {
    pagerank_cells graph;
    uint32_t *unmet;              /* (steps + 1) x units: arrivals that a unit waits for in a step */
    double *value;                /* (steps + 1) x cells */
    const double *base;           /* the values of the first run: y' */
    double *score;                /* nodes: the initial scores, later the result */
    double *change;               /* nodes: how far the last iteration moved each; NULL if not needed */
    double given[PAGERANK_STEPS]; /* s */
    uint32_t steps;               /* of this run */
    uint32_t unused;
} pagerank_shared;

/* Computes s(0 .. steps-1) from delta(0 .. steps-1) of this run and delta' of the first. */
BL_HOST_FN void pagerank_given(double *given, const double *delta, const double *first_delta, uint32_t steps,
                               double damping) {
    for (uint32_t j = 0; j < steps; j++) {
        double mass = delta[j];
        for (uint32_t i = 0; i < j; i++)
            mass = mass + bl_product(given[i], first_delta[j - 1 - i]);
        given[j] = (1 - damping) + bl_product(damping, mass);
    }
}

#endif
