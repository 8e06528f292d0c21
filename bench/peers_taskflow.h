/* What the peers written with Taskflow share. C++20. */
#ifndef BALLAST_BENCH_PEERS_TASKFLOW_H
#define BALLAST_BENCH_PEERS_TASKFLOW_H

#include <taskflow/taskflow.hpp>

#include <cstdint>
#include <map>
#include <memory>

/* Kept from run to run, as ours keeps its threads. */
inline tf::Executor &peers_executor(uint32_t threads) {
    static std::map<uint32_t, std::unique_ptr<tf::Executor>> executors;
    std::unique_ptr<tf::Executor> &executor = executors[threads];
    if (!executor)
        executor = std::make_unique<tf::Executor>(threads);
    return *executor;
}

#endif
