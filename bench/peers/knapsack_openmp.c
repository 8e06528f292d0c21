/* The knapsack with OpenMP tasks: a task per node; only the barrier that ends the region waits. */
#include "knapsack_peers.h"

#include <omp.h>

static void visit(knapsack_node node, const knapsack_items *k, knapsack_tally *tallies) {
    knapsack_tally *mine = tallies + omp_get_thread_num();
    mine->nodes++;
    if (!knapsack_promises(k, &node, k->best))
        return;
    if (node.item == k->count) {
        mine->packings++;
        return;
    }
    knapsack_node left = knapsack_leave(&node);
#pragma omp task firstprivate(left, k, tallies) default(none)
    visit(left, k, tallies);
    if (knapsack_fits(k, &node)) {
        knapsack_node taken = knapsack_take(k, &node);
#pragma omp task firstprivate(taken, k, tallies) default(none)
        visit(taken, k, tallies);
    }
}

void knapsack_openmp(const knapsack_items *k, uint32_t threads, knapsack_tally *tallies) {
    const knapsack_node root = {0, k->room, 0};
#pragma omp parallel num_threads((int)threads) default(none) shared(root, k, tallies)
#pragma omp single
    visit(root, k, tallies);
}
