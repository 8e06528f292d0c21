/* The tasks of nodes_programs.c: random trees whose tasks count themselves in memory from bl_alloc, by rules that they
 * read there. */
#ifndef BALLAST_TESTS_NODES_TREES_H
#define BALLAST_TESTS_NODES_TREES_H

#include "mix.h"

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

BL_HOST_FN uint32_t wood_children(const wood_rules *r, wood_place p) {
    if (r->endless || p.depth >= r->deepest)
        return r->endless;
    return r->line ? 1 : mix(p.hash, r->seed) % (r->widest + 1);
}

static BL_TASK void wood_run(bl_task *t, const wood_place *parent, uint32_t index, const wood_shared *shared,
                             wood_totals *local) {
    const wood_rules *r = shared->rules;
    wood_place p = {mix(parent->hash, index), parent->depth + 1};
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

/* With results: the same trees, whose tasks fork. */

BL_HOST_FN wood_place twig_place(const wood_place *forked, uint32_t index, bool root) {
    const wood_place child = {mix(forked->hash, index), (forked->depth & 0xffff) + 1};
    return root ? *forked : child;
}
BL_HOST_FN uint64_t twig_leaf(wood_place p) { return mix(p.hash, p.depth) % 1000; }

/* True: the task is a leaf, and has to return. Otherwise it has forked or failed, or another lane does it. */
BL_FN bool twig_is_leaf(bl_task *t, wood_place p, const wood_rules *r, wood_totals *local) {
    if (t->lane)
        return false;
    if (r->task_ticks)
        bl_spend(r->task_ticks);
    local->tasks++;
    local->sum += p.hash;
    if (r->fails && p.depth == r->fails) {
        bl_fail(t, 77, &p);
        return false;
    }
    const uint32_t n = wood_children(r, p);
    local->spawned += n;
    if (n)
        bl_fork(t, &p, &p, n);
    return n == 0;
}

static BL_TASK void twig_run(bl_task *t, const wood_place *forked, uint32_t index, const wood_shared *shared,
                             wood_totals *local) {
    const wood_place p = twig_place(forked, index, bl_is_root(t));
    const uint64_t leaf = twig_leaf(p);
    if (twig_is_leaf(t, p, shared->rules, local))
        bl_return(t, &leaf);
}

/* The order of results matters, and some joins fork once more. */
typedef struct branch_text {
    uint32_t hash, tasks, deepest;
} branch_text;

BL_HOST_FN branch_text branch_leaf(wood_place p) {
    const branch_text leaf = {p.hash, 1, p.depth & 0xffff};
    return leaf;
}
BL_HOST_FN branch_text branch_joined(const wood_place *p, const branch_text *results, uint32_t count) {
    branch_text all = {p->hash, 1, p->depth & 0xffff};
    for (uint32_t i = 0; i < count; i++) {
        all.hash = mix(all.hash, results[i].hash);
        all.tasks += results[i].tasks;
        all.deepest = all.deepest > results[i].deepest ? all.deepest : results[i].deepest;
    }
    return all;
}
/* Children of the second fork, by what the first one's returned. */
BL_HOST_FN uint32_t branch_again(const wood_rules *r, const wood_place *p, const branch_text *all) {
    return p->depth >> 16 || r->endless || all->hash % 4 ? 0 : 1 + all->hash / 4 % 3;
}
BL_HOST_FN wood_place branch_second(const wood_place *p, const branch_text *all) {
    const wood_place second = {all->hash, p->depth | 1u << 16};
    return second;
}

static BL_TASK void branch_run(bl_task *t, const wood_place *forked, uint32_t index, const wood_shared *shared,
                               wood_totals *local) {
    const wood_place p = twig_place(forked, index, bl_is_root(t));
    const branch_text leaf = branch_leaf(p);
    if (twig_is_leaf(t, p, shared->rules, local))
        bl_return(t, &leaf);
}

static BL_TASK void branch_join(bl_task *t, const wood_place *p, const branch_text *results, uint32_t count,
                                const wood_shared *shared, wood_totals *local) {
    if (t->lane)
        return;
    const branch_text all = branch_joined(p, results, count);
    const uint32_t again = branch_again(shared->rules, p, &all);
    const wood_place second = branch_second(p, &all);
    local->spawned += again;
    if (again)
        bl_fork(t, &second, &second, again);
    else
        bl_return(t, &all);
}

/* A loop whose result depends on the order of its indices. */
static BL_TASK void bark_run(bl_task *t, const wood_place *p, uint32_t begin, uint32_t end, const bl_nothing *shared,
                             bl_nothing *local) {
    uint32_t hash = p->hash;
    (void)shared, (void)local;
    for (uint32_t i = begin; i < end; i++)
        hash = mix(hash, i);
    if (t->lane == 0)
        bl_return(t, &hash);
}

static BL_TASK void bark_reduce(uint32_t *into, const uint32_t *next) { *into = mix(*into, *next); }

#endif
