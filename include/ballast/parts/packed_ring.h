/* A ring whose slots hold a 32-bit value and the ticket beside it in one 64-bit word.
 *
 * Position p lives in slot p & mask. Since that is known, bit 0 of the ticket is free to tell the two states apart:
 *     ticket = p with bit 0 cleared     empty, waiting for the push of position p
 *     ticket = p with bit 0 set         holds the value of position p
 * and a value that was taken leaves the ticket of position p + capacity, empty. Each position is pushed and popped by
 * one thread, which drew it.
 *
 * Orders: none. One store publishes ticket and value together, all accesses of a slot are to the same word, and nothing
 * else is promised: what the value stands for is not. That saves a fence per operation on a GPU.
 */
#ifndef BL_PARTS_PACKED_RING_H
#define BL_PARTS_PACKED_RING_H

#include "../platform/platform.h"

BL_FN uint64_t bl__packed_word(uint32_t ticket, uint32_t value) { return (uint64_t)ticket << 32 | value; }
BL_FN uint32_t bl__packed_ticket(uint64_t word) { return (uint32_t)(word >> 32); }

BL_FN void bl__packed_init(uint64_t *slots, uint32_t mask, uint32_t start, uint32_t rank, uint32_t size) {
    for (uint32_t i = rank; i <= mask; i += size)
        bl_store64_relaxed(slots + ((start + i) & mask), bl__packed_word((start + i) & ~1u, 0));
}

/* The work is done inside the loop: a lane that has its turn must not wait for sister lanes that do not. */
BL_FN void bl__packed_put(uint64_t *slots, uint32_t mask, uint32_t p, uint32_t value) {
    uint64_t *slot = slots + (p & mask);
    uint32_t waiting = 1, tries = 0;
    while (waiting) {
        uint64_t word = bl_load64_relaxed(slot);
        if (bl__packed_ticket(word) == (p & ~1u)) {
            bl_store64_relaxed(slot, bl__packed_word(p | 1u, value));
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change64(slot, word, &tries);
        }
    }
}

BL_FN uint32_t bl__packed_take(uint64_t *slots, uint32_t mask, uint32_t p) {
    uint64_t *slot = slots + (p & mask);
    uint32_t waiting = 1, tries = 0, value = 0;
    while (waiting) {
        uint64_t word = bl_load64_relaxed(slot);
        if (bl__packed_ticket(word) == (p | 1u)) {
            bl_store64_relaxed(slot, bl__packed_word((p + mask + 1) & ~1u, 0));
            value = (uint32_t)word;
            waiting = bl_opaque32(0);
        } else {
            bl_wait_change64(slot, word, &tries);
        }
    }
    return value;
}

#endif
