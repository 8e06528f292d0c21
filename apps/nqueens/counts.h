/* Counts for n queens on the host: known values, and the sequential twin. */
#ifndef BALLAST_NQUEENS_COUNTS_H
#define BALLAST_NQUEENS_COUNTS_H

#include "nqueens.h"

typedef struct nqueens_counts {
    uint64_t solutions;
    uint64_t nodes; /* queens placed in the whole search */
} nqueens_counts;

/* For n from 1 to NQUEENS_MOST. */
nqueens_counts nqueens_known(uint32_t n);

/* The plain recursion against which a run is measured. */
nqueens_counts nqueens_twin(uint32_t n);

#endif
