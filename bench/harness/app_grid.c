#include "app_grid.h"

#include "app_problem.h"
#include "data.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

const bench_column app_grid_columns[] = {
    {"device", "where"},
    {"case", "which table of the suite"},
    {"app", "the application, as for ballast run"},
    {"options", "options of the application"},
    {"series", "the curve of the figure"},
    {"scheduler", "as requested; the papers' names run as the papers did: no private stack, one entry per node"},
    {"axis", "what x is"},
    {"x", "position on the axis of the figure"},
    {"asked_workers", "requested workers; 0: all that fit"},
    {"asked_lanes", "requested lanes per worker; 0: the application's choice"},
    {"pop", "loop indices taken at once; 0: the default"},
    {"private", "the private stack of each worker: default, or none"},
    {"repeat", "number of the measurement; the warm-up run is not recorded, unless it took seconds"},
    {"seconds", "time of the run, excluding set-up and copies; on a GPU: device time"},
    {"tasks", "tasks that ran"},
    {"tasks_per_second", "tasks over seconds"},
    {"workers", "workers that ran"},
    {"lanes", "lanes per worker"},
    {"ran", "the full name of the scheduler"},
    {"launches", "waves of a static scheduler, else 1 plus the number of times that queues grew"},
    {"peak_tasks", "entries: the sum of the workers' high-water marks"},
    {"paper_tasks", "the papers' figure: the largest queue times the number of queues, or the most tasks of a launch"},
    {"peak_bytes", "memory of queues, stacks and pools"},
    {"steals", "entries taken from another worker"},
    {"steal_attempts", "attempts to steal"},
    {"balance", "busy time of the least busy worker over that of the busiest"},
    {"check",
     "result verified against a known answer (known) or the sequential program (twin), or not (no); WRONG: it differs"},
    {NULL, NULL},
};

typedef struct cell {
    bench_times seconds, rate, tasks, waves, slots; /* of the rows */
    bool wrong;
    char problem[200]; /* why there is no figure */
} cell;

/* One point of one series, as requested from the library and the application. */
typedef struct order {
    const app *app;
    const app_table *table;
    const app_series *series;
    char options[APP_OPTIONS_SIZE], group[24];
    double x;
    bl_config config;
    uint32_t lanes;
    bl_context *context; /* open while repeats remain */
} order;

struct app_bench {
    bench *b;
    bench_device *d;
    bool counting, broken;            /* broken: do not use the device any more */
    unsigned planned, done, measured; /* points; measured: in this run, not in an earlier one */
    double spent;                     /* seconds, on points that were measured */
    app_problems problems;
};

bool app_quick(const app_bench *s) { return bench_quick(s->b); }
const bench_device *app_device(const app_bench *s) { return s->d; }
bench *app_screen(app_bench *s) { return s->counting ? NULL : s->b; }
static bool stopped(const app_bench *s) { return s->broken || bench_stopped(); }

void app_say(app_bench *s, const char *format, ...) {
    char text[400];
    va_list arguments;
    if (s->counting)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bench_line(s->b, "");
    bench_line_end(s->b, "%s", text);
    bench_remark(s->b, "%s: %s", s->d->id, text);
}

bool app_data_there(app_bench *s, const char *name, const char *options) {
    char why[BENCH_WHY_SIZE];
    if (bench_data_there(options, why))
        return true;
    app_say(s, "%s: left out: %s", name, why);
    return false;
}

/* ---- tables ---- */

app_series *app_add_series(app_table *t, const char *name, const char *scheduler) {
    if (t->series_count == APP_SERIES_MAX)
        return NULL;
    app_series *series = &t->series[t->series_count++];
    *series = (app_series){.name = name, .scheduler = scheduler};
    return series;
}

app_point *app_add_point(app_table *t, double x, const char *format, ...) {
    if (t->count == APP_POINTS_MAX)
        return NULL;
    app_point *p = &t->points[t->count++];
    va_list arguments;
    *p = (app_point){.x = x};
    va_start(arguments, format);
    vsnprintf(p->label, sizeof p->label, format, arguments);
    va_end(arguments);
    return p;
}

static void add_workers(app_table *t, uint32_t workers, uint32_t lanes) {
    for (unsigned i = 0; i < t->count; i++)
        if (t->points[i].workers >= workers && t->points[i].lanes == lanes)
            return;
    app_point *p = workers ? app_add_point(t, workers, "%" PRIu32, workers) : app_add_point(t, 0, "all that fit");
    if (p) {
        p->workers = workers;
        p->lanes = lanes;
    }
}

/* In eighths of the number of processors: from one worker to as many as fit. */
void app_add_workers(app_table *t, const app_bench *s, uint32_t lanes) {
    static const uint32_t quick[] = {2, 8, 16}, gpu[] = {1, 2, 4, 6, 8, 16, 32, 64}, cpu[] = {4, 8, 16, 32};
    uint32_t processors = s->d->processors;
    bool on_gpu = s->d->warp > 1;
    const uint32_t *eighths = app_quick(s) ? quick : on_gpu ? gpu : cpu;
    size_t count = app_quick(s) ? sizeof quick / 4 : on_gpu ? sizeof gpu / 4 : sizeof cpu / 4;
    if (!app_quick(s) || !on_gpu)
        add_workers(t, 1, lanes);
    for (size_t i = 0; i < count; i++) {
        uint32_t workers = processors * eighths[i] / 8;
        add_workers(t, workers ? workers : 1, lanes);
        if (eighths[i] == 8)
            add_workers(t, workers + 1, lanes); /* with an even share one of them would get twice the work */
    }
    if (on_gpu)
        add_workers(t, 0, lanes);
}

int app_best(const app_table *t, const app_medians *medians, unsigned series) {
    int best = -1;
    for (unsigned i = 0; i < t->count; i++) {
        double seconds = medians->seconds[series][i];
        if (seconds > 0 && (best < 0 || seconds < medians->seconds[series][best]))
            best = (int)i;
    }
    return best;
}

bool app_no_verdict(const bench_panel *panel, bench_verdict *verdict, double sum, bool gpu) {
    bool elsewhere = gpu && !bench_panel_gpu(panel);
    if (elsewhere || isnan(sum))
        bench_say_leader(panel, verdict,
                         elsewhere ? "The paper measured a GPU." : "Not all the rows that it needs were measured.");
    return elsewhere || isnan(sum);
}

/* ---- orders ---- */

static void add_options(char *all, const char *more) {
    size_t length = strlen(all);
    if (more && *more)
        snprintf(all + length, APP_OPTIONS_SIZE - length, "%s%s", length ? " " : "", more);
}

static uint32_t first_of(uint32_t a, uint32_t b) { return a ? a : b; }

static void make_order(const app_bench *s, const app_table *t, unsigned series, unsigned point, order *o) {
    const app_series *line = &t->series[series];
    const app_point *p = &t->points[point];
    memset(o, 0, sizeof *o);
    o->app = app_find(t->app);
    o->table = t;
    o->series = line;
    add_options(o->options, t->options);
    add_options(o->options, p->options);
    add_options(o->options, line->options);
    o->x = p->x;
    o->lanes = s->d->warp > 1 ? first_of(p->lanes, line->lanes) : 0;
    if (o->lanes) {
        snprintf(o->group, sizeof o->group, "block:%" PRIu32, o->lanes);
        o->config.group = o->group;
    }
    o->config.device = s->d->id;
    o->config.scheduler = line->scheduler;
    o->config.workers = first_of(p->workers, line->workers);
    o->config.grain = first_of(p->pop, line->pop);
    o->config.stall_seconds = 20;
    o->config.caller_waits = 1; /* so that a stall ends */
    o->config.private_entries = line->no_private ? BL_NONE : 0;
}

/* Why a series is left out of a table; NULL if it is not. */
static const char *left_out(const app_bench *s, const app_table *t, const app_series *series) {
    bl_device_info device = {.capability = 0};
    const char *lack = bl_device_find(s->d->id, &device) ? bl_device_lacks(&device, series->scheduler) : NULL;
    if (lack)
        return lack;
    const app *chosen = app_find(t->app);
    const bl_program *program = chosen ? bl_program_part(chosen->program(), s->d->target) : NULL;
    if (!chosen)
        return "the application is not in this build";
    if (!program)
        return "the application has no code for this device";
    if (strcmp(series->scheduler, "auto") == 0 || bl_program_has(program, series->scheduler))
        return NULL;
    return "no code for this scheduler in this build";
}

typedef struct row_key {
    char text[400];
} row_key;

static row_key make_key(const app_bench *s, const order *o) {
    row_key key;
    snprintf(key.text, sizeof key.text, "%s,%s,%s,%s,%s,%s,%s,%.8g,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s", s->d->id,
             o->table->name, o->table->app, o->options, o->series->name, o->series->scheduler, o->table->axis, o->x,
             o->config.workers, o->lanes, o->config.grain, o->series->no_private ? "none" : "default");
    return key;
}

static void take_earlier(app_bench *s, const order *o, cell *c) {
    row_key key = make_key(s, o);
    memset(c, 0, sizeof *c);
    bench_earlier(s->b, key.text, "seconds", &c->seconds);
    bench_earlier(s->b, key.text, "tasks_per_second", &c->rate);
    bench_earlier(s->b, key.text, "tasks", &c->tasks);
    bench_earlier(s->b, key.text, "launches", &c->waves);
    bench_earlier(s->b, key.text, "paper_tasks", &c->slots);
}

static double rate(const bl_stats *stats) { return stats->seconds > 0 ? (double)stats->tasks / stats->seconds : 0; }

static void add_run(cell *c, const bl_stats *stats) {
    bench_add(&c->seconds, stats->seconds);
    bench_add(&c->rate, rate(stats));
    bench_add(&c->tasks, (double)stats->tasks);
    bench_add(&c->waves, stats->launches);
    bench_add(&c->slots, (double)stats->paper_tasks);
}

/* Enough repeats, or as many as fit the time. */
static bool complete(const app_bench *s, const cell *c) {
    double spent = bench_sum_up(&c->seconds).median * c->seconds.count;
    return c->seconds.count >= bench_repeats(s->b) || (c->seconds.count > 0 && spent >= bench_limit(s->b));
}

/* ---- measuring ---- */

static void say_problem(cell *c, const order *o, int status) {
    const char *detail = bl_error_detail(o->context);
    snprintf(c->problem, sizeof c->problem, "%s%s%.120s", bl_status_text(status), *detail ? ": " : "", detail);
    c->problem[strcspn(c->problem, "\n")] = '\0';
}

static void write_row(app_bench *s, const order *o, const bl_stats *r, uint32_t repeat, const char *checked) {
    bench_row(s->b,
              "%s,%" PRIu32 ",%.9f,%" PRIu64 ",%.6g,%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64
              ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.4g,%s",
              make_key(s, o).text, repeat, r->seconds, r->tasks, rate(r), r->workers, r->lanes, r->scheduler,
              r->launches, r->peak_entries, r->paper_tasks, r->peak_bytes, r->steals, r->steal_attempts, r->balance,
              checked);
}

static const char *check(app_bench *s, const order *o, void *problem, const bl_stats *stats, cell *c) {
    app_error error = {""};
    const char *how = "no";
    if (o->app->check(problem, stats, false, &how, &error))
        return how;
    c->wrong = true;
    bench_wrong(s->b);
    app_say(s, "WRONG: %s, %s: %s", o->series->name, o->options, error.text);
    return "WRONG";
}

/* A stalled run may still be running, and would disturb every later measurement. */
static void give_up(app_bench *s, const order *o, int status) {
    s->broken = true;
    bench_wrong(s->b);
    app_say(s, "WRONG: %s, %s: %s; the rest of the suite on this device is left out", o->table->name, o->series->name,
            bl_status_text(status));
}

/* The first run is a warm-up, unless it takes so long that a second one would be too expensive. */
static bool is_row(const app_bench *s, const order *o, const bl_stats *stats, bool first) {
    bool as_asked = o->x != 0 && stats->workers >= o->config.workers;
    return !first || (as_asked && stats->seconds > bench_limit(s->b));
}

/* One run and its row. */
static void run_once(app_bench *s, const order *o, cell *c, bl_stats *stats, bool first) {
    app_error error = {""};
    void *problem = app_problem_get(&s->problems, o->app, o->options, &error);
    memset(stats, 0, sizeof *stats);
    if (!problem) {
        snprintf(c->problem, sizeof c->problem, "%.199s", error.text);
        return;
    }
    int status = o->app->load(problem, o->context);
    if (status == BL_OK) {
        status = o->app->run(problem, o->context, stats);
        if (status == BL_OK && is_row(s, o, stats, first)) {
            write_row(s, o, stats, c->seconds.count + 1, check(s, o, problem, stats, c));
            add_run(c, stats);
        }
        o->app->unload(problem, o->context);
    }
    if (status != BL_OK)
        say_problem(c, o, status);
    if (status == BL_ESTALL || status == BL_EDEVICE || status == BL_EDEAD)
        give_up(s, o, status);
}

/* ---- one line ---- */

/* Arrays have an element per series. */
typedef struct line {
    const app_table *table;
    cell cells[APP_SERIES_MAX];
    order orders[APP_SERIES_MAX];
    bool ended[APP_SERIES_MAX];     /* no more points */
    uint32_t most[APP_SERIES_MAX];  /* workers of the widest point so far */
    double longest[APP_SERIES_MAX]; /* seconds at the previous point */
    char said[APP_SERIES_MAX][200]; /* the last remark, not to be repeated */
} line;

static void show_progress(app_bench *s, const order *o, const cell *c) {
    double left = s->measured > 0 ? s->spent / s->measured * (s->planned - s->done) : 0;
    char time[48] = "";
    if (s->measured > 0)
        snprintf(time, sizeof time, left > 90 ? ", about %.0f min left" : ", about %.0f s left",
                 left > 90 ? left / 60 : left);
    bench_progress(s->b, "%s %s %s, %s %.6g, %" PRIu32 " of %" PRIu32 "; point %u of %u%s", s->d->id, o->table->name,
                   o->series->name, o->table->axis, o->x, c->seconds.count + 1, bench_repeats(s->b), s->done + 1,
                   s->planned, time);
}

static void widen(line *l, unsigned i, uint32_t workers) {
    if (l->most[i] < workers)
        l->most[i] = workers;
}

/* More workers than fit cannot all run at once: the library uses as many as fit, and these have a separate point. */
static void look_at_workers(line *l, unsigned i, uint32_t workers) {
    order *o = &l->orders[i];
    cell *c = &l->cells[i];
    uint32_t asked = o->config.workers;
    if (asked > workers)
        snprintf(c->problem, sizeof c->problem, "no more than %" PRIu32 " fit", workers);
    else if (o->x == 0 && workers == l->most[i])
        snprintf(c->problem, sizeof c->problem, "%" PRIu32 " are all that fit", workers);
    else if (o->x == 0)
        o->x = workers;
    if (!c->problem[0])
        widen(l, i, workers);
}

static void close_order(order *o) {
    if (o->context)
        bl_close(o->context);
    o->context = NULL;
}

/* Opens the series and runs it once to warm up, unless all repeats exist already. */
static void open_order(app_bench *s, line *l, unsigned i) {
    order *o = &l->orders[i];
    cell *c = &l->cells[i];
    bl_stats stats;
    bool unknown = o->x == 0;
    if (!unknown)
        take_earlier(s, o, c);
    if (complete(s, c)) {
        widen(l, i, o->config.workers);
        return;
    }
    show_progress(s, o, c);
    int status = bl_open(&o->context, &o->config);
    if (status != BL_OK) {
        o->context = NULL;
        say_problem(c, o, status);
        return;
    }
    run_once(s, o, c, &stats, true);
    if (!c->problem[0])
        look_at_workers(l, i, stats.workers);
    if (!c->problem[0] && unknown)
        take_earlier(s, o, c);
    if (c->problem[0] || complete(s, c))
        close_order(o);
}

static void take_turns(app_bench *s, line *l) {
    for (uint32_t repeat = 0; repeat < bench_repeats(s->b); repeat++)
        for (unsigned i = 0; i < l->table->series_count && !stopped(s); i++) {
            cell *c = &l->cells[i];
            bl_stats stats;
            if (!l->orders[i].context || c->problem[0] || c->seconds.count > repeat || complete(s, c))
                continue;
            show_progress(s, &l->orders[i], c);
            run_once(s, &l->orders[i], c, &stats, false);
        }
}

static void run_line(app_bench *s, line *l, unsigned point) {
    const app_table *t = l->table;
    double begun = bench_now();
    unsigned measured = 0;
    memset(l->cells, 0, sizeof l->cells);
    for (unsigned i = 0; i < t->series_count && !stopped(s); i++) {
        make_order(s, t, i, point, &l->orders[i]);
        if (!l->ended[i])
            open_order(s, l, i);
        measured += l->orders[i].context != NULL;
    }
    take_turns(s, l);
    for (unsigned i = 0; i < t->series_count; i++)
        close_order(&l->orders[i]);
    s->done += t->series_count;
    s->measured += measured;
    s->spent += measured ? bench_now() - begun : 0;
}

/* A scheduler that takes too long, and does not improve from point to point, is dropped. */
static void end_series(app_bench *s, line *l, unsigned point) {
    for (unsigned i = 0; i < l->table->series_count; i++) {
        double before = l->longest[i], longest = bench_sum_up(&l->cells[i].seconds).most;
        l->longest[i] = longest;
        if (l->ended[i] || longest <= bench_limit(s->b) || longest < 0.8 * before || point + 1 == l->table->count ||
            point == 0)
            continue;
        l->ended[i] = true;
        snprintf(l->cells[i].problem, sizeof l->cells[i].problem, "stopped: took over %g s", bench_limit(s->b));
    }
}

/* ---- the screen ---- */

static void show_cell(bench *b, const app_table *t, const cell *c) {
    double milliseconds = 1e3 * bench_sum_up(&c->seconds).median, per_ms = 1e-3 * bench_sum_up(&c->rate).median;
    if (c->seconds.count == 0)
        bench_cell(b, "-");
    else if (c->wrong)
        bench_cell(b, "WRONG");
    else if (t->shown == APP_SHOW_MS)
        bench_cell(b, "%s", bench_digits(milliseconds).text);
    else if (t->shown == APP_SHOW_RATE)
        bench_cell(b, "%s", bench_digits(per_ms).text);
    else if (t->shown == APP_SHOW_RATE_AND_SLOTS)
        bench_cell(b, "%s (%.0f)", bench_digits(per_ms).text, bench_sum_up(&c->slots).median);
    else
        bench_cell(b, "%.0f (%.0f)", bench_sum_up(&c->tasks).median, bench_sum_up(&c->waves).median);
}

/* An outlier is reported, not dropped. */
static void show_spread(const line *l, unsigned i, char *text, size_t size) {
    bench_spread spread = bench_sum_up(&l->cells[i].seconds);
    size_t length = strlen(text);
    if (spread.most > 1.3 * spread.least)
        snprintf(text + length, size - length, "%s%s %s to %s ms", length ? ", " : "", l->table->series[i].name,
                 bench_digits(1e3 * spread.least).text, bench_digits(1e3 * spread.most).text);
}

static void show_line(app_bench *s, line *l, unsigned point) {
    const app_table *t = l->table;
    char spreads[400] = "";
    bench_line(s->b, t->points[point].label);
    for (unsigned i = 0; i < t->series_count; i++) {
        show_cell(s->b, t, &l->cells[i]);
        show_spread(l, i, spreads, sizeof spreads);
    }
    bench_line_end(s->b, "%s", spreads);
    for (unsigned i = 0; i < t->series_count; i++) {
        const char *problem = l->cells[i].problem;
        if (*problem && strcmp(problem, l->said[i]) != 0)
            app_say(s, "%s, %s, %s %s: %s", t->name, t->series[i].name, t->axis, t->points[point].label, problem);
        memcpy(l->said[i], problem, sizeof l->said[i]);
    }
}

static void show_head(app_bench *s, const app_table *t) {
    static const char *const SHOWN[] = {"ms", "tasks/ms", "tasks/ms (slots for tasks)", "tasks (waves)"};
    const char *labels[APP_SERIES_MAX];
    int width = t->shown >= APP_SHOW_RATE_AND_SLOTS ? 16 : 9;
    for (unsigned i = 0; i < t->series_count; i++) {
        labels[i] = t->series[i].name;
        width = (int)strlen(labels[i]) > width ? (int)strlen(labels[i]) : width;
    }
    bench_table(s->b, "%s (%s): %s: %s; %s, medians of %u", s->d->id, s->d->name, t->name, t->title, SHOWN[t->shown],
                (unsigned)bench_repeats(s->b));
    bench_head(s->b, t->axis, labels, t->series_count, width);
}

/* ---- all of it ---- */

/* Whether any series remains. */
static bool leave_out(app_bench *s, line *l) {
    unsigned left = 0;
    for (unsigned i = 0; i < l->table->series_count; i++) {
        const char *why = left_out(s, l->table, &l->table->series[i]);
        l->ended[i] = why != NULL;
        left += why == NULL;
        if (why)
            app_say(s, "%s, %s (%s): left out: %s", l->table->name, l->table->series[i].name,
                    l->table->series[i].scheduler, why);
    }
    return left > 0;
}

static void keep_medians(const line *l, unsigned point, app_medians *medians) {
    for (unsigned i = 0; medians && i < l->table->series_count; i++)
        medians->seconds[i][point] = bench_sum_up(&l->cells[i].seconds).median;
}

/* For a table that was not requested: reads what an earlier run left. */
static void read_medians(app_bench *s, line *l, app_medians *medians) {
    for (unsigned point = 0; point < l->table->count; point++) {
        for (unsigned i = 0; i < l->table->series_count; i++) {
            make_order(s, l->table, i, point, &l->orders[i]);
            take_earlier(s, &l->orders[i], &l->cells[i]);
        }
        keep_medians(l, point, medians);
    }
}

static void measure_table(app_bench *s, line *l, app_medians *medians) {
    show_head(s, l->table);
    if (!leave_out(s, l)) {
        s->done += l->table->series_count * l->table->count;
        return;
    }
    for (unsigned point = 0; point < l->table->count && !stopped(s); point++) {
        run_line(s, l, point);
        end_series(s, l, point);
        show_line(s, l, point);
        keep_medians(l, point, medians);
    }
}

void app_table_run(app_bench *s, const app_table *t, app_medians *medians) {
    bool wanted = bench_wants(s->b, t->name);
    if (medians)
        memset(medians, 0, sizeof *medians);
    if (s->counting)
        s->planned += wanted ? t->series_count * t->count : 0;
    if (s->counting || stopped(s))
        return;
    line *l = calloc(1, sizeof *l);
    if (!l) {
        app_say(s, "%s: left out: out of memory", t->name);
        return;
    }
    l->table = t;
    if (wanted)
        measure_table(s, l, medians);
    else
        read_medians(s, l, medians);
    free(l);
}

void app_bench_run(bench *b, bench_device *d, void (*tables)(app_bench *s)) {
    app_bench s = {.b = b, .d = d, .counting = true};
    tables(&s);
    s.counting = false;
    tables(&s);
    app_problems_close(&s.problems);
}
