/* A ring of handles between two counters: the memory of tz.h and shann.h.
 *
 *     apart from each other: head; tail.  Then capacity slots of 64 bits: value (low 32) and tag (high 32)
 */
#ifndef BL_PARTS_HANDLE_RING_H
#define BL_PARTS_HANDLE_RING_H

#include "../platform/platform.h"

typedef struct bl__handle_ring {
    uint32_t *head, *tail;
    uint64_t *slots;
    uint32_t mask, words; /* words: of an item, 1 */
} bl__handle_ring;

BL_HOST_FN size_t bl__handle_ring_bytes(uint32_t capacity) { return 2 * BL_APART + 8u * (size_t)capacity; }

BL_FN void bl__handle_ring_bind(bl__handle_ring *q, void *memory, uint32_t capacity) {
    unsigned char *bytes = (unsigned char *)memory;
    q->head = (uint32_t *)(void *)bytes;
    q->tail = (uint32_t *)(void *)(bytes + BL_APART);
    q->slots = (uint64_t *)(void *)(bytes + 2 * BL_APART);
    q->mask = capacity - 1;
    q->words = 1;
}

#endif
