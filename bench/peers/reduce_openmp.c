/* The sum of an array with OpenMP, whose order is that in which the threads end. */
#include "reduce_peers.h"

double reduce_openmp(const double *values, uint32_t count, uint32_t threads) {
    double sum = 0;
#pragma omp parallel for num_threads((int)threads) reduction(+ : sum) schedule(static) default(none)                   \
    shared(values, count)
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}
