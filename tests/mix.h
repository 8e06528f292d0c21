/* The hash from which random trees grow, on every target. */
#ifndef BALLAST_TESTS_MIX_H
#define BALLAST_TESTS_MIX_H

#include <ballast/platform/platform.h>

BL_HOST_FN uint32_t mix(uint32_t a, uint32_t b) {
    uint64_t x = (a ^ (uint64_t)b << 32 ^ b) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

#endif
