/* What `make demo` shows, on one screen: the machine, the papers' four methods of load balancing and Ballast's default
 * on an even and on an uneven problem, and what to try next.
 *
 *     ballast_demo [--device DEVICE] [--particles N]
 *
 * The problem is octree partitioning (Cederman and Tsigas 2008). It runs on a GPU if there is one, and for comparison,
 * with Ballast's default, on the CPU. Every result is compared with the sequential twin's; exit status 1 if one is
 * wrong. Progress goes to stderr, the rest to stdout. */
#include "harness/common.h"

#include "common/app.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

extern const app octree_app;

enum { RUNS = 5, BAR_COLUMNS = 28, OPTIONS_MAX = 16 };
static const double stall_seconds = 10;

typedef struct method {
    const char *scheduler, *name, *text;
    bool beside; /* on the CPU, in addition to a GPU */
} method;

static const method methods[] = {
    {"static", "static", "waves, a barrier after each level", false},
    {"blocking", "blocking", "one shared queue with a lock", false},
    {"lockfree", "lockfree", "one shared lock-free queue", false},
    {"abp", "abp", "stealing, all tasks through deques", false},
    {"auto", "Ballast", "the default", false},
    {"auto", "Ballast", "the default, on the CPU", true},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

typedef struct result {
    bool right;
    double seconds;
    bl_stats stats;
} result;

typedef struct demo {
    const char *device, *particles, *threshold;
    bl_device_info cpu, gpu; /* gpu.id is empty: none was found */
    bool on_gpu;
    bool utf8;
    bool terminal; /* stderr is one */
} demo;

/* Clears the progress line before the message. Returns false. */
static bool complain(const demo *d, const char *who, const char *what) {
    fprintf(stderr, "%sballast_demo: %s: %s\n", d->terminal ? "\r\033[K" : "", who, what);
    return false;
}

/* ---- one method ---- */

/* The first run only warms up. */
static bool measure(const demo *d, void *problem, bl_context *context, const method *m, result *r) {
    bench_times times = {.count = 0};
    for (int i = 0; i <= RUNS; i++) {
        app_error error = {""};
        const char *how;
        int status = octree_app.run(problem, context, &r->stats);
        if (status != BL_OK)
            return complain(d, m->name, bl_status_text(status));
        if (!octree_app.check(problem, &r->stats, true, &how, &error))
            return complain(d, m->name, error.text);
        if (i > 0)
            bench_add(&times, r->stats.seconds);
    }
    r->seconds = bench_sum_up(&times).median;
    return true;
}

static void run_method(const demo *d, void *problem, const method *m, result *r) {
    bl_config config = {
        .device = m->beside ? "cpu" : d->device, .scheduler = m->scheduler, .stall_seconds = stall_seconds};
    bl_context *context = NULL;
    *r = (result){.right = false};
    int status = bl_open(&context, &config);
    if (status == BL_OK)
        status = octree_app.load(problem, context);
    if (status != BL_OK) {
        complain(d, m->name, bl_status_text(status));
    } else {
        r->right = measure(d, problem, context, m, r);
        octree_app.unload(problem, context);
    }
    bl_close(context);
}

/* ---- the chart of a distribution ---- */

static void print_bar(const demo *d, double part) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    uint32_t length = (uint32_t)(part * 8 * BAR_COLUMNS + 0.5), columns = 0;
    if (length == 0)
        length = 1;
    if (!d->utf8)
        length = (length + 7) / 8 * 8;
    for (; columns < length / 8; columns++)
        fputs(d->utf8 ? "█" : "#", stdout);
    fputs(eighths[length % 8], stdout);
    columns += length % 8 > 0;
    printf("%*s", (int)(BAR_COLUMNS - columns), "");
}

static void print_row(const demo *d, const method *m, const result *r, double slowest) {
    char text[64];
    snprintf(text, sizeof text, strcmp(m->scheduler, "auto") == 0 && r->right && !m->beside ? "%s: %.24s" : "%s",
             m->text, r->stats.scheduler);
    printf("  %-9s %-35s ", m->name, text);
    if (!r->right) {
        puts("   FAILED");
        return;
    }
    printf("%9.2f ms ", 1e3 * r->seconds);
    print_bar(d, r->seconds / slowest);
    puts(" checked");
}

static void print_chart(const demo *d, const char *title, const result *results, uint32_t rows) {
    double slowest = 0;
    const result *right = NULL;
    for (uint32_t i = 0; i < rows; i++)
        if (results[i].right) {
            slowest = results[i].seconds > slowest ? results[i].seconds : slowest;
            right = right ? right : &results[i];
        }
    printf("%s", title);
    if (right)
        printf(": %" PRIu64 " octants to split, %" PRIu32 " workers", right->stats.tasks, right->stats.workers);
    puts("");
    for (uint32_t i = 0; i < rows; i++)
        print_row(d, &methods[i], &results[i], slowest);
    puts("");
    fflush(stdout);
}

/* ---- a distribution ---- */

static int open_problem(const demo *d, const char *distribution, void **problem) {
    const char *values[OPTIONS_MAX] = {NULL};
    app_error error = {""};
    for (uint32_t i = 0; octree_app.options[i].name && i < OPTIONS_MAX; i++) {
        const app_option *option = &octree_app.options[i];
        values[i] = strcmp(option->name, "--distribution") == 0 ? distribution
                    : strcmp(option->name, "--particles") == 0  ? d->particles
                    : strcmp(option->name, "--threshold") == 0  ? d->threshold
                                                                : option->initial;
    }
    int status = octree_app.open(problem, values, 1, &error);
    if (status != 0)
        complain(d, "octree", error.text);
    return status;
}

static int run_distribution(const demo *d, const char *distribution, const char *title) {
    result results[METHODS];
    uint32_t rows = d->on_gpu ? METHODS : METHODS - 1;
    void *problem = NULL;
    int status = open_problem(d, distribution, &problem);
    if (status != 0)
        return status;
    for (uint32_t i = 0; i < rows; i++) {
        if (d->terminal)
            fprintf(stderr, "\r%s: %s\033[K", distribution, methods[i].name);
        run_method(d, problem, &methods[i], &results[i]);
        if (!results[i].right)
            status = 1;
    }
    octree_app.close(problem);
    if (d->terminal)
        fputs("\r\033[K", stderr);
    print_chart(d, title, results, rows);
    return status;
}

/* ---- the head and the foot ---- */

static void print_head(const demo *d, bool kernels) {
    printf("Ballast %s: dynamic load balancing on CPUs and GPUs\n\n", bl_version());
    printf("  processor  %.64s, %" PRIu32 " %s\n", d->cpu.name, d->cpu.workers, d->cpu.workers == 1 ? "core" : "cores");
    if (!d->gpu.id[0])
        puts("  GPU        no GPU found");
    else
        printf("  GPU        %.40s, %" PRIu32 " multiprocessors%s\n", d->gpu.name, d->gpu.workers,
               kernels ? "" : "; this build has no kernels for it");
    puts("  compiler   " DEMO_COMPILER "\n");
    printf("Octree partitioning of %s particles on %s. In the four methods of Cederman and Tsigas (2008)\n"
           "a task splits one octant of more than %s particles; Ballast's default cuts the work into pieces.\n"
           "Median of %d runs; every result is compared with a sequential program's.\n\n",
           d->particles, d->device, d->threshold, RUNS);
    fflush(stdout);
}

static void print_next(const char *self) {
    static const struct {
        const char *arguments, *text;
    } commands[] = {
        {"run uts --device cpu", "count the nodes of an unbalanced tree"},
        {"list schedulers", "every load balancing method, and what it does"},
        {"bench greedy --quick", "does a ready task wait while a worker is idle?"},
    };
    const char *slash = strrchr(self, '/');
    int folder = slash ? (int)(slash + 1 - self) : 0;
    puts("What next? `make build` builds the tool, with every application (minutes). Then:");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "%.*sballast %s", folder, self, commands[i].arguments);
        printf("  %-36s  %s\n", command, commands[i].text);
    }
    printf("  %-36s  %s\n", "examples/01_cpu.c", "a program to start your own from; more in examples/");
    printf("  %-36s  %s\n", "docs/design.md", "how it works and why");
}

/* ---- all of it ---- */

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

/* On a CPU the papers' threshold of 20 particles gives few, long tasks, and all methods would look alike. */
static bool choose_device(demo *d, bool kernels) {
    bl_device_info chosen;
    bl_device_find("cpu", &d->cpu);
    bl_device_find("cuda", &d->gpu);
    if (strcmp(d->device, "auto") == 0)
        d->device = d->gpu.id[0] && kernels ? d->gpu.id : "cpu";
    if (!bl_device_find(d->device, &chosen))
        return complain(d, d->device, "there is no such device");
    d->on_gpu = chosen.capability > 0;
    d->threshold = d->on_gpu ? "20" : "2";
    return true;
}

int main(int argc, char **argv) {
    demo d = {.device = "auto", .particles = "500k", .terminal = isatty(STDERR_FILENO) != 0};
    bool kernels = bl_program_part(octree_app.program(), "cuda") != NULL;
    setlocale(LC_CTYPE, "");
    d.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (!parse(argc, argv, &d)) {
        fputs("usage: ballast_demo [--device DEVICE] [--particles N]\n", stderr);
        return 2;
    }
    if (!choose_device(&d, kernels))
        return 1;
    print_head(&d, kernels);
    int uniform = run_distribution(&d, "uniform", "uniform cube");
    if (uniform == 2) /* wrong usage: the number of particles was rejected */
        return 2;
    int tube = run_distribution(&d, "tube", "tube");
    print_next(argv[0]);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("ballast_demo: standard output: cannot be written\n", stderr);
        return 1;
    }
    return uniform ? uniform : tube;
}
