/* Device: the simulated machine. Workers are groups of fibers on the calling thread, interleaved from the seed. */
#include "internal.h"
#include "sim/machine.h"

#include <ballast/generated/schedulers.h>
#include <ballast/parts/gate.h>
#include <ballast/runtime/termination.h>
#include <ballast/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIM_WORKERS = 4 };

typedef struct sim_device {
    double timer;
    uint64_t ticks;         /* of virtual time, since the timer was started */
    uint64_t launches;      /* so that the launches of one context get different schedules */
    pthread_mutex_t stream; /* as on a GPU, other threads copy and clear memory between launches */
} sim_device;

static int sim_enumerate(uint32_t i, bl_device_info *info) {
    if (i)
        return 0;
    memset(info, 0, sizeof *info);
    snprintf(info->id, sizeof info->id, "sim");
    snprintf(info->name, sizeof info->name, "simulated machine");
    info->workers = SIM_WORKERS;
    return 1;
}

static int sim_open(bl_context *c, const char *id) {
    (void)id;
    sim_device *d = c->device = calloc(1, sizeof(sim_device));
    if (!d)
        return bl__no_memory(c, "the simulated machine");
    pthread_mutex_init(&d->stream, NULL);
    return BL_OK;
}
static void sim_close(bl_context *c) {
    sim_device *d = c->device;
    pthread_mutex_destroy(&d->stream);
    free(d);
}

static int sim_fit(bl_context *c, bl__plan *plan, uint32_t lanes, size_t worker_memory) {
    (void)worker_memory;
    plan->fit = SIM_WORKERS;
    plan->processors = c->config.workers > SIM_WORKERS ? c->config.workers : SIM_WORKERS; /* a worker stands for one */
    plan->workers_per_block = 1;
    plan->threads = lanes;
    return BL_OK;
}

static int sim_manage(bl_context *c, bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count,
                      uint64_t *total) {
    (void)c;
    bl__manage_sim(op, queue, run, entries, count, total, 0, 1);
    return BL_OK;
}

typedef struct sim_launch_state {
    bl_context *c;
    const bl__plan *plan;
    const bl__run *run;
    const void *shared;
    uint32_t first; /* group of block 0 */
    bl__watch watch;
} sim_launch_state;

static void sim_body(void *argument, uint32_t block, uint32_t lane) {
    sim_launch_state *s = argument;
    s->plan->instance->work(s->run, s->shared, s->first + block, lane, block);
}

static int sim_watch(void *argument) {
    sim_launch_state *s = argument;
    (void)bl__inlet_stirs(s->c);
    bl__seen seen = bl__watch_look(s->c, &s->watch, s->run->tally, s->run->tallies, NULL);
    if (seen == BL__TO_PAUSE)
        bl_fetch_or32_relaxed(&s->run->control->stop, BL__STOP_HOST);
    return seen == BL__NO_PROGRESS;
}

static int launch_blocks(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared) {
    sim_device *d = c->device;
    sim_launch_state s = {c, plan, run, shared, 0, {0, 0, 0}};
    bl__watch_start(&s.watch);
    /* A wave has more groups than fibers are good for: some at a time, as blocks on a GPU. */
    for (; s.first < run->groups; s.first += run->workers) {
        uint32_t blocks = run->groups - s.first < run->workers ? run->groups - s.first : run->workers;
        for (uint32_t i = 0; i < blocks; i++) {
            bl__stack_open(bl__stack_of(run, i), run);
            bl__stack_of(run, i)->limit = bl__stack_of(run, i)->leaves = 0;
            bl__stack_of(run, i)->verdict.meeting = 0;
            bl__stack_of(run, i)->tasks = bl__stack_of(run, i)->entries = 0;
            bl__stack_of(run, i)->met = 0;
        }
        bl_sim_options options;
        memset(&options, 0, sizeof options);
        options.seed = run->seed + 0x9e3779b97f4a7c15u * d->launches++;
        options.watch = sim_watch;
        options.watch_arg = &s;
        options.timed = bl_sim_uses_time();
        bl_sim_result result = bl_sim_run(blocks, run->lanes, sim_body, &s, &options);
        d->ticks += options.makespan;
        if (result == BL_SIM_NOMEM)
            return bl__no_memory(c, "the stacks of the fibers");
        if (result != BL_SIM_DONE) {
            bl__watch_report(c, result == BL_SIM_DEADLOCK ? "all lanes wait for each other" : "no task ended in time",
                             run->tally, run->tallies, NULL);
            return BL_ESTALL;
        }
    }
    return BL_OK;
}

static int sim_launch(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared) {
    sim_device *d = c->device;
    pthread_mutex_lock(&d->stream);
    const int status = launch_blocks(c, plan, run, shared);
    pthread_mutex_unlock(&d->stream);
    return status;
}

static int sim_alloc(bl_context *c, void **memory, size_t bytes) { return bl__cpu_ops.alloc(c, memory, bytes); }
static void sim_free(bl_context *c, void *memory) { bl__cpu_ops.free(c, memory); }
static int sim_copy(bl_context *c, void *to, const void *from, size_t bytes) {
    sim_device *d = c->device;
    pthread_mutex_lock(&d->stream);
    const int status = bl__cpu_ops.move(c, to, from, bytes);
    pthread_mutex_unlock(&d->stream);
    return status;
}
static int sim_zero(bl_context *c, void *memory, size_t bytes) {
    sim_device *d = c->device;
    pthread_mutex_lock(&d->stream);
    const int status = bl__cpu_ops.zero(c, memory, bytes);
    pthread_mutex_unlock(&d->stream);
    return status;
}

static int sim_finish(bl_context *c, const bl__run *run, void *host, void *device, size_t bytes, size_t clear) {
    const int status = bl__cpu_ops.finish(c, run, host, device, bytes, 0);
    return status == BL_OK && bl__is_over(run->control) ? sim_zero(c, device, clear) : status;
}
static const void *sim_sent(bl_context *c, const void *device) { return (void)c, device; }

static int sim_timer_start(bl_context *c) {
    sim_device *d = c->device;
    d->timer = bl__now();
    d->ticks = 0;
    return BL_OK;
}
static int sim_timer_stop(bl_context *c, double *seconds) {
    const sim_device *d = c->device;
    *seconds = bl_sim_uses_time() ? (double)d->ticks * 1e-9 : bl__now() - d->timer;
    return BL_OK;
}

/* Few, so that things go wrong which are wrong. */
static uint32_t sim_default_private(uint32_t words, uint32_t outbox) { return (void)words, (void)outbox, 6; }

const bl__device_ops bl__sim_ops = {
    .target = "sim",
    .traits = BL_DEVICE_SIMULATED,
    .warp = 8,
    .block = 16, /* small ones: fibers take time */
    .policies = bl__sim_policies,
    .default_scheduler = BL__DEFAULT_GPU_TEXT,
    .host_memory = true,
    .host_stacks = true,
    .default_private = sim_default_private,
    .enumerate = sim_enumerate,
    .open = sim_open,
    .close = sim_close,
    .alloc = sim_alloc,
    .free = sim_free,
    .copy_in = sim_copy,
    .copy_out = sim_copy,
    .send = sim_copy,
    .sent = sim_sent,
    .move = sim_copy,
    .zero = sim_zero,
    .zero_for_launch = sim_zero,
    .fit = sim_fit,
    .manage = sim_manage,
    .launch = sim_launch,
    .finish = sim_finish,
    .clears = true,
    .timer_start = sim_timer_start,
    .timer_stop = sim_timer_stop,
};
