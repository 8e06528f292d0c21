/* One run on its way: what it owns, and what the files that make it need of each other.
 *
 *   calls.c        bl_run and its like
 *   async.c        what is started and waited for later
 *   nodes.c        a run of several nodes
 *   run.c          plans, launches until nothing is left
 *   left.c         what a run that ends early has not run
 *   node_pieces.c  the same of several nodes, for a checkpoint of all of them
 *   waves.c        the launches of the static and list schedulers
 *   begin.c        from the roots or from a checkpoint; and stopping before the end
 *   launch.c       one launch, and what its workers counted
 *   records.c      join records
 *   reuse.c        what a run leaves for the next one
 *   extras.c       what CPU workers keep in memory of their own
 *   misuse.c       what a task did wrong, in words
 *   log.c          BALLAST_LOG
 *   phases.c       ranges for Nsight
 *   submit.c       what comes from outside during a run, and the answers to it
 *   buffers.c      memory on the device
 *
 * A file calls only files below it in this list. */
#ifndef BALLAST_JOB_H
#define BALLAST_JOB_H

#include "cluster/raid.h"
#include "internal.h"

typedef struct bl__buffer {
    void *memory;
    size_t bytes; /* asked for, ... */
    size_t room;  /* ... and there */
} bl__buffer;

/* What the host reads after a launch. The results of the roots lie behind it, and then the workers' tallies. */
typedef struct bl__launch_report {
    bl__control control;
    bl__totals totals;
} bl__launch_report;
_Static_assert(sizeof(bl__launch_report) < BL__READ_BACK, "the report can be read back");
enum { BL__RESULTS_OF_ROOTS = (sizeof(bl__launch_report) + BL_LINE - 1) / BL_LINE * BL_LINE };

/* Everything one run owns. */
typedef struct bl__job {
    bl_context *c;
    bl__plan plan;
    bl__run run;
    const void *shared;
    bl_stats stats;
    bl__buffer state; /* a bl__launch_report and what lies behind it */
    bl__buffer spill, memory, queues, pool, flat, total, in, in_first, out, out_first;
    bl__buffer records, free_records, spares;
    bl__buffer dealt;             /* roots of each queue, where config.place says; ... */
    uint32_t most_dealt;          /* ... and the most that one has */
    bl__totals totals;            /* of the workers, after the last launch */
    bool reused;                  /* its records are those of an earlier run */
    bool cleared;                 /* `state` is all zero */
    bool over;                    /* nothing is left: all queues are empty, and all records free */
    bool wide;                    /* results of forks may lie outside of their records */
    bool again;                   /* a repeated run: it was complete when the checkpoint to resume was written */
    bool checkpoints;             /* are written */
    bool first;                   /* of several nodes, which keeps the files and the time; or the only one */
    const struct bl__whole *from; /* what it resumes; NULL: it begins with its roots */
    int fails;                    /* and ends at once, if this is not BL_OK */
    bool drained;                 /* all that is left lies in flat or in the in-array */
    struct bl__job *next;         /* abandoned */
    uint64_t bytes;
    uint32_t entries;            /* in flat, or in the in-array */
    uint32_t roots, first_root;  /* of all nodes; the number of the first one here */
    double begun, checkpoint_at; /* on bl__now */
    const char *phase;           /* that the profiler shows; NULL: none */
    bl_stats before;             /* of what was run before the checkpoint that this run resumes from */
    _Alignas(16) unsigned char read_back[BL__READ_BACK]; /* as much of `state` as there is room for, after a launch */
} bl__job;

static inline size_t bl__results_bytes(const bl__job *j) { return (size_t)j->plan.program->result_bytes * j->roots; }

/* Whether it is an error for which workers have ended by themselves. */
static inline bool bl__stopped_by_task(int status) {
    return status == BL_ETASK || status == BL_EMISUSE || status == BL_ENOMEM || status == BL_ETOOMANY;
}

/* A launch for every wave, or one until nothing is left. */
static inline bool bl__in_waves(const bl__job *j) { return j->plan.traits & BL_TRAIT_WAVES; }

/* ---- run.c ---- */

/* What bl_run and its like are asked for. */
typedef struct bl__request {
    const bl_program *program; /* as the caller gives it, and then the part for the device; ... */
    const bl_program *whole;   /* ... with several nodes, all of it */
    const void *shared, *roots;
    uint32_t count; /* of roots */
    uint64_t range; /* indices of each; more than 1 only of a single root */
    bool results_wanted;
    void *results;
    bool reduces;  /* bl_run_reduce: `range` indices, in blocks; roots is the user's part of the payload */
    bool open;     /* to submissions */
    bool rootless; /* a node other than the one that has the roots: there are `count` of them */
    bool goes_on;  /* after a checkpoint that several nodes have written, ... */
    const struct bl__whole *from; /* ... at the first node with this, ... */
    int fails;                    /* ... which could not be written: it ends at once */
    uint32_t first, others; /* of several processes with roots: the number of the first root here, and how many others
                             * there are */
} bl__request;

/* Of each kind of call; a loop's payload is its only root. */
static inline bl__request bl__request_roots(const bl_program *program, const void *shared, const void *roots,
                                            uint32_t count) {
    return (bl__request){.program = program, .shared = shared, .roots = roots, .count = count, .range = 1};
}
static inline bl__request bl__request_range(const bl_program *program, const void *shared, const void *payload,
                                            uint64_t range) {
    return (bl__request){.program = program, .shared = shared, .roots = payload, .count = 1, .range = range};
}
static inline bl__request bl__request_results(bl__request q, void *results) {
    q.results_wanted = true;
    q.results = results;
    return q;
}
static inline bl__request bl__request_reduction(bl__request q, void *result) {
    q.reduces = true;
    return bl__request_results(q, result);
}

/* Of all roots, as the caller gives them. */
static inline size_t bl__request_bytes(const bl__request *q) {
    return q->count * (size_t)(q->program->loop_at ? q->program->loop_at : q->program->payload_bytes);
}

/* The part of the program for the device. */
int bl__request_part(const bl_context *c, bl__request *q, bl_context *told);
/* Whether it can be done, and with which part of the program. `told`: whose bl_error_detail says why not. */
int bl__request_check(const bl_context *c, bl__request *q, bl_context *told);
/* Within a call: all of it. `stats` may be NULL. */
int bl__request_run(bl_context *c, const bl__request *q, bl_stats *stats);
/* The parts of a run so far, and one more. */
void bl__stats_next(bl_stats *all, const bl_stats *part);
/* As much as the caller has room for. `to` may be NULL. */
void bl__stats_give(const bl_context *c, bl_stats *to, const bl_stats *from);

/* ---- left.c ---- */

int bl__give_left(bl__job *j); /* to config.left; and counts it. Only where j->drained */

/* ---- waves.c ---- */

int bl__run_waves(bl__job *j, uint32_t tasks);

/* ---- begin.c ---- */

/* All that there is to do into flat, or for a loop of range stealing into the run; in_first and *tasks for waves. */
int bl__begin(bl__job *j, const void *roots, uint32_t count, uint32_t range, uint32_t *tasks);
/* Between two launches, with all that is left in flat or in the in-array. Writes a checkpoint if it is time. Not
 * BL_OK: the run ends here. */
int bl__look_up(bl__job *j);
/* A run as a checkpoint would have it, without what is left. */
bl__rest bl__this_run(const bl_context *c, const bl_program *program, uint32_t roots);

/* ---- launch.c ---- */

/* Tasks that a group runs together: a warp's lanes one each, or a piece of the size asked for. */
uint32_t bl__tasks_at_once(const bl__job *j);
int bl__launch(bl__job *j, bl__control *after);
void bl__add_up(bl__job *j); /* the workers' counters into the statistics */

/* ---- records.c ---- */

int bl__first_records(bl__job *j);                   /* before the workers start: some for each, besides those in use */
int bl__make_records(bl__job *j, uint64_t capacity); /* so many in all, those in use where they were */
int bl__records_for_wave(bl__job *j, uint32_t tasks); /* waves cannot pause */

/* ---- reuse.c ---- */

/* True: the run has what another one left. */
bool bl__reuse_state(bl__job *j, size_t bytes);
bool bl__reuse_queues(bl__job *j);
bool bl__reuse_records(bl__job *j, uint32_t capacity);
void bl__leave_for_reuse(bl__job *j);

/* ---- extras.c ---- */

void bl__extras_start(bl__job *j); /* before the first launch */
uint64_t bl__extras_count(const bl__job *j);
void bl__extras_take(bl__job *j, uint32_t *entries); /* all of them, with room for so many */
uint64_t bl__extras_bytes(const bl__job *j);         /* memory for the most that there were */
void bl__extras_end(bl__job *j);

/* ---- misuse.c ---- */

int bl__say_failure(bl__job *j, const bl__control *after); /* BL_ETASK */
int bl__say_misuse(bl__job *j, uint64_t misuse);           /* as in bl__control; BL_EMISUSE */

/* ---- log.c ---- */

void bl__log_run(const bl_context *c, const bl_program *program, const bl_stats *stats, int status);

/* ---- phases.c ---- */

void bl__phase_show(bl__job *j, const char *name) __attribute__((cold)); /* nobody looks, most of the time */

/* The run is now in this phase, and no longer in the one before; NULL: it is over. The name stays the caller's. */
static inline void bl__phase(bl__job *j, const char *name) {
#ifdef BL_HAVE_NVTX
    if (j->c->profiler)
        bl__phase_show(j, name);
#else
    (void)j, (void)name;
#endif
}

/* ---- submit.c ---- */

/* Before the run: from now on payloads can be submitted. */
int bl__inlet_start(bl_context *c, const bl_program *program, bl_context *told);
/* The same for a node, which gets entries from others, so many at most that no worker has taken yet. `given`: a power
 * of two, and how many its workers may give that the host has not taken. `roots`: of the run, at all nodes. */
int bl__inlet_make(bl_context *c, const bl_program *program, uint32_t entries, uint32_t given, uint32_t roots,
                   void *node, bl_context *told);
void bl__inlet_join(bl__job *j);                             /* the run that was opened begins */
bool bl__results_are_here(const bl_context *c);              /* those of its roots, in memory of the host */
void bl__inlet_begins(bl__job *j);                           /* workers are about to look at it, ... */
void bl__inlet_pauses(bl__job *j, const bl__control *after); /* ... and have stopped */
/* What nobody has taken: the next of them, or NULL. Workers have stopped, and nothing more comes. */
const uint32_t *bl__inlet_left(bl__job *j);
void bl__inlet_end(bl_context *c, int status); /* of the run; again is fine */
bool bl__inlet_is_done(bl_context *c);         /* closed and empty. Workers have stopped */

/* Of a node, by src/cluster/local.c. */
/* stride: words from one to the next; entries NULL: one without tasks. */
void bl__inlet_put(bl_context *c, const uint32_t *entries, uint32_t stride, uint32_t count);
void bl__inlet_is_wanted(bl_context *c, bool wanted); /* what its workers have: another node is out of work */
void bl__inlet_rouse(bl_context *c);                  /* one of its workers that are asleep */
/* bl__raid, if none of its workers is idle. */
bl__loot bl__inlet_raid(bl_context *c, bl__raider *r, uint32_t join_at, const bl__rows *rows);
void bl__inlet_finish(bl_context *c); /* nothing more will come */
void bl__inlet_halt(bl_context *c);   /* its workers stop, and the run ends early */

/* ---- nodes.c ---- */

/* bl__request_check and bl__request_run for a context that may have several nodes. */
int bl__nodes_check(bl_context *c, bl__request *q, bl_context *told);
int bl__nodes_run(bl_context *c, const bl__request *q, bl_stats *stats);

/* ---- buffers.c ---- */

/* At least so large; what was there is lost if it has to grow. */
int bl__ensure(bl__job *j, bl__buffer *b, size_t bytes);
void bl__release(bl__job *j, bl__buffer *b);
void bl__count_bytes(bl__job *j, size_t more);
uint32_t bl__power_of_two(uint64_t at_least); /* at most 2^31 */

#endif
