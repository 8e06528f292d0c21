/* Which fiber runs next: a random walk that stays on a fiber every other time, so that both short and long turns
 * occur; or the fiber whose clock is lowest. */
#include "machine.h"

#include <ballast/parts/random.h>
#include <stdlib.h>

bool bl__schedule_open(bl__schedule *s, uint32_t fibers, bl_sim_options *options) {
    *s = (bl__schedule){.options = options, .random = options->seed, .count = fibers, .fibers = fibers};
    s->place = malloc(sizeof *s->place * fibers);
    if (options->timed) {
        s->heap = calloc(fibers, sizeof *s->heap);
        s->turns = calloc(fibers, sizeof *s->turns);
    } else {
        s->runnable = malloc(sizeof *s->runnable * fibers);
    }
    options->record_count = 0;
    if (!s->place || (options->timed ? !s->heap || !s->turns : !s->runnable))
        return false;
    for (uint32_t i = 0; i < fibers; i++) {
        s->place[i] = i;
        if (s->turns)
            s->heap[i].fiber = s->turns[i].fiber = i;
        else
            s->runnable[i] = i;
    }
    return true;
}

void bl__schedule_close(bl__schedule *s) {
    free(s->runnable);
    free(s->heap);
    free(s->place);
    free(s->turns);
}

static uint32_t below(uint64_t random, uint32_t n) { return (uint32_t)((random >> 32) * n >> 32); }

/* ---- virtual time ---- */

/* Without branches: nobody can predict them. */
static bool sooner(const bl__turn *a, const bl__turn *b) {
    return (a->clock < b->clock) | ((a->clock == b->clock) & (a->tie < b->tie));
}

static void put(bl__schedule *s, uint32_t at, bl__turn turn) {
    s->heap[at] = turn;
    s->place[turn.fiber] = at;
}

static void rise(bl__schedule *s, uint32_t at) {
    const bl__turn turn = s->heap[at];
    for (; at && sooner(&turn, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(s, at, s->heap[(at - 1) / 2]);
    put(s, at, turn);
}

static void sink(bl__schedule *s, uint32_t at) {
    const bl__turn turn = s->heap[at];
    for (uint32_t child; (child = 2 * at + 1) < s->count; at = child) {
        if (child + 1 < s->count)
            child += sooner(&s->heap[child + 1], &s->heap[child]);
        if (!sooner(&s->heap[child], &turn))
            break;
        put(s, at, s->heap[child]);
    }
    put(s, at, turn);
}

/* Clocks only move on, so a fiber in the heap only sinks. */
static void set_clock(bl__schedule *s, uint32_t fiber, uint64_t clock, uint32_t tie) {
    const uint32_t at = s->place[fiber];
    s->turns[fiber] = (bl__turn){clock, tie, fiber};
    if (at == BL__NOBODY)
        return;
    s->heap[at] = s->turns[fiber];
    sink(s, at);
}

void bl__schedule_spend(bl__schedule *s, uint32_t fiber, uint64_t ticks) {
    if (!s->turns)
        return;
    uint64_t random = bl__splitmix64(&s->random);
    uint32_t most = ticks / 8 < UINT32_MAX - 2 ? (uint32_t)(ticks / 8) : UINT32_MAX - 2;
    set_clock(s, fiber, s->turns[fiber].clock + ticks + below(random, most + 2), (uint32_t)random);
}

void bl__schedule_delay(bl__schedule *s, uint32_t fiber, uint64_t until) {
    if (s->turns && s->turns[fiber].clock < until)
        set_clock(s, fiber, until, (uint32_t)bl__splitmix64(&s->random));
}

/* ---- the choice ---- */

void bl__schedule_add(bl__schedule *s, uint32_t fiber) {
    const uint32_t at = s->count++;
    if (s->turns) {
        s->heap[at] = s->turns[fiber];
        rise(s, at);
    } else {
        s->runnable[at] = fiber;
        s->place[fiber] = at;
    }
}

void bl__schedule_remove(bl__schedule *s, uint32_t fiber) {
    const uint32_t at = s->place[fiber], last = --s->count;
    s->place[fiber] = BL__NOBODY;
    if (at == last)
        return;
    if (s->turns) {
        const uint32_t moved = s->heap[last].fiber;
        s->heap[at] = s->heap[last];
        sink(s, at);
        rise(s, s->place[moved]);
    } else {
        s->runnable[at] = s->runnable[last];
        s->place[s->runnable[at]] = at;
    }
}

static uint32_t draw(const bl__schedule *s, uint64_t random, uint32_t self, bool yields) {
    uint32_t at = self == BL__NOBODY ? BL__NOBODY : s->place[self];
    if (at == BL__NOBODY || (yields && s->count == 1))
        return s->runnable[below(random, s->count)];
    if (yields) {
        uint32_t other = below(random, s->count - 1);
        return s->runnable[other + (other >= at ? 1 : 0)];
    }
    return random & 1 ? self : s->runnable[below(random, s->count)];
}

uint32_t bl__schedule_next(bl__schedule *s, uint32_t self, bool yields) {
    bl_sim_options *o = s->options;
    /* Drawn during a replay too: the start of a record and its seed then give the whole run. */
    uint32_t next = s->turns ? s->heap[0].fiber : draw(s, bl__splitmix64(&s->random), self, yields);
    size_t decision = s->decisions++;
    if (o->replay && decision < o->replay_count) {
        uint32_t wanted = o->replay[decision];
        if (wanted < s->fibers && s->place[wanted] != BL__NOBODY)
            next = wanted;
    }
    if (o->record && decision < o->record_capacity)
        o->record[o->record_count++] = next;
    return next;
}
