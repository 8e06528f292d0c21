/* The contract of every queue with threads: alone, with 2, 4 and 8 of them, and with more than there are cores. */
#include "check.h"

#include "each_queue.h"
#include <pthread.h>
#include <stdlib.h>

typedef void (*contract_entry)(contract_client *c, contract_case what, uint32_t rank);
#define CONTRACT_ENTRY(name) name##_contract
#define CONTRACT_PATIENCE UINT64_C(15000000000) /* ns */

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

typedef struct thread {
    contract_entry entry;
    contract_client *client;
    contract_case what;
    uint32_t rank;
} thread;

static void *thread_main(void *argument) {
    thread *t = argument;
    t->entry(t->client, t->what, t->rank);
    return NULL;
}

enum { MOST_THREADS = 64 };

static bool contract_launch(contract_entry entry, contract_client *client, contract_case what, uint32_t threads) {
    pthread_t ids[MOST_THREADS];
    thread parts[MOST_THREADS];
    for (uint32_t i = 0; i < threads; i++) {
        parts[i] = (thread){entry, client, what, i};
        if (threads == 1)
            thread_main(parts);
        else if (pthread_create(ids + i, NULL, thread_main, parts + i))
            abort();
    }
    for (uint32_t i = 0; i < threads && threads > 1; i++)
        pthread_join(ids[i], NULL);
    return true;
}

#include "../verify/contract_host.h"

enum { ITEMS = 100000 / CHECK_SLOWER };

/* Producers and consumers in several shares; each run wraps its counters. */
static void crowds(const contract_queue *q) {
    static const uint32_t capacities[] = {2, 8, 1024};
    for (uint32_t threads = 2; threads <= 8; threads *= 2)
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t words = q->by_handle ? 1 : i == 0 ? 8 : i == 1 ? 1 : 3;
            contract_client c = contract_shape(capacities[i], words, UINT32_MAX - 100, threads + i, 0);
            c.threads = threads;
            c.batch = i == 2 ? 4 : 1;
            c.items = ITEMS / threads / (i == 0 ? 4 : 1);
            contract_crowd(q, c, threads / 2, threads - threads / 2);
            contract_crowd(q, c, threads, threads);
            if (threads > 2 && !q->deque) {
                contract_crowd(q, c, 1, threads - 1);
                contract_crowd(q, c, threads - 1, 1);
            }
        }
}

/* Everybody at once at a queue of two, a little each, again and again: more threads than cores. */
static void stampedes(const contract_queue *q) {
    for (uint32_t round = 0; round < 60 / CHECK_SLOWER; round++) {
        contract_client c = contract_shape(2, q->by_handle ? 1 : 3, UINT32_MAX - round, round + 1, 3);
        c.threads = round % 2 ? 16 : 5;
        c.batch = round % 3 ? 1 : 2;
        contract_crowd(q, c, c.threads, c.threads);
    }
}

/* As many threads as most machines have cores, and long: what goes wrong once in a million times. A small queue runs empty and full all
 * the time; with words in plenty a copy takes long enough to be overtaken. */
static void duels(const contract_queue *q) {
    for (uint32_t capacity = 2; capacity <= 16; capacity *= 2)
        for (uint32_t words = 1; words <= (q->by_handle ? 1 : 8); words += 7) {
            contract_client c = contract_shape(capacity, words, UINT32_MAX - 10000, capacity + words, 8 * ITEMS);
            c.threads = 2;
            contract_crowd(q, c, 1, q->deque ? 2 : 1);
        }
}

static void tokens(const contract_queue *q) {
    for (uint32_t threads = 2; threads <= 8; threads *= 2) {
        contract_client c = contract_shape(2, q->by_handle ? 1 : 8, UINT32_MAX - 500, threads, ITEMS / 2 / threads);
        c.threads = threads;
        contract_tokens(q, c);
    }
}

static void pool(void) {
    for (uint32_t threads = 2; threads <= 8; threads *= 2) {
        contract_client c = contract_shape(0, 0, 0, threads, 40);
        c.threads = threads;
        contract_run_pool(c, 160, CONTRACT_TRAFFIC);
        c.items = 2000 / CHECK_SLOWER;
        contract_run_pool(c, 1024, CONTRACT_TRAFFIC);
        c.items = ITEMS / threads;
        contract_run_pool(c, 96, CONTRACT_TOKENS);
    }
}

int main(void) {
    check_limit(220);
    for (int i = 0; i < CONTRACT_QUEUES; i++) {
        const contract_queue *q = contract_queues + i;
        contract_client c = contract_shape(2, 3, UINT32_MAX - 5, 1, 4096);
        c.threads = 4;
        if (q->ceiling) {
            contract_tickets(q, c);
            continue;
        }
        contract_all_alone(q, 3000);
        crowds(q);
        duels(q);
        stampedes(q);
        if (!q->deque)
            tokens(q);
    }
    pool();
    return check_end();
}
