/* Parallel regions of one task with OpenMP. */
#include "starts_peers.h"

void starts_openmp(uint64_t *count, uint32_t times, uint32_t threads) {
    for (uint32_t i = 0; i < times; i++) {
#pragma omp parallel num_threads((int)threads) default(none) shared(count)
#pragma omp single nowait
        starts_task(count);
    }
}
