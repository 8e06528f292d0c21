/* Ten alternating pushes and pops: the interface of another library's queue, and the loop, the same for all. Plain C11
 * that is also C++17. */
#ifndef BALLAST_BENCH_QUEUES_PEERS_H
#define BALLAST_BENCH_QUEUES_PEERS_H

#include "queues/bench_job.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PAIRS_A_ROUND = BENCH_ROUNDS * BENCH_PAIRS, /* as many as ours do between two checks of the clock */
    PAIRS_CAPACITY = 1024                       /* of queues that are bounded */
};

/* `pairs` is one thread's share: rounds until bl_time() is `until`, at least one, each of which pushes the values
 * `first`, `first` + 1 and so on, and pops as many. It returns the sum of the squares of the popped values. */
typedef struct pairs_peer {
    void *(*open)(void);
    uint64_t (*pairs)(void *queue, uint32_t first, uint64_t until, uint32_t *rounds);
    void (*close)(void *queue);
} pairs_peer;

extern const pairs_peer pairs_tbb, pairs_moodycamel, pairs_boost, pairs_ck, pairs_urcu;

#ifdef __cplusplus
}

/* The twin of `ten` in queue_loop.inc.h. A caller has pushed an item before it pops one, so there is an item for every
 * pop, though another caller may still be storing it. */
template <typename Push, typename Pop>
uint64_t pairs_loop(uint32_t first, uint64_t until, uint32_t *rounds, Push push, Pop pop) {
    uint64_t out = 0;
    do {
        for (uint32_t i = 0; i < PAIRS_A_ROUND; i++) {
            uint32_t item = 0;
            push(first + i);
            for (uint32_t tries = 0; !pop(item); tries++)
                bl_backoff(tries);
            out += static_cast<uint64_t>(item) * item;
        }
        ++*rounds;
    } while (bl_time() < until);
    return out;
}
#else
/* The same in C; the compiler inlines both functions. */
static inline uint64_t pairs_loop(void *queue, uint32_t first, uint64_t until, uint32_t *rounds,
                                  void (*push)(void *, uint32_t), bool (*pop)(void *, uint32_t *)) {
    uint64_t out = 0;
    do {
        for (uint32_t i = 0; i < PAIRS_A_ROUND; i++) {
            uint32_t item = 0;
            push(queue, first + i);
            for (uint32_t tries = 0; !pop(queue, &item); tries++)
                bl_backoff(tries);
            out += (uint64_t)item * item;
        }
        ++*rounds;
    } while (bl_time() < until);
    return out;
}
#endif

#endif
