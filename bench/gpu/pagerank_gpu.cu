/* PageRank by Ballast and by cuSPARSE on one GPU, in one run, interleaved: eight iterations in double, device time.
 *
 *     pagerank_gpu [--repeats N] [--csv] [--iterations K] [--shapes] GRAPH ...
 *
 * The peer is a power iteration: per iteration one cusparseSpMV with the transposed matrix, d / out-degree in its
 * values, and one kernel that adds the share that all nodes get alike and sums up the dangling nodes for the next. It
 * is measured with separate launches, and as a single CUDA graph, its best form. Analysis and copies are excluded from
 * timing on both sides. Ballast's scores must equal the sequential twin's to the last bit, the peer's to 1e-10.
 * --shapes adds rows for other numbers of nodes per task and lanes per block; --csv prints a row per repeat. */
#include "peers_cuda.h"

extern "C" {
#include "pagerank/graph.h"
#include "pagerank/twin.h"
#include "common/parse.h"
}

#include <cusparse.h>
#include <math.h>

static const double DAMPING = 0.85;
enum { BLOCK = 256, SHAPES_MAX = 16, GRAPHS_MAX = 8 };

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
    uint32_t *first, *source, *out_degree;
    char *buffer;
    cudaGraphExec_t graph;
} peer;

static __global__ void peer_start(double *x, const uint32_t *out_degree, double *mass, uint32_t nodes) {
    uint32_t v = blockIdx.x * BLOCK + threadIdx.x;
    if (v < nodes)
        x[v] = 1.0 / nodes;
    if (v < nodes && out_degree[v] == 0)
        atomicAdd(mass, 1.0 / nodes);
}

/* Adds the share that every node gets, and sums the dangling nodes: in the warp, then in the block, then with one
 * atomic. */
static __global__ void peer_add(double *x, const uint32_t *out_degree, const double *mass, double *next_mass,
                                double damping, uint32_t nodes) {
    __shared__ double part[BLOCK / 32];
    uint32_t v = blockIdx.x * BLOCK + threadIdx.x;
    double dangling = 0;
    if (v < nodes) {
        double rank = x[v] + ((1 - damping) + damping * *mass) / nodes;
        x[v] = rank;
        dangling = out_degree[v] == 0 ? rank : 0;
    }
    for (int d = 16; d > 0; d /= 2)
        dangling += __shfl_down_sync(0xffffffffu, dangling, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = dangling;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < BLOCK / 32; i++)
            sum += part[i];
        atomicAdd(next_mass, sum);
    }
}

static void peer_upload(peer *p, const graph *g) {
    double *values = peers_host_memory<double>(g->edges);
    for (uint32_t i = 0; i < g->edges; i++)
        values[i] = DAMPING / g->out_degree[g->in_source[i]];
    p->values = peers_upload(values, g->edges);
    p->first = peers_upload(g->in_first, (size_t)g->nodes + 1);
    p->source = peers_upload(g->in_source, g->edges);
    p->out_degree = peers_upload(g->out_degree, g->nodes);
    p->mass = peers_device_memory<double>((size_t)p->iterations + 1);
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

static void peer_iterate(peer *p, cudaStream_t stream) {
    uint32_t blocks = (p->nodes + BLOCK - 1) / BLOCK;
    for (uint32_t i = 0; i < p->iterations; i++) {
        sparse_must(cusparseSpMV(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, p->vector[i % 2], &zero,
                                 p->vector[(i + 1) % 2], CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, p->buffer));
        peer_add<<<blocks, BLOCK, 0, stream>>>(p->x[(i + 1) % 2], p->out_degree, p->mass + i, p->mass + i + 1, DAMPING,
                                               p->nodes);
    }
    peers_must(cudaGetLastError(), "launching");
}

static void peer_capture(peer *p) {
    cudaGraph_t captured;
    peers_must(cudaStreamBeginCapture(p->clock.stream, cudaStreamCaptureModeThreadLocal), "making a graph");
    peer_iterate(p, p->clock.stream);
    peers_must(cudaStreamEndCapture(p->clock.stream, &captured), "making a graph");
    peers_must(cudaGraphInstantiate(&p->graph, captured, 0), "making a graph");
    cudaGraphDestroy(captured);
}

static void peer_open(peer *p, const graph *g, uint32_t iterations) {
    memset(p, 0, sizeof *p);
    p->nodes = g->nodes;
    p->edges = g->edges;
    p->iterations = iterations;
    p->clock = peers_clock_open();
    peer_upload(p, g);
    peer_describe(p);
    peer_capture(p);
}

static double peer_run(peer *p, bool as_graph) {
    cudaStream_t stream = p->clock.stream;
    peers_must(cudaMemsetAsync(p->mass, 0, sizeof *p->mass * ((size_t)p->iterations + 1), stream), "clearing");
    peer_start<<<(p->nodes + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(p->x[0], p->out_degree, p->mass, p->nodes);
    return peers_seconds(p->clock, [=](cudaStream_t timed) {
        if (as_graph)
            peers_must(cudaGraphLaunch(p->graph, timed), "launching a graph");
        else
            peer_iterate(p, timed);
    });
}

static void peer_check(const peer *p, const double *right) {
    double *x = peers_host_memory<double>(p->nodes), worst = 0;
    peers_download(x, p->x[p->iterations % 2], p->nodes);
    for (uint32_t v = 0; v < p->nodes; v++)
        worst = fmax(worst, fabs(x[v] - right[v]) / right[v]);
    free(x);
    if (!(worst < 1e-10))
        peers_fail("cuSPARSE", "its scores differ from the sequential twin's");
}

/* The driver frees the rest when the process ends; the large parts are freed between graphs. */
static void peer_close(peer *p) {
    void *all[] = {p->x[0], p->x[1], p->mass, p->values, p->first, p->source, p->out_degree, p->buffer};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        cudaFree(all[i]);
    cusparseDestroy(p->handle);
    cudaGraphExecDestroy(p->graph);
    peers_clock_close(&p->clock);
}

/* ---- Ballast ---- */

typedef struct shape {
    const char *nodes, *group; /* "": the application's choice */
} shape;

static const shape shapes[] = {{"", ""},
                               {"16", "block:32"},
                               {"32", "block:32"},
                               {"64", "block:32"},
                               {"32", "block:64"},
                               {"64", "block:64"},
                               {"128", "block:64"},
                               {"64", "block:128"},
                               {"128", "block:128"},
                               {"256", "block:128"},
                               {"256", "block:256"},
                               {"1", "block:32"}};

typedef struct ours {
    shape what;
    peers_ours run;
} ours;

static void ours_open(ours *o, shape what, const char *path, const char *iterations) {
    const char *const options[] = {"--graph",  path, "--iterations", iterations, what.nodes[0] ? "--block" : NULL,
                                   what.nodes, NULL};
    o->what = what;
    peers_ours_open(&o->run, "pagerank", options, NULL, what.group[0] ? what.group : NULL);
}

/* ---- one graph ---- */

typedef struct request {
    peers_request common;
    uint32_t shapes, iterations;
    const char *iterations_text;
} request;

enum { LAUNCHES, AS_GRAPH, PEERS };

typedef struct bench {
    graph g;
    peer p;
    double *right;
    ours o[SHAPES_MAX];
    bench_times times[PEERS];
} bench;

static void print_row(const char *name, const char *nodes, const char *lanes, const bench_times *times, double best) {
    bench_spread s = bench_sum_up(times);
    char spread[48];
    snprintf(spread, sizeof spread, "(%.1f..%.1f)", 1e6 * s.least, 1e6 * s.most);
    printf("%-26s %10s %10s %9.1f %-20s %8.2f\n", name, nodes, lanes, 1e6 * s.median, spread, s.median / best);
}

static void print_table(const bench *b, const request *r, const char *path) {
    double best = bench_sum_up(&b->times[AS_GRAPH]).median;
    printf("%s: %u nodes, %u edges, %u iterations; median of %u interleaved runs, device time\n", path, b->g.nodes,
           b->g.edges, r->iterations, r->common.repeats);
    printf("%-26s %10s %10s %9s %-20s %8s\n", "method", "nodes/task", "group", "us", "(min..max)", "/ best peer");
    print_row("cuSPARSE, launches", "", "", &b->times[LAUNCHES], best);
    print_row("cuSPARSE, one CUDA graph", "", "", &b->times[AS_GRAPH], best);
    for (uint32_t i = 0; i < r->shapes; i++)
        print_row("Ballast", b->o[i].what.nodes[0] ? b->o[i].what.nodes : "default",
                  b->o[i].what.group[0] ? b->o[i].what.group : "default", &b->o[i].run.times, best);
}

/* The first round warms up, and is verified. */
static void run_round(bench *b, const request *r, bool keep) {
    for (int method = LAUNCHES; method < PEERS; method++) {
        double seconds = peer_run(&b->p, method == AS_GRAPH);
        if (keep)
            bench_add(&b->times[method], seconds);
        else
            peer_check(&b->p, b->right);
    }
    for (uint32_t i = 0; i < r->shapes; i++)
        peers_ours_run(&b->o[i].run, keep);
}

static void open_all(bench *b, const request *r, const char *path) {
    app_error error;
    if (graph_read(&b->g, path, &error) != 0)
        peers_fail(path, error.text);
    b->right = peers_host_memory<double>(b->g.nodes);
    if (!pagerank_twin(&b->g, DAMPING, r->iterations, b->right))
        peers_fail(path, "out of memory");
    peer_open(&b->p, &b->g, r->iterations);
    for (uint32_t i = 0; i < r->shapes; i++)
        ours_open(&b->o[i], shapes[i], path, r->iterations_text);
}

static void print_rows(const bench *b, const request *r, const char *path) {
    const char *slash = strrchr(path, '/'), *load = slash ? slash + 1 : path;
    const peers_ours *o = &b->o[0].run; /* the default shape */
    (void)r;
    peers_csv_rows(load, "cuSPARSE launches", &b->times[LAUNCHES], 0, 0);
    peers_csv_rows(load, "cuSPARSE graph", &b->times[AS_GRAPH], 0, 0);
    peers_csv_rows(load, "Ballast", &o->times, o->peak_bytes, o->tasks);
}

static void run_graph(const request *r, const char *path) {
    static bench b;
    memset(&b, 0, sizeof b);
    open_all(&b, r, path);
    for (uint32_t i = 0; i <= r->common.repeats; i++)
        run_round(&b, r, i > 0);
    (r->common.csv ? print_rows : print_table)(&b, r, path);
    for (uint32_t i = 0; i < r->shapes; i++)
        peers_ours_close(&b.o[i].run);
    peer_close(&b.p);
    free(b.right);
    graph_free(&b.g);
}

static bool parse(request *r, int argc, char **argv, const char **graphs, uint32_t *count) {
    bool good = true;
    for (int i = 1; i < argc && good; i++) {
        if (strcmp(argv[i], "--iterations") == 0 && i + 1 < argc) {
            r->iterations_text = argv[++i];
            good = parse_u32(r->iterations_text, &r->iterations) && r->iterations >= 1;
        } else if (strcmp(argv[i], "--shapes") == 0) {
            r->shapes = sizeof shapes / sizeof shapes[0];
        } else if (argv[i][0] != '-' && *count < GRAPHS_MAX) {
            graphs[(*count)++] = argv[i];
        } else {
            good = peers_option(&r->common, argc, argv, &i);
        }
    }
    return good && *count > 0;
}

int main(int argc, char **argv) {
    request r = {{11, false}, 1, 8, "8"};
    const char *graphs[GRAPHS_MAX];
    uint32_t count = 0;
    if (!parse(&r, argc, argv, graphs, &count))
        return peers_usage(" [--iterations K] [--shapes] GRAPH ...");
    peers_need_gpu();
    if (r.common.csv)
        peers_csv_head();
    for (uint32_t i = 0; i < count; i++)
        run_graph(&r, graphs[i]);
    return 0;
}
