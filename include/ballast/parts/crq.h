/* The ring of the LCRQ (queues/lcrq.h): the CRQ of Morrison and Afek 2013, made to be used again and again.
 *
 *     line 0: tail    line 1: head    line 2: holes    line 3 ..: cells of 128 bits, value (low) and index (high)
 *     index = flag (1 bit), turn (31), position (32); position p lives in cell p * 9 & mask, so that neighbours do not
 *     share a line flag of tail: closed, nobody pushes any more; of head: not open, nobody pops yet; of a cell: unsafe
 *
 * A push takes the index at tail by fetch-and-add and places its value in that index's cell, if this is empty, not
 * ahead and not unsafe; a pop takes the index at head and
 *   - finds the value of this index: takes it and leaves the cell empty for the index one round later;
 *   - finds the cell empty: leaves it for the index one round later, too, so that a late push of this index fails and
 *     takes another;
 *   - finds the value of an earlier round, whose taker is under way: marks the cell unsafe, so that the push of its own
 *     index must see for itself that nobody has come for that index yet (U1, U2).
 * So each index that is given out at both ends either moves one value or none, whichever thread is late, and however
 * late.
 *
 * A turn begins at an index larger than all before (bl__crq_first; another cell each time, so that none is left behind
 * for 2^30 turns), with head not open and tail past the first index, which belongs to the thread that prepares the
 * turn. The cells are left as they are: for the ring it is as if it had gone on. A value whose taker is under way
 * since an earlier turn is in nobody's way but of one cell.
 *
 * holes = turn and 2^31 + the number of indices between head and tail that hold nothing: plus one for each ticket of
 * tail that places nothing or is skipped, minus one for each index of head that finds nothing; the first index is not
 * counted but looked at. It makes the number of items exact at rest. A late count goes to its own turn or nowhere
 * (bl__crq_count).
 *
 * Order pairs
 *   V1 (cell cas, release) with V2 (cell cas, acquire): what the handle stands for is written before the handle
 *     appears.
 *   U1 (cell cas, release) with U2 (cell cas that fails, acquire): a thread that sees the mark sees the head that its
 *     maker had moved.
 *   W1 (cas, release) with W2 (acquire): a thread that has a ticket of a turn counts in the holes of that turn or a
 *     later one: the counts of both are read-modify-writes, so this orders two stores, which no interleaving of single
 *     steps can show. For head W1 pairs with H2 of lcrq.h: a thread that finds a head that is not open knows that the
 *     queue has moved past it.
 *   S1 (acquire) keeps the reads of a size in this order: a thread that loses its core in between finds too few.
 */
#ifndef BL_PARTS_CRQ_H
#define BL_PARTS_CRQ_H

#include "../platform/platform.h"

#if !BL_HAS_CAS128
#error "lcrq needs a 128-bit compare-and-swap: x86-64 or ARMv8"
#endif

#ifndef BL_LCRQ_PATIENCE
#define BL_LCRQ_PATIENCE 4u /* looks at an empty cell whose push is under way before it is given up */
#endif

#define BL__CRQ_FLAG (UINT64_C(1) << 63)
#define BL__CRQ_NOTHING (UINT64_C(1) << 32) /* the value of an empty cell, none of 32 bits */
#define BL__CRQ_NO_HOLES (UINT64_C(1) << 31)

typedef struct bl__crq {
    uint64_t *tail, *head, *holes;
    uint64_t *cells;
    uint64_t mask;
} bl__crq;

BL_HOST_FN size_t bl__crq_bytes(uint32_t capacity) {
    return 3 * BL_APART + (16 * (size_t)capacity + BL_LINE - 1) / BL_LINE * BL_LINE;
}

BL_FN bl__crq bl__crq_at(unsigned char *memory, uint32_t mask) {
    bl__crq r;
    r.tail = (uint64_t *)memory;
    r.head = (uint64_t *)(memory + BL_APART);
    r.holes = (uint64_t *)(memory + 2 * BL_APART);
    r.cells = (uint64_t *)(memory + 3 * BL_APART);
    r.mask = mask;
    return r;
}

/* ---- indices ---- */

/* Whatever the flags are. */
BL_FN bool bl__crq_after(uint64_t a, uint64_t b) { return (int64_t)((a - b) << 1) > 0; }
BL_FN bool bl__crq_same_turn(uint64_t a, uint64_t b) { return (a ^ b) << 1 >> 33 == 0; }
BL_FN bool bl__crq_flag(uint64_t index) { return index >> 63 != 0; }

/* Where the turn of an index begins. */
BL_FN uint64_t bl__crq_first(const bl__crq *r, uint64_t index) {
    uint64_t turn = index << 1 >> 33;
    return turn << 32 | (turn >> 1 & r->mask);
}

/* The first index for which nobody has come. */
BL_FN uint64_t bl__crq_untaken(const bl__crq *r) {
    uint64_t h = bl_load64_relaxed(r->head);
    return bl__crq_flag(h) ? bl__crq_first(r, h) : h;
}

/* Whether ticket t is a whole round ahead. */
BL_FN bool bl__crq_full(const bl__crq *r, uint64_t t) { return bl__crq_after(t, bl__crq_untaken(r) + r->mask); }

/* ---- cells ---- */

BL_FN uint64_t *bl__crq_cell(const bl__crq *r, uint64_t index) { return r->cells + 2 * (index * 9 & r->mask); }
BL_FN bl_u128 bl__crq_pair(uint64_t value, uint64_t index) { return (bl_u128)index << 64 | value; }

/* Not at one moment: a compare-and-swap must decide. Only that an index is ahead is certain, for it stays so. */
BL_FN bl_u128 bl__crq_look(const uint64_t *cell) {
    uint64_t value = bl_load64_relaxed(cell);
    return bl__crq_pair(value, bl_load64_relaxed(cell + 1));
}

BL_FN bool bl__crq_usable(const bl__crq *r, bl_u128 seen, uint64_t t) {
    uint64_t index = (uint64_t)(seen >> 64);
    if ((uint64_t)seen != BL__CRQ_NOTHING || bl__crq_after(index, t))
        return false;
    return !bl__crq_flag(index) || !bl__crq_after(bl__crq_untaken(r), t);
}

/* Does not look first: mostly the cell is as the last taker left it, and so its line moves once and not twice. */
BL_FN bool bl__crq_place(const bl__crq *r, uint64_t t, uint64_t value) {
    uint64_t *cell = bl__crq_cell(r, t);
    bl_u128 seen = bl__crq_pair(BL__CRQ_NOTHING, t);
    do
        if (bl_cas128_acq_rel((bl_u128 *)cell, &seen, bl__crq_pair(value, t))) /* V1, U2 */
            return true;
    while (bl__crq_usable(r, seen, t));
    return false;
}

/* The value of index h, or BL__CRQ_NOTHING: then there will never be one. */
BL_FN uint64_t bl__crq_take(const bl__crq *r, uint64_t h) {
    uint64_t *cell = bl__crq_cell(r, h);
    uint32_t tries = 0;
    bl_u128 seen = bl__crq_look(cell);
    for (;;) {
        uint64_t value = (uint64_t)seen, index = (uint64_t)(seen >> 64), flag = index & BL__CRQ_FLAG;
        if (bl__crq_after(index, h))
            return BL__CRQ_NOTHING;
        if (value == BL__CRQ_NOTHING && tries != BL_LCRQ_PATIENCE && bl__crq_after(bl_load64_relaxed(r->tail), h)) {
            bl_backoff(tries++);
            seen = bl__crq_look(cell);
            continue;
        }
        bool mine = value == BL__CRQ_NOTHING || (index ^ flag) == h;
        bl_u128 then =
            mine ? bl__crq_pair(BL__CRQ_NOTHING, (h + r->mask + 1) | flag) : bl__crq_pair(value, index | BL__CRQ_FLAG);
        if (bl_cas128_acq_rel((bl_u128 *)cell, &seen, then)) /* V2; U1, also if it is marked already */
            return mine ? value : BL__CRQ_NOTHING;
    }
}

/* ---- holes ---- */

/* If the turn of index is over the word belongs to another: take it back, unless the next turn's beginning has done
 * so. */
BL_FN void bl__crq_count(const bl__crq *r, uint64_t index, uint64_t change) {
    uint64_t found = bl_fetch_add64_relaxed(r->holes, change), now = found + change;
    if (bl__crq_same_turn(found, index))
        return;
    while (bl__crq_same_turn(now, found) && !bl_cas64_relaxed(r->holes, &now, now - change))
        ;
}

/* Nothing is placed at t, which was given out or skipped. */
BL_FN void bl__crq_waste(const bl__crq *r, uint64_t t) {
    if (bl__crq_same_turn(bl_load64_acquire(r->tail), t)) /* W2 */
        bl__crq_count(r, t, 1);
}

/* Nothing was found at h. */
BL_FN void bl__crq_miss(const bl__crq *r, uint64_t h) {
    if (h != bl__crq_first(r, h))
        bl__crq_count(r, h, ~UINT64_C(0));
}

/* Pops have overtaken the pushes: or each push would have to find out for itself that its index is lost. */
BL_FN void bl__crq_catch_up(const bl__crq *r) {
    uint64_t t = bl_load64_relaxed(r->tail), h = bl_load64_relaxed(r->head);
    while (bl__crq_same_turn(t, h) && !bl__crq_flag(t | h) && bl__crq_after(h, t)) {
        if (bl_cas64_relaxed(r->tail, &t, h)) {
            bl__crq_count(r, h, h - t);
            return;
        }
        h = bl_load64_relaxed(r->head);
    }
}

/* Items of a turn, exact at rest; 1 if the turn is over. */
BL_FN int64_t bl__crq_items(const bl__crq *r, uint64_t turn) {
    uint64_t t = bl_load64_acquire(r->tail), h = bl__crq_untaken(r), holes = bl_load64_relaxed(r->holes); /* S1 */
    if (!bl__crq_same_turn(t, turn) || !bl__crq_same_turn(h, turn) || !bl__crq_same_turn(holes, turn))
        return 1;
    int64_t items = (int64_t)((t - h) << 1) / 2 - (int64_t)(uint32_t)holes + (int64_t)BL__CRQ_NO_HOLES;
    bool hole = h == bl__crq_first(r, h) && (bl_load64_relaxed(bl__crq_cell(r, h) + 1) & ~BL__CRQ_FLAG) != h;
    items -= hole ? 1 : 0;
    return items > 0 ? items : 0;
}

/* ---- turns ---- */

/* From a turn's word to the next one's, if nobody else has done it. */
BL_FN void bl__crq_renew(uint64_t *word, uint64_t turn, uint64_t to) {
    uint64_t seen = bl_load64_relaxed(word);
    while (bl__crq_same_turn(seen, turn) && !bl_cas64_release(word, &seen, to)) /* W1 */
        ;
}

/* Anyone may, any number at a time and as late as they like, once the turn before the last has been left. */
BL_FN void bl__crq_begin(const bl__crq *r, uint64_t before, uint64_t turn) {
    uint64_t first = bl__crq_first(r, turn);
    bl__crq_renew(r->holes, before, turn | BL__CRQ_NO_HOLES);
    bl__crq_renew(r->head, before, first | BL__CRQ_FLAG);
    bl__crq_renew(r->tail, before, first + 1);
}

/* What the tail was when it was closed, or later; of another turn if this one is over. */
BL_FN uint64_t bl__crq_close(const bl__crq *r, uint64_t turn) {
    uint64_t t = bl_load64_relaxed(r->tail);
    while (bl__crq_same_turn(t, turn) && !bl__crq_flag(t) && !bl_cas64_relaxed(r->tail, &t, t | BL__CRQ_FLAG))
        ;
    return t;
}

BL_FN void bl__crq_open(const bl__crq *r, uint64_t turn) {
    uint64_t h = bl_load64_relaxed(r->head);
    while (bl__crq_same_turn(h, turn) && bl__crq_flag(h) &&
           !bl_cas64_release(r->head, &h, bl__crq_first(r, turn))) /* O1 */
        ;
}

#endif
