/* Comparison with other libraries: runs the comparison programs (separate, so that this tool depends on none of those
 * libraries) one after another, and collects their rows in one file. They must be in the same folder as this tool,
 * where the build puts them. */
#include "harness/suite.h"

#include "harness/beside.h"
#include "harness/data.h"

#include <inttypes.h>

static const bench_column COLUMNS[] = {
    {"device", "where"},
    {"case", "the comparison; it verifies every result before it prints rows"},
    {"load", "the work that all methods did"},
    {"team", "one thread or all; device: a GPU"},
    {"method", "Ballast, alone or with the name of a scheduler, or another library"},
    {"threads", "threads of the team; 0: a GPU"},
    {"repeat", "number of the measurement"},
    {"seconds", "time of one run; on a GPU: device time"},
    {"processor_seconds", "CPU time of all threads together; 0: a GPU"},
    {"peak_bytes", "memory of our queues, stacks and pools; 0: unknown"},
    {"tasks", "tasks of one run; 0: unknown"},
    {"check", "right: the program verified every result and succeeded"},
    {NULL, NULL},
};

typedef struct contest {
    const char *program;
    bool gpu;
    const char *quick, *full; /* the load; "a b": several; NULL: it takes none */
} contest;

#define GRAPH "$BALLAST_DATA/graphs/"
static const contest CONTESTS[] = {
    {"fib_peers", false, "30", "35"},
    {"nqueens_peers", false, "11", "13"},
    {"knapsack_peers", false, "48", "64"},
    {"uts_peers", false, "mini_T1_d9", "T1 T3"},
    {"foreach_peers", false, "eighth tiny", "eighth triangle blocks tiny"},
    {"starts_peers", false, "1000", "10000"},
    {"reduce_peers", false, "100000", "10000 100000 1000000 20000000"},
    {"queues_peers", false, "all", "2 4 8 16 32 64"},
    {"ceilings_peers", false, "faa sha1", "faa copy sha1"},
    {"transform_gpu", true, NULL, NULL},
    {"octree_gpu", true, "500k", "500k 1M 5M 15M 500k:tube 500k:sphere 500k:plummer 15M:tube 15M:sphere 15M:plummer"},
    {"pagerank_gpu", true, GRAPH "p2p-Gnutella31.txt.gz", GRAPH "p2p-Gnutella31.txt.gz " GRAPH "web-NotreDame.txt.gz"},
    {"ceilings_gpu", true, NULL, NULL},
};

enum { PATH_SIZE = 1024, ROWS_SIZE = 1 << 20 };

/* ---- its rows ---- */

typedef struct row {
    char load[64], method[64];
    unsigned threads, repeat;
    double milliseconds, processor_milliseconds;
    uint64_t peak_bytes, tasks;
} row;

static bool parse_row(const char *line, row *r) {
    return sscanf(line, "%63[^,],%63[^,],%u,%u,%lf,%lf,%" SCNu64 ",%" SCNu64, r->load, r->method, &r->threads,
                  &r->repeat, &r->milliseconds, &r->processor_milliseconds, &r->peak_bytes, &r->tasks) == 8;
}

static const char *team_of(const row *r) { return r->threads == 0 ? "device" : r->threads == 1 ? "one" : "all"; }

static void write_row(bench *b, const bench_device *d, const contest *c, const row *r) {
    bench_row(b, "%s,%s,%s,%s,%s,%u,%u,%.9f,%.9f,%" PRIu64 ",%" PRIu64 ",right", d->id, c->program, r->load, team_of(r),
              r->method, r->threads, r->repeat, 1e-3 * r->milliseconds, 1e-3 * r->processor_milliseconds, r->peak_bytes,
              r->tasks);
}

static bool same_line(const row *a, const row *b) {
    return a->threads == b->threads && strcmp(a->method, b->method) == 0 && strcmp(a->load, b->load) == 0;
}

static void show_line(bench *b, const row *r, const bench_times *times) {
    bench_spread spread = bench_sum_up(times);
    char threads[16];
    snprintf(threads, sizeof threads, "%u", r->threads);
    bench_line(b, r->load);
    bench_cell(b, "%s", r->method);
    bench_cell(b, "%s", r->threads ? threads : "");
    bench_cell(b, "%s", bench_digits(1e3 * spread.median).text);
    bench_cell(b, "%s", bench_digits(1e3 * spread.least).text);
    bench_cell(b, "%s", bench_digits(1e3 * spread.most).text);
    bench_line_end(b, "%s", "");
}

static void show_head(bench *b, const bench_device *d, const contest *c) {
    static const char *const LABELS[] = {"method", "threads", "median", "least", "most"};
    bench_table(b, "%s (%s): %s; ms", d->id, d->name, c->program);
    bench_head(b, "load", LABELS, sizeof LABELS / sizeof LABELS[0], 19);
}

/* Repeats of one method are consecutive. */
static void take_rows(bench *b, const bench_device *d, const contest *c, char *text) {
    row r, before = {.load = ""};
    bench_times times = {.count = 0};
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!parse_row(line, &r))
            continue;
        if (times.count > 0 && !same_line(&r, &before)) {
            show_line(b, &before, &times);
            times.count = 0;
        }
        write_row(b, d, c, &r);
        bench_add(&times, 1e-3 * r.milliseconds);
        before = r;
    }
    if (times.count > 0)
        show_line(b, &before, &times);
}

/* ---- a contest ---- */

static void leave_out(bench *b, const bench_device *d, const contest *c, const char *why) {
    bench_line(b, c->program);
    bench_line_end(b, "left out: %s", why);
    bench_remark(b, "%s, %s: left out: %s", d->id, c->program, why);
}

enum { LOADS_MAX = 12 };
typedef struct arguments {
    char path[PATH_SIZE], loads[LOADS_MAX][PATH_SIZE], repeats[16];
    char *list[LOADS_MAX + 5];
} arguments;

static bool make_arguments(bench *b, const contest *c, arguments *a, char why[BENCH_WHY_SIZE]) {
    const char *loads = bench_quick(b) ? c->quick : c->full;
    unsigned count = 0, load = 0;
    a->list[count++] = a->path;
    a->list[count++] = "--csv";
    snprintf(a->repeats, sizeof a->repeats, "%u", (unsigned)bench_repeats(b));
    a->list[count++] = "--repeats";
    a->list[count++] = a->repeats;
    for (const char *at = loads ? loads : ""; *at && load < LOADS_MAX; at += strcspn(at, " "), at += *at == ' ') {
        if (!bench_data_path(a->loads[load], PATH_SIZE, at, strcspn(at, " "), why))
            return false;
        a->list[count++] = a->loads[load++];
    }
    return true;
}

static void run_contest(bench *b, const bench_device *d, const contest *c, arguments *a, char *text) {
    bench_progress(b, "%s %s", d->id, c->program);
    int status = bench_run_beside(a->list, text, ROWS_SIZE);
    if (bench_stopped())
        return;
    if (status == 0) {
        take_rows(b, d, c, text);
        return;
    }
    bench_wrong(b);
    leave_out(b, d, c, status < 0 ? "WRONG: it could not be run" : "WRONG: it failed, or a result of it was wrong");
}

/* All rows of a program are written at once: if one exists, all do. */
static bool is_there(const bench *b, const bench_device *d, const contest *c) {
    char beginning[96];
    snprintf(beginning, sizeof beginning, "%s,%s,", d->id, c->program);
    return bench_earlier_any(b, beginning);
}

static void compare(bench *b, const bench_device *d, const contest *c, char *text) {
    arguments a;
    char why[BENCH_WHY_SIZE];
    memset(&a, 0, sizeof a);
    if (c->gpu != (d->warp > 1) || !bench_wants(b, c->program))
        return;
    show_head(b, d, c);
    if (is_there(b, d, c))
        leave_out(b, d, c, "its rows already exist");
    else if (!bench_beside(c->program, a.path, sizeof a.path))
        leave_out(b, d, c, "not found next to this tool (make bench builds it if its library is found)");
    else if (!make_arguments(b, c, &a, why))
        leave_out(b, d, c, why);
    else
        run_contest(b, d, c, &a, text);
}

static void run(bench *b, bench_device *d) {
    char *text = malloc(ROWS_SIZE);
    for (size_t i = 0; text && i < sizeof CONTESTS / sizeof CONTESTS[0] && !bench_stopped(); i++)
        compare(b, d, &CONTESTS[i], text);
    free(text);
}

static const char *const SAYS[][2] = {
    {"fib_peers", "Fibonacci numbers"},
    {"nqueens_peers", "n queens"},
    {"knapsack_peers", "a knapsack"},
    {"uts_peers", "UTS"},
    {"foreach_peers", "a loop"},
    {"starts_peers", "runs of one task"},
    {"queues_peers", "queues alone"},
    {"ceilings_peers", "what the machine can do at best"},
    {"transform_gpu", "a loop, compared with Thrust and CUB"},
    {"octree_gpu", "an octree, compared with the CUB sort of a sorted one"},
    {"pagerank_gpu", "PageRank, compared with cuSPARSE"},
    {"ceilings_gpu", "what the machine can do at best"},
    {"one", "one worker"},
    {"all", "all workers"},
    {"device", "the whole device"},
    {NULL, NULL},
};

#define METHODS_OVER_LOADS                                                                                             \
    .each = "device,case,team", .series = "method", .says = SAYS, .x = "load", .y = "seconds", .y_scale = 1e3,         \
    .y_text = "milliseconds"

static const bench_figure FIGURES[] = {
    {.name = "peers",
     .title = "Other libraries",
     .asks = "How do other libraries perform on the same work?",
     .rows = "case=fib*|nqueens*|knapsack*|uts*|foreach*|transform*|octree*|pagerank*",
     METHODS_OVER_LOADS,
     .x_text = "load",
     .flags = BENCH_BARS | BENCH_LOG_Y | BENCH_LESS,
     .bounds = "sequential"},
    {.name = "queues",
     .title = "Queues of other libraries",
     .asks = "How long do 655,360 alternating pushes and pops take?",
     .rows = "case=queues*",
     METHODS_OVER_LOADS,
     .x_text = "callers",
     .flags = BENCH_BARS | BENCH_LOG_Y | BENCH_LESS,
     .bounds = "sequential,faa"},
    {.name = "ceilings",
     .title = "Ceilings",
     .asks = "What are the limits of the hardware?",
     .rows = "case=ceilings*",
     METHODS_OVER_LOADS,
     .x_text = "what",
     .flags = BENCH_BARS | BENCH_LOG_Y | BENCH_LESS,
     .no_contest = true},
    {.name = NULL},
};

const bench_suite libraries_suite = {
    .name = "peers",
    .text = "comparison with oneTBB, OpenMP, Lace, Taskflow and moodycamel, on a GPU with Thrust, CUB and cuSPARSE; "
            "ceilings",
    .columns = COLUMNS,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
