/* What `make demo` shows: one problem that breaks apart unevenly, and every way to balance it on the best device there is.
 *
 *     ballast_demo [--device DEVICE] [--particles N]
 *
 * An octree of 500,000 particles, evenly spread and then in a tube, by every scheduler and by the methods of the papers under their own
 * names. Each result is checked against the sequential twin; exit status 1 if one is wrong. Progress goes to stderr, the tables to stdout. */
#include "common.h"

#include "app.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { METHODS_MAX = 256, REPEATS = 3, OPTIONS_MAX = 16 };
static const double repeat_seconds = 2; /* a method that has run for so long is not repeated */
static const double demo_seconds = 40;  /* after so long nothing is repeated any more */
static const double stall_seconds = 10;

typedef struct method {
    const char *name, *stands_for; /* stands_for: only of the papers' names */
} method;

typedef struct result {
    bool there, right; /* there: the program has code for it */
    double seconds;
    bl_stats stats;
    const char *checked;
} result;

typedef struct demo {
    const app *octree;
    const char *device, *particles;
    method methods[METHODS_MAX];
    uint32_t method_count;
    double start;
    bool terminal;
    char device_text[160];
    const char *doing; /* what the progress line says */
    uint32_t done, total;
} demo;

/* ---- progress ---- */

static void show_progress(void *argument, uint64_t tasks) {
    const demo *d = argument;
    fprintf(stderr, "\r%" PRIu32 " of %" PRIu32 ": %s", d->done, d->total, d->doing);
    if (tasks > 0)
        fprintf(stderr, ", %" PRIu64 " tasks", tasks);
    fputs("\033[K", stderr);
}

static void next_method(demo *d, const char *what) {
    d->done++;
    d->doing = what;
    if (d->terminal)
        show_progress(d, 0);
    else
        fprintf(stderr, "%" PRIu32 " of %" PRIu32 ": %s\n", d->done, d->total, what);
}

static void clear_progress(const demo *d) {
    if (d->terminal)
        fputs("\r\033[K", stderr);
}

/* The line must not swallow what is said. Always false. */
static bool complain(const demo *d, const char *who, const char *what) {
    clear_progress(d);
    fprintf(stderr, "ballast_demo: %s: %s\n", who, what);
    return false;
}

/* ---- one method ---- */

/* A few runs, each checked; the median of their times. */
static bool measure(demo *d, void *problem, bl_context *context, const char *name, result *r) {
    bench_times times = {.count = 0};
    double start = bench_now();
    do {
        app_error error = {""};
        int status = d->octree->run(problem, context, &r->stats);
        if (status != BL_OK)
            return complain(d, name, bl_status_text(status));
        if (!d->octree->check(problem, &r->stats, false, &r->checked, &error))
            return complain(d, name, error.text);
        bench_add(&times, r->stats.seconds);
    } while (times.count < REPEATS && bench_now() - start < repeat_seconds && bench_now() - d->start < demo_seconds);
    r->seconds = bench_sum_up(&times).median;
    return true;
}

static bool run_loaded(demo *d, void *problem, bl_context *context, const char *name, result *r) {
    int status = d->octree->load(problem, context);
    if (status != BL_OK)
        return complain(d, name, bl_status_text(status));
    bool right = measure(d, problem, context, name, r);
    d->octree->unload(problem, context);
    return right;
}

static void run_method(demo *d, void *problem, const char *name, result *r) {
    bl_config config = {.device = d->device, .scheduler = name, .stall_seconds = stall_seconds};
    if (d->terminal) {
        config.progress = show_progress;
        config.progress_arg = d;
    }
    bl_context *context = NULL;
    int status = bl_open(&context, &config);
    *r = (result){.checked = "no"};
    if (status != BL_OK) {
        r->there = true;
        complain(d, name, bl_status_text(status));
        return;
    }
    r->there = bl_program_has(d->octree->program(bl_device_target(context)), name) != 0;
    if (r->there)
        r->right = run_loaded(d, problem, context, name, r);
    bl_close(context);
}

/* ---- a table ---- */

static void print_row(const method *m, const result *r) {
    char name[64];
    snprintf(name, sizeof name, m->stands_for ? "%s = %s" : "%s", m->name, m->stands_for);
    if (!r->right) {
        printf("%-28s %s\n", name, "FAILED");
        return;
    }
    printf("%-28s %8" PRIu64 " %9.3f %9.0f %11" PRIu64 " %8" PRIu64 " %8.2f  %s\n", name, r->stats.tasks,
           1e3 * r->seconds, 1e-3 * (double)r->stats.tasks / r->seconds, r->stats.peak_tasks, r->stats.steals,
           r->stats.balance, r->checked);
}

static void print_table(const demo *d, const char *distribution, const result *results) {
    uint32_t workers = 0, fastest = UINT32_MAX, slowest = UINT32_MAX;
    for (uint32_t i = 0; i < d->method_count; i++) {
        const result *r = &results[i];
        if (!r->right)
            continue;
        workers = workers > r->stats.workers ? workers : r->stats.workers;
        fastest = fastest == UINT32_MAX || r->seconds < results[fastest].seconds ? i : fastest;
        slowest = slowest == UINT32_MAX || r->seconds > results[slowest].seconds ? i : slowest;
    }
    printf("octree of %s particles, %s, on %s, %" PRIu32 " workers; median of up to %d runs\n", d->particles,
           distribution, d->device_text, workers, REPEATS);
    printf("%-28s %8s %9s %9s %11s %8s %8s  %s\n", "method", "tasks", "ms", "tasks/ms", "peak slots", "steals",
           "balance", "checked");
    for (uint32_t i = 0; i < d->method_count; i++)
        if (results[i].there)
            print_row(&d->methods[i], &results[i]);
    if (fastest != UINT32_MAX)
        printf("fastest: %s, %.1f times as fast as %s\n", d->methods[fastest].name,
               results[slowest].seconds / results[fastest].seconds, d->methods[slowest].name);
    puts("");
    fflush(stdout);
}

/* ---- a distribution ---- */

static int open_problem(const demo *d, const char *distribution, void **problem) {
    const char *values[OPTIONS_MAX] = {NULL};
    app_error error = {""};
    for (uint32_t i = 0; d->octree->options[i].name && i < OPTIONS_MAX; i++) {
        const app_option *option = &d->octree->options[i];
        values[i] = strcmp(option->name, "--distribution") == 0 ? distribution
                    : strcmp(option->name, "--particles") == 0  ? d->particles
                                                                : option->initial;
    }
    int status = d->octree->open(problem, values, 1, &error);
    if (status != 0)
        complain(d, distribution, error.text);
    return status;
}

static int run_distribution(demo *d, const char *distribution) {
    static result results[METHODS_MAX];
    void *problem = NULL;
    int status = open_problem(d, distribution, &problem);
    if (status != 0)
        return status;
    for (uint32_t i = 0; i < d->method_count; i++) {
        char doing[96];
        snprintf(doing, sizeof doing, "%s, %s", distribution, d->methods[i].name);
        next_method(d, doing);
        run_method(d, problem, d->methods[i].name, &results[i]);
        if (results[i].there && !results[i].right)
            status = 1;
    }
    d->octree->close(problem);
    clear_progress(d);
    print_table(d, distribution, results);
    return status;
}

/* ---- all of it ---- */

/* False when there is no such device. */
static bool name_device(demo *d) {
    bl_context *context = NULL;
    bl_config config = {.device = d->device};
    int status = bl_open(&context, &config);
    if (status != BL_OK)
        return complain(d, d->device, bl_status_text(status));
    snprintf(d->device_text, sizeof d->device_text, "%s (%s)", bl_device_id(context), bl_device_name(context));
    bl_close(context);
    return true;
}

static void list_methods(demo *d) {
    const char *name, *stands_for;
    for (uint32_t i = 0; d->method_count < METHODS_MAX && (name = bl_scheduler_name(i)); i++)
        d->methods[d->method_count++] = (method){name, NULL};
    for (uint32_t i = 0; d->method_count < METHODS_MAX && (name = bl_alias_name(i, &stands_for)); i++)
        d->methods[d->method_count++] = (method){name, stands_for};
}

static bool parse(int argc, char **argv, demo *d) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0)
            d->device = argv[i + 1];
        else if (strcmp(argv[i], "--particles") == 0)
            d->particles = argv[i + 1];
        else
            return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv) {
    static const char *const distributions[] = {"uniform", "tube"};
    static demo d = {.device = "auto", .particles = "500000"};
    enum { COUNT = sizeof distributions / sizeof distributions[0] };
    if (!parse(argc, argv, &d)) {
        fputs("usage: ballast_demo [--device DEVICE] [--particles N]\n", stderr);
        return 2;
    }
    d.octree = app_find("octree");
    if (!d.octree || !name_device(&d))
        return 1;
    d.start = bench_now();
    d.terminal = isatty(STDERR_FILENO) != 0;
    list_methods(&d);
    d.total = COUNT * d.method_count;
    int status = 0;
    for (int i = 0; i < COUNT; i++) {
        int failed = run_distribution(&d, distributions[i]);
        status = failed ? failed : status;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("ballast_demo: standard output: cannot be written\n", stderr);
        return 1;
    }
    return status;
}
