/* Groups of one task with oneTBB. */
#include "starts_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/task_group.h>

namespace {
struct endless {
    oneapi::tbb::task_group &group;
    uint64_t *count, before;
    void operator()() const {
        if (*count == before) {
            starts_task(count);
            group.cancel();
        }
        group.run(*this);
    }
};
} // namespace

void cancels_tbb(uint64_t *count, uint32_t times, uint32_t threads) {
    oneapi::tbb::task_arena &arena = peers_arena(threads);
    for (uint32_t i = 0; i < times; i++)
        arena.execute([count] {
            oneapi::tbb::task_group group;
            group.run(endless{group, count, *count});
            group.wait();
        });
}

void starts_tbb(uint64_t *count, uint32_t times, uint32_t threads) {
    oneapi::tbb::task_arena &arena = peers_arena(threads);
    for (uint32_t i = 0; i < times; i++)
        arena.execute([count] {
            oneapi::tbb::task_group group;
            group.run([count] { starts_task(count); });
            group.wait();
        });
}
