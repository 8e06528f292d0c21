/* Queues that are known to be wrong, on the simulated machine: a given number of schedules must expose them, and their
 * corrected forms must survive the same schedules. A check that finds nothing here would find nothing elsewhere. */
#include "check.h"

#include "../verify/witness/shann_published.h"
#include "sim/machine.h"
#include <stdlib.h>

enum { CAPACITY = 2, SEEDS = 2000 / CHECK_SLOWER };

typedef struct queue {
    const char *name;
    size_t (*bytes)(bl_shape shape);
    void (*bind)(bl_shann *q, void *memory, bl_shape shape, uint32_t thread);
    void (*init)(bl_shann *q, uint32_t start, uint32_t rank, uint32_t size);
    bl_outcome (*push)(bl_shann *q, const uint32_t *item);
    bl_outcome (*pop)(bl_shann *q, uint32_t *item);
    uint32_t (*size)(const bl_shann *q);
} queue;

#define QUEUE(name)                                                                                                    \
    { BL_QUEUE_NAME(name), name##_bytes, name##_bind, name##_init, name##_push, name##_pop, name##_size }
static const queue published = QUEUE(bl_shann_published), corrected = QUEUE(bl_shann);

/* One thread pushes 1, 2, .. and one pops, a fixed number of attempts each. When both have ended, the rest is
 * popped. */
typedef struct client {
    const queue *queue;
    bl_shann q;
    uint32_t pushes, pops;   /* tries */
    uint32_t pushed, popped; /* successes */
    bool in_order;
} client;

static void client_push(client *c) {
    uint32_t value = c->pushed + 1;
    if (c->queue->push(&c->q, &value) == BL_QUEUE_DONE)
        c->pushed++;
}
static bool client_pop(client *c) {
    uint32_t value = 0;
    if (c->queue->pop(&c->q, &value) != BL_QUEUE_DONE)
        return false;
    c->in_order = c->in_order && value == c->popped + 1;
    c->popped++;
    return true;
}

static void body(void *argument, uint32_t block, uint32_t lane) {
    client *c = argument;
    (void)lane;
    for (uint32_t i = 0; block == 0 && i < c->pushes; i++)
        client_push(c);
    for (uint32_t i = 0; block == 1 && i < c->pops; i++)
        client_pop(c);
}

/* At rest: the size is right, and the remaining items come out in order. Returns NULL, or what is wrong. */
static const char *audit(client *c) {
    uint32_t size = c->queue->size(&c->q), in = c->pushed - c->popped;
    if (size != in)
        return size < in ? "an item was lost" : "there is a hole";
    while (client_pop(c))
        ;
    return !c->in_order ? "items came out in the wrong order" : c->popped != c->pushed ? "an item was lost" : NULL;
}

static const char *run(const queue *queue, uint32_t filled, uint32_t pushes, uint32_t pops, uint64_t seed) {
    client c = {.queue = queue, .pushes = pushes, .pops = pops, .in_order = true};
    bl_shape shape = {CAPACITY, 1, 2};
    bl_sim_options options = {.seed = seed, .max_points = 100000};
    void *memory = aligned_alloc(BL_LINE, (queue->bytes(shape) + BL_LINE - 1) / BL_LINE * BL_LINE);
    if (!memory)
        abort();
    queue->bind(&c.q, memory, shape, 0);
    queue->init(&c.q, UINT32_MAX, 0, 1);
    for (uint32_t i = 0; i < filled; i++)
        client_push(&c);
    const char *wrong = bl_sim_run(2, 1, body, &c, &options) == BL_SIM_DONE ? audit(&c) : "it hangs";
    free(memory);
    return wrong;
}

/* The number of schedules that go wrong; prints what the first one shows. */
static uint32_t count_wrong(const queue *queue, uint32_t filled, uint32_t pushes, uint32_t pops) {
    uint32_t count = 0;
    check_at("%s, %u filled, %u pushes, %u pops", queue->name, filled, pushes, pops);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const char *wrong = run(queue, filled, pushes, pops, seed);
        if (wrong && count++ == 0)
            printf("%s, %u filled, %u pushes, %u pops, seed %llu: %s\n", queue->name, filled, pushes, pops,
                   (unsigned long long)seed, wrong);
    }
    return count;
}

int main(void) {
    static const uint32_t clients[][3] = {{0, 1, 1}, {CAPACITY, 1, 1}, {1, 4, 4}};
    check_limit(60);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t *c = clients[i];
        CHECK(count_wrong(&published, c[0], c[1], c[2]) > 0);
        CHECK_SAME(count_wrong(&corrected, c[0], c[1], c[2]), 0);
    }
    return check_end();
}
