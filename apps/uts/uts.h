/* Unbalanced Tree Search (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng 2006): count the nodes of a tree that
 * exists only as a rule, so that the size of a subtree cannot be predicted. Shared by the task code, the host code and
 * the sequential twin. Plain C11 that is also C++17 and CUDA.
 *
 * A node is 20 bytes of SHA-1. Child i is the hash of its parent and i; the last word of its hash (its 31-bit value)
 * and its depth determine how many children a node has. An entry is a parent with the index range [0, children), so a
 * task is one node: hash it, count its children, spawn them as one entry.
 *
 * The rules use logarithms of doubles, which no two devices round alike. Since a value has only 31 bits, the host turns
 * them into integer thresholds, a row per depth, and every device gets the same tree:
 *
 *     row of a depth   |  0 children  |  1 x step  |  2 x step  |   ...   |  n x step      |
 *     value ^ flip     0        thresholds[0]  thresholds[1]        thresholds[n-1]    0x7fffffff
 */
#ifndef BALLAST_UTS_H
#define BALLAST_UTS_H

#include <stdint.h>

#define UTS_MOST_CHILDREN 100u /* the most children of a node; only the root of a binomial tree may have more */
#define UTS_VALUE_MASK 0x7fffffffu
#define UTS_NEVER 0x80000000u /* a threshold that no value reaches */

/* The payload: a parent, as five big-endian words, and the depth of its children. */
typedef struct uts_node {
    uint32_t state[5];
    uint32_t depth;
} uts_node;

/* thresholds[k] is the smallest value (after the flip) for which a node has more than k times `step` children. They are
 * ascending, and the last is UTS_NEVER. */
typedef struct uts_row {
    float scale;   /* about how many thresholds are passed each time 1 - u halves: where the lookup starts */
    uint32_t flip; /* UTS_VALUE_MASK if small values have children, otherwise 0 */
    uint32_t step;
    uint32_t thresholds[UTS_MOST_CHILDREN + 1];
} uts_row;

typedef struct uts_totals {
    uint64_t leaves;
    uint32_t depth, unused;
} uts_totals;

/* Nodes deeper than the last row use that row if it `lasts`; otherwise the table is too short for this tree and the run
 * fails. */
typedef struct uts_shared {
    const uts_row *rows;
    uts_totals *totals;
    uint32_t row_count, lasts;
} uts_shared;

/* Counted by one lane. */
typedef struct uts_local {
    uint64_t leaves;
    uint32_t depth;
} uts_local;

#endif
