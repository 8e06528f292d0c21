/* Kerbl et al. 2018, Figure 3a to 3c: each thread does one to ten pairs at random, of which the pushes and the pops are left out by chance, and
 * 128 multiply-adds after each successful pop. Twice as many pushes as pops; twice as many pops, so that queues run empty; the same with
 * queues that hold something at first. As in the paper there is room for everything, but for the last table, in which queues run full. */
#include "grid.h"

#include <math.h>

enum { FMA = 128, TWO = BENCH_CERTAIN * 2 / 3, ONE = BENCH_CERTAIN / 3, LANES_PER_PROCESSOR = 2048 };
static const double pairs_each = (1 + BENCH_PAIRS) / 2.0;

typedef struct mix {
    const char *name, *text;
    uint32_t push, pop;
    bool filled; /* with what lasts until about half of the most work is done */
    bool narrow; /* room for less than is pushed */
} mix;

static const mix MIXES[] = {
    {"2:1", "two pushes to a pop, room for all (Figure 3a)", TWO, ONE, false, false},
    {"1:2", "a push to two pops: queues run empty (Figure 3b)", ONE, TWO, false, false},
    {"1:2 filled", "a push to two pops, filled at first (Figure 3c)", ONE, TWO, true, false},
    {"2:1 narrow", "two pushes to a pop, little room: queues run full", TWO, ONE, false, true},
};

/* Threads take long to start: on a CPU each does many rounds, all of them together the same number. Of so many some 3.7 times as many items
 * come in. */
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
    spec.capacity = m->narrow ? 16 : 1024;
    spec.filled = m->filled ? (uint32_t)lrint(most_rounds(b, d) * pairs_each / 6) : 0;
    bench_grid_add_threads(&g, b, d, spec, m->narrow ? 0.25 : BENCH_PAIRS);
    if (d->warp == 1)
        share_rounds(&g, b, m);
    bench_table(b, "%s (%s): %s; %s, %d multiply-adds a pop; ms, medians of %u, over the number of threads", d->id,
                d->name, m->text, d->warp > 1 ? "1 to 10 pairs per thread" : "the same work for all", FMA,
                (unsigned)bench_repeats(b));
    bench_grid_run(b, d, &g);
}

static void run(bench *b, bench_device *d) {
    for (unsigned i = 0; i < sizeof MIXES / sizeof MIXES[0] && !bench_stopped(); i++)
        table(b, d, &MIXES[i]);
}

const bench_suite kerbl_mixed_suite = {
    "kerbl-mixed", "pushes and pops by chance, 2:1 and 1:2, empty and full queues included (Figure 3a-c)",
    bench_grid_columns, run};
