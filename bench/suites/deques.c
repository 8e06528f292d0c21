/* Deques, which the pairs of Kerbl et al. do not fit: the owner pushes ten and pops those that the others have not
 * stolen. */
#include "harness/grid.h"

static void run(bench *b, bench_device *d) {
    bench_grid g = {.name = "owner and thieves", .growing = d->warp > 1};
    bench_spec spec = {.loop = BENCH_OWNER, .per_warp = d->warp > 1, .capacity = 1024};
    if (!bench_wants(b, g.name))
        return;
    spec.push = spec.pop = BENCH_CERTAIN;
    spec.seconds = bench_quick(b) ? 0.02 : 0.05;
    spec.rounds = d->warp > 1 ? 1000 : UINT32_MAX;
    bench_grid_add_threads(&g, b, d, spec, 0);
    bench_table(b, "%s (%s): one owner, the others steal%s; Mop/s, medians of %u, over the number of threads", d->id,
                d->name, d->warp > 1 ? ", one lane of each warp" : "", (unsigned)bench_repeats(b));
    bench_grid_run(b, d, &g);
}

static const bench_figure FIGURES[] = {
    {.name = "thieves",
     .title = "One owner, the others steal",
     .asks = "How many operations per second does a deque sustain while others steal from it?",
     .series = "queue",
     .series_text = "queue",
     .x = "threads",
     .y = "mops",
     .x_text = "threads, one of which owns",
     .y_text = "million operations per second",
     .flags = BENCH_LOG_X | BENCH_LOG_Y,
     .bounds = "none,faa",
     .reference = "abp"},
    {.name = NULL},
};

const bench_suite deques_suite = {.name = "deques",
                                  .text = "an owner that pushes and pops, and thieves, over the number of threads",
                                  .columns = bench_grid_columns,
                                  .run = run,
                                  .version = 1,
                                  .figures = FIGURES};
