/* The fibers of a simulated machine that sleep until a word changes. */
#ifndef BALLAST_SIM_SLEEPERS_H
#define BALLAST_SIM_SLEEPERS_H

#include <ballast/platform/platform.h>

typedef struct bl__sleeper {
    const void *word;
    unsigned bits;
    uint64_t seen;
    uint32_t next;
} bl__sleeper;

/* Those that sleep on a word are in a list of its bucket. A bucket holds whole lines of 16 bytes, the largest store: a
 * store of 64 bits may wake a fiber that waits for one half of it. */
typedef struct bl__sleepers {
    uint32_t count;
    uint32_t buckets; /* a power of two */
    uint32_t *bucket;
    bl__sleeper *of; /* each fiber */
} bl__sleepers;

static inline uint64_t bl__word_now(const void *p, unsigned bits) {
    return bits == 32 ? bl_load32_relaxed((const uint32_t *)p) : bl_load64_relaxed((const uint64_t *)p);
}

bl__sleepers *bl__sleepers_open(uint32_t fibers);
void bl__sleepers_close(bl__sleepers *s);
void bl__sleepers_add(bl__sleepers *s, uint32_t fiber, const void *p, unsigned bits, uint64_t seen);
/* Takes out those whose word has changed: by a store to p, or (NULL) by the host. Returns the first of
 * them; `next` leads to the others, and BL__NOBODY ends the list. */
uint32_t bl__sleepers_changed(bl__sleepers *s, const void *p);

#endif
