/* The chain of hashes that the ceilings measure, the same on CPU and GPU: a node, its child 0, that node's child 1, and
 * so on. */
#ifndef BALLAST_BENCH_CEILINGS_H
#define BALLAST_BENCH_CEILINGS_H

#include "uts/sha1.h"

/* The last word of the last node. */
BL_FN uint32_t ceilings_chain(uint32_t seed, uint32_t length) {
    uint32_t state[5];
    uts_sha1_root(state, seed);
    for (uint32_t i = 0; i < length; i++)
        uts_sha1_child(state, state, i);
    return state[4];
}

#ifdef __cplusplus
extern "C" {
#endif
uint32_t ceilings_twin(uint32_t seed, uint32_t length); /* the same on the CPU, one at a time */
#ifdef __cplusplus
}
#endif

#endif
