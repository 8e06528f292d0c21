/* The contract of every queue with threads: 1, 2, 4 and 8 of them, and more than there are cores. */
#include "contract_check.h"

enum { ITEMS = 12000 / CHECK_SLOWER };

/* Producers and consumers in several proportions; each run wraps the queue's counters. */
static void crowds(contract_run *r) {
    static const uint32_t capacities[] = {2, 8, 1024};
    for (uint32_t threads = 2; threads <= 8; threads *= 2)
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t words = r->queue->by_handle ? 1 : i == 0 ? 8 : i == 1 ? 1 : 3;
            contract_client c = contract_shape(r, capacities[i], words, UINT32_MAX - 100, threads + i, 0);
            c.threads = threads;
            c.batch = i == 2 ? 4 : 1;
            c.items = ITEMS / threads / (i == 0 ? 4 : 1);
            contract_crowd(r, c, threads / 2, threads - threads / 2);
            contract_crowd(r, c, threads, threads);
            if (threads > 2 && r->queue->kind != BL_QUEUE_KIND_DEQUE) {
                contract_crowd(r, c, 1, threads - 1);
                contract_crowd(r, c, threads - 1, 1);
            }
        }
}

/* All threads at once on a queue of two, a few operations each, again and again: more threads than cores. */
static void stampedes(contract_run *r) {
    for (uint32_t round = 0; round < 60 / CHECK_SLOWER; round++) {
        contract_client c = contract_shape(r, 2, r->queue->by_handle ? 1 : 3, UINT32_MAX - round, round + 1, 3);
        c.threads = round % 2 ? 16 : 5;
        c.batch = round % 3 ? 1 : 2;
        contract_crowd(r, c, c.threads, c.threads);
    }
}

/* As many threads as most machines have cores, for long: catches what goes wrong once in a million times. A small queue
 * is empty and full all the time; with many words, a copy takes long enough to be overtaken. */
static void duels(contract_run *r) {
    for (uint32_t capacity = 2; capacity <= 16; capacity *= 2)
        for (uint32_t words = 1; words <= (r->queue->by_handle ? 1 : 8); words += 7) {
            contract_client c = contract_shape(r, capacity, words, UINT32_MAX - 10000, capacity + words, 8 * ITEMS);
            c.threads = 2;
            contract_crowd(r, c, 1, r->queue->kind == BL_QUEUE_KIND_DEQUE ? 2 : 1);
        }
}

static void tokens(contract_run *r) {
    for (uint32_t threads = 2; threads <= 8; threads *= 2) {
        contract_client c =
            contract_shape(r, 2, r->queue->by_handle ? 1 : 8, UINT32_MAX - 500, threads, ITEMS / 2 / threads);
        c.threads = threads;
        contract_tokens(r, c);
    }
}

static void pool(contract_run *r) {
    for (uint32_t threads = 2; threads <= 8; threads *= 2) {
        contract_client c = contract_shape(r, 0, 0, 0, threads, 40);
        c.threads = threads;
        contract_run_pool(r, c, 160, CONTRACT_TRAFFIC);
        c.items = 2000 / CHECK_SLOWER;
        contract_run_pool(r, c, 1024, CONTRACT_TRAFFIC);
        c.items = ITEMS / threads;
        contract_run_pool(r, c, 96, CONTRACT_TOKENS);
    }
}

static void all_cases(contract_run *r) {
    contract_alone(r, 3000);
    crowds(r);
    duels(r);
    stampedes(r);
    tokens(r);
}

static void tickets(contract_run *r) {
    contract_client c = contract_shape(r, 2, 3, UINT32_MAX - 5, 1, 4096);
    c.threads = 4;
    contract_tickets(r, c);
}

int main(void) {
    check_limit(220);
    for (int i = 0; verify_cpu.queue[i] && !verify_cpu.trouble(); i++) {
        contract_run r = contract_start(&verify_cpu, verify_cpu.queue[i]);
        if (r.queue->kind == BL_QUEUE_KIND_CEILING)
            tickets(&r);
        else
            all_cases(&r);
        contract_count(&r);
    }
    contract_run r = contract_start(&verify_cpu, NULL);
    pool(&r);
    contract_count(&r);
    return check_end();
}
