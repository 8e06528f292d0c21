/* The winners, and which findings of the papers hold: the first section of the page. */
#include "report.h"

#include "../bench/harness/common.h"

#include <math.h>

/* ---- one comparison: the contenders of a panel at one x ---- */

typedef struct contest {
    const bench_curve *winner, *second;
    double lead;  /* over the second */
    double paper; /* over the paper's method; NAN: it is that method, or that is missing */
    bool level;   /* the spreads of the two overlap: the order may be chance */
} contest;

static contest contest_at(const bench_panel *p, const bench_place *place) {
    contest c = {.winner = place->best, .second = place->second, .lead = NAN, .paper = NAN};
    const char *reference = p->figure->reference;
    double x = place->x;
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
    unsigned count, points; /* runs of the same winner; x values with a contest */
    struct {
        const bench_curve *winner;
        report_word from, to;
    } all[RUNS_MAX];
} runs;

static void add_point(runs *r, const bench_panel *p, const bench_place *place) {
    if (!place->second)
        return;
    report_word label = report_label(p, bench_curve_at(place->best, place->x));
    r->points++;
    if (r->count == 0 || r->all[r->count - 1].winner != place->best) {
        if (r->count == RUNS_MAX)
            return;
        r->all[r->count].winner = place->best;
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

/* "tz at 1, wfq at 2 to 64": winners over x, with runs of the same one merged. */
static void say_range(FILE *page, const bench_panel *p) {
    runs r = {.count = 0};
    for (unsigned i = 0; i < p->place_count; i++)
        add_point(&r, p, &p->places[i]);
    if (r.count == 1)
        fputs(r.points > 1 ? "everywhere" : "", page);
    else if (r.count > RUNS_SHOWN)
        fprintf(page, "the lead changes %u times over %u points", r.count - 1, r.points);
    else
        for (unsigned i = 0; i < r.count; i++)
            say_run(page, &r, i);
}

/* ---- rows of the table ---- */

/* ", threads 65,536"; a word needs no axis name. */
static void say_place(FILE *page, const bench_panel *p, const bench_mark *mark) {
    fputs(", ", page);
    if (!p->words)
        fprintf(page, "%s ", bench_figure_axis(p->figure));
    report_text(page, report_label(p, mark).text);
}

/* "where, at what" below the title; without a contest only where. */
static void cell_title(FILE *page, const report_experiment *e, const report_figure *f, const bench_panel *p,
                       const bench_mark *mark) {
    fputs("<tr><th scope=\"row\"><a href=\"#", page);
    report_anchor(page, e, f);
    fputs("\">", page);
    report_text(page, f->figure->title);
    fputs("</a><small>", page);
    report_panel_name(page, p);
    if (f->figure->x && mark)
        say_place(page, p, mark);
    fputs("</small></th>", page);
}

/* "1.138 ms": the measured value. */
static void say_value(FILE *page, const bench_panel *p, const bench_curve *c, double x) {
    fprintf(page, "<small>%s ", report_number(bench_panel_at(p, c->name, x)).text);
    report_text(page, report_unit(p->figure));
    fputs("</small>", page);
}

static void cell_winner(FILE *page, const bench_panel *p, const contest *c, double x) {
    fputs("<td class=\"winner\"><strong>", page);
    report_text(page, c->winner->name);
    fputs("</strong>", page);
    say_value(page, p, c->winner, x);
    fputs("</td>", page);
}

static void cell_second(FILE *page, const bench_panel *p, const contest *c, double x) {
    fputs(c->level ? "<td class=\"second\"><em>level</em> with " : "<td class=\"second\">", page);
    report_text(page, c->second->name);
    say_value(page, p, c->second, x);
    fprintf(page, "</td><td class=\"lead\">%s ×", bench_digits(c->lead).text);
    if (isfinite(c->paper) && strcmp(c->second->name, p->figure->reference) != 0) {
        fprintf(page, "<small>%s × over ", bench_digits(c->paper).text);
        report_text(page, p->figure->reference);
        fputs("</small>", page);
    }
    fputs("</td>", page);
}

/* The full verdict is next to the plot; this cell has only the numbers of panels that can be judged. */
static void cell_verdict(FILE *page, const report_figure *f, const bench_verdict *v) {
    if (!f->figure->found) {
        fputs("<td></td>", page);
        return;
    }
    fprintf(page, "<td><span class=\"verdict %s\">%s</span>", report_class(v->agreement),
            report_agreement(v->agreement));
    if (v->agreement != BENCH_NOT_APPLICABLE) {
        fputs("<small>", page);
        report_text(page, v->text);
        fputs("</small>", page);
    }
    fputs("</td>", page);
}

static void row(FILE *page, const report_experiment *e, const report_figure *f, unsigned panel,
                const bench_place *place) {
    const bench_panel *p = &f->panels[panel];
    contest c = contest_at(p, place);
    double x = place->x;
    if (!c.second)
        return;
    cell_title(page, e, f, p, bench_curve_at(c.winner, x));
    cell_winner(page, p, &c, x);
    cell_second(page, p, &c, x);
    fputs("<td class=\"range\">", page);
    if (!p->words)
        say_range(page, p);
    fputs("</td>", page);
    cell_verdict(page, f, &f->verdicts[panel]);
    fputs("</tr>\n", page);
}

static void row_without_contest(FILE *page, const report_experiment *e, const report_figure *f, unsigned panel) {
    cell_title(page, e, f, &f->panels[panel], NULL);
    fputs("<td colspan=\"4\" class=\"small\">not a contest: the curves do not compete</td>", page);
    cell_verdict(page, f, &f->verdicts[panel]);
    fputs("</tr>\n", page);
}

/* Numbers grow: one row, at the point that most curves reach. Words are separate cases: a row each. */
static void rows_of_panel(FILE *page, const report_experiment *e, const report_figure *f, unsigned panel) {
    const bench_panel *p = &f->panels[panel];
    if (f->figure->no_contest || isnan(bench_panel_full(p))) {
        if (f->verdicts[panel].agreement != BENCH_NOT_APPLICABLE)
            row_without_contest(page, e, f, panel);
        return;
    }
    if (!p->words) {
        row(page, e, f, panel, bench_panel_place(p, bench_panel_full(p)));
        return;
    }
    for (unsigned i = 0; i < p->place_count; i++)
        row(page, e, f, panel, &p->places[i]);
}

static void rows_of_experiment(FILE *page, const report_experiment *e) {
    fprintf(page, "<tbody><tr class=\"group\"><th colspan=\"6\" scope=\"rowgroup\"><a href=\"#%s\">%s</a> <span>",
            e->rows.suite->name, e->rows.suite->name);
    report_text(page, e->rows.suite->text);
    fputs("</span></th></tr>\n", page);
    for (unsigned i = 0; i < e->count; i++)
        for (unsigned j = 0; j < e->figures[i].count; j++)
            rows_of_panel(page, e, &e->figures[i], j);
    fputs("</tbody>\n", page);
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
    fprintf(
        page,
        "<p>Of the %u findings of the papers that these rows can test, <strong>%u</strong> hold, <strong>%u</strong> "
        "hold in part and <strong>%u</strong> do not",
        judged, counts[BENCH_YES], counts[BENCH_PARTLY], counts[BENCH_NO]);
    if (counts[BENCH_NOT_APPLICABLE])
        fprintf(page, "; %u need a machine or methods that these rows lack", counts[BENCH_NOT_APPLICABLE]);
    fputs(".</p>\n", page);
}

void report_summary(const report *r, FILE *page) {
    fputs("<section id=\"summary\"><h2>Winners</h2>\n", page);
    say_counts(r, page);
    fputs("<p class=\"small\">The winner has the best median at the largest point that most methods reached. Times "
          "better: "
          "than the second, and than the method that the experiment is about. <em>Level</em>: the spreads overlap, so "
          "the order may be chance. Bounds, such as a fetch-and-add without a queue or a loop without tasks, do not "
          "compete.</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"summary\"><thead><tr><th>Experiment</th>"
          "<th>Winner</th><th>Second</th><th>Times better</th><th>Over the range</th><th>The paper’s "
          "finding</th></tr></thead>\n",
          page);
    for (unsigned i = 0; i < r->count; i++)
        rows_of_experiment(page, &r->experiments[i]);
    fputs("</table></div></section>\n", page);
}
