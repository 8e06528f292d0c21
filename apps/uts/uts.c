/* The application `uts`: its interface to the command line, the tests and the benchmarks. */
#include "uts_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this the direct rules take minutes and run only with --check. */
static const uint64_t twin_limit = 100000000;

typedef struct uts {
    uts_tree tree;
    uts_table table;
    uts_row *rows; /* the table and the totals, in device memory */
    uts_totals *totals;
    uts_counts counts; /* of the last run */
} uts;

static int uts_app_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    (void)seed; /* a tree has a separate seed: -r */
    uts_tree tree;
    int status = uts_tree_parse(&tree, values, error);
    if (status != 0)
        return status;
    uts *u = (uts *)calloc(1, sizeof *u);
    if (u == NULL || uts_table_make(&u->table, &tree) != BL_OK) {
        free(u);
        snprintf(error->text, sizeof error->text, "uts: %s", bl_status_text(BL_ENOMEM));
        return 1;
    }
    u->tree = tree;
    *problem = u;
    return 0;
}

static void uts_app_close(void *problem) {
    uts *u = (uts *)problem;
    uts_table_free(&u->table);
    free(u);
}

APP_PROGRAM(uts_app_program, uts)

static void unload_rows(uts *u, bl_context *context) {
    if (u->rows != NULL)
        bl_free(context, u->rows);
    u->rows = NULL;
}

static int load_rows(uts *u, bl_context *context) {
    size_t bytes = u->table.count * sizeof *u->table.rows;
    void *rows = NULL;
    int status = bl_alloc(context, &rows, bytes);
    u->rows = status == BL_OK ? (uts_row *)rows : NULL;
    if (status == BL_OK)
        status = bl_combine(context, rows, NULL); /* the same in all processes */
    return status == BL_OK ? bl_copy_in(context, rows, u->table.rows, bytes) : status;
}

static void combine_totals(void *into, const void *from, size_t bytes) {
    uts_totals *to = (uts_totals *)into;
    const uts_totals *other = (const uts_totals *)from;
    (void)bytes;
    to->leaves += other->leaves;
    to->depth = other->depth > to->depth ? other->depth : to->depth;
}

static void uts_app_unload(void *problem, bl_context *context) {
    uts *u = (uts *)problem;
    unload_rows(u, context);
    if (u->totals != NULL)
        bl_free(context, u->totals);
    u->totals = NULL;
}

static int uts_app_load(void *problem, bl_context *context) {
    uts *u = (uts *)problem;
    void *totals = NULL;
    if (!uts_app_program())
        return BL_ENOMEM;
    int status = bl_alloc(context, &totals, sizeof *u->totals);
    u->totals = status == BL_OK ? (uts_totals *)totals : NULL;
    if (status == BL_OK)
        status = bl_combine(context, totals, combine_totals);
    if (status == BL_OK)
        status = load_rows(u, context);
    if (status != BL_OK)
        uts_app_unload(u, context);
    return status;
}

static int run_below(uts *u, bl_context *context, uint32_t children, bl_stats *stats) {
    uts_node root = uts_root(&u->tree);
    uts_shared shared = {u->rows, u->totals, u->table.count, u->table.lasts};
    int status = bl_zero(context, u->totals, sizeof *u->totals);
    return status == BL_OK ? bl_run_range(context, uts_app_program(), &shared, &root, children, stats) : status;
}

/* A task reports that the tree is deeper than the table. Uses four times the rows and starts again; that happens
 * seldom, and only for trees whose depth no parameter bounds. */
static int deepen(uts *u, bl_context *context) {
    int status = uts_table_grow(&u->table, &u->tree);
    if (status != BL_OK)
        return status;
    unload_rows(u, context);
    return load_rows(u, context);
}

/* What tasks have found, in each memory. */
static int add_totals(const uts *u, bl_context *context, uts_totals *totals) {
    int status = BL_OK;
    for (uint32_t i = 0; i < bl_memories(context) && status == BL_OK; i++) {
        uts_totals found;
        status = bl_copy_out_of(context, i, &found, u->totals, sizeof found);
        if (status != BL_OK)
            break;
        totals->leaves += found.leaves;
        totals->depth = totals->depth > found.depth ? totals->depth : found.depth;
    }
    return status;
}

static int uts_count(uts *u, bl_context *context, uint32_t children, bl_stats *stats) {
    uts_totals totals = {.leaves = 0};
    int status = run_below(u, context, children, stats);
    while (status == BL_ETASK && !u->table.lasts) {
        status = deepen(u, context);
        if (status == BL_OK)
            status = run_below(u, context, children, stats);
    }
    if (status == BL_OK)
        status = add_totals(u, context, &totals);
    u->counts = (uts_counts){1 + stats->tasks, children > 0 ? totals.leaves : 1, totals.depth};
    return status;
}

/* The host processes the root, the run everything below it. */
static int uts_app_run(void *problem, bl_context *context, bl_stats *stats) {
    uts *u = (uts *)problem;
    return uts_count(u, context, uts_root_children(&u->tree), stats);
}

/* `expected` has 0 leaves if they are unknown. */
static bool counts_agree(const uts_counts *counts, const uts_counts *expected, const char *of, app_error *error) {
    if (counts->nodes == expected->nodes && counts->depth == expected->depth &&
        (counts->leaves == expected->leaves || expected->leaves == 0))
        return true;
    snprintf(error->text, sizeof error->text,
             "uts: %" PRIu64 " nodes, %" PRIu64 " leaves, depth %" PRIu32 ", but %s has %" PRIu64 ", %" PRIu64
             ", %" PRIu32,
             counts->nodes, counts->leaves, counts->depth, of, expected->nodes, expected->leaves, expected->depth);
    return false;
}

static bool uts_app_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    (void)stats;
    const uts *u = (const uts *)problem;
    const uts_known *known = uts_known_match(&u->tree);
    uts_counts expected;
    *how = "no";
    if (known != NULL) {
        *how = "known";
        return counts_agree(&u->counts, &known->counts, known->name, error);
    }
    if (!force && u->counts.nodes > twin_limit)
        return true;
    if (uts_twin(&u->tree, NULL, &expected) != BL_OK) {
        snprintf(error->text, sizeof error->text, "uts: no memory for the sequential twin");
        return false;
    }
    *how = "twin";
    return counts_agree(&u->counts, &expected, "the sequential twin", error);
}

static const void *uts_app_found(const void *problem, size_t *bytes) {
    const uts *u = (const uts *)problem;
    *bytes = sizeof u->counts;
    return &u->counts;
}

/* Nodes are tasks, which the library has added up. A root without children is the one leaf, in every process. */
static void uts_app_add(void *problem, const void *found) {
    uts_counts *counts = &((uts *)problem)->counts;
    const uts_counts *other = (const uts_counts *)found;
    if (counts->nodes > 1)
        counts->leaves += other->leaves;
    if (counts->depth < other->depth)
        counts->depth = other->depth;
}

static void uts_app_print(const void *problem, FILE *out, bool json) {
    const uts_counts *counts = &((const uts *)problem)->counts;
    fprintf(out,
            json ? "\"nodes\": %" PRIu64 ", \"leaves\": %" PRIu64 ", \"depth\": %" PRIu32
                 : "nodes %" PRIu64 "\nleaves %" PRIu64 "\ndepth %" PRIu32 "\n",
            counts->nodes, counts->leaves, counts->depth);
}

static const app_sample uts_samples[] = {
    {.options =
         "--tree "
         "T0<mini_T3_b1<mini_T1_d3<mini_T1_d5<mini_T3_b8<mini_T1_d7<mini_T1_d9<mini_T3_b200<T1<T3<T1_d11<T1L<T3L"},
    {.options = "-t 1 -a 3 -d 2..10 -b 4 -r 1..1000000"},
    {.options = "-t 0 -b 1..3000 -q 0.124875 -m 8 -r 1..1000000"},
    {.options = NULL},
};

const app uts_app = {
    .name = "uts",
    .text = "unbalanced tree search: counts the nodes of a tree made of hashes",
    .options = uts_options,
    .open = uts_app_open,
    .close = uts_app_close,
    .program = uts_app_program,
    .load = uts_app_load,
    .unload = uts_app_unload,
    .run = uts_app_run,
    .check = uts_app_check,
    .print = uts_app_print,
    .found = uts_app_found,
    .add = uts_app_add,
    .samples = uts_samples,
};
