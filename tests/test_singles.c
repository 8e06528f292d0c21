/* Tasks spawned one by one, for which a thread has a loop of its own: all are run once, among others and alone; the
 * watch sees them end; and a run that needs one thread is balanced. */
#include "check.h"

#include <ballast/ballast.h>
#include <ballast/task.h>

typedef struct singles_node {
    uint32_t levels, mix; /* every mix-th node has its children in one entry; 0: none has */
} singles_node;

typedef struct singles_local {
    uint64_t nodes, sum;
} singles_local;

typedef struct singles_shared {
    singles_local *total;
} singles_shared;

enum { CHILDREN = 3 };

static BL_TASK void singles_run(bl_task *t, const singles_node *node, uint32_t index, const singles_shared *shared,
                                singles_local *local) {
    (void)shared;
    local->nodes++;
    local->sum += node->levels;
    if (node->levels == 0)
        return;
    singles_node child = {node->levels - 1, node->mix};
    if (node->mix && (node->levels + index) % node->mix == 0) {
        bl_spawn_n(t, &child, CHILDREN);
        return;
    }
    for (uint32_t i = 0; i < CHILDREN; i++)
        bl_spawn(t, &child);
}

static BL_TASK void singles_merge(const singles_shared *shared, const singles_local *local) {
    bl_fetch_add64_relaxed(&shared->total->nodes, local->nodes);
    bl_fetch_add64_relaxed(&shared->total->sum, local->sum);
}

#define BL_PROGRAM singles
#define BL_PAYLOAD singles_node
#define BL_SHARED singles_shared
#define BL_LOCAL singles_local
#define BL_RUN singles_run
#define BL_MERGE singles_merge
#define BL_MAX_SPAWN CHILDREN
#include <ballast/program.h>

static void expect_tree(bl_config config, uint32_t levels, uint32_t mix) {
    check_at("%u workers, %u private entries, mix %u", config.workers, config.private_entries, mix);
    singles_local total = {0, 0}, expected = {0, 0};
    uint64_t nodes = 1;
    for (uint32_t level = levels + 1; level-- > 0; nodes *= CHILDREN) {
        expected.nodes += nodes;
        expected.sum += nodes * level;
    }
    bl_context *c;
    bl_stats stats;
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    CHECK_SAME(bl_run(c, singles_cpu(), &(singles_shared){&total}, &(singles_node){levels, mix}, 1, &stats), BL_OK);
    CHECK_SAME(total.nodes, expected.nodes);
    CHECK_SAME(total.sum, expected.sum);
    CHECK_SAME(stats.tasks, expected.nodes);
    bl_close(c);
}

/* ---- long tasks ---- */

enum { LONG_TASKS = 60, LONG_NS = 10000000 };

static BL_TASK void naps_run(bl_task *t, const uint32_t *is_root, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)index, (void)shared, (void)local;
    uint32_t none = 0;
    for (uint32_t i = 0; *is_root && i < LONG_TASKS; i++)
        bl_spawn(t, &none);
    if (!*is_root)
        bl_spend(LONG_NS);
}

#define BL_PROGRAM naps
#define BL_PAYLOAD uint32_t
#define BL_RUN naps_run
#include <ballast/program.h>

static uint64_t last_report;
static void take_report(void *arg, uint64_t tasks) {
    (void)arg;
    last_report = tasks > last_report ? tasks : last_report;
}

/* Together they take longer than the stall time, each far less. */
static void expect_watched(void) {
    check_at("long tasks");
    bl_context *c;
    bl_stats stats;
    bl_config config = {.device = "cpu", .workers = 1, .stall_seconds = 0.2, .progress = take_report};
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    CHECK_SAME(bl_run(c, naps_cpu(), NULL, &(uint32_t){1}, 1, &stats), BL_OK);
    CHECK_SAME(stats.tasks, LONG_TASKS + 1);
    CHECK(last_report > LONG_TASKS / 2 && last_report <= LONG_TASKS + 1);
    bl_close(c);
}

/* ---- a range on top of more than the thread may keep, while its queue is full ---- */

enum { CHAIN = 40, LEAVES = 12, RANGE = 3 };

static BL_TASK void burst_run(bl_task *t, const uint32_t *left, uint32_t index, const bl_nothing *shared,
                              bl_nothing *local) {
    (void)index, (void)shared, (void)local;
    uint32_t next = *left - 1, leaf = 0;
    if (*left > 1) /* long enough for the loop of single tasks to take over */
        bl_spawn(t, &next);
    for (uint32_t i = 0; *left == 1 && i < LEAVES; i++)
        bl_spawn(t, &leaf);
    if (*left == 1)
        bl_spawn_n(t, &leaf, RANGE);
}

#define BL_PROGRAM burst
#define BL_PAYLOAD uint32_t
#define BL_RUN burst_run
#define BL_MAX_SPAWN (LEAVES + 1)
#include <ballast/program.h>

static void expect_burst(void) {
    check_at("a range behind single tasks, and a full queue");
    bl_context *c;
    bl_stats stats;
    bl_config config = {.device = "cpu", .workers = 1, .capacity = 1, .private_entries = 8, .stall_seconds = 5};
    config.caller_waits = 1; /* so that a stall is reported */
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    CHECK_SAME(bl_run(c, burst_cpu(), NULL, &(uint32_t){CHAIN}, 1, &stats), BL_OK);
    CHECK_SAME(stats.tasks, CHAIN + LEAVES + RANGE);
    bl_close(c);
}

/* ---- one thread's work ---- */

static BL_TASK void only_run(bl_task *t, const uint32_t *payload, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)t, (void)payload, (void)index, (void)shared, (void)local;
    bl_spend(100000);
}

#define BL_PROGRAM only
#define BL_PAYLOAD uint32_t
#define BL_RUN only_run
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

static void expect_balanced(void) {
    check_at("one task");
    bl_context *c;
    bl_stats stats;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 3}), BL_OK);
    CHECK_SAME(bl_run(c, only_cpu(), NULL, &(uint32_t){0}, 1, &stats), BL_OK);
    CHECK(stats.balance == 1);
    bl_close(c);
}

int main(void) {
    static const uint32_t mixes[] = {0, 1, 2, 5, 7};
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
            expect_tree((bl_config){.device = "cpu", .workers = workers}, 11, mixes[i]);
            expect_tree((bl_config){.device = "cpu", .workers = workers, .private_entries = 2, .capacity = 2}, 9,
                        mixes[i]);
        }
    expect_watched();
    expect_burst();
    expect_balanced();
    return check_end();
}
