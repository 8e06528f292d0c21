/* One launch: what the workers say at its end, and what they have counted. */
#include "job.h"

#include <ballast/parts/stop.h>

uint32_t bl__tasks_at_once(const bl__job *j) {
    bool lanes = j->plan.instance->lane_tasks && j->c->ops->warp > 1;
    return lanes ? j->run.lanes : j->plan.program->takes_pieces && j->run.grain ? j->run.grain : 1;
}

int bl__launch(bl__job *j, bl__control *after) {
    j->run.launch = j->stats.launches++;
    j->c->pausable = !bl__in_waves(j);
    int status = j->c->ops->launch(j->c, &j->plan, &j->run, j->shared);
    if (status == BL_OK)
        status = bl__copy_out(j->c, after, j->control.memory, sizeof *after);
    if (status == BL_OK)
        status = bl__copy_out(j->c, j->tallies, j->tally.memory, sizeof(bl__tally) * j->run.tallies);
    if (status != BL_OK)
        return status;
    j->wide = j->wide || after->wide;
    if (after->stop & BL__STOP_FAILED)
        status = BL_ETASK;
    if (status == BL_OK && after->stop & BL__STOP_MISUSE)
        status = bl__say_misuse(j, after->misuse);
    if (status == BL_OK && after->stop & BL__STOP_MEMORY) {
        bl__detail(j->c, "%s: no memory for more entries that a task spawns, or for results of a wide fork",
                   j->plan.program->name);
        status = BL_ENOMEM;
    }
    if (status == BL_OK && after->stop & BL__STOP_TOO_MANY)
        status = BL_ETOOMANY;
    return status;
}

void bl__add_up(bl__job *j) {
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
        if (!bl__in_waves(j))
            s->peak_entries += t->peak;
    }
    s->peak_bytes += bl__extras_bytes(j);
    s->balance = most ? (double)least / (double)most : 1;
    if (j->plan.traits & BL_TRAIT_ONE_QUEUE) {
        s->peak_entries += queue_peak;
        s->paper_tasks = queue_peak;
    } else if (!bl__in_waves(j)) {
        s->paper_tasks = peak * j->run.queue_count;
    }
}
