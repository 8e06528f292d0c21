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
    int opens;          /* it can take work from outside: BL__OPEN, BL__SHARED. On a GPU it is for that */
    bl__work work;      /* CPU, sim */
    const void *kernel; /* CUDA */
} bl__instance;

/* What is compiled into a program and used by the library too. A change of any of these, or of what they mean, takes
 * another number. */
#define BL__ABI 16u
typedef struct bl__layout {
    uint32_t run, control, tally, worker, stack, task, record, program, policy;
} bl__layout;

/* Where task.h, parts/worker.h and policy.h are included: not here, because the prover changes the target after this
 * header. */
#define BL__LAYOUT                                                                                                     \
    {                                                                                                                  \
        (uint32_t)sizeof(bl__run), (uint32_t)sizeof(bl__control), (uint32_t)sizeof(bl__tally),                         \
            (uint32_t)sizeof(bl__worker), (uint32_t)sizeof(bl__stack), (uint32_t)sizeof(bl_task),                      \
            (uint32_t)sizeof(bl__record), (uint32_t)sizeof(bl_program), (uint32_t)sizeof(bl__policy)                   \
    }

struct bl_program {
    uint32_t abi; /* BL__ABI, first in every version */
    bl__layout layout;
    const char *target; /* "cpu", "cuda", "sim" */
    uint32_t warp;      /* lanes */
    const char *name;
    uint32_t payload_bytes, shared_bytes, scratch_bytes;
    uint32_t no_payload; /* the user's is bl_nothing */
    uint32_t max_spawn, lane_tasks, lanes, resident, has_done_test;
    uint32_t takes_pieces, grain, splits; /* BL_RANGE_RUN, BL_GRAIN, BL_SPLIT */
    uint32_t loop_at; /* the reduction of a loop: where bl__blocks lie in its payload, behind the user's; else 0 */
    uint32_t carried_bytes;              /* by an entry: the payload, and where its result goes */
    uint32_t result_bytes, record_bytes; /* 0 without BL_RESULT */
    uint32_t results_at, join_width;     /* where results lie in a record, and how many fit */
    uint32_t payload_at;                 /* where the fork's payload lies there */
    const bl__instance *instances;
    uint32_t instance_count;
    const bl_program *const *parts; /* bl_program_join */
    uint32_t part_count;
    const char *automatic;     /* BL_AUTO; NULL: the library chooses */
    uint32_t opens;            /* it can take submissions: BL_OPEN */
    bl_task_function function; /* bl_program_from_function */
    uint32_t long_body;        /* bl_program_from_long_body */
    bl__guard guard;           /* of a function of a C++ program; NULL: it cannot throw */
    /* CUDA: in the user's own object, which has its own CUDA runtime. Both return a cudaError_t. */
    int (*cuda_fit)(const void *kernel, uint32_t threads, size_t shared_memory, int *blocks_per_multiprocessor);
    int (*cuda_launch)(const void *kernel, uint32_t blocks, uint32_t threads, size_t shared_memory, int cooperative,
                       const bl__run *run, const void *shared, void *stream);
};

#endif
