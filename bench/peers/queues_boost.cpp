/* Alternating pushes and pops with boost::lockfree::queue, whose nodes come from a pool of its own. */
#include "queues_peers.h"

#include <boost/lockfree/queue.hpp>

namespace {

using queue = boost::lockfree::queue<uint32_t, boost::lockfree::capacity<PAIRS_CAPACITY>>;

void *open_queue() { return new queue; }

void close_queue(void *q) { delete static_cast<queue *>(q); }

uint64_t pairs(void *shared, uint32_t first, uint64_t until, uint32_t *rounds) {
    queue &q = *static_cast<queue *>(shared);
    return pairs_loop(
        first, until, rounds,
        [&q](uint32_t item) {
            for (uint32_t tries = 0; !q.push(item); tries++)
                bl_backoff(tries);
        },
        [&q](uint32_t &item) { return q.pop(item); });
}

} // namespace

const pairs_peer pairs_boost = {open_queue, pairs, close_queue};
