#include "spawn_tree.h"

#include "common/parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEPTH_MOST = 30 };

typedef struct spawn_tree {
    uint32_t depth;
} spawn_tree;

static const app_option spawn_tree_options[] = {
    {"--depth", "N", "10", "levels below the root, 0 to 30"},
    {NULL, NULL, NULL, NULL},
};

static int spawn_tree_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    (void)seed;
    spawn_tree read;
    if (!parse_u32(values[0], &read.depth) || read.depth > DEPTH_MOST)
        return app_wrong(error, 2, "--depth: \"%.100s\" is invalid; accepted: a whole number from 0 to %d", values[0],
                         DEPTH_MOST);
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
    const spawn_node root = {((const spawn_tree *)problem)->depth};
    return bl_run(context, spawn_tree_program(), NULL, &root, 1, stats);
}

static bool spawn_tree_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    const uint64_t tasks = (UINT64_C(2) << ((const spawn_tree *)problem)->depth) - 1;
    (void)force;
    *how = "known";
    if (stats->tasks != tasks)
        app_wrong(error, 1, "spawn_tree: %" PRIu64 " tasks instead of %" PRIu64, stats->tasks, tasks);
    return stats->tasks == tasks;
}

const app spawn_tree_app = {
    .name = "spawn_tree",
    .text = "a binary tree of tasks that only spawn",
    .options = spawn_tree_options,
    .open = spawn_tree_open,
    .close = spawn_tree_close,
    .program = spawn_tree_program,
    .load = spawn_tree_load,
    .unload = spawn_tree_unload,
    .run = spawn_tree_start,
    .check = spawn_tree_check,
};
