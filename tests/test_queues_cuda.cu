/* The contract of every queue on a GPU: one thread, the lanes of one warp, the warps of one block, many blocks. Every wait is bounded, by the
 * contract's patience inside a kernel and by a limit on the host, so that a queue that hangs is reported. */
#include "check.h"

#include "each_queue.h"
#include <stdlib.h>
#include <time.h>

typedef void (*contract_entry)(contract_client *c, contract_case what, uint32_t threads, uint32_t stride);
#define CONTRACT_PATIENCE UINT64_C(8000000000) /* cycles */

/* With a stride of 32 only the first lane of each warp takes part. */
static __device__ uint32_t contract_rank(uint32_t stride) {
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    return thread % stride == 0 ? thread / stride : UINT32_MAX;
}

#define X(name)                                                                                                        \
    static __global__ void name##_kernel(contract_client *c, contract_case what, uint32_t threads, uint32_t stride) {  \
        uint32_t rank = contract_rank(stride);                                                                         \
        if (rank < threads)                                                                                            \
            name##_contract(c, what, rank);                                                                            \
    }
BL_QUEUES(X)
#undef X
#define CONTRACT_ENTRY(name) name##_kernel

static __global__ void pool_kernel(contract_client *c, contract_case what, uint32_t threads, uint32_t stride) {
    uint32_t rank = contract_rank(stride);
    if (rank >= threads)
        return;
    if (what == CONTRACT_SET_UP)
        contract_pool_set_up(c);
    else if (what == CONTRACT_TRAFFIC)
        contract_pool_traffic(c, rank);
    else if (what == CONTRACT_TOKENS)
        contract_chunk_traffic(c, rank);
    else if (what == CONTRACT_AUDIT)
        contract_pool_audit(c);
}
#define CONTRACT_POOL_ENTRY pool_kernel

/* Nothing can be tested after an error of CUDA. */
static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    printf("test_queues_cuda.cu: failed: %s: %s: %s\n", what, cudaGetErrorString(error), check_doing);
    check_failed++;
    fflush(stdout);
    _exit(check_end());
}

static void *contract_alloc(size_t bytes, int byte) {
    void *memory = NULL;
    must(cudaMalloc(&memory, bytes ? bytes : 1), "cudaMalloc");
    must(cudaMemset(memory, byte, bytes), "cudaMemset");
    return memory;
}
static void contract_free(void *memory) { must(cudaFree(memory), "cudaFree"); }
static void contract_copy(void *to, const void *from, size_t bytes) {
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

static uint32_t block_lanes = 32, lane_stride = 1; /* how the threads of the next cases lie */

static bool contract_launch(contract_entry entry, contract_client *client, contract_case what, uint32_t threads) {
    struct timespec little = {0, 1000000};
    uint32_t lanes = threads * lane_stride;
    entry<<<(lanes + block_lanes - 1) / block_lanes, block_lanes>>>(client, what, threads, lane_stride);
    must(cudaGetLastError(), "launch");
    for (int i = 0; i < 60000 && cudaStreamQuery(0) == cudaErrorNotReady; i++)
        nanosleep(&little, NULL);
    if (cudaStreamQuery(0) == cudaErrorNotReady) { /* a kernel cannot be stopped, only left behind */
        printf("test_queues_cuda.cu: failed: the kernel hangs: %s\n", check_doing);
        fflush(stdout);
        _exit(1);
    }
    must(cudaDeviceSynchronize(), "kernel");
    return true;
}

#include "../verify/contract_host.h"

typedef struct shape {
    const char *text;
    uint32_t threads, block, stride;
} shape;

static void crowds(const contract_queue *q, const shape *s) {
    static const uint32_t capacities[] = {2, 64, 4096};
    if (q->waiting && !(q->flags & BL_ALL_PARADIGMS) && s->stride == 1)
        return; /* a lane that waits may keep back the one it waits for */
    block_lanes = s->block;
    lane_stride = s->stride;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t words = q->by_handle ? 1 : i == 0 ? 8 : i == 1 ? 1 : 3;
        contract_client c = contract_shape(capacities[i], words, UINT32_MAX - 100, s->threads + i, 0);
        c.threads = s->threads;
        c.batch = i == 2 ? 4 : 1;
        c.items = (i == 0 ? 4096 : 32768) / s->threads;
        contract_crowd(q, c, s->threads / 2, s->threads - s->threads / 2);
        contract_crowd(q, c, s->threads, s->threads);
        if (!q->deque) {
            contract_crowd(q, c, 1, s->threads - 1);
            c.items = 16;
            c.capacity = 2;
            contract_tokens(q, c);
        }
    }
}

static void pools(const shape *s) {
    contract_client c = contract_shape(0, 0, 0, s->threads, 40);
    block_lanes = s->block;
    lane_stride = s->stride;
    c.threads = s->threads;
    contract_run_pool(c, 4096, CONTRACT_TRAFFIC);
    c.items = 100;
    contract_run_pool(c, 128, CONTRACT_TOKENS);
}

static void all_shapes(const shape *shapes, int count) {
    for (int i = 0; i < CONTRACT_QUEUES; i++) {
        const contract_queue *q = contract_queues + i;
        block_lanes = 32;
        lane_stride = 1;
        if (!q->ceiling)
            contract_all_alone(q, 300);
        for (int k = 0; k < count && !q->ceiling; k++)
            crowds(q, shapes + k);
        if (q->ceiling) {
            contract_client c = contract_shape(2, 3, UINT32_MAX - 5, 1, 64);
            c.threads = 1024;
            block_lanes = 64;
            contract_tickets(q, c);
        }
    }
    for (int k = 0; k < count; k++)
        pools(shapes + k);
}

int main(void) {
    cudaDeviceProp device;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        printf("skipped: no CUDA device\n");
        return CHECK_SKIPPED;
    }
    check_limit(220);
    /* Threads wait for each other, so all blocks must fit at once: one to a multiprocessor surely does. */
    uint32_t blocks = device.multiProcessorCount < 64 ? (uint32_t)device.multiProcessorCount : 64;
    const shape shapes[] = {{"lanes of one warp", 32, 32, 1},
                            {"warps of one block", 8, 256, 32},
                            {"lanes of one block", 128, 128, 1},
                            {"blocks", blocks, 32, 32},
                            {"lanes of many blocks", blocks * 64, 64, 1}};
    all_shapes(shapes, (int)(sizeof shapes / sizeof shapes[0]));
    return check_end();
}
