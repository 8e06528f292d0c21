/* The sequential twin: the same scores to the last bit, iteration by iteration over the graph as read, without cells
 * and units. */
#ifndef BALLAST_PAGERANK_TWIN_H
#define BALLAST_PAGERANK_TWIN_H

#include "graph.h"

#include <stdbool.h>

/* Writes the scores after `iterations` to score[0 .. nodes). False when out of memory. */
bool pagerank_twin(const graph *g, double damping, uint32_t iterations, double *score);

#endif
