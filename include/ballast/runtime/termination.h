/* Termination without a counter per task.
 *
 * One 64-bit word: bits 0..30 idle workers, bit 31 DONE, bits 32..63 epoch. Going idle adds one, with nothing held.
 * Leaving idle takes one off and bumps the epoch, before the pop. A worker that sees all idle reads the word, finds
 * every queue empty, and compare-and-swaps that very word to DONE; if anybody left idle meanwhile the epoch has moved
 * and the swap fails.
 *
 * This asks nothing of a queue's EMPTY, only that its size is exact at rest: all workers idle and the epoch unchanged
 * means at rest. Order pairs: T1 (idle, release) with T2 (read, acquire): what a worker published before going idle is
 * counted by the worker that looks.
 */
#ifndef BL_RUNTIME_TERMINATION_H
#define BL_RUNTIME_TERMINATION_H

#include "../parts/run.h"
#include "../parts/stop.h"

#define BL__IDLE_DONE (1ull << 31)

/* What the word is then. Without T2: to go by it takes a fence. */
BL_FN uint64_t bl__idle_enter(bl__control *c) { return bl_far_add64_release(&c->idle, 1) + 1; /* T1 */ }

/* The same for so many others that have not begun: they publish nothing before they leave. What the word was: nobody
 * may have left sooner. */
BL_FN uint64_t bl__idle_enter_others(bl__control *c, uint32_t others) { return bl_far_add64_relaxed(&c->idle, others); }

/* By a worker that will claim something (BL__CLAIM_LEAVES): it gets nothing if the run is over by then. */
BL_FN void bl__idle_leave_to_claim(bl__control *c) { bl_far_add64_relaxed(&c->idle, (1ull << 32) - 1); }

/* False when the run is over. */
BL_FN bool bl__idle_leave(bl__control *c) {
    return !(bl_far_add64_acquire(&c->idle, (1ull << 32) - 1) & BL__IDLE_DONE);
}

BL_FN uint64_t bl__idle_read(bl__control *c) { return bl_load64_acquire(&c->idle); /* T2 */ }
BL_FN uint32_t bl__idle_count(uint64_t word) { return (uint32_t)word & 0x7fffffffu; }
BL_FN bool bl__idle_all(uint64_t word, uint32_t workers) { return bl__idle_count(word) == workers; }

/* `word`: what bl__idle_read gave before every queue was found empty. */
BL_FN bool bl__idle_finish(bl__control *c, uint64_t word) {
    return bl_cas64_acq_rel(&c->idle, &word, word | BL__IDLE_DONE);
}

/* After a launch: nothing is left to do, and there was no other reason to stop. */
BL_HOST_FN bool bl__is_over(const bl__control *c) {
    const uint32_t reasons_of_workers = 255;
    return c->idle & BL__IDLE_DONE && !(c->stop & reasons_of_workers & ~(uint32_t)BL__STOP_DONE);
}

#endif
