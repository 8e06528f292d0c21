#include "twin.h"

#include <stdlib.h>

/* Moves bit i of a 20-bit number to bit 3i. */
static uint64_t spread(uint64_t bits) {
    bits = (bits | bits << 32) & UINT64_C(0x001f00000000ffff);
    bits = (bits | bits << 16) & UINT64_C(0x001f0000ff0000ff);
    bits = (bits | bits << 8) & UINT64_C(0x100f00f00f00f00f);
    bits = (bits | bits << 4) & UINT64_C(0x10c30c30c30c30c3);
    bits = (bits | bits << 2) & UINT64_C(0x1249249249249249);
    return bits;
}

/* Scaling by a power of two is exact, so truncation puts a point on a plane on its upper side. */
uint64_t octree_key(const octree_particle *particle) {
    const float scale = (float)(UINT32_C(1) << OCTREE_MAX_DEPTH);
    uint64_t x = (uint32_t)(particle->x * scale);
    uint64_t y = (uint32_t)(particle->y * scale);
    uint64_t z = (uint32_t)(particle->z * scale);
    return spread(x) | spread(y) << 1 | spread(z) << 2;
}

/* Builds one node from the keys [first, first + count) of `from`, with the same range of `spare` as scratch memory.
 * Octants are visited in order, so leaves come out sorted by path. */
static void grow(octree_tree *tree, uint64_t *from, uint64_t *spare, octree_node node, uint32_t threshold,
                 uint32_t max_depth) {
    if (node.count <= threshold || node.depth == max_depth) {
        tree->leaf[tree->leaves++] = node;
        tree->placed += node.count;
        tree->depth = node.depth > tree->depth ? node.depth : tree->depth;
        return;
    }
    tree->tasks++;
    const uint32_t shift = 3 * (OCTREE_MAX_DEPTH - 1 - node.depth);
    const uint32_t end = node.first + node.count;
    uint32_t size[8] = {0}, next[8], begin = node.first;
    for (uint32_t i = node.first; i < end; i++)
        size[from[i] >> shift & 7]++;
    for (uint32_t octant = 0; octant < 8; begin += size[octant++])
        next[octant] = begin;
    for (uint32_t i = node.first; i < end; i++)
        spare[next[from[i] >> shift & 7]++] = from[i];
    for (uint32_t octant = 0; octant < 8; octant++) {
        octree_node child = {node.path << 3 | octant, node.depth + 1, next[octant] - size[octant], size[octant], 0};
        if (child.count > 0)
            grow(tree, spare, from, child, threshold, max_depth);
    }
}

bool octree_twin(octree_tree *tree, const octree_particle *particle, uint32_t count, uint32_t threshold,
                 uint32_t max_depth) {
    *tree = (octree_tree){0};
    if (count == 0)
        return true;
    /* Room for one leaf per particle: unused memory is never touched, and is freed below. */
    uint64_t *key = malloc(sizeof *key * count);
    uint64_t *spare = malloc(sizeof *spare * count);
    tree->leaf = malloc(sizeof *tree->leaf * count);
    bool enough = key && spare && tree->leaf;
    if (enough) {
        for (uint32_t i = 0; i < count; i++)
            key[i] = octree_key(&particle[i]);
        grow(tree, key, spare, (octree_node){.count = count}, threshold, max_depth);
        octree_node *shrunk = realloc(tree->leaf, sizeof *shrunk * tree->leaves);
        tree->leaf = shrunk ? shrunk : tree->leaf;
    } else {
        octree_tree_free(tree);
    }
    free(key);
    free(spare);
    return enough;
}

void octree_tree_free(octree_tree *tree) {
    free(tree->leaf);
    *tree = (octree_tree){0};
}
