/* Template: the rest of the contract for a FIFO queue BL_BATCHED with push_n and pop_n alone. Stealing is popping,
 * and a single item is a batch of one. Included at the end of a queue's header. */
#define BL__BATCHED(x) BL_CAT(BL_BATCHED, _##x)

BL_FN bl_outcome BL__BATCHED(push)(BL_BATCHED *q, const uint32_t *item) {
    return BL__BATCHED(push_n)(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_FULL;
}
BL_FN bl_outcome BL__BATCHED(pop)(BL_BATCHED *q, uint32_t *item) {
    return BL__BATCHED(pop_n)(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_EMPTY;
}
BL_FN bl_outcome BL__BATCHED(steal)(BL_BATCHED *q, uint32_t *item) { return BL__BATCHED(pop)(q, item); }
BL_FN uint32_t BL__BATCHED(steal_n)(BL_BATCHED *q, uint32_t *items, uint32_t n) {
    return BL__BATCHED(pop_n)(q, items, n);
}

#undef BL__BATCHED
