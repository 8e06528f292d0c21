/* Closing: threads that wait in sfq are released, nothing that was pushed is lost, and nothing enters afterwards. Also
 * the batch operations of the queues that wait, which the contract does not use. With threads; test_sfq_sim.c includes
 * this file for the simulated machine. */
#include "check.h"

#include <ballast/queues/cbq.h>
#include <ballast/queues/sfq.h>
#include <stdlib.h>
#ifdef BL_TARGET_SIM
#include "sim/machine.h"
#else
#include <pthread.h>
#endif

enum { WORDS = 3, MOST = 64, VALUES = 1 << 20 };

/* Ranks below `pushers` push until a push is rejected (or all their items are in), the next `poppers` pop until the
 * close releases them, and the last ones close. */
typedef struct client {
    uint32_t capacity, start, before; /* initially it holds `before` items */
    uint32_t pushers, poppers, closers;
    uint32_t batch;
    uint32_t tickets; /* tickets taken before any thread closes, including those of `before` */
    uint32_t told;    /* plain data: written before the only close, read by the threads that it releases */
    uint64_t *memory;
    uint32_t pushed[MOST], popped[MOST], wrong[MOST]; /* by rank */
    uint32_t *seen;                                   /* by value */
} client;

/* The number of values per rank; the last values are the initial items. */
static uint32_t each_value(const client *c) { return VALUES / (c->pushers + 1); }

static bl_sfq queue_of(const client *c) {
    bl_sfq q;
    bl_shape shape = {c->capacity, WORDS, 1};
    bl_sfq_bind(&q, c->memory, shape, 0);
    return q;
}

static void make_item(uint32_t *item, uint32_t value) {
    item[0] = value;
    item[1] = ~value;
    item[2] = value * 2654435761u;
}
static bool is_whole(const uint32_t *item) {
    uint32_t whole[WORDS];
    make_item(whole, item[0]);
    return !memcmp(whole, item, sizeof whole);
}

static void push_until_refused(client *c, uint32_t rank) {
    bl_sfq q = queue_of(c);
    uint32_t items[4 * WORDS], next = rank * each_value(c), n = c->batch, done = n;
    while (done == n && c->pushed[rank] + n < each_value(c)) {
        for (uint32_t i = 0; i < n; i++)
            make_item(items + i * WORDS, next + c->pushed[rank] + i);
        done = n == 1 ? (bl_sfq_push(&q, items) == BL_QUEUE_DONE ? 1 : 0) : bl_sfq_push_n(&q, items, n);
        c->pushed[rank] += done;
    }
}

/* The audit also uses it, for the items left. */
static void pop_until_sent_home(client *c, uint32_t rank, uint32_t n) {
    bl_sfq q = queue_of(c);
    uint32_t items[4 * WORDS], last[MOST] = {0}, done = n;
    while (done == n) {
        done = n == 1 ? (bl_sfq_pop(&q, items) == BL_QUEUE_DONE ? 1 : 0) : bl_sfq_pop_n(&q, items, n);
        for (uint32_t i = 0; i < done; i++) {
            uint32_t value = items[i * WORDS], from = value / each_value(c);
            if (value >= VALUES || !is_whole(items + i * WORDS) || value < last[from]) {
                c->wrong[rank]++;
                return;
            }
            last[from] = value + 1;
            bl_fetch_add32_relaxed(c->seen + value, 1);
        }
        c->popped[rank] += done;
    }
    if (c->closers == 1)
        c->wrong[rank] += c->told != 1;
}

static void close_it(client *c, uint32_t rank) {
    bl_sfq q = queue_of(c);
    uint32_t item[WORDS], tries = 0;
    while (bl_load64_relaxed(q.tail) + bl_load64_relaxed(q.head) - 2 * (uint64_t)c->start < c->tickets)
        bl_backoff(tries++);
    if (c->closers == 1)
        c->told = 1;
    bl_sfq_close(&q);
    make_item(item, 0);
    c->wrong[rank] += bl_sfq_push(&q, item) != BL_QUEUE_FULL;
    c->wrong[rank] += bl_sfq_push_n(&q, item, 1) != 0;
}

static void play(client *c, uint32_t rank) {
    if (rank < c->pushers)
        push_until_refused(c, rank);
    else if (rank < c->pushers + c->poppers)
        pop_until_sent_home(c, rank, c->batch);
    else
        close_it(c, rank);
}

/* ---- all ranks of a client ---- */

#ifdef BL_TARGET_SIM
static void sim_body(void *argument, uint32_t block, uint32_t lane) {
    (void)lane;
    play(argument, block);
}
static bool play_all(client *c, uint32_t ranks, uint64_t seed) {
    bl_sim_options options = {.seed = seed, .max_points = 1000000};
    return CHECK_SAME(bl_sim_run(ranks, 1, sim_body, c, &options), BL_SIM_DONE);
}
#else
typedef struct thread {
    client *c;
    uint32_t rank;
} thread;
static void *thread_main(void *argument) {
    thread *t = argument;
    play(t->c, t->rank);
    return NULL;
}
static bool play_all(client *c, uint32_t ranks, uint64_t seed) {
    pthread_t ids[MOST];
    thread threads[MOST];
    (void)seed;
    for (uint32_t i = 0; i < ranks; i++) {
        threads[i] = (thread){c, i};
        CHECK(pthread_create(ids + i, NULL, thread_main, threads + i) == 0);
    }
    for (uint32_t i = 0; i < ranks; i++)
        pthread_join(ids[i], NULL);
    return true;
}
#endif

static void *take_memory(size_t bytes) {
    void *memory = aligned_alloc(BL_LINE, (bytes + BL_LINE - 1) / BL_LINE * BL_LINE);
    if (!memory)
        abort();
    return memset(memory, 0xa5, bytes);
}

static void open_client(client *c) {
    bl_shape shape = {c->capacity, WORDS, 1};
    c->memory = take_memory(bl_sfq_bytes(shape));
    c->seen = calloc(VALUES, sizeof *c->seen);
    if (!c->seen)
        abort();
    bl_sfq q = queue_of(c);
    for (uint32_t rank = 3; rank-- > 0;)
        bl_sfq_init(&q, c->start, rank, 3);
    for (uint32_t i = 0; i < c->before; i++) {
        uint32_t item[WORDS];
        make_item(item, c->pushers * each_value(c) + i);
        CHECK_SAME(bl_sfq_push(&q, item), BL_QUEUE_DONE);
    }
}

/* Everything that was pushed with DONE has come out once or is still counted; the rest is popped here. */
static void audit(client *c, uint32_t ranks) {
    bl_sfq q = queue_of(c);
    uint32_t pushed = c->before, popped = 0, wrong = 0, size = bl_sfq_size(&q), item[WORDS];
    for (uint32_t i = 0; i < ranks; i++) {
        pushed += c->pushed[i];
        popped += c->popped[i];
        wrong += c->wrong[i];
    }
    CHECK_SAME(wrong, 0);
    CHECK_SAME(pushed, popped + size);
    if (c->poppers)
        CHECK_SAME(size, 0); /* no thread is released while the queue holds items */
    pop_until_sent_home(c, MOST - 1, 1);
    CHECK_SAME(c->popped[MOST - 1], size);
    CHECK_SAME(c->wrong[MOST - 1], 0);
    for (uint32_t rank = 0, at = 0; rank <= c->pushers; rank++, at = rank * each_value(c))
        for (uint32_t i = 0, n = rank < c->pushers ? c->pushed[rank] : c->before; i <= n; i++)
            wrong += c->seen[at + i] != (i < n);
    CHECK_SAME(wrong, 0);
    bl_sfq_close(&q); /* nothing happens */
    make_item(item, 0);
    CHECK_SAME(bl_sfq_push(&q, item), BL_QUEUE_FULL);
    CHECK_SAME(bl_sfq_pop(&q, item), BL_QUEUE_EMPTY);
    CHECK_SAME(bl_sfq_size(&q), 0);
}

static void run(client c, uint64_t seed) {
    uint32_t ranks = c.pushers + c.poppers + c.closers;
    check_at("capacity %u with %u, %u pushers, %u poppers, %u closers, batch %u, %u tickets, seed %llu", c.capacity,
             c.before, c.pushers, c.poppers, c.closers, c.batch, c.tickets, (unsigned long long)seed);
    open_client(&c);
    if (play_all(&c, ranks, seed))
        audit(&c, ranks);
    free(c.memory);
    free(c.seen);
}

/* ---- what is run ---- */

static client make(uint32_t capacity, uint32_t before, uint32_t pushers, uint32_t poppers, uint32_t tickets) {
    client c;
    memset(&c, 0, sizeof c);
    c.capacity = capacity;
    c.before = before;
    c.pushers = pushers;
    c.poppers = poppers;
    c.tickets = tickets;
    c.start = UINT32_MAX - 3;
    c.closers = c.batch = 1;
    return c;
}

/* All of them wait, and would do so for ever if no thread closed. */
static void waiters(uint64_t seed) {
    run(make(4, 0, 0, 5, 5), seed);     /* for an item */
    run(make(4, 3, 0, 5, 3 + 5), seed); /* three get one */
    run(make(2, 2, 4, 0, 2 + 4), seed); /* for room */
    run(make(1, 1, 3, 0, 1 + 3), seed);
    client c = make(2, 0, 3, 0, 0); /* only a part of a batch of four fits */
    c.batch = 4;
    c.tickets = 12;
    run(c, seed);
}

/* Two threads close at some moment while others push and pop. */
static void storms(uint64_t seed, uint32_t tickets) {
    for (uint32_t capacity = 1; capacity <= 4; capacity *= 2)
        for (uint32_t batch = 1; batch <= 3; batch += 2) {
            client c = make(capacity, capacity / 2, 2, 2, tickets);
            c.closers = 2;
            c.batch = batch;
            run(c, seed);
            c.pushers = 3;
            c.poppers = 1;
            run(c, seed);
            c.pushers = 1;
            c.poppers = 3;
            run(c, seed);
        }
}

#define BATCHES(Q)                                                                                                     \
    static void Q##_batches(void) {                                                                                    \
        bl_shape shape = {8, WORDS, 1};                                                                                \
        uint32_t items[8 * WORDS], back[8 * WORDS];                                                                    \
        Q q;                                                                                                           \
        check_at(BL_QUEUE_NAME(Q));                                                                                    \
        Q##_bind(&q, take_memory(Q##_bytes(shape)), shape, 0);                                                         \
        void *memory = q.head;                                                                                         \
        Q##_init(&q, UINT32_MAX - 20, 0, 1);                                                                           \
        for (uint32_t round = 0; round < 40; round++) {                                                                \
            uint32_t n = 1 + round % 8;                                                                                \
            for (uint32_t i = 0; i < n; i++)                                                                           \
                make_item(items + i * WORDS, round * 8 + i);                                                           \
            CHECK_SAME(Q##_push_n(&q, items, n), n);                                                                   \
            CHECK_SAME(Q##_size(&q), n);                                                                               \
            CHECK_SAME(Q##_pop_n(&q, back, n / 2), n / 2);                                                             \
            CHECK_SAME(Q##_steal_n(&q, back + n / 2 * WORDS, n - n / 2), n - n / 2);                                   \
            CHECK(!memcmp(items, back, sizeof *items * n * WORDS));                                                    \
            CHECK_SAME(Q##_size(&q), 0);                                                                               \
        }                                                                                                              \
        free(memory);                                                                                                  \
    }
BATCHES(bl_cbq)
BATCHES(bl_sfq)
#undef BATCHES

int main(void) {
    check_limit(220);
    bl_cbq_batches();
    bl_sfq_batches();
#ifdef BL_TARGET_SIM
    for (uint64_t seed = 1; seed <= 600 / CHECK_SLOWER && !check_failed; seed++) {
        waiters(seed);
        storms(seed, (uint32_t)seed % 40);
    }
#else
    for (uint32_t round = 0; round < 10 / CHECK_SLOWER + 1; round++) {
        waiters(round);
        storms(round, round * round * 10);
    }
    client crowd = make(64, 0, 32, 32 - 2, 8000 / CHECK_SLOWER); /* more threads than cores */
    crowd.closers = 2;
    run(crowd, 0);
#endif
    return check_end();
}
