/* The management of every queue as one function of the target: included by one file per target, which names it
 * BL__MANAGE. */
#include <ballast/generated/queues.h>
#include <ballast/parts/pool.h>
#include <ballast/parts/region.h>
#include <ballast/parts/run.h>
#include <ballast/runtime/joins.h>

#include <ballast/generated/managed.inc.h>

#define BL__QUEUE_NUMBER(queue) BL__QUEUE_##queue,
enum { BL_MANAGED_QUEUES(BL__QUEUE_NUMBER) BL_RANGES(BL__QUEUE_NUMBER) BL__QUEUE_COUNT };
#undef BL__QUEUE_NUMBER

/* What the workers left of their private stacks when they stopped. */
BL_FN void bl__drain_spill(const bl__run *run, uint32_t *entries, uint64_t *total, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i < run->workers; i += size) {
        uint32_t n = run->tally[i].spilled;
        uint64_t at = bl_fetch_add64_relaxed(total, n);
        bl_data_read(entries + at * run->words, run->spill + (size_t)i * run->stack_capacity * run->words,
                     n * run->words);
    }
}

BL_FN void bl__add_totals(bl__totals *to, const bl__totals *more) {
    bl_fetch_add64_relaxed(&to->tasks, more->tasks);
    bl_fetch_add64_relaxed(&to->steals, more->steals);
    bl_fetch_add64_relaxed(&to->attempts, more->attempts);
    bl_fetch_add64_relaxed(&to->spilled, more->spilled);
    bl_fetch_max64_relaxed(&to->most_busy, more->most_busy);
    bl_fetch_max64_relaxed(&to->least_busy, more->least_busy);
    bl_fetch_max64_relaxed(&to->peak, more->peak);
    bl_fetch_add64_relaxed(&to->peaks, more->peaks);
    bl_fetch_max64_relaxed(&to->queue_peak, more->queue_peak);
}

BL_FN void bl__add_tallies(const bl__run *run, bl__totals *totals, uint32_t rank, uint32_t size) {
    bl__totals mine = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t i = rank; i < run->tallies; i += size) {
        const bl__tally *t = run->tally + i;
        mine.tasks += t->tasks;
        mine.steals += t->steals;
        mine.attempts += t->attempts;
        mine.spilled += t->spilled;
        mine.most_busy = t->busy > mine.most_busy ? t->busy : mine.most_busy;
        const bool porter = i == 0 && run->outlet.slots;
        /* others joined in vain, or never; in waves all have a part */
        if ((BL_WARP > 1 && !porter) || t->tasks || bl__runs_in_waves(run))
            mine.least_busy = ~t->busy > mine.least_busy ? ~t->busy : mine.least_busy;
        mine.peak = t->peak > mine.peak ? t->peak : mine.peak;
        mine.peaks += t->peak;
        mine.queue_peak = t->queue_peak > mine.queue_peak ? t->queue_peak : mine.queue_peak;
    }
    if (size == 1)
        *totals = mine;
    else
        bl__add_totals(totals, &mine);
}

#define X(name)                                                                                                        \
    case BL__QUEUE_##name:                                                                                             \
        if (op == BL__SET_UP)                                                                                          \
            name##__set_up(run, count, rank, size);                                                                    \
        else if (op == BL__FILL)                                                                                       \
            name##__fill(run, entries, count, rank, size);                                                             \
        else if (op == BL__COUNT)                                                                                      \
            name##__count(run, total, rank, size);                                                                     \
        else if (op == BL__DRAIN)                                                                                      \
            name##__drain(run, entries, count, total, rank, size);                                                     \
        break;

BL__MANAGE(bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count, uint64_t *total,
           uint32_t rank, uint32_t size) {
    if (op == BL__DRAIN)
        bl__drain_spill(run, entries, total, rank, size);
    else if (op == BL__RECORDS_SET_UP)
        bl__records_init(run, rank, size);
    else if (op == BL__RECORDS_FILL)
        bl__records_fill(run, rank, size);
    else if (op == BL__RECORDS_COUNT)
        bl__records_count(run, total, rank);
    else if (op == BL__ADD_UP)
        bl__add_tallies(run, (bl__totals *)(void *)total, rank, size);
    switch (queue) {
        BL_MANAGED_QUEUES(X)
        BL_RANGES(X)
    default:
        break;
    }
}
#undef X
