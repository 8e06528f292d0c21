/* What a program looks like to the library: a table of worker loops. */
#ifndef BL_RUNTIME_PROGRAM_TYPE_H
#define BL_RUNTIME_PROGRAM_TYPE_H

#include "../ballast.h"
#include "../parts/run.h"

/* CPU and sim: the life of one lane of worker (or group) `id`, on the private stack and with the counters of `slot`. */
typedef void (*bl__work)(const bl__run *run, const void *shared, uint32_t id, uint32_t lane, uint32_t slot);

typedef struct bl__instance {
    const char *scheduler; /* CUDA: which one is in the kernel, "steal:abp"; NULL: any of the library's, ... */
    int waves;             /* ... with queues, or in waves */
    int lane_tasks;
    bl__work work;      /* CPU, sim */
    const void *kernel; /* CUDA */
} bl__instance;

struct bl_program {
    const char *target; /* "cpu", "cuda", "sim" */
    uint32_t warp;      /* lanes */
    const char *name;
    uint32_t payload_bytes, shared_bytes, scratch_bytes;
    uint32_t max_spawn, lane_tasks, lanes, has_done_test;
    uint32_t takes_pieces, pop, splits;  /* BL_RANGE_RUN, BL_POP, BL_SPLIT */
    uint32_t carried_bytes;              /* by an entry: the payload, and where its result goes */
    uint32_t result_bytes, record_bytes; /* 0 without BL_RESULT */
    uint32_t results_at, join_width;     /* where results lie in a record, and how many fit */
    const bl__instance *instances;
    uint32_t instance_count;
    const char *automatic;     /* BL_AUTO; NULL: the library chooses */
    bl_task_function function; /* bl_function */
    /* CUDA: in the user's own object, which has its own CUDA runtime. Both return a cudaError_t. */
    int (*cuda_fit)(const void *kernel, uint32_t threads, size_t shared_memory, int *blocks_per_multiprocessor);
    int (*cuda_launch)(const void *kernel, uint32_t blocks, uint32_t threads, size_t shared_memory, int cooperative,
                       const bl__run *run, const void *shared, void *stream);
};

#endif
