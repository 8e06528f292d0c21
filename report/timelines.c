/* The part of the page that shows timelines, those of the same problem beside each other and on the same axis. */
#include "report.h"

#include <string.h>

static bool alike(const timeline *a, const timeline *b) {
    return strcmp(a->app, b->app) == 0 && strcmp(a->device, b->device) == 0;
}

double report_until(const report *r, const timeline *t) {
    double until = t->milliseconds;
    for (unsigned i = 0; i < r->timeline_count; i++)
        if (alike(t, &r->timelines[i]) && r->timelines[i].milliseconds > until)
            until = r->timelines[i].milliseconds;
    return until;
}

static void legend(FILE *page) {
    static const char *const names[][2] = {
        {"c0", "tasks"}, {"c1", "search and steal"}, {"grid", "idle"}, {"c7", "pause between launches"}};
    fputs("<ul class=\"legend\">", page);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        fprintf(
            page,
            "<li><svg viewBox=\"-16 -6 32 12\" aria-hidden=\"true\"><rect x=\"-8\" y=\"-5\" width=\"16\" height=\"10\" "
            "fill=\"var(--%s)\"/></svg>%s</li>",
            names[i][0], names[i][1]);
    fputs("</ul>\n", page);
}

static void caption(FILE *page, const timeline *t) {
    fprintf(page,
            "<figcaption>%s ms; %llu tasks by %u workers, %llu steals; tasks %.1f %%, search and steal %.1f %%, idle "
            "%.1f %%, pause "
            "%.1f %% of their time; the least busy worker %.0f %%, the busiest %.0f %%.",
            report_number(t->milliseconds).text, t->tasks, t->workers, t->steals, 100 * t->share[TIMELINE_TASK],
            100 * t->share[TIMELINE_STEAL], 100 * t->share[TIMELINE_IDLE], 100 * t->share[TIMELINE_PAUSE],
            100 * t->least, 100 * t->most);
    if (t->workers > t->rows)
        fprintf(page, " Of every %.0f workers one is shown.", (double)t->workers / t->rows);
    fputs("</figcaption>", page);
}

static void show(FILE *page, const timeline *t) {
    fputs("<figure><h4>", page);
    report_text(page, t->name);
    fputs(": ", page);
    report_text(page, t->app);
    fputs(", ", page);
    report_text(page, t->scheduler);
    fputs(", ", page);
    report_text(page, t->device);
    fputs("</h4><div class=\"plot\" role=\"img\" aria-label=\"timeline of ", page);
    report_text(page, t->name);
    fputs("\">", page);
    fputs(t->plot ? t->plot : "", page);
    fputs("</div>", page);
    caption(page, t);
    fputs("</figure>\n", page);
}

void report_timelines(const report *r, FILE *page) {
    if (r->timeline_count == 0)
        return;
    fputs("<section id=\"timelines\"><h2>Timelines</h2><p>What each worker did when. Runs of the same problem on the "
          "same device have the "
          "same axis: what ends earlier was faster.</p>\n",
          page);
    legend(page);
    fputs("<div class=\"pair\">\n", page);
    for (unsigned i = 0; i < r->timeline_count; i++)
        show(page, &r->timelines[i]);
    fputs("</div></section>\n", page);
}
