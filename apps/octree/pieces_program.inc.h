/* Template: a program whose tasks are pieces. Define BL_PROGRAM, BL_SCHEDULERS and, if it has one, BL_AUTO. */
#define BL_PAYLOAD octree_piece
#define BL_SHARED octree_pieces_shared
#define BL_SCRATCH octree_pieces_scratch
#define BL_RUN octree_pieces_run
#define BL_MAX_SPAWN OCTREE_MOST_SPAWNED
#define BL_LANES 512
#include <ballast/program.h>
