/* Platform: the simulated machine. A lane is a fiber, every atomic operation is a scheduling point, and all fibers of a
 * machine share one OS thread. See platform.h for the list of operations and src/sim/machine.h for how to run a
 * machine.
 *
 * The operations only forward. Outside of a run (a host that prepares a queue) they act at once, on a warp of one lane.
 * Between two scheduling points a lane is alone: plain accesses need no care, and only atomics, waits and meetings of
 * lanes decide which goes first.
 *
 * Operations are macros, because each hands over its site: file, line, what it is, its order. An exploration weakens
 * the order of one site at run time, and prints where things happened. Operations of one kind and order on one line are
 * one site.
 *
 * Without BL_TARGET_SIM this header gives the declarations alone: the inside of the machine is code of the CPU. */
#ifndef BL_PLATFORM_SIM_H
#define BL_PLATFORM_SIM_H

#include "../export.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BL__SIM_WARP 8u

typedef enum bl__sim_order {
    BL__SIM_RELAXED,
    BL__SIM_ACQUIRE,
    BL__SIM_RELEASE,
    BL__SIM_ACQ_REL,
    BL__SIM_SEQ_CST
} bl__sim_order;

typedef enum bl__sim_op {
    BL__SIM_LOAD,
    BL__SIM_STORE,
    BL__SIM_ADD,
    BL__SIM_MAX,
    BL__SIM_MIN,
    BL__SIM_AND,
    BL__SIM_OR,
    BL__SIM_XOR,
    BL__SIM_EXCHANGE,
    BL__SIM_CAS,
    BL__SIM_FENCE,
    BL__SIM_LIGHT,
    BL__SIM_HEAVY,
    BL__SIM_WAIT,
    BL__SIM_YIELD,
    BL__SIM_DATA_READ,
    BL__SIM_DATA_WRITE,
    BL__SIM_BUMP
} bl__sim_op;

/* Where an operation stands in the source, and what it is there. A failed compare-and-swap has an order of its own. */
typedef struct bl__sim_site {
    const char *file;
    uint32_t line;
    uint8_t op, order, failed, bits; /* bl__sim_op, bl__sim_order twice */
    uint32_t id;                     /* 0: not used by any exploration so far */
} bl__sim_site;

/* Memory. bits is 32 or 64; p is aligned to its size. */
BL_API uint64_t bl__sim_load(bl__sim_site *site, const void *p, unsigned bits);
BL_API void bl__sim_store(bl__sim_site *site, void *p, unsigned bits, uint64_t v);
BL_API uint64_t bl__sim_rmw(bl__sim_site *site, bl__sim_op op, void *p, unsigned bits, uint64_t v);
BL_API bool bl__sim_cas(bl__sim_site *site, void *p, unsigned bits, uint64_t *expected, uint64_t v);
BL_API bool bl__sim_cas128(bl__sim_site *site, void *p, void *expected, const void *v);
BL_API void bl__sim_fence(bl__sim_site *site); /* also light and heavy ones */
BL_API void bl__sim_wait(bl__sim_site *site, const void *p, unsigned bits, uint64_t seen);
BL_API void bl__sim_data(bl__sim_site *site, const void *p, uint32_t words); /* is about to be read or written */
BL_API uint32_t bl__sim_bump(bl__sim_site *site);                            /* 1, or 0 in the mutant that forgets it */

/* Lanes. exchange: each lane of a warp gets the values of all, 0 for those that do not exist; they stay until the lane
 * exchanges something else. */
BL_API const uint32_t *bl__sim_exchange(uint32_t v);
BL_API uint32_t bl__sim_warp_lane(void);
BL_API void bl__sim_block_sync(void);
BL_API void bl__sim_yield(bl__sim_site *site, uint32_t tries);
BL_API void bl__sim_spend(uint64_t ticks);
BL_API uint64_t bl__sim_clock(void);

#if defined(BL_TARGET_SIM)

#define BL_TARGET sim
#define BL_PIECE_TICKS 16u /* steps */
#define BL_LONG_TICKS 256u
#define BL_WARP BL__SIM_WARP
#define BL_CROWD 4u
#define BL_LOOK_TICKS 16u
#define BL_SPREAD_TICKS 1000u
#define BL_FN static inline __attribute__((unused))
#define BL_HOT_FN BL_FN
#define BL_CALLED_FN static __attribute__((noinline, unused))
#define BL_LOOP_FN BL_CALLED_FN
#define BL_COLD_FN static __attribute__((noinline, cold, unused))
#define BL_HOST_FN static inline __attribute__((unused))
#define BL_INLINE __attribute__((always_inline))
#define BL_MAY_ALIAS __attribute__((may_alias))
#define BL_UNROLL
#define BL_ROLLED
#define BL_OVERLAP
#define BL_ASSUME(x) ((x) ? (void)0 : __builtin_unreachable())

/* f(&site, ...), with a site for this line. */
#define BL__SIM_AT(f, op, bits, order, failed, ...)                                                                    \
    __extension__({                                                                                                    \
        static bl__sim_site bl__here = {__FILE__, __LINE__, op, order, failed, bits, 0};                               \
        f(&bl__here, __VA_ARGS__);                                                                                     \
    })

#define BL__ATOMICS(bits)                                                                                              \
    BL_FN uint##bits##_t bl__sim_load##bits(bl__sim_site *site, const uint##bits##_t *p) {                             \
        return (uint##bits##_t)bl__sim_load(site, p, bits);                                                            \
    }                                                                                                                  \
    BL_FN void bl__sim_store##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {                          \
        bl__sim_store(site, p, bits, v);                                                                               \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl__sim_add##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {                  \
        return (uint##bits##_t)bl__sim_rmw(site, BL__SIM_ADD, p, bits, v);                                             \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl__sim_max##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {                  \
        return (uint##bits##_t)bl__sim_rmw(site, BL__SIM_MAX, p, bits, v);                                             \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl__sim_min##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {                  \
        return (uint##bits##_t)bl__sim_rmw(site, BL__SIM_MIN, p, bits, v);                                             \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl__sim_and##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {                  \
        return (uint##bits##_t)bl__sim_rmw(site, BL__SIM_AND, p, bits, v);                                             \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl__sim_xor##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {                  \
        return (uint##bits##_t)bl__sim_rmw(site, BL__SIM_XOR, p, bits, v);                                             \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl__sim_or##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {                   \
        return (uint##bits##_t)bl__sim_rmw(site, BL__SIM_OR, p, bits, v);                                              \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl__sim_exchange##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t v) {             \
        return (uint##bits##_t)bl__sim_rmw(site, BL__SIM_EXCHANGE, p, bits, v);                                        \
    }                                                                                                                  \
    BL_FN bool bl__sim_cas##bits(bl__sim_site *site, uint##bits##_t *p, uint##bits##_t *expected, uint##bits##_t v) {  \
        uint64_t found = *expected;                                                                                    \
        bool swapped = bl__sim_cas(site, p, bits, &found, v);                                                          \
        *expected = (uint##bits##_t)found;                                                                             \
        return swapped;                                                                                                \
    }
BL__ATOMICS(32)
BL__ATOMICS(64)
#undef BL__ATOMICS

#define BL__SIM_DO(name, bits, op, order, ...)                                                                         \
    BL__SIM_AT(bl__sim_##name##bits, BL__SIM_##op, bits, BL__SIM_##order, BL__SIM_RELAXED, __VA_ARGS__)
#define BL__SIM_DO_CAS(bits, order, failed, ...)                                                                       \
    BL__SIM_AT(bl__sim_cas##bits, BL__SIM_CAS, bits, BL__SIM_##order, BL__SIM_##failed, __VA_ARGS__)

#define bl_load32_relaxed(...) BL__SIM_DO(load, 32, LOAD, RELAXED, __VA_ARGS__)
#define bl_load32_acquire(...) BL__SIM_DO(load, 32, LOAD, ACQUIRE, __VA_ARGS__)
#define bl_load32_seq_cst(...) BL__SIM_DO(load, 32, LOAD, SEQ_CST, __VA_ARGS__)
#define bl_load32_first_seq_cst(...) BL__SIM_DO(load, 32, LOAD, SEQ_CST, __VA_ARGS__)
#define bl_load32_host(...) BL__SIM_DO(load, 32, LOAD, RELAXED, __VA_ARGS__)
#define bl_load32_host_acquire(...) BL__SIM_DO(load, 32, LOAD, ACQUIRE, __VA_ARGS__)
#define bl_store32_relaxed(...) BL__SIM_DO(store, 32, STORE, RELAXED, __VA_ARGS__)
#define bl_store32_release(...) BL__SIM_DO(store, 32, STORE, RELEASE, __VA_ARGS__)
#define bl_store32_seq_cst(...) BL__SIM_DO(store, 32, STORE, SEQ_CST, __VA_ARGS__)
#define bl_store32_first_seq_cst(...) BL__SIM_DO(store, 32, STORE, SEQ_CST, __VA_ARGS__)
#define bl_store32_host(...) BL__SIM_DO(store, 32, STORE, RELAXED, __VA_ARGS__)
#define bl_store32_host_release(...) BL__SIM_DO(store, 32, STORE, RELEASE, __VA_ARGS__)
#define bl_fetch_add32_relaxed(...) BL__SIM_DO(add, 32, ADD, RELAXED, __VA_ARGS__)
#define bl_fetch_add32_acquire(...) BL__SIM_DO(add, 32, ADD, ACQUIRE, __VA_ARGS__)
#define bl_fetch_add32_release(...) BL__SIM_DO(add, 32, ADD, RELEASE, __VA_ARGS__)
#define bl_fetch_add32_acq_rel(...) BL__SIM_DO(add, 32, ADD, ACQ_REL, __VA_ARGS__)
#define bl_fetch_add32_seq_cst(...) BL__SIM_DO(add, 32, ADD, SEQ_CST, __VA_ARGS__)
#define bl_fetch_max32_relaxed(...) BL__SIM_DO(max, 32, MAX, RELAXED, __VA_ARGS__)
#define bl_fetch_min32_relaxed(...) BL__SIM_DO(min, 32, MIN, RELAXED, __VA_ARGS__)
#define bl_fetch_and32_relaxed(...) BL__SIM_DO(and, 32, AND, RELAXED, __VA_ARGS__)
#define bl_fetch_xor32_relaxed(...) BL__SIM_DO(xor, 32, XOR, RELAXED, __VA_ARGS__)
#define bl_fetch_or32_relaxed(...) BL__SIM_DO(or, 32, OR, RELAXED, __VA_ARGS__)
#define bl_fetch_or32_acq_rel(...) BL__SIM_DO(or, 32, OR, ACQ_REL, __VA_ARGS__)
#define bl_exchange32_relaxed(...) BL__SIM_DO(exchange, 32, EXCHANGE, RELAXED, __VA_ARGS__)
#define bl_exchange32_acquire(...) BL__SIM_DO(exchange, 32, EXCHANGE, ACQUIRE, __VA_ARGS__)
#define bl_exchange32_release(...) BL__SIM_DO(exchange, 32, EXCHANGE, RELEASE, __VA_ARGS__)
#define bl_exchange32_acq_rel(...) BL__SIM_DO(exchange, 32, EXCHANGE, ACQ_REL, __VA_ARGS__)
#define bl_cas32_relaxed(...) BL__SIM_DO_CAS(32, RELAXED, RELAXED, __VA_ARGS__)
#define bl_cas32_acquire(...) BL__SIM_DO_CAS(32, ACQUIRE, ACQUIRE, __VA_ARGS__)
#define bl_cas32_release(...) BL__SIM_DO_CAS(32, RELEASE, ACQUIRE, __VA_ARGS__)
#define bl_cas32_acq_rel(...) BL__SIM_DO_CAS(32, ACQ_REL, ACQUIRE, __VA_ARGS__)
#define bl_cas32_seq_cst(...) BL__SIM_DO_CAS(32, SEQ_CST, ACQUIRE, __VA_ARGS__)
#define bl_cas32_first_seq_cst(...) BL__SIM_DO_CAS(32, SEQ_CST, ACQUIRE, __VA_ARGS__)

#define bl_load64_relaxed(...) BL__SIM_DO(load, 64, LOAD, RELAXED, __VA_ARGS__)
#define bl_load64_acquire(...) BL__SIM_DO(load, 64, LOAD, ACQUIRE, __VA_ARGS__)
#define bl_load64_seq_cst(...) BL__SIM_DO(load, 64, LOAD, SEQ_CST, __VA_ARGS__)
#define bl_load64_first_seq_cst(...) BL__SIM_DO(load, 64, LOAD, SEQ_CST, __VA_ARGS__)
#define bl_load64_host(...) BL__SIM_DO(load, 64, LOAD, RELAXED, __VA_ARGS__)
#define bl_load64_host_acquire(...) BL__SIM_DO(load, 64, LOAD, ACQUIRE, __VA_ARGS__)
#define bl_store64_relaxed(...) BL__SIM_DO(store, 64, STORE, RELAXED, __VA_ARGS__)
#define bl_store64_release(...) BL__SIM_DO(store, 64, STORE, RELEASE, __VA_ARGS__)
#define bl_store64_seq_cst(...) BL__SIM_DO(store, 64, STORE, SEQ_CST, __VA_ARGS__)
#define bl_store64_first_seq_cst(...) BL__SIM_DO(store, 64, STORE, SEQ_CST, __VA_ARGS__)
#define bl_store64_host(...) BL__SIM_DO(store, 64, STORE, RELAXED, __VA_ARGS__)
#define bl_store64_host_release(...) BL__SIM_DO(store, 64, STORE, RELEASE, __VA_ARGS__)
#define bl_fetch_add64_relaxed(...) BL__SIM_DO(add, 64, ADD, RELAXED, __VA_ARGS__)
#define bl_fetch_add64_acquire(...) BL__SIM_DO(add, 64, ADD, ACQUIRE, __VA_ARGS__)
#define bl_fetch_add64_release(...) BL__SIM_DO(add, 64, ADD, RELEASE, __VA_ARGS__)
#define bl_fetch_add64_acq_rel(...) BL__SIM_DO(add, 64, ADD, ACQ_REL, __VA_ARGS__)
#define bl_fetch_add64_seq_cst(...) BL__SIM_DO(add, 64, ADD, SEQ_CST, __VA_ARGS__)
#define bl_fetch_max64_relaxed(...) BL__SIM_DO(max, 64, MAX, RELAXED, __VA_ARGS__)
#define bl_fetch_min64_relaxed(...) BL__SIM_DO(min, 64, MIN, RELAXED, __VA_ARGS__)
#define bl_fetch_and64_relaxed(...) BL__SIM_DO(and, 64, AND, RELAXED, __VA_ARGS__)
#define bl_fetch_xor64_relaxed(...) BL__SIM_DO(xor, 64, XOR, RELAXED, __VA_ARGS__)
#define bl_fetch_or64_relaxed(...) BL__SIM_DO(or, 64, OR, RELAXED, __VA_ARGS__)
#define bl_fetch_or64_acq_rel(...) BL__SIM_DO(or, 64, OR, ACQ_REL, __VA_ARGS__)
#define bl_exchange64_relaxed(...) BL__SIM_DO(exchange, 64, EXCHANGE, RELAXED, __VA_ARGS__)
#define bl_exchange64_acquire(...) BL__SIM_DO(exchange, 64, EXCHANGE, ACQUIRE, __VA_ARGS__)
#define bl_exchange64_release(...) BL__SIM_DO(exchange, 64, EXCHANGE, RELEASE, __VA_ARGS__)
#define bl_exchange64_acq_rel(...) BL__SIM_DO(exchange, 64, EXCHANGE, ACQ_REL, __VA_ARGS__)
#define bl_cas64_relaxed(...) BL__SIM_DO_CAS(64, RELAXED, RELAXED, __VA_ARGS__)
#define bl_cas64_acquire(...) BL__SIM_DO_CAS(64, ACQUIRE, ACQUIRE, __VA_ARGS__)
#define bl_cas64_release(...) BL__SIM_DO_CAS(64, RELEASE, ACQUIRE, __VA_ARGS__)
#define bl_cas64_acq_rel(...) BL__SIM_DO_CAS(64, ACQ_REL, ACQUIRE, __VA_ARGS__)
#define bl_cas64_seq_cst(...) BL__SIM_DO_CAS(64, SEQ_CST, ACQUIRE, __VA_ARGS__)
#define bl_cas64_first_seq_cst(...) BL__SIM_DO_CAS(64, SEQ_CST, ACQUIRE, __VA_ARGS__)

BL_FN void bl__sim_fence_at(bl__sim_site *site, int unused) { (void)unused, bl__sim_fence(site); }
#define BL__SIM_DO_FENCE(op, order) BL__SIM_AT(bl__sim_fence_at, BL__SIM_##op, 0, BL__SIM_##order, BL__SIM_RELAXED, 0)
#define bl_fence_acquire() BL__SIM_DO_FENCE(FENCE, ACQUIRE)
#define bl_fence_release() BL__SIM_DO_FENCE(FENCE, RELEASE)
#define bl_fence_seq_cst() BL__SIM_DO_FENCE(FENCE, SEQ_CST)
#define bl_fence_light() BL__SIM_DO_FENCE(LIGHT, SEQ_CST)
BL_FN bool bl__sim_fence_heavy_at(bl__sim_site *site, int unused) { return (void)unused, bl__sim_fence(site), true; }
#define bl_fence_heavy() BL__SIM_AT(bl__sim_fence_heavy_at, BL__SIM_HEAVY, 0, BL__SIM_SEQ_CST, BL__SIM_RELAXED, 0)

#define bl_store32_release_light(p, v, alone) ((void)(alone), bl_store32_release(p, v))

#if defined(__SIZEOF_INT128__)
#define BL_HAS_CAS128 1
__extension__ typedef unsigned __int128 bl_u128;
BL_FN bool bl__sim_cas_wide(bl__sim_site *site, bl_u128 *p, bl_u128 *expected, bl_u128 v) {
    return bl__sim_cas128(site, p, expected, &v);
}
#define bl_cas128_acq_rel(...)                                                                                         \
    BL__SIM_AT(bl__sim_cas_wide, BL__SIM_CAS, 128, BL__SIM_ACQ_REL, BL__SIM_ACQUIRE, __VA_ARGS__)
#else
#define BL_HAS_CAS128 0
#endif

BL_FN void bl__sim_data_read(bl__sim_site *site, uint32_t *to, const uint32_t *from, uint32_t words) {
    bl__sim_data(site, from, words);
    memcpy(to, from, 4u * (size_t)words);
}
BL_FN void bl__sim_data_write(bl__sim_site *site, uint32_t *to, const uint32_t *from, uint32_t words) {
    bl__sim_data(site, to, words);
    memcpy(to, from, 4u * (size_t)words);
}
#define bl_data_read(...)                                                                                              \
    BL__SIM_AT(bl__sim_data_read, BL__SIM_DATA_READ, 32, BL__SIM_RELAXED, BL__SIM_RELAXED, __VA_ARGS__)
#define bl_data_write(...)                                                                                             \
    BL__SIM_AT(bl__sim_data_write, BL__SIM_DATA_WRITE, 32, BL__SIM_RELAXED, BL__SIM_RELAXED, __VA_ARGS__)

BL_FN void bl__sim_race_read(bl__sim_site *site, uint32_t *to, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        to[i] = bl__sim_load32(site, from + i);
}
BL_FN void bl__sim_race_write(bl__sim_site *site, uint32_t *to, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        bl__sim_store32(site, to + i, from[i]);
}
#define bl_race_read(...) BL__SIM_AT(bl__sim_race_read, BL__SIM_LOAD, 32, BL__SIM_RELAXED, BL__SIM_RELAXED, __VA_ARGS__)
#define bl_race_write(...)                                                                                             \
    BL__SIM_AT(bl__sim_race_write, BL__SIM_STORE, 32, BL__SIM_RELAXED, BL__SIM_RELAXED, __VA_ARGS__)

/* x + 1, for counters and tags that tell one use of a word from the next. */
BL_FN uint32_t bl__sim_bump_at(bl__sim_site *site, int unused) { return (void)unused, bl__sim_bump(site); }
#define bl_bump(x) ((x) + BL__SIM_AT(bl__sim_bump_at, BL__SIM_BUMP, 0, BL__SIM_RELAXED, BL__SIM_RELAXED, 0))

BL_FN void bl__sim_wait32(bl__sim_site *site, const uint32_t *p, uint32_t seen, uint32_t *tries) {
    ++*tries;
    bl__sim_wait(site, p, 32, seen);
}
BL_FN void bl__sim_wait64(bl__sim_site *site, const uint64_t *p, uint64_t seen, uint32_t *tries) {
    ++*tries;
    bl__sim_wait(site, p, 64, seen);
}
#define bl_wait_change32(...) BL__SIM_DO(wait, 32, WAIT, RELAXED, __VA_ARGS__)
#define bl_wait_change64(...) BL__SIM_DO(wait, 64, WAIT, RELAXED, __VA_ARGS__)
#define bl_backoff(...) BL__SIM_AT(bl__sim_yield, BL__SIM_YIELD, 0, BL__SIM_RELAXED, BL__SIM_RELAXED, __VA_ARGS__)

BL_FN uint64_t bl_clock(void) { return bl__sim_clock(); }
BL_FN uint32_t bl_clock32(void) { return (uint32_t)bl__sim_clock(); }
BL_FN uint64_t bl_time(void) { return bl__sim_clock(); }
BL_FN void bl_spend(uint64_t ticks) { bl__sim_spend(ticks); }

BL_FN uint32_t bl_warp_lane(void) { return bl__sim_warp_lane(); }
BL_FN void bl_warp_sync(void) { bl__sim_exchange(0); }
BL_FN uint32_t bl_warp_ballot(bool flag) {
    const uint32_t *all = bl__sim_exchange(flag ? 1u : 0u);
    uint32_t votes = 0;
    for (uint32_t i = 0; i < BL_WARP; i++)
        votes |= all[i] << i;
    return votes;
}
BL_FN bool bl_warp_any(bool flag) { return bl_warp_ballot(flag) != 0; }
BL_FN uint32_t bl_warp_broadcast32(uint32_t v, uint32_t lane) { return bl__sim_exchange(v)[lane % BL_WARP]; }
BL_FN uint32_t bl_warp_prefix_add(uint32_t v) {
    const uint32_t *all = bl__sim_exchange(v), lane = bl__sim_warp_lane();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < lane; i++)
        sum += all[i];
    return sum;
}
BL_FN uint32_t bl_warp_prefix_add_small(uint32_t v) { return bl_warp_prefix_add(v); }
BL_FN uint32_t bl_warp_add(uint32_t v) {
    const uint32_t *all = bl__sim_exchange(v);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < BL_WARP; i++)
        sum += all[i];
    return sum;
}
BL_FN uint32_t bl_warp_or(uint32_t v) {
    const uint32_t *all = bl__sim_exchange(v);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < BL_WARP; i++)
        bits |= all[i];
    return bits;
}
/* It does not know which lanes are here. */
BL_FN uint64_t bl_warp_collect_add64(const void *to, uint64_t v) { return (void)to, v; }
BL_FN uint64_t bl_warp_collect_max64(const void *to, uint64_t v) { return (void)to, v; }
BL_FN void bl_block_sync(void) { bl__sim_block_sync(); }
BL_FN void bl_copy16_begin(void *to, const void *from) { __builtin_memcpy(to, from, 16); }
BL_FN void bl_copy16_wait(void) {}
BL_FN void bl_prefetch_write(const void *p) { (void)p; }
BL_FN uint32_t bl_lane_add32(uint32_t *p, uint32_t v) {
    uint32_t old = *p;
    *p = old + v;
    return old;
}

BL_FN uint32_t bl_add_apart32(uint32_t a, uint32_t b) { return a + b; }
BL_FN uint32_t bl_opaque32(uint32_t v) { return v; }
BL_FN uint32_t bl_processor(void) { return 0; }
BL_FN uint32_t bl_processors(void) { return 1; }
BL_FN uint32_t bl_popcount(uint32_t v) { return (uint32_t)__builtin_popcount(v); }
BL_FN uint32_t bl_lowest_bit(uint32_t v) { return (uint32_t)__builtin_ctz(v); }

#endif
#endif
