/* Atomics on float and double, on every target: a compare-and-swap that is repeated until nobody was faster. A GPU has
 * an addition of its own. */
#ifndef BL_PLATFORM_FLOATS_H
#define BL_PLATFORM_FLOATS_H

#include "platform.h"
#include <string.h>

#ifndef BL__FLOAT_LOAD /* by the operations on words of the same size */
#define BL__FLOAT_BITS(bits)                                                                                           \
    BL_FN void bl__float_load##bits(const void *p, void *is) {                                                         \
        uint##bits##_t word = bl_load##bits##_relaxed((const uint##bits##_t *)p);                                      \
        memcpy(is, &word, sizeof word);                                                                                \
    }                                                                                                                  \
    BL_FN bool bl__float_cas##bits(void *p, void *is, const void *next) {                                              \
        uint##bits##_t old, now;                                                                                       \
        memcpy(&old, is, sizeof old);                                                                                  \
        memcpy(&now, next, sizeof now);                                                                                \
        bool swapped = bl_cas##bits##_relaxed((uint##bits##_t *)p, &old, now);                                         \
        memcpy(is, &old, sizeof old);                                                                                  \
        return swapped;                                                                                                \
    }                                                                                                                  \
    BL_FN void bl__float_exchange##bits(void *p, const void *v, void *was) {                                           \
        uint##bits##_t now, old;                                                                                       \
        memcpy(&now, v, sizeof now);                                                                                   \
        old = bl_exchange##bits##_relaxed((uint##bits##_t *)p, now);                                                   \
        memcpy(was, &old, sizeof old);                                                                                 \
    }
BL__FLOAT_BITS(32)
BL__FLOAT_BITS(64)
#undef BL__FLOAT_BITS
#define BL__FLOAT_LOAD(bits, p, is) bl__float_load##bits(p, is)
#define BL__FLOAT_CAS(bits, p, is, next) bl__float_cas##bits(p, is, next)
#define BL__FLOAT_EXCHANGE(bits, p, v, was) bl__float_exchange##bits(p, v, was)
#endif

/* While `wanted`, makes it `result`; both in terms of v and of what is there. */
#define BL__FLOAT_LOOP(name, type, bits, wanted, result)                                                               \
    BL_FN type bl_fetch_##name##_##type##_relaxed(type *p, type v) {                                                   \
        type is, next;                                                                                                 \
        BL__FLOAT_LOAD(bits, p, &is);                                                                                  \
        do                                                                                                             \
            next = result;                                                                                             \
        while ((wanted) && !BL__FLOAT_CAS(bits, p, &is, &next));                                                       \
        return is;                                                                                                     \
    }
#ifdef BL_TARGET_CUDA
#define BL__FLOAT_ADD(type, bits)                                                                                      \
    BL_FN type bl_fetch_add_##type##_relaxed(type *p, type v) { return atomicAdd(p, v); }
#else
#define BL__FLOAT_ADD(type, bits) BL__FLOAT_LOOP(add, type, bits, true, is + v)
#endif
#define BL__FLOAT_ATOMICS(type, bits)                                                                                  \
    BL__FLOAT_ADD(type, bits)                                                                                          \
    BL__FLOAT_LOOP(min, type, bits, v < is, v)                                                                         \
    BL__FLOAT_LOOP(max, type, bits, v > is, v)                                                                         \
    BL_FN type bl_exchange_##type##_relaxed(type *p, type v) {                                                         \
        type was;                                                                                                      \
        BL__FLOAT_EXCHANGE(bits, p, &v, &was);                                                                         \
        return was;                                                                                                    \
    }

BL__FLOAT_ATOMICS(float, 32)
BL__FLOAT_ATOMICS(double, 64)

#undef BL__FLOAT_ATOMICS
#undef BL__FLOAT_ADD
#undef BL__FLOAT_LOOP
#undef BL__FLOAT_EXCHANGE
#undef BL__FLOAT_CAS
#undef BL__FLOAT_LOAD

#endif
