/* All ways to place n queens on an n x n board so that none attacks another: what the task code, the host code and the
 * sequential twin share. Plain C11 that is also C++17 and CUDA.
 *
 * Queens are placed row by row. An entry is a board with the index range [0, free columns of its next row), so a task
 * is one queen placed: a node of the plain search tree. Mirror images count separately. */
#ifndef BALLAST_NQUEENS_H
#define BALLAST_NQUEENS_H

#include <stdint.h>

#define NQUEENS_MOST 18 /* the largest n with known counts */

/* The payload: columns of the next row that queens attack, straight and along both diagonals. Bits that `left` shifts
 * off the board are ignored. */
typedef struct nqueens_board {
    uint32_t columns, left, right;
} nqueens_board;

typedef struct nqueens_shared {
    uint64_t *solutions;
    uint32_t all; /* a bit for every column */
    uint32_t unused;
} nqueens_shared;

/* Found by one lane. */
typedef struct nqueens_local {
    uint64_t solutions;
} nqueens_local;

#endif
