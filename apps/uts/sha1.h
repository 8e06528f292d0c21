/* SHA-1 (FIPS 180-4) of messages that fit one block, on words instead of bytes: the hash of a UTS node.
 *
 * All 80 rounds are unrolled, and the schedule is a ring of 16 words with constant indices. So on every target words
 * and state stay in registers, and rounds on the constant padding words reduce to additions of constants. */
#ifndef BALLAST_UTS_SHA1_H
#define BALLAST_UTS_SHA1_H

#include <ballast/platform/platform.h>

BL_FN uint32_t uts_rotate(uint32_t x, uint32_t by) { return x << by | x >> (32u - by); }

#define UTS_CHOOSE(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define UTS_PARITY(b, c, d) ((b) ^ (c) ^ (d))
#ifdef BL_TARGET_CUDA
/* A GPU has as many units that multiply as units that add, combine and shift, and the hash leaves them idle: they do
 * the adding. The two halves of the majority are one instruction. */
#define UTS_ADD(a, b) bl_add_apart32(a, b)
#define UTS_MAJORITY(b, c, d) (((b) & (c)) | ((d) & ((b) ^ (c))))
#define UTS_ADD_ROUND(e, rotated, mixed, key, word) e = (rotated) + UTS_ADD(mixed, UTS_ADD(e, UTS_ADD(word, key)));
#else
#define UTS_ADD(a, b) ((a) + (b))
/* The two halves share no bit: adding instead of or-ing them lets compilers reorder the sum of the round. */
#define UTS_MAJORITY(b, c, d) (((b) & (c)) + ((d) & ((b) ^ (c))))
#define UTS_ADD_ROUND(e, rotated, mixed, key, word) e += (rotated) + (mixed) + (key) + (word);
#endif

#define UTS_GIVEN(t) w[t]
#define UTS_MIXED(t) (w[(t)&15] = uts_rotate(w[((t) + 13) & 15] ^ w[((t) + 8) & 15] ^ w[((t) + 2) & 15] ^ w[(t)&15], 1))

/* The five state words change roles from round to round instead of moving. */
#define UTS_ROUND(a, b, c, d, e, mix, key, word)                                                                       \
    UTS_ADD_ROUND(e, uts_rotate(a, 5), mix(b, c, d), key, word)                                                        \
    b = uts_rotate(b, 30);
#define UTS_ROUNDS5(mix, key, word, t)                                                                                 \
    UTS_ROUND(a, b, c, d, e, mix, key, word(t))                                                                        \
    UTS_ROUND(e, a, b, c, d, mix, key, word((t) + 1))                                                                  \
    UTS_ROUND(d, e, a, b, c, mix, key, word((t) + 2))                                                                  \
    UTS_ROUND(c, d, e, a, b, mix, key, word((t) + 3))                                                                  \
    UTS_ROUND(b, c, d, e, a, mix, key, word((t) + 4))
#define UTS_ROUNDS20(mix, key, t)                                                                                      \
    UTS_ROUNDS5(mix, key, UTS_MIXED, t)                                                                                \
    UTS_ROUNDS5(mix, key, UTS_MIXED, (t) + 5)                                                                          \
    UTS_ROUNDS5(mix, key, UTS_MIXED, (t) + 10)                                                                         \
    UTS_ROUNDS5(mix, key, UTS_MIXED, (t) + 15)

/* Hashes the padded block `w`, overwriting it. */
BL_FN BL_INLINE void uts_sha1_block(uint32_t hash[5], uint32_t w[16]) {
    uint32_t a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u, e = 0xc3d2e1f0u;
    UTS_ROUNDS5(UTS_CHOOSE, 0x5a827999u, UTS_GIVEN, 0)
    UTS_ROUNDS5(UTS_CHOOSE, 0x5a827999u, UTS_GIVEN, 5)
    UTS_ROUNDS5(UTS_CHOOSE, 0x5a827999u, UTS_GIVEN, 10)
    UTS_ROUND(a, b, c, d, e, UTS_CHOOSE, 0x5a827999u, UTS_GIVEN(15))
    UTS_ROUND(e, a, b, c, d, UTS_CHOOSE, 0x5a827999u, UTS_MIXED(16))
    UTS_ROUND(d, e, a, b, c, UTS_CHOOSE, 0x5a827999u, UTS_MIXED(17))
    UTS_ROUND(c, d, e, a, b, UTS_CHOOSE, 0x5a827999u, UTS_MIXED(18))
    UTS_ROUND(b, c, d, e, a, UTS_CHOOSE, 0x5a827999u, UTS_MIXED(19))
    UTS_ROUNDS20(UTS_PARITY, 0x6ed9eba1u, 20)
    UTS_ROUNDS20(UTS_MAJORITY, 0x8f1bbcdcu, 40)
    UTS_ROUNDS20(UTS_PARITY, 0xca62c1d6u, 60)
    hash[0] = UTS_ADD(a, 0x67452301u);
    hash[1] = UTS_ADD(b, 0xefcdab89u);
    hash[2] = UTS_ADD(c, 0x98badcfeu);
    hash[3] = UTS_ADD(d, 0x10325476u);
    hash[4] = UTS_ADD(e, 0xc3d2e1f0u);
}

#undef UTS_CHOOSE
#undef UTS_PARITY
#undef UTS_MAJORITY
#undef UTS_ADD
#undef UTS_ADD_ROUND
#undef UTS_GIVEN
#undef UTS_MIXED
#undef UTS_ROUND
#undef UTS_ROUNDS5
#undef UTS_ROUNDS20

/* Child `index` of `parent`: 24 bytes and padding (one set bit, and the length in bits). `child` may alias `parent`. */
BL_FN BL_INLINE void uts_sha1_child(uint32_t child[5], const uint32_t parent[5], uint32_t index) {
    uint32_t w[16] = {parent[0], parent[1], parent[2], parent[3], parent[4], index, 0x80000000u, 0,
                      0,         0,         0,         0,         0,         0,     0,           24 * 8};
    uts_sha1_block(child, w);
}

/* The root: 16 zero bytes and the seed. */
BL_FN void uts_sha1_root(uint32_t root[5], uint32_t seed) {
    uint32_t w[16] = {0, 0, 0, 0, seed, 0x80000000u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20 * 8};
    uts_sha1_block(root, w);
}

#endif
