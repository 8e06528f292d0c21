/* UTS with OpenMP tasks: a task per node that has children. Nobody waits for anybody: the barrier that ends the region does. */
#include "uts_peers.h"

#include <omp.h>

static void visit(const peer_tree *tree, const uts_node *parent, uint32_t children, peer_tally *tallies) {
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < children; i++) {
        uts_node node;
        uint32_t below = peer_expand(tree, parent, i, &node);
        if (below == 0) {
            leaves++;
            continue;
        }
#pragma omp task firstprivate(tree, node, below, tallies) default(none)
        visit(tree, &node, below, tallies);
    }
    peer_count(tallies + omp_get_thread_num(), parent->depth, children, leaves);
}

void peer_openmp(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
#pragma omp parallel num_threads((int)threads) default(none) shared(tree, tallies)
#pragma omp single
    visit(tree, &tree->root, tree->children, tallies);
}
