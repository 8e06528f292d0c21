/* The simulated machine: blocks of lanes on one OS thread, interleaved at every atomic operation. Two ways to use it:
 *
 *   bl_sim_run   one run of a program of any size, sequentially consistent: a seed decides who goes on, or virtual time
 *   bl_explore   all executions of a small program under a weak memory model: a model checker
 *
 *   machine.c    fibers, warps and blocks, the run from start to end
 *   schedule.c   who goes on: from a seed, by virtual time, or replayed
 *   memory.c     what a load returns, and who sleeps on which word; sequentially consistent
 *   exploring.h  how the machine hands its operations to an exploration, which is a library of its own:
 *   explore.c    an exploration: its fibers, and the search over who goes on
 *   reduce.c     what of it need not be tried
 *   views.c      its memory: the model, what it claims and what it cannot show
 *   order.c      the order of seq_cst operations in it
 *   sites.c      the operations that were explored, by file and line, and their mutants
 *   trace.c      schedules as one line, executions as a table
 *
 * platform/sim.h forwards to machine and memory. Each part sees of the others what is declared below or in explore.h,
 * no more.
 *
 * Machines on different OS threads are independent. A host thread may change words of a running machine, which then is
 * no longer a function of its seed; not during an exploration. */
#ifndef BALLAST_SIM_H
#define BALLAST_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fibers are numbered block * lanes + lane. A decision is the number of the fiber that goes on. Decisions are made at
 * every scheduling point, at the start, and where a fiber sleeps or ends. */
typedef struct bl_sim_options {
    uint64_t seed;
    bool timed;             /* virtual time, see below */
    uint64_t makespan;      /* out, if timed: the highest clock */
    const uint32_t *replay; /* if set: decisions to follow, then the seed; one that cannot be followed is the seed's */
    size_t replay_count;
    uint32_t *record; /* if set: gets the decisions made, as many as fit */
    size_t record_capacity;
    size_t record_count;     /* out */
    uint64_t max_points;     /* stop after so many scheduling points; 0: never */
    int (*watch)(void *arg); /* if set: called every 65536 points on the caller's stack; not 0: stop */
    void *watch_arg;
} bl_sim_options;

typedef enum bl_sim_result { BL_SIM_DONE, BL_SIM_DEADLOCK, BL_SIM_LIMIT, BL_SIM_STOPPED, BL_SIM_NOMEM } bl_sim_result;

typedef void (*bl_sim_body)(void *arg, uint32_t block, uint32_t lane);

/* Runs body(arg, block, lane) on blocks * lanes fibers until all have returned. After any result but DONE the remaining
 * fibers are gone in the middle of what they did. options may be NULL. */
bl_sim_result bl_sim_run(uint32_t blocks, uint32_t lanes, bl_sim_body body, void *arg, bl_sim_options *options);
/* The clock goes on from run to run; after this it begins anew, so that the same seed gives the same times. */
void bl_sim_start_clock(void);

/* Virtual time. Every fiber has a clock, all begin at 0, and the fiber with the lowest one goes on; the seed breaks ties. So fibers run at
 * the same time, as on a real machine, and the run takes as long as the highest clock says: the makespan.
 *
 *   an operation on memory, bl_clock   1 tick
 *   bl_spend(n)                        n ticks: the work of a task
 *   bl_backoff(tries)                  2, 4, 8, ... and 32 ticks at most
 *   bl_wait_change                     until the store that ends it
 *   a meeting of lanes                 until the last has come
 *
 * The seed adds up to an eighth of each cost, and up to one tick. bl_clock and bl_time tell the fiber's own clock.
 *
 * For the runs of device "sim" that this thread starts from now on; bl_stats.seconds then has the makespan, a tick as a nanosecond. */
void bl_sim_use_time(bool timed);
bool bl_sim_uses_time(void);

/* ---- exploration ---- */

#define BL_EXPLORE_FIBERS 16u

/* One change to one operation of the source: another order, for a fence none at all, for bl_bump nothing added. */
typedef struct bl_mutant {
    uint32_t site;         /* 0: no mutant */
    uint8_t order, failed; /* bl__sim_order; failed: of a compare-and-swap that fails */
} bl_mutant;

typedef struct bl_explore_name {
    const void *at;
    size_t bytes;
    const char *text;
} bl_explore_name;

/* A zero is the default everywhere. */
typedef struct bl_explore_options {
    uint32_t lanes;                  /* per thread; 1 */
    void (*before)(void *arg);       /* sets up an execution, on the host */
    const char *(*after)(void *arg); /* checks it, on the host; NULL: right, else what is wrong */
    uint64_t max_executions;         /* no limit; those given up at max_steps count too */
    uint64_t max_pruned;             /* no limit: of those given up because others show the same */
    uint32_t preemptions;            /* the most in one execution; no limit */
    uint32_t max_steps;              /* of one execution; 4000, at most 16000 */
    uint32_t stale;                  /* how often one site of a thread reads the same store that is not the newest; 4 */
    bool sequential;                 /* sequentially consistent memory: a load returns the newest store */
    bool exhaustive;                 /* no reduction: every order of steps. To test the reduction with */
    bl_mutant mutant;
    const char *replay; /* one execution: this schedule, then newest stores and as few switches as possible */
    FILE *table;        /* if set: gets the execution that failed, or was replayed, thread by thread */
    const bl_explore_name *names;
    uint32_t name_count;
} bl_explore_options;

typedef struct bl_explore_result {
    uint64_t executions; /* from start to end */
    uint64_t pruned;     /* given up because others show the same */
    uint64_t cut;        /* given up at max_steps */
    uint64_t left_out;   /* old stores that no load was given because of options.stale */
    bool complete;       /* all was tried, but for what options.preemptions and options.stale leave out */
    bool failed;
    char failure[256];
    char schedule[8192]; /* of the execution that failed or was replayed, for options.replay */
} bl_explore_result;

/* Runs body(arg, thread, lane) in every way that the model allows, until all ways are seen or one is wrong: `after`
 * says so, plain data races, nobody can go on, or the body calls bl_explore_fail. Returns whether nothing was wrong.
 * The body must depend on nothing but memory that `before` sets up. When `after` looks memory has the newest values. */
bool bl_explore(uint32_t threads, bl_sim_body body, void *arg, const bl_explore_options *options,
                bl_explore_result *result);

/* In the body: this execution is wrong. Does not return. */
void bl_explore_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* In the body: what happened before what, as the memory model has it. Clocks say only what came first in one execution,
 * and of executions that differ in nothing else one is shown. */
typedef struct bl_moment {
    uint16_t fiber, clock[BL_EXPLORE_FIBERS];
} bl_moment;
void bl_explore_now(bl_moment *now);
bool bl_happened_before(const bl_moment *a, const bl_moment *b);

/* Sites are numbered from 1 in the order in which explorations met them. explored: by how many. */
typedef struct bl_site {
    const char *file;
    uint32_t line, bits;
    uint8_t op, order, failed; /* bl__sim_op, bl__sim_order */
    uint64_t explored;
} bl_site;

enum { BL_MUTANTS = 4 }; /* the most of one site */

uint32_t bl_site_count(void);
bl_site bl_site_get(uint32_t site);
uint32_t bl_site_mutants(uint32_t site, bl_mutant mutants[BL_MUTANTS]); /* how many: 0 where all is relaxed */
/* FILE:LINE OPERATION ORDER > ORDER, without folders; cut to fit. */
void bl_mutant_text(bl_mutant mutant, char *text, size_t bytes);
bl_mutant bl_mutant_find(const char *text); /* among the sites met so far; .site is 0 if there is none */

/* ---- between the parts ---- */

#define BL__NOBODY UINT32_MAX /* no fiber, or no place */

/* When a fiber goes on, in virtual time. */
typedef struct bl__turn {
    uint64_t clock;
    uint32_t tie; /* drawn anew whenever the clock moves */
} bl__turn;

/* The fibers that can go on, and the choice among them. */
typedef struct bl__schedule {
    bl_sim_options *options;
    uint64_t random;
    size_t decisions;
    uint32_t *runnable; /* dense, in no order; in virtual time a heap, the lowest clock first */
    uint32_t *place;    /* of each fiber in runnable, or BL__NOBODY */
    bl__turn *turns;    /* of each fiber; NULL: no virtual time */
    uint32_t count, fibers;
} bl__schedule;

bool bl__schedule_open(bl__schedule *s, uint32_t fibers, bl_sim_options *options); /* all fibers can go on */
void bl__schedule_close(bl__schedule *s);
void bl__schedule_add(bl__schedule *s, uint32_t fiber);
void bl__schedule_remove(bl__schedule *s, uint32_t fiber);
/* The next fiber, if there is any runnable. self: the one that ran, or BL__NOBODY; yields: rather not that one. */
uint32_t bl__schedule_next(bl__schedule *s, uint32_t self, bool yields);
/* Virtual time, and nothing without it: the fiber's clock moves on by about `ticks`, or to `until` if that is later. */
void bl__schedule_spend(bl__schedule *s, uint32_t fiber, uint64_t ticks);
void bl__schedule_delay(bl__schedule *s, uint32_t fiber, uint64_t until);

typedef struct bl__memory bl__memory;

bl__memory *bl__memory_open(uint32_t fibers);
void bl__memory_close(bl__memory *m);
/* The fibers first .. first + count - 1 have met: what each did before is known to all. */
void bl__memory_meet(bl__memory *m, uint32_t first, uint32_t count);
/* Wakes the sleepers whose word was changed by somebody who is no fiber. */
void bl__memory_recheck(bl__memory *m);

/* For the memory. A scheduling point; returns the memory of the machine that runs here, NULL outside of a run. */
bl__memory *bl__machine_point(void);
uint32_t bl__machine_self(void);
void bl__machine_sleep(void); /* until somebody wakes it */
void bl__machine_wake(uint32_t fiber);

#ifdef __cplusplus
}
#endif

#endif
