/* Loops with the schedules of OpenMP. */
#include "foreach_peers.h"

void loop_openmp_static(const loop_load *load, uint32_t threads) {
#pragma omp parallel for num_threads((int)threads) schedule(static)
    for (uint32_t i = 0; i < load->count; i++)
        loop_element(load, i);
}

void loop_openmp_dynamic(const loop_load *load, uint32_t threads) {
#pragma omp parallel for num_threads((int)threads) schedule(dynamic, 64)
    for (uint32_t i = 0; i < load->count; i++)
        loop_element(load, i);
}

void loop_openmp_guided(const loop_load *load, uint32_t threads) {
#pragma omp parallel for num_threads((int)threads) schedule(guided)
    for (uint32_t i = 0; i < load->count; i++)
        loop_element(load, i);
}
