/* How a run begins, from its roots or from a checkpoint, and how it is stopped before its end. */
#include "cluster/ranks.h"
#include "job.h"
#include "node_pieces.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/record.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- stopping before the end ---- */

/* Of several nodes only the first knows which runs are repeated because of config.resume: then it keeps the time. */
static bool has_limit(const bl__job *j) {
    const bl_config *config = &j->c->config;
    return config->time_limit > 0 && !j->again && (j->first || !config->resume[0]);
}

static void set_pause(bl__job *j) {
    const bl_config *config = &j->c->config;
    double limit = has_limit(j) ? j->begun + config->time_limit - j->c->spent : INFINITY;
    j->c->pause_at = limit < j->checkpoint_at ? limit : j->checkpoint_at;
}

/* Whether somebody or the clock has ended the run. */
static int stopped_by(const bl__job *j) {
    const bl_config *config = &j->c->config;
    if (bl_load32_host(&j->c->cancelled) || bl_load32_host(&j->c->halted))
        return BL_ECANCEL;
    return has_limit(j) && j->c->spent + bl__now() - j->begun >= config->time_limit ? BL_ETIME : BL_OK;
}

bl__rest bl__this_run(const bl_context *c, const bl_program *program, uint32_t roots) {
    return (bl__rest){.problem = c->problem,
                      .first_problem = c->first_problem,
                      .run = c->runs,
                      .words = BL__ENTRY_HEAD + program->carried_bytes / 4,
                      .record_bytes = program->record_bytes,
                      .result_bytes = program->result_bytes,
                      .roots = roots,
                      .program = program};
}

static int write_checkpoint(bl__job *j) {
    const bl_stats so_far = j->stats;
    bl__add_up(j);
    bl__rest rest = bl__this_run(j->c, j->plan.program, j->roots);
    rest.entries = j->entries;
    rest.record_capacity = j->run.record_capacity;
    rest.flat = j->flat.memory ? j->flat.memory : j->in.memory;
    rest.records = j->records.memory;
    rest.results = j->run.results;
    rest.stats = j->stats;
    rest.stats.seconds = bl__now() - j->begun;
    bl__stats_add(&rest.stats, &j->before);
    j->stats = so_far;
    int status = bl__checkpoint_write(j->c, &rest);
    j->checkpoint_at = bl__now() + j->c->config.checkpoint_seconds;
    return status;
}

int bl__look_up(bl__job *j) {
    int stopped = stopped_by(j), status = BL_OK;
    const bool due = bl__now() >= j->checkpoint_at;
    if (j->checkpoints && j->c->open) {                 /* all nodes write one together, when they have stopped */
        if (stopped == BL_OK && due && j->totals.tasks) /* else a run would get nowhere if checkpoints take long */
            stopped = BL__PAUSE;
        else if (due)
            j->checkpoint_at = bl__now() + j->c->config.checkpoint_seconds;
    } else if (j->checkpoints && (stopped != BL_OK || due)) {
        status = write_checkpoint(j);
    }
    set_pause(j);
    return status != BL_OK ? status : stopped;
}

/* ---- beginning: from the roots, or where a checkpoint was written ---- */

/* Range stealing deals out the indices themselves, unless the program must be asked how to split the range,
 * or other nodes are to have some. */
static bool is_loop(const bl__job *j, uint32_t range) {
    return j->plan.traits & BL_TRAIT_RANGES && range > 1 && !j->plan.program->splits && !j->c->open;
}

/* Its one entry is kept for the workers that have an index of it. */
static void make_loop(bl__job *j, uint32_t range) {
    j->in = j->flat;
    memset(&j->flat, 0, sizeof j->flat);
    j->entries = 0;
    j->run.in = j->in.memory;
    j->run.of_range.loop_tasks = range;
    j->run.alone = j->run.grain && j->plan.program->max_spawn == 0;
}

/* The roots in the order of the workers that should begin with them, and where each worker's begin. */
static int deal_out(bl__job *j, uint32_t **entries) {
    const bl_config *config = &j->c->config;
    const uint32_t queues = j->run.queue_count, words = j->run.words;
    uint32_t *first = calloc((size_t)queues + 2, 4), *of = malloc(4u * (size_t)j->entries + 4);
    uint32_t *sorted = malloc(4u * (size_t)words * j->entries + 4);
    int status = first && of && sorted ? bl__ensure(j, &j->dealt, 4u * ((size_t)queues + 1))
                                       : bl__no_memory(j->c, "the places of the roots");
    for (uint32_t i = 0; i < j->entries && status == BL_OK; i++) {
        of[i] = config->place(config->place_arg, i) % queues;
        first[of[i] + 2]++;
    }
    for (uint32_t i = 2; i < queues + 2 && status == BL_OK; i++) {
        j->most_dealt = first[i] > j->most_dealt ? first[i] : j->most_dealt;
        first[i] += first[i - 1];
    }
    /* first[q + 1] is where the next root of queue q goes, and in the end where queue q + 1 begins. */
    for (uint32_t i = 0; i < j->entries && status == BL_OK; i++)
        memcpy(sorted + (size_t)first[of[i] + 1]++ * words, *entries + (size_t)i * words, 4u * (size_t)words);
    if (status == BL_OK)
        status = bl__copy_in(j->c, j->dealt.memory, first, 4u * ((size_t)queues + 1));
    if (status == BL_OK) {
        uint32_t *unsorted = *entries;
        *entries = sorted;
        sorted = unsorted;
        j->run.dealt = j->dealt.memory;
    }
    free(sorted);
    free(of);
    free(first);
    return status;
}

/* Root entries into flat. A range is dealt out, a part for each worker; more than one root come only with a range of
 * one. */
static int upload_roots(bl__job *j, const void *roots, uint32_t count, uint32_t range) {
    bool whole = range == 1 || bl__in_waves(j) || is_loop(j, range);
    uint32_t parts = whole ? 1 : range < j->run.workers ? range : j->run.workers;
    uint32_t words = j->run.words, payload = j->plan.program->payload_bytes;
    bool joins = j->plan.program->result_bytes != 0;
    j->entries = count * parts;
    size_t bytes = 4u * (size_t)words * j->entries;
    uint32_t *entries = calloc(1, bytes + 4); /* there may be none */
    for (uint32_t i = 0; i < j->entries && entries; i++) {
        uint32_t part = i % parts, *entry = entries + (size_t)i * words;
        entry[0] = (uint32_t)((uint64_t)range * part / parts);
        entry[1] = (uint32_t)((uint64_t)range * (part + 1) / parts);
        if (payload)
            memcpy(entry + BL__ENTRY_HEAD, (const char *)roots + (size_t)(i / parts) * payload, payload);
        if (joins)
            entry[BL__ENTRY_HEAD + payload / 4] = range == 1 ? BL__ROOT | (j->first_root + i) : BL__NO_JOIN;
    }
    int status = entries ? bl__ensure(j, &j->flat, bytes + 4) : bl__no_memory(j->c, "the roots");
    if (status == BL_OK && j->c->config.place && j->run.queue_count > 1 && range == 1)
        status = deal_out(j, &entries);
    if (status == BL_OK)
        status = bl__send(j->c, j->flat.memory, entries, bytes);
    free(entries);
    return status;
}

/* For the static schedulers: the number of the first task of each entry in flat, and how many there are in all. */
static int number_tasks(bl__job *j, uint32_t *tasks) {
    size_t bytes = 4u * (size_t)j->run.words * j->entries;
    uint32_t *entries = malloc(bytes), *first = malloc(4u * (size_t)j->entries);
    uint64_t sum = 0;
    int status =
        entries && first ? bl__copy_out(j->c, entries, j->flat.memory, bytes) : bl__no_memory(j->c, "the first wave");
    for (uint32_t i = 0; i < j->entries && status == BL_OK; i++) {
        const uint32_t *entry = entries + (size_t)i * j->run.words;
        first[i] = (uint32_t)sum;
        sum += entry[1] - entry[0];
        if (sum > UINT32_MAX)
            status = BL_ETOOMANY;
    }
    *tasks = (uint32_t)sum;
    if (status == BL_OK)
        status = bl__ensure(j, &j->in_first, 4u * (size_t)j->entries);
    if (status == BL_OK)
        status = bl__copy_in(j->c, j->in_first.memory, first, 4u * (size_t)j->entries);
    free(entries);
    free(first);
    return status;
}

static int begin_roots(bl__job *j, const void *roots, uint32_t count, uint32_t range) {
    int status = upload_roots(j, roots, count, range);
    j->drained = status == BL_OK;
    return status == BL_OK ? bl__first_records(j) : status;
}

static int begin_again(bl__job *j, bl__resume *resume) {
    const bl__rest *rest = &resume->rest;
    j->entries = rest->entries;
    j->before = rest->stats;
    int status = bl__ensure(j, &j->flat, 4u * (size_t)j->run.words * j->entries);
    if (status == BL_OK && rest->record_bytes)
        status = bl__ensure(j, &j->records, (size_t)rest->record_bytes * rest->record_capacity);
    if (status == BL_OK)
        status = bl__resume_load(j->c, resume, j->flat.memory, j->records.memory, j->run.results,
                                 !bl__results_are_here(j->c));
    j->run.record_bytes = rest->record_bytes;
    j->run.record_capacity = rest->record_capacity;
    j->drained = status == BL_OK;
    return status == BL_OK ? bl__first_records(j) : status;
}

/* With what several nodes have left. */
static int begin_with(bl__job *j, const bl__whole *whole) {
    const bl_program *p = j->plan.program;
    j->entries = whole->entries;
    const size_t flat = 4u * (size_t)j->run.words * j->entries,
                 records = (size_t)whole->record_capacity * p->record_bytes;
    int status = bl__ensure(j, &j->flat, flat + 4);
    if (status == BL_OK && records)
        status = bl__ensure(j, &j->records, records);
    if (status == BL_OK)
        status = bl__copy_in(j->c, j->flat.memory, whole->flat, flat);
    if (status == BL_OK && records)
        status = bl__copy_in(j->c, j->records.memory, whole->records, records);
    if (status == BL_OK && bl__results_are_here(j->c))
        memcpy(j->run.results, whole->results, bl__results_bytes(j));
    else if (status == BL_OK && bl__results_bytes(j))
        status = bl__copy_in(j->c, j->run.results, whole->results, bl__results_bytes(j));
    j->run.record_bytes = p->record_bytes;
    j->run.record_capacity = whole->record_capacity;
    j->drained = status == BL_OK;
    return status == BL_OK ? bl__first_records(j) : status;
}

int bl__begin(bl__job *j, const void *roots, uint32_t count, uint32_t range, uint32_t *tasks) {
    const bl_config *config = &j->c->config;
    bl__resume resume = {.file = NULL};
    bl__rest is = bl__this_run(j->c, j->plan.program, j->roots);
    is.range = range;
    j->first = bl__node_is_first(j->c);
    int status = j->first && !j->from && config->checkpoint[0] ? bl__checkpoint_check(j->c) : BL_OK;
    if (status == BL_OK && j->first && !j->from && config->resume[0] &&
        (j->c->runs == 1 || j->c->runs == j->c->resume_run))
        status = bl__resume_open(j->c, &is, &resume);
    /* What is made again was in the time and in the file before. */
    j->again = j->c->runs < j->c->resume_run;
    j->checkpoints = j->first && config->checkpoint[0] && !j->again;
    j->c->writes = j->checkpoints;
    j->checkpoint_at = j->checkpoints ? j->begun + config->checkpoint_seconds : INFINITY;
    if (status == BL_OK)
        status = j->from       ? begin_with(j, j->from)
                 : resume.file ? begin_again(j, &resume)
                               : begin_roots(j, roots, count, range);
    if (status == BL_OK)
        status = j->fails;
    if (status == BL_OK)
        status = bl__look_up(j); /* its time may be up already */
    if (status == BL_OK && !resume.file && is_loop(j, range))
        make_loop(j, range);
    if (status == BL_OK && bl__in_waves(j))
        status = number_tasks(j, tasks);
    bl__resume_close(&resume);
    return status;
}
