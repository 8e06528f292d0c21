/* Parallel loops over elements of uneven cost: the input of every method. An element is a chain of multiplications,
 * whose length depends on its number, and one store. Plain C11 that is also C++17. */
#ifndef BALLAST_BENCH_FOREACH_PEERS_H
#define BALLAST_BENCH_FOREACH_PEERS_H

#include <stdint.h>

typedef enum loop_shape { LOOP_EIGHTH, LOOP_TRIANGLE, LOOP_BLOCKS, LOOP_TINY } loop_shape;

typedef struct loop_load {
    uint32_t *out; /* the result of each element, in memory that every thread can write */
    uint32_t count;
    uint32_t steps; /* the most steps of an element */
    loop_shape shape;
} loop_load;

static inline uint32_t loop_steps(const loop_load *load, uint32_t i) {
    switch (load->shape) {
    case LOOP_EIGHTH:
        return i < load->count / 8 ? load->steps : 0;
    case LOOP_TRIANGLE:
        return (uint32_t)((uint64_t)i * load->steps / load->count);
    case LOOP_BLOCKS:
        return i / 512 % 2 ? 0 : load->steps;
    default:
        return load->steps;
    }
}

static inline void loop_element(const loop_load *load, uint32_t i) {
    uint32_t x = i;
    for (uint32_t steps = loop_steps(load, i) + 1; steps > 0; steps--)
        x = x * 1664525u + 1013904223u;
    load->out[i] = x;
}

#ifdef __cplusplus
extern "C" {
#endif
void loop_tbb(const loop_load *load, uint32_t threads);
void loop_taskflow(const loop_load *load, uint32_t threads);
void loop_openmp_static(const loop_load *load, uint32_t threads);
void loop_openmp_dynamic(const loop_load *load, uint32_t threads);
void loop_openmp_guided(const loop_load *load, uint32_t threads);
#ifdef __cplusplus
}
#endif

#endif
