/* The search over the executions of a small program: depth first over which fiber runs next and which store a load
 * returns, each execution from its start. Fibers stop before each step (atomic operation, wait, yield) and announce it;
 * code local to a fiber (plain code, fences) runs together with the preceding step. turns.c makes the decisions of one
 * execution, reduce.c finds those that need not be tried. */
#include "explorer_parts.h"

#include <stdlib.h>
#include <string.h>

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

static bl__fiber *live(void *arg) {
    bl__explorer *x = arg;
    uint32_t self = x->self;
    x->body(x->arg, self / x->lanes, self % x->lanes);
    x->fibers[self].finished = true;
    x->unfinished--;
    return bl__explore_next(x);
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

static const uint32_t *exchange(bl__explorer *x, uint32_t v) {
    uint32_t lane = x->self % x->lanes, rank = lane % BL__SIM_WARP, first = x->self - rank;
    bl__meeting *at = &x->warps[first];
    uint32_t *value = at->value[at->generation & 1];
    value[rank] = v;
    meet(x, at, first, warp_lanes(x, lane - rank));
    return value;
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
    x->last = BL__NOBODY;
    bl__exploring = (bl__exploration){&operations, x};
    bl__fiber_switch(&x->host, x->fibers[0].stack);
    bl__exploring = (bl__exploration){NULL, NULL};
    const char *wrong = x->end == BL__DONE && x->options.after ? x->options.after(x->arg) : NULL;
    if (wrong)
        bl__explore_failed(x, "%s", wrong);
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
        bl__explore_failed(x, "not reproducible: it depends on more than what `before` sets up. At first: %.120s",
                           found);
}

static void replay_text(bl__explorer *x) {
    bl__decision *line = malloc(sizeof *line * (x->max_steps + 1));
    uint32_t count = line ? bl__line_parse(x->options.replay, line, x->max_steps) : UINT32_MAX;
    if (count == UINT32_MAX) {
        bl__explore_failed(x, "not a schedule: %.200s", x->options.replay);
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
        bl__explore_failed(x, "no memory");
    else if (x->options.replay)
        replay_text(x);
    else
        search(x);
    result->failed = x->end == BL__FAILED;
    close_explorer(x);
    return !result->failed;
}
