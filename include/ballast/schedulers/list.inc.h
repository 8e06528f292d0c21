/* List scheduling: one list of tasks, from which everybody takes the next ones (Toss and Gautier 2012, section 4.3).
 * BL_SCHEDULER_PROPERTIES list: none one waves nothing
 * BL_SCHEDULER_TEXT one list of tasks per wave, everybody takes the next ones
 * BL_SCHEDULER_FORM locked: waves|locked a list per wave, behind a lock, everybody takes the next tasks
 * BL_SCHEDULER_FORM faa: waves|greedy a list per wave, drawn from by fetch-and-add, greedy within a wave
 *
 * The contract is in scheduler_contract.h, waves are in waves.inc.h: the list is the in-array, and all that is shared
 * is the number of the next task.
 *   list:locked    behind a lock, as in the paper
 *   list:faa       taken by fetch-and-add
 * On a GPU a worker that is about to run its last tasks takes the next ones at once: the answer of the fetch-and-add
 * arrives while they run. In a wave that follows another in the same launch (meeting.h) all workers have just met, so
 * all are there: each has the batch of its place without asking, and those after that are in the list.
 *
 * Order pairs
 *   L1 (lock, acquire) with L2 (unlock, release): `drawn` is changed in turn.
 */
#include "waves.inc.h"

/* Lane 0: the first of the next n tasks, or `all`: nobody queues up for nothing. */
BL_FN uint64_t BL__NAME(draw_locked)(bl__control *c, uint64_t *drawn, uint32_t n, uint32_t all) {
    uint64_t first = all;
    for (uint32_t waiting = 1, tries = 0;
         waiting;) { /* what is done with the lock stands inside the loop, as in blocking.h */
        uint32_t unlocked = 0;
        if (bl_load64_relaxed(drawn) >= all) {
            waiting = bl_opaque32(0);
        } else if (bl_cas32_acquire(&c->draw_lock, &unlocked, 1)) { /* L1 */
            first = bl_load64_relaxed(drawn);
            bl_store64_relaxed(drawn, first + n);
            bl_store32_release(&c->draw_lock, 0); /* L2 */
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change32(&c->draw_lock, 1, &tries);
        }
    }
    return first;
}

/* Tasks of the wave that nobody has to draw. */
BL_FN uint32_t BL__NAME(given)(const bl__worker *w) {
    const bool given = BL__STAYS && w->of_waves.number && !BL__TAKES_PIECES;
    return given ? w->run->groups * w->batch : 0;
}
/* Perhaps more than those. */
BL_FN bool BL__NAME(is_listed)(const bl__worker *w) { return BL__NAME(given)(w) < BL__NAME(in_tasks)(w); }

BL_FN void BL__NAME(open_share)(bl__worker *w) {
    w->of_list.drawn_at = 0;
    if (BL__NAME(given)(w))
        BL__NAME(give_share)(w, (uint64_t)w->of_waves.place * w->batch, ((uint64_t)w->of_waves.place + 1) * w->batch);
}

/* Lane 0: takes the tasks of the next share. */
BL_FN void BL__NAME(draw)(bl__worker *w) {
    const bl__run *run = w->run;
    const uint32_t tasks = BL__NAME(in_tasks)(w);
    uint64_t *drawn = &run->control->drawn[BL__NAME(number)(w) % 2];
    if (BL__TAKES_PIECES) {
        /* What was left after the last draw; less by now, because others have drawn since: hence a sixteenth and not
         * an eighth. */
        uint32_t left = w->of_list.drawn_at < tasks ? tasks - (uint32_t)w->of_list.drawn_at : 0;
        w->of_list.drawn = bl__piece(w, UINT32_MAX, bl__max(left / run->groups / 16, 1));
    } else {
        w->of_list.drawn = w->batch;
    }
    const uint32_t given = BL__NAME(given)(w);
    w->of_list.drawn_at = given + (run->of_list.locked
                                       ? BL__NAME(draw_locked)(run->control, drawn, w->of_list.drawn, tasks - given)
                                       : bl_far_add64_relaxed(drawn, w->of_list.drawn));
}

BL_FN bool BL__NAME(next_share)(bl__worker *w) {
    uint64_t all = BL__NAME(in_tasks)(w), from = 0;
    uint32_t drawn = 0;
    if (BL_WARP > 1 && !BL__NAME(is_listed)(w))
        return false;
    if (w->lane == 0) {
        if (w->of_list.drawn == 0)
            BL__NAME(draw)(w);
        drawn = w->of_list.drawn;
        from = w->of_list.drawn_at < all ? w->of_list.drawn_at : all;
        w->of_list.drawn = 0;
    }
    from = bl_warp_broadcast32((uint32_t)from, 0);
    drawn = bl_warp_broadcast32(drawn, 0);
    return BL__NAME(give_share)(w, from, from + drawn);
}

BL_FN uint32_t BL__NAME(at_once)(bl__worker *w) {
    return BL__TAKES_PIECES ? w->of_waves.task_end - w->of_waves.task : w->batch;
}

/* Nobody is ever hungry. On a GPU this is where to look ahead: it is asked before a batch, and the answer is used
 * after it. */
BL_FN uint32_t BL__NAME(shown)(bl__worker *w) {
    if (BL_WARP > 1 && !w->run->of_list.locked && BL__NAME(is_listed)(w) && w->of_list.drawn == 0 &&
        w->of_waves.task == w->of_waves.task_end)
        BL__NAME(draw)(w);
    return 1;
}
