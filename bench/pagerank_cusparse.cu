/* PageRank by Ballast and by cuSPARSE on one GPU, in one run, interleaved: eight iterations in double, device time.
 *
 *     pagerank_cusparse [--repeats N] [--iterations K] [--shapes] [--csv] GRAPH ...
 *
 * The peer is a power iteration: per iteration one cusparseSpMV with the transposed matrix, d / out-degree in its values, and one kernel that adds what
 * all nodes are given alike and sums up the dangling nodes for the next. Once launched one by one, and once as a single CUDA graph, the best form of it.
 * Analysis and copies are outside the time on both sides. Ballast's scores are compared with the sequential twin to the last bit, the peer's with the
 * same to 1e-10. --shapes adds rows for other numbers of nodes per task and lanes per block; --csv prints a row per repeat. */
extern "C" {
#include "app.h"
#include "pagerank/graph.h"
#include "pagerank/twin.h"
}
#include "common.h"

#include <cuda_runtime.h>
#include <cusparse.h>
#include <math.h>
#include <stdio.h>

static const double DAMPING = 0.85;
enum { BLOCK = 256, SHAPES_MAX = 16 };

static int complain(const char *who, const char *what) {
    fprintf(stderr, "pagerank_cusparse: %s: %s\n", who, what);
    return 1;
}

static bool cuda_good(cudaError_t status) {
    return status == cudaSuccess || complain("CUDA", cudaGetErrorString(status)) == 0;
}
static bool sparse_good(cusparseStatus_t status) {
    return status == CUSPARSE_STATUS_SUCCESS || complain("cuSPARSE", cusparseGetErrorString(status)) == 0;
}

/* ---- the peer ---- */

typedef struct peer {
    uint32_t nodes, edges, iterations;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vector[2];
    double *x[2], *mass, *values; /* mass: of the dangling nodes, per iteration */
    uint32_t *first, *source, *out_degree;
    void *buffer;
    cudaGraphExec_t graph;
} peer;

static __global__ void peer_start(double *x, const uint32_t *out_degree, double *mass, uint32_t nodes) {
    uint32_t v = blockIdx.x * BLOCK + threadIdx.x;
    if (v < nodes)
        x[v] = 1.0 / nodes;
    if (v < nodes && out_degree[v] == 0)
        atomicAdd(mass, 1.0 / nodes);
}

/* Adds what every node is given, and the dangling ones up: in the warp, then in the block, then by one atomic. */
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

static bool upload(void **device, const void *host, size_t bytes) {
    return cuda_good(cudaMalloc(device, bytes ? bytes : 1)) &&
           (!host || cuda_good(cudaMemcpy(*device, host, bytes, cudaMemcpyHostToDevice)));
}

static bool peer_upload(peer *p, const graph *g) {
    double *values = (double *)malloc(sizeof *values * (g->edges ? g->edges : 1));
    if (!values)
        return false;
    for (uint32_t i = 0; i < g->edges; i++)
        values[i] = DAMPING / g->out_degree[g->in_source[i]];
    bool good = upload((void **)&p->values, values, sizeof *values * g->edges) &&
                upload((void **)&p->first, g->in_first, sizeof *g->in_first * ((size_t)g->nodes + 1)) &&
                upload((void **)&p->source, g->in_source, sizeof *g->in_source * g->edges) &&
                upload((void **)&p->out_degree, g->out_degree, sizeof *g->out_degree * g->nodes) &&
                upload((void **)&p->mass, NULL, sizeof *p->mass * ((size_t)p->iterations + 1)) &&
                upload((void **)&p->x[0], NULL, sizeof(double) * g->nodes) &&
                upload((void **)&p->x[1], NULL, sizeof(double) * g->nodes);
    free(values);
    return good;
}

static const double one = 1, zero = 0;

static bool peer_describe(peer *p) {
    size_t bytes = 0;
    return sparse_good(cusparseCreate(&p->handle)) && sparse_good(cusparseSetStream(p->handle, p->stream)) &&
           sparse_good(cusparseCreateCsr(&p->matrix, p->nodes, p->nodes, p->edges, p->first, p->source, p->values,
                                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                         CUDA_R_64F)) &&
           sparse_good(cusparseCreateDnVec(&p->vector[0], p->nodes, p->x[0], CUDA_R_64F)) &&
           sparse_good(cusparseCreateDnVec(&p->vector[1], p->nodes, p->x[1], CUDA_R_64F)) &&
           sparse_good(cusparseSpMV_bufferSize(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix,
                                               p->vector[0], &zero, p->vector[1], CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                                               &bytes)) &&
           upload(&p->buffer, NULL, bytes) &&
           sparse_good(cusparseSpMV_preprocess(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix,
                                               p->vector[0], &zero, p->vector[1], CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                                               p->buffer));
}

static bool peer_iterate(peer *p) {
    uint32_t blocks = (p->nodes + BLOCK - 1) / BLOCK;
    for (uint32_t i = 0; i < p->iterations; i++) {
        if (!sparse_good(cusparseSpMV(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix, p->vector[i % 2],
                                      &zero, p->vector[(i + 1) % 2], CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, p->buffer)))
            return false;
        peer_add<<<blocks, BLOCK, 0, p->stream>>>(p->x[(i + 1) % 2], p->out_degree, p->mass + i, p->mass + i + 1,
                                                  DAMPING, p->nodes);
    }
    return cuda_good(cudaGetLastError());
}

static bool peer_capture(peer *p) {
    cudaGraph_t captured;
    if (!cuda_good(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeThreadLocal)) || !peer_iterate(p) ||
        !cuda_good(cudaStreamEndCapture(p->stream, &captured)))
        return false;
    bool good = cuda_good(cudaGraphInstantiate(&p->graph, captured, 0));
    cudaGraphDestroy(captured);
    return good;
}

static bool peer_open(peer *p, const graph *g, uint32_t iterations) {
    memset(p, 0, sizeof *p);
    p->nodes = g->nodes;
    p->edges = g->edges;
    p->iterations = iterations;
    return cuda_good(cudaStreamCreate(&p->stream)) && cuda_good(cudaEventCreate(&p->begin)) &&
           cuda_good(cudaEventCreate(&p->end)) && peer_upload(p, g) && peer_describe(p) && peer_capture(p);
}

static bool peer_run(peer *p, bool as_graph, double *seconds) {
    float milliseconds = 0;
    if (!cuda_good(cudaMemsetAsync(p->mass, 0, sizeof *p->mass * ((size_t)p->iterations + 1), p->stream)))
        return false;
    peer_start<<<(p->nodes + BLOCK - 1) / BLOCK, BLOCK, 0, p->stream>>>(p->x[0], p->out_degree, p->mass, p->nodes);
    bool good = cuda_good(cudaStreamSynchronize(p->stream)) && cuda_good(cudaEventRecord(p->begin, p->stream)) &&
                (as_graph ? cuda_good(cudaGraphLaunch(p->graph, p->stream)) : peer_iterate(p)) &&
                cuda_good(cudaEventRecord(p->end, p->stream)) && cuda_good(cudaEventSynchronize(p->end)) &&
                cuda_good(cudaEventElapsedTime(&milliseconds, p->begin, p->end));
    *seconds = 1e-3 * (double)milliseconds;
    return good;
}

static bool peer_right(const peer *p, const double *right) {
    double *x = (double *)malloc(sizeof *x * p->nodes), worst = 0;
    bool good = x && cuda_good(cudaMemcpy(x, p->x[p->iterations % 2], sizeof *x * p->nodes, cudaMemcpyDeviceToHost));
    for (uint32_t v = 0; good && v < p->nodes; v++)
        worst = fmax(worst, fabs(x[v] - right[v]) / right[v]);
    free(x);
    if (good && !(worst < 1e-10))
        return complain("cuSPARSE", "its scores differ from the sequential twin's") == 0;
    return good;
}

/* The device frees what is left when the process ends; between graphs the large parts go. */
static void peer_close(peer *p) {
    void *all[] = {p->x[0], p->x[1], p->mass, p->values, p->first, p->source, p->out_degree, p->buffer};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        cudaFree(all[i]);
    if (p->handle)
        cusparseDestroy(p->handle);
    if (p->graph)
        cudaGraphExecDestroy(p->graph);
    if (p->stream)
        cudaStreamDestroy(p->stream);
}

/* ---- Ballast ---- */

typedef struct shape {
    const char *nodes, *group; /* "" is what the application chooses */
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
    void *problem;
    bl_context *context;
    bench_times times;
    uint64_t tasks;
} ours;

static bool ours_open(ours *o, shape what, const char *path, const char *iterations) {
    const app *pagerank = app_find("pagerank");
    const char *values[16] = {NULL};
    app_error error;
    memset(o, 0, sizeof *o);
    o->what = what;
    for (uint32_t i = 0; pagerank->options[i].name; i++) {
        const char *name = pagerank->options[i].name;
        values[i] = strcmp(name, "--graph") == 0                    ? path
                    : strcmp(name, "--iterations") == 0             ? iterations
                    : strcmp(name, "--block") == 0 && what.nodes[0] ? what.nodes
                                                                    : pagerank->options[i].initial;
    }
    if (pagerank->open(&o->problem, values, 1, &error) != 0)
        return complain("Ballast", error.text) == 0;
    bl_config config;
    memset(&config, 0, sizeof config);
    config.device = "cuda";
    config.group = what.group[0] ? what.group : NULL;
    int status = bl_open(&o->context, &config);
    if (status == BL_OK)
        status = pagerank->load(o->problem, o->context);
    return status == BL_OK || complain("Ballast", bl_status_text(status)) == 0;
}

static bool ours_run(ours *o, bool keep) {
    const app *pagerank = app_find("pagerank");
    bl_stats stats;
    app_error error;
    const char *how;
    int status = pagerank->run(o->problem, o->context, &stats);
    if (status != BL_OK)
        return complain("Ballast", bl_status_text(status)) == 0;
    if (!keep)
        return pagerank->check(o->problem, &stats, true, &how, &error) || complain("Ballast", error.text) == 0;
    bench_add(&o->times, stats.seconds);
    o->tasks = stats.tasks;
    return true;
}

static void ours_close(ours *o) {
    const app *pagerank = app_find("pagerank");
    if (o->context)
        pagerank->unload(o->problem, o->context);
    bl_close(o->context);
    if (o->problem)
        pagerank->close(o->problem);
}

/* ---- one graph ---- */

typedef struct request {
    uint32_t repeats, shapes, iterations;
    const char *iterations_text;
    bool csv;
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
           b->g.edges, r->iterations, r->repeats);
    printf("%-26s %10s %10s %9s %-20s %8s\n", "method", "nodes/task", "group", "us", "(min..max)", "/ best peer");
    print_row("cuSPARSE, launches", "", "", &b->times[LAUNCHES], best);
    print_row("cuSPARSE, one CUDA graph", "", "", &b->times[AS_GRAPH], best);
    for (uint32_t i = 0; i < r->shapes; i++)
        print_row("Ballast", b->o[i].what.nodes[0] ? b->o[i].what.nodes : "default",
                  b->o[i].what.group[0] ? b->o[i].what.group : "default", &b->o[i].times, best);
}

/* The first round warms up, and is the one that is checked. */
static bool run_round(bench *b, const request *r, bool keep) {
    for (int method = LAUNCHES; method < PEERS; method++) {
        double seconds;
        if (!peer_run(&b->p, method == AS_GRAPH, &seconds) || (!keep && !peer_right(&b->p, b->right)))
            return false;
        if (keep)
            bench_add(&b->times[method], seconds);
    }
    for (uint32_t i = 0; i < r->shapes; i++)
        if (!ours_run(&b->o[i], keep))
            return false;
    return true;
}

static bool open_all(bench *b, const request *r, const char *path) {
    app_error error;
    if (graph_read(&b->g, path, &error) != 0)
        return complain(path, error.text) == 0;
    b->right = (double *)malloc(sizeof *b->right * b->g.nodes);
    if (!b->right || !pagerank_twin(&b->g, DAMPING, r->iterations, b->right))
        return complain(path, "out of memory") == 0;
    if (!peer_open(&b->p, &b->g, r->iterations))
        return false;
    for (uint32_t i = 0; i < r->shapes; i++)
        if (!ours_open(&b->o[i], shapes[i], path, r->iterations_text))
            return false;
    return true;
}

static void print_csv(const char *path, const char *method, const bench_times *times, uint64_t tasks) {
    const char *slash = strrchr(path, '/');
    for (uint32_t i = 0; i < times->count; i++)
        printf("%s,%s,0,%u,%.6f,0,0,%llu\n", slash ? slash + 1 : path, method, i + 1, 1e3 * times->all[i],
               (unsigned long long)tasks);
}

static void print_rows(const bench *b, const request *r, const char *path) {
    puts("load,method,threads,repeat,ms,processor_ms,peak_bytes,tasks");
    print_csv(path, "cuSPARSE launches", &b->times[LAUNCHES], 0);
    print_csv(path, "cuSPARSE graph", &b->times[AS_GRAPH], 0);
    for (uint32_t i = 0; i < r->shapes && i < 1; i++) /* the default shape */
        print_csv(path, "Ballast", &b->o[i].times, b->o[i].tasks);
}

static int run_graph(const request *r, const char *path) {
    bench *b = (bench *)calloc(1, sizeof *b);
    if (!b)
        return complain(path, "out of memory");
    bool good = open_all(b, r, path);
    for (uint32_t i = 0; i <= r->repeats && good; i++)
        good = run_round(b, r, i > 0);
    if (good)
        (r->csv ? print_rows : print_table)(b, r, path);
    for (uint32_t i = 0; i < r->shapes; i++)
        ours_close(&b->o[i]);
    peer_close(&b->p);
    free(b->right);
    graph_free(&b->g);
    free(b);
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    request r = {11, 1, 8, "8", false};
    int status = 0, graphs = 0;
    for (int i = 1; i < argc && status == 0; i++) {
        if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
            r.repeats = (uint32_t)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--iterations") == 0 && i + 1 < argc) {
            r.iterations_text = argv[++i];
            r.iterations = (uint32_t)strtoul(r.iterations_text, NULL, 10);
        } else if (strcmp(argv[i], "--csv") == 0) {
            r.csv = true;
        } else if (strcmp(argv[i], "--shapes") == 0) {
            r.shapes = sizeof shapes / sizeof shapes[0];
        } else if (argv[i][0] != '-' && r.repeats >= 1 && r.repeats <= BENCH_REPEATS_MAX && r.iterations >= 1) {
            status = run_graph(&r, argv[i]);
            graphs++;
        } else {
            status = 2;
        }
    }
    if (graphs == 0 || status == 2) {
        fprintf(stderr, "usage: pagerank_cusparse [--repeats 1..%d] [--iterations K] [--shapes] [--csv] GRAPH ...\n",
                BENCH_REPEATS_MAX);
        return 2;
    }
    return status;
}
