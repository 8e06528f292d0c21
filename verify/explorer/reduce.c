/* Finds the decisions of an exploration that need not be tried, because another execution shows the same.
 *
 * Two steps depend on each other if both touch one location and one of them writes. Which store each load read and the
 * order of the stores determine an execution, including its seq_cst order (order.c). Two orders of independent steps
 * are shown once, by
 *   - dynamic partial order reduction with source sets (Abdulla et al. 2014): a decision tries one fiber first, and
 *     another only if a later step races with the decision, and that fiber could lead there;
 *   - sleep sets (Godefroid 1996): a fiber that was tried at a decision sleeps in the siblings until another makes a
 *     step on which its own depends.
 * A load (unless it must read the newest store) may be placed after any store to its location, since it can still
 * return the older ones. So a store before a load is not a race, and a load that slept before a store tries only stores
 * newer than those when it fell asleep (the floor). A load depends on the store that it read, not on those that it
 * skipped.
 *
 * tests/test_memory_model_sim.c compares the outcomes of random programs without reduction, with it, and within a
 * bound. */
#include "explorer_parts.h"

#include <string.h>

/* The steps after the event that do not depend on it, plus the current one, could have come first. Returns the fibers
 * whose step among them could have been the very first. */
static uint32_t initials(const bl__explorer *x, uint16_t event) {
    uint16_t first[BL_EXPLORE_FIBERS] = {0};
    uint32_t set = 0, cause = x->events[event].fiber;
    for (uint32_t i = event + 1u; i <= x->steps; i++) {
        const bl__event *e = &x->events[i];
        if (first[e->fiber] || (i < x->steps && e->clock[cause] >= event))
            continue;
        bool is_first = true;
        for (uint32_t k = 0; k < x->count; k++)
            is_first = is_first && !(first[k] && e->clock[k] >= first[k]);
        first[e->fiber] = (uint16_t)i;
        set |= is_first ? bl__bit(e->fiber) : 0;
    }
    return set;
}

/* The current step races with the event, unless it is known to come after it. */
static void try_before(bl__explorer *x, const uint16_t *known, uint16_t event) {
    const bl__event *e = &x->events[event];
    if (!event || e->fiber == x->self || known[e->fiber] >= event || e->node == BL__NO_NODE)
        return;
    bl__node *n = &x->stack[e->node];
    uint32_t first = initials(x, event);
    if (first & (n->todo | (n->enabled & ~n->ready)))
        return; /* shown, or asleep: shown elsewhere */
    n->todo |= first & n->ready ? bl__bit(bl__lowest(first & n->ready)) : n->ready;
}

static void try_before_all(bl__explorer *x, const uint16_t *known, const bl__object *o) {
    try_before(x, known, o->write);
    for (uint32_t i = 0; i < x->count; i++)
        try_before(x, known, o->read[i]);
}

static void learn(bl__explorer *x, uint16_t *clock, uint16_t event) {
    const uint16_t *from = x->events[event].clock;
    for (uint32_t i = 0; event && i < x->count; i++)
        clock[i] = clock[i] > from[i] ? clock[i] : from[i];
}

static void learn_all(bl__explorer *x, uint16_t *clock, const bl__object *o) {
    learn(x, clock, o->write);
    for (uint32_t i = 0; i < x->count; i++)
        learn(x, clock, o->read[i]);
}

static void record(bl__explorer *x, bl__object *o, bool write) {
    if (!write) {
        o->read[x->self] = (uint16_t)x->steps;
        return;
    }
    memset(o, 0, sizeof *o);
    o->write = (uint16_t)x->steps;
}

/* A failed compare-and-swap might succeed where it is tried next, so it depends on what a successful one would depend
 * on. This does not matter for loads that can read an older store. */
static bool is_write(const bl__effect *e) { return e->wrote || (e->tried && e->exact); }

static void learn_tries(bl__explorer *x, uint16_t *clock, const bl__object *o) {
    for (uint32_t i = 0; i < x->count; i++)
        if (x->events[o->read[i]].tried)
            learn(x, clock, o->read[i]);
}

static void try_before_tries(bl__explorer *x, const uint16_t *known, const bl__object *o) {
    try_before(x, known, o->write);
    for (uint32_t i = 0; i < x->count; i++)
        if (x->events[o->read[i]].tried)
            try_before(x, known, o->read[i]);
}

static void learn_step(bl__explorer *x, const bl__step *step, const bl__effect *e) {
    uint16_t *clock = x->fibers[x->self].clock;
    for (uint32_t i = 0; i < 2 && step->at[i]; i++) {
        bl__location *at = step->at[i];
        learn(x, clock, e->from[i]);
        if (is_write(e))
            learn_all(x, clock, &at->stores);
        else if (e->tried)
            learn_tries(x, clock, &at->stores);
    }
    clock[x->self] = (uint16_t)x->steps;
    memcpy(x->events[x->steps].clock, clock, sizeof x->events[0].clock);
}

static void find_races(bl__explorer *x, const uint16_t *known, const bl__step *step, const bl__effect *e) {
    for (uint32_t i = 0; i < 2 && step->at[i]; i++) {
        bl__location *at = step->at[i];
        if (is_write(e))
            try_before_all(x, known, &at->stores);
        else if (e->tried)
            try_before_tries(x, known, &at->stores);
        else if (e->exact)
            try_before(x, known, at->stores.write);
    }
}

static void record_step(bl__explorer *x, const bl__step *step, const bl__effect *e) {
    for (uint32_t i = 0; i < 2 && step->at[i]; i++)
        record(x, &step->at[i]->stores, is_write(e));
}

static bool same_place(const bl__step *a, const bl__step *b) {
    for (uint32_t i = 0; i < 2 && a->at[i]; i++)
        if (a->at[i] == b->at[0] || a->at[i] == b->at[1])
            return true;
    return false;
}

/* Whether the sleeper's step after this one differs from the sleeper going first, which was tried. */
static bool wakes(const bl__step *step, const bl__effect *e, const bl__step *sleeper) {
    bool loads = sleeper->kind == BL__STEP_LOAD || sleeper->kind == BL__STEP_WAIT;
    return (e->wrote || e->exact) && !loads && same_place(step, sleeper);
}

void bl__explore_did(bl__explorer *x, const bl__effect *effect) {
    const bl__step *step = &x->fibers[x->self].step;
    if (x->reduced) {
        x->events[x->steps].tried = effect->tried && !effect->wrote;
        uint16_t known[BL_EXPLORE_FIBERS];
        memcpy(known, x->fibers[x->self].clock, sizeof known);
        learn_step(x, step, effect);
        find_races(x, known, step, effect);
        record_step(x, step, effect);
    }
    for (uint32_t asleep = x->asleep; asleep; asleep &= asleep - 1)
        if (wakes(step, effect, &x->fibers[bl__lowest(asleep)].step))
            x->asleep &= ~bl__bit(bl__lowest(asleep));
}
