/* Stealing: a queue per worker; a worker that runs out takes from another (Cederman and Tsigas 2008, section 4.4; Gems
 * 35). BL_SCHEDULER_PROPERTIES steal: any many steals|greedy capacity|private|victims|steal_one|steal_half|done_test
 * BL_SCHEDULER_TEXT a queue per worker, thieves take from the others, greedy
 *
 * The contract is in scheduler_contract.h. A worker feeds its own queue whenever a thief has emptied it, so that every
 * busy worker with more than one entry shows its oldest one, the largest piece of work it has.
 */
#define BL__ENDS_ALONE 0
/* Threads that are asleep when a run begins count as idle and have not looked. Of a queue that is no deque its owner
 * may see less than there is, while a thief is at it. */
#define BL__EMPTY_WHEN_IDLE (!BL_CAN_SLEEP && BL_QUEUE_(KIND) == BL_QUEUE_KIND_DEQUE)
#if BL_QUEUE_(CLAIMS)
#define BL__CLAIM_LEAVES BL__EMPTY_WHEN_IDLE /* by a compare-and-swap with release (steal_many.h: B3) */
#else
#define BL__CLAIM_LEAVES 0
#endif

#include "own_queue.inc.h"

BL_FN uint32_t BL__NAME(publish)(bl__worker *w, uint32_t n) { return BL__NAME(feed)(w, n); }
