/* Template: entry points of every worker loop of BL_PROGRAM and the table that the library runs it by. */
#define BL__PROGRAM_(x) BL_CAT(BL__OF_PROGRAM, x)
#ifdef BL__NAME_OF_PROGRAM
#define BL__TABLE static inline const /* in a class: cpp.h */
#else
#define BL__TABLE static const
#endif

#if defined(BL_TARGET_CUDA)

extern __shared__ __align__(16) unsigned char bl__shared_memory[];

/* Lane tasks: a worker per warp. Otherwise a worker per block. Scratch lies before the stack. The bounds make the
 * compiler use few enough registers for the largest block, or for as many warps as the program asks for. Workers that
 * meet between waves may be in larger blocks, of which there are fewer. */
#define BL__IN_LANES(other) ((other) ? !(BL_LANE_TASKS) : (BL_LANE_TASKS))
#define BL__WAVE_BLOCKS (((BL_RESIDENT) + 15) / 16)
#define BL__WAVE_THREADS ((BL_RESIDENT) ? BL__MAX(32 * ((BL_RESIDENT) / BL__MAX(BL__WAVE_BLOCKS, 1)), 128) : 384)
#define BL__LANE_THREADS(waves) ((waves) ? BL__WAVE_THREADS : 128)
#define BL__LANE_BLOCKS(waves) (!(BL_RESIDENT) ? 1 : (waves) ? BL__WAVE_BLOCKS : (BL_RESIDENT) / 4)
#define BL__BOUNDS(waves, other)                                                                                       \
    __launch_bounds__(BL__IN_LANES(other) ? BL__LANE_THREADS(waves) : 1024,                                            \
                      BL__IN_LANES(other) ? BL__LANE_BLOCKS(waves) : 1)
#define BL__ENTRY_WITH(parameter, instance, waves, other)                                                              \
    static __global__ void BL__BOUNDS(waves, other)                                                                    \
        BL_CAT(BL__PROGRAM_(_kernel_), instance)(parameter bl__run run, parameter BL_SHARED shared) {                  \
        bool lane_tasks = BL__IN_LANES(other);                                                                         \
        uint32_t warp = lane_tasks ? threadIdx.x / 32 : 0;                                                             \
        uint32_t id = lane_tasks ? blockIdx.x * (blockDim.x / 32) + warp : blockIdx.x;                                 \
        uint32_t lane = lane_tasks ? threadIdx.x % 32 : threadIdx.x;                                                   \
        if (id >= run.groups)                                                                                          \
            return;                                                                                                    \
        unsigned char *memory = bl__shared_memory + warp * run.worker_memory;                                          \
        bl__stack *stack = (bl__stack *)(memory + run.scratch_bytes);                                                  \
        if (lane == 0) {                                                                                               \
            bl__stack_open(stack, &run);                                                                               \
            stack->limit = stack->leaves = 0;                                                                          \
            stack->verdict.meeting = 0;                                                                                \
            stack->tasks = stack->entries = stack->met = 0;                                                            \
        }                                                                                                              \
        bl__worker_sync((waves) ? blockDim.x : lane_tasks ? 32 : run.lanes); /* of waves: they add up in one stack */  \
        uint32_t slot = run.tallies == run.groups ? id : bl_processor() % run.tallies;                                 \
        BL_CAT(BL__PROGRAM_(_work_), instance)(&run, &shared, id, lane, slot, stack, memory);                          \
    }
#define BL__ENTRY(instance, text, waves, other) BL__ENTRY_WITH(const, instance, waves, other)
/* A porter calls a function with the addresses of both: without the attribute all threads would have copies. */
#define BL__SHARED_ENTRY(instance, text, waves, other) BL__ENTRY_WITH(const __grid_constant__, instance, waves, other)
BL__KERNELS(BL__ENTRY)
BL__IF_OTHER(BL__ENTRY)
BL__IF_OPEN(BL__ENTRY)
BL__IF_SHARED(BL__SHARED_ENTRY)
#undef BL__SHARED_ENTRY
#undef BL__ENTRY
#undef BL__ENTRY_WITH
#undef BL__BOUNDS
#undef BL__LANE_BLOCKS
#undef BL__LANE_THREADS
#undef BL__WAVE_THREADS
#undef BL__WAVE_BLOCKS

static int BL__PROGRAM_(_fit)(const void *kernel, uint32_t threads, size_t shared_memory, int *blocks) {
    /* The attribute is the kernel's, not the context's: another context may rely on more. */
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    *blocks = 0;
    if (error == cudaSuccess && threads > (uint32_t)attributes.maxThreadsPerBlock)
        return (int)cudaSuccess;
    if (error == cudaSuccess && (size_t)attributes.maxDynamicSharedSizeBytes < shared_memory)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_memory);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, (int)threads, shared_memory);
    return (int)error;
}

static int BL__PROGRAM_(_launch)(const void *kernel, uint32_t blocks, uint32_t threads, size_t shared_memory,
                                 int cooperative, const bl__run *run, const void *shared, void *stream) {
    void *arguments[] = {(void *)run, (void *)shared};
    if (cooperative)
        return (int)cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, shared_memory,
                                                (cudaStream_t)stream);
    return (int)cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), arguments, shared_memory, (cudaStream_t)stream);
}

#define BL__KERNEL_ROW(instance, text, other, opens)                                                                   \
    {text, 0, BL__IN_LANES(other), opens, NULL, (const void *)BL_CAT(BL__PROGRAM_(_kernel_), instance)},
#define BL__ROW(instance, text, waves, other) BL__KERNEL_ROW(instance, text, other, BL__CLOSED)
#define BL__OPEN_ROW(instance, text, waves, other) BL__KERNEL_ROW(instance, text, other, BL__OPEN)
#define BL__SHARED_ROW(instance, text, waves, other) BL__KERNEL_ROW(instance, text, other, BL__SHARED)
#define BL__ROWS BL__KERNELS(BL__ROW) BL__IF_OTHER(BL__ROW) BL__IF_OPEN(BL__OPEN_ROW) BL__IF_SHARED(BL__SHARED_ROW)

#else

#if BL_WARP > 1
#define BL__INSTANCES(X) X(queues, 0, 0) X(waves, 1, 0) X(queues_other, 0, 1) X(waves_other, 1, 1)
#else
#define BL__INSTANCES(X) X(queues, 0, 0) X(waves, 1, 0)
#endif

#define BL__ENTRY(instance, waves, other)                                                                              \
    static void BL_CAT(BL__PROGRAM_(_entry_), instance)(const bl__run *run, const void *shared, uint32_t id,           \
                                                        uint32_t lane, uint32_t slot) {                                \
        unsigned char *memory = run->memory + (size_t)slot * run->worker_memory;                                       \
        BL_CAT(BL__PROGRAM_(_work_), instance)                                                                         \
        (run, (const BL_SHARED *)shared, id, lane, slot, (bl__stack *)(void *)(memory + run->scratch_bytes), memory);  \
    }
BL__INSTANCES(BL__ENTRY)
#undef BL__ENTRY

#define BL__ROW(instance, waves, other)                                                                                \
    {NULL, waves, (other) ? !(BL_LANE_TASKS) : (BL_LANE_TASKS), !(waves), BL_CAT(BL__PROGRAM_(_entry_), instance),     \
     NULL},
#define BL__ROWS BL__INSTANCES(BL__ROW)

#endif

BL__TABLE bl__instance BL__PROGRAM_(_instances)[] = {BL__ROWS};
#undef BL__ROWS
#undef BL__OPEN_ROW
#undef BL__SHARED_ROW
#undef BL__KERNEL_ROW
#undef BL__IN_LANES
#undef BL__ROW
#undef BL__INSTANCES

#define BL__STRING(x) #x
#define BL__TEXT(x) BL__STRING(x)
BL__TABLE bl_program BL__PROGRAM_(_program) = {
    BL__ABI,
    BL__LAYOUT,
    BL__TEXT(BL_TARGET),
    BL_WARP,
#ifdef BL__NAME_OF_PROGRAM
    BL__NAME_OF_PROGRAM,
#else
    BL__TEXT(BL_PROGRAM),
#endif
    (uint32_t)sizeof(BL_PAYLOAD),
    (uint32_t)BL__SHARED_BYTES,
    (uint32_t)BL__SCRATCH_BYTES,
    BL__IS_NOTHING(BL_CAT(BL__OF_PROGRAM, _payload_type)),
    BL_MAX_SPAWN,
    BL_LANE_TASKS,
    BL_LANES,
    BL_RESIDENT,
    BL__HAS_DONE_TEST,
    BL__PIECES,
    BL_GRAIN,
    BL__SPLITS,
    BL__LOOP_AT,
    (uint32_t)sizeof(BL__CARRIED),
    BL__RESULT_BYTES,
    BL__JOINS ? BL__RECORD_BYTES : 0,
    BL__RESULTS_AT,
    BL_SUM ? BL__MOST_CHILDREN : (BL_JOIN_WIDTH),
    BL__PAYLOAD_AT,
    BL__PROGRAM_(_instances),
    (uint32_t)(sizeof BL__PROGRAM_(_instances) / sizeof BL__PROGRAM_(_instances)[0]),
    NULL,
    0,
    BL_AUTO,
    BL__CAN_OPEN,
    NULL,
    0,
    NULL,
#if defined(BL_TARGET_CUDA)
    BL__PROGRAM_(_fit),
    BL__PROGRAM_(_launch),
#else
    NULL,
    NULL,
#endif
};
#undef BL__TEXT
#undef BL__STRING

#ifndef BL__NAME_OF_PROGRAM /* cpp.h gives out the table itself */
#ifdef __cplusplus
extern "C"
#endif
    const bl_program *BL_CAT(BL_CAT(BL_PROGRAM, _), BL_TARGET)(void);
const bl_program *BL_CAT(BL_CAT(BL_PROGRAM, _), BL_TARGET)(void) { return &BL__PROGRAM_(_program); }
#endif
#undef BL__TABLE

#undef BL__PROGRAM_
