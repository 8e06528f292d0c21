/* The contract of every queue on the simulated machine: small clients, hundreds of schedules each.
 *
 * A failure prints a command that repeats it:
 *
 *     test_queues_sim QUEUE CLIENT SEED [DECISIONS]
 *
 * The recorded decisions reproduce it even if the seed no longer does. */
#include "contract_check.h"

#include "sim/machine.h"
#include <stdlib.h>

enum { RECORD = 20000 };
static uint32_t record[RECORD], replay[RECORD];

typedef struct client {
    contract_case what;
    uint32_t threads, producers, consumers, capacity, items, batch, words, start;
} client;

#define NEAR_END UINT32_C(0xfffffffd)

static const client clients[] = {
    {CONTRACT_TRAFFIC, 2, 1, 1, 2, 6, 1, 1, 0},        {CONTRACT_TRAFFIC, 2, 2, 2, 2, 6, 1, 3, NEAR_END},
    {CONTRACT_TRAFFIC, 3, 1, 2, 2, 8, 1, 3, NEAR_END}, {CONTRACT_TRAFFIC, 3, 2, 1, 4, 5, 1, 1, 0},
    {CONTRACT_TRAFFIC, 4, 2, 2, 4, 6, 1, 8, NEAR_END}, {CONTRACT_TRAFFIC, 4, 4, 4, 2, 3, 1, 3, NEAR_END},
    {CONTRACT_TRAFFIC, 3, 3, 3, 4, 5, 3, 3, 0},        {CONTRACT_TRAFFIC, 6, 6, 6, 2, 2, 1, 1, NEAR_END},
    {CONTRACT_TRAFFIC, 3, 3, 3, 8, 12, 1, 1, 0},       {CONTRACT_TRAFFIC, 8, 4, 4, 2, 3, 2, 3, NEAR_END},
    {CONTRACT_TRAFFIC, 3, 3, 3, 8, 8, 4, 1, NEAR_END}, {CONTRACT_TOKENS, 2, 0, 0, 2, 8, 1, 3, NEAR_END},
    {CONTRACT_TOKENS, 3, 0, 0, 4, 6, 1, 1, 0},         {CONTRACT_TOKENS, 4, 0, 0, 4, 6, 1, 3, NEAR_END},
    {CONTRACT_VISITS, 3, 0, 0, 2, 3, 4, 1, NEAR_END},  {CONTRACT_VISITS, 4, 0, 0, 4, 3, 4, 3, 0},
};
enum { CLIENTS = sizeof clients / sizeof clients[0], SEEDS = 1500 / CHECK_SLOWER };

static bool run_client(contract_run *r, uint32_t number, uint32_t seed) {
    const client *k = clients + number;
    contract_client c = contract_shape(r, k->capacity, r->queue->by_handle ? 1 : k->words, k->start, seed, k->items);
    c.threads = k->threads;
    c.batch = k->batch;
    if (k->what == CONTRACT_VISITS)
        return contract_visits(r, c);
    return k->what == CONTRACT_TOKENS ? contract_tokens(r, c) : contract_crowd(r, c, k->producers, k->consumers);
}

static void print_replay(const char *name, uint32_t number, uint32_t seed) {
    printf("    again: test_queues_sim %s %u %u \"", name, number, seed);
    for (size_t i = 0; i < verify_sim_options.record_count; i++)
        printf("%s%u", i ? " " : "", record[i]);
    printf("\"\n");
}

static void all_seeds(contract_run *r, uint32_t number) {
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t failures = r->failures;
        if (run_client(r, number, seed))
            continue;
        if (r->failures > failures)
            print_replay(r->queue->name, number, seed);
        return; /* the others would report the same */
    }
}

static void tickets(contract_run *r) {
    for (uint32_t seed = 1; seed <= 100; seed++) {
        contract_client c = contract_shape(r, 16, 3, NEAR_END, seed, 4);
        c.threads = 4;
        contract_tickets(r, c);
    }
}

/* Whole chunks exercise the stack of chunks under contention; single handles exercise the lists. */
static void pool(contract_run *r) {
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        contract_client c = contract_shape(r, 0, 0, 0, seed, 24);
        c.threads = 3;
        if (!contract_run_pool(r, c, 96, CONTRACT_TOKENS) ||
            (seed % 32 == 0 && !contract_run_pool(r, c, 160, CONTRACT_TRAFFIC))) {
            print_replay("pool", 0, seed);
            return;
        }
    }
}

static int again(int count, char **words) {
    char *at = count > 4 ? words[4] : NULL, *end;
    const verify_queue *queue = verify_find(&verify_sim, words[1]);
    uint32_t number = (uint32_t)strtoul(words[2], NULL, 10);
    size_t n = 0;
    for (; at && n < RECORD; at = end) {
        uint32_t decision = (uint32_t)strtoul(at, &end, 10);
        if (end == at)
            break;
        replay[n++] = decision;
    }
    verify_sim_options.replay = n ? replay : NULL;
    verify_sim_options.replay_count = n;
    if (!queue || number >= CLIENTS)
        return 2;
    contract_run r = contract_start(&verify_sim, queue);
    run_client(&r, number, (uint32_t)strtoul(words[3], NULL, 10));
    contract_count(&r);
    return check_end();
}

static void all_cases(contract_run *r) {
    contract_alone(r, 500);
    for (uint32_t number = 0; number < CLIENTS; number++)
        if (r->queue->kind != BL_QUEUE_KIND_DEQUE || clients[number].what == CONTRACT_TRAFFIC)
            all_seeds(r, number);
}

int main(int count, char **words) {
    verify_sim_options.record = record;
    verify_sim_options.record_capacity = RECORD;
    if (count > 3)
        return again(count, words);
    check_limit(220);
    for (int i = 0; verify_sim.queue[i]; i++) {
        contract_run r = contract_start(&verify_sim, verify_sim.queue[i]);
        if (r.queue->kind == BL_QUEUE_KIND_CEILING)
            tickets(&r);
        else
            all_cases(&r);
        contract_count(&r);
    }
    contract_run r = contract_start(&verify_sim, NULL);
    pool(&r);
    contract_count(&r);
    return check_end();
}
