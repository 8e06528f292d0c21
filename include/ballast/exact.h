/* Exact sums of doubles, for programs that add up in BL_LOCAL: the result is the true sum, rounded once, whatever the
 * order of the additions and the workers that make them. So tasks of any kind, even those that spawn freely, get the
 * same bits with any number of workers, with every scheduler, and on a CPU and a GPU.
 *
 *     typedef struct mine { bl_exact sum; } mine;                    BL_LOCAL, which is zeroed: a sum of 0
 *     bl_exact_add(&local->sum, x);                                  in a task
 *     bl_exact_merge(shared->sum, &local->sum);                      in BL_MERGE; shared->sum is zeroed before the run
 *     bl_exact_value(&sum)                                           on the host, after it
 *
 * It is a number of 2,098 bits, from the lowest bit of the smallest double to the highest of the largest, in digits of
 * 32 bits. A word has room for the carries of 2^29 additions before they must be passed on. */
#ifndef BL_EXACT_H
#define BL_EXACT_H

#include "platform/platform.h"
#include <string.h>

#define BL__EXACT_DIGITS 68u /* 66 for the doubles, and two for sums that exceed them */
#define BL__EXACT_ADDS (1u << 29)

typedef struct bl_exact {
    uint64_t digits[BL__EXACT_DIGITS]; /* signed, in two's complement, so that they can be added atomically */
    uint32_t adds;                     /* since carries were passed on */
    uint32_t specials;                 /* 1: an infinity was added, 2: a negative one, 4: a NaN */
} bl_exact;

/* Every digit but the highest becomes one of 32 bits without a sign. */
BL_HOST_FN void bl__exact_carry(bl_exact *sum) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i + 1 < BL__EXACT_DIGITS; i++) {
        const uint64_t digit = sum->digits[i] + carry;
        sum->digits[i] = digit & 0xffffffffu;
        carry = digit >> 32 | (digit >> 63 ? 0xffffffff00000000u : 0);
    }
    sum->digits[BL__EXACT_DIGITS - 1] += carry;
    sum->adds = 0;
}

BL_HOST_FN void bl_exact_add(bl_exact *sum, double x) {
    uint64_t bits, mantissa;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t exponent = (uint32_t)(bits >> 52) & 2047;
    const uint64_t sign = bits >> 63 ? ~(uint64_t)0 : 0; /* (n ^ sign) - sign is n or -n */
    mantissa = bits & 0xfffffffffffffu;
    if (exponent == 2047) {
        sum->specials |= mantissa ? 4 : sign ? 2 : 1;
        return;
    }
    mantissa |= (uint64_t)(exponent > 0) << 52;
    const uint32_t at = exponent > 0 ? exponent - 1 : 0; /* of its lowest bit */
    const uint64_t low = (mantissa & 0xffffffffu) << at % 32, high = (mantissa >> 32) << at % 32;
    uint64_t *digit = sum->digits + at / 32;
    digit[0] += ((low & 0xffffffffu) ^ sign) - sign;
    digit[1] += (((low >> 32) + (high & 0xffffffffu)) ^ sign) - sign;
    digit[2] += ((high >> 32) ^ sign) - sign;
    if (++sum->adds == BL__EXACT_ADDS)
        bl__exact_carry(sum);
}

/* Into a sum that all workers share, up to 2^30 times. */
BL_FN void bl_exact_merge(bl_exact *into, const bl_exact *from) {
    bl_exact carried = *from;
    bl__exact_carry(&carried);
    for (uint32_t i = 0; i < BL__EXACT_DIGITS; i++)
        if (carried.digits[i])
            bl_fetch_add64_relaxed(&into->digits[i], carried.digits[i]);
    if (carried.specials)
        bl_fetch_or32_relaxed(&into->specials, carried.specials);
}

/* The magnitude, rounded to the nearest double, ties to even. All digits have 32 bits. */
BL_HOST_FN uint64_t bl__exact_round(const bl_exact *sum) {
    uint32_t top = BL__EXACT_DIGITS - 1, highest = 0;
    while (top > 0 && sum->digits[top] == 0)
        top--;
    while (highest < 63 && sum->digits[top] >> highest > 1)
        highest++;
    highest += 32 * top;
    if (highest < 53) /* the double's own bits: of a subnormal number, or of one of the least exponent */
        return sum->digits[1] << 32 | sum->digits[0];
    const uint32_t lowest = highest - 52; /* of the mantissa */
    if (lowest + 1 > 2046)
        return (uint64_t)2047 << 52;
    uint64_t mantissa = 0, below = sum->digits[(lowest - 1) / 32] >> (lowest - 1) % 32 & 1, rest = 0;
    for (uint32_t bit = highest + 1; bit-- > lowest;)
        mantissa = mantissa << 1 | (sum->digits[bit / 32] >> bit % 32 & 1);
    for (uint32_t i = 0; i < (lowest - 1) / 32; i++)
        rest |= sum->digits[i];
    rest |= sum->digits[(lowest - 1) / 32] & (((uint64_t)1 << (lowest - 1) % 32) - 1);
    const uint64_t up = below && (rest || mantissa & 1);
    return ((uint64_t)lowest << 52) + mantissa + up; /* the mantissa's highest bit is one more of the exponent */
}

/* An empty sum, and one that is exactly zero, is +0. Infinities of both signs give a NaN, as an addition would. */
BL_HOST_FN double bl_exact_value(const bl_exact *sum) {
    const uint64_t infinity = (uint64_t)2047 << 52, nan = (uint64_t)4095 << 51;
    bl_exact copy = *sum;
    uint64_t bits, sign = 0;
    double value;
    bl__exact_carry(&copy);
    if (copy.digits[BL__EXACT_DIGITS - 1] >> 63) {
        sign = (uint64_t)1 << 63;
        for (uint32_t i = 0; i < BL__EXACT_DIGITS; i++)
            copy.digits[i] = ~copy.digits[i] + 1;
        bl__exact_carry(&copy);
    }
    bits = sign | bl__exact_round(&copy);
    if (copy.specials)
        bits = copy.specials == 1 ? infinity : copy.specials == 2 ? (uint64_t)1 << 63 | infinity : nan;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
