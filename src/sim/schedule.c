/* Who goes on: a random walk that stays on a fiber every other time, so that both short and long turns occur. */
#include "sim.h"

#include <stdlib.h>

bool bl__schedule_open(bl__schedule *s, uint32_t fibers, bl_sim_options *options) {
    *s = (bl__schedule){.options = options, .random = options->seed, .count = fibers, .fibers = fibers};
    s->runnable = malloc(sizeof *s->runnable * fibers);
    s->place = malloc(sizeof *s->place * fibers);
    options->record_count = 0;
    if (!s->runnable || !s->place)
        return false;
    for (uint32_t i = 0; i < fibers; i++)
        s->runnable[i] = s->place[i] = i;
    return true;
}

void bl__schedule_close(bl__schedule *s) {
    free(s->runnable);
    free(s->place);
}

void bl__schedule_add(bl__schedule *s, uint32_t fiber) {
    s->place[fiber] = s->count;
    s->runnable[s->count++] = fiber;
}

void bl__schedule_remove(bl__schedule *s, uint32_t fiber) {
    uint32_t at = s->place[fiber], last = s->runnable[--s->count];
    s->runnable[at] = last;
    s->place[last] = at;
    s->place[fiber] = BL__NOBODY;
}

/* splitmix64: any seed will do, also 0, and neighbouring seeds give unrelated runs. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t random, uint32_t n) { return (uint32_t)((random >> 32) * n >> 32); }

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
    uint32_t next = draw(s, next_random(&s->random), self, yields);
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
