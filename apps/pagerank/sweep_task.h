/* The PageRank task of a sweep: one unit and one step (sweep.h).
 *
 * Sums are additions in a fixed order, as in task.h. Loads are not: a lane asks for several values before it adds the
 * first. Where a list ends in the middle of such a group it adds zeros, which changes no sum of values that are not
 * negative.
 *
 * Order pairs: C1 (arrival at a cut row, release) with itself (acquire, by the last): the last unit sees the partial
 * sums of the others, including those that other lanes stored before bl_sync. All else that a task reads was written in
 * an earlier wave, or before a bl_sync of its own.
 */
#ifndef BALLAST_PAGERANK_SWEEP_TASK_H
#define BALLAST_PAGERANK_SWEEP_TASK_H

#include "sweep.h"

#include <ballast/task.h>

#include <math.h>

enum { PAGERANK_AHEAD = 8 }; /* loads that a lane has under way */

/* What pagerank_given is about. */
typedef struct pagerank_masses {
    double delta[PAGERANK_STEPS], first_delta[PAGERANK_STEPS], given[PAGERANK_STEPS];
} pagerank_masses;

typedef struct pagerank_scratch {
    double value[PAGERANK_UNIT_EDGES]; /* of the unit's lists */
    pagerank_masses masses;
    uint32_t last; /* this unit is the last to arrive */
    uint32_t unused;
} pagerank_scratch;

static BL_TASK double *pagerank_step(const pagerank_sweep_shared *s, uint32_t step) {
    return s->value + (size_t)step * (s->nodes + 1);
}

static BL_TASK double *pagerank_partial(const pagerank_sweep_shared *s, uint32_t step) {
    return s->partial + (size_t)(step % 2) * s->partials;
}

static BL_TASK double pagerank_add_up(const bl_task *t, const double *list, uint32_t count) {
    double sum = 0;
    if (t->lanes == 1) {
        for (uint32_t i = 0; i < count; i++)
            sum += list[i];
        return sum;
    }
    for (uint32_t i = 0; i < count; i += PAGERANK_AHEAD) {
        double ahead[PAGERANK_AHEAD];
        for (uint32_t k = 0; k < PAGERANK_AHEAD; k++)
            ahead[k] = i + k < count ? list[i + k] : 0;
        for (uint32_t k = 0; k < PAGERANK_AHEAD; k++)
            sum += ahead[k];
    }
    return sum;
}

/* ---- the values of the lists, and the sums of the pieces ---- */

static BL_TASK void pagerank_gather(const bl_task *t, const pagerank_sweep_shared *s, pagerank_part part,
                                    const double *from, double *to) {
    for (uint32_t i = part.first + t->lane; i < part.end; i += PAGERANK_AHEAD * t->lanes) {
        uint32_t source[PAGERANK_AHEAD];
        double ahead[PAGERANK_AHEAD];
        for (uint32_t k = 0; k < PAGERANK_AHEAD; k++)
            source[k] = i + k * t->lanes < part.end ? s->source[i + k * t->lanes] : 0;
        for (uint32_t k = 0; k < PAGERANK_AHEAD; k++)
            ahead[k] = i + k * t->lanes < part.end ? from[source[k]] : 0;
        for (uint32_t k = 0; k < PAGERANK_AHEAD; k++)
            if (i + k * t->lanes < part.end)
                to[i + k * t->lanes - part.first] = ahead[k];
    }
}

/* Adds up a piece whose values are not gathered: a single lane gains nothing by that. */
static BL_TASK double pagerank_add_sources(const uint32_t *source, uint32_t count, const double *from) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += from[source[i]];
    return sum;
}

typedef struct pagerank_next {
    uint32_t first, end, target;
    double scale;
} pagerank_next;

/* A piece of the unit, if there is one with that number. */
static BL_TASK pagerank_next pagerank_load(const pagerank_sweep_shared *s, pagerank_part pieces, uint32_t number) {
    pagerank_next next = {0, 0, 0, 0};
    if (number >= pieces.end)
        return next;
    next.first = s->piece[number].first;
    next.target = s->piece[number].target;
    next.end = s->piece[number + 1].first;
    if (!(next.target & PAGERANK_PARTIAL))
        next.scale = s->scale[next.target];
    return next;
}

static BL_TASK void pagerank_sum_pieces(bl_task *t, const pagerank_sweep_shared *s, const pagerank_unit *unit,
                                        uint32_t step) {
    const double *from = pagerank_step(s, step - 1);
    double *to = pagerank_step(s, step), *partial = pagerank_partial(s, step);
    double *gathered = ((pagerank_scratch *)t->scratch)->value;
    pagerank_next next = pagerank_load(s, unit->piece, unit->piece.first + t->lane);
    if (t->lanes > 1) {
        pagerank_gather(t, s, unit->source, from, gathered);
        bl_sync(t);
    }
    for (uint32_t i = unit->piece.first + t->lane; i < unit->piece.end; i += t->lanes) {
        const pagerank_next now = next;
        const uint32_t count = now.end - now.first;
        next = pagerank_load(s, unit->piece, i + t->lanes);
        const double sum = t->lanes > 1 ? pagerank_add_up(t, gathered + (now.first - unit->source.first), count)
                                        : pagerank_add_sources(s->source + now.first, count, from);
        if (now.target & PAGERANK_PARTIAL)
            partial[now.target & ~PAGERANK_PARTIAL] = sum;
        else
            to[now.target] = sum * now.scale;
    }
}

/* ---- rows of more than one piece ---- */

static BL_TASK void pagerank_sum_longs(bl_task *t, const pagerank_sweep_shared *s, pagerank_part longs, uint32_t step) {
    double *to = pagerank_step(s, step), *partial = pagerank_partial(s, step);
    if (longs.first == longs.end)
        return;
    bl_sync(t);
    for (uint32_t i = longs.first + t->lane; i < longs.end; i += t->lanes) {
        const uint32_t first = s->longs[i].first, row = s->longs[i].target;
        to[row] = pagerank_add_up(t, partial + first, s->longs[i + 1].first - first) * s->scale[row];
    }
}

static BL_TASK void pagerank_sum_cut(bl_task *t, const pagerank_sweep_shared *s, const pagerank_cut *cut,
                                     uint32_t step) {
    double *list = pagerank_partial(s, step) + cut->first;
    uint32_t count = cut->count;
    while (count > PAGERANK_FAN) {
        const uint32_t pieces = (count - 1) / PAGERANK_FAN + 1;
        for (uint32_t i = t->lane; i < pieces; i += t->lanes) {
            const uint32_t left = count - i * PAGERANK_FAN;
            list[count + i] =
                pagerank_add_up(t, list + (size_t)i * PAGERANK_FAN, left < PAGERANK_FAN ? left : PAGERANK_FAN);
        }
        list += count;
        count = pieces;
        bl_sync(t);
    }
    if (t->lane == 0)
        pagerank_step(s, step)[cut->row] = pagerank_add_up(t, list, count) * s->scale[cut->row];
}

/* The dangling nodes are left to the next wave, except in the last step. */
static BL_TASK void pagerank_arrive_at_cuts(bl_task *t, const pagerank_sweep_shared *s, pagerank_part cuts,
                                            uint32_t step) {
    uint32_t own, *last = t->lanes > 1 ? &((pagerank_scratch *)t->scratch)->last : &own;
    for (uint32_t i = cuts.first; i < cuts.end; i++) {
        const pagerank_cut cut = s->cut[i];
        if (cut.row == s->nodes && step < s->steps)
            continue;
        bl_sync(t);
        if (t->lane == 0) {
            *last = cut.units == 1 || bl_fetch_add32_acq_rel(&s->arrived[i], 1) + 1 == cut.units; /* C1 */
            if (*last)
                bl_store32_relaxed(&s->arrived[i], 0);
        }
        bl_sync(t);
        if (*last)
            pagerank_sum_cut(t, s, &cut, step);
    }
}

/* ---- the scores ---- */

static BL_TASK void pagerank_find_given(bl_task *t, const pagerank_sweep_shared *s, pagerank_masses *m) {
    for (uint32_t i = t->lane; i < s->steps; i += t->lanes) {
        const size_t at = (size_t)(i + 1) * (s->nodes + 1) + s->nodes;
        m->delta[i] = s->value[at];
        m->first_delta[i] = s->base[at];
    }
    bl_sync(t);
    if (t->lane == 0)
        pagerank_given(m->given, m->delta, m->first_delta, s->steps, s->damping);
    bl_sync(t);
}

/* What the score of a node is made of: base[j] belongs to given[j]. */
typedef struct pagerank_terms {
    double value, base[PAGERANK_STEPS], scale;
} pagerank_terms;

static BL_TASK pagerank_terms pagerank_load_terms(const pagerank_sweep_shared *s, uint32_t node) {
    pagerank_terms terms;
    terms.value = pagerank_step(s, s->steps)[node];
    for (uint32_t j = 0; j < PAGERANK_STEPS; j++)
        terms.base[j] = j < s->steps ? s->base[(size_t)(s->steps - 1 - j) * (s->nodes + 1) + node] : 0;
    terms.scale = s->scale[node];
    return terms;
}

/* The score after all steps but `less`, 0 or 1; `value` is that of the step. */
static BL_TASK double pagerank_combined(const pagerank_sweep_shared *s, const double *given,
                                        const pagerank_terms *terms, double value, uint32_t less) {
    for (uint32_t j = 0; j + less < PAGERANK_STEPS; j++)
        if (j + less < s->steps)
            value = fma(given[j], terms->base[j + less], value);
    return value / terms->scale;
}

static BL_TASK void pagerank_finish(bl_task *t, const pagerank_sweep_shared *s, uint32_t unit) {
    pagerank_masses own, *masses = t->lanes > 1 ? &((pagerank_scratch *)t->scratch)->masses : &own;
    const double *given = masses->given;
    const uint32_t end = (uint32_t)((uint64_t)s->nodes * (unit + 1) / s->units);
    pagerank_find_given(t, s, masses);
    for (uint32_t node = (uint32_t)((uint64_t)s->nodes * unit / s->units) + t->lane; node < end; node += t->lanes) {
        const pagerank_terms terms = pagerank_load_terms(s, node);
        const double score = pagerank_combined(s, given, &terms, terms.value, 0);
        if (s->change)
            s->change[node] =
                fabs(score - pagerank_combined(s, given, &terms, pagerank_step(s, s->steps - 1)[node], 1));
        s->score[node] = score;
        if (s->next)
            s->next[node] = score * terms.scale;
    }
}

/* ---- the task ---- */

/* One task of a wave spawns the next: its list is a single entry, and while that is published the units run. */
static BL_TASK void pagerank_sweep_run(bl_task *t, const pagerank_wave *wave, uint32_t index,
                                       const pagerank_sweep_shared *s, bl_nothing *local) {
    const uint32_t step = wave->step;
    (void)local;
    if (index == PAGERANK_SPAWNS) {
        const pagerank_wave next = {step + 1};
        if (t->lane == 0 && step <= s->steps)
            bl_spawn_n(t, &next, PAGERANK_UNITS + s->units);
    } else if (index == PAGERANK_DANGLING) {
        if (s->dangling_cut && step >= 2 && step <= s->steps)
            pagerank_sum_cut(t, s, s->cut, step - 1);
    } else if (step <= s->steps) {
        const pagerank_unit unit = s->unit[index - PAGERANK_UNITS];
        pagerank_sum_pieces(t, s, &unit, step);
        pagerank_sum_longs(t, s, unit.longs, step);
        pagerank_arrive_at_cuts(t, s, unit.cut, step);
    } else {
        pagerank_finish(t, s, index - PAGERANK_UNITS);
    }
}

#define BL_PROGRAM pagerank_sweep
#define BL_PAYLOAD pagerank_wave
#define BL_SHARED pagerank_sweep_shared
#define BL_SCRATCH pagerank_scratch
#define BL_RUN pagerank_sweep_run
#define BL_LANES 128
#define BL_SCHEDULERS (BL_SCHEDULER_static | BL_SCHEDULER_list | BL_SCHEDULERS_OWN_GROUP)
#if BL_WARP == 1
#define BL_AUTO "list:faa"
#else
#define BL_AUTO "static:split" /* a task each, so nobody need ask for the next */
#endif
#include <ballast/program.h>

#endif
