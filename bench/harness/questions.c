/* What verdicts and the page ask of a panel, and the index that answers without scanning every curve. */
#include "suite.h"

#include <ballast/ballast.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

bool bench_listed(const char *list, const char *name, bool prefixes) {
    for (const char *at = list ? list : ""; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (strncmp(at, name, length) == 0 && (prefixes || name[length] == '\0'))
            return true;
    }
    return false;
}

static double median_of(const bench_mark *mark) { return mark && !mark->wrong ? mark->median : NAN; }

static bool better(const bench_panel *panel, double a, double b) {
    return (panel->figure->flags & BENCH_LESS) ? a < b : a > b;
}

/* ---- the index ---- */

static int by_x(const void *a, const void *b) {
    double x = ((const bench_mark *)a)->x, y = ((const bench_mark *)b)->x;
    return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const bench_curve *const *)a)->name, (*(const bench_curve *const *)b)->name);
}

/* Marks of all curves by x; at the same x in the order of the curves. */
typedef struct standing {
    const bench_curve *curve;
    const bench_mark *mark;
} standing;

static int by_place(const void *left, const void *right) {
    const standing *a = left, *b = right;
    int order = by_x(a->mark, b->mark);
    return order ? order : (a->curve > b->curve) - (a->curve < b->curve);
}

/* On a tie the earlier curve is better. */
static void enter(bench_panel *panel, bench_place *place, const standing *s) {
    double value = median_of(s->mark);
    if (s->curve->bound || isnan(value))
        return;
    place->contenders++;
    if (!place->best || better(panel, value, median_of(bench_curve_at(place->best, place->x)))) {
        place->second = place->best;
        place->best = s->curve;
    } else if (!place->second || better(panel, value, median_of(bench_curve_at(place->second, place->x))))
        place->second = s->curve;
}

static void find_places(bench_panel *panel, const standing *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || all[i].mark->x != all[i - 1].mark->x)
            panel->places[panel->place_count++] = (bench_place){.x = all[i].mark->x, .mark = all[i].mark};
        enter(panel, &panel->places[panel->place_count - 1], &all[i]);
    }
}

static void find_full(bench_panel *panel) {
    unsigned contenders = 0;
    panel->full = NAN;
    for (unsigned i = 0; i < panel->count; i++)
        contenders += !panel->curves[i].bound;
    for (unsigned i = 0; i < panel->place_count; i++) {
        const bench_place *place = &panel->places[i];
        if (place->contenders >= 2 && place->contenders >= contenders - place->contenders)
            panel->full = place->x;
    }
}

int bench_panel_index(bench_panel *panel) {
    size_t count = 0;
    for (unsigned i = 0; i < panel->count; i++)
        count += panel->curves[i].count;
    standing *all = malloc((count + 1) * sizeof *all);
    panel->places = malloc((count + 1) * sizeof *panel->places);
    panel->by_name = malloc(((size_t)panel->count + 1) * sizeof *panel->by_name);
    if (!all || !panel->places || !panel->by_name) {
        free(all);
        return 1;
    }
    count = 0;
    for (unsigned i = 0; i < panel->count; i++) {
        const bench_curve *curve = panel->by_name[i] = &panel->curves[i];
        qsort(curve->marks, curve->count, sizeof *curve->marks, by_x);
        for (unsigned j = 0; j < curve->count; j++)
            all[count++] = (standing){curve, &curve->marks[j]};
    }
    qsort(panel->by_name, panel->count, sizeof *panel->by_name, by_name);
    qsort(all, count, sizeof *all, by_place);
    find_places(panel, all, count);
    find_full(panel);
    free(all);
    return 0;
}

void bench_panel_unindex(bench_panel *panel) {
    free(panel->places);
    free(panel->by_name);
}

/* ---- questions ---- */

const char *bench_figure_axis(const bench_figure *figure) {
    if (!figure->x)
        return "";
    bool one_word = figure->x_text && !strpbrk(figure->x_text, " ,");
    return figure->x_text && (one_word || strcmp(figure->x, "x") == 0) ? figure->x_text : figure->x;
}

bool bench_panel_gpu(const bench_panel *panel) { return (bl_device_traits(panel->device) & BL_DEVICE_GPU) != 0; }

const bench_curve *bench_panel_curve(const bench_panel *panel, const char *name) {
    for (unsigned low = 0, high = panel->count; low < high;) {
        unsigned middle = low + (high - low) / 2;
        int order = strcmp(name, panel->by_name[middle]->name);
        if (order == 0)
            return panel->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const bench_mark *bench_curve_at(const bench_curve *curve, double x) {
    for (unsigned low = 0, high = curve ? curve->count : 0; low < high;) {
        unsigned middle = low + (high - low) / 2;
        if (curve->marks[middle].x == x)
            return &curve->marks[middle];
        if (curve->marks[middle].x > x)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const bench_place *bench_panel_place(const bench_panel *panel, double x) {
    for (unsigned low = 0, high = panel->place_count; low < high;) {
        unsigned middle = low + (high - low) / 2;
        if (panel->places[middle].x == x)
            return &panel->places[middle];
        if (panel->places[middle].x > x)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

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

double bench_panel_full(const bench_panel *panel) { return panel->full; }

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
    for (unsigned i = panel->place_count; i-- > 0;)
        if (all_at(panel, names, panel->places[i].x))
            return panel->places[i].x;
    return NAN;
}

const bench_curve *bench_panel_best_of(const bench_panel *panel, double x, const char *prefixes, bool only) {
    const bench_curve *best = NULL;
    double most = NAN;
    for (unsigned i = 0; i < panel->count; i++) {
        const bench_curve *curve = &panel->curves[i];
        double value = median_of(bench_curve_at(curve, x));
        if (curve->bound || isnan(value) || (prefixes && bench_listed(prefixes, curve->name, true) != only))
            continue;
        if (!best || better(panel, value, most)) {
            best = curve;
            most = value;
        }
    }
    return best;
}

const bench_curve *bench_panel_best(const bench_panel *panel, double x) {
    const bench_place *place = bench_panel_place(panel, x);
    return place ? place->best : NULL;
}

double bench_panel_gain(const bench_panel *panel, const char *a, const char *b, double x) {
    double first = bench_panel_at(panel, a, x), second = bench_panel_at(panel, b, x);
    return (panel->figure->flags & BENCH_LESS) ? second / first : first / second;
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
    const bench_curve *next = bench_panel_place(panel, full)->second;
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
