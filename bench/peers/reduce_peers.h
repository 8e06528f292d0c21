/* The sum of an array of doubles by others. `fixed`: the same bits with any number of threads. Plain C11 that is also
 * C++17. */
#ifndef BALLAST_BENCH_REDUCE_PEERS_H
#define BALLAST_BENCH_REDUCE_PEERS_H

#include <stddef.h>
#include <stdint.h>

static inline double reduce_piece(const double *values, size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += values[i];
    return sum;
}

#ifdef __cplusplus
extern "C" {
#endif
double reduce_tbb(const double *values, uint32_t count, uint32_t threads);
double reduce_tbb_fixed(const double *values, uint32_t count, uint32_t threads);
double reduce_openmp(const double *values, uint32_t count, uint32_t threads);
#ifdef __cplusplus
}
#endif

#endif
