/* The gnuplot commands of one panel. Sizes suit a phone: small, with large letters; the page provides the legend. */
#include "report.h"

#include "../bench/harness/common.h"

#include <ctype.h>
#include <math.h>

static const unsigned SHAPES[] = {7, 5, 9, 11, 13};
static const double PLOT_WIDTH = 400; /* approximate width of the axes, which limits the number of labels */

/* In double quotes, with an escape for every character that may be special to gnuplot: quotes, backquotes, which run
 * commands, and so on. */
static void quote(FILE *script, const char *text) {
    fputc('"', script);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (isalnum(*c) || *c == ' ' || *c >= 0x80)
            fputc(*c, script);
        else
            fprintf(script, "\\%03o", *c < 0x20 ? '?' : *c);
    fputc('"', script);
}

/* For an axis, where a label is a format. */
static void quote_label(FILE *script, const char *text) {
    char doubled[2 * sizeof(report_word)];
    size_t length = 0;
    for (const char *c = text; *c && length + 2 < sizeof doubled; c++) {
        if (*c == '%')
            doubled[length++] = '%';
        doubled[length++] = *c;
    }
    doubled[length] = '\0';
    quote(script, doubled);
}

static void short_number(char *text, size_t size, double value) {
    if (fabs(value) >= 1e6)
        snprintf(text, size, "%.3gM", value / 1e6);
    else if (fabs(value) >= 1e4)
        snprintf(text, size, "%.3gk", value / 1e3);
    else
        snprintf(text, size, value == floor(value) ? "%.0f" : "%.3g", value);
}

/* The range of a panel's marks; on a logarithmic axis, of those that it can show. */
typedef struct span {
    double low, high;
} span;

static void widen(span *s, double value, bool logarithmic) {
    if (logarithmic && value <= 0)
        return;
    s->low = value < s->low ? value : s->low;
    s->high = value > s->high ? value : s->high;
}

static span spread(const bench_panel *p, bool of_x, bool logarithmic) {
    span s = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < p->curves[i].count; j++) {
            const bench_mark *mark = &p->curves[i].marks[j];
            widen(&s, of_x ? mark->x : mark->least, logarithmic);
            widen(&s, of_x ? mark->x : mark->median, logarithmic);
            widen(&s, of_x ? mark->x : mark->most, logarithmic);
        }
    if (!(s.low <= s.high))
        s = (span){1, 1};
    return s;
}

/* The length of a bar is meaningful only from 0: bars of similar height get a linear axis. */
static bool log_y(const bench_panel *p) {
    span s = spread(p, false, true);
    return (p->figure->flags & BENCH_LOG_Y) && (!(p->figure->flags & BENCH_BARS) || s.high > 50 * s.low);
}

static span span_of(const bench_panel *p, bool of_x) {
    return spread(p, of_x, of_x ? (p->figure->flags & BENCH_LOG_X) != 0 : log_y(p));
}

enum { TICS_MAX = 64 };

typedef struct tics {
    unsigned count;
    double at[TICS_MAX];
} tics;

/* Adds a tic if the previous one leaves room for its label. */
static void add_tic(tics *t, double at, span s) {
    bool room = t->count == 0 || log(at / t->at[t->count - 1]) > 0.08 * log(s.high / s.low);
    if (at >= s.low && at <= s.high && t->count < TICS_MAX && room)
        t->at[t->count++] = at;
}

/* Powers of ten, with `between` also 2 and 5 times each; over a wide range only every n-th power. */
static void log_tics(tics *t, span s, bool between) {
    double decades = log10(s.high / s.low);
    int every = decades > 16 ? 4 : decades > 8 ? 2 : 1;
    for (int power = (int)floor(log10(s.low)); power <= (int)ceil(log10(s.high)); power++)
        for (int digit = 1; digit <= 5 && power % every == 0; digit += digit == 1 ? 1 : 3)
            if (digit == 1 || between)
                add_tic(t, digit * pow(10, power), s);
}

/* Even steps of 1, 2 or 5 times a power of ten, for a range within one decade. */
static void even_tics(tics *t, span s) {
    double rough = (s.high - s.low) / 4, power = pow(10, floor(log10(rough)));
    double step = power * (rough / power < 2 ? 1 : rough / power < 5 ? 2 : 5);
    for (double at = ceil(s.low / step) * step; at <= s.high && t->count < TICS_MAX; at += step)
        add_tic(t, at, s);
}

static void y_tics(FILE *script, span s) {
    tics t = {.count = 0};
    log_tics(&t, s, log10(s.high / s.low) <= 3);
    if (t.count < 3) { /* all within about a decade */
        t.count = 0;
        even_tics(&t, s);
    }
    fputs("set ytics (", script);
    for (unsigned i = 0; i < t.count; i++) {
        char text[32];
        short_number(text, sizeof text, t.at[i]);
        fprintf(script, "%s'%s' %.9g", i ? ", " : "", text, t.at[i]);
    }
    fputs(")\n", script);
}

static void y_axis(FILE *script, const bench_panel *p) {
    span s = span_of(p, false);
    if (log_y(p)) {
        s.low /= 1.25;
        s.high *= 1.25;
        fprintf(script, "set logscale y\nset yrange [%.9g:%.9g]\n", s.low, s.high);
        y_tics(script, s);
    } else
        fprintf(script, "set yrange [%.9g:%.9g]\n", s.low < 0 ? s.low * 1.05 : 0, s.high > 0 ? s.high * 1.05 : 1);
    fputs("set ylabel offset 0.8,0 ", script);
    quote(script, p->figure->y_text);
    fputc('\n', script);
}

/* Labels at the marks, as far as there is room; always at the last one. */
static void number_tics(FILE *script, const bench_panel *p, span s) {
    bool logarithmic = p->figure->flags & BENCH_LOG_X;
    double before = -INFINITY, width = logarithmic ? log(s.high / s.low) : s.high - s.low;
    fputs("set xtics (", script);
    for (unsigned i = 0; i < p->place_count; i++) {
        double x = p->places[i].x, at = logarithmic ? log(x) : x, end = logarithmic ? log(s.high) : s.high;
        char text[32];
        if ((logarithmic && x <= 0) || (x < s.high && (at - before < 0.09 * width || end - at < 0.09 * width)))
            continue;
        short_number(text, sizeof text, x);
        fprintf(script, "%s'%s' %.9g", isinf(before) ? "" : ", ", text, x);
        before = at;
    }
    fputs(")\n", script);
}

static void number_axis(FILE *script, const bench_panel *p) {
    span s = span_of(p, true);
    double pad = 0.03 * (s.high - s.low), factor = pow(s.high / s.low, 0.03);
    if (s.high - s.low <= 1e-6 * fabs(s.high)) /* practically one x */
        pad = 0.5 * fabs(s.high) + 0.5, factor = 2;
    if (p->figure->flags & BENCH_LOG_X)
        fprintf(script, "set logscale x\nset xrange [%.9g:%.9g]\n", s.low / factor, s.high * factor);
    else
        fprintf(script, "set xrange [%.9g:%.9g]\n", s.low - pad, s.high + pad);
    number_tics(script, p, s);
}

static bool alone(const bench_panel *p) { return p->figure->x == NULL; } /* a bar for each of the series */

static double bar_width(const bench_panel *p) { return alone(p) ? 0.8 : 0.8 / p->count; }

static double place(const bench_panel *p, unsigned curve, const bench_mark *mark) {
    if (alone(p))
        return curve;
    if (p->figure->flags & BENCH_BARS)
        return mark->x + (curve - (p->count - 1) / 2.0) * bar_width(p);
    return mark->x;
}

enum { LABELS_MAX = 64 }; /* the most labels that can be told apart below an axis */

/* A label for every word, or for every n-th; slanted if they would overlap. */
static void word_axis(FILE *script, const bench_panel *p) {
    size_t longest = 0;
    unsigned places = alone(p) ? p->count : p->place_count, every = (places + LABELS_MAX - 1) / LABELS_MAX;
    fputs("set xtics (", script);
    for (unsigned i = 0; i < places; i += every) {
        report_word label = report_say(p->figure, alone(p) ? p->curves[i].name : p->places[i].mark->label);
        fputs(i ? ", " : "", script);
        quote_label(script, label.text);
        fprintf(script, " %u", i); /* the x of words are their positions */
        longest = strlen(label.text) > longest ? strlen(label.text) : longest;
    }
    fprintf(script, ") %s\nset xrange [-0.6:%.9g]\n",
            (double)longest * 8 * places > PLOT_WIDTH ? "rotate by 35 right" : "norotate", places - 0.4);
}

static void head(FILE *script, const bench_panel *p, unsigned number) {
    fprintf(script,
            "reset\nset terminal svg size 480,340 dynamic noenhanced font 'sans-serif,14' name 'p%u'\n"
            "set key off\nset border 3\nset tics nomirror scale 0.5\nset style fill solid 0.75 "
            "noborder\n"
            "set grid xtics ytics lt 1 lc rgb '#0100%02x' lw 0.6\n",
            number, REPORT_GRID);
    y_axis(script, p);
    if (p->words)
        word_axis(script, p);
    else
        number_axis(script, p);
    if (p->figure->x_text) {
        fputs("set xlabel offset 0,0.5 ", script);
        quote(script, p->figure->x_text);
        fputc('\n', script);
    }
}

/* ---- curves: those that look the same are one plot command, since gnuplot is slow with thousands of them ---- */

typedef struct drawing {
    FILE *script;
    const bench_panel *panel;
    const report_look *looks;
    bool bars, logarithmic;
    double foot;        /* on a logarithmic axis: the lower end of what it cannot show */
    const char *before; /* the next part of the plot command */
} drawing;

/* The style it is drawn with. Bars have only a colour, and all curves of the crowd are alike; every other curve is
 * a separate group. */
enum { GROUP_CROWD = REPORT_COLOURS, GROUP_BOUND, GROUPS };

static unsigned group_of(const drawing *d, unsigned curve) {
    const report_look *look = &d->looks[curve];
    if (d->bars)
        return look->bound ? GROUP_BOUND : look->colour;
    return look->other ? GROUP_CROWD : GROUPS + curve;
}

/* Numbers only: x, median, minimum, maximum. */
static void curve_data(const drawing *d, unsigned curve) {
    const bench_curve *c = &d->panel->curves[curve];
    for (unsigned i = 0; i < c->count; i++) {
        const bench_mark *mark = &c->marks[i];
        double least = d->logarithmic && mark->least < d->foot ? d->foot : mark->least;
        double median = d->logarithmic && mark->median < d->foot ? d->foot : mark->median;
        fprintf(d->script, "%.9g %.9g %.9g %.9g\n", place(d->panel, curve, mark), median, least, mark->most);
    }
    fputc('\n', d->script); /* lines end here */
}

static void bar_commands(const drawing *d, unsigned group, unsigned colour) {
    fprintf(d->script, "%s$d%u using 1:2:(%.9g) with boxes lc rgb '#0100%02x' notitle", d->before, group,
            0.9 * bar_width(d->panel), colour);
}

static void line_commands(const drawing *d, unsigned group, report_look look) {
    fprintf(d->script, "%s$d%u using 1:2 with lines lw %s dt %u lc rgb '#0100%02x' notitle", d->before, group,
            look.other ? "0.8" : "1.6", look.other ? 1 : look.dash, report_colour(look));
    if (!look.bound && !look.other)
        fprintf(d->script, ", $d%u using 1:2 with points pt %u ps 0.7 lc rgb '#0100%02x' notitle", group,
                SHAPES[look.shape], look.colour);
}

/* From the minimum to the maximum. */
static void spread_commands(const drawing *d, unsigned group, unsigned colour) {
    fprintf(d->script,
            ", $d%u using 1:3:(0):($4-$3) with vectors heads size screen 0.008,90 lw 1.2 lc rgb '#0100%02x' notitle",
            group, colour);
}

static void group_commands(drawing *d, unsigned group, report_look look) {
    if (d->bars)
        bar_commands(d, group, look.bound ? (unsigned)REPORT_BOUND : look.colour);
    else
        line_commands(d, group, look);
    if (d->bars || !look.other)
        spread_commands(d, group, d->bars ? (unsigned)REPORT_BOUND : report_colour(look));
    d->before = ", \\\n ";
}

/* The data of a group, starting at its first curve; false: it has none. */
static bool group_data(const drawing *d, unsigned group, unsigned *first) {
    bool any = false;
    for (unsigned i = 0; i < d->panel->count; i++) {
        if (group_of(d, i) != group)
            continue;
        if (!any) {
            fprintf(d->script, "$d%u << EOD\n", group);
            *first = i;
        }
        any = true;
        curve_data(d, i);
    }
    fputs(any ? "EOD\n" : "", d->script);
    return any;
}

/* The crowd first, so that it is behind the others. */
static void all_curves(drawing *d) {
    unsigned firsts[GROUPS], count = d->panel->count;
    bool there[GROUPS];
    for (unsigned group = 0; group < GROUPS; group++)
        there[group] = group_data(d, group, &firsts[group]);
    for (unsigned i = 0; i < count; i++)
        if (group_of(d, i) >= GROUPS) {
            fprintf(d->script, "$d%u << EOD\n", GROUPS + i);
            curve_data(d, i);
            fputs("EOD\n", d->script);
        }
    for (unsigned group = 0; group < GROUPS; group++)
        if (there[group])
            group_commands(d, group, d->looks[firsts[group]]);
    for (unsigned i = 0; i < count; i++)
        if (group_of(d, i) >= GROUPS)
            group_commands(d, GROUPS + i, d->looks[i]);
    fputc('\n', d->script);
}

void report_script(FILE *script, const bench_panel *p, const report_look *looks, unsigned number) {
    drawing d = {.script = script, .panel = p, .looks = looks, .before = "plot "};
    d.bars = p->figure->flags & BENCH_BARS;
    d.logarithmic = log_y(p);
    d.foot = span_of(p, false).low / 1.25;
    head(script, p, number);
    all_curves(&d);
}
