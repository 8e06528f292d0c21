/* Platform: the simulated machine. A lane is a fiber, every atomic operation is a scheduling point, and all fibers of a
 * machine share one OS thread. See platform.h for the list of operations and src/sim/sim.h for how to run a machine.
 *
 * The operations only forward. Outside of a run (a host that prepares a queue) they act at once, on a warp of one lane.
 * Between two scheduling points a lane is alone: plain accesses need no care, and only atomics, waits and meetings of
 * lanes decide who goes first.
 *
 * Without BL_TARGET_SIM this header gives the declarations alone: the inside of the machine is code of the CPU. */
#ifndef BALLAST_PLATFORM_SIM_H
#define BALLAST_PLATFORM_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BL__SIM_WARP 8u

typedef enum bl__sim_order {
    BL__SIM_RELAXED,
    BL__SIM_ACQUIRE,
    BL__SIM_RELEASE,
    BL__SIM_ACQ_REL,
    BL__SIM_SEQ_CST
} bl__sim_order;

typedef enum bl__sim_rmw_kind { BL__SIM_ADD, BL__SIM_MAX, BL__SIM_OR, BL__SIM_EXCHANGE } bl__sim_rmw_kind;

/* Memory. bits is 32 or 64; p is aligned to its size; a failed compare-and-swap has an order of its own. */
uint64_t bl__sim_load(const void *p, unsigned bits, bl__sim_order order);
void bl__sim_store(void *p, unsigned bits, uint64_t v, bl__sim_order order);
uint64_t bl__sim_rmw(bl__sim_rmw_kind kind, void *p, unsigned bits, uint64_t v, bl__sim_order order);
bool bl__sim_cas(void *p, unsigned bits, uint64_t *expected, uint64_t v, bl__sim_order order, bl__sim_order failed);
bool bl__sim_cas128(void *p, void *expected, const void *v, bl__sim_order order, bl__sim_order failed);
void bl__sim_fence(bl__sim_order order);
void bl__sim_wait(const void *p, unsigned bits, uint64_t seen);

/* Lanes. exchange: each lane of a warp gets the values of all, 0 for those that do not exist, and returns its rank. */
uint32_t bl__sim_exchange(uint32_t v, uint32_t all[BL__SIM_WARP]);
uint32_t bl__sim_warp_lane(void);
void bl__sim_block_sync(void);
void bl__sim_yield(void);
uint64_t bl__sim_clock(void);

#ifdef __cplusplus
}
#endif

#if defined(BL_TARGET_SIM)

#define BL_TARGET sim
#define BL_WARP BL__SIM_WARP
#define BL_FN static inline __attribute__((unused))
#define BL_HOST_FN static inline __attribute__((unused))
#define BL_INLINE __attribute__((always_inline))
#define BL_MAY_ALIAS __attribute__((may_alias))
#define BL_UNROLL
#define BL_ASSUME(x) ((x) ? (void)0 : __builtin_unreachable())

#define BL__ATOMIC_LOAD(bits, order, O)                                                                                \
    BL_FN uint##bits##_t bl_load##bits##_##order(const uint##bits##_t *p) {                                            \
        return (uint##bits##_t)bl__sim_load(p, bits, O);                                                               \
    }
#define BL__ATOMIC_STORE(bits, order, O)                                                                               \
    BL_FN void bl_store##bits##_##order(uint##bits##_t *p, uint##bits##_t v) { bl__sim_store(p, bits, v, O); }
#define BL__ATOMIC_RMW(bits, name, kind, order, O)                                                                     \
    BL_FN uint##bits##_t bl_##name##bits##_##order(uint##bits##_t *p, uint##bits##_t v) {                              \
        return (uint##bits##_t)bl__sim_rmw(kind, p, bits, v, O);                                                       \
    }
#define BL__ATOMIC_CAS(bits, order, O, F)                                                                              \
    BL_FN bool bl_cas##bits##_##order(uint##bits##_t *p, uint##bits##_t *expected, uint##bits##_t v) {                 \
        uint64_t found = *expected;                                                                                    \
        bool swapped = bl__sim_cas(p, bits, &found, v, O, F);                                                          \
        *expected = (uint##bits##_t)found;                                                                             \
        return swapped;                                                                                                \
    }
#define BL__ATOMICS(bits)                                                                                              \
    BL__ATOMIC_LOAD(bits, relaxed, BL__SIM_RELAXED)                                                                    \
    BL__ATOMIC_LOAD(bits, acquire, BL__SIM_ACQUIRE)                                                                    \
    BL__ATOMIC_LOAD(bits, seq_cst, BL__SIM_SEQ_CST)                                                                    \
    BL__ATOMIC_LOAD(bits, host, BL__SIM_RELAXED)                                                                       \
    BL__ATOMIC_STORE(bits, relaxed, BL__SIM_RELAXED)                                                                   \
    BL__ATOMIC_STORE(bits, release, BL__SIM_RELEASE)                                                                   \
    BL__ATOMIC_STORE(bits, seq_cst, BL__SIM_SEQ_CST)                                                                   \
    BL__ATOMIC_STORE(bits, host, BL__SIM_RELAXED)                                                                      \
    BL__ATOMIC_RMW(bits, fetch_add, BL__SIM_ADD, relaxed, BL__SIM_RELAXED)                                             \
    BL__ATOMIC_RMW(bits, fetch_add, BL__SIM_ADD, acquire, BL__SIM_ACQUIRE)                                             \
    BL__ATOMIC_RMW(bits, fetch_add, BL__SIM_ADD, release, BL__SIM_RELEASE)                                             \
    BL__ATOMIC_RMW(bits, fetch_add, BL__SIM_ADD, acq_rel, BL__SIM_ACQ_REL)                                             \
    BL__ATOMIC_RMW(bits, fetch_add, BL__SIM_ADD, seq_cst, BL__SIM_SEQ_CST)                                             \
    BL__ATOMIC_RMW(bits, fetch_max, BL__SIM_MAX, relaxed, BL__SIM_RELAXED)                                             \
    BL__ATOMIC_RMW(bits, fetch_or, BL__SIM_OR, relaxed, BL__SIM_RELAXED)                                               \
    BL__ATOMIC_RMW(bits, fetch_or, BL__SIM_OR, acq_rel, BL__SIM_ACQ_REL)                                               \
    BL__ATOMIC_RMW(bits, exchange, BL__SIM_EXCHANGE, relaxed, BL__SIM_RELAXED)                                         \
    BL__ATOMIC_RMW(bits, exchange, BL__SIM_EXCHANGE, acquire, BL__SIM_ACQUIRE)                                         \
    BL__ATOMIC_RMW(bits, exchange, BL__SIM_EXCHANGE, release, BL__SIM_RELEASE)                                         \
    BL__ATOMIC_RMW(bits, exchange, BL__SIM_EXCHANGE, acq_rel, BL__SIM_ACQ_REL)                                         \
    BL__ATOMIC_CAS(bits, relaxed, BL__SIM_RELAXED, BL__SIM_RELAXED)                                                    \
    BL__ATOMIC_CAS(bits, acquire, BL__SIM_ACQUIRE, BL__SIM_ACQUIRE)                                                    \
    BL__ATOMIC_CAS(bits, release, BL__SIM_RELEASE, BL__SIM_ACQUIRE)                                                    \
    BL__ATOMIC_CAS(bits, acq_rel, BL__SIM_ACQ_REL, BL__SIM_ACQUIRE)                                                    \
    BL__ATOMIC_CAS(bits, seq_cst, BL__SIM_SEQ_CST, BL__SIM_ACQUIRE)

BL__ATOMICS(32)
BL__ATOMICS(64)

#undef BL__ATOMICS
#undef BL__ATOMIC_CAS
#undef BL__ATOMIC_RMW
#undef BL__ATOMIC_STORE
#undef BL__ATOMIC_LOAD

BL_FN void bl_fence_acquire(void) { bl__sim_fence(BL__SIM_ACQUIRE); }
BL_FN void bl_fence_release(void) { bl__sim_fence(BL__SIM_RELEASE); }
BL_FN void bl_fence_seq_cst(void) { bl__sim_fence(BL__SIM_SEQ_CST); }

#if defined(__SIZEOF_INT128__)
#define BL_HAS_CAS128 1
__extension__ typedef unsigned __int128 bl_u128;
BL_FN bool bl_cas128_acq_rel(bl_u128 *p, bl_u128 *expected, bl_u128 v) {
    return bl__sim_cas128(p, expected, &v, BL__SIM_ACQ_REL, BL__SIM_ACQUIRE);
}
#else
#define BL_HAS_CAS128 0
#endif

BL_FN void bl_data_read(uint32_t *to, const uint32_t *from, uint32_t words) { memcpy(to, from, 4u * (size_t)words); }
BL_FN void bl_data_write(uint32_t *to, const uint32_t *from, uint32_t words) { memcpy(to, from, 4u * (size_t)words); }

BL_FN void bl_race_read(uint32_t *to, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        to[i] = bl_load32_relaxed(from + i);
}
BL_FN void bl_race_write(uint32_t *to, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        bl_store32_relaxed(to + i, from[i]);
}

BL_FN void bl_wait_change32(const uint32_t *p, uint32_t seen, uint32_t *tries) {
    ++*tries;
    bl__sim_wait(p, 32, seen);
}
BL_FN void bl_wait_change64(const uint64_t *p, uint64_t seen, uint32_t *tries) {
    ++*tries;
    bl__sim_wait(p, 64, seen);
}
BL_FN void bl_backoff(uint32_t tries) { (void)tries, bl__sim_yield(); }
BL_FN uint64_t bl_clock(void) { return bl__sim_clock(); }
BL_FN uint64_t bl_time(void) { return bl__sim_clock(); }

BL_FN uint32_t bl_warp_lane(void) { return bl__sim_warp_lane(); }
BL_FN void bl_warp_sync(void) {
    uint32_t all[BL_WARP];
    bl__sim_exchange(0, all);
}
BL_FN uint32_t bl_warp_ballot(bool flag) {
    uint32_t all[BL_WARP], votes = 0;
    bl__sim_exchange(flag ? 1u : 0u, all);
    for (uint32_t i = 0; i < BL_WARP; i++)
        votes |= all[i] << i;
    return votes;
}
BL_FN bool bl_warp_any(bool flag) { return bl_warp_ballot(flag) != 0; }
BL_FN uint32_t bl_warp_broadcast32(uint32_t v, uint32_t lane) {
    uint32_t all[BL_WARP];
    bl__sim_exchange(v, all);
    return all[lane % BL_WARP];
}
BL_FN uint32_t bl_warp_prefix_add(uint32_t v) {
    uint32_t all[BL_WARP], lane = bl__sim_exchange(v, all), sum = 0;
    for (uint32_t i = 0; i < lane; i++)
        sum += all[i];
    return sum;
}
BL_FN uint32_t bl_warp_or(uint32_t v) {
    uint32_t all[BL_WARP], bits = 0;
    bl__sim_exchange(v, all);
    for (uint32_t i = 0; i < BL_WARP; i++)
        bits |= all[i];
    return bits;
}
BL_FN void bl_block_sync(void) { bl__sim_block_sync(); }
BL_FN uint32_t bl_lane_add32(uint32_t *p, uint32_t v) {
    uint32_t old = *p;
    *p = old + v;
    return old;
}

BL_FN uint32_t bl_opaque32(uint32_t v) { return v; }
BL_FN uint32_t bl_popcount(uint32_t v) { return (uint32_t)__builtin_popcount(v); }
BL_FN uint32_t bl_lowest_bit(uint32_t v) { return (uint32_t)__builtin_ctz(v); }

#endif
#endif
