/* Pieces (pieces.h), for many particles: a worker that finds no more of a stage takes a task of another octant. */
#ifndef BALLAST_OCTREE_PIECES_TASK_H
#define BALLAST_OCTREE_PIECES_TASK_H

#include "pieces_run.h"

#define BL_PROGRAM octree_pieces
#define BL_SCHEDULERS BL_SCHEDULERS_OWN_GROUP
#include "pieces_program.inc.h"

#endif
