/* Who wins where, and which findings of the papers hold: the page opens with it. */
#include "report.h"

#include "../bench/common.h"

#include <math.h>

/* ---- one comparison: the contenders of a panel at one x ---- */

typedef struct contest {
    const bench_curve *winner, *second;
    double lead;  /* over the second */
    double paper; /* over the paper's own method; NAN: it is that, or is not there */
    bool level;   /* the spreads of the two overlap: the order may be chance */
} contest;

static const bench_curve *best_but(const bench_panel *p, double x, const bench_curve *without) {
    const bench_curve *best = NULL;
    for (unsigned i = 0; i < p->count; i++) {
        const bench_curve *c = &p->curves[i];
        if (c == without || c->bound || isnan(bench_panel_at(p, c->name, x)))
            continue;
        if (!best || bench_panel_gain(p, c->name, best->name, x) > 1)
            best = c;
    }
    return best;
}

static contest contest_at(const bench_panel *p, double x) {
    contest c = {.winner = best_but(p, x, NULL), .lead = NAN, .paper = NAN};
    const char *reference = p->figure->reference;
    c.second = c.winner ? best_but(p, x, c.winner) : NULL;
    if (!c.second)
        return c;
    const bench_mark *first = bench_curve_at(c.winner, x), *next = bench_curve_at(c.second, x);
    c.lead = bench_panel_gain(p, c.winner->name, c.second->name, x);
    c.level = first->least <= next->most && next->least <= first->most;
    if (reference && strcmp(reference, c.winner->name) != 0)
        c.paper = bench_panel_gain(p, c.winner->name, reference, x);
    return c;
}

/* ---- all x of a panel ---- */

enum { RUNS_MAX = 32, RUNS_SHOWN = 3 };

typedef struct runs {
    unsigned count, points; /* runs of the same winner; x at which there was a contest */
    struct {
        const bench_curve *winner;
        bench_number from, to;
    } all[RUNS_MAX];
} runs;

static void add_point(runs *r, const bench_panel *p, double x) {
    contest c = contest_at(p, x);
    if (!c.second)
        return;
    bench_number label = report_label(p, bench_curve_at(c.winner, x));
    r->points++;
    if (r->count == 0 || r->all[r->count - 1].winner != c.winner) {
        if (r->count == RUNS_MAX)
            return;
        r->all[r->count].winner = c.winner;
        r->all[r->count++].from = label;
    }
    r->all[r->count - 1].to = label;
}

static void say_run(FILE *page, const runs *r, unsigned i) {
    fputs(i ? ", " : "", page);
    report_text(page, r->all[i].winner->name);
    fprintf(page, " at ");
    report_text(page, r->all[i].from.text);
    if (strcmp(r->all[i].from.text, r->all[i].to.text) != 0) {
        fputs(" to ", page);
        report_text(page, r->all[i].to.text);
    }
}

/* "tz at 1, wfq at 2 to 64": winners over x, runs of the same one together. */
static void say_range(FILE *page, const bench_panel *p) {
    runs r = {.count = 0};
    unsigned count;
    double *all = report_places(p, &count);
    for (unsigned i = 0; all && i < count; i++)
        add_point(&r, p, all[i]);
    free(all);
    if (r.count == 1)
        fputs(r.points > 1 ? "everywhere" : "", page);
    else if (r.count > RUNS_SHOWN)
        fprintf(page, "the lead changes %u times over %u points", r.count - 1, r.points);
    else
        for (unsigned i = 0; i < r.count; i++)
            say_run(page, &r, i);
}

/* ---- rows of the table ---- */

/* "where, at what" below the title; without a contest only where. */
static void cell_title(FILE *page, const report_experiment *e, const report_figure *f, const bench_panel *p,
                       const bench_mark *mark) {
    fputs("<tr><th scope=\"row\"><a href=\"#", page);
    report_anchor(page, e, f);
    fputs("\">", page);
    report_text(page, f->figure->title);
    fputs("</a><small>", page);
    report_text(page, p->name);
    if (f->figure->x && mark) {
        fprintf(page, ", %s ", bench_figure_axis(f->figure));
        report_text(page, report_label(p, mark).text);
    }
    fputs("</small></th>", page);
}

static void cell_factor(FILE *page, const char *name, double factor, bool level) {
    fputs("<td>", page);
    report_text(page, isfinite(factor) ? name : "–");
    if (isfinite(factor))
        fprintf(page, "<small>%s ×%s</small>", bench_digits(factor).text, level ? ", level" : "");
    fputs("</td>", page);
}

static void cell_verdict(FILE *page, const report_figure *f, const bench_verdict *v) {
    if (f->figure->found)
        fprintf(page, "<td><span class=\"verdict %s\">%s</span></td>", report_class(v->agreement),
                report_agreement(v->agreement));
    else
        fputs("<td>–</td>", page);
}

static void row(FILE *page, const report_experiment *e, const report_figure *f, unsigned panel, double x) {
    const bench_panel *p = &f->panels[panel];
    contest c = contest_at(p, x);
    if (!c.second)
        return;
    cell_title(page, e, f, p, bench_curve_at(c.winner, x));
    fputs("<td><strong>", page);
    report_text(page, c.winner->name);
    fputs("</strong></td>", page);
    cell_factor(page, c.second->name, c.lead, c.level);
    cell_verdict(page, f, &f->verdicts[panel]);
    cell_factor(page, f->figure->reference ? f->figure->reference : "", c.paper, false);
    fputs("<td>", page);
    if (!p->words)
        say_range(page, p);
    fputs("</td></tr>\n", page);
}

static void row_without_contest(FILE *page, const report_experiment *e, const report_figure *f, unsigned panel) {
    cell_title(page, e, f, &f->panels[panel], NULL);
    fputs("<td>–</td><td>–</td>", page);
    cell_verdict(page, f, &f->verdicts[panel]);
    fputs("<td>–</td><td></td></tr>\n", page);
}

/* Numbers grow: one row, where most stand. Words stand beside each other: a row each. */
static void rows_of_panel(FILE *page, const report_experiment *e, const report_figure *f, unsigned panel) {
    const bench_panel *p = &f->panels[panel];
    unsigned count;
    if (f->figure->no_contest || isnan(bench_panel_full(p))) {
        if (f->verdicts[panel].agreement != BENCH_NOT_APPLICABLE)
            row_without_contest(page, e, f, panel);
        return;
    }
    if (!p->words) {
        row(page, e, f, panel, bench_panel_full(p));
        return;
    }
    double *all = report_places(p, &count);
    for (unsigned i = 0; all && i < count; i++)
        row(page, e, f, panel, all[i]);
    free(all);
}

static void count_verdicts(const report *r, unsigned counts[4]) {
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].count; j++) {
            const report_figure *f = &r->experiments[i].figures[j];
            for (unsigned k = 0; k < f->count && f->figure->found; k++)
                counts[f->verdicts[k].agreement]++;
        }
}

static void say_counts(const report *r, FILE *page) {
    unsigned counts[4] = {0, 0, 0, 0};
    count_verdicts(r, counts);
    unsigned judged = counts[BENCH_YES] + counts[BENCH_PARTLY] + counts[BENCH_NO];
    if (judged + counts[BENCH_NOT_APPLICABLE] == 0)
        return;
    fprintf(page,
            "<p>Of what the papers found, <strong>%u</strong> of %u comparisons that can be made with these rows hold, "
            "<strong>%u</strong> hold in part and <strong>%u</strong> do not",
            counts[BENCH_YES], judged, counts[BENCH_PARTLY], counts[BENCH_NO]);
    if (counts[BENCH_NOT_APPLICABLE])
        fprintf(page, "; %u need a machine or methods that are not in these rows", counts[BENCH_NOT_APPLICABLE]);
    fputs(".</p>\n", page);
}

void report_summary(const report *r, FILE *page) {
    fputs("<section id=\"summary\"><h2>Who wins where</h2>\n", page);
    say_counts(r, page);
    fputs("<p class=\"small\">The winner by its median, at the largest point that most of them reached, with the "
          "factor over the "
          "second and over the method that the paper holds up. <em>Level</em>: their spreads overlap, so the order may "
          "be "
          "chance.</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"summary\"><thead><tr><th>Experiment</th>"
          "<th>Winner</th><th>Over the second</th><th>Paper’s finding</th><th>Over the paper’s</th>"
          "<th>Over the range</th></tr></thead><tbody>\n",
          page);
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].count; j++)
            for (unsigned k = 0; k < r->experiments[i].figures[j].count; k++)
                rows_of_panel(page, &r->experiments[i], &r->experiments[i].figures[j], k);
    fputs("</tbody></table></div></section>\n", page);
}
