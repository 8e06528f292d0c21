/* Toss and Gautier 2012: static, list and stealing on a loop of even and of uneven work, and on the octree.
 *
 *   fig3                    what a pop costs: one block, over the number of pops
 *   fig4a                   time over blocks, one task per pop
 *   fig5                    list and stealing over pop size and blocks; on the screen also their difference
 *   fig4b                   time over blocks, each with its best pop size of figure 5
 *   fig6-half, fig6-third   uneven work, each with the best pop size for it (fig6-pops)
 *   fig7-uniform, -sphere   octree, ranges against ABP, over blocks
 *
 * 5.12 million elements, 512 per task and per block, as in the paper; current GPUs have more multiprocessors than its
 * 30, and accordingly more blocks. */
#include "harness/app_grid.h"

#include <inttypes.h>
#include <math.h>

enum { ELEMENTS = 5120000, CHUNK = 512, TASKS = ELEMENTS / CHUNK, LANES = 512, OCTREE_LANES = 128 };
#define LOOP "--elements 5120k --chunk 512"

/* static: blocks take turns, as in Thrust. list and range as in the paper, and also a list without its lock. */
enum { STATIC, LIST, RANGE, LIST_FAA, METHODS };
static const char *const NAMES[METHODS] = {"static", "list", "range", "list without lock"};
static const char *const SCHEDULERS[METHODS] = {"static:cyclic", "list", "range", "list:faa"};

typedef struct pop_sizes {
    uint32_t of[METHODS];
} pop_sizes;

static void add_methods(app_table *t, pop_sizes pops) {
    for (int i = 0; i < METHODS; i++)
        app_add_series(t, NAMES[i], SCHEDULERS[i])->pop = pops.of[i];
}

/* ---- Figure 3 ---- */

static void pop_cost(app_bench *s) {
    app_table t = {.name = "fig3",
                   .title = "one block, over the number of pops",
                   .app = "transform",
                   .options = LOOP,
                   .axis = "pops"};
    app_add_series(&t, "range", "range");
    app_add_series(&t, "range in one word", "range:packed_range");
    app_add_series(&t, "list", "list");
    for (uint32_t pop = 2048; pop > 0; pop /= app_quick(s) ? 4 : 2) {
        uint32_t pops = (TASKS + pop - 1) / pop;
        app_point *p = app_add_point(&t, pops, "%" PRIu32, pops);
        p->pop = pop;
        p->workers = 1;
        p->lanes = LANES;
    }
    app_table_run(s, &t, NULL);
}

/* ---- Figures 4 and 5 ---- */

static void over_blocks(app_bench *s, const char *name, const char *title, const char *options, pop_sizes pops) {
    app_table t = {.name = name, .title = title, .app = "transform", .options = options, .axis = "blocks"};
    add_methods(&t, pops);
    app_add_workers(&t, s, LANES);
    app_table_run(s, &t, NULL);
}

enum { POPS_MAX = 12 };
typedef struct map {
    unsigned pops;
    uint32_t pop[POPS_MAX];
    app_table tables[POPS_MAX];
    app_medians medians[POPS_MAX];
} map;

/* List minus stealing, as in the paper's figure. */
static void show_differences(app_bench *s, const map *m) {
    const char *labels[APP_POINTS_MAX];
    const app_table *t = &m->tables[0];
    bench *b = app_screen(s);
    if (!b || bench_stopped() || !bench_wants(b, t->name))
        return;
    for (unsigned i = 0; i < t->count; i++)
        labels[i] = t->points[i].label;
    bench_table(b, "%s: fig5: time of list minus time of range, ms, over pop size (tasks) and blocks",
                app_device(s)->id);
    bench_head(b, "pop", labels, t->count, 12);
    for (unsigned i = 0; i < m->pops; i++) {
        char label[16];
        snprintf(label, sizeof label, "%" PRIu32, m->pop[i]);
        bench_line(b, label);
        for (unsigned j = 0; j < t->count; j++) {
            double list = m->medians[i].seconds[0][j], range = m->medians[i].seconds[1][j];
            bench_cell(b, "%s", list > 0 && range > 0 ? bench_digits(1e3 * (list - range)).text : "-");
        }
        bench_line_end(b, "%s", "");
    }
}

static void make_map(app_bench *s, map *m) {
    static const uint32_t all[] = {1, 2, 3, 7, 14, 28, 56, 112}, few[] = {1, 3, 7, 56};
    const uint32_t *pops = app_quick(s) ? few : all;
    m->pops = app_quick(s) ? sizeof few / 4 : sizeof all / 4;
    for (unsigned i = 0; i < m->pops && !bench_stopped(); i++) {
        char title[64];
        app_table *t = &m->tables[i];
        m->pop[i] = pops[i];
        *t = (app_table){.name = "fig5", .title = title, .app = "transform", .options = LOOP, .axis = "blocks"};
        snprintf(title, sizeof title, "%" PRIu32 " tasks a pop", pops[i]);
        app_add_series(t, NAMES[LIST], SCHEDULERS[LIST])->pop = pops[i];
        app_add_series(t, NAMES[RANGE], SCHEDULERS[RANGE])->pop = pops[i];
        app_add_series(t, NAMES[LIST_FAA], SCHEDULERS[LIST_FAA])->pop = pops[i];
        app_add_workers(t, s, LANES);
        app_table_run(s, t, &m->medians[i]);
        t->title = "";
    }
    show_differences(s, m);
}

/* The pop size of the fastest point of the whole map. */
static uint32_t best_pop(const map *m, unsigned series) {
    double least = INFINITY;
    uint32_t pop = 1;
    for (unsigned i = 0; i < m->pops; i++) {
        int at = app_best(&m->tables[i], &m->medians[i], series);
        if (at < 0 || m->medians[i].seconds[series][at] >= least)
            continue;
        least = m->medians[i].seconds[series][at];
        pop = m->pop[i];
    }
    return pop;
}

static void regular(app_bench *s) {
    static const pop_sizes single = {{1, 1, 1, 1}};
    map *m = calloc(1, sizeof *m);
    if (!m) {
        app_say(s, "fig5 and fig4b: left out: out of memory");
        return;
    }
    over_blocks(s, "fig4a", "one task per pop", LOOP, single);
    make_map(s, m);
    pop_sizes best = {{1, best_pop(m, 0), best_pop(m, 1), best_pop(m, 2)}};
    char title[128];
    snprintf(title, sizeof title, "best pops: list %" PRIu32 ", range %" PRIu32 ", list without lock %" PRIu32 " tasks",
             best.of[LIST], best.of[RANGE], best.of[LIST_FAA]);
    over_blocks(s, "fig4b", title, LOOP, best);
    free(m);
}

/* ---- Figure 6 ---- */

static pop_sizes pops_for(app_bench *s, const char *options, const char *pattern) {
    static const uint32_t sizes[] = {1, 3, 8, 20, 50};
    char title[64];
    app_medians medians;
    pop_sizes pops = {{1, 1, 1, 1}};
    app_table t = {.name = "fig6-pops", .title = title, .app = "transform", .options = options, .axis = "pop"};
    snprintf(title, sizeof title, "%s, all blocks that fit, over the tasks per pop", pattern);
    for (int i = LIST; i < METHODS; i++)
        app_add_series(&t, NAMES[i], SCHEDULERS[i])->lanes = LANES;
    for (size_t i = 0; i < sizeof sizes / 4; i += app_quick(s) ? 2 : 1)
        app_add_point(&t, sizes[i], "%" PRIu32, sizes[i])->pop = sizes[i];
    app_table_run(s, &t, &medians);
    for (int i = LIST; i < METHODS; i++) {
        int best = app_best(&t, &medians, (unsigned)(i - LIST));
        pops.of[i] = best < 0 ? 8 : t.points[best].pop;
    }
    return pops;
}

static void irregular(app_bench *s, const char *name, const char *pattern) {
    char options[64], title[128];
    snprintf(options, sizeof options, LOOP " --pattern %s", pattern);
    pop_sizes pops = pops_for(s, options, pattern);
    snprintf(title, sizeof title, "pattern %s; pops: list %" PRIu32 ", range %" PRIu32 " tasks", pattern, pops.of[LIST],
             pops.of[RANGE]);
    over_blocks(s, name, title, options, pops);
}

/* ---- Figure 7 ---- */

static void octree(app_bench *s, const char *name, const char *options) {
    app_table t = {.name = name, .title = "octree of 500,000 particles", .app = "octree", .options = options};
    t.axis = "blocks";
    app_add_series(&t, "range", "range");
    app_add_series(&t, "ABP", "abp");
    app_add_workers(&t, s, OCTREE_LANES);
    app_table_run(s, &t, NULL);
}

static void tables(app_bench *s) {
    pop_cost(s);
    regular(s);
    irregular(s, "fig6-half", "half");
    irregular(s, "fig6-third", "third");
    octree(s, "fig7-uniform", "--particles 500k --distribution uniform");
    octree(s, "fig7-sphere", "--particles 500k --distribution sphere");
}

static void run(bench *b, bench_device *d) { app_bench_run(b, d, tables); }

/* ---- the figures ---- */

/* Least squares of seconds = a + b pops. */
static double slope(const bench_curve *c) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (unsigned i = 0; c && i < c->count; i++) {
        n += 1;
        x += c->marks[i].x;
        y += c->marks[i].median;
        xx += c->marks[i].x * c->marks[i].x;
        xy += c->marks[i].x * c->marks[i].median;
    }
    return n > 2 ? (n * xy - x * y) / (n * xx - x * x) : NAN;
}

static void judge_pop(const bench_panel *p, bench_verdict *v) {
    double range = 1e3 * slope(bench_panel_curve(p, "range")); /* from ms to microseconds */
    double list = 1e3 * slope(bench_panel_curve(p, "list"));
    if (app_no_verdict(p, v, range + list, true))
        return;
    bench_say(v,
              range > 0 && range <= 1.92 ? BENCH_YES
              : range <= 3.52            ? BENCH_PARTLY
                                         : BENCH_NO,
              "By the fit a pop of a range costs %s microseconds, one of the list %s.", bench_digits(range).text,
              bench_digits(list).text);
}

/* The points n and n + 1 of a curve, where n is one block per multiprocessor; 0: missing. */
static double one_more(const bench_panel *p, const char *name, double *n) {
    const bench_curve *c = bench_panel_curve(p, name);
    for (unsigned i = 0; c && i + 1 < c->count; i++)
        if (c->marks[i].x > 2 && c->marks[i + 1].x == c->marks[i].x + 1) {
            *n = c->marks[i].x;
            return c->marks[i + 1].median / c->marks[i].median;
        }
    return NAN;
}

static double best_x(const bench_panel *p, const char *name) {
    const bench_curve *c = bench_panel_curve(p, name);
    const bench_mark *best = NULL;
    for (unsigned i = 0; c && i < c->count; i++)
        best = !best || c->marks[i].median < best->median ? &c->marks[i] : best;
    return best ? best->x : NAN;
}

static double best_y(const bench_panel *p, const char *name) { return bench_panel_at(p, name, best_x(p, name)); }

static void judge_single(const bench_panel *p, bench_verdict *v) {
    double n = 0, fixed = one_more(p, "static", &n), range = one_more(p, "range", &n);
    double list = bench_panel_end(p, "list") / best_y(p, "list");
    if (app_no_verdict(p, v, fixed + range + list, true))
        return;
    int right = (fixed > 1.1) + (range < fixed) + (list > 1.2);
    bench_say(
        v,
        right == 3  ? BENCH_YES
        : right > 0 ? BENCH_PARTLY
                    : BENCH_NO,
        "From %.0f to %.0f blocks static takes %s times as long, range %s times; list is best with %.0f blocks and "
        "takes %s times as long with all.",
        n, n + 1, bench_digits(fixed).text, bench_digits(range).text, best_x(p, "list"), bench_digits(list).text);
}

static void judge_best(const bench_panel *p, bench_verdict *v) {
    double fixed = best_y(p, "static"), list = best_y(p, "list"), range = best_y(p, "range");
    double most = fmax(list, range) / fixed;
    if (app_no_verdict(p, v, fixed + list + range, true))
        return;
    bench_say(v,
              most <= 1.15  ? BENCH_YES
              : most <= 1.5 ? BENCH_PARTLY
                            : BENCH_NO,
              "Best times: static %s ms with %.0f blocks, list %s with %.0f, range %s with %.0f.",
              bench_digits(fixed).text, best_x(p, "static"), bench_digits(list).text, best_x(p, "list"),
              bench_digits(range).text, best_x(p, "range"));
}

static const bench_panel *panel_like(const bench_panel *p, const char *word) {
    for (unsigned i = 0; i < p->panels; i++)
        if (strcmp(p->first[i].device, p->device) == 0 && strstr(p->first[i].name, word))
            return &p->first[i];
    return NULL;
}

/* A panel per method: the verdict compares list and range at a pop size of one task. */
static void judge_map(const bench_panel *p, bench_verdict *v) {
    const bench_panel *list = panel_like(p, ", list"), *range = panel_like(p, ", range");
    double a = list ? bench_panel_end(list, "1") : NAN, b = range ? bench_panel_end(range, "1") : NAN;
    double c = list ? bench_panel_near(list, "7", 1) : NAN, d = range ? bench_panel_near(range, "7", 1) : NAN;
    if (app_no_verdict(p, v, a + b + c + d, true))
        return;
    bench_say(
        v,
        a > 2 * b     ? BENCH_YES
        : a > 1.1 * b ? BENCH_PARTLY
                      : BENCH_NO,
        "All blocks, one task per pop: list takes %s ms, range %s; the fewest blocks, 7 tasks per pop: %s and %s.",
        bench_digits(a).text, bench_digits(b).text, bench_digits(c).text, bench_digits(d).text);
}

static void judge_patterns(const bench_panel *p, bench_verdict *v) {
    const bench_curve *fixed = bench_panel_curve(p, "static");
    double worst = NAN, best = NAN;
    for (unsigned i = 0; fixed && i < fixed->count; i++) {
        double factor = fixed->marks[i].median / bench_panel_at(p, "range", fixed->marks[i].x);
        worst = isnan(worst) || factor > worst ? factor : worst;
        best = isnan(best) || factor < best ? factor : best;
    }
    if (app_no_verdict(p, v, worst + best, true))
        return;
    bench_say(v,
              worst >= 1.3  ? BENCH_YES
              : worst > 1.1 ? BENCH_PARTLY
                            : BENCH_NO,
              "Static takes %s to %s times as long as range, depending on the number of blocks.",
              bench_digits(best).text, bench_digits(worst).text);
}

static void judge_octree(const bench_panel *p, bench_verdict *v) {
    double range = best_y(p, "range"), abp = best_y(p, "ABP"), factor = range / abp;
    if (app_no_verdict(p, v, factor, true))
        return;
    bench_say(v,
              factor > 0.85 && factor < 1.15 ? BENCH_YES
              : factor > 0.5 && factor < 2   ? BENCH_PARTLY
                                             : BENCH_NO,
              "Best times: range %s ms with %.0f blocks, ABP %s with %.0f.", bench_digits(range).text,
              best_x(p, "range"), bench_digits(abp).text, best_x(p, "ABP"));
}

#define OVER_BLOCKS                                                                                                    \
    .x = "x", .y = "seconds", .y_scale = 1e3, .x_text = "blocks", .y_text = "milliseconds",                            \
    .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS

static const char *const SAYS[][2] = {
    {"fig6-half", "every second task has work"},
    {"fig6-third", "every third task has work"},
    {"fig7-uniform", "particles in a cube"},
    {"fig7-sphere", "particles on a sphere"},
    {NULL, NULL},
};

static const bench_figure FIGURES[] = {
    {.name = "pop",
     .title = "What a pop costs",
     .asks = "How does the time of one block grow with the number of pops?",
     .found = "Figure 3: an affine function; a pop costs 3.52 microseconds on a GTX 280, 1.92 on a C2050.",
     .rows = "case=fig3",
     .series = "series",
     .x = "x",
     .y = "seconds",
     .y_scale = 1e3,
     .x_text = "pops",
     .y_text = "milliseconds",
     .flags = BENCH_LESS,
     .reference = "range",
     .agrees = judge_pop},
    {.name = "single",
     .title = "Even work, one task per pop",
     .asks = "How do static shares, a list and stealing scale with the number of blocks?",
     .found = "Figure 4a, GTX 280: the list stops scaling at 10 blocks; static is best at 60 blocks but drops at 31, "
              "one more "
              "than there are multiprocessors; stealing does not.",
     .rows = "case=fig4a",
     .series = "series",
     OVER_BLOCKS,
     .reference = "range",
     .agrees = judge_single},
    {.name = "best",
     .title = "Even work, the best pop size for each",
     .asks = "The same with the best pop size for each method.",
     .found =
         "Figure 4b: static 6.49 ms (60 blocks), stealing 6.90 (3 tasks per pop, 60 blocks), list 6.92 (7 tasks, 30 "
         "blocks).",
     .rows = "case=fig4b",
     .series = "series",
     OVER_BLOCKS,
     .reference = "range",
     .agrees = judge_best},
    {.name = "map",
     .title = "Pop size and blocks",
     .asks = "Where does stealing beat the list?",
     .found = "Figure 5: with small pops and many blocks stealing gains up to 98.5 ms (93 %); with large pops and few "
              "blocks "
              "the list gains 5.6 ms at most.",
     .rows = "case=fig5",
     .each = "device,series",
     .series = "pop",
     .series_text = "tasks per pop",
     OVER_BLOCKS,
     .no_contest = true,
     .agrees = judge_map},
    {.name = "patterns",
     .title = "Uneven work",
     .asks = "What happens when only every second or third task has work?",
     .found = "Figure 6: static is unstable, list and stealing deal with it well.",
     .rows = "case=fig6-half|fig6-third",
     .says = SAYS,
     .each = "device,case",
     .series = "series",
     OVER_BLOCKS,
     .reference = "range",
     .agrees = judge_patterns},
    {.name = "octree",
     .title = "Octree: ranges against ABP",
     .asks = "Do ranges also serve tasks that are spawned?",
     .found = "Figure 7, GTX 280: alike; best 63.26 ms with 31 blocks for ranges, 62.94 ms with 35 for ABP.",
     .rows = "case=fig7-uniform|fig7-sphere",
     .says = SAYS,
     .each = "device,case",
     .series = "series",
     OVER_BLOCKS,
     .reference = "ABP",
     .agrees = judge_octree},
    {.name = NULL},
};
#undef OVER_BLOCKS

const bench_suite toss2012_suite = {
    .name = "toss2012",
    .text = "static, list and range stealing on a loop and on the octree (Toss, Gautier 2012, Figures 3 to 7)",
    .columns = app_grid_columns,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
