/* Programs for runs over several nodes, for the target of the file that includes this one. */
#include "nodes_trees.h"

#define BL_PROGRAM wood
#define BL_PAYLOAD wood_place
#define BL_SHARED wood_shared
#define BL_LOCAL wood_totals
#define BL_RUN wood_run
#define BL_MERGE wood_merge
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

#define BL_PROGRAM twig
#define BL_PAYLOAD wood_place
#define BL_SHARED wood_shared
#define BL_LOCAL wood_totals
#define BL_RUN twig_run
#define BL_MERGE wood_merge
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

#define BL_PROGRAM branch
#define BL_PAYLOAD wood_place
#define BL_SHARED wood_shared
#define BL_LOCAL wood_totals
#define BL_RUN branch_run
#define BL_MERGE wood_merge
#define BL_RESULT branch_text
#define BL_JOIN branch_join
#define BL_JOIN_WIDTH 6
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

/* Tasks of a block. */
#define BL_PROGRAM stem
#define BL_PAYLOAD wood_place
#define BL_SHARED wood_shared
#define BL_LOCAL wood_totals
#define BL_RUN branch_run
#define BL_MERGE wood_merge
#define BL_RESULT branch_text
#define BL_JOIN branch_join
#define BL_JOIN_WIDTH 6
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 0
#define BL_OPEN 1
#include <ballast/program.h>

#define BL_PROGRAM bark
#define BL_PAYLOAD wood_place
#define BL_RANGE_RUN bark_run
#define BL_RESULT uint32_t
#define BL_REDUCE bark_reduce
#define BL_LANE_TASKS 1
#define BL_OPEN 1
#include <ballast/program.h>

/* A GPU's kernel has no code to share. */
#define BL_PROGRAM lonely
#define BL_PAYLOAD wood_place
#define BL_SHARED wood_shared
#define BL_LOCAL wood_totals
#define BL_RUN wood_run
#define BL_MERGE wood_merge
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_SCHEDULERS BL_SCHEDULERS_OWN_GROUP
#include <ballast/program.h>
