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

BL_FN void bl__add_tallies(const bl__run *run, bl__totals *totals, uint32_t rank, uint32_t size) {
    bl__totals mine = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t i = rank; i < run->tallies; i += size) {
        const bl__tally *t = run->tally + i;
        mine.tasks += t->tasks;
        mine.steals += t->steals;
        mine.attempts += t->attempts;
        mine.spilled += t->spilled;
        mine.most_busy = t->busy > mine.most_busy ? t->busy : mine.most_busy;
        if (BL_WARP > 1 || t->tasks ||
            run->queue_count == 0) /* others joined in vain, or never; in waves all have a part */
            mine.least_busy = ~t->busy > mine.least_busy ? ~t->busy : mine.least_busy;
        mine.peak = t->peak > mine.peak ? t->peak : mine.peak;
        mine.peaks += t->peak;
        mine.queue_peak = t->queue_peak > mine.queue_peak ? t->queue_peak : mine.queue_peak;
    }
    if (size == 1) {
        *totals = mine;
        return;
    }
    bl_fetch_add64_relaxed(&totals->tasks, mine.tasks);
    bl_fetch_add64_relaxed(&totals->steals, mine.steals);
    bl_fetch_add64_relaxed(&totals->attempts, mine.attempts);
    bl_fetch_add64_relaxed(&totals->spilled, mine.spilled);
    bl_fetch_max64_relaxed(&totals->most_busy, mine.most_busy);
    bl_fetch_max64_relaxed(&totals->least_busy, mine.least_busy);
    bl_fetch_max64_relaxed(&totals->peak, mine.peak);
    bl_fetch_add64_relaxed(&totals->peaks, mine.peaks);
    bl_fetch_max64_relaxed(&totals->queue_peak, mine.queue_peak);
}

/* The workers that find nothing in their queues begin idle, each with its bit: thousands that counted themselves would
 * take longer than a small run does. */
BL_FN void bl__set_idlers(const bl__run *run, uint32_t rank, uint32_t size) {
    if (rank == 0)
        run->control->idle = run->idle_first;
    for (uint32_t i = rank * 8; i < run->workers; i += size * 8) {
        uint32_t bits = 0;
        for (uint32_t k = 0; k < 8 && i + k < run->workers; k++)
            bits |= (bl__begins_idle(run, i + k) ? 1u : 0u) << k;
        bl_fetch_or32_relaxed(run->idlers + i / 32, bits << i % 32);
    }
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
            name##__drain(run, entries, total, rank, size);                                                            \
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
    else if (op == BL__FILL && BL_WARP > 1)
        bl__set_idlers(run, rank, size);
    switch (queue) {
        BL_MANAGED_QUEUES(X)
        BL_RANGES(X)
    default:
        break;
    }
}
#undef X
