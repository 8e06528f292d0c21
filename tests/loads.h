/* Loads for tests of balance: the cost of each of n tasks. Generated from a seed, the same on every machine. */
#ifndef BALLAST_TESTS_LOADS_H
#define BALLAST_TESTS_LOADS_H

#include <ballast/parts/random.h>
#include <math.h>
#include <stdint.h>

#define LOADS(X)                                                                                                       \
    X(nothing)                                                                                                         \
    X(equal) X(bimodal) X(long_last) X(pareto) X(increasing) X(decreasing) X(giant_first) X(giant_middle) X(giant_last)

typedef enum load_kind {
#define X(name) LOAD_##name,
    LOADS(X)
#undef X
        LOAD_KINDS
} load_kind;

static const char *const load_names[] = {
#define X(name) #name,
    LOADS(X)
#undef X
};

/* Between 0 and 1, both excluded. */
static inline double load_random(uint64_t *state) {
    return ((double)(bl__random64(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* `unit` is about the average cost of a task; the longest takes 10 to 30 times as long. In the bimodal loads one task
 * in twelve is long and takes 100 times as long as a short one; the long ones are scattered, or all at the end. */
static inline void load_make(load_kind kind, uint64_t seed, uint32_t n, uint32_t unit, uint32_t *cost) {
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 0x5851f42d4c957f2du;
    uint32_t giant = kind == LOAD_giant_first ? 0 : kind == LOAD_giant_middle ? n / 2 : n - 1;
    for (uint32_t i = 0; i < n; i++) {
        double at = ((double)i + 0.5) / n, random = load_random(&state), of_unit = 1;
        switch (kind) {
        case LOAD_nothing:
            of_unit = 0;
            break;
        case LOAD_bimodal:
            of_unit = random < 1 / 12.0 ? 10 : 0.1;
            break;
        case LOAD_long_last:
            of_unit = i >= n - (n + 11) / 12 ? 10 : 0.1;
            break;
        case LOAD_pareto:
            of_unit = fmin(0.3 * pow(random, -1 / 1.2), 30);
            break;
        case LOAD_increasing:
            of_unit = 0.1 + 1.8 * at;
            break;
        case LOAD_decreasing:
            of_unit = 1.9 - 1.8 * at;
            break;
        case LOAD_giant_first:
        case LOAD_giant_middle:
        case LOAD_giant_last:
            of_unit = i == giant ? 12 : 0.6;
            break;
        default:
            break;
        }
        cost[i] = (uint32_t)(of_unit * unit);
    }
}

#endif
