#include "spawn_tree.h"

#include "common/parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEPTH_MOST = 30, CHAIN_MOST = 1000000, CHILDREN_MOST = 2 };

typedef struct spawn_tree {
    uint32_t depth;
    spawn_shape shape;
} spawn_tree;

static const app_option spawn_tree_options[] = {
    {"--depth", "N", "10", "levels below the root, 0 to 30; of a chain 0 to 1000000"},
    {"--children", "N", "2", "of each task but the last ones: 2, or 1 for a chain"},
    {NULL, NULL, NULL, NULL},
};

static int spawn_tree_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    (void)seed;
    spawn_tree read;
    if (!parse_u32(values[1], &read.shape.children) || read.shape.children < 1 || read.shape.children > CHILDREN_MOST)
        return app_wrong(error, 2, "--children: \"%.100s\" is invalid; accepted: 1 or 2", values[1]);
    const uint32_t most = read.shape.children == 1 ? CHAIN_MOST : DEPTH_MOST;
    if (!parse_u32(values[0], &read.depth) || read.depth > most)
        return app_wrong(error, 2, "--depth: \"%.100s\" is invalid; accepted: a whole number from 0 to %u", values[0],
                         (unsigned)most);
    spawn_tree *tree = malloc(sizeof *tree);
    if (tree == NULL)
        return app_wrong(error, 1, "spawn_tree: %s", bl_status_text(BL_ENOMEM));
    *tree = read;
    *problem = tree;
    return 0;
}

static void spawn_tree_close(void *problem) { free(problem); }

APP_PROGRAM(spawn_tree_program, spawn_tree)

static int spawn_tree_load(void *problem, bl_context *context) {
    (void)problem, (void)context;
    return spawn_tree_program() ? BL_OK : BL_ENOMEM;
}
static void spawn_tree_unload(void *problem, bl_context *context) { (void)problem, (void)context; }

static int spawn_tree_start(void *problem, bl_context *context, bl_stats *stats) {
    const spawn_tree *tree = problem;
    const spawn_node root = {tree->depth};
    return bl_run(context, spawn_tree_program(), &tree->shape, &root, 1, stats);
}

static bool spawn_tree_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    const spawn_tree *tree = problem;
    const uint64_t tasks = tree->shape.children == 1 ? UINT64_C(1) + tree->depth : (UINT64_C(2) << tree->depth) - 1;
    (void)force;
    *how = "known";
    if (stats->tasks != tasks)
        app_wrong(error, 1, "spawn_tree: %" PRIu64 " tasks instead of %" PRIu64, stats->tasks, tasks);
    return stats->tasks == tasks;
}

const app spawn_tree_app = {
    .name = "spawn_tree",
    .text = "a binary tree, or a chain, of tasks that only spawn",
    .options = spawn_tree_options,
    .open = spawn_tree_open,
    .close = spawn_tree_close,
    .program = spawn_tree_program,
    .load = spawn_tree_load,
    .unload = spawn_tree_unload,
    .run = spawn_tree_start,
    .check = spawn_tree_check,
};
