/* Kerbl et al. 2018, Figure 3a to 3c: each thread does one to ten pairs, skips pushes and pops at random, and does 128
 * multiply-adds after each successful pop. Twice as many pushes as pops; twice as many pops, so that queues run empty;
 * the same with initially filled queues. As in the paper there is room for everything, except in the last table, in
 * which queues run full. */
#include "harness/grid.h"

#include <math.h>

enum { FMA = 128, TWO = BENCH_CERTAIN * 2 / 3, ONE = BENCH_CERTAIN / 3, LANES_PER_PROCESSOR = 2048 };
static const double pairs_each = (1 + BENCH_PAIRS) / 2.0;

typedef struct mix {
    const char *name, *text;
    uint32_t push, pop;
    bool filled; /* with enough items for about half of the longest run */
    bool narrow; /* room for less than is pushed */
} mix;

static const mix MIXES[] = {
    {"2:1", "two pushes per pop, room for all (Figure 3a)", TWO, ONE, false, false},
    {"1:2", "one push per two pops: queues run empty (Figure 3b)", ONE, TWO, false, false},
    {"1:2 filled", "one push per two pops, initially filled (Figure 3c)", ONE, TWO, true, false},
    {"2:1 narrow", "two pushes per pop, little room: queues run full", TWO, ONE, false, true},
};

/* Threads take long to start: on a CPU each does many rounds, in total always the same number. A round pushes about 3.7
 * items. */
static uint32_t cpu_rounds(const bench *b) { return bench_quick(b) ? 1u << 14 : 1u << 16; }
static const double items_a_round = 4.5;

static uint32_t most_rounds(const bench *b, const bench_device *d) {
    return d->warp > 1 ? d->processors * LANES_PER_PROCESSOR : cpu_rounds(b);
}

static void share_rounds(bench_grid *g, const bench *b, const mix *m) {
    for (unsigned i = 0; i < g->count; i++) {
        bench_point *p = &g->points[i];
        p->spec.rounds = cpu_rounds(b) / p->spec.threads;
        p->items_per_caller = m->narrow ? 0 : items_a_round * p->spec.rounds;
    }
}

static void table(bench *b, bench_device *d, const mix *m) {
    bench_grid g = {.name = m->name, .shown = BENCH_SHOW_MS, .growing = d->warp > 1};
    bench_spec spec = {.loop = BENCH_MIXED, .push = m->push, .pop = m->pop, .fma = FMA, .rounds = 1, .seed = 1};
    if (!bench_wants(b, m->name))
        return;
    spec.capacity = m->narrow ? 16 : 1024;
    spec.filled = m->filled ? (uint32_t)lrint(most_rounds(b, d) * pairs_each / 6) : 0;
    bench_grid_add_threads(&g, b, d, spec, m->narrow ? 0.25 : BENCH_PAIRS);
    if (d->warp == 1)
        share_rounds(&g, b, m);
    bench_table(b, "%s (%s): %s; %s, %d multiply-adds per pop; ms, medians of %u, over the number of threads", d->id,
                d->name, m->text, d->warp > 1 ? "1 to 10 pairs per thread" : "the same work for all", FMA,
                (unsigned)bench_repeats(b));
    bench_grid_run(b, d, &g);
}

static void run(bench *b, bench_device *d) {
    for (unsigned i = 0; i < sizeof MIXES / sizeof MIXES[0] && !bench_stopped(); i++)
        table(b, d, &MIXES[i]);
}

/* ---- the figures ---- */

static bool elsewhere(const bench_panel *p, bench_verdict *v, double x) {
    if (bench_panel_gpu(p) && !isnan(x))
        return false;
    bench_say_leader(p, v, bench_panel_gpu(p) ? "Some of these queues are missing." : "The paper measured a GPU.");
    return true;
}

static bench_agreement of_all(int right, int all) {
    return right == all ? BENCH_YES : right > 0 ? BENCH_PARTLY : BENCH_NO;
}

/* With work after each pop the differences shrink, but the order stays the same. */
static void judge_growing(const bench_panel *p, bench_verdict *v) {
    double x = bench_panel_common(p, "broker,gottlieb,lcrq");
    double gottlieb = bench_panel_gain(p, "broker", "gottlieb", x), lcrq = bench_panel_gain(p, "broker", "lcrq", x);
    if (elsewhere(p, v, x))
        return;
    bench_say(v, of_all((gottlieb >= 1) + (lcrq >= 1), 2),
              "With %.0f threads broker is %s times as fast as gottlieb and %s times as fast as lcrq.", x,
              bench_digits(gottlieb).text, bench_digits(lcrq).text);
}

/* BWD first, ahead of GQ by 10 %; GQ ahead of BQ by up to 64 %; LCRQ at least 2.5 times behind. */
static void judge_empty(const bench_panel *p, bench_verdict *v) {
    double x = bench_panel_common(p, "broker,bwd,gottlieb,lcrq");
    double bwd = bench_panel_gain(p, "bwd", "gottlieb", x), lcrq = bench_panel_gain(p, "broker", "lcrq", x);
    double broker = bench_panel_gain(p, "gottlieb", "broker", x);
    if (elsewhere(p, v, x))
        return;
    bench_say(v, of_all((bwd >= 1) + (broker >= 1) + (lcrq >= 2.5), 3),
              "With %.0f threads bwd is %s times as fast as gottlieb, gottlieb %s times as fast as broker, broker %s "
              "times as fast "
              "as lcrq.",
              x, bench_digits(bwd).text, bench_digits(broker).text, bench_digits(lcrq).text);
}

#define GRID_FIGURE                                                                                                    \
    .series = "queue", .series_text = "queue", .x = "threads", .y = "seconds", .y_scale = 1e3, .x_text = "threads",    \
    .y_text = "milliseconds", .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS, .bounds = "none,faa",                   \
    .reference = "broker"

static const bench_figure FIGURES[] = {
    {.name = "growing",
     .title = "Two pushes per pop",
     .asks = "How long do one to ten random pairs take, with work after each pop and always an item to pop?",
     .found = "Kerbl et al. 2018, Figure 3a: with work added, the queues come closer together, in the same order.",
     .rows = "case=2:1",
     GRID_FIGURE,
     .agrees = judge_growing},
    {.name = "empty",
     .title = "One push per two pops: queues run empty",
     .asks = "What does it cost to detect that a queue is empty, when it runs empty repeatedly?",
     .found = "Kerbl et al. 2018, Figure 3b: BWD is the fastest, 10 % ahead of the Gottlieb queue, which is up to 64 % "
              "ahead of the "
              "Broker Queue; LCRQ and WFQ are at least 2.5 times slower, and BSQ keeps looking for work in vain.",
     .rows = "case=1:2",
     GRID_FIGURE,
     .agrees = judge_empty},
    {.name = "filled",
     .title = "One push per two pops, initially filled",
     .asks = "The same with an initially filled queue.",
     .found = "Kerbl et al. 2018, Figure 3c: the same order; queues run empty, and pay for it, later.",
     .rows = "case=1:2 filled",
     GRID_FIGURE,
     .agrees = judge_empty},
    {.name = "full",
     .title = "Two pushes per pop, little room: queues run full",
     .asks = "What does it cost to detect that a queue is full?",
     .rows = "case=2:1 narrow",
     GRID_FIGURE},
    {.name = NULL},
};
#undef GRID_FIGURE

const bench_suite kerbl_mixed_suite = {
    .name = "kerbl-mixed",
    .text = "random pushes and pops, 2:1 and 1:2, empty and full queues included (Figure 3a-c)",
    .columns = bench_grid_columns,
    .run = run,
    .version = 1,
    .figures = FIGURES};
