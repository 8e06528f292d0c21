// COMPILE: -O1
/* Joins on every scheduler: results in order, forks made by joins, sums, records that run out and grow, hundreds of
 * roots, and rejected calls. test_joins_sim.c runs the same tests on the simulated machine. */
#include "check.h"
#include "config.h"
#include "target.h"

#include "join_trees.h"

#include <stdlib.h>

#define WORDS PROGRAM(words)
#define LEAVES PROGRAM(leaves)
#ifdef BL_TARGET_SIM
enum { DEPTH = 4, ROOTS = 9, SEEDS = 3, SMALL = 64 };
#else
enum { DEPTH = 9, ROOTS = 40, SEEDS = 2, SMALL = 4096 };
#endif

static bl_context *open_with(bl_config config) { return config_open(DEVICE, config); }

static void try_words(bl_context *c, uint32_t roots) {
    word_node nodes[ROOTS];
    word results[ROOTS];
    uint64_t tasks = 0;
    bl_stats stats;
    memset(results, 0, sizeof results);
    for (uint32_t i = 0; i < roots; i++)
        nodes[i] = (word_node){i * 7919u + 3, DEPTH, 0};
    if (!CHECK_SAME(bl_run_join(c, WORDS, NULL, nodes, roots, results, &stats), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    for (uint32_t i = 0; i < roots; i++) {
        word expected = word_expect(nodes[i], 0);
        CHECK(results[i].text == expected.text && results[i].tasks == expected.tasks &&
              results[i].depth == expected.depth);
        tasks += expected.tasks;
    }
    CHECK_SAME(stats.tasks, tasks);
}

static void try_leaves(bl_context *c, uint32_t roots) {
    leaf_node nodes[ROOTS];
    uint64_t results[ROOTS], tasks = 0;
    bl_stats stats;
    for (uint32_t i = 0; i < roots; i++)
        nodes[i] = (leaf_node){i * 104729u + 1, DEPTH};
    if (!CHECK_SAME(bl_run_join(c, LEAVES, NULL, nodes, roots, results, &stats), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    for (uint32_t i = 0; i < roots; i++)
        CHECK_SAME(results[i], leaf_expect(nodes[i], 0, &tasks));
    CHECK_SAME(stats.tasks, tasks);
}

/* Default memory, and as little as possible, so that records run out. */
static void test_schedulers(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        for (uint32_t seed = 1; seed <= SEEDS; seed++) {
            bl_config config = {.scheduler = scheduler, .seed = seed, .workers = 1 + (i + seed) % 4};
            config.capacity = seed % 2 ? 0 : 2;
            config.private_entries = seed % 2 ? 0 : 1;
            check_at("%s, %u workers, seed %u", scheduler, config.workers, seed);
            bl_context *c = open_with(config);
            try_words(c, ROOTS);
            try_leaves(c, ROOTS);
            try_words(c, 1);
            bl_close(c);
        }
}

/* A chain of records, longer than the initial number of records. */
static void test_growth(void) {
    bl_config config = {.workers = 2, .capacity = 2};
    bl_context *c = open_with(config);
    bl_stats stats;
    leaf_node node = {12345, DEPTH + 6};
    uint64_t result, tasks = 0, expected = leaf_expect(node, 0, &tasks);
    check_at("growth");
    CHECK_SAME(bl_run_join(c, LEAVES, NULL, &node, 1, &result, &stats), BL_OK);
    CHECK_SAME(result, expected);
    CHECK_SAME(stats.tasks, tasks);
    CHECK(stats.pauses > 0);
    bl_close(c);
}

/* A run begins with the queues and records that the last one has left. If any of them were lost on the way, some run
 * would have to pause for more. */
static void test_repeats(void) {
    bl_context *c = open_with((bl_config){.workers = 3, .seed = 5, .capacity = SMALL});
    uint32_t pauses = 0;
    for (uint32_t i = 0; i < 60; i++) {
        leaf_node node = {i % 5 * 31u + 1, 1 + i % DEPTH};
        uint64_t result = 0, tasks = 0, expected = leaf_expect(node, 0, &tasks);
        bl_stats stats;
        check_at("run %u", i);
        CHECK_SAME(bl_run_join(c, LEAVES, NULL, &node, 1, &result, &stats), BL_OK);
        CHECK_SAME(result, expected);
        CHECK_SAME(stats.tasks, tasks);
        pauses += stats.pauses;
        if (i % 20 == 7)
            try_words(c, 2); /* records of another size */
        if (i % 20 == 13)
            CHECK_SAME(bl_trim(c), BL_OK);
    }
    CHECK_SAME(pauses, 0);
    bl_close(c);
}

#ifdef BL_TARGET_SIM
static void test_groups(void) {
    static const char *const groups[] = {"lane", "warp", "block:16", "block:32"};
    for (uint32_t i = 0; i < 4 * 8; i++) {
        check_at("%s, seed %u", groups[i % 4], i + 1);
        bl_context *c = open_with((bl_config){.group = groups[i % 4], .seed = i + 1, .workers = 1 + i % 3});
        try_words(c, 3);
        try_leaves(c, 3);
        bl_close(c);
    }
}
#else
static void test_groups(void) {}
#endif

static void test_refusals(void) {
    bl_context *c = open_with((bl_config){.workers = 1});
    word_node node = {1, 2, 0};
    word result;
    check_at("refusals");
    CHECK_SAME(bl_run_join(c, WORDS, NULL, &node, 1, NULL, NULL), BL_EINVAL);
    CHECK_SAME(bl_run_join(c, WORDS, NULL, NULL, 1, &result, NULL), BL_EINVAL);
    CHECK_SAME(bl_run_join(c, WORDS, NULL, &node, 0, &result, NULL), BL_OK);
    CHECK_SAME(bl_run(c, WORDS, NULL, &node, 1, NULL), BL_OK); /* the result is discarded */
    bl_close(c);
}

int main(void) {
    check_limit(240);
    test_schedulers();
    test_growth();
    test_repeats();
    test_groups();
    test_refusals();
    return check_end();
}
