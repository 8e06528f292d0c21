/* From a graph to the cells and units of pagerank.h. */
#ifndef BALLAST_PAGERANK_CELLS_H
#define BALLAST_PAGERANK_CELLS_H

#include "graph.h"
#include "pagerank.h"

#include <stdbool.h>

/* False when out of memory, or when 32 bits cannot number the cells; then there is nothing to free. */
bool cells_make(pagerank_cells *made, const graph *g, double damping, uint32_t unit_cells);
void cells_free(pagerank_cells *cells);

uint32_t cells_count(const pagerank_cells *cells);

/* The cell whose values are the dangling mass; false if no node is dangling. */
bool cells_dangling(const pagerank_cells *cells, uint32_t *cell);

#endif
