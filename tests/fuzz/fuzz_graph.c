/* Graphs: SNAP text and Matrix Market. */
#include "fuzz.h"

#include "pagerank/graph.h"

static void check(const graph *g) {
    FUZZ_CHECK(g->nodes > 0 && g->nodes <= GRAPH_NODES_MAX && g->edges <= GRAPH_EDGES_MAX);
    FUZZ_CHECK(g->in_first[0] == 0 && g->in_first[g->nodes] == g->edges);
    uint64_t out = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        FUZZ_CHECK(g->in_first[v] <= g->in_first[v + 1]);
        FUZZ_CHECK(v == 0 || g->label[v - 1] < g->label[v]);
        out += g->out_degree[v];
    }
    FUZZ_CHECK(out == g->edges);
    for (uint32_t i = 0; i < g->edges; i++)
        FUZZ_CHECK(g->in_source[i] < g->nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    graph g;
    app_error error = {""};
    if (graph_read(&g, fuzz_file("graph.txt", data, size), &error) == 0) {
        check(&g);
        graph_free(&g);
    } else
        fuzz_check_line(error.text);
    return 0;
}
