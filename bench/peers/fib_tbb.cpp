/* fib with oneTBB. */
#include "fib_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/task_group.h>

namespace {

uint64_t call(uint32_t n) {
    if (n < 2)
        return n;
    uint64_t first, second;
    oneapi::tbb::task_group group;
    group.run([&first, n] { first = call(n - 1); });
    second = call(n - 2);
    group.wait();
    return first + second;
}

} // namespace

uint64_t fib_tbb(uint32_t n, uint32_t threads) {
    return peers_arena(threads).execute([n] { return call(n); });
}
