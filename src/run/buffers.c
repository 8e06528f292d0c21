/* Memory of a run: buffers on the device, which grow, and what they take in all. */
#include "job.h"

enum { KEPT_BYTES = 1 << 20 }; /* the largest that is kept */

/* Most runs of a context need what the one before did. True: so many bytes were left by it. */
static bool take_kept(bl_context *c, void **memory, size_t bytes) {
    for (int i = 0; i < BL__KEPT; i++)
        if (c->kept[i].memory && c->kept[i].bytes == bytes) {
            *memory = c->kept[i].memory;
            c->kept[i].memory = NULL;
            return true;
        }
    return false;
}

/* False: to be freed. */
static bool keep(bl_context *c, void *memory, size_t bytes) {
    for (int i = 0; i < BL__KEPT && memory && c->ops->keeps_buffers && bytes <= KEPT_BYTES; i++)
        if (!c->kept[i].memory) {
            c->kept[i] = (bl__block){memory, bytes};
            return true;
        }
    return false;
}

/* When their places are needed, or the memory. */
static void free_kept(bl_context *c) {
    for (int i = 0; i < BL__KEPT; i++) {
        bl__free(c, c->kept[i].memory);
        c->kept[i].memory = NULL;
    }
}

int bl__ensure(bl__job *j, bl__buffer *b, size_t bytes) {
    if (b->memory && b->bytes >= bytes)
        return BL_OK;
    bl__release(j, b);
    int status = take_kept(j->c, &b->memory, bytes) ? BL_OK : bl__alloc(j->c, &b->memory, bytes);
    if (status == BL_OK) {
        b->bytes = bytes;
        j->bytes += bytes;
        if (j->bytes > j->stats.peak_bytes)
            j->stats.peak_bytes = j->bytes;
    }
    return status;
}

void bl__release(bl__job *j, bl__buffer *b) {
    if (!keep(j->c, b->memory, b->bytes)) {
        bl__free(j->c, b->memory);
        if (b->memory && j->c->ops->keeps_buffers && b->bytes <= KEPT_BYTES)
            free_kept(j->c); /* all places are taken, by sizes that nobody asked for */
    }
    j->bytes -= b->bytes;
    b->memory = NULL;
    b->bytes = 0;
}

uint32_t bl__power_of_two(uint64_t at_least) {
    uint64_t n = 2;
    while (n < at_least)
        n *= 2;
    return n > 1u << 31 ? 1u << 31 : (uint32_t)n;
}
