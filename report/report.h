/* The page of `ballast report`: the rows of suites in a folder, as one self-contained HTML file.
 *
 *   collect.c    files of the folder -> rows -> panels and verdicts
 *   looks.c      the colour, dash and shape of every curve
 *   script.c     a panel -> commands for gnuplot
 *   plot.c       all commands -> gnuplot -> an SVG for each panel
 *   timeline.c   traces of runs -> what each worker did when
 *   words.c      text and numbers for people, escaped
 *   summary.c    which method wins where
 *   timelines.c  the timelines beside each other
 *   page.c       all of it as HTML, with style.css inside
 *
 * Text from a file is escaped where it is written. */
#ifndef BALLAST_REPORT_H
#define BALLAST_REPORT_H

#include "rows.h"
#include "timeline.h"

typedef struct report_figure {
    const bench_figure *figure;
    bench_panel *panels;
    bench_verdict *verdicts;    /* of each */
    struct report_look **looks; /* for each panel, a look for every curve */
    char **plots;               /* SVG of each */
    unsigned count;
} report_figure;

typedef struct report_experiment {
    bench_rows rows;
    report_figure *figures;
    unsigned count;
} report_experiment;

typedef struct report {
    const char *folder;
    report_experiment *experiments;
    unsigned count;
    timeline *timelines; /* by name */
    unsigned timeline_count;
} report;

/* collect.c, plot.c, page.c. Each returns 0, or 1 with a line in `error`. */
int report_collect(report *r, const char *folder, bench_error *error);
int report_draw(report *r, bench_error *error);
int report_write(const report *r, FILE *page, bench_error *error);
void report_free(report *r);

/* ---- inside: looks.c ---- */

/* How a curve looks: colour 0 .. REPORT_COLOURS - 1 as in style.css, dash and shape as numbered by gnuplot. Of more
 * than REPORT_CROWD contenders only the best REPORT_SHOWN and the figure's reference have a colour; the others are thin
 * and grey. */
enum {
    REPORT_COLOURS = 12,
    REPORT_BOUND = 100,
    REPORT_GRID,
    REPORT_OTHER,
    REPORT_TASK,
    REPORT_STEAL,
    REPORT_IDLE,
    REPORT_PAUSE
};
enum { REPORT_CROWD = 8, REPORT_SHOWN = 6 };
typedef struct report_look {
    unsigned colour, dash, shape;
    bool bound, other;
} report_look;
unsigned report_colour(report_look look); /* as used in the plot's commands */
int report_looks(report *r,
                 bench_error *error); /* sets the looks of all curves: the same name looks the same everywhere */

/* The curves of a panel, the best first and bounds last; in their own order if they do not compete. The caller frees
 * it; NULL: out of memory. */
typedef struct report_rank {
    const bench_curve *curve;
    double key; /* less is better; INFINITY: nothing to compare */
} report_rank;
report_rank *report_ranks(const bench_panel *panel, bool contest);

/* ---- inside: words.c ---- */

typedef struct report_word {
    char text[128];
} report_word;
void report_text(FILE *page, const char *text);                       /* escaped */
report_word report_say(const bench_figure *figure, const char *word); /* a word of the rows, for people */
/* x of a mark for people: a number with few digits, a word as the figure says it. */
report_word report_label(const bench_panel *panel, const bench_mark *mark);
bench_number report_number(double value);                     /* four digits, whole numbers whole: 45,056 */
void report_panel_name(FILE *page, const bench_panel *panel); /* "cuda:0, particles in a tube" */
const char *report_series(const bench_figure *figure);        /* what a curve is */
const char *report_unit(const bench_figure *figure);          /* of y, short: ms */
const char *report_agreement(bench_agreement agreement);      /* "holds", ... */
const char *report_class(bench_agreement agreement);          /* of style.css */
/* "#kerbl-pairs-threads" without the '#'. */
void report_anchor(FILE *page, const report_experiment *e, const report_figure *f);

/* ---- inside: script.c, summary.c, timelines.c ---- */

void report_script(FILE *script, const bench_panel *panel, const report_look *looks, unsigned number);
void report_summary(const report *r, FILE *page);
void report_timelines(const report *r, FILE *page);
double report_until(const report *r, const timeline *t); /* the longest of those of the same problem and device */

extern const char *const report_style[]; /* style.css, its lines; NULL at the end */

#endif
