/* The memory of the simulated machine, sequentially consistent: a load returns the newest store, whatever its order.
 * Here platform operations arrive; those of an exploration are passed on to it (exploring.h).
 *
 * The words lie where the program has them, and are accessed with the CPU's atomics because a host thread may look at
 * them during a run. */
#undef BL_TARGET_SIM
#include "ballast/platform/platform.h"
#include "ballast/platform/sim.h"
#include "exploring.h"
#include "machine.h"

#include <stdlib.h>

/* The fibers that sleep on a word are in a list of its bucket. A bucket holds whole lines of 16 bytes, the largest
 * store: a store of 64 bits may wake a fiber that waits for one half of it. */
typedef struct sleeper {
    const void *word;
    unsigned bits;
    uint64_t seen;
    uint32_t next;
} sleeper;

struct bl__memory {
    uint32_t asleep;
    uint32_t buckets; /* a power of two */
    uint32_t *bucket;
    sleeper *sleepers; /* one for each fiber */
};

bl__memory *bl__memory_open(uint32_t fibers) {
    bl__memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    for (m->buckets = 1; m->buckets < fibers && m->buckets < 1u << 16;)
        m->buckets *= 2;
    m->bucket = malloc(sizeof *m->bucket * m->buckets);
    m->sleepers = malloc(sizeof *m->sleepers * fibers);
    if (!m->bucket || !m->sleepers) {
        bl__memory_close(m);
        return NULL;
    }
    for (uint32_t i = 0; i < m->buckets; i++)
        m->bucket[i] = BL__NOBODY;
    return m;
}

void bl__memory_close(bl__memory *m) {
    if (!m)
        return;
    free(m->bucket);
    free(m->sleepers);
    free(m);
}

void bl__memory_meet(bl__memory *m, uint32_t first, uint32_t count) { (void)m, (void)first, (void)count; }

static uint32_t *bucket_of(bl__memory *m, const void *p) {
    uint64_t line = (uint64_t)(uintptr_t)p >> 4;
    return &m->bucket[(uint32_t)((line * 0x9e3779b97f4a7c15u) >> 32) & (m->buckets - 1)];
}

static uint64_t newest(const void *p, unsigned bits) {
    return bits == 32 ? bl_load32_relaxed((const uint32_t *)p) : bl_load64_relaxed((const uint64_t *)p);
}

static void wake_bucket(bl__memory *m, uint32_t *link) {
    while (*link != BL__NOBODY) {
        sleeper *s = &m->sleepers[*link];
        if (newest(s->word, s->bits) == s->seen) {
            link = &s->next;
            continue;
        }
        uint32_t fiber = *link;
        *link = s->next;
        m->asleep--;
        bl__machine_wake(fiber);
    }
}

void bl__memory_recheck(bl__memory *m) {
    for (uint32_t i = 0; i < m->buckets; i++)
        wake_bucket(m, &m->bucket[i]);
}

static void stored(bl__memory *m, const void *p) {
    if (m && m->asleep)
        wake_bucket(m, bucket_of(m, p));
}

/* A run from a seed is looked for first, so that explorations cost it nothing. */
#define IF_EXPLORED(m) if (!(m) && bl__exploring.ops)

uint64_t bl__sim_load(bl__sim_site *site, const void *p, unsigned bits) {
    bl__memory *m = bl__machine_point();
    IF_EXPLORED(m) return bl__exploring.ops->load(bl__exploring.x, site, p, bits);
    return newest(p, bits);
}

void bl__sim_store(bl__sim_site *site, void *p, unsigned bits, uint64_t v) {
    bl__memory *m = bl__machine_point();
    IF_EXPLORED(m) {
        bl__exploring.ops->store(bl__exploring.x, site, p, bits, v);
        return;
    }
    if (bits == 32)
        bl_store32_relaxed((uint32_t *)p, (uint32_t)v);
    else
        bl_store64_relaxed((uint64_t *)p, v);
    stored(m, p);
}

static uint32_t rmw32(bl__sim_op op, uint32_t *p, uint32_t v) {
    switch (op) {
    case BL__SIM_ADD:
        return bl_fetch_add32_relaxed(p, v);
    case BL__SIM_MAX:
        return bl_fetch_max32_relaxed(p, v);
    case BL__SIM_OR:
        return bl_fetch_or32_relaxed(p, v);
    default:
        return bl_exchange32_relaxed(p, v);
    }
}

static uint64_t rmw64(bl__sim_op op, uint64_t *p, uint64_t v) {
    switch (op) {
    case BL__SIM_ADD:
        return bl_fetch_add64_relaxed(p, v);
    case BL__SIM_MAX:
        return bl_fetch_max64_relaxed(p, v);
    case BL__SIM_OR:
        return bl_fetch_or64_relaxed(p, v);
    default:
        return bl_exchange64_relaxed(p, v);
    }
}

uint64_t bl__sim_rmw(bl__sim_site *site, bl__sim_op op, void *p, unsigned bits, uint64_t v) {
    bl__memory *m = bl__machine_point();
    IF_EXPLORED(m) return bl__exploring.ops->rmw(bl__exploring.x, site, op, p, bits, v);
    uint64_t old = bits == 32 ? rmw32(op, (uint32_t *)p, (uint32_t)v) : rmw64(op, (uint64_t *)p, v);
    stored(m, p);
    return old;
}

bool bl__sim_cas(bl__sim_site *site, void *p, unsigned bits, uint64_t *expected, uint64_t v) {
    bl__memory *m = bl__machine_point();
    IF_EXPLORED(m) return bl__exploring.ops->cas(bl__exploring.x, site, p, bits, expected, v);
    bool swapped;
    if (bits == 32) {
        uint32_t found = (uint32_t)*expected;
        swapped = bl_cas32_relaxed((uint32_t *)p, &found, (uint32_t)v);
        *expected = found;
    } else {
        swapped = bl_cas64_relaxed((uint64_t *)p, expected, v);
    }
    if (swapped)
        stored(m, p);
    return swapped;
}

/* Not atomic towards the host, which has no business with words of this size. */
bool bl__sim_cas128(bl__sim_site *site, void *p, void *expected, const void *v) {
    bl__memory *m = bl__machine_point();
    IF_EXPLORED(m) return bl__exploring.ops->cas128(bl__exploring.x, site, p, expected, v);
    if (memcmp(p, expected, 16) != 0) {
        memcpy(expected, p, 16);
        return false;
    }
    memcpy(p, v, 16);
    stored(m, p);
    return true;
}

void bl__sim_fence(bl__sim_site *site) {
    bl__memory *m = bl__machine_point();
    IF_EXPLORED(m) bl__exploring.ops->fence(bl__exploring.x, site);
}

void bl__sim_wait(bl__sim_site *site, const void *p, unsigned bits, uint64_t seen) {
    bl__memory *m = bl__machine_point();
    IF_EXPLORED(m) bl__exploring.ops->wait(bl__exploring.x, site, p, bits, seen);
    if (!m || newest(p, bits) != seen)
        return;
    uint32_t self = bl__machine_self(), *bucket = bucket_of(m, p);
    m->sleepers[self] = (sleeper){p, bits, seen, *bucket};
    *bucket = self;
    m->asleep++;
    bl__machine_sleep();
}

void bl__sim_data(bl__sim_site *site, const void *p, uint32_t words) {
    if (bl__exploring.ops)
        bl__exploring.ops->data(bl__exploring.x, site, p, words);
}

uint32_t bl__sim_bump(bl__sim_site *site) {
    return bl__exploring.ops ? bl__exploring.ops->bump(bl__exploring.x, site) : 1;
}
