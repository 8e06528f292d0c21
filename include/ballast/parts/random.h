/* Small generators of random numbers. */
#ifndef BL_PARTS_RANDOM_H
#define BL_PARTS_RANDOM_H

#include "../platform/platform.h"

/* Marsaglia's xorshift: quick, and good enough to choose victims and test cases. A state is never 0. */
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

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do, also 0, and neighbouring seeds give unrelated numbers. */
BL_HOST_FN uint64_t bl__splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
