/* Memory of a run: buffers on the device, which grow, and what they take in all. */
#include "job.h"

/* Most runs of a context need what the one before did. True: one that was left is large enough, and not much too
 * large: another may need it more. */
static bool take_kept(bl_context *c, bl__buffer *b, size_t bytes) {
    int best = -1;
    for (int i = 0; i < BL__KEPT; i++) {
        const bl__block *k = &c->kept[i];
        if (k->memory && k->bytes >= bytes && k->bytes / 4 <= bytes && (best < 0 || k->bytes < c->kept[best].bytes))
            best = i;
    }
    if (best < 0)
        return false;
    *b = (bl__buffer){c->kept[best].memory, bytes, c->kept[best].bytes};
    c->kept[best].memory = NULL;
    return true;
}

static void keep(bl_context *c, bl__buffer *b) {
    int i = 0;
    while (i < BL__KEPT && c->kept[i].memory)
        i++;
    if (i == BL__KEPT) { /* all places are taken, by sizes that nobody asked for */
        bl__free_kept(c);
        i = 0;
    }
    c->kept[i] = (bl__block){.memory = b->memory, .bytes = b->room};
}

void bl__count_bytes(bl__job *j, size_t more) {
    j->bytes += more;
    if (j->bytes > j->stats.peak_bytes)
        j->stats.peak_bytes = j->bytes;
}

int bl__ensure(bl__job *j, bl__buffer *b, size_t bytes) {
    if (b->memory && b->bytes >= bytes)
        return BL_OK;
    bl__release(j, b);
    if (!take_kept(j->c, b, bytes)) {
        int status = bl__alloc(j->c, &b->memory, bytes);
        if (status != BL_OK)
            return status;
        b->bytes = b->room = bytes;
    }
    bl__count_bytes(j, bytes);
    return BL_OK;
}

void bl__release(bl__job *j, bl__buffer *b) {
    j->bytes -= b->bytes;
    if (b->memory && b->room <= j->c->ops->most_kept)
        keep(j->c, b);
    else
        bl__free(j->c, b->memory);
    *b = (bl__buffer){NULL, 0, 0};
}

uint32_t bl__power_of_two(uint64_t at_least) {
    uint64_t n = 2;
    while (n < at_least)
        n *= 2;
    return n > 1u << 31 ? 1u << 31 : (uint32_t)n;
}
