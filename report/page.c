/* The page itself. */
#include "report.h"

#include "../bench/harness/common.h"
#include "numbering.h"

#include <ballast/ballast.h>

static void element(FILE *page, const char *tag, const char *text) {
    fprintf(page, "<%s>", tag);
    report_text(page, text);
    fprintf(page, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* ---- the legend: the look of a curve as the plot has it, its shape from the plot's own definitions ---- */

static void legend_entry(FILE *page, const bench_panel *p, const bench_curve *curve, report_look look,
                         unsigned number) {
    static const char *const dashes[] = {"", "6 5", "2 4", "8 4 2 4"};
    static const unsigned shapes[] = {6, 4, 8, 10, 12};
    char colour[24] = "bound";
    if (!look.bound)
        snprintf(colour, sizeof colour, "c%u", look.colour);
    fprintf(page, "<li><svg viewBox=\"-16 -6 32 12\" aria-hidden=\"true\">");
    if (p->figure->flags & BENCH_BARS)
        fprintf(page, "<rect x=\"-8\" y=\"-5\" width=\"16\" height=\"10\" fill=\"var(--%s)\"/>", colour);
    else
        fprintf(page,
                "<path d=\"M-16,0H16\" fill=\"none\" stroke=\"var(--%s)\" stroke-width=\"2\" "
                "stroke-dasharray=\"%s\"/>",
                colour, dashes[look.dash - 1]);
    if (!look.bound && !(p->figure->flags & BENCH_BARS))
        fprintf(page, "<use href=\"#p%u-gpPt%u\" transform=\"scale(4)\" color=\"var(--%s)\"/>", number,
                shapes[look.shape], colour);
    fputs("</svg>", page);
    report_text(page, report_say(p->figure, curve->name).text);
    fputs("</li>", page);
}

static void legend(FILE *page, const bench_panel *p, const report_look *looks, unsigned number) {
    unsigned others = 0;
    fputs("<ul class=\"legend\">", page);
    if (p->figure->series_text)
        fprintf(page, "<li class=\"small\">%s:</li>", p->figure->series_text);
    for (unsigned i = 0; i < p->count; i++) {
        if (looks[i].other && !(p->figure->flags & BENCH_BARS))
            others++;
        else
            legend_entry(page, p, &p->curves[i], looks[i], number);
    }
    if (others)
        fprintf(page,
                "<li><svg viewBox=\"-16 -6 32 12\" aria-hidden=\"true\"><path d=\"M-16,0H16\" "
                "stroke=\"var(--other)\" stroke-width=\"1.5\"/></svg>%u others: see the table</li>",
                others);
    fputs("</ul>\n", page);
}

/* ---- the table under a plot ---- */

static void table_head(FILE *page, const bench_panel *p) {
    fputs("<thead><tr><th scope=\"col\">", page);
    report_text(page, report_series(p->figure));
    fputs("</th>", page);
    for (unsigned i = 0; i < p->place_count; i++) {
        fputs("<th scope=\"col\" class=\"number\">", page);
        report_text(page, p->figure->x ? report_label(p, p->places[i].mark).text : report_unit(p->figure));
        fputs("</th>", page);
    }
    fputs("</tr></thead>\n", page);
}

static void table_cell(FILE *page, const bench_panel *p, const bench_curve *c, const bench_place *place) {
    const bench_mark *mark = bench_curve_at(c, place->x);
    if (!mark) {
        fputs("<td class=\"number\">–</td>", page);
        return;
    }
    if (mark->wrong) {
        fputs("<td class=\"number wrong\">WRONG</td>", page);
        return;
    }
    bool best = !p->figure->no_contest && c == place->best;
    fprintf(page, "<td class=\"number%s\">%s", best ? " best" : "", report_number(mark->median).text);
    if (mark->least < mark->most)
        fprintf(page, "<small>%s–%s</small>", report_number(mark->least).text, report_number(mark->most).text);
    fputs("</td>", page);
}

static void row_head(FILE *page, const bench_panel *p, const bench_curve *c) {
    fprintf(page, "<tr%s><th scope=\"row\">", c->bound ? " class=\"bound\"" : "");
    report_text(page, report_say(p->figure, c->name).text);
    fputs("</th>", page);
}

static void table_rows(FILE *page, const bench_panel *p, const report_rank *order) {
    table_head(page, p);
    fputs("<tbody>\n", page);
    for (unsigned i = 0; i < p->count; i++) {
        row_head(page, p, order[i].curve);
        for (unsigned j = 0; j < p->place_count; j++)
            table_cell(page, p, order[i].curve, &p->places[j]);
        fputs("</tr>\n", page);
    }
}

/* A row for each mark: a table with mostly empty cells would grow quadratically. */
static void list_rows(FILE *page, const bench_panel *p, const report_rank *order) {
    fputs("<thead><tr><th scope=\"col\">", page);
    report_text(page, report_series(p->figure));
    fputs("</th><th scope=\"col\" class=\"number\">", page);
    report_text(page, p->figure->x_text ? p->figure->x_text : p->figure->x);
    fputs("</th><th scope=\"col\" class=\"number\">", page);
    report_text(page, report_unit(p->figure));
    fputs("</th></tr></thead>\n<tbody>\n", page);
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < order[i].curve->count; j++) {
            const bench_mark *mark = &order[i].curve->marks[j];
            row_head(page, p, order[i].curve);
            fputs("<td class=\"number\">", page);
            report_text(page, report_label(p, mark).text);
            fputs("</td>", page);
            table_cell(page, p, order[i].curve, bench_panel_place(p, mark->x));
            fputs("</tr>\n", page);
        }
}

enum { SPARSE = 4, SMALL = 4096 }; /* cells per mark, and a number of cells that is never too large */

static bool sparse(const bench_panel *p) {
    size_t cells = (size_t)p->count * p->place_count, marks = 0;
    for (unsigned i = 0; i < p->count; i++)
        marks += p->curves[i].count;
    return cells > SMALL && cells / SPARSE > marks;
}

/* What the cells and the columns are, so that a table can be read without its plot. */
static void table_caption(FILE *page, const bench_panel *p) {
    fputs("<caption>", page);
    report_text(page, p->figure->y_text);
    if (p->figure->x && !sparse(p)) {
        fputs("; columns: ", page);
        report_text(page, p->figure->x_text ? p->figure->x_text : p->figure->x);
    }
    fputs("</caption>", page);
}

static void table(FILE *page, const bench_panel *p) {
    report_rank *order = report_ranks(p, !p->figure->no_contest);
    fputs("<div class=\"scroll\" tabindex=\"0\"><table>", page);
    table_caption(page, p);
    if (order && sparse(p))
        list_rows(page, p, order);
    else if (order)
        table_rows(page, p, order);
    fputs("</tbody></table></div>\n", page);
    free(order);
}

/* ---- a figure ---- */

static void finding(FILE *page, const report_figure *f, unsigned panel) {
    const bench_verdict *v = &f->verdicts[panel];
    if (!f->figure->found) {
        bench_verdict leader = *v;
        if (!f->figure->agrees)
            bench_say_leader(&f->panels[panel], &leader, "No paper asks this.");
        fputs("<aside class=\"finding\"><h5>This run</h5>", page);
        element(page, "p", leader.text);
        fputs("</aside>\n", page);
        return;
    }
    fprintf(page, "<aside class=\"finding %s\"><h5>What the paper found</h5>", report_class(v->agreement));
    element(page, "p", f->figure->found);
    fprintf(page, "<h5>This run: <span class=\"verdict %s\">%s</span></h5>", report_class(v->agreement),
            report_agreement(v->agreement));
    element(page, "p", v->text);
    fputs("</aside>\n", page);
}

typedef struct counted {
    unsigned repeats, off; /* the most repeats of a mark; the marks that a logarithmic axis cannot show */
    bool wrong;
} counted;

static counted count_marks(const bench_panel *p) {
    counted n = {0, 0, false};
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < p->curves[i].count; j++) {
            const bench_mark *mark = &p->curves[i].marks[j];
            n.repeats = mark->count > n.repeats ? mark->count : n.repeats;
            n.off += (p->figure->flags & BENCH_LOG_Y) && mark->median <= 0;
            n.wrong = n.wrong || mark->wrong;
        }
    return n;
}

static void caption(FILE *page, const bench_panel *p) {
    counted n = count_marks(p);
    fputs("<figcaption>", page);
    report_text(page, p->figure->y_text);
    if (p->figure->x) {
        fputs(" over ", page);
        report_text(page, p->figure->x_text ? p->figure->x_text : p->figure->x);
    }
    if (p->figure->flags & BENCH_NEITHER)
        fputs("; ", page);
    else
        fprintf(page, "; %s is better; ", (p->figure->flags & BENCH_LESS) ? "less" : "more");
    if (n.repeats > 1)
        fprintf(page, "medians; whiskers from the minimum to the maximum of %u", n.repeats);
    else
        fputs("single measurements", page);
    if (n.off)
        fprintf(page, "; zeros (%u) are drawn at the bottom, since a logarithmic axis has none", n.off);
    if (n.wrong)
        fputs("; <strong class=\"wrong\">a result failed verification: WRONG in the table</strong>", page);
    fputs(".</figcaption>", page);
}

enum { BESIDE_NUMBERS = 6, BESIDE_WORDS = 3 }; /* columns; a wider table does not fit next to the plot */

static bool wide(const bench_panel *p) {
    return !sparse(p) && p->place_count > (p->words ? BESIDE_WORDS : BESIDE_NUMBERS);
}

static void panel(FILE *page, const report_figure *f, unsigned i, unsigned number) {
    const bench_panel *p = &f->panels[i];
    fputs("<div class=\"panel\"><h4>", page);
    report_panel_name(page, p);
    fputs("</h4>\n", page);
    fputs("<figure><div class=\"plot\" role=\"img\" aria-label=\"", page);
    report_text(page, f->figure->title);
    fputs(", ", page);
    report_panel_name(page, p);
    fputs("\">", page);
    fputs(f->plots[i] ? f->plots[i] : "", page);
    fputs("</div>", page);
    legend(page, p, f->looks[i], number);
    caption(page, p);
    fputs("</figure>\n<div class=\"beside\">", page);
    finding(page, f, i);
    if (!wide(p))
        table(page, p);
    fputs("</div>\n", page);
    if (wide(p))
        table(page, p);
    fputs("</div>\n", page);
}

static void figure(FILE *page, const report_experiment *e, const report_figure *f, unsigned *number) {
    fputs("<article id=\"", page);
    report_anchor(page, e, f);
    fputs("\">", page);
    element(page, "h3", f->figure->title);
    element(page, "p class=\"asks\"", f->figure->asks);
    if (f->count == 0)
        element(page, "p class=\"small\"",
                "No rows for this figure: they are from another device or from part of the suite.");
    for (unsigned i = 0; i < f->count; i++)
        panel(page, f, i, (*number)++);
    fputs("</article>\n", page);
}

/* ---- an experiment ---- */

static const char *const HEAD_WORDS[] = {"suite",  "rows version", "command", "date",   "version",
                                         "system", "processor",    "device",  "column", NULL};

static bool of_head(const char *remark) {
    for (unsigned i = 0; HEAD_WORDS[i]; i++)
        if (strncmp(remark, HEAD_WORDS[i], strlen(HEAD_WORDS[i])) == 0 && remark[strlen(HEAD_WORDS[i])] == ' ')
            return true;
    return false;
}

static void remarks(FILE *page, const bench_rows *rows) {
    bool any = false;
    for (unsigned i = 0; i < rows->remark_count; i++) {
        if (of_head(rows->remarks[i]))
            continue;
        if (!any)
            fprintf(page, "<details%s><summary>Remarks</summary><ul>", rows->count ? "" : " open");
        any = true;
        element(page, "li", rows->remarks[i]);
    }
    fputs(any ? "</ul></details>\n" : "", page);
}

static bool interrupted(const bench_rows *rows) {
    return rows->remark_count > 0 && strcmp(rows->remarks[rows->remark_count - 1], "interrupted") == 0;
}

static void experiment(FILE *page, const report_experiment *e, unsigned *number) {
    const char *command = bench_rows_said(&e->rows, "command"), *date = bench_rows_said(&e->rows, "date");
    fprintf(page, "<section class=\"experiment\" id=\"%s\">", e->rows.suite->name);
    element(page, "h2", e->rows.suite->name);
    element(page, "p", e->rows.suite->text);
    fprintf(page, "<p class=\"small\">%u rows, ", e->rows.count);
    report_text(page, date ? date : "date unknown");
    fputs("; reproduce with <code>", page);
    report_text(page, command ? command : "ballast bench");
    fputs("</code></p>\n", page);
    if (interrupted(&e->rows))
        element(page, "p class=\"wrong\"", "The run was interrupted; these are the rows so far.");
    if (e->rows.count == 0)
        element(page, "p", "Nothing was measured; the remarks say why.");
    for (unsigned i = 0; i < e->count; i++)
        figure(page, e, &e->figures[i], number);
    remarks(page, &e->rows);
    fputs("</section>\n", page);
}

/* ---- the machine ---- */

/* Prints what files have in common once: finds the remarks that no earlier file has made. The caller frees it; NULL:
 * out of memory. */
static bool *find_fresh(const report *r) {
    size_t count = 0;
    for (unsigned i = 0; i < r->count; i++)
        count += r->experiments[i].rows.remark_count;
    bool *fresh = malloc(count + 1);
    unsigned *number = malloc((count + 1) * sizeof *number);
    bench_key *keys = malloc((count + 1) * sizeof *keys);
    unsigned at = 0, seen = 0;
    for (unsigned i = 0; keys && i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].rows.remark_count; j++)
            keys[at++] = (bench_key){.text = r->experiments[i].rows.remarks[j]};
    if (keys && number)
        bench_number_keys(keys, at, number);
    for (unsigned i = 0; fresh && number && i < at; i++) {
        fresh[i] = number[i] == seen;
        seen += fresh[i];
    }
    bool good = fresh && number && keys;
    free(keys);
    free(number);
    if (!good)
        free(fresh);
    return good ? fresh : NULL;
}

static void machine_word(FILE *page, const report *r, const bool *fresh, const char *word, const char *name) {
    size_t length = strlen(word);
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].rows.remark_count; j++, fresh++) {
            const char *remark = r->experiments[i].rows.remarks[j];
            if (strncmp(remark, word, length) != 0 || remark[length] != ' ' || !*fresh)
                continue;
            element(page, "dt", name);
            element(page, "dd", remark + length + 1);
        }
}

static void machine(FILE *page, const report *r) {
    bool *fresh = find_fresh(r);
    fputs("<section id=\"machine\"><h2>The machine</h2><dl>\n", page);
    if (fresh) {
        machine_word(page, r, fresh, "processor", "Processor");
        machine_word(page, r, fresh, "device", "Device");
        machine_word(page, r, fresh, "system", "System");
        machine_word(page, r, fresh, "version", "Version");
    }
    fputs("</dl></section>\n", page);
    free(fresh);
}

/* ---- all of it ---- */

static void contents(FILE *page, const report *r) {
    fputs("<nav aria-label=\"Experiments\">", page);
    if (r->count)
        fputs("<a href=\"#summary\">Summary</a> <a href=\"#machine\">Machine</a>", page);
    for (unsigned i = 0; i < r->count; i++) {
        const char *name = r->experiments[i].rows.suite->name;
        fprintf(page, " <a href=\"#%s\">%s</a>", name, name);
    }
    fputs(r->timeline_count ? " <a href=\"#timelines\">Timelines</a></nav>\n" : "</nav>\n", page);
}

int report_write(const report *r, FILE *page, bench_error *error) {
    unsigned number = 0;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
          "<title>Ballast: winners</title>\n<style>\n",
          page);
    for (unsigned i = 0; report_style[i]; i++)
        fputs(report_style[i], page);
    fputs("</style></head>\n<body><header><h1>Ballast</h1>"
          "<p>Load balancing of irregular work: methods measured side by side.</p>\n",
          page);
    contents(page, r);
    fputs("</header><main>\n", page);
    if (r->count) {
        report_summary(r, page);
        machine(page, r);
    }
    for (unsigned i = 0; i < r->count; i++)
        experiment(page, &r->experiments[i], &number);
    report_timelines(r, page);
    fprintf(
        page,
        "</main><footer><p>Generated by <code>ballast report</code> %s. Every number is a median of the raw rows; the "
        "raw rows are kept.</p></footer></body></html>\n",
        bl_version());
    if (!ferror(page))
        return 0;
    snprintf(error->text, sizeof error->text, "the page cannot be written");
    return 1;
}
