/* The explorer: all executions of a small program of the simulated machine (src/sim) under a weak memory model. A model
 * checker, for the prover and tests.
 *
 *   explore.c          an exploration: its fibers, and the search over which one runs next
 *   reduce.c           which decisions need not be tried
 *   views.c            its memory: the model, what it claims and what it cannot show
 *   order.c            the order of seq_cst operations in it
 *   sites.c            the operations that were explored, by file and line, and their mutants
 *   listing.c          schedules as one line, executions as a table
 *   explorer_parts.h   shared by these
 *
 * Explorations on different OS threads are independent. No host thread may change words of a running exploration. */
#ifndef BALLAST_EXPLORER_H
#define BALLAST_EXPLORER_H

#include "sim/machine.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BL_EXPLORE_FIBERS 16u

/* One change to one operation of the source: another order; for a fence possibly no fence at all; for bl_bump, no
 * addition. */
typedef struct bl_mutant {
    uint32_t site;         /* 0: no mutant */
    uint8_t order, failed; /* bl__sim_order; failed: of a failed compare-and-swap */
} bl_mutant;

typedef struct bl_explore_name {
    const void *at;
    size_t bytes;
    const char *text;
} bl_explore_name;

/* Zero is the default everywhere. */
typedef struct bl_explore_options {
    uint32_t lanes;                  /* per thread; 1 */
    void (*before)(void *arg);       /* sets up an execution, on the host */
    const char *(*after)(void *arg); /* checks it, on the host; NULL: correct, else what is wrong */
    uint64_t max_executions;         /* default: no limit; executions cut at max_steps count too */
    uint64_t max_pruned;             /* default: no limit; executions pruned because others show the same */
    uint32_t preemptions;            /* the most in one execution; default: no limit */
    uint32_t max_steps;              /* of one execution; default 4000, at most 16000 */
    /* how many times one site of a thread may read the same store that is not the newest; default 4 */
    uint32_t stale;
    bool sequential; /* sequentially consistent memory: a load returns the newest store */
    bool exhaustive; /* no reduction: every order of steps. For testing the reduction */
    bl_mutant mutant;
    const char *replay; /* one execution: this schedule, then the newest stores and as few switches as possible */
    FILE *table;        /* if set: receives the execution that failed, or was replayed, thread by thread */
    const bl_explore_name *names;
    uint32_t name_count;
} bl_explore_options;

typedef struct bl_explore_result {
    uint64_t executions; /* complete, from start to end */
    uint64_t pruned;     /* abandoned because others show the same */
    uint64_t cut;        /* abandoned at max_steps */
    uint64_t left_out;   /* old stores that no load returned because of options.stale */
    bool complete;       /* everything was tried, except what options.preemptions and options.stale exclude */
    bool failed;
    char failure[256];
    char schedule[8192]; /* of the execution that failed or was replayed, for options.replay */
} bl_explore_result;

/* Runs body(arg, thread, lane) in every way that the model allows, until all are seen or one is wrong: `after` says so,
 * there is a data race, no fiber can run, or the body calls bl_explore_fail. Returns whether nothing was wrong. The
 * body must depend only on memory that `before` sets up. When `after` is called, memory holds the newest values. */
bool bl_explore(uint32_t threads, bl_sim_body body, void *arg, const bl_explore_options *options,
                bl_explore_result *result);

/* In the body: reports that this execution is wrong. Does not return. */
void bl_explore_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* In the body: what happened before what, according to the memory model. Clocks only tell what came first in one
 * execution, and of executions that differ only in that, one is shown. */
typedef struct bl_moment {
    uint16_t fiber, clock[BL_EXPLORE_FIBERS];
} bl_moment;
void bl_explore_now(bl_moment *now);
bool bl_happened_before(const bl_moment *a, const bl_moment *b);

/* Sites are numbered from 1 in the order in which explorations reached them. explored: by how many. */
typedef struct bl_site {
    const char *file;
    uint32_t line, bits;
    uint8_t op, order, failed; /* bl__sim_op, bl__sim_order */
    uint64_t explored;
} bl_site;

enum { BL_MUTANTS = 4 }; /* the most mutants of one site */

uint32_t bl_site_count(void);
bl_site bl_site_get(uint32_t site);
uint32_t bl_site_mutants(uint32_t site, bl_mutant mutants[BL_MUTANTS]); /* how many: 0 if the site is relaxed */
/* FILE:LINE OPERATION ORDER > ORDER, without folders; truncated to fit. */
void bl_mutant_text(bl_mutant mutant, char *text, size_t bytes);
bl_mutant bl_mutant_find(const char *text); /* among the sites reached so far; .site is 0 if there is none */

#ifdef __cplusplus
}
#endif

#endif
