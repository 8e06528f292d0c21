/* The transform of Toss and Gautier 2012 compared with Thrust and CUB on a GPU: the regular array and both irregular
 * patterns, at two sizes, in one run.
 *
 *     transform_gpu [--repeats N] [--csv] [GROUP]      GROUP: block:512 as in the paper, or another one; --csv: a row
 *                                                      per repeat
 *
 * Device time between an event before the launch and one after the kernel, for the peers as for us; medians of 21 after
 * a warm-up run. As in the paper, each scheduler has its best pop size. Every method's result is compared bit for
 * bit. */
#include "peers_cuda.h"

#include "transform/transform.h"

#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>

extern "C" const bl_program *transform_cuda(void);

enum { CHUNK = 512 };
static const uint32_t POPS[] = {1, 2, 4, 8, 16, 32, 64};
static const char *const PATTERNS[] = {"regular", "half", "third"};
static const char *const SCHEDULERS[] = {"range:packed_range", "range:the_range", "list:faa",        "list:locked",
                                         "static:cyclic",      "static:split",    "steal:steal_many"};
enum { SCHEDULER_COUNT = sizeof SCHEDULERS / sizeof SCHEDULERS[0] };

static peers_request request = {21, false};

typedef struct problem {
    float *in, *out; /* in device memory */
    float *host;
    size_t elements;
    uint32_t step;
} problem;

/* In [1, 2), never the same twice in a row. */
static float input(size_t i) { return 1.0f + (float)((uint32_t)i * 2654435761u >> 9) / 8388608.0f; }

static void open_problem(problem *p, size_t elements) {
    p->elements = elements;
    p->host = peers_host_memory<float>(elements);
    for (size_t i = 0; i < elements; i++)
        p->host[i] = input(i);
    p->in = peers_upload(p->host, elements);
    p->out = peers_device_memory<float>(elements);
}

static void close_problem(problem *p) {
    cudaFree(p->in);
    cudaFree(p->out);
    free(p->host);
}

static void clear(problem *p) {
    peers_must(cudaMemset(p->out, 0, p->elements * sizeof(float)), "clearing");
    peers_must(cudaDeviceSynchronize(), "clearing");
}

static bool is_right(problem *p) {
    peers_download(p->host, p->out, p->elements);
    for (size_t i = 0; i < p->elements; i++) {
        float x = input(i), expected = i / CHUNK % p->step == p->step - 1 ? x * x : 0;
        if (memcmp(&expected, &p->host[i], sizeof expected))
            return false;
    }
    return true;
}

/* ---- the peers ---- */

struct square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};

/* For irregular patterns, a functor decides by the index. */
struct square_some {
    const float *in;
    float *out;
    uint32_t step;
    __host__ __device__ void operator()(uint32_t i) const {
        if (i / CHUNK % step == step - 1)
            out[i] = in[i] * in[i];
    }
};

static void run_thrust(problem *p, cudaStream_t stream) {
    auto policy = thrust::cuda::par.on(stream);
    if (p->step == 1)
        thrust::transform(policy, p->in, p->in + p->elements, p->out, square());
    else
        thrust::for_each_n(policy, thrust::counting_iterator<uint32_t>(0), p->elements,
                           square_some{p->in, p->out, p->step});
}

static void run_cub(problem *p, cudaStream_t stream) {
    uint32_t elements = (uint32_t)p->elements;
    if (p->step == 1)
        peers_must(cub::DeviceTransform::Transform(p->in, p->out, elements, square(), stream), "CUB");
    else
        peers_must(cub::DeviceFor::Bulk(elements, square_some{p->in, p->out, p->step}, stream), "CUB");
}

static bench_times measure_peer(problem *p, void (*run)(problem *, cudaStream_t), bool *right) {
    peers_clock clock = peers_clock_open();
    bench_times times = {{0}, 0};
    auto work = [=](cudaStream_t stream) { run(p, stream); };
    clear(p);
    peers_seconds(clock, work);
    *right = is_right(p);
    for (uint32_t i = 0; i < request.repeats; i++)
        bench_add(&times, peers_seconds(clock, work));
    peers_clock_close(&clock);
    return times;
}

/* ---- ours ---- */

static double run_ours(problem *p, bl_context *c, const char *scheduler) {
    transform_shared shared = {(const transform_quad *)p->in, (transform_quad *)p->out, p->elements / 4, CHUNK / 4,
                               p->step};
    uint32_t nothing = 0;
    bl_stats stats;
    int status = bl_run_range(c, transform_cuda(), &shared, &nothing, (uint32_t)(p->elements / CHUNK), &stats);
    if (status != BL_OK)
        peers_fail(scheduler, bl_error_detail(c)[0] ? bl_error_detail(c) : bl_status_text(status));
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
    config.grain = pop;
    int status = bl_open(&c, &config);
    if (status != BL_OK)
        peers_fail(scheduler, bl_status_text(status));
    clear(p);
    run_ours(p, c, scheduler);
    *right = is_right(p);
    for (uint32_t i = 0; i < request.repeats; i++)
        bench_add(&times, run_ours(p, c, scheduler));
    bl_close(c);
    return times;
}

static void print_csv(const char *method, const bench_times *times, const problem *p) {
    char load[32];
    snprintf(load, sizeof load, "%s %.2fM", PATTERNS[p->step - 1], 1e-6 * (double)p->elements);
    peers_csv_rows(load, method, times, 0, p->elements / CHUNK);
}

static void print_row(const char *method, const bench_times *times, const problem *p, double thrust, uint32_t pop,
                      bool right) {
    bench_spread s = bench_sum_up(times);
    double bytes = 2.0 * sizeof(float) * (double)p->elements / p->step;
    char pops[16] = "-";
    if (request.csv)
        return print_csv(method, times, p);
    if (pop)
        snprintf(pops, sizeof pops, "%u", pop);
    printf("  %-20s %9.4f %9.4f %9.4f %10.1f %8.3f %5s  %s\n", method, 1e3 * s.median, 1e3 * s.least, 1e3 * s.most,
           1e-9 * bytes / s.median, s.median / thrust, pops, right ? "right" : "WRONG");
    fflush(stdout);
}

/* With the best pop size. */
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

/* One pattern at one size; returns how many methods were wrong. */
static int compare_all(problem *p, const char *group) {
    bool right;
    if (!request.csv)
        printf("%s, %.2f M elements, %s; milliseconds, medians of %u\n  %-20s %9s %9s %9s %10s %8s %5s\n",
               PATTERNS[p->step - 1], 1e-6 * (double)p->elements, group, request.repeats, "method", "median", "least",
               "most", "GB/s", "/Thrust", "pop");
    bench_times times = measure_peer(p, run_thrust, &right);
    double thrust = bench_sum_up(&times).median;
    int wrong = !right;
    print_row("Thrust", &times, p, thrust, 0, right);
    times = measure_peer(p, run_cub, &right);
    wrong += !right;
    print_row("CUB", &times, p, thrust, 0, right);
    for (int i = 0; i < SCHEDULER_COUNT; i++)
        wrong += !compare(p, SCHEDULERS[i], group, thrust);
    return wrong;
}

int main(int argc, char **argv) {
    const char *group = "block:512";
    int wrong = 0;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            group = argv[i];
        else if (!peers_option(&request, argc, argv, &i))
            return peers_usage(" [GROUP]");
    peers_need_gpu();
    if (request.csv)
        peers_csv_head();
    for (size_t elements = 5120000; elements <= 51200000; elements *= 10) {
        problem p;
        open_problem(&p, elements);
        for (p.step = 1; p.step <= 3; p.step++)
            wrong += compare_all(&p, group);
        close_problem(&p);
    }
    return wrong ? 1 : 0;
}
