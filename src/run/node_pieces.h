/* What is left of a run at each of its nodes when it is stopped for a checkpoint, and how that becomes one whole, as a
 * run of one node would have left it. So a checkpoint does not show how many nodes there were.
 *
 * A piece is plain bytes, to be sent to another process:
 *
 *     head       sizes
 *     records    those in use
 *     homes      where results of entries from other nodes go (cluster/homes.h)
 *     entries    those of the inlet included
 *     numbers    of the records
 *     results    of roots, at node 0
 */
#ifndef BALLAST_NODE_PIECES_H
#define BALLAST_NODE_PIECES_H

#include "internal.h"

typedef struct bl__job bl__job;

typedef struct bl__piece {
    uint64_t bytes; /* of all of it */
    uint32_t entries, records, homes, results;
} bl__piece;

/* Of a job whose nodes have all stopped; nothing is under way. `complete`: it has nothing but results. NULL: no
 * memory. */
bl__piece *bl__piece_make(bl__job *j, bool complete);

/* All that is left, at one node. */
typedef struct bl__whole {
    uint32_t entries, record_capacity;
    uint32_t *flat;
    unsigned char *records, *results;
} bl__whole;

/* `pieces`: of all nodes, in their order. */
int bl__whole_make(bl_context *c, const bl_program *program, const bl__piece *const *pieces, uint32_t count,
                   bl__whole *whole);
void bl__whole_free(bl__whole *whole); /* again is fine */

#endif
