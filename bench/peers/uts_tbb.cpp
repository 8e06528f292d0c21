/* UTS with oneTBB, in two forms. */
#include "uts_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/task_group.h>

namespace {

using oneapi::tbb::task_group;

peer_tally *mine(peer_tally *tallies) { return tallies + oneapi::tbb::this_task_arena::current_thread_index(); }

/* As in published ports: a task per node, and a node waits for its children, the last of which it visits itself. */
void visit_node(const peer_tree *tree, const uts_node &node, uint32_t children, peer_tally *tallies) {
    peer_count(mine(tallies), node.depth - 1, 1, children == 0 ? 1 : 0);
    if (children == 0)
        return;
    task_group group;
    for (uint32_t i = 0; i < children; i++) {
        uts_node child;
        uint32_t below = peer_expand(tree, &node, i, &child);
        if (i + 1 < children)
            group.run([=] { visit_node(tree, child, below, tallies); });
        else
            visit_node(tree, child, below, tallies);
    }
    group.wait();
}

/* Tuned: only nodes with children are tasks, all of one group, and only the caller waits. */
void visit_inner(const peer_tree *tree, const uts_node &parent, uint32_t children, peer_tally *tallies,
                 task_group *group) {
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < children; i++) {
        uts_node node;
        uint32_t below = peer_expand(tree, &parent, i, &node);
        if (below == 0)
            leaves++;
        else
            group->run([=] { visit_inner(tree, node, below, tallies, group); });
    }
    peer_count(mine(tallies), parent.depth, children, leaves);
}

} // namespace

void peer_tbb(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
    peers_arena(threads).execute([=] { visit_node(tree, tree->root, tree->children, tallies); });
}

void peer_tbb_inner(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
    peers_arena(threads).execute([=] {
        task_group group;
        visit_inner(tree, tree->root, tree->children, tallies, &group);
        group.wait();
    });
}
