/* The loads of the suite greedy by other libraries: the same sleeping tasks. C11 and C++17. */
#ifndef BALLAST_BENCH_GREEDY_PEERS_H
#define BALLAST_BENCH_GREEDY_PEERS_H

#include "greedy/greedy.h"

typedef struct greedy_work {
    greedy_shared shared;
    uint32_t count, threads;
    uint64_t sum; /* of the tree */
} greedy_work;

#ifdef __cplusplus
extern "C" {
#endif
void greedy_tbb_tasks(greedy_work *work);
void greedy_tbb_for(greedy_work *work);
void greedy_tbb_for_simple(greedy_work *work);
void greedy_tbb_tree(greedy_work *work);
void greedy_openmp_tasks(greedy_work *work);
void greedy_openmp_taskloop(greedy_work *work);
void greedy_openmp_for(greedy_work *work);
void greedy_openmp_tree(greedy_work *work);
#ifdef __cplusplus
}
#endif

#endif
