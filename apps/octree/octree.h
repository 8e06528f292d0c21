/* Octree partitioning of particles in the unit cube (Cederman and Tsigas 2008, section 5): what the task code, the host
 * code and the sequential twin share. Plain C11 that is also C++17 and CUDA.
 *
 * A task splits one octant: it regroups the octant's particles by child octant and makes each child a new task or a
 * leaf. It reads one buffer and writes the other at the same positions, so octants never conflict:
 *
 *     buffer[depth & 1]        |........ first .. first + count ........|     an octant at this depth
 *     buffer[(depth + 1) & 1]  |  0  | 1 |    2    | 3 |  5  | 6 |  7   |     its children; empty ones are not nodes
 *
 * Children are numbered by the sides they lie on: bit 0 is set for the upper half in x, bit 1 in y, bit 2 in z. A
 * particle on the plane between two halves belongs to the upper one.
 */
#ifndef BALLAST_OCTREE_H
#define BALLAST_OCTREE_H

#include <stdint.h>

/* The planes at this depth, odd multiples of 2^-20, are still exact in a float, and a path fits 60 bits. */
#define OCTREE_MAX_DEPTH 20

#ifdef __cplusplus
#define OCTREE_ALIGN16 alignas(16)
#else
#define OCTREE_ALIGN16 _Alignas(16)
#endif

/* Aligned, so that a GPU moves one particle with one access. */
typedef struct octree_particle {
    OCTREE_ALIGN16 float x;
    float y, z;
    uint32_t id; /* index in the input */
} octree_particle;
#undef OCTREE_ALIGN16

/* The payload: particles [first, first + count) of buffer[depth & 1], which lie in octant (x, y, z) of the 2^depth per
 * side. */
typedef struct octree_octant {
    uint32_t first, count;
    uint32_t depth;
    uint32_t x, y, z;
} octree_octant;

/* A leaf, or an octant that was split. `path` holds the child numbers from the root down, three bits each, the root's
 * choice in the most significant of the 3 * depth bits. */
typedef struct octree_node {
    uint64_t path;
    uint32_t depth, first, count;
    uint32_t next; /* for a whole tree, see host_tree.h; of a leaf in a run: which buffer holds its particles */
} octree_node;

/* `leaves`: number of leaves; `placed`: particles in them; `depth`: of the deepest leaf; `inner`: number of octants in
 * the array `inner` below; `split`: octants that were split, if tasks are pieces (pieces.h); otherwise each is a task.
 */
typedef struct octree_totals {
    uint32_t leaves, placed, depth, inner, split;
} octree_totals;

/* An octant is split when it holds more than `threshold` particles and lies above `max_depth`. A leaf is never empty:
 * its slot in `leaf` is the number of its first particle, which no other leaf can claim. Octants that were split are
 * kept, in any order, only if there is an array for them; a plain run does not need them. */
typedef struct octree_shared {
    octree_particle *buffer[2];
    octree_node *leaf;
    octree_node *inner; /* NULL, or room for the most there can be */
    octree_totals *totals;
    uint32_t particles, threshold, max_depth;
    uint32_t unused;
} octree_shared;

#endif
