/* Static and list schedulers: a launch for every wave of tasks, or more where a wave is large. */
#include "job.h"

#include <string.h>

enum { SLICE_ENTRIES = 1 << 24 }; /* what one launch of a wave may at most add to the out-array */

static int make_room(bl__job *j, uint32_t used, uint64_t more) {
    size_t entry = 4u * (size_t)j->run.words, need = (size_t)used + (size_t)more;
    if (need > UINT32_MAX)
        return BL_ETOOMANY;
    if (need * entry <= j->out.bytes)
        return BL_OK;
    size_t slots = need > 2 * (size_t)used ? need : 2 * (size_t)used;
    bl__buffer larger = {NULL, 0, 0}, first = {NULL, 0, 0};
    int status = bl__ensure(j, &larger, slots * entry);
    if (status == BL_OK)
        status = bl__ensure(j, &first, slots * 4);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, larger.memory, j->out.memory, used * entry);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, first.memory, j->out_first.memory, used * 4u);
    bl__release(j, &j->out);
    bl__release(j, &j->out_first);
    j->out = larger;
    j->out_first = first;
    return status;
}

/* CPU: what workers kept because tasks spawned more than they said, behind all else in the out-array. */
static int append_extras(bl__job *j, uint64_t *spawned) {
    const uint64_t extras = bl__extras_count(j);
    uint64_t tasks = *spawned >> 32, used = (uint32_t)*spawned;
    if (extras == 0)
        return BL_OK;
    int status = make_room(j, (uint32_t)used, extras);
    if (status != BL_OK)
        return status;
    uint32_t *entry = (uint32_t *)j->out.memory + (size_t)used * j->run.words, *first = j->out_first.memory;
    bl__extras_take(j, entry);
    for (uint64_t i = used; i < used + extras; i++, entry += j->run.words) {
        first[i] = (uint32_t)tasks;
        tasks += entry[1] - entry[0];
        if (tasks > UINT32_MAX)
            return BL_ETOOMANY;
    }
    *spawned = tasks << 32 | (used + extras);
    return BL_OK;
}

/* One wave: every task of the in-array, in launches small enough that what they spawn surely fits. */
static int run_wave(bl__job *j, uint32_t tasks, uint64_t *spawned) {
    bl__run *run = &j->run;
    bl__control after;
    uint32_t batch = bl__tasks_at_once(j);
    uint32_t most = j->plan.program->max_spawn ? SLICE_ENTRIES / j->plan.program->max_spawn : UINT32_MAX;
    *spawned = 0;
    for (uint32_t done = 0; done < tasks; done += run->slice_tasks) {
        run->first_task = done;
        run->slice_tasks = tasks - done < most ? tasks - done : most;
        int status = make_room(j, (uint32_t)*spawned, (uint64_t)run->slice_tasks * j->plan.program->max_spawn);
        if (status == BL_OK)
            status = bl__records_for_wave(j, run->slice_tasks);
        run->out = j->out.memory;
        run->out_first = j->out_first.memory;
        if (j->plan.traits & BL_TRAIT_GROUP_PER_TASK)
            run->groups = (run->slice_tasks + batch - 1) / batch;
        memset(&after, 0, sizeof after);
        after.out = *spawned;
        if (status == BL_OK)
            status = bl__send(j->c, j->state.memory, &after, sizeof after);
        if (status == BL_OK)
            status = bl__launch(j, &after);
        if (status != BL_OK && !bl__stopped_by_task(status))
            return status;
        *spawned = after.out;
        int appended = append_extras(j, spawned);
        status = status != BL_OK ? status : appended;
        if (status != BL_OK)
            return status;
        if (run->slice_tasks > j->stats.paper_tasks)
            j->stats.paper_tasks = run->slice_tasks;
    }
    return BL_OK;
}

int bl__run_waves(bl__job *j, uint32_t tasks) {
    int status = j->c->ops->timer_start(j->c);
    j->in = j->flat;
    memset(&j->flat, 0, sizeof j->flat);
    j->run.in_entries = j->entries;
    while (status == BL_OK && tasks) {
        uint64_t spawned;
        j->run.in = j->in.memory;
        j->run.in_first = j->in_first.memory;
        const uint64_t before = j->totals.tasks;
        j->drained = false;
        status = run_wave(j, tasks, &spawned);
        if (status != BL_OK) { /* after a stall a worker may still be reading j->run */
            if (bl__stopped_by_task(status))
                j->stats.left = tasks - (j->totals.tasks - before) + (spawned >> 32);
            break;
        }
        j->drained = true;
        bl__buffer in = j->in, first = j->in_first;
        j->in = j->out;
        j->in_first = j->out_first;
        j->out = in;
        j->out_first = first;
        if (j->run.in_entries + (spawned & UINT32_MAX) > j->stats.peak_entries)
            j->stats.peak_entries = j->run.in_entries + (spawned & UINT32_MAX);
        j->run.in_entries = j->entries = (uint32_t)spawned;
        tasks = (uint32_t)(spawned >> 32);
        if (tasks && (bl__now() >= j->c->pause_at || bl_load32_host(&j->c->cancelled)))
            status = bl__look_up(j);
    }
    int stopped = j->c->ops->timer_stop(j->c, &j->stats.seconds);
    return status != BL_OK ? status : stopped;
}
