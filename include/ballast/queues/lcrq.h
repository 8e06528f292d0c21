/* LCRQ: linked concurrent ring queues.
 *
 * Morrison and Afek 2013. An operation takes an index by fetch-and-add at one end of a ring and then has to do with
 * that index's cell only; a thread that loses there takes the next index (parts/crq.h). A ring in which a push
 * starves, or that is full, gets a successor whose first item is that push's; pops leave a ring when it is empty and
 * has a successor. The paper allocates rings; here two of them take turns.
 *
 *     two lines: head, tail    then ring 0 and ring 1: tail, head, holes apart from each other and `capacity` cells of
 *                              16 bytes each
 *     head, tail = number of a turn (31 bits) and look (low bit); turn n is played in ring n mod 2; tail is head or the
 *     turn after
 *
 *            head = 6                                    tail = 7
 *     ring 0 | taken | item | hole | item | closed       ring 1 | item | item | free |
 *
 * 6 KiB and 32 bytes per item of capacity. Anyone may call anything. Values are any 32 bits. Lock-free: a push that
 * starves while pops overtake it begins the next turn with its item in the first cell, out of their reach. It cannot if
 * the other ring is still in use, but then no pop has come to this one; or if that cell holds an item whose taker
 * sleeps since that ring's last turn, but the first cell is another one each turn. As many sleeping pops as a ring has
 * cells can hold it, and pushes then say RETRY.
 *
 * A push moves the tail to the next turn when pops have left the ring of the turn before; so after any history all but
 * the last turn's ring can be drained, and the last one's ring has `capacity` cells: at rest as many items fit, at most
 * twice as many. FULL: both rings are in use and the last turn has `capacity` items, or pushes under way. If it has
 * fewer there are holes; then a push goes to the first cell that it finds free (bl_lcrq_squeeze), and says RETRY if
 * there is none because pops are under way. `look` is set in tail then: pushes of this turn no longer take indices on
 * trust, so polling a full queue uses up none. `look` in head: pops have met the end, and until there are BL_LCRQ_NEAR
 * items again they look before they take an index, so polling an empty queue writes nothing.
 *
 * Linearization: a push where it took the index at which it places its item (the first of a turn: at P1, or where it
 * places it, if that is later); a pop at its fetch-and-add, or right after the push of that index if that comes later;
 * EMPTY at the read of the ring's tail before bl_lcrq_at_end. Items leave turn by turn and in a turn by index. A push
 * may still use turn n while others use n + 1: it has read tail before P1, so it overlaps with them, and pops come to n
 * + 1 only after nobody can push to n.
 *
 * No ring is ever freed, so reclamation means that operations which slept since an earlier turn do no harm. All words
 * carry the turn and only grow; a compare-and-swap that expects an earlier turn fails. For the rest, let turn n's ring
 * have been left, and perhaps be prepared for turn n + 2, or in it:
 *   a late push finds by its fetch-and-add that tail is closed, or of another turn than it had read: it wastes that
 *   index, places nothing
 *     there, and reads tail again. One with an index of turn n places its item only if the cell is not ahead: then the
 *     pop with that index, which was given out before the ring was left, is late as well and takes it.
 *   a late pop finds by its fetch-and-add that head is not open, and goes back; the index it took is forgotten, since
 *   opening sets head to the
 *     first one. Or head is open: then nothing is left in the turn before, and its index is as good as anybody's, so it
 *     uses it. One with an
 *     index of turn n finds its item, or the cell ahead, or leaves it one round ahead in turn n, which is behind turn n
 *     + 2.
 *     It says EMPTY only if the turn of its index is still the last.
 *   a late starter of turn n + 1 finds words of turn n + 1 or later and changes nothing; its item goes into the first
 *   cell only while
 *     the pop of that index has not been there, and that pop will come.
 *   a late closer, opener or mover of head and tail: compare-and-swaps with the turn in the expected value.
 * Turn numbers repeat after 2^31 turns, which an operation would have to sleep through between two of its steps.
 * Positions begin anew each turn, and a turn ends after BL_LCRQ_TURN of them at the latest, so they never run into the
 * turn.
 *
 * Order pairs, besides those of the ring
 *   P1 (tail, release) with P2 (acquire): a thread that sees that a turn has begun sees the ring prepared for it.
 *   O1 (ring's head, release) with H1 (fetch-and-add, acquire), H2 (acquire): a thread that may pop from a turn knows
 *     that tail has come to it.
 *   L1 (head, release) with L2 (acquire): a thread that prepares a ring sees the words of the turn that was left.
 *   H1 (fetch-and-add, release) with H1, H2 (acquire): a thread that comes after a pop sees the tails that its thread
 *     had moved before: or it might take a queue for empty which, after all those pops and pushes, cannot be.
 *
 * Differences from the paper: two rings that take turns instead of a list with hazard pointers, and so a bound and
 * FULL; the successor is made before the ring is closed, and by pops, so that nobody need wait for the thread that
 * closed it; no index is taken at an end that was found empty or full; a push tries its cell before it looks at it;
 * holes are counted.
 */
#ifndef BL_QUEUES_LCRQ_H
#define BL_QUEUES_LCRQ_H

#include "../parts/crq.h"
#include "contract.h"

#define bl_lcrq_TEXT "rings of 128-bit cells, indices by fetch-and-add (Morrison, Afek 2013)"
#define bl_lcrq_KIND BL_QUEUE_KIND_FIFO
#define bl_lcrq_FLAGS                                                                                                  \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_ALL_PARADIGMS |                  \
     BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY | BL_QUEUE_NEEDS_CAS128)
#define bl_lcrq_PROGRESS "lock-free"
#define bl_lcrq_BY_HANDLE 1
#define bl_lcrq_PER_THREAD 0
#define bl_lcrq_LEAST 1u
#define bl_lcrq_MOST_THREADS BL_QUEUE_MOST_THREADS
#define bl_lcrq_DEVICES "cpu cuda sim"

#ifndef BL_LCRQ_TRIES
#define BL_LCRQ_TRIES 16u /* indices that a push loses before it starves */
#endif
#ifndef BL_LCRQ_TURN
#define BL_LCRQ_TURN (UINT32_C(1) << 31) /* the position from which on a push begins the next turn */
#endif
#ifndef BL_LCRQ_NEAR
#define BL_LCRQ_NEAR 64u /* items with which the end is no longer near */
#endif

#define BL_LCRQ_LOOK 1u

typedef struct bl_lcrq {
    uint32_t *head, *tail;
    unsigned char *rings;
    size_t ring_bytes;
    uint32_t mask, words;
} bl_lcrq;

BL_HOST_FN size_t bl_lcrq_bytes(bl_shape shape) { return 2 * BL_LINE + 2 * bl__crq_bytes(shape.capacity); }

BL_FN void bl_lcrq_bind(bl_lcrq *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)thread;
    q->head = (uint32_t *)bl__queue_line(memory, 0);
    q->tail = (uint32_t *)bl__queue_line(memory, 1);
    q->rings = bl__queue_line(memory, 2);
    q->ring_bytes = bl__crq_bytes(shape.capacity);
    q->mask = shape.capacity - 1;
    q->words = 1;
}

/* `at` is a head or tail. */
BL_FN bl__crq bl_lcrq_ring(const bl_lcrq *q, uint32_t at) {
    return bl__crq_at(q->rings + (at >> 1 & 1) * q->ring_bytes, q->mask);
}
BL_FN uint64_t bl_lcrq_turn(uint32_t at) { return (uint64_t)(at >> 1) << 32; }
BL_FN uint32_t bl_lcrq_next(uint32_t at) { return (at | BL_LCRQ_LOOK) + 1; /* the bump */ }
BL_FN bool bl_lcrq_same(uint32_t a, uint32_t b) { return (a ^ b) >> 1 == 0; }

/* Turns begin at `start`, and positions of the first one near the end of a turn if that is near 2^32. The first
 * index of a turn (bl__crq_first) is behind: nobody would fill it. */
BL_FN void bl_lcrq_init(bl_lcrq *q, uint32_t start, uint32_t rank, uint32_t size) {
    uint32_t now = start << 1, before = now - 2;
    bl__crq left = bl_lcrq_ring(q, before), r = bl_lcrq_ring(q, now);
    for (uint64_t i = rank; i < 2 * ((uint64_t)q->mask + 1); i += size) {
        uint64_t *cell = bl__crq_cell(i & 1 ? &left : &r, i >> 1);
        bl_store64_relaxed(cell, BL__CRQ_NOTHING);
        bl_store64_relaxed(cell + 1, bl_lcrq_turn(before));
    }
    if (rank != 0)
        return;
    uint64_t index = bl_lcrq_turn(now) | (UINT64_C(1) + q->mask) | start >> 1;
    bl_store64_relaxed(left.tail, bl_lcrq_turn(before) | BL__CRQ_FLAG);
    bl_store64_relaxed(left.head, bl_lcrq_turn(before));
    bl_store64_relaxed(left.holes, bl_lcrq_turn(before) | BL__CRQ_NO_HOLES);
    bl_store64_relaxed(r.tail, index);
    bl_store64_relaxed(r.head, index);
    bl_store64_relaxed(r.holes, bl_lcrq_turn(now) | BL__CRQ_NO_HOLES);
    bl_store32_relaxed(q->head, now);
    bl_store32_relaxed(q->tail, now);
}

/* ---- turns ---- */

/* From the turn `at`, with the value, if any, as the first item of the next: true if it got that place. Nothing
 * happens while the other ring is in use. */
BL_FN bool bl_lcrq_begin(bl_lcrq *q, uint32_t at, uint64_t value) {
    if (!bl_lcrq_same(bl_load32_acquire(q->head), at)) /* L2 */
        return false;
    uint32_t seen = at, next = bl_lcrq_next(at);
    bl__crq r = bl_lcrq_ring(q, next);
    bl__crq_begin(&r, bl_lcrq_turn(at - 2), bl_lcrq_turn(next));
    bool placed = value != BL__CRQ_NOTHING && bl__crq_place(&r, bl__crq_first(&r, bl_lcrq_turn(next)), value);
    while (bl_lcrq_same(seen, at) && !bl_cas32_release(q->tail, &seen, next)) /* P1 */
        ;
    return placed;
}

/* From the turn `at`, which has a successor, if after closing it is still true that all indices are taken. Opened
 * first, then moved to: so the ring of head is always open. */
BL_FN void bl_lcrq_leave(bl_lcrq *q, uint32_t at, uint64_t taken) {
    uint32_t seen = at, next = bl_lcrq_next(at);
    bl__crq r = bl_lcrq_ring(q, at), other = bl_lcrq_ring(q, next);
    uint64_t t = bl__crq_close(&r, bl_lcrq_turn(at));
    if (!bl__crq_same_turn(t, bl_lcrq_turn(at)) || bl__crq_after(t, taken))
        return;
    bl__crq_open(&other, bl_lcrq_turn(next));
    while (bl_lcrq_same(seen, at) && !bl_cas32_release(q->head, &seen, next)) /* L1 */
        ;
}

/* ---- push ---- */

/* Looks for a free cell before it takes an index, and takes that one. */
BL_FN bl_outcome bl_lcrq_squeeze(const bl__crq *r, uint64_t turn, uint64_t value) {
    uint64_t t = bl_load64_acquire(r->tail), i = t;                               /* W2 */
    if (!bl__crq_same_turn(t, turn) || bl__crq_flag(t) || (uint32_t)t >> 30 == 3) /* or positions might run out */
        return BL_QUEUE_RETRY;
    while (!bl__crq_usable(r, bl__crq_look(bl__crq_cell(r, i)), i))
        if (++i > t + r->mask)
            return BL_QUEUE_RETRY;
    if (!bl_cas64_relaxed(r->tail, &t, i + 1))
        return BL_QUEUE_RETRY;
    bl__crq_count(r, i, i - t);
    if (bl__crq_place(r, i, value))
        return BL_QUEUE_DONE;
    bl__crq_waste(r, i);
    return BL_QUEUE_RETRY;
}

/* The ring seems to be full, or the push starves. RETRY also if the turn is over. */
BL_FN bl_outcome bl_lcrq_push_slowly(bl_lcrq *q, uint32_t at, uint64_t value) {
    if (bl_lcrq_begin(q, at, value))
        return BL_QUEUE_DONE;
    uint32_t seen = bl_load32_relaxed(q->tail);
    if (!bl_lcrq_same(seen, at))
        return BL_QUEUE_RETRY;
    if (!(seen & BL_LCRQ_LOOK))
        bl_cas32_relaxed(q->tail, &seen, seen | BL_LCRQ_LOOK);
    bl__crq r = bl_lcrq_ring(q, at);
    if (bl__crq_items(&r, bl_lcrq_turn(at)) > (int64_t)q->mask)
        return BL_QUEUE_FULL;
    return bl_lcrq_squeeze(&r, bl_lcrq_turn(at), value);
}

BL_FN bl_outcome bl_lcrq_push(bl_lcrq *q, const uint32_t *item) {
    for (uint32_t tries = 1;; tries++) {
        uint32_t at = bl_load32_relaxed(q->tail);
        if (!(at & BL_LCRQ_LOOK)) {
            bl__crq r = bl_lcrq_ring(q, at);
            uint64_t t = bl_fetch_add64_relaxed(r.tail, 1);
            bool open = t >> 32 == at >> 1; /* else it is closed, or of another turn */
            if (open && (uint32_t)t >= BL_LCRQ_TURN)
                bl_lcrq_begin(q, at, BL__CRQ_NOTHING);
            if (open && bl__crq_place(&r, t, *item))
                return BL_QUEUE_DONE;
            bl__crq_waste(&r, t);
            if (tries < BL_LCRQ_TRIES && !bl__crq_full(&r, t))
                continue;
        }
        bl_outcome outcome = bl_lcrq_push_slowly(q, at, *item);
        if (outcome != BL_QUEUE_RETRY || bl_lcrq_same(bl_load32_relaxed(q->tail), at))
            return outcome;
    }
}

/* ---- pop ---- */

/* All indices before `taken` are taken, and the ring's tail was not past it. Whether the queue is empty: if not,
 * there is a next turn. */
BL_FN bool bl_lcrq_at_end(bl_lcrq *q, uint32_t at, uint64_t taken) {
    if (!bl_lcrq_same(bl_load32_acquire(q->tail), at)) { /* P2 */
        bl_lcrq_leave(q, at, taken);
        return false;
    }
    bl__crq r = bl_lcrq_ring(q, at);
    bl__crq_catch_up(&r);
    if (!(at & BL_LCRQ_LOOK))
        bl_cas32_relaxed(q->head, &at, at | BL_LCRQ_LOOK);
    return true;
}

/* DONE: there seems to be something. */
BL_FN bl_outcome bl_lcrq_look(bl_lcrq *q, uint32_t at) {
    bl__crq r = bl_lcrq_ring(q, at);
    uint64_t h = bl_load64_acquire(r.head), t = bl_load64_relaxed(r.tail); /* H2 */
    if (!bl__crq_after(t, h))
        return bl_lcrq_at_end(q, at, h) ? BL_QUEUE_EMPTY : BL_QUEUE_RETRY;
    if (bl__crq_after(t, h + BL_LCRQ_NEAR))
        bl_cas32_relaxed(q->head, &at, at ^ BL_LCRQ_LOOK);
    return BL_QUEUE_DONE;
}

BL_FN bl_outcome bl_lcrq_pop(bl_lcrq *q, uint32_t *item) {
    for (bl_outcome look = BL_QUEUE_DONE;;) {
        uint32_t at = bl_load32_relaxed(q->head);
        if ((at & BL_LCRQ_LOOK) && (look = bl_lcrq_look(q, at)) != BL_QUEUE_DONE) {
            if (look == BL_QUEUE_EMPTY)
                return BL_QUEUE_EMPTY;
            continue;
        }
        bl__crq r = bl_lcrq_ring(q, at);
        uint64_t h = bl_fetch_add64_acq_rel(r.head, 1); /* H1 */
        if (bl__crq_flag(h))
            continue; /* not open */
        uint64_t value = bl__crq_take(&r, h);
        if (value != BL__CRQ_NOTHING) {
            *item = (uint32_t)value;
            return BL_QUEUE_DONE;
        }
        bl__crq_miss(&r, h);
        uint64_t t = bl_load64_relaxed(r.tail);
        if (bl__crq_same_turn(t, h) && !bl__crq_after(t, h + 1) && bl_lcrq_at_end(q, (uint32_t)(h >> 32) << 1, h + 1))
            return BL_QUEUE_EMPTY;
    }
}

BL_FN uint32_t bl_lcrq_size(const bl_lcrq *q) {
    uint32_t at = bl_load32_relaxed(q->head), last = bl_load32_relaxed(q->tail);
    bl__crq r = bl_lcrq_ring(q, at), other = bl_lcrq_ring(q, bl_lcrq_next(at));
    int64_t items = bl__crq_items(&r, bl_lcrq_turn(at));
    if (!bl_lcrq_same(last, at))
        items += bl__crq_items(&other, bl_lcrq_turn(bl_lcrq_next(at)));
    return (uint32_t)items;
}

#define BL_SINGLY bl_lcrq
#include "template/singly.inc.h"
#undef BL_SINGLY

#endif
