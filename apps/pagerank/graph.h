/* Directed graphs from files: SNAP edge lists and Matrix Market coordinate files, each also .gz.
 *
 * SNAP text: a line "FROM TO" per edge, blank lines and lines that begin with # anywhere. The nodes are the numbers
 * that occur, in ascending order: gaps are not nodes. Matrix Market: row I, column J is an edge from I to J, whatever
 * its value; a symmetric matrix has both directions. The nodes are 1 .. the declared size, with or without edges; a
 * size out of all proportion to the number of entries is rejected.
 *
 * Duplicate edges are kept: a node with two edges to another passes it twice the share. Self loops are edges like any
 * other. */
#ifndef BALLAST_PAGERANK_GRAPH_H
#define BALLAST_PAGERANK_GRAPH_H

#include "../common/app.h"

#define GRAPH_EDGES_MAX UINT32_C(0x7fffffff) /* so that sums over them still fit 32 bits */
#define GRAPH_NODES_MAX UINT32_C(0x7fffffff)
#define GRAPH_NODES_FREE UINT32_C(1048576) /* nodes that a Matrix Market header may always claim, */
#define GRAPH_NODES_PER_ENTRY UINT32_C(64) /* or as many as this for each entry */

typedef struct graph {
    uint32_t nodes, edges;
    uint32_t *label;      /* of each node, ascending: its number in the file */
    uint32_t *out_degree; /* of each node */
    uint32_t *in_first;   /* nodes + 1: the in-edges of node v are [in_first[v], in_first[v + 1]) */
    uint32_t *in_source;  /* the source of each in-edge, in the order of the file */
} graph;

/* Returns 0, or fills error and returns the exit status 1; then there is nothing to free. */
int graph_read(graph *read, const char *path, app_error *error);

void graph_free(graph *g);

#endif
