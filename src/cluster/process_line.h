/* What leads from the nodes of this process to those of others: src/cluster/ranks.c owns it, local.c sends and hears.
 * Guarded by the lock of the nodes here. */
#ifndef BALLAST_CLUSTER_PROCESS_LINE_H
#define BALLAST_CLUSTER_PROCESS_LINE_H

#include <ballast/link.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct bl__line {
    bl_link link;
    uint32_t *firsts;        /* the number of the first node of each process, and how many there are in all */
    void *sending, *arrived; /* letters, with room for entries or results behind them: bl__local_start makes them */
    size_t room;             /* so many bytes each */
    uint64_t sent, received; /* letters, in this run */
    uint64_t heard;          /* when somebody last listened, on bl_clock, read without the lock; ... */
    uint64_t by_worker;      /* ... and when a worker did */
    bl_traffic traffic;
    pthread_cond_t stirs; /* there is more reason than before to listen: `stirred` */
    bool stirred;
    /* Collective, after all nodes here have stopped, without the lock: waits until those of all processes have and
     * nothing is under way. True: results have come home to some, and workers must see to them. */
    bool (*settle)(struct bl__line *line);
} bl__line;

#endif
