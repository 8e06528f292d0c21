/* UTS with oneTBB: a task per node that has children, a task_group per node. */
#include "uts_peers.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <memory>

namespace {

void visit(const peer_tree *tree, const uts_node &parent, uint32_t children, peer_tally *tallies) {
    oneapi::tbb::task_group group;
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < children; i++) {
        uts_node node;
        uint32_t below = peer_expand(tree, &parent, i, &node);
        if (below == 0)
            leaves++;
        else
            group.run([=] { visit(tree, node, below, tallies); });
    }
    peer_count(tallies + oneapi::tbb::this_task_arena::current_thread_index(), parent.depth, children, leaves);
    group.wait();
}

/* Kept from run to run, as ours keeps its threads. */
oneapi::tbb::task_arena &arena_of(uint32_t threads) {
    static std::unique_ptr<oneapi::tbb::task_arena> arena;
    if (!arena || arena->max_concurrency() != static_cast<int>(threads))
        arena = std::make_unique<oneapi::tbb::task_arena>(static_cast<int>(threads));
    return *arena;
}

} // namespace

void peer_tbb(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
    arena_of(threads).execute([=] { visit(tree, tree->root, tree->children, tallies); });
}
