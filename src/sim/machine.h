/* The simulated machine: blocks of lanes on one OS thread, interleaved at every atomic operation. bl_sim_run runs a
 * program of any size, sequentially consistent: a seed, or virtual time, decides which fiber runs next.
 *
 *   memory.c     what a load returns; sequentially consistent
 *   machine.c    fibers, warps and blocks, the run from start to end
 *   schedule.c   which fiber runs next: from a seed, by virtual time, or replayed
 *   sleepers.c   which fiber sleeps on which word
 *   exploring.h  how the machine hands its operations to an exploration (verify/explorer), which is a library of its
 *                own
 *
 * platform/sim.h forwards to machine and memory. Each part sees of the others what is declared below, no more.
 *
 * Machines on different OS threads are independent. A host thread may change words of a running machine, which then is
 * no longer a function of its seed. */
#ifndef BALLAST_SIM_MACHINE_H
#define BALLAST_SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fibers are numbered block * lanes + lane. A decision is the number of the fiber that runs next. Decisions are made at
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
/* The clock continues from run to run; after this it begins anew, so that the same seed gives the same times. */
void bl_sim_start_clock(void);

/* Virtual time. Every fiber has a clock, all begin at 0, and the fiber with the lowest one runs next; the seed breaks
 * ties. So fibers run at the same time, as on a real machine, and the run takes as long as the highest clock says: the
 * makespan.
 *
 *   an operation on memory, bl_clock   1 tick
 *   bl_spend(n)                        n ticks: the work of a task
 *   bl_backoff(tries)                  2, 4, 8, ... and 32 ticks at most
 *   bl_wait_change                     until the store that ends it
 *   a meeting of lanes                 until the last has come
 *
 * The seed adds up to an eighth of each cost, and up to one tick. bl_clock and bl_time tell the fiber's own clock.
 *
 * For the runs of device "sim" that this thread starts from now on; bl_stats.seconds then has the makespan, a tick
 * as a nanosecond. */
void bl_sim_use_time(bool timed);
bool bl_sim_uses_time(void);

/* ---- between the parts ---- */

#define BL__NOBODY UINT32_MAX /* no fiber, or no place */

/* When a fiber runs next, in virtual time. */
typedef struct bl__turn {
    uint64_t clock;
    uint32_t tie; /* drawn anew whenever the clock moves */
    uint32_t fiber;
} bl__turn;

/* The fibers that can run, and the choice among them. */
typedef struct bl__schedule {
    bl_sim_options *options;
    uint64_t random;
    size_t decisions;
    uint32_t *runnable; /* dense, in no order */
    bl__turn *heap;     /* the same in virtual time: the lowest clock first */
    uint32_t *place;    /* of each fiber in either, or BL__NOBODY */
    bl__turn *turns;    /* of each fiber; NULL: no virtual time */
    uint32_t count, fibers;
} bl__schedule;

bool bl__schedule_open(bl__schedule *s, uint32_t fibers, bl_sim_options *options); /* all fibers can run */
void bl__schedule_close(bl__schedule *s);
void bl__schedule_add(bl__schedule *s, uint32_t fiber);
void bl__schedule_remove(bl__schedule *s, uint32_t fiber);
/* The next fiber, if there is any runnable. self: the one that ran, or BL__NOBODY; yields: rather not that one. */
uint32_t bl__schedule_next(bl__schedule *s, uint32_t self, bool yields);
/* Virtual time, and nothing without it: the fiber's clock moves on by about `ticks`, or to `until` if that is later. */
void bl__schedule_spend(bl__schedule *s, uint32_t fiber, uint64_t ticks);
void bl__schedule_delay(bl__schedule *s, uint32_t fiber, uint64_t until);

/* For the memory. A scheduling point; returns the sleepers of the machine that runs here, NULL outside of a run. */
struct bl__sleepers *bl__machine_point(void);
uint32_t bl__machine_self(void);
void bl__machine_sleep(void); /* until somebody wakes it */
/* A list as bl__sleepers_changed returns it. */
void bl__machine_wake(uint32_t first);

#ifdef __cplusplus
}
#endif

#endif
