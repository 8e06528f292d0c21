/* Where the workers of a launch meet between two waves, so that a wave costs no launch: a barrier for all of them.
 *
 *     tally->gathered    of the first worker of a group of blocks: how often a block of the group has come
 *     control->met       low 30 bits: how many groups were complete, or blocks, if they are too few for groups; where
 *                        there are join records, and one more when the last worker has seen that they suffice.
 *                        High bits, for even and odd meetings: all leave
 *
 * The workers of a block meet first, and one of them comes for all. Both counters only grow, so nobody resets them.
 * Those that wait look at the stop word, too: a worker that stops for an error does not come.
 *
 * The host wants the workers to leave (a pause): somebody sees that and sets the bit of this meeting before it comes,
 * so all see it or none. The bit of the next meeting is another one, because a worker may be slow to look.
 *
 * Order pairs
 *   M1 (group, release) with M2 (group, acquire, the last of it), M3 (met, release) with M4 (acquire): what tasks of a
 *   wave have written is there for the tasks of the next one; and so are the records that they have freed, for the one
 *   that counts them. All that is added to `met` after M3 belongs to its release sequence.
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
#define BL__MEETING_LEAVES(number) (1u << (30 + (number) % 2))
#define BL__MEETING_COUNT (BL__MEETING_LEAVES(0) - 1)
#define BL__MOST_MEETINGS (1u << 20) /* in one launch */

/* The worker that comes for a block. */
BL_FN bool bl__leads_block(const bl__worker *w) { return w->id % w->run->block_workers == 0; }
BL_FN bl__stack *bl__block_stack(const bl__worker *w) {
    const size_t before = (size_t)(w->id % w->run->block_workers) * w->run->worker_memory;
    return (bl__stack *)(void *)((unsigned char *)w->stack - before);
}

/* Everybody has come. Waves cannot ask for join records, so there must be one for every task of the next one, and what
 * workers hold back. */
BL_FN bool bl__records_suffice(const bl__run *run, uint32_t number) {
    const bl_broker q = bl__free_records(run);
    const uint64_t tasks = bl_load64_relaxed(&run->control->out[number % 3]) >> 32;
    return bl_broker_size(&q) >= 2 * (tasks + (uint64_t)run->workers * run->lanes);
}

typedef enum bl__met { BL__STOPPED, BL__LEAVE, BL__STAY } bl__met;

/* One lane of the worker that leads its block. True: it is the last of its group. */
BL_FN bool bl__completes_group(const bl__worker *w, uint32_t number, uint32_t blocks) {
    const bl__run *run = w->run;
    const uint32_t group = w->id / run->block_workers / BL__MEETING_GROUP;
    const uint32_t size = bl__min(blocks - group * BL__MEETING_GROUP, BL__MEETING_GROUP);
    uint32_t *gathered = &run->tally[group * BL__MEETING_GROUP * run->block_workers].gathered;
    return bl_fetch_add32_acq_rel(gathered, 1) + 1 == size * (run->meetings + number + 1); /* M1, M2 */
}

/* ... until all have come, or the run is stopped. */
BL_FN bl__met bl__meet(const bl__worker *w, uint32_t number, bool leaves) {
    const bl__run *run = w->run;
    bl__control *control = run->control;
    const uint32_t blocks = (run->workers + run->block_workers - 1) / run->block_workers;
    const bool crowd = blocks > BL__MEETING_CROWD;
    const uint32_t groups = crowd ? (blocks - 1) / BL__MEETING_GROUP + 1 : blocks;
    const uint32_t all = (number + 1) * (groups + (run->record_bytes ? 1 : 0));
    if (leaves)
        bl_fetch_or32_relaxed(&control->met, BL__MEETING_LEAVES(number));
    if (!crowd || bl__completes_group(w, number, blocks)) {
        const uint32_t met = (bl_fetch_add32_release(&control->met, 1) + 1) & BL__MEETING_COUNT; /* M3 */
        if (run->record_bytes && met == all - 1) {
            (void)bl_load32_acquire(&control->met); /* M4 */
            if (!bl__records_suffice(run, number))
                bl_fetch_or32_relaxed(&control->met, BL__MEETING_LEAVES(number));
            bl_fetch_add32_relaxed(&control->met, 1);
        }
    }
    for (uint32_t tries = 0;; tries++) {
        const uint32_t met = bl_load32_acquire(&control->met); /* M4 */
        if ((met & BL__MEETING_COUNT) >= all)
            return met & BL__MEETING_LEAVES(number) ? BL__LEAVE : BL__STAY;
        if (bl_load32_host(&control->stop) & ~(BL__NO_REASON | BL__STOP_HOST))
            return BL__STOPPED;
        if (tries >= BL__MEETING_SPINS)
            bl_backoff(bl__min((tries - BL__MEETING_SPINS) / 4, 4));
    }
}

/* Everybody has met for the number-th time in this launch. By worker 0 alone: what the host will want to know, and the
 * counters of the wave after the next, which nobody uses any more. */
BL_FN void bl__note_meeting(const bl__worker *w, uint32_t number, uint64_t next) {
    bl__control *c = w->run->control;
    const uint32_t tasks = (uint32_t)(next >> 32);
    const uint64_t entries = (uint64_t)w->of_waves.entries + (uint32_t)next;
    c->meetings = number + 1;
    c->spawned += tasks;
    c->most_tasks = bl__max(c->most_tasks, tasks);
    c->most_entries = c->most_entries > entries ? c->most_entries : entries;
    bl_store64_relaxed(&c->out[(number + 2) % 3], 0);
    bl_store64_relaxed(&c->drawn[number % 2], 0);
}

#endif
