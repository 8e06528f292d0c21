/* A ring whose slots are used in turn: what the queues with tickets share.
 *
 * A ticket is a position, a 32-bit counter that wraps around. Position p lies in slot p & mask, in round p / capacity,
 * and every slot counts its uses in a word of its own: in each round first one push, then one pop. A thread with a
 * ticket waits until the slot's turn is its own, and nobody else can come in between; how tickets are given out, and
 * what to do when there is nothing to wait for, is the queue's.
 *
 *     slot: turn | payload, `words` words        turn = 2 * round        free for the push of that round
 *                                                turn = 2 * round + 1    holds its item
 *
 * The pop of position p leaves 2 * ((p + capacity) / capacity), in 32 bits: rounds wrap where positions do. With
 * capacity 1 the factor 2 wraps once more, so that p and p + 2^31 look the same; nobody waits that long.
 *
 * A batch is n positions from p on, taken in this order inside ONE loop. Lanes of a warp that leave a loop may be held
 * back until their sisters leave it too: so what others wait for, copy and turn, happens inside the loop, and a lane
 * stays in it until its last item is through. The thread with the lowest unfinished position can always continue,
 * hence somebody always can, if every pop's ticket has, or will have, a push's.
 *
 * Order pairs
 *   R1 (turn, release) with R4 (acquire): the payload is written before the pop reads it.
 *   R2 (turn, release) with R3 (acquire): the payload is read before the push of the next round writes it.
 */
#ifndef BL_PARTS_RING_H
#define BL_PARTS_RING_H

#include "../platform/platform.h"

typedef struct bl__ring {
    uint32_t *slots;
    uint32_t mask, shift; /* of a position: which slot, which round */
    uint32_t words;       /* of the payload */
} bl__ring;

BL_HOST_FN size_t bl__ring_bytes(uint32_t capacity, uint32_t words) { return 4u * (size_t)capacity * (1u + words); }

BL_FN void bl__ring_bind(bl__ring *r, void *memory, uint32_t capacity, uint32_t words) {
    r->slots = (uint32_t *)memory;
    r->mask = capacity - 1;
    r->shift = bl_popcount(r->mask);
    r->words = words;
}

/* The first word is the turn. */
BL_FN uint32_t *bl__ring_slot(const bl__ring *r, uint32_t p) {
    return r->slots + (size_t)(p & r->mask) * (1u + r->words);
}
BL_FN uint32_t bl__ring_push_turn(const bl__ring *r, uint32_t p) { return 2 * (p >> r->shift); }
BL_FN uint32_t bl__ring_pop_turn(const bl__ring *r, uint32_t p) { return 2 * (p >> r->shift) + 1; }
BL_FN uint32_t bl__ring_next_turn(const bl__ring *r, uint32_t p) { return bl__ring_push_turn(r, p + r->mask + 1); }

/* By `size` threads, each with its rank: empty, with both counters at `start`. */
BL_FN void bl__ring_init(const bl__ring *r, uint32_t start, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i <= r->mask; i += size)
        bl_store32_relaxed(bl__ring_slot(r, start + i), bl__ring_push_turn(r, start + i));
}

/* With the turn, which was read with acquire: R3, R4. */
BL_FN void bl__ring_write(const bl__ring *r, uint32_t p, const uint32_t *item) {
    uint32_t *slot = bl__ring_slot(r, p);
    bl_data_write(slot + 1, item, r->words);
    bl_store32_release(slot, bl__ring_pop_turn(r, p)); /* R1 */
}
BL_FN void bl__ring_read(const bl__ring *r, uint32_t p, uint32_t *item) {
    uint32_t *slot = bl__ring_slot(r, p);
    bl_data_read(item, slot + 1, r->words);
    bl_store32_release(slot, bl__ring_next_turn(r, p)); /* R2 */
}

/* Positions from head to tail, without those that wait: the tickets of either side may run ahead. */
BL_FN uint32_t bl__ring_between(const bl__ring *r, uint32_t head, uint32_t tail) {
    int32_t items = (int32_t)(tail - head);
    return items <= 0 ? 0 : (uint32_t)items <= r->mask ? (uint32_t)items : r->mask + 1;
}

/* Waits for the turn of each of the positions p .. p + n - 1. */
BL_FN void bl__ring_put(const bl__ring *r, uint32_t p, const uint32_t *items, uint32_t n) {
    uint32_t done = 0, tries = 0;
    while (done < n) {
        uint32_t *slot = bl__ring_slot(r, p + done), turn = bl_load32_acquire(slot); /* R3 */
        if (turn == bl__ring_push_turn(r, p + done)) {
            bl__ring_write(r, p + done, items + (size_t)done * r->words);
            done += bl_opaque32(1);
        } else {
            bl_wait_change32(slot, turn, &tries);
        }
    }
}
BL_FN void bl__ring_get(const bl__ring *r, uint32_t p, uint32_t *items, uint32_t n) {
    uint32_t done = 0, tries = 0;
    while (done < n) {
        uint32_t *slot = bl__ring_slot(r, p + done), turn = bl_load32_acquire(slot); /* R4 */
        if (turn == bl__ring_pop_turn(r, p + done)) {
            bl__ring_read(r, p + done, items + (size_t)done * r->words);
            done += bl_opaque32(1);
        } else {
            bl_wait_change32(slot, turn, &tries);
        }
    }
}

#endif
