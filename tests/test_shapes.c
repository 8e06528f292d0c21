/* Every queue rejects a shape that does not fit, with the reason; and the Broker Queue's slots can be used in place. */
#include "check.h"

#include <ballast/generated/queues.h>
#include <pthread.h>
#include <stdlib.h>

typedef bl_fit (*fit_function)(bl_shape *shape);
#define X(name)                                                                                                        \
    static bl_fit fit_##name(bl_shape *shape) { return BL_SHAPE_FIT(name, shape); }
BL_QUEUES(X)
#undef X

static const struct {
    const char *name;
    fit_function fit;
    uint32_t least, most_threads;
    int by_handle;
} queues[] = {
#define X(name) {BL_QUEUE_NAME(name), fit_##name, name##_LEAST, name##_MOST_THREADS, name##_BY_HANDLE},
    BL_QUEUES(X)
#undef X
};

static bl_fit fit(fit_function function, uint32_t capacity, uint32_t words, uint32_t threads) {
    bl_shape shape = {capacity, words, threads};
    return function(&shape);
}

static void test_every_queue(void) {
    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
        fit_function f = queues[i].fit;
        check_at("%s", queues[i].name);
        CHECK(fit(f, 0, 1, 1) == BL_FIT_NO_CAPACITY);
        CHECK(fit(f, 1, 1, 1) == (queues[i].least > 1 ? BL_FIT_SMALL_CAPACITY : BL_FIT_EXACT));
        CHECK(fit(f, 2, 1, 1) == BL_FIT_EXACT);
        CHECK(fit(f, 3, 1, 1) == BL_FIT_ROUNDED);
        CHECK(fit(f, 1u << 30, 1, 1) == BL_FIT_EXACT);
        CHECK(fit(f, (1u << 30) + 1, 1, 1) == BL_FIT_LARGE_CAPACITY);
        CHECK(fit(f, UINT32_MAX, 1, 1) == BL_FIT_LARGE_CAPACITY);
        CHECK(fit(f, 4, 0, 1) == BL_FIT_NO_WORDS);
        CHECK(fit(f, 4, 3, 1) == (queues[i].by_handle ? BL_FIT_WORDS_OF_HANDLE : BL_FIT_EXACT));
        CHECK(fit(f, 4, BL_QUEUE_MOST_WORDS + 1, 1) ==
              (queues[i].by_handle ? BL_FIT_WORDS_OF_HANDLE : BL_FIT_MANY_WORDS));
        CHECK(fit(f, 4, 1, 0) == BL_FIT_NO_THREADS);
        CHECK(fit(f, 4, 1, queues[i].most_threads) == BL_FIT_EXACT);
        if (queues[i].most_threads < UINT32_MAX)
            CHECK(fit(f, 4, 1, queues[i].most_threads + 1) == BL_FIT_MANY_THREADS);
    }
}

static void test_rounding(void) {
    static const uint32_t wanted[] = {1, 2, 3, 5, 1000, (1u << 29) + 1}, got[] = {1, 2, 4, 8, 1024, 1u << 30};
    for (int i = 0; i < 6; i++) {
        bl_shape shape = {wanted[i], 1, 1};
        CHECK(BL_SHAPE_FIT(bl_broker, &shape) <= BL_FIT_ROUNDED && shape.capacity == got[i]);
    }
    bl_shape refused = {0, 7, 9};
    CHECK(BL_SHAPE_FIT(bl_broker, &refused) == BL_FIT_NO_CAPACITY && refused.words == 7 && refused.threads == 9);
}

static void test_texts(void) {
    for (int i = BL_FIT_EXACT; i <= BL_FIT_MANY_THREADS; i++) {
        CHECK(bl_fit_text((bl_fit)i)[0]);
        for (int k = BL_FIT_EXACT; k < i; k++)
            CHECK(strcmp(bl_fit_text((bl_fit)i), bl_fit_text((bl_fit)k)) != 0);
    }
}

/* ---- slots in place: half of the threads copy, half do not, on both sides ---- */

enum { THREADS = 4, EACH = 40000 / CHECK_SLOWER, WORDS = 5 };
static const bl_shape slots_shape = {4, WORDS, THREADS};
static void *slots_memory;
static uint32_t seen[THREADS / 2 * EACH];

static void fill(uint32_t *words, uint32_t value) {
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = value * (i + 1);
}

static bool push_one(bl_broker *q, bool in_place, uint32_t value) {
    uint32_t item[WORDS], position = 0, *slot = in_place ? bl_broker_reserve(q, &position) : item;
    if (!slot)
        return false;
    fill(slot, value);
    if (!in_place)
        return bl_broker_push(q, item) == BL_QUEUE_DONE;
    bl_broker_publish(q, position);
    return true;
}

static bool pop_one(bl_broker *q, bool in_place) {
    uint32_t item[WORDS], position = 0;
    const uint32_t *slot = item;
    if (in_place ? !(slot = bl_broker_claim(q, &position)) : bl_broker_pop(q, item) != BL_QUEUE_DONE)
        return false;
    uint32_t value = slot[0];
    for (uint32_t i = 0; i < WORDS; i++)
        if (slot[i] != value * (i + 1))
            value = UINT32_MAX;
    if (in_place)
        bl_broker_release(q, position);
    if (value < THREADS / 2 * EACH)
        bl_fetch_add32_relaxed(seen + value, 1);
    return true;
}

static void *slots_thread(void *argument) {
    uint32_t rank = *(uint32_t *)argument;
    bl_broker q;
    bl_broker_bind(&q, slots_memory, slots_shape, rank);
    for (uint32_t i = 0, tries = 0; i < EACH;) {
        bool moved = rank < THREADS / 2 ? push_one(&q, rank & 1, rank * EACH + i) : pop_one(&q, rank & 1);
        tries = moved ? 0 : tries + 1;
        i += moved;
        if (!moved)
            bl_backoff(tries);
    }
    return NULL;
}

static void test_slots(void) {
    pthread_t threads[THREADS];
    uint32_t ranks[THREADS], position = 0;
    slots_memory = aligned_alloc(BL_LINE, (bl_broker_bytes(slots_shape) + BL_LINE) / BL_LINE * BL_LINE);
    bl_broker q;
    bl_broker_bind(&q, slots_memory, slots_shape, 0);
    bl_broker_init(&q, UINT32_MAX - 5, 0, 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        ranks[i] = i;
        CHECK(pthread_create(threads + i, NULL, slots_thread, ranks + i) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < THREADS / 2 * EACH; i++)
        wrong += seen[i] != 1;
    CHECK(wrong == 0 && bl_broker_size(&q) == 0);
    CHECK(!bl_broker_claim(&q, &position));
    for (uint32_t i = 0; i < slots_shape.capacity; i++)
        CHECK(push_one(&q, true, i));
    CHECK(!bl_broker_reserve(&q, &position));
    free(slots_memory);
}

int main(void) {
    check_limit(100);
    test_every_queue();
    test_rounding();
    test_texts();
    test_slots();
    return check_end();
}
