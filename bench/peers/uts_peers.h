/* The input of a peer of the UTS comparison: the tree as a table, and one function that expands a node, the same for
 * all, so that only the scheduling differs. Plain C11 that is also C++17. */
#ifndef BALLAST_BENCH_UTS_PEERS_H
#define BALLAST_BENCH_UTS_PEERS_H

#ifndef UTS_WITHOUT_PROGRAM
#define UTS_WITHOUT_PROGRAM
#endif
#include "uts/task.h"

typedef struct peer_tree {
    const uts_row *rows;
    uint32_t row_count;
    uint32_t children; /* of the root */
    uts_node root;
} peer_tree;

/* Counts of one thread, on separate cache lines. */
typedef struct peer_tally {
    uint64_t nodes, leaves;
    uint32_t depth;
    unsigned char pad[2 * BL_LINE - 20];
} peer_tally;

/* Stores child `index` of `parent` in `node` and returns how many children it has. The last row holds for all greater
 * depths. */
BL_FN uint32_t peer_expand(const peer_tree *tree, const uts_node *parent, uint32_t index, uts_node *node) {
    uint32_t last = tree->row_count - 1;
    uts_sha1_child(node->state, parent->state, index);
    node->depth = parent->depth + 1;
    return uts_children(tree->rows + (parent->depth < last ? parent->depth : last), node->state[4] & UTS_VALUE_MASK);
}

BL_FN void peer_count(peer_tally *tally, uint32_t depth, uint32_t nodes, uint32_t leaves) {
    tally->nodes += nodes;
    tally->leaves += leaves;
    if (tally->depth < depth)
        tally->depth = depth;
}

/* Each counts every node with `threads` threads into tallies[0 .. threads), initially zero; the `inner` ones count all
 * but the root. */
#ifdef __cplusplus
extern "C" {
#endif
void peer_tbb(const peer_tree *tree, uint32_t threads, peer_tally *tallies);
void peer_tbb_inner(const peer_tree *tree, uint32_t threads, peer_tally *tallies);
void peer_openmp(const peer_tree *tree, uint32_t threads, peer_tally *tallies);
void peer_openmp_inner(const peer_tree *tree, uint32_t threads, peer_tally *tallies);
void peer_lace(const peer_tree *tree, uint32_t threads, peer_tally *tallies);
void peer_taskflow(const peer_tree *tree, uint32_t threads, peer_tally *tallies);
#ifdef __cplusplus
}
#endif

#endif
