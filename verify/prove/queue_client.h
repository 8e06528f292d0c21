/* ballast_prove: every small client of every queue, explored under weak memory, and mutants of the queues.
 *
 *   queues.c             the queues as a table
 *   queue_clients.c      the clients, enumerated
 *   queue_client.c       one execution of a client, and what must be true of it
 *   linearize_partial.c  linearizability under happens-before
 *   known.c              known properties of a queue that are not errors
 *   workers.c            processes that share a list of jobs
 *   mutants.c            the mutants of the operations that clients reach, and the reasons why some may survive
 *   unmet.c              operations that no client reaches
 *   families.c           what else is explored, with separate clients:
 *     termination.c        termination, sleep and wake-up, pauses
 *     meetings.c           between two waves
 *     boards.c             entries that blocks share
 *     warps.c              entries and free records that the lanes of a warp move together
 *     joins.c              join records, dependencies
 *     gate.c               private stacks that thieves can reach
 *     lookout.c            the lookout for busy workers, and sleep
 *     ranges.c             ranges
 *     pool.c               the entry pool
 *     scheduler_runs.c     schedulers as a whole, in real runs on a device whose launches are explored
 *     explored_tree.c      their tasks, with every scheduler and queue
 *     pagerank_steps.c     how apps/pagerank passes values from step to step
 *   prove.c              what is run and printed
 *
 * A client is a queue of `capacity` with `filled` items in it and a script per thread, one letter a call:
 *   + push    - pop    s steal    P, O, S the same with _n for two items    n size
 * and if the queue has it
 *   R push in place (reserve, publish)    C pop in place (claim, release)    c close */
#ifndef BALLAST_PROVE_QUEUE_CLIENT_H
#define BALLAST_PROVE_QUEUE_CLIENT_H

#include "explorer/explorer.h"
#include <ballast/generated/queues.h>

enum { PROVE_THREADS = 3, PROVE_CALLS = 4, PROVE_TEXT = 96 };
enum { PROVE_WORDS = 2, PROVE_MOST = 4, PROVE_ITEMS = 1 + PROVE_MOST + PROVE_THREADS * 2 * PROVE_CALLS };

#define PROVE_MEMBER(q) q q##_view;
typedef union prove_view {
    BL_QUEUES(PROVE_MEMBER)
} prove_view;
#undef PROVE_MEMBER

typedef struct prove_queue {
    const char *name;
    uint32_t kind, flags, by_handle, least;
    size_t (*bytes)(bl_shape shape);
    void (*bind)(prove_view *v, void *memory, bl_shape shape, uint32_t thread);
    void (*init)(prove_view *v, uint32_t start);
    bl_outcome (*push)(prove_view *v, const uint32_t *item);
    bl_outcome (*pop)(prove_view *v, uint32_t *item), (*steal)(prove_view *v, uint32_t *item);
    uint32_t (*push_n)(prove_view *v, const uint32_t *items, uint32_t n);
    uint32_t (*pop_n)(prove_view *v, uint32_t *items, uint32_t n),
        (*steal_n)(prove_view *v, uint32_t *items, uint32_t n);
    uint32_t (*size)(const prove_view *v);
} prove_queue;

/* Operations that only some queues have; NULL otherwise. */
typedef struct prove_more {
    const char *queue;
    bl_outcome (*put)(prove_view *v, const uint32_t *item, uint32_t words);
    bl_outcome (*get)(prove_view *v, uint32_t *item, uint32_t words);
    void (*close)(prove_view *v);
} prove_more;

const prove_more *prove_more_of(uint32_t queue);

extern const prove_queue prove_queues[];
extern const uint32_t prove_queue_count;

typedef struct prove_client {
    uint32_t queue, start;
    uint8_t threads, capacity, filled, calls;
    bool deep; /* one of deep.txt, explored further */
    char script[PROVE_THREADS][PROVE_CALLS + 1];
} prove_client;

/* All clients of a queue, cheapest first; the caller frees them. NULL: out of memory. */
prove_client *prove_clients(uint32_t queue, uint32_t *count);
/* QUEUE CAPACITY START FILLED SCRIPT|SCRIPT */
void prove_client_text(const prove_client *c, char text[PROVE_TEXT]);
bool prove_client_parse(const char *text, prove_client *c);

typedef struct prove_limits {
    uint64_t executions;
    uint32_t preemptions; /* 0: no bound */
    bool sequential;      /* sequentially consistent, calls ordered by one clock */
    bl_mutant mutant;
    const char *replay;
} prove_limits;
bl_explore_options prove_explore_options(const prove_limits *limits, void (*before)(void *),
                                         const char *(*after)(void *));

/* The contents of known.txt. */
bool prove_read_known(const char *file);
bool prove_is_apart(uint32_t queue);
const char *prove_is_known(uint32_t queue, const char *failure); /* the reason, or NULL */

/* Explores one client; returns whether nothing failed. */
bool prove_explore(const prove_client *c, const prove_limits *limits, bl_explore_result *result);
/* Call before the first: a queue that hangs on the host, at rest, then counts as an error instead of hanging the
 * prover. */
void prove_guard(void);

#endif
