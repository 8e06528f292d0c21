/* A simulated cluster: nodes that run src/cluster/protocol.c, a network between them, and a tree of entries to be run.
 *
 * One step of it is one action: a node runs an entry, a message arrives, a node is killed, another notices. The caller
 * decides which. The network keeps the order within a pair of nodes and delays everything as the caller likes. A world
 * lies in one block of memory without addresses, so that it can be copied, and compared.
 *
 * Running an entry spawns its children. If the tree has results, an entry returns one when its children have returned,
 * to the node that ran its parent; its late children are spawned only then, as by a join that forks again. */
#ifndef VERIFY_CLUSTER_WORLD_H
#define VERIFY_CLUSTER_WORLD_H

#include "cluster/protocol.h"

#include <stddef.h>

enum { WORLD_NONE = 0xffff, WORLD_ENTRIES_MAX = 0xfff0 };

typedef struct world_tree {
    uint32_t count;
    bool results;
    const uint16_t *parent;          /* WORLD_NONE: a root */
    const uint16_t *child, *sibling; /* the first child, the next child of the same parent, or WORLD_NONE */
    const uint8_t *late;             /* of each entry: spawned by the join of its parent */
    const uint16_t *where;           /* of each root: the node that has it at the start */
} world_tree;

typedef struct world_options {
    uint32_t nodes;
    uint32_t most; /* entries in a message */
    uint32_t seed;
    bool early;      /* nodes ask before they are dry */
    bool lazy;       /* nodes show entries only while they are wanted */
    uint64_t strong; /* nodes that take all that a victim shows, a bit each */
} world_options;

typedef enum world_act { WORLD_RUN, WORLD_DELIVER, WORLD_KILL, WORLD_NOTICE } world_act;

typedef struct world_action {
    world_act act;
    uint32_t node; /* that runs, receives, is killed, notices */
    uint32_t from; /* DELIVER: the sender; KILL: the only node that will notice */
    bool drop;     /* KILL: what the node has sent and has not arrived is lost, too */
} world_action;

typedef struct world_sums {
    uint64_t messages[BL__CLUSTER_KINDS];
    uint64_t entries; /* in messages */
    uint64_t idle;    /* messages sent after the last entry was run and the last result was taken */
} world_sums;

extern const char *const world_kinds[BL__CLUSTER_KINDS]; /* of messages, in words */

typedef struct world world;

size_t world_size(const world_options *o, const world_tree *t);
/* `memory` holds world_size bytes. The tree stays the caller's. */
world *world_begin(void *memory, const world_options *o, const world_tree *t);
void world_copy(world *to, const world *from);

/* Numbers of what can be done now: entry i of `nodes` that have work, of pairs with messages that can arrive. */
uint32_t world_runnable(const world *w);
uint32_t world_arriving(const world *w);
world_action world_run(const world *w, uint32_t i);
world_action world_deliver(const world *w, uint32_t i);
/* Whether somebody has yet to notice that a node was killed: that action. */
bool world_unnoticed(const world *w, world_action *a);
bool world_alive(const world *w, uint32_t node);

void world_do(world *w, world_action a);
/* What went wrong, NULL: nothing. Checks what must hold now, and, when nothing can be done any more, at the end. */
const char *world_wrong(world *w);

bool world_ended(const world *w); /* every node that lives */
const world_sums *world_counted(const world *w);
/* The generator of a node's victims, and the last one. */
uint32_t *world_random(world *w, uint32_t node);
uint32_t world_victim(const world *w, uint32_t node);
/* Two worlds behave alike in future if these agree. Leaves out the generators. */
void world_digest(const world *w, uint64_t digest[2]);
/* Writes the action, and with a message what it is, in words. */
void world_describe(const world *w, world_action a, char *text, size_t size);

#endif
