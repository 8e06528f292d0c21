/* Marsaglia's xorshift generators: small, quick, and good enough to choose victims and test cases. A state is never
 * 0. */
#ifndef BL_PARTS_RANDOM_H
#define BL_PARTS_RANDOM_H

#include "../platform/platform.h"

BL_FN uint32_t bl__random32(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

BL_FN uint64_t bl__random64(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
