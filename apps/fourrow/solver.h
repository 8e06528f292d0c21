/* The exact solver on a device, for the host: its memory and its runs. */
#ifndef BALLAST_FOURROW_SOLVER_H
#define BALLAST_FOURROW_SOLVER_H

#include "fourrow.h"

typedef struct fourrow_solver {
    fourrow_solve_shared shared; /* pointers into memory of the context's device; zeroed: not loaded */
} fourrow_solver;

/* For positions with up to `empty` empty cells. Returns a bl_status; nothing is left loaded when it fails. */
int fourrow_solver_load(fourrow_solver *solver, bl_context *context, uint32_t empty);
void fourrow_solver_unload(fourrow_solver *solver, bl_context *context);

/* The scores of `count` positions, each seen by its side to move, with an empty table at the start. `nodes`:
 * positions looked at, which depends on the order of the tasks. Returns a bl_status. */
int fourrow_solver_run(const fourrow_solver *solver, bl_context *context, const fourrow_board *boards, uint32_t count,
                       int32_t *scores, uint64_t *nodes, bl_stats *stats);

#endif
