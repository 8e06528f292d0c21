/* Memory of a run: buffers on the device, which grow, and what they take in all. */
#include "job.h"

int bl__ensure(bl__job *j, bl__buffer *b, size_t bytes) {
    if (b->memory && b->bytes >= bytes)
        return BL_OK;
    bl__free(j->c, b->memory);
    j->bytes -= b->bytes;
    b->memory = NULL;
    b->bytes = 0;
    int status = bl__alloc(j->c, &b->memory, bytes);
    if (status == BL_OK) {
        b->bytes = bytes;
        j->bytes += bytes;
        if (j->bytes > j->stats.peak_bytes)
            j->stats.peak_bytes = j->bytes;
    }
    return status;
}

void bl__release(bl__job *j, bl__buffer *b) {
    bl__free(j->c, b->memory);
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
