/* The section of the page with timelines; those of the same problem are next to each other on the same axis. */
#include "report.h"

#include <string.h>

/* The same problem on the same device; with a different number of tasks it is a different problem. */
static bool alike(const timeline *a, const timeline *b) {
    return strcmp(a->app, b->app) == 0 && strcmp(a->device, b->device) == 0 && a->tasks == b->tasks;
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
        {"task", "tasks"}, {"steal", "search and steal"}, {"idle", "idle"}, {"pause", "pause between launches"}};
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
        fprintf(page, " Only the busiest of every %.0f workers is shown.", (double)t->workers / t->rows);
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

/* The fastest and the slowest of those that are alike; true: there are two, and t is the first of all of them. */
static bool ends(const report *r, const timeline *t, const timeline **fast, const timeline **slow) {
    *fast = *slow = t;
    for (unsigned i = 0; i < r->timeline_count; i++) {
        const timeline *other = &r->timelines[i];
        if (!alike(t, other))
            continue;
        if (other < t)
            return false;
        *fast = other->milliseconds < (*fast)->milliseconds ? other : *fast;
        *slow = other->milliseconds > (*slow)->milliseconds ? other : *slow;
    }
    return *fast != *slow;
}

static void say_run(FILE *page, const timeline *t) {
    report_text(page, t->scheduler);
    fprintf(page, " took %s ms, of which its workers ran tasks for %.0f %%", report_number(t->milliseconds).text,
            100 * t->share[TIMELINE_TASK]);
}

/* "octree on cpu: ...", for each problem that was run in two ways. */
static void say_gains(FILE *page, const report *r) {
    for (unsigned i = 0; i < r->timeline_count; i++) {
        const timeline *t = &r->timelines[i], *fast, *slow;
        if (!ends(r, t, &fast, &slow))
            continue;
        fputs("<p class=\"gain\">", page);
        report_text(page, t->app);
        fputs(" on ", page);
        report_text(page, t->device);
        fputs(": ", page);
        say_run(page, slow);
        fputs("; ", page);
        say_run(page, fast);
        fprintf(page, ": <strong>%s times as fast</strong>.</p>\n",
                bench_digits(slow->milliseconds / fast->milliseconds).text);
    }
}

void report_timelines(const report *r, FILE *page) {
    if (r->timeline_count == 0)
        return;
    fputs("<section id=\"timelines\"><h2>Timelines</h2><p>What each worker did over time, one row per worker. "
          "Runs of the same problem on the same device share an axis: the one that ends earlier was faster.</p>\n",
          page);
    say_gains(page, r);
    legend(page);
    fputs("<div class=\"pair\">\n", page);
    for (unsigned i = 0; i < r->timeline_count; i++)
        show(page, &r->timelines[i]);
    fputs("</div></section>\n", page);
}
