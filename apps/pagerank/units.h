/* From a graph to the units of sweep.h. */
#ifndef BALLAST_PAGERANK_UNITS_H
#define BALLAST_PAGERANK_UNITS_H

#include "graph.h"
#include "sweep.h"

#include <stdbool.h>

#define UNIT_WEIGHT_MIN 64u /* a piece fits */

typedef struct units {
    pagerank_unit *unit;
    pagerank_piece *piece, *longs;
    pagerank_cut *cut;
    uint32_t *source;
    double *scale;
    uint32_t units, pieces, long_rows, cuts, sources, partials;
} units;

/* For so many workers, unless `weight` says how much work a unit may be: values plus pieces, UNIT_WEIGHT_MIN up to
 * PAGERANK_UNIT_EDGES; 0: as evenly as it can be. False when out of memory; then there is nothing to free. */
bool units_make(units *made, const graph *g, double damping, uint32_t workers, uint32_t weight);
void units_free(units *u);

#endif
