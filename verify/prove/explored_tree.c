/* The tree as a program, for every scheduler with every discovered queue: the source of the CPU's workers with the
 * memory of the simulated machine. */
#define bl__sleep prove_sleep
#define bl__nap prove_nap
#define bl__wake prove_wake
#define bl__stack_left prove_stack_left
#include "internal.h"

/* The same sizes and patience as in the library: sizes must agree. */
#undef BL_LCRQ_PATIENCE
#undef BL_LCRQ_TRIES
#undef BL_LCRQ_NEAR
#undef BL_WFQ_PATIENCE
#undef BL_WFQ_SPIN
#undef BL_WFQ_SEGMENT

#include <ballast/platform/platform.h>
#ifdef BL_TASK_H
#error "task.h was compiled for another target before this one is set"
#endif
#undef BL_TARGET
#undef BL_WARP
#undef BL_CAN_SLEEP
#define BL_TARGET cpu
#define BL_WARP 1u
#define BL_CAN_SLEEP 1
#define BL__QUICK_TRIES tree_quick_tries
#define BL__IDLE_SPINS tree_idle_spins
#define BL__PATIENCE tree_no_time /* every task counts as long once it is seen */
#define BL__LEAST_NAP tree_no_time
#define BL__MOST_NAP tree_no_time
#define BL__NAP_SHARE 1u
#define BL__WARY tree_no_time /* and short until then: workers recurse at once */
#define BL__SHORT_TICKS 1u
#define BL__SINGLES 1u
#include <ballast/parts/entry.h>

/* Whatever the runtime copies from and to memory of the run is plain data, checked by the machine. */
static inline void copy_words(bl_word *to, const bl_word *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        uint32_t word;
        bl_data_read(&word, from + i, 1);
        bl_data_write(to + i, &word, 1);
    }
}
#define bl__words_copy copy_words
#include <ballast/parts/record.h>
#undef BL__SPARE_CHUNK_OF
#define BL__SPARE_CHUNK_OF(warp) 4u /* to take many records takes many steps */
#include <ballast/task.h>

#include "explorer/explorer.h"
#include "explored_tree.h"

uint32_t tree_quick_tries, tree_idle_spins, tree_no_time;

static BL_TASK void wait_for(tree *tree, uint32_t n) {
    for (uint32_t seen, tries = 0; (seen = bl_load32_relaxed(&tree->met)) != n;)
        bl_wait_change32(&tree->met, seen, &tries);
}

/* Apart: the parent waits for its children. Together: the first two meet, so they must run at the same time, or they
 * never end. */
static BL_TASK void meet(tree *tree, uint32_t task) {
    if (!tree->held || task == 0 || (tree->together && task > 2))
        return;
    if (tree->together && task == 1)
        wait_for(tree, 1);
    bl_fetch_add32_relaxed(&tree->met, 1);
    if (tree->together && task == 2)
        wait_for(tree, 2);
}

static BL_TASK void spawn_children(bl_task *t, tree *tree, uint32_t task) {
    uint32_t first = tree->roots + task * tree->width, end = first + tree->width;
    end = end < tree->tasks ? end : tree->tasks;
    for (uint32_t child = first; child < end; child++) {
        uint32_t left = tree_left(child);
        tree_payload payload = {child, tree_check(child)};
        bl_data_write(&tree->left_for[child], &left, 1);
        if (!tree->together) {
            bl_spawn(t, &payload);
            if (tree->held && task == 0)
                wait_for(tree, child - first + 1);
        }
    }
    if (tree->together && first < end) {
        tree_payload payload = {first, tree_check(first)};
        bl_spawn_n(t, &payload, end - first);
    }
}

/* Which task this is; checks that it exists, runs for the first time, and finds what was left for it. */
static BL_TASK uint32_t begin_task(tree *tree, tree_payload payload, uint32_t index) {
    uint32_t task = payload.first + index, left;
    if (payload.check != tree_check(payload.first) || task >= tree->tasks)
        bl_explore_fail("a task that was never spawned: %u, check %x", payload.first, payload.check);
    if (tree->runs[task]++)
        bl_explore_fail("task %u is run twice", task);
    bl_data_read(&left, &tree->left_for[task], 1);
    if (left != tree_left(task))
        bl_explore_fail("task %u does not find what was left for it", task);
    return task;
}

static BL_TASK void tree_run(bl_task *t, const tree_payload *payload, uint32_t index, const tree_shared *shared,
                             bl_nothing *local) {
    (void)local;
    uint32_t task = begin_task(shared->tree, *payload, index);
    tree *tree = shared->tree;
    spawn_children(t, tree, task);
    meet(tree, task);
    tree->finished++;
}

/* ---- with results ---- */

size_t prove_stack_left(void);
size_t prove_stack_left(void) { return 1 << 16; } /* a fiber has more */

uint32_t tree_size(const tree *tree, uint32_t task) {
    uint32_t size = 1, first = tree->roots + task * tree->width;
    for (uint32_t child = first; child < first + tree->width && child < tree->tasks; child++)
        size += tree_size(tree, child);
    return size;
}

static BL_TASK void wait_for_idle(const bl__run *run) {
    uint64_t seen;
    for (uint32_t tries = 0; (uint32_t)(seen = bl_load64_relaxed(&run->control->idle)) == 0;)
        bl_wait_change64(&run->control->idle, seen, &tries);
}

static BL_TASK void forks_run(bl_task *t, const tree_payload *payload, uint32_t index, const tree_shared *shared,
                              bl_nothing *local) {
    (void)local;
    tree *tree = shared->tree;
    uint32_t task = begin_task(tree, *payload, index), one = 1;
    uint32_t first = tree->roots + task * tree->width, end = first + tree->width;
    end = end < tree->tasks ? end : tree->tasks;
    for (uint32_t child = first; child < end; child++) {
        uint32_t left = tree_left(child);
        bl_data_write(&tree->left_for[child], &left, 1);
    }
    tree_payload mine = {task, tree_check(task)}, child = {first, tree_check(first)};
    if (first < end)
        bl_fork(t, &mine, &child, end - first);
    else
        bl_return(t, &one);
    if (tree->wanted >> task & 1)
        wait_for_idle(t->run);
    if (tree->handed && task == 3) {
        bl_fetch_add32_relaxed(&tree->met, 1);
        wait_for(tree, 2);
    } else if (tree->handed && task == 9) {
        wait_for(tree, 1);
    }
    if (tree->halts && task == 1)
        bl_fetch_or32_relaxed(t->stop, BL__STOP_HOST);
    tree->finished++;
}

static BL_TASK void forks_join(bl_task *t, const tree_payload *payload, const uint32_t *results, uint32_t count,
                               const tree_shared *shared, bl_nothing *local) {
    (void)local;
    tree *tree = shared->tree;
    tree_payload mine;
    uint32_t sum = 1, size;
    bl__words_copy((bl_word *)&mine, (const bl_word *)payload, 2);
    if (mine.check != tree_check(mine.first) || mine.first >= tree->tasks)
        bl_explore_fail("a join that was never forked: %u, check %x", mine.first, mine.check);
    if (tree->joins[mine.first]++)
        bl_explore_fail("fork %u continues twice", mine.first);
    for (uint32_t i = 0; i < count; i++) {
        bl_data_read(&size, results + i, 1);
        if (size != tree_size(tree, tree->roots + mine.first * tree->width + i))
            bl_explore_fail("fork %u gets another result from its child %u", mine.first, i);
        sum += size;
    }
    if (tree->handed && mine.first == 2)
        bl_fetch_add32_relaxed(&tree->met, 1);
    bl_return(t, &sum);
}

#define BL__POLICY(instance) BL_CAT(tree_policy_, instance)
#include "policies/policies.h"
#include "schedulers/all.inc.h"

#define X(instance, name, policy) &BL__POLICY(instance),
const bl__policy *tree_policies[] = {BL__SCHEDULERS(X)};
#undef X

#define BL_PROGRAM tree
#define BL_PAYLOAD tree_payload
#define BL_SHARED tree_shared
#define BL_RUN tree_run
#define BL_MAX_SPAWN 2 /* scheduler_runs.c overrides it */
#include <ballast/program.h>

#define BL_PROGRAM forks
#define BL_PAYLOAD tree_payload
#define BL_SHARED tree_shared
#define BL_RUN forks_run
#define BL_RESULT uint32_t
#define BL_JOIN forks_join
#define BL_JOIN_WIDTH 3
#include <ballast/program.h>

void tree_stop(const bl__run *run) {
    bl_fetch_or32_relaxed(&run->control->stop, BL__STOP_HOST);
    bl__wake(run, UINT32_MAX);
}

bl__worker tree_worker(const bl__run *run, uint32_t id) {
    bl__stack *stack = (bl__stack *)(void *)(run->memory + (size_t)id * run->worker_memory + run->scratch_bytes);
    return bl__worker_start(run, stack, id, 0, id, 1, run->words);
}

void tree_spawn(bl__worker *w, tree *tree, uint32_t task) {
    uint32_t left = tree_left(task), *entry = bl__stack_slot(w->stack, w->words, w->stack->top++);
    bl_data_write(&tree->left_for[task], &left, 1);
    entry[0] = 0;
    entry[1] = 1;
    entry[BL__ENTRY_HEAD] = task;
    entry[BL__ENTRY_HEAD + 1] = tree_check(task);
}

void tree_run_newest(bl__worker *w, tree *tree) {
    const uint32_t *entry = bl__stack_slot(w->stack, w->words, --w->stack->top);
    tree_payload payload = {entry[BL__ENTRY_HEAD], entry[BL__ENTRY_HEAD + 1]};
    for (uint32_t i = entry[0]; i < entry[1]; i++)
        begin_task(tree, payload, i);
}

#define BL__MANAGE void prove_manage
#include "policies/manage_all.inc.h"
