/* The gnuplot commands of one panel. Sizes are for a phone: small, with large letters; the legend is the page's. */
#include "report.h"

#include "../bench/common.h"

#include <math.h>

static const unsigned SHAPES[] = {7, 5, 9, 11, 13};
static const double PLOT_WIDTH = 400; /* of the axes, about, for how many labels there is room */

/* In single quotes, where only the quote itself means something. */
static void quote(FILE *script, const char *text) {
    fputc('\'', script);
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputc('\'', script);
        fputc((unsigned char)*c < 0x20 ? '?' : *c, script);
    }
    fputc('\'', script);
}

static void short_number(char *text, size_t size, double value) {
    if (fabs(value) >= 1e6)
        snprintf(text, size, "%.3gM", value / 1e6);
    else if (fabs(value) >= 1e4)
        snprintf(text, size, "%.3gk", value / 1e3);
    else
        snprintf(text, size, value == floor(value) ? "%.0f" : "%.3g", value);
}

/* What the marks of a panel span; on a logarithmic axis only what can be there. */
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

/* The length of a bar says something only from 0 on: bars that are not too far apart stand on a linear axis. */
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

/* Where the one before leaves room for its label. */
static void add_tic(tics *t, double at, span s) {
    bool room = t->count == 0 || log(at / t->at[t->count - 1]) > 0.08 * log(s.high / s.low);
    if (at >= s.low && at <= s.high && t->count < TICS_MAX && room)
        t->at[t->count++] = at;
}

/* Powers of ten, with `between` also 2 and 5 of each; over many of them only every so many. */
static void log_tics(tics *t, span s, bool between) {
    double decades = log10(s.high / s.low);
    int every = decades > 16 ? 4 : decades > 8 ? 2 : 1;
    for (int power = (int)floor(log10(s.low)); power <= (int)ceil(log10(s.high)); power++)
        for (int digit = 1; digit <= 5 && power % every == 0; digit += digit == 1 ? 1 : 3)
            if (digit == 1 || between)
                add_tic(t, digit * pow(10, power), s);
}

/* Even steps of 1, 2 or 5 times a power of ten: what lies within one decade. */
static void even_tics(tics *t, span s) {
    double rough = (s.high - s.low) / 4, power = pow(10, floor(log10(rough)));
    double step = power * (rough / power < 2 ? 1 : rough / power < 5 ? 2 : 5);
    for (double at = ceil(s.low / step) * step; at <= s.high && t->count < TICS_MAX; at += step)
        add_tic(t, at, s);
}

static void y_tics(FILE *script, span s) {
    tics t = {.count = 0};
    log_tics(&t, s, log10(s.high / s.low) <= 3);
    if (t.count < 3) { /* all of it within about a decade */
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

/* Labels where marks are, as far as they have room; the last one always. */
static void number_tics(FILE *script, const bench_panel *p, span s) {
    bool logarithmic = p->figure->flags & BENCH_LOG_X;
    double all[512], before = -INFINITY, width = logarithmic ? log(s.high / s.low) : s.high - s.low;
    size_t count = 0;
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < p->curves[i].count && count < sizeof all / sizeof all[0]; j++)
            all[count++] = p->curves[i].marks[j].x;
    qsort(all, count, sizeof *all, bench_ascending);
    fputs("set xtics (", script);
    for (size_t i = 0; i < count; i++) {
        double at = logarithmic ? log(all[i]) : all[i], end = logarithmic ? log(s.high) : s.high;
        char text[32];
        bool last = all[i] == s.high && (i + 1 == count);
        if (!last && (at - before < 0.09 * width || end - at < 0.09 * width))
            continue;
        short_number(text, sizeof text, all[i]);
        fprintf(script, "%s'%s' %.9g", isinf(before) ? "" : ", ", text, all[i]);
        before = at;
    }
    fputs(")\n", script);
}

static void number_axis(FILE *script, const bench_panel *p) {
    span s = span_of(p, true);
    double pad = 0.03 * (s.high - s.low), factor = pow(s.high / s.low, 0.03);
    if (s.high == s.low)
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

/* A label for every word; slanted where they would run into each other. */
static void word_axis(FILE *script, const bench_panel *p) {
    size_t longest = 0;
    double places = alone(p) ? p->count : span_of(p, true).high + 1;
    fputs("set xtics (", script);
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < p->curves[i].count; j++) {
            report_word label = report_say(p->figure, alone(p) ? p->curves[i].name : p->curves[i].marks[j].label);
            fputs(i + j ? ", " : "", script);
            quote(script, label.text);
            fprintf(script, " %.9g", alone(p) ? i : p->curves[i].marks[j].x);
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

/* Numbers only: x, median, least, most. What a logarithmic axis cannot show ends at its foot. */
static void data(FILE *script, const bench_panel *p, unsigned curve, double foot) {
    const bench_curve *c = &p->curves[curve];
    bool logarithmic = log_y(p);
    fprintf(script, "$d%u << EOD\n", curve);
    for (unsigned i = 0; i < c->count; i++) {
        const bench_mark *mark = &c->marks[i];
        double least = logarithmic && mark->least < foot ? foot : mark->least;
        double median = logarithmic && mark->median < foot ? foot : mark->median;
        fprintf(script, "%.9g %.9g %.9g %.9g\n", place(p, curve, mark), median, least, mark->most);
    }
    fputs("EOD\n", script);
}

static void bar_commands(FILE *script, const bench_panel *p, unsigned curve, unsigned colour) {
    fprintf(script, "$d%u using 1:2:(%.9g) with boxes lc rgb '#0100%02x' notitle", curve, 0.9 * bar_width(p), colour);
}

static void line_commands(FILE *script, unsigned curve, report_look look) {
    fprintf(script, "$d%u using 1:2 with lines lw %s dt %u lc rgb '#0100%02x' notitle", curve,
            look.other ? "0.8" : "1.6", look.other ? 1 : look.dash, report_colour(look));
    if (!look.bound && !look.other)
        fprintf(script, ", $d%u using 1:2 with points pt %u ps 0.7 lc rgb '#0100%02x' notitle", curve,
                SHAPES[look.shape], look.colour);
}

/* From the least to the most. */
static void spread_commands(FILE *script, unsigned curve, unsigned colour) {
    fprintf(script,
            ", $d%u using 1:3:(0):($4-$3) with vectors heads size screen 0.008,90 lw 1.2 lc rgb '#0100%02x' notitle",
            curve, colour);
}

static void curve_commands(FILE *script, const report *r, const bench_panel *p, unsigned curve) {
    report_look look = report_look_of(r, p, &p->curves[curve]);
    bool bars = p->figure->flags & BENCH_BARS;
    if (bars)
        bar_commands(script, p, curve, look.bound ? REPORT_BOUND : look.colour);
    else
        line_commands(script, curve, look);
    if (bars || !look.other)
        spread_commands(script, curve, bars ? (unsigned)REPORT_BOUND : report_colour(look));
}

/* Those of the crowd first, so that they lie below the others. */
static void all_curves(FILE *script, const report *r, const bench_panel *p) {
    const char *before = "plot ";
    for (int crowd = 1; crowd >= 0; crowd--)
        for (unsigned i = 0; i < p->count; i++) {
            if (report_look_of(r, p, &p->curves[i]).other != crowd)
                continue;
            fputs(before, script);
            curve_commands(script, r, p, i);
            before = ", \\\n ";
        }
    fputc('\n', script);
}

void report_script(FILE *script, const report *r, const bench_panel *p, unsigned number) {
    span s = span_of(p, false);
    head(script, p, number);
    for (unsigned i = 0; i < p->count; i++)
        data(script, p, i, s.low / 1.25);
    all_curves(script, r, p);
}
