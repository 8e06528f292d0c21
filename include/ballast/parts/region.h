/* What a worker has under range stealing (schedulers/range.inc.h): two ranges, and slots for entries.
 *
 *     lines 0, 1    loop: indices of the run's loop, whose payload lies in run->in
 *     lines 2, 3    own: numbers of the slots that hold entries
 *     line 4        emptied: how many slots thieves have emptied since the run was set up
 *     line 5 ..     slots, run->capacity of them
 */
#ifndef BL_PARTS_REGION_H
#define BL_PARTS_REGION_H

#include "entry.h"
#include "run.h"

#define BL__RANGE_ROOM (2 * BL_LINE) /* the most that a range may need */
#define BL__REGION_HEAD (2 * BL__RANGE_ROOM + BL_LINE)

typedef struct bl__region {
    unsigned char *loop, *own;
    uint32_t *emptied, *slots;
} bl__region;

BL_HOST_FN size_t bl__region_bytes(uint32_t capacity, uint32_t words) {
    return BL__REGION_HEAD + 4u * (size_t)capacity * words;
}

BL_FN bl__region bl__region_of(const bl__run *run, uint32_t worker) {
    unsigned char *memory = run->queues + (size_t)worker * run->queue_stride;
    bl__region r;
    r.loop = memory;
    r.own = memory + BL__RANGE_ROOM;
    r.emptied = (uint32_t *)(void *)(memory + 2 * BL__RANGE_ROOM);
    r.slots = (uint32_t *)(void *)(memory + BL__REGION_HEAD);
    return r;
}

BL_FN uint32_t *bl__region_slot(bl__region r, uint32_t words, uint32_t i) { return r.slots + (size_t)i * words; }

#endif
