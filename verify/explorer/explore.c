/* The search over the executions of a small program: depth first over which fiber runs next and which store a load
 * returns, each execution from its start. Fibers stop before each step (atomic operation, wait, yield) and announce it;
 * code local to a fiber (plain code, fences) runs together with the preceding step. reduce.c finds the decisions that
 * need not be tried.
 *
 * With a bound on preemptions (switches away from a fiber that could have continued and did not yield) races are not
 * considered: everything within the bound is tried, and only the fiber that ran before falls asleep, because moving its
 * step to the front needs no more preemptions.
 *
 * Spins. A wait sleeps until there is another value to read. A yield continues once another fiber has stored since the
 * fiber's last yield, or if the fiber has read a store since then that was not the newest; options.stale bounds the
 * latter. If no fiber can run, and yielding for a while does not help, the execution is wrong. */
#include "explorer_parts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define YIELDS 100u /* yields per fiber that change nothing, after which all fibers count as stuck */

/* ---- ends ---- */

static uint32_t end_with(bl__explorer *x, bl__end end) {
    x->end = end;
    return NOBODY;
}

static void set_failure(bl__explorer *x, const char *format, va_list values) {
    vsnprintf(x->result->failure, sizeof x->result->failure, format, values);
    end_with(x, BL__FAILED);
}

static void say_failure(bl__explorer *x, const char *format, ...) {
    va_list values;
    va_start(values, format);
    set_failure(x, format, values);
    va_end(values);
}

static _Noreturn void give_up(bl__explorer *x) {
    bl__fiber_switch(x->fibers[x->self].stack, &x->host);
    abort(); /* a fiber that gave up is never resumed */
}

void bl__explore_wrong(bl__explorer *x, const char *format, ...) {
    va_list values;
    va_start(values, format);
    set_failure(x, format, values);
    va_end(values);
    give_up(x);
}

void bl_explore_fail(const char *format, ...) {
    bl__explorer *x = bl__exploring.x;
    if (!x)
        abort(); /* there is no execution to blame, and no way to continue */
    va_list values;
    va_start(values, format);
    set_failure(x, format, values);
    va_end(values);
    give_up(x);
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
    say_failure(x, "no thread can run:%s", text);
}

/* ---- which fibers can run ---- */

static uint32_t enabled_fibers(bl__explorer *x) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < x->count; i++)
        if (!x->fibers[i].finished && bl__views_enabled(x, &x->fibers[i]))
            set |= bl__bit(i);
    return set;
}

/* No fiber can run, but some have only yielded, and may give up after a while: they get turns. */
static uint32_t insist(bl__explorer *x) {
    if (x->writes != x->writes_then) {
        x->writes_then = x->writes;
        x->insisted = 0;
    }
    if (x->insisted++ >= YIELDS * x->count || x->last == NOBODY)
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
    return x->last != NOBODY && (enabled & bl__bit(x->last)) && x->fibers[x->last].step.kind != BL__STEP_YIELD;
}

static uint32_t first_choice(const bl__explorer *x, uint32_t ready) {
    uint32_t last = x->last, others;
    if (last == NOBODY || !(ready & bl__bit(last)))
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
    say_failure(x, "the schedule does not fit: at its step %u thread %u cannot run", x->steps, fiber);
    return NOBODY;
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
        return x->unfinished ? NOBODY : end_with(x, BL__DONE);
    if (x->steps >= x->max_steps)
        return end_with(x, BL__CUT);
    x->steps++;
    x->ticks++;
    uint32_t next = x->line ? follow(x, enabled) : enabled & (enabled - 1) ? decide(x, enabled) : only(x, enabled);
    if (next == NOBODY)
        return NOBODY;
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

/* Moves on to the next execution; false: there is none. */
static bool advance(bl__explorer *x) {
    for (; x->nodes; x->nodes--) {
        bl__node *n = &x->stack[x->nodes - 1];
        if (n->count) {
            if (++n->chosen < n->count)
                return true;
            continue;
        }
        n->done |= bl__bit(n->chosen);
        n->floor[n->chosen] = n->chosen_floor;
        if (n->todo & ~n->done) {
            n->chosen = (uint16_t)bl__lowest(n->todo & ~n->done);
            return true;
        }
    }
    return false;
}

/* ---- fibers ---- */

/* Each fiber first runs up to its first step, then the decisions start. */
static bl__fiber *next_stack(bl__explorer *x) {
    uint32_t next = x->started < x->count ? x->started++ : choose(x);
    if (next == NOBODY)
        return &x->host;
    x->self = next;
    return x->fibers[next].stack;
}

void bl__explore_point(bl__explorer *x) {
    bl__fiber *self = x->fibers[x->self].stack, *next = next_stack(x);
    if (next != self)
        bl__fiber_switch(self, next);
}

static bl__fiber *live(void *arg) {
    bl__explorer *x = arg;
    uint32_t self = x->self;
    x->body(x->arg, self / x->lanes, self % x->lanes);
    x->fibers[self].finished = true;
    x->unfinished--;
    return next_stack(x);
}

static uint64_t read_clock(bl__explorer *x) { return x->ticks++; }
static uint32_t lane_of(const bl__explorer *x) { return x->self % x->lanes; }

void bl_explore_now(bl_moment *now) {
    bl__explorer *x = bl__exploring.x;
    memset(now, 0, sizeof *now);
    if (!x)
        return;
    now->fiber = (uint16_t)x->self;
    memcpy(now->clock, x->fibers[x->self].view, sizeof now->clock[0] * x->count);
}

bool bl_happened_before(const bl_moment *a, const bl_moment *b) { return b->clock[a->fiber] >= a->clock[a->fiber]; }

/* ---- lanes that meet ---- */

static void everybody_came(bl__explorer *x, uint32_t first, uint32_t lanes) {
    uint16_t clock[BL_EXPLORE_FIBERS] = {0};
    bl__views_meet(x, first, lanes);
    for (uint32_t i = first; i < first + lanes; i++)
        for (uint32_t k = 0; k < x->count; k++)
            clock[k] = clock[k] > x->fibers[i].clock[k] ? clock[k] : x->fibers[i].clock[k];
    for (uint32_t i = first; i < first + lanes; i++) {
        memcpy(x->fibers[i].clock, clock, sizeof clock);
        x->fibers[i].meeting = false;
    }
}

static void meet(bl__explorer *x, bl__meeting *at, uint32_t first, uint32_t lanes) {
    bl__explored *f = &x->fibers[x->self];
    if (++at->arrived < lanes) {
        f->meeting = true;
        f->step = (bl__step){.kind = BL__STEP_MEET};
        bl__explore_point(x);
        bl__explore_did(x, &(bl__effect){0});
        return;
    }
    at->arrived = 0;
    at->generation++;
    everybody_came(x, first, lanes);
}

static uint32_t warp_lanes(const bl__explorer *x, uint32_t first_lane) {
    uint32_t left = x->lanes - first_lane;
    return left < BL__SIM_WARP ? left : BL__SIM_WARP;
}

static uint32_t exchange(bl__explorer *x, uint32_t v, uint32_t all[BL__SIM_WARP]) {
    uint32_t lane = x->self % x->lanes, rank = lane % BL__SIM_WARP, first = x->self - rank;
    bl__meeting *at = &x->warps[first];
    uint32_t *value = at->value[at->generation & 1];
    value[rank] = v;
    meet(x, at, first, warp_lanes(x, lane - rank));
    memcpy(all, value, sizeof at->value[0]);
    return rank;
}

static void block_sync(bl__explorer *x) {
    uint32_t block = x->self / x->lanes;
    meet(x, &x->blocks[block], block * x->lanes, x->lanes);
}

static const bl__exploration_ops operations = {
    .load = bl__views_load,
    .store = bl__views_store,
    .rmw = bl__views_rmw,
    .cas = bl__views_cas,
    .cas128 = bl__views_cas128,
    .fence = bl__views_fence,
    .wait = bl__views_wait,
    .yield = bl__views_yield,
    .data = bl__views_data,
    .bump = bl__views_bump,
    .clock = read_clock,
    .lane = lane_of,
    .exchange = exchange,
    .block_sync = block_sync,
};

/* ---- an execution ---- */

static void reset_fiber(bl__explorer *x, bl__explored *f) {
    bl__fiber_restart(f->stack);
    f->finished = f->meeting = f->fenced = f->stale = false;
    f->own_writes = f->mark = 0;
    memset(f->clock, 0, sizeof f->clock);
    (void)x;
}

static void reset(bl__explorer *x) {
    bl__views_reset(x);
    for (uint32_t i = 0; i < x->count; i++)
        reset_fiber(x, &x->fibers[i]);
    if (x->lanes > 1) {
        memset(x->blocks, 0, sizeof x->blocks);
        memset(x->warps, 0, sizeof x->warps);
    }
    x->unfinished = x->count;
    x->steps = x->preemptions = x->depth = x->asleep = 0;
    x->insisted = x->writes_then = 0;
    x->ticks = x->row_count = 0;
    x->end = BL__RUNS;
}

static void execute(bl__explorer *x) {
    if (x->options.before)
        x->options.before(x->arg);
    reset(x);
    x->started = 1;
    x->self = 0;
    x->last = NOBODY;
    bl__exploring = (bl__exploration){&operations, x};
    bl__fiber_switch(&x->host, x->fibers[0].stack);
    bl__exploring = (bl__exploration){NULL, NULL};
    const char *wrong = x->end == BL__DONE && x->options.after ? x->options.after(x->arg) : NULL;
    if (wrong)
        say_failure(x, "%s", wrong);
}

/* ---- an exploration ---- */

static bool open_explorer(bl__explorer *x) {
    uint32_t steps = x->max_steps;
    x->stack = malloc(sizeof *x->stack * 2 * (steps + 1));
    x->events = calloc(steps + 1, sizeof *x->events);
    x->decisions = malloc(sizeof *x->decisions * (steps + 1));
    if (!x->stack || !x->events || !x->decisions || !bl__views_open(x) || !bl__order_open(x))
        return false;
    for (uint32_t i = 0; i < x->count; i++)
        if (!(x->fibers[i].stack = bl__fiber_create(0, live, x)))
            return false;
    bl__fiber_adopt(&x->host);
    return true;
}

static void close_explorer(bl__explorer *x) {
    for (uint32_t i = x->count; i-- > 0;)
        if (x->fibers[i].stack)
            bl__fiber_destroy(x->fibers[i].stack);
    bl__views_close(x);
    bl__order_close(x);
    free(x->rows);
    free(x->stack);
    free(x->events);
    free(x->decisions);
    free(x);
}

static bool more(const bl__explorer *x) {
    const bl_explore_options *o = &x->options;
    return (!o->max_executions || x->result->executions + x->result->cut < o->max_executions) &&
           (!o->max_pruned || x->result->pruned < o->max_pruned);
}

static void explore_all(bl__explorer *x) {
    bl_explore_result *r = x->result;
    do {
        if (!more(x))
            return;
        execute(x);
        r->executions += x->end == BL__DONE || x->end == BL__FAILED;
        r->pruned += x->end == BL__PRUNED;
        r->cut += x->end == BL__CUT;
        if (x->end == BL__FAILED)
            return;
    } while (advance(x));
    r->complete = !r->cut;
}

/* One execution, with a table of it if requested. */
static void replay(bl__explorer *x, const bl__decision *line, uint32_t count) {
    x->line = line;
    x->line_count = count;
    x->row_capacity = x->options.table ? 4 * x->max_steps : 0;
    if (x->row_capacity)
        x->rows = malloc(sizeof *x->rows * x->row_capacity);
    execute(x);
    if (x->rows)
        bl__table_print(x, x->options.table);
}

static void keep_schedule(bl__explorer *x) {
    bl__line_print(x->decisions, x->steps, x->result->schedule, sizeof x->result->schedule);
}

static void search(bl__explorer *x) {
    explore_all(x);
    if (x->end != BL__FAILED)
        return;
    keep_schedule(x);
    bl__decision *line = x->options.table ? malloc(sizeof *line * (x->steps + 1)) : NULL;
    if (!line)
        return;
    char found[sizeof x->result->failure];
    memcpy(found, x->result->failure, sizeof found);
    x->result->failure[0] = 0;
    memcpy(line, x->decisions, sizeof *line * x->steps);
    replay(x, line, x->steps);
    free(line);
    if (strcmp(found, x->result->failure) != 0)
        say_failure(x, "not reproducible: it depends on more than what `before` sets up. At first: %.120s", found);
}

static void replay_text(bl__explorer *x) {
    bl__decision *line = malloc(sizeof *line * (x->max_steps + 1));
    uint32_t count = line ? bl__line_parse(x->options.replay, line, x->max_steps) : UINT32_MAX;
    if (count == UINT32_MAX) {
        say_failure(x, "not a schedule: %.200s", x->options.replay);
    } else {
        replay(x, line, count);
        x->result->executions = 1;
        keep_schedule(x);
    }
    free(line);
}

static bl__explorer *make_explorer(uint32_t threads, const bl_explore_options *options, bl_explore_result *result) {
    uint32_t lanes = options->lanes ? options->lanes : 1;
    bl__explorer *x = threads && threads <= BL_EXPLORE_FIBERS / lanes ? calloc(1, sizeof *x) : NULL;
    if (!x)
        return NULL;
    x->options = *options;
    x->result = result;
    x->lanes = lanes;
    x->count = threads * lanes;
    x->max_steps = !options->max_steps ? 4000 : options->max_steps < 16000 ? options->max_steps : 16000;
    if (!options->stale)
        x->options.stale = 4;
    x->reduced = !options->exhaustive && !options->preemptions;
    return x;
}

bool bl_explore(uint32_t threads, bl_sim_body body, void *arg, const bl_explore_options *options,
                bl_explore_result *result) {
    static const bl_explore_options defaults;
    memset(result, 0, sizeof *result);
    bl__explorer *x = make_explorer(threads, options ? options : &defaults, result);
    if (!x) {
        snprintf(result->failure, sizeof result->failure, "no threads, more than %u, or no memory", BL_EXPLORE_FIBERS);
        return result->failed = true, false;
    }
    x->body = body;
    x->arg = arg;
    if (!open_explorer(x))
        say_failure(x, "no memory");
    else if (x->options.replay)
        replay_text(x);
    else
        search(x);
    result->failed = x->end == BL__FAILED;
    close_explorer(x);
    return !result->failed;
}
