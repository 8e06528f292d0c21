/* Kerbl et al. 2018, Figure 4: the broker queue, the broker work distributor and the stealing queue over the share of pushes, with as many threads
 * as fit, without work and with 320 multiply-adds after each successful pop. Each thread does one to ten pairs by chance, as in Figure 3. */
#include "grid.h"

#include <string.h>

/* The paper's three; forms of them have names that begin like theirs. */
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
    char name[32], how_many[32] = "as many threads as fit";
    bench_grid g = {.shown = BENCH_SHOW_MS, .takes = in_family, .name = name};
    bench_spec spec = {.loop = BENCH_MIXED, .threads = threads, .fma = fma, .rounds = 1, .seed = 1, .capacity = 1024};
    if (d->warp == 1) {
        spec.rounds = (bench_quick(b) ? 1u << 14 : 1u << 16) / threads;
        snprintf(how_many, sizeof how_many, "%u threads", (unsigned)threads);
    }
    snprintf(name, sizeof name, "ratio fma %u", (unsigned)fma);
    for (unsigned i = 0; i < RATIO_COUNT; i++) {
        uint32_t push = RATIOS[i][0], pop = RATIOS[i][1];
        spec.push = BENCH_CERTAIN * push / (push + pop);
        spec.pop = BENCH_CERTAIN - spec.push;
        bench_grid_add(&g, spec, BENCH_PAIRS * (double)spec.rounds, "%u:%u", (unsigned)push, (unsigned)pop);
    }
    bench_table(b, "%s (%s): %s, %u multiply-adds a pop; ms, medians of %u, over pushes to pops", d->id, d->name,
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

const bench_suite kerbl_ratio_suite = {
    "kerbl-ratio", "the broker queue, its work distributor and its stealing form over pushes to pops (Figure 4)",
    bench_grid_columns, run};
