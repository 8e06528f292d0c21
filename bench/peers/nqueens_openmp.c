/* n queens with OpenMP tasks: a task per queen placed; only the barrier that ends the region waits. */
#include "nqueens_peers.h"

#include <omp.h>

static void visit(nqueens_board board, uint32_t all, queens_tally *tallies) {
    queens_tally *mine = tallies + omp_get_thread_num();
    mine->nodes++;
    mine->solutions += board.columns == all;
    uint32_t free = queens_free(&board, all);
    while (free != 0) {
        nqueens_board next = queens_place(&board, &free);
#pragma omp task firstprivate(next, all, tallies) default(none)
        visit(next, all, tallies);
    }
}

void queens_openmp(uint32_t n, uint32_t threads, queens_tally *tallies) {
    const nqueens_board empty = {0, 0, 0};
    const uint32_t all = (1u << n) - 1;
#pragma omp parallel num_threads((int)threads) default(none) shared(empty, all, tallies)
#pragma omp single
    visit(empty, all, tallies);
}
