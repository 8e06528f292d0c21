/* Template: the scheduler BL_SCHEDULER with the queue BL_QUEUE as a bl__policy of its own, for a target whose code
 * the host runs. BL_INSTANCE is part of every name. */
#define BL__NAME(x) BL_CAT(BL_CAT(bl__, x##_), BL_INSTANCE)
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define BL__TAKES_PIECES (w->run->pieces)

#include BL_SCHEDULER

const bl__policy BL__POLICY(BL_INSTANCE) = {
    .fetch = BL__NAME(fetch),
    .publish = BL__NAME(publish),
    .shown = BL__NAME(shown),
#ifdef BL__LEAVES
    .leave = BL__NAME(leave),
#endif
#if BL__ENDS_ALONE
    .open_share = BL__NAME(open_share),
    .end_share = BL__NAME(end_share),
    .next_wave = BL__NAME(next_wave),
#else
    .sees_work = BL__NAME(sees_work),
    .all_empty = BL__NAME(all_empty),
    .empty_when_idle = BL__EMPTY_WHEN_IDLE,
    .claim_leaves = BL__CLAIM_LEAVES,
#endif
#ifdef BL__ROBS
    .rob = BL__ROBS ? BL__NAME(rob_half) : NULL,
#endif
};

#undef BL__NAME
#undef BL_QUEUE_
#undef BL__TAKES_PIECES
#undef BL__ENDS_ALONE
#undef BL__STAYS
#undef BL__EMPTY_WHEN_IDLE
#undef BL__CLAIM_LEAVES
#undef BL__LEAVES
#undef BL__ROBS
