/* The knapsack with Lace: a task per node. A task waits for the one that it spawned. */
#include "knapsack_peers.h"

#include "peers_lace.h"

VOID_TASK_3(visit, knapsack_node, node, const knapsack_items *, k, knapsack_tally *, tallies) {
    knapsack_tally *mine = tallies + LACE_WORKER_ID;
    mine->nodes++;
    if (!knapsack_promises(k, &node, k->best))
        return;
    if (node.item == k->count) {
        mine->packings++;
        return;
    }
    knapsack_node left = knapsack_leave(&node);
    SPAWN(visit, left, k, tallies);
    if (knapsack_fits(k, &node)) {
        knapsack_node taken = knapsack_take(k, &node);
        CALL(visit, taken, k, tallies);
    }
    SYNC(visit);
}

void knapsack_lace(const knapsack_items *k, uint32_t threads, knapsack_tally *tallies) {
    const knapsack_node root = {0, k->room, 0};
    (void)threads; /* those that were started */
    RUN(visit, root, k, tallies);
}
