/* Pieces (pieces.h), for few particles: stages follow each other in waves. On a GPU a meeting of all blocks takes less
 * time than a search for the next task. */
#ifndef BALLAST_OCTREE_WAVES_TASK_H
#define BALLAST_OCTREE_WAVES_TASK_H

#include "pieces_run.h"

#define BL_PROGRAM octree_waves
#define BL_SCHEDULERS (BL_SCHEDULER_list | BL_SCHEDULERS_OWN_GROUP)
#if BL_WARP > 1
#define BL_AUTO "list:faa"
#endif
#include "pieces_program.inc.h"

#endif
