/* Panels from rows: filter, group, median and spread; and what verdicts ask of them. */
#include "common.h"
#include "rows.h"

#include <math.h>
#include <stdarg.h>

typedef struct maker {
    const bench_rows *rows;
    const bench_figure *figure;
    int x, y, check, repeat, device;
    bool words;
    bench_panel *panels;
    unsigned count;
    bench_error *error;
} maker;

/* ---- lists of words in a string ---- */

/* Whether one of "a|b*" is `value`; the list ends after `length` letters. */
static bool fits(const char *list, size_t length, const char *value) {
    for (const char *at = list, *end = list + length; at <= end;) {
        size_t word = 0;
        while (at + word < end && at[word] != '|')
            word++;
        bool begins = word > 0 && at[word - 1] == '*';
        if (begins ? strncmp(at, value, word - 1) == 0 : strlen(value) == word && memcmp(at, value, word) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

static bool listed(const char *list, const char *name, bool prefixes) {
    for (const char *at = list ? list : ""; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (strncmp(at, name, length) == 0 && (prefixes || name[length] == '\0'))
            return true;
    }
    return false;
}

static int need_column(const maker *m, const char *name, size_t length, int *column) {
    *column = bench_rows_column(m->rows, name, length);
    if (*column < 0)
        return bench_refuse(m->error, "%.200s: figure %s wants a column %.*s that the suite has not", m->rows->path,
                            m->figure->name, (int)length, name);
    return 0;
}

/* "column=value,column=value" */
static int passes(const maker *m, unsigned row, bool *pass) {
    *pass = true;
    for (const char *at = m->figure->rows ? m->figure->rows : ""; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t name = strcspn(at, "="), all = strcspn(at, ",");
        int column, status = need_column(m, at, name, &column);
        if (status)
            return status;
        if (!fits(at + name + 1, all - name - 1, bench_rows_cell(m->rows, row, column)))
            *pass = false;
    }
    return 0;
}

/* The values of several columns with ", " between them; NULL after an error. */
static char *join(const maker *m, unsigned row, const char *columns) {
    char text[256] = "";
    for (const char *at = columns; *at; at += strcspn(at, ","), at += *at == ',') {
        int column;
        size_t length = strlen(text);
        if (need_column(m, at, strcspn(at, ","), &column))
            return NULL;
        snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "",
                 bench_rows_cell(m->rows, row, column));
    }
    char *copy = strdup(text);
    if (!copy)
        bench_refuse(m->error, "out of memory");
    return copy;
}

/* ---- growing ---- */

static void *one_more(maker *m, void *array, unsigned count, size_t size) {
    void *more = realloc(array, (count + 1) * size);
    if (!more)
        bench_refuse(m->error, "out of memory");
    else
        memset((char *)more + count * size, 0, size);
    return more;
}

static bench_panel *panel_of(maker *m, unsigned row) {
    char *name = join(m, row, m->figure->each ? m->figure->each : "device");
    for (unsigned i = 0; name && i < m->count; i++)
        if (strcmp(m->panels[i].name, name) == 0) {
            free(name);
            return &m->panels[i];
        }
    bench_panel *more = name ? one_more(m, m->panels, m->count, sizeof *more) : NULL;
    if (!more) {
        free(name);
        return NULL;
    }
    m->panels = more;
    more += m->count++;
    more->figure = m->figure;
    more->name = name;
    more->device = bench_rows_cell(m->rows, row, m->device);
    more->words = m->words;
    return more;
}

static bench_curve *curve_of(maker *m, bench_panel *panel, unsigned row) {
    char *name = join(m, row, m->figure->series);
    for (unsigned i = 0; name && i < panel->count; i++)
        if (strcmp(panel->curves[i].name, name) == 0) {
            free(name);
            return &panel->curves[i];
        }
    bench_curve *more = name ? one_more(m, panel->curves, panel->count, sizeof *more) : NULL;
    if (!more) {
        free(name);
        return NULL;
    }
    panel->curves = more;
    more += panel->count++;
    more->name = name;
    more->bound = listed(m->figure->bounds, name, false);
    return more;
}

/* The place of a word among all that this panel has so far. */
static double place_of(const bench_panel *panel, const char *label) {
    double places = 0;
    for (unsigned i = 0; i < panel->count; i++)
        for (unsigned j = 0; j < panel->curves[i].count; j++) {
            const bench_mark *mark = &panel->curves[i].marks[j];
            if (strcmp(mark->label, label) == 0)
                return mark->x;
            places = mark->x + 1 > places ? mark->x + 1 : places;
        }
    return places;
}

static bench_mark *mark_of(maker *m, bench_panel *panel, bench_curve *curve, unsigned row) {
    const char *label = bench_rows_cell(m->rows, row, m->x);
    double x = m->words ? place_of(panel, label) : strtod(label, NULL);
    for (unsigned i = 0; i < curve->count; i++)
        if (curve->marks[i].x == x)
            return &curve->marks[i];
    bench_mark *more = one_more(m, curve->marks, curve->count, sizeof *more);
    if (!more)
        return NULL;
    curve->marks = more;
    more += curve->count++;
    more->x = x;
    more->label = label;
    return more;
}

/* ---- rows into marks ---- */

static bool number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static int not_twice(const maker *m, const bench_mark *mark, unsigned row) {
    const char *repeat = bench_rows_cell(m->rows, row, m->repeat);
    for (unsigned i = 0; i < mark->count; i++)
        if (m->repeat >= 0 && strcmp(bench_rows_cell(m->rows, mark->rows[i], m->repeat), repeat) == 0)
            return bench_refuse(
                m->error,
                "%.200s:%u: repeat %.20s was in line %u before: the same rows twice, or a figure that mixes "
                "rows (accepted: the file as ballast "
                "bench %s wrote it)",
                m->rows->path, m->rows->lines[row], repeat, m->rows->lines[mark->rows[i]], m->rows->suite->name);
    return 0;
}

static int add_value(maker *m, bench_mark *mark, unsigned row, double value) {
    int status = not_twice(m, mark, row);
    if (status)
        return status;
    double *all = one_more(m, mark->all, mark->count, sizeof *all);
    mark->all = all ? all : mark->all;
    unsigned *rows = one_more(m, mark->rows, mark->count, sizeof *rows);
    mark->rows = rows ? rows : mark->rows;
    if (!all || !rows)
        return 1;
    mark->all[mark->count] = value;
    mark->rows[mark->count++] = row;
    if (strcmp(bench_rows_cell(m->rows, row, m->check), "WRONG") == 0)
        mark->wrong = true;
    return 0;
}

/* A cell that is empty or "-" was not measured. */
static int add_row(maker *m, unsigned row) {
    const char *cell = bench_rows_cell(m->rows, row, m->y);
    double value, scale = m->figure->y_scale != 0 ? m->figure->y_scale : 1;
    if (cell[0] == '\0' || strcmp(cell, "-") == 0)
        return 0;
    if (!number(cell, &value))
        return bench_refuse(m->error,
                            "%.200s:%u: %s %.40s: not a number (accepted: the file as ballast bench %s wrote it)",
                            m->rows->path, m->rows->lines[row], m->figure->y, cell, m->rows->suite->name);
    bench_panel *panel = panel_of(m, row);
    bench_curve *curve = panel ? curve_of(m, panel, row) : NULL;
    bench_mark *mark = curve ? mark_of(m, panel, curve, row) : NULL;
    return mark ? add_value(m, mark, row, value * scale) : 1;
}

static int by_x(const void *a, const void *b) {
    double x = ((const bench_mark *)a)->x, y = ((const bench_mark *)b)->x;
    return (x > y) - (x < y);
}

static int sum_up(maker *m, bench_mark *mark) {
    double *sorted = malloc(mark->count * sizeof *sorted);
    if (!sorted)
        return bench_refuse(m->error, "out of memory");
    memcpy(sorted, mark->all, mark->count * sizeof *sorted);
    qsort(sorted, mark->count, sizeof *sorted, bench_ascending);
    mark->median = (sorted[(mark->count - 1) / 2] + sorted[mark->count / 2]) / 2;
    mark->least = sorted[0];
    mark->most = sorted[mark->count - 1];
    free(sorted);
    return 0;
}

static int finish_panel(maker *m, bench_panel *panel) {
    int status = 0;
    panel->first = m->panels;
    panel->panels = m->count;
    for (unsigned i = 0; i < panel->count; i++) {
        bench_curve *curve = &panel->curves[i];
        for (unsigned j = 0; j < curve->count && status == 0; j++)
            status = sum_up(m, &curve->marks[j]);
        qsort(curve->marks, curve->count, sizeof *curve->marks, by_x);
    }
    return status;
}

static int find_columns(maker *m) {
    const bench_figure *figure = m->figure;
    m->x = -1;
    m->check = bench_rows_column(m->rows, "check", 5);
    m->repeat = bench_rows_column(m->rows, "repeat", 6);
    m->device = bench_rows_column(m->rows, "device", 6);
    int status = need_column(m, figure->y, strlen(figure->y), &m->y);
    if (status == 0 && figure->x)
        status = need_column(m, figure->x, strlen(figure->x), &m->x);
    return status;
}

static int add_all(maker *m, bool *pass) {
    int status = 0;
    double value;
    for (unsigned row = 0; row < m->rows->count && status == 0; row++) {
        status = passes(m, row, &pass[row]);
        if (pass[row] && !number(bench_rows_cell(m->rows, row, m->x), &value))
            m->words = true;
    }
    for (unsigned row = 0; row < m->rows->count && status == 0; row++)
        if (pass[row])
            status = add_row(m, row);
    for (unsigned i = 0; i < m->count && status == 0; i++)
        status = finish_panel(m, &m->panels[i]);
    return status;
}

int bench_panels_make(const bench_rows *rows, const bench_figure *figure, bench_panel **panels, unsigned *count,
                      bench_error *error) {
    maker m = {.rows = rows, .figure = figure, .error = error};
    bool *pass = calloc(rows->count, sizeof *pass);
    int status = pass ? find_columns(&m) : bench_refuse(error, "out of memory");
    if (status == 0)
        status = add_all(&m, pass);
    free(pass);
    if (status)
        bench_panels_free(m.panels, m.count);
    *panels = status ? NULL : m.panels;
    *count = status ? 0 : m.count;
    return status;
}

static void free_curve(bench_curve *curve) {
    for (unsigned i = 0; i < curve->count; i++) {
        free(curve->marks[i].all);
        free(curve->marks[i].rows);
    }
    free(curve->marks);
    free(curve->name);
}

void bench_panels_free(bench_panel *panels, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < panels[i].count; j++)
            free_curve(&panels[i].curves[j]);
        free(panels[i].curves);
        free(panels[i].name);
    }
    free(panels);
}

/* ---- what verdicts ask ---- */

const char *bench_figure_axis(const bench_figure *figure) {
    if (!figure->x)
        return "";
    bool one_word = figure->x_text && !strpbrk(figure->x_text, " ,");
    return figure->x_text && (one_word || strcmp(figure->x, "x") == 0) ? figure->x_text : figure->x;
}

bool bench_panel_gpu(const bench_panel *panel) { return strncmp(panel->device, "cuda", 4) == 0; }

const bench_curve *bench_panel_curve(const bench_panel *panel, const char *name) {
    for (unsigned i = 0; i < panel->count; i++)
        if (strcmp(panel->curves[i].name, name) == 0)
            return &panel->curves[i];
    return NULL;
}

const bench_mark *bench_curve_at(const bench_curve *curve, double x) {
    for (unsigned i = 0; curve && i < curve->count; i++)
        if (curve->marks[i].x == x)
            return &curve->marks[i];
    return NULL;
}

static double median_of(const bench_mark *mark) { return mark && !mark->wrong ? mark->median : NAN; }

double bench_panel_at(const bench_panel *panel, const char *name, double x) {
    return median_of(bench_curve_at(bench_panel_curve(panel, name), x));
}

double bench_panel_near(const bench_panel *panel, const char *name, double x) {
    const bench_curve *curve = bench_panel_curve(panel, name);
    const bench_mark *nearest = NULL;
    double least = INFINITY;
    for (unsigned i = 0; curve && i < curve->count; i++) {
        double away = fabs(log(curve->marks[i].x / x));
        if (away < least) {
            least = away;
            nearest = &curve->marks[i];
        }
    }
    return median_of(nearest);
}

double bench_panel_word(const bench_panel *panel, const char *name, const char *x) {
    const bench_curve *curve = bench_panel_curve(panel, name);
    for (unsigned i = 0; curve && i < curve->count; i++)
        if (strcmp(curve->marks[i].label, x) == 0)
            return median_of(&curve->marks[i]);
    return NAN;
}

double bench_panel_end(const bench_panel *panel, const char *name) {
    const bench_curve *curve = bench_panel_curve(panel, name);
    return curve && curve->count > 0 ? median_of(&curve->marks[curve->count - 1]) : NAN;
}

static unsigned contenders_at(const bench_panel *panel, double x) {
    unsigned count = 0;
    for (unsigned i = 0; i < panel->count; i++)
        count += !panel->curves[i].bound && !isnan(median_of(bench_curve_at(&panel->curves[i], x)));
    return count;
}

double bench_panel_full(const bench_panel *panel) {
    double full = NAN;
    unsigned contenders = 0;
    for (unsigned i = 0; i < panel->count; i++)
        contenders += !panel->curves[i].bound;
    for (unsigned i = 0; i < panel->count; i++)
        for (unsigned j = 0; j < panel->curves[i].count; j++) {
            double x = panel->curves[i].marks[j].x;
            unsigned here = contenders_at(panel, x);
            if (here >= 2 && 2 * here >= contenders && !(x <= full))
                full = x;
        }
    return full;
}

static bool all_at(const bench_panel *panel, const char *names, double x) {
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (isnan(bench_panel_at(panel, name, x)))
            return false;
    }
    return true;
}

double bench_panel_common(const bench_panel *panel, const char *names) {
    double common = NAN;
    for (unsigned i = 0; i < panel->count; i++)
        for (unsigned j = 0; j < panel->curves[i].count; j++) {
            double x = panel->curves[i].marks[j].x;
            if (!(x <= common) && all_at(panel, names, x))
                common = x;
        }
    return common;
}

static bool better(const bench_panel *panel, double a, double b) {
    return (panel->figure->flags & BENCH_LESS) ? a < b : a > b;
}

const bench_curve *bench_panel_best_of(const bench_panel *panel, double x, const char *prefixes, bool only) {
    const bench_curve *best = NULL;
    double most = NAN;
    for (unsigned i = 0; i < panel->count; i++) {
        const bench_curve *curve = &panel->curves[i];
        double value = median_of(bench_curve_at(curve, x));
        if (curve->bound || isnan(value) || (prefixes && listed(prefixes, curve->name, true) != only))
            continue;
        if (!best || better(panel, value, most)) {
            best = curve;
            most = value;
        }
    }
    return best;
}

const bench_curve *bench_panel_best(const bench_panel *panel, double x) {
    return bench_panel_best_of(panel, x, NULL, false);
}

double bench_panel_gain(const bench_panel *panel, const char *a, const char *b, double x) {
    double first = bench_panel_at(panel, a, x), second = bench_panel_at(panel, b, x);
    return (panel->figure->flags & BENCH_LESS) ? second / first : first / second;
}

static const bench_curve *second(const bench_panel *panel, const bench_curve *first, double x) {
    const bench_curve *best = NULL;
    for (unsigned i = 0; i < panel->count; i++) {
        const bench_curve *curve = &panel->curves[i];
        double value = median_of(bench_curve_at(curve, x));
        if (curve == first || curve->bound || isnan(value))
            continue;
        if (!best || better(panel, value, median_of(bench_curve_at(best, x))))
            best = curve;
    }
    return best;
}

void bench_say_leader(const bench_panel *panel, bench_verdict *verdict, const char *reason) {
    double full = bench_panel_full(panel);
    const bench_curve *best = bench_panel_best(panel, full);
    const char *reference = panel->figure->reference;
    if (!best || panel->figure->no_contest) {
        bench_say(verdict, BENCH_NOT_APPLICABLE, "%s", reason);
        return;
    }
    const bench_mark *mark = bench_curve_at(best, full);
    const bench_curve *next = second(panel, best, full);
    if (next && (!reference || strcmp(best->name, reference) == 0))
        reference = next->name;
    double gain = reference ? bench_panel_gain(panel, best->name, reference, full) : NAN;
    char place[96] = "", over[96] = "";
    if (panel->figure->x)
        snprintf(place, sizeof place, " at %s %.40s", bench_figure_axis(panel->figure), mark->label);
    if (isfinite(gain) && strcmp(best->name, reference) != 0)
        snprintf(over, sizeof over, ", %s times better than %s", bench_digits(gain).text, reference);
    bench_say(verdict, BENCH_NOT_APPLICABLE, "%s Here %.60s leads%s with %s %s%s.", reason, best->name, place,
              bench_digits(mark->median).text, panel->figure->y_text, over);
}

void bench_say(bench_verdict *verdict, bench_agreement agreement, const char *format, ...) {
    va_list arguments;
    verdict->agreement = agreement;
    va_start(arguments, format);
    vsnprintf(verdict->text, sizeof verdict->text, format, arguments);
    va_end(arguments);
}
