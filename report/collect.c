/* Reads and judges the files of a folder. */
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one file ---- */

static int judge(report_figure *f, bench_error *error) {
    f->verdicts = calloc(f->count ? f->count : 1, sizeof *f->verdicts);
    f->plots = calloc(f->count ? f->count : 1, sizeof *f->plots);
    if (!f->verdicts || !f->plots)
        return bench_refuse(error, "out of memory");
    for (unsigned i = 0; i < f->count && f->figure->agrees; i++) {
        f->figure->agrees(&f->panels[i], &f->verdicts[i]);
        if (f->verdicts[i].text[0] == '\0')
            bench_say_leader(&f->panels[i], &f->verdicts[i], "These rows lack the data for it.");
    }
    return 0;
}

static int add_figures(report_experiment *e, bench_error *error) {
    const bench_figure *figures = e->rows.suite->figures;
    int status = 0;
    unsigned count = 0;
    while (figures && e->rows.count > 0 && figures[count].name)
        count++;
    e->figures = calloc(count ? count : 1, sizeof *e->figures);
    if (!e->figures)
        return bench_refuse(error, "out of memory");
    for (e->count = 0; e->count < count && status == 0; e->count++) {
        report_figure *f = &e->figures[e->count];
        f->figure = &figures[e->count];
        status = bench_panels_make(&e->rows, f->figure, &f->panels, &f->count, error);
        if (status == 0)
            status = judge(f, error);
    }
    return status;
}

static int add_file(report *r, const bench_suite *suite, const char *path, bench_error *error) {
    report_experiment *more = realloc(r->experiments, (r->count + 1) * sizeof *more);
    if (!more)
        return bench_refuse(error, "out of memory");
    r->experiments = more;
    memset(&more[r->count], 0, sizeof *more);
    int status = bench_rows_read(suite, path, &more[r->count].rows, error);
    if (status)
        return status;
    return add_figures(&more[r->count++], error);
}

/* ---- the folder ---- */

/* A file that claims to be written by a suite that this version does not have. Other files are ignored. */
static int check_other(const char *path, const char *name, bench_error *error) {
    char line[64] = "";
    bench_error ignored;
    FILE *file = bench_open_file(path, &ignored);
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    if (strncmp(line, "# suite ", 8) != 0)
        return 0;
    return bench_refuse(error,
                        "%.300s: rows of suite %.*s, which this version does not have (accepted: a folder without "
                        "them, or the version that "
                        "wrote them)",
                        path, (int)(strlen(name) < 44 ? strlen(name) - 4 : 40), name);
}

static int check_others(const char *folder, DIR *entries, bench_error *error) {
    int status = 0;
    for (struct dirent *entry; status == 0 && (entry = readdir(entries));) {
        size_t length = strlen(entry->d_name);
        char suite[64], path[480];
        if (length < 5 || length > sizeof suite || strcmp(entry->d_name + length - 4, ".csv") != 0)
            continue;
        snprintf(suite, sizeof suite, "%.*s", (int)(length - 4), entry->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!bench_suite_find(suite))
            status = check_other(path, entry->d_name, error);
    }
    return status;
}

static int is_trace(const struct dirent *entry) {
    size_t length = strlen(entry->d_name), ending = strlen(".trace.json");
    return length > ending && strcmp(entry->d_name + length - ending, ".trace.json") == 0;
}

static int add_trace(report *r, const char *name, bench_error *error) {
    char path[480];
    timeline *more = realloc(r->timelines, (r->timeline_count + 1) * sizeof *more);
    if (!more)
        return bench_refuse(error, "out of memory");
    r->timelines = more;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", r->folder, name) >= sizeof path)
        return bench_refuse(error, "%.200s: name too long (accepted: up to 400 characters)", name);
    int status = timeline_read(&more[r->timeline_count], path, error);
    r->timeline_count += status == 0;
    return status;
}

static int add_traces(report *r, bench_error *error) {
    struct dirent **names;
    int count = scandir(r->folder, &names, is_trace, alphasort), status = 0;
    if (count < 0)
        return bench_refuse(error, "%.300s: cannot be read: %s", r->folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == 0)
            status = add_trace(r, names[i]->d_name, error);
        free(names[i]);
    }
    free(names);
    return status;
}

static bool any_rows(const report *r) {
    for (unsigned i = 0; i < r->count; i++)
        if (r->experiments[i].rows.count > 0)
            return true;
    return false;
}

static int collect(report *r, DIR *entries, bench_error *error) {
    int status = check_others(r->folder, entries, error);
    for (unsigned i = 0; bench_suite_at(i) && status == 0; i++) {
        struct stat there;
        char path[480];
        if ((size_t)snprintf(path, sizeof path, "%s/%s.csv", r->folder, bench_suite_at(i)->name) >= sizeof path)
            return bench_refuse(error, "DIR: too long (accepted: up to 400 characters)");
        if (stat(path, &there) == 0)
            status = add_file(r, bench_suite_at(i), path, error);
    }
    if (status == 0)
        status = add_traces(r, error);
    if (status == 0 && !any_rows(r) && r->timeline_count == 0)
        return bench_refuse(error,
                            "%.300s: contains no results (accepted: a folder that ballast bench SUITE --out DIR wrote)",
                            r->folder);
    return status;
}

int report_collect(report *r, const char *folder, bench_error *error) {
    memset(r, 0, sizeof *r);
    r->folder = folder;
    DIR *entries = opendir(folder);
    if (!entries)
        return bench_refuse(error,
                            "%.300s: cannot be read: %s (accepted: a folder that ballast bench SUITE --out DIR wrote)",
                            folder, strerror(errno));
    int status = collect(r, entries, error);
    closedir(entries);
    if (status == 0)
        status = report_looks(r, error);
    if (status)
        report_free(r);
    return status;
}

static void free_figure(report_figure *f) {
    for (unsigned i = 0; i < f->count && f->plots; i++)
        free(f->plots[i]);
    for (unsigned i = 0; i < f->count && f->looks; i++)
        free(f->looks[i]);
    free(f->looks);
    free(f->plots);
    free(f->verdicts);
    bench_panels_free(f->panels, f->count);
}

void report_free(report *r) {
    for (unsigned i = 0; i < r->count; i++) {
        for (unsigned j = 0; j < r->experiments[i].count; j++)
            free_figure(&r->experiments[i].figures[j]);
        free(r->experiments[i].figures);
        bench_rows_free(&r->experiments[i].rows);
    }
    for (unsigned i = 0; i < r->timeline_count; i++)
        timeline_free(&r->timelines[i]);
    free(r->timelines);
    free(r->experiments);
    memset(r, 0, sizeof *r);
}
