/* The nodes of one process that share a run: how they use the protocol, and what they exchange. Node 0 is the context
 * that the user has. */
#ifndef BALLAST_CLUSTER_LOCAL_H
#define BALLAST_CLUSTER_LOCAL_H

#include "cluster/process_line.h"
#include "internal.h"

#include <time.h>

enum { BL__LOCAL_NODES_MAX = 16 };

/* NULL: no memory. */
bl__cluster *bl__local_open(bl_context *const *contexts, uint32_t count);
bl_context *bl__local_node(const bl__cluster *cluster, uint32_t i); /* NULL: there are not so many */
void bl__local_close(bl__cluster *cluster);                         /* leaves the contexts to the caller */

/* Before a run with so many roots, or the next part of one: its nodes know each other, and have nothing. */
int bl__local_start(bl__cluster *cluster, const bl_program *program, uint32_t roots, bool goes_on, bl_context *told);
/* A node's workers are about to begin. */
void bl__local_begins(const bl__outside *ring);
/* Until those of one node have, or the run ends. */
void bl__local_await_begin(bl__cluster *cluster);
/* A node's workers have ended. If that was not because the run is over, the others end, too, and nothing moves any
 * more: what was about to is back in the inlet of its node. Again is fine. */
void bl__local_ends(bl_context *c, int status);
/* With config.checkpoint or other processes, after bl__local_ends: waits until the workers of all nodes have stopped.
 * True: results have come home to this node, and workers must see to them before a checkpoint can be written. `over`:
 * they cannot any more. Again is fine. */
bool bl__local_goes_on(bl_context *c, bool over);
/* Instead: the node has no thread, and never begins. */
void bl__local_misses(bl_context *c, int status);
/* After the run: its status, and at which node that was decided; BL_OK also if that was in another process. */
int bl__local_status(const bl__cluster *cluster, uint32_t *node);
bl__cluster *bl__local_of(const bl_context *c);   /* the cluster of any of its nodes; NULL: it is none */
bool bl__local_with_gpus(const bl_context *c);    /* among the nodes of its run, in all processes */
bool bl__local_keeps(const bl__cluster *cluster); /* checkpoints: what is under way when the run ends early */
/* Where results of entries from other nodes go, for the node of c; and its number. */
struct bl__homes;
const struct bl__homes *bl__local_homes(const bl_context *c, uint32_t *number);
/* Whether an early end with one status is to be told rather than one with another. */
bool bl__local_outranks(int status, int other);
const bl_traffic *bl__local_traffic(const bl__cluster *cluster, uint32_t i); /* of the last run */
/* Tasks that all nodes of a context have run. */
uint64_t bl__local_progress(const bl_context *c);

/* ---- other processes: for ranks.c ---- */

/* Before the first run; NULL: it has none after all. Then, when line->firsts is known, the nodes get their numbers. */
void bl__local_join(bl__cluster *cluster, bl__line *line);
void bl__local_number(bl__cluster *cluster, bool gpus); /* gpus: some process has one */
bool bl__local_has_gpus(const bl__cluster *cluster);    /* among the nodes here */
uint32_t bl__local_count(const bl__cluster *cluster);   /* of the nodes here */
bl__line *bl__local_line(const bl__cluster *cluster);   /* NULL: there is none, or no cluster */
void bl__local_lock(bl__cluster *cluster);
void bl__local_unlock(bl__cluster *cluster);
/* With the lock: */
bool bl__local_has_results(const bl__cluster *cluster); /* that wait for workers */
bool bl__local_hear(bl__cluster *cluster);              /* true: something had arrived */
/* Workers in long tasks do not come to give what other nodes want: takes it from them. */
void bl__local_relieve(bl__cluster *cluster);
bool bl__local_waits(const bl__cluster *cluster);                        /* for others, to get work */
bool bl__local_listens(const bl__cluster *cluster);                      /* busy workers do, so nobody else need */
void bl__local_rest(bl__cluster *cluster, const struct timespec *until); /* without it, until then or line->stirs */

#endif
