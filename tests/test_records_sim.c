/* Free join records on the simulated machine: warps take what they need from the store, and give back what they do not,
 * lane by lane. No number is ever in two places, and none is lost. */
#include "check.h"
#include "sim/machine.h"

#include <ballast/runtime/joins.h>
#include <stdlib.h>

enum { WARPS = 3, CAPACITY = 32, ROUNDS = 6, SEEDS = 300, LIST = BL__SPARE_WORDS_OF(BL_WARP) };

typedef struct world {
    bl__run run;
    uint32_t spare[WARPS][LIST];
    uint32_t holder[CAPACITY]; /* 0: the store; else a warp's number + 1 */
    uint32_t wrong, refused;
} world;

/* By one lane: the warp has these now, or is about to give back all but `kept`. */
static void hold(world *w, uint32_t warp) {
    for (uint32_t i = 1; i <= w->spare[warp][0]; i++) {
        uint32_t *holder = w->holder + w->spare[warp][i];
        w->wrong += *holder && *holder != warp + 1;
        *holder = warp + 1;
    }
}
static void let_go(world *w, uint32_t warp, uint32_t kept) {
    for (uint32_t i = kept + 1; i <= w->spare[warp][0]; i++)
        w->holder[w->spare[warp][i]] = 0;
}

static void body(void *arg, uint32_t warp, uint32_t lane) {
    world *w = arg;
    uint32_t *spare = w->spare[warp];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t needed = 1 + (5 * warp + 3 * round) % BL_WARP, kept = round % 3;
        const bool enough = bl__spare_refill(&w->run, lane, spare, needed, round % 2 ? BL_WARP : 1);
        if (lane == 0) {
            w->wrong += enough != (spare[0] >= needed);
            w->refused += !enough;
            hold(w, warp);
            let_go(w, warp, kept);
        }
        bl_warp_sync();
        bl__spare_trim(&w->run, lane, spare, kept);
    }
    if (lane == 0)
        let_go(w, warp, 0);
    bl_warp_sync();
    bl__spare_trim(&w->run, lane, spare, 0);
}

/* False: something was wrong. `refused`: how many runs had a warp that got too few. */
static bool test_store(uint32_t numbers, uint32_t seed, uint32_t *refused) {
    static world w;
    uint32_t number, seen[CAPACITY] = {0};
    bl_sim_options options = {.seed = seed, .max_points = 100000};
    check_at("%u numbers, seed %u", numbers, seed);
    memset(&w, 0, sizeof w);
    w.run.record_capacity = CAPACITY;
    w.run.workers = WARPS;
    w.run.free_records = calloc(1, bl_broker_bytes((bl_shape){CAPACITY, 1, WARPS}));
    if (!CHECK(w.run.free_records))
        return false;
    bl__records_init(&w.run, 0, 1);
    bl_broker store = bl__free_records(&w.run);
    for (number = 0; number < numbers; number++)
        bl__records_give(&store, &number, 1);
    bool right = CHECK_SAME(bl_sim_run(WARPS, BL_WARP, body, &w, &options), BL_SIM_DONE) && CHECK_SAME(w.wrong, 0) &&
                 CHECK_SAME(bl_broker_size(&store), numbers);
    for (uint32_t i = 0; right && i < numbers && bl_broker_pop(&store, &number) == BL_QUEUE_DONE; i++)
        right = CHECK(number < numbers && seen[number]++ == 0);
    free(w.run.free_records);
    *refused += w.refused != 0;
    return right;
}

int main(void) {
    uint32_t few = 0, enough = 0, seed = 1;
    while (seed <= SEEDS && test_store(9, seed, &few) && test_store(CAPACITY, seed, &enough))
        seed++;
    check_at("who got too few");
    CHECK(seed <= SEEDS || few > SEEDS / 2);
    CHECK_SAME(enough, 0);
    return check_end();
}
