/* Where cores lie: which of them share a last-level cache, and which a node of memory. Read by hwloc; without it, and
 * where all cores share both, nothing is known and nothing is done. */
#ifndef BALLAST_TOPOLOGY_H
#define BALLAST_TOPOLOGY_H

#include <ballast/parts/run.h>
#include <stddef.h>

typedef struct bl__topology bl__topology;

/* Of this machine, or of what HWLOC_SYNTHETIC describes; read once. NULL: one place, or not known. */
const bl__topology *bl__topology_machine(void);

/* Of a description in hwloc's language, NULL: of this machine. NULL if it cannot be read. */
bl__topology *bl__topology_read(const char *synthetic);
void bl__topology_free(bl__topology *t);

/* A core's node and cache; numbers that only tell them apart. A core that is not known is at nowhere. */
typedef struct bl__place {
    uint32_t node, cache;
} bl__place;
bl__place bl__topology_place(const bl__topology *t, int cpu);

/* Who is near to whom, of n workers at these places: near[i] for each, over `order`, which has all of their numbers.
 * False: all are at one place, or so few places are known that it makes no difference. */
bool bl__near_make(const bl__place *places, uint32_t n, bl__near *near, uint32_t *order);

/* The pages that lie wholly in this memory and that somebody has touched move to a place's node; the others are for the
 * first to touch them. How many the system was asked to move. */
size_t bl__topology_move(const bl__topology *t, bl__place place, void *memory, size_t bytes);

#endif
