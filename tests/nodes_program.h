/* The programs of test_nodes_apart and test_nodes_cuda, for the target of the file that includes it: random trees whose
 * tasks count themselves in memory from bl_alloc, by rules that they read there. */
#ifndef BALLAST_TESTS_NODES_PROGRAM_H
#define BALLAST_TESTS_NODES_PROGRAM_H

#include <ballast/task.h>

typedef struct wood_place {
    uint32_t hash, depth;
} wood_place;

typedef struct wood_rules {
    uint32_t seed, deepest, widest;
    uint32_t endless;    /* every task spawns one more */
    uint32_t fails;      /* the task of this depth and of index 0 fails; 0: none */
    uint32_t task_ticks; /* how long a task takes */
    uint32_t line;       /* every task spawns one more, until the deepest */
} wood_rules;

typedef struct wood_totals {
    uint64_t tasks, sum, spawned;
} wood_totals;

typedef struct wood_shared {
    uint64_t odd; /* not an address */
    const wood_rules *rules;
    wood_totals *totals;
} wood_shared;

BL_HOST_FN uint32_t wood_mix(uint32_t a, uint32_t b) {
    uint64_t x = (a ^ (uint64_t)b << 32 ^ b) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

BL_HOST_FN uint32_t wood_children(const wood_rules *r, wood_place p) {
    if (r->endless || p.depth >= r->deepest)
        return r->endless;
    return r->line ? 1 : wood_mix(p.hash, r->seed) % (r->widest + 1);
}

static BL_TASK void wood_run(bl_task *t, const wood_place *parent, uint32_t index, const wood_shared *shared,
                             wood_totals *local) {
    const wood_rules *r = shared->rules;
    wood_place p = {wood_mix(parent->hash, index), parent->depth + 1};
    if (t->lane)
        return;
    if (r->task_ticks)
        bl_spend(r->task_ticks);
    local->tasks++;
    local->sum += p.hash;
    const uint32_t n = wood_children(r, p);
    local->spawned += n;
    if (n)
        bl_spawn_n(t, &p, n);
    if (r->fails && p.depth == r->fails && index == 0)
        bl_fail(t, 77, &p);
}

static BL_TASK void wood_merge(const wood_shared *shared, const wood_totals *local) {
    bl_fetch_add64_relaxed(&shared->totals->tasks, local->tasks);
    bl_fetch_add64_relaxed(&shared->totals->sum, local->sum);
    bl_fetch_add64_relaxed(&shared->totals->spawned, local->spawned);
}

#define BL_PROGRAM wood
#define BL_PAYLOAD wood_place
#define BL_SHARED wood_shared
#define BL_LOCAL wood_totals
#define BL_RUN wood_run
#define BL_MERGE wood_merge
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

/* With results. */
static BL_TASK void twig_run(bl_task *t, const wood_place *p, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    const uint64_t one = 1 + index;
    (void)p, (void)shared, (void)local;
    bl_return(t, &one);
}

#define BL_PROGRAM twig
#define BL_PAYLOAD wood_place
#define BL_RUN twig_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

/* A GPU's kernel has no code to share. */
#define BL_PROGRAM lonely
#define BL_PAYLOAD wood_place
#define BL_SHARED wood_shared
#define BL_LOCAL wood_totals
#define BL_RUN wood_run
#define BL_MERGE wood_merge
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_SCHEDULERS BL_SCHEDULERS_OWN_GROUP
#include <ballast/program.h>

#endif
