/* The loads of the suite greedy with OpenMP. */
#include "greedy_peers.h"

void greedy_openmp_tasks(greedy_work *work) {
#pragma omp parallel num_threads((int)work->threads)
#pragma omp single
    for (uint32_t i = 0; i < work->count; i++) {
#pragma omp task firstprivate(i)
        greedy_spend(&work->shared, i, 0);
    }
}

void greedy_openmp_taskloop(greedy_work *work) {
#pragma omp parallel num_threads((int)work->threads)
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (uint64_t i = 0; i < work->count; i++) /* clang counts in 64 bits, and warns of fewer */
        greedy_spend(&work->shared, (uint32_t)i, 0);
}

void greedy_openmp_for(greedy_work *work) {
#pragma omp parallel for num_threads((int)work->threads) schedule(dynamic, 1)
    for (uint32_t i = 0; i < work->count; i++)
        greedy_spend(&work->shared, i, 0);
}

static uint64_t run_tree(const greedy_work *work, uint32_t begin, uint32_t end) {
    uint64_t left, right;
    uint32_t middle = begin + (end - begin) / 2;
    if (end - begin == 1) {
        greedy_spend(&work->shared, begin, 0);
        return begin + 1;
    }
#pragma omp task shared(left)
    left = run_tree(work, begin, middle);
    right = run_tree(work, middle, end);
#pragma omp taskwait
    return left + right;
}

void greedy_openmp_tree(greedy_work *work) {
#pragma omp parallel num_threads((int)work->threads)
#pragma omp single
    work->sum = run_tree(work, 0, work->count);
}
