/* Kerbl et al. 2018, Figure 2: ten alternating pushes and pops, over the number of threads that do so at the same time;
 * by every thread, and by one of each warp. Balanced, so that no queue runs empty or full, and queues that wait can
 * take part. */
#include "harness/grid.h"

#include <math.h>

static void table(bench *b, bench_device *d, bool per_warp) {
    bench_grid g = {.name = per_warp ? "pairs per warp" : "pairs", .growing = d->warp > 1};
    bench_spec spec = {.loop = BENCH_TEN, .per_warp = per_warp, .capacity = 1024};
    if (!bench_wants(b, g.name))
        return;
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

/* ---- the figures ---- */

static const char FAMILY[] = "broker,bwd,bsq"; /* the paper's proposals, in all forms */

/* Two findings: which queue is first, and how far the Gottlieb queue trails. */
static void judge_threads(const bench_panel *p, bench_verdict *v) {
    double full = bench_panel_common(p, "broker,gottlieb"), gottlieb = bench_panel_gain(p, "broker", "gottlieb", full);
    const bench_curve *best = bench_panel_best_of(p, full, FAMILY, true);
    const bench_curve *other = bench_panel_best_of(p, full, FAMILY, false);
    if (!bench_panel_gpu(p) || !best || !other || isnan(gottlieb)) {
        bench_say_leader(p, v, bench_panel_gpu(p) ? "Some of these queues are missing." : "The paper measured a GPU.");
        return;
    }
    double lead = bench_panel_gain(p, best->name, other->name, full);
    bench_say(
        v,
        lead >= 1 && gottlieb >= 2   ? BENCH_YES
        : lead >= 1 || gottlieb >= 2 ? BENCH_PARTLY
                                     : BENCH_NO,
        "With %.0f threads %s does %s times what %s does, the best of the others; broker does %s times what gottlieb "
        "does.",
        full, best->name, bench_digits(lead).text, other->name, bench_digits(gottlieb).text);
}

static void judge_warps(const bench_panel *p, bench_verdict *v) {
    double full = bench_panel_common(p, "broker,sfq"), sfq = bench_panel_gain(p, "broker", "sfq", full);
    const bench_curve *best = bench_panel_best(p, full);
    if (!best || isnan(sfq)) {
        bench_say_leader(p, v, "Some of these queues are missing.");
        return;
    }
    double lead = bench_panel_gain(p, best->name, "broker", full);
    bench_say(v,
              sfq >= 1 && lead <= 1.1 ? BENCH_YES
              : sfq >= 0.9            ? BENCH_PARTLY
                                      : BENCH_NO,
              "With %.0f threads broker does %s times what sfq does; %s is first with %s times what broker does.", full,
              bench_digits(sfq).text, best->name, bench_digits(lead).text);
}

static const bench_figure FIGURES[] = {
    {.name = "threads",
     .title = "Ten alternating pushes and pops, by each thread",
     .asks = "How many operations per second does a queue sustain when it never runs empty or full?",
     .found = "Kerbl et al. 2018, Figure 2a and 2c: the Broker Queue is the fastest; the Gottlieb queue is more than 2 "
              "times slower "
              "with over 45,056 threads; LCRQ and WFQ cost 3 to 6 times as much from the start and get worse.",
     .rows = "case=pairs",
     .series = "queue",
     .series_text = "queue",
     .x = "threads",
     .y = "mops",
     .x_text = "threads",
     .y_text = "million operations per second",
     .flags = BENCH_LOG_X | BENCH_LOG_Y,
     .bounds = "none,faa",
     .reference = "broker",
     .agrees = judge_threads},
    {.name = "warps",
     .title = "Ten alternating pushes and pops, by one lane of each warp",
     .asks = "The same when only one thread of a warp calls, as schedulers do, and as waiting queues require.",
     .found = "Kerbl et al. 2018, Figure 2b and 2d: the Broker Queue is the fastest, 1.4 to 9 % ahead of the simpler "
              "SFQ with over "
              "512 warps.",
     .rows = "case=pairs per warp",
     .series = "queue",
     .series_text = "queue",
     .x = "threads",
     .y = "mops",
     .x_text = "threads, of which one in 32 calls",
     .y_text = "million operations per second",
     .flags = BENCH_LOG_X | BENCH_LOG_Y,
     .bounds = "none,faa",
     .reference = "broker",
     .agrees = judge_warps},
    {.name = NULL},
};

const bench_suite kerbl_pairs_suite = {.name = "kerbl-pairs",
                                       .text = "ten alternating pushes and pops, over the number of threads (Figure 2)",
                                       .columns = bench_grid_columns,
                                       .run = run,
                                       .version = 1,
                                       .figures = FIGURES};
