/* CUDA: which thread of a case or history a lane is. */
#ifndef BALLAST_VERIFY_PLACE_H
#define BALLAST_VERIFY_PLACE_H

#define VERIFY_NOBODY UINT32_MAX

/* With a stride of 32 only the first lane of each warp takes part. */
static __device__ __forceinline__ uint32_t verify_rank(uint32_t stride) {
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    return thread % stride == 0 ? thread / stride : VERIFY_NOBODY;
}

/* Thread `rank` of a group records one history after another: every groups-th. */
typedef struct verify_place {
    uint32_t group, groups, rank;
} verify_place;

/*   LANES    neighbours of one warp, as many groups as fit into it
 *   WARPS    the first lanes of the warps of one block, which has `threads` of them
 *   BLOCKS   the first lanes of neighbouring blocks, whose number is a multiple of `threads` */
static __device__ __forceinline__ verify_place verify_place_of(verify_spread spread, uint32_t threads) {
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, fit = 32 / threads;
    verify_place lanes = {(blockIdx.x * warps + warp) * fit + lane / threads, gridDim.x * warps * fit,
                          lane / threads < fit ? lane % threads : VERIFY_NOBODY};
    verify_place of_block = {blockIdx.x, gridDim.x, lane == 0 ? warp : VERIFY_NOBODY};
    verify_place blocks = {blockIdx.x / threads, gridDim.x / threads,
                           threadIdx.x == 0 ? blockIdx.x % threads : VERIFY_NOBODY};
    return spread == VERIFY_LANES ? lanes : spread == VERIFY_WARPS ? of_block : blocks;
}

#endif
