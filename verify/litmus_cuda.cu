/* The litmus tests on a GPU. Roles meet before each pair of words, so that they access it at the same time; every wait
 * is bounded. The platform's operations have device scope, bl_*_host system scope; only bl_block_sync has block
 * scope. */
#include "litmus_roles.h"

#include "platform/clock.h"

#include <ballast/platform/platform.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 64, LANES = 128, PATIENCE = 1 << 22 };

typedef struct gpu_table {
    litmus_kind kind;
    uint32_t roles, groups;
    uint32_t *x, *y, *meet; /* meet: a counter for each pair and group */
    litmus_seen *seen;
    unsigned long long *odd;
} gpu_table;

static char trouble[256];

static bool succeeded(cudaError_t error, const char *what) {
    if (error != cudaSuccess)
        snprintf(trouble, sizeof trouble, "CUDA: %s: %s", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

/* One lane of each block; all blocks are resident at the same time. */
static __device__ void meet_blocks(uint32_t *counter, uint32_t roles) {
    bl_block_sync();
    if (threadIdx.x == 0) {
        bl_fetch_add32_relaxed(counter, 1);
        for (uint32_t tries = 0; tries < PATIENCE && bl_load32_relaxed(counter) < roles; tries++)
            ;
    }
    bl_block_sync();
}

/* Roles in neighbouring blocks; lane k of each handles pair k. */
static __global__ void in_blocks(gpu_table t) {
    uint32_t role = blockIdx.x % t.roles, group = blockIdx.x / t.roles;
    for (uint32_t n = 0; n < PAIRS; n++) {
        size_t i = ((size_t)group * PAIRS + n) * LANES + threadIdx.x;
        meet_blocks(&t.meet[group * PAIRS + n], t.roles);
        litmus_role(t.kind, role, t.x + i * LITMUS_APART, t.y + i * LITMUS_APART, t.seen[i].load[role]);
    }
}

/* Roles in neighbouring warps of one block: warp w has role w % roles. */
static __global__ void in_warps(gpu_table t) {
    uint32_t warp = threadIdx.x / 32, role = warp % t.roles, pair = warp / t.roles * 32 + threadIdx.x % 32;
    for (uint32_t n = 0; n < PAIRS; n++) {
        size_t i = ((size_t)blockIdx.x * PAIRS + n) * LANES + pair;
        bl_block_sync();
        litmus_role(t.kind, role, t.x + i * LITMUS_APART, t.y + i * LITMUS_APART, t.seen[i].load[role]);
    }
}

static __global__ void count_odd(gpu_table t, size_t pairs) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += (size_t)gridDim.x * blockDim.x)
        if (litmus_is_odd(t.kind, &t.seen[i], t.x[i * LITMUS_APART], t.y[i * LITMUS_APART]))
            atomicAdd(t.odd, 1ull);
}

static bool open_table(gpu_table *t, size_t pairs) {
    return succeeded(cudaMalloc(&t->x, pairs * LITMUS_APART * 4), "cudaMalloc") &&
           succeeded(cudaMalloc(&t->y, pairs * LITMUS_APART * 4), "cudaMalloc") &&
           succeeded(cudaMalloc(&t->meet, (size_t)t->groups * PAIRS * 4), "cudaMalloc") &&
           succeeded(cudaMalloc(&t->seen, pairs * sizeof(litmus_seen)), "cudaMalloc") &&
           succeeded(cudaMalloc(&t->odd, sizeof *t->odd), "cudaMalloc") &&
           succeeded(cudaMemset(t->odd, 0, sizeof *t->odd), "cudaMemset");
}

static void close_table(gpu_table *t) {
    cudaFree(t->x);
    cudaFree(t->y);
    cudaFree(t->meet);
    cudaFree(t->seen);
    cudaFree(t->odd);
}

static bool play(const gpu_table *t, litmus_place place, size_t pairs) {
    cudaMemsetAsync(t->x, 0, pairs * LITMUS_APART * 4);
    cudaMemsetAsync(t->y, 0, pairs * LITMUS_APART * 4);
    cudaMemsetAsync(t->meet, 0, (size_t)t->groups * PAIRS * 4);
    if (place == LITMUS_BLOCKS)
        in_blocks<<<t->groups * t->roles, LANES>>>(*t);
    else
        in_warps<<<t->groups, LANES * t->roles>>>(*t);
    count_odd<<<64, 256>>>(*t, pairs);
    return succeeded(cudaDeviceSynchronize(), "litmus kernel");
}

static bool is_there(int *multiprocessors) {
    int count = 0, device = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        snprintf(trouble, sizeof trouble, "no GPU");
        return false;
    }
    return succeeded(cudaGetDevice(&device), "cudaGetDevice") &&
           succeeded(cudaDeviceGetAttribute(multiprocessors, cudaDevAttrMultiProcessorCount, device),
                     "cudaDeviceGetAttribute");
}

extern "C" const char *litmus_cuda(litmus_kind kind, litmus_place place, double seconds, litmus_count *count) {
    int multiprocessors;
    if (!is_there(&multiprocessors))
        return trouble;
    gpu_table t = {};
    t.kind = kind;
    t.roles = litmus_tests[kind].roles;
    t.groups = (uint32_t)multiprocessors / t.roles; /* one block per multiprocessor, so that all are resident */
    size_t pairs = (size_t)t.groups * PAIRS * LANES;
    double end = bl__now() + seconds;
    bool right = open_table(&t, pairs);
    for (uint32_t round = 0; right && (round == 0 || bl__now() < end); round++) {
        right = play(&t, place, pairs);
        count->runs += pairs;
    }
    unsigned long long odd = 0;
    right = right && succeeded(cudaMemcpy(&odd, t.odd, sizeof odd, cudaMemcpyDefault), "cudaMemcpy");
    count->odd += odd;
    close_table(&t);
    return right ? NULL : trouble;
}

/* ---- block scope ---- */

static __global__ void through_block_sync(uint32_t *global, unsigned long long *odd) {
    __shared__ uint32_t shared[LANES];
    uint32_t *mine = global + (size_t)blockIdx.x * LANES, lane = threadIdx.x, other = (lane * 37 + 64) % LANES;
    for (uint32_t n = 1; n <= PAIRS; n++) {
        shared[lane] = n;
        mine[lane] = n;
        bl_block_sync();
        uint32_t a = shared[other], b = mine[other];
        if (a != n || b != n)
            atomicAdd(odd, 1ull);
        bl_block_sync();
    }
}

extern "C" const char *litmus_cuda_block(double seconds, litmus_count *count) {
    int multiprocessors;
    uint32_t *global = NULL;
    unsigned long long *odd = NULL, seen = 0;
    if (!is_there(&multiprocessors))
        return trouble;
    uint32_t blocks = 4 * (uint32_t)multiprocessors;
    double end = bl__now() + seconds;
    bool right = succeeded(cudaMalloc(&global, (size_t)blocks * LANES * 4), "cudaMalloc") &&
                 succeeded(cudaMalloc(&odd, sizeof *odd), "cudaMalloc") &&
                 succeeded(cudaMemset(odd, 0, sizeof *odd), "cudaMemset");
    for (uint32_t round = 0; right && (round == 0 || bl__now() < end); round++) {
        through_block_sync<<<blocks, LANES>>>(global, odd);
        right = succeeded(cudaDeviceSynchronize(), "litmus kernel");
        count->runs += (uint64_t)blocks * LANES * PAIRS;
    }
    right = right && succeeded(cudaMemcpy(&seen, odd, sizeof seen, cudaMemcpyDefault), "cudaMemcpy");
    count->odd += seen;
    cudaFree(global);
    cudaFree(odd);
    return right ? NULL : trouble;
}

/* ---- system scope ---- */

typedef struct two_counts {
    uint64_t host, pad[31], device, pad_too[31], stop, back;
} two_counts;

/* Runs until the host says stop, or has made no progress for long. */
static __global__ void count_with_host(two_counts *c) {
    uint64_t last = 0, count = 0;
    for (uint32_t still = 0; still < PATIENCE && !bl_load64_host(&c->stop);) {
        uint64_t seen = bl_load64_host(&c->host);
        if (seen < last)
            bl_store64_host(&c->back, 1);
        still = seen == last ? still + 1 : 0;
        last = seen;
        bl_store64_host(&c->device, ++count);
    }
}

extern "C" const char *litmus_cuda_host(double seconds, litmus_count *count) {
    int multiprocessors;
    two_counts *c = NULL;
    uint64_t last = 0;
    if (!is_there(&multiprocessors) || !succeeded(cudaHostAlloc(&c, sizeof *c, cudaHostAllocMapped), "cudaHostAlloc"))
        return trouble;
    memset(c, 0, sizeof *c);
    double end = bl__now() + seconds;
    count_with_host<<<1, 1>>>(c);
    bool right = succeeded(cudaGetLastError(), "litmus kernel");
    for (; right && bl__now() < end; count->runs++)
        count->odd += litmus_host_step(&c->host, &c->device, &last);
    litmus_host_stop(&c->stop);
    right = succeeded(cudaDeviceSynchronize(), "litmus kernel") && right;
    count->odd += c->back;
    if (right && last == 0) {
        snprintf(trouble, sizeof trouble, "the host never saw what a kernel stored");
        right = false;
    }
    cudaFreeHost(c);
    return right ? NULL : trouble;
}
