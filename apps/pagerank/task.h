/* The data-driven PageRank task: one unit of cells and one step (pagerank.h).
 *
 *     START    the scores become the values of step 0; arrive
 *     PULL     all arrivals are in: add up, store, arrive at the units that use this one
 *     ARRIVE   more arrivals than one task may make
 *     COMBINE  when nothing is left to pull: compute the scores from the values of all steps
 *
 * Sums are additions in a fixed order, products stand alone, and a product and a sum that belong together are one fma:
 * no compiler can fuse them differently, and the scores are bitwise identical everywhere.
 *
 * Order pairs: A1 (arrival: release) with P1 (acquire): the worker that runs a unit sees the values of every unit that
 * arrived, including those that other lanes stored before bl_sync; the arrivals at one counter form one release
 * sequence. A spawned task sees what its parent wrote before the spawn, so an ARRIVE passes on what its PULL stored.
 */
#ifndef BALLAST_PAGERANK_TASK_H
#define BALLAST_PAGERANK_TASK_H

#include "pagerank.h"

#include "common/kernels.h"
#include <ballast/task.h>

#include <math.h>

static BL_TASK pagerank_work pagerank_make(enum pagerank_kind kind, uint32_t unit, uint32_t step) {
    pagerank_work work;
    work.unit = unit;
    work.step = (uint16_t)step;
    work.kind = (uint16_t)kind;
    return work;
}

static BL_TASK double *pagerank_values(const pagerank_shared *s, uint32_t step) {
    return s->value + (size_t)step * s->graph.units * s->graph.unit_cells;
}
static BL_TASK uint32_t *pagerank_unmet(const pagerank_shared *s, uint32_t step) {
    return s->unmet + (size_t)step * s->graph.units;
}

/* Adds up source[first .. end): nodes of the previous step, or pieces of this one. */
static BL_TASK double pagerank_sum(const pagerank_shared *s, uint32_t first, uint32_t end, uint32_t step) {
    const pagerank_cells *g = &s->graph;
    double sum = 0;
    if (first == end)
        return sum;
    bool nodes = g->source[first] < g->node_units * g->unit_cells;
    const double *value = pagerank_values(s, nodes ? step - 1 : step);
    for (uint32_t i = first; i < end; i++)
        sum += value[g->source[i]];
    return sum;
}

/* Arrives at the targets [first, end) of the unit. Nodes are added up in the next step, pieces in this one. */
static BL_TASK void pagerank_arrive_at(bl_task *t, const pagerank_shared *s, uint32_t unit, uint32_t step,
                                       uint32_t first, uint32_t end) {
    uint32_t next = unit < s->graph.node_units ? step + 1 : step;
    for (uint32_t i = first + t->lane; i < end; i += t->lanes) {
        uint32_t target = s->graph.target[i];
        if (bl_fetch_add32_release(pagerank_unmet(s, next) + target, UINT32_MAX) == 1) { /* A1 */
            pagerank_work work = pagerank_make(PAGERANK_PULL, target, next);
            bl_spawn(t, &work);
        }
    }
}

static BL_TASK uint32_t pagerank_min(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Call after a unit's values are stored. A unit that adds up no other is published by none, so it publishes itself. */
static BL_TASK void pagerank_arrive(bl_task *t, const pagerank_shared *s, uint32_t unit, uint32_t step) {
    const pagerank_cells *g = &s->graph;
    if (unit < g->node_units && step == s->steps)
        return;
    uint32_t first = g->target_first[unit], count = g->target_first[unit + 1] - first;
    bl_sync(t);
    pagerank_arrive_at(t, s, unit, step, first, first + pagerank_min(count, PAGERANK_ARRIVALS));
    if (t->lane != 0)
        return;
    if (count > PAGERANK_ARRIVALS) {
        pagerank_work rest = pagerank_make(PAGERANK_ARRIVE, unit, step);
        bl_spawn_n(t, &rest, (count - 1) / PAGERANK_ARRIVALS);
    }
    if (g->needs[unit] == 0) {
        pagerank_work own = pagerank_make(PAGERANK_PULL, unit, step + 1);
        bl_spawn(t, &own);
    }
}

static BL_TASK void pagerank_arrive_more(bl_task *t, const pagerank_shared *s, const pagerank_work *work,
                                         uint32_t index) {
    uint32_t first = s->graph.target_first[work->unit] + (index + 1) * PAGERANK_ARRIVALS;
    uint32_t end = pagerank_min(first + PAGERANK_ARRIVALS, s->graph.target_first[work->unit + 1]);
    pagerank_arrive_at(t, s, work->unit, work->step, first, end);
}

/* Loads what does not change before P1, so that these loads overlap with that of the counter. */
static BL_TASK void pagerank_pull(bl_task *t, const pagerank_shared *s, uint32_t unit, uint32_t step) {
    double *value = pagerank_values(s, step);
    for (uint32_t i = t->lane; i < s->graph.unit_cells; i += t->lanes) {
        uint32_t cell = unit * s->graph.unit_cells + i;
        uint32_t first = s->graph.source_first[cell], end = s->graph.source_first[cell + 1];
        double scale = s->graph.scale[cell];
        (void)bl_load32_acquire(pagerank_unmet(s, step) + unit); /* P1 */
        value[cell] = pagerank_sum(s, first, end, step) * scale;
    }
}

static BL_TASK void pagerank_start(bl_task *t, const pagerank_shared *s, uint32_t unit) {
    uint32_t begin = unit * s->graph.unit_cells, end = pagerank_min(begin + s->graph.unit_cells, s->graph.nodes);
    for (uint32_t node = begin + t->lane; node < end; node += t->lanes)
        s->value[node] = s->score[node] * s->graph.scale[node];
}

/* The score of a node after `steps` iterations of this run. */
static BL_TASK double pagerank_score(const pagerank_shared *s, uint32_t node, uint32_t steps) {
    size_t cells = (size_t)s->graph.units * s->graph.unit_cells;
    double score = s->value[steps * cells + node];
    for (uint32_t j = 0; j < steps; j++)
        score = fma(s->given[j], s->base[(steps - 1 - j) * cells + node], score);
    return score / s->graph.scale[node];
}

static BL_TASK void pagerank_combine(bl_task *t, const pagerank_shared *s, uint32_t unit) {
    uint32_t begin = unit * s->graph.unit_cells, end = pagerank_min(begin + s->graph.unit_cells, s->graph.nodes);
    for (uint32_t node = begin + t->lane; node < end; node += t->lanes) {
        double score = pagerank_score(s, node, s->steps);
        s->score[node] = score;
        if (s->change)
            s->change[node] = fabs(score - pagerank_score(s, node, s->steps - 1));
    }
}

static BL_TASK void pagerank_run(bl_task *t, const pagerank_work *work, uint32_t index, const pagerank_shared *s,
                                 bl_nothing *local) {
    (void)local;
    switch (work->kind) {
    case PAGERANK_START:
        pagerank_start(t, s, index);
        pagerank_arrive(t, s, index, 0);
        break;
    case PAGERANK_PULL:
        pagerank_pull(t, s, work->unit, work->step);
        pagerank_arrive(t, s, work->unit, work->step);
        break;
    case PAGERANK_ARRIVE:
        pagerank_arrive_more(t, s, work, index);
        break;
    default:
        pagerank_combine(t, s, index);
    }
}

#define BL_PROGRAM pagerank
#define BL_PAYLOAD pagerank_work
#define BL_SHARED pagerank_shared
#define BL_RUN pagerank_run
#define BL_MAX_SPAWN (PAGERANK_ARRIVALS + 2)
#define BL_LANES 64
/* Kerbl et al. compare queues on PageRank; the last two are the fastest here. */
#define BL_SCHEDULERS                                                                                                  \
    APP_SCHEDULERS(BL_SCHEDULERS_PAPERS | BL_SCHEDULER_central_gottlieb | BL_SCHEDULER_central_lcrq |                  \
                       BL_SCHEDULER_central_wfq | BL_SCHEDULER_steal_bwd | BL_SCHEDULER_donate_broker,                 \
                   BL_SCHEDULER_steal_bwd)
#ifdef BL_TARGET_CUDA
/* A unit spawns two or three others at a time, and a queue hands these on sooner than a deque. */
#define BL_AUTO "steal:bwd"
#endif
#include <ballast/program.h>

#endif
