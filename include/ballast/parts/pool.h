/* A pool of entries for queues that carry 32-bit handles.
 *
 * Each worker has a free list of its own (plain memory, no atomics): a worker that consumes an entry frees it into its
 * own list. Surplus moves in chunks of POOL_CHUNK handles over one lock-free stack of chunks whose head carries a tag
 * against ABA, bumped by every pop: a push does no harm on whatever chunk it finds at the top.
 *
 *     line 0: chunks = first handle of the top chunk (low 32) and tag (high 32)
 *     per worker one line: first handle, count
 *     next[capacity]: links inside a list      below[capacity]: links from chunk to chunk, at a chunk's first handle
 *     entries[capacity * words]
 *
 * Order pairs: C1 (chunks cas, release) with C2 (acquire): links and entries of a chunk are written before another
 * worker takes it.
 */
#ifndef BL_PARTS_POOL_H
#define BL_PARTS_POOL_H

#include "../platform/platform.h"

#ifndef BL__POOL_CHUNK
#define BL__POOL_CHUNK 32u
#endif
#define BL__POOL_NONE UINT32_MAX

typedef struct bl__pool {
    uint64_t *chunks;
    unsigned char *locals;
    uint32_t *next, *below, *entries;
    uint32_t capacity, words;
} bl__pool;

/* Handles that may rest in the lists of `workers` while the queues hold `entries`. A multiple of the chunk. */
BL_HOST_FN uint64_t bl__pool_capacity(uint64_t entries, uint32_t workers) {
    uint64_t handles = entries + (uint64_t)workers * 2 * BL__POOL_CHUNK;
    return (handles + BL__POOL_CHUNK - 1) / BL__POOL_CHUNK * BL__POOL_CHUNK;
}
BL_HOST_FN size_t bl__pool_bytes(uint32_t capacity, uint32_t workers, uint32_t words) {
    return (1 + (size_t)workers) * BL_LINE + 4u * (size_t)capacity * (2 + words);
}

BL_FN void bl__pool_bind(bl__pool *p, unsigned char *memory, uint32_t capacity, uint32_t workers, uint32_t words) {
    p->chunks = (uint64_t *)memory;
    p->locals = memory + BL_LINE;
    p->next = (uint32_t *)(p->locals + (size_t)workers * BL_LINE);
    p->below = p->next + capacity;
    p->entries = p->below + capacity;
    p->capacity = capacity;
    p->words = words;
}

BL_FN uint32_t *bl__pool_entry(const bl__pool *p, uint32_t handle) { return p->entries + (size_t)handle * p->words; }

/* Handles below `used` (a multiple of the chunk) are taken already; the rest lie in chunks. */
BL_FN void bl__pool_init(bl__pool *p, uint32_t workers, uint32_t used, uint32_t rank, uint32_t size) {
    for (uint32_t i = used + rank; i < p->capacity; i += size) {
        bool last = i % BL__POOL_CHUNK == BL__POOL_CHUNK - 1;
        p->next[i] = last ? BL__POOL_NONE : i + 1;
        bl_store32_relaxed(p->below + i, i + BL__POOL_CHUNK < p->capacity ? i + BL__POOL_CHUNK : BL__POOL_NONE);
    }
    for (uint32_t w = rank; w < workers; w += size) {
        uint32_t *local = (uint32_t *)(p->locals + (size_t)w * BL_LINE);
        local[0] = BL__POOL_NONE;
        local[1] = 0;
    }
    if (rank == 0)
        bl_store64_relaxed(p->chunks, used < p->capacity ? used : BL__POOL_NONE);
}

BL_FN uint32_t bl__pool_pop_chunk(bl__pool *p) {
    uint64_t top = bl_load64_acquire(p->chunks); /* C2 */
    while ((uint32_t)top != BL__POOL_NONE) {
        uint32_t below =
            bl_load32_relaxed(p->below + (uint32_t)top); /* stale if the chunk was taken: then the tag has changed */
        if (bl_cas64_acquire(p->chunks, &top, bl_bump(top >> 32) << 32 | below)) /* C2 */
            break;
    }
    return (uint32_t)top;
}
BL_FN void bl__pool_push_chunk(bl__pool *p, uint32_t first) {
    uint64_t top = bl_load64_relaxed(p->chunks);
    do
        bl_store32_relaxed(p->below + first, (uint32_t)top);
    while (!bl_cas64_release(p->chunks, &top, top >> 32 << 32 | first)); /* C1 */
}

/* BL__POOL_NONE when every handle is in use. */
BL_FN uint32_t bl__pool_take(bl__pool *p, uint32_t worker) {
    uint32_t *local = (uint32_t *)(p->locals + (size_t)worker * BL_LINE);
    if (local[1] == 0) {
        local[0] = bl__pool_pop_chunk(p);
        if (local[0] == BL__POOL_NONE)
            return BL__POOL_NONE;
        local[1] = BL__POOL_CHUNK;
    }
    uint32_t handle = local[0];
    local[0] = p->next[handle];
    local[1]--;
    return handle;
}

BL_FN void bl__pool_give(bl__pool *p, uint32_t worker, uint32_t handle) {
    uint32_t *local = (uint32_t *)(p->locals + (size_t)worker * BL_LINE);
    p->next[handle] = local[1] ? local[0] : BL__POOL_NONE;
    local[0] = handle;
    if (++local[1] < 2 * BL__POOL_CHUNK)
        return;
    uint32_t last = handle;
    for (uint32_t i = 1; i < BL__POOL_CHUNK; i++)
        last = p->next[last];
    local[0] = p->next[last];
    local[1] = BL__POOL_CHUNK;
    p->next[last] = BL__POOL_NONE;
    bl__pool_push_chunk(p, handle);
}

#endif
