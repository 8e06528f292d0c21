/* Device: an NVIDIA GPU. Kernels of a program live in the user's object; this file owns memory, streams and the
 * watch. */
extern "C" {
#include "internal.h"
}

#include <atomic>
#include <cuda.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ballast/generated/schedulers.h>
#include <ballast/runtime/termination.h>
#include <ballast/task.h>

#define BL__MANAGE static __device__ void manage_part
#include "policies/manage_all.inc.h"

/* Small operations that the kernel which fills the queues does on its way. On the stream each would take longer to
 * begin than to do, and a small run waits for them all. Anything else that is put on the stream comes after them. */
typedef struct cuda_delayed {
    uint4 *clear; /* memory to clear, ... */
    size_t clear_bytes;
    uint32_t *to; /* ... and then memory to write, from pinned memory; NULL: none */
    const uint32_t *from;
    size_t words;
} cuda_delayed;

/* How many workers fit on a multiprocessor, and in which blocks: the answer of the last time. */
typedef struct cuda_fitted {
    const void *kernel;
    uint32_t lanes, wish; /* of a worker; workers on a multiprocessor that should be in large blocks; 0: none */
    size_t memory;        /* of a worker */
    uint32_t workers;     /* of a block */
    int blocks;
} cuda_fitted;

typedef struct cuda_device {
    int number;
    int multiprocessors;
    cudaStream_t stream, side; /* side: looks at a run, and stops it, while it runs */
    bool own_stream;
    cudaEvent_t started, ended;     /* of the first launch that is timed, of the last launch */
    cudaEvent_t read;               /* what the last launch left has been copied */
    unsigned char *staging;         /* pinned: what is read back after a launch, then what is sent, then `arrived` */
    std::atomic<uint32_t> *arrived; /* pinned: the number of the last launch whose report has been read back */
    uint32_t launches;
    size_t sent; /* bytes of the staging memory that may not have been copied yet */
    cuda_delayed delayed;
    cudaError_t delayed_error;
    bl__totals *totals;    /* what the next report adds up to; NULL: nothing */
    uint32_t *blocks_done; /* on the device: of a report; 0 between two */
    cuda_fitted fitted;
    bool timing, timed; /* the next launch is the first; it has been */
    bl__tally *tallies; /* pinned: what the watch sees */
    uint32_t tally_capacity;
    std::atomic<uint32_t> *word; /* that held streams wait on, and which of all words it is; NULL: none was held */
    uint32_t word_number, base;
    std::atomic<uint32_t> held, reached; /* numbers of cuda_hold and cuda_reached */
    cudaMemPool_t pool;                  /* where nodes share the GPU; else NULL */
    void **late; /* memory to free when no stream is held: cudaFree waits for all streams, so for a held one for ever */
    size_t late_count, late_room;
} cuda_device;

enum { STAGING = 1 << 16, REPORT_THREADS = 128 };

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

/* ---- streams of the user ---- */

/* A held stream waits on a word in memory of the host. It may do so long after the context was closed, so words are
 * never freed. The next context that has one counts on from what is in it, by which all older waits are over. */
enum { WORDS = 1024 };
static struct {
    pthread_mutex_t lock;
    std::atomic<uint32_t> *words;
    bool taken[WORDS];
} held = {PTHREAD_MUTEX_INITIALIZER, NULL, {false}};

/* When a context is opened, because it may make the GPU wait. Without them no stream can be held. */
static void make_words(void) {
    pthread_mutex_lock(&held.lock);
    if (!held.words &&
        cudaHostAlloc((void **)&held.words, sizeof(uint32_t) * WORDS, cudaHostAllocPortable) != cudaSuccess) {
        (void)cudaGetLastError();
        held.words = NULL;
    }
    pthread_mutex_unlock(&held.lock);
}

/* What is in the context's word when so many of the started things are done. False: there is no word for it. */
static bool value_of(cuda_device *d, uint32_t number, uint32_t *value) {
    uint32_t i = 0;
    pthread_mutex_lock(&held.lock);
    while (!d->word && held.words && i < WORDS && held.taken[i])
        i++;
    if (!d->word && held.words && i < WORDS) {
        held.taken[i] = true;
        d->word_number = i;
        d->word = held.words + i;
        d->base = d->word->load(std::memory_order_relaxed) - d->reached.load();
    }
    *value = d->base + number;
    pthread_mutex_unlock(&held.lock);
    return d->word != NULL;
}

static void give_word(cuda_device *d) {
    if (!d->word)
        return;
    pthread_mutex_lock(&held.lock);
    held.taken[d->word_number] = false;
    pthread_mutex_unlock(&held.lock);
}

static bool holds_streams(const cuda_device *d) { return (int32_t)(d->held.load() - d->reached.load()) > 0; }

static void free_late(cuda_device *d) {
    while (d->late_count)
        cudaFree(d->late[--d->late_count]);
}

static bool put_late(cuda_device *d, void *memory) {
    if (d->late_count == d->late_room) {
        const size_t room = d->late_room ? 2 * d->late_room : 64;
        void **larger = (void **)realloc(d->late, room * sizeof *larger);
        if (!larger)
            return false;
        d->late = larger;
        d->late_room = room;
    }
    d->late[d->late_count++] = memory;
    return true;
}

static void cuda_close(bl_context *c) {
    cuda_device *d = (cuda_device *)c->device;
    if (!bl__inherited(c))
        give_word(d);
    if (!c->dead && !bl__inherited(c)) { /* a forked child has no CUDA of its parent's */
        cudaSetDevice(d->number);
        if (d->own_stream && d->stream)
            cudaStreamDestroy(d->stream);
        if (d->side)
            cudaStreamDestroy(d->side);
        cudaEvent_t events[] = {d->started, d->ended, d->read};
        for (cudaEvent_t event : events)
            if (event)
                cudaEventDestroy(event);
        free_late(d);
        if (d->pool)
            cudaMemPoolDestroy(d->pool);
        cudaFree(d->blocks_done);
        cudaFreeHost(d->tallies);
        cudaFreeHost(d->staging);
    }
    free(d->late);
    free(d);
}

static cudaError_t load_kernels(void);

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

/* What might wait for another node's kernel on the same GPU is done before there is one. */
static int prepare_to_share(bl_context *c, cuda_device *d) {
    int warps = 0;
    cudaError_t error = cudaDeviceGetAttribute(&warps, cudaDevAttrMaxThreadsPerMultiProcessor, d->number);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = d->number;
    uint64_t all = UINT64_MAX; /* that is freed is kept: to give it back might wait, too */
    if (error == cudaSuccess)
        error = cudaMemPoolCreate(&d->pool, &properties);
    if (error == cudaSuccess)
        error = cudaMemPoolSetAttribute(d->pool, cudaMemPoolAttrReleaseThreshold, &all);
    int status = status_of(c, error, "opening the device");
    return status == BL_OK ? reserve_tallies(c, d, (uint32_t)(warps / 32 * d->multiprocessors)) : status;
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
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&d->read, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaMallocHost((void **)&d->staging, STAGING + BL_LINE);
    if (error == cudaSuccess)
        d->arrived = new (d->staging + STAGING) std::atomic<uint32_t>(0);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&d->blocks_done, sizeof *d->blocks_done);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(d->blocks_done, 0, sizeof *d->blocks_done, d->stream);
    if (error == cudaSuccess)
        error = load_kernels();
    if (error == cudaSuccess)
        make_words();
    int status = status_of(c, error, "opening the device");
    if (status == BL_OK && c->sharers > 1)
        status = prepare_to_share(c, d);
    if (status != BL_OK)
        cuda_close(c);
    return status;
}

/* ---- memory ---- */

/* For what puts nothing on the stream. */
static cuda_device *look_at(bl_context *c) {
    cuda_device *d = (cuda_device *)c->device;
    cudaSetDevice(d->number);
    return d;
}

static cudaError_t do_delayed(cuda_device *d) {
    const cuda_delayed x = d->delayed;
    cudaError_t error = cudaSuccess;
    d->delayed = cuda_delayed{};
    if (x.clear_bytes)
        error = cudaMemsetAsync(x.clear, 0, x.clear_bytes, d->stream);
    if (x.words && error == cudaSuccess)
        error = cudaMemcpyAsync(x.to, x.from, 4 * x.words, cudaMemcpyHostToDevice, d->stream);
    return error;
}

/* For what is put on the stream, by the thread that has the context and by no other. */
static cuda_device *use(bl_context *c) {
    cuda_device *d = look_at(c);
    if (d->delayed.clear_bytes || d->delayed.words) {
        cudaError_t error = do_delayed(d);
        d->delayed_error = d->delayed_error == cudaSuccess ? error : d->delayed_error; /* the launch tells */
    }
    return d;
}

/* Nodes that share this GPU: the other's kernel runs as long as the run lasts, and waits for this node. So nothing may
 * wait for it, as cudaMalloc and cudaFree do: memory comes from a pool, in the order of this node's own stream. */
static bool shares_gpu(const bl_context *c) { return c->sharers > 1; }

static int cuda_alloc(bl_context *c, void **memory, size_t bytes) {
    cuda_device *d = look_at(c);
    if (shares_gpu(c)) {
        cudaError_t error = cudaMallocFromPoolAsync(memory, bytes, d->pool, d->stream);
        return status_of(c, error == cudaSuccess ? cudaStreamSynchronize(d->stream) : error, "allocating");
    }
    if (!holds_streams(d))
        free_late(d);
    return status_of(c, cudaMalloc(memory, bytes), "allocating");
}
static void cuda_free(bl_context *c, void *memory) {
    cuda_device *d = use(c);
    if (shares_gpu(c)) {
        cudaFreeAsync(memory, d->stream);
        return;
    }
    if (holds_streams(d) && put_late(d, memory))
        return;
    cudaFree(memory);
}
static int cuda_copy(bl_context *c, void *to, const void *from, size_t bytes) {
    cuda_device *d = use(c);
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(d->stream);
    return status_of(c, error, "copying");
}
/* By pinned memory, from which the copy is made when its turn comes. */
static int cuda_send(bl_context *c, void *to, const void *from, size_t bytes) {
    cuda_device *d = look_at(c);
    if (d->delayed.words)
        use(c);
    const size_t room = STAGING - BL__READ_BACK;
    cudaError_t error = cudaSuccess;
    if (bytes > room)
        return cuda_copy(c, to, from, bytes);
    if (d->sent + bytes > room) {
        error = cudaStreamSynchronize(d->stream);
        d->sent = 0;
    }
    unsigned char *staged = d->staging + BL__READ_BACK + d->sent;
    d->sent += (bytes + 15) / 16 * 16;
    memcpy(staged, from, bytes);
    d->delayed.to = (uint32_t *)to;
    d->delayed.from = (const uint32_t *)(const void *)staged;
    d->delayed.words = bytes / 4;
    return status_of(c, error, "copying");
}
static const void *cuda_sent(bl_context *c, const void *device) {
    cuda_device *d = look_at(c);
    if (!d->delayed.words || d->delayed.to != device)
        return NULL;
    d->delayed.words = 0;
    return d->delayed.from;
}
/* Pinned: kernels read and write it over PCIe while the host does. */
static int cuda_alloc_reached(bl_context *c, void **memory, size_t bytes) {
    use(c);
    return status_of(c, cudaMallocHost(memory, bytes), "allocating");
}
static void cuda_free_reached(bl_context *c, void *memory) {
    use(c);
    cudaFreeHost(memory);
}
static int cuda_zero(bl_context *c, void *memory, size_t bytes) {
    cuda_device *d = use(c);
    return status_of(c, cudaMemsetAsync(memory, 0, bytes, d->stream), "clearing");
}
static int cuda_zero_for_launch(bl_context *c, void *memory, size_t bytes) {
    if (bytes % sizeof(uint4))
        return cuda_zero(c, memory, bytes);
    cuda_device *d = use(c);
    d->delayed.clear = (uint4 *)memory;
    d->delayed.clear_bytes = bytes;
    return BL_OK;
}

/* ---- queues between launches ---- */

/* The functions of each queue are called and not inlined, or this file would take twice as long to compile. They get
 * the address of the kernel's parameter; without __grid_constant__ each thread would make a copy for that. */
static __global__ void manage_kernel(bl__manage_op op, int queue, const __grid_constant__ bl__run run,
                                     uint32_t *entries, uint32_t count, uint64_t *total) {
    BL_ASSUME(op != BL__FILL); /* that is what the other kernel is for */
    manage_part(op, queue, &run, entries, count, total, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

/* Fills the queues, and does what was delayed. */
static __global__ void fill_kernel(int queue, const __grid_constant__ bl__run run, const cuda_delayed x,
                                   uint32_t *entries, uint32_t count) {
    const uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x, size = gridDim.x * blockDim.x;
    for (uint4 *p = x.clear + rank; p < x.clear + x.clear_bytes / sizeof *p; p += size)
        *p = make_uint4(0, 0, 0, 0);
    for (size_t i = rank; i < x.words; i += size)
        x.to[i] = x.from[i];
    /* All other threads may read what this one has yet to copy. */
    manage_part(BL__FILL, queue, &run, x.words && x.to == entries ? (uint32_t *)x.from : entries, count, NULL, rank,
                size);
}

static int cuda_manage(bl_context *c, bl__manage_op op, int queue, const bl__run *run, uint32_t *entries,
                       uint32_t count, uint64_t *total) {
    cuda_device *d = op == BL__FILL || op == BL__ADD_UP ? look_at(c) : use(c);
    if (op == BL__ADD_UP) { /* the report does it */
        d->totals = (bl__totals *)(void *)total;
        return BL_OK;
    }
    /* Set-up is slots to write, the rest a thread per queue; a queue that all may use gets some more. */
    uint64_t threads = op == BL__SET_UP           ? (uint64_t)run->queue_count * run->capacity
                       : op >= BL__RECORDS_SET_UP ? run->record_capacity
                                                  : run->queue_count;
    threads = threads < 1024 ? 1024 : threads > 1u << 18 ? 1u << 18 : threads;
    unsigned blocks = (unsigned)((threads + 127) / 128);
    if (op == BL__FILL)
        fill_kernel<<<blocks, 128, 0, d->stream>>>(queue, *run, d->delayed, entries, count);
    else
        manage_kernel<<<blocks, 128, 0, d->stream>>>(op, queue, *run, entries, count, total);
    if (op == BL__FILL)
        d->delayed = cuda_delayed{};
    return status_of(c, cudaGetLastError(), "filling or draining queues"); /* the next copy waits for it */
}

/* ---- launching ---- */

enum { WARPS = 4, MOST_WARPS = 16 }; /* workers of a block, where a worker is a warp */

/* As many workers as are wished for and fit, in as few blocks as the kernel allows, and evenly. */
static void fit_large_blocks(const bl__plan *plan, cuda_fitted *f) {
    const uint32_t fit = f->workers * (uint32_t)f->blocks, all = f->wish < fit ? f->wish : fit;
    for (uint32_t n = all < MOST_WARPS ? all : MOST_WARPS; n > f->workers; n--) {
        int blocks = 0;
        if (all % n == 0 &&
            plan->program->cuda_fit(plan->instance->kernel, n * f->lanes, n * f->memory, &blocks) == cudaSuccess &&
            (uint32_t)blocks * n >= all) {
            f->workers = n;
            f->blocks = blocks;
        }
    }
    (void)cudaGetLastError(); /* there may have been too little shared memory */
}

static int fit_blocks(const bl__plan *plan, cuda_fitted *f) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what a kernel may use is raised, never lowered */
    pthread_mutex_lock(&lock);
    const int error =
        plan->program->cuda_fit(plan->instance->kernel, f->workers * f->lanes, f->workers * f->memory, &f->blocks);
    if (error == cudaSuccess && f->wish)
        fit_large_blocks(plan, f);
    pthread_mutex_unlock(&lock);
    return error;
}

static int cuda_fit(bl_context *c, bl__plan *plan, uint32_t lanes, size_t worker_memory) {
    cuda_device *d = look_at(c);
    plan->processors = (uint32_t)d->multiprocessors;
    cuda_fitted f = {
        plan->instance->kernel, lanes, 0, worker_memory, plan->instance->lane_tasks ? (uint32_t)WARPS : 1, 0};
    /* Those that meet between waves do so sooner in few blocks; but each multiprocessor should have its part. */
    if (plan->instance->lane_tasks && plan->stays)
        f.wish = c->config.workers         ? (c->config.workers - 1) / plan->processors + 1
                 : plan->program->resident ? plan->program->resident
                                           : UINT32_MAX;
    const cuda_fitted *known = &d->fitted;
    int error = cudaSuccess;
    if (known->kernel == f.kernel && known->lanes == lanes && known->wish == f.wish && known->memory == worker_memory)
        f = *known;
    else
        error = fit_blocks(plan, &f);
    if (error == cudaSuccess)
        d->fitted = f;
    plan->workers_per_block = f.workers;
    plan->threads = f.workers * lanes;
    const int blocks = f.blocks;
    if (error == cudaSuccess && blocks == 0)
        error = cudaErrorInvalidConfiguration;
    if (error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration) {
        (void)cudaGetLastError();
        bl__detail(c,
                   "%s: a block of %u lanes with %zu bytes of shared memory does not fit on a multiprocessor "
                   "(accepted: a smaller private stack, fewer lanes)",
                   c->config.private_entries ? "private" : "group", plan->threads,
                   worker_memory * plan->workers_per_block);
        return BL_EINVAL;
    }
    /* Blocks of nodes that share the GPU are all alike: what fits together fits in any order. */
    const uint32_t together = (uint32_t)(blocks * d->multiprocessors), share = together / c->sharers;
    const uint32_t least = bl__has_porter(c) ? 2 : 1;
    if (error == cudaSuccess && share * plan->workers_per_block < least) {
        bl__detail(c, "device %s: named %u times, but only %u blocks of %s fit at a time (accepted: fewer times)",
                   c->id, (unsigned)c->sharers, (unsigned)together, plan->program->name);
        return BL_EINVAL;
    }
    plan->fit = share * plan->workers_per_block;
    return status_of(c, (cudaError_t)error, "asking for the occupancy");
}

/* Copies what the workers have written about themselves, while they run. */
static cudaError_t peek(cuda_device *d, const bl__run *run) {
    cudaError_t error =
        cudaMemcpyAsync(d->tallies, run->tally, sizeof(bl__tally) * run->tallies, cudaMemcpyDeviceToHost, d->side);
    return error == cudaSuccess ? cudaStreamSynchronize(d->side) : error;
}

/* Only its own byte of the word: workers may be setting theirs. */
static void stop_workers(cuda_device *d, const bl__run *run, uint32_t why) {
    const unsigned char stop = (unsigned char)(why >> 24);
    cudaMemcpyAsync((unsigned char *)&run->control->stop + 3, &stop, sizeof stop, cudaMemcpyHostToDevice, d->side);
    cudaStreamSynchronize(d->side);
}

static int give_up(bl_context *c, cuda_device *d, const bl__run *run) {
    bl__watch_report(c, "no task ended in time", d->tallies, run->tallies, NULL);
    stop_workers(d, run, BL__STOP_HOST | BL__STOP_STALL);
    double until = bl__now() + 2;
    while (cudaEventQuery(d->read) == cudaErrorNotReady && bl__now() < until)
        usleep(1000);
    c->dead = cudaEventQuery(d->read) == cudaErrorNotReady;
    return BL_ESTALL;
}

/* Until the report of that number is there. The word in pinned memory says so sooner than the event, which says why not
 * if it never comes. */
static int wait_and_watch(bl_context *c, cuda_device *d, const bl__run *run, uint32_t number, bool *stops) {
    bl__watch watch;
    bl__watch_start(&watch);
    const bool serves = c->open && c->inlet.outlet.slots; /* other nodes wait for what this thread brings them */
    double begun = bl__now(), asked = begun, next_look = begun + bl__watch_next(c, 0.1);
    for (;;) {
        if (d->arrived->load(std::memory_order_acquire) == number)
            return BL_OK;
        double now = bl__now();
        if (bl__inlet_stirs(c))
            begun = now; /* more may follow soon */
        if (bl__watch_halts(c))
            next_look = now;
        if (now - begun > 0.002 && (!serves || now - asked > 0.0005)) {
            cudaError_t error = cudaEventQuery(d->read);
            asked = now;
            if (error != cudaErrorNotReady)
                return status_of(c, error, "running");
            if (!serves)
                usleep(50);
        }
        if (serves && now - begun > 0.0002)
            sched_yield();
        if (now < next_look)
            continue;
        bl__seen seen =
            peek(d, run) == cudaSuccess ? bl__watch_look(c, &watch, d->tallies, run->tallies, NULL) : BL__ALL_WELL;
        if (seen == BL__NO_PROGRESS)
            return give_up(c, d, run);
        *stops = *stops || seen == BL__TO_PAUSE;
        /* Again and again: on a GPU that is busy with something else the run may be set up after this, which clears
         * the word. */
        if (*stops)
            stop_workers(d, run, BL__STOP_HOST);
        next_look = bl__now() + (*stops ? 0.001 : bl__watch_next(c, 0.1));
    }
}

static int cuda_launch(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared) {
    cuda_device *d = use(c);
    static const uint64_t nothing = 0; /* for programs without shared data */
    int status = reserve_tallies(c, d, run->tallies);
    if (status != BL_OK)
        return status;
    uint32_t blocks = (run->groups + plan->workers_per_block - 1) / plan->workers_per_block;
    size_t memory = (size_t)run->worker_memory * plan->workers_per_block;
    /* Workers that wait for each other must all be resident; those of a single wave, or of a loop that each may leave
     * alone, need not. */
    int cooperative = plan->traits & BL_TRAIT_WAVES ? run->stays != 0 : !run->alone;
    int error = d->delayed_error;
    d->delayed_error = cudaSuccess;
    if (error == cudaSuccess && d->timing)
        error = cudaEventRecord(d->started, d->stream);
    d->timed = d->timed || d->timing;
    d->timing = false;
    if (error == cudaSuccess)
        error = plan->program->cuda_launch(plan->instance->kernel, blocks, plan->threads, memory, cooperative, run,
                                           shared ? shared : &nothing, d->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(d->ended, d->stream);
    return status_of(c, (cudaError_t)error, "launching");
}

/* By all threads of a block. */
static __device__ void clear_between(void *from, const void *to) {
    for (uint4 *p = (uint4 *)from + threadIdx.x; p < (const uint4 *)to; p += blockDim.x)
        *p = make_uint4(0, 0, 0, 0);
}

/* Those that the same block has added up. */
static __device__ void clear_tallies(const bl__run *run) {
    for (uint32_t i = blockIdx.x * blockDim.x; i < run->tallies; i += gridDim.x * blockDim.x)
        clear_between(run->tally + i, run->tally + min(i + blockDim.x, run->tallies));
}

/* Adds up the tallies; the block that is the last to do so writes the report to pinned memory, and then its number. If
 * the run is over, all of it is cleared for the next run, `clear` words, while the host is told: each block clears the
 * tallies that it has added up, the last one the rest. */
static __global__ void report_kernel(const bl__run run, bl__totals *totals, uint32_t *report, uint32_t *host,
                                     uint32_t words, uint32_t clear, uint32_t *blocks_done, uint32_t *arrived,
                                     uint32_t number) {
    __shared__ bl__totals sum;
    __shared__ bool is_last;
    const uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x, size = gridDim.x * blockDim.x;
    const bool clears = clear && bl__is_over(run.control);
    if (threadIdx.x == 0)
        memset(&sum, 0, sizeof sum);
    __syncthreads();
    if (totals)
        bl__add_tallies(&run, &sum, rank, size);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (totals)
            bl__add_totals(totals, &sum);
        __threadfence();
        is_last = atomicAdd(blocks_done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) {
        if (clears)
            clear_tallies(&run);
        return;
    }
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        host[i] = __ldcg(report + i);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        *blocks_done = 0;
        bl_store32_host(arrived, number);
    }
    if (clears) {
        clear_tallies(&run);
        clear_between(report, run.tally);
        clear_between(run.tally + run.tallies, report + clear);
    }
}

/* CUDA loads a kernel with its first launch, and that waits for all kernels that run: the report of an open run would
 * be launched when the run has ended, and answers would be late by all that time. */
static cudaError_t load_kernels(void) {
    const void *const kernels[] = {(const void *)manage_kernel, (const void *)fill_kernel, (const void *)report_kernel};
    cudaError_t error = cudaSuccess;
    for (const void *kernel : kernels) {
        cudaFuncAttributes unused;
        if (error == cudaSuccess)
            error = cudaFuncGetAttributes(&unused, kernel);
    }
    return error;
}

static int cuda_finish(bl_context *c, const bl__run *run, void *host, void *device, size_t bytes, size_t clear) {
    cuda_device *d = use(c);
    bool stops = false;
    const uint32_t number = ++d->launches;
    const uint32_t blocks = d->totals ? (run->tallies + REPORT_THREADS - 1) / REPORT_THREADS : 1;
    report_kernel<<<blocks, REPORT_THREADS, 0, d->stream>>>(
        *run, d->totals, (uint32_t *)device, (uint32_t *)(void *)d->staging, (uint32_t)(bytes / 4),
        (uint32_t)(clear / 4), d->blocks_done, (uint32_t *)(void *)d->arrived, number);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaEventRecord(d->read, d->stream);
    d->totals = NULL;
    int status = error == cudaSuccess ? wait_and_watch(c, d, run, number, &stops) : status_of(c, error, "waiting");
    if (status != BL_OK)
        return status;
    d->sent = 0;
    memcpy(host, d->staging, bytes);
    if (stops && clear &&
        bl__is_over((const bl__control *)host)) /* it may have come too late, into what was clear again */
        return cuda_zero(c, &run->control->stop, sizeof run->control->stop);
    return BL_OK;
}

/* From the first launch to the end of the last: what the host does before and after is no part of the run. */
static int cuda_timer_start(bl_context *c) {
    cuda_device *d = look_at(c);
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

/* ---- streams of the user ---- */

/* Other threads may call these while the context's own thread sets up a run. So they leave alone what that thread has
 * delayed: to do it here would take the roots away from the run. */
static const char *cuda_wrong_stream(bl_context *c, void *stream) {
    cuda_device *d = look_at(c);
    int device = -1;
    if (stream == (void *)d->stream)
        return "stream: it is config.stream, on which the context itself works";
    cudaError_t error = cudaStreamGetDevice((cudaStream_t)stream, &device);
    (void)cudaGetLastError();
    return error == cudaSuccess && device == d->number ? NULL : "stream: not of the context's device";
}

static void *cuda_mark(bl_context *c, void *stream) {
    cudaEvent_t event = NULL;
    look_at(c);
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventRecord(event, (cudaStream_t)stream);
    if (error == cudaSuccess)
        return event;
    (void)cudaGetLastError();
    if (event)
        cudaEventDestroy(event);
    return NULL;
}

static int cuda_pass_mark(bl_context *c, void *mark) {
    cuda_device *d = look_at(c);
    if (c->dead)
        return BL_EDEAD;
    cudaError_t error = cudaStreamWaitEvent(d->stream, (cudaEvent_t)mark, 0);
    cudaEventDestroy((cudaEvent_t)mark);
    return status_of(c, error, "waiting for a stream");
}

/* The runtime has no such function, and the library does not link the driver's. */
typedef CUresult (*wait_value_function)(CUstream stream, CUdeviceptr word, cuuint32_t value, unsigned flags);

static bool cuda_hold(bl_context *c, void *stream, uint32_t number) {
    cuda_device *d = look_at(c);
    void *function = NULL;
    cudaDriverEntryPointQueryResult found;
    cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &function, 12000, cudaEnableDefault, &found);
    (void)cudaGetLastError();
    uint32_t value;
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || !value_of(d, number, &value))
        return false;
    d->held.store(number);
    return ((wait_value_function)function)((CUstream)stream, (CUdeviceptr)(uintptr_t)d->word, value,
                                           CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
}

/* What the stream does then comes after all that this thread knows to be done. */
static void cuda_reached(bl_context *c, uint32_t number) {
    cuda_device *d = (cuda_device *)c->device;
    pthread_mutex_lock(&held.lock);
    d->reached.store(number);
    if (d->word)
        d->word->store(d->base + number, std::memory_order_release);
    pthread_mutex_unlock(&held.lock);
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
    ops.default_scheduler = BL__DEFAULT_GPU_TEXT; /* its thieves need fewer round trips to memory */
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
    ops.send = cuda_send;
    ops.sent = cuda_sent;
    ops.zero = cuda_zero;
    ops.zero_for_launch = cuda_zero_for_launch;
    ops.fit = cuda_fit;
    ops.manage = cuda_manage;
    ops.launch = cuda_launch;
    ops.finish = cuda_finish;
    ops.clears = true;
    ops.alloc_reached = cuda_alloc_reached;
    ops.free_reached = cuda_free_reached;
    ops.timer_start = cuda_timer_start;
    ops.timer_stop = cuda_timer_stop;
    ops.wrong_stream = cuda_wrong_stream;
    ops.mark = cuda_mark;
    ops.pass_mark = cuda_pass_mark;
    ops.hold = cuda_hold;
    ops.reached = cuda_reached;
    return ops;
}

extern "C" const bl__device_ops bl__cuda_ops = make_ops();
