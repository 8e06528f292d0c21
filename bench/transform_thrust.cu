/* The transform of Toss and Gautier 2012 beside Thrust, on a GPU: the regular array and both irregular patterns, at two sizes, in one run.
 *
 *     transform_thrust [--csv] [GROUP]      GROUP: block:512 as in the paper, or another one; --csv: a row per repeat
 *
 * Times are the device's, between an event before the launch and one behind the kernel, for Thrust as for us; medians of 21 after a first run. As in
 * the paper each scheduler is shown with the pop size that suits it best. Every method's result is compared bit for bit. */
#include "common.h"
#include "transform/transform.h"

#include <ballast/ballast.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>

extern "C" const bl_program *transform_cuda(void);

enum { REPEATS = 21, CHUNK = 512 };
static const uint32_t POPS[] = {1, 2, 4, 8, 16, 32, 64};
static const char *const PATTERNS[] = {"regular", "half", "third"};
static const char *const SCHEDULERS[] = {"range:packed_range", "range:the_range", "list:faa",       "list:locked",
                                         "static:cyclic",      "static:split",    "steal:chase_lev"};
enum { SCHEDULER_COUNT = sizeof SCHEDULERS / sizeof SCHEDULERS[0] };

typedef struct problem {
    float *in, *out; /* of the device */
    float *host;
    size_t elements;
    uint32_t step;
} problem;

static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "transform_thrust: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

/* In [1, 2), never the same twice in a row. */
static float input(size_t i) { return 1.0f + (float)((uint32_t)i * 2654435761u >> 9) / 8388608.0f; }

static void open_problem(problem *p, size_t elements) {
    p->elements = elements;
    p->host = (float *)malloc(elements * sizeof(float));
    if (!p->host) {
        fprintf(stderr, "transform_thrust: no memory\n");
        exit(1);
    }
    must(cudaMalloc((void **)&p->in, elements * sizeof(float)), "allocating");
    must(cudaMalloc((void **)&p->out, elements * sizeof(float)), "allocating");
    for (size_t i = 0; i < elements; i++)
        p->host[i] = input(i);
    must(cudaMemcpy(p->in, p->host, elements * sizeof(float), cudaMemcpyHostToDevice), "copying");
}

static void close_problem(problem *p) {
    cudaFree(p->in);
    cudaFree(p->out);
    free(p->host);
}

static void clear(problem *p) {
    must(cudaMemset(p->out, 0, p->elements * sizeof(float)), "clearing");
    must(cudaDeviceSynchronize(), "clearing");
}

static bool is_right(problem *p) {
    must(cudaMemcpy(p->host, p->out, p->elements * sizeof(float), cudaMemcpyDeviceToHost), "copying");
    for (size_t i = 0; i < p->elements; i++) {
        float x = input(i), expected = i / CHUNK % p->step == p->step - 1 ? x * x : 0;
        if (memcmp(&expected, &p->host[i], sizeof expected))
            return false;
    }
    return true;
}

/* ---- Thrust ---- */

struct square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};

/* Where the work is not everywhere a functor decides by the index. */
struct square_some {
    const float *in;
    float *out;
    uint32_t step;
    __host__ __device__ void operator()(uint32_t i) const {
        if (i / CHUNK % step == step - 1)
            out[i] = in[i] * in[i];
    }
};

static double run_thrust(problem *p, cudaStream_t stream, cudaEvent_t from, cudaEvent_t to) {
    float milliseconds = 0;
    auto policy = thrust::cuda::par.on(stream);
    must(cudaEventRecord(from, stream), "timing");
    if (p->step == 1)
        thrust::transform(policy, p->in, p->in + p->elements, p->out, square());
    else
        thrust::for_each_n(policy, thrust::counting_iterator<uint32_t>(0), p->elements,
                           square_some{p->in, p->out, p->step});
    must(cudaEventRecord(to, stream), "timing");
    must(cudaEventSynchronize(to), "running Thrust");
    must(cudaEventElapsedTime(&milliseconds, from, to), "timing");
    return 1e-3 * milliseconds;
}

static bench_times measure_thrust(problem *p, bool *right) {
    cudaStream_t stream;
    cudaEvent_t from, to;
    bench_times times = {{0}, 0};
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "streams");
    must(cudaEventCreate(&from), "events");
    must(cudaEventCreate(&to), "events");
    clear(p);
    run_thrust(p, stream, from, to);
    *right = is_right(p);
    for (int i = 0; i < REPEATS; i++)
        bench_add(&times, run_thrust(p, stream, from, to));
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    cudaStreamDestroy(stream);
    return times;
}

/* ---- ours ---- */

static double run_ours(problem *p, bl_context *c, const char *scheduler) {
    transform_shared shared = {(const transform_quad *)p->in, (transform_quad *)p->out, p->elements / 4, CHUNK / 4,
                               p->step};
    uint32_t nothing = 0;
    bl_stats stats;
    int status = bl_run_range(c, transform_cuda(), &shared, &nothing, (uint32_t)(p->elements / CHUNK), &stats);
    if (status != BL_OK) {
        fprintf(stderr, "transform_thrust: %s: %s %s\n", scheduler, bl_status_text(status), bl_detail(c));
        exit(1);
    }
    return stats.seconds;
}

static bench_times measure_ours(problem *p, const char *scheduler, const char *group, uint32_t pop, bool *right) {
    bl_config config;
    bl_context *c = NULL;
    bench_times times = {{0}, 0};
    memset(&config, 0, sizeof config);
    config.device = "cuda";
    config.scheduler = scheduler;
    config.group = group;
    config.pop = pop;
    int status = bl_open(&c, &config);
    if (status != BL_OK) {
        fprintf(stderr, "transform_thrust: %s\n", bl_status_text(status));
        exit(1);
    }
    clear(p);
    run_ours(p, c, scheduler);
    *right = is_right(p);
    for (int i = 0; i < REPEATS; i++)
        bench_add(&times, run_ours(p, c, scheduler));
    bl_close(c);
    return times;
}

static bool csv;

static void print_csv(const char *method, const bench_times *times, const problem *p) {
    for (uint32_t i = 0; i < times->count; i++)
        printf("%s %.2fM,%s,0,%u,%.6f,0,0,%zu\n", PATTERNS[p->step - 1], 1e-6 * (double)p->elements, method, i + 1,
               1e3 * times->all[i], p->elements / CHUNK);
    fflush(stdout);
}

static void print_row(const char *method, const bench_times *times, const problem *p, double thrust, uint32_t pop,
                      bool right) {
    bench_spread s = bench_sum_up(times);
    double bytes = 2.0 * sizeof(float) * (double)p->elements / p->step;
    char pops[16] = "-";
    if (csv)
        return print_csv(method, times, p);
    if (pop)
        snprintf(pops, sizeof pops, "%u", pop);
    printf("  %-20s %9.4f %9.4f %9.4f %10.1f %8.3f %5s  %s\n", method, 1e3 * s.median, 1e3 * s.least, 1e3 * s.most,
           1e-9 * bytes / s.median, s.median / thrust, pops, right ? "right" : "WRONG");
    fflush(stdout);
}

/* With the pop size that suits it best. */
static bool compare(problem *p, const char *scheduler, const char *group, double thrust) {
    bench_times best = {{0}, 0};
    uint32_t best_pop = 0;
    bool all = true;
    for (uint32_t pop : POPS) {
        bool right;
        bench_times times = measure_ours(p, scheduler, group, pop, &right);
        all = all && right;
        if (best_pop == 0 || bench_sum_up(&times).median < bench_sum_up(&best).median) {
            best = times;
            best_pop = pop;
        }
    }
    print_row(scheduler, &best, p, thrust, best_pop, all);
    return all;
}

/* One pattern at one size; how many methods were wrong. */
static int compare_all(problem *p, const char *group) {
    bool right;
    if (!csv)
        printf("%s, %.2f M elements, %s; milliseconds, medians of %d\n  %-20s %9s %9s %9s %10s %8s %5s\n",
               PATTERNS[p->step - 1], 1e-6 * (double)p->elements, group, REPEATS, "method", "median", "least", "most",
               "GB/s", "/Thrust", "pop");
    bench_times times = measure_thrust(p, &right);
    double thrust = bench_sum_up(&times).median;
    int wrong = !right;
    print_row("Thrust", &times, p, thrust, 0, right);
    for (int i = 0; i < SCHEDULER_COUNT; i++)
        wrong += !compare(p, SCHEDULERS[i], group, thrust);
    return wrong;
}

int main(int argc, char **argv) {
    csv = argc > 1 && strcmp(argv[1], "--csv") == 0;
    const char *group = argc > 1 + csv ? argv[1 + csv] : "block:512";
    int devices = 0, wrong = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "transform_thrust: no GPU here\n");
        return 77;
    }
    if (csv)
        puts("load,method,threads,repeat,ms,processor_ms,peak_bytes,tasks");
    for (size_t elements = 5120000; elements <= 51200000; elements *= 10) {
        problem p;
        open_problem(&p, elements);
        for (p.step = 1; p.step <= 3; p.step++)
            wrong += compare_all(&p, group);
        close_problem(&p);
    }
    return wrong ? 1 : 0;
}
