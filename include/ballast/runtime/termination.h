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

/* Returns the new word. It is not read with acquire, so a worker that acts on it needs an acquire fence first (T2). */
BL_FN uint64_t bl__idle_enter(bl__control *c) { return bl_far_add64_release(&c->idle, 1) + 1; /* T1 */ }

/* Counts others as idle, which do not count themselves. Returns the word before; it is 0, because none of them may have
 * left idle yet. */
BL_FN uint64_t bl__idle_enter_others(bl__control *c, uint32_t others) { return bl_far_add64_relaxed(&c->idle, others); }

/* Does not wait for the result. For workers that claim what they take (BL__CLAIM_LEAVES): if the run is over, the claim
 * fails. */
BL_FN void bl__idle_leave_to_claim(bl__control *c) { bl_far_add64_relaxed(&c->idle, (1ull << 32) - 1); }

/* False when the run is over. */
BL_FN bool bl__idle_leave(bl__control *c) {
    return !(bl_far_add64_acquire(&c->idle, (1ull << 32) - 1) & BL__IDLE_DONE);
}

BL_FN uint64_t bl__idle_read(bl__control *c) { return bl_load64_acquire(&c->idle); /* T2 */ }
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
