/* Where views are kept until the end of an execution. */
#include "explorer_parts.h"

#include <stdlib.h>
#include <string.h>

uint32_t bl__arena_take(bl__explorer *x, uint32_t n) {
    if (x->arena_used + n > x->arena_capacity) {
        uint16_t *larger = realloc(x->arena, sizeof *larger * 2 * x->arena_capacity);
        if (!larger)
            bl__explore_wrong(x, "no memory");
        x->arena = larger;
        x->arena_capacity *= 2;
    }
    x->arena_used += n;
    return x->arena_used - n;
}

uint32_t bl__arena_keep(bl__explorer *x, const uint16_t *view, uint32_t n) {
    uint32_t at = bl__arena_take(x, n);
    memcpy(x->arena + at, view, sizeof *view * n);
    return at;
}
