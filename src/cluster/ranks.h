/* Runs that several processes share, over a link. */
#ifndef BALLAST_CLUSTER_RANKS_H
#define BALLAST_CLUSTER_RANKS_H

#include "internal.h"

#include <ballast/link.h>

/* Collective. `status`: how it went so far here; c is NULL if that was not well. BL_OK: it went well everywhere, and the
 * context is on the link. Otherwise bl_error_detail(NULL) says where it did not. */
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
/* A node's workers have ended, and so do all others (bl__local_ends). With a link: waits until they have, and until
 * nothing is in flight. Again is fine. */
void bl__node_ends(bl_context *c, int status);
/* Collective. The status of the run, which has ended here with `status`, and what each rank did. */
int bl__ranks_end(bl_context *c, int status, const bl_stats *here, const bl_stats **all);
/* After that, collective: gives this process its results, those of its own roots or of all that rank 0 had. `all`: at
 * rank 0, those of all roots. */
void bl__ranks_give_results(bl_context *c, const void *all, void *results);

#endif
