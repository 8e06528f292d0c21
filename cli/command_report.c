/* ballast report: the rows of a folder as one page, with plots. */
#include "output.h"
#include "tool.h"

#include "../apps/common/app_output.h"
#include "../report/report.h"

#include <string.h>

static const app_option REPORT_OPTIONS[] = {
    {"--out", "FILE", "", "page to write; default: DIR/report.html"},
    {"--force", NULL, "", "overwrite an existing page"},
    {"--help", NULL, "", "print this help"},
    {NULL, NULL, NULL, NULL},
};

/* A page replaces an existing file only with --force. */
static int check_place(const options *set, const char *path) {
    if (!app_output_replaces(path) || options_given(set, "--force"))
        return 0;
    return wrong_use("%.300s: already exists (accepted: another --out, or --force to overwrite it)", path);
}

static int write_page(const report *r, const char *path) {
    app_output output;
    app_error problem = {""};
    bench_error error = {""};
    if (app_output_open(&output, "--out", path, &problem))
        return run_failed("%s", problem.text);
    int status = report_write(r, output.file, &error);
    if (app_output_close(&output, &problem))
        return run_failed("%s", problem.text);
    return status ? run_failed("%s", error.text) : STATUS_OK;
}

static int make_page(const char *folder, const char *path) {
    report r;
    bench_error error = {""};
    if (report_collect(&r, folder, &error))
        return run_failed("%s", error.text);
    int status = report_draw(&r, &error) ? run_failed("%s", error.text) : write_page(&r, path);
    if (status == STATUS_OK)
        printf("%s: %u experiment%s, %u timeline%s\n", path, r.count, r.count == 1 ? "" : "s", r.timeline_count,
               r.timeline_count == 1 ? "" : "s");
    report_free(&r);
    return status;
}

static int command_report(int argc, char **argv) {
    options set = {.command = "report"};
    options_add(&set, REPORT_OPTIONS);
    const char *folder;
    char path[480];
    int status = options_parse(&set, argc, argv, "one DIR", &folder);
    if (status)
        return status;
    if (options_given(&set, "--help"))
        return command_help(&report_command);
    if (!folder)
        return wrong_use(
            "DIR missing (accepted: ballast report DIR, a folder that ballast bench SUITE --out DIR wrote)");
    bool given = options_given(&set, "--out");
    int length = given ? snprintf(path, sizeof path, "%s", options_text(&set, "--out"))
                       : snprintf(path, sizeof path, "%s/report.html", folder);
    if ((size_t)length >= sizeof path)
        return wrong_use("%s: too long (accepted: up to 400 characters)", given ? "--out" : "DIR");
    status = check_place(&set, path);
    return status ? status : make_page(folder, path);
}

const command report_command = {
    .name = "report",
    .text = "write one HTML page with plots of those rows",
    .usage = "DIR [options]",
    .about = "Writes one HTML page from the rows of ballast bench SUITE --out DIR: winners,\n"
             "a plot and a table for every experiment, and whether the papers' findings reproduce. Includes\n"
             "the timelines of ballast run APP --trace DIR/NAME.trace.json.",
    .options = REPORT_OPTIONS,
    .run = command_report,
};
