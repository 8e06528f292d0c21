/* Loops with Taskflow, which chooses the grain itself. */
#include "foreach_peers.h"
#include "peers_taskflow.h"

#include <taskflow/algorithm/for_each.hpp>

void loop_taskflow(const loop_load *load, uint32_t threads) {
    tf::Taskflow flow;
    flow.for_each_index(0u, load->count, 1u, [load](uint32_t i) { loop_element(load, i); });
    peers_executor(threads).run(flow).wait();
}
