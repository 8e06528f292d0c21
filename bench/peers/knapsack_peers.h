/* A branch and bound whose nodes take three nanoseconds each: the 0-1 knapsack. Of every item in turn, the best by
 * value per weight first, it is taken or left; a node whose bound stays below the best value known ends its branch.
 * That value is the optimum from the start, so all methods visit the same nodes and find all optimal packings. Plain
 * C11 that is also C++17. */
#ifndef BALLAST_BENCH_KNAPSACK_PEERS_H
#define BALLAST_BENCH_KNAPSACK_PEERS_H

#include <stdint.h>

#define KNAPSACK_MOST 64

typedef struct knapsack_items {
    uint32_t count, room;
    uint32_t weight[KNAPSACK_MOST + 1], value[KNAPSACK_MOST + 1]; /* the one past the end adds nothing to the bound */
    uint32_t best;
} knapsack_items;

typedef struct knapsack_node {
    uint32_t item, room, value;
} knapsack_node;

/* Counts of one thread, on separate cache lines. */
typedef struct knapsack_tally {
    uint64_t packings, nodes;
    unsigned char pad[256 - 16];
} knapsack_tally;

/* Whether a packing below `node` can be worth `best`. */
static inline int knapsack_promises(const knapsack_items *k, const knapsack_node *node, uint32_t best) {
    return node->value + node->room * k->value[node->item] / k->weight[node->item] >= best;
}

static inline int knapsack_fits(const knapsack_items *k, const knapsack_node *node) {
    return k->weight[node->item] <= node->room;
}

static inline knapsack_node knapsack_take(const knapsack_items *k, const knapsack_node *node) {
    knapsack_node next = {node->item + 1, node->room - k->weight[node->item], node->value + k->value[node->item]};
    return next;
}

static inline knapsack_node knapsack_leave(const knapsack_node *node) {
    knapsack_node next = {node->item + 1, node->room, node->value};
    return next;
}

/* Each visits all nodes with `threads` threads and counts into tallies[0 .. threads), initially zero. */
#ifdef __cplusplus
extern "C" {
#endif
void knapsack_tbb(const knapsack_items *k, uint32_t threads, knapsack_tally *tallies);
void knapsack_openmp(const knapsack_items *k, uint32_t threads, knapsack_tally *tallies);
void knapsack_lace(const knapsack_items *k, uint32_t threads, knapsack_tally *tallies);
#ifdef __cplusplus
}
#endif

#endif
