/* The loops of Figure 1, the same source on CPU and GPU: a caller repeats one access, each waiting for the previous
 * one. */
#ifndef BALLAST_BENCH_ATOMICS_H
#define BALLAST_BENCH_ATOMICS_H

#include "bench_job.h"

typedef enum bench_access {
    BENCH_PLAIN,    /* load and store of a private word */
    BENCH_FAA,      /* fetch-and-add on one word, by every caller */
    BENCH_FAA_WARP, /* GPU: one lane adds for all lanes of its warp */
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

/* Each addend depends on the previous result (it is always 1), so that the additions are serialised. It also keeps a
 * GPU compiler from adding for all lanes at once, as it does when it knows that they add the same. */
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
