/* One run on any device: set up, launch, grow when the workers ask for it. job.h says where the rest of it is. */
#include "cluster/local.h"
#include "cluster/ranks.h"
#include "job.h"
#include "node_pieces.h"

#include <ballast/parts/blocks.h>
#include <ballast/parts/board.h>
#include <ballast/parts/entry.h>
#include <ballast/parts/pool.h>
#include <ballast/parts/worker.h>
#include <ballast/runtime/policy.h>
#include <ballast/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_all(bl__job *j) {
    bl__buffer *all[] = {&j->state,     &j->spill,   &j->memory,       &j->queues,   &j->pool,
                         &j->flat,      &j->total,   &j->in,           &j->in_first, &j->out,
                         &j->out_first, &j->records, &j->free_records, &j->spares,   &j->dealt};
    bl__extras_end(j);
    bl__leave_for_reuse(j);
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
    if (j->c->limit && run->workers > j->c->limit)
        run->workers = j->c->limit;
    if (bl__has_porter(j->c) && (run->workers < j->plan.fit || !j->c->ops->workers_must_fit))
        run->workers++;
    run->groups = run->workers;
    run->block_workers = j->plan.workers_per_block;
    run->blocks = (run->workers + run->block_workers - 1) / run->block_workers;
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
    run->done_test = !j->c->open && /* its end is when nothing more comes */
                     (config->done_test ? config->done_test == BL_DONE_TEST_ASK : paper) &&
                     j->plan.program->has_done_test;
    run->pieces = j->plan.pieces;
    run->loop_at = j->plan.program->loop_at;
    run->grain = config->grain ? config->grain : j->plan.program->grain;
    bool any_width = j->c->ops->workers_allocate && !config->checkpoint[0] && !bl__local_with_gpus(j->c);
    run->widest = any_width ? BL__MOST_CHILDREN : j->plan.program->join_width;
    run->of_list.locked = (j->plan.traits & BL_TRAIT_LOCKED) != 0;
    run->fences_alone = j->plan.fences_alone;
    run->of_static.turn = j->plan.traits & BL_TRAIT_TURNS ? bl__tasks_at_once(j) : 0;
    uint32_t first = config->capacity ? config->capacity : one_queue ? 65536 : 1024;
    run->capacity = bl__power_of_two(first);
}

/* ---- memory ---- */

/* For blocks that steal, if they may keep something to themselves. In a run of several nodes the porter would not give
 * away what lies there: it steals from queues. */
static bool has_boards(const bl__job *j) {
    const bl__run *run = &j->run;
    return j->c->ops->warp > 1 && !j->plan.instance->lane_tasks && !j->plan.program->splits && !run->pieces &&
           !run->one_per_node && run->private_limit && run->workers > 1 && !bl__has_porter(j->c) &&
           j->plan.traits & BL_TRAIT_STEALS && !(j->plan.traits & BL_TRAIT_RANGES);
}

static int allocate_workers(bl__job *j) {
    bl__run *run = &j->run;
    size_t spill = 4u * (size_t)run->words * run->stack_capacity * run->workers;
    size_t results = (bl__results_bytes(j) + BL_LINE - 1) / BL_LINE * BL_LINE;
    size_t tallies = sizeof(bl__tally) * run->tallies,
           idlers = (run->workers + 255u) / 256 * 32; /* warps read 32 bytes */
    const size_t payload = (j->plan.program->payload_bytes + 3) / 4 * 4;
    const size_t boards = has_boards(j) ? 4u * (size_t)run->words * BL__BOARDS : 0;
    size_t state = BL__RESULTS_OF_ROOTS + results + tallies + idlers + payload + BL__FAILURE_TEXT + boards;
    state = (state + 15) / 16 * 16;
    const bool is_clear = bl__reuse_state(j, state);
    int status = bl__ensure(j, &j->state, state);
    if (status == BL_OK && !bl__in_waves(j))
        status = bl__ensure(j, &j->spill, spill);
    if (status == BL_OK && j->c->ops->host_stacks)
        status = bl__ensure(j, &j->memory, (size_t)run->worker_memory * run->workers);
    if (status == BL_OK)
        status = bl__ensure(j, &j->total, sizeof(uint64_t));
    if (status == BL_OK && !is_clear)
        status = bl__zero_for_launch(j->c, j->state.memory, state);
    run->policy = j->c->ops->policies ? j->c->ops->policies[j->plan.policy] : NULL;
    if (status == BL_OK) {
        run->control = j->state.memory;
        run->results = (unsigned char *)j->state.memory + BL__RESULTS_OF_ROOTS;
        run->tally = (bl__tally *)(void *)(run->results + results);
        run->idlers = (uint32_t *)(void *)(run->results + results + tallies);
        run->failure = run->idlers + idlers / 4;
        run->boards = boards ? run->failure + (payload + BL__FAILURE_TEXT) / 4 : NULL;
    }
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

/* A GPU's workers take a few roots by themselves: to put them into queues takes a kernel, and to get them out again
 * takes longer than many a task. Not where all tasks are to pass through the queues, ranges are dealt out, or more may
 * come in at any time to workers that have yet to be counted as idle. Nor in a run that had to set up its queues, like
 * the first of a context: then what was to be sent has been. */
static const uint32_t *roots_for_workers(bl__job *j) {
    enum { FEW = 32 };
    const bl__run *run = &j->run;
    const bool fits = j->entries <= FEW && j->entries / run->workers + 1 + run->outbox <= run->stack_capacity;
    if (!j->c->ops->sent || (j->c->open && !bl__has_porter(j->c)) || j->stats.launches || !j->entries || !fits ||
        run->private_limit == 0 || run->queue_count != run->workers || run->dealt || j->plan.traits & BL_TRAIT_RANGES)
        return NULL;
    return j->c->ops->sent(j->c, j->flat.memory);
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
    uint64_t most = j->dealt.memory ? j->most_dealt : j->entries / run->queue_count;
    uint32_t needed = bl__power_of_two(2 * (most + 1));
    if (run->capacity < needed)
        run->capacity = needed;
    const bool reused = bl__reuse_queues(j);
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
    if (status == BL_OK && !reused)
        status = j->c->ops->manage(j->c, BL__SET_UP, j->plan.queue, run, NULL, j->entries, NULL);
    run->roots = status == BL_OK ? roots_for_workers(j) : NULL;
    if (status == BL_OK && !run->roots)
        status = j->c->ops->manage(j->c, BL__FILL, j->plan.queue, run, j->flat.memory, j->entries, NULL);
    run->dealt = NULL; /* of the roots alone */
    bl__release(j, &j->dealt);
    return status;
}

/* How many boards the workers left tasks on; posted[b]: how many tasks. */
static int count_posted(bl__job *j, int32_t posted[BL__BOARDS], uint32_t *boards) {
    const size_t bytes = sizeof *posted * BL__BOARDS;
    memset(posted, 0, bytes);
    int status = j->run.boards ? bl__copy_out(j->c, posted, j->run.control->posted, bytes) : BL_OK;
    *boards = 0;
    for (uint32_t b = 0; b < BL__BOARDS; b++)
        *boards += posted[b] > 0;
    return status;
}

/* As entries from `to` on. They are the last tasks of the entry that lies on a board. */
static int take_posted(bl__job *j, const int32_t posted[BL__BOARDS], uint32_t *to) {
    int status = BL_OK;
    for (uint32_t b = 0; b < BL__BOARDS && status == BL_OK; b++) {
        const uint32_t *entry = bl__board_entry(&j->run, b, j->run.words);
        uint32_t begin = 0;
        if (posted[b] <= 0)
            continue;
        status = j->c->ops->move(j->c, to, entry, 4u * (size_t)j->run.words);
        if (status == BL_OK)
            status = bl__copy_out(j->c, &begin, entry + 1, sizeof begin);
        begin -= (uint32_t)posted[b];
        if (status == BL_OK)
            status = bl__copy_in(j->c, to, &begin, sizeof begin);
        to += j->run.words;
    }
    return status;
}

/* Everything the workers left, private, on boards or in queues, into flat. */
static int drain(bl__job *j) {
    bl__run *run = &j->run;
    uint64_t total = 0;
    int32_t posted[BL__BOARDS];
    uint32_t boards = 0;
    int status = bl__zero(j->c, j->total.memory, sizeof total);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__COUNT, j->plan.queue, run, NULL, 0, j->total.memory);
    if (status == BL_OK)
        status = bl__copy_out(j->c, &total, j->total.memory, sizeof total);
    if (status == BL_OK)
        status = count_posted(j, posted, &boards);
    const uint64_t extras = bl__extras_count(j), queued = total;
    total += extras + j->totals.spilled + boards;
    if (total > UINT32_MAX)
        return too_many_entries(j);
    j->entries = (uint32_t)total;
    if (status == BL_OK)
        status = bl__ensure(j, &j->flat, 4u * (size_t)run->words * (size_t)total + 4);
    if (status == BL_OK)
        status = bl__zero(j->c, j->total.memory, sizeof total);
    if (status == BL_OK)
        status =
            j->c->ops->manage(j->c, BL__DRAIN, j->plan.queue, run, j->flat.memory, (uint32_t)queued, j->total.memory);
    if (status == BL_OK && boards)
        status = take_posted(j, posted, (uint32_t *)j->flat.memory + (size_t)(total - extras - boards) * run->words);
    if (status == BL_OK && extras)
        bl__extras_take(j, (uint32_t *)j->flat.memory + (size_t)(total - extras) * run->words);
    run->of_range.loop_tasks = run->alone = 0; /* what was left of a loop is entries now */
    j->drained = status == BL_OK;
    return status;
}

/* ---- launching ---- */

/* Central and stealing: one launch, and another after each pause for growth. */
static int run_dynamic(bl__job *j) {
    bl__control after;
    int status = refill(j);
    if (status == BL_OK)
        status = j->c->ops->timer_start(j->c);
    while (status == BL_OK) {
        j->run.in_entries = j->entries;
        j->drained = false;
        after.taken = after.given = after.sent = after.brought = after.finished = 0; /* if there will be no launch */
        if (j->c->open)
            bl__inlet_begins(j);
        status = bl__launch(j, &after);
        if (j->c->open)
            bl__inlet_pauses(j, &after);
        if (status != BL_OK)
            break;
        j->over = (uint32_t)after.idle & 1u << 31;
        if (j->over || after.stop & BL__STOP_DONE || (j->run.alone && !(after.stop & ~BL__COARSE)))
            break;
        bl__phase(j, "pause");
        status = drain(j);
        if (status != BL_OK || (j->entries == 0 && (!j->c->open || bl__inlet_is_done(j->c))))
            break;
        j->stats.pauses++;
        if (after.stop & BL__STOP_HOST)
            status = bl__look_up(j);
        const bool restarts = status != BL_OK && j->c->open && bl__node_restarts(j->c, status);
        if (status != BL_OK && !restarts)
            break;
        status = BL_OK;
        j->run.settles = restarts;
        j->run.spares_left = false; /* they are in the store */
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
            status = bl__zero_for_launch(j->c, j->state.memory, sizeof after);
        if (status == BL_OK && after.finished) /* the porter has not sent their results yet */
            status = bl__copy_in(j->c, &j->run.control->finished, &after.finished, sizeof after.finished);
        if (status == BL_OK && restarts)
            status = bl__copy_in(j->c, &j->run.control->stop, &(uint32_t){BL__STOP_HOST}, sizeof after.stop);
    }
    int stopped = j->c->ops->timer_stop(j->c, &j->stats.seconds);
    if (bl__stopped_by_task(status) && !j->drained)
        drain(j);
    return status != BL_OK ? status : stopped;
}

/* ---- results ---- */

static void describe(bl__job *j, uint32_t lanes) {
    bl_stats *s = &j->stats;
    s->workers = j->run.workers - bl__has_porter(j->c);
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

/* Most often they have come with the report. */
static int take_results(bl__job *j, void *results) {
    const size_t bytes = bl__results_bytes(j);
    if (bl__results_are_here(j->c) && !j->cleared) {
        memcpy(results, j->run.results, bytes);
        return BL_OK;
    }
    if (BL__RESULTS_OF_ROOTS + bytes > BL__READ_BACK)
        return bl__copy_out(j->c, results, j->run.results, bytes);
    memcpy(results, j->read_back + BL__RESULTS_OF_ROOTS, bytes);
    return BL_OK;
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
    bl__function_data function = {program->function, NULL, program->long_body, program->guard};
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
static const char *wrong_argument(const bl__request *q) {
    const bl_program *program = q->program;
    if (!program)
        return "program: NULL (accepted: NAME_cpu() or NAME_cuda() of a program, or one from bl_program_join, "
               "bl_program_from_function or bl_program_from_body)";
    if (q->count && !q->roots && program->payload_bytes)
        return "roots or payload: NULL, but the program's tasks have a payload";
    if (program->shared_bytes && !q->shared)
        return "shared: NULL, but the program has shared data";
    if (q->results_wanted && !q->results)
        return "results: NULL (accepted: memory for a result of each root)";
    if (q->results_wanted && !program->result_bytes)
        return "results: the program has none (accepted with BL_RESULT)";
    if (q->reduces && !program->loop_at)
        return "program: not a reduction of a loop (accepted with BL_REDUCE and BL_RANGE_RUN)";
    if (q->reduces && q->range > UINT32_MAX)
        return "count: too many indices (accepted: fewer than 2^32)";
    if (program->loop_at && !q->reduces)
        return "program: a reduction of a loop (accepted by bl_run_reduce and bl_start_reduce)";
    if (q->count >= BL__WIDE)
        return "count: too many roots (accepted: fewer than 2^30)";
    return NULL;
}

/* A run of several nodes has ended here. If it was only interrupted for a checkpoint, what is left is not given
 * away. */
static bool keep_piece(bl__job *j, int status) {
    bl_context *c = j->c;
    const int all = bl__node_status(c);
    if (c->config.checkpoint[0] && all != BL_OK && (status == BL_OK || j->drained))
        c->piece = bl__piece_make(j, status == BL_OK);
    return all == BL__PAUSE;
}

/* From the roots to the results, and what it took. */
static int perform(bl__job *j, const bl__request *q, uint32_t range) {
    bl_context *c = j->c;
    uint32_t tasks = 0;
    if ((c->config.checkpoint[0] || c->config.resume[0]) && !q->rootless)
        c->problem = bl__problem(c, q->program, q->shared, q->roots, q->count, range);
    if (!q->goes_on && c->runs++ == 0)
        c->first_problem = c->problem;
    j->from = q->from;
    j->fails = q->fails;
    int status = bl__begin(j, q->roots, q->rootless ? 0 : q->count, range, &tasks);
    if (status == BL_OK)
        status = bl__in_waves(j) ? bl__run_waves(j, tasks) : run_dynamic(j);
    bl__phase(j, "collect");
    if (q->open) { /* what comes later is refused, and so not lost */
        bl__inlet_end(c, status);
        bl__node_ends(c, status);
    }
    const bool paused = c->inlet.ring.node && q->open && keep_piece(j, status);
    if (status != BL_OK && !c->dead && j->drained && !paused)
        bl__give_left(j);
    if (status == BL_OK && q->results && (range || q->others)) /* a loop of no indices has none */
        status = take_results(j, q->results);
    bl__add_up(j);
    bl__stats_add(&j->stats, &j->before);
    j->stats.wall_seconds = bl__now() - j->begun;
    if (!j->again)
        c->spent += j->stats.wall_seconds;
    return status;
}

/* The indices from `base` on, `range` of them, of each root. */
static int run_part(bl_context *c, const bl__request *q, uint64_t base, uint32_t range, bl_stats *stats) {
    const bl_program *program = q->program;
    if (c->dead)
        return BL_EDEAD;
    const double begun = bl__now();
    bl_store64_host(&c->progressed, c->of_parts);
    c->failed = false;
    free(c->failed_payload);
    c->failed_payload = NULL;
    bl__job *j = new_job(c, program, q->shared);
    if (!j)
        return bl__no_memory(c, "a run");
    uint32_t lanes;
    j->roots = q->count + q->others;
    j->first_root = q->first;
    c->open = q->open;
    int status = bl__plan_make(c, program, &j->plan, &lanes);
    bl__phase(j, "set up");
    if (status == BL_OK)
        status = size_workers(j, lanes);
    if (status == BL_OK) {
        choose_policy(j);
        j->run.base = base;
        describe(j, lanes);
        status = allocate_workers(j);
    }
    if (status == BL_OK && q->open)
        bl__inlet_join(j);
    if (status == BL_OK)
        status = bl__trace_begin(c, &j->run);
    if (status == BL_OK && ((q->count && range) || q->open)) {
        j->begun = begun;
        status = perform(j, q, range);
    }
    status = bl__trace_end(c, &j->run, bl__in_waves(j), status);
    c->open = false;
    bl_store64_host(&c->progressed, c->of_parts + j->stats.tasks);
    if (stats)
        *stats = j->stats;
    if (c->log)
        bl__log_run(c, program, &j->stats, status);
    if (c->dead) {
        bl__phase(j, NULL);
        abandon(j);
        return status;
    }
    release_all(j);
    bl__phase(j, NULL);
    free(j);
    return status;
}

void bl__stats_next(bl_stats *all, const bl_stats *part) {
    bl_stats sum = *part;
    bl__stats_add(&sum, all);
    sum.wall_seconds += all->wall_seconds;
    sum.peak_entries = sum.peak_entries > all->peak_entries ? sum.peak_entries : all->peak_entries;
    sum.paper_tasks = sum.paper_tasks > all->paper_tasks ? sum.paper_tasks : all->paper_tasks;
    sum.peak_bytes = sum.peak_bytes > all->peak_bytes ? sum.peak_bytes : all->peak_bytes;
    *all = sum;
}

/* A loop too long for indices of 32 bits, part by part. */
static int run_parts(bl_context *c, const bl__request *q, bl_stats *stats) {
    const uint32_t most = c->most_indices ? c->most_indices : 1u << 31;
    bl_stats all = {.tasks = 0};
    int status = BL_OK;
    uint64_t left = q->range;
    while (left && status == BL_OK) {
        uint32_t n = left < most ? (uint32_t)left : most;
        bl_stats part = {.tasks = 0};
        status = run_part(c, q, q->range - left, n, &part);
        bl__stats_next(&all, &part);
        c->of_parts = all.tasks;
        left -= n;
    }
    all.left += left;
    if (stats)
        *stats = all;
    return status;
}

/* The whole loop as one root. */
static int run_reduction(bl_context *c, const bl__request *q, bl_stats *stats) {
    const bl_program *program = q->program;
    const uint32_t count = (uint32_t)q->range;
    const uint32_t grain = c->config.grain  ? c->config.grain
                           : program->grain ? program->grain
                                            : bl__blocks_grain(count);
    const bl__blocks all = {0, count, grain};
    unsigned char *root = calloc(1, program->payload_bytes);
    if (!root)
        return bl__no_memory(c, "a root");
    memcpy(root, q->roots, program->loop_at);
    memcpy(root + program->loop_at, &all, sizeof all);
    bl__request tree = *q;
    tree.roots = root;
    int status = run_part(c, &tree, 0, count > 0, stats);
    free(root);
    return status;
}

int bl__request_run(bl_context *c, const bl__request *q, bl_stats *stats) {
    const uint32_t most = c->most_indices ? c->most_indices : UINT32_MAX;
    if (!q->goes_on)
        c->of_parts = 0;
    if (q->reduces && !q->rootless)
        return run_reduction(c, q, stats);
    return q->range <= most ? run_part(c, q, 0, (uint32_t)q->range, stats) : run_parts(c, q, stats);
}

/* Compiled with headers of the same interface; of another version nothing but its number can be read. */
static bool is_compatible(const bl_program *program, bl_context *told) {
    static const bl__layout layout = BL__LAYOUT;
    if (program->abi != BL__ABI)
        bl__detail(told, "the program was compiled with headers of ABI %u, this library has ABI %u: compile it again",
                   program->abi, BL__ABI);
    else if (memcmp(&program->layout, &layout, sizeof layout))
        bl__detail(told,
                   "%s was compiled with other sizes of the runtime's structs than this library: compile it again",
                   program->name);
    else
        return true;
    return false;
}

int bl__request_part(const bl_context *c, bl__request *q, bl_context *told) {
    const bl_program *part = bl_program_part(q->program, c->ops->target);
    q->program = part ? part : q->program; /* which then says why it does not run here */
    return !q->program || is_compatible(q->program, told) ? BL_OK : BL_ENOCODE;
}

int bl__request_check(const bl_context *c, bl__request *q, bl_context *told) {
    static const bl_nothing nothing;
    int status = bl__request_part(c, q, told);
    if (status == BL_OK && q->program && q->program->no_payload && q->count == 1 && !q->roots)
        q->roots = &nothing;
    const char *wrong = status == BL_OK ? wrong_argument(q) : NULL;
    if (!wrong)
        return status;
    bl__detail(told, "%s", wrong);
    return BL_EINVAL;
}

/* A job that is only planned. */
static int count_workers(bl_context *c, const bl_program *program, uint32_t *workers) {
    bl__job *j = calloc(1, sizeof *j);
    uint32_t lanes;
    if (!j)
        return bl__no_memory(c, "a plan");
    j->c = c;
    c->open = c->cluster || c->leader;
    int status = c->dead ? BL_EDEAD : bl__plan_make(c, program, &j->plan, &lanes);
    if (status == BL_OK)
        status = size_workers(j, lanes);
    c->open = false;
    *workers = status == BL_OK ? j->run.workers : 0;
    free(j);
    return status;
}

int bl_workers(bl_context *c, const bl_program *program, uint32_t *workers) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    const char *wrong = !program   ? "program: NULL"
                        : !workers ? "workers: NULL (accepted: the address of a uint32_t)"
                                   : NULL;
    if (wrong) {
        bl__detail(c, "%s", wrong);
        return bl__leave(c, BL_EINVAL);
    }
    *workers = 0;
    bl_context *node = c;
    for (uint32_t i = 1; status == BL_OK && node; i++) {
        bl__request q = {.program = program};
        uint32_t of_node = 0;
        if (node != c)
            bl__detail_clear(node);
        status = bl__request_part(node, &q, c);
        if (status == BL_OK)
            status = count_workers(node, q.program, &of_node);
        if (status != BL_OK && node != c)
            bl__detail(c, "%s", node->detail);
        *workers = of_node > *workers ? of_node : *workers;
        node = c->cluster ? bl__local_node(c->cluster, i) : NULL;
    }
    return bl__leave(c, status);
}

const char *bl_scheduler_of(bl_context *c, const bl_program *program) {
    if (bl__enter(c) != BL_OK)
        return NULL;
    bl__request q = {.program = program};
    bl__plan plan = {.scheduler = NULL};
    uint32_t lanes;
    if (!program)
        bl__detail(c, "program: NULL");
    int status = !program ? BL_EINVAL : c->dead ? BL_EDEAD : bl__request_part(c, &q, c);
    c->open = c->cluster != NULL;
    if (status == BL_OK)
        status = bl__plan_make(c, q.program, &plan, &lanes);
    return bl__leave(c, status) == BL_OK ? plan.scheduler : NULL;
}

int bl_chooses(const bl_context *c) { return c && !strcmp(c->config.scheduler, "auto"); }

int bl_stops(const bl_context *c) {
    return c && (c->config.time_limit > 0 || c->config.checkpoint[0] || c->config.resume[0]);
}

void bl__stats_give(const bl_context *c, bl_stats *to, const bl_stats *from) {
    if (!to)
        return;
    memset(to, 0, c->stats_bytes);
    memcpy(to, from, c->stats_bytes < sizeof *from ? c->stats_bytes : sizeof *from);
}
