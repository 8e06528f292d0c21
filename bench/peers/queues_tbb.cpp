/* Alternating pushes and pops with the concurrent_queue of oneTBB. */
#include "queues_peers.h"

#include <oneapi/tbb/concurrent_queue.h>

namespace {

using queue = oneapi::tbb::concurrent_queue<uint32_t>;

void *open_queue() { return new queue; }

void close_queue(void *q) { delete static_cast<queue *>(q); }

uint64_t pairs(void *shared, uint32_t first, uint64_t until, uint32_t *rounds) {
    queue &q = *static_cast<queue *>(shared);
    return pairs_loop(
        first, until, rounds, [&q](uint32_t item) { q.push(item); }, [&q](uint32_t &item) { return q.try_pop(item); });
}

} // namespace

const pairs_peer pairs_tbb = {open_queue, pairs, close_queue};
