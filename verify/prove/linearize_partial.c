/* Wing and Gong's search without a memo, since these histories have only a handful of operations. EMPTY and FULL change
 * nothing, so if one fits no other choice is tried. */
#include "linearize_partial.h"

#include <string.h>

static bool fits(const history *h, uint32_t i) {
    uint32_t held = h->last - h->first;
    switch (h->ops[i].act) {
    case HISTORY_ADD:
        return !h->capacity || held < h->capacity;
    case HISTORY_TAKE_OLDEST:
        return held && h->items[h->first] == h->ops[i].value;
    case HISTORY_TAKE_NEWEST:
        return held && h->items[h->last - 1] == h->ops[i].value;
    case HISTORY_EMPTY:
        return !held;
    case HISTORY_FULL:
        return held == h->capacity;
    }
    return false;
}

static bool search(history *h, uint32_t done);

static bool go_on(history *h, uint32_t done, uint32_t i) {
    uint32_t first = h->first, last = h->last, overwritten = h->items[last];
    switch (h->ops[i].act) {
    case HISTORY_ADD:
        h->items[h->last++] = h->ops[i].value;
        break;
    case HISTORY_TAKE_OLDEST:
        h->first++;
        break;
    case HISTORY_TAKE_NEWEST:
        h->last--;
        break;
    default:
        break;
    }
    if (search(h, done | 1u << i))
        return true;
    h->first = first;
    h->last = last;
    h->items[last] = overwritten;
    return false;
}

static bool is_left(const history *h) {
    return h->last - h->first == h->rest_count &&
           !memcmp(h->items + h->first, h->rest, h->rest_count * sizeof h->rest[0]);
}

static bool search(history *h, uint32_t done) {
    if (done == (h->count < 32 ? (1u << h->count) - 1 : UINT32_MAX))
        return is_left(h);
    for (uint32_t i = 0; i < h->count; i++) {
        if (done >> i & 1 || h->ops[i].before & ~done || !fits(h, i))
            continue;
        if (go_on(h, done, i))
            return true;
        if (h->ops[i].act >= HISTORY_EMPTY)
            return false;
    }
    return false;
}

bool history_explained(history *h) {
    h->first = 0;
    h->last = h->filled;
    for (uint32_t i = 0; i < h->filled; i++)
        h->items[i] = i + 1;
    return search(h, 0);
}
