/* Where the workers of a launch meet between two waves, so that a wave costs no launch: a barrier for all of them.
 *
 *     tally->gathered    of the first worker of a group of blocks: how often a block of the group has come
 *     control->met       sums over all meetings of this launch, from the lowest bit:
 *                          2 bits     flags, for even and odd meetings: all leave
 *                          12 bits    arrivals: of groups that were complete, or of blocks, if they are too few for
 *                                     groups; with join records one more, when the last worker has looked whether
 *                                     there are enough of them
 *                          18 bits    entries spawned, and ...
 *                          32 bits    ... tasks; neither where blocks come in groups
 *
 * The workers of a block meet first, and one of them comes for all. The sums only grow, and nobody resets them: what
 * counts is the difference since the last meeting. Those that wait read the stop word, too, because a worker that stops
 * for an error does not come.
 *
 * So the word on which workers wait also tells what comes next, and they need not read control->out, which would be
 * another trip to memory. They do read it where the difference cannot tell: if blocks come in groups; if somebody has
 * already come to the next meeting; or if there may be more entries than 18 bits can count. Entries then carry over
 * into the tasks. That shows, because every entry has a task: the sum of the tasks, with what was carried over, is 2^18
 * or more. BL__MOST_SPAWNED keeps that sum below 2^32.
 *
 * The host wants the workers to leave (a pause): somebody sees that and sets the bit of this meeting before it comes,
 * so all see it or none. The bit of the next meeting is another one, because a worker may be slow to look.
 *
 * Order pairs
 *   M1 (group, release) with M2 (group, acquire, the last of it), M3 (met, release) with M4 (acquire): what tasks of a
 *   wave have written is there for the tasks of the next one; and so are the records that they have freed, for the one
 *   that counts them; and what was added to control->out. All that is added to `met` after M3 belongs to its release
 *   sequence.
 */
#ifndef BL_RUNTIME_MEETING_H
#define BL_RUNTIME_MEETING_H

#include "../parts/worker.h"
#include "joins.h"

#ifndef BL__MEETING_CROWD /* the explorer has few workers, and no patience */
/* To come one after another takes less time than to come twice, as long as they are few. */
#define BL__MEETING_CROWD 768u /* blocks */
#define BL__MEETING_GROUP 32u  /* blocks, of a crowd */
#define BL__MEETING_SPINS 16u  /* after that it is a long wave: those that run it should not wait for memory */
#endif
#define BL__MEETING_LEAVES(number) (UINT64_C(1) << (number) % 2)
#define BL__MEETING_ONE UINT64_C(4) /* an arrival */
#define BL__MEETING_COUNT_BITS 12
#define BL__MEETING_ENTRY_BITS 18
#define BL__MOST_SPAWNED (UINT32_MAX - (1u << (32 - BL__MEETING_ENTRY_BITS))) /* tasks of a wave */
#define BL__MOST_MEETINGS (1u << 20)                                          /* in one launch */

/* The worker that comes for a block. */
BL_FN bool bl__leads_block(const bl__worker *w) { return w->of_waves.seat == 0; }
BL_FN bl__stack *bl__block_stack(const bl__worker *w) {
    return (bl__stack *)(void *)((unsigned char *)w->stack - (size_t)w->of_waves.seat * w->run->worker_memory);
}

/* One lane: its worker has added so much to control->out. */
BL_FN void bl__notes_spawned(const bl__worker *w, uint32_t tasks, uint32_t entries) {
    bl__stack *s = bl__block_stack(w);
    bl_lane_add32(&s->tasks, tasks);
    bl_lane_add32(&s->entries, entries);
}
/* One lane of the worker that comes for the block, when all its workers have met. */
BL_FN uint64_t bl__takes_spawned(bl__stack *s) {
    const uint64_t spawned = (uint64_t)s->tasks << 32 | s->entries;
    s->tasks = s->entries = 0;
    return spawned;
}

/* Everybody has come. A wave cannot ask for more join records, so there must be one for every task of the next wave,
 * and as many as workers hold back. */
BL_FN bool bl__records_suffice(const bl__run *run, uint32_t number) {
    const bl_broker q = bl__free_records(run);
    const uint64_t tasks = bl_load64_relaxed(&run->control->out[number % 3]) >> 32;
    return bl_broker_size(&q) >= 2 * (tasks + (uint64_t)run->workers * run->lanes);
}

/* What a block that has spawned so much adds to `met`. */
BL_FN uint64_t bl__met_spawned(uint64_t spawned) {
    return (((spawned >> 32) << BL__MEETING_ENTRY_BITS) + (uint32_t)spawned) * BL__MEETING_ONE
           << BL__MEETING_COUNT_BITS;
}
/* From an earlier value of `met`: arrivals since then, and what they have spawned. */
BL_FN uint32_t bl__has_met(uint64_t met, uint64_t before) {
    return (uint32_t)((met - before) / BL__MEETING_ONE) & ((1u << BL__MEETING_COUNT_BITS) - 1);
}
BL_FN uint64_t bl__spawned_since(uint64_t met, uint64_t before) {
    const uint64_t sums = (met - before) / BL__MEETING_ONE >> BL__MEETING_COUNT_BITS;
    return sums >> BL__MEETING_ENTRY_BITS << 32 | (sums & ((1u << BL__MEETING_ENTRY_BITS) - 1));
}

/* One lane of the worker that leads its block. True: it is the last of its group. */
BL_FN bool bl__completes_group(const bl__worker *w, uint32_t number, uint32_t blocks) {
    const bl__run *run = w->run;
    const uint32_t group = w->id / run->block_workers / BL__MEETING_GROUP;
    const uint32_t size = bl__min(blocks - group * BL__MEETING_GROUP, BL__MEETING_GROUP);
    uint32_t *gathered = &run->tally[group * BL__MEETING_GROUP * run->block_workers].gathered;
    return bl_fetch_add32_acq_rel(gathered, 1) + 1 == size * (run->meetings + number + 1); /* M1, M2 */
}

BL_FN bool bl__meets_in_groups(const bl__run *run) { return run->blocks > BL__MEETING_CROWD; }
/* Arrivals at a meeting. */
BL_FN uint32_t bl__meeting_size(const bl__run *run) {
    const uint32_t groups = bl__meets_in_groups(run) ? (run->blocks - 1) / BL__MEETING_GROUP + 1 : run->blocks;
    return groups + (run->record_bytes ? 1 : 0);
}

/* Comes to the meeting. `spawned`: by the workers of the block since the last one. */
BL_FN void bl__come(const bl__worker *w, uint32_t number, uint64_t spawned, bool leaves) {
    const bl__run *run = w->run;
    bl__control *control = run->control;
    const bool grouped = bl__meets_in_groups(run);
    if (leaves)
        bl_fetch_or64_relaxed(&control->met, BL__MEETING_LEAVES(number));
    if (grouped && !bl__completes_group(w, number, run->blocks))
        return;
    const uint64_t mine = (grouped ? 0 : bl__met_spawned(spawned)) + BL__MEETING_ONE;
    const uint64_t met = bl_far_add64_release(&control->met, mine) + mine; /* M3 */
    if (run->record_bytes && bl__has_met(met, w->stack->met) == bl__meeting_size(run) - 1) {
        (void)bl_load64_acquire(&control->met); /* M4 */
        if (!bl__records_suffice(run, number))
            bl_fetch_or64_relaxed(&control->met, BL__MEETING_LEAVES(number));
        bl_far_add64_relaxed(&control->met, BL__MEETING_ONE);
    }
}

/* Tells the host's watch what the workers of the block do, all at once, and only if a wave takes long: if each said so
 * when it comes, everybody would have to wait for that. So in a block with a worker that hangs all count as working. */
BL_FN void bl__block_stands(const bl__worker *w, bl__standing standing) {
    BL_ROLLED
    for (uint32_t i = w->id; i < bl__min(w->id + w->run->block_workers, w->run->workers); i++)
        bl_store32_host(&w->run->tally[i].standing, (uint32_t)standing);
}

/* ... and waits until all have come, or the run is stopped. */
BL_FN void bl__wait_for_all(const bl__worker *w, uint32_t number, bl__verdict *verdict) {
    const bl__run *run = w->run;
    const bool grouped = bl__meets_in_groups(run);
    const uint32_t all = bl__meeting_size(run);
    const uint64_t before = w->stack->met;
    verdict->meeting = 0;
    for (uint32_t tries = 0;; tries++) {
        const uint32_t stop = bl_load32_host(&run->control->stop);  /* one trip to memory for both */
        const uint64_t met = bl_load64_acquire(&run->control->met); /* M4 */
        const uint32_t have = bl__has_met(met, before);
        if (have >= all) {
            uint64_t next = bl__spawned_since(met, before);
            if (grouped || have > all || next >> (32 + BL__MEETING_ENTRY_BITS))
                next = bl_load64_relaxed(&run->control->out[number % 3]);
            w->stack->met = before + (grouped ? 0 : bl__met_spawned(next)) + all * BL__MEETING_ONE;
            if (tries > BL__MEETING_SPINS)
                bl__block_stands(w, BL__AT_WORK);
            verdict->next = next;
            verdict->meeting = number + 1;
            verdict->stays = !(met & BL__MEETING_LEAVES(number));
            return;
        }
        if (stop & ~(BL__NO_REASON | BL__STOP_HOST))
            return;
        if (tries < BL__MEETING_SPINS)
            continue;
        if (tries == BL__MEETING_SPINS)
            bl__block_stands(w, BL__AT_IDLE);
        bl_backoff(bl__min((tries - BL__MEETING_SPINS) / 4, 4));
    }
}

/* The worker that records meetings for the host: one in the middle, which has little to do in a small wave. It must be
 * the leader of its block: if a leader stops for an error, its block does not come to the next meeting, so at most one
 * meeting goes unrecorded. */
BL_FN bool bl__notes_meetings(const bl__worker *w) { return w->id == w->run->blocks / 2 * w->run->block_workers; }

/* Everybody has met for the number-th time in this launch. By that worker alone: what the host will want to know, and
 * the counters of the wave after the next, which nobody uses any more. */
BL_FN void bl__note_meeting(const bl__worker *w, uint32_t number, uint64_t next) {
    bl__control *c = w->run->control;
    const uint32_t tasks = (uint32_t)(next >> 32);
    const uint64_t entries = (uint64_t)w->of_waves.entries + (uint32_t)next;
    c->meetings = number + 1;
    bl_far_add64_relaxed(&c->spawned, tasks); /* nobody waits for these */
    bl_fetch_max32_relaxed(&c->most_tasks, tasks);
    bl_far_max64_relaxed(&c->most_entries, entries);
    bl_store64_relaxed(&c->out[(number + 2) % 3], 0);
    bl_store64_relaxed(&c->drawn[number % 2], 0);
}

#endif
