/* Validates what a checkpoint says is left of a run. Its numbers choose memory and records, so all of them are checked
 * here before any is used. Payloads, results and the user's memory are not checked: only the program knows what they
 * mean. */
#include "internal.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/record.h>
#include <stdlib.h>
#include <string.h>

typedef struct checking {
    bl_context *c;
    const bl__rest *rest;
    const uint32_t *entries;
    unsigned char *records;
    uint32_t *found; /* of each record, the children that were found */
    bool *returns;   /* of each root, whether something that returns to it was found */
} checking;

static bool cannot_be(const checking *k, const char *what, uint64_t number, const char *why) {
    bl__detail(k->c, "resume %.200s: cannot be left of a run: %s %llu %s", k->c->config.resume, what,
               (unsigned long long)number, why);
    return false;
}

static bl__record *record_at(const checking *k, uint32_t number) {
    return (bl__record *)(void *)(k->records + (size_t)number * k->rest->record_bytes);
}

static bool in_use(const bl__record *r) { return bl__record_out(r->state) != 0; }

/* Where results only add up a record is no more than that. */
static bool adds_up(const bl__rest *rest) { return rest->record_bytes == sizeof(bl__record); }

/* Results `begin` to `end` of `join` come from entry or record `number`. */
static bool check_join(checking *k, uint32_t join, uint64_t begin, uint64_t end, const char *what, uint64_t number) {
    const bl__rest *rest = k->rest;
    if (join == BL__NO_JOIN)
        return true;
    if (join & BL__ROOT) {
        uint32_t root = join & ~BL__ROOT;
        if (root >= rest->roots || end - begin != 1 || k->returns[root])
            return cannot_be(k, what, number, "returns to a root that does not wait for it");
        return k->returns[root] = true;
    }
    if (join >= rest->record_capacity || !in_use(record_at(k, join)) || end - begin > BL__MOST_CHILDREN ||
        (k->found[join] += (uint32_t)(end - begin)) > BL__MOST_CHILDREN ||
        (!adds_up(rest) && end > *bl__record_count(record_at(k, join))))
        return cannot_be(k, what, number, "returns to a join that does not wait for it");
    return true;
}

static bool check_entries(checking *k) {
    const bl__rest *rest = k->rest;
    bool spawns = rest->program->max_spawn || rest->result_bytes;
    for (uint32_t i = 0; i < rest->entries; i++) {
        const uint32_t *entry = k->entries + (size_t)i * rest->words;
        if (entry[0] >= entry[1])
            return cannot_be(k, "entry", i, "ends before it begins");
        if (!spawns && entry[1] > rest->range)
            return cannot_be(k, "entry", i, "goes past the end of the loop");
        if (rest->result_bytes &&
            !check_join(k, entry[BL__ENTRY_HEAD + rest->program->payload_bytes / 4], entry[0], entry[1], "entry", i))
            return false;
    }
    return true;
}

static bool check_records(checking *k) {
    const bl__rest *rest = k->rest;
    for (uint32_t i = 0; i < rest->record_capacity; i++) {
        bl__record *r = record_at(k, i);
        uint32_t out = bl__record_out(r->state);
        if (!adds_up(rest) && out && (*bl__record_count(r) < out || *bl__record_count(r) > rest->program->join_width))
            return cannot_be(k, "join", i, "has another number of children than it can have");
    }
    for (uint32_t i = 0; i < rest->record_capacity; i++) {
        const bl__record *r = record_at(k, i);
        if (in_use(r) && !check_join(k, r->parent, r->slot, (uint64_t)r->slot + 1, "join", i))
            return false;
    }
    return true;
}

/* Every join waits for exactly what is there, and none for itself. */
static bool check_waiting(checking *k) {
    uint32_t *seen = k->found;
    for (uint32_t i = 0; i < k->rest->record_capacity; i++)
        if (bl__record_out(record_at(k, i)->state) != k->found[i])
            return cannot_be(k, "join", i, "waits for another number of children than there are");
    memset(seen, 0, sizeof *seen * k->rest->record_capacity);
    for (uint32_t i = 0; i < k->rest->record_capacity; i++) {
        uint32_t at = i;
        while (!(at & BL__ROOT) && in_use(record_at(k, at)) && seen[at] == 0) {
            seen[at] = i + 1;
            at = record_at(k, at)->parent;
        }
        if (!(at & BL__ROOT) && in_use(record_at(k, at)) && seen[at] == i + 1)
            return cannot_be(k, "join", at, "waits for itself");
    }
    return true;
}

int bl__rest_check(bl_context *c, const bl__rest *rest, const uint32_t *entries, unsigned char *records) {
    checking k = {.c = c, .rest = rest, .entries = entries, .records = records};
    k.found = calloc((size_t)rest->record_capacity + 1, sizeof *k.found);
    k.returns = calloc((size_t)rest->roots + 1, sizeof *k.returns);
    int status = !k.found || !k.returns                                        ? bl__no_memory(c, "the checkpoint")
                 : check_records(&k) && check_entries(&k) && check_waiting(&k) ? BL_OK
                                                                               : BL_EFILE;
    free(k.found);
    free(k.returns);
    return status;
}
