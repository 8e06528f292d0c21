/* The octree by the whole machine: a large octant is split by many tasks at once, several levels at a time, and many
 * small octants are finished by one task. What the task code and the host code share. Plain C11 that is also C++17 and
 * CUDA.
 *
 * A region is an octant that is split by `levels` levels at once, into 8^levels cells. Its tasks, in this order:
 *
 *     count     a chunk of its particles each: how many belong to each cell. A chunk reserves its part of a cell with
 *               one addition. The last one to arrive adds up where cells begin
 *     move      the same chunks: particles go to their cells, in the other buffer. The last one to arrive spawns
 *     finish    a window of the result each, and the cells that begin in it, as many at once as fit. Of these it
 *               builds the whole subtrees. A cell that is too large becomes the next region
 *
 *     buffer[side]       |    chunk 0     |    chunk 1     |    chunk 2     |   chunk 3    |
 *     buffer[1 - side]   | cell 0 | 1 | 2 |     3     | 4  |         5           |    7    |
 *                        |        window 0        |        window 1        |    window 2   |
 *
 * A region that is a single chunk is counted and moved by one task. The order of the particles of a leaf depends on
 * which task came first; host_tree.c sorts them by id.
 */
#ifndef BALLAST_OCTREE_PIECES_H
#define BALLAST_OCTREE_PIECES_H

#include "octree.h"

#include <ballast/platform/platform.h>

#define OCTREE_LEVELS 3u            /* the most at once */
#define OCTREE_CELLS 512u           /* of so many levels */
#define OCTREE_FOR_TWO 128u         /* from so many particles on, two levels at once, ... */
#define OCTREE_FOR_THREE 1024u      /* ... and three */
#define OCTREE_BATCH 4096u          /* the most particles that the lanes of a block finish at once */
#define OCTREE_LEAST_BATCH 256u     /* where the threshold is at least 1, and blocks have 32 lanes */
#define OCTREE_LEAST_CHUNK 2048u    /* particles */
#define OCTREE_MOST_CHUNK 32768u    /* so that threads can share, and know early when they should stop */
#define OCTREE_CHUNKS_PER_WORKER 2u /* in the first region */
#define OCTREE_FOR_STEALING 8192u   /* from so many particles per worker on, stealing instead of waves */

enum octree_stage { OCTREE_COUNT, OCTREE_MOVE, OCTREE_FINISH };

/* The payload. The index of a task is the number of its chunk or window. */
typedef struct octree_piece {
    uint32_t stage;
    uint32_t region; /* where it lies in the pool, in pairs of words */
} octree_piece;

/* An octant that is split by several levels. Its cells are numbered by their paths, and a cell's particles begin at
 * `first` plus a number of an array. */
typedef struct octree_grid {
    uint64_t path;
    uint32_t depth, levels, first;
    uint32_t side; /* of the buffer that has the particles, once they are moved to their cells */
} octree_grid;

/* In the pool it is followed by where its cells begin, one word each and one more for the end; then, if there are
 * several chunks, by where each chunk's particles begin in each cell. */
typedef struct octree_region {
    octree_grid grid;
    uint32_t count;
    uint32_t chunks, uncounted, unmoved;
} octree_region;

typedef struct octree_pieces_shared {
    octree_shared tree;
    uint64_t *pool; /* regions; the first word is how many pairs are in use */
    uint32_t chunk; /* about so many particles are one, in a region that has more */
    uint32_t unused;
} octree_pieces_shared;

#define OCTREE_REGION_PAIRS ((uint32_t)sizeof(octree_region) / 8)
#define OCTREE_FIRST_REGION 1u

BL_HOST_FN uint32_t octree_cells(uint32_t levels) { return 1u << 3 * levels; }

/* The pairs of words that hold where cells begin. */
BL_HOST_FN uint32_t octree_start_pairs(uint32_t levels) { return octree_cells(levels) / 2 + 1; }

/* The pairs of words that a region takes in the pool. */
BL_HOST_FN uint32_t octree_region_pairs(const octree_region *r) {
    const uint32_t table = r->chunks > 1 ? r->chunks * octree_cells(r->grid.levels) / 2 : 0;
    return OCTREE_REGION_PAIRS + octree_start_pairs(r->grid.levels) + table;
}

/* By how many levels to split: by two or three only if there are two particles per cell. */
BL_HOST_FN uint32_t octree_levels(uint32_t count, uint32_t depth, const octree_shared *tree) {
    const uint32_t levels = count < OCTREE_FOR_TWO ? 1 : count < OCTREE_FOR_THREE ? 2 : 3;
    return depth + levels < tree->max_depth ? levels : tree->max_depth - depth;
}

/* Into how many parts to cut `count`, of about `size` each: equally large ones, without a small rest. */
BL_HOST_FN uint32_t octree_parts(uint32_t count, uint32_t size) {
    return count < size ? 1 : (count - size / 2 - 1) / size + 1;
}

/* Where the i-th of them begins; i = parts: where the last one ends. */
BL_HOST_FN uint32_t octree_part(uint32_t count, uint32_t parts, uint32_t i) {
    return (uint32_t)((uint64_t)count * i / parts);
}

/* A region of these particles with as many chunks as it needs. */
BL_HOST_FN octree_region octree_region_of(uint64_t path, uint32_t depth, uint32_t levels, uint32_t first,
                                          uint32_t count, uint32_t side, const octree_pieces_shared *s) {
    octree_region r = {{0, 0, 0, 0, 0}, 0, 0, 0, 0};
    r.grid.path = path;
    r.grid.depth = depth;
    r.grid.levels = levels;
    r.grid.first = first;
    r.grid.side = 1 - side;
    r.count = count;
    r.chunks = r.uncounted = r.unmoved = octree_parts(count, s->chunk);
    return r;
}

/* For the host: the region of all particles, and the most pairs of words that the regions of a run take. */
octree_region octree_first_region(const octree_pieces_shared *s);
uint64_t octree_pool_most(const octree_pieces_shared *s);

#endif
