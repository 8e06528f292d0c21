/* Example 3, a queue on its own: threads pass small structs through the Broker Queue. You need only the header: there
 * is no library to link, and the caller provides the memory.
 *
 *     cc -O2 -pthread 03_queue_alone.c -o 03_queue_alone
 *
 * Every queue in include/ballast/queues works the same way, with its name as the prefix. */
#define _GNU_SOURCE
#include <ballast/queues/broker.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRODUCERS = 2, CONSUMERS = 2, ORDERS = 100000 };

typedef struct order {
    uint32_t customer, number, price;
} order;

static void *memory;
static bl_shape shape = {1000, sizeof(order) / 4, PRODUCERS + CONSUMERS}; /* capacity, words per item, threads */
static uint64_t paid, filled;

/* Copies items in. FULL means: try again later. */
static void *produce(void *argument) {
    uint32_t customer = *(uint32_t *)argument;
    bl_broker q;
    bl_broker_bind(&q, memory, shape, customer);
    for (uint32_t i = 0; i < ORDERS; i++) {
        order o = {customer, i, i % 100};
        for (uint32_t tries = 0; bl_broker_push(&q, (const uint32_t *)&o) == BL_QUEUE_FULL; tries++)
            bl_backoff(tries);
    }
    return NULL;
}

/* Reads items in place, without copying them. */
static void *consume(void *argument) {
    bl_broker q;
    bl_broker_bind(&q, memory, shape, *(uint32_t *)argument);
    for (uint32_t tries = 0; bl_load64_relaxed(&filled) < (uint64_t)PRODUCERS * ORDERS;) {
        uint32_t position;
        const order *o = (const order *)bl_broker_claim(&q, &position);
        if (!o) {
            bl_backoff(tries++);
            continue;
        }
        bl_fetch_add64_relaxed(&paid, o->price);
        bl_broker_release(&q, position);
        bl_fetch_add64_relaxed(&filled, 1);
        tries = 0;
    }
    return NULL;
}

int main(void) {
    bl_fit fit = BL_SHAPE_FIT(bl_broker, &shape);
    if (fit > BL_FIT_ROUNDED) {
        fprintf(stderr, "no such queue: %s\n", bl_fit_text(fit));
        return 1;
    }
    printf("capacity %u: %s\n", (unsigned)shape.capacity, bl_fit_text(fit));
    size_t bytes = (bl_broker_bytes(shape) + BL_LINE - 1) / BL_LINE * BL_LINE;
    memory = aligned_alloc(BL_LINE, bytes);
    if (!memory)
        return 1;
    bl_broker q;
    bl_broker_bind(&q, memory, shape, 0);
    bl_broker_init(&q, 0, 0, 1);

    pthread_t threads[PRODUCERS + CONSUMERS];
    uint32_t numbers[PRODUCERS + CONSUMERS];
    for (uint32_t i = 0; i < PRODUCERS + CONSUMERS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, i < PRODUCERS ? produce : consume, &numbers[i]))
            return 1;
    }
    for (uint32_t i = 0; i < PRODUCERS + CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    printf("%llu orders, %llu paid\n", (unsigned long long)filled, (unsigned long long)paid);
    free(memory);
    return paid == (uint64_t)PRODUCERS * ORDERS / 100 * 4950 ? 0 : 1;
}
