/* What a run leaves for the next one of the same context: queues that are set up and empty, join records that are all
 * free, and the state of a launch, cleared. To set them up anew takes longer than many a run. Anything that ends
 * otherwise than with nothing left to do, and any other shape, begins anew. */
#include "job.h"

static void to_block(bl__job *j, bl__buffer *from, bl__block *to) {
    j->bytes -= from->bytes;
    *to = (bl__block){.memory = from->memory, .bytes = from->room};
    *from = (bl__buffer){NULL, 0, 0};
}
static void from_block(bl__job *j, bl__block *from, bl__buffer *to) {
    *to = (bl__buffer){from->memory, from->bytes, from->bytes};
    from->memory = NULL;
    bl__count_bytes(j, to->bytes);
}
/* To the buffers that any run may use. */
static void give_up(bl__job *j, bl__block *b) {
    bl__buffer buffer;
    from_block(j, b, &buffer);
    bl__release(j, &buffer);
}

/* A user that names a capacity gets that one; otherwise more does no harm, and another run has needed it. */
static bool enough(const bl__job *j, uint32_t has, uint32_t needs) {
    return j->c->config.capacity ? has == needs : has >= needs;
}

bool bl__reuse_queues(bl__job *j) {
    bl__reusable *r = &j->c->reusable;
    bl__run *run = &j->run;
    if (!r->queues.memory)
        return false;
    if (r->queue != j->plan.queue || r->workers != run->workers || r->words != run->words ||
        !enough(j, r->capacity, run->capacity)) {
        give_up(j, &r->queues);
        return false;
    }
    run->capacity = r->capacity;
    from_block(j, &r->queues, &j->queues);
    return true;
}

/* Records that have been used for long lie in disorder: what is used together no longer lies together. As long as all
 * of them fit into a cache near the core that does not matter. */
static bool in_disorder(const bl__job *j, const bl__reusable *r) {
    enum { NEAR = 1 << 18 };
    return r->tasks / 8 > r->record_capacity && (j->c->ops->warp > 1 || r->records.bytes > NEAR);
}

bool bl__reuse_records(bl__job *j, uint32_t capacity) {
    bl__reusable *r = &j->c->reusable;
    bl__run *run = &j->run;
    if (!r->records.memory)
        return false;
    if (r->record_workers != run->workers || r->record_bytes != j->plan.program->record_bytes || in_disorder(j, r) ||
        !enough(j, r->record_capacity, capacity)) {
        give_up(j, &r->records);
        give_up(j, &r->free_records);
        give_up(j, &r->spares);
        return false;
    }
    from_block(j, &r->records, &j->records);
    from_block(j, &r->free_records, &j->free_records);
    from_block(j, &r->spares, &j->spares);
    run->records = j->records.memory;
    run->free_records = j->free_records.memory;
    run->spares = j->spares.memory;
    run->record_bytes = r->record_bytes;
    run->record_capacity = r->record_capacity;
    run->spares_left = j->spares.memory != NULL;
    j->reused = true;
    return true;
}

bool bl__reuse_state(bl__job *j, size_t bytes) {
    bl__reusable *r = &j->c->reusable;
    if (!r->state.memory)
        return false;
    if (r->clear < bytes || r->state.bytes / 4 > bytes) {
        give_up(j, &r->state);
        return false;
    }
    j->state = (bl__buffer){r->state.memory, bytes, r->state.bytes};
    r->state.memory = NULL;
    bl__count_bytes(j, bytes);
    return true;
}

void bl__leave_for_reuse(bl__job *j) {
    bl__reusable *r = &j->c->reusable;
    const bl__run *run = &j->run;
    if (!j->over)
        return;
    if (j->cleared && !r->state.memory) {
        r->clear = j->state.bytes;
        to_block(j, &j->state, &r->state);
    }
    /* Of a deque no more is asked than that it is empty. Queues of handles share a pool, whose handles lie anywhere by
     * then. */
    if (bl__queue_type_at(j->plan.queue)->is_deque && !r->queues.memory) {
        to_block(j, &j->queues, &r->queues);
        r->queue = j->plan.queue;
        r->workers = run->workers;
        r->words = run->words;
        r->capacity = run->capacity;
    }
    if (j->records.memory && !r->records.memory) {
        to_block(j, &j->records, &r->records);
        to_block(j, &j->free_records, &r->free_records);
        to_block(j, &j->spares, &r->spares);
        r->record_workers = run->workers;
        r->record_bytes = run->record_bytes;
        r->record_capacity = run->record_capacity;
        r->tasks = j->totals.tasks + (j->reused ? r->tasks : 0);
    }
}
