/* UTS with Taskflow: a task per node, and a node waits for its children, the last of which it visits itself. */
#include "uts_peers.h"
#include "peers_taskflow.h"

namespace {

struct search {
    tf::Executor &executor;
    const peer_tree *tree;
    peer_tally *tallies;
};

void visit_node(const search &s, const uts_node &node, uint32_t children) {
    peer_count(s.tallies + s.executor.this_worker_id(), node.depth - 1, 1, children == 0 ? 1 : 0);
    if (children == 0)
        return;
    tf::TaskGroup group = s.executor.task_group();
    for (uint32_t i = 0; i < children; i++) {
        uts_node child;
        uint32_t below = peer_expand(s.tree, &node, i, &child);
        if (i + 1 < children)
            group.silent_async([&s, child, below] { visit_node(s, child, below); });
        else
            visit_node(s, child, below);
    }
    group.corun();
}

} // namespace

void peer_taskflow(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
    const search s{peers_executor(threads), tree, tallies};
    s.executor.async([&s] { visit_node(s, s.tree->root, s.tree->children); }).wait();
}
