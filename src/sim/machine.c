/* The simulated machine: its fibers, the meetings of lanes, and a run from start to end. A fiber that stops chooses the
 * next one itself and switches to it; the caller of bl_sim_run, the host, continues at the end and for the watch. */
#include "machine.h"

#include "../platform/fiber.h"
#include "ballast/platform/sim.h"
#include "exploring.h"
#include "sleepers.h"

#include <stdlib.h>

#define WATCH_EVERY 65536u

/* A warp or a block: lanes first .. first + lanes - 1 wait for each other. A lane that has returned never comes, so the
 * others wait for ever, as they may on a GPU. */
typedef struct meeting {
    uint32_t first, lanes, arrived, generation;
} meeting;

/* Two sets of values: a lane can be one exchange ahead of a lane that still reads, but not two. */
typedef struct warp {
    meeting at;
    uint32_t value[2][BL__SIM_WARP];
} warp;

/* Where a fiber belongs. */
typedef struct seat {
    bl__fiber *fiber;
    warp *warp;
    meeting *block;
    uint32_t block_number, lane;
} seat;

typedef struct machine {
    bl__schedule schedule;
    bl__sleepers *sleepers;
    uint64_t points, check_at;
    uint32_t self, unfinished, lanes, block_warps;
    seat *seats;
    warp *warps;
    meeting *blocks;
    bl_sim_body body;
    void *arg;
    bl_sim_options *options;
    bl_sim_result result;
    bool ended;
    bl__fiber host;
} machine;

_Thread_local bl__exploration bl__exploring;

static _Thread_local machine *running; /* NULL: operations act at once */
static _Thread_local uint64_t
    outside_points;                 /* the clock of code outside of a run, and where the next run's continues */
static _Thread_local bool use_time; /* bl_sim_use_time */

/* ---- going on ---- */

static void end_run(machine *m, bl_sim_result result) {
    m->result = result;
    m->ended = true;
}

static void to_host(machine *m) { bl__fiber_switch(m->seats[m->self].fiber, &m->host); }

static void set_check(machine *m) {
    uint64_t limit = m->options->max_points ? m->options->max_points : UINT64_MAX;
    uint64_t watch = m->options->watch ? m->points + WATCH_EVERY : UINT64_MAX;
    m->check_at = limit < watch ? limit : watch;
}

static void check(machine *m) {
    if (m->options->max_points && m->points >= m->options->max_points)
        end_run(m, BL_SIM_LIMIT);
    set_check(m);
    to_host(m);
}

static void go_on(machine *m, bool yields) {
    uint32_t self = m->self, next = bl__schedule_next(&m->schedule, self, yields);
    if (next == self)
        return;
    m->self = next;
    bl__fiber_switch(m->seats[self].fiber, m->seats[next].fiber);
}

/* A step of the running fiber, which costs it `ticks`. */
static void point(machine *m, bool yields, uint64_t ticks) {
    if (++m->points >= m->check_at)
        check(m);
    if (ticks)
        bl__schedule_spend(&m->schedule, m->self, ticks);
    go_on(m, yields);
}

static uint64_t clock_of(const machine *m, uint32_t fiber) {
    return m->schedule.turns ? m->schedule.turns[fiber].clock : 0;
}

/* The fiber that runs has changed a word, or met with this one. */
static void wake(machine *m, uint32_t fiber) {
    bl__schedule_delay(&m->schedule, fiber, clock_of(m, m->self));
    bl__schedule_add(&m->schedule, fiber);
}

static void wake_all(machine *m, uint32_t fiber) {
    for (; fiber != BL__NOBODY; fiber = m->sleepers->of[fiber].next)
        wake(m, fiber);
}

/* Whether any fiber can run; ends the run otherwise. */
static bool somebody_runnable(machine *m) {
    if (!m->schedule.count)
        wake_all(m, bl__sleepers_changed(m->sleepers, NULL));
    if (!m->schedule.count)
        end_run(m, BL_SIM_DEADLOCK);
    return m->schedule.count != 0;
}

static void sleep_self(machine *m) {
    bl__schedule_remove(&m->schedule, m->self);
    if (somebody_runnable(m))
        go_on(m, false);
    else
        to_host(m);
}

bl__sleepers *bl__machine_point(void) {
    machine *m = running;
    if (!m)
        return NULL;
    point(m, false, 1);
    return m->sleepers;
}

uint32_t bl__machine_self(void) { return running->self; }
void bl__machine_sleep(void) { sleep_self(running); }
void bl__machine_wake(uint32_t first) { wake_all(running, first); }

void bl__sim_yield(bl__sim_site *site, uint32_t tries) {
    if (running)
        point(running, true, tries < 4 ? 2u << tries : 32u);
    else if (bl__exploring.ops)
        bl__exploring.ops->yield(bl__exploring.x, site);
}

void bl_sim_start_clock(void) { outside_points = 0; }
void bl_sim_use_time(bool timed) { use_time = timed; }
bool bl_sim_uses_time(void) { return use_time; }

/* Reading the clock moves it, so that a loop that does nothing else comes to an end. */
uint64_t bl__sim_clock(void) {
    machine *m = running;
    if (!m)
        return bl__exploring.ops ? bl__exploring.ops->clock(bl__exploring.x) : outside_points++;
    if (!m->schedule.turns)
        return outside_points + m->points++;
    point(m, false, 1);
    return outside_points + clock_of(m, m->self);
}

/* Without virtual time the clock counts steps of all fibers: this is many of them at once. An exploration has no use
 * for it. */
void bl__sim_spend(uint64_t ticks) {
    machine *m = running;
    if (!m) {
        outside_points += bl__exploring.ops ? 0 : ticks;
        return;
    }
    if (!m->schedule.turns)
        m->points += ticks;
    point(m, false, ticks);
}

/* ---- lanes that meet ---- */

static void meet(machine *m, meeting *at) {
    if (++at->arrived < at->lanes) {
        sleep_self(m);
        return;
    }
    at->arrived = 0;
    at->generation++;
    for (uint32_t fiber = at->first; m->schedule.turns && fiber < at->first + at->lanes; fiber++)
        bl__schedule_delay(&m->schedule, m->self, clock_of(m, fiber));
    for (uint32_t fiber = at->first; fiber < at->first + at->lanes; fiber++)
        if (fiber != m->self)
            wake(m, fiber);
    point(m, false, 0); /* the last to come need not be the first to leave */
}

uint32_t bl__sim_warp_lane(void) {
    if (running)
        return running->seats[running->self].lane % BL__SIM_WARP;
    return bl__exploring.ops ? bl__exploring.ops->lane(bl__exploring.x) % BL__SIM_WARP : 0;
}

const uint32_t *bl__sim_exchange(uint32_t v) {
    static _Thread_local uint32_t alone[BL__SIM_WARP];
    machine *m = running;
    if (!m && bl__exploring.ops)
        return bl__exploring.ops->exchange(bl__exploring.x, v);
    if (!m) {
        alone[0] = v;
        return alone;
    }
    const seat *s = &m->seats[m->self];
    uint32_t *value = s->warp->value[s->warp->at.generation & 1];
    value[s->lane % BL__SIM_WARP] = v;
    meet(m, &s->warp->at);
    return value;
}

void bl__sim_block_sync(void) {
    if (running)
        meet(running, running->seats[running->self].block);
    else if (bl__exploring.ops)
        bl__exploring.ops->block_sync(bl__exploring.x);
}

/* ---- a run ---- */

/* The life of a fiber. Returns the fiber that runs next. */
static bl__fiber *live(void *arg) {
    machine *m = arg;
    m->body(m->arg, m->seats[m->self].block_number, m->seats[m->self].lane);
    if (clock_of(m, m->self) > m->options->makespan)
        m->options->makespan = clock_of(m, m->self);
    bl__schedule_remove(&m->schedule, m->self);
    if (--m->unfinished == 0)
        end_run(m, BL_SIM_DONE);
    else if (somebody_runnable(m))
        m->self = bl__schedule_next(&m->schedule, m->self, false);
    return m->ended ? &m->host : m->seats[m->self].fiber;
}

static void lay_out(machine *m, uint32_t blocks) {
    for (uint32_t b = 0; b < blocks; b++) {
        m->blocks[b] = (meeting){.first = b * m->lanes, .lanes = m->lanes};
        for (uint32_t i = 0; i < m->block_warps; i++) {
            uint32_t left = m->lanes - i * BL__SIM_WARP;
            m->warps[b * m->block_warps + i].at =
                (meeting){.first = b * m->lanes + i * BL__SIM_WARP, .lanes = left < BL__SIM_WARP ? left : BL__SIM_WARP};
        }
        for (uint32_t lane = 0; lane < m->lanes; lane++)
            m->seats[b * m->lanes + lane] =
                (seat){NULL, &m->warps[b * m->block_warps + lane / BL__SIM_WARP], &m->blocks[b], b, lane};
    }
}

static bool open_machine(machine *m, uint32_t blocks, uint32_t fibers) {
    m->seats = calloc(fibers, sizeof *m->seats);
    m->warps = calloc((size_t)blocks * m->block_warps, sizeof *m->warps);
    m->blocks = calloc(blocks, sizeof *m->blocks);
    m->sleepers = bl__sleepers_open(fibers);
    if (!bl__schedule_open(&m->schedule, fibers, m->options) || !m->seats || !m->warps || !m->blocks || !m->sleepers)
        return false;
    lay_out(m, blocks);
    for (uint32_t i = 0; i < fibers; i++)
        if (!(m->seats[i].fiber = bl__fiber_create(0, live, m)))
            return false;
    return true;
}

static void close_machine(machine *m, uint32_t fibers) {
    for (uint32_t i = fibers; m->seats && i-- > 0;)
        if (m->seats[i].fiber)
            bl__fiber_destroy(m->seats[i].fiber);
    bl__schedule_close(&m->schedule);
    bl__sleepers_close(m->sleepers);
    free(m->seats);
    free(m->warps);
    free(m->blocks);
}

static void run(machine *m) {
    machine *outer = running;
    bl__fiber_adopt(&m->host);
    set_check(m);
    m->self = bl__schedule_next(&m->schedule, BL__NOBODY, false);
    while (!m->ended) {
        running = m;
        bl__fiber_switch(&m->host, m->seats[m->self].fiber);
        running = outer; /* the watch is host code: its operations act at once */
        if (!m->ended && m->options->watch(m->options->watch_arg))
            end_run(m, BL_SIM_STOPPED);
    }
}

bl_sim_result bl_sim_run(uint32_t blocks, uint32_t lanes, bl_sim_body body, void *arg, bl_sim_options *options) {
    bl_sim_options defaults = {0};
    machine m = {.body = body, .arg = arg, .lanes = lanes, .options = options ? options : &defaults};
    m.options->record_count = 0;
    m.options->makespan = 0;
    if (!blocks || !lanes)
        return BL_SIM_DONE;
    if ((uint64_t)blocks * lanes >= UINT32_MAX)
        return BL_SIM_NOMEM;
    uint32_t fibers = blocks * lanes;
    m.unfinished = fibers;
    m.block_warps = (lanes + BL__SIM_WARP - 1) / BL__SIM_WARP;
    bool opened = open_machine(&m, blocks, fibers);
    if (opened)
        run(&m);
    outside_points += m.options->timed ? m.options->makespan : m.points;
    close_machine(&m, fibers);
    if (!opened)
        bl__fiber_trim(); /* do not sit on what was too little */
    return opened ? m.result : BL_SIM_NOMEM;
}
