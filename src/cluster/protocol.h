/* How the nodes of a cluster share the work of one run. A node is one device of one process.
 *
 * This is a state machine: events and messages go in, orders come out. It has no clock, no thread, no I/O and no memory
 * beyond its struct, so the same text runs over mailboxes, over MPI and over a simulated network. It moves counts,
 * never entries: the driver owns the entries and the results, and packs them behind the message that it was ordered to
 * send. docs/cluster.md explains the protocol and why it ends when it should.
 *
 * What a driver must keep:
 * - Calls for one node come one at a time, and the orders of a call are carried out, in turn, before the next call.
 * - No message is lost or doubled, and messages from one node to another arrive in the order in which they were sent.
 * - A node has begun a run before it gets messages of that run.
 * - A node never shows the entry that it would run next: a node that receives entries runs at least one of them, so no
 *   entry wanders for ever. Unless all its workers are in long tasks: then it may pass on what it has not begun, while
 *   a dry node has left its name. */
#ifndef BALLAST_CLUSTER_PROTOCOL_H
#define BALLAST_CLUSTER_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BL__CLUSTER_DIMENSIONS = 20,
    BL__CLUSTER_NODES_MAX = 1 << BL__CLUSTER_DIMENSIONS,
    BL__CLUSTER_ALL = BL__CLUSTER_NODES_MAX,                /* as a destination: all nodes but the sender */
    BL__CLUSTER_TRIES = 2,                                  /* nodes asked at random before names are left */
    BL__CLUSTER_ORDERS_MAX = 2 * BL__CLUSTER_DIMENSIONS + 4 /* of one call */
};

typedef enum bl__cluster_kind {
    BL__CLUSTER_ASK,     /* give me entries */
    BL__CLUSTER_REFUSE,  /* there are none to spare: the answer to ASK */
    BL__CLUSTER_NAME,    /* give me entries as soon as there are some: the sender is idle */
    BL__CLUSTER_ENTRIES, /* `count` entries follow, for ASK or for NAME */
    BL__CLUSTER_RESULTS, /* `count` results follow */
    BL__CLUSTER_PROBE,   /* from the root of the tree towards its leaves: report once more */
    BL__CLUSTER_REPORT,  /* towards the root: the sender's part of the tree is idle; `sums` since its last report */
    BL__CLUSTER_HEARD,   /* answers a REPORT that does not answer PROBE: the next one may come */
    BL__CLUSTER_OVER,    /* from the root towards the leaves: the run is over */
    BL__CLUSTER_ALARM,   /* node `count` is lost */
    BL__CLUSTER_KINDS
} bl__cluster_kind;

enum { BL__SENT_ENTRIES, BL__RECEIVED_ENTRIES, BL__SENT_RESULTS, BL__RECEIVED_RESULTS, BL__CLUSTER_SUMS };

typedef struct bl__cluster_message {
    uint32_t kind;
    uint32_t run;     /* messages of another run are ignored */
    uint32_t count;   /* of entries, results; ASK and NAME: 1, if the sender takes all; ALARM: see above */
    uint32_t answers; /* ENTRIES: 1 answers ASK, 0 NAME; REPORT: 1 answers PROBE, or is the first of the run */
    uint64_t sums[BL__CLUSTER_SUMS]; /* REPORT */
} bl__cluster_message;

typedef enum bl__cluster_verb {
    BL__CLUSTER_SEND,         /* `message` to `node`; with ENTRIES the oldest entries that this node shows */
    BL__CLUSTER_TAKE_ENTRIES, /* those behind the message that has just arrived. The node is busy until _dry */
    BL__CLUSTER_TAKE_RESULTS, /* the same */
    BL__CLUSTER_WANTED,       /* `on`: another node would like entries, so show some; else nobody would */
    BL__CLUSTER_END,          /* the run is over: complete, or, `on`, because `node` is lost. Exactly once per run */
} bl__cluster_verb;

typedef struct bl__cluster_order {
    bl__cluster_verb verb;
    uint32_t node;
    bool on;
    bl__cluster_message message;
} bl__cluster_order;

typedef struct bl__cluster_orders {
    uint32_t count;
    bl__cluster_order list[BL__CLUSTER_ORDERS_MAX];
} bl__cluster_orders;

typedef struct bl__cluster_node {
    uint32_t number, nodes, run;
    uint32_t most;                       /* entries in one message */
    uint32_t random;                     /* state of the generator that selects victims */
    uint32_t victim;                     /* the last one asked */
    uint32_t tries;                      /* nodes to ask before names are left */
    uint32_t shows;                      /* entries that may be given away */
    uint32_t waiting;                    /* the neighbours whose names are here, a bit for each dimension, ... */
    uint32_t stronger;                   /* ... and which of them take all */
    uint32_t left;                       /* the neighbours that have this node's name */
    uint32_t turn;                       /* the dimension to be served next */
    uint32_t pending;                    /* children in the tree that have not reported since they were asked to */
    bool takes_all;                      /* that a victim shows, not half of it. The driver says so after _begin */
    bool dry, asking;                    /* asking: an ASK is not answered yet */
    bool ran;                            /* entries, since it last asked before it was dry */
    bool refused;                        /* an ASK, and nothing has been shown since */
    bool wanted;                         /* as the driver was told */
    bool owes;                           /* a report to the parent, or the root its first probe */
    bool unheard;                        /* a report: what changes meanwhile goes into the next one */
    bool ended, alarmed;                 /* alarmed: has told all others of a lost node */
    uint64_t sums[BL__CLUSTER_SUMS];     /* of this node and of what its children have reported */
    uint64_t reported[BL__CLUSTER_SUMS]; /* to the parent; at the root, `sums` when the last probe began */
} bl__cluster_node;

/* Begins a run: the node is busy until _dry. `nodes` is at most BL__CLUSTER_NODES_MAX. All nodes use the same `run`. */
void bl__cluster_begin(bl__cluster_node *n, uint32_t number, uint32_t nodes, uint32_t run, uint32_t most,
                       uint32_t seed);

/* ---- events. Each sets `out` to what is to be done ---- */

/* `count` entries may be given away; replaces what was said before. A driver that runs entries that it has shown says
 * so first. */
void bl__cluster_shows(bl__cluster_node *n, uint32_t count, bl__cluster_orders *out);
/* The node has run entries, or has another reason to ask once more. A driver gives such reasons more and more
 * seldom. */
void bl__cluster_ran(bl__cluster_node *n);
/* The node will soon have nothing to do. May be repeated. */
void bl__cluster_low(bl__cluster_node *n, bl__cluster_orders *out);
/* The node has neither entries nor tasks in progress, and has passed on every result that belongs elsewhere. */
void bl__cluster_dry(bl__cluster_node *n, bl__cluster_orders *out);
/* `count` results belong to node `home`. */
void bl__cluster_results(bl__cluster_node *n, uint32_t home, uint32_t count, bl__cluster_orders *out);
void bl__cluster_receive(bl__cluster_node *n, uint32_t from, const bl__cluster_message *m, bl__cluster_orders *out);
/* The driver has lost node `who`. For every lost node it is enough to tell one of those that remain, even if the run is
 * over there. */
void bl__cluster_lost(bl__cluster_node *n, uint32_t who, bl__cluster_orders *out);

#endif
