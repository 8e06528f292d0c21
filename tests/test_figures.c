/* Verdicts of the figures: rows with the papers' own numbers must agree with the papers, rows that say the opposite
 * must not, and too few rows must give no verdict. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include "../bench/harness/app_grid.h"
#include "../report/rows.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct fact {
    const char *name, *series, *scheduler; /* name: the case */
    double x, seconds;
    unsigned lanes, pop, launches;
    unsigned long tasks, slots;
} fact;

static char folder[] = "/tmp/ballast_figures_XXXXXX", path[64];

static void write_cell(FILE *file, const char *column, const fact *f, const char *device) {
    if (strcmp(column, "device") == 0)
        fputs(device, file);
    else if (strcmp(column, "case") == 0)
        fputs(f->name, file);
    else if (strcmp(column, "series") == 0 || strcmp(column, "queue") == 0 || strcmp(column, "access") == 0 ||
             strcmp(column, "method") == 0)
        fputs(f->series, file);
    else if (strcmp(column, "scheduler") == 0)
        fputs(f->scheduler ? f->scheduler : f->series, file);
    else if (strcmp(column, "x") == 0 || strcmp(column, "threads") == 0 || strcmp(column, "push") == 0)
        fprintf(file, "%g", f->x);
    else if (strcmp(column, "mops") == 0 || strcmp(column, "relative") == 0)
        fprintf(file, "%g", 1 / f->seconds);
    else if (strcmp(column, "seconds") == 0 || strcmp(column, "over_bound") == 0)
        fprintf(file, "%.9f", f->seconds);
    else if (strcmp(column, "balances") == 0)
        fputs("yes", file);
    else if (strcmp(column, "tasks_per_second") == 0)
        fprintf(file, "%g", (double)f->tasks / f->seconds);
    else if (strcmp(column, "check") == 0)
        fputs("twin", file);
    else
        fprintf(file, "%lu",
                strcmp(column, "tasks") == 0         ? f->tasks
                : strcmp(column, "paper_tasks") == 0 ? f->slots
                : strcmp(column, "asked_lanes") == 0 ? f->lanes
                : strcmp(column, "pop") == 0         ? f->pop
                : strcmp(column, "launches") == 0    ? f->launches
                                                     : 1);
}

static void write_rows(const bench_suite *suite, const fact *facts, unsigned count, const char *device) {
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    fprintf(file, "# suite %s: test\n# rows version %u\n", suite->name, suite->version);
    for (const bench_column *c = suite->columns; c->name; c++)
        fprintf(file, "%s%s", c == suite->columns ? "" : ",", c->name);
    for (unsigned i = 0; i < count; i++)
        for (const bench_column *c = suite->columns; c->name; c++) {
            fputc(c == suite->columns ? '\n' : ',', file);
            write_cell(file, c->name, &facts[i], device);
        }
    fputc('\n', file);
    fclose(file);
}

static const bench_figure *figure_of(const bench_suite *suite, const char *name) {
    for (const bench_figure *f = suite->figures; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* The verdict of the figure's last panel on these rows. */
static bench_agreement verdict_of(const char *suite_name, const char *figure_name, const fact *facts, unsigned count,
                                  const char *device) {
    const bench_suite *suite = bench_suite_find(suite_name);
    const bench_figure *figure = suite ? figure_of(suite, figure_name) : NULL;
    bench_rows rows;
    bench_panel *panels;
    bench_error error = {""};
    unsigned found = 0;
    bench_verdict verdict = {BENCH_NOT_APPLICABLE, ""};
    check_at("%s, %s on %s", suite_name, figure_name, device);
    if (!CHECK(figure != NULL))
        return BENCH_NOT_APPLICABLE;
    write_rows(suite, facts, count, device);
    if (!CHECK_SAME(bench_rows_read(suite, path, &rows, &error), 0))
        return BENCH_NOT_APPLICABLE;
    if (CHECK_SAME(bench_panels_make(&rows, figure, &panels, &found, &error), 0) && CHECK(found > 0)) {
        figure->agrees(&panels[found - 1], &verdict);
        CHECK(verdict.text[0] != '\0' && !strstr(verdict.text, "nan"));
        CHECK(!figure->no_contest || !strstr(verdict.text, " leads ")); /* no curve can */
        bench_panels_free(panels, found);
    }
    bench_rows_free(&rows);
    return verdict.agreement;
}

/* Agrees on a GPU with `facts`, disagrees with `against`, and gives no verdict on a single row. */
static void check_verdict(const char *suite, const char *figure, const fact *facts, unsigned count, const fact *against,
                          unsigned against_count) {
    CHECK_SAME(verdict_of(suite, figure, facts, count, "cuda:0"), BENCH_YES);
    CHECK_SAME(verdict_of(suite, figure, against, against_count, "cuda:0"), BENCH_NO);
    verdict_of(suite, figure, facts, 1, "cpu");
    verdict_of(suite, figure, facts, count, "cpu");
}
#define COUNT(array) (unsigned)(sizeof(array) / sizeof(array)[0])
#define VERDICT(suite, figure, facts, against)                                                                         \
    check_verdict(suite, figure, facts, COUNT(facts), against, COUNT(against))

/* ---- Cederman, Tsigas 2008 ---- */

static void check_cederman(void) {
    static const fact few[] = {{"fig2-tube", "blocking", .lanes = 72, .x = 8, .seconds = 0.1},
                               {"fig2-tube", "blocking", .lanes = 72, .x = 42, .seconds = 0.4}};
    static const fact many[] = {{"fig2-tube", "blocking", .lanes = 72, .x = 8, .seconds = 0.4},
                                {"fig2-tube", "blocking", .lanes = 72, .x = 42, .seconds = 0.1}};
    static const fact more[] = {{"fig2-tube", "abp", .lanes = 64, .x = 1, .seconds = 0.4},
                                {"fig2-tube", "abp", .lanes = 64, .x = 32, .seconds = 0.1}};
    static const fact fewer[] = {{"fig2-tube", "abp", .lanes = 64, .x = 1, .seconds = 0.1},
                                 {"fig2-tube", "abp", .lanes = 64, .x = 32, .seconds = 0.4}};
    static const fact narrow[] = {{"fig2-static", "tube", .x = 32, .seconds = 0.1},
                                  {"fig2-static", "tube", .x = 512, .seconds = 0.4}};
    static const fact wide[] = {{"fig2-static", "tube", .x = 32, .seconds = 0.4},
                                {"fig2-static", "tube", .x = 512, .seconds = 0.1}};
    static const fact order[] = {{"fig4-tube", "abp", .x = 5e5, .seconds = 0.06},
                                 {"fig4-tube", "static", .x = 5e5, .seconds = 0.07},
                                 {"fig4-tube", "lockfree", .x = 5e5, .seconds = 0.12},
                                 {"fig4-tube", "blocking", .x = 5e5, .seconds = 0.4}};
    static const fact reversed[] = {{"fig4-tube", "abp", .x = 5e5, .seconds = 0.4},
                                    {"fig4-tube", "static", .x = 5e5, .seconds = 0.3},
                                    {"fig4-tube", "lockfree", .x = 5e5, .seconds = 0.2},
                                    {"fig4-tube", "blocking", .x = 5e5, .seconds = 0.1}};
    static const fact tasks[] = {{"fig5", "uniform", .x = 5e5, .seconds = 1, .tasks = 7673, .launches = 6},
                                 {"fig5", "tube", .x = 5e5, .seconds = 1, .tasks = 15401, .launches = 8}};
    static const fact other[] = {{"fig5", "uniform", .x = 5e5, .seconds = 1, .tasks = 7673, .launches = 6},
                                 {"fig5", "tube", .x = 5e5, .seconds = 1, .tasks = 5000, .launches = 9}};
    VERDICT("cederman2008", "threads-blocks", few, many);
    VERDICT("cederman2008", "threads-blocks", more, fewer);
    VERDICT("cederman2008", "static-threads", narrow, wide);
    VERDICT("cederman2008", "particles", order, reversed);
    VERDICT("cederman2008", "tasks", tasks, other);
    VERDICT("cederman2008", "waves", tasks, other);
    CHECK_SAME(verdict_of("cederman2008", "particles", order, 2, "cuda:0"), BENCH_NOT_APPLICABLE);
    CHECK_SAME(verdict_of("cederman2008", "particles", order, COUNT(order), "cpu"), BENCH_NOT_APPLICABLE);
    CHECK_SAME(verdict_of("cederman2008", "waves", tasks, COUNT(tasks), "cpu"), BENCH_YES);
}

/* ---- Gems 35 ---- */

static void check_gems(void) {
    static const fact gain[] = {{"fig35.8", "4 moves", .x = 30, .seconds = 1, .tasks = 500},
                                {"fig35.8", "4 moves", .x = 120, .seconds = 1, .tasks = 800},
                                {"fig35.8", "4 moves", .x = 240, .seconds = 1, .tasks = 600},
                                {"fig35.8", "7 moves", .x = 30, .seconds = 1, .tasks = 1000},
                                {"fig35.8", "7 moves", .x = 120, .seconds = 1, .tasks = 3000},
                                {"fig35.8", "7 moves", .x = 240, .seconds = 1, .tasks = 5000}};
    static const fact loss[] = {{"fig35.8", "4 moves", .x = 30, .seconds = 1, .tasks = 500},
                                {"fig35.8", "4 moves", .x = 120, .seconds = 1, .tasks = 800},
                                {"fig35.8", "4 moves", .x = 240, .seconds = 1, .tasks = 900},
                                {"fig35.8", "7 moves", .x = 30, .seconds = 1, .tasks = 1000},
                                {"fig35.8", "7 moves", .x = 120, .seconds = 1, .tasks = 900},
                                {"fig35.8", "7 moves", .x = 240, .seconds = 1, .tasks = 500}};
    static const fact twice[] = {{"fig35.9", "dynamic", .x = 4, .seconds = 1, .tasks = 2500, .slots = 5000},
                                 {"fig35.9", "static", .x = 4, .seconds = 1, .tasks = 2500, .slots = 2400},
                                 {"fig35.9", "dynamic", .x = 7, .seconds = 1, .tasks = 800000, .slots = 12000},
                                 {"fig35.9", "static", .x = 7, .seconds = 2, .tasks = 800000, .slots = 800000}};
    static const fact half[] = {{"fig35.9", "dynamic", .x = 4, .seconds = 1, .tasks = 2500, .slots = 5000},
                                {"fig35.9", "static", .x = 4, .seconds = 1, .tasks = 2500, .slots = 2400},
                                {"fig35.9", "dynamic", .x = 7, .seconds = 2, .tasks = 800000, .slots = 800000},
                                {"fig35.9", "static", .x = 7, .seconds = 1, .tasks = 800000, .slots = 12000}};
    static const fact tree[] = {{"fig35.11", "dynamic", .x = 1e6, .seconds = 1.0, .tasks = 90, .slots = 9000},
                                {"fig35.11", "static", .x = 1e6, .seconds = 1.1, .tasks = 90, .slots = 40000},
                                {"fig35.11", "dynamic", .x = 15e6, .seconds = 10, .tasks = 900, .slots = 9900},
                                {"fig35.11", "static", .x = 15e6, .seconds = 11.5, .tasks = 900, .slots = 600000}};
    static const fact slower[] = {{"fig35.11", "dynamic", .x = 1e6, .seconds = 1.1, .tasks = 90, .slots = 4000},
                                  {"fig35.11", "static", .x = 1e6, .seconds = 1.0, .tasks = 90, .slots = 40000},
                                  {"fig35.11", "dynamic", .x = 15e6, .seconds = 12, .tasks = 900, .slots = 99000},
                                  {"fig35.11", "static", .x = 15e6, .seconds = 10, .tasks = 900, .slots = 60000}};
    VERDICT("gems35", "lookahead-blocks", gain, loss);
    VERDICT("gems35", "lookahead-speed", twice, half);
    VERDICT("gems35", "lookahead-memory", twice, half);
    VERDICT("gems35", "octree-speed", tree, slower);
    VERDICT("gems35", "octree-memory", tree, slower);
}

/* ---- Toss, Gautier 2012 ---- */

static void check_toss(void) {
    static const fact pops[] = {{"fig3", "range", .x = 5, .seconds = 1e-3 + 5 * 1.5e-6},
                                {"fig3", "range", .x = 500, .seconds = 1e-3 + 500 * 1.5e-6},
                                {"fig3", "range", .x = 10000, .seconds = 1e-3 + 10000 * 1.5e-6},
                                {"fig3", "list", .x = 5, .seconds = 1e-3 + 5 * 1e-6},
                                {"fig3", "list", .x = 500, .seconds = 1e-3 + 500 * 1e-6},
                                {"fig3", "list", .x = 10000, .seconds = 1e-3 + 10000 * 1e-6}};
    static const fact dear[] = {{"fig3", "range", .x = 5, .seconds = 1e-3 + 5 * 8e-6},
                                {"fig3", "range", .x = 500, .seconds = 1e-3 + 500 * 8e-6},
                                {"fig3", "range", .x = 10000, .seconds = 1e-3 + 10000 * 8e-6},
                                {"fig3", "list", .x = 5, .seconds = 1e-3 + 5 * 1e-6},
                                {"fig3", "list", .x = 500, .seconds = 1e-3 + 500 * 1e-6},
                                {"fig3", "list", .x = 10000, .seconds = 1e-3 + 10000 * 1e-6}};
    static const fact drop[] = {
        {"fig4a", "static", .x = 30, .seconds = 0.0085}, {"fig4a", "static", .x = 31, .seconds = 0.0150},
        {"fig4a", "static", .x = 60, .seconds = 0.0065}, {"fig4a", "range", .x = 30, .seconds = 0.0090},
        {"fig4a", "range", .x = 31, .seconds = 0.0088},  {"fig4a", "range", .x = 60, .seconds = 0.0070},
        {"fig4a", "list", .x = 10, .seconds = 0.0200},   {"fig4a", "list", .x = 60, .seconds = 0.1000}};
    static const fact smooth[] = {
        {"fig4a", "static", .x = 30, .seconds = 0.0085}, {"fig4a", "static", .x = 31, .seconds = 0.0084},
        {"fig4a", "range", .x = 30, .seconds = 0.0090},  {"fig4a", "range", .x = 31, .seconds = 0.0110},
        {"fig4a", "list", .x = 10, .seconds = 0.0200},   {"fig4a", "list", .x = 60, .seconds = 0.0100}};
    static const fact alike[] = {{"fig4b", "static", .x = 60, .seconds = 0.00649},
                                 {"fig4b", "range", .x = 60, .seconds = 0.00690},
                                 {"fig4b", "list", .x = 30, .seconds = 0.00692}};
    static const fact apart[] = {{"fig4b", "static", .x = 60, .seconds = 0.00649},
                                 {"fig4b", "range", .x = 60, .seconds = 0.01690},
                                 {"fig4b", "list", .x = 30, .seconds = 0.00692}};
    static const fact map[] = {{"fig5", "list", .pop = 1, .x = 60, .seconds = 0.106},
                               {"fig5", "list", .pop = 7, .x = 1, .seconds = 0.009},
                               {"fig5", "range", .pop = 1, .x = 60, .seconds = 0.007},
                               {"fig5", "range", .pop = 7, .x = 1, .seconds = 0.015}};
    static const fact flat[] = {{"fig5", "list", .pop = 1, .x = 60, .seconds = 0.007},
                                {"fig5", "list", .pop = 7, .x = 1, .seconds = 0.009},
                                {"fig5", "range", .pop = 1, .x = 60, .seconds = 0.007},
                                {"fig5", "range", .pop = 7, .x = 1, .seconds = 0.015}};
    static const fact uneven[] = {{"fig6-half", "static", .x = 60, .seconds = 0.0065},
                                  {"fig6-half", "range", .x = 60, .seconds = 0.0035}};
    static const fact even[] = {{"fig6-half", "static", .x = 60, .seconds = 0.0035},
                                {"fig6-half", "range", .x = 60, .seconds = 0.0035}};
    static const fact tree[] = {{"fig7-sphere", "range", .x = 31, .seconds = 0.06326},
                                {"fig7-sphere", "ABP", .x = 35, .seconds = 0.06294}};
    static const fact far[] = {{"fig7-sphere", "range", .x = 31, .seconds = 0.16326},
                               {"fig7-sphere", "ABP", .x = 35, .seconds = 0.06294}};
    VERDICT("toss2012", "pop", pops, dear);
    VERDICT("toss2012", "single", drop, smooth);
    VERDICT("toss2012", "best", alike, apart);
    VERDICT("toss2012", "map", map, flat);
    VERDICT("toss2012", "patterns", uneven, even);
    VERDICT("toss2012", "octree", tree, far);
}

/* ---- Kerbl et al. 2018 ---- */

static void check_kerbl(void) {
    static const fact brokers[] = {{"fig3e", "BQ", .x = 20480, .seconds = 0.0100},
                                   {"fig3e", "BWD", .x = 20480, .seconds = 0.0099},
                                   {"fig3e", "BSQ", .x = 20480, .seconds = 0.0091},
                                   {"fig3e", "GQ", .x = 20480, .seconds = 0.0113}};
    static const fact gottlieb[] = {{"fig3e", "BQ", .x = 20480, .seconds = 0.0100},
                                    {"fig3e", "BWD", .x = 20480, .seconds = 0.0099},
                                    {"fig3e", "BSQ", .x = 20480, .seconds = 0.0191},
                                    {"fig3e", "GQ", .x = 20480, .seconds = 0.0050}};
    VERDICT("kerbl2018", "pagerank", brokers, gottlieb);
    CHECK_SAME(verdict_of("kerbl2018", "pagerank", brokers, 3, "cuda:0"), BENCH_NOT_APPLICABLE);
}

/* Queues alone: rates are 1 over these seconds, so less is better everywhere. */
static void check_kerbl_queues(void) {
    static const fact pairs[] = {{"pairs", "broker", .x = 65536, .seconds = 1},
                                 {"pairs", "gottlieb", .x = 65536, .seconds = 2.2},
                                 {"pairs", "lcrq", .x = 65536, .seconds = 5}};
    static const fact other_pairs[] = {{"pairs", "broker", .x = 65536, .seconds = 3},
                                       {"pairs", "gottlieb", .x = 65536, .seconds = 2},
                                       {"pairs", "lcrq", .x = 65536, .seconds = 1}};
    static const fact warps[] = {{"pairs per warp", "broker", .x = 65536, .seconds = 1},
                                 {"pairs per warp", "sfq", .x = 65536, .seconds = 1.05}};
    static const fact other_warps[] = {{"pairs per warp", "broker", .x = 65536, .seconds = 1.5},
                                       {"pairs per warp", "sfq", .x = 65536, .seconds = 1}};
    static const fact growing[] = {{"2:1", "broker", .x = 65536, .seconds = 1},
                                   {"2:1", "gottlieb", .x = 65536, .seconds = 1.2},
                                   {"2:1", "lcrq", .x = 65536, .seconds = 2}};
    static const fact other_growing[] = {{"2:1", "broker", .x = 65536, .seconds = 3},
                                         {"2:1", "gottlieb", .x = 65536, .seconds = 1.2},
                                         {"2:1", "lcrq", .x = 65536, .seconds = 2}};
    static const fact empty[] = {{"1:2", "broker", .x = 65536, .seconds = 1.64},
                                 {"1:2", "gottlieb", .x = 65536, .seconds = 1.1},
                                 {"1:2", "bwd", .x = 65536, .seconds = 1},
                                 {"1:2", "lcrq", .x = 65536, .seconds = 5}};
    static const fact other_empty[] = {{"1:2", "broker", .x = 65536, .seconds = 1},
                                       {"1:2", "gottlieb", .x = 65536, .seconds = 2},
                                       {"1:2", "bwd", .x = 65536, .seconds = 3},
                                       {"1:2", "lcrq", .x = 65536, .seconds = 1}};
    VERDICT("kerbl-pairs", "threads", pairs, other_pairs);
    VERDICT("kerbl-pairs", "warps", warps, other_warps);
    VERDICT("kerbl-mixed", "growing", growing, other_growing);
    VERDICT("kerbl-mixed", "empty", empty, other_empty);
    CHECK_SAME(verdict_of("kerbl-mixed", "empty", empty, 3, "cuda:0"), BENCH_NOT_APPLICABLE);
    CHECK_SAME(verdict_of("kerbl-pairs", "threads", pairs, COUNT(pairs), "cpu"), BENCH_NOT_APPLICABLE);
}

/* Ratio of pushes to pops, given as the share of pushes. */
static void check_kerbl_ratio(void) {
    static const fact idle[] = {
        {"ratio fma 0", "broker", .x = 0.1, .seconds = 2}, {"ratio fma 0", "bwd", .x = 0.1, .seconds = 1},
        {"ratio fma 0", "bsq", .x = 0.1, .seconds = 30},   {"ratio fma 0", "broker", .x = 0.3333, .seconds = 5},
        {"ratio fma 0", "bwd", .x = 0.3333, .seconds = 1}, {"ratio fma 0", "broker", .x = 0.9, .seconds = 1},
        {"ratio fma 0", "bwd", .x = 0.9, .seconds = 1},    {"ratio fma 0", "bsq", .x = 0.9, .seconds = 0.95}};
    static const fact other[] = {
        {"ratio fma 0", "broker", .x = 0.1, .seconds = 2}, {"ratio fma 0", "bwd", .x = 0.1, .seconds = 1},
        {"ratio fma 0", "bsq", .x = 0.1, .seconds = 1},    {"ratio fma 0", "broker", .x = 0.3333, .seconds = 0.5},
        {"ratio fma 0", "bwd", .x = 0.3333, .seconds = 1}, {"ratio fma 0", "broker", .x = 0.9, .seconds = 1},
        {"ratio fma 0", "bwd", .x = 0.9, .seconds = 1},    {"ratio fma 0", "bsq", .x = 0.9, .seconds = 2}};
    VERDICT("kerbl-ratio", "idle", idle, other);
}

/* ---- greedy ---- */

/* These seconds are relative to the bound. */
static void check_greedy(void) {
    static const fact within[] = {{"loads", "default", .seconds = 0.6}, {"loads", "steal:abp", .seconds = 0.99}};
    static const fact near[] = {{"loads", "default", .seconds = 0.6}, {"loads", "steal:abp", .seconds = 1.05}};
    static const fact over[] = {{"loads", "default", .seconds = 3.1}, {"loads", "steal:abp", .seconds = 0.99}};
    VERDICT("greedy", "bound", within, over);
    CHECK_SAME(verdict_of("greedy", "bound", within, COUNT(within), "cpu"), BENCH_YES);
    CHECK_SAME(verdict_of("greedy", "bound", near, COUNT(near), "cpu"), BENCH_PARTLY);
}

int main(void) {
    check_limit(60);
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_end();
    snprintf(path, sizeof path, "%s/rows.csv", folder);
    check_cederman();
    check_gems();
    check_toss();
    check_kerbl();
    check_kerbl_queues();
    check_kerbl_ratio();
    check_greedy();
    remove(path);
    rmdir(folder);
    return check_end();
}
