/* One run on any device: set up, launch, grow when the workers ask for it, wave after wave for the static schedulers. */
#include "internal.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/pool.h>
#include <ballast/queues/broker.h>
#include <ballast/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    void *memory;
    size_t bytes;
} buffer;

/* Everything one run owns. */
typedef struct job {
    bl_context *c;
    bl__plan plan;
    bl__run run;
    const void *shared;
    bl_stats stats;
    buffer control, tally, spill, memory, queues, pool, flat, total, in, in_first, out, out_first;
    buffer records, free_records, results;
    bl__tally *tallies; /* host copy */
    struct job *next;   /* abandoned */
    uint64_t bytes;
    uint32_t entries; /* in flat, or in the in-array */
} job;

static int ensure(job *j, buffer *b, size_t bytes) {
    if (b->memory && b->bytes >= bytes)
        return BL_OK;
    bl_free(j->c, b->memory);
    j->bytes -= b->bytes;
    b->memory = NULL;
    b->bytes = 0;
    int status = bl_alloc(j->c, &b->memory, bytes);
    if (status == BL_OK) {
        b->bytes = bytes;
        j->bytes += bytes;
        if (j->bytes > j->stats.peak_bytes)
            j->stats.peak_bytes = j->bytes;
    }
    return status;
}

static void release(job *j, buffer *b) {
    bl_free(j->c, b->memory);
    j->bytes -= b->bytes;
    b->memory = NULL;
    b->bytes = 0;
}

static void release_all(job *j) {
    buffer *all[] = {&j->control, &j->tally,     &j->spill,   &j->memory,       &j->queues,
                     &j->pool,    &j->flat,      &j->total,   &j->in,           &j->in_first,
                     &j->out,     &j->out_first, &j->records, &j->free_records, &j->results};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        release(j, all[i]);
    free(j->tallies);
}

static uint32_t power_of_two(uint64_t at_least) {
    uint64_t n = 2;
    while (n < at_least)
        n *= 2;
    return n > 1u << 31 ? 1u << 31 : (uint32_t)n;
}

/* ---- sizes ---- */

/* How much a worker keeps to itself unless told otherwise: plenty on a CPU, what shared memory allows on a GPU, little on the simulated machine,
 * which is there to see things go wrong. */
static uint32_t default_private(const job *j, uint32_t outbox) {
    if (j->plan.as_in_paper)
        return 0;
    if (!strcmp(j->plan.program->target, "cpu"))
        return 256;
    if (!strcmp(j->plan.program->target, "sim"))
        return 6;
    uint32_t room = 4096 / (4 * j->run.words);
    return room > outbox + 40 ? room - outbox - 33 : 8;
}

static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

static int size_workers(job *j, uint32_t lanes) {
    const bl_program *p = j->plan.program;
    const bl_config *config = &j->c->config;
    uint32_t batch = j->plan.instance->lane_tasks ? lanes : 1;
    uint32_t outbox = batch * p->max_spawn;
    bl__run *run = &j->run;
    run->words = p->carried_bytes / 4 + BL__ENTRY_HEAD;
    run->lanes = lanes;
    run->outbox = outbox;
    run->private_limit = config->private_entries == BL_NONE ? 0
                         : config->private_entries          ? config->private_entries
                                                            : default_private(j, outbox);
    if (j->plan.is_static)
        run->private_limit = 0;
    run->stack_capacity = power_of_two((uint64_t)run->private_limit + outbox + batch + 1);
    run->scratch_bytes = (uint32_t)aligned(p->scratch_bytes);
    size_t memory = bl__stack_bytes(run->stack_capacity, run->words);
    if (p->result_bytes)
        memory += 4 * BL__SPARE_WORDS_OF(j->plan.warp);
    memory = run->scratch_bytes + aligned(memory);
    if (memory > UINT32_MAX) {
        bl__detail(j->c, "private %u: too large a stack (accepted: less than 4 GiB for a worker)", run->private_limit);
        return BL_EINVAL;
    }
    run->worker_memory = (uint32_t)memory;
    int status = j->c->ops->fit(j->c, &j->plan, lanes, memory);
    if (status != BL_OK)
        return status;
    uint32_t wanted = config->workers ? config->workers : j->plan.fit;
    run->workers = !strcmp(p->target, "cuda") && wanted > j->plan.fit ? j->plan.fit : wanted;
    run->groups = run->workers;
    run->tallies = j->plan.wave && j->plan.processors < run->workers ? j->plan.processors : run->workers;
    return BL_OK;
}

/* Tasks that a group runs together: a warp's lanes one each, or a piece of the size asked for. */
static uint32_t tasks_at_once(const job *j) {
    bool lanes = j->plan.instance->lane_tasks && j->plan.warp > 1;
    return lanes ? j->run.lanes : j->plan.program->takes_pieces && j->run.pop ? j->run.pop : 1;
}

static void choose_policy(job *j) {
    const bl_config *config = &j->c->config;
    bl__run *run = &j->run;
    bool paper = j->plan.as_in_paper;
    run->seed = config->seed;
    run->queue_count = j->plan.is_static ? 0 : j->plan.central ? 1 : run->workers;
    run->random_victims = config->victims ? config->victims == BL_VICTIMS_RANDOM : !paper;
    run->steal_half = config->steal == BL_STEAL_HALF;
    run->one_per_node = paper;
    run->done_test = (config->done_test ? config->done_test == 1 : paper) && j->plan.program->has_done_test;
    run->pop = config->pop ? config->pop : j->plan.program->pop;
    run->locked = j->plan.locked;
    run->turn = j->plan.cyclic ? tasks_at_once(j) : 0;
    uint32_t first = config->capacity ? config->capacity : j->plan.central ? 65536 : 1024;
    run->capacity = power_of_two(first);
}

/* ---- memory ---- */

static int allocate_workers(job *j) {
    bl__run *run = &j->run;
    size_t spill = 4u * (size_t)run->words * run->stack_capacity * run->workers;
    int status = ensure(j, &j->control, sizeof(bl__control));
    if (status == BL_OK)
        status = ensure(j, &j->tally, sizeof(bl__tally) * run->tallies);
    if (status == BL_OK && !j->plan.is_static)
        status = ensure(j, &j->spill, spill);
    if (status == BL_OK && strcmp(j->plan.program->target, "cuda"))
        status = ensure(j, &j->memory, (size_t)run->worker_memory * run->workers);
    if (status == BL_OK)
        status = ensure(j, &j->total, sizeof(uint64_t));
    if (status == BL_OK && !(j->tallies = calloc(run->tallies, sizeof(bl__tally))))
        status = BL_ENOMEM;
    if (status == BL_OK)
        status = bl_zero(j->c, j->tally.memory, sizeof(bl__tally) * run->tallies);
    run->control = j->control.memory;
    run->tally = j->tally.memory;
    run->spill = j->spill.memory;
    run->memory = j->memory.memory;
    run->host = j->c->device;
    return status;
}

/* Records in larger memory, those in use where they were, and all others in the queue of free ones. */
static int make_records(job *j, uint64_t capacity) {
    bl__run *run = &j->run;
    buffer larger = {NULL, 0};
    size_t used = (size_t)run->record_capacity * run->record_bytes;
    if (capacity > 1u << 30)
        return BL_ENOMEM;
    run->record_bytes = j->plan.program->record_bytes;
    size_t bytes = (size_t)capacity * run->record_bytes;
    int status = ensure(j, &larger, bytes);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, larger.memory, j->records.memory, used);
    if (status == BL_OK)
        status = bl_zero(j->c, (char *)larger.memory + used, bytes - used);
    release(j, &j->records);
    j->records = larger;
    run->records = larger.memory;
    run->record_capacity = (uint32_t)capacity;
    release(j, &j->free_records);
    if (status == BL_OK)
        status = ensure(j, &j->free_records, broker_bytes((bl_shape){run->record_capacity, 1, run->workers}));
    run->free_records = j->free_records.memory;
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__RECORDS_SET_UP, -1, run, NULL, 0, NULL);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__RECORDS_FILL, -1, run, NULL, 0, NULL);
    return status;
}

/* Before the workers start: some for each of them to begin with. */
static int first_records(job *j, uint32_t roots) {
    const bl_program *p = j->plan.program;
    if (!p->result_bytes)
        return BL_OK;
    int status = ensure(j, &j->results, (size_t)p->result_bytes * roots);
    j->run.results = j->results.memory;
    uint64_t each = j->c->config.capacity ? j->c->config.capacity : 256;
    each = each < 4 * j->plan.warp ? 4 * j->plan.warp : each;
    return status == BL_OK ? make_records(j, power_of_two(each * j->run.workers)) : status;
}

/* Waves cannot pause: enough for every task of the next launch to fork, and for what groups hold back. */
static int records_for_wave(job *j, uint32_t tasks) {
    bl__run *run = &j->run;
    uint64_t spare = 0, needed = 2 * ((uint64_t)tasks + run->workers * (uint64_t)run->lanes);
    if (!j->plan.program->result_bytes)
        return BL_OK;
    int status = j->c->ops->manage(j->c, BL__RECORDS_COUNT, -1, run, NULL, 0, j->total.memory);
    if (status == BL_OK)
        status = bl_copy_out(j->c, &spare, j->total.memory, sizeof spare);
    if (status != BL_OK || spare >= needed)
        return status;
    return make_records(j, power_of_two(run->record_capacity + needed - spare));
}

/* Queues with room for at least twice what is in flat, and that put into them. */
static int refill(job *j) {
    bl__run *run = &j->run;
    const bl__queue_type *type = bl__queue_type_at(j->plan.queue);
    if (run->workers > type->most_threads) {
        bl__detail(j->c, "workers %u: too many for %s (accepted: up to %u)", (unsigned)run->workers, type->name,
                   (unsigned)type->most_threads);
        return BL_EINVAL;
    }
    uint32_t needed = power_of_two(2 * ((uint64_t)j->entries / run->queue_count + 1));
    if (run->capacity < needed)
        run->capacity = needed;
    run->queue_stride =
        (type->bytes((bl_shape){run->capacity, type->by_handle ? 1 : run->words, run->workers}) + BL_LINE - 1) /
        BL_LINE * BL_LINE;
    int status = ensure(j, &j->queues, run->queue_stride * run->queue_count);
    run->queues = j->queues.memory;
    if (status == BL_OK && type->by_handle) {
        uint64_t handles = bl__pool_capacity((uint64_t)run->capacity * run->queue_count, run->workers);
        if (handles > 1u << 31)
            return BL_ENOMEM;
        run->pool_capacity = (uint32_t)handles;
        status = ensure(j, &j->pool, bl__pool_bytes(run->pool_capacity, run->workers, run->words));
        run->pool = j->pool.memory;
    }
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__SET_UP, j->plan.queue, run, NULL, j->entries, NULL);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__FILL, j->plan.queue, run, j->flat.memory, j->entries, NULL);
    return status;
}

/* Everything the workers left, private or in queues, into flat. */
static int drain(job *j) {
    bl__run *run = &j->run;
    uint64_t total = 0;
    int status = bl_zero(j->c, j->total.memory, sizeof total);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__COUNT, j->plan.queue, run, NULL, 0, j->total.memory);
    if (status == BL_OK)
        status = bl_copy_out(j->c, &total, j->total.memory, sizeof total);
    for (uint32_t i = 0; i < run->workers; i++)
        total += j->tallies[i].spilled;
    if (total > UINT32_MAX)
        return BL_ENOMEM;
    j->entries = (uint32_t)total;
    if (status == BL_OK)
        status = ensure(j, &j->flat, 4u * (size_t)run->words * (size_t)total + 4);
    if (status == BL_OK)
        status = bl_zero(j->c, j->total.memory, sizeof total);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__DRAIN, j->plan.queue, run, j->flat.memory, 0, j->total.memory);
    return status;
}

/* ---- launching ---- */

static int launch(job *j, bl__control *after) {
    j->run.launch = j->stats.launches++;
    int status = j->c->ops->launch(j->c, &j->plan, &j->run, j->shared);
    if (status == BL_OK)
        status = bl_copy_out(j->c, after, j->control.memory, sizeof *after);
    if (status == BL_OK)
        status = bl_copy_out(j->c, j->tallies, j->tally.memory, sizeof(bl__tally) * j->run.tallies);
    if (status == BL_OK && after->stop & BL__STOP_FAILED)
        status = BL_ETASK;
    if (status == BL_OK && after->stop & BL__STOP_TOO_MANY)
        status = BL_ETOOMANY;
    return status;
}

/* Central and stealing: one launch, and another after each pause for growth. */
static int run_dynamic(job *j) {
    bl__control after;
    int status = refill(j);
    if (status == BL_OK)
        status = bl_zero(j->c, j->control.memory, sizeof after);
    if (status == BL_OK)
        status = j->c->ops->timer_start(j->c);
    while (status == BL_OK) {
        status = launch(j, &after);
        bool over = (uint32_t)after.idle & 1u << 31 || after.stop & BL__STOP_DONE || (j->run.alone && !after.stop);
        if (status != BL_OK || over)
            break;
        status = drain(j);
        j->run.loop_tasks = j->run.alone = 0; /* what was left of the loop is entries now */
        if (status != BL_OK || j->entries == 0)
            break;
        j->stats.pauses++;
        if (after.stop & BL__STOP_RECORDS)
            status = make_records(j, 2 * (uint64_t)j->run.record_capacity);
        if (status == BL_OK && j->run.capacity >= 1u << 30)
            status = BL_ENOMEM;
        if (after.stop & BL__STOP_GROW)
            j->run.capacity *= 2;
        release(j, &j->queues); /* before the larger ones are made */
        release(j, &j->pool);
        if (status == BL_OK)
            status = refill(j);
        if (status == BL_OK)
            status = bl_zero(j->c, j->control.memory, sizeof after);
    }
    int stopped = j->c->ops->timer_stop(j->c, &j->stats.seconds);
    return status != BL_OK ? status : stopped;
}

enum { SLICE_ENTRIES = 1 << 24 }; /* what one launch of a wave may at most add to the out-array */

static int make_room(job *j, uint32_t used, uint64_t more) {
    size_t entry = 4u * (size_t)j->run.words, need = (size_t)used + (size_t)more;
    if (need > UINT32_MAX)
        return BL_ETOOMANY;
    if (need * entry <= j->out.bytes)
        return BL_OK;
    size_t slots = need > 2 * (size_t)used ? need : 2 * (size_t)used;
    buffer larger = {NULL, 0}, first = {NULL, 0};
    int status = ensure(j, &larger, slots * entry);
    if (status == BL_OK)
        status = ensure(j, &first, slots * 4);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, larger.memory, j->out.memory, used * entry);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, first.memory, j->out_first.memory, used * 4u);
    release(j, &j->out);
    release(j, &j->out_first);
    j->out = larger;
    j->out_first = first;
    return status;
}

/* One wave: every task of the in-array, in launches small enough that what they spawn surely fits. */
static int run_wave(job *j, uint32_t tasks, uint64_t *spawned) {
    bl__run *run = &j->run;
    bl__control after;
    uint32_t batch = tasks_at_once(j);
    uint32_t most = j->plan.program->max_spawn ? SLICE_ENTRIES / j->plan.program->max_spawn : UINT32_MAX;
    *spawned = 0;
    for (uint32_t done = 0; done < tasks; done += run->slice_tasks) {
        run->first_task = done;
        run->slice_tasks = tasks - done < most ? tasks - done : most;
        int status = make_room(j, (uint32_t)*spawned, (uint64_t)run->slice_tasks * j->plan.program->max_spawn);
        if (status == BL_OK)
            status = records_for_wave(j, run->slice_tasks);
        run->out = j->out.memory;
        run->out_first = j->out_first.memory;
        if (j->plan.wave)
            run->groups = (run->slice_tasks + batch - 1) / batch;
        memset(&after, 0, sizeof after);
        after.out = *spawned;
        if (status == BL_OK)
            status = bl_copy_in(j->c, j->control.memory, &after, sizeof after);
        if (status == BL_OK)
            status = launch(j, &after);
        if (status != BL_OK)
            return status;
        *spawned = after.out;
        if (run->slice_tasks > j->stats.paper_tasks)
            j->stats.paper_tasks = run->slice_tasks;
    }
    return BL_OK;
}

static int run_static(job *j, uint32_t tasks) {
    int status = j->c->ops->timer_start(j->c);
    j->in = j->flat;
    memset(&j->flat, 0, sizeof j->flat);
    j->run.in_entries = j->entries;
    while (status == BL_OK && tasks) {
        uint64_t spawned;
        j->run.in = j->in.memory;
        j->run.in_first = j->in_first.memory;
        status = run_wave(j, tasks, &spawned);
        if (status != BL_OK)
            break; /* after a stall a worker may still be reading j->run */
        buffer in = j->in, first = j->in_first;
        j->in = j->out;
        j->in_first = j->out_first;
        j->out = in;
        j->out_first = first;
        if (j->run.in_entries + (spawned & UINT32_MAX) > j->stats.peak_tasks)
            j->stats.peak_tasks = j->run.in_entries + (spawned & UINT32_MAX);
        j->run.in_entries = (uint32_t)spawned;
        tasks = (uint32_t)(spawned >> 32);
    }
    int stopped = j->c->ops->timer_stop(j->c, &j->stats.seconds);
    return status != BL_OK ? status : stopped;
}

/* ---- results ---- */

static void add_up(job *j) {
    bl_stats *s = &j->stats;
    uint64_t least = UINT64_MAX, most = 0, queue_peak = 0, peak = 0;
    for (uint32_t i = 0; i < j->run.tallies; i++) {
        const bl__tally *t = j->tallies + i;
        s->tasks += t->tasks;
        s->steals += t->steals;
        s->steal_attempts += t->attempts;
        least = t->busy < least ? t->busy : least;
        most = t->busy > most ? t->busy : most;
        queue_peak = t->queue_peak > queue_peak ? t->queue_peak : queue_peak;
        peak = t->peak > peak ? t->peak : peak;
        if (!j->plan.is_static)
            s->peak_tasks += t->peak;
    }
    s->balance = most ? (double)least / (double)most : 1;
    if (j->plan.central) {
        s->peak_tasks += queue_peak;
        s->paper_tasks = queue_peak;
    } else if (!j->plan.is_static) {
        s->paper_tasks = peak * j->run.queue_count;
    }
}

/* Range stealing deals out the indices themselves, unless who splits the range must be asked. */
static bool is_loop(const job *j, uint32_t range) { return j->plan.range && range > 1 && !j->plan.program->splits; }

/* Its one entry is kept for whoever has an index of it. */
static void make_loop(job *j, uint32_t range) {
    j->in = j->flat;
    memset(&j->flat, 0, sizeof j->flat);
    j->entries = 0;
    j->run.in = j->in.memory;
    j->run.loop_tasks = range;
    j->run.alone = j->run.pop && j->plan.program->max_spawn == 0;
}

/* Root entries into flat, and for the static schedulers the number of the first task of each. A range is dealt out, a part for each worker;
 * more than one root come only with a range of one. */
static int upload_roots(job *j, const void *roots, uint32_t count, uint32_t range) {
    bool whole = range == 1 || j->plan.is_static || is_loop(j, range);
    uint32_t parts = whole ? 1 : range < j->run.workers ? range : j->run.workers;
    uint32_t entry_count = count * parts;
    uint32_t words = j->run.words, payload = j->plan.program->payload_bytes;
    bool joins = j->plan.program->result_bytes != 0;
    uint32_t *entries = calloc(entry_count, 4u * (size_t)words), *first = malloc(4u * (size_t)count);
    int status = entries && first ? BL_OK : BL_ENOMEM;
    for (uint32_t i = 0; i < entry_count && status == BL_OK; i++) {
        uint32_t part = i % parts, *entry = entries + (size_t)i * words;
        entry[0] = (uint32_t)((uint64_t)range * part / parts);
        entry[1] = (uint32_t)((uint64_t)range * (part + 1) / parts);
        if (payload)
            memcpy(entry + BL__ENTRY_HEAD, (const char *)roots + (size_t)(i / parts) * payload, payload);
        if (joins)
            entry[BL__ENTRY_HEAD + payload / 4] = range == 1 ? BL__ROOT | i : BL__NO_JOIN;
        if (part == 0)
            first[i / parts] = i / parts;
    }
    j->entries = entry_count;
    if (status == BL_OK)
        status = ensure(j, &j->flat, 4u * (size_t)words * entry_count);
    if (status == BL_OK)
        status = bl_copy_in(j->c, j->flat.memory, entries, 4u * (size_t)words * entry_count);
    if (status == BL_OK && j->plan.is_static)
        status = ensure(j, &j->in_first, 4u * (size_t)count);
    if (status == BL_OK && j->plan.is_static)
        status = bl_copy_in(j->c, j->in_first.memory, first, 4u * (size_t)count);
    free(entries);
    free(first);
    return status;
}

static void describe(job *j, uint32_t lanes) {
    bl_stats *s = &j->stats;
    s->workers = j->run.workers;
    s->balance = 1; /* of a run without tasks */
    s->lanes = lanes;
    snprintf(s->scheduler, sizeof s->scheduler, "%s", j->plan.scheduler);
    if (j->plan.instance->lane_tasks || lanes == 1)
        snprintf(s->group, sizeof s->group, "lane");
    else if (lanes == j->plan.warp)
        snprintf(s->group, sizeof s->group, "warp");
    else
        snprintf(s->group, sizeof s->group, "block:%u", lanes);
}

/* Workers that are stuck in a task may wake up again: what they would touch then stays, for good. */
static void abandon(job *j) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static job *abandoned;
    pthread_mutex_lock(&lock);
    j->next = abandoned;
    abandoned = j;
    pthread_mutex_unlock(&lock);
}

/* A job with room for a copy of the shared data behind it. bl_function's data is the function and where the copy lies. */
static job *new_job(bl_context *c, const bl_program *program, const void *shared) {
    struct function_data {
        bl_task_function run;
        const void *shared;
    } function = {program->function, NULL};
    job *j = calloc(1, sizeof *j + sizeof function + program->shared_bytes);
    if (!j)
        return NULL;
    unsigned char *copy = (unsigned char *)(j + 1) + sizeof function;
    if (program->shared_bytes)
        memcpy(copy, shared, program->shared_bytes);
    function.shared = shared ? copy : NULL;
    memcpy(j + 1, &function, sizeof function);
    j->c = c;
    j->shared = program->function ? (const void *)(j + 1) : copy;
    return j;
}

static int run_entries(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                       uint32_t range, void *results, bl_stats *stats) {
    if (!c || !program || (count && !roots && program->payload_bytes) || (program->shared_bytes && !shared) ||
        (results && !program->result_bytes) || count >= BL__ROOT)
        return BL_EINVAL;
    if (c->dead)
        return BL_EDEAD;
    c->detail[0] = 0;
    job *j = new_job(c, program, shared);
    if (!j)
        return BL_ENOMEM;
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
        status = upload_roots(j, roots, count, range);
        if (status == BL_OK && is_loop(j, range))
            make_loop(j, range);
        if (status == BL_OK)
            status = first_records(j, count);
        if (status == BL_OK)
            status = j->plan.is_static ? run_static(j, count * range) : run_dynamic(j);
        if (status == BL_OK && results)
            status = bl_copy_out(c, results, j->results.memory, (size_t)program->result_bytes * count);
        add_up(j);
    }
    status = bl__trace_end(c, &j->run, j->plan.is_static, status);
    if (stats)
        *stats = j->stats;
    if (c->dead) {
        abandon(j);
        return status;
    }
    release_all(j);
    free(j);
    return status;
}

int bl_run(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
           bl_stats *stats) {
    return run_entries(c, program, shared, roots, count, 1, NULL, stats);
}

int bl_run_join(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                void *results, bl_stats *stats) {
    return results ? run_entries(c, program, shared, roots, count, 1, results, stats) : BL_EINVAL;
}

int bl_run_range(bl_context *c, const bl_program *program, const void *shared, const void *payload, uint32_t count,
                 bl_stats *stats) {
    return run_entries(c, program, shared, payload, 1, count, NULL, stats);
}
