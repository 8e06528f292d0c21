/* The knapsack with oneTBB: a task per node, except those whose item is taken, which the same task continues with. A
 * task waits for the one that it spawned. */
#include "knapsack_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/task_group.h>

namespace {

void visit(const knapsack_node &node, const knapsack_items *k, knapsack_tally *tallies) {
    knapsack_tally *mine = tallies + oneapi::tbb::this_task_arena::current_thread_index();
    mine->nodes++;
    if (!knapsack_promises(k, &node, k->best))
        return;
    if (node.item == k->count) {
        mine->packings++;
        return;
    }
    oneapi::tbb::task_group group;
    group.run([=] { visit(knapsack_leave(&node), k, tallies); });
    if (knapsack_fits(k, &node))
        visit(knapsack_take(k, &node), k, tallies);
    group.wait();
}

} // namespace

void knapsack_tbb(const knapsack_items *k, uint32_t threads, knapsack_tally *tallies) {
    peers_arena(threads).execute([=] { visit(knapsack_node{0, k->room, 0}, k, tallies); });
}
