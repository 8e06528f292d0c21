#include "counts.h"

/* Solutions: OEIS A000170. Nodes: counted by the twin. */
static const nqueens_counts known[NQUEENS_MOST + 1] = {
    {1, 0},
    {1, 1},
    {0, 2},
    {0, 5},
    {2, 16},
    {10, 53},
    {4, 152},
    {40, 551},
    {92, 2056},
    {352, 8393},
    {724, 35538},
    {2680, 166925},
    {14200, 856188},
    {73712, 4674889},
    {365596, 27358552},
    {2279184, 171129071},
    {14772512, 1141190302},
    {95815104, 8017021931},
    {666090624, 59365844490},
};

nqueens_counts nqueens_known(uint32_t n) { return known[n]; }

static void place(nqueens_counts *counts, uint32_t all, uint32_t columns, uint32_t left, uint32_t right) {
    uint32_t free = all & ~(columns | left | right);
    while (free != 0) {
        uint32_t queen = free & (0u - free);
        free ^= queen;
        counts->nodes++;
        if ((columns | queen) == all)
            counts->solutions++;
        else
            place(counts, all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
}

nqueens_counts nqueens_twin(uint32_t n) {
    nqueens_counts counts = {0, 0};
    place(&counts, (1u << n) - 1, 0, 0, 0);
    return counts;
}
