/* Target: an NVIDIA GPU. Every wait is bounded: by the patience of the cases inside a kernel, and by a limit here. A
 * kernel that does not end cannot be stopped, and after a CUDA error nothing can run: both make the target unusable for
 * good. */
#include "verify.h"

#include "platform/clock.h"
#include "contract_cases.inc.h"
#include "place.h"
#include <ballast/generated/queues.h>
#include <time.h>

#define X(name) extern "C" const verify_queue verify_cuda_##name;
BL_QUEUES(X)
#undef X
#define X(name) &verify_cuda_##name,
static const verify_queue *const queues[] = {BL_QUEUES(X) NULL};
#undef X

enum { LIMIT = 60 }; /* seconds */

static char trouble[VERIFY_TEXT];
static uint32_t multiprocessors;

static const char *cuda_trouble(void) { return *trouble ? trouble : NULL; }

static bool succeeded(cudaError_t error, const char *what) {
    if (error != cudaSuccess && !*trouble)
        snprintf(trouble, sizeof trouble, "CUDA: %s: %s", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

static void *cuda_alloc(size_t bytes) {
    void *memory = NULL;
    if (*trouble)
        return NULL;
    cudaError_t error = cudaMalloc(&memory, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation)
        (void)cudaGetLastError();
    else
        succeeded(error, "cudaMalloc");
    return error == cudaSuccess ? memory : NULL;
}
static void cuda_release(void *memory) {
    if (!*trouble)
        succeeded(cudaFree(memory), "cudaFree");
}
static void cuda_fill(void *memory, int byte, size_t bytes) {
    if (!*trouble)
        succeeded(cudaMemset(memory, byte, bytes), "cudaMemset");
}
static void cuda_copy(void *to, const void *from, size_t bytes) {
    if (!*trouble)
        succeeded(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

/* ---- kernels ---- */

typedef void (*contract_function)(contract_client *c, contract_case what, uint32_t threads, uint32_t stride);
typedef void (*history_function)(history_batch *b, bool set_up, verify_spread spread);

/* Waits for the last kernel; most take less than a millisecond. */
static bool wait_for_kernel(void) {
    struct timespec little = {0, 200000};
    double start = bl__now();
    if (!succeeded(cudaGetLastError(), "launch"))
        return false;
    while (cudaStreamQuery(0) == cudaErrorNotReady) {
        if (bl__now() - start > 0.002)
            nanosleep(&little, NULL);
        if (bl__now() - start > LIMIT) {
            snprintf(trouble, sizeof trouble, "the kernel never ends");
            return false;
        }
    }
    return succeeded(cudaDeviceSynchronize(), "kernel");
}

static bool cuda_run(verify_code code, contract_client *there, contract_case what, const contract_client *c,
                     const verify_layout *layout) {
    uint32_t threads = verify_threads(c, what), lanes = threads * layout->stride;
    if (*trouble)
        return false;
    contract_function kernel = (contract_function)code;
    kernel<<<(lanes + layout->block - 1) / layout->block, layout->block>>>(there, what, threads, layout->stride);
    return wait_for_kernel();
}

/* Lanes and warps: a group for each history, all within a block. Blocks that wait for each other must all be resident:
 * one per multiprocessor is. */
static bool cuda_record(verify_code code, history_batch *there, bool set_up, const history_batch *b,
                        verify_spread spread) {
    uint32_t threads = set_up ? 1 : b->threads, block = 64, groups = block / 32 * (32 / threads);
    uint32_t blocks = (b->count + groups - 1) / groups;
    if (*trouble)
        return false;
    if (set_up) {
        spread = VERIFY_LANES;
    } else if (spread == VERIFY_WARPS) {
        block = 32 * threads;
        blocks = b->count;
    } else if (spread == VERIFY_BLOCKS) {
        block = 32;
        blocks = multiprocessors / threads * threads;
    }
    history_function kernel = (history_function)code;
    kernel<<<blocks, block>>>(there, set_up, spread);
    return wait_for_kernel();
}

static __global__ void pool_kernel(contract_client *c, contract_case what, uint32_t threads, uint32_t stride) {
    uint32_t rank = verify_rank(stride);
    if (rank < threads)
        contract_pool_case(c, what, rank);
}

/* ---- the target ---- */

static verify_layout layouts[] = {{"lanes of one warp", 32, 32, 1},    {"warps of one block", 8, 256, 32},
                                  {"lanes of one block", 128, 128, 1}, {"blocks", 0, 32, 32},
                                  {"lanes of many blocks", 0, 64, 1},  {NULL, 0, 0, 0}};

const verify_target *verify_cuda(int device) {
    static verify_target target;
    cudaDeviceProp properties;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || device >= devices || cudaSetDevice(device) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    /* Threads wait for each other, so all blocks must be resident at once; one per multiprocessor surely is. */
    multiprocessors = (uint32_t)properties.multiProcessorCount;
    layouts[3].threads = multiprocessors < 64 ? multiprocessors : 64;
    layouts[4].threads = layouts[3].threads * 64;
    target.name = "cuda";
    target.time = "globaltimer";
    target.queue = queues;
    target.layout = layouts;
    target.pool = (verify_code)pool_kernel;
    target.patience = UINT64_C(8000000000); /* cycles */
    target.steps = 300;
    target.items = 16384;
    target.cells = 4096;
    target.spreads = 3;
    target.clocks = 2;
    target.meets = 1;
    target.alloc = cuda_alloc;
    target.release = cuda_release;
    target.fill = cuda_fill;
    target.copy = cuda_copy;
    target.run = cuda_run;
    target.record = cuda_record;
    target.trouble = cuda_trouble;
    return &target;
}
