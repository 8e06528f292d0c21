/* Donating: a bounded queue per worker; what does not fit into one's own goes to another (Tzeng, Patney and Owens
 * 2010).
 * BL_SCHEDULER_PROPERTIES donate: fifo many steals|greedy capacity|private|victims|steal_one|steal_half|done_test
 * BL_SCHEDULER_TEXT a bounded queue per worker, what does not fit goes to another, thieves take from all, greedy
 *
 * The contract is in scheduler_contract.h. Like stealing, but a full queue is no reason to grow as long as another one
 * has room: memory follows the number of entries there are in all, not the most that one worker ever had. FIFO queues
 * only, since anyone pushes. A receiver is not asked and not told: it finds what it was given when it next looks at its
 * own queue, or a thief does. Receivers are chosen as victims are, in turn or at random; the lanes check one queue
 * each. Only when all queues are full do entries stay on the private stack, and when that is full too the run pauses
 * and grows.
 */
#define BL__ENDS_ALONE 0
#define BL__EMPTY_WHEN_IDLE 0
#define BL__CLAIM_LEAVES 0

#include "own_queue.inc.h"

/* As much as this queue takes. */
BL_FN uint32_t BL__NAME(donate_to)(bl__worker *w, uint32_t receiver, uint32_t n) {
    BL_QUEUE q = BL__NAME(queue)(w, receiver);
    const uint32_t done = BL__NAME(send_oldest)(w, &q, n);
    if (w->lane == 0) {
        const uint32_t size = BL_QUEUE_(size)(&q);
        bl_far_max64_relaxed(&w->tally->queue_peak, size);
        bl_far_max64_relaxed(&w->run->tally[receiver].peak, size); /* it may never see them itself */
    }
    return done;
}

/* The n oldest entries to queues that have room; every other queue is looked at, so what is left fits nowhere. How many
 * went. */
BL_FN uint32_t BL__NAME(donate)(bl__worker *w, uint32_t n) {
    uint32_t workers = w->run->queue_count, done = 0;
    uint32_t from = w->run->random_victims ? bl__random_victim(w) : w->of_steal.victim;
    for (uint32_t seen = 0; seen < workers && done < n; seen += BL_WARP) {
        uint32_t receiver = (from + seen + w->lane) % workers, room = 0;
        if (seen + w->lane < workers && receiver != w->id) {
            BL_QUEUE q = BL__NAME(queue)(w, receiver);
            room = BL_QUEUE_(size)(&q) < w->run->capacity ? 1 : 0;
        }
        for (uint32_t show = bl_warp_ballot(room != 0); show && done < n; show &= show - 1) {
            done += BL__NAME(donate_to)(w, bl_warp_broadcast32(receiver, bl_lowest_bit(show)), n - done);
        }
    }
    return done;
}

BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) {
    uint32_t done = BL__NAME(feed)(w, n);
    return done < n ? done + BL__NAME(donate)(w, n - done) : done;
}
