/* The sequential twin: the same tree by plain recursion, written independently of the task code. */
#ifndef BALLAST_OCTREE_TWIN_H
#define BALLAST_OCTREE_TWIN_H

#include "octree.h"

#include <stdbool.h>

typedef struct octree_tree {
    octree_node *leaf; /* sorted by path; `first` counts in that order */
    uint32_t leaves, placed, depth;
    uint64_t tasks; /* internal nodes */
} octree_tree;

/* False when out of memory; then there is nothing to free. Coordinates must lie in [0, 1), and max_depth must not
 * exceed OCTREE_MAX_DEPTH. */
bool octree_twin(octree_tree *tree, const octree_particle *particle, uint32_t count, uint32_t threshold,
                 uint32_t max_depth);
void octree_tree_free(octree_tree *tree);

/* The path of the octant at OCTREE_MAX_DEPTH that contains a particle; the paths of its ancestors are the leading
 * bits. */
uint64_t octree_key(const octree_particle *particle);

#endif
