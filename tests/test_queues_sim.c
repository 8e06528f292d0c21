/* The contract of every queue on the simulated machine: small clients, hundreds of schedules each.
 *
 * A failure prints a line to run again:   test_queues_sim QUEUE CLIENT SEED [DECISIONS]
 * With the decisions, which are recorded, the same thing happens even where the seed no longer leads there. */
#include "check.h"

#include "each_queue.h"
#include "sim/sim.h"
#include <stdlib.h>

#ifndef BL_TARGET_SIM
#error "compile this test with -DBL_TARGET_SIM"
#endif

typedef void (*contract_entry)(contract_client *c, contract_case what, uint32_t rank);
#define CONTRACT_ENTRY(name) name##_contract
#define CONTRACT_PATIENCE UINT64_C(100000) /* scheduling points */

static void pool_entry(contract_client *c, contract_case what, uint32_t rank) {
    if (what == CONTRACT_SET_UP)
        contract_pool_set_up(c);
    else if (what == CONTRACT_TRAFFIC)
        contract_pool_traffic(c, rank);
    else if (what == CONTRACT_TOKENS)
        contract_chunk_traffic(c, rank);
    else if (what == CONTRACT_AUDIT)
        contract_pool_audit(c);
}
#define CONTRACT_POOL_ENTRY pool_entry

static void *contract_alloc(size_t bytes, int byte) {
    void *memory = aligned_alloc(BL_LINE, (bytes + BL_LINE) / BL_LINE * BL_LINE);
    if (!memory)
        abort();
    return memset(memory, byte, bytes);
}
static void contract_free(void *memory) { free(memory); }
static void contract_copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

enum { RECORD = 20000 };
static uint32_t record[RECORD], replay[RECORD];
static size_t recorded, replayed; /* decisions of the last run; to follow in the next */
static uint64_t sim_seed;

typedef struct launch {
    contract_entry entry;
    contract_client *client;
    contract_case what;
} launch;

static void body(void *argument, uint32_t block, uint32_t lane) {
    const launch *l = argument;
    (void)lane;
    l->entry(l->client, l->what, block);
}

static bool contract_launch(contract_entry entry, contract_client *client, contract_case what, uint32_t threads) {
    launch l = {entry, client, what};
    bl_sim_options options = {.seed = sim_seed, .record = record, .record_capacity = RECORD, .max_points = 10000000};
    if (threads == 1) { /* outside of a run everything acts at once */
        entry(client, what, 0);
        return true;
    }
    options.replay = replayed ? replay : NULL;
    options.replay_count = replayed;
    bl_sim_result result = bl_sim_run(threads, 1, body, &l, &options);
    recorded = options.record_count;
    return result == BL_SIM_DONE;
}

#include "../verify/contract_host.h"

/* ---- the clients ---- */

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
};
enum { CLIENTS = sizeof clients / sizeof clients[0], SEEDS = 8000 / CHECK_SLOWER };

static bool run_client(const contract_queue *q, uint32_t number, uint64_t seed) {
    const client *k = clients + number;
    contract_client c = contract_shape(k->capacity, q->by_handle ? 1 : k->words, k->start, (uint32_t)seed, k->items);
    c.threads = k->threads;
    c.batch = k->batch;
    c.meets = 0; /* any order of starting is one of the schedules */
    sim_seed = seed;
    return k->what == CONTRACT_TOKENS ? contract_tokens(q, c) : contract_crowd(q, c, k->producers, k->consumers);
}

static void print_replay(const char *name, uint32_t number, uint64_t seed) {
    printf("    again: test_queues_sim %s %u %llu \"", name, number, (unsigned long long)seed);
    for (size_t i = 0; i < recorded; i++)
        printf("%s%u", i ? " " : "", record[i]);
    printf("\"\n");
}

static void all_seeds(const contract_queue *q, uint32_t number) {
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        if (!run_client(q, number, seed)) {
            if (contract_failures[q - contract_queues] <= CONTRACT_ENOUGH)
                print_replay(q->name, number, seed);
            return; /* the others would say the same */
        }
}

static void tickets(const contract_queue *q) {
    for (sim_seed = 1; sim_seed <= 100; sim_seed++) {
        contract_client c = contract_shape(16, 3, NEAR_END, (uint32_t)sim_seed, 4);
        c.threads = 4;
        c.meets = 0;
        contract_tickets(q, c);
    }
}

/* Whole chunks show the stack of chunks under contention; single handles show the lists. */
static void pool(void) {
    for (sim_seed = 1; sim_seed <= SEEDS; sim_seed++) {
        contract_client c = contract_shape(0, 0, 0, (uint32_t)sim_seed, 24);
        c.threads = 3;
        c.meets = 0;
        if (!contract_run_pool(c, 96, CONTRACT_TOKENS) ||
            (sim_seed % 32 == 0 && !contract_run_pool(c, 160, CONTRACT_TRAFFIC))) {
            print_replay("pool", 0, sim_seed);
            return;
        }
    }
}

static int again(int count, char **words) {
    char *at = count > 4 ? words[4] : NULL, *end;
    uint32_t number = (uint32_t)strtoul(words[2], NULL, 10);
    for (; at && replayed < RECORD; at = end) {
        uint32_t decision = (uint32_t)strtoul(at, &end, 10);
        if (end == at)
            break;
        replay[replayed++] = decision;
    }
    for (int i = 0; i < CONTRACT_QUEUES && number < CLIENTS; i++)
        if (!strcmp(contract_queues[i].name, words[1]))
            run_client(contract_queues + i, number, strtoull(words[3], NULL, 10));
    return check_end();
}

int main(int count, char **words) {
    if (count > 3)
        return again(count, words);
    check_limit(220);
    for (int i = 0; i < CONTRACT_QUEUES; i++) {
        const contract_queue *q = contract_queues + i;
        if (q->ceiling) {
            tickets(q);
            continue;
        }
        contract_all_alone(q, 500);
        for (uint32_t number = 0; number < CLIENTS; number++)
            if (!q->deque || clients[number].what == CONTRACT_TRAFFIC)
                all_seeds(q, number);
    }
    pool();
    return check_end();
}
