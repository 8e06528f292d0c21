/* The sum of an array with oneTBB. The deterministic form cuts the range by its grain alone, which must be given. */
#include "reduce_peers.h"
#include "peers_tbb.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <functional>

using range = oneapi::tbb::blocked_range<uint32_t>;

double reduce_tbb(const double *values, uint32_t count, uint32_t threads) {
    return peers_arena(threads).execute([=] {
        return oneapi::tbb::parallel_reduce(
            range(0, count), 0.0,
            [=](const range &r, double sum) { return sum + reduce_piece(values, r.begin(), r.end()); },
            std::plus<double>());
    });
}

double reduce_tbb_fixed(const double *values, uint32_t count, uint32_t threads) {
    return peers_arena(threads).execute([=] {
        return oneapi::tbb::parallel_deterministic_reduce(
            range(0, count, 1024), 0.0,
            [=](const range &r, double sum) { return sum + reduce_piece(values, r.begin(), r.end()); },
            std::plus<double>());
    });
}
