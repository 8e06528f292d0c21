/* Loops with oneTBB, which chooses the grain itself. */
#include "foreach_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/parallel_for.h>

void loop_tbb(const loop_load *load, uint32_t threads) {
    using range = oneapi::tbb::blocked_range<uint32_t>;
    peers_arena(threads).execute([load] {
        oneapi::tbb::parallel_for(range(0, load->count), [load](const range &piece) {
            for (uint32_t i = piece.begin(); i < piece.end(); i++)
                loop_element(load, i);
        });
    });
}
