/* Pieces (pieces.h), for many particles: a worker that finds no more of a stage takes a task of the next one. */
#ifndef BALLAST_OCTREE_PIECES_TASK_H
#define BALLAST_OCTREE_PIECES_TASK_H

#include "pieces_run.h"

#define BL_PROGRAM octree_pieces
#define BL_PAYLOAD octree_piece
#define BL_SHARED octree_pieces_shared
#define BL_SCRATCH octree_pieces_scratch
#define BL_RUN octree_pieces_run
#define BL_MAX_SPAWN OCTREE_MOST_SPAWNED
#define BL_LANES 512
#define BL_SCHEDULERS BL_SCHEDULERS_OWN_GROUP
#include <ballast/program.h>

#endif
