/* Groups of one task with oneTBB. */
#include "starts_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/task_group.h>

void starts_tbb(uint64_t *count, uint32_t times, uint32_t threads) {
    oneapi::tbb::task_arena &arena = peers_arena(threads);
    for (uint32_t i = 0; i < times; i++)
        arena.execute([count] {
            oneapi::tbb::task_group group;
            group.run([count] { starts_task(count); });
            group.wait();
        });
}
