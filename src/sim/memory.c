/* The memory of the simulated machine, sequentially consistent: a load returns the newest store, whatever its order.
 * Here platform operations arrive; those of an exploration are passed on to it (exploring.h).
 *
 * The words lie where the program has them, and are accessed with the CPU's atomics because a host thread may look at
 * them during a run. Through those that are not relaxed it may also hand something over. */
#include "exploring.h"
#include "machine.h"
#include "sleepers.h"

static void stored(bl__sleepers *s, const void *p) {
    if (s && s->count)
        bl__machine_wake(bl__sleepers_changed(s, p));
}

/* A run from a seed is looked for first, so that explorations cost it nothing. */
#define IF_EXPLORED(s) if (!(s) && bl__exploring.ops)

uint64_t bl__sim_load(bl__sim_site *site, const void *p, unsigned bits) {
    bl__sleepers *s = bl__machine_point();
    IF_EXPLORED(s) return bl__exploring.ops->load(bl__exploring.x, site, p, bits);
    return bits == 32 ? bl_load32_acquire((const uint32_t *)p) : bl_load64_acquire((const uint64_t *)p);
}

void bl__sim_store(bl__sim_site *site, void *p, unsigned bits, uint64_t v) {
    bl__sleepers *s = bl__machine_point();
    IF_EXPLORED(s) {
        bl__exploring.ops->store(bl__exploring.x, site, p, bits, v);
        return;
    }
    if (bits == 32)
        bl_store32_release((uint32_t *)p, (uint32_t)v);
    else
        bl_store64_release((uint64_t *)p, v);
    stored(s, p);
}

static uint32_t rmw32(bl__sim_op op, uint32_t *p, uint32_t v) {
    switch (op) {
    case BL__SIM_ADD:
        return bl_fetch_add32_relaxed(p, v);
    case BL__SIM_MAX:
        return bl_fetch_max32_relaxed(p, v);
    case BL__SIM_MIN:
        return bl_fetch_min32_relaxed(p, v);
    case BL__SIM_AND:
        return bl_fetch_and32_relaxed(p, v);
    case BL__SIM_OR:
        return bl_fetch_or32_relaxed(p, v);
    case BL__SIM_XOR:
        return bl_fetch_xor32_relaxed(p, v);
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
    case BL__SIM_MIN:
        return bl_fetch_min64_relaxed(p, v);
    case BL__SIM_AND:
        return bl_fetch_and64_relaxed(p, v);
    case BL__SIM_OR:
        return bl_fetch_or64_relaxed(p, v);
    case BL__SIM_XOR:
        return bl_fetch_xor64_relaxed(p, v);
    default:
        return bl_exchange64_relaxed(p, v);
    }
}

uint64_t bl__sim_rmw(bl__sim_site *site, bl__sim_op op, void *p, unsigned bits, uint64_t v) {
    bl__sleepers *s = bl__machine_point();
    IF_EXPLORED(s) return bl__exploring.ops->rmw(bl__exploring.x, site, op, p, bits, v);
    uint64_t old = bits == 32 ? rmw32(op, (uint32_t *)p, (uint32_t)v) : rmw64(op, (uint64_t *)p, v);
    stored(s, p);
    return old;
}

bool bl__sim_cas(bl__sim_site *site, void *p, unsigned bits, uint64_t *expected, uint64_t v) {
    bl__sleepers *s = bl__machine_point();
    IF_EXPLORED(s) return bl__exploring.ops->cas(bl__exploring.x, site, p, bits, expected, v);
    bool swapped;
    if (bits == 32) {
        uint32_t found = (uint32_t)*expected;
        swapped = bl_cas32_relaxed((uint32_t *)p, &found, (uint32_t)v);
        *expected = found;
    } else {
        swapped = bl_cas64_relaxed((uint64_t *)p, expected, v);
    }
    if (swapped)
        stored(s, p);
    return swapped;
}

/* Not atomic towards the host, which has no business with words of this size. */
bool bl__sim_cas128(bl__sim_site *site, void *p, void *expected, const void *v) {
    bl__sleepers *s = bl__machine_point();
    IF_EXPLORED(s) return bl__exploring.ops->cas128(bl__exploring.x, site, p, expected, v);
    if (memcmp(p, expected, 16) != 0) {
        memcpy(expected, p, 16);
        return false;
    }
    memcpy(p, v, 16);
    stored(s, p);
    return true;
}

void bl__sim_fence(bl__sim_site *site) {
    bl__sleepers *s = bl__machine_point();
    IF_EXPLORED(s) bl__exploring.ops->fence(bl__exploring.x, site);
}

void bl__sim_wait(bl__sim_site *site, const void *p, unsigned bits, uint64_t seen) {
    bl__sleepers *s = bl__machine_point();
    IF_EXPLORED(s) bl__exploring.ops->wait(bl__exploring.x, site, p, bits, seen);
    if (!s || bl__word_now(p, bits) != seen)
        return;
    bl__sleepers_add(s, bl__machine_self(), p, bits, seen);
    bl__machine_sleep();
}

void bl__sim_data(bl__sim_site *site, const void *p, uint32_t words) {
    if (bl__exploring.ops)
        bl__exploring.ops->data(bl__exploring.x, site, p, words);
}

uint32_t bl__sim_bump(bl__sim_site *site) {
    return bl__exploring.ops ? bl__exploring.ops->bump(bl__exploring.x, site) : 1;
}
