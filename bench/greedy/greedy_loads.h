/* Loads of the suite greedy: how long each task takes, how the tasks are created, and the time in which greedy workers
 * finish them. */
#ifndef BALLAST_BENCH_GREEDY_LOADS_H
#define BALLAST_BENCH_GREEDY_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum greedy_shape {
    GREEDY_SINGLY, /* one task spawns the others one by one */
    GREEDY_RANGE,  /* one task spawns them as one entry */
    GREEDY_ROOTS,  /* all exist when the run begins */
    GREEDY_LOOP,   /* bl_run_range, a call per index */
    GREEDY_PIECES, /* bl_run_range, a call per piece */
    GREEDY_TREE,   /* leaves of a binary tree of forks, whose results are summed */
    GREEDY_SHAPES
} greedy_shape;

extern const char *const greedy_shape_names[GREEDY_SHAPES];
int greedy_shape_find(const char *name); /* -1: unknown */

/* Methods of other libraries, in rows and on the screen. */
typedef enum greedy_peer {
    GREEDY_TBB_TASKS,
    GREEDY_TBB_FOR,
    GREEDY_TBB_SIMPLE,
    GREEDY_OPENMP_TASKS,
    GREEDY_OPENMP_TASKLOOP,
    GREEDY_OPENMP_FOR,
    GREEDY_PEERS
} greedy_peer;
extern const char *const greedy_peer_names[GREEDY_PEERS];

typedef struct greedy_load {
    uint32_t count;
    uint32_t *length; /* nanoseconds of each task */
} greedy_load;

/* The loads of many tasks, whose number grows with the workers. NULL past the end. */
const char *greedy_load_name(unsigned i);
/* By name: one of those, or a load of few, long tasks whose number does not depend on the workers. False: unknown, or
 * out of memory. The caller frees it. */
bool greedy_load_make(greedy_load *load, const char *name, uint32_t workers, uint32_t unit);
void greedy_load_free(greedy_load *load);

typedef struct greedy_setting {
    greedy_shape shape;
    uint32_t workers;
    uint32_t batch; /* tasks that a worker runs in lockstep: 32 for lane tasks of a GPU, else 1 */
    bool gpu;
} greedy_setting;

/* Which tasks ran in lockstep: those that began at one worker at the same time. For each task, and behind them for each
 * of as many that only spawn or fork: when it began, in nanoseconds, where, and the number of the task that spawned or
 * forked it. */
typedef struct greedy_batches {
    const uint32_t *began, *worker;
    const uint32_t *parents; /* NULL: no task has to wait for another. GREEDY_NO_TASK: the root's, and where none is */
} greedy_batches;
#define GREEDY_NO_TASK UINT32_MAX

/* In seconds. */
typedef struct greedy_limits {
    double filled; /* of the lanes' time while their worker was at work, the part that they spent in tasks; else 1 */
    double share;  /* work / workers */
    double path;   /* the longest */
    double bound;  /* the time that greedy workers do not exceed */
} greedy_limits;

/* Computed from how long each task really took, so that a late wake-up by the system does not count against a
 * scheduler. A batch counts as one task, as long as the longest of its tasks; what they spawn is ready when the batch
 * ends. `batches`: NULL for batches of one. */
greedy_limits greedy_limits_of(const greedy_setting *setting, const uint32_t *took, const greedy_batches *batches,
                               uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
