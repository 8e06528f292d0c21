/* The contract of every range on the simulated machine: small clients, thousands of schedules each. A failure prints
 * its seed;
 *
 *     test_ranges_sim RANGE CLIENT SEED
 *
 * runs it again. */
#include "check.h"

#include "each_range.h"
#include "sim/machine.h"
#include <stdlib.h>

#ifndef BL_TARGET_SIM
#error "compile this test with -DBL_TARGET_SIM"
#endif

typedef void (*ranges_entry)(ranges_client *c, ranges_what what, uint32_t rank);
#define RANGES_PATIENCE UINT64_C(100000) /* scheduling points */

typedef struct launch {
    ranges_entry entry;
    ranges_client *client;
    ranges_what what;
} launch;

static void body(void *argument, uint32_t block, uint32_t lane) {
    const launch *l = argument;
    (void)lane;
    l->entry(l->client, l->what, block);
}

static bool ranges_launch(ranges_entry entry, ranges_client *client, ranges_what what) {
    launch l = {entry, client, what};
    bl_sim_options options = {.seed = client->seed, .max_points = 10000000};
    return bl_sim_run(client->threads, 1, body, &l, &options) == BL_SIM_DONE;
}

#include "../verify/ranges_host.h"

typedef struct client {
    ranges_what what;
    uint32_t threads, span, steps, same, base;
} client;

static const client clients[] = {
    {RANGES_TRAFFIC, 2, 4, 24, 0, 2}, {RANGES_TRAFFIC, 2, 2, 16, 1, 0},           {RANGES_TRAFFIC, 3, 8, 24, 0, 0},
    {RANGES_TRAFFIC, 3, 3, 16, 1, 0}, {RANGES_TRAFFIC, 5, 16, 32, 0, 0xffffff00}, {RANGES_TRAFFIC, 3, 1, 16, 1, 7},
    {RANGES_DRAIN, 2, 3, 0, 1, 0},    {RANGES_DRAIN, 3, 4, 0, 1, 0xffffff00},     {RANGES_DRAIN, 4, 9, 0, 1, 0},
};
enum { CLIENTS = sizeof clients / sizeof clients[0], SEEDS = 8000 / CHECK_SLOWER };

static bool run_client(const ranges_range *r, uint32_t number, uint32_t seed) {
    const client *k = clients + number;
    return ranges_run(r, ranges_shape(k->threads, k->span, k->steps, k->same, k->base, seed), k->what);
}

static int again(char **words) {
    for (int i = 0; i < RANGES; i++)
        if (!strcmp(ranges[i].name, words[1]) && strtoul(words[2], NULL, 10) < CLIENTS)
            run_client(ranges + i, (uint32_t)strtoul(words[2], NULL, 10), (uint32_t)strtoul(words[3], NULL, 10));
    return check_end();
}

int main(int count, char **words) {
    if (count > 3)
        return again(words);
    check_limit(220);
    for (int i = 0; i < RANGES; i++) {
        ranges_all_alone(ranges + i, 500);
        for (uint32_t number = 0; number < CLIENTS; number++)
            for (uint32_t seed = 1; seed <= SEEDS; seed++)
                if (!run_client(ranges + i, number, seed)) {
                    printf("    again: test_ranges_sim %s %u %u\n", ranges[i].name, number, seed);
                    break; /* the others would report the same */
                }
    }
    return check_end();
}
