/* The application `nqueens`: its interface to the command line, the tests and the benchmarks. */
#include "nqueens.h"

#include "../common/app.h"
#include "../common/parse.h"
#include "counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct nqueens {
    uint32_t n;
    uint64_t *solutions;   /* in device memory */
    nqueens_counts counts; /* of the last run */
} nqueens;

static const app_option nqueens_options[] = {
    {"--n", "N", "12", "queens, and squares per side of the board, 1 to 18"},
    {NULL, NULL, NULL, NULL},
};

static int nqueens_app_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    (void)seed;
    uint32_t n;
    if (!parse_u32(values[0], &n) || n < 1 || n > NQUEENS_MOST) {
        snprintf(error->text, sizeof error->text, "--n: \"%.100s\" is invalid; accepted: a whole number from 1 to %d",
                 values[0], NQUEENS_MOST);
        return 2;
    }
    nqueens *q = (nqueens *)calloc(1, sizeof *q);
    if (q == NULL) {
        snprintf(error->text, sizeof error->text, "nqueens: %s", bl_status_text(BL_ENOMEM));
        return 1;
    }
    q->n = n;
    *problem = q;
    return 0;
}

static void nqueens_app_close(void *problem) { free(problem); }

APP_PROGRAM(nqueens_app_program, nqueens)

static int nqueens_app_load(void *problem, bl_context *context) {
    nqueens *q = (nqueens *)problem;
    void *solutions = NULL;
    if (!nqueens_app_program())
        return BL_ENOMEM;
    int status = bl_alloc(context, &solutions, sizeof *q->solutions);
    q->solutions = status == BL_OK ? (uint64_t *)solutions : NULL;
    return status == BL_OK ? bl_combine(context, solutions, app_add_counts) : status;
}

static void nqueens_app_unload(void *problem, bl_context *context) {
    nqueens *q = (nqueens *)problem;
    if (q->solutions != NULL)
        bl_free(context, q->solutions);
    q->solutions = NULL;
}

/* The empty board with the indices 0 .. n-1: the columns of the first row. */
static int nqueens_app_run(void *problem, bl_context *context, bl_stats *stats) {
    nqueens *q = (nqueens *)problem;
    const nqueens_board empty = {0, 0, 0};
    const nqueens_shared shared = {q->solutions, (UINT32_C(1) << q->n) - 1, 0};
    int status = bl_zero(context, q->solutions, sizeof *q->solutions);
    if (status == BL_OK)
        status = bl_run_range(context, nqueens_app_program(), &shared, &empty, q->n, stats);
    if (status == BL_OK)
        status = app_add_memories(context, &q->counts.solutions, q->solutions);
    if (status == BL_OK)
        q->counts.nodes = stats->tasks;
    return status;
}

/* Also checks the nodes: a lost dead end would not change the number of solutions. */
static bool nqueens_app_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    (void)stats, (void)force;
    const nqueens *q = (const nqueens *)problem;
    const nqueens_counts known = nqueens_known(q->n);
    *how = "known";
    if (q->counts.solutions == known.solutions && q->counts.nodes == known.nodes)
        return true;
    snprintf(error->text, sizeof error->text,
             "nqueens: %" PRIu64 " solutions, %" PRIu64 " tasks, but %" PRIu32 " queens have %" PRIu64 ", %" PRIu64,
             q->counts.solutions, q->counts.nodes, q->n, known.solutions, known.nodes);
    return false;
}

static const void *nqueens_app_found(const void *problem, size_t *bytes) {
    const nqueens *q = (const nqueens *)problem;
    *bytes = sizeof q->counts;
    return &q->counts;
}

/* Nodes are tasks, which the library has added up. */
static void nqueens_app_add(void *problem, const void *found) {
    ((nqueens *)problem)->counts.solutions += ((const nqueens_counts *)found)->solutions;
}

static void nqueens_app_print(const void *problem, FILE *out, bool json) {
    fprintf(out, json ? "\"solutions\": %" PRIu64 : "solutions %" PRIu64 "\n",
            ((const nqueens *)problem)->counts.solutions);
}

static const app_sample nqueens_samples[] = {
    {.options = "--n 1|2|3|4"},
    {.options = "--n 5..16"},
    {.options = NULL},
};

const app nqueens_app = {
    .name = "nqueens",
    .text = "n queens: counts the ways to place them, a task per queen placed",
    .options = nqueens_options,
    .open = nqueens_app_open,
    .close = nqueens_app_close,
    .program = nqueens_app_program,
    .load = nqueens_app_load,
    .unload = nqueens_app_unload,
    .run = nqueens_app_run,
    .check = nqueens_app_check,
    .print = nqueens_app_print,
    .found = nqueens_app_found,
    .add = nqueens_app_add,
    .samples = nqueens_samples,
};
