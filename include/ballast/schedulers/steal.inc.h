/* Stealing: a queue per worker; a worker that runs out takes from another (Cederman and Tsigas 2008, section 4.4; Gems
 * 35). BL_SCHEDULER_PROPERTIES steal: any many steals|greedy capacity|private|victims|steal_one|steal_half|done_test
 * BL_SCHEDULER_TEXT a queue per worker, thieves take from the others, greedy
 *
 * The contract is in scheduler_contract.h. A worker feeds its own queue whenever a thief has emptied it, so that every
 * busy worker with more than one entry shows its oldest one, the largest piece of work it has.
 */
#define BL__ENDS_ALONE 0

#include "own_queue.inc.h"

BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) { return BL__NAME(feed)(w, n); }
