/* Join records of a run: how many there are, and more of them. What they are is in parts/record.h. */
#include "job.h"

#include <ballast/parts/record.h>
#include <ballast/queues/broker.h>

/* Records in larger memory, those in use where they were, and all others in the queue of free ones. */
int bl__make_records(bl__job *j, uint64_t capacity) {
    bl__run *run = &j->run;
    bl__buffer larger = {NULL, 0, 0};
    size_t used = (size_t)run->record_capacity * run->record_bytes;
    if (capacity > 1u << 30) {
        bl__detail(j->c, "more than 2^30 forks at a time wait for their children");
        return BL_ENOMEM;
    }
    run->record_bytes = j->plan.program->record_bytes;
    size_t bytes = (size_t)capacity * run->record_bytes;
    int status = bl__ensure(j, &larger, bytes);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, larger.memory, j->records.memory, used);
    if (status == BL_OK)
        status = bl__zero(j->c, (char *)larger.memory + used, bytes - used);
    bl__release(j, &j->records);
    j->records = larger;
    run->records = larger.memory;
    run->record_capacity = (uint32_t)capacity;
    bl__release(j, &j->free_records);
    if (status == BL_OK)
        status = bl__ensure(j, &j->free_records, bl_broker_bytes((bl_shape){run->record_capacity, 1, run->workers}));
    if (status == BL_OK && j->c->ops->warp > 1)
        status = bl__ensure(j, &j->spares, 4u * (size_t)BL__SPARE_WORDS_OF(j->c->ops->warp) * run->workers);
    run->free_records = j->free_records.memory;
    run->spares = j->spares.memory;
    run->spares_left = j->c->ops->warp > 1 && !bl__in_waves(j);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__RECORDS_SET_UP, -1, run, NULL, 0, NULL);
    if (status == BL_OK)
        status = j->c->ops->manage(j->c, BL__RECORDS_FILL, -1, run, NULL, 0, NULL);
    return status;
}

/* Before the workers start: some for each of them to begin with, besides those in use. */
int bl__first_records(bl__job *j) {
    if (!j->plan.program->result_bytes)
        return BL_OK;
    uint64_t each = j->c->config.capacity ? j->c->config.capacity : 256;
    each = each < 4 * j->c->ops->warp ? 4 * j->c->ops->warp : each;
    uint32_t needed = bl__power_of_two(each * j->run.workers);
    if (j->run.record_capacity == 0 && !bl__in_waves(j) && bl__reuse_records(j, needed))
        return BL_OK;
    return bl__make_records(j, needed > j->run.record_capacity ? needed : j->run.record_capacity);
}

/* Waves cannot pause: enough for every task of the next launch to fork, and for what groups hold back. */
int bl__records_for_wave(bl__job *j, uint32_t tasks) {
    bl__run *run = &j->run;
    uint64_t spare = 0, needed = 2 * ((uint64_t)tasks + run->workers * (uint64_t)run->lanes);
    if (!j->plan.program->result_bytes)
        return BL_OK;
    int status = j->c->ops->manage(j->c, BL__RECORDS_COUNT, -1, run, NULL, 0, j->total.memory);
    if (status == BL_OK)
        status = bl__copy_out(j->c, &spare, j->total.memory, sizeof spare);
    if (status != BL_OK || spare >= needed)
        return status;
    return bl__make_records(j, bl__power_of_two(run->record_capacity + needed - spare));
}
