/* fib with OpenMP tasks. */
#include "fib_peers.h"

static uint64_t call(uint32_t n) {
    uint64_t first, second;
    if (n < 2)
        return n;
#pragma omp task shared(first) firstprivate(n) default(none)
    first = call(n - 1);
    second = call(n - 2);
#pragma omp taskwait
    return first + second;
}

uint64_t fib_openmp(uint32_t n, uint32_t threads) {
    uint64_t value = 0;
#pragma omp parallel num_threads((int)threads) default(none) shared(value, n)
#pragma omp single
    value = call(n);
    return value;
}
