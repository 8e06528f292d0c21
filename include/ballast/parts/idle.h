/* What an idle worker does on each target. On a CPU it spins for a short while and then sleeps; elsewhere it backs off.
 *
 * No wake-up is lost: a sleeper raises `sleepers` and then looks at every queue again; a publisher then reads
 * `sleepers`. A full fence stands between the two steps on both sides (S1, S2), so at least one of them sees the other.
 */
#ifndef BL_PARTS_IDLE_H
#define BL_PARTS_IDLE_H

#include "run.h"

#if BL_CAN_SLEEP

#ifndef BL__QUICK_TRIES    /* the explorer has less patience */
#define BL__QUICK_TRIES 4u /* rounds of fetching before a worker counts as idle */
#define BL__IDLE_SPINS 64u /* looks around before it sleeps */
#endif

BL_FN void bl__wake_for_work(const bl__run *run) {
    bl_fence_seq_cst(); /* S1 */
    if (bl_load32_relaxed(&run->control->sleepers))
        bl__wake(run, 1);
}
/* One for each of n entries. */
BL_FN void bl__wake_for_entries(const bl__run *run, uint32_t n) {
    bl_fence_seq_cst(); /* S1 */
    if (n && bl_load32_relaxed(&run->control->sleepers))
        bl__wake(run, n);
}
BL_FN void bl__wake_all(const bl__run *run) { bl__wake(run, UINT32_MAX); }
BL_FN void bl__wake_all_if_stopped(const bl__run *run) {
    if (bl_load32_host(&run->control->stop))
        bl__wake(run, UINT32_MAX);
}
/* True when it is time to sleep. */
BL_FN bool bl__idle_pause(uint32_t tries) {
    if (tries >= BL__IDLE_SPINS)
        return true;
    bl_backoff(tries);
    return false;
}
BL_FN uint32_t bl__sleep_begin(const bl__run *run) {
    uint32_t seen = bl_load32_acquire(&run->control->wakes);
    bl_fetch_add32_relaxed(&run->control->sleepers, 1);
    bl_fence_seq_cst(); /* S2 */
    return seen;
}
BL_FN void bl__sleep_now(const bl__run *run, uint32_t seen) { bl__sleep(run, seen); }
BL_FN void bl__sleep_end(const bl__run *run) { bl_fetch_add32_relaxed(&run->control->sleepers, (uint32_t)-1); }

#else

#define BL__QUICK_TRIES 2u

BL_FN void bl__wake_for_work(const bl__run *run) { (void)run; }
BL_FN void bl__wake_all_if_stopped(const bl__run *run) { (void)run; }
BL_FN bool bl__idle_pause(uint32_t tries) { return bl_backoff(tries), false; }

#endif
#endif
