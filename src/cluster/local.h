/* The nodes of one process that share a run: how they use the protocol, and what they exchange. Node 0 is the context
 * that the user has. */
#ifndef BALLAST_CLUSTER_LOCAL_H
#define BALLAST_CLUSTER_LOCAL_H

#include "internal.h"

enum { BL__LOCAL_NODES_MAX = 16 };

/* NULL: no memory. */
bl__cluster *bl__local_open(bl_context *const *contexts, uint32_t count);
bl_context *bl__local_node(const bl__cluster *cluster, uint32_t i); /* NULL: there are not so many */
void bl__local_close(bl__cluster *cluster);                         /* leaves the contexts to the caller */

/* Before a run: its nodes know each other, and have nothing. */
int bl__local_start(bl__cluster *cluster, const bl_program *program, bl_context *told);
/* A node's workers have ended. If that was not because the run is over, the others end, too, and nothing moves any more:
 * what was about to is back in the inlet of its node. Again is fine. */
void bl__node_ends(bl_context *c, int status);
/* After the run: its status, and at which node that was decided. */
int bl__local_status(const bl__cluster *cluster, uint32_t *node);
/* Tasks that all nodes of a context have run. */
uint64_t bl__local_progress(const bl_context *c);

#endif
