/* How a loop that is reduced is cut: a tree of forks over blocks of `grain` indices. It depends on the number of
 * indices and the grain alone, so the same results meet in the same order whoever runs them.
 *
 *     [0, 100000)                       grain 1000
 *     [0, 64000) [64000, 100000)        steps are grain * 8^k
 *     [0, 8000) [8000, 16000) ...       up to 8 children
 *     [0, 1000) [1000, 2000) ...        the last block may be shorter
 */
#ifndef BL_PARTS_BLOCKS_H
#define BL_PARTS_BLOCKS_H

#include "../platform/platform.h"

#define BL__BLOCKS_WIDTH 8u /* children of a fork */

typedef struct bl__blocks {
    uint32_t begin, end, grain;
} bl__blocks;

BL_FN bool bl__blocks_are_one(bl__blocks b) { return b.end - b.begin <= b.grain; }

/* Indices of each child but the last. */
BL_FN uint64_t bl__blocks_step(bl__blocks b) {
    uint64_t step = b.grain;
    while (step * BL__BLOCKS_WIDTH < b.end - b.begin)
        step *= BL__BLOCKS_WIDTH;
    return step;
}

BL_FN uint32_t bl__blocks_children(bl__blocks b) {
    const uint64_t step = bl__blocks_step(b);
    return (uint32_t)((b.end - b.begin + step - 1) / step);
}

BL_FN bl__blocks bl__blocks_child(bl__blocks b, uint32_t index) {
    const uint64_t step = bl__blocks_step(b), begin = b.begin + index * step;
    bl__blocks child = {(uint32_t)begin, begin + step < b.end ? (uint32_t)(begin + step) : b.end, b.grain};
    return child;
}

/* Unless somebody says: 4096 blocks or more for whatever number of workers, and large enough to outweigh a fork. */
BL_HOST_FN uint32_t bl__blocks_grain(uint32_t count) {
    const uint32_t grain = count >> 12;
    return grain < 1 ? 1 : grain > 1024 ? 1024 : grain;
}

#endif
