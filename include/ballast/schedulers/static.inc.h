/* Static: in- and out-arrays, wave after wave (Cederman and Tsigas 2008, Algorithm 1; Gems 35, section 35.3.1).
 * BL_SCHEDULER_PROPERTIES static: none one waves nothing
 * BL_SCHEDULER_TEXT in- and out-array, wave after wave of tasks
 * BL_SCHEDULER_FORM wave: waves|group_per_task in- and out-array, a launch per wave, a group per task
 * BL_SCHEDULER_FORM split: waves in- and out-array, wave after wave, an equal share for each worker
 * BL_SCHEDULER_FORM cyclic: waves|turns in- and out-array, wave after wave, workers take turns
 *
 * The contract is in scheduler_contract.h, waves are in waves.inc.h. Every worker runs a share of the tasks that is
 * fixed before they start:
 *   static:wave    as many groups as there are tasks (2008): a group per task, handed out by the hardware
 *   static:split   a fixed number of groups, each with an equal part of the array (Gems 35)
 *   static:cyclic  a fixed number of groups that take turns: what Thrust does with a loop (Toss and Gautier 2012,
 *                  section 4.6)
 */
#include "waves.inc.h"

/* Where the share of worker `id` begins: tasks * id / groups, rounded up, so that a task that is alone goes to the
 * first worker, which leads its block. */
BL_FN uint64_t BL__NAME(part)(const bl__run *run, uint64_t tasks, uint32_t id) {
    if (BL_WARP == 1 || tasks >= run->inverse)
        return (tasks * id + run->groups - 1) / run->groups;
    /* without the many instructions that a division takes on a GPU */
    const uint32_t n = (uint32_t)tasks * id + run->groups - 1, part = (uint32_t)((uint64_t)n * run->inverse >> 32);
    return part + (n - part * run->groups >= run->groups ? 1 : 0);
}

BL_FN void BL__NAME(open_share)(bl__worker *w) {
    const bl__run *run = w->run;
    const uint64_t tasks = BL__NAME(in_tasks)(w), turn = run->of_static.turn;
    const uint64_t from = turn ? w->of_waves.place * turn : BL__NAME(part)(run, tasks, w->id),
                   to = turn ? from + turn : BL__NAME(part)(run, tasks, w->id + 1);
    w->of_waves.task = w->of_waves.task_end = run->first_task + (uint32_t)tasks;
    BL__NAME(give_share)(w, from, to);
}

BL_FN bool BL__NAME(next_share)(bl__worker *w) {
    const bl__run *run = w->run;
    const uint32_t done = w->of_waves.task_end - run->first_task, all = BL__NAME(in_tasks)(w);
    const uint64_t turn = run->of_static.turn, next = done + (run->groups - 1) * turn;
    return turn && next < all && BL__NAME(give_share)(w, next, next + turn);
}

/* A group with a long share runs it in pieces, so that the host sees it advance. */
BL_FN uint32_t BL__NAME(at_once)(bl__worker *w) {
    if (!BL__TAKES_PIECES)
        return w->batch;
    uint32_t left = w->of_waves.task_end - w->of_waves.task;
    return w->run->of_static.turn ? left : bl_warp_broadcast32(bl__piece(w, left, left), 0);
}

BL_FN uint32_t BL__NAME(shown)(bl__worker *w) { return (void)w, 1; } /* nobody is ever hungry */
