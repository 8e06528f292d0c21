/* The command line of ballast_prove. */
#ifndef BALLAST_PROVE_PROVE_H
#define BALLAST_PROVE_PROVE_H

#include "queue_client.h"

enum { PROVE_DEEPER = 50 }; /* the budget of a client of deep.txt relative to that of an ordinary one */

typedef struct prove_options {
    uint64_t budget;    /* executions per client */
    uint64_t allowance; /* executions per mutant and queue */
    uint32_t workers;
    uint32_t every;  /* 1: all clients, otherwise every n-th */
    uint32_t bound;  /* preemptions, for a client that exceeds its budget */
    bool all;        /* no queue was named */
    bool protocols;  /* these too */
    bool verbose;    /* print which client kills each mutant, and each client of a protocol */
    uint64_t queues; /* mask */
    const char *reasons;
    const char *only; /* mutants, or otherwise protocols, whose name matches this pattern; NULL: all */
} prove_options;

static inline bool prove_wanted(const prove_options *o, uint32_t queue) {
    return o->queues >> queue & 1 && prove_queues[queue].kind != BL_QUEUE_KIND_CEILING;
}

/* The clients of all selected queues in one array, thinned. */
prove_client *prove_all_clients(const prove_options *o, uint32_t *count);

/* What is explored besides the queues: protocols and parts. Each is a family of clients with its own notation. */
typedef struct prove_family {
    const char *name;
    uint32_t (*count)(void);
    void (*text)(uint32_t client, char text[PROVE_TEXT]);
    bool (*explore)(uint32_t client, const prove_limits *limits, bl_explore_result *result);
} prove_family;

extern const prove_family prove_termination, prove_joins, prove_gate, prove_lookout, prove_outside, prove_answers,
    prove_parcels, prove_ranges, prove_pool, prove_schedulers, prove_pagerank, prove_meetings, prove_boards,
    prove_warps, prove_endings;

/* All clients of all families, numbered from 0. */
uint32_t prove_protocol_count(void);
void prove_protocol_text(uint32_t client, char text[PROVE_TEXT]);
bool prove_protocol_find(const char *text, uint32_t *client);
bool prove_protocol_explore(uint32_t client, const prove_limits *limits, bl_explore_result *result);

/* Calls `found` for each ordered operation of the library's headers that no exploration so far has reached. */
typedef void (*prove_found)(void *arg, const char *file, uint32_t line);
void prove_unmet(prove_found found, void *arg);

/* By the worker that has ended a run: each of the tasks has left its mark, and this worker sees it. */
static inline void prove_all_done(const uint32_t *results, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t result;
        bl_data_read(&result, &results[i], 1);
        if (!result)
            bl_explore_fail("the end while a task is in flight");
    }
}

int prove_protocols(const prove_options *o); /* explores and prints all of them; 0 if nothing failed */
int prove_mutants(const prove_options *o);

#endif
