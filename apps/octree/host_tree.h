/* An octree on the host: the result of a run in sorted order, for queries and output.
 *
 *     node        r     r0    r00   r03   r3    ...     a node precedes its descendants; children in order
 *     particle    |   r00   |     r03     |     r3  ...     those of a node, leaf or not, are [first, first + count)
 *
 * The tree is the same on every device and with every scheduler, down to the order of its particles. */
#ifndef BALLAST_OCTREE_HOST_TREE_H
#define BALLAST_OCTREE_HOST_TREE_H

#include "octree.h"
#include "points.h"

/* node[i].next is the number of the first node after i that is not below it: i + 1 for a leaf. */
typedef struct octree {
    octree_node *node;
    octree_particle *particle;
    uint32_t nodes, leaves, particles, depth;
} octree;

/* Lower bounds are inclusive and upper bounds exclusive, as for octants: the whole cube is [0, 1) three times. A box
 * without volume, or with a NaN bound, is empty. */
typedef struct octree_box {
    float low[3], high[3];
} octree_box;

/* ---- building, on the context's device ---- */

/* Coordinates must lie in [0, 1) and `max_depth` must not exceed OCTREE_MAX_DEPTH, else BL_EINVAL. `threshold` is at
 * least 1. `stats` may be NULL. Returns a bl_status; unless it is BL_OK there is nothing to free. */
int octree_build(octree *tree, bl_context *context, const points *particles, uint32_t threshold, uint32_t max_depth,
                 bl_stats *stats);
void octree_free(octree *tree);

/* The last step of octree_build: fetches the result of a run from `device`; `leaf` holds the leaves, already in
 * order. */
int octree_collect(octree *tree, bl_context *context, const octree_shared *device, const octree_node *leaf,
                   const octree_totals *totals);

/* The most octants that a run can split. */
uint64_t octree_inner_most(uint32_t particles, uint32_t threshold, uint32_t max_depth);

/* ---- using it ---- */

static inline bool octree_is_leaf(const octree *tree, uint32_t node) { return tree->node[node].next == node + 1; }

/* The cube of a node: stores its lower corner, returns its side. Both are exact. */
float octree_cube(const octree_node *node, float low[3]);

/* Stores the ids of the particles in the box, in the order of the tree, as many as there is room for. Returns how many
 * there are in all. */
uint32_t octree_in_box(const octree *tree, const octree_box *box, uint32_t *id, uint32_t room);

/* Writes the text form that docs/octree.md describes. Errors are left in the stream. */
void octree_write(const octree *tree, FILE *out);

/* Whether the children of every inner node lie in it, in order, and hold all of its particles. */
bool octree_is_sound(const octree *tree);

#endif
