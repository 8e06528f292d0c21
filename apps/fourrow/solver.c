/* The exact solver on a device: one run for any number of positions, which share the table. */
#define FOURROW_WITHOUT_PROGRAM
#include "solver.h"

#include "common/app.h"

#include <stdlib.h>
#include <string.h>

/* At most 64 MB; problems for the simulated machine are so small that 512 KB are plenty. */
enum { TABLE_BITS = 23, SIM_TABLE_BITS = 16 };

/* The search of an unsplit position takes milliseconds on a CPU: long compared with a fork and a join, short compared
 * with a stall. A GPU lane is far slower, but there are many of them. */
enum { SPLIT_STONES = 16, CUDA_SPLIT_STONES = 20 };
_Static_assert(SPLIT_STONES <= FOURROW_SPLIT_MOST && CUDA_SPLIT_STONES <= FOURROW_SPLIT_MOST,
               "lines of play fit a word");

static bool runs_on(const bl_context *context, bl_device_kind kind) {
    return (bl_device_traits(bl_device_id(context)) & kind) != 0;
}

APP_PROGRAM(fourrow_solve_program, fourrow_solve)

static size_t table_bytes(const fourrow_table *table) { return sizeof *table->words << table->bits; }

void fourrow_solver_unload(fourrow_solver *solver, bl_context *context) {
    if (solver->shared.table.words)
        bl_free(context, solver->shared.table.words);
    if (solver->shared.nodes)
        bl_free(context, solver->shared.nodes);
    *solver = (fourrow_solver){.shared = {.nodes = NULL}};
}

/* The number of empty cells limits the number of positions. */
static uint32_t table_bits(const bl_context *context, uint32_t empty) {
    uint32_t bits = 6 + empty * 5 / 8, most = runs_on(context, BL_DEVICE_SIMULATED) ? SIM_TABLE_BITS : TABLE_BITS;
    return bits < most ? bits : most;
}

int fourrow_solver_load(fourrow_solver *solver, bl_context *context, uint32_t empty) {
    void *words = NULL, *nodes = NULL;
    uint32_t bits = table_bits(context, empty);
    *solver = (fourrow_solver){.shared = {.table = {.bits = bits},
                                          .split = runs_on(context, BL_DEVICE_GPU) ? CUDA_SPLIT_STONES : SPLIT_STONES}};
    int status = fourrow_solve_program() ? bl_alloc(context, &words, table_bytes(&solver->shared.table)) : BL_ENOMEM;
    if (status == BL_OK)
        status = bl_combine(context, words, NULL); /* what it does not know is searched again */
    if (status == BL_OK)
        status = bl_alloc(context, &nodes, sizeof *solver->shared.nodes);
    if (status == BL_OK)
        status = bl_combine(context, nodes, app_add_counts);
    solver->shared.table.words = words;
    solver->shared.nodes = nodes;
    if (status != BL_OK)
        fourrow_solver_unload(solver, context);
    return status;
}

static fourrow_question *questions(const fourrow_board *boards, uint32_t count) {
    fourrow_question *roots = calloc(count ? count : 1, sizeof *roots);
    for (uint32_t i = 0; roots && i < count; i++)
        roots[i] = (fourrow_question){.board = boards[i], .kind = FOURROW_SCORE};
    return roots;
}

static int clear(const fourrow_solver *solver, bl_context *context) {
    const fourrow_table *table = &solver->shared.table;
    int status = bl_zero(context, table->words, table_bytes(table));
    return status == BL_OK ? bl_zero(context, solver->shared.nodes, sizeof *solver->shared.nodes) : status;
}

int fourrow_solver_run(const fourrow_solver *solver, bl_context *context, const fourrow_board *boards, uint32_t count,
                       int32_t *scores, uint64_t *nodes, bl_stats *stats) {
    fourrow_question *roots = questions(boards, count);
    if (!roots)
        return BL_ENOMEM;
    int status = clear(solver, context);
    if (status == BL_OK)
        status = bl_run_join(context, fourrow_solve_program(), &solver->shared, roots, count, scores, stats);
    if (status == BL_OK)
        status = app_add_memories(context, nodes, solver->shared.nodes);
    free(roots);
    return status;
}
