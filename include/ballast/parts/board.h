/* Boards: where an entry with several tasks lies so that all workers reach it at once. Each takes the next task with
 * one addition. From thief to thief, half by half, it would take several steals until everybody had a part.
 *
 *     control->posted[b]      tasks on board b that nobody has taken; below zero: workers have come too late
 *     control->uncopied[b]    tasks whose takers have not copied the entry yet, or that nobody has taken; 0: it is free
 *     run->boards             an entry for each board; its last tasks are those on the board. NULL: there are no boards
 *
 * They are for workers that run one task at a time, and for entries with a few tasks for each of them: to take many
 * tasks one by one would cost more than to halve the entry. While all boards are in use, entries are published as
 * usual. The worker that posts an entry looks at the boards before it goes idle, so they are empty when all are idle.
 * At a pause the host takes what is left on them.
 *
 * Order pairs
 *   P1 (posted, release)      with P2 (acquire): the entry is there before its tasks can be taken. What workers take
 *                             off belongs to P1's release sequence.
 *   P3 (uncopied, release)    with P4 (acquire): all have copied the entry before another one is written.
 */
#ifndef BL_PARTS_BOARD_H
#define BL_PARTS_BOARD_H

#include "run.h"

#define BL__LEAST_POSTED 2u                                           /* tasks: to steal a single one is as fast */
#define BL__MOST_POSTED 8u                                            /* tasks for each worker */
#define BL__BOARDS_SEEN (BL_WARP < BL__BOARDS ? BL_WARP : BL__BOARDS) /* a lane looks at one */

BL_FN uint32_t *bl__board_entry(const bl__run *run, uint32_t b, uint32_t words) { return run->boards + b * words; }

/* All by one lane. */

BL_FN bool bl__board_shows(const bl__run *run, uint32_t b) {
    return (int32_t)bl_load32_relaxed(run->control->posted + b) > 0;
}
BL_FN bool bl__board_is_free(const bl__run *run, uint32_t b) {
    return bl_load32_relaxed(run->control->uncopied + b) == 0;
}

/* True: the entry may be written, and must be posted then. */
BL_FN bool bl__board_reserve(const bl__run *run, uint32_t b, uint32_t tasks) {
    uint32_t nothing = 0;
    return bl_cas32_acquire(run->control->uncopied + b, &nothing, tasks); /* P4 */
}
BL_FN void bl__board_post(const bl__run *run, uint32_t b, uint32_t tasks) {
    bl_store32_release(run->control->posted + b, tasks); /* P1 */
}

/* Takes the next task; the caller copies the entry. Returns how far from the entry's end it is; 0: there was none. */
BL_FN uint32_t bl__board_take(const bl__run *run, uint32_t b) {
    const int32_t left = (int32_t)bl_fetch_add32_acquire(run->control->posted + b, (uint32_t)-1); /* P2 */
    return left > 0 ? (uint32_t)left : 0;
}
BL_FN void bl__board_copied(const bl__run *run, uint32_t b) {
    bl_fetch_add32_release(run->control->uncopied + b, (uint32_t)-1); /* P3 */
}

#endif
