/* Template: the rest of the contract for a FIFO queue BL_SINGLY with push and pop alone. Stealing is popping, and a
 * batch is one item after another. Included at the end of a queue's header. */
#define BL__SINGLY(x) BL_CAT(BL_SINGLY, _##x)

BL_FN bl_outcome BL__SINGLY(steal)(BL_SINGLY *q, uint32_t *item) { return BL__SINGLY(pop)(q, item); }

BL_FN uint32_t BL__SINGLY(push_n)(BL_SINGLY *q, const uint32_t *items, uint32_t n) {
    uint32_t done = 0;
    while (done < n && BL__SINGLY(push)(q, items + (size_t)done * q->words) == BL_QUEUE_DONE)
        done++;
    return done;
}

#undef BL__SINGLY
#include "takes_singly.inc.h"
