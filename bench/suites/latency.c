/* How long small runs take on a context that is open: what the caller waits, and what the device works. On a GPU the
 * difference is set-up, launches and reading back. A case per application, and one for tasks that do nothing. */
#include "harness/app_problem.h"
#include "harness/suite.h"
#include "latency/spawn_tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const bench_column COLUMNS[] = {
    {"device", "where"},
    {"case", "the application, as for ballast run; spawn_tree: a binary tree of tasks that only spawn; chain: 1,001 "
             "such tasks, each of which spawns the next"},
    {"options", "options of the application"},
    {"scheduler", "as for ballast run"},
    {"repeat", "number of the measurement; a run before the first is not recorded"},
    {"wall_seconds", "median of the runs of this repeat: what the caller waits for one, with the result on the host"},
    {"longest_seconds", "the longest of these waits"},
    {"seconds", "median of the same runs: the time of the run itself; on a GPU: device time"},
    {"tasks", "tasks of one run"},
    {"workers", "workers that ran"},
    {"check", "the last result verified against a known answer (known) or the sequential program (twin); else WRONG"},
    {NULL, NULL},
};

static const struct {
    const char *app, *options;
    bool gpu;                      /* for a CPU this is no small run */
    const char *scheduler, *label; /* label: NULL: as the application */
} RUNS[] = {
    {"spawn_tree", "--depth 0", false, "auto", NULL},
    {"spawn_tree", "--depth 10", false, "auto", NULL},
    {"spawn_tree", "--depth 20", true, "auto", NULL},
    {"spawn_tree", "--children 1 --depth 1000", false, "auto", "chain"},
    {"spawn_tree", "--children 1 --depth 1000", false, "static:split", "chain"},
    {"spawn_tree", "--children 1 --depth 1000", false, "static:cyclic", "chain"},
    {"spawn_tree", "--children 1 --depth 1000", false, "list:faa", "chain"},
    {"fib", "--n 1", false, "auto", NULL},
    {"fib", "--n 15", false, "auto", NULL},
    {"fib", "--n 20", false, "auto", NULL},
    {"fib", "--n 25", true, "auto", NULL},
    {"fib", "--n 30", true, "auto", NULL},
    {"fourrow", "--lookahead 4", false, "auto", NULL},
    {"fourrow", "--lookahead 6", true, "auto", NULL},
    {"nqueens", "--n 8", false, "auto", NULL},
    {"nqueens", "--n 13", true, "auto", NULL},
    {"uts", "--tree mini_T1_d5", false, "auto", NULL},
    {"uts", "--tree T1", true, "auto", NULL},
};
enum { COUNT = sizeof RUNS / sizeof RUNS[0], TIMES = 41, QUICK_TIMES = 11, KEY_SIZE = 128, CHAIN_TASKS = 1001 };

static const char *label_of(unsigned i) { return RUNS[i].label ? RUNS[i].label : RUNS[i].app; }

typedef struct measured {
    bench_times wall, longest, device;
    bl_stats stats; /* of the last run */
    const char *how;
} measured;

/* False, and why not. */
static bool run_once(const app *chosen, void *problem, bl_context *context, bl_stats *stats, app_error *error) {
    int status = chosen->run(problem, context, stats);
    if (status != BL_OK)
        snprintf(error->text, sizeof error->text, "%s; %.300s", bl_status_text(status), bl_error_detail(context));
    return status == BL_OK;
}

static bool repeat_once(bench *b, const app *chosen, void *problem, bl_context *context, measured *m,
                        app_error *error) {
    bench_times wall = {.count = 0}, device = {.count = 0};
    for (unsigned i = 0; i < (bench_quick(b) ? QUICK_TIMES : TIMES); i++) {
        if (!run_once(chosen, problem, context, &m->stats, error))
            return false;
        bench_add(&wall, m->stats.wall_seconds);
        bench_add(&device, m->stats.seconds);
    }
    bench_add(&m->wall, bench_sum_up(&wall).median);
    bench_add(&m->longest, bench_sum_up(&wall).most);
    bench_add(&m->device, bench_sum_up(&device).median);
    return chosen->check(problem, &m->stats, false, &m->how, error);
}

/* Rows of an earlier run, and then new ones as far as they are missing. */
static bool fill(bench *b, const char *key, const app *chosen, void *problem, bl_context *context, measured *m,
                 app_error *error) {
    bench_earlier(b, key, "wall_seconds", &m->wall);
    bench_earlier(b, key, "longest_seconds", &m->longest);
    bench_earlier(b, key, "seconds", &m->device);
    if (m->wall.count < bench_repeats(b) && !run_once(chosen, problem, context, &m->stats, error))
        return false;
    while (m->wall.count < bench_repeats(b) && !bench_stopped()) {
        const unsigned at = m->wall.count;
        const bool right = repeat_once(b, chosen, problem, context, m, error);
        if (m->wall.count > at)
            bench_row(b, "%s,%u,%.9f,%.9f,%.9f,%" PRIu64 ",%u,%s", key, at, m->wall.all[at], m->longest.all[at],
                      m->device.all[at], m->stats.tasks, m->stats.workers, right ? m->how : "WRONG");
        if (!right)
            return false;
    }
    return true;
}

static const app *find_case(const char *name) {
    return strcmp(name, spawn_tree_app.name) == 0 ? &spawn_tree_app : app_find(name);
}

static void run_one(bench *b, const bench_device *d, unsigned i, app_problems *problems) {
    const app *chosen = find_case(RUNS[i].app);
    bl_config config = {.device = d->id, .scheduler = RUNS[i].scheduler};
    bl_context *context = NULL;
    app_error error = {""};
    char key[KEY_SIZE], name[KEY_SIZE];
    measured m = {.how = ""};
    snprintf(key, sizeof key, "%s,%s,%s,%s", d->id, label_of(i), RUNS[i].options, RUNS[i].scheduler);
    snprintf(name, sizeof name, "%s %s", label_of(i), RUNS[i].label ? RUNS[i].scheduler : RUNS[i].options);
    bench_progress(b, "%s", name);
    bench_line(b, name);
    void *problem = app_problem_get(problems, chosen, RUNS[i].options, &error);
    bool good = problem && bl_open(&context, &config) == BL_OK;
    if (problem && !good)
        snprintf(error.text, sizeof error.text, "%.400s", bl_error_detail(NULL));
    if (good && (good = chosen->load(problem, context) == BL_OK)) {
        good = fill(b, key, chosen, problem, context, &m, &error);
        chosen->unload(problem, context);
    }
    bl_close(context);
    if (!good) {
        bench_wrong(b);
        bench_line_end(b, "failed: %s", error.text);
        return;
    }
    bench_cell(b, "%s", bench_digits(1e6 * bench_sum_up(&m.wall).median).text);
    bench_cell(b, "%s", bench_digits(1e6 * bench_sum_up(&m.longest).most).text);
    bench_cell(b, "%s", bench_digits(1e6 * bench_sum_up(&m.device).median).text);
    bench_line_end(b, "%s", "");
}

static void run(bench *b, bench_device *d) {
    static const char *const LABELS[] = {"caller waits", "longest", "the run itself"};
    app_problems problems = {.uses = 0};
    bench_table(b, "%s (%s): small runs on an open context; microseconds, medians of %u times %u runs", d->id, d->name,
                (unsigned)bench_repeats(b), bench_quick(b) ? (unsigned)QUICK_TIMES : (unsigned)TIMES);
    bench_head(b, "run", LABELS, sizeof LABELS / sizeof LABELS[0], 15);
    for (unsigned i = 0; i < COUNT && !bench_stopped(); i++)
        if (bench_wants(b, label_of(i)) && (d->warp > 1 || !RUNS[i].gpu))
            run_one(b, d, i, &problems);
    app_problems_close(&problems);
}

/* ---- the figures ---- */

/* There is no paper; the answer is the shortest run. */
static void say_least(const bench_panel *p, bench_verdict *v) {
    double least = INFINITY;
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned k = 0; k < p->curves[i].count; k++)
            least = fmin(least, p->curves[i].marks[k].median);
    bench_say(v, BENCH_NOT_APPLICABLE, "The shortest run takes %s microseconds.", bench_digits(least).text);
}

/* The first mark of a curve, per task of the chain. */
static double per_link(const bench_panel *p, const char *scheduler) {
    const bench_curve *curve = bench_panel_curve(p, scheduler);
    return curve && curve->count ? curve->marks[0].median / CHAIN_TASKS : NAN;
}

static void say_link(const bench_panel *p, bench_verdict *v) {
    bench_say(v, BENCH_NOT_APPLICABLE,
              "%s microseconds for a task with the default scheduler, %s for a wave with static:split.",
              bench_digits(per_link(p, "auto")).text, bench_digits(per_link(p, "static:split")).text);
}

static const bench_figure FIGURES[] = {
    {.name = "wait",
     .title = "What the caller of a small run waits",
     .asks = "How small may a run be?",
     .rows = "case=spawn_tree|fib|fourrow|nqueens|uts",
     .series = "case",
     .series_text = "application",
     .x = "tasks",
     .y = "wall_seconds",
     .y_scale = 1e6,
     .x_text = "tasks",
     .y_text = "microseconds",
     .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS,
     .no_contest = true,
     .agrees = say_least},
    {.name = "chain",
     .title = "A chain of 1,001 tasks that each spawn the next",
     .asks = "What does it cost to pass on a task, or a wave?",
     .rows = "case=chain",
     .series = "scheduler",
     .series_text = "scheduler",
     .y = "seconds",
     .y_scale = 1e6,
     .y_text = "microseconds",
     .flags = BENCH_BARS | BENCH_LOG_Y | BENCH_LESS,
     .no_contest = true,
     .agrees = say_link},
    {.name = NULL},
};

const bench_suite latency_suite = {
    .name = "latency",
    .text = "small runs on an open context: what the caller waits, and the time of the run itself",
    .columns = COLUMNS,
    .run = run,
    .version = 2,
    .figures = FIGURES,
};
