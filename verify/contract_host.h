/* The host's side of contract.h, the same for threads, the simulated machine and a GPU: memory, the cases and their sizes, and what is
 * printed. Before it is included a test defines how its target does things:
 *
 *     typedef ... contract_entry;  CONTRACT_ENTRY(name)   what runs a case of queue `name`
 *     contract_alloc(bytes, byte), contract_free(memory), contract_copy(to, from, bytes)
 *     contract_launch(entry, client, what, threads)       all threads of a case; false if they did not come back
 *     contract_pool_entry(client, what, rank), or the like, as the entry of the pool's cases: CONTRACT_POOL_ENTRY
 */
#ifndef BALLAST_TESTS_CONTRACT_HOST_H
#define BALLAST_TESTS_CONTRACT_HOST_H

typedef struct contract_queue {
    const char *name;
    size_t (*bytes)(bl_shape shape);
    int deque, by_handle, ceiling, waiting;
    uint32_t least, flags; /* least: capacity */
    contract_entry entry;
} contract_queue;

#define X(name)                                                                                                        \
    {#name,                                                                                                            \
     name##_bytes,                                                                                                     \
     name##_KIND == BL_KIND_DEQUE,                                                                                     \
     name##_BY_HANDLE,                                                                                                 \
     name##_KIND == BL_KIND_CEILING,                                                                                   \
     name##_KIND == BL_KIND_WAITING,                                                                                   \
     name##_LEAST,                                                                                                     \
     name##_FLAGS,                                                                                                     \
     CONTRACT_ENTRY(name)},
static const contract_queue contract_queues[] = {BL_QUEUES(X)};
#undef X
enum { CONTRACT_QUEUES = sizeof contract_queues / sizeof contract_queues[0] };

enum {
    CONTRACT_ENOUGH = 4
}; /* failures of one queue after which its crowds are left out: each may wait for its patience */
static unsigned contract_failures[CONTRACT_QUEUES];

static const char *const contract_case_names[] = {"smoke", "boundaries", "order",  "walk",   "set-up",
                                                  "audit", "traffic",    "tokens", "tickets"};

/* One failure of a case, in the form of CHECK's. */
static void contract_print(const char *name, const contract_client *c, contract_case what, bool came_back) {
    const contract_report *r = &c->report;
    check_failed++;
    printf("contract.h:%u: failed: %s %s", r->line, name, contract_case_names[what]);
    printf(": rank %u: got %u (0x%x), wanted %u; %u failures%s\n", r->rank, r->got, r->got, r->wanted, r->failures,
           came_back ? "" : "; the threads did not come back");
    printf("    capacity %u, words %u, start %u, seed %u, %u threads, %u producers, %u consumers, %u items, batch %u\n",
           c->capacity, c->words, c->start, c->seed, c->threads, c->producers, c->consumers, c->items, c->batch);
}

static size_t contract_bytes(const contract_queue *q, const contract_client *c) {
    bl_shape shape = {c->capacity, c->words, c->threads};
    return q->bytes(shape);
}

static void contract_open(contract_client *c, uint64_t bytes, uint32_t values) {
    c->bytes = (bytes + 3) / 4 * 4;
    c->memory = (unsigned char *)contract_alloc(c->bytes + 4 * CONTRACT_GUARD, 0xa5);
    c->seen = (uint32_t *)contract_alloc(4 * ((size_t)values + 1), 0);
}

static void contract_close(contract_client *c) {
    contract_free(c->memory);
    contract_free(c->seen);
    contract_free(c->behind);
    contract_free(c->last);
}

/* Set-up, the case, the audit, on a copy of the client that the target can reach. False when something was wrong. */
static bool contract_run(contract_entry entry, const char *name, contract_client *c, contract_case what) {
    contract_client *there = (contract_client *)contract_alloc(sizeof *c, 0);
    bool alone = what < CONTRACT_SET_UP, came_back = true;
    check_at("%s %s, capacity %u, %u threads, seed %u", name, contract_case_names[what], c->capacity, c->threads,
             c->seed);
    contract_copy(there, c, sizeof *c);
    if (!alone)
        came_back = contract_launch(entry, there, CONTRACT_SET_UP, 1);
    came_back = came_back && contract_launch(entry, there, what, alone ? 1 : c->threads);
    contract_copy(c, there, sizeof *c);
    if (came_back && !alone && c->report.failures == 0) { /* else it would only count the loss once more */
        came_back = contract_launch(entry, there, CONTRACT_AUDIT, 1);
        contract_copy(c, there, sizeof *c);
    }
    contract_free(there);
    if (came_back && c->report.failures == 0) {
        check_passed++;
        return true;
    }
    contract_print(name, c, what, came_back);
    return false;
}

static contract_client contract_shape(uint32_t capacity, uint32_t words, uint32_t start, uint32_t seed,
                                      uint32_t items) {
    contract_client c;
    memset(&c, 0, sizeof c);
    c.capacity = capacity;
    c.words = words;
    c.start = start;
    c.seed = seed;
    c.items = items;
    c.threads = 1;
    c.batch = 1;
    c.meets = 1;
    c.behind_words = CONTRACT_WORDS;
    c.patience = CONTRACT_PATIENCE;
    return c;
}

/* ---- one thread ---- */

static const uint32_t contract_capacities[] = {1, 2, 4, 64}, contract_words[] = {1, 3, 8};
/* Counters that wrap in the middle of what is done with them, at 2^32 and where a signed difference would. */
static const uint32_t contract_starts[] = {0, UINT32_MAX - 2, UINT32_MAX, UINT32_MAX - 63, (UINT32_C(1) << 31) - 3};

static void contract_alone(const contract_queue *q, contract_client c) {
    for (int what = CONTRACT_SMOKE; what <= CONTRACT_WALK; what++) {
        contract_client fresh = c;
        contract_open(&fresh, contract_bytes(q, &c), 0);
        contract_failures[q - contract_queues] += !contract_run(q->entry, q->name, &fresh, (contract_case)what);
        contract_close(&fresh);
    }
}

static void contract_all_alone(const contract_queue *q, uint32_t steps) {
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < (q->by_handle ? 1u : 3u); k++)
            for (uint32_t s = 0; s < 5 && contract_capacities[i] >= q->least; s++)
                contract_alone(q, contract_shape(contract_capacities[i], contract_words[k], contract_starts[s],
                                                 i * 16 + k * 5 + s + 1, steps));
}

/* ---- many threads ---- */

/* c says everything but who does what: for FIFO queues `producers` and `consumers` may overlap, a deque has one owner. */
static bool contract_crowd(const contract_queue *q, contract_client c, uint32_t producers, uint32_t consumers) {
    if (contract_failures[q - contract_queues] >= CONTRACT_ENOUGH)
        return false;
    while (q->waiting && producers == c.threads && c.capacity < c.threads)
        c.capacity *= 2; /* all may push before any pops */
    c.producers = q->deque ? 1 : producers;
    c.consumers = q->deque ? c.threads : consumers;
    if (q->deque)
        c.items *= producers;
    uint32_t values = c.producers * c.items;
    contract_open(&c, contract_bytes(q, &c), values);
    c.behind = (uint32_t *)contract_alloc(4 * (size_t)values * (q->by_handle ? c.behind_words : 1), 0xa5);
    c.last = (uint32_t *)contract_alloc(4 * (size_t)c.threads * c.producers, 0);
    bool right = contract_run(q->entry, q->name, &c, CONTRACT_TRAFFIC);
    contract_failures[q - contract_queues] += !right;
    contract_close(&c);
    return right;
}

static bool contract_tokens(const contract_queue *q, contract_client c) {
    if (q->waiting) /* these never say EMPTY or FULL */
        return true;
    if (contract_failures[q - contract_queues] >= CONTRACT_ENOUGH)
        return false;
    while (c.capacity < c.threads)
        c.capacity *= 2;
    contract_open(&c, contract_bytes(q, &c), c.threads);
    bool right = contract_run(q->entry, q->name, &c, CONTRACT_TOKENS);
    contract_failures[q - contract_queues] += !right;
    contract_close(&c);
    return right;
}

/* A ceiling: c.capacity, the slots, must be a power of two. */
static bool contract_tickets(const contract_queue *q, contract_client c) {
    while (c.capacity < c.threads * c.items)
        c.capacity *= 2;
    c.items = c.capacity / c.threads;
    c.capacity = c.items * c.threads; /* equal when the number of threads is a power of two */
    contract_open(&c, contract_bytes(q, &c), c.capacity);
    bool right = contract_run(q->entry, q->name, &c, CONTRACT_TICKETS);
    contract_close(&c);
    return right;
}

/* The pool: `handles` of them, `items` places to pass them through. TRAFFIC: single handles; TOKENS: whole chunks. */
static bool contract_run_pool(contract_client c, uint32_t handles, contract_case what) {
    c.capacity = handles;
    c.words = 3;
    contract_open(&c, bl__pool_bytes(handles, c.threads, c.words), handles);
    if (what == CONTRACT_TRAFFIC)
        c.behind = (uint32_t *)contract_alloc(4 * (size_t)c.items, 0xff);
    bool right = contract_run(CONTRACT_POOL_ENTRY, "pool", &c, what);
    contract_close(&c);
    return right;
}

#endif
