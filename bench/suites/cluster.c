/* The protocol between nodes, simulated: how well a run spreads over 16 to 4,096 nodes, and how soon its end is known,
 * if nodes and network are as fast as assumed. A case per tree. */
#include "cluster/cluster_model.h"
#include "harness/suite.h"

#include <inttypes.h>

static const bench_column COLUMNS[] = {
    {"case", "the tree: geometric, all branches about equally deep; binomial, branches of any size"},
    {"round_trip_us", "assumed: between nodes of different machines, microseconds; 2 within a machine"},
    {"nodes", "simulated nodes, four in a machine"},
    {"repeat", "the seed that selects victims"},
    {"tasks", "tasks of the tree"},
    {"simulated_seconds", "virtual time until the last node knows that the run is over"},
    {"efficiency", "time of all tasks / (nodes * simulated_seconds)"},
    {"spread_seconds", "virtual time until every node had run a task; 0: some never did"},
    {"end_seconds", "virtual time from the last task to the end"},
    {"messages_per_node", "sent, of all kinds"},
    {"entries_per_node", "that moved to another node"},
    {"bytes_per_node", "sent"},
    {"check", "right: as many tasks as the same tree has when it is counted by itself"},
    {NULL, NULL},
};

static const cluster_tree FULL[] = {{"geometric", false, 4, 0, 13, 0, 19}, {"binomial", true, 0, 50000, 0, 2000, 9}};
static const cluster_tree QUICK[] = {{"geometric", false, 4, 0, 10, 0, 19}, {"binomial", true, 0, 2500, 0, 2000, 42}};
static const uint32_t ROUND_TRIPS[] = {3, 10};
enum { TREES = 2, SPEEDS = 2, LEAST = 16, MOST = 4096, MOST_QUICK = 1024, KEY_SIZE = 64 };

static cluster_machine machine_of(uint32_t nodes, uint32_t round_trip) {
    cluster_machine m = {.nodes = nodes,
                         .together = 4,
                         .within = 2e-6,
                         .between = 1e-6 * round_trip,
                         .bandwidth = 10e9,
                         .handling = 0.2e-6,
                         .task = 100e-9,
                         .batch = 64,
                         .low = 8,
                         .bytes = 32};
    return m;
}

/* What the table shows of a point, of all repeats. */
static const char *const SHOWN[] = {"efficiency",  "simulated_seconds", "spread_seconds",
                                    "end_seconds", "messages_per_node", "entries_per_node"};
static const char *const LABELS[] = {"efficiency", "time, ms", "spread, us", "end, us", "messages", "entries"};
static const double UNITS[] = {1, 1e3, 1e6, 1e6, 1, 1};
enum { COUNT = sizeof SHOWN / sizeof SHOWN[0] };

static void run_once(bench *b, const cluster_tree *t, uint64_t size, const cluster_machine *m, const char *key,
                     uint32_t repeat, bench_times *shown) {
    cluster_outcome o;
    bool right = cluster_model_run(t, m, repeat + 1, &o) && o.tasks == size;
    double nodes = m->nodes;
    double values[COUNT] = {o.efficiency,           o.seconds, o.spread, o.ending, (double)o.messages / nodes,
                            (double)o.moved / nodes};
    for (unsigned i = 0; i < COUNT; i++)
        bench_add(&shown[i], values[i]);
    bench_row(b, "%s,%u,%" PRIu64 ",%.9f,%.6f,%.9f,%.9f,%.3f,%.3f,%.1f,%s", key, (unsigned)repeat, o.tasks, o.seconds,
              o.efficiency, o.spread, o.ending, values[4], values[5], (double)o.bytes / nodes,
              right ? "right" : "WRONG");
    if (!right)
        bench_wrong(b);
}

static void run_point(bench *b, const cluster_tree *t, uint64_t size, uint32_t nodes, uint32_t round_trip) {
    cluster_machine m = machine_of(nodes, round_trip);
    bench_times shown[COUNT] = {{.count = 0}};
    char key[KEY_SIZE], name[KEY_SIZE];
    snprintf(key, sizeof key, "%s,%u,%u", t->name, (unsigned)round_trip, (unsigned)nodes);
    for (unsigned i = 0; i < COUNT; i++)
        bench_earlier(b, key, SHOWN[i], &shown[i]);
    bench_progress(b, "%s", key);
    for (uint32_t repeat = shown[0].count; repeat < bench_repeats(b) && !bench_stopped(); repeat++)
        run_once(b, t, size, &m, key, repeat, shown);
    if (bench_stopped())
        return;
    snprintf(name, sizeof name, "%u, %u us", (unsigned)nodes, (unsigned)round_trip);
    bench_line(b, name);
    for (unsigned i = 0; i < COUNT; i++)
        bench_cell(b, "%s", bench_digits(UNITS[i] * bench_sum_up(&shown[i]).median).text);
    bench_line_end(b, "%s", "");
}

static void run(bench *b, bench_device *d) {
    const cluster_tree *trees = bench_quick(b) ? QUICK : FULL;
    uint32_t most = bench_quick(b) ? MOST_QUICK : MOST;
    if (d->warp > 1) { /* the simulation itself runs on the CPU, and is the same beside every device */
        bench_remark(b, "%s: simulated with the CPU only", d->id);
        return;
    }
    for (unsigned i = 0; i < TREES && !bench_stopped(); i++) {
        if (!bench_wants(b, trees[i].name))
            continue;
        uint64_t size = cluster_tree_size(&trees[i]);
        bench_table(b,
                    "SIMULATED nodes and network, not measured: %s tree of %" PRIu64 " tasks of 100 ns; medians of %u",
                    trees[i].name, size, (unsigned)bench_repeats(b));
        bench_head(b, "nodes, round trip", LABELS, COUNT, 12);
        for (unsigned s = 0; s < SPEEDS; s++)
            for (uint32_t nodes = LEAST; nodes <= most && !bench_stopped(); nodes *= 4)
                run_point(b, &trees[i], size, nodes, ROUND_TRIPS[s]);
    }
}

/* ---- the figures ---- */

static void say_efficiency(const bench_panel *p, bench_verdict *v) {
    double most = bench_panel_common(p, "3,10");
    bench_say(v, BENCH_NOT_APPLICABLE,
              "Simulated: with %s nodes the efficiency is %s if a round trip takes 3 us, %s if it takes 10 us.",
              bench_digits(most).text, bench_digits(bench_panel_at(p, "3", most)).text,
              bench_digits(bench_panel_at(p, "10", most)).text);
}

static void say_end(const bench_panel *p, bench_verdict *v) {
    double most = bench_panel_common(p, "3,10");
    bench_say(v, BENCH_NOT_APPLICABLE,
              "Simulated: %s nodes know of the end %s us after the last task if a round trip takes 3 us, %s us if 10.",
              bench_digits(most).text, bench_digits(bench_panel_at(p, "3", most)).text,
              bench_digits(bench_panel_at(p, "10", most)).text);
}

static const bench_figure FIGURES[] = {
    {.name = "efficiency",
     .title = "Simulated cluster: efficiency over the number of nodes",
     .asks = "How much of the nodes' time goes into tasks, if the network is as fast as assumed?",
     .each = "case",
     .series = "round_trip_us",
     .series_text = "round trip, us",
     .x = "nodes",
     .y = "efficiency",
     .x_text = "nodes",
     .y_text = "efficiency",
     .flags = BENCH_LOG_X,
     .no_contest = true,
     .agrees = say_efficiency},
    {.name = "end",
     .title = "Simulated cluster: from the last task to the end",
     .asks = "How long does it take until all nodes know that the run is over?",
     .each = "case",
     .series = "round_trip_us",
     .series_text = "round trip, us",
     .x = "nodes",
     .y = "end_seconds",
     .y_scale = 1e6,
     .x_text = "nodes",
     .y_text = "microseconds",
     .flags = BENCH_LOG_X | BENCH_LESS,
     .no_contest = true,
     .agrees = say_end},
    {.name = NULL},
};

const bench_suite cluster_suite = {
    .name = "cluster",
    .text = "simulation: the protocol between nodes on 16 to 4,096 nodes of an assumed network",
    .columns = COLUMNS,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
