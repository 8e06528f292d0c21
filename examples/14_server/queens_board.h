/* What the task and the host share. */
#ifndef SERVER_QUEENS_BOARD_H
#define SERVER_QUEENS_BOARD_H

#include <stdint.h>

/* The payload: the size of the board, and which columns of the next row queens attack, straight and along both
 * diagonals. */
typedef struct board {
    uint32_t n, columns, left, right;
} board;

#endif
