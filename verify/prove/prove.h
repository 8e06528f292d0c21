/* What ballast_prove was asked to do. */
#ifndef BALLAST_PROVE_PROVE_H
#define BALLAST_PROVE_PROVE_H

#include "client.h"

typedef struct prove_options {
    uint64_t budget;    /* executions of a client */
    uint64_t allowance; /* executions for one mutant with one queue */
    uint32_t workers;
    uint32_t every;  /* 1: all clients, else every so many-th */
    uint32_t bound;  /* preemptions, for a client that is cut */
    bool all;        /* no queue was named */
    bool verbose;    /* print who kills each mutant */
    uint64_t queues; /* mask */
    const char *reasons;
} prove_options;

static inline bool prove_wanted(const prove_options *o, uint32_t queue) {
    return o->queues >> queue & 1 && prove_queues[queue].kind != BL_KIND_CEILING;
}

/* The clients of all wanted queues in one array, thinned. */
prove_client *prove_all_clients(const prove_options *o, uint32_t *count);

/* Termination, sleep and wake-up: 0 if nothing is wrong; whether some client finds this mutant. */
int prove_protocols(const prove_options *o);
bool prove_protocols_kill(bl_mutant mutant, uint64_t budget, bl_explore_result *result);

int prove_mutants(const prove_options *o);

#endif
