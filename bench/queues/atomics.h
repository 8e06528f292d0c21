/* The loops of Figure 1, the same text on CPU and GPU: a caller repeats one access, each waiting for the one before. */
#ifndef BALLAST_BENCH_ATOMICS_H
#define BALLAST_BENCH_ATOMICS_H

#include "bench_job.h"

typedef enum bench_access {
    BENCH_PLAIN,    /* load and store of a word that nobody else touches */
    BENCH_FAA,      /* fetch-and-add on one word, by every caller */
    BENCH_FAA_WARP, /* GPU: the same for all lanes of a warp at once, by one of them */
    BENCH_ACCESSES
} bench_access;

typedef struct bench_words {
    uint32_t *shared;
    uint32_t *own; /* a line per caller */
    uint64_t *out; /* per caller: sum of the squares of its tickets */
    uint32_t times;
} bench_words;

BL_FN void bench_plain(const bench_words *w, uint32_t rank) {
    uint32_t *word = w->own + (size_t)rank * (BL_LINE / 4);
    uint64_t out = 0;
    for (uint32_t i = 0; i < w->times; i++) {
        uint32_t ticket = bl_load32_relaxed(word);
        bl_store32_relaxed(word, ticket + 1);
        out += (uint64_t)ticket * ticket;
    }
    w->out[rank] = out;
}

/* The next one adds what only the last one's answer tells, so that they follow each other; it is always 1. Nor can a
 * compiler for a GPU add for all lanes at once, as it does when it knows that they add the same. */
BL_FN void bench_faa(const bench_words *w, uint32_t rank) {
    uint64_t out = 0;
    uint32_t more = 1;
    for (uint32_t i = 0; i < w->times; i++) {
        uint32_t ticket = bl_fetch_add32_relaxed(w->shared, more);
        more = 1 + (ticket >> 31);
        out += (uint64_t)ticket * ticket;
    }
    w->out[rank] = out;
}

BL_FN void bench_faa_warp(const bench_words *w, uint32_t rank) {
    uint64_t out = 0;
    uint32_t more = BL_WARP;
    for (uint32_t i = 0; i < w->times; i++) {
        uint32_t first = bl_warp_lane() == 0 ? bl_fetch_add32_relaxed(w->shared, more) : 0;
        uint32_t ticket = bl_warp_broadcast32(first, 0) + bl_warp_lane();
        more = BL_WARP + (ticket >> 31);
        out += (uint64_t)ticket * ticket;
    }
    w->out[rank] = out;
}

#endif
