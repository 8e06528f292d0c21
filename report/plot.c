/* Plots: one script for all panels, one run of gnuplot, and its SVG adapted to the page: colours become those of
 * style.css, and names become unique. */
#include "report.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- SVG for the page ---- */

typedef struct swap {
    const char *from, *to;
} swap;

/* Text and axes take the colours of the page; ids get a prefix per plot, so that none occurs twice. */
static const swap SWAPS[] = {
    {"color=\"black\"", ""},
    {"stroke=\"black\"", "stroke=\"currentColor\""},
    {"stroke='black'", "stroke='currentColor'"},
    {"fill=\"black\"", "fill=\"currentColor\""},
    {"gpDot", "%gpDot"},
    {"gpPt", "%gpPt"},
    {"'textbox'", "'%text'"},
    {"'greybox'", "'%grey'"},
    {"gnuplot_", "%"},
    {" xmlns:xlink=\"http://www.w3.org/1999/xlink\"", ""},
    {"xlink:href", "href"},
    {" xmlns=\"http://www.w3.org/2000/svg\"", ""},
};

/* Returns how many letters it consumed. */
static size_t swap_word(FILE *out, const char *at, unsigned number) {
    for (size_t i = 0; i < sizeof SWAPS / sizeof SWAPS[0]; i++) {
        size_t length = strlen(SWAPS[i].from);
        if (strncmp(at, SWAPS[i].from, length) != 0)
            continue;
        for (const char *c = SWAPS[i].to; *c; c++)
            if (*c == '%')
                fprintf(out, "p%u-", number);
            else
                fputc(*c, out);
        return length;
    }
    return 0;
}

static size_t swap_colour(FILE *out, const char *at) {
    static const char *const NAMES[] = {"bound", "grid", "other", "task", "steal", "idle", "pause"};
    unsigned red, green, blue;
    int length = 0;
    if (sscanf(at, "rgb(%u,%u,%u)%n", &red, &green, &blue, &length) != 3 || length == 0 || red != 1 || green != 0)
        return 0;
    if (blue >= REPORT_BOUND && blue < REPORT_BOUND + sizeof NAMES / sizeof NAMES[0])
        fprintf(out, "var(--%s)", NAMES[blue - REPORT_BOUND]);
    else
        fprintf(out, "var(--c%u)", blue);
    return (size_t)length;
}

static char *fit_for_page(const char *svg, size_t length, unsigned number) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t at = 0; at < length;) {
        size_t taken =
            strncmp(svg + at, "rgb(", 4) == 0 ? swap_colour(out, svg + at) : swap_word(out, svg + at, number);
        if (taken == 0)
            fputc(svg[at++], out);
        at += taken;
    }
    return fclose(out) == 0 ? text : NULL;
}

/* ---- gnuplot ---- */

static int fail(bench_error *error, const char *text, const char *more) {
    snprintf(error->text, sizeof error->text, "gnuplot: %s%.300s", text, more);
    return 1;
}

static int spawn(int in, int out, int errors, pid_t *child) {
    char *const words[] = {"gnuplot", "-d", "-", NULL};
    posix_spawn_file_actions_t actions;
    int status = posix_spawn_file_actions_init(&actions);
    if (status)
        return status;
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    status = posix_spawnp(child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* Reports the first line that is not empty. */
static int say_why(FILE *errors, bench_error *error) {
    char line[240] = "";
    rewind(errors);
    while (fgets(line, sizeof line, errors) && strspn(line, " \t\n^") == strlen(line)) {
    }
    line[strcspn(line, "\n")] = '\0';
    return fail(error, "does not draw: ", line[0] ? line : "it ended with an error");
}

static int run_gnuplot(FILE *script, FILE *plots, FILE *errors, bench_error *error) {
    pid_t child;
    int status;
    if (fflush(script) != 0 || lseek(fileno(script), 0, SEEK_SET) != 0)
        return fail(error, "cannot write its script: ", strerror(errno));
    status = spawn(fileno(script), fileno(plots), fileno(errors), &child);
    if (status)
        return fail(error, status == ENOENT ? "not found" : strerror(status),
                    "; it draws the plots (accepted: gnuplot on the PATH, for example by apt-get install gnuplot-nox)");
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return fail(error, "lost: ", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* if posix_spawn could not report it */
        return fail(error, "not found",
                    "; it draws the plots (accepted: gnuplot on the PATH, for example by apt-get install gnuplot-nox)");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : say_why(errors, error);
}

static char *read_all(FILE *file, size_t *length) {
    char *text = NULL;
    FILE *copy = open_memstream(&text, length);
    char part[4096];
    rewind(file);
    for (size_t got; copy && (got = fread(part, 1, sizeof part, file)) > 0;)
        fwrite(part, 1, got, copy);
    return copy && fclose(copy) == 0 ? text : NULL;
}

/* ---- all of it ---- */

typedef void (*each_panel)(void *context, report_figure *f, unsigned panel, unsigned number);

static void for_each(report *r, each_panel function, void *context) {
    unsigned number = 0;
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].count; j++)
            for (unsigned k = 0; k < r->experiments[i].figures[j].count; k++)
                function(context, &r->experiments[i].figures[j], k, number++);
}

typedef struct drawing {
    FILE *script;
    const char *at; /* the rest of gnuplot's output */
} drawing;

static void add_plot(void *context, report_figure *f, unsigned panel, unsigned number) {
    const drawing *d = context;
    report_script(d->script, &f->panels[panel], f->looks[panel], number);
}

static char *next_plot(drawing *d, unsigned number) {
    const char *from = strstr(d->at, "<svg"), *to = from ? strstr(from, "</svg>") : NULL;
    if (!to)
        return NULL;
    d->at = to + strlen("</svg>");
    return fit_for_page(from, (size_t)(d->at - from), number);
}

static void take_plot(void *context, report_figure *f, unsigned panel, unsigned number) {
    f->plots[panel] = next_plot(context, number);
}

static void count_panel(void *context, report_figure *f, unsigned panel, unsigned number) {
    (void)f, (void)panel, (void)number;
    ++*(unsigned *)context;
}

static void count_missing(void *context, report_figure *f, unsigned panel, unsigned number) {
    (void)number;
    *(unsigned *)context += f->plots[panel] == NULL;
}

/* Figures first, then timelines: gnuplot returns the plots in this order. */
static void add_plots(report *r, drawing *d) {
    unsigned panels = 0;
    for_each(r, add_plot, d);
    for_each(r, count_panel, &panels);
    for (unsigned i = 0; i < r->timeline_count; i++)
        timeline_script(d->script, &r->timelines[i], report_until(r, &r->timelines[i]), panels + i);
}

static unsigned take_plots(report *r, drawing *d) {
    unsigned panels = 0, missing = 0;
    for_each(r, take_plot, d);
    for_each(r, count_panel, &panels);
    for_each(r, count_missing, &missing);
    for (unsigned i = 0; i < r->timeline_count; i++) {
        r->timelines[i].plot = next_plot(d, panels + i);
        missing += r->timelines[i].plot == NULL;
    }
    return missing;
}

static int draw(report *r, FILE *script, FILE *plots, FILE *errors, bench_error *error) {
    drawing d = {.script = script};
    size_t length = 0;
    add_plots(r, &d);
    int status = run_gnuplot(script, plots, errors, error);
    if (status)
        return status;
    char *text = read_all(plots, &length);
    if (!text)
        return fail(error, "out of memory", "");
    d.at = text;
    unsigned missing = take_plots(r, &d);
    free(text);
    return missing ? say_why(errors, error) : 0;
}

int report_draw(report *r, bench_error *error) {
    FILE *script = tmpfile(), *plots = tmpfile(), *errors = tmpfile();
    int status = script && plots && errors ? draw(r, script, plots, errors, error)
                                           : fail(error, "cannot create a temporary file: ", strerror(errno));
    if (script)
        fclose(script);
    if (plots)
        fclose(plots);
    if (errors)
        fclose(errors);
    return status;
}
