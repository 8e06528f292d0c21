/* How results leave a GPU that shares a run (parts/outside.h): workers leave records whose children have all returned
 * to the porter, in a list; the porter puts what is in them into a ring, and the host empties that. Every record
 * arrives once, with the results that its last worker saw, however often the ring goes round. Workers are idle then,
 * and the porter says so when it has nothing to send: the host does not take that for true while a record is under way.
 * Results that come home use such a ring, too. */
#include "prove.h"

#include <ballast/parts/outside.h>
#include <ballast/runtime/termination.h>

#include <stdio.h>
#include <string.h>

enum { WORKERS = 2, EACH = 2, RECORDS = WORKERS * EACH, RING = 2, STRIDE = 4 };

typedef struct protocol {
    uint32_t workers, each;
    bl__run run;
    bl__control control;
    bl__notes notes;
    bl__record records[RECORDS];
    uint32_t results[RECORDS];
    uint32_t slots[RING * STRIDE];
    uint32_t seen; /* a bit for each record */
} protocol;

static uint32_t total(const protocol *p) { return p->workers * p->each; }

static void finish(protocol *p, uint32_t number) {
    const uint32_t result = 100 + number;
    bl_data_write(&p->results[number], &result, 1);
    bl__leave_to_porter(&p->run, number, number);
}

static void carry(protocol *p) {
    const bl__parcels *ring = &p->run.outlet.away;
    for (uint32_t at = ring->moved, left = total(p), tries = 0; left; left--, at++) {
        uint32_t number, *word = bl__parcel_slot(ring, at);
        while (!bl__parcel_has_room(ring, at))
            bl_wait_change32(word, at - RING + 1, &tries); /* one of the last lap */
        while ((number = bl__next_finished(&p->run)) == BL__NO_JOIN) {
            const uint64_t idle = bl__idle_read(&p->control);
            if (bl__idle_all(idle, p->workers))
                bl__tell_dry(&p->run, idle);
            bl_wait_change32(&p->control.finished, 0, &tries);
        }
        uint32_t parcel[2] = {number, 0};
        bl_data_read(parcel + 1, &p->results[number], 1);
        if (bl_load64_relaxed(&p->records[number].state) != (number | BL__ONE_CHILD))
            bl_explore_fail("another sum, or a record that is free");
        bl_data_write(word + 1, parcel, 2);
        bl__parcel_fill(ring, at);
        p->control.sent++;
    }
}

/* As the host does that has fetched so many. */
static void look_if_dry(const protocol *p, uint32_t fetched) {
    const uint64_t dry = bl_load64_host_acquire(&p->notes.dry);
    if (dry != UINT64_MAX && (uint32_t)(dry >> 32) == p->run.outlet.away.moved + fetched)
        bl_explore_fail("dry while a result is under way");
}

static void take_all(protocol *p) {
    const bl__parcels *ring = &p->run.outlet.away;
    for (uint32_t at = ring->moved, left = total(p), tries = 0; left; left--, at++) {
        uint32_t parcel[2], *word = bl__parcel_slot(ring, at);
        look_if_dry(p, total(p) - left);
        while (!bl__parcel_is_there(ring, at))
            bl_wait_change32(word, at, &tries);
        bl_data_read(parcel, word + 1, 2);
        if (parcel[0] >= total(p) || parcel[1] != 100 + parcel[0])
            bl_explore_fail("the results of another record");
        if (p->seen >> parcel[0] & 1)
            bl_explore_fail("a record arrives twice");
        p->seen |= 1u << parcel[0];
        bl__parcel_clear(ring, at);
    }
}

static void body(void *arg, uint32_t actor, uint32_t lane) {
    protocol *p = arg;
    (void)lane;
    if (actor == p->workers)
        carry(p);
    else if (actor > p->workers)
        take_all(p);
    else
        for (uint32_t i = 0; i < p->each; i++) {
            finish(p, actor * p->each + i);
            if (i + 1 == p->each)
                bl__idle_enter(&p->control);
        }
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->records, 0, sizeof p->records);
    memset(p->results, 0, sizeof p->results);
    memset(p->slots, 0, sizeof p->slots);
    p->seen = 0;
    p->notes.dry = UINT64_MAX;
    p->run = (bl__run){.control = &p->control,
                       .records = (unsigned char *)p->records,
                       .record_bytes = sizeof p->records[0],
                       .outlet = {.notes = &p->notes, .away = {p->slots, RING - 1, STRIDE, 7 * RING}}};
    for (uint32_t i = 0; i < RING; i++)
        *bl__parcel_slot(&p->run.outlet.away, i) = 7 * RING + i;
}

static const char *after(void *arg) {
    const protocol *p = arg;
    return p->seen != (1u << total(p)) - 1 ? "a record is lost" : p->control.finished ? "the list is not empty" : NULL;
}

static uint32_t count(void) { return WORKERS * EACH; }

static void sizes(uint32_t i, protocol *p) {
    p->workers = i / EACH + 1;
    p->each = i % EACH + 1;
}

static void text(uint32_t i, char text[PROVE_TEXT]) {
    protocol p;
    sizes(i, &p);
    snprintf(text, PROVE_TEXT, "parcels %u workers %u records", p.workers, p.each);
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = prove_explore_options(limits, before, after);
    sizes(i, &p);
    return bl_explore(p.workers + 2, body, &p, &o, result);
}

const prove_family prove_parcels = {"parcels", count, text, explore};
