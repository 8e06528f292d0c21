/* Shared by the peers written with Taskflow. C++20. */
#ifndef BALLAST_BENCH_PEERS_TASKFLOW_H
#define BALLAST_BENCH_PEERS_TASKFLOW_H

#include <taskflow/taskflow.hpp>

#include <cstdint>
#include <map>
#include <memory>

#include <pthread.h>

/* A worker that waits for a group runs any task it finds on top of the waiting one: the deep tree T3 of UTS needs more
 * than the usual stack of 8 MB. */
inline std::unique_ptr<tf::Executor> peers_make_executor(uint32_t threads) {
    pthread_attr_t usual, deep;
    pthread_getattr_default_np(&usual);
    pthread_getattr_default_np(&deep);
    pthread_attr_setstacksize(&deep, size_t{256} << 20);
    pthread_setattr_default_np(&deep);
    auto executor = std::make_unique<tf::Executor>(threads);
    pthread_setattr_default_np(&usual);
    pthread_attr_destroy(&usual);
    pthread_attr_destroy(&deep);
    return executor;
}

/* Kept between runs, as Ballast keeps its threads. */
inline tf::Executor &peers_executor(uint32_t threads) {
    static std::map<uint32_t, std::unique_ptr<tf::Executor>> executors;
    std::unique_ptr<tf::Executor> &executor = executors[threads];
    if (!executor)
        executor = peers_make_executor(threads);
    return *executor;
}

#endif
