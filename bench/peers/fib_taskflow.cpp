/* fib with Taskflow. */
#include "fib_peers.h"
#include "peers_taskflow.h"

namespace {

uint64_t call(tf::Executor &executor, uint32_t n) {
    if (n < 2)
        return n;
    uint64_t first, second;
    tf::TaskGroup group = executor.task_group();
    group.silent_async([&executor, &first, n] { first = call(executor, n - 1); });
    second = call(executor, n - 2);
    group.corun();
    return first + second;
}

} // namespace

uint64_t fib_taskflow(uint32_t n, uint32_t threads) {
    tf::Executor &executor = peers_executor(threads);
    return executor.async([&executor, n] { return call(executor, n); }).get();
}
