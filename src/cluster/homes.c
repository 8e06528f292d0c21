#include "homes.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/record.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { BL__NO_HOME = 0x3fffffff }; /* more than BL__AWAY has bits for, by one */

/* A parcel in a list. */
typedef struct bl__arrival {
    struct bl__arrival *next;
    _Alignas(16) bl__parcel parcel;
} bl__arrival;

void bl__homes_begin(bl__homes *h, const bl_program *program) {
    bl__homes_end(h);
    h->join_at = program->result_bytes ? BL__ENTRY_HEAD + program->payload_bytes / 4 : 0;
    h->result_bytes = program->result_bytes;
    h->sums = program->results_at == 0;
    h->free = BL__NO_HOME;
}

void bl__homes_end(bl__homes *h) {
    for (bl__parcel *parcel; (parcel = bl__homes_take(h));)
        bl__parcel_free(parcel);
    free(h->list);
    memset(h, 0, sizeof *h);
}

/* ---- out ---- */

/* A place in the list; BL__NO_HOME: no memory. */
static uint32_t new_home(bl__homes *h) {
    const uint32_t at = h->free;
    if (at != BL__NO_HOME) {
        h->free = h->list[at].join;
        return at;
    }
    if (h->used == h->room) {
        const uint32_t room = h->room ? 2 * h->room : 256;
        bl__home *list = room < BL__NO_HOME ? realloc(h->list, room * sizeof *list) : NULL;
        if (!list)
            return BL__NO_HOME;
        h->list = list;
        h->room = room;
    }
    return h->used++;
}

bool bl__homes_import(bl__homes *h, uint32_t from, uint32_t *entry) {
    if (!h->join_at || entry[h->join_at] & BL__ROOT) /* or nobody wants its results */
        return true;
    const uint32_t at = new_home(h);
    if (at != BL__NO_HOME)
        h->list[at] = (bl__home){from, entry[h->join_at], entry[0], entry[1] - entry[0]};
    entry[h->join_at] = at != BL__NO_HOME ? BL__AWAY | at : BL__NO_JOIN;
    return at != BL__NO_HOME;
}

static bl__parcel *make_parcel(bl__parcel head, const void *results) {
    bl__arrival *a = malloc(sizeof *a + head.bytes);
    if (!a)
        return NULL;
    a->next = NULL;
    a->parcel = head;
    memcpy(&a->parcel + 1, results, head.bytes);
    return &a->parcel;
}

bl__parcel *bl__parcel_copy(const void *bytes) {
    bl__parcel head;
    memcpy(&head, bytes, sizeof head);
    return make_parcel(head, (const unsigned char *)bytes + sizeof head);
}

static bl__arrival *arrival_of(bl__parcel *parcel) {
    return (bl__arrival *)(void *)((char *)parcel - offsetof(bl__arrival, parcel));
}

void bl__parcel_free(bl__parcel *parcel) {
    if (parcel)
        free(arrival_of(parcel));
}

bl__home bl__homes_leave(bl__homes *h, uint32_t join) {
    if (!bl__is_away(join))
        return (bl__home){0, join, 0, 1}; /* of a root */
    const uint32_t at = join & ~BL__AWAY;
    const bl__home home = h->list[at];
    h->list[at].join = h->free;
    h->free = at;
    return home;
}

bl__parcel *bl__homes_pack(const bl__homes *h, const bl__home *home, const void *results) {
    const uint32_t bytes = h->sums ? sizeof(uint64_t) : home->count * h->result_bytes;
    const size_t at = h->sums ? 0 : (size_t)home->begin * h->result_bytes;
    return make_parcel((bl__parcel){home->join, home->begin, home->count, bytes}, (const unsigned char *)results + at);
}

/* ---- home ---- */

void bl__homes_put(bl__homes *h, bl__parcel *parcel) {
    bl__arrival *a = arrival_of(parcel);
    if (h->last)
        h->last->next = a;
    else
        h->first = a;
    h->last = a;
}

bl__parcel *bl__homes_take(bl__homes *h) {
    bl__arrival *a = h->first;
    if (!a)
        return NULL;
    h->first = a->next;
    if (!h->first)
        h->last = NULL;
    return &a->parcel;
}
