/* The loads of the suite greedy with oneTBB. */
#include "greedy_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

namespace {

using range = oneapi::tbb::blocked_range<uint32_t>;

/* An arena alone gets no more threads than there are cores. */
template <typename Body> void run_with(uint32_t threads, const Body &body) {
    oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    peers_arena(threads).execute(body);
}

template <typename Partitioner> void run_for(const greedy_work *work, const Partitioner &partitioner) {
    run_with(work->threads, [work, &partitioner] {
        oneapi::tbb::parallel_for(
            range(0, work->count),
            [work](const range &piece) {
                for (uint32_t i = piece.begin(); i < piece.end(); i++)
                    greedy_spend(&work->shared, i, 0);
            },
            partitioner);
    });
}

uint64_t run_tree(const greedy_work *work, uint32_t begin, uint32_t end) {
    if (end - begin == 1) {
        greedy_spend(&work->shared, begin, 0);
        return begin + 1;
    }
    uint32_t middle = begin + (end - begin) / 2;
    uint64_t left = 0;
    oneapi::tbb::task_group group;
    group.run([work, begin, middle, &left] { left = run_tree(work, begin, middle); });
    uint64_t right = run_tree(work, middle, end);
    group.wait();
    return left + right;
}

} // namespace

void greedy_tbb_tasks(greedy_work *work) {
    run_with(work->threads, [work] {
        oneapi::tbb::task_group group;
        for (uint32_t i = 0; i < work->count; i++)
            group.run([work, i] { greedy_spend(&work->shared, i, 0); });
        group.wait();
    });
}

void greedy_tbb_for(greedy_work *work) { run_for(work, oneapi::tbb::auto_partitioner()); }
void greedy_tbb_for_simple(greedy_work *work) { run_for(work, oneapi::tbb::simple_partitioner()); }

void greedy_tbb_tree(greedy_work *work) {
    run_with(work->threads, [work] { work->sum = run_tree(work, 0, work->count); });
}
