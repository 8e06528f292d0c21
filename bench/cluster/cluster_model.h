/* A model of a cluster in virtual time: nodes that run src/cluster/protocol.c over a network with latency and
 * bandwidth, and search trees like those of UTS. Nothing here is measured on a cluster: it shows what the protocol does
 * to a run, if nodes and network are as fast as assumed. */
#ifndef BALLAST_BENCH_CLUSTER_MODEL_H
#define BALLAST_BENCH_CLUSTER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* A task has a number of children drawn from its hash. Geometric: a mean of `branching` down to depth `depth`, and none
 * below, so that all branches are about equally deep. Binomial: the root has `roots` children; each of the others has
 * two with a probability of (1 - 1 / size) / 2, so that the tree below it has `size` tasks on average, and any number
 * in fact. */
typedef struct cluster_tree {
    const char *name;
    bool binomial;
    double branching, size;
    uint32_t depth, roots;
    uint64_t seed;
} cluster_tree;

typedef struct cluster_machine {
    uint32_t nodes;
    uint32_t together;      /* nodes in one machine */
    double within, between; /* seconds of a round trip between nodes of one machine, of two */
    double bandwidth;       /* of a node's link, bytes per second */
    double handling;        /* seconds that a node needs to receive a message; it works meanwhile */
    double task;            /* seconds of a task on a node that has enough of them */
    uint32_t batch;         /* tasks that a node runs before it looks around */
    uint32_t low;           /* it asks early when it has fewer entries */
    uint32_t bytes;         /* of an entry in a message */
} cluster_machine;

typedef struct cluster_outcome {
    uint64_t tasks;
    double seconds;                  /* until the last node knows that the run is over */
    double efficiency;               /* tasks * task / (nodes * seconds) */
    double spread;                   /* until every node had run a task; 0: some never did */
    double ending;                   /* from the last task to the end */
    uint64_t messages, moved, bytes; /* moved: entries in messages */
} cluster_outcome;

/* The number of its tasks, counted one after another. */
uint64_t cluster_tree_size(const cluster_tree *t);
/* False: out of memory. */
bool cluster_model_run(const cluster_tree *t, const cluster_machine *m, uint32_t seed, cluster_outcome *outcome);

#endif
