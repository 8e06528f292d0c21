/* Rows of a suite read back, and the panels that figures make of them: filters, medians and spread, and the values that
 * verdicts use. Malformed files are rejected with one line; tests/cli/cli.sh covers these lines. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include "../report/rows.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const bench_column COLUMNS[] = {
    {"device", ""}, {"method", ""}, {"kind", ""},  {"size", ""},
    {"repeat", ""}, {"value", ""},  {"check", ""}, {NULL, NULL},
};
static const bench_suite SUITE = {.name = "tiny", .text = "", .columns = COLUMNS, .version = 3};

static const char HEAD[] = "# suite tiny: for the test\n# rows version 3\n# date yesterday\n"
                           "device,method,kind,size,repeat,value,check\n";

static char path[] = "/tmp/ballast_rows_XXXXXX";

static int read_rows(const char *head, const char *body, bench_rows *rows, bench_error *error) {
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    fprintf(file, "%s%s", head, body);
    fclose(file);
    error->text[0] = '\0';
    return bench_rows_read(&SUITE, path, rows, error);
}

static bench_panel *make(const char *body, const bench_figure *figure, bench_rows *rows, unsigned *count) {
    bench_error error;
    bench_panel *panels = NULL;
    *count = 0;
    CHECK(read_rows(HEAD, body, rows, &error) == 0);
    CHECK(bench_panels_make(rows, figure, &panels, count, &error) == 0);
    return panels;
}

static void drop(bench_panel *panels, unsigned count, bench_rows *rows) {
    bench_panels_free(panels, count);
    bench_rows_free(rows);
}

/* ---- reading ---- */

static void cells(void) {
    bench_rows rows;
    bench_error error;
    check_at("cells");
    CHECK(read_rows(HEAD, "cpu,a,x,1,1,5,right\n# a remark\ncpu,b,,2,1,,right\n", &rows, &error) == 0);
    CHECK_SAME(rows.count, 2);
    CHECK_SAME(rows.remark_count, 4);
    CHECK(strcmp(bench_rows_said(&rows, "date"), "yesterday") == 0);
    CHECK(bench_rows_said(&rows, "dat") == NULL);
    CHECK(bench_rows_column(&rows, "size,more", 4) == 3 && bench_rows_column(&rows, "siz", 3) < 0);
    CHECK(strcmp(bench_rows_cell(&rows, 0, 2), "x") == 0 && strcmp(bench_rows_cell(&rows, 1, 2), "") == 0);
    CHECK(strcmp(bench_rows_cell(&rows, 1, -1), "") == 0);
    CHECK(rows.lines[0] == 5 && rows.lines[1] == 7);
    bench_rows_free(&rows);
}

static void refused(void) {
    static const struct {
        const char *body, *words;
    } bad[] = {
        {"", "no rows"},
        {"cpu,a,x,1,1,5,right", "its last line is incomplete"},
        {"cpu,a,x,1,1,5\n", ":5: 6 cells"},
        {"cpu,a,x,1,1,5,right,more\n", ":5: 8 cells"},
    };
    bench_rows rows;
    bench_error error;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_at("rejected: %s", bad[i].words);
        CHECK(read_rows(HEAD, bad[i].body, &rows, &error) == 1);
        CHECK(strstr(error.text, bad[i].words) && strstr(error.text, path));
        CHECK(rows.text == NULL && rows.cells == NULL);
    }
    CHECK(read_rows("# suite tiny: x\n# rows version 2\ndevice,method,kind,size,repeat,value,check\n",
                    "cpu,a,x,1,1,5,right\n", &rows, &error) == 1);
    CHECK(strstr(error.text, "rows of version 2, but this is version 3"));
}

/* ---- panels ---- */

static void medians(void) {
    static const bench_figure figure = {
        .name = "f", .series = "method", .x = "size", .y = "value", .y_scale = 2, .bounds = "none"};
    bench_rows rows;
    unsigned count;
    check_at("medians");
    bench_panel *panels =
        make("cpu,a,x,8,1,5,right\ncpu,a,x,8,2,1,right\ncpu,a,x,8,3,100,right\ncpu,a,x,2,1,4,right\n"
             "cpu,a,x,2,2,6,right\ncpu,none,x,2,1,50,none\ncpu,b,x,2,1,-,right\ngpu,b,x,2,1,3,right\n",
             &figure, &rows, &count);
    CHECK_SAME(count, 2);
    CHECK(strcmp(panels[0].name, "cpu") == 0 && strcmp(panels[1].device, "gpu") == 0);
    CHECK_SAME(panels[0].count, 2); /* rows without a measurement make no curve */
    const bench_curve *a = bench_panel_curve(&panels[0], "a");
    CHECK(a && a->count == 2 && a->marks[0].x == 2 && a->marks[1].x == 8);
    CHECK(a->marks[0].median == 10 && a->marks[0].least == 8 && a->marks[0].most == 12);
    CHECK(a->marks[1].median == 10 && a->marks[1].least == 2 && a->marks[1].most == 200 && a->marks[1].count == 3);
    CHECK(!a->bound && bench_panel_curve(&panels[0], "none")->bound);
    CHECK(panels[1].first == panels && panels[1].panels == 2);
    drop(panels, count, &rows);
}

static void filters(void) {
    static const bench_figure figure = {.name = "f",
                                        .rows = "kind=x|y*,device=cpu",
                                        .each = "device,kind",
                                        .series = "method,size",
                                        .x = "size",
                                        .y = "value"};
    bench_rows rows;
    unsigned count;
    check_at("filters");
    bench_panel *panels = make("cpu,a,x,1,1,1,right\ncpu,a,y,1,1,2,right\ncpu,a,yes,2,1,3,right\ncpu,a,xy,1,1,4,right\n"
                               "gpu,a,x,1,1,5,right\ncpu,a,z,1,1,6,right\n",
                               &figure, &rows, &count);
    CHECK_SAME(count, 3);
    CHECK(strcmp(panels[0].name, "cpu, x") == 0 && strcmp(panels[1].name, "cpu, y") == 0);
    CHECK(strcmp(panels[2].name, "cpu, yes") == 0 && strcmp(panels[2].curves[0].name, "a, 2") == 0);
    CHECK(panels[2].curves[0].marks[0].median == 3);
    drop(panels, count, &rows);
}

static void words(void) {
    static const bench_figure figure = {
        .name = "f", .series = "method", .x = "kind", .y = "value", .flags = BENCH_BARS};
    bench_rows rows;
    unsigned count;
    check_at("words");
    bench_panel *panels = make("cpu,a,x,1,1,1,right\ncpu,a,9,1,1,2,right\ncpu,b,9,1,1,3,right\ncpu,b,w,1,1,4,right\n",
                               &figure, &rows, &count);
    CHECK(count == 1 && panels[0].words);
    CHECK(bench_panel_word(&panels[0], "b", "9") == 3 && bench_panel_at(&panels[0], "b", 1) == 3);
    CHECK(bench_panel_at(&panels[0], "b", 2) == 4 && isnan(bench_panel_at(&panels[0], "a", 2)));
    drop(panels, count, &rows);
}

static void refused_panels(void) {
    static const bench_figure figure = {.name = "f", .series = "method", .x = "size", .y = "value"};
    static const bench_figure no_column = {.name = "f", .series = "way", .x = "size", .y = "value"};
    static const char twice[] = "cpu,a,x,1,1,1,right\ncpu,a,y,1,1,2,right\n";
    bench_rows rows;
    bench_error error;
    bench_panel *panels;
    unsigned count;
    check_at("rejected panels");
    CHECK(read_rows(HEAD, twice, &rows, &error) == 0);
    CHECK(bench_panels_make(&rows, &figure, &panels, &count, &error) == 1 && panels == NULL && count == 0);
    CHECK(strstr(error.text, ":6: repeat 1 was in line 5 before"));
    CHECK(bench_panels_make(&rows, &no_column, &panels, &count, &error) == 1);
    CHECK(strstr(error.text, "needs a column way"));
    bench_rows_free(&rows);
    CHECK(read_rows(HEAD, "cpu,a,x,1,1,soon,right\n", &rows, &error) == 0);
    CHECK(bench_panels_make(&rows, &figure, &panels, &count, &error) == 1);
    CHECK(strstr(error.text, ":5: value soon: not a number"));
    bench_rows_free(&rows);
}

/* ---- the values that verdicts use ---- */

static void questions(bench_figure figure, double gain, const char *best) {
    bench_rows rows;
    unsigned count;
    bench_panel *panels = make("cuda:0,a,x,1,1,10,right\ncuda:0,a,x,4,1,20,right\ncuda:0,b,x,1,1,20,right\n"
                               "cuda:0,b,x,4,1,40,right\ncuda:0,b,x,9,1,60,right\ncuda:0,none,x,4,1,0,none\n"
                               "cuda:0,c,x,4,1,21,right\ncuda:0,d,x,9,1,61,right\n"
                               "cuda:0,wrong,x,4,1,30,right\ncuda:0,wrong,x,4,2,1000,WRONG\n",
                               &figure, &rows, &count);
    CHECK(count == 1 && bench_panel_gpu(panels));
    CHECK(bench_panel_full(panels) == 4); /* two of five continue to 9 */
    CHECK(bench_panel_end(panels, "b") == 60 && isnan(bench_panel_end(panels, "e")));
    CHECK(bench_panel_near(panels, "b", 3) == 40 && bench_panel_near(panels, "b", 1e6) == 60);
    CHECK(bench_panel_gain(panels, "a", "b", 4) == gain && isnan(bench_panel_gain(panels, "a", "b", 9)));
    CHECK(strcmp(bench_panel_best(panels, 4)->name, best) == 0);
    CHECK(strcmp(bench_panel_best_of(panels, 4, "a", true)->name, "a") == 0);
    CHECK(strcmp(bench_panel_best_of(panels, 4, "a,c,w", false)->name, "b") == 0);
    CHECK(bench_panel_best_of(panels, 4, "d", true) == NULL);
    CHECK(isnan(bench_panel_at(panels, "wrong", 4)) && bench_panel_curve(panels, "wrong")->marks[0].wrong);
    drop(panels, count, &rows);
}

static void every_figure(void) {
    for (unsigned i = 0; bench_suite_at(i); i++) {
        const bench_suite *suite = bench_suite_at(i);
        check_at("figures of %s", suite->name);
        CHECK(suite->figures && suite->figures[0].name && suite->version > 0);
        for (const bench_figure *f = suite->figures; f && f->name; f++) {
            check_at("figure %s of %s", f->name, suite->name);
            CHECK(f->title && f->asks && f->series && f->y && f->y_text);
            CHECK(f->x ? f->x_text != NULL : (f->flags & BENCH_BARS) != 0);
            CHECK(!f->found || f->agrees); /* a paper's finding must be judged */
        }
    }
}

int main(void) {
    bench_figure figure = {.name = "f", .series = "method", .x = "size", .y = "value", .bounds = "none"};
    check_limit(60);
    close(mkstemp(path));
    cells();
    refused();
    medians();
    filters();
    words();
    refused_panels();
    check_at("more is better");
    questions(figure, 0.5, "b");
    check_at("less is better");
    figure.flags = BENCH_LESS;
    questions(figure, 2, "a");
    every_figure();
    unlink(path);
    return check_end();
}
