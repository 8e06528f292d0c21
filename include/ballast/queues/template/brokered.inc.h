/* Template: the operations of the Broker Queue (broker.h) for BL_BROKERED, which has a bl__broker and, for those
 * admitted, NAME_put and NAME_get: draw n positions with release and go there. A refusal by the broker counts only
 * when the ring is seen full, or empty. */
#define BL__BROKERED(x) BL_CAT(BL_BROKERED, _##x)

/* After a refusal. The work is done inside the loop: a lane that is admitted must not wait for sister lanes that are
 * not. */
BL_FN uint32_t BL__BROKERED(push_later)(BL_BROKERED *q, const uint32_t *items, uint32_t n) {
    uint32_t waiting = n, tries = 0, done = 0;
    while (waiting) {
        done = bl__broker_admit_pushes(&q->broker, n);
        if (done)
            BL__BROKERED(put)(q, items, done);
        if (done || bl__broker_full(&q->broker))
            waiting = bl_opaque32(0);
        else
            bl_backoff(tries++);
    }
    return done;
}
BL_FN uint32_t BL__BROKERED(pop_later)(BL_BROKERED *q, uint32_t *items, uint32_t n) {
    uint32_t waiting = n, tries = 0, done = 0;
    while (waiting) {
        done = bl__broker_admit_pops(&q->broker, n);
        if (done)
            BL__BROKERED(get)(q, items, done);
        if (done || bl__broker_empty(&q->broker))
            waiting = bl_opaque32(0);
        else
            bl_backoff(tries++);
    }
    return done;
}

BL_FN uint32_t BL__BROKERED(push_n)(BL_BROKERED *q, const uint32_t *items, uint32_t n) {
    uint32_t done = bl__broker_admit_pushes(&q->broker, n);
    if (!done)
        return BL__BROKERED(push_later)(q, items, n);
    BL__BROKERED(put)(q, items, done);
    return done;
}
BL_FN uint32_t BL__BROKERED(pop_n)(BL_BROKERED *q, uint32_t *items, uint32_t n) {
    uint32_t done = bl__broker_admit_pops(&q->broker, n);
    if (!done)
        return BL__BROKERED(pop_later)(q, items, n);
    BL__BROKERED(get)(q, items, done);
    return done;
}
BL_FN uint32_t BL__BROKERED(steal_n)(BL_BROKERED *q, uint32_t *items, uint32_t n) {
    return BL__BROKERED(pop_n)(q, items, n);
}

/* With a literal 1, as in bwd.h. */
BL_FN bl_outcome BL__BROKERED(push)(BL_BROKERED *q, const uint32_t *item) {
    if (!bl__broker_admit_pushes(&q->broker, 1))
        return BL__BROKERED(push_later)(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_FULL;
    BL__BROKERED(put)(q, item, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome BL__BROKERED(pop)(BL_BROKERED *q, uint32_t *item) {
    if (!bl__broker_admit_pops(&q->broker, 1))
        return BL__BROKERED(pop_later)(q, item, 1) ? BL_QUEUE_DONE : BL_QUEUE_EMPTY;
    BL__BROKERED(get)(q, item, 1);
    return BL_QUEUE_DONE;
}
BL_FN bl_outcome BL__BROKERED(steal)(BL_BROKERED *q, uint32_t *item) { return BL__BROKERED(pop)(q, item); }

BL_FN uint32_t BL__BROKERED(size)(const BL_BROKERED *q) { return bl__broker_size(&q->broker); }

#undef BL__BROKERED
