/* n queens with Taskflow: a task per queen placed, except the last of a row, which the same task continues with. A task
 * waits for those that it spawned. */
#include "nqueens_peers.h"
#include "peers_taskflow.h"

namespace {

void visit(tf::Executor &executor, const nqueens_board &board, uint32_t all, queens_tally *tallies) {
    queens_tally *mine = tallies + executor.this_worker_id();
    mine->nodes++;
    mine->solutions += board.columns == all;
    uint32_t free = queens_free(&board, all);
    if (free == 0)
        return;
    tf::TaskGroup group = executor.task_group();
    while (free != 0) {
        nqueens_board next = queens_place(&board, &free);
        if (free != 0)
            group.silent_async([&executor, next, all, tallies] { visit(executor, next, all, tallies); });
        else
            visit(executor, next, all, tallies);
    }
    group.corun();
}

} // namespace

void queens_taskflow(uint32_t n, uint32_t threads, queens_tally *tallies) {
    tf::Executor &executor = peers_executor(threads);
    executor.async([&executor, n, tallies] { visit(executor, nqueens_board{0, 0, 0}, (1u << n) - 1, tallies); }).wait();
}
