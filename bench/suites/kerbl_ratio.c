/* Kerbl et al. 2018, Figure 4: the broker queue, the broker work distributor and the stealing queue over the share of
 * pushes, with as many threads as fit, without work and with 320 multiply-adds after each successful pop. Each thread
 * does one to ten pairs at random, as in Figure 3. */
#include "harness/grid.h"

#include <math.h>
#include <string.h>

/* The paper's three; names of their variants begin with theirs. */
static const char *const FAMILY[] = {"broker", "bwd", "bsq"};
enum { FAMILY_COUNT = sizeof FAMILY / sizeof FAMILY[0] };

/* Pushes to pops. 1:2 is where the paper found the broker queue at its worst. */
static const uint32_t RATIOS[][2] = {{1, 9}, {2, 8}, {3, 7}, {1, 2}, {4, 6}, {5, 5},
                                     {6, 4}, {2, 1}, {7, 3}, {8, 2}, {9, 1}};
enum { RATIO_COUNT = sizeof RATIOS / sizeof RATIOS[0] };

static bool in_family(const bench_contender *queue) {
    for (unsigned i = 0; i < FAMILY_COUNT; i++)
        if (strncmp(queue->name, FAMILY[i], strlen(FAMILY[i])) == 0)
            return true;
    return false;
}

static void say_missing(bench *b, const bench_device *d) {
    for (unsigned i = 0; i < FAMILY_COUNT; i++) {
        if (bench_contender_find(FAMILY[i]))
            continue;
        bench_line(b, FAMILY[i]);
        bench_line_end(b, "left out: not in this build");
        bench_remark(b, "%s, %s: left out: not in this build", d->id, FAMILY[i]);
    }
}

static void table(bench *b, bench_device *d, uint32_t threads, uint32_t fma) {
    char name[48], how_many[32] = "as many threads as fit";
    bench_grid g = {.shown = BENCH_SHOW_MS, .takes = in_family, .name = name};
    bench_spec spec = {.loop = BENCH_MIXED, .threads = threads, .fma = fma, .rounds = 1, .seed = 1, .capacity = 1024};
    snprintf(name, sizeof name, "ratio fma %u", (unsigned)fma);
    if (d->warp == 1) {
        spec.rounds = (bench_quick(b) ? 1u << 14 : 1u << 16) / threads;
        snprintf(how_many, sizeof how_many, "%u threads", (unsigned)threads);
        snprintf(name, sizeof name, "ratio fma %u %u threads", (unsigned)fma, (unsigned)threads);
    }
    if (!bench_wants(b, name))
        return;
    for (unsigned i = 0; i < RATIO_COUNT; i++) {
        uint32_t push = RATIOS[i][0], pop = RATIOS[i][1];
        spec.push = BENCH_CERTAIN * push / (push + pop);
        spec.pop = BENCH_CERTAIN - spec.push;
        bench_grid_add(&g, spec, BENCH_PAIRS * (double)spec.rounds, "%u:%u", (unsigned)push, (unsigned)pop);
    }
    bench_table(b, "%s (%s): %s, %u multiply-adds per pop; ms, medians of %u, over pushes to pops", d->id, d->name,
                how_many, (unsigned)fma, (unsigned)bench_repeats(b));
    bench_grid_run(b, d, &g);
    say_missing(b, d);
}

static void run(bench *b, bench_device *d) {
    static const uint32_t work[] = {0, 320};
    for (unsigned i = 0; i < 2 && !bench_stopped(); i++) {
        if (d->warp > 1) {
            table(b, d, 0, work[i]);
            continue;
        }
        table(b, d, d->processors > 2 && d->processors < 64 ? d->processors : 2, work[i]);
        if (!bench_stopped())
            table(b, d, 64, work[i]);
    }
}

/* ---- the figures ---- */

static const char *beside_paper(double factor, double low, double high) {
    return factor < low ? "less than in the paper" : factor > high ? "more than in the paper" : "as in the paper";
}

/* With twice as many pops as pushes, the cost of linearizability; with more pushes, whether BSQ gains. */
static void judge(const bench_panel *p, bench_verdict *v, double most_bwd) {
    double third = bench_panel_near(p, "broker", 0.3333) / bench_panel_near(p, "bwd", 0.3333);
    double few = bench_panel_near(p, "bsq", 0.1) / bench_panel_near(p, "bwd", 0.1);
    double many = bench_panel_near(p, "bsq", 0.9) / bench_panel_near(p, "bwd", 0.9);
    if (!bench_panel_gpu(p) || isnan(third + few + many)) {
        bench_say_leader(p, v, bench_panel_gpu(p) ? "Some of these queues are missing." : "The paper measured a GPU.");
        return;
    }
    int right = (third >= 1 && third <= most_bwd) + (few > 1.1) + (many <= 1.1);
    bench_say(v,
              right == 3  ? BENCH_YES
              : right > 0 ? BENCH_PARTLY
                          : BENCH_NO,
              "With one push per two pops, broker takes %s times as long as bwd (%s); bsq takes %s times "
              "as long at 1:9 "
              "and %s times at 9:1.",
              bench_digits(third).text, beside_paper(third, most_bwd / 2, most_bwd), bench_digits(few).text,
              bench_digits(many).text);
}

static void judge_idle(const bench_panel *p, bench_verdict *v) { judge(p, v, 5); }
static void judge_busy(const bench_panel *p, bench_verdict *v) { judge(p, v, 1.2); }

static const char *const SAYS[][2] = {{"ratio fma 0 *", ""}, {"ratio fma 320 *", ""}, {NULL, NULL}};

#define RATIO_FIGURE                                                                                                   \
    .each = "device,case", .says = SAYS, .series = "queue", .series_text = "queue", .x = "push", .y = "seconds",       \
    .y_scale = 1e3, .x_text = "share of pushes", .y_text = "milliseconds", .flags = BENCH_LOG_Y | BENCH_LESS,          \
    .bounds = "none,faa", .reference = "broker"

static const bench_figure FIGURES[] = {
    {.name = "idle",
     .title = "Pushes to pops, without work",
     .asks =
         "What does linearizability cost, and what does a queue per block gain, when nothing is done between calls?",
     .found = "Kerbl et al. 2018, Figure 4a: with more pushes than pops all are within 10 %, BSQ slightly ahead; with "
              "fewer BSQ is "
              "up to 30 times slower; with one push per two pops BQ is up to 5 times slower than BWD.",
     .rows = "case=ratio fma 0*",
     RATIO_FIGURE,
     .agrees = judge_idle},
    {.name = "busy",
     .title = "Pushes to pops, with 320 multiply-adds per pop",
     .asks = "The same when there is a little work after each pop.",
     .found = "Kerbl et al. 2018, Figure 4b: BQ and BWD are nearly the same; BSQ is about 6 times slower where pushes "
              "are few.",
     .rows = "case=ratio fma 320*",
     RATIO_FIGURE,
     .agrees = judge_busy},
    {.name = NULL},
};
#undef RATIO_FIGURE

const bench_suite kerbl_ratio_suite = {
    .name = "kerbl-ratio",
    .text = "the broker queue, its work distributor and its stealing form over pushes to pops (Figure 4)",
    .columns = bench_grid_columns,
    .run = run,
    .version = 1,
    .figures = FIGURES};
