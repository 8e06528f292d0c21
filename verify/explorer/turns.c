/* Which fiber runs next, and which store a load returns: the decisions of one execution. explore.c goes through all of
 * them, reduce.c finds those that need not be tried.
 *
 * With a bound on preemptions (switches away from a fiber that could have continued and did not yield) races are not
 * considered: everything within the bound is tried, and only the fiber that ran before falls asleep, because moving its
 * step to the front needs no more preemptions.
 *
 * Spins. A wait sleeps until there is another value to read. A yield continues once another fiber has stored since the
 * fiber's last yield, or if the fiber has read a store since then that was not the newest; options.stale bounds the
 * latter. If no fiber can run, and yielding for a while does not help, the execution is wrong. */
#include "explorer_parts.h"

#include <string.h>

#define YIELDS 100u /* yields per fiber that change nothing, after which all fibers count as stuck */

static uint32_t end_with(bl__explorer *x, bl__end end) {
    x->end = end;
    return BL__NOBODY;
}

static void say_deadlock(bl__explorer *x) {
    char text[200], where[64];
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < x->count && used < sizeof text; i++)
        if (!x->fibers[i].finished) {
            bl__site_text(x->fibers[i].step.site, where, sizeof where);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %u at %s", used ? "," : "", i,
                                     x->fibers[i].meeting ? "a meeting" : where);
        }
    bl__explore_failed(x, "no thread can run:%s", text);
}

/* ---- which fibers can run ---- */

static uint32_t enabled_fibers(bl__explorer *x) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < x->count; i++)
        if (!x->fibers[i].finished && bl__readable_enabled(x, &x->fibers[i]))
            set |= bl__bit(i);
    return set;
}

/* No fiber can run, but some have only yielded, and may give up after a while: they get turns. */
static uint32_t insist(bl__explorer *x) {
    if (x->writes != x->writes_then) {
        x->writes_then = x->writes;
        x->insisted = 0;
    }
    if (x->insisted++ >= YIELDS * x->count || x->last == BL__NOBODY)
        return 0;
    for (uint32_t i = 1; i <= x->count; i++) {
        uint32_t fiber = (x->last + i) % x->count;
        if (!x->fibers[fiber].finished && x->fibers[fiber].step.kind == BL__STEP_YIELD)
            return bl__bit(fiber);
    }
    return 0;
}

/* A sleeping load has something to do if there is a store that it has not tried. */
static bool has_newer(const bl__explorer *x, uint32_t fiber, uint32_t floor) {
    const bl__step *step = &x->fibers[fiber].step;
    return step->kind == BL__STEP_LOAD && bl__newest(x, step->at[0])->stamp >= floor;
}

static uint32_t awake_fibers(const bl__explorer *x, uint32_t enabled) {
    uint32_t set = enabled;
    for (uint32_t asleep = enabled & x->asleep; asleep; asleep &= asleep - 1) {
        uint32_t fiber = bl__lowest(asleep);
        if (!has_newer(x, fiber, x->floor[fiber]))
            set &= ~bl__bit(fiber);
    }
    return set;
}

/* Whether switching to another fiber is a preemption. */
static bool is_preemption(const bl__explorer *x, uint32_t enabled) {
    return x->last != BL__NOBODY && (enabled & bl__bit(x->last)) && x->fibers[x->last].step.kind != BL__STEP_YIELD;
}

static uint32_t first_choice(const bl__explorer *x, uint32_t ready) {
    uint32_t last = x->last, others;
    if (last == BL__NOBODY || !(ready & bl__bit(last)))
        return bl__lowest(ready);
    others = ready & ~bl__bit(last);
    return x->fibers[last].step.kind == BL__STEP_YIELD && others ? bl__lowest(others) : last;
}

/* ---- decisions ---- */

static uint16_t floor_of(const bl__explorer *x, uint32_t fiber) {
    const bl__step *step = &x->fibers[fiber].step;
    return step->kind == BL__STEP_LOAD ? (uint16_t)(bl__newest(x, step->at[0])->stamp + 1) : 0;
}

static bl__node *new_node(bl__explorer *x, uint32_t enabled, uint32_t ready) {
    bl__node *n = &x->stack[x->nodes++];
    bool bounded = x->options.preemptions && x->preemptions >= x->options.preemptions && is_preemption(x, enabled);
    n->count = 0;
    n->current = (uint16_t)x->last;
    n->enabled = enabled;
    n->ready = bounded ? ready & bl__bit(x->last) : ready;
    n->done = 0;
    n->asleep = x->asleep;
    memcpy(n->floor, x->floor, sizeof n->floor);
    if (!n->ready)
        return NULL;
    n->chosen = (uint16_t)first_choice(x, n->ready);
    n->todo = x->reduced ? bl__bit(n->chosen) : n->ready;
    return n;
}

static uint32_t sleepers_of(const bl__explorer *x, const bl__node *n) {
    if (x->options.exhaustive)
        return 0;
    if (!x->options.preemptions)
        return n->asleep | n->done;
    return n->asleep | (n->current < BL_EXPLORE_FIBERS ? n->done & bl__bit(n->current) : 0);
}

static uint32_t decide(bl__explorer *x, uint32_t enabled) {
    if (x->depth == x->nodes && !new_node(x, enabled, awake_fibers(x, enabled))) {
        x->nodes--;
        return end_with(x, BL__PRUNED);
    }
    bl__node *n = &x->stack[x->depth];
    x->node = x->depth++;
    x->asleep = sleepers_of(x, n);
    memcpy(x->floor, n->floor, sizeof n->floor);
    n->chosen_floor = floor_of(x, n->chosen);
    if (n->chosen != n->current && is_preemption(x, enabled))
        x->preemptions++;
    return n->chosen;
}

/* What a replayed schedule says; after its end no fiber is preempted. */
static uint32_t follow(bl__explorer *x, uint32_t enabled) {
    uint32_t fiber = x->steps <= x->line_count ? x->line[x->steps - 1].fiber : first_choice(x, enabled);
    if (fiber < x->count && (enabled & bl__bit(fiber)))
        return fiber;
    bl__explore_failed(x, "the schedule does not fit: at its step %u thread %u cannot run", x->steps, fiber);
    return BL__NOBODY;
}

static uint32_t only(bl__explorer *x, uint32_t enabled) {
    return awake_fibers(x, enabled) ? bl__lowest(enabled) : end_with(x, BL__PRUNED);
}

static uint32_t choose(bl__explorer *x) {
    uint32_t enabled = enabled_fibers(x);
    if (!enabled && x->unfinished)
        enabled = insist(x);
    x->node = BL__NO_NODE;
    if (!enabled && x->unfinished)
        say_deadlock(x);
    if (!enabled)
        return x->unfinished ? BL__NOBODY : end_with(x, BL__DONE);
    if (x->steps >= x->max_steps)
        return end_with(x, BL__CUT);
    x->steps++;
    x->ticks++;
    uint32_t next = x->line ? follow(x, enabled) : enabled & (enabled - 1) ? decide(x, enabled) : only(x, enabled);
    if (next == BL__NOBODY)
        return BL__NOBODY;
    x->least = x->asleep & bl__bit(next) ? x->floor[next] : 0;
    x->asleep &= ~bl__bit(next);
    x->last = next;
    x->decisions[x->steps - 1] = (bl__decision){(uint16_t)next, 0};
    x->events[x->steps].node = x->node;
    x->events[x->steps].fiber = (uint16_t)next;
    return next;
}

uint32_t bl__explore_pick(bl__explorer *x, uint32_t count) {
    if (x->depth == x->nodes) {
        bl__node *n = &x->stack[x->nodes++];
        n->count = (uint16_t)count;
        n->chosen = 0;
    }
    return x->stack[x->depth++].chosen;
}

/* ---- fibers ---- */

/* Each fiber first runs up to its first step, then the decisions start. */
bl__fiber *bl__explore_next(bl__explorer *x) {
    uint32_t next = x->started < x->count ? x->started++ : choose(x);
    if (next == BL__NOBODY)
        return &x->host;
    x->self = next;
    return x->fibers[next].stack;
}

void bl__explore_point(bl__explorer *x) {
    bl__fiber *self = x->fibers[x->self].stack, *next = bl__explore_next(x);
    if (next != self)
        bl__fiber_switch(self, next);
}
