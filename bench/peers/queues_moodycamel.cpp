/* Pushes and pops in turn with moodycamel::ConcurrentQueue, by tokens, its fastest form. It keeps a queue per
 * producer: what one thread pushes comes out in order, but there is no order between the items of two of them, which
 * makes it easier than a FIFO queue. */
#include "queues_peers.h"

#include <concurrentqueue.h>

namespace {

using queue = moodycamel::ConcurrentQueue<uint32_t>;

void *open_queue() { return new queue; }

void close_queue(void *q) { delete static_cast<queue *>(q); }

uint64_t pairs(void *shared, uint32_t first, uint32_t calls) {
    queue &q = *static_cast<queue *>(shared);
    moodycamel::ProducerToken producer(q);
    moodycamel::ConsumerToken consumer(q);
    return pairs_loop(
        first, calls, [&](uint32_t item) { q.enqueue(producer, item); },
        [&](uint32_t &item) { return q.try_dequeue(consumer, item); });
}

} // namespace

const pairs_peer pairs_moodycamel = {open_queue, pairs, close_queue};
