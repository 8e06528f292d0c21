/* Platform: POSIX threads on a CPU. A worker is a thread and has one lane. See platform.h for the list of
 * operations. */
#ifndef BL_PLATFORM_CPU_H
#define BL_PLATFORM_CPU_H

#include "../export.h"
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* clock_gettime, which -std=c11 hides in time.h: under our own name, so that a user may have another of that name. */
#ifdef CLOCK_MONOTONIC
#define BL__MONOTONIC CLOCK_MONOTONIC
#define bl__clock_gettime clock_gettime
#else
#define BL__MONOTONIC 1
extern int bl__clock_gettime(int clock, struct timespec *time) __asm__("clock_gettime");
#endif

#define BL_TARGET cpu
#define BL_PIECE_TICKS 8000u /* nanoseconds */
#define BL_LONG_TICKS 20000u
#define BL_WARP 1u
#define BL_CAN_SLEEP 1
#define BL_FN static inline __attribute__((unused))
#define BL_HOT_FN static inline __attribute__((always_inline))
#define BL_CALLED_FN static __attribute__((noinline, unused))
#define BL_LOOP_FN static __attribute__((noinline, unused, aligned(64))) /* its speed depends on where it lies */
#define BL_COLD_FN static __attribute__((noinline, cold, unused))
#define BL_HOST_FN static inline __attribute__((unused))
#define BL_INLINE __attribute__((always_inline))
#define BL_MAY_ALIAS __attribute__((may_alias))
#define BL_UNROLL
#define BL_ROLLED
#define BL_OVERLAP
#define BL_RARELY(x) __builtin_expect(!!(x), 0)
#define BL_ASSUME(x) ((x) ? (void)0 : __builtin_unreachable())

#if defined(__SANITIZE_THREAD__)
#define BL__THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BL__THREAD_SANITIZER 1
#endif
#endif

#define BL__ATOMIC_LOAD(bits, order, O)                                                                                \
    BL_FN uint##bits##_t bl_load##bits##_##order(const uint##bits##_t *p) { return __atomic_load_n(p, O); }
#define BL__ATOMIC_STORE(bits, order, O)                                                                               \
    BL_FN void bl_store##bits##_##order(uint##bits##_t *p, uint##bits##_t v) { __atomic_store_n(p, v, O); }
#define BL__ATOMIC_RMW(bits, name, builtin, order, O)                                                                  \
    BL_FN uint##bits##_t bl_##name##bits##_##order(uint##bits##_t *p, uint##bits##_t v) { return builtin(p, v, O); }
#define BL__ATOMIC_CAS(bits, order, O, F)                                                                              \
    BL_FN bool bl_cas##bits##_##order(uint##bits##_t *p, uint##bits##_t *expected, uint##bits##_t v) {                 \
        return __atomic_compare_exchange_n(p, expected, v, 0, O, F);                                                   \
    }
#define BL__ATOMICS(bits)                                                                                              \
    BL__ATOMIC_LOAD(bits, relaxed, __ATOMIC_RELAXED)                                                                   \
    BL__ATOMIC_LOAD(bits, acquire, __ATOMIC_ACQUIRE)                                                                   \
    BL__ATOMIC_LOAD(bits, seq_cst, __ATOMIC_SEQ_CST)                                                                   \
    BL__ATOMIC_LOAD(bits, first_seq_cst, __ATOMIC_SEQ_CST)                                                             \
    BL__ATOMIC_LOAD(bits, host, __ATOMIC_RELAXED)                                                                      \
    BL__ATOMIC_LOAD(bits, host_acquire, __ATOMIC_ACQUIRE)                                                              \
    BL__ATOMIC_STORE(bits, relaxed, __ATOMIC_RELAXED)                                                                  \
    BL__ATOMIC_STORE(bits, release, __ATOMIC_RELEASE)                                                                  \
    BL__ATOMIC_STORE(bits, seq_cst, __ATOMIC_SEQ_CST)                                                                  \
    BL__ATOMIC_STORE(bits, first_seq_cst, __ATOMIC_SEQ_CST)                                                            \
    BL__ATOMIC_STORE(bits, host, __ATOMIC_RELAXED)                                                                     \
    BL__ATOMIC_STORE(bits, host_release, __ATOMIC_RELEASE)                                                             \
    BL__ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add, relaxed, __ATOMIC_RELAXED)                                     \
    BL__ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add, acquire, __ATOMIC_ACQUIRE)                                     \
    BL__ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add, release, __ATOMIC_RELEASE)                                     \
    BL__ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add, acq_rel, __ATOMIC_ACQ_REL)                                     \
    BL__ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add, seq_cst, __ATOMIC_SEQ_CST)                                     \
    BL__ATOMIC_RMW(bits, fetch_or, __atomic_fetch_or, relaxed, __ATOMIC_RELAXED)                                       \
    BL__ATOMIC_RMW(bits, fetch_or, __atomic_fetch_or, acq_rel, __ATOMIC_ACQ_REL)                                       \
    BL__ATOMIC_RMW(bits, fetch_and, __atomic_fetch_and, relaxed, __ATOMIC_RELAXED)                                     \
    BL__ATOMIC_RMW(bits, fetch_xor, __atomic_fetch_xor, relaxed, __ATOMIC_RELAXED)                                     \
    BL__ATOMIC_RMW(bits, exchange, __atomic_exchange_n, relaxed, __ATOMIC_RELAXED)                                     \
    BL__ATOMIC_RMW(bits, exchange, __atomic_exchange_n, acquire, __ATOMIC_ACQUIRE)                                     \
    BL__ATOMIC_RMW(bits, exchange, __atomic_exchange_n, release, __ATOMIC_RELEASE)                                     \
    BL__ATOMIC_RMW(bits, exchange, __atomic_exchange_n, acq_rel, __ATOMIC_ACQ_REL)                                     \
    BL__ATOMIC_CAS(bits, relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED)                                                  \
    BL__ATOMIC_CAS(bits, acquire, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)                                                  \
    BL__ATOMIC_CAS(bits, release, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)                                                  \
    BL__ATOMIC_CAS(bits, acq_rel, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)                                                  \
    BL__ATOMIC_CAS(bits, seq_cst, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)                                                  \
    BL__ATOMIC_CAS(bits, first_seq_cst, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)                                            \
    BL_FN uint##bits##_t bl_fetch_max##bits##_relaxed(uint##bits##_t *p, uint##bits##_t v) {                           \
        uint##bits##_t old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                     \
        while (old < v && !__atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))             \
            ;                                                                                                          \
        return old;                                                                                                    \
    }                                                                                                                  \
    BL_FN uint##bits##_t bl_fetch_min##bits##_relaxed(uint##bits##_t *p, uint##bits##_t v) {                           \
        uint##bits##_t old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                     \
        while (v < old && !__atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))             \
            ;                                                                                                          \
        return old;                                                                                                    \
    }

BL__ATOMICS(32)
BL__ATOMICS(64)

#undef BL__ATOMICS
#undef BL__ATOMIC_CAS
#undef BL__ATOMIC_RMW
#undef BL__ATOMIC_STORE
#undef BL__ATOMIC_LOAD

/* For floats.h: floats as they are, because a compiler may take it that a word is no float. */
#define BL__FLOAT_LOAD(bits, p, is) __atomic_load(p, is, __ATOMIC_RELAXED)
#define BL__FLOAT_CAS(bits, p, is, next) __atomic_compare_exchange(p, is, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define BL__FLOAT_EXCHANGE(bits, p, v, old) __atomic_exchange(p, v, old, __ATOMIC_RELAXED)

/* gcc for ARM computes the address of every atomic word into a register of its own, even of a relaxed one: in the
 * worker loop that is six registers too many. A volatile access is the same instruction, with an offset. */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && !defined(BL__THREAD_SANITIZER)
#define bl_peek32(p) (*(const volatile uint32_t *)(p))
#define bl_peek64(p) (*(const volatile uint64_t *)(p))
#define bl_poke32(p, v) ((void)(*(volatile uint32_t *)(p) = (v)))
#else
#define bl_peek32 bl_load32_relaxed
#define bl_peek64 bl_load64_relaxed
#define bl_poke32 bl_store32_relaxed
#endif

BL_FN void bl_fence_acquire(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
BL_FN void bl_fence_release(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }
BL_FN void bl_fence_seq_cst(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* The heavy fence is the system's (membarrier, src/platform/fence.c): it makes every running thread of the process
 * pass a full fence. So the light one need only keep the compiler from moving accesses across it. */
BL_API bool bl__fence_all_threads(void);
BL_FN void bl_fence_light(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
BL_FN bool bl_fence_heavy(void) { return bl__fence_all_threads(); }
/* A reader has seen the word before it passes the heavy fence. So the fence that it makes this thread pass comes
 * after the store, and after all writes before the store: the compiler must keep their order, the processor need
 * not. On ARM a release store, once per task, makes a loop that streams through memory take 1.6 times as long.
 * ThreadSanitizer does not know of membarrier. */
#if defined(__x86_64__) || defined(__i386__) || defined(BL__THREAD_SANITIZER)
#define BL__RELEASES_ALWAYS 1
#endif
BL_HOT_FN void bl_store32_release_light(uint32_t *p, uint32_t v, bool alone) {
#ifdef BL__RELEASES_ALWAYS
    (void)alone;
    bl_store32_release(p, v);
#else
    if (BL_RARELY(alone)) {
        bl_store32_release(p, v);
    } else {
        __atomic_signal_fence(__ATOMIC_RELEASE);
        bl_poke32(p, v);
    }
#endif
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BL_HAS_PAIRS 1
BL_HOT_FN void bl_pair_store(uint32_t *p, uint32_t a, uint32_t b) {
    uint64_t both = (uint64_t)b << 32 | a;
    memcpy(p, &both, sizeof both);
}
BL_HOT_FN bool bl_pair_is(const uint32_t *p, uint32_t a, uint32_t b) {
    uint64_t both;
    memcpy(&both, p, sizeof both);
    return both == ((uint64_t)b << 32 | a);
}
BL_HOT_FN void bl_pair_load(const uint32_t *p, uint32_t *a, uint32_t *b) {
    uint64_t both;
    memcpy(&both, p, sizeof both);
    *a = (uint32_t)both;
    *b = (uint32_t)(both >> 32);
}
#endif

#if defined(__SIZEOF_INT128__) && (defined(__x86_64__) || defined(__aarch64__))
#define BL_HAS_CAS128 1
__extension__ typedef unsigned __int128 bl_u128;
BL_FN bool bl_cas128_acq_rel(bl_u128 *p, bl_u128 *expected, bl_u128 v) {
#if defined(__x86_64__) /* gcc has it only with -mcx16, which users of a header would have to know */
    uint64_t low = (uint64_t)*expected, high = (uint64_t)(*expected >> 64);
    bool swapped;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(swapped), "+m"(*p), "+a"(low), "+d"(high)
                     : "b"((uint64_t)v), "c"((uint64_t)(v >> 64))
                     : "memory");
    *expected = (bl_u128)high << 64 | low;
#else /* __sync and not __atomic: gcc turns the latter into calls of libatomic, which may take a lock */
    bl_u128 found = __sync_val_compare_and_swap(p, *expected, v);
    bool swapped = found == *expected;
    *expected = found;
#endif
    return swapped;
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

BL_FN void bl__cpu_relax(void) {
#if defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* a few tens of cycles; `yield` is a no-op on most cores */
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* With more threads than cores the thread we wait for may not be running: after a short spin, yield the core. */
BL_FN void bl_backoff(uint32_t tries) {
    if (tries < 16)
        bl__cpu_relax();
    else
        sched_yield();
}

BL_FN void bl_wait_change32(const uint32_t *p, uint32_t seen, uint32_t *tries) {
    if (bl_load32_relaxed(p) == seen)
        bl_backoff((*tries)++);
}
BL_FN void bl_wait_change64(const uint64_t *p, uint64_t seen, uint32_t *tries) {
    if (bl_load64_relaxed(p) == seen)
        bl_backoff((*tries)++);
}

BL_FN uint64_t bl_clock(void) {
    struct timespec t;
    bl__clock_gettime(BL__MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

BL_FN uint32_t bl_clock32(void) { return (uint32_t)bl_clock(); }
BL_FN uint64_t bl_time(void) { return bl_clock(); }

BL_FN void bl_spend(uint64_t ticks) {
    for (uint64_t begun = bl_clock(); bl_clock() - begun < ticks;)
        bl__cpu_relax();
}

/* Stacks grow downwards. Not the address of a variable, which the address sanitizer may have moved elsewhere; and no
 * frame pointer, which would take a register. */
BL_HOT_FN uintptr_t bl_stack_here(void) {
    uintptr_t here;
#if defined(__aarch64__)
    __asm__("mov %0, sp" : "=r"(here));
#elif defined(__x86_64__)
    __asm__("movq %%rsp, %0" : "=r"(here));
#else
    here = (uintptr_t)__builtin_frame_address(0);
#endif
    return here;
}

BL_FN uint32_t bl_warp_lane(void) { return 0; }
BL_FN void bl_warp_sync(void) {}
BL_FN uint32_t bl_warp_ballot(bool flag) { return flag ? 1u : 0u; }
BL_FN bool bl_warp_any(bool flag) { return flag; }
BL_FN uint32_t bl_warp_broadcast32(uint32_t v, uint32_t lane) { return (void)lane, v; }
BL_FN uint32_t bl_warp_prefix_add(uint32_t v) { return (void)v, 0; }
BL_FN uint32_t bl_warp_prefix_add_small(uint32_t v) { return (void)v, 0; }
BL_FN uint32_t bl_warp_add(uint32_t v) { return v; }
BL_FN uint32_t bl_warp_or(uint32_t v) { return v; }
BL_FN uint64_t bl_warp_collect_add64(const void *to, uint64_t v) { return (void)to, v; }
BL_FN uint64_t bl_warp_collect_max64(const void *to, uint64_t v) { return (void)to, v; }
BL_FN void bl_block_sync(void) {}
BL_FN void bl_copy16_begin(void *to, const void *from) { __builtin_memcpy(to, from, 16); }
BL_FN void bl_copy16_wait(void) {}
BL_FN void bl_prefetch_write(const void *p) { __builtin_prefetch(p, 1); }
BL_FN uint32_t bl_lane_add32(uint32_t *p, uint32_t v) {
    uint32_t old = *p;
    *p = old + v;
    return old;
}

BL_FN uint32_t bl_add_apart32(uint32_t a, uint32_t b) { return a + b; }
BL_FN uint32_t bl_opaque32(uint32_t v) { return v; }
/* Nearly all x86-64 processors have an instruction for it, which compilers do not use unless told; gcc calls a
 * function, before which the worker loop would have to save what it holds in registers. */
BL_HOT_FN uint32_t bl_popcount(uint32_t v) {
#if defined(__x86_64__) && !defined(__POPCNT__)
    if (!BL_RARELY(!__builtin_cpu_supports("popcnt"))) {
        uint32_t n;
        __asm__("popcntl %1, %0" : "=r"(n) : "rm"(v) : "cc");
        return n;
    }
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    return ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
#else
    return (uint32_t)__builtin_popcount(v);
#endif
}
BL_FN uint32_t bl_lowest_bit(uint32_t v) { return (uint32_t)__builtin_ctz(v); }

#endif
