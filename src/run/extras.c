/* CPU: what workers keep in memory of their own because it found no room, entries and results of wide forks; and how
 * the host gets at it. */
#include "job.h"

#include <ballast/parts/gate.h>
#include <ballast/parts/record.h>
#include <stdlib.h>
#include <string.h>

/* ---- called by workers ---- */

uint32_t *bl__extra_slot(bl__stack *s, uint32_t words) {
    if (s->extras == s->extra.room) {
        uint32_t room = s->extra.room ? 2 * s->extra.room : 64;
        uint32_t *more = room > s->extra.room ? realloc(s->extra.entries, 4u * (size_t)room * words) : NULL;
        if (!more)
            return NULL;
        s->extra.entries = more;
        s->extra.room = room;
    }
    return s->extra.entries + (size_t)s->extras++ * words;
}

unsigned char *bl__wide_results(const bl__run *run, size_t bytes) {
    void *results;
    if (posix_memalign(&results, BL_LINE, bytes))
        return NULL;
    bl_store32_relaxed(&run->control->wide, 1);
    return results;
}

void bl__wide_free(unsigned char *results) { free(results); }

/* ---- called by the host while no worker runs ---- */

static bool has_extras(const bl__job *j) { return j->c->ops->workers_allocate && j->run.memory; }

static bl__stack *stack_of(const bl__job *j, uint32_t worker) { return bl__stack_of(&j->run, worker); }

void bl__extras_start(bl__job *j) {
    for (uint32_t i = 0; has_extras(j) && i < j->run.workers; i++)
        memset(stack_of(j, i), 0, sizeof(bl__stack));
}

uint64_t bl__extras_count(const bl__job *j) {
    uint64_t count = 0;
    for (uint32_t i = 0; has_extras(j) && i < j->run.workers; i++)
        count += stack_of(j, i)->extras;
    return count;
}

void bl__extras_take(bl__job *j, uint32_t *entries) {
    for (uint32_t i = 0; has_extras(j) && i < j->run.workers; i++) {
        bl__stack *s = stack_of(j, i);
        size_t words = (size_t)s->extras * j->run.words;
        if (words)
            memcpy(entries, s->extra.entries, 4 * words);
        entries += words;
        s->extras = 0;
    }
}

static void free_wide(const bl__job *j) {
    const bl_program *p = j->plan.program;
    for (uint32_t i = 0; i < j->run.record_capacity; i++) {
        bl__record *r = bl__record_at(&j->run, i);
        if (bl__record_out(r->state) && *bl__record_count(r) > p->join_width)
            bl__wide_free(*bl__record_wide(r, p->results_at));
    }
}

uint64_t bl__extras_bytes(const bl__job *j) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; has_extras(j) && i < j->run.workers; i++)
        bytes += 4u * (uint64_t)stack_of(j, i)->extra.room * j->run.words;
    return bytes;
}

void bl__extras_end(bl__job *j) {
    for (uint32_t i = 0; has_extras(j) && i < j->run.workers; i++)
        free(stack_of(j, i)->extra.entries);
    if (j->wide)
        free_wide(j);
}
