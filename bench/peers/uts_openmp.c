/* UTS with OpenMP tasks, in two forms. */
#include "uts_peers.h"

#include <omp.h>

/* As in the Barcelona OpenMP Tasks Suite: a task per node, and a node waits for its children. */
static void visit_node(const peer_tree *tree, const uts_node *node, uint32_t children, peer_tally *tallies) {
    peer_count(tallies + omp_get_thread_num(), node->depth - 1, 1, children == 0 ? 1 : 0);
    for (uint32_t i = 0; i < children; i++) {
        uts_node child;
        uint32_t below = peer_expand(tree, node, i, &child);
#pragma omp task firstprivate(tree, child, below, tallies) default(none)
        visit_node(tree, &child, below, tallies);
    }
#pragma omp taskwait
}

/* Tuned: only nodes with children are tasks, and only the barrier that ends the region waits. */
static void visit_inner(const peer_tree *tree, const uts_node *parent, uint32_t children, peer_tally *tallies) {
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < children; i++) {
        uts_node node;
        uint32_t below = peer_expand(tree, parent, i, &node);
        if (below == 0) {
            leaves++;
            continue;
        }
#pragma omp task firstprivate(tree, node, below, tallies) default(none)
        visit_inner(tree, &node, below, tallies);
    }
    peer_count(tallies + omp_get_thread_num(), parent->depth, children, leaves);
}

void peer_openmp(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
#pragma omp parallel num_threads((int)threads) default(none) shared(tree, tallies)
#pragma omp single
    visit_node(tree, &tree->root, tree->children, tallies);
}

void peer_openmp_inner(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
#pragma omp parallel num_threads((int)threads) default(none) shared(tree, tallies)
#pragma omp single
    visit_inner(tree, &tree->root, tree->children, tallies);
}
