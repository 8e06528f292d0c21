/* UTS with Lace: a task per node, and a node waits for its children, the last of which it visits itself. */
#include "uts_peers.h"

#include "peers_lace.h"

typedef struct search {
    const peer_tree *tree;
    peer_tally *tallies;
} search;

VOID_TASK_3(visit_node, const search *, s, uts_node, node, uint32_t, children) {
    peer_count(s->tallies + LACE_WORKER_ID, node.depth - 1, 1, children == 0 ? 1 : 0);
    for (uint32_t i = 0; i < children; i++) {
        uts_node child;
        uint32_t below = peer_expand(s->tree, &node, i, &child);
        if (i + 1 < children)
            SPAWN(visit_node, s, child, below);
        else
            CALL(visit_node, s, child, below);
    }
    for (uint32_t i = 1; i < children; i++)
        SYNC(visit_node);
}

void peer_lace(const peer_tree *tree, uint32_t threads, peer_tally *tallies) {
    const search s = {tree, tallies};
    (void)threads; /* those that were started */
    RUN(visit_node, &s, tree->root, tree->children);
}
