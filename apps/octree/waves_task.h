/* Pieces (pieces.h), for few particles: stages follow each other in waves. On a GPU that is a few microseconds sooner
 * than to look for the next task. */
#ifndef BALLAST_OCTREE_WAVES_TASK_H
#define BALLAST_OCTREE_WAVES_TASK_H

#include "pieces_run.h"

#define BL_PROGRAM octree_waves
#define BL_PAYLOAD octree_piece
#define BL_SHARED octree_pieces_shared
#define BL_SCRATCH octree_pieces_scratch
#define BL_RUN octree_pieces_run
#define BL_MAX_SPAWN OCTREE_MOST_SPAWNED
#define BL_LANES 512
#define BL_SCHEDULERS (BL_SCHEDULER_list | BL_SCHEDULERS_OWN_GROUP)
#if BL_WARP > 1
#define BL_AUTO "list:faa"
#endif
#include <ballast/program.h>

#endif
