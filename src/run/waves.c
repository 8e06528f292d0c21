/* Static and list schedulers. On a GPU the waves of a run follow each other in one launch, as long as there is room for
 * what they may spawn. Otherwise there is a launch for every wave, or more where a wave is large. */
#include "job.h"

#include <ballast/parts/stop.h>
#include <string.h>

enum {
    FIRST_ENTRIES = 1 << 16, /* room to begin with where waves stay; ... */
    ROOM_TO_GROW = 4         /* ... and how much more than the first of them may spawn */
};

uint32_t bl__slice_entries = 1 << 24;

/* Room in an array for so many entries; the first `used` stay. */
static int make_room(bl__job *j, bl__buffer *array, bl__buffer *first, uint32_t used, uint64_t need) {
    size_t entry = 4u * (size_t)j->run.words;
    if (need > UINT32_MAX)
        return BL_ETOOMANY;
    if (need * entry <= array->bytes && need * 4 <= first->bytes)
        return BL_OK;
    size_t slots = need > 2 * (size_t)used ? need : 2 * (size_t)used;
    bl__buffer larger = {NULL, 0, 0}, larger_first = {NULL, 0, 0};
    int status = bl__ensure(j, &larger, slots * entry);
    if (status == BL_OK)
        status = bl__ensure(j, &larger_first, slots * 4);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, larger.memory, array->memory, used * entry);
    if (status == BL_OK && used)
        status = j->c->ops->move(j->c, larger_first.memory, first->memory, used * 4u);
    bl__release(j, array);
    bl__release(j, first);
    *array = larger;
    *first = larger_first;
    return status;
}

/* CPU: what workers kept because tasks spawned more than they said, behind all else in the out-array. */
static int append_extras(bl__job *j, uint64_t *spawned) {
    const uint64_t extras = bl__extras_count(j);
    uint64_t tasks = *spawned >> 32, used = (uint32_t)*spawned;
    if (extras == 0)
        return BL_OK;
    int status = make_room(j, &j->out, &j->out_first, (uint32_t)used, used + extras);
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

/* What the workers have done in a launch. */
typedef struct progress {
    uint32_t waves;   /* that they have ended */
    uint64_t spawned; /* tasks, by all of them */
    uint64_t next;    /* entries (low 32) and tasks of the next wave */
} progress;

static progress progress_of(const bl__job *j, const bl__control *after) {
    if (!j->run.stays)
        return (progress){1, after->out[0] >> 32, after->out[0]};
    const uint32_t n = after->meetings;
    if (n && !(after->stop & ~(BL__NO_REASON | BL__STOP_HOST)))
        return (progress){n, after->spawned, after->out[(n - 1) % 3]};
    /* Stopped in the middle: the worker that notes them may have missed the last meeting. */
    return (progress){n, after->spawned + (after->out[n % 3] >> 32) + (after->out[(n + 1) % 3] >> 32), 0};
}

static void swap(bl__buffer *a, bl__buffer *b) {
    bl__buffer c = *a;
    *a = *b;
    *b = c;
}

/* So many tasks of the in-array from `first` on, and what follows them if that can be done in the same launch. */
static int run_slice(bl__job *j, uint32_t first, uint32_t tasks, bool whole, bool stays, progress *done) {
    bl__run *run = &j->run;
    bl__control after;
    const uint32_t batch = bl__tasks_at_once(j), max_spawn = j->plan.program->max_spawn;
    const uint64_t may_spawn = (uint64_t)tasks * max_spawn;
    uint64_t room = (uint32_t)done->next + may_spawn;
    if (stays) {
        room = ROOM_TO_GROW * may_spawn < FIRST_ENTRIES ? FIRST_ENTRIES : ROOM_TO_GROW * may_spawn;
        room = room < bl__slice_entries ? room : bl__slice_entries;
    }
    int status = make_room(j, &j->out, &j->out_first, (uint32_t)done->next, room);
    if (status == BL_OK && stays)
        status = make_room(j, &j->in, &j->in_first, run->in_entries, room);
    if (status == BL_OK)
        status = bl__records_for_wave(j, tasks);
    run->in = j->in.memory;
    run->in_first = j->in_first.memory;
    run->out = j->out.memory;
    run->out_first = j->out_first.memory;
    run->first_task = first;
    run->slice_tasks = tasks;
    run->sliced = !whole;
    run->stays = stays ? (uint32_t)(room / max_spawn) : 0;
    if (j->plan.traits & BL_TRAIT_GROUP_PER_TASK)
        run->groups = (tasks + batch - 1) / batch;
    run->inverse = UINT32_MAX / run->groups;
    memset(&after, 0, sizeof after);
    after.out[0] = done->next;
    if (status == BL_OK)
        status = bl__send(j->c, j->state.memory, &after, sizeof after);
    if (status == BL_OK)
        status = bl__launch(j, &after);
    if (status != BL_OK && !bl__stopped_by_task(status))
        return status;
    *done = progress_of(j, &after);
    if (after.meetings > 1) {
        j->stats.launches += after.meetings - 1;
        run->launch += after.meetings - 1;
    }
    run->meetings += after.meetings;
    const uint64_t without = done->next >> 32;
    int appended = append_extras(j, &done->next);
    done->spawned += (done->next >> 32) - without;
    if (tasks > j->stats.paper_tasks)
        j->stats.paper_tasks = tasks;
    if (after.most_tasks > j->stats.paper_tasks)
        j->stats.paper_tasks = after.most_tasks;
    const uint64_t entries = stays ? after.most_entries : run->in_entries + (done->next & UINT32_MAX);
    if (entries > j->stats.peak_entries)
        j->stats.peak_entries = entries;
    return status != BL_OK ? status : appended;
}

/* Every task of the in-array, in launches small enough that what they spawn surely fits; and perhaps more waves. */
static int run_wave(bl__job *j, uint32_t tasks, progress *done) {
    uint32_t most = j->plan.program->max_spawn ? bl__slice_entries / j->plan.program->max_spawn : UINT32_MAX;
    const bool stays = j->plan.stays && tasks <= most;
    int status = BL_OK;
    *done = (progress){0, 0, 0};
    for (uint32_t first = 0, slice; first < tasks && status == BL_OK; first += slice) {
        slice = tasks - first < most ? tasks - first : most;
        status = run_slice(j, first, slice, slice == tasks, stays, done);
    }
    return status;
}

int bl__run_waves(bl__job *j, uint32_t tasks) {
    int status = j->c->ops->timer_start(j->c);
    j->in = j->flat;
    memset(&j->flat, 0, sizeof j->flat);
    j->run.in_entries = j->entries;
    while (status == BL_OK && tasks) {
        progress done;
        const uint64_t before = j->totals.tasks;
        j->drained = false;
        status = run_wave(j, tasks, &done);
        if (status != BL_OK) { /* after a stall a worker may still be reading j->run */
            if (bl__stopped_by_task(status))
                j->stats.left = tasks - (j->totals.tasks - before) + done.spawned;
            break;
        }
        j->drained = true;
        if (done.waves % 2) {
            swap(&j->in, &j->out);
            swap(&j->in_first, &j->out_first);
        }
        j->run.in_entries = j->entries = (uint32_t)done.next;
        tasks = (uint32_t)(done.next >> 32);
        if (tasks && (bl__now() >= j->c->pause_at || bl_load32_host(&j->c->cancelled)))
            status = bl__look_up(j);
    }
    int stopped = j->c->ops->timer_stop(j->c, &j->stats.seconds);
    return status != BL_OK ? status : stopped;
}
