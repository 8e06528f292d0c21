/* Central: one queue for all workers (Cederman and Tsigas 2008, sections 4.2 and 4.3).
 * BL_SCHEDULER_PROPERTIES central: fifo one one_queue|greedy capacity|private|done_test
 * BL_SCHEDULER_TEXT one shared queue for all workers, greedy
 *
 * The contract is in scheduler_contract.h. With a private stack a worker publishes only when the queue has run empty;
 * without one every task passes through the queue, as in the paper.
 */
#define BL__ENDS_ALONE 0
#define BL__EMPTY_WHEN_IDLE 0
#define BL__CLAIM_LEAVES 0

#include "transfer.inc.h"

BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) {
    BL_QUEUE q = BL__NAME(queue)(w, 0);
    return BL__NAME(fill)(w, &q);
}

BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) {
    BL_QUEUE q = BL__NAME(queue)(w, 0);
    n = BL__NAME(send_oldest)(w, &q, n);
    if (w->lane == 0)
        bl_far_max64_relaxed(&w->tally->queue_peak, BL_QUEUE_(size)(&q));
    return n;
}

BL_FN bool BL__NAME(all_empty)(bl__worker *w) {
    uint32_t size = 0;
    if (w->lane == 0) {
        BL_QUEUE q = BL__NAME(queue)(w, 0);
        size = BL_QUEUE_(size)(&q);
    }
    return bl_warp_broadcast32(size, 0) == 0;
}

/* On a GPU, where thousands may wait, nothing as long as there is less than an entry for eight of them. */
BL_FN uint32_t BL__NAME(shown)(bl__worker *w) {
    BL_QUEUE q = BL__NAME(queue)(w, 0);
    const uint32_t size = BL_QUEUE_(size)(&q);
    return BL_WARP > 1 && size < bl__idle_count(bl_load64_relaxed(&w->run->control->idle)) / 8 ? 0 : size;
}

/* On a GPU thousands may wait. About as many go as there are entries: the others would find nothing, and while they
 * tried a worker that asks whether anybody is idle, before it hides its work behind a long task, would hear that nobody
 * is. */
BL_FN bool BL__NAME(sees_work)(bl__worker *w) {
#if BL_WARP > 1
    uint32_t goes = 0;
    if (w->lane == 0) {
        BL_QUEUE q = BL__NAME(queue)(w, 0);
        uint32_t idle = bl__idle_count(bl_load64_relaxed(&w->run->control->idle));
        goes = bl__random32(&w->random) % bl__max(idle, 1) < BL_QUEUE_(size)(&q);
    }
    return bl_warp_broadcast32(goes, 0) != 0;
#else
    return !BL__NAME(all_empty)(w);
#endif
}

#undef BL__DRAWS
