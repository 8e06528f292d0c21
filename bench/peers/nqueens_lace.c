/* n queens with Lace: a task per queen placed, except the last of a row, which the same task continues with. A task
 * waits for those that it spawned. */
#include "nqueens_peers.h"

#include "peers_lace.h"

VOID_TASK_3(visit, nqueens_board, board, uint32_t, all, queens_tally *, tallies) {
    queens_tally *mine = tallies + LACE_WORKER_ID;
    uint32_t free = queens_free(&board, all), spawned = 0;
    mine->nodes++;
    mine->solutions += board.columns == all;
    while (free != 0) {
        nqueens_board next = queens_place(&board, &free);
        if (free != 0) {
            SPAWN(visit, next, all, tallies);
            spawned++;
        } else {
            CALL(visit, next, all, tallies);
        }
    }
    while (spawned-- > 0)
        SYNC(visit);
}

void queens_lace(uint32_t n, uint32_t threads, queens_tally *tallies) {
    const nqueens_board empty = {0, 0, 0};
    (void)threads; /* those that were started */
    RUN(visit, empty, (1u << n) - 1, tallies);
}
