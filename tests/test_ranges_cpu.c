// COMPILE: -O1
/* The contract of every range with threads: 1, 2 and 4 of them, and more than there are cores. */
#include "check.h"

#include "each_range.h"
#include <pthread.h>
#include <stdlib.h>

typedef void (*ranges_entry)(ranges_client *c, ranges_what what, uint32_t rank);
#define RANGES_PATIENCE UINT64_C(15000000000) /* ns */

typedef struct thread {
    ranges_entry entry;
    ranges_client *client;
    ranges_what what;
    uint32_t rank;
} thread;

static void *thread_main(void *argument) {
    thread *t = argument;
    t->entry(t->client, t->what, t->rank);
    return NULL;
}

enum { MOST_THREADS = 16 };

static bool ranges_launch(ranges_entry entry, ranges_client *client, ranges_what what) {
    pthread_t ids[MOST_THREADS];
    thread parts[MOST_THREADS];
    for (uint32_t i = 0; i < client->threads; i++) {
        parts[i] = (thread){entry, client, what, i};
        if (pthread_create(ids + i, NULL, thread_main, parts + i))
            abort();
    }
    for (uint32_t i = 0; i < client->threads; i++)
        pthread_join(ids[i], NULL);
    return true;
}

#include "../verify/ranges_host.h"

enum { STEPS = 300000 / CHECK_SLOWER };

static void crowds(const ranges_range *r) {
    for (uint32_t threads = 2; threads <= 8; threads *= 2)
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t steps = STEPS / threads;
            ranges_run(r, ranges_shape(threads, i ? RANGES_MOST : 3, steps, 0, ranges_bases[i], threads),
                       RANGES_TRAFFIC);
            ranges_run(r, ranges_shape(threads, 1 + 2 * i, steps, 1, ranges_bases[i], threads), RANGES_TRAFFIC);
        }
}

static void drains(const ranges_range *r) {
    for (uint32_t round = 0; round < 300 / CHECK_SLOWER; round++)
        ranges_run(r, ranges_shape(2 + round % 4, 1 + round % RANGES_MOST, 0, 1, 0, round), RANGES_DRAIN);
}

int main(void) {
    check_limit(220);
    for (int i = 0; i < RANGES; i++) {
        ranges_all_alone(ranges + i, 3000);
        crowds(ranges + i);
        drains(ranges + i);
    }
    return check_end();
}
