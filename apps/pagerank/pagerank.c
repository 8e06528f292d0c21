/* The application `pagerank` except its task function: options, memory, runs, the check and the output. */
#include "pagerank.h"

#include "../common/app.h"
#include "../common/app_output.h"
#include "../common/parse.h"
#include "cells.h"
#include "graph.h"
#include "twin.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS_MAX UINT32_C(1000000)
#define TOLERANCE_MIN 1e-13          /* below this, rounding decides */
#define BLOCK_MAX 4096               /* nodes per task */
#define TWIN_MAX UINT64_C(100000000) /* the most nodes times iterations that are checked without --check */
enum { TOP = 10 };

typedef struct pagerank_problem {
    graph graph;
    double damping, tolerance; /* no tolerance: 0 */
    uint32_t iterations;       /* with a tolerance, the upper limit */
    uint32_t block, edges;     /* --block, --edges; no --edges: 0 */
    char *output;              /* NULL: none */

    bool sweeps; /* as loaded: by sweeps (sweep.h), or data driven (pagerank.h) */
    units units;
    pagerank_cells cells;
    pagerank_sweep_shared sweep;
    pagerank_shared device;
    double *value[2]; /* on the device: of the first run, and of later runs; NULL if there is only one */
    double *start;    /* on the host: initially 1 / N for every node; if it sweeps, times the node's scale */

    uint32_t done; /* iterations of the last result; 0: there is none */
    double *score, *change;
    double first_delta[PAGERANK_STEPS];

    uint32_t twin_done; /* iterations that `twin` holds */
    double *twin;
} pagerank_problem;

/* ---- options ---- */

enum { GRAPH, ITERATIONS, TOLERANCE, DAMPING, OUTPUT, BLOCK, EDGES };

static const app_option pagerank_options[] = {
    [GRAPH] = {"--graph", "FILE", "", "SNAP text (a line \"FROM TO\" per edge) or Matrix Market coordinates; also .gz"},
    [ITERATIONS] = {"--iterations", "N", "", "number of iterations; default: 8, unless --tolerance is given"},
    [TOLERANCE] =
        {"--tolerance", "T", "",
         "iterate, 8 at a time, until an iteration changes the scores by less than T in total; 1e-13 or more"},
    [DAMPING] = {"--damping", "D", "0.85", "share of the score that follows the edges, above 0, at most 1"},
    [OUTPUT] = {"--output", "FILE", "", "write the scores there, a line \"node score\" each"},
    [BLOCK] = {"--block", "N", "64", "data driven: neighbouring nodes per task, 1 to 4096; 1 as in the paper"},
    [EDGES] = {"--edges", "N", "",
               "sweeps (static, list): edges per task, 64 to 3072; default: depends on the number of workers"},
    {NULL, NULL, NULL, NULL},
};

static int read_damping(pagerank_problem *p, const char *text, app_error *error) {
    if (!parse_double(text, &p->damping) || !(p->damping > 0 && p->damping <= 1))
        return app_wrong(error, 2, "--damping: \"%.100s\" is invalid; accepted: a number above 0, at most 1", text);
    return 0;
}

static int read_iterations(pagerank_problem *p, const char *text, app_error *error) {
    if (!parse_u32(text, &p->iterations) || p->iterations < 1 || p->iterations > ITERATIONS_MAX)
        return app_wrong(error, 2, "--iterations: \"%.100s\" is invalid; accepted: a whole number from 1 to %" PRIu32,
                         text, ITERATIONS_MAX);
    return 0;
}

/* Iteration k changes the scores by at most 2 d^(k-1) in sum, which gives the number needed; a few more allow for
 * rounding. */
static int read_tolerance(pagerank_problem *p, const char *text, app_error *error) {
    if (!parse_double(text, &p->tolerance) || p->tolerance < TOLERANCE_MIN)
        return app_wrong(error, 2, "--tolerance: \"%.100s\" is invalid; accepted: a number, %g or more", text,
                         TOLERANCE_MIN);
    double enough = p->damping < 1 ? fmax(log(p->tolerance / 2) / log(p->damping), 0) + 3 * PAGERANK_STEPS : INFINITY;
    if (!(enough <= ITERATIONS_MAX))
        return app_wrong(error, 2,
                         "--tolerance: \"%.100s\" could take more than %" PRIu32
                         " iterations with --damping %g: a larger one, or a smaller damping",
                         text, ITERATIONS_MAX, p->damping);
    p->iterations = (uint32_t)enough;
    return 0;
}

static int read_length(pagerank_problem *p, const char *const *values, app_error *error) {
    if (values[ITERATIONS][0] && values[TOLERANCE][0])
        return app_wrong(error, 2, "--tolerance: contradicts --iterations (accepted: one of the two)");
    if (values[TOLERANCE][0])
        return read_tolerance(p, values[TOLERANCE], error);
    return read_iterations(p, values[ITERATIONS][0] ? values[ITERATIONS] : "8", error);
}

static int read_output(pagerank_problem *p, const char *path, app_error *error) {
    if (!path[0])
        return 0;
    p->output = strdup(path);
    return p->output ? app_output_check("--output", path, error) : app_wrong(error, 1, "pagerank: out of memory");
}

static int read_graph(pagerank_problem *p, const char *const *values, app_error *error) {
    if (!values[GRAPH][0])
        return app_wrong(error, 2,
                         "--graph: FILE missing (accepted: SNAP text or Matrix Market coordinates, also .gz)");
    int status = graph_read(&p->graph, values[GRAPH], error);
    if (status != 0)
        return status;
    size_t nodes = p->graph.nodes;
    p->score = malloc(sizeof *p->score * nodes);
    p->change = malloc(sizeof *p->change * nodes);
    p->start = malloc(sizeof *p->start * nodes);
    if (!p->score || !p->change || !p->start)
        return app_wrong(error, 1, "--graph: out of memory for the %zu nodes of %.200s", nodes, values[GRAPH]);
    return 0;
}

static int read_sizes(pagerank_problem *p, const char *const *values, app_error *error) {
    if (!parse_u32(values[BLOCK], &p->block) || p->block < 1 || p->block > BLOCK_MAX)
        return app_wrong(error, 2, "--block: \"%.100s\" is invalid; accepted: a whole number from 1 to %d",
                         values[BLOCK], BLOCK_MAX);
    if (values[EDGES][0] &&
        (!parse_u32(values[EDGES], &p->edges) || p->edges < UNIT_WEIGHT_MIN || p->edges > PAGERANK_UNIT_EDGES))
        return app_wrong(error, 2, "--edges: \"%.100s\" is invalid; accepted: a whole number from %u to %u",
                         values[EDGES], UNIT_WEIGHT_MIN, PAGERANK_UNIT_EDGES);
    return 0;
}

static int read_options(pagerank_problem *p, const char *const *values, app_error *error) {
    int status = read_damping(p, values[DAMPING], error);
    if (status == 0)
        status = read_length(p, values, error);
    if (status == 0)
        status = read_sizes(p, values, error);
    if (status == 0)
        status = read_output(p, values[OUTPUT], error);
    return status == 0 ? read_graph(p, values, error) : status;
}

static uint64_t pagerank_digest(const void *problem) {
    const graph *g = &((const pagerank_problem *)problem)->graph;
    uint64_t digest = app_digest(0, g->label, g->nodes * sizeof *g->label);
    digest = app_digest(digest, g->in_first, ((size_t)g->nodes + 1) * sizeof *g->in_first);
    return app_digest(digest, g->in_source, g->edges * sizeof *g->in_source);
}

static void pagerank_close(void *problem) {
    pagerank_problem *p = problem;
    if (!p)
        return;
    graph_free(&p->graph);
    free(p->output);
    free(p->start);
    free(p->score);
    free(p->change);
    free(p->twin);
    free(p);
}

static int pagerank_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    (void)seed;
    pagerank_problem *p = calloc(1, sizeof *p);
    *problem = NULL;
    if (!p)
        return app_wrong(error, 1, "pagerank: out of memory");
    int status = read_options(p, values, error);
    if (status != 0)
        pagerank_close(p);
    else
        *problem = p;
    return status;
}

/* ---- device ---- */

APP_PROGRAM(pagerank_program, pagerank)
APP_PROGRAM(pagerank_sweep_program, pagerank_sweep)

/* Every array on the device: where its pointer is stored, its size, and its initial contents. */
typedef struct array {
    void *pointer;
    size_t bytes;
    const void *from;
} array;
enum { ARRAYS = 12 };

static size_t rows_of(const pagerank_problem *p) {
    return p->iterations < PAGERANK_STEPS ? p->iterations + 1 : PAGERANK_STEPS + 1;
}
static bool has_later_runs(const pagerank_problem *p) { return p->iterations > PAGERANK_STEPS; }

static void list_cells(pagerank_problem *p, array all[ARRAYS]) {
    const pagerank_cells *c = &p->cells;
    pagerank_shared *d = &p->device;
    size_t cells = cells_count(c), rows = rows_of(p);
    size_t scores = sizeof(double) * c->nodes, values = sizeof(double) * cells * rows;
    const array list[ARRAYS] = {
        {&d->graph.source_first, sizeof(uint32_t) * (cells + 1), c->source_first},
        {&d->graph.source, sizeof(uint32_t) * c->source_first[cells], c->source},
        {&d->graph.scale, sizeof(double) * cells, c->scale},
        {&d->graph.target_first, sizeof(uint32_t) * ((size_t)c->units + 1), c->target_first},
        {&d->graph.target, sizeof(uint32_t) * c->target_first[c->units], c->target},
        {&d->graph.needs, sizeof(uint32_t) * c->units, c->needs},
        {&d->unmet, sizeof(uint32_t) * c->units * rows, NULL},
        {&d->score, scores, NULL},
        {&p->value[0], values, NULL},
        {&p->value[1], has_later_runs(p) ? values : 0, NULL},
        {&d->change, p->tolerance > 0 ? scores : 0, NULL},
    };
    memcpy(all, list, sizeof list);
}

static void list_units(pagerank_problem *p, array all[ARRAYS]) {
    const units *u = &p->units;
    pagerank_sweep_shared *d = &p->sweep;
    size_t nodes = p->graph.nodes, values = sizeof(double) * (nodes + 1) * rows_of(p);
    const array list[ARRAYS] = {
        {&d->unit, sizeof *u->unit * u->units, u->unit},
        {&d->source, sizeof *u->source * u->sources, u->source},
        {&d->piece, sizeof *u->piece * ((size_t)u->pieces + 1), u->piece},
        {&d->longs, sizeof *u->longs * ((size_t)u->long_rows + 1), u->longs},
        {&d->cut, sizeof *u->cut * u->cuts, u->cut},
        {&d->arrived, sizeof *d->arrived * u->cuts, NULL},
        {&d->scale, sizeof *u->scale * (nodes + 1), u->scale},
        {&d->partial, sizeof *d->partial * (2 * (size_t)u->partials + 1), NULL}, /* never NULL: tasks add to it */
        {&d->score, sizeof *d->score * nodes, NULL},
        {&p->value[0], values, NULL},
        {&p->value[1], has_later_runs(p) ? values : 0, NULL},
        {&d->change, p->tolerance > 0 ? sizeof *d->change * nodes : 0, NULL},
    };
    memcpy(all, list, sizeof list);
}

static void pagerank_unload(void *problem, bl_context *context) {
    pagerank_problem *p = problem;
    array all[ARRAYS] = {{NULL, 0, NULL}};
    if (p->units.units || p->cells.units)
        (p->sweeps ? list_units : list_cells)(p, all);
    for (int i = 0; i < ARRAYS; i++) {
        void *memory = NULL;
        if (all[i].pointer)
            memcpy(&memory, all[i].pointer, sizeof memory);
        if (memory)
            bl_free(context, memory);
    }
    memset(&p->device, 0, sizeof p->device);
    memset(&p->sweep, 0, sizeof p->sweep);
    memset(p->value, 0, sizeof p->value);
    units_free(&p->units);
    cells_free(&p->cells);
}

static int load_array(bl_context *context, const array *a) {
    void *memory = NULL;
    int status = bl_alloc(context, &memory, a->bytes);
    if (status != BL_OK)
        return status;
    memcpy(a->pointer, &memory, sizeof memory);
    return a->from ? bl_copy_in(context, memory, a->from, a->bytes) : BL_OK;
}

static int load_arrays(pagerank_problem *p, bl_context *context) {
    array all[ARRAYS];
    int status = BL_OK;
    (p->sweeps ? list_units : list_cells)(p, all);
    for (int i = 0; i < ARRAYS && status == BL_OK; i++)
        if (all[i].bytes)
            status = load_array(context, &all[i]);
    return status;
}

static int load_cells(pagerank_problem *p, bl_context *context) {
    const pagerank_cells *c = &p->cells;
    pagerank_cells *d = &p->device.graph;
    if (!pagerank_program() || !cells_make(&p->cells, &p->graph, p->damping, p->block))
        return BL_ENOMEM;
    d->nodes = c->nodes;
    d->node_units = c->node_units;
    d->units = c->units;
    d->unit_cells = c->unit_cells;
    d->dangling = c->dangling;
    for (uint32_t v = 0; v < p->graph.nodes; v++)
        p->start[v] = 1 / (double)p->graph.nodes;
    return load_arrays(p, context);
}

static int load_units(pagerank_problem *p, bl_context *context) {
    uint32_t workers;
    int status = bl_workers(context, pagerank_sweep_program(), &workers);
    if (status != BL_OK)
        return status;
    workers = workers > 2 * PAGERANK_UNITS ? workers - PAGERANK_UNITS : workers;
    if (!units_make(&p->units, &p->graph, p->damping, workers, p->edges))
        return BL_ENOMEM;
    p->sweep.nodes = p->graph.nodes;
    p->sweep.units = p->units.units;
    p->sweep.partials = p->units.partials;
    p->sweep.dangling_cut = p->units.cuts && p->units.cut[0].row == p->graph.nodes;
    p->sweep.damping = p->damping;
    for (uint32_t v = 0; v < p->graph.nodes; v++)
        p->start[v] = 1 / (double)p->graph.nodes * p->units.scale[v];
    return load_arrays(p, context);
}

/* A run that may be resumed with any scheduler has the form that suits all. */
static bool can_sweep(bl_context *context) {
    const bl_program *program = pagerank_sweep_program();
    const char *scheduler = program && !bl_stops(context) ? bl_scheduler_of(context, program) : NULL;
    return scheduler && bl_scheduler_traits(scheduler) & BL_TRAIT_WAVES;
}

static int pagerank_load(void *problem, bl_context *context) {
    pagerank_problem *p = problem;
    p->sweeps = can_sweep(context);
    int status = (p->sweeps ? load_units : load_cells)(p, context);
    if (status != BL_OK)
        pagerank_unload(p, context);
    return status;
}

/* ---- a run ---- */

static void add_stats(bl_stats *sum, const bl_stats *part) {
    bl_stats before = *sum;
    *sum = *part;
    if (before.launches == 0)
        return;
    sum->tasks += before.tasks;
    sum->seconds += before.seconds;
    sum->wall_seconds += before.wall_seconds;
    sum->steals += before.steals;
    sum->steal_attempts += before.steal_attempts;
    sum->pauses += before.pauses;
    sum->launches += before.launches;
    sum->balance = before.balance; /* of the first, which pulls */
    sum->peak_entries = sum->peak_entries > before.peak_entries ? sum->peak_entries : before.peak_entries;
    sum->paper_tasks = sum->paper_tasks > before.paper_tasks ? sum->paper_tasks : before.paper_tasks;
    sum->peak_bytes = sum->peak_bytes > before.peak_bytes ? sum->peak_bytes : before.peak_bytes;
}

static int run_kind(pagerank_problem *p, bl_context *context, enum pagerank_kind kind, bl_stats *stats) {
    const pagerank_work work = {.kind = (uint16_t)kind};
    bl_stats part;
    int status = bl_run_range(context, pagerank_program(), &p->device, &work, p->cells.node_units, &part);
    add_stats(stats, &part);
    return status;
}

static int reset_unmet(const pagerank_problem *p, bl_context *context) {
    int status = BL_OK;
    for (uint32_t step = 0; step <= p->device.steps && status == BL_OK; step++)
        status = bl_copy_in(context, p->device.unmet + (size_t)step * p->cells.units, p->cells.needs,
                            sizeof *p->cells.needs * p->cells.units);
    return status;
}

/* delta(i) is the mass of the dangling nodes, as found in step i + 1. */
static int fetch_given(pagerank_problem *p, bl_context *context, bool first) {
    double delta[PAGERANK_STEPS] = {0};
    uint32_t cell, steps = p->device.steps;
    size_t cells = cells_count(&p->cells);
    int status = BL_OK;
    if (cells_dangling(&p->cells, &cell))
        for (uint32_t i = 0; i < steps && status == BL_OK; i++)
            status = bl_copy_out(context, &delta[i], p->device.value + (i + 1) * cells + cell, sizeof delta[i]);
    if (first)
        memcpy(p->first_delta, delta, sizeof delta);
    pagerank_given(p->device.given, delta, p->first_delta, steps, p->damping);
    return status;
}

/* Both forms make as many iterations as one run can, `steps`, from score to score. */
static int run_cells(pagerank_problem *p, bl_context *context, uint32_t done, uint32_t steps, bl_stats *stats) {
    p->device.steps = steps;
    p->device.value = p->value[done == 0 ? 0 : 1];
    p->device.base = p->value[0];
    int status = reset_unmet(p, context);
    if (status == BL_OK)
        status = run_kind(p, context, PAGERANK_START, stats);
    if (status == BL_OK)
        status = fetch_given(p, context, done == 0);
    if (status == BL_OK)
        status = run_kind(p, context, PAGERANK_COMBINE, stats);
    return status;
}

static int run_sweeps(pagerank_problem *p, bl_context *context, uint32_t done, uint32_t steps, bl_stats *stats) {
    const pagerank_wave first = {1};
    bl_stats part;
    p->sweep.steps = steps;
    p->sweep.value = p->value[done == 0 ? 0 : 1];
    p->sweep.base = p->value[0];
    p->sweep.next = p->value[1];
    int status = p->units.cuts ? bl_zero(context, p->sweep.arrived, sizeof *p->sweep.arrived * p->units.cuts) : BL_OK;
    if (status == BL_OK) {
        status =
            bl_run_range(context, pagerank_sweep_program(), &p->sweep, &first, PAGERANK_UNITS + p->units.units, &part);
        add_stats(stats, &part);
    }
    return status;
}

static int fetch_change(pagerank_problem *p, bl_context *context, double *change) {
    const double *from = p->sweeps ? p->sweep.change : p->device.change;
    int status = bl_copy_out(context, p->change, from, sizeof *p->change * p->graph.nodes);
    *change = 0;
    for (uint32_t v = 0; v < p->graph.nodes && status == BL_OK; v++)
        *change += p->change[v];
    return status;
}

static int pagerank_solve(void *problem, bl_context *context, bl_stats *stats) {
    pagerank_problem *p = problem;
    bl_stats own;
    stats = stats ? stats : &own;
    memset(stats, 0, sizeof *stats);
    p->done = 0;
    uint32_t done = 0;
    double change = INFINITY;
    size_t bytes = sizeof *p->score * p->graph.nodes;
    int status = bl_copy_in(context, p->sweeps ? p->value[0] : p->device.score, p->start, bytes);
    while (status == BL_OK && done < p->iterations && !(change < p->tolerance)) {
        uint32_t left = p->iterations - done, steps = left < PAGERANK_STEPS ? left : PAGERANK_STEPS;
        status = (p->sweeps ? run_sweeps : run_cells)(p, context, done, steps, stats);
        done += steps;
        if (status == BL_OK && p->tolerance > 0)
            status = fetch_change(p, context, &change);
    }
    if (status == BL_OK && p->tolerance > 0 && !(change < p->tolerance))
        return BL_ETASK; /* more iterations than exact arithmetic could need */
    if (status == BL_OK)
        status = bl_copy_out(context, p->score, p->sweeps ? p->sweep.score : p->device.score, bytes);
    if (status == BL_OK)
        p->done = done;
    return status;
}

/* ---- the check ---- */

static bool need_twin(pagerank_problem *p, app_error *error) {
    if (p->twin && p->twin_done == p->done)
        return true;
    if (!p->twin)
        p->twin = malloc(sizeof *p->twin * p->graph.nodes);
    p->twin_done = p->done;
    if (p->twin && pagerank_twin(&p->graph, p->damping, p->done, p->twin))
        return true;
    free(p->twin);
    p->twin = NULL;
    return app_wrong(error, false, "pagerank: out of memory for the sequential twin");
}

static bool pagerank_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    pagerank_problem *p = problem;
    (void)stats;
    *how = "no";
    if (p->done == 0)
        return app_wrong(error, false, "pagerank: there is no result to check");
    if ((uint64_t)p->graph.nodes * p->done > TWIN_MAX && !force)
        return true;
    if (!need_twin(p, error))
        return false;
    *how = "twin";
    for (uint32_t v = 0; v < p->graph.nodes; v++)
        if (p->score[v] != p->twin[v])
            return app_wrong(error, false,
                             "pagerank: the score of node %" PRIu32 " is %.17g, but that of the sequential twin %.17g",
                             p->graph.label[v], p->score[v], p->twin[v]);
    return true;
}

/* ---- results ---- */

typedef struct ranking {
    uint32_t node[TOP], count;
} ranking;

/* The best first; on a tie, the smaller number first. */
static ranking rank_top(const pagerank_problem *p) {
    ranking r = {.count = 0};
    for (uint32_t v = 0; v < p->graph.nodes; v++) {
        uint32_t at = r.count;
        while (at > 0 && p->score[r.node[at - 1]] < p->score[v])
            at--;
        if (at == TOP)
            continue;
        r.count += r.count < TOP;
        memmove(r.node + at + 1, r.node + at, sizeof r.node[0] * (r.count - at - 1));
        r.node[at] = v;
    }
    return r;
}

static void print_top(const pagerank_problem *p, FILE *out, bool json) {
    ranking r = rank_top(p);
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t label = p->graph.label[r.node[i]];
        double score = p->score[r.node[i]];
        if (json)
            fprintf(out, "%s[%" PRIu32 ", %.17g]", i ? ", " : "", label, score);
        else
            fprintf(out, "top_%" PRIu32 " %" PRIu32 " %.17g\n", i + 1, label, score);
    }
}

static void pagerank_print(const void *problem, FILE *out, bool json) {
    const pagerank_problem *p = problem;
    double sum = 0;
    for (uint32_t v = 0; v < p->graph.nodes; v++)
        sum += p->score[v];
    fprintf(out,
            json ? "\"nodes\": %" PRIu32 ", \"edges\": %" PRIu32 ", \"iterations\": %" PRIu32
                   ", \"sum\": %.17g, \"top\": ["
                 : "nodes %" PRIu32 "\nedges %" PRIu32 "\niterations %" PRIu32 "\nsum %.17g\n",
            p->graph.nodes, p->graph.edges, p->done, sum);
    print_top(p, out, json);
    if (json)
        fputc(']', out);
}

static int pagerank_write(void *problem, bl_context *context, app_error *error) {
    const pagerank_problem *p = problem;
    app_output output;
    (void)context;
    if (!p->output)
        return 0;
    if (app_output_open(&output, "--output", p->output, error) != 0)
        return 1;
    for (uint32_t v = 0; v < p->graph.nodes; v++)
        fprintf(output.file, "%" PRIu32 " %.17g\n", p->graph.label[v], p->score[v]);
    return app_output_close(&output, error);
}

static const app_sample pagerank_samples[] = {
    {.options = "--graph GRAPH --iterations 1..40 --block 1|7|64|1000 --edges 64|100|1000 --damping 0.5|0.85|1"},
    {.options = NULL},
};

const app pagerank_app = {
    .name = "pagerank",
    .text = "PageRank of a directed graph: data driven, without a barrier between iterations (Kerbl et al. 2018), or "
            "by sweeps where the scheduler runs in waves",
    .options = pagerank_options,
    .open = pagerank_open,
    .close = pagerank_close,
    .program = pagerank_program,
    .load = pagerank_load,
    .unload = pagerank_unload,
    .run = pagerank_solve,
    .check = pagerank_check,
    .print = pagerank_print,
    .one_memory = "its tasks update the scores of one graph, in the memory of one device",
    .write = pagerank_write,
    .digest = pagerank_digest,
    .samples = pagerank_samples,
};
