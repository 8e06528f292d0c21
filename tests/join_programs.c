/* The programs of join_trees.h, for the target of the file that includes this one. */
#include "join_trees.h"

#define BL_PROGRAM words
#define BL_PAYLOAD word_node
#define BL_RUN word_run
#define BL_RESULT word
#define BL_JOIN word_join
#define BL_JOIN_WIDTH JOINS_WIDTH
#define BL_LANE_TASKS 1
#include <ballast/program.h>

#define BL_PROGRAM leaves
#define BL_PAYLOAD leaf_node
#define BL_RUN leaf_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_MAX_SPAWN 2
#define BL_LANE_TASKS 1
#include <ballast/program.h>
