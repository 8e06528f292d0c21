/* Plain structs shared by the task and the host. */
#ifndef QUEENS_H
#define QUEENS_H

#include <stdint.h>

/* The payload: columns of the next row that queens attack, straight and along both diagonals. */
typedef struct queens_board {
    uint32_t columns, left, right;
} queens_board;

typedef struct queens_shared {
    uint64_t *solutions; /* device memory */
    uint32_t n;
} queens_shared;

/* Per lane. */
typedef struct queens_local {
    uint64_t solutions;
} queens_local;

#endif
