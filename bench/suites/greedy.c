/* Whether workers are greedy: a task that is ready waits only while all workers are busy.
 *
 *   loads    many tasks in eight mixtures of lengths, created in six ways, over the number of workers; on a GPU all
 *            that fit, by lanes and by blocks
 *   coarse   a few tasks, some of them very long: what hides behind a busy worker
 *
 * Greedy workers end within work / workers + longest path (Graham 1969). The bound adds 10 % and 2 ms; on a GPU, where
 * a worker may keep a task to itself while it runs one, twice the longest path and 50 microseconds. Rows have the time
 * over the bound. oneTBB and OpenMP run the same tasks in a separate program, greedy_peers. */
#include "harness/suite.h"

#include "harness/beside.h"
#include "greedy/greedy_run.h"

#include <inttypes.h>
#include <math.h>

static const bench_column COLUMNS[] = {
    {"device", "where"},
    {"case", "loads: many tasks; coarse: a few, some of them very long"},
    {"load", "how long the tasks take"},
    {"shape",
     "singly: spawned one by one; range: as one entry; roots: there at the start; loop, pieces: bl_run_range with "
     "BL_RUN, BL_RANGE_RUN; tree: leaves of forks"},
    {"group", "what runs a task: thread, lane or block"},
    {"asked_workers", "requested workers; 0: all that fit"},
    {"method", "the scheduler, or the other library's"},
    {"repeat", "number of the measurement"},
    {"seconds", "time of the run; on a GPU: device time"},
    {"tasks", "tasks that take time; those that only spawn or fork do not count"},
    {"workers", "workers that ran"},
    {"work_per_worker", "seconds: what the tasks took, over the workers. Tasks that the lanes of a warp ran together "
                        "count as one, as long as the longest"},
    {"filled", "of the lanes of such a warp, the part that was in a task meanwhile; 1 for threads and blocks"},
    {"longest_path", "seconds: of tasks that must run one after the other. A piece of a loop is a task, and so are the "
                     "tasks that the lanes of a warp ran together"},
    {"bound",
     "seconds: 1.1 times work per worker and longest path, and 2 ms; on a GPU twice the path, and 50 microseconds"},
    {"over_bound", "seconds over bound: greedy workers stay below 1"},
    {"over_peer", "seconds over the median of the best other library; -: there is none"},
    {"ran", "the full name of the scheduler; -: another library"},
    {"balances", "yes: the scheduler should be greedy; no: static shares; peer: another library"},
    {"check", "right: every task ran exactly once, and the sum of the tree is correct; else WRONG"},
    {NULL, NULL},
};

/* WIDELY: on a CPU only with WIDELY_WORKERS workers. */
enum { EVERYWHERE, WIDELY, WIDELY_ON_GPU, ONLY_COARSE };
enum { WIDELY_WORKERS = 8, REPEATS_MS = 60, QUICK_REPEATS_MS = 30, TEXT_SIZE = 1 << 16 };

typedef struct method {
    const char *name, *scheduler;
    int where;
    bool balances;
    unsigned shapes;
    bool no_private;
    uint32_t pop, capacity;
} method;

#define SHAPE(name) (1u << GREEDY_##name)
#define ALL_SHAPES ((1u << GREEDY_SHAPES) - 1)
/* On a GPU one queue for all has room for all that is spawned: this is not about how it grows. */
static const method METHODS[] = {
    {"default", "auto", EVERYWHERE, true, ALL_SHAPES, false, 0, 0},
    {"default pop 1", "auto", ONLY_COARSE, true, SHAPE(PIECES), false, 1, 0},
    {"default without private stack", "auto", ONLY_COARSE, true, ALL_SHAPES, true, 0, 0},
    {"steal:steal_many", "steal:steal_many", WIDELY_ON_GPU, true, ALL_SHAPES, false, 0, 0},
    {"steal:abp", "steal:abp", WIDELY, true, ALL_SHAPES, false, 0, 0},
    {"steal:broker", "steal:broker", WIDELY, true, ALL_SHAPES, false, 0, 0},
    {"range:packed_range", "range:packed_range", WIDELY, true, ALL_SHAPES, false, 0, 0},
    {"range:packed_range pop 1", "range:packed_range", ONLY_COARSE, true, SHAPE(PIECES), false, 1, 0},
    {"central:broker", "central:broker", WIDELY, true, ALL_SHAPES, false, 0, 1u << 20},
    {"donate:bwd", "donate:bwd", WIDELY, true, ALL_SHAPES, false, 0, 0},
    {"list:faa", "list:faa", WIDELY, true, SHAPE(LOOP) | SHAPE(PIECES), false, 0, 0},
    {"static:split", "static:split", WIDELY, false, ALL_SHAPES, false, 0, 0},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

/* The input of all methods. */
typedef struct point {
    const char *name; /* of the case */
    const char *load;
    greedy_shape shape;
    bool lane;
    uint32_t workers; /* as requested */
    uint32_t unit;    /* nanoseconds */
    uint32_t width;   /* of the load: tasks that can run at the same time */
} point;

typedef struct cell {
    bench_times seconds, filled, share, path, bound, ratio, over_peer;
    bool wrong;
    char problem[200];
} cell;

typedef struct session {
    bench *b;
    bench_device *d;
    char *text;           /* the output of the peers */
    bool broken;          /* do not use the device any more */
    bool said_no_peers;   /* reported that they are missing */
    unsigned judged, met; /* medians of schedulers that balance, and how many are within the bound */
    double worst;
    char worst_at[200];
} session;

static bool on_gpu(const session *s) { return s->d->warp > 1; }
static bool stopped(const session *s) { return s->broken || bench_stopped(); }
static double limit(const session *s) { return 1e-3 * (bench_quick(s->b) ? QUICK_REPEATS_MS : REPEATS_MS); }
static const char *group_of(const session *s, const point *p) {
    return !on_gpu(s) ? "thread" : p->lane ? "lane" : "block";
}
static double median(const bench_times *times) { return bench_sum_up(times).median; }

static void say(session *s, const char *what, const char *why) {
    bench_line(s->b, "");
    bench_line_end(s->b, "%s: %s", what, why);
    bench_remark(s->b, "%s: %s: %s", s->d->id, what, why);
}

/* ---- rows ---- */

typedef struct row_key {
    char text[256];
} row_key;

static row_key make_key(const session *s, const point *p, const char *method) {
    row_key key;
    snprintf(key.text, sizeof key.text, "%s,%s,%s,%s,%s,%" PRIu32 ",%s", s->d->id, p->name, p->load,
             greedy_shape_names[p->shape], group_of(s, p), p->workers, method);
    return key;
}

static void take_earlier(const session *s, const point *p, const char *method, cell *c) {
    row_key key = make_key(s, p, method);
    memset(c, 0, sizeof *c);
    bench_earlier(s->b, key.text, "seconds", &c->seconds);
    bench_earlier(s->b, key.text, "work_per_worker", &c->share);
    bench_earlier(s->b, key.text, "filled", &c->filled);
    bench_earlier(s->b, key.text, "longest_path", &c->path);
    bench_earlier(s->b, key.text, "bound", &c->bound);
    bench_earlier(s->b, key.text, "over_bound", &c->ratio);
    bench_earlier(s->b, key.text, "over_peer", &c->over_peer);
}

static bool complete(const session *s, const cell *c) {
    double spent = median(&c->seconds) * c->seconds.count;
    return c->seconds.count >= bench_repeats(s->b) || (c->seconds.count > 0 && spent >= limit(s));
}

typedef struct measured {
    double seconds, peer; /* peer: 0 if there is none */
    uint32_t tasks, workers;
    greedy_limits limits;
    const char *ran, *balances;
    bool right;
} measured;

static void add_row(session *s, const point *p, const char *method, cell *c, const measured *m) {
    double ratio = m->seconds / m->limits.bound;
    char over_peer[24] = "-";
    bench_add(&c->seconds, m->seconds);
    bench_add(&c->share, m->limits.share);
    bench_add(&c->filled, m->limits.filled);
    bench_add(&c->path, m->limits.path);
    bench_add(&c->bound, m->limits.bound);
    bench_add(&c->ratio, ratio);
    if (m->peer > 0) {
        bench_add(&c->over_peer, m->seconds / m->peer);
        snprintf(over_peer, sizeof over_peer, "%.4f", m->seconds / m->peer);
    }
    bench_row(s->b, "%s,%" PRIu32 ",%.9f,%" PRIu32 ",%" PRIu32 ",%.9f,%.4f,%.9f,%.9f,%.4f,%s,%s,%s,%s",
              make_key(s, p, method).text, c->seconds.count, m->seconds, m->tasks, m->workers, m->limits.share,
              m->limits.filled, m->limits.path, m->limits.bound, ratio, over_peer, m->ran, m->balances,
              m->right ? "right" : "WRONG");
    if (!m->right) {
        c->wrong = true;
        bench_wrong(s->b);
    }
}

/* ---- the screen ---- */

static void show_head(session *s, const point *p, bool coarse) {
    static const char *const LABELS[] = {"ms",    "work/worker", "filled",    "path",
                                         "bound", "over bound",  "over peer", "check"};
    char workers[32] = "all workers";
    if (p->workers)
        snprintf(workers, sizeof workers, "%" PRIu32 " workers", p->workers);
    bench_table(s->b, "%s (%s): %s%s%s, by %s, %s; medians", s->d->id, s->d->name, coarse ? p->load : "",
                coarse ? ", " : "", greedy_shape_names[p->shape], group_of(s, p), workers);
    bench_head(s->b, coarse ? "shape" : "load", LABELS, sizeof LABELS / sizeof LABELS[0], 11);
}

static void show_cell(session *s, const point *p, bool coarse, const char *method, const cell *c, bool judged) {
    double over_peer = median(&c->over_peer);
    if (c->problem[0])
        say(s, method, c->problem);
    if (c->seconds.count == 0)
        return;
    bench_line(s->b, coarse ? greedy_shape_names[p->shape] : p->load);
    bench_cell(s->b, "%s", bench_digits(1e3 * median(&c->seconds)).text);
    bench_cell(s->b, "%s", bench_digits(1e3 * median(&c->share)).text);
    bench_cell(s->b, "%s", p->lane ? bench_digits(median(&c->filled)).text : "-");
    bench_cell(s->b, "%s", bench_digits(1e3 * median(&c->path)).text);
    bench_cell(s->b, "%s", bench_digits(1e3 * median(&c->bound)).text);
    bench_cell(s->b, "%s", bench_digits(median(&c->ratio)).text);
    bench_cell(s->b, "%s", over_peer > 0 ? bench_digits(over_peer).text : "-");
    bench_cell(s->b, "%s", c->wrong ? "WRONG" : "right");
    bench_line_end(s->b, "%s%s", method, judged && median(&c->ratio) > 1 ? ": over the bound" : "");
}

static void judge(session *s, const point *p, const char *method, const cell *c) {
    double ratio = median(&c->ratio);
    if (c->seconds.count == 0)
        return;
    s->judged++;
    s->met += ratio <= 1;
    if (ratio <= s->worst)
        return;
    s->worst = ratio;
    snprintf(s->worst_at, sizeof s->worst_at, "%s, %s, %s, by %s, %" PRIu32 " workers requested", method, p->load,
             greedy_shape_names[p->shape], group_of(s, p), p->workers);
}

/* ---- the other libraries ---- */

static void take_peer_line(session *s, const point *p, const char *line, cell *cells) {
    char shape[16], load[64], name[64], check[16];
    unsigned threads, tasks, repeat;
    measured m = {.limits = {.filled = 1}, .ran = "-", .balances = "peer"};
    if (sscanf(line, "%15[^,],%63[^,],%63[^,],%u,%u,%u,%lf,%lf,%lf,%lf,%15s", shape, load, name, &threads, &tasks,
               &repeat, &m.seconds, &m.limits.share, &m.limits.path, &m.limits.bound, check) != 11)
        return;
    m.tasks = tasks;
    m.workers = threads;
    m.right = strcmp(check, "right") == 0;
    for (int i = 0; i < GREEDY_PEERS; i++)
        if (strcmp(greedy_peer_names[i], name) == 0)
            add_row(s, p, name, &cells[i], &m);
}

static void start_peers(session *s, const point *p, cell *cells) {
    char path[1024], repeats[16], seconds[24], threads[16], unit[16];
    char *arguments[] = {path,
                         "--repeats",
                         repeats,
                         "--limit",
                         seconds,
                         "--threads",
                         threads,
                         "--unit",
                         unit,
                         (char *)greedy_shape_names[p->shape],
                         (char *)p->load,
                         NULL};
    snprintf(repeats, sizeof repeats, "%" PRIu32, bench_repeats(s->b));
    snprintf(seconds, sizeof seconds, "%g", limit(s));
    snprintf(threads, sizeof threads, "%" PRIu32, p->workers);
    snprintf(unit, sizeof unit, "%" PRIu32, p->unit);
    if (!bench_beside("greedy_peers", path, sizeof path)) {
        if (!s->said_no_peers)
            say(s, "oneTBB, OpenMP", "left out: greedy_peers not found next to this tool (make bench builds it)");
        s->said_no_peers = true;
        return;
    }
    int status = bench_run_beside(arguments, s->text, TEXT_SIZE);
    if (bench_stopped())
        return;
    for (char *line = strtok(s->text, "\n"); line; line = strtok(NULL, "\n"))
        take_peer_line(s, p, line, cells);
    if (status != 0) {
        bench_wrong(s->b);
        say(s, "oneTBB, OpenMP", "WRONG: greedy_peers failed, or a result failed verification");
    }
}

/* The best median, 0 if there is none. Rows of all peers are written at once: if one exists, all do. */
static double run_peers(session *s, const point *p, cell *cells) {
    double best = 0;
    bool there = false;
    for (int i = 0; i < GREEDY_PEERS; i++) {
        take_earlier(s, p, greedy_peer_names[i], &cells[i]);
        there = there || cells[i].seconds.count > 0;
    }
    if (!there && !on_gpu(s))
        start_peers(s, p, cells);
    for (int i = 0; i < GREEDY_PEERS; i++) {
        double seconds = median(&cells[i].seconds);
        best = seconds > 0 && (best == 0 || seconds < best) ? seconds : best;
    }
    return best;
}

/* ---- ours ---- */

static bool belongs(const session *s, const method *m, const point *p, bool coarse) {
    if (m->where == WIDELY_ON_GPU)
        return on_gpu(s);
    if (coarse || m->where == EVERYWHERE)
        return true;
    return m->where == WIDELY && (on_gpu(s) || (p->workers == WIDELY_WORKERS && !bench_quick(s->b)));
}

static bool takes_part(const session *s, const method *m, const point *p, bool coarse) {
    const bl_program *program = greedy_program(s->d->target, p->shape, p->lane);
    return program && belongs(s, m, p, coarse) && (m->shapes >> p->shape & 1) &&
           (strcmp(m->scheduler, "auto") == 0 || bl_program_has(program, m->scheduler));
}

static void run_ours(session *s, const point *p, const greedy_load *load, bl_context *context, const method *m,
                     double peer, cell *c) {
    greedy_result r;
    greedy_run(context, p->shape, p->lane, load, &r);
    if (r.status == BL_OK) {
        measured row = {r.stats.seconds,
                        peer,
                        load->count,
                        r.stats.workers,
                        r.limits,
                        r.stats.scheduler,
                        m->balances ? "yes" : "no",
                        r.right};
        add_row(s, p, m->name, c, &row);
        return;
    }
    const char *detail = bl_error_detail(context);
    snprintf(c->problem, sizeof c->problem, "%s: %s%s%.120s", p->load, bl_status_text(r.status), *detail ? ": " : "",
             detail);
    c->problem[strcspn(c->problem, "\n")] = '\0';
    if (r.status == BL_ESTALL || r.status == BL_EDEVICE || r.status == BL_EDEAD) {
        s->broken = true;
        bench_wrong(s->b);
        say(s, "WRONG", "the rest of the suite on this device is left out");
    }
}

static bl_context *open_context(session *s, const point *p, const method *m) {
    static uint32_t nothing[1] = {0};
    greedy_load warm = {1, nothing};
    greedy_result r;
    bl_context *context;
    bl_config config = {.device = s->d->id, .scheduler = m->scheduler, .workers = p->workers};
    config.grain = m->pop;
    config.capacity = on_gpu(s) && p->shape == GREEDY_SINGLY ? m->capacity : 0;
    config.private_entries = m->no_private ? BL_NONE : 0;
    config.stall_seconds = 20;
    config.caller_waits = 1; /* so that a stall ends */
    int status = bl_open(&context, &config);
    if (status != BL_OK) {
        say(s, m->name, bl_status_text(status));
        return NULL;
    }
    greedy_run(context, p->shape, p->lane, &warm, &r); /* starts threads, loads code */
    return context;
}

typedef struct team {
    bl_context *context[METHOD_COUNT]; /* NULL: takes no part */
} team;

static void open_team(session *s, const point *p, bool coarse, team *t) {
    for (int i = 0; i < METHOD_COUNT; i++)
        t->context[i] = takes_part(s, &METHODS[i], p, coarse) && !stopped(s) ? open_context(s, p, &METHODS[i]) : NULL;
}

static void close_team(team *t) {
    for (int i = 0; i < METHOD_COUNT; i++)
        if (t->context[i])
            bl_close(t->context[i]);
}

static void run_point(session *s, const point *p, bool coarse, team *t) {
    static cell ours[METHOD_COUNT], peers[GREEDY_PEERS]; /* too large for a stack */
    greedy_load load;
    if (stopped(s) || !greedy_load_make(&load, p->load, p->width, p->unit))
        return;
    bench_progress(s->b, "%s %s %s %s", s->d->id, greedy_shape_names[p->shape], p->load, group_of(s, p));
    double peer = run_peers(s, p, peers);
    for (int i = 0; i < METHOD_COUNT; i++)
        take_earlier(s, p, METHODS[i].name, &ours[i]);
    for (uint32_t repeat = 0; repeat < bench_repeats(s->b); repeat++)
        for (int i = 0; i < METHOD_COUNT && !stopped(s); i++)
            if (t->context[i] && !ours[i].problem[0] && ours[i].seconds.count <= repeat && !complete(s, &ours[i]))
                run_ours(s, p, &load, t->context[i], &METHODS[i], peer, &ours[i]);
    for (int i = 0; i < METHOD_COUNT; i++) {
        show_cell(s, p, coarse, METHODS[i].name, &ours[i], METHODS[i].balances);
        if (METHODS[i].balances)
            judge(s, p, METHODS[i].name, &ours[i]);
    }
    for (int i = 0; i < GREEDY_PEERS; i++)
        show_cell(s, p, coarse, greedy_peer_names[i], &peers[i], false);
    greedy_load_free(&load);
}

/* ---- tables ---- */

/* The number of workers if all that fit are requested; it determines how wide a load should be. */
static uint32_t find_workers(session *s, const point *p) {
    static uint32_t nothing[1] = {0};
    greedy_load one = {1, nothing};
    greedy_result r;
    bl_context *context = p->workers ? NULL : open_context(s, p, &METHODS[0]);
    if (!context)
        return p->workers;
    greedy_run(context, p->shape, p->lane, &one, &r);
    bl_close(context);
    return r.status == BL_OK ? r.stats.workers : 0;
}

static bool is_quick_load(const char *name) {
    static const char *const QUICK[] = {"bimodal", "increasing", "decreasing", "giant last"};
    for (size_t i = 0; i < sizeof QUICK / sizeof QUICK[0]; i++)
        if (strcmp(QUICK[i], name) == 0)
            return true;
    return false;
}

/* Long compared with waking a sleeper; many workers on few cores wake up one after another. */
static uint32_t unit_for(const session *s, uint32_t workers) {
    return on_gpu(s) ? 100000 : workers > 32 ? 4000000 : 2000000;
}

static void run_loads(session *s, greedy_shape shape, bool lane, uint32_t workers) {
    team t;
    point p = {"loads", NULL, shape, lane, workers, unit_for(s, workers), 0};
    if (stopped(s) || !greedy_program(s->d->target, shape, lane))
        return;
    show_head(s, &p, false);
    p.width = find_workers(s, &p) * (lane ? 32 : 1);
    open_team(s, &p, false, &t);
    for (unsigned i = 0; (p.load = greedy_load_name(i)) && p.width > 0; i++)
        if (!bench_quick(s->b) || is_quick_load(p.load))
            run_point(s, &p, false, &t);
    close_team(&t);
}

static void loads(session *s) {
    static const uint32_t WORKERS[] = {2, 8, 16, 64};
    for (int shape = 0; shape < GREEDY_SHAPES; shape++) {
        if (on_gpu(s)) {
            run_loads(s, (greedy_shape)shape, false, 0);
            run_loads(s, (greedy_shape)shape, true, 0);
            continue;
        }
        for (size_t i = 0; i < sizeof WORKERS / sizeof WORKERS[0]; i++)
            if (!bench_quick(s->b) || WORKERS[i] == 8)
                run_loads(s, (greedy_shape)shape, false, WORKERS[i]);
    }
}

/* Lengths in units of 1 ms on a CPU and of 20 microseconds on a GPU: a long task takes 300 or 250 ms, or 5 ms. */
static const point CPU_COARSE[] = {
    {.load = "100 short then 8 long", .shape = GREEDY_SINGLY, .workers = 8},
    {.load = "100 short then 8 long", .shape = GREEDY_SINGLY, .workers = 16},
    {.load = "100 short then 8 long", .shape = GREEDY_LOOP, .workers = 8},
    {.load = "100 short then 8 long", .shape = GREEDY_ROOTS, .workers = 8},
    {.load = "8 long then 8 empty", .shape = GREEDY_PIECES, .workers = 2},
};
static const point GPU_COARSE[] = {
    {.load = "264 long", .shape = GREEDY_RANGE, .lane = false},
    {.load = "264 long", .shape = GREEDY_LOOP, .lane = false},
    {.load = "264 long", .shape = GREEDY_RANGE, .lane = true},
    {.load = "264 long", .shape = GREEDY_LOOP, .lane = true},
    {.load = "2048 medium", .shape = GREEDY_RANGE, .lane = false},
    {.load = "2048 medium", .shape = GREEDY_LOOP, .lane = false},
    {.load = "20000 of which every 100th long", .shape = GREEDY_RANGE, .lane = true},
    {.load = "20000 of which every 100th long", .shape = GREEDY_LOOP, .lane = true},
    {.load = "2048 of which every 64th long", .shape = GREEDY_RANGE, .lane = true},
    {.load = "2048 of which every 64th long", .shape = GREEDY_LOOP, .lane = true},
    {.load = "2048 of which every 64th long", .shape = GREEDY_RANGE, .lane = false},
    {.load = "2048 of which every 64th long", .shape = GREEDY_LOOP, .lane = false},
};

static void coarse(session *s) {
    const point *points = on_gpu(s) ? GPU_COARSE : CPU_COARSE;
    size_t count = on_gpu(s) ? sizeof GPU_COARSE / sizeof GPU_COARSE[0] : sizeof CPU_COARSE / sizeof CPU_COARSE[0];
    for (size_t i = 0; i < count && !stopped(s); i++) {
        team t;
        point p = points[i];
        p.name = "coarse";
        p.unit = on_gpu(s) ? 20000 : bench_quick(s->b) ? 100000 : 1000000;
        p.width = 1;
        show_head(s, &p, true);
        open_team(s, &p, true, &t);
        run_point(s, &p, true, &t);
        close_team(&t);
    }
}

static void sum_up(session *s) {
    char text[400];
    if (s->judged == 0)
        return;
    snprintf(text, sizeof text,
             "%u of %u medians of schedulers that balance are within the bound; the worst is %s times the bound (%s)",
             s->met, s->judged, bench_digits(s->worst).text, s->worst_at);
    bench_table(s->b, "%s: %s", s->d->id, text);
    bench_remark(s->b, "%s: %s", s->d->id, text);
}

static void run(bench *b, bench_device *d) {
    session s = {.b = b, .d = d, .text = malloc(TEXT_SIZE)};
    bool wants_loads = bench_wants(b, "loads"), wants_coarse = bench_wants(b, "coarse");
    if (s.text && wants_loads)
        loads(&s);
    if (s.text && wants_coarse)
        coarse(&s);
    sum_up(&s);
    free(s.text);
}

/* ---- the figures ---- */

static void judge_bound(const bench_panel *p, bench_verdict *v) {
    unsigned all = 0, within = 0;
    double worst = 0;
    const char *method = "", *load = "";
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < p->curves[i].count; j++) {
            const bench_mark *mark = &p->curves[i].marks[j];
            all++;
            within += mark->median <= 1;
            if (mark->median <= worst)
                continue;
            worst = mark->median;
            method = p->curves[i].name;
            load = mark->label;
        }
    bench_say(v,
              within == all  ? BENCH_YES
              : worst <= 1.1 ? BENCH_PARTLY
                             : BENCH_NO,
              "%u of %u are within the bound; the worst is %s times it, of %.80s with the load %.40s.", within, all,
              bench_digits(worst).text, method, load);
}

static const char *const SAYS[][2] = {
    {"loads", "many tasks"},           {"coarse", "a few long tasks"},        {"singly", "spawned one by one"},
    {"range", "spawned as one range"}, {"roots", "there at the start"},       {"loop", "a loop"},
    {"pieces", "a loop in pieces"},    {"tree", "leaves of a tree of forks"}, {NULL, NULL},
};

static const bench_figure FIGURES[] = {
    {.name = "bound",
     .title = "Time over the bound of greedy workers",
     .asks = "Does a task that is ready wait only while all workers are busy?",
     .found =
         "Graham 1969: where no worker idles while a task is ready, everything is done within work / workers + longest "
         "path. The bound adds 10 % and 2 ms; on a GPU it has twice the longest path, and 50 microseconds.",
     .rows = "balances=yes",
     .says = SAYS,
     .each = "device,case,shape",
     .series = "method,group,asked_workers",
     .series_text = "scheduler, group and workers (0: all that fit)",
     .x = "load",
     .y = "over_bound",
     .x_text = "load",
     .y_text = "time over the bound",
     .flags = BENCH_BARS | BENCH_LOG_Y | BENCH_LESS,
     .no_contest = true,
     .agrees = judge_bound},
    {.name = "peers",
     .title = "Compared with other libraries, 8 workers",
     .asks = "How do other libraries perform on the same tasks?",
     .rows = "device=cpu,asked_workers=8",
     .says = SAYS,
     .each = "device,case,shape",
     .series = "method",
     .x = "load",
     .y = "seconds",
     .y_scale = 1e3,
     .x_text = "load",
     .y_text = "milliseconds",
     .flags = BENCH_BARS | BENCH_LOG_Y | BENCH_LESS},
    {.name = NULL},
};

const bench_suite greedy_suite = {
    .name = "greedy",
    .text = "does a ready task wait while a worker is idle: time over work / workers + longest path, compared with "
            "oneTBB and OpenMP",
    .columns = COLUMNS,
    .run = run,
    .version = 1,
    .figures = FIGURES,
};
