/* One run on any device: set up, launch, grow when the workers ask for it. job.h says where the rest of it is. */
#include "job.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/pool.h>
#include <ballast/parts/worker.h>
#include <ballast/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_all(bl__job *j) {
    bl__buffer *all[] = {&j->control, &j->tally,     &j->spill,   &j->memory,       &j->queues,
                         &j->pool,    &j->flat,      &j->total,   &j->in,           &j->in_first,
                         &j->out,     &j->out_first, &j->records, &j->free_records, &j->results};
    bl__extras_end(j);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        bl__release(j, all[i]);
}

/* ---- sizes ---- */

static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* Threads: the tasks of a piece whose spawns should find room on the stack; what more it spawns becomes extra entries.
 * 0: there are no pieces of a given size. */
static uint32_t pieces_fit(const bl__job *j) {
    const uint32_t grain = j->c->config.grain ? j->c->config.grain : j->plan.program->grain;
    return !j->plan.pieces || j->c->ops->warp > 1 ? 0 : grain < 64 ? grain : 64;
}

static int size_workers(bl__job *j, uint32_t lanes) {
    const bl_program *p = j->plan.program;
    const bl_config *config = &j->c->config;
    uint32_t batch = j->plan.instance->lane_tasks ? lanes : 1;
    uint32_t outbox = (pieces_fit(j) ? pieces_fit(j) : batch) * p->max_spawn;
    bl__run *run = &j->run;
    run->words = p->carried_bytes / 4 + BL__ENTRY_HEAD;
    run->lanes = lanes;
    run->outbox = outbox;
    run->private_limit = config->private_entries == BL_NONE ? 0
                         : config->private_entries          ? config->private_entries
                         : j->plan.as_in_paper              ? 0
                                                            : j->c->ops->default_private(run->words, outbox);
    if (bl__in_waves(j))
        run->private_limit = 0;
    run->stack_capacity = bl__power_of_two((uint64_t)run->private_limit + outbox + batch + 1);
    run->scratch_bytes = (uint32_t)aligned(p->scratch_bytes);
    size_t memory = bl__stack_bytes(run->stack_capacity, run->words);
    if (p->result_bytes)
        memory += 4 * BL__SPARE_WORDS_OF(j->c->ops->warp);
    memory = run->scratch_bytes + aligned(memory);
    if (memory > UINT32_MAX) {
        bl__detail(j->c, "private %u: too large a stack (accepted: less than 4 GiB for a worker)", run->private_limit);
        return BL_EINVAL;
    }
    run->worker_memory = (uint32_t)memory;
    int status = j->c->ops->fit(j->c, &j->plan, lanes, memory);
    if (status != BL_OK)
        return status;
    uint32_t at_most = p->resident && j->plan.instance->lane_tasks ? p->resident * j->plan.processors : UINT32_MAX;
    uint32_t wanted = config->workers                                        ? config->workers
                      : j->c->ops->workers_must_fit && at_most < j->plan.fit ? at_most
                                                                             : j->plan.fit;
    run->workers = j->c->ops->workers_must_fit && wanted > j->plan.fit ? j->plan.fit : wanted;
    run->groups = run->workers;
    run->tallies = j->plan.traits & BL_TRAIT_GROUP_PER_TASK && j->plan.processors < run->workers ? j->plan.processors
                                                                                                 : run->workers;
    return BL_OK;
}

static void choose_policy(bl__job *j) {
    const bl_config *config = &j->c->config;
    bl__run *run = &j->run;
    bool paper = j->plan.as_in_paper;
    run->seed = config->seed;
    bool one_queue = j->plan.traits & BL_TRAIT_ONE_QUEUE;
    run->queue_count = bl__in_waves(j) ? 0 : one_queue ? 1 : run->workers;
    run->random_victims = config->victims ? config->victims == BL_VICTIMS_RANDOM : !paper;
    run->steal_half = config->steal == BL_STEAL_HALF;
    run->one_per_node = paper;
    run->done_test =
        (config->done_test ? config->done_test == BL_DONE_TEST_ASK : paper) && j->plan.program->has_done_test;
    run->pieces = j->plan.pieces;
    run->grain = config->grain ? config->grain : j->plan.program->grain;
    bool any_width = j->c->ops->workers_allocate && !config->checkpoint[0];
    run->widest = any_width ? BL__MOST_CHILDREN : j->plan.program->join_width;
    run->of_list.locked = (j->plan.traits & BL_TRAIT_LOCKED) != 0;
    run->fences_alone = j->plan.fences_alone;
    run->of_static.turn = j->plan.traits & BL_TRAIT_TURNS ? bl__tasks_at_once(j) : 0;
    uint32_t first = config->capacity ? config->capacity : one_queue ? 65536 : 1024;
    run->capacity = bl__power_of_two(first);
}

/* ---- memory ---- */

static int allocate_workers(bl__job *j) {
    bl__run *run = &j->run;
    size_t spill = 4u * (size_t)run->words * run->stack_capacity * run->workers;
    int status = bl__ensure(j, &j->control, sizeof(bl__launch_report));
    if (status == BL_OK)
        status = bl__ensure(j, &j->tally, sizeof(bl__tally) * run->tallies);
    if (status == BL_OK && !bl__in_waves(j))
        status = bl__ensure(j, &j->spill, spill);
    if (status == BL_OK && j->c->ops->host_stacks)
        status = bl__ensure(j, &j->memory, (size_t)run->worker_memory * run->workers);
    if (status == BL_OK)
        status = bl__ensure(j, &j->total, sizeof(uint64_t));
    if (status == BL_OK)
        status = bl__zero(j->c, j->tally.memory, sizeof(bl__tally) * run->tallies);
    run->policy = j->c->ops->policies ? j->c->ops->policies[j->plan.policy] : NULL;
    run->control = j->control.memory;
    run->tally = j->tally.memory;
    run->spill = j->spill.memory;
    run->memory = j->memory.memory;
    bl__extras_start(j);
    run->host = j->c->device;
    return status;
}

static int too_many_entries(bl__job *j) {
    bl__detail(j->c, "more entries at a time than a queue or pool of %s can hold (2^30)", j->plan.scheduler);
    return BL_ENOMEM;
}

/* Queues with room for at least twice what is in flat, and that put into them. */
static int refill(bl__job *j) {
    bl__run *run = &j->run;
    const bl__queue_type *type = bl__queue_type_at(j->plan.queue);
    if (run->workers > type->most_threads) {
        bl__detail(j->c, "workers %u: too many for %s (accepted: up to %u)", (unsigned)run->workers, type->name,
                   (unsigned)type->most_threads);
        return BL_EINVAL;
    }
    uint32_t needed = bl__power_of_two(2 * ((uint64_t)j->entries / run->queue_count + 1));
    if (run->capacity < needed)
        run->capacity = needed;
    run->queue_stride =
        (type->bytes((bl_shape){run->capacity, type->by_handle ? 1 : run->words, run->workers}) + BL_LINE - 1) /
        BL_LINE * BL_LINE;
    int status = bl__ensure(j, &j->queues, run->queue_stride * run->queue_count);
    run->queues = j->queues.memory;
    if (status == BL_OK && type->by_handle) {
        uint64_t handles = bl__pool_capacity((uint64_t)run->capacity * run->queue_count, run->workers);
        if (handles > 1u << 31)
            return too_many_entries(j);
        run->pool_capacity = (uint32_t)handles;
        status = bl__ensure(j, &j->pool, bl__pool_bytes(run->pool_capacity, run->workers, run->words));
        run->pool = j->pool.memory;
    }
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__SET_UP, j->plan.queue, run, NULL, j->entries, NULL);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__FILL, j->plan.queue, run, j->flat.memory, j->entries, NULL);
    return status;
}

/* Everything the workers left, private or in queues, into flat. */
static int drain(bl__job *j) {
    bl__run *run = &j->run;
    uint64_t total = 0;
    int status = bl__zero(j->c, j->total.memory, sizeof total);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__COUNT, j->plan.queue, run, NULL, 0, j->total.memory);
    if (status == BL_OK)
        status = bl__copy_out(j->c, &total, j->total.memory, sizeof total);
    const uint64_t extras = bl__extras_count(j);
    total += extras + j->totals.spilled;
    if (total > UINT32_MAX)
        return too_many_entries(j);
    j->entries = (uint32_t)total;
    if (status == BL_OK)
        status = bl__ensure(j, &j->flat, 4u * (size_t)run->words * (size_t)total + 4);
    if (status == BL_OK)
        status = bl__zero(j->c, j->total.memory, sizeof total);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__DRAIN, j->plan.queue, run, j->flat.memory, 0, j->total.memory);
    if (status == BL_OK && extras)
        bl__extras_take(j, (uint32_t *)j->flat.memory + (size_t)(total - extras) * run->words);
    return status;
}

/* ---- launching ---- */

/* Central and stealing: one launch, and another after each pause for growth. */
static int run_dynamic(bl__job *j) {
    bl__control after;
    int status = refill(j);
    if (status == BL_OK)
        status = bl__zero(j->c, j->control.memory, sizeof after);
    if (status == BL_OK)
        status = j->c->ops->timer_start(j->c);
    while (status == BL_OK) {
        j->run.in_entries = j->entries;
        status = bl__launch(j, &after);
        bool over = (uint32_t)after.idle & 1u << 31 || after.stop & BL__STOP_DONE ||
                    (j->run.alone && !(after.stop & ~BL__COARSE));
        if (status != BL_OK || over)
            break;
        status = drain(j);
        j->run.of_range.loop_tasks = j->run.alone = 0; /* what was left of the loop is entries now */
        if (status != BL_OK || j->entries == 0)
            break;
        j->stats.pauses++;
        if (after.stop & BL__STOP_HOST)
            status = bl__look_up(j);
        if (status != BL_OK)
            break;
        if (after.stop & BL__STOP_RECORDS)
            status = bl__make_records(j, 2 * (uint64_t)j->run.record_capacity);
        if (status == BL_OK && after.stop & BL__STOP_GROW) {
            status = j->run.capacity < 1u << 30 ? BL_OK : too_many_entries(j);
            j->run.capacity *= 2;
        }
        bl__release(j, &j->queues); /* before the larger ones are made */
        bl__release(j, &j->pool);
        if (status == BL_OK)
            status = refill(j);
        if (status == BL_OK)
            status = bl__zero(j->c, j->control.memory, sizeof after);
    }
    int stopped = j->c->ops->timer_stop(j->c, &j->stats.seconds);
    return status != BL_OK ? status : stopped;
}

/* ---- results ---- */

static void describe(bl__job *j, uint32_t lanes) {
    bl_stats *s = &j->stats;
    s->workers = j->run.workers;
    s->balance = 1; /* of a run without tasks */
    s->lanes = lanes;
    snprintf(s->scheduler, sizeof s->scheduler, "%s", j->plan.scheduler);
    if (j->plan.instance->lane_tasks || lanes == 1)
        snprintf(s->group, sizeof s->group, "lane");
    else if (lanes == j->c->ops->warp)
        snprintf(s->group, sizeof s->group, "warp");
    else
        snprintf(s->group, sizeof s->group, "block:%u", lanes);
}

/* Workers that are stuck in a task may wake up again: what they would touch then stays, for good. */
static void abandon(bl__job *j) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bl__job *abandoned;
    pthread_mutex_lock(&lock);
    j->next = abandoned;
    abandoned = j;
    pthread_mutex_unlock(&lock);
}

/* A job with room for a copy of the shared data behind it. bl_program_from_function's data is the function and where
 * the copy lies. */
static bl__job *new_job(bl_context *c, const bl_program *program, const void *shared) {
    bl__function_data function = {program->function, NULL};
    const size_t head = aligned(sizeof(bl__job) + sizeof function);
    bl__job *j = calloc(1, head + program->shared_bytes);
    if (!j)
        return NULL;
    unsigned char *copy = (unsigned char *)j + head;
    if (program->shared_bytes)
        memcpy(copy, shared, program->shared_bytes);
    function.shared = shared ? copy : NULL;
    memcpy(j + 1, &function, sizeof function);
    j->c = c;
    j->shared = program->function ? (const void *)(j + 1) : copy;
    return j;
}

/* Which argument cannot be used, and why; NULL: none. */
static const char *wrong_argument(const bl_program *program, const void *shared, const void *roots, uint32_t count,
                                  bool results_wanted, const void *results) {
    if (!program)
        return "program: NULL (accepted: NAME_cpu() or NAME_cuda() of a program, or one from bl_program_join, "
               "bl_program_from_function or bl_program_from_body)";
    if (count && !roots && program->payload_bytes)
        return "roots: NULL, but the program's tasks have a payload";
    if (program->shared_bytes && !shared)
        return "shared: NULL, but the program has shared data";
    if (results_wanted && !results)
        return "results: NULL (accepted: memory for a result of each root)";
    if (results_wanted && !program->result_bytes)
        return "results: the program has none (accepted with BL_RESULT)";
    if (count >= BL__ROOT)
        return "count: too many roots (accepted: fewer than 2^31)";
    return NULL;
}

static int run_entries(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                       uint32_t range, void *results, bl_stats *stats) {
    if (c->dead)
        return BL_EDEAD;
    const double begun = bl__now();
    bl__job *j = new_job(c, program, shared);
    if (!j)
        return bl__no_memory(c, "a run");
    uint32_t lanes;
    int status = bl__plan_make(c, program, &j->plan, &lanes);
    if (status == BL_OK)
        status = size_workers(j, lanes);
    if (status == BL_OK) {
        choose_policy(j);
        describe(j, lanes);
        status = allocate_workers(j);
    }
    if (status == BL_OK)
        status = bl__trace_begin(c, &j->run);
    if (status == BL_OK && count && range) {
        uint32_t tasks = 0;
        j->begun = begun;
        j->roots = count;
        if (c->config.checkpoint[0] || c->config.resume[0])
            c->problem = bl__problem(c, program, shared, roots, count, range);
        if (c->runs++ == 0)
            c->first_problem = c->problem;
        status = bl__begin(j, roots, count, range, &tasks);
        if (status == BL_OK)
            status = bl__in_waves(j) ? bl__run_waves(j, tasks) : run_dynamic(j);
        if (status == BL_OK && results)
            status = bl__copy_out(c, results, j->results.memory, (size_t)program->result_bytes * count);
        bl__add_up(j);
        bl__stats_add(&j->stats, &j->before);
        j->stats.wall_seconds = bl__now() - begun;
        if (!j->again)
            c->spent += j->stats.wall_seconds;
    }
    status = bl__trace_end(c, &j->run, bl__in_waves(j), status);
    if (stats) {
        memset(stats, 0, c->stats_bytes);
        memcpy(stats, &j->stats, c->stats_bytes < sizeof j->stats ? c->stats_bytes : sizeof j->stats);
    }
    if (c->dead) {
        abandon(j);
        return status;
    }
    release_all(j);
    free(j);
    return status;
}

/* Compiled with headers of the same interface; of another version nothing but its number can be read. */
static bool is_compatible(bl_context *c, const bl_program *program) {
    static const bl__layout layout = BL__LAYOUT;
    if (program->abi != BL__ABI)
        bl__detail(c, "the program was compiled with headers of ABI %u, this library has ABI %u: compile it again",
                   program->abi, BL__ABI);
    else if (memcmp(&program->layout, &layout, sizeof layout))
        bl__detail(c, "%s was compiled with other sizes of the runtime's structs than this library: compile it again",
                   program->name);
    else
        return true;
    return false;
}

/* What all of them begin and end with. */
static int run_call(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                    uint32_t range, bool results_wanted, void *results, bl_stats *stats) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    if (!c->dead) /* else it says why */
        bl__detail_clear(c);
    const bl_program *part = bl_program_part(program, c->ops->target);
    program = part ? part : program; /* which then says why it does not run here */
    if (program && !is_compatible(c, program))
        return bl__leave(c, BL_ENOCODE);
    const char *wrong = wrong_argument(program, shared, roots, count, results_wanted, results);
    if (wrong) {
        bl__detail(c, "%s", wrong);
        return bl__leave(c, BL_EINVAL);
    }
    return bl__leave(c, run_entries(c, program, shared, roots, count, range, results, stats));
}

int bl_run(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
           bl_stats *stats) {
    return run_call(c, program, shared, roots, count, 1, false, NULL, stats);
}

int bl_run_join(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                void *results, bl_stats *stats) {
    return run_call(c, program, shared, roots, count, 1, true, results, stats);
}

int bl_run_range(bl_context *c, const bl_program *program, const void *shared, const void *payload, uint32_t count,
                 bl_stats *stats) {
    return run_call(c, program, shared, payload, 1, count, false, NULL, stats);
}
