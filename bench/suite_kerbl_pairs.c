/* Kerbl et al. 2018, Figure 2: ten alternating pushes and pops, over the number of threads that do so at the same time; each thread, and one of
 * each warp. Balanced, so that no queue runs empty or full, and those that wait can take part. */
#include "grid.h"

static void table(bench *b, bench_device *d, bool per_warp) {
    bench_grid g = {.name = per_warp ? "pairs per warp" : "pairs", .growing = d->warp > 1};
    bench_spec spec = {.loop = BENCH_TEN, .per_warp = per_warp, .capacity = 1024};
    spec.push = spec.pop = BENCH_CERTAIN;
    spec.seconds = bench_quick(b) ? 0.02 : 0.05;
    bench_grid_add_threads(&g, b, d, spec, 1.5);
    bench_table(b, "%s (%s): ten pairs of push and pop, %s; Mop/s, medians of %u, over the number of threads%s", d->id,
                d->name,
                d->warp == 1 ? "again and again"
                : per_warp   ? "by one lane of each warp"
                             : "by each thread",
                (unsigned)bench_repeats(b), d->warp == 1 ? " (% of faa)" : "");
    bench_grid_run(b, d, &g);
}

static void run(bench *b, bench_device *d) {
    table(b, d, false);
    if (d->warp > 1 && !bench_stopped())
        table(b, d, true);
}

const bench_suite kerbl_pairs_suite = {
    "kerbl-pairs", "ten pushes and pops in turn, over the number of threads (Figure 2)", bench_grid_columns, run};
