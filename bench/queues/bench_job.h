/* The input of a measured loop, the same on CPU and GPU, and the numbers that it shares with the host, which verifies
 * it. C11 that is also C++17.
 *
 * A loop keeps its sums in registers and stores them in the arrays at its end. It does not count what the host can
 * compute: pushed values are consecutive, and random choices come from a generator that the host can run again. */
#ifndef BALLAST_BENCH_JOB_H
#define BALLAST_BENCH_JOB_H

#include <ballast/queues/contract.h>

enum {
    BENCH_PAIRS = 10,       /* of Kerbl et al. */
    BENCH_BLOCK = 256,      /* lanes of a block on a GPU */
    BENCH_ROUNDS = 64,      /* between two checks of the clock */
    BENCH_CHANCE_BITS = 16, /* probabilities are out of 2^16 */
    BENCH_CERTAIN = 1 << BENCH_CHANCE_BITS
};
#define BENCH_FILLED 0x80000001u /* values of the initial items start here, those of the threads lie below */

typedef enum bench_step {
    BENCH_INIT,
    BENCH_FILL,  /* pushes `items` items, before the clock starts */
    BENCH_TEN,   /* rounds of ten pairs */
    BENCH_MIXED, /* rounds of a random number of pairs, one to ten */
    BENCH_OWNER, /* deques: the first caller pushes ten and pops those that the others have not stolen */
    BENCH_DRAIN, /* pops until EMPTY, after the clock has stopped */
    BENCH_STEPS
} bench_step;

typedef struct bench_job {
    void *memory;
    uint32_t capacity, threads; /* the shape */
    uint32_t callers;           /* how many take part: all threads, or fewer to fill and drain */
    uint32_t group;             /* callers that share a queue, if there are many queues */
    uint32_t shift;             /* GPU: 5 if one lane of each warp calls, 0 if each does */
    uint32_t items;             /* FILL */
    uint32_t push, pop, fma;    /* MIXED: two probabilities, and the work after a successful pop */
    uint32_t rounds, seed;
    uint32_t stride;         /* values reserved for a caller */
    uint64_t until;          /* CPU, TEN and OWNER: bl_time() after which no new round starts */
    uint32_t *ended;         /* OWNER: set when the owner has stopped */
    uint64_t *out;           /* per caller: sum of the squares popped */
    uint32_t *pushes, *pops; /* per caller */
    float *work;             /* per caller: the result of the work, so that it is not optimised away */
} bench_job;

BL_HOST_FN uint32_t bench_first(const bench_job *j, uint32_t rank) { return rank * j->stride + 1; }

/* A generator per caller: a hash of its number, then a linear congruential generator whose upper half is used. */
BL_HOST_FN uint32_t bench_random_start(const bench_job *j, uint32_t rank) {
    uint32_t x = rank * 0x9e3779b9u + j->seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}
BL_HOST_FN uint32_t bench_random_next(uint32_t random) { return random * 1664525u + 1013904223u; }
BL_HOST_FN uint32_t bench_chance(uint32_t random) { return random >> (32 - BENCH_CHANCE_BITS); }
BL_HOST_FN uint32_t bench_some_pairs(uint32_t random) {
    return 1 + (bench_chance(random) * BENCH_PAIRS >> BENCH_CHANCE_BITS);
}

#endif
