/* The worker loop on the simulated machine: every scheduler with lanes, warps and blocks, under many schedules, with
 * little memory. A failure names the seed, and the same seed reproduces it. */
#include "check.h"
#include "config.h"

#define TREE_NAME lane_tree
#define TREE_LANE_TASKS 1
#include "tree_program.h"
#define TREE_NAME block_tree
#define TREE_LANE_TASKS 0
#include "tree_program.h"

#include <stdlib.h>

#ifndef BL_TARGET_SIM
#error "compile this test with -DBL_TARGET_SIM"
#endif

enum { SEEDS = 8 };

static bl_context *open_with(bl_config config) { return config_open("sim", config); }

static bl_stats run_tree(bl_context *c, const bl_program *program, tree_node node, uint32_t indices) {
    tree_totals totals = {0, 0}, expected = tree_expect(node, indices);
    tree_shared shared = {&totals};
    bl_stats stats;
    memset(&stats, 0, sizeof stats);
    int status = bl_run_range(c, program, &shared, &node, indices, &stats);
    if (!CHECK_SAME(status, BL_OK))
        printf("    %s\n", bl_error_detail(c));
    CHECK_SAME(totals.tasks, expected.tasks);
    CHECK_SAME(totals.sum, expected.sum);
    CHECK_SAME(stats.tasks, expected.tasks);
    return stats;
}

static void try_group(const bl_program *program, const char *scheduler, const char *group, uint32_t lanes,
                      uint64_t seed) {
    static const uint32_t privates[] = {BL_NONE, 1, 0}, workers[] = {1, 2, 4, 6};
    bl_config config = {.scheduler = scheduler,
                        .group = group,
                        .seed = seed,
                        .workers = workers[seed % 4],
                        .capacity = seed % 5 ? 2 : 0,
                        .private_entries = privates[seed % 3],
                        .steal = seed % 7 ? BL_STEAL_ONE : BL_STEAL_HALF};
    check_at("%s, group %s, seed %llu, %u workers", scheduler, group, (unsigned long long)seed, config.workers);
    bl_context *c = open_with(config);
    bl_stats s = run_tree(c, program, (tree_node){3, 4, 0}, 1);
    CHECK_SAME(s.workers, config.workers);
    CHECK_SAME(s.lanes, lanes);
    CHECK(!strcmp(s.group, group));
    if (!is_static(scheduler))
        CHECK_SAME(s.launches, s.pauses + 1);
    s = run_tree(c, program, (tree_node){2, 5, 1}, 30);
    if (is_static(scheduler))
        CHECK_SAME(s.launches, 3);
    run_tree(c, program, (tree_node){0, 0, 0}, 100);
    bl_close(c);
}

static void test_groups(void) {
    const char *scheduler, *standard = "auto";
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            try_group(lane_tree_sim(), scheduler, "lane", BL_WARP, seed);
            try_group(block_tree_sim(), scheduler, "warp", BL_WARP, seed);
            try_group(block_tree_sim(), scheduler, "block:16", 16, seed);
        }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) { /* the other kind of group runs with the standard scheduler */
        try_group(lane_tree_sim(), standard, "warp", BL_WARP, seed);
        try_group(lane_tree_sim(), standard, "block:24", 24, seed);
        try_group(block_tree_sim(), standard, "lane", BL_WARP, seed);
    }
}

/* Without a group the program's own is used, and every scheduler also runs with the other kind; a program of another
 * target is an error. */
static void test_choice(void) {
    tree_totals totals = {0, 0};
    tree_shared shared = {&totals};
    tree_node node = {1, 2, 0};
    check_at("choice of group");
    bl_context *c = open_with((bl_config){.scheduler = "steal:abp"});
    CHECK(!strcmp(run_tree(c, lane_tree_sim(), node, 1).group, "lane"));
    CHECK(!strncmp(run_tree(c, block_tree_sim(), node, 1).group, "block:", 6));
    bl_close(c);
    static const char *const wrong[] = {"block:0", "block:7", "block:1032", "block:16x", "block:-8", "thread"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        c = open_with((bl_config){.group = wrong[i]});
        CHECK_SAME(bl_run(c, lane_tree_sim(), &shared, &node, 1, NULL), BL_EINVAL);
        bl_close(c);
    }
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++) {
        c = open_with((bl_config){.scheduler = scheduler, .group = "warp"});
        CHECK(!strcmp(run_tree(c, lane_tree_sim(), node, 1).group, "warp"));
        bl_close(c);
        c = open_with((bl_config){.scheduler = scheduler, .group = "lane"});
        CHECK(!strcmp(run_tree(c, block_tree_sim(), node, 1).group, "lane"));
        bl_close(c);
    }
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu"}), BL_OK);
    CHECK_SAME(bl_run(c, lane_tree_sim(), &shared, &node, 1, NULL), BL_ENOCODE);
    bl_close(c);
    CHECK_SAME(totals.tasks, 0);
}

/* ---- a task that fails, and lanes that wait for each other for ever ---- */

static BL_TASK void fail_run(bl_task *t, const uint32_t *payload, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    if (index == 13 && t->lane == t->lanes - 1)
        bl_fail(t, index, payload);
}
#define BL_PROGRAM fail
#define BL_PAYLOAD uint32_t
#define BL_RUN fail_run
#include <ballast/program.h>

static BL_TASK void stuck_run(bl_task *t, const uint32_t *payload, uint32_t index, const bl_nothing *shared,
                              bl_nothing *local) {
    (void)payload, (void)index, (void)shared, (void)local;
    if (t->lane < 4)
        bl_warp_sync(); /* the rest of the warp is elsewhere */
    bl_sync(t);
}
#define BL_PROGRAM stuck
#define BL_PAYLOAD uint32_t
#define BL_RUN stuck_run
#include <ballast/program.h>

static void test_errors(void) {
    const char *scheduler;
    uint32_t payload = 0;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        check_at("%s, task error", scheduler);
        bl_context *c = open_with((bl_config){.scheduler = scheduler});
        CHECK_SAME(bl_run_range(c, fail_sim(), NULL, &payload, 100, NULL), BL_ETASK);
        CHECK_SAME(bl_run_range(c, fail_sim(), NULL, &payload, 13, NULL), BL_OK);
        bl_close(c);
    }
    check_at("lanes that wait for ever");
    bl_context *c = open_with((bl_config){.workers = 1, .group = "block:16"}); /* other workers would search for ever */
    CHECK_SAME(bl_run(c, stuck_sim(), NULL, &payload, 1, NULL), BL_ESTALL);
    CHECK(strstr(bl_error_detail(c), "wait") && strstr(bl_error_detail(c), "in a task"));
    CHECK_SAME(bl_run_range(c, fail_sim(), NULL, &payload, 13, NULL), BL_OK);
    bl_close(c);
}

/* The same seed gives the same run. */
static void test_reproducible(void) {
    check_at("reproducible");
    bl_stats s[2];
    for (int i = 0; i < 2; i++) {
        bl_context *c = open_with((bl_config){.scheduler = "steal:abp", .seed = 77, .capacity = 2});
        s[i] = run_tree(c, lane_tree_sim(), (tree_node){5, 3, 0}, 2);
        bl_close(c);
    }
    CHECK_SAME(s[0].steals, s[1].steals);
    CHECK_SAME(s[0].steal_attempts, s[1].steal_attempts);
    CHECK_SAME(s[0].peak_entries, s[1].peak_entries);
}

int main(void) {
    check_limit(220);
    test_choice();
    test_errors();
    test_reproducible();
    test_groups();
    return check_end();
}
