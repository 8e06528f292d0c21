/* The lookout: of the threads that are out of work one sleeps in short naps only, and looks which workers have been in
 * one task for long. What lies on their stacks cannot wait until they come round to publish it: idle threads
 * may raid them (raid.inc.h).
 *
 * Workers whose tasks are short are left alone. They see that somebody is out of work between two tasks, and publish.
 *
 *     control->lookout    the lookout's number + 1; 0: nobody. A lookout that finds work wakes another sleeper
 *                         (bl__wake_for_work)
 *     control->held_up    how many workers it saw in a long task, with something on their stacks
 *     tally->slow         in which task it saw the worker stand still: bl__task_mark
 *     tally->dry          the same with top, when a thief had left nothing on the stack
 *     tally->watched, since    the lookout's own: the task that it saw last, and when first; GPU: when it started
 *
 * On a GPU nobody can come in: there idle workers watch (bl__watch_another) and tell. And there are so many of them
 * that most wait for their turn to look for work (bl__scout_begins), and that thieves are told which of them have none
 * (bl__idler_counts).
 *
 * Order pairs: L1 (lookout, release) with L2 (acquire): the next lookout finds what the last one noted.
 */
#ifndef BL_RUNTIME_LOOKOUT_H
#define BL_RUNTIME_LOOKOUT_H

#include "../parts/gate.h"
#include "../parts/worker.h"

#if BL_WARP == 1

#ifndef BL__PATIENCE /* the explorer has none: it tries all executions */
#define BL__PATIENCE BL_LONG_TICKS
#define BL__LEAST_NAP 50000u /* ns */
#define BL__MOST_NAP 500000u /* ns */
#define BL__NAP_SHARE                                                                                                  \
    32u /* of the time without work, so that what comes late is found late by a few per cent at most */
#endif

BL_FN bool bl__lookout_take(const bl__run *run, uint32_t id) {
    uint32_t nobody = 0;
    return bl_load32_relaxed(&run->control->lookout) == 0 &&
           bl_cas32_acquire(&run->control->lookout, &nobody, id + 1); /* L2 */
}
BL_FN void bl__lookout_give(const bl__run *run) { bl_store32_release(&run->control->lookout, 0); /* L1 */ }

/* Tells the task that worker i is in from others; 0: it is in none. Looks only, so what it says may be gone. */
BL_FN uint32_t bl__task_mark(const bl__run *run, uint32_t i) {
    const bl__tally *t = run->tally + i;
    const uint32_t open = bl_load32_relaxed(&bl__stack_of(run, i)->open);
    return open ? ((uint32_t)bl_load64_relaxed(&t->beat) + bl_load32_relaxed(&t->fetched) + open) | 1u << 31 : 0;
}
/* ... and from itself before it spawned more. */
BL_FN uint64_t bl__stack_mark(const bl__run *run, uint32_t i, uint32_t task) {
    return (uint64_t)task << 32 | bl_load32_relaxed(&bl__stack_of(run, i)->top);
}

/* Whether worker i is in a long task and may have something on its stack. */
BL_FN bool bl__is_held_up(const bl__run *run, uint32_t i) {
    uint32_t task = bl__task_mark(run, i);
    return task && bl_load32_relaxed(&run->tally[i].slow) == task &&
           bl_load64_relaxed(&run->tally[i].dry) != bl__stack_mark(run, i, task);
}

/* By the lookout. */
BL_FN void bl__look_out(const bl__run *run, uint32_t id) {
    uint64_t now = bl_clock();
    uint32_t held_up = 0;
    for (uint32_t i = 0; i < run->workers; i++) {
        bl__tally *t = run->tally + i;
        uint32_t task = i == id ? 0 : bl__task_mark(run, i);
        if (task == 0)
            continue;
        if (t->watched != task) {
            t->watched = task;
            t->since = now;
        }
        if (now - t->since < BL__PATIENCE)
            continue;
        bl_store32_relaxed(&t->slow, task);
        held_up += bl_load64_relaxed(&t->dry) != bl__stack_mark(run, i, task);
    }
    bl_store32_relaxed(&run->control->held_up, held_up);
}

BL_FN uint64_t bl__nap_length(uint64_t without_work) {
    uint64_t nap = without_work / BL__NAP_SHARE;
    return nap < BL__LEAST_NAP ? BL__LEAST_NAP : nap < BL__MOST_NAP ? nap : BL__MOST_NAP;
}

#else

/* What an idle worker of a GPU watches: whether another is still in the batch that it was in then. Its stack cannot
 * be reached, but it and all others are told to publish before they run the next; until somebody sees several in a
 * row end soon: one may have ended after a long time. */
typedef struct bl__watched {
    uint32_t since, worker, batch, ended;
} bl__watched;

#define BL__ENOUGH_ENDED 4u

/* Tells the batch that a worker is in from others; 0: it is in none. */
BL_FN uint32_t bl__batch_mark(const bl__tally *t) {
    return bl_load32_host(&t->standing) == BL__AT_WORK
               ? ((uint32_t)bl_load64_host(&t->beat) + bl_load32_relaxed(&t->fetched)) | 1
               : 0;
}

/* One lane. */
BL_FN void bl__watch_another(bl__worker *w, bl__watched *watched) {
    uint32_t now = bl_clock32(), *stop = &w->run->control->stop, told;
    if (now - watched->since < 2 * BL_LONG_TICKS)
        return;
    uint32_t batch = bl__batch_mark(w->run->tally + watched->worker);
    if (batch && watched->batch) {
        told = bl_load32_host(stop);
        watched->ended = batch == watched->batch ? 0 : watched->ended + 1;
        if (watched->ended == 0 && !(told & BL__COARSE))
            bl_fetch_or32_relaxed(stop, BL__COARSE);
        else if (watched->ended >= BL__ENOUGH_ENDED && told & BL__COARSE)
            bl_cas32_relaxed(stop, &told, told & ~BL__COARSE); /* if it fails somebody has more to say */
    }
    watched->worker = bl__random32(&w->random) % w->run->workers;
    watched->batch = bl__batch_mark(w->run->tally + watched->worker);
    watched->since = now;
}

/* Which workers are out of work, for thieves: where only its owner feeds a queue the others need not look there. One
 * lane; `more` is 1 or -1. */
BL_FN void bl__idler_counts(const bl__worker *w, uint32_t more) {
    bl_fetch_add32_relaxed(w->run->idlers + w->id / 32, more << w->id % 32);
}

/* A quarter of a multiprocessor issues the instructions of a fourth of its warps. Of those that are out of work only
 * two look for it, the scouts; the others wait for their turn. All of them at once would find work no sooner, and get
 * in the way of those that have some. Worker 0 always looks: it also notices the end. Where there are few workers all
 * look, and so do those that have seen batches take long: what they find is worth more than what they disturb.
 *
 *     tally->quarter    of a quarter, in one of the tallies: scouts (low 16 bits), and warps that have work
 *     tally->over       likewise: whether the run is over. Each quarter has a word of its own, because
 *                       thousands of warps that read the same one would slow each other down
 *
 * One lane. */
#define BL__SCOUTS 2u
#define BL__HAS_WORK (1u << 16)

BL_FN bl__tally *bl__quarter_of(const bl__worker *w) {
    return &w->run->tally[(bl_processor() * 4 + w->id % 4) % w->run->workers];
}
/* `more`: BL__HAS_WORK or its negative. */
BL_FN void bl__quarter_counts(const bl__worker *w, uint32_t more) {
    bl_fetch_add32_relaxed(&bl__quarter_of(w)->quarter, more);
}
typedef enum bl__scout_turn { BL__TURN_LATER, BL__TURN_NOW, BL__TURN_NEVER } bl__scout_turn;
BL_FN bl__scout_turn bl__scout_begins(const bl__worker *w, bl__tally *quarter) {
    if (w->id == 0 || w->run->workers < BL_CROWD)
        return BL__TURN_NOW;
    const bool coarse = w->stop & BL__PACE;
    const uint32_t seen = bl_load32_relaxed(&quarter->quarter), over = bl_load32_relaxed(&quarter->over);
    if (over)
        return BL__TURN_NEVER;
    if (seen % BL__HAS_WORK >= BL__SCOUTS && !coarse)
        return BL__TURN_LATER;
    if (bl_fetch_add32_relaxed(&quarter->quarter, 1) % BL__HAS_WORK < BL__SCOUTS || coarse)
        return BL__TURN_NOW;
    bl_fetch_add32_relaxed(&quarter->quarter, (uint32_t)-1);
    return BL__TURN_LATER;
}
/* All lanes of one warp. */
BL_FN void bl__tell_quarters(const bl__worker *w) {
    const uint32_t quarters = 4 * bl_processors() < w->run->workers ? 4 * bl_processors() : w->run->workers;
    BL_ROLLED
    for (uint32_t i = w->lane; w->run->workers >= BL_CROWD && i < quarters; i += BL_WARP)
        bl_store32_relaxed(&w->run->tally[i].over, 1);
}
BL_FN void bl__scout_ends(const bl__worker *w, bl__tally *quarter) {
    if (w->id != 0 && w->run->workers >= BL_CROWD)
        bl_fetch_add32_relaxed(&quarter->quarter, (uint32_t)-1);
}
/* Whether a run has lasted for a while; until then its work may still be spreading. */
BL_FN bool bl__has_spread(const bl__worker *w) { return bl_clock32() - (uint32_t)w->tally->since > BL_SPREAD_TICKS; }
/* Or has only just begun, and may soon be over. */
BL_FN bool bl__is_young(const bl__worker *w) { return bl_clock32() - (uint32_t)w->tally->since < BL_SPREAD_TICKS / 64; }
/* How many pauses a scout makes before it looks, if another warp of the quarter has work: what it takes from that one's
 * time is worth more than what it finds, the more so when work is scarce for long. */
BL_FN uint32_t bl__scout_pauses(const bl__worker *w, const bl__tally *quarter, uint32_t tries) {
    if (w->id == 0 || w->run->workers < BL_CROWD || w->stop & BL__PACE ||
        bl_load32_relaxed(&quarter->quarter) < BL__HAS_WORK)
        return 0;
    return bl__has_spread(w) ? 3 : tries ? 1 : 0;
}
/* The longest nap in a run of this age, as an argument of bl_backoff. A run cannot end before all naps are over. */
BL_FN uint32_t bl__longest_nap(const bl__worker *w) {
    const uint32_t age = bl_clock32() - (uint32_t)w->tally->since;
    return age < BL_SPREAD_TICKS / 8 ? 6 : age < BL_SPREAD_TICKS / 2 ? 7 : 8;
}
/* Those that wait for their turn wait longer and longer. */
BL_FN void bl__wait_for_turn(const bl__worker *w, uint32_t tries) {
    for (uint32_t i = 0; i < (tries > 8 && bl__has_spread(w) ? 4u : 1u); i++)
        bl_backoff(bl__min(tries, bl__longest_nap(w)));
}

#endif
#endif
