/* One launch: what the workers say at its end, and what they have counted. */
#include "job.h"

#include <ballast/parts/stop.h>
#include <ballast/runtime/termination.h>
#include <string.h>

uint32_t bl__tasks_at_once(const bl__job *j) {
    bool lanes = j->plan.instance->lane_tasks && j->c->ops->warp > 1;
    return lanes ? j->run.lanes : j->plan.program->takes_pieces && j->run.grain ? j->run.grain : 1;
}

int bl__launch(bl__job *j, bl__control *after) {
    j->run.launch = j->stats.launches++;
    j->c->pausable = !bl__in_waves(j) || j->run.stays;
    bl__phase(j, "launch");
    bl__launch_report *on_device = j->state.memory, report;
    int status = j->run.launch ? bl__zero(j->c, &on_device->totals, sizeof report.totals) : BL_OK;
    if (status == BL_OK)
        status = j->c->ops->launch(j->c, &j->plan, &j->run, j->shared);
    if (status != BL_OK)
        return status;
    /* The results are wanted only if nothing is left to do, which is so in most cases. */
    size_t bytes = BL__RESULTS_OF_ROOTS + bl__results_bytes(j);
    const bool all = bytes <= BL__READ_BACK;
    bytes = all ? bytes : sizeof report;
    const size_t clear = j->c->ops->clears && all && !j->c->open ? j->state.bytes : 0;
    int added = j->c->ops->manage(j->c, BL__ADD_UP, -1, &j->run, NULL, 0, (uint64_t *)(void *)&on_device->totals);
    status = j->c->ops->finish(j->c, &j->run, j->read_back, on_device, bytes, clear);
    status = status == BL_OK ? added : status;
    if (status != BL_OK)
        return status;
    memcpy(&report, j->read_back, sizeof report);
    *after = report.control;
    j->cleared = clear && bl__is_over(after);
    j->totals = report.totals;
    j->wide = j->wide || after->wide;
    if (after->stop & BL__STOP_FAILED)
        status = bl__say_failure(j, after);
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
    const bl__totals *t = &j->totals;
    uint64_t least = ~t->least_busy, most = t->most_busy;
    s->tasks += t->tasks;
    s->steals += t->steals;
    s->steal_attempts += t->attempts;
    if (!bl__in_waves(j))
        s->peak_entries += t->peaks;
    s->peak_bytes += bl__extras_bytes(j);
    s->balance = most ? (double)least / (double)most : 1;
    if (j->plan.traits & BL_TRAIT_ONE_QUEUE) {
        s->peak_entries += t->queue_peak;
        s->paper_tasks = t->queue_peak;
    } else if (!bl__in_waves(j)) {
        s->paper_tasks = t->peak * j->run.queue_count;
    }
}
