/* Template: the kernels of the contender BL_QUEUE. The build includes it once per queue. A caller is a lane, or one
 * lane of each warp. */
#include "contender.h"

#include "queue_loop.inc.h"

#define BENCH_KERNEL(x) static __global__ void __launch_bounds__(BENCH_BLOCK) LOOP(x)(bench_job j)

/* The caller's number; at least j.callers for a lane that takes no part. */
static __device__ __forceinline__ uint32_t LOOP(rank)(const bench_job &j) {
    uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
    return lane & ((1u << j.shift) - 1) ? UINT32_MAX : lane >> j.shift;
}

/* Every lane of the grid, whichever lanes call later. */
BENCH_KERNEL(init_kernel) { LOOP(init)(&j, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x); }

BENCH_KERNEL(fill_kernel) {
    if (LOOP(rank)(j) < j.callers)
        LOOP(fill)(&j, LOOP(rank)(j), j.callers);
}

BENCH_KERNEL(ten_kernel) {
    uint32_t rank = LOOP(rank)(j);
    if (rank >= j.callers)
        return;
    BL_QUEUE q;
    LOOP(bind)(&q, &j, rank);
    j.out[rank] = LOOP(ten)(&q, rank * BENCH_PAIRS + 1);
}

BENCH_KERNEL(mixed_kernel) {
    if (LOOP(rank)(j) < j.callers)
        LOOP(mixed)(&j, LOOP(rank)(j));
}

BENCH_KERNEL(owner_kernel) {
    uint32_t rank = LOOP(rank)(j);
    if (rank == 0)
        LOOP(owner)(&j, rank);
    else if (rank < j.callers)
        LOOP(thief)(&j, rank);
}

BENCH_KERNEL(drain_kernel) {
    if (LOOP(rank)(j) < j.callers)
        LOOP(drain)(&j, LOOP(rank)(j));
}

static size_t LOOP(bytes)(bl_shape shape, uint32_t group) {
#ifdef BENCH_MANY
    return BL_QUEUE_(bytes)(shape, group);
#else
    return (void)group, BL_QUEUE_(bytes)(shape);
#endif
}

extern "C" const bench_cuda_code BL_CAT(bench_cuda_, BL_QUEUE);
const bench_cuda_code BL_CAT(bench_cuda_, BL_QUEUE) = {
    LOOP(bytes),
    {(const void *)LOOP(init_kernel), (const void *)LOOP(fill_kernel), (const void *)LOOP(ten_kernel),
     (const void *)LOOP(mixed_kernel), (const void *)LOOP(owner_kernel), (const void *)LOOP(drain_kernel)}};

#undef BENCH_KERNEL
#undef LOOP
#undef BL_QUEUE_
