#include "pieces.h"

octree_region octree_first_region(const octree_pieces_shared *s) {
    return octree_region_of(0, 0, octree_levels(s->tree.particles, 0, &s->tree), 0, s->tree.particles, 0, s);
}

/* Particles that a region with so many levels has at least: more than are finished otherwise. */
static double least_particles(uint32_t threshold, uint32_t levels) {
    const double most = threshold > OCTREE_LEAST_BATCH ? threshold : OCTREE_LEAST_BATCH;
    return levels == 3 && most < OCTREE_FOR_THREE ? OCTREE_FOR_THREE : most + 1;
}

/* The levels of the regions that contain a particle add up to at most max_depth. So the bound is particles times
 * max_depth times the highest cost per particle and level. A region with several chunks has less than twice as many as
 * particles / chunk. */
uint64_t octree_pool_most(const octree_pieces_shared *s) {
    const octree_region first = octree_first_region(s);
    double most = 0;
    for (uint32_t levels = 1; levels <= OCTREE_LEVELS; levels++) {
        const double cells = OCTREE_REGION_PAIRS + octree_start_pairs(levels);
        const double table = octree_cells(levels) / (double)s->chunk;
        const double each = (cells / least_particles(s->tree.threshold, levels) + table) / levels;
        most = each > most ? each : most;
    }
    return OCTREE_FIRST_REGION + octree_region_pairs(&first) + (uint64_t)(most * s->tree.particles * s->tree.max_depth);
}
