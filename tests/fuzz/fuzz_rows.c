/* Rows of a suite, as `ballast report` reads them: the head names the suite. Generates the page, except the plots,
 * which gnuplot draws. */
#include "fuzz.h"

#include "report.h"

#include <stdlib.h>
#include <string.h>

static const bench_suite *suite_of(const char *text) {
    char name[64] = "";
    const char *said = strstr(text, "# suite ");
    const bench_suite *suite = NULL;
    if (said && sscanf(said, "# suite %63[a-z0-9-]", name) == 1)
        suite = bench_suite_find(name);
    return suite ? suite : bench_suite_find("kerbl-pairs");
}

static void check_panel(const bench_panel *p) {
    FUZZ_CHECK(p->count > 0 && p->place_count > 0);
    for (unsigned i = 0; i < p->count; i++) {
        const bench_curve *c = &p->curves[i];
        FUZZ_CHECK(c->count > 0 && bench_panel_curve(p, c->name) == c);
        for (unsigned j = 0; j < c->count; j++) {
            const bench_mark *mark = &c->marks[j];
            FUZZ_CHECK(j == 0 || c->marks[j - 1].x < mark->x);
            FUZZ_CHECK(mark->count > 0 && mark->least <= mark->median && mark->median <= mark->most);
            FUZZ_CHECK(bench_curve_at(c, mark->x) == mark && bench_panel_place(p, mark->x) != NULL);
        }
    }
}

static void draw(const report *r, FILE *out) {
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].count; j++)
            for (unsigned k = 0; k < r->experiments[i].figures[j].count; k++) {
                const report_figure *f = &r->experiments[i].figures[j];
                check_panel(&f->panels[k]);
                report_script(out, &f->panels[k], f->looks[k], k);
            }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size), name[96], *made = NULL;
    size_t length = 0;
    report r;
    bench_error error = {""};
    snprintf(name, sizeof name, "%s.csv", suite_of(text)->name);
    free(text);
    fuzz_file(name, data, size);
    if (report_collect(&r, fuzz_folder(), &error) != 0) {
        fuzz_check_line(error.text);
        return 0;
    }
    FILE *out = open_memstream(&made, &length);
    FUZZ_CHECK(out != NULL);
    draw(&r, out);
    FUZZ_CHECK(fflush(out) == 0 && strchr(made, '`') == NULL); /* a backquote would make gnuplot run what follows */
    FUZZ_CHECK(report_write(&r, out, &error) == 0);
    FUZZ_CHECK(fclose(out) == 0 && strstr(made, "<script") == NULL);
    free(made);
    report_free(&r);
    return 0;
}
