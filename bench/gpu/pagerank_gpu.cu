/* PageRank by Ballast and by cuSPARSE on one GPU, in one run, interleaved: in double, device time. Three races:
 *
 *     sweeps      --iterations (8) of a power iteration by cuSPARSE against Ballast's sweeps, what "auto" means
 *     tolerance   both until an iteration changes the scores by less than --tolerance (1e-6) in sum, looked at after
 *                 every eighth
 *     queues      Ballast's data-driven form by its queues, --iterations; no peer has such a form
 *
 *     pagerank_gpu [--repeats N] [--csv] [--iterations K] [--tolerance T] [--shapes] GRAPH ...
 *
 * The peer is a power iteration: per iteration one cusparseSpMV with the transposed matrix, d / out-degree in its
 * values, and one kernel that adds the share that all nodes get alike and sums up the dangling nodes for the next. It
 * is measured with separate launches, and as a single CUDA graph, its best form; to a tolerance as a graph of eight
 * iterations and a kernel that sums up the change, launched again until the host has read a small enough one. The
 * peer's analysis, our units, initial scores, what is cleared and what the host reads are excluded from timing on both
 * sides. Ballast's scores must equal the sequential twin's to the last bit, the peer's to 1e-10.
 * --shapes adds rows for other tasks and lanes per block; --csv prints a row per repeat. */
#include "peers_cuda.h"

extern "C" {
#include "pagerank/graph.h"
#include "pagerank/twin.h"
#include "common/parse.h"
}

#include <cusparse.h>
#include <math.h>

static const double DAMPING = 0.85;
enum { BLOCK = 256, SHAPES_MAX = 24, GRAPHS_MAX = 8, AT_ONCE = 8 /* iterations, before the change is looked at */ };

static void sparse_must(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        peers_fail("cuSPARSE", cusparseGetErrorString(status));
}

/* ---- the peer ---- */

typedef struct peer {
    uint32_t nodes, edges, iterations;
    peers_clock clock;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vector[2];
    double *x[2], *mass, *values; /* mass: of the dangling nodes, per iteration */
    double *change;               /* of the last iteration */
    uint32_t *first, *source, *out_degree;
    char *buffer;
    cudaGraphExec_t graph, eight; /* all iterations; AT_ONCE of them and the change */
    uint32_t done;                /* iterations of the last run */
} peer;

static __global__ void peer_start(double *x, const uint32_t *out_degree, double *mass, uint32_t nodes) {
    uint32_t v = blockIdx.x * BLOCK + threadIdx.x;
    if (v < nodes)
        x[v] = 1.0 / nodes;
    if (v < nodes && out_degree[v] == 0)
        atomicAdd(mass, 1.0 / nodes);
}

/* Adds to *sum: in the warp, then in the block, then with one atomic. */
static __device__ void peer_sum(double *sum, double mine) {
    __shared__ double part[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        double all = 0;
        for (int i = 0; i < BLOCK / 32; i++)
            all += part[i];
        atomicAdd(sum, all);
    }
}

/* Adds the share that every node gets, and sums the dangling nodes. */
static __global__ void peer_add(double *x, const uint32_t *out_degree, const double *mass, double *next_mass,
                                double damping, uint32_t nodes) {
    uint32_t v = blockIdx.x * BLOCK + threadIdx.x;
    double dangling = 0;
    if (v < nodes) {
        double rank = x[v] + ((1 - damping) + damping * *mass) / nodes;
        x[v] = rank;
        dangling = out_degree[v] == 0 ? rank : 0;
    }
    peer_sum(next_mass, dangling);
}

static __global__ void peer_change(const double *x, const double *before, double *change, uint32_t nodes) {
    uint32_t v = blockIdx.x * BLOCK + threadIdx.x;
    peer_sum(change, v < nodes ? fabs(x[v] - before[v]) : 0);
}

static void peer_upload(peer *p, const graph *g) {
    double *values = peers_host_memory<double>(g->edges);
    for (uint32_t i = 0; i < g->edges; i++)
        values[i] = DAMPING / g->out_degree[g->in_source[i]];
    p->values = peers_upload(values, g->edges);
    p->first = peers_upload(g->in_first, (size_t)g->nodes + 1);
    p->source = peers_upload(g->in_source, g->edges);
    p->out_degree = peers_upload(g->out_degree, g->nodes);
    p->mass = peers_device_memory<double>((size_t)(p->iterations > AT_ONCE ? p->iterations : AT_ONCE) + 1);
    p->change = peers_device_memory<double>(1);
    p->x[0] = peers_device_memory<double>(g->nodes);
    p->x[1] = peers_device_memory<double>(g->nodes);
    free(values);
}

static const double one = 1, zero = 0;

static void peer_describe(peer *p) {
    size_t bytes = 0;
    sparse_must(cusparseCreate(&p->handle));
    sparse_must(cusparseSetStream(p->handle, p->clock.stream));
    sparse_must(cusparseCreateCsr(&p->matrix, p->nodes, p->nodes, p->edges, p->first, p->source, p->values,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    sparse_must(cusparseCreateDnVec(&p->vector[0], p->nodes, p->x[0], CUDA_R_64F));
    sparse_must(cusparseCreateDnVec(&p->vector[1], p->nodes, p->x[1], CUDA_R_64F));
    sparse_must(cusparseSpMV_bufferSize(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, p->vector[0],
                                        &zero, p->vector[1], CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    p->buffer = peers_device_memory<char>(bytes);
    sparse_must(cusparseSpMV_preprocess(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, p->vector[0],
                                        &zero, p->vector[1], CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, p->buffer));
}

static uint32_t peer_blocks(const peer *p) { return (p->nodes + BLOCK - 1) / BLOCK; }

static void peer_iterate(peer *p, cudaStream_t stream, uint32_t iterations) {
    for (uint32_t i = 0; i < iterations; i++) {
        sparse_must(cusparseSpMV(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, p->vector[i % 2], &zero,
                                 p->vector[(i + 1) % 2], CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, p->buffer));
        peer_add<<<peer_blocks(p), BLOCK, 0, stream>>>(p->x[(i + 1) % 2], p->out_degree, p->mass + i, p->mass + i + 1,
                                                       DAMPING, p->nodes);
    }
    peers_must(cudaGetLastError(), "launching");
}

/* An even number of iterations, so that the result is where it began. */
static void peer_iterate_and_look(peer *p, cudaStream_t stream) {
    peer_iterate(p, stream, AT_ONCE);
    peer_change<<<peer_blocks(p), BLOCK, 0, stream>>>(p->x[0], p->x[1], p->change, p->nodes);
    peers_must(cudaGetLastError(), "launching");
}

template <class Work> cudaGraphExec_t peer_capture(peer *p, Work work) {
    cudaGraph_t captured;
    cudaGraphExec_t graph;
    peers_must(cudaStreamBeginCapture(p->clock.stream, cudaStreamCaptureModeThreadLocal), "making a graph");
    work(p->clock.stream);
    peers_must(cudaStreamEndCapture(p->clock.stream, &captured), "making a graph");
    peers_must(cudaGraphInstantiate(&graph, captured, 0), "making a graph");
    cudaGraphDestroy(captured);
    return graph;
}

static void peer_open(peer *p, const graph *g, uint32_t iterations) {
    memset(p, 0, sizeof *p);
    p->nodes = g->nodes;
    p->edges = g->edges;
    p->iterations = iterations;
    p->clock = peers_clock_open();
    peer_upload(p, g);
    peer_describe(p);
    p->graph = peer_capture(p, [=](cudaStream_t stream) { peer_iterate(p, stream, p->iterations); });
    p->eight = peer_capture(p, [=](cudaStream_t stream) { peer_iterate_and_look(p, stream); });
}

static void peer_begin(peer *p) {
    cudaStream_t stream = p->clock.stream;
    uint32_t most = p->iterations > AT_ONCE ? p->iterations : AT_ONCE;
    peers_must(cudaMemsetAsync(p->mass, 0, sizeof *p->mass * ((size_t)most + 1), stream), "clearing");
    peer_start<<<peer_blocks(p), BLOCK, 0, stream>>>(p->x[0], p->out_degree, p->mass, p->nodes);
}

static double peer_run(peer *p, bool as_graph) {
    peer_begin(p);
    p->done = p->iterations;
    return peers_seconds(p->clock, [=](cudaStream_t timed) {
        if (as_graph)
            peers_must(cudaGraphLaunch(p->graph, timed), "launching a graph");
        else
            peer_iterate(p, timed, p->iterations);
    });
}

static double peer_run_to(peer *p, double tolerance) {
    double seconds = 0, change = INFINITY;
    peer_begin(p);
    for (p->done = 0; !(change < tolerance) && p->done < 10000; p->done += AT_ONCE) {
        cudaStream_t stream = p->clock.stream;
        if (p->done)
            peers_must(cudaMemcpyAsync(p->mass, p->mass + AT_ONCE, sizeof *p->mass, cudaMemcpyDeviceToDevice, stream),
                       "copying");
        peers_must(cudaMemsetAsync(p->mass + 1, 0, sizeof *p->mass * AT_ONCE, stream), "clearing");
        peers_must(cudaMemsetAsync(p->change, 0, sizeof *p->change, stream), "clearing");
        seconds += peers_seconds(
            p->clock, [=](cudaStream_t timed) { peers_must(cudaGraphLaunch(p->eight, timed), "launching a graph"); });
        peers_download(&change, p->change, 1);
    }
    return seconds;
}

static void peer_check(const peer *p, const double *right) {
    double *x = peers_host_memory<double>(p->nodes), worst = 0;
    peers_download(x, p->x[p->done % 2], p->nodes);
    for (uint32_t v = 0; v < p->nodes; v++)
        worst = fmax(worst, fabs(x[v] - right[v]) / right[v]);
    free(x);
    if (!(worst < 1e-10))
        peers_fail("cuSPARSE", "its scores differ from the sequential twin's");
}

/* The driver frees the rest when the process ends; the large parts are freed between graphs. */
static void peer_close(peer *p) {
    void *all[] = {p->x[0], p->x[1], p->mass, p->change, p->values, p->first, p->source, p->out_degree, p->buffer};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        cudaFree(all[i]);
    cusparseDestroy(p->handle);
    cudaGraphExecDestroy(p->graph);
    cudaGraphExecDestroy(p->eight);
    peers_clock_close(&p->clock);
}

/* ---- Ballast ---- */

typedef enum race { SWEEPS, TOLERANCE, QUEUES, RACES } race;

/* One form of ours. NULL: the application's choice. `size`: nodes per task, or of a sweep edges per task. */
typedef struct form {
    race in;
    const char *scheduler, *size, *group;
} form;

static const form forms[] = {
    {SWEEPS, NULL, NULL, NULL},
    {TOLERANCE, NULL, NULL, NULL},
    {QUEUES, "steal:bwd", NULL, NULL},
    {QUEUES, "steal:steal_many", NULL, NULL},
    {QUEUES, "central:broker", NULL, NULL},
};
static const form shapes[] = {
    {SWEEPS, "static:split", NULL, "block:256"},
    {SWEEPS, "static:split", NULL, "block:512"},
    {SWEEPS, "static:split", NULL, "block:1024"},
    {SWEEPS, "static:split", "512", NULL},
    {SWEEPS, "static:split", "1024", NULL},
    {SWEEPS, "static:split", "3072", NULL},
    {SWEEPS, "list:faa", NULL, NULL},
    {SWEEPS, "list:faa", "512", NULL},
    {QUEUES, "steal:bwd", "16", "block:32"},
    {QUEUES, "steal:bwd", "64", "block:32"},
    {QUEUES, "steal:bwd", "64", "block:64"},
    {QUEUES, "steal:bwd", "128", "block:64"},
    {QUEUES, "steal:bwd", "128", "block:128"},
    {QUEUES, "steal:bwd", "256", "block:256"},
    {QUEUES, "steal:bwd", "1", "block:32"},
};
enum { FORMS = sizeof forms / sizeof forms[0], SHAPES = sizeof shapes / sizeof shapes[0] };
static_assert(FORMS + SHAPES <= SHAPES_MAX, "room for all of them");

typedef struct ours {
    form what;
    peers_ours run;
} ours;

/* ---- one graph ---- */

typedef struct request {
    peers_request common;
    uint32_t shapes, iterations;
    double tolerance;
    const char *iterations_text, *tolerance_text;
} request;

enum { LAUNCHES, AS_GRAPH, TO_TOLERANCE, PEERS };
static const char *const peer_names[] = {"cuSPARSE, launches", "cuSPARSE, one CUDA graph", "cuSPARSE, CUDA graphs"};

typedef struct bench {
    graph g;
    peer p;
    uint32_t converged; /* iterations of the peer to the tolerance */
    double *right, *right_converged;
    ours o[SHAPES_MAX];
    bench_times times[PEERS];
} bench;

static void ours_open(ours *o, form what, const char *path, const request *r) {
    const bool to = what.in == TOLERANCE;
    const char *const options[] = {"--graph",
                                   path,
                                   to ? "--tolerance" : "--iterations",
                                   to ? r->tolerance_text : r->iterations_text,
                                   !what.size          ? NULL
                                   : what.in == SWEEPS ? "--edges"
                                                       : "--block",
                                   what.size,
                                   NULL};
    o->what = what;
    peers_ours_open(&o->run, "pagerank", options, what.scheduler, what.group);
}

static void print_row(const char *name, const char *size, const char *group, const bench_times *times, double best) {
    bench_spread s = bench_sum_up(times);
    char spread[48];
    snprintf(spread, sizeof spread, "(%.1f..%.1f)", 1e6 * s.least, 1e6 * s.most);
    printf("%-26s %10s %10s %9.1f %-20s", name, size, group, 1e6 * s.median, spread);
    if (best > 0)
        printf(" %8.2f", s.median / best);
    putchar('\n');
}

static void print_race(const bench *b, const request *r, race which, const char *title, const char *size) {
    const double best = which == SWEEPS      ? bench_sum_up(&b->times[AS_GRAPH]).median
                        : which == TOLERANCE ? bench_sum_up(&b->times[TO_TOLERANCE]).median
                                             : 0;
    printf("%s\n%-26s %10s %10s %9s %-20s%s\n", title, "method", size, "group", "us", "(min..max)",
           best > 0 ? " / best peer" : "");
    for (int method = 0; method < PEERS; method++)
        if (which == (method == TO_TOLERANCE ? TOLERANCE : SWEEPS))
            print_row(peer_names[method], "", "", &b->times[method], best);
    for (uint32_t i = 0; i < FORMS + r->shapes; i++) {
        const form *f = &b->o[i].what;
        char name[64];
        snprintf(name, sizeof name, "Ballast %s", f->scheduler ? f->scheduler : "");
        if (f->in == which)
            print_row(name, f->size ? f->size : "default", f->group ? f->group : "default", &b->o[i].run.times, best);
    }
}

static void print_table(const bench *b, const request *r, const char *path) {
    char title[128];
    printf("%s: %u nodes, %u edges; median of %u interleaved runs, device time\n", path, b->g.nodes, b->g.edges,
           r->common.repeats);
    snprintf(title, sizeof title, "sweeps: %u iterations", r->iterations);
    print_race(b, r, SWEEPS, title, "edges/task");
    snprintf(title, sizeof title, "to a change of %s: %u iterations", r->tolerance_text, b->converged);
    print_race(b, r, TOLERANCE, title, "edges/task");
    snprintf(title, sizeof title, "queues: %u iterations, data driven", r->iterations);
    print_race(b, r, QUEUES, title, "nodes/task");
}

/* The first round warms up, and is verified. */
static void run_round(bench *b, const request *r, bool keep) {
    for (int method = LAUNCHES; method < PEERS; method++) {
        const bool to = method == TO_TOLERANCE;
        double seconds = to ? peer_run_to(&b->p, r->tolerance) : peer_run(&b->p, method == AS_GRAPH);
        if (keep)
            bench_add(&b->times[method], seconds);
        else
            peer_check(&b->p, to ? b->right_converged : b->right);
    }
    for (uint32_t i = 0; i < FORMS + r->shapes; i++)
        peers_ours_run(&b->o[i].run, keep);
}

static double *twin_scores(const bench *b, uint32_t iterations, const char *path) {
    double *right = peers_host_memory<double>(b->g.nodes);
    if (!pagerank_twin(&b->g, DAMPING, iterations, right))
        peers_fail(path, "out of memory");
    return right;
}

/* It would be no race if one of them had less to do. */
static void same_iterations(const bench *b, const ours *o) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        peers_fail("host", "out of memory");
    o->run.what->print(o->run.problem, out, false);
    fclose(out);
    const char *at = strstr(text, "iterations ");
    if (!at || strtoul(at + strlen("iterations "), NULL, 10) != b->converged)
        peers_fail("tolerance", "Ballast and cuSPARSE took different numbers of iterations");
    free(text);
}

static void open_all(bench *b, const request *r, const char *path) {
    app_error error;
    if (graph_read(&b->g, path, &error) != 0)
        peers_fail(path, error.text);
    peer_open(&b->p, &b->g, r->iterations);
    (void)peer_run_to(&b->p, r->tolerance);
    b->converged = b->p.done;
    b->right = twin_scores(b, r->iterations, path);
    b->right_converged = twin_scores(b, b->converged, path);
    for (uint32_t i = 0; i < FORMS + r->shapes; i++)
        ours_open(&b->o[i], i < FORMS ? forms[i] : shapes[i - FORMS], path, r);
}

static void print_rows(const bench *b, const request *r, const char *path) {
    const char *slash = strrchr(path, '/'), *graph = slash ? slash + 1 : path;
    char load[RACES][64], name[64];
    snprintf(load[SWEEPS], sizeof load[0], "%.40s sweeps", graph);
    snprintf(load[TOLERANCE], sizeof load[0], "%.40s to %.12s", graph, r->tolerance_text);
    snprintf(load[QUEUES], sizeof load[0], "%.40s queues", graph);
    peers_csv_rows(load[SWEEPS], "cuSPARSE launches", &b->times[LAUNCHES], 0, 0);
    peers_csv_rows(load[SWEEPS], "cuSPARSE graph", &b->times[AS_GRAPH], 0, 0);
    peers_csv_rows(load[TOLERANCE], "cuSPARSE graph", &b->times[TO_TOLERANCE], 0, 0);
    for (uint32_t i = 0; i < FORMS; i++) {
        const peers_ours *o = &b->o[i].run;
        const char *scheduler = forms[i].scheduler;
        snprintf(name, sizeof name, "Ballast%s%s", scheduler ? " " : "", scheduler ? scheduler : "");
        peers_csv_rows(load[forms[i].in], name, &o->times, o->peak_bytes, o->tasks);
    }
}

static void run_graph(const request *r, const char *path) {
    static bench b;
    memset(&b, 0, sizeof b);
    open_all(&b, r, path);
    for (uint32_t i = 0; i <= r->common.repeats; i++)
        run_round(&b, r, i > 0);
    for (uint32_t i = 0; i < FORMS; i++)
        if (forms[i].in == TOLERANCE)
            same_iterations(&b, &b.o[i]);
    (r->common.csv ? print_rows : print_table)(&b, r, path);
    for (uint32_t i = 0; i < FORMS + r->shapes; i++)
        peers_ours_close(&b.o[i].run);
    peer_close(&b.p);
    free(b.right);
    free(b.right_converged);
    graph_free(&b.g);
}

static bool parse(request *r, int argc, char **argv, const char **graphs, uint32_t *count) {
    bool good = true;
    for (int i = 1; i < argc && good; i++) {
        if (strcmp(argv[i], "--iterations") == 0 && i + 1 < argc) {
            r->iterations_text = argv[++i];
            good = parse_u32(r->iterations_text, &r->iterations) && r->iterations >= 1;
        } else if (strcmp(argv[i], "--tolerance") == 0 && i + 1 < argc) {
            r->tolerance_text = argv[++i];
            good = parse_double(r->tolerance_text, &r->tolerance) && r->tolerance >= 1e-13;
        } else if (strcmp(argv[i], "--shapes") == 0) {
            r->shapes = SHAPES;
        } else if (argv[i][0] != '-' && *count < GRAPHS_MAX) {
            graphs[(*count)++] = argv[i];
        } else {
            good = peers_option(&r->common, argc, argv, &i);
        }
    }
    return good && *count > 0;
}

int main(int argc, char **argv) {
    request r = {{11, false}, 0, 8, 1e-6, "8", "1e-6"};
    const char *graphs[GRAPHS_MAX];
    uint32_t count = 0;
    if (!parse(&r, argc, argv, graphs, &count))
        return peers_usage(" [--iterations K] [--tolerance T] [--shapes] GRAPH ...");
    peers_need_gpu();
    if (r.common.csv)
        peers_csv_head();
    for (uint32_t i = 0; i < count; i++)
        run_graph(&r, graphs[i]);
    return 0;
}
