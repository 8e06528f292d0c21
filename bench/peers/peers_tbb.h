/* Shared by the peers written with oneTBB. C++17. */
#ifndef BALLAST_BENCH_PEERS_TBB_H
#define BALLAST_BENCH_PEERS_TBB_H

#include <oneapi/tbb/task_arena.h>

#include <cstdint>
#include <map>
#include <memory>

/* Kept between runs, as Ballast keeps its threads. */
inline oneapi::tbb::task_arena &peers_arena(uint32_t threads) {
    static std::map<uint32_t, std::unique_ptr<oneapi::tbb::task_arena>> arenas;
    std::unique_ptr<oneapi::tbb::task_arena> &arena = arenas[threads];
    if (!arena)
        arena = std::make_unique<oneapi::tbb::task_arena>(static_cast<int>(threads));
    return *arena;
}

#endif
