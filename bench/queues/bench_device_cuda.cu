/* The loops as kernels. All threads of a loop are resident at once, since they wait for each other; the host watches
 * for kernels that do not return. */
#include "bench_device.h"
#include "harness/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELPERS = 128, INIT_BLOCKS_PER_PROCESSOR = 8 }; /* callers that fill and drain */

/* Device memory, enlarged when needed, and the host's copies of the arrays. */
typedef struct cuda_store {
    void *memory;
    size_t bytes;
    uint32_t callers;
    uint64_t *out;
    uint32_t *pushes, *pops, *ended;
    float *work;
    uint64_t *host_out;
    uint32_t *host_pushes, *host_pops;
    cudaEvent_t begin, end;
    cudaError_t error; /* the first error; nothing works after it */
} cuda_store;
static cuda_store gpu;

static bool good(cudaError_t error) {
    if (gpu.error == cudaSuccess)
        gpu.error = error;
    return gpu.error == cudaSuccess;
}

/* ---- memory ---- */

template <class T> static bool renew(T **device, size_t count) {
    good(cudaFree(*device));
    *device = NULL;
    return good(cudaMalloc((void **)device, count * sizeof(T)));
}

template <class T> static bool renew_host(T **memory, size_t count) {
    free(*memory);
    *memory = (T *)malloc(count * sizeof(T));
    return *memory != NULL;
}

static bool room_for_callers(uint32_t callers) {
    if (callers <= gpu.callers)
        return true;
    gpu.callers = 0;
    bool fits = renew(&gpu.out, callers) && renew(&gpu.pushes, callers) && renew(&gpu.pops, callers) &&
                renew(&gpu.work, callers) && renew_host(&gpu.host_out, callers) &&
                renew_host(&gpu.host_pushes, callers) && renew_host(&gpu.host_pops, callers);
    gpu.callers = fits ? callers : 0;
    return fits;
}

/* A queue that is too large must not be an error for the others. */
static bool room_for_queue(size_t bytes) {
    if (bytes <= gpu.bytes)
        return true;
    good(cudaFree(gpu.memory));
    gpu.memory = NULL;
    gpu.bytes = 0;
    if (cudaMalloc(&gpu.memory, bytes) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    gpu.bytes = bytes;
    return true;
}

/* ---- kernels ---- */

static void wait_for(const bench_device *d, const char *what, uint32_t threads, cudaEvent_t event) {
    const struct timespec little = {0, 20000};
    double start = bench_now();
    cudaError_t state;
    while ((state = cudaEventQuery(event)) == cudaErrorNotReady) {
        nanosleep(&little, NULL);
        if (bench_now() - start > d->patience)
            bench_give_up(d, what, threads);
    }
    good(state);
}

static void enqueue(const void *kernel, void *argument, uint32_t lanes) {
    void *arguments[] = {argument};
    uint32_t block = lanes < BENCH_BLOCK ? lanes : BENCH_BLOCK;
    good(cudaLaunchKernel(kernel, dim3((lanes + block - 1) / block), dim3(block), arguments, 0, NULL));
}

/* Device time in seconds of one launch with this many lanes. Work enqueued before is still running, so the host's part
 * of the launch is over when the clock starts. */
static double launch_kernel(const bench_device *d, const char *what, const void *kernel, void *argument,
                            uint32_t lanes) {
    float milliseconds = 0;
    good(cudaEventRecord(gpu.begin));
    enqueue(kernel, argument, lanes);
    good(cudaEventRecord(gpu.end));
    if (gpu.error == cudaSuccess)
        wait_for(d, what, lanes, gpu.end);
    if (gpu.error == cudaSuccess)
        good(cudaEventElapsedTime(&milliseconds, gpu.begin, gpu.end));
    return 1e-3 * milliseconds;
}

static double launch(const bench_device *d, const bench_spec *spec, bench_step step, bench_job job, uint32_t lanes) {
    return launch_kernel(d, spec->queue->name, spec->queue->cuda->kernels[step], &job, lanes);
}

/* A few callers, one per warp: more would only get in each other's way. For a deque, only its owner. */
static void help(const bench_device *d, const bench_spec *spec, bench_step step, bench_job job, uint32_t helpers) {
    job.shift = 5;
    job.callers = helpers < job.threads ? helpers : job.threads;
    launch(d, spec, step, job, job.callers * d->warp);
}

static void fetch(uint32_t callers, bool counts) {
    good(cudaMemcpy(gpu.host_out, gpu.out, callers * sizeof *gpu.out, cudaMemcpyDeviceToHost));
    if (counts) {
        good(cudaMemcpy(gpu.host_pushes, gpu.pushes, callers * sizeof *gpu.pushes, cudaMemcpyDeviceToHost));
        good(cudaMemcpy(gpu.host_pops, gpu.pops, callers * sizeof *gpu.pops, cudaMemcpyDeviceToHost));
    }
}

/* By several callers, and finally by one alone, for which EMPTY is exact. */
static bench_drained drain(const bench_device *d, const bench_spec *spec, const bench_job *job) {
    bench_drained sum = {0, 0};
    uint32_t helpers = spec->loop == BENCH_OWNER ? 1 : HELPERS < job->threads ? HELPERS : job->threads;
    for (int i = 0; i < 2 && gpu.error == cudaSuccess; i++, helpers = 1) {
        help(d, spec, BENCH_DRAIN, *job, helpers);
        fetch(helpers, true);
        for (uint32_t rank = 0; rank < helpers; rank++) {
            sum.out += gpu.host_out[rank];
            sum.pops += gpu.host_pops[rank];
        }
    }
    return sum;
}

/* ---- one measurement ---- */

static bool prepare(const bench_spec *spec, bench_job *job, bench_result *result) {
    bl_shape shape = {job->capacity, 1, job->threads};
    if (!room_for_queue(spec->queue->cuda->bytes(shape, job->group)) || !room_for_callers(job->threads)) {
        snprintf(result->problem, sizeof result->problem, "out of memory");
        return false;
    }
    job->memory = gpu.memory;
    job->out = gpu.out;
    job->pushes = gpu.pushes;
    job->pops = gpu.pops;
    job->work = gpu.work;
    job->ended = gpu.ended;
    job->until = UINT64_MAX; /* rounds end it */
    return good(cudaMemset(gpu.ended, 0, sizeof *gpu.ended));
}

/* The loop of pairs counts nothing: every caller completes all ten. The sums of draining go into the same arrays
 * later. */
static void check(const bench_device *d, const bench_spec *spec, const bench_job *job, bench_result *result) {
    bench_job seen = *job;
    uint64_t *sums = (uint64_t *)malloc(job->threads * sizeof *sums);
    uint32_t *counts = (uint32_t *)malloc(2 * (size_t)job->threads * sizeof *counts);
    bench_drained drained = {0, 0};
    fetch(job->threads, spec->loop != BENCH_TEN);
    if (!sums || !counts || gpu.error != cudaSuccess) {
        snprintf(result->problem, sizeof result->problem, "%s",
                 gpu.error != cudaSuccess ? cudaGetErrorString(gpu.error) : "out of memory");
    } else {
        seen.out = (uint64_t *)memcpy(sums, gpu.host_out, job->threads * sizeof *sums);
        seen.pushes = (uint32_t *)memcpy(counts, gpu.host_pushes, job->threads * sizeof *counts);
        seen.pops = (uint32_t *)memcpy(counts + job->threads, gpu.host_pops, job->threads * sizeof *counts);
        for (uint32_t i = 0; spec->loop == BENCH_TEN && i < job->threads; i++)
            seen.pushes[i] = seen.pops[i] = BENCH_PAIRS;
        if (bench_needs_drain(spec))
            drained = drain(d, spec, job);
        bench_check(spec, &seen, drained, result);
    }
    free(sums);
    free(counts);
}

static void cuda_measure(bench_device *d, const bench_spec *spec, bench_result *result) {
    bench_job job;
    memset(result, 0, sizeof *result);
    memset(&job, 0, sizeof job);
    if (!bench_plan(d, spec, &job, result) || !prepare(spec, &job, result))
        return;
    enqueue(spec->queue->cuda->kernels[BENCH_INIT], &job, d->processors * INIT_BLOCKS_PER_PROCESSOR * BENCH_BLOCK);
    if (job.items > 0)
        help(d, spec, BENCH_FILL, job, HELPERS);
    result->seconds = launch(d, spec, spec->loop, job, spec->threads);
    check(d, spec, &job, result);
    if (gpu.error != cudaSuccess && !result->problem[0])
        snprintf(result->problem, sizeof result->problem, "%s", cudaGetErrorString(gpu.error));
}

static bench_room kernel_room(const bench_device *d, const void *kernel) {
    bench_room room = {0, 0};
    cudaFuncAttributes attributes;
    int blocks = 0;
    if (good(cudaFuncGetAttributes(&attributes, kernel)) &&
        good(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BENCH_BLOCK, 0))) {
        room.registers = (uint32_t)attributes.numRegs;
        room.threads = (uint32_t)blocks * d->processors * BENCH_BLOCK;
    }
    return room;
}

static bench_room cuda_room(bench_device *d, const bench_contender *queue, bench_step loop) {
    return kernel_room(d, queue->cuda->kernels[loop]);
}

/* ---- single words ---- */

static __device__ __forceinline__ uint32_t lane_number(void) { return blockIdx.x * blockDim.x + threadIdx.x; }
static __global__ void __launch_bounds__(BENCH_BLOCK) plain_kernel(bench_words w) { bench_plain(&w, lane_number()); }
static __global__ void __launch_bounds__(BENCH_BLOCK) faa_kernel(bench_words w) { bench_faa(&w, lane_number()); }
static __global__ void __launch_bounds__(BENCH_BLOCK) faa_warp_kernel(bench_words w) {
    bench_faa_warp(&w, lane_number());
}
static const void *const atomic_kernels[BENCH_ACCESSES] = {(const void *)plain_kernel, (const void *)faa_kernel,
                                                           (const void *)faa_warp_kernel};

static uint32_t cuda_atomic_room(bench_device *d) { return kernel_room(d, atomic_kernels[BENCH_FAA]).threads; }

static void cuda_atomics(bench_device *d, bench_access access, uint32_t threads, uint32_t times,
                         bench_atomic_result *result) {
    size_t bytes = (size_t)BL_LINE * (threads + 1);
    uint32_t last = 0;
    memset(result, 0, sizeof *result);
    if (!room_for_queue(bytes) || !room_for_callers(threads) || !good(cudaMemset(gpu.memory, 0, bytes)))
        return;
    bench_words words = {(uint32_t *)gpu.memory, (uint32_t *)gpu.memory + BL_LINE / 4, gpu.out, times};
    result->busy = result->span = launch_kernel(d, "fetch-and-add", atomic_kernels[access], &words, threads);
    good(cudaMemcpy(&last, gpu.memory, sizeof last, cudaMemcpyDeviceToHost));
    fetch(threads, false);
    result->right = gpu.error == cudaSuccess && bench_check_atomics(access, threads, times, gpu.host_out, last);
}

static void cuda_close(bench_device *d) {
    (void)d;
    cudaFree(gpu.memory);
    cudaFree(gpu.out);
    cudaFree(gpu.pushes);
    cudaFree(gpu.pops);
    cudaFree(gpu.work);
    cudaFree(gpu.ended);
    cudaEventDestroy(gpu.begin);
    cudaEventDestroy(gpu.end);
    free(gpu.host_out);
    free(gpu.host_pushes);
    free(gpu.host_pops);
    memset(&gpu, 0, sizeof gpu);
}

/* ---- opening ---- */

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1 ..." */
static void describe(bench_device *d) {
    char line[160] = "";
    int version = 0;
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    cudaDriverGetVersion(&version);
    snprintf(d->about, sizeof d->about, "driver %.120s (CUDA %d.%d), compiler nvcc %d.%d", line, version / 1000,
             version % 1000 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
}

bool bench_open_cuda(bench_device *d, int number) {
    int devices = 0;
    cudaDeviceProp properties;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || number >= devices || cudaSetDevice(number) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, number) != cudaSuccess)
        return false;
    memset(d, 0, sizeof *d);
    memset(&gpu, 0, sizeof gpu);
    snprintf(d->id, sizeof d->id, "cuda:%d", number);
    snprintf(d->name, sizeof d->name, "%.120s", properties.name);
    describe(d);
    d->processors = (uint32_t)properties.multiProcessorCount;
    d->target = "cuda";
    d->warp = 32;
    d->patience = 60;
    d->room = cuda_room;
    d->measure = cuda_measure;
    d->atomic_room = cuda_atomic_room;
    d->atomics = cuda_atomics;
    d->close = cuda_close;
    return good(cudaEventCreate(&gpu.begin)) && good(cudaEventCreate(&gpu.end)) &&
           good(cudaMalloc((void **)&gpu.ended, sizeof *gpu.ended));
}
