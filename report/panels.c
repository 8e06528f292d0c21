/* Panels from rows: filter, group, median and spread. */
#include "../bench/harness/common.h"
#include "numbering.h"
#include "rows.h"

#include <math.h>

typedef struct maker {
    const bench_rows *rows;
    const bench_figure *figure;
    int x, y, check, repeat, device;
    bool words;
    struct measurement *all;
    unsigned count;
    bench_key *keys; /* as many as there are rows, like what follows */
    unsigned *places, *panel_words, *curve_at, *mark_at;
    bench_panel *panels;
    unsigned panel_count, made_panels, made_curves, made_marks;
    bench_error *error;
} maker;

/* ---- lists of words in a string ---- */

/* Whether one of "a|b*" matches `value`; the list ends after `length` letters. */
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

static int need_column(const maker *m, const char *name, size_t length, int *column) {
    *column = bench_rows_column(m->rows, name, length);
    if (*column < 0)
        return bench_refuse(m->error, "%.200s: figure %s needs a column %.*s that the suite does not have",
                            m->rows->path, m->figure->name, (int)length, name);
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

/* The values of several columns, separated by ", "; NULL after an error. */
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

/* ---- measurements: the rows of a figure, numbered by panel, curve and mark ---- */

typedef struct measurement {
    unsigned row;
    char *panel, *curve; /* names */
    double x, value;
    unsigned in_panel, in_curve, in_mark; /* numbers over all panels, by first occurrence */
} measurement;

static bool number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

/* Ranges and ratios of plotted values must not overflow a double. */
static bool drawable(double value) { return value == 0 || (fabs(value) >= 1e-100 && fabs(value) <= 1e100); }

static int refuse_cell(const maker *m, unsigned row, const char *column, const char *cell, const char *why) {
    return bench_refuse(m->error, "%.200s:%u: %s %.40s: %s", m->rows->path, m->rows->lines[row], column, cell, why);
}

static int read_number(const maker *m, unsigned row, const char *column, const char *cell, double *value) {
    if (!number(cell, value))
        return refuse_cell(m, row, column, cell, "not a number (accepted: the file as ballast bench wrote it)");
    if (!drawable(*value))
        return refuse_cell(m, row, column, cell, "cannot be drawn (accepted: 0, and from 1e-100 to 1e100)");
    return 0;
}

/* A cell that is empty or "-" was not measured. */
static bool was_measured(const maker *m, unsigned row) {
    const char *cell = bench_rows_cell(m->rows, row, m->y);
    return cell[0] != '\0' && strcmp(cell, "-") != 0;
}

static int measure(maker *m, unsigned row) {
    const bench_figure *figure = m->figure;
    measurement *one = &m->all[m->count];
    double scale = figure->y_scale != 0 ? figure->y_scale : 1;
    int status = read_number(m, row, figure->y, bench_rows_cell(m->rows, row, m->y), &one->value);
    if (status == 0 && !m->words)
        status = read_number(m, row, figure->x, bench_rows_cell(m->rows, row, m->x), &one->x);
    if (status)
        return status;
    one->row = row;
    one->value *= scale;
    one->panel = join(m, row, figure->each ? figure->each : "device");
    one->curve = join(m, row, figure->series);
    m->count++; /* from here on its names are freed with it */
    return one->panel && one->curve ? 0 : 1;
}

/* A word gets the position at which it first occurs in the panel. */
static void place_words(maker *m, unsigned *number_of) {
    for (unsigned i = 0; i < m->count; i++)
        m->keys[i] = (bench_key){.group = m->all[i].in_panel, .text = bench_rows_cell(m->rows, m->all[i].row, m->x)};
    bench_number_keys(m->keys, m->count, number_of);
    for (unsigned i = 0, words = 0; i < m->count; i++) {
        measurement *one = &m->all[i];
        if (number_of[i] == words)
            m->places[words++] = m->panel_words[one->in_panel]++;
        one->x = m->places[number_of[i]];
    }
}

static void number_all(maker *m, unsigned *number_of) {
    for (unsigned i = 0; i < m->count; i++)
        m->keys[i] = (bench_key){.text = m->all[i].panel};
    m->panel_count = bench_number_keys(m->keys, m->count, number_of);
    for (unsigned i = 0; i < m->count; i++) {
        m->all[i].in_panel = number_of[i];
        m->keys[i] = (bench_key){.group = number_of[i], .text = m->all[i].curve};
    }
    bench_number_keys(m->keys, m->count, number_of);
    for (unsigned i = 0; i < m->count; i++)
        m->all[i].in_curve = number_of[i];
    if (m->words)
        place_words(m, number_of);
    for (unsigned i = 0; i < m->count; i++)
        m->keys[i] = (bench_key){.group = m->all[i].in_curve, .x = m->all[i].x, .text = ""};
    bench_number_keys(m->keys, m->count, number_of);
    for (unsigned i = 0; i < m->count; i++)
        m->all[i].in_mark = number_of[i];
}

static int refuse_twice(const maker *m, unsigned row, unsigned before) {
    return bench_refuse(m->error,
                        "%.200s:%u: repeat %.20s was in line %u before: the same rows twice, or a figure that mixes "
                        "rows (accepted: the file as ballast bench %s wrote it)",
                        m->rows->path, m->rows->lines[row], bench_rows_cell(m->rows, row, m->repeat),
                        m->rows->lines[before], m->rows->suite->name);
}

static int check_repeats(maker *m, unsigned *number_of) {
    if (m->repeat < 0)
        return 0;
    for (unsigned i = 0; i < m->count; i++)
        m->keys[i] =
            (bench_key){.group = m->all[i].in_mark, .text = bench_rows_cell(m->rows, m->all[i].row, m->repeat)};
    bench_number_keys(m->keys, m->count, number_of);
    for (unsigned i = 0, repeats = 0; i < m->count; i++) {
        if (number_of[i] < repeats)
            return refuse_twice(m, m->all[i].row, m->all[m->places[number_of[i]]].row);
        m->places[repeats++] = i;
    }
    return 0;
}

/* ---- measurements into marks ---- */

/* Room for one more element, zeroed; the array doubles. NULL: out of memory, and the array is unchanged. */
static void *one_more(const maker *m, void *array, unsigned count, size_t size) {
    void *more = array;
    if ((count & (count - 1)) == 0)
        more = realloc(array, (count ? 2 * (size_t)count : 1) * size);
    if (!more)
        bench_refuse(m->error, "out of memory");
    else
        memset((char *)more + count * size, 0, size);
    return more;
}

static void add_panel(maker *m, measurement *from) {
    bench_panel *panel = &m->panels[m->made_panels++];
    panel->figure = m->figure;
    panel->name = from->panel;
    from->panel = NULL;
    panel->device = bench_rows_cell(m->rows, from->row, m->device);
    panel->words = m->words;
}

static int add_curve(maker *m, bench_panel *panel, measurement *from) {
    bench_curve *more = one_more(m, panel->curves, panel->count, sizeof *more);
    if (!more)
        return 1;
    panel->curves = more;
    m->curve_at[m->made_curves++] = panel->count;
    more += panel->count++;
    more->name = from->curve;
    from->curve = NULL;
    more->bound = bench_listed(m->figure->bounds, more->name, false);
    return 0;
}

static int add_mark(maker *m, bench_curve *curve, const measurement *from) {
    bench_mark *more = one_more(m, curve->marks, curve->count, sizeof *more);
    if (!more)
        return 1;
    curve->marks = more;
    m->mark_at[m->made_marks++] = curve->count;
    more += curve->count++;
    more->x = from->x;
    more->label = bench_rows_cell(m->rows, from->row, m->x);
    return 0;
}

static int add_value(maker *m, bench_mark *mark, const measurement *from) {
    double *all = one_more(m, mark->all, mark->count, sizeof *all);
    mark->all = all ? all : mark->all;
    unsigned *rows = one_more(m, mark->rows, mark->count, sizeof *rows);
    mark->rows = rows ? rows : mark->rows;
    if (!all || !rows)
        return 1;
    mark->all[mark->count] = from->value;
    mark->rows[mark->count++] = from->row;
    if (strcmp(bench_rows_cell(m->rows, from->row, m->check), "WRONG") == 0)
        mark->wrong = true;
    return 0;
}

/* Numbers count up by first occurrence, so a number equal to the current count is new. */
static int add(maker *m, measurement *one) {
    int status = 0;
    if (one->in_panel == m->made_panels)
        add_panel(m, one);
    bench_panel *panel = &m->panels[one->in_panel];
    if (status == 0 && one->in_curve == m->made_curves)
        status = add_curve(m, panel, one);
    if (status)
        return status;
    bench_curve *curve = &panel->curves[m->curve_at[one->in_curve]];
    if (one->in_mark == m->made_marks)
        status = add_mark(m, curve, one);
    return status ? status : add_value(m, &curve->marks[m->mark_at[one->in_mark]], one);
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
    panel->panels = m->panel_count;
    for (unsigned i = 0; i < panel->count; i++)
        for (unsigned j = 0; j < panel->curves[i].count && status == 0; j++)
            status = sum_up(m, &panel->curves[i].marks[j]);
    if (status == 0 && bench_panel_index(panel))
        status = bench_refuse(m->error, "out of memory");
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

/* Selects the rows, and finds out whether their x are words. */
static int choose(maker *m, bool *pass) {
    int status = 0;
    double value;
    for (unsigned row = 0; row < m->rows->count && status == 0; row++) {
        status = passes(m, row, &pass[row]);
        if (pass[row] && !number(bench_rows_cell(m->rows, row, m->x), &value))
            m->words = true;
    }
    for (unsigned row = 0; row < m->rows->count && status == 0; row++)
        if (pass[row] && was_measured(m, row))
            status = measure(m, row);
    return status;
}

static int make_panels(maker *m, unsigned *number_of) {
    number_all(m, number_of);
    int status = check_repeats(m, number_of);
    if (status)
        return status;
    m->panels = calloc((size_t)m->panel_count + 1, sizeof *m->panels);
    if (!m->panels)
        return bench_refuse(m->error, "out of memory");
    for (unsigned i = 0; i < m->count && status == 0; i++)
        status = add(m, &m->all[i]);
    for (unsigned i = 0; i < m->panel_count && status == 0; i++)
        status = finish_panel(m, &m->panels[i]);
    return status;
}

static int make_all(maker *m) {
    size_t room = (size_t)m->rows->count + 1;
    bool *pass = calloc(room, sizeof *pass);
    unsigned *numbers = calloc(room, 5 * sizeof *numbers);
    m->all = calloc(room, sizeof *m->all);
    m->keys = calloc(room, sizeof *m->keys);
    int status = pass && numbers && m->all && m->keys ? 0 : bench_refuse(m->error, "out of memory");
    if (status == 0) {
        m->places = numbers + room;
        m->panel_words = numbers + 2 * room;
        m->curve_at = numbers + 3 * room;
        m->mark_at = numbers + 4 * room;
        status = choose(m, pass);
    }
    if (status == 0)
        status = make_panels(m, numbers);
    for (unsigned i = 0; i < m->count; i++) {
        free(m->all[i].panel);
        free(m->all[i].curve);
    }
    free(m->keys);
    free(m->all);
    free(numbers);
    free(pass);
    return status;
}

int bench_panels_make(const bench_rows *rows, const bench_figure *figure, bench_panel **panels, unsigned *count,
                      bench_error *error) {
    maker m = {.rows = rows, .figure = figure, .error = error};
    int status = find_columns(&m);
    if (status == 0)
        status = make_all(&m);
    if (status)
        bench_panels_free(m.panels, m.made_panels);
    *panels = status ? NULL : m.panels;
    *count = status ? 0 : m.panel_count;
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
        bench_panel_unindex(&panels[i]);
        free(panels[i].curves);
        free(panels[i].name);
    }
    free(panels);
}
