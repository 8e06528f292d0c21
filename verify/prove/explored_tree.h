/* The program with which schedulers are explored: a small tree of tasks.
 *
 * Tasks are numbered; `roots` of them exist at the start, and task t spawns those of roots + t * width .. + width - 1
 * that are less than `tasks`. Before it spawns a task it leaves plain data for it.
 *
 * `forks` is the same tree with results: a task forks its children, and returns the number of tasks in its subtree. */
#ifndef BALLAST_PROVE_EXPLORED_TREE_H
#define BALLAST_PROVE_EXPLORED_TREE_H

#include "internal.h"

#include <ballast/parts/worker.h>

#include <stdbool.h>

enum { TREE_TASKS = 24, TREE_WORKERS = 3 };

typedef struct tree {
    uint32_t roots, width, tasks;
    bool together;                  /* the children of a task are one entry */
    bool held;                      /* task 0 waits for its children, or they for each other */
    bool halts;                     /* forks: task 1 stops the run */
    bool handed;                    /* forks: task 9 waits until task 3 has begun, task 3 until task 2 has joined */
    uint32_t wanted;                /* forks: the set of tasks that wait until another worker is idle */
    uint32_t met;                   /* atomic: tasks that were waited for */
    uint32_t finished;              /* tasks that have ended, in the order of the execution */
    uint32_t spawned[TREE_WORKERS]; /* by workers that follow a script */
    uint32_t runs[TREE_TASKS];      /* how many times each was started */
    uint32_t left_for[TREE_TASKS];  /* plain data, checked by the machine */
    uint32_t joins[TREE_TASKS];     /* forks: how many times each has continued */
} tree;

typedef struct tree_payload {
    uint32_t first, check; /* task: first + index; check: reveals a torn entry */
} tree_payload;

typedef struct tree_shared {
    tree *tree;
} tree_shared;

static inline uint32_t tree_check(uint32_t first) { return first * 2654435761u + 1; }
static inline uint32_t tree_left(uint32_t task) { return ~task; }

/* For workers of one lane, which sleep, as on a CPU. What the runtime treats as constants: */
const bl_program *tree_cpu(void);
const bl_program *forks_cpu(void);
uint32_t tree_size(const tree *tree, uint32_t task); /* tasks in its subtree */
void prove_manage(bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count, uint64_t *total,
                  uint32_t rank, uint32_t size);
extern const struct bl__policy *tree_policies[];
bl__worker tree_worker(const bl__run *run, uint32_t id);
void tree_spawn(bl__worker *w, tree *tree, uint32_t task); /* onto its stack */
void tree_run_newest(bl__worker *w, tree *tree);
void tree_stop(const bl__run *run); /* as the host does */

extern uint32_t tree_quick_tries, tree_idle_spins, tree_no_time;

#endif
