/* What a run that ends early has not run: how many tasks, and each entry for config.left. */
#include "job.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/record.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096 }; /* entries or records that one copy brings to the host */

typedef struct giving {
    bl__job *j;
    unsigned char *chunk;
    void *payload; /* aligned, which entries are not */
} giving;

static void give(const giving *g, const void *payload, uint32_t begin, uint32_t end) {
    const bl_config *config = &g->j->c->config;
    if (!config->left)
        return;
    memcpy(g->payload, payload, g->j->plan.program->payload_bytes);
    config->left(config->left_arg, g->payload, begin, end);
}

static void give_entry(const giving *g, const unsigned char *at) {
    uint32_t head[BL__ENTRY_HEAD];
    memcpy(head, at, sizeof head);
    g->j->stats.left += head[1] - head[0];
    give(g, at + sizeof head, head[0], head[1]);
}

/* A fork that waits for its children. Where results only add up it keeps no payload. */
static void give_record(const giving *g, const unsigned char *at) {
    bl__record r;
    memcpy(&r, at, sizeof r);
    if (bl__record_out(r.state) && !bl__is_away(r.parent))
        give(g, at + g->j->plan.program->payload_at, 0, 0);
}

static int give_all(const giving *g, const unsigned char *from, uint32_t count, size_t bytes,
                    void (*give_one)(const giving *, const unsigned char *)) {
    for (uint32_t i = 0; i < count; i += CHUNK) {
        uint32_t n = count - i < CHUNK ? count - i : CHUNK;
        int status = bl__copy_out(g->j->c, g->chunk, from + (size_t)i * bytes, n * bytes);
        for (uint32_t k = 0; k < n && status == BL_OK; k++)
            give_one(g, g->chunk + k * bytes);
        if (status != BL_OK)
            return status;
    }
    return BL_OK;
}

int bl__give_left(bl__job *j) {
    const bl_program *p = j->plan.program;
    const size_t entry = 4u * (size_t)j->run.words, record = p->record_bytes;
    const void *entries = j->flat.memory ? j->flat.memory : j->in.memory;
    const bool loop = j->run.of_range.loop_tasks != 0; /* no worker has begun it */
    giving g = {j, malloc(CHUNK * (entry > record ? entry : record)), NULL};
    int status = g.chunk && posix_memalign(&g.payload, BL_LINE, p->payload_bytes + 1u) == 0
                     ? BL_OK
                     : bl__no_memory(j->c, "what is left");
    if (status == BL_OK)
        status = give_all(&g, entries, loop ? 1 : j->entries, entry, give_entry);
    for (const uint32_t *at; status == BL_OK && j->c->open && (at = bl__inlet_left(j));)
        give_entry(&g, (const unsigned char *)at);
    if (status == BL_OK && p->results_at && j->records.memory && j->c->config.left)
        status = give_all(&g, j->records.memory, j->run.record_capacity, record, give_record);
    free(g.payload);
    free(g.chunk);
    return status;
}
