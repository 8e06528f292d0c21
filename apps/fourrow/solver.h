/* The exact solver on a device, for the host: its memory and its runs. */
#ifndef BALLAST_FOURROW_SOLVER_H
#define BALLAST_FOURROW_SOLVER_H

#include "fourrow.h"

typedef struct fourrow_solver {
    fourrow_solve_shared shared; /* pointers to device memory; zeroed: not loaded */
} fourrow_solver;

/* Not the app's main program: on a GPU it has the default scheduler only. */
const bl_program *fourrow_solve_program(void);

/* For positions with up to `empty` empty cells. Returns a bl_status; if it fails, nothing remains loaded. */
int fourrow_solver_load(fourrow_solver *solver, bl_context *context, uint32_t empty);
void fourrow_solver_unload(fourrow_solver *solver, bl_context *context);

/* The scores of `count` positions, each from the point of view of its side to move, starting with an empty table.
 * `nodes`: positions searched, which depends on the order of the tasks. Returns a bl_status. */
int fourrow_solver_run(const fourrow_solver *solver, bl_context *context, const fourrow_board *boards, uint32_t count,
                       int32_t *scores, uint64_t *nodes, bl_stats *stats);

#endif
