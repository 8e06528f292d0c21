/* Runs that several processes share, over a link. */
#ifndef BALLAST_CLUSTER_RANKS_H
#define BALLAST_CLUSTER_RANKS_H

#include "internal.h"

#include <ballast/link.h>

/* Collective. `status`: how it went so far here; c is NULL if that was not well. BL_OK: it went well everywhere, and
 * the context is on the link. Otherwise bl_error_detail(NULL) says where it did not. */
int bl__ranks_open(bl_context *c, const bl_link *link, int status);
/* Collective, except of what was inherited by a fork. Before the cluster is closed. */
void bl__ranks_close(bl_context *c);
bool bl__ranks_are_several(const bl_context *c); /* the context is on a link, be it to nobody */
/* Which roots count: those of this process? */
bool bl__ranks_begin_here(const bl_context *c);

/* What all ranks must have in common for a run. */
typedef struct bl__terms {
    const bl_program *program; /* NULL: status tells why */
    uint64_t range;            /* of bl_run_range, else 1 */
    uint32_t count;            /* of roots */
    bool results_wanted;
} bl__terms;
/* Collective. `status`: whether this process can run it. BL_OK: all can, and they agree; the run has begun. */
int bl__ranks_agree(bl_context *c, const bl__terms *terms, int status);
/* The roots of the run that has begun: of all processes, and the number of the first that is of this one. */
uint32_t bl__ranks_roots(const bl_context *c, uint32_t *first);
/* A node's workers have ended, and so do all others (bl__local_ends). With a link or config.checkpoint: waits until
 * they have, and until nothing is in flight. Again is fine. */
void bl__node_ends(bl_context *c, int status);
/* The same for workers that were stopped, by the user, by the clock, or because another node has ended, and all that is
 * left is drained. True: with config.checkpoint, results have come home that workers have to see to. Start them once
 * more, and call this again. */
bool bl__node_restarts(bl_context *c, int status);
/* After that, the same at all nodes: how the run has ended; BL__PAUSE: it continues after a checkpoint. */
int bl__node_status(const bl_context *c);
/* Whether this node keeps the files and the time of the run: the first of the first process. */
bool bl__node_is_first(const bl_context *c);
/* Collective. The status of the run, which has ended here with `status`, and what each rank did. */
int bl__ranks_end(bl_context *c, int status, const bl_stats *here, const bl_stats **all);
/* After that, collective: gives this process its results, those of its own roots or of all that rank 0 had. `all`: at
 * rank 0, those of all roots. */
void bl__ranks_give_results(bl_context *c, const void *all, void *results);

/* ---- between two parts of a run that writes checkpoints ---- */

/* Whether the run under way does. */
bool bl__ranks_write(const bl_context *c);
/* Collective: rank 0 gets the bytes of all ranks, in new memory of its own. `status`: whether this process has any. */
int bl__ranks_collect(bl_context *c, const void *mine, uint64_t bytes, void **all, int status);
/* Collective: the status of rank 0, and what it says about it. */
int bl__ranks_hear(bl_context *c, int status);
/* Collective: the next part begins. */
int bl__ranks_resume(bl_context *c, const bl_program *program);
/* All know that the run has ended otherwise than bl__node_status says. */
void bl__ranks_decide(bl_context *c, int status);

#endif
