/* n queens by others: a task per queen placed. Plain C11 that is also C++17. */
#ifndef BALLAST_BENCH_NQUEENS_PEERS_H
#define BALLAST_BENCH_NQUEENS_PEERS_H

#include "nqueens/nqueens.h"

/* Counts of one thread, on separate cache lines. */
typedef struct queens_tally {
    uint64_t solutions, nodes;
    unsigned char pad[256 - 16];
} queens_tally;

/* The free columns of the next row. */
static inline uint32_t queens_free(const nqueens_board *b, uint32_t all) {
    return all & ~(b->columns | b->left | b->right);
}

/* Places a queen in the lowest free column and removes it from `free`. */
static inline nqueens_board queens_place(const nqueens_board *b, uint32_t *free) {
    uint32_t queen = *free & (0u - *free);
    nqueens_board next = {b->columns | queen, (b->left | queen) << 1, (b->right | queen) >> 1};
    *free ^= queen;
    return next;
}

/* Each counts everything below the empty board with `threads` threads into tallies[0 .. threads), initially zero. */
#ifdef __cplusplus
extern "C" {
#endif
void queens_tbb(uint32_t n, uint32_t threads, queens_tally *tallies);
void queens_openmp(uint32_t n, uint32_t threads, queens_tally *tallies);
void queens_lace(uint32_t n, uint32_t threads, queens_tally *tallies);
void queens_taskflow(uint32_t n, uint32_t threads, queens_tally *tallies);
#ifdef __cplusplus
}
#endif

#endif
