/* Figures: what the page of `ballast report` shows of a suite's rows, declared in the suite's file.
 *
 * A figure selects rows with its filter and makes a panel for each device (or each value of the columns `each`), a
 * curve for each value of the series column, and a mark for each x: the median of the repeats, with minimum and
 * maximum. The page has a plot and a table of every panel, the paper's finding, and next to it the verdict of `agrees`
 * on this run. */
#ifndef BALLAST_BENCH_FIGURE_H
#define BALLAST_BENCH_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

/* ---- what a panel holds ---- */

typedef struct bench_mark {
    double x;          /* as a number, or its position among the words if x is not a number */
    const char *label; /* as in the rows */
    double median, least, most;
    double *all;    /* every repeat, as in the file */
    unsigned *rows; /* their row numbers there */
    unsigned count;
    bool wrong; /* one of the rows failed verification: it cannot win */
} bench_mark;

typedef struct bench_curve {
    char *name;
    bool bound;        /* a ceiling or a floor: shown, but does not compete */
    bench_mark *marks; /* by ascending x; words in the order of the rows */
    unsigned count;
} bench_curve;

/* One x of a panel, and the curves that have a correct result there. */
typedef struct bench_place {
    double x;
    const bench_mark *mark; /* of the first curve that has it, for its label */
    const bench_curve *best, *second;
    unsigned contenders;
} bench_place;

typedef struct bench_panel {
    const struct bench_figure *figure;
    char *name;         /* the values of `each`: "cuda:0" */
    const char *device; /* device of its rows; "" if they do not say */
    bench_curve *curves;
    unsigned count;
    bool words;                      /* x is not a number */
    const struct bench_panel *first; /* of all panels of this figure, for comparisons between devices */
    unsigned panels;
    bench_place *places; /* every x, rising */
    unsigned place_count;
    const bench_curve **by_name; /* the curves sorted by name */
    double full;                 /* see bench_panel_full */
} bench_panel;

/* ---- what a suite says ---- */

typedef enum bench_agreement { BENCH_NOT_APPLICABLE, BENCH_YES, BENCH_PARTLY, BENCH_NO } bench_agreement;

typedef struct bench_verdict {
    bench_agreement agreement;
    char text[600]; /* one or two sentences, with the numbers */
} bench_verdict;

enum {
    BENCH_LOG_X = 1,
    BENCH_LOG_Y = 2,
    BENCH_LESS = 4,     /* less is better: times, memory; otherwise more is */
    BENCH_BARS = 8,     /* grouped bars, for an x that is a word; without x, a bar for each series */
    BENCH_NEITHER = 16, /* a count: neither more nor less is better */
};

typedef struct bench_figure {
    const char *name;           /* a word, for links: "pairs" */
    const char *title;          /* "Ten alternating pushes and pops" */
    const char *asks;           /* the question */
    const char *found;          /* the paper's finding and where it is; NULL: no paper asks this */
    const char *rows;           /* filter: "case=pairs,callers=thread"; "a|b" either, "a*" prefix; NULL: all */
    const char *each;           /* a panel for each value of these columns, "device,case"; NULL: "device" */
    const char *series, *x, *y; /* columns; series may be several, "scheduler,group"; x may be NULL with BENCH_BARS */
    const char *series_text;    /* what a curve is, "threads per block"; NULL: "method" */
    const char *const (
        *says)[2]; /* words of the rows, "a*" for a prefix, and what the page shows instead; ends with NULL */
    const char *x_text, *y_text; /* axis titles, with the unit */
    double y_scale;              /* factor from the column to that unit; 0: 1 */
    unsigned flags;
    bool no_contest;       /* curves that do not compete: there is no winner */
    const char *bounds;    /* "none,faa": series that do not compete; NULL: none */
    const char *reference; /* the series that the paper recommends, for the factor over it; NULL: none */
    /* Whether this panel agrees with the paper's finding; without a paper, the answer of this run, or NULL. Uses the
     * functions below. */
    void (*agrees)(const bench_panel *panel, bench_verdict *verdict);
} bench_figure;

/* ---- for `agrees`: missing values are NAN, and so is whatever is computed from them ---- */

const char *bench_figure_axis(const bench_figure *figure); /* what x is, in a word; "" without x */
bool bench_panel_gpu(const bench_panel *panel);
const bench_curve *bench_panel_curve(const bench_panel *panel, const char *name);   /* NULL: not in the rows */
const bench_mark *bench_curve_at(const bench_curve *curve, double x);               /* NULL: missing */
const bench_place *bench_panel_place(const bench_panel *panel, double x);           /* NULL: no curve has this x */
double bench_panel_at(const bench_panel *panel, const char *name, double x);        /* median at exactly this x */
double bench_panel_near(const bench_panel *panel, const char *name, double x);      /* at the nearest x, log scale */
double bench_panel_word(const bench_panel *panel, const char *name, const char *x); /* at this x, as in the rows */
double bench_panel_end(const bench_panel *panel, const char *name);                 /* at the curve's largest x */
/* The largest x that at least half of the contenders, and at least two, have: where it is fair to compare them. NAN:
 * none. */
double bench_panel_full(const bench_panel *panel);
/* The largest x that all of these curves, "a,b", have; NAN: none. */
double bench_panel_common(const bench_panel *panel, const char *names);
/* The best contender at x, or the best whose name has none (or with `only`: one) of the prefixes "a,b"; NULL: none. */
const bench_curve *bench_panel_best(const bench_panel *panel, double x);
const bench_curve *bench_panel_best_of(const bench_panel *panel, double x, const char *prefixes, bool only);
/* How many times better a is than b at x, in the direction that is better. */
double bench_panel_gain(const bench_panel *panel, const char *a, const char *b, double x);

/* Sets the verdict: BENCH_NOT_APPLICABLE if a number that it needs is missing. Format numbers with bench_digits. */
void bench_say(bench_verdict *verdict, bench_agreement agreement, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Not applicable, for this reason; and the method that leads here, with its factor over the reference, or over the
 * second if the reference leads or is missing. */
void bench_say_leader(const bench_panel *panel, bench_verdict *verdict, const char *reason);

/* ---- for report/panels.c, which makes panels from rows ---- */

/* Whether a list like "a,b" contains the name, or with `prefixes` a prefix of the name. */
bool bench_listed(const char *list, const char *name, bool prefixes);

/* Sorts marks by x and fills in the panel's index: places, by_name, full. Returns 0, or 1 if out of memory. */
int bench_panel_index(bench_panel *panel);
void bench_panel_unindex(bench_panel *panel);

#endif
