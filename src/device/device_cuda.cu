/* Device: an NVIDIA GPU. Kernels of a program live in the user's object; this file owns memory, streams and the
 * watch. */
extern "C" {
#include "internal.h"
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ballast/task.h>

#define BL__MANAGE static __device__ void manage_part
#include "policies/manage_all.inc.h"

typedef struct cuda_device {
    int number;
    int multiprocessors;
    cudaStream_t stream, side; /* side: looks at a run, and stops it, while it runs */
    bool own_stream;
    cudaEvent_t started, ended; /* of the first launch that is timed, of the last launch */
    bool timing, timed;         /* the next launch is the first; it has been */
    bl__tally *tallies;         /* pinned: what the watch sees */
    uint32_t tally_capacity;
} cuda_device;

static int status_of(bl_context *c, cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return BL_OK;
    (void)cudaGetLastError();
    if (error == cudaErrorMemoryAllocation) {
        bl__detail(c, "CUDA: %s: %s; ", what, cudaGetErrorString(error));
        return BL_ENOMEM;
    }
    bl__detail(c, "CUDA: %s: %s", what, cudaGetErrorString(error));
    /* After such an error every further call of this process on the device fails. */
    if (error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure || error == cudaErrorAssert ||
        error == cudaErrorIllegalInstruction || error == cudaErrorMisalignedAddress || error == cudaErrorLaunchTimeout)
        c->dead = true;
    return BL_EDEVICE;
}

/* ---- what there is ---- */

/* Without a GPU or a driver there are simply no such devices. */
static int cuda_enumerate(uint32_t i, bl_device_info *info) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    cudaDeviceProp properties;
    if (i >= (uint32_t)count || cudaGetDeviceProperties(&properties, (int)i) != cudaSuccess)
        return 0;
    memset(info, 0, sizeof *info);
    snprintf(info->id, sizeof info->id, "cuda:%u", i);
    snprintf(info->name, sizeof info->name, "%.120s", properties.name);
    info->workers = (uint32_t)properties.multiProcessorCount;
    info->memory = properties.totalGlobalMem;
    info->capability = (uint32_t)(10 * properties.major + properties.minor);
    return 1;
}

static void cuda_close(bl_context *c) {
    cuda_device *d = (cuda_device *)c->device;
    if (!c->dead && !bl__inherited(c)) { /* a forked child has no CUDA of its parent's */
        cudaSetDevice(d->number);
        if (d->own_stream && d->stream)
            cudaStreamDestroy(d->stream);
        if (d->side)
            cudaStreamDestroy(d->side);
        cudaEvent_t events[] = {d->started, d->ended};
        for (cudaEvent_t event : events)
            if (event)
                cudaEventDestroy(event);
        cudaFreeHost(d->tallies);
    }
    free(d);
}

static int cuda_open(bl_context *c, const char *id) {
    cuda_device *d = (cuda_device *)calloc(1, sizeof *d);
    if (!d)
        return bl__no_memory(c, "a GPU's state");
    c->device = d;
    d->number = atoi(id + 5);
    cudaError_t error = cudaSetDevice(d->number);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&d->multiprocessors, cudaDevAttrMultiProcessorCount, d->number);
    d->stream = (cudaStream_t)c->config.stream;
    d->own_stream = !d->stream;
    if (error == cudaSuccess && d->own_stream)
        error = cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&d->side, cudaStreamNonBlocking);
    cudaEvent_t *events[] = {&d->started, &d->ended};
    for (cudaEvent_t *event : events)
        if (error == cudaSuccess)
            error = cudaEventCreate(event);
    int status = status_of(c, error, "opening the device");
    if (status != BL_OK)
        cuda_close(c);
    return status;
}

/* ---- memory ---- */

static cuda_device *use(bl_context *c) {
    cuda_device *d = (cuda_device *)c->device;
    cudaSetDevice(d->number);
    return d;
}

static int cuda_alloc(bl_context *c, void **memory, size_t bytes) {
    use(c);
    return status_of(c, cudaMalloc(memory, bytes), "allocating");
}
static void cuda_free(bl_context *c, void *memory) {
    use(c);
    cudaFree(memory);
}
static int cuda_copy(bl_context *c, void *to, const void *from, size_t bytes) {
    cuda_device *d = use(c);
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(d->stream);
    return status_of(c, error, "copying");
}
static int cuda_zero(bl_context *c, void *memory, size_t bytes) {
    cuda_device *d = use(c);
    return status_of(c, cudaMemsetAsync(memory, 0, bytes, d->stream), "clearing");
}

/* ---- queues between launches ---- */

static __global__ void manage_kernel(bl__manage_op op, int queue, const bl__run run, uint32_t *entries, uint32_t count,
                                     uint64_t *total) {
    manage_part(op, queue, &run, entries, count, total, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

static int cuda_manage(bl_context *c, bl__manage_op op, int queue, const bl__run *run, uint32_t *entries,
                       uint32_t count, uint64_t *total) {
    cuda_device *d = use(c);
    /* Set-up is slots to write, the rest a thread per queue; a queue that all may use gets some more. */
    uint64_t threads = op == BL__SET_UP           ? (uint64_t)run->queue_count * run->capacity
                       : op == BL__ADD_UP         ? 0
                       : op >= BL__RECORDS_SET_UP ? run->record_capacity
                                                  : run->queue_count;
    threads = threads < 1024 ? 1024 : threads > 1u << 18 ? 1u << 18 : threads;
    manage_kernel<<<(unsigned)((threads + 127) / 128), 128, 0, d->stream>>>(op, queue, *run, entries, count, total);
    return status_of(c, cudaGetLastError(), "filling or draining queues"); /* the next copy waits for it */
}

/* ---- launching ---- */

static int cuda_fit(bl_context *c, bl__plan *plan, uint32_t lanes, size_t worker_memory) {
    cuda_device *d = use(c);
    bool lane_tasks = plan->instance->lane_tasks;
    plan->threads = lane_tasks ? 128 : lanes;
    plan->workers_per_block = lane_tasks ? plan->threads / 32 : 1;
    plan->processors = (uint32_t)d->multiprocessors;
    int blocks = 0;
    size_t shared = worker_memory * plan->workers_per_block;
    int error = plan->program->cuda_fit(plan->instance->kernel, plan->threads, shared, &blocks);
    if (error == cudaSuccess && blocks == 0)
        error = cudaErrorInvalidConfiguration;
    if (error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration) {
        (void)cudaGetLastError();
        bl__detail(c,
                   "%s: a block of %u lanes with %zu bytes of shared memory does not fit on a multiprocessor "
                   "(accepted: a smaller private stack, fewer lanes)",
                   c->config.private_entries ? "private" : "group", plan->threads, shared);
        return BL_EINVAL;
    }
    plan->fit = (uint32_t)(blocks * d->multiprocessors) * plan->workers_per_block;
    return status_of(c, (cudaError_t)error, "asking for the occupancy");
}

/* Copies what the workers have written about themselves, while they run. */
static cudaError_t peek(cuda_device *d, const bl__run *run) {
    cudaError_t error =
        cudaMemcpyAsync(d->tallies, run->tally, sizeof(bl__tally) * run->tallies, cudaMemcpyDeviceToHost, d->side);
    return error == cudaSuccess ? cudaStreamSynchronize(d->side) : error;
}

/* Only its own byte of the word: workers may be setting theirs. */
static void stop_workers(cuda_device *d, const bl__run *run) {
    static const unsigned char stop = BL__STOP_HOST >> 24;
    cudaMemcpyAsync((unsigned char *)&run->control->stop + 3, &stop, sizeof stop, cudaMemcpyHostToDevice, d->side);
    cudaStreamSynchronize(d->side);
}

static int give_up(bl_context *c, cuda_device *d, const bl__run *run) {
    bl__watch_report(c, "no task ended in time", d->tallies, run->tallies, NULL);
    stop_workers(d, run);
    double until = bl__now() + 2;
    while (cudaEventQuery(d->ended) == cudaErrorNotReady && bl__now() < until)
        usleep(1000);
    c->dead = cudaEventQuery(d->ended) == cudaErrorNotReady;
    return BL_ESTALL;
}

static int wait_and_watch(bl_context *c, cuda_device *d, const bl__run *run) {
    bl__watch watch;
    bl__watch_start(&watch);
    double begun = bl__now(), look_at = begun + bl__watch_next(c, 0.1);
    for (;;) {
        cudaError_t error = cudaEventQuery(d->ended);
        if (error != cudaErrorNotReady)
            return status_of(c, error, "running");
        double now = bl__now();
        if (now - begun > 0.002)
            usleep(50);
        if (now < look_at)
            continue;
        bl__seen seen =
            peek(d, run) == cudaSuccess ? bl__watch_look(c, &watch, d->tallies, run->tallies, NULL) : BL__ALL_WELL;
        look_at = bl__now() + bl__watch_next(c, 0.1);
        if (seen == BL__TO_PAUSE)
            stop_workers(d, run);
        else if (seen == BL__NO_PROGRESS)
            return give_up(c, d, run);
    }
}

static int reserve_tallies(bl_context *c, cuda_device *d, uint32_t count) {
    if (d->tally_capacity >= count)
        return BL_OK;
    cudaFreeHost(d->tallies);
    d->tallies = NULL;
    d->tally_capacity = 0;
    cudaError_t error = cudaMallocHost((void **)&d->tallies, sizeof(bl__tally) * count);
    if (error == cudaSuccess)
        d->tally_capacity = count;
    return status_of(c, error, "allocating");
}

static int cuda_launch(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared) {
    cuda_device *d = use(c);
    static const uint64_t nothing = 0; /* for programs without shared data */
    int status = reserve_tallies(c, d, run->tallies);
    if (status != BL_OK)
        return status;
    uint32_t blocks = (run->groups + plan->workers_per_block - 1) / plan->workers_per_block;
    size_t memory = (size_t)run->worker_memory * plan->workers_per_block;
    /* Workers that wait for each other must all be resident; those of a wave, or of a loop that each may leave
     * alone, need not. */
    int cooperative = !(plan->traits & BL_TRAIT_WAVES) && !run->alone;
    int error = d->timing ? cudaEventRecord(d->started, d->stream) : cudaSuccess;
    d->timed = d->timed || d->timing;
    d->timing = false;
    if (error == cudaSuccess)
        error = plan->program->cuda_launch(plan->instance->kernel, blocks, plan->threads, memory, cooperative, run,
                                           shared ? shared : &nothing, d->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(d->ended, d->stream);
    status = status_of(c, (cudaError_t)error, "launching");
    return status == BL_OK ? wait_and_watch(c, d, run) : status;
}

/* From the first launch to the end of the last: what the host does before and after is no part of the run. */
static int cuda_timer_start(bl_context *c) {
    cuda_device *d = use(c);
    d->timing = true;
    d->timed = false;
    return BL_OK;
}
static int cuda_timer_stop(bl_context *c, double *seconds) {
    cuda_device *d = use(c);
    float milliseconds = 0;
    *seconds = 0;
    if (c->dead || !d->timed)
        return BL_OK; /* the run has said what happened */
    cudaError_t error = cudaEventSynchronize(d->ended);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&milliseconds, d->started, d->ended);
    *seconds = 1e-3 * (double)milliseconds;
    return status_of(c, error, "timing");
}

/* What shared memory allows. */
static uint32_t cuda_default_private(uint32_t words, uint32_t outbox) {
    uint32_t room = 4096 / (4 * words);
    return room > outbox + 40 ? room - outbox - 33 : 8;
}

static constexpr bl__device_ops make_ops(void) {
    bl__device_ops ops = {};
    ops.target = "cuda";
    ops.traits = BL_DEVICE_GPU;
    ops.warp = 32;
    /* One fetch-and-add a piece, asked for before the last piece is run, costs less than looking for victims. */
    ops.loop_scheduler = "list:faa";
    ops.workers_must_fit = true;
    ops.has_streams = true;
    ops.most_kept = SIZE_MAX; /* to allocate and to free takes longer than many a run */
    ops.default_private = cuda_default_private;
    ops.enumerate = cuda_enumerate;
    ops.open = cuda_open;
    ops.close = cuda_close;
    ops.alloc = cuda_alloc;
    ops.free = cuda_free;
    ops.copy_in = ops.copy_out = ops.move = cuda_copy;
    ops.zero = cuda_zero;
    ops.fit = cuda_fit;
    ops.manage = cuda_manage;
    ops.launch = cuda_launch;
    ops.timer_start = cuda_timer_start;
    ops.timer_stop = cuda_timer_stop;
    return ops;
}

extern "C" const bl__device_ops bl__cuda_ops = make_ops();
