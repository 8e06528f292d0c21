/* Unbalanced Tree Search (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng 2006): count the nodes of a tree that
 * exists only as a rule, and of which nobody can say beforehand how large any part is. What the task code, the host
 * code and the sequential twin share. Plain C11 that is also C++17 and CUDA.
 *
 * A node is 20 bytes of SHA-1. Child i is the hash of its parent and i; how many children a node has follows from the
 * last word of its hash, its 31-bit value, and from its depth. An entry is a parent with the index range [0, children),
 * so a task is one node: hash it, count its children, spawn them as one entry.
 *
 * The rules are written with logarithms of doubles, which no two devices round alike. Since a value has only 31 bits,
 * the host turns them into integer thresholds, a row per depth, and every device gets the same tree:
 *
 *     row of a depth   |  0 children  |  1 x step  |  2 x step  |   ...   |  n x step      |
 *     value ^ flip     0        thresholds[0]  thresholds[1]        thresholds[n-1]    0x7fffffff
 */
#ifndef BALLAST_UTS_H
#define BALLAST_UTS_H

#include <stdint.h>

#define UTS_MOST_CHILDREN 100u /* of a node; only the root of a binomial tree may have more */
#define UTS_VALUE_MASK 0x7fffffffu
#define UTS_NEVER 0x80000000u /* a threshold that no value reaches */

/* The payload: a parent, as five big-endian words, and the depth of its children. */
typedef struct uts_node {
    uint32_t state[5];
    uint32_t depth;
} uts_node;

/* thresholds[k] is the smallest value (flipped where so asked) for which a node has more than k times `step` children.
 * They rise, and the last is UTS_NEVER. */
typedef struct uts_row {
    float scale;   /* about how many thresholds are passed each time 1 - u halves: where the lookup starts */
    uint32_t flip; /* UTS_VALUE_MASK where it is the small values that have children, else 0 */
    uint32_t step;
    uint32_t thresholds[UTS_MOST_CHILDREN + 1];
} uts_row;

typedef struct uts_totals {
    uint64_t leaves;
    uint32_t depth, unused;
} uts_totals;

/* Nodes deeper than the last row have that row, if it `lasts`; if not, the table is too short for this tree and the run
 * fails. */
typedef struct uts_shared {
    const uts_row *rows;
    uts_totals *totals;
    uint32_t row_count, lasts;
} uts_shared;

/* What one lane has seen. */
typedef struct uts_local {
    uint64_t leaves;
    uint32_t depth;
} uts_local;

#endif
