/* fib(n) by others: a task for one callee and a plain call for the other, the best form that all libraries support; no
 * cut-off. Plain C11 that is also C++17. */
#ifndef BALLAST_BENCH_FIB_PEERS_H
#define BALLAST_BENCH_FIB_PEERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
uint64_t fib_tbb(uint32_t n, uint32_t threads);
uint64_t fib_openmp(uint32_t n, uint32_t threads);
uint64_t fib_lace(uint32_t n, uint32_t threads);
uint64_t fib_taskflow(uint32_t n, uint32_t threads);
#ifdef __cplusplus
}
#endif

#endif
