/* Figures: what the page of `ballast report` shows of a suite's rows, said in the suite's own file.
 *
 * A figure takes those rows of the suite that pass its filter, makes a panel of them for each device (or whatever
 * `each` says), a curve for each value of the series column, and a mark for each x: the median of the repeats, with
 * the least and the most. The page has a plot and a table of every panel, what the paper found, and beside it what
 * `agrees` says about this run. */
#ifndef BALLAST_BENCH_FIGURE_H
#define BALLAST_BENCH_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

/* ---- what a panel holds ---- */

typedef struct bench_mark {
    double x;          /* as a number, or its place among the words where x is no number */
    const char *label; /* as it stands in the rows */
    double median, least, most;
    double *all;    /* every repeat, as in the file */
    unsigned *rows; /* their numbers there */
    unsigned count;
    bool wrong; /* one of the rows did not check: it cannot win */
} bench_mark;

typedef struct bench_curve {
    char *name;
    bool bound;        /* a ceiling or a floor: shown, but it does not compete */
    bench_mark *marks; /* by x, rising; words in the order of the rows */
    unsigned count;
} bench_curve;

/* One x of a panel, and who stands there with a right result. */
typedef struct bench_place {
    double x;
    const bench_mark *mark; /* of the first curve that has it, for its label */
    const bench_curve *best, *second;
    unsigned contenders;
} bench_place;

typedef struct bench_panel {
    const struct bench_figure *figure;
    char *name;         /* the values of `each`: "cuda:0" */
    const char *device; /* of its rows; "" when they do not say */
    bench_curve *curves;
    unsigned count;
    bool words;                      /* x is no number */
    const struct bench_panel *first; /* of all panels of this figure, for what compares devices */
    unsigned panels;
    bench_place *places; /* every x, rising */
    unsigned place_count;
    const bench_curve **by_name; /* the curves in the order of their names */
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
    BENCH_BARS = 8,     /* bars in groups, for x that is a word; without x a bar for each of the series */
    BENCH_NEITHER = 16, /* a count of what there is: neither more nor less is better */
};

typedef struct bench_figure {
    const char *name;           /* a word, for links: "pairs" */
    const char *title;          /* "Ten pushes and pops in turn" */
    const char *asks;           /* the question */
    const char *found;          /* what the paper found and where; NULL: no paper asks this */
    const char *rows;           /* which: "case=pairs,callers=thread"; "a|b" either, "a*" what begins so; NULL: all */
    const char *each;           /* a panel for each value of these columns, "device,case"; NULL: "device" */
    const char *series, *x, *y; /* columns; series may be several, "scheduler,group"; x may be NULL with BENCH_BARS */
    const char *series_text;    /* what a curve is, "threads per block"; NULL: "method" */
    const char *const (
        *says)[2]; /* words of the rows, "a*" what begins so, and what people read instead; ends with NULL */
    const char *x_text, *y_text; /* at the axes, with the unit */
    double y_scale;              /* from the column to that unit; 0: 1 */
    unsigned flags;
    bool no_contest;       /* curves that are no rivals: nobody wins */
    const char *bounds;    /* "none,faa": series that are no contenders; NULL: none */
    const char *reference; /* the series that the paper holds up, for the factor over it; NULL: none */
    /* Whether this panel agrees with what the paper found; without a paper what this run answers, or NULL. Uses the
     * functions below. */
    void (*agrees)(const bench_panel *panel, bench_verdict *verdict);
} bench_figure;

/* ---- for `agrees`: values that are not there are NAN, and so is what is made of them ---- */

const char *bench_figure_axis(const bench_figure *figure); /* what x is, in a word; "" without x */
bool bench_panel_gpu(const bench_panel *panel);
const bench_curve *bench_panel_curve(const bench_panel *panel, const char *name);   /* NULL: not in the rows */
const bench_mark *bench_curve_at(const bench_curve *curve, double x);               /* NULL: not there */
const bench_place *bench_panel_place(const bench_panel *panel, double x);           /* NULL: no curve stands there */
double bench_panel_at(const bench_panel *panel, const char *name, double x);        /* median at exactly this x */
double bench_panel_near(const bench_panel *panel, const char *name, double x);      /* at the nearest x, log scale */
double bench_panel_word(const bench_panel *panel, const char *name, const char *x); /* at this x, as in the rows */
double bench_panel_end(const bench_panel *panel, const char *name);                 /* at the curve's largest x */
/* The largest x at which at least half of the contenders stand, and two: where it is fair to compare them. NAN:
 * nowhere. */
double bench_panel_full(const bench_panel *panel);
/* The largest x at which all of these curves, "a,b", stand; NAN: nowhere. */
double bench_panel_common(const bench_panel *panel, const char *names);
/* The best contender at x, or the best whose name is not (or with `only`: is) one of the prefixes "a,b"; NULL: none. */
const bench_curve *bench_panel_best(const bench_panel *panel, double x);
const bench_curve *bench_panel_best_of(const bench_panel *panel, double x, const char *prefixes, bool only);
/* How many times better a is than b at x, whichever direction is better. */
double bench_panel_gain(const bench_panel *panel, const char *a, const char *b, double x);

/* The verdict: BENCH_NOT_APPLICABLE when a number that it needs is not there. Numbers by bench_digits. */
void bench_say(bench_verdict *verdict, bench_agreement agreement, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Not applicable, for this reason; and the method that leads here, with the factor over the reference, or over the second where
 * that leads or is none. */
void bench_say_leader(const bench_panel *panel, bench_verdict *verdict, const char *reason);

/* ---- for report/panels.c, which makes panels from rows ---- */

/* Whether a list like "a,b" has the name, or with `prefixes` one that the name begins with. */
bool bench_listed(const char *list, const char *name, bool prefixes);

/* Sorts marks by x and fills what a panel knows of itself: places, by_name, full. 0; 1: no memory. */
int bench_panel_index(bench_panel *panel);
void bench_panel_unindex(bench_panel *panel);

#endif
