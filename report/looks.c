/* How curves look. A name has the same colour and shape on the whole page; in a crowded panel only the best have a
 * colour. */
#include "report.h"

#include "numbering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

unsigned report_colour(report_look look) { return look.bound ? REPORT_BOUND : look.other ? REPORT_OTHER : look.colour; }

/* ---- the best first ---- */

static int by_rank(const void *left, const void *right) {
    const report_rank *a = left, *b = right;
    if (a->curve->bound != b->curve->bound)
        return a->curve->bound ? 1 : -1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->curve > b->curve) - (a->curve < b->curve);
}

/* Ranks where all can be compared; a curve that ends earlier ranks behind those that do not. */
report_rank *report_ranks(const bench_panel *p, bool contest) {
    report_rank *ranks = malloc(((size_t)p->count + 1) * sizeof *ranks);
    for (unsigned i = 0; ranks && i < p->count; i++) {
        const bench_mark *mark = bench_curve_at(&p->curves[i], bench_panel_full(p));
        double value = mark && !mark->wrong ? mark->median : NAN;
        ranks[i].curve = &p->curves[i];
        ranks[i].key = !contest ? 0 : isnan(value) ? INFINITY : (p->figure->flags & BENCH_LESS) ? value : -value;
    }
    if (ranks)
        qsort(ranks, p->count, sizeof *ranks, by_rank);
    return ranks;
}

static unsigned contenders(const bench_panel *p) {
    unsigned count = 0;
    for (unsigned i = 0; i < p->count; i++)
        count += !p->curves[i].bound;
    return count;
}

static void mark_crowd(const bench_panel *p, const report_rank *ranks, report_look *looks) {
    const char *reference = p->figure->reference;
    unsigned count = contenders(p);
    for (unsigned i = REPORT_SHOWN; i < count && count > REPORT_CROWD; i++) /* bounds come last */
        looks[ranks[i].curve - p->curves].other = !reference || strcmp(ranks[i].curve->name, reference) != 0;
}

/* If two curves of a panel share a colour, the later one is dashed. Bounds are grey and always dashed. */
static void choose_dashes(const bench_panel *p, report_look *looks) {
    unsigned same[REPORT_COLOURS] = {0}, bounds = 0;
    for (unsigned i = 0; i < p->count; i++) {
        report_look *look = &looks[i];
        unsigned *before = look->bound ? &bounds : &same[look->colour];
        look->dash = look->bound ? 2 + *before % 3 : 1 + *before % 4;
        *before += !look->other;
    }
}

/* ---- all panels ---- */

static unsigned count_curves(const report_figure *f) {
    unsigned count = 0;
    for (unsigned i = 0; i < f->count; i++)
        count += f->panels[i].count;
    return count;
}

static int make_looks(report_figure *f, unsigned panel) {
    const bench_panel *p = &f->panels[panel];
    report_rank *ranks = report_ranks(p, true);
    f->looks[panel] = calloc((size_t)p->count + 1, sizeof **f->looks);
    bool good = ranks && f->looks[panel];
    if (good)
        mark_crowd(p, ranks, f->looks[panel]);
    free(ranks);
    return good ? 0 : 1;
}

/* Numbers the names over all figures in order. */
static unsigned give_colours(report_figure *f, const unsigned *number) {
    unsigned used = 0;
    for (unsigned i = 0; i < f->count; i++) {
        for (unsigned j = 0; j < f->panels[i].count; j++) {
            report_look *look = &f->looks[i][j];
            look->bound = f->panels[i].curves[j].bound;
            if (look->bound)
                continue;
            unsigned at = number[used++];
            look->colour = at % REPORT_COLOURS;
            look->shape = (at + at / REPORT_COLOURS) % 5;
        }
        choose_dashes(&f->panels[i], f->looks[i]);
    }
    return used;
}

static unsigned add_keys(const report_figure *f, bench_key *keys) {
    unsigned count = 0;
    for (unsigned i = 0; i < f->count; i++)
        for (unsigned j = 0; j < f->panels[i].count; j++)
            if (!f->panels[i].curves[j].bound)
                keys[count++] = (bench_key){.text = f->panels[i].curves[j].name};
    return count;
}

static int make_all(report_figure *f) {
    f->looks = calloc((size_t)f->count + 1, sizeof *f->looks);
    int status = f->looks ? 0 : 1;
    for (unsigned i = 0; i < f->count && status == 0; i++)
        status = make_looks(f, i);
    return status;
}

int report_looks(report *r, bench_error *error) {
    size_t room = 1;
    int status = 0;
    for (unsigned i = 0; i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].count; j++) {
            room += count_curves(&r->experiments[i].figures[j]);
            status = status ? status : make_all(&r->experiments[i].figures[j]);
        }
    bench_key *keys = malloc(room * sizeof *keys);
    unsigned *number = malloc(room * sizeof *number), count = 0, used = 0;
    bool good = status == 0 && keys && number;
    for (unsigned i = 0; good && i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].count; j++)
            count += add_keys(&r->experiments[i].figures[j], keys + count);
    if (good)
        bench_number_keys(keys, count, number);
    for (unsigned i = 0; good && i < r->count; i++)
        for (unsigned j = 0; j < r->experiments[i].count; j++)
            used += give_colours(&r->experiments[i].figures[j], number + used);
    free(keys);
    free(number);
    return good ? 0 : bench_refuse(error, "out of memory");
}
