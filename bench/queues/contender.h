/* A contender: a queue with its loops, compiled for the CPU and, with CUDA, for the GPU. The build makes and lists one
 * for every queue, for the empty loop and for each stealing queue. */
#ifndef BALLAST_BENCH_CONTENDER_H
#define BALLAST_BENCH_CONTENDER_H

#include "bench_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels have one parameter, a bench_job, and are launched by address. */
typedef struct bench_cuda_code {
    size_t (*bytes)(bl_shape shape, uint32_t group);
    const void *kernels[BENCH_STEPS];
} bench_cuda_code;

typedef struct bench_contender {
    const char *name, *text, *progress, *devices;
    int kind;
    uint32_t flags;
    int by_handle, many;
    uint32_t least, most_threads;
    size_t (*bytes)(bl_shape shape, uint32_t group);
    void (*cpu[BENCH_STEPS])(const bench_job *j, uint32_t rank, uint32_t size);
    const bench_cuda_code *cuda; /* NULL without CUDA */
} bench_contender;

const bench_contender *bench_contender_at(unsigned i); /* the floor and the ceiling first; NULL at the end */
const bench_contender *bench_contender_find(const char *name);

#ifdef __cplusplus
}
#endif

#endif
