/* n queens with oneTBB: a task per queen placed, except the last of a row, which the same task continues with. A task
 * waits for those that it spawned. */
#include "nqueens_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/task_group.h>

namespace {

void visit(const nqueens_board &board, uint32_t all, queens_tally *tallies) {
    queens_tally *mine = tallies + oneapi::tbb::this_task_arena::current_thread_index();
    mine->nodes++;
    mine->solutions += board.columns == all;
    uint32_t free = queens_free(&board, all);
    if (free == 0)
        return;
    oneapi::tbb::task_group group;
    while (free != 0) {
        nqueens_board next = queens_place(&board, &free);
        if (free != 0)
            group.run([=] { visit(next, all, tallies); });
        else
            visit(next, all, tallies);
    }
    group.wait();
}

} // namespace

void queens_tbb(uint32_t n, uint32_t threads, queens_tally *tallies) {
    peers_arena(threads).execute([=] { visit(nqueens_board{0, 0, 0}, (1u << n) - 1, tallies); });
}
