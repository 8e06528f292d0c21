#include "timeline.h"

#include "report.h"

#include <stdlib.h>
#include <string.h>

/* ---- the file: a head, one event per line, and an end ---- */

/* the highest number accepted: there is a sum for each worker up to the last */
enum { TIMELINE_WORKERS = 1 << 20 };
static const double TIMELINE_LEAST = 1e-3; /* the shortest run in microseconds: the smallest step of a clock */

typedef struct event {
    timeline_kind kind;
    double from, took; /* microseconds */
    unsigned worker;
} event;

/* Where the value of a member begins; NULL: not on this line. */
static const char *value_of(const char *line, const char *name) {
    char key[40];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(line, key);
    return at ? at + strlen(key) : NULL;
}

static void text_of(const char *line, const char *name, char *text, size_t size) {
    const char *at = value_of(line, name);
    text[0] = '\0';
    if (at && *at == '"')
        snprintf(text, size, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
}

static bool number_of(const char *line, const char *name, double *value) {
    const char *at = value_of(line, name);
    char *end = NULL;
    if (at)
        *value = strtod(at, &end);
    return at && end != at && *value >= 0 && *value < 1e15;
}

static timeline_kind kind_of(const char *line) {
    static const struct {
        const char *name;
        timeline_kind kind;
    } kinds[] = {{"task", TIMELINE_TASK},
                 {"steal", TIMELINE_STEAL},
                 {"search", TIMELINE_STEAL},
                 {"idle", TIMELINE_IDLE},
                 {"pause", TIMELINE_PAUSE}};
    char name[16];
    text_of(line, "name", name, sizeof name);
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return TIMELINE_KINDS;
}

/* False: the line is not a span. `good` is false for a span that cannot be parsed. */
static bool read_event(const char *line, event *e, bool *good) {
    double worker = 0;
    char phase[8];
    text_of(line, "ph", phase, sizeof phase);
    if (strcmp(phase, "X") != 0)
        return false;
    e->kind = kind_of(line);
    *good = e->kind != TIMELINE_KINDS && number_of(line, "ts", &e->from) && number_of(line, "dur", &e->took) &&
            number_of(line, "tid", &worker) && worker < TIMELINE_WORKERS;
    e->worker = *good ? (unsigned)worker : 0;
    return true;
}

typedef int (*each_event)(void *context, const event *e);

typedef struct reading {
    const char *path;
    FILE *file;
    char *line;
    size_t room;
    unsigned number;
    bool ended;
    bench_error *error;
} reading;

static int read_events(reading *r, each_event function, void *context) {
    int status = 0;
    rewind(r->file);
    r->number = 0;
    r->ended = false;
    while (status == 0 && getline(&r->line, &r->room, r->file) > 0) {
        event e;
        bool good = true;
        r->number++;
        r->ended = strcmp(r->line, "]}\n") == 0;
        if (!read_event(r->line, &e, &good))
            continue;
        if (!good)
            return bench_refuse(r->error,
                                "%.300s:%u: invalid span (accepted: a file that ballast run APP --trace "
                                "wrote)",
                                r->path, r->number);
        status = function(context, &e);
    }
    return status;
}

/* ---- what is in it ---- */

typedef struct worker_sum {
    double task, all;
} worker_sum;

typedef struct sums {
    timeline *t;
    double end, whole, kinds[TIMELINE_KINDS];
    worker_sum *workers;
    unsigned room;
    unsigned shown[TIMELINE_ROWS];                      /* the worker of each row */
    double (*weight)[TIMELINE_COLUMNS][TIMELINE_KINDS]; /* of each row, in the second pass */
} sums;

static int make_room(sums *s, unsigned worker) {
    unsigned room = s->room ? s->room : 64;
    while (room <= worker)
        room *= 2;
    if (room == s->room)
        return 0;
    worker_sum *more = realloc(s->workers, room * sizeof *more);
    if (!more)
        return 1;
    memset(more + s->room, 0, (room - s->room) * sizeof *more);
    s->workers = more;
    s->room = room;
    return 0;
}

static int add_sums(void *context, const event *e) {
    sums *s = context;
    if (make_room(s, e->worker))
        return 1;
    s->t->workers = e->worker + 1 > s->t->workers ? e->worker + 1 : s->t->workers;
    s->end = e->from + e->took > s->end ? e->from + e->took : s->end;
    s->kinds[e->kind] += e->took;
    s->whole += e->took;
    s->workers[e->worker].all += e->took;
    if (e->kind == TIMELINE_TASK)
        s->workers[e->worker].task += e->took;
    return 0;
}

static unsigned row_of(const timeline *t, unsigned worker) {
    return (unsigned)((unsigned long long)worker * t->rows / t->workers);
}

/* A row shows the busiest of the workers that it stands for, so that a task that keeps all others waiting is
 * visible. */
static void choose_workers(sums *s) {
    for (unsigned i = s->t->workers; i-- > 0;)
        s->shown[row_of(s->t, i)] = i;
    for (unsigned i = 0; i < s->t->workers; i++) {
        unsigned *shown = &s->shown[row_of(s->t, i)];
        if (s->workers[i].task > s->workers[*shown].task)
            *shown = i;
    }
}

/* Adds the span's time to each column that it touches, for the workers that are shown. */
static int add_weight(void *context, const event *e) {
    sums *s = context;
    unsigned row = row_of(s->t, e->worker);
    if (s->shown[row] != e->worker)
        return 0;
    double width = s->end / TIMELINE_COLUMNS, to = e->from + e->took;
    for (unsigned i = (unsigned)(e->from / width); i < TIMELINE_COLUMNS && i * width < to; i++) {
        double begin = e->from > i * width ? e->from : i * width, end = to < (i + 1) * width ? to : (i + 1) * width;
        if (end > begin)
            s->weight[row][i][e->kind] += end - begin;
    }
    return 0;
}

static void choose_cells(const sums *s) {
    for (unsigned row = 0; row < s->t->rows; row++)
        for (unsigned i = 0; i < TIMELINE_COLUMNS; i++) {
            unsigned best = TIMELINE_KINDS;
            for (unsigned kind = 0; kind < TIMELINE_KINDS; kind++)
                if (s->weight[row][i][kind] > (best == TIMELINE_KINDS ? 0 : s->weight[row][i][best]))
                    best = kind;
            s->t->cells[row][i] = (unsigned char)best;
        }
}

static void share_out(const sums *s) {
    timeline *t = s->t;
    t->milliseconds = s->end / 1e3;
    t->rows = t->workers < TIMELINE_ROWS ? t->workers : TIMELINE_ROWS;
    for (unsigned i = 0; i < TIMELINE_KINDS; i++)
        t->share[i] = s->whole > 0 ? s->kinds[i] / s->whole : 0;
    t->least = 1;
    for (unsigned i = 0; i < t->workers; i++) {
        double share = s->end > 0 ? s->workers[i].task / s->end : 0;
        t->least = share < t->least ? share : t->least;
        t->most = share > t->most ? share : t->most;
    }
}

static void read_head(timeline *t, const char *line) {
    double tasks = 0, steals = 0;
    text_of(line, "app", t->app, sizeof t->app);
    text_of(line, "device", t->device, sizeof t->device);
    text_of(line, "scheduler", t->scheduler, sizeof t->scheduler);
    if (number_of(line, "tasks", &tasks))
        t->tasks = (unsigned long long)tasks;
    if (number_of(line, "steals", &steals))
        t->steals = (unsigned long long)steals;
}

static int read_twice(reading *r, sums *s) {
    if (getline(&r->line, &r->room, r->file) <= 0 || !value_of(r->line, "traceEvents"))
        return bench_refuse(r->error, "%.300s: not a trace (accepted: a file that ballast run APP --trace wrote)",
                            r->path);
    read_head(s->t, r->line);
    int status = read_events(r, add_sums, s);
    if (status)
        return status;
    if (!r->ended)
        return bench_refuse(
            r->error,
            "%.300s: incomplete, its end is missing (accepted: the whole file; ballast run APP --trace again)",
            r->path);
    if (s->end < TIMELINE_LEAST || s->whole <= 0)
        return bench_refuse(r->error, "%.300s: contains no spans (accepted: a trace of a longer run)", r->path);
    share_out(s);
    choose_workers(s);
    s->weight = calloc(s->t->rows, sizeof *s->weight);
    status = s->weight ? read_events(r, add_weight, s) : 1;
    if (status == 0)
        choose_cells(s);
    return status;
}

/* "folder/octree-steal.trace.json" becomes octree-steal. */
static char *name_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strndup(name, strlen(name) - strlen(".trace.json"));
}

int timeline_read(timeline *t, const char *path, bench_error *error) {
    memset(t, 0, sizeof *t);
    reading r = {.path = path, .file = bench_open_file(path, error), .error = error};
    sums s = {.t = t};
    if (!r.file)
        return 1;
    error->text[0] = '\0';
    t->name = name_of(path);
    int status = t->name ? read_twice(&r, &s) : 1;
    if (status && error->text[0] == '\0')
        bench_refuse(error, "out of memory");
    free(s.workers);
    free(s.weight);
    free(r.line);
    fclose(r.file);
    if (status)
        timeline_free(t);
    return status;
}

void timeline_free(timeline *t) {
    free(t->name);
    free(t->plot);
    memset(t, 0, sizeof *t);
}

/* ---- the plot ---- */

static const unsigned COLOURS[TIMELINE_KINDS] = {REPORT_TASK, REPORT_STEAL, REPORT_IDLE, REPORT_PAUSE};

/* Merges adjacent cells of the same kind into one box: from, to, row. */
static void boxes(FILE *script, const timeline *t, unsigned kind) {
    double width = t->milliseconds / TIMELINE_COLUMNS, height = (double)t->workers / t->rows;
    fprintf(script, "$k%u << EOD\n", kind);
    for (unsigned row = 0; row < t->rows; row++)
        for (unsigned i = 0, from; i < TIMELINE_COLUMNS; i++) {
            if (t->cells[row][i] != kind)
                continue;
            for (from = i; i + 1 < TIMELINE_COLUMNS && t->cells[row][i + 1] == kind;)
                i++;
            fprintf(script, "%.9g %.9g %.9g %.9g\n", from * width, (i + 1) * width, row * height,
                    (row + (t->rows < 40 ? 0.85 : 1)) * height);
        }
    fputs("-1 -1 -1 -1\nEOD\n", script); /* outside the plot: a data block must not be empty */
}

enum { TIMELINE_NAMED = 16 }; /* at most this many rows get a number, at their middle */

static void name_rows(FILE *script, const timeline *t) {
    fputs("set ytics scale 0 (", script);
    for (unsigned i = 0; i < t->workers; i++)
        fprintf(script, "%s'%u' %g", i ? ", " : "", i, i + 0.43);
    fputs(")\n", script);
}

/* A run that ends before the axis does is marked: the empty part is the time gained. */
static void say_end(FILE *script, const timeline *t, double until) {
    if (t->milliseconds > 0.97 * until)
        return;
    fprintf(script, "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dt 2 lw 1.5\n", t->milliseconds,
            t->milliseconds);
    if (t->milliseconds < 0.88 * until) /* there is room for the word */
        fprintf(script, "set label 'done' at %.9g, graph 0.94 left offset 0.5,0\n", t->milliseconds);
}

void timeline_script(FILE *script, const timeline *t, double until, unsigned number) {
    fprintf(script,
            "reset\nset terminal svg size 480,300 dynamic noenhanced font 'sans-serif,14' name 'p%u'\n"
            "set key off\nset border 3\nset tics nomirror scale 0.5\nset style fill solid 1 noborder\n"
            "set xrange [0:%.9g]\nset yrange [%u:0]\nset xlabel offset 0,0.5 'milliseconds'\n"
            "set ylabel offset 0.8,0 'worker'\nset xtics autofreq\nset format '%%g'\n",
            number, until, t->workers);
    if (t->workers <= TIMELINE_NAMED)
        name_rows(script, t);
    say_end(script, t, until);
    for (unsigned kind = 0; kind < TIMELINE_KINDS; kind++)
        boxes(script, t, kind);
    for (unsigned kind = 0; kind < TIMELINE_KINDS; kind++)
        fprintf(script, "%s$k%u using 1:3:1:2:3:4 with boxxyerror lc rgb '#0100%02x' notitle", kind ? ", " : "plot ",
                kind, COLOURS[kind]);
    fputc('\n', script);
}
