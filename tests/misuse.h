/* Programs whose tasks break the rules, for test_misuse.c and misuse.cu. Each is correct unless its payload asks it to
 * break a rule. */
#ifndef BALLAST_TESTS_MISUSE_H
#define BALLAST_TESTS_MISUSE_H

#include "common/kernels.h"
#include <ballast/task.h>

/* ---- spawner: `width` children, each one entry, down to depth 0; BL_MAX_SPAWN is not defined ---- */

typedef struct spawner_node {
    uint32_t depth, width;
} spawner_node;

/* The lanes of a task share its spawns. */
static BL_TASK void spawner_run(bl_task *t, const spawner_node *node, uint32_t index, const bl_nothing *shared,
                                bl_nothing *local) {
    (void)shared, (void)local, (void)index;
    spawner_node child = {node->depth - 1, node->width};
    for (uint32_t i = t->lane; node->depth && i < node->width; i += t->lanes)
        bl_spawn(t, &child);
}

/* ---- wide: forks `width` children where BL_JOIN_WIDTH is 2; the result depends on their order ---- */

typedef struct wide_node {
    uint32_t depth, width, number, first; /* a child's number is first + its index */
} wide_node;

BL_HOST_FN uint64_t wide_mix(uint64_t sum, uint64_t with) {
    sum = (sum ^ with) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

static BL_TASK void wide_run(bl_task *t, const wide_node *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    wide_node node = {parent->depth - 1, parent->width, parent->first + index, 0};
    uint64_t leaf = node.number;
    node.first = node.number * node.width + 1;
    if (t->lane != 0)
        return;
    if (node.depth)
        bl_fork(t, &node, &node, node.width);
    else
        bl_return(t, &leaf);
}

static BL_TASK void wide_join(bl_task *t, const wide_node *node, const uint64_t *results, uint32_t count,
                              const bl_nothing *shared, bl_nothing *local) {
    (void)shared, (void)local;
    uint64_t sum = node->number;
    for (uint32_t i = 0; i < count; i++)
        sum = wide_mix(sum, results[i]);
    if (t->lane == 0)
        bl_return(t, &sum);
}

static inline uint64_t wide_expect(wide_node parent, uint32_t index) {
    wide_node node = {parent.depth - 1, parent.width, parent.first + index, 0};
    uint64_t sum = node.number;
    node.first = node.number * node.width + 1;
    for (uint32_t i = 0; node.depth && i < node.width; i++)
        sum = wide_mix(sum, wide_expect(node, i));
    return sum;
}

/* ---- rules: every wrong way to end a task ---- */

typedef enum rule {
    RULES_KEPT,
    RULE_NEITHER,
    RULE_JOIN_NEITHER,
    RULE_FORK_NONE,
    RULE_BOTH,
    RULE_RETURN_TWICE,
    RULE_FORK_TWICE,
    RULE_SPAWN_OTHER,
    RULE_FORK_OTHER,
    RULE_RETURN_OTHER,
    RULE_FORK_MANY, /* more than can be counted */
    RULE_FAIL,      /* none: a task that fails need not return */
    RULES
} rule;

typedef struct rule_node {
    uint32_t depth, broken; /* a rule, at depth 0 */
} rule_node;

typedef struct rule_other {
    uint32_t words[3];
} rule_other;

static BL_TASK void rule_break(bl_task *t, const rule_node *node) {
    rule_node child = {0, RULES_KEPT};
    rule_other other = {{0, 0, 0}};
    uint32_t value = 1;
    uint64_t larger = 1;
    switch ((rule)node->broken) {
    case RULE_NEITHER:
        break;
    case RULE_FORK_NONE:
        bl_fork(t, &child, &child, 0);
        break;
    case RULE_BOTH:
        bl_return(t, &value);
        bl_fork(t, &child, &child, 1);
        break;
    case RULE_RETURN_TWICE:
        bl_return(t, &value);
        bl_return(t, &value);
        break;
    case RULE_FORK_TWICE:
        bl_fork(t, &child, &child, 1);
        bl_fork(t, &child, &child, 1);
        break;
    case RULE_SPAWN_OTHER:
        bl_spawn(t, &other);
        bl_return(t, &value);
        break;
    case RULE_FORK_OTHER:
        bl_fork(t, &other, &other, 1);
        break;
    case RULE_RETURN_OTHER:
        bl_return(t, &larger);
        break;
    case RULE_FORK_MANY:
        bl_fork(t, &child, &child, 100000);
        break;
    case RULE_FAIL:
        bl_fail(t, 1, &child);
        break;
    default:
        bl_return(t, &value);
        break;
    }
}

static BL_TASK void rule_run(bl_task *t, const rule_node *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    rule_node node = {parent->depth - 1, parent->broken};
    if (t->lane != 0)
        return;
    if (parent->depth == 0)
        rule_break(t, parent);
    else if (node.depth == 0 && index) /* one of them */
        rule_break(t, &node);
    else if (node.depth == 0) {
        uint32_t value = 1;
        bl_return(t, &value);
    } else
        bl_fork(t, &node, &node, 2);
}

static BL_TASK void rule_join(bl_task *t, const rule_node *node, const uint32_t *results, uint32_t count,
                              const bl_nothing *shared, bl_nothing *local) {
    (void)shared, (void)local;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += results[i];
    if (t->lane == 0 && !(node->broken == RULE_JOIN_NEITHER && node->depth == 2))
        bl_return(t, &sum);
}

/* ---- bare: a program without results that returns or forks ---- */

static BL_TASK void bare_run(bl_task *t, const uint32_t *forks, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local, (void)index;
    uint32_t value = 0;
    if (t->lane == 0 && *forks)
        bl_fork(t, &value, &value, 1);
    else if (t->lane == 0)
        bl_return(t, &value);
}

/* ---- sixteen: fib with a payload and a result aligned to 16 bytes; the result counts misaligned ones ---- */

#ifdef __cplusplus
#define SIXTEEN alignas(16)
#else
#define SIXTEEN _Alignas(16)
#endif
typedef struct sixteen {
    SIXTEEN uint32_t n;
    uint32_t misplaced;
} sixteen;

BL_FN uint32_t sixteen_off(const void *p) { return (uintptr_t)p % 16 ? 1 : 0; }

static BL_TASK void sixteen_run(bl_task *t, const sixteen *caller, uint32_t index, const bl_nothing *shared,
                                bl_nothing *local) {
    (void)shared, (void)local;
    sixteen call = {caller->n - 1 - index, sixteen_off(caller)};
    if (t->lane != 0)
        return;
    if (call.n < 2)
        bl_return(t, &call);
    else
        bl_fork(t, &call, &call, 2);
}

static BL_TASK void sixteen_join(bl_task *t, const sixteen *forked, const sixteen *results, uint32_t count,
                                 const bl_nothing *shared, bl_nothing *local) {
    (void)shared, (void)local;
    sixteen sum;
    memset(&sum, 0, sizeof sum); /* the padding too: gcc 13 says that it is copied */
    sum.misplaced = forked->misplaced + sixteen_off(forked) + sixteen_off(results);
    for (uint32_t i = 0; i < count; i++) {
        sum.n += results[i].n;
        sum.misplaced += results[i].misplaced;
    }
    if (t->lane == 0)
        bl_return(t, &sum);
}

/* ---- checked: what BL_CHECKED finds ---- */

typedef struct checked_node {
    uint32_t depth, what; /* 0: sums, 1: a misplaced payload, 2: a misplaced result */
} checked_node;

static BL_TASK void checked_run(bl_task *t, const checked_node *parent, uint32_t index, const bl_nothing *shared,
                                bl_nothing *local) {
    (void)shared, (void)local, (void)index;
    checked_node nodes[2] = {{parent->depth - 1, parent->what}, {0, 0}};
    uint64_t large[2] = {1ull << 46, 0};
    if (t->lane != 0)
        return;
    if (parent->depth > 1)
        bl_fork(t, &nodes[0], &nodes[0], 2);
    else if (parent->what == 1)
        bl_fork(t, (const checked_node *)(const void *)((const char *)nodes + 1),
                (const checked_node *)(const void *)((const char *)nodes + 1), 1);
    else if (parent->what == 2)
        bl_return(t, (const uint64_t *)(const void *)((const char *)large + 1));
    else
        bl_return(t, &large[0]);
}

#ifndef MISUSE_ON_CUDA /* on CUDA they are in misuse.cu */

#define BL_PROGRAM spawner
#define BL_PAYLOAD spawner_node
#define BL_RUN spawner_run
#define BL_LANE_TASKS 1
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_PAPERS, 0)
#include <ballast/program.h>

#define BL_PROGRAM wide
#define BL_PAYLOAD wide_node
#define BL_RUN wide_run
#define BL_RESULT uint64_t
#define BL_JOIN wide_join
#define BL_JOIN_WIDTH 2
#define BL_LANE_TASKS 1
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_PAPERS, 0)
#include <ballast/program.h>

#define BL_PROGRAM rules
#define BL_PAYLOAD rule_node
#define BL_RUN rule_run
#define BL_RESULT uint32_t
#define BL_JOIN rule_join
#define BL_MAX_SPAWN 2
#define BL_LANE_TASKS 1
#include <ballast/program.h>

#define BL_PROGRAM checked
#define BL_PAYLOAD checked_node
#define BL_RUN checked_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_LANE_TASKS 1
#define BL_CHECKED 1
#include <ballast/program.h>
#undef BL_CHECKED

#define BL_PROGRAM bare
#define BL_PAYLOAD uint32_t
#define BL_RUN bare_run
#define BL_LANE_TASKS 1
#include <ballast/program.h>

#define BL_PROGRAM sixteen_fib
#define BL_PAYLOAD sixteen
#define BL_RUN sixteen_run
#define BL_RESULT sixteen
#define BL_JOIN sixteen_join
#define BL_JOIN_WIDTH 2
#define BL_LANE_TASKS 1
#include <ballast/program.h>
#endif
#endif
