/* Every queue that the build discovered. */
#include "queue_client.h"

#include <string.h>

#define PROVE_FUNCTIONS(q)                                                                                             \
    static void bind_##q(prove_view *v, void *memory, bl_shape shape, uint32_t thread) {                               \
        q##_bind(&v->q##_view, memory, shape, thread);                                                                 \
    }                                                                                                                  \
    static void init_##q(prove_view *v, uint32_t start) { q##_init(&v->q##_view, start, 0, 1); }                       \
    static bl_outcome push_##q(prove_view *v, const uint32_t *item) { return q##_push(&v->q##_view, item); }           \
    static bl_outcome pop_##q(prove_view *v, uint32_t *item) { return q##_pop(&v->q##_view, item); }                   \
    static bl_outcome steal_##q(prove_view *v, uint32_t *item) { return q##_steal(&v->q##_view, item); }               \
    static uint32_t push_n_##q(prove_view *v, const uint32_t *items, uint32_t n) {                                     \
        return q##_push_n(&v->q##_view, items, n);                                                                     \
    }                                                                                                                  \
    static uint32_t pop_n_##q(prove_view *v, uint32_t *items, uint32_t n) {                                            \
        return q##_pop_n(&v->q##_view, items, n);                                                                      \
    }                                                                                                                  \
    static uint32_t steal_n_##q(prove_view *v, uint32_t *items, uint32_t n) {                                          \
        return q##_steal_n(&v->q##_view, items, n);                                                                    \
    }                                                                                                                  \
    static uint32_t size_##q(const prove_view *v) { return q##_size(&v->q##_view); }
#define PROVE_ROW(q)                                                                                                   \
    {BL_QUEUE_NAME(q), q##_KIND, q##_FLAGS, q##_BY_HANDLE, q##_LEAST, q##_bytes,   bind_##q, init_##q,                 \
     push_##q,         pop_##q,  steal_##q, push_n_##q,    pop_n_##q, steal_n_##q, size_##q},

BL_QUEUES(PROVE_FUNCTIONS)
const prove_queue prove_queues[] = {BL_QUEUES(PROVE_ROW)};
const uint32_t prove_queue_count = sizeof prove_queues / sizeof prove_queues[0];

#ifdef bl_broker_KIND
static bl_outcome put_broker(prove_view *v, const uint32_t *item, uint32_t words) {
    uint32_t position, *slot = bl_broker_reserve(&v->bl_broker_view, &position);
    if (!slot)
        return BL_QUEUE_FULL;
    bl_data_write(slot, item, words);
    bl_broker_publish(&v->bl_broker_view, position);
    return BL_QUEUE_DONE;
}
static bl_outcome get_broker(prove_view *v, uint32_t *item, uint32_t words) {
    uint32_t position;
    const uint32_t *slot = bl_broker_claim(&v->bl_broker_view, &position);
    if (!slot)
        return BL_QUEUE_EMPTY;
    bl_data_read(item, slot, words);
    bl_broker_release(&v->bl_broker_view, position);
    return BL_QUEUE_DONE;
}
#endif
#ifdef bl_sfq_KIND
static void close_sfq(prove_view *v) { bl_sfq_close(&v->bl_sfq_view); }
#endif

static const prove_more more[] = {
#ifdef bl_broker_KIND
    {"broker", put_broker, get_broker, NULL},
#endif
#ifdef bl_sfq_KIND
    {"sfq", NULL, NULL, close_sfq},
#endif
    {NULL, NULL, NULL, NULL}};

const prove_more *prove_more_of(uint32_t queue) {
    const prove_more *m = more;
    while (m->queue && strcmp(m->queue, prove_queues[queue].name) != 0)
        m++;
    return m;
}
