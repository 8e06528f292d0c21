/* bl_run and its like. */
#include "job.h"

/* What all of them begin and end with. */
static int run_call(bl_context *c, bl__request q, bl_stats *stats) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    if (!c->dead) /* else it says why */
        bl__detail_clear(c);
    status = bl__nodes_check(c, &q, c);
    if (status != BL_OK)
        return bl__leave(c, status);
    bl_stats all = {.tasks = 0};
    status = bl__nodes_run(c, &q, stats ? &all : NULL);
    bl__stats_give(c, stats, &all);
    return bl__leave(c, status);
}

int bl_run(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
           bl_stats *stats) {
    return run_call(c, bl__request_roots(program, shared, roots, count), stats);
}

int bl_run_join(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                void *results, bl_stats *stats) {
    return run_call(c, bl__request_results(bl__request_roots(program, shared, roots, count), results), stats);
}

int bl_run_range(bl_context *c, const bl_program *program, const void *shared, const void *payload, uint64_t count,
                 bl_stats *stats) {
    return run_call(c, bl__request_range(program, shared, payload, count), stats);
}

int bl_run_reduce(bl_context *c, const bl_program *program, const void *shared, const void *payload, uint64_t count,
                  void *result, bl_stats *stats) {
    return run_call(c, bl__request_reduction(bl__request_range(program, shared, payload, count), result), stats);
}
