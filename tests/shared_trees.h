/* Random trees for runs that several nodes or processes share: every task counts, in the totals of its process. */
#ifndef BALLAST_TESTS_SHARED_TREES_H
#define BALLAST_TESTS_SHARED_TREES_H

#include "mix.h"

#include <ballast/ballast.h>
#include <ballast/platform/cpu.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static inline void sleep_us(long us) { nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL); }

typedef struct place {
    uint32_t hash, depth;
} place;

typedef struct totals {
    uint32_t seed, deepest, widest, fails_at; /* fails_at: the task with which it fails; 0: it does not */
    bool endless;
    uint64_t tasks, sum, spawned;
    uint64_t left_tasks;
    pthread_t left_in; /* the thread that was told of them */
} totals;

static inline uint32_t children(const totals *t, place p) {
    if (t->endless)
        return p.depth % 64 ? 1 : 2;
    return p.depth < t->deepest ? mix(p.hash, t->seed) % (t->widest + 1) : 0;
}

static inline void grow(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    totals *t = *(totals *const *)shared;
    place p = *(const place *)payload;
    p.hash = mix(p.hash, index);
    p.depth++;
    const uint32_t n = children(t, p);
    const uint64_t number = bl_fetch_add64_relaxed(&t->tasks, 1) + 1;
    bl_fetch_add64_relaxed(&t->sum, p.hash);
    bl_fetch_add64_relaxed(&t->spawned, n);
    if (t->endless && p.depth % 64 == 0)
        sleep_us(100);
    if (n)
        bl_task_spawn(task, &p, n);
    if (number == t->fails_at)
        bl_task_fail(task, 77, &p);
}

static inline void grow_alone(totals *t, place p, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        place child = {mix(p.hash, i), p.depth + 1};
        t->tasks++;
        t->sum += child.hash;
        grow_alone(t, child, children(t, child));
    }
}

static inline void count_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    totals *t = arg;
    (void)payload;
    t->left_tasks += end - begin;
    t->left_in = pthread_self();
}

/* A loop, whose range has to be split for the others. */
static inline void count_index(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    totals *t = *(totals *const *)shared;
    (void)task, (void)payload;
    bl_fetch_add64_relaxed(&t->tasks, 1);
    bl_fetch_add64_relaxed(&t->sum, index);
}

#endif
