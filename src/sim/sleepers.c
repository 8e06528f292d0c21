/* A table of sleeping fibers by the word that they wait for. */
#include "sleepers.h"

#include "machine.h"

#include <stdlib.h>

bl__sleepers *bl__sleepers_open(uint32_t fibers) {
    bl__sleepers *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    for (s->buckets = 1; s->buckets < fibers && s->buckets < 1u << 16;)
        s->buckets *= 2;
    s->bucket = malloc(sizeof *s->bucket * s->buckets);
    s->of = malloc(sizeof *s->of * fibers);
    if (!s->bucket || !s->of) {
        bl__sleepers_close(s);
        return NULL;
    }
    for (uint32_t i = 0; i < s->buckets; i++)
        s->bucket[i] = BL__NOBODY;
    return s;
}

void bl__sleepers_close(bl__sleepers *s) {
    if (!s)
        return;
    free(s->bucket);
    free(s->of);
    free(s);
}

static uint32_t *bucket_of(bl__sleepers *s, const void *p) {
    uint64_t line = (uint64_t)(uintptr_t)p >> 4;
    return &s->bucket[(uint32_t)((line * 0x9e3779b97f4a7c15u) >> 32) & (s->buckets - 1)];
}

void bl__sleepers_add(bl__sleepers *s, uint32_t fiber, const void *p, unsigned bits, uint64_t seen) {
    uint32_t *bucket = bucket_of(s, p);
    s->of[fiber] = (bl__sleeper){p, bits, seen, *bucket};
    *bucket = fiber;
    s->count++;
}

/* Moves them from a bucket to the end of a list. Returns its new end. */
static uint32_t *take_changed(bl__sleepers *s, uint32_t *link, uint32_t *end) {
    while (*link != BL__NOBODY) {
        uint32_t fiber = *link;
        bl__sleeper *sleeper = &s->of[fiber];
        if (bl__word_now(sleeper->word, sleeper->bits) == sleeper->seen) {
            link = &sleeper->next;
            continue;
        }
        *link = sleeper->next;
        s->count--;
        *end = fiber;
        end = &sleeper->next;
    }
    return end;
}

uint32_t bl__sleepers_changed(bl__sleepers *s, const void *p) {
    uint32_t first, *end = &first;
    if (p)
        end = take_changed(s, bucket_of(s, p), end);
    for (uint32_t i = 0; !p && i < s->buckets; i++)
        end = take_changed(s, &s->bucket[i], end);
    *end = BL__NOBODY;
    return first;
}
