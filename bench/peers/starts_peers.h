/* One task in a region of its own, `times` times one after the other, by others: what it costs to start and end a
 * parallel region on threads that exist. `cancels`: a task that follows itself for ever, and cancels the region when it
 * first runs. Plain C11 that is also C++17. */
#ifndef BALLAST_BENCH_STARTS_PEERS_H
#define BALLAST_BENCH_STARTS_PEERS_H

#include <stdint.h>

/* The task: adds one, and the compiler cannot add up several. */
static inline void starts_task(uint64_t *count) {
    volatile uint64_t *word = count;
    *word = *word + 1;
}

#ifdef __cplusplus
extern "C" {
#endif
void starts_tbb(uint64_t *count, uint32_t times, uint32_t threads);
void cancels_tbb(uint64_t *count, uint32_t times, uint32_t threads);
void starts_openmp(uint64_t *count, uint32_t times, uint32_t threads);
#ifdef __cplusplus
}
#endif

#endif
