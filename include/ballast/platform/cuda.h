/* Platform: CUDA, compute capability 7.5 and newer. See platform.h for the list of operations.
 *
 * Scopes: queue words are shared by the device; words that the host touches while a kernel runs (bl_*_host) name the
 * system. */
#ifndef BL_PLATFORM_CUDA_H
#define BL_PLATFORM_CUDA_H

#include <stdint.h>

#define BL_TARGET cuda
#define BL_TARGET_CUDA 1
#define BL_PIECE_TICKS 4000u /* cycles */
#define BL_LONG_TICKS 180000u
#define BL_SPREAD_TICKS 2000000u
#define BL_WARP 32u
#define BL_CROWD 1024u
#define BL_LOOK_TICKS 2000u /* nanoseconds */
#define BL_FN static __device__ __forceinline__
#define BL_HOT_FN BL_FN
#define BL_CALLED_FN static __device__ __noinline__
#define BL_LOOP_FN BL_CALLED_FN
#define BL_COLD_FN BL_FN /* a call would cost the kernel a stack */
#define BL_HOST_FN static __host__ __device__ inline
#define BL_INLINE
#define BL_MAY_ALIAS
#define BL_UNROLL _Pragma("unroll")
#define BL_ROLLED _Pragma("unroll 1")
#define BL_OVERLAP _Pragma("unroll 8")
#define BL_ASSUME(x) __builtin_assume(x)

BL_HOST_FN double bl_product(double a, double b) {
#ifdef __CUDA_ARCH__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

#define BL__ATOMIC_LOAD(bits, order, O, S)                                                                             \
    BL_FN uint##bits##_t bl_load##bits##_##order(const uint##bits##_t *p) {                                            \
        return __nv_atomic_load_n((uint##bits##_t *)p, O, S);                                                          \
    }
#define BL__ATOMIC_STORE(bits, order, O, S)                                                                            \
    BL_FN void bl_store##bits##_##order(uint##bits##_t *p, uint##bits##_t v) { __nv_atomic_store_n(p, v, O, S); }
#define BL__ATOMIC_RMW(bits, name, builtin, order, O)                                                                  \
    BL_FN uint##bits##_t bl_##name##bits##_##order(uint##bits##_t *p, uint##bits##_t v) {                              \
        return builtin(p, v, O, __NV_THREAD_SCOPE_DEVICE);                                                             \
    }
#define BL__ATOMIC_CAS(bits, order, O, F)                                                                              \
    BL_FN bool bl_cas##bits##_##order(uint##bits##_t *p, uint##bits##_t *expected, uint##bits##_t v) {                 \
        return __nv_atomic_compare_exchange_n(p, expected, v, false, O, F, __NV_THREAD_SCOPE_DEVICE);                  \
    }
/* first_seq_cst is acquire and release here. A seq_cst operation has a fence.sc in front of it, which keeps it behind
 * the thread's earlier ones, and that is what first_seq_cst does without. What is left to keep, for a store S to b or
 * a load, followed by a seq_cst load L of t with its fence f; a swap W of t, or a load of t that reads W or what
 * came later, followed by a seq_cst load N of b with its fence g: if L does not see W then N sees S. In the PTX memory
 * model f and g are in Fence-SC order, which is part of causality order.
 *   f before g:  S is before f, g before N, so S is before N in causality order and N reads S or what came later.
 *   g before f:  W is before g in program order, or by a release that the acquire load reads; so W is before L in
 *                causality order, and L cannot read what W has overwritten. */
#define BL__ATOMICS(bits)                                                                                              \
    BL__ATOMIC_LOAD(bits, relaxed, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)                                      \
    BL__ATOMIC_LOAD(bits, acquire, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)                                      \
    BL__ATOMIC_LOAD(bits, seq_cst, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE)                                      \
    BL__ATOMIC_LOAD(bits, first_seq_cst, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)                                \
    BL__ATOMIC_LOAD(bits, host, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)                                         \
    BL__ATOMIC_LOAD(bits, host_acquire, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)                                 \
    BL__ATOMIC_STORE(bits, relaxed, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)                                     \
    BL__ATOMIC_STORE(bits, release, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE)                                     \
    BL__ATOMIC_STORE(bits, seq_cst, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE)                                     \
    BL__ATOMIC_STORE(bits, first_seq_cst, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE)                               \
    BL__ATOMIC_STORE(bits, host, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)                                        \
    BL__ATOMIC_STORE(bits, host_release, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)                                \
    BL__ATOMIC_RMW(bits, fetch_add, __nv_atomic_fetch_add, relaxed, __NV_ATOMIC_RELAXED)                               \
    BL__ATOMIC_RMW(bits, fetch_add, __nv_atomic_fetch_add, acquire, __NV_ATOMIC_ACQUIRE)                               \
    BL__ATOMIC_RMW(bits, fetch_add, __nv_atomic_fetch_add, release, __NV_ATOMIC_RELEASE)                               \
    BL__ATOMIC_RMW(bits, fetch_add, __nv_atomic_fetch_add, acq_rel, __NV_ATOMIC_ACQ_REL)                               \
    BL__ATOMIC_RMW(bits, fetch_add, __nv_atomic_fetch_add, seq_cst, __NV_ATOMIC_SEQ_CST)                               \
    BL__ATOMIC_RMW(bits, fetch_max, __nv_atomic_fetch_max, relaxed, __NV_ATOMIC_RELAXED)                               \
    BL__ATOMIC_RMW(bits, fetch_min, __nv_atomic_fetch_min, relaxed, __NV_ATOMIC_RELAXED)                               \
    BL__ATOMIC_RMW(bits, fetch_and, __nv_atomic_fetch_and, relaxed, __NV_ATOMIC_RELAXED)                               \
    BL__ATOMIC_RMW(bits, fetch_xor, __nv_atomic_fetch_xor, relaxed, __NV_ATOMIC_RELAXED)                               \
    BL__ATOMIC_RMW(bits, fetch_or, __nv_atomic_fetch_or, relaxed, __NV_ATOMIC_RELAXED)                                 \
    BL__ATOMIC_RMW(bits, fetch_or, __nv_atomic_fetch_or, acq_rel, __NV_ATOMIC_ACQ_REL)                                 \
    BL__ATOMIC_RMW(bits, exchange, __nv_atomic_exchange_n, relaxed, __NV_ATOMIC_RELAXED)                               \
    BL__ATOMIC_RMW(bits, exchange, __nv_atomic_exchange_n, acquire, __NV_ATOMIC_ACQUIRE)                               \
    BL__ATOMIC_RMW(bits, exchange, __nv_atomic_exchange_n, release, __NV_ATOMIC_RELEASE)                               \
    BL__ATOMIC_RMW(bits, exchange, __nv_atomic_exchange_n, acq_rel, __NV_ATOMIC_ACQ_REL)                               \
    BL__ATOMIC_CAS(bits, relaxed, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)                                            \
    BL__ATOMIC_CAS(bits, acquire, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_ACQUIRE)                                            \
    BL__ATOMIC_CAS(bits, release, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE)                                            \
    BL__ATOMIC_CAS(bits, acq_rel, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE)                                            \
    BL__ATOMIC_CAS(bits, seq_cst, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_ACQUIRE)                                            \
    BL__ATOMIC_CAS(bits, first_seq_cst, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE)

BL__ATOMICS(32)
BL__ATOMICS(64)

#undef BL__ATOMICS
#undef BL__ATOMIC_CAS
#undef BL__ATOMIC_RMW
#undef BL__ATOMIC_STORE
#undef BL__ATOMIC_LOAD

/* Not generic addresses: for those ptxas adds a loop for shared memory to every atomic of 64 bits. */
#define BL__FAR_RMW(name, op, order, type)                                                                             \
    BL_FN uint64_t bl_far_##name(uint64_t *p, uint64_t v) {                                                            \
        uint64_t old;                                                                                                  \
        asm volatile("atom." #order ".gpu.global." #op "." #type " %0, [%1], %2;"                                      \
                     : "=l"(old)                                                                                       \
                     : "l"(__cvta_generic_to_global(p)), "l"(v)                                                        \
                     : "memory");                                                                                      \
        return old;                                                                                                    \
    }
BL__FAR_RMW(add64_relaxed, add, relaxed, u64)
BL__FAR_RMW(add64_acquire, add, acquire, u64)
BL__FAR_RMW(add64_release, add, release, u64)
BL__FAR_RMW(max64_relaxed, max, relaxed, u64)
#undef BL__FAR_RMW
#define BL_HAS_FAR 1

BL_FN void bl_fence_acquire(void) { __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE); }
BL_FN void bl_fence_release(void) { __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE); }
BL_FN void bl_fence_seq_cst(void) { __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE); }
/* No thread of a GPU can make the others execute a fence: both sides pay. */
BL_FN void bl_fence_light(void) { bl_fence_seq_cst(); }
BL_FN bool bl_fence_heavy(void) { return bl_fence_seq_cst(), true; }
BL_FN void bl_store32_release_light(uint32_t *p, uint32_t v, bool alone) { (void)alone, bl_store32_release(p, v); }

/* From compute capability 9.0 on. One binary has code for several GPUs, so the device decides and not the compiler:
 * a kernel that comes here on an older one ends with cudaErrorAssert and this line. The library refuses such a run
 * before (BL_QUEUE_NEEDS_CAS128). */
#define BL_HAS_CAS128 1
typedef unsigned __int128 bl_u128;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
/* What assert calls, whether NDEBUG is set or not; CUDA has it on every GPU. */
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function,
                                        size_t char_bytes);
#endif
BL_FN bool bl_cas128_acq_rel(bl_u128 *p, bl_u128 *expected, bl_u128 v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    return __nv_atomic_compare_exchange(p, expected, &v, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE,
                                        __NV_THREAD_SCOPE_DEVICE);
#else
    (void)p, (void)expected, (void)v;
    __assertfail("a 128-bit compare-and-swap needs a GPU of compute capability 9.0", __FILE__, __LINE__, __func__, 1);
    return false;
#endif
}

BL_FN void bl_data_read(uint32_t *to, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        to[i] = from[i];
}
BL_FN void bl_data_write(uint32_t *to, const uint32_t *from, uint32_t words) { bl_data_read(to, from, words); }

BL_FN void bl_race_read(uint32_t *to, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        to[i] = bl_load32_relaxed(from + i);
}
BL_FN void bl_race_write(uint32_t *to, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        bl_store32_relaxed(to + i, from[i]);
}

/* Idle warps share their multiprocessor with busy ones: sleep rather than spin, longer each time, 8 microseconds at
 * most. */
BL_FN void bl_backoff(uint32_t tries) { __nanosleep(tries < 8 ? 32u << tries : 8192u); }

BL_FN void bl_wait_change32(const uint32_t *p, uint32_t seen, uint32_t *tries) {
    if (bl_load32_relaxed(p) == seen)
        bl_backoff((*tries)++);
}
BL_FN void bl_wait_change64(const uint64_t *p, uint64_t seen, uint32_t *tries) {
    if (bl_load64_relaxed(p) == seen)
        bl_backoff((*tries)++);
}

BL_FN uint64_t bl_clock(void) { return (uint64_t)clock64(); }
BL_FN uint32_t bl_clock32(void) { return (uint32_t)clock(); }
BL_FN void bl_spend(uint64_t ticks) {
    for (uint64_t begun = bl_clock(); bl_clock() - begun < ticks;)
        ;
}
BL_FN uint64_t bl_time(void) {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

#define BL__ALL_LANES 0xffffffffu
BL_FN uint32_t bl_warp_lane(void) { return threadIdx.x & 31u; }
BL_FN void bl_warp_sync(void) { __syncwarp(); }
BL_FN uint32_t bl_warp_ballot(bool flag) { return __ballot_sync(BL__ALL_LANES, flag); }
BL_FN bool bl_warp_any(bool flag) { return __any_sync(BL__ALL_LANES, flag); }
BL_FN uint32_t bl_warp_broadcast32(uint32_t v, uint32_t lane) { return __shfl_sync(BL__ALL_LANES, v, (int)lane); }
BL_FN uint32_t bl_warp_prefix_add(uint32_t v) {
    uint32_t sum = v;
    for (uint32_t d = 1; d < 32; d *= 2) {
        uint32_t below = __shfl_up_sync(BL__ALL_LANES, sum, d);
        if (bl_warp_lane() >= d)
            sum += below;
    }
    return sum - v;
}
BL_FN uint32_t bl_warp_prefix_add_small(uint32_t v) {
    uint32_t sum = v;
    BL_ROLLED
    for (uint32_t d = 1; d < 32; d *= 2) {
        uint32_t below = __shfl_up_sync(BL__ALL_LANES, sum, d);
        if (bl_warp_lane() >= d)
            sum += below;
    }
    return sum - v;
}
BL_FN uint32_t bl_warp_add(uint32_t v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(BL__ALL_LANES, v);
#else
    BL_ROLLED
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(BL__ALL_LANES, v, d);
    return v;
#endif
}
BL_FN uint32_t bl_warp_or(uint32_t v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(BL__ALL_LANES, v);
#else
    for (int d = 16; d > 0; d /= 2)
        v |= __shfl_xor_sync(BL__ALL_LANES, v, d);
    return v;
#endif
}
/* Whether all lanes of the warp are here, and mean the same. */
BL_FN bool bl__warp_agrees(const void *to) {
    int same = 0;
    if (__activemask() == BL__ALL_LANES)
        __match_all_sync(BL__ALL_LANES, (unsigned long long)to, &same);
    return same != 0;
}
#if __CUDA_ARCH__ >= 800
/* An instruction adds up 32 bits, so what the lanes add up may have 27. */
BL_FN uint64_t bl__warp_add64(uint64_t v) {
    const uint32_t low = (uint32_t)v & 0x7ffffff, middle = (uint32_t)(v >> 27) & 0x7ffffff, high = (uint32_t)(v >> 54);
    return bl_warp_add(low) + ((uint64_t)bl_warp_add(middle) << 27) + ((uint64_t)bl_warp_add(high) << 54);
}
BL_FN uint64_t bl__warp_max64(uint64_t v) {
    const uint32_t high = __reduce_max_sync(BL__ALL_LANES, (uint32_t)(v >> 32));
    return (uint64_t)high << 32 | __reduce_max_sync(BL__ALL_LANES, (uint32_t)(v >> 32) == high ? (uint32_t)v : 0);
}
#else
BL_FN uint64_t bl__warp_add64(uint64_t v) {
    BL_ROLLED
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(BL__ALL_LANES, (unsigned long long)v, d);
    return v;
}
BL_FN uint64_t bl__warp_max64(uint64_t v) {
    BL_ROLLED
    for (int d = 16; d > 0; d /= 2) {
        const uint64_t other = __shfl_xor_sync(BL__ALL_LANES, (unsigned long long)v, d);
        v = other > v ? other : v;
    }
    return v;
}
#endif
BL_FN uint64_t bl_warp_collect_add64(const void *to, uint64_t v) {
    if (!bl__warp_agrees(to))
        return v;
    v = bl__warp_add64(v);
    return bl_warp_lane() ? 0 : v;
}
BL_FN uint64_t bl_warp_collect_max64(const void *to, uint64_t v) {
    if (!bl__warp_agrees(to))
        return v;
    v = bl__warp_max64(v);
    return bl_warp_lane() ? 0 : v;
}
BL_FN void bl_block_sync(void) { __syncthreads(); }
#if __CUDA_ARCH__ >= 800
BL_FN void bl_copy16_begin(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}
BL_FN void bl_copy16_wait(void) { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
BL_FN void bl_copy16_begin(void *to, const void *from) { *(uint4 *)to = *(const uint4 *)from; }
BL_FN void bl_copy16_wait(void) {}
#endif
BL_FN uint32_t bl_lane_add32(uint32_t *p, uint32_t v) { return atomicAdd(p, v); }

/* Every grid of ours is flat, but the compiler does not know that. */
BL_FN uint32_t bl_add_apart32(uint32_t a, uint32_t b) { return a * gridDim.z + b; }

BL_FN uint32_t bl_opaque32(uint32_t v) {
    asm volatile("" : "+r"(v));
    return v;
}
BL_FN uint32_t bl_processor(void) {
    uint32_t id;
    asm("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
BL_FN uint32_t bl_processors(void) {
    uint32_t n;
    asm("mov.u32 %0, %%nsmid;" : "=r"(n));
    return n;
}

BL_FN uint32_t bl_popcount(uint32_t v) { return (uint32_t)__popc(v); }
BL_FN uint32_t bl_lowest_bit(uint32_t v) { return (uint32_t)__ffs((int)v) - 1u; }

#endif
