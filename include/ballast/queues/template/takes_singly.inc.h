/* Template: batches that leave a queue BL_SINGLY one item after another, by its pop and its steal. */
#define BL__SINGLY(x) BL_CAT(BL_SINGLY, _##x)

BL_FN uint32_t BL__SINGLY(pop_n)(BL_SINGLY *q, uint32_t *items, uint32_t n) {
    uint32_t done = 0;
    while (done < n && BL__SINGLY(pop)(q, items + (size_t)done * q->words) == BL_QUEUE_DONE)
        done++;
    return done;
}
BL_FN uint32_t BL__SINGLY(steal_n)(BL_SINGLY *q, uint32_t *items, uint32_t n) {
    uint32_t done = 0;
    while (done < n && BL__SINGLY(steal)(q, items + (size_t)done * q->words) == BL_QUEUE_DONE)
        done++;
    return done;
}

#undef BL__SINGLY
