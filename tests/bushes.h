/* Bushes: random trees, some of whose forks are wide, for runs with results that several nodes or processes share.
 * Every task counts, in the garden of its process.
 *
 * As a program with joins a bush returns a number that depends on the order of its results, and some joins fork once
 * more; as one with sums, a sum. */
#ifndef BALLAST_TESTS_BUSHES_H
#define BALLAST_TESTS_BUSHES_H

#include "join_trees.h"
#include "shared_trees.h"

#include <stdlib.h>

typedef struct twig {
    uint32_t hash, depth; /* of the parent; the index distinguishes its children. Depth 0: of a root */
    uint32_t again;       /* the fork of a join */
} twig;

typedef struct garden {
    uint32_t deepest, widest;         /* widest: of some forks near the root */
    uint64_t fails_at, join_fails_at; /* the task, or the join, with which it fails; 0: it does not */
    bool endless;
    uint64_t tasks, joins, forked, wrong;
    uint64_t left_tasks;
    pthread_t caller, left_in;
} garden;

typedef struct garden_of {
    garden *garden;
} garden_of;

static inline uint32_t twig_mix(uint32_t a, uint32_t b) { return (uint32_t)(word_mix(a ^ (uint64_t)b << 32, b) >> 20); }

static inline twig twig_at(const twig *parent, uint32_t index) {
    return (twig){twig_mix(parent->hash, index), parent->depth + 1, 0};
}

static inline uint32_t twig_children(const garden *g, const twig *p, uint32_t index) {
    if (g->endless && index && p->hash % 3 == 0) /* so that results are on their way, too */
        return 0;
    if (g->endless)
        return p->depth % 64 ? 1 : p->depth % 256 ? 2 : g->widest;
    if (p->depth == 1 && p->hash % 2 == 0)
        return 1 + p->hash / 4 % g->widest;
    if (p->depth == 3 && p->hash % 16 == 0)
        return 1 + p->hash / 16 % 30;
    return p->depth < g->deepest ? p->hash / 64 % 4 : 0;
}

static inline uint64_t twig_value(const twig *p) { return p->hash & 0xffff; }

/* Whether the join of its children forks again, and what. */
static inline bool twig_forks_again(const twig *p, uint64_t value, twig *child) {
    *child = (twig){(uint32_t)value | 1, 1u << 20, 0}; /* too deep for children */
    return !p->again && p->hash % 8 == 3;
}

/* False: it fails. */
static BL_TASK bool bush_counts(bl_task *t, uint64_t *counter, uint64_t fails_at, const twig *p) {
    const bool fails = bl_fetch_add64_relaxed(counter, 1) + 1 == fails_at;
    if (fails)
        bl_fail(t, 77, p);
    return !fails;
}

static BL_TASK void bush_fork(bl_task *t, garden *g, const twig *p, const twig *child, uint32_t count) {
    bl_fetch_add64_relaxed(&g->forked, count);
    bl_fork(t, p, child, count);
}

static BL_TASK void bush_run(bl_task *t, const twig *parent, uint32_t index, const garden_of *shared,
                             bl_nothing *local) {
    garden *g = shared->garden;
    const twig mine = twig_at(parent, index);
    const uint32_t n = mine.depth > 1u << 20 ? 0 : twig_children(g, &mine, index);
    const uint64_t value = twig_value(&mine);
    (void)local;
    if (bl_is_root(t) != (parent->depth == 0))
        bl_fetch_add64_relaxed(&g->wrong, 1);
    if (g->endless && mine.depth % 64 == 0)
        sleep_us(100);
    if (!bush_counts(t, &g->tasks, g->fails_at, &mine))
        return;
    if (n)
        bush_fork(t, g, &mine, &mine, n);
    else
        bl_return(t, &value);
}

static inline uint64_t bush_value(const twig *p, const uint64_t *results, uint32_t count) {
    uint64_t value = p->hash;
    for (uint32_t i = 0; i < count; i++)
        value = word_mix(value + i, results[i]);
    return value;
}

static BL_TASK void bush_join(bl_task *t, const twig *p, const uint64_t *results, uint32_t count,
                              const garden_of *shared, bl_nothing *local) {
    garden *g = shared->garden;
    const uint64_t value = bush_value(p, results, count);
    twig again = *p, child;
    (void)local;
    if (!bush_counts(t, &g->joins, g->join_fails_at, p))
        return;
    again.again = 1;
    if (twig_forks_again(p, value, &child))
        bush_fork(t, g, &again, &child, 3);
    else
        bl_return(t, &value);
}

const bl_program *bush_cpu(void);
const bl_program *bush_sum_cpu(void);

/* The same by recursion. */
static inline uint64_t bush_expect(garden *g, twig parent, uint32_t index, bool sums) {
    twig mine = twig_at(&parent, index), child;
    const uint32_t n = mine.depth > 1u << 20 ? 0 : twig_children(g, &mine, index);
    uint64_t value = twig_value(&mine);
    g->tasks++;
    if (n == 0)
        return value;
    uint64_t *results = malloc(n * sizeof *results), sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += results[i] = bush_expect(g, mine, i, sums);
    value = bush_value(&mine, results, n);
    free(results);
    g->joins++;
    if (!sums && twig_forks_again(&mine, value, &child)) {
        uint64_t leaves[3];
        for (uint32_t i = 0; i < 3; i++)
            leaves[i] = bush_expect(g, child, i, sums);
        value = bush_value(&mine, leaves, 3);
        g->joins++;
    }
    return sums ? sum : value;
}

/* All that is left is the root, forks of the bush, and their children. */
static inline void bush_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    garden *g = arg;
    const twig *p = payload;
    if (p->depth == 0 && end != 1)
        bl_fetch_add64_relaxed(&g->wrong, 1);
    g->left_tasks += end - begin;
    g->left_in = pthread_self();
}

/* The reduction of a loop adds these up. */
static inline double term(uint32_t i) { return (i % 3 ? 1.0 : -0.75) / (1.0 + (double)(i % 1009) * 1e6); }

const bl_program *terms_cpu(void);

#endif
