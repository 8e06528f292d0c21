/* Linearizability of a small history with a partial order: which operation happened before which. verify/linearize.h
 * uses times instead, which cannot express that no third operation both follows the first and precedes the second of
 * two that overlap. */
#ifndef BALLAST_PROVE_LINEARIZE_PARTIAL_H
#define BALLAST_PROVE_LINEARIZE_PARTIAL_H

#include <stdbool.h>
#include <stdint.h>

enum { HISTORY_OPS = 32, HISTORY_ITEMS = 64 };

typedef enum history_act {
    HISTORY_ADD,
    HISTORY_TAKE_OLDEST,
    HISTORY_TAKE_NEWEST,
    HISTORY_EMPTY,
    HISTORY_FULL
} history_act;

typedef struct history {
    uint32_t count;
    struct {
        history_act act;
        uint32_t value;
        uint32_t before; /* mask of the operations that must come first */
    } ops[HISTORY_OPS];
    uint32_t capacity;                              /* 0: no bound */
    uint32_t filled;                                /* 1 .. filled are in it at the start, oldest first */
    uint32_t rest[HISTORY_ITEMS], rest_count;       /* what is left at the end, oldest first */
    uint32_t items[HISTORY_ITEMS * 2], first, last; /* of the search */
} history;

/* Whether some order of all operations explains their results and what is left. */
bool history_explained(history *h);

#endif
