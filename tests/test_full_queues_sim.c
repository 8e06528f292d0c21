// COMPILE: -O1
/* Long tasks and small queues, in virtual time: warps fill their lanes from queues that are full or empty, stacks run
 * full, and runs pause and grow. Some fail in the middle. Every task runs once, and what a failed run leaves is counted
 * right. */
#include "check.h"
#include "sim/machine.h"

#include <ballast/task.h>

typedef struct node {
    uint32_t depth, fails;
} node;

/* A ternary tree; its tasks are long, or very long. */
static BL_TASK void tree_run(bl_task *t, const node *n, uint32_t index, const bl_nothing *shared, bl_nothing *local) {
    const node next = {n->depth - 1, n->fails};
    (void)shared, (void)local;
    bl_spend((n->depth % 3 ? 1 : 5) * BL_LONG_TICKS);
    if (n->fails && n->depth == 1 && index == 1)
        bl_fail(t, 42, n);
    if (n->depth) {
        bl_spawn_n(t, &next, 2);
        bl_spawn(t, &next);
    }
}
#define BL_PROGRAM tree
#define BL_PAYLOAD node
#define BL_RUN tree_run
#define BL_MAX_SPAWN 2
#define BL_LANE_TASKS 1
#include <ballast/program.h>

static const char *const schedulers[] = {"steal:steal_many", "steal:abp",          "steal:chase_lev", "steal:broker",
                                         "steal:ms",         "range:packed_range", "range:the_range", "central:broker",
                                         "central:tz",       "donate:bwd"};
enum { SCHEDULERS = sizeof schedulers / sizeof schedulers[0], RUNS = 60 * SCHEDULERS };

static void count_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    (void)payload;
    *(uint64_t *)arg += end - begin;
}

/* True: it has paused. */
static bool run_one(uint32_t i) {
    const uint32_t x = i * 2654435761u + 12345, depth = 3 + (x >> 28) % 4, fails = i % 3 == 0;
    const char *scheduler = schedulers[i % SCHEDULERS];
    const node root = {depth, fails};
    uint64_t left = 0, tasks = 1;
    bl_config config = {.device = "sim",
                        .scheduler = scheduler,
                        .workers = 2 + (x >> 8) % 12,
                        .capacity = 1u << (x >> 16) % 4,
                        .private_entries = (x >> 20) % 4 ? 1 + (x >> 22) % 9 : BL_NONE,
                        .seed = i + 1,
                        .left = count_left,
                        .left_arg = &left};
    if (bl_scheduler_traits(scheduler) & BL_TRAIT_STEALS && !(bl_scheduler_traits(scheduler) & BL_TRAIT_RANGES) &&
        i % 4 == 1)
        config.steal = BL_STEAL_HALF;
    bl_context *c;
    bl_stats stats = {0};
    for (uint32_t level = 0; level < depth; level++)
        tasks = 3 * tasks + 1;
    check_at("%s, run %u", scheduler, i);
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
        return false;
    CHECK_SAME(bl_run(c, tree_sim(), NULL, &root, 1, &stats), fails ? BL_ETASK : BL_OK);
    if (!fails)
        CHECK_SAME(stats.tasks, tasks);
    CHECK_SAME(stats.left, left);
    CHECK(fails || left == 0);
    bl_close(c);
    return stats.pauses > 0;
}

int main(void) {
    uint32_t paused = 0;
    check_limit(120);
    bl_sim_use_time(true);
    for (uint32_t i = 0; i < RUNS; i += CHECK_SLOWER)
        paused += run_one(i);
    check_at("pauses");
    CHECK(paused > RUNS / CHECK_SLOWER / 8);
    return check_end();
}
