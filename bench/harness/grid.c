#include "grid.h"

#include "common.h"

#include <ballast/ballast.h>
#include <inttypes.h>
#include <stdarg.h>

const bench_column bench_grid_columns[] = {
    {"device", "where"},
    {"queue", "name; none is the empty loop, faa the ceiling of anything with one shared counter per end"},
    {"case", "which table of the suite"},
    {"callers", "thread: each thread calls; warp: one lane of each warp does"},
    {"threads", "threads that ran at once"},
    {"capacity", "capacity of the queue, in items"},
    {"filled", "items in the queue when the clock started"},
    {"push", "probability of a push in each pair"},
    {"pop", "probability of a pop in each pair"},
    {"fma", "multiply-adds after each successful pop"},
    {"repeat", "number of the measurement"},
    {"seconds",
     "cpu: from the start of the first thread to the end of the last; cuda: kernel time, including the launch"},
    {"pushes", "successful pushes"},
    {"pops", "successful pops"},
    {"full", "pushes that found the queue full"},
    {"empty", "pops that found the queue empty"},
    {"mops", "million successful pushes and pops per second"},
    {"check", "right: popped items match pushed items by count and sum of squares; else WRONG; none: not a queue"},
    {"registers", "registers per thread of the kernel; 0 on a CPU"},
    {"resident", "threads of this kernel that fit at once"},
    {NULL, NULL},
};

void bench_grid_add(bench_grid *g, bench_spec spec, double items_per_caller, const char *format, ...) {
    if (g->count == BENCH_LABELS_MAX)
        return;
    bench_point *p = &g->points[g->count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->label, sizeof p->label, format, arguments);
    va_end(arguments);
    p->spec = spec;
    p->items_per_caller = items_per_caller;
}

void bench_grid_add_threads(bench_grid *g, const bench *b, const bench_device *d, bench_spec spec,
                            double items_per_caller) {
    static const uint32_t cpu_threads[] = {1, 2, 8, 64};
    if (d->warp == 1) {
        for (unsigned i = 0; i < sizeof cpu_threads / sizeof cpu_threads[0]; i++) {
            spec.threads = cpu_threads[i];
            bench_grid_add(g, spec, items_per_caller, "%" PRIu32, spec.threads);
        }
        return;
    }
    for (uint32_t bits = 5; bits <= 18; bits += bench_quick(b) ? 3 : 1) {
        spec.threads = 1u << bits;
        bench_grid_add(g, spec, items_per_caller, "%" PRIu32, spec.threads);
    }
    spec.threads = 0;
    bench_grid_add(g, spec, items_per_caller, "full");
}

/* ---- contenders that take part ---- */

static const char *left_out(const bench_device *d, const bench_contender *queue, const bench_spec *spec) {
    bl_device_info device = {.capability = 0};
    const char *lack = bl_device_find(d->id, &device) ? bl_device_lacks(&device, queue->name) : NULL;
    if (lack)
        return lack;
    bool deque = queue->kind == BL_QUEUE_KIND_DEQUE, waiting = queue->kind == BL_QUEUE_KIND_WAITING;
    if (!strstr(queue->devices, d->target))
        return "has no code for this device";
    if (deque && spec->loop != BENCH_OWNER)
        return "a deque: only its owner pushes and pops";
    if (!deque && queue->kind != BL_QUEUE_KIND_CEILING && spec->loop == BENCH_OWNER)
        return "not a deque";
    if (waiting && spec->loop != BENCH_TEN)
        return "waits when empty";
    if (waiting && d->warp > 1 && !spec->per_warp && !(queue->flags & BL_QUEUE_ALL_PARADIGMS))
        return "waits when empty: lanes of one warp would wait for each other";
    return NULL;
}

/* ---- one cell ---- */

typedef struct cell {
    bench_times seconds, mops;
    bool wrong;
    double longest, spent; /* of one repeat; of all, including set-up and verification */
    char problem[160];
} cell;

static double mops(const bench_result *r) {
    return r->seconds > 0 ? 1e-6 * (double)(r->pushes + r->pops) / r->seconds : 0;
}

static const char *verdict(const bench_spec *spec, const bench_result *r) {
    return spec->queue->kind == BL_QUEUE_KIND_CEILING ? "none" : r->right ? "right" : "WRONG";
}

/* What the row measures: its cells to the left of `repeat`. */
typedef struct row_key {
    char text[256];
} row_key;

static row_key make_key(const bench_device *d, const bench_grid *g, const bench_spec *spec, uint32_t capacity) {
    row_key key;
    snprintf(key.text, sizeof key.text, "%s,%s,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.4g,%.4g,%" PRIu32, d->id,
             spec->queue->name, g->name, spec->per_warp ? "warp" : "thread", spec->threads, capacity, spec->filled,
             spec->push / (double)BENCH_CERTAIN, spec->pop / (double)BENCH_CERTAIN, spec->fma);
    return key;
}

static void write_row(bench *b, const bench_device *d, const bench_grid *g, const bench_spec *spec,
                      const bench_result *r, uint32_t repeat, bench_room room) {
    bench_row(b, "%s,%" PRIu32 ",%.9f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6g,%s,%" PRIu32 ",%" PRIu32,
              make_key(d, g, spec, r->capacity).text, repeat, r->seconds, r->pushes, r->pops, r->full, r->empty,
              mops(r), verdict(spec, r), room.registers, room.threads);
}

/* Repeats of an earlier, interrupted run. */
static void take_earlier(bench *b, const bench_device *d, const bench_grid *g, const bench_spec *spec, cell *c) {
    bench_job job;
    bench_result shape = {0};
    if (!bench_plan(d, spec, &job, &shape))
        return;
    row_key key = make_key(d, g, spec, shape.capacity);
    bench_earlier(b, key.text, "seconds", &c->seconds);
    bench_earlier(b, key.text, "mops", &c->mops);
    bench_spread spread = bench_sum_up(&c->seconds);
    c->longest = spread.most;
    c->spent = spread.median * c->seconds.count;
}

static void measure_once(bench *b, bench_device *d, const bench_grid *g, const bench_spec *spec, bench_room room,
                         cell *c) {
    bench_result result;
    bench_progress(b, "%s %s %s, %" PRIu32 " threads, %" PRIu32 " of %" PRIu32, d->id, g->name, spec->queue->name,
                   spec->threads, c->seconds.count + 1, bench_repeats(b));
    double begun = bench_now();
    d->measure(d, spec, &result);
    c->spent += bench_now() - begun;
    if (result.problem[0]) {
        memcpy(c->problem, result.problem, sizeof c->problem);
        return;
    }
    write_row(b, d, g, spec, &result, c->seconds.count + 1, room);
    bench_add(&c->seconds, result.seconds);
    bench_add(&c->mops, mops(&result));
    c->wrong = c->wrong || !result.right;
    c->longest = result.seconds > c->longest ? result.seconds : c->longest;
}

/* Repeats until there are enough or they take too long in total, but at least once. */
static void measure(bench *b, bench_device *d, const bench_grid *g, const bench_spec *spec, bench_room room, cell *c,
                    uint32_t repeats) {
    while (c->seconds.count < repeats && !bench_stopped() && !c->problem[0]) {
        if (c->seconds.count > 0 && c->spent >= bench_limit(b))
            return;
        measure_once(b, d, g, spec, room, c);
    }
}

static bool fill_spec(const bench_device *d, const bench_point *p, const bench_contender *queue, bench_room room,
                      bench_spec *spec) {
    *spec = p->spec;
    spec->queue = queue;
    if (spec->threads == 0)
        spec->threads = room.threads;
    double items = p->items_per_caller * bench_callers(d, spec) + spec->filled;
    if (items > spec->capacity)
        spec->capacity = items < BL_QUEUE_MOST_CAPACITY ? (uint32_t)(items + 0.999) : BL_QUEUE_MOST_CAPACITY;
    return spec->threads > 0 && spec->threads <= room.threads;
}

/* Warms up caches, clocks and code; not a row. */
static void warm_up(bench_device *d, const bench_grid *g, const bench_contender *queue, bench_room room) {
    bench_spec spec;
    bench_result result;
    if (fill_spec(d, &g->points[0], queue, room, &spec))
        d->measure(d, &spec, &result);
}

/* ---- one line ---- */

typedef struct remark {
    char text[200];
} remark;

typedef struct line {
    const bench_contender *queue;
    const char *left_out; /* the reason; NULL if it takes part */
    bench_room room;
    remark said;
    unsigned end; /* from this point on it would take too long */
    cell cells[BENCH_LABELS_MAX];
} line;

static void show_cell(bench *b, const bench_grid *g, const cell *c, double ceiling) {
    double rate = bench_sum_up(&c->mops).median;
    if (c->seconds.count == 0)
        bench_cell(b, "%s", c->problem[0] ? "no" : "-");
    else if (c->wrong)
        bench_cell(b, "WRONG");
    else if (g->shown == BENCH_SHOW_MS)
        bench_cell(b, "%s", bench_digits(1e3 * bench_sum_up(&c->seconds).median).text);
    else if (ceiling > 0)
        bench_cell(b, "%s %3.0f%%", bench_digits(rate).text, 100 * rate / ceiling);
    else
        bench_cell(b, "%s", bench_digits(rate).text);
}

static remark line_remark(const bench_contender *queue, bench_step loop, bench_room room) {
    remark r = {""};
    bool ceiling = queue->kind == BL_QUEUE_KIND_CEILING;
    const char *what = !ceiling ? "" : loop == BENCH_TEN ? "not a queue" : "not a queue: never empty or full";
    if (room.registers > 0)
        snprintf(r.text, sizeof r.text, "%" PRIu32 " registers, %" PRIu32 " threads%s%s", room.registers, room.threads,
                 what[0] ? ", " : "", what);
    else
        snprintf(r.text, sizeof r.text, "%s", what);
    return r;
}

static void add_remark(remark *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_remark(remark *r, const char *format, ...) {
    char more[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(more, sizeof more, format, arguments);
    va_end(arguments);
    size_t length = strlen(r->text);
    snprintf(r->text + length, sizeof r->text - length, "%s%s", length ? "; " : "", more);
}

/* With few columns there is room for the share of the ceiling. */
static bool shows_share(const bench_grid *g) { return g->points[0].spec.loop == BENCH_TEN && g->count <= 6; }

/* The next point has more threads and takes longer at least in proportion: a queue that collapses is dropped. */
static bool ends_here(const bench *b, const bench_grid *g, unsigned i, const bench_spec *spec, const cell *c) {
    if (!g->growing || i + 1 >= g->count || c->seconds.count == 0)
        return false;
    uint32_t next = g->points[i + 1].spec.threads;
    double factor = next > spec->threads ? (double)next / spec->threads : 1;
    return c->longest * factor > bench_limit(b);
}

typedef struct pace {
    unsigned done, total; /* points of the table */
} pace;

static void run_line(bench *b, bench_device *d, const bench_grid *g, line *l, uint32_t repeats, pace *p) {
    for (unsigned i = 0; i < l->end && !bench_stopped(); i++) {
        cell *c = &l->cells[i];
        bench_spec spec;
        if (!fill_spec(d, &g->points[i], l->queue, l->room, &spec))
            continue;
        if (c->seconds.count == 0)
            take_earlier(b, d, g, &spec, c);
        measure(b, d, g, &spec, l->room, c, repeats);
        if (c->wrong)
            bench_wrong(b);
        bench_pace(b, p->done + i + 1, p->total);
        if (ends_here(b, g, i, &spec, c))
            l->end = i + 1;
    }
    p->done += g->count;
}

static void show_line(bench *b, const bench_device *d, const bench_grid *g, line *l, const line *ceiling) {
    bool share = shows_share(g) && ceiling && strcmp(l->queue->name, "none") != 0;
    bench_line(b, l->queue->name);
    if (l->left_out)
        add_remark(&l->said, "left out: %s", l->left_out);
    for (unsigned i = 0; i < g->count && !l->left_out; i++) {
        const cell *c = &l->cells[i];
        show_cell(b, g, c, share ? bench_sum_up(&ceiling->cells[i].mops).median : 0);
        if (c->problem[0])
            add_remark(&l->said, "%s", c->problem);
    }
    if (l->end < g->count)
        add_remark(&l->said, "stopped: more would take over %g s", bench_limit(b));
    bench_line_end(b, "%s", l->said.text);
    if (l->said.text[0])
        bench_remark(b, "%s, %s, %s: %s", d->id, g->name, l->queue->name, l->said.text);
}

/* ---- all of it ---- */

static void print_head(bench *b, const bench_grid *g) {
    const char *labels[BENCH_LABELS_MAX];
    for (unsigned i = 0; i < g->count; i++)
        labels[i] = g->points[i].label;
    bench_head(b, "queue", labels, g->count, shows_share(g) ? 12 : 8);
}

static void open_line(bench_device *d, const bench_grid *g, line *l, const bench_contender *queue) {
    const bench_spec *spec = &g->points[0].spec;
    memset(l, 0, sizeof *l);
    l->queue = queue;
    l->end = g->count;
    l->left_out = left_out(d, queue, spec);
    if (l->left_out)
        return;
    l->room = d->room(d, queue, spec->loop);
    l->said = line_remark(queue, spec->loop, l->room);
    warm_up(d, g, queue, l->room);
}

static unsigned open_lines(bench *b, bench_device *d, const bench_grid *g, line *lines, unsigned room) {
    unsigned count = 0;
    for (unsigned i = 0; bench_contender_at(i) && count < room && !bench_stopped(); i++) {
        const bench_contender *queue = bench_contender_at(i);
        if (bench_chosen(b, queue) && (!g->takes || queue->kind == BL_QUEUE_KIND_CEILING || g->takes(queue)))
            open_line(d, g, &lines[count++], queue);
    }
    return count;
}

static const line *find_ceiling(const line *lines, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(lines[i].queue->name, "faa") == 0)
            return &lines[i];
    return NULL;
}

/* On a CPU other programs come and go, so all queues take turns, again and again, and each gets its share of the
 * disturbance. On a GPU they run one after another. A line appears once it has all its repeats. */
void bench_grid_run(bench *b, bench_device *d, const bench_grid *g) {
    enum { LINES_MAX = 64 };
    line *lines = calloc(LINES_MAX, sizeof *lines);
    uint32_t passes = d->warp == 1 ? bench_repeats(b) : 1;
    print_head(b, g);
    unsigned count = lines ? open_lines(b, d, g, lines, LINES_MAX) : 0;
    const line *ceiling = find_ceiling(lines, count);
    pace p = {0, passes * count * g->count};
    bench_pace(b, 0, p.total);
    for (uint32_t pass = 0; pass < passes; pass++)
        for (unsigned i = 0; i < count; i++) {
            if (lines[i].left_out)
                p.done += g->count;
            else
                run_line(b, d, g, &lines[i], bench_repeats(b) / passes * (pass + 1), &p);
            if (pass + 1 == passes)
                show_line(b, d, g, &lines[i], ceiling);
        }
    bench_pace(b, 0, 0);
    free(lines);
}
