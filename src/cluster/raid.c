#include "cluster/raid.h"

#include <ballast/parts/gate.h>
#include <ballast/parts/outside.h>
#include <ballast/parts/record.h>
#include <ballast/runtime/lookout.h>
#include <ballast/runtime/policy.h>
#include <stdlib.h>
#include <string.h>

/* ns from one look to the next: whoever is in the same task then does not come soon, and one that ends tasks in the
 * meantime gives by itself. */
static const uint64_t STILL = 50000;

void bl__raider_end(bl__raider *r) {
    free(r->marks);
    free(r->stack);
    memset(r, 0, sizeof *r);
}

void bl__raider_forget(bl__raider *r) { r->knows = false; }

static bool make_room(bl__raider *r, const bl__run *run) {
    const size_t bytes = bl__stack_bytes(run->stack_capacity, run->words);
    if (run->workers > r->room) {
        uint32_t *marks = realloc(r->marks, run->workers * sizeof *marks);
        if (!marks)
            return false;
        memset(marks, 0, run->workers * sizeof *marks);
        r->marks = marks;
        r->room = run->workers;
    }
    if (bytes > r->bytes) {
        void *stack = realloc(r->stack, bytes);
        if (!stack)
            return false;
        r->stack = stack;
        r->bytes = bytes;
    }
    return true;
}

static uint32_t *row(const bl__rows *rows, uint32_t i) { return rows->first + (size_t)i * rows->stride; }

/* Into the rows from `at` on; how many. */
static uint32_t rob_queue(const bl__raider *r, const bl__run *run, uint32_t victim, const bl__rows *rows, uint32_t at) {
    bl__tally unused = {0};
    bl__stack *s = r->stack;
    if (!run->policy->rob)
        return 0;
    bl__stack_open(s, run);
    bl__worker w = bl__worker_start(run, s, 0, 0, 0, 1, run->words);
    w.tally = &unused; /* what it does is no worker's */
    const uint32_t got = run->policy->rob(&w, victim, rows->most - at);
    for (uint32_t i = 0; i < got; i++)
        bl__words_copy(row(rows, at + i), bl__stack_slot(s, run->words, i), run->words);
    return got;
}

static uint32_t rob_stack(const bl__run *run, uint32_t victim, uint32_t join_at, const bl__rows *rows, uint32_t at) {
    bl__stack *from = bl__stack_of(run, victim);
    const uint32_t task = bl__task_mark(run, victim);
    uint64_t *dry = &run->tally[victim].dry;
    uint32_t top, took = 0;
    if (bl_load64_relaxed(dry) == bl__stack_mark(run, victim, task) || !bl__gate_enter(from, &top))
        return 0;
    const uint32_t want = bl__min((top - from->bottom + 1) / 2, rows->most - at);
    for (; took < want; took++, from->bottom++)
        bl__entry_steal(run, row(rows, at + took), bl__stack_slot(from, run->words, from->bottom), run->words, join_at);
    if (from->bottom == top)
        bl_store64_relaxed(dry, (uint64_t)bl__task_mark(run, victim) << 32 | top);
    bl__gate_leave(from);
    return took;
}

/* The next entry in the inlet; false: there is none, or a worker was faster. */
static bool take_next(const bl__run *run, uint32_t *to) {
    const bl__outside *o = &run->outside;
    uint32_t taken = bl_load32_relaxed(&run->control->taken);
    const uint32_t at = o->taken + taken;
    if (!bl__inlet_has(o, at) || !bl_cas32_relaxed(&run->control->taken, &taken, taken + 1))
        return false;
    bl__words_copy(to, bl__inlet_slot(o, at) + 1, run->words);
    bl_store32_host_release(bl__inlet_slot(o, at), at + o->mask + 1); /* O3 */
    return true;
}

static void rob_inlet(const bl__run *run, const bl__rows *rows, bl__loot *loot) {
    const uint32_t first = bl__inlet_next(run);
    uint32_t tasks = 0;
    for (uint32_t i = 0; i <= run->outside.mask && bl__inlet_has(&run->outside, first + i); i++) {
        const uint32_t *entry = bl__inlet_slot(&run->outside, first + i) + 1;
        tasks += entry[0] != entry[1];
    }
    const uint32_t want = bl__min((tasks + 1) / 2, rows->most);
    while (loot->count < want && take_next(run, row(rows, loot->count))) {
        const uint32_t *entry = row(rows, loot->count);
        if (entry[0] != entry[1])
            loot->count++;
        else
            loot->without++;
    }
    loot->from_inlet = loot->count;
}

bl__loot bl__raid(bl__raider *r, const bl__run *run, uint32_t join_at, const bl__rows *rows) {
    const uint64_t now = bl_clock();
    bl__loot loot = {.still = true};
    if (now - r->looked < STILL || !make_room(r, run))
        return (bl__loot){.still = false};
    r->looked = now;
    if (!r->knows)
        memset(r->marks, 0, run->workers * sizeof *r->marks);
    r->knows = true;
    for (uint32_t i = 0; i < run->workers; i++)
        loot.still = loot.still && r->marks[i] && r->marks[i] == bl__task_mark(run, i);
    if (loot.still)
        rob_inlet(run, rows, &loot);
    for (uint32_t i = 0; i < run->workers; i++) {
        const uint32_t task = bl__task_mark(run, i), before = r->marks[i];
        r->marks[i] = task;
        if (!task || task != before || loot.count == rows->most)
            continue;
        loot.count += rob_queue(r, run, i, rows, loot.count);
        loot.count += rob_stack(run, i, join_at, rows, loot.count);
    }
    return loot;
}

uint32_t bl__raid_divide(const bl__rows *rows, uint32_t count, uint32_t wanted) {
    for (; count && count < wanted; count++) {
        uint32_t *longest = rows->first, *added = row(rows, count);
        for (uint32_t *entry = rows->first; entry < added; entry += rows->stride)
            longest = entry[1] - entry[0] > longest[1] - longest[0] ? entry : longest;
        if (longest[1] - longest[0] < 2)
            break;
        bl__words_copy(added, longest, rows->stride);
        longest[1] = added[0] = longest[0] + (longest[1] - longest[0]) / 2;
    }
    return count;
}
