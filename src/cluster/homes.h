/* Where the results of entries from other nodes go, and the results that have come home (parts/outside.h): one struct
 * for each node, which its driver guards.
 *
 * An entry leaves its node as it is: the word that says where its results go is the number of a record there. The node
 * that receives it remembers that number and the sender, the entry's home, and writes the number of what it remembers
 * into the entry. If the entry moves on to a third node, its home is the second: results return the way that the
 * entry came. Roots need none of this, because their numbers mean the same at every node, and their home is node 0. */
#ifndef BALLAST_CLUSTER_HOMES_H
#define BALLAST_CLUSTER_HOMES_H

#include "internal.h"

#include <ballast/parts/outside.h>

typedef struct bl__home {
    uint32_t node, join;   /* join: in one that is free, the next free one */
    uint32_t begin, count; /* which children of that record */
} bl__home;

typedef struct bl__homes {
    uint32_t join_at;      /* the word of an entry that says where its results go; 0: the program has none */
    uint32_t result_bytes; /* of one */
    bool sums;             /* they only add up */
    bl__home *list;
    uint32_t used, room, free; /* free: the first, or BL__NO_HOME */
    struct bl__arrival *first, *last;
} bl__homes;

/* For a run: there is nothing. */
void bl__homes_begin(bl__homes *h, const bl_program *program);
void bl__homes_end(bl__homes *h);

/* The entry has come from node `from`. False: no memory, and nobody will have its results. */
bool bl__homes_import(bl__homes *h, uint32_t from, uint32_t *entry);
/* Whose results bl__node_returns was given: from now on `join` says nothing any more. */
bl__home bl__homes_leave(bl__homes *h, uint32_t join);
/* Some of them, or their sum: those of home->count children from home->begin on; `results` as bl__node_returns has
 * them. NULL: no memory. */
bl__parcel *bl__homes_pack(const bl__homes *h, const bl__home *home, const void *results);
/* One that has come from another process: plain bytes, results included. NULL: no memory. */
bl__parcel *bl__parcel_copy(const void *bytes);
void bl__parcel_free(bl__parcel *parcel); /* NULL is fine */

/* Those that have arrived. */
void bl__homes_put(bl__homes *h, bl__parcel *parcel);
bl__parcel *bl__homes_take(bl__homes *h); /* NULL: none is left */

#endif
