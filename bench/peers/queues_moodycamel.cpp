/* Alternating pushes and pops with moodycamel::ConcurrentQueue, with tokens, its fastest form. It keeps a queue per
 * producer: one thread's items come out in order, but items of two threads have no order, an easier task than a FIFO
 * queue's. */
#include "queues_peers.h"

#include <concurrentqueue.h>

namespace {

using queue = moodycamel::ConcurrentQueue<uint32_t>;

void *open_queue() { return new queue; }

void close_queue(void *q) { delete static_cast<queue *>(q); }

uint64_t pairs(void *shared, uint32_t first, uint64_t until, uint32_t *rounds) {
    queue &q = *static_cast<queue *>(shared);
    moodycamel::ProducerToken producer(q);
    moodycamel::ConsumerToken consumer(q);
    return pairs_loop(
        first, until, rounds, [&](uint32_t item) { q.enqueue(producer, item); },
        [&](uint32_t &item) { return q.try_dequeue(consumer, item); });
}

} // namespace

const pairs_peer pairs_moodycamel = {open_queue, pairs, close_queue};
