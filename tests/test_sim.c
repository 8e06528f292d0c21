/* The simulated machine: reproducible, truly interleaved, sequentially consistent, and its lanes meet as they must. */
#include "../src/platform/clock.h"
#include "../src/platform/fiber.h"
#include "../src/sim/machine.h"
#include "ballast/platform/platform.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BL_TARGET_SIM
#error "compile this test with -DBL_TARGET_SIM"
#endif

static int passed, failed;

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (x) {                                                                                                       \
            passed++;                                                                                                  \
        } else {                                                                                                       \
            failed++;                                                                                                  \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #x);                                                     \
        }                                                                                                              \
    } while (0)

static bl_sim_result run_seed(uint32_t blocks, uint32_t lanes, bl_sim_body body, void *arg, uint64_t seed) {
    bl_sim_options o = {.seed = seed};
    return bl_sim_run(blocks, lanes, body, arg, &o);
}

/* ---- schedules ---- */

enum { STEPS = 20, RECORD = 4096 };

typedef struct counters {
    uint32_t split, whole, order[64], ordered;
} counters;

static void count(void *arg, uint32_t block, uint32_t lane) {
    counters *c = arg;
    for (int i = 0; i < STEPS; i++) {
        uint32_t v = bl_load32_relaxed(&c->split);
        bl_store32_relaxed(&c->split, v + 1);
        bl_fetch_add32_relaxed(&c->whole, 1);
    }
    c->order[c->ordered++] = block * 8 + lane;
}

static counters record_count(bl_sim_options *o, uint32_t *record) {
    counters c = {0};
    o->record = record;
    o->record_capacity = RECORD;
    CHECK(bl_sim_run(3, 2, count, &c, o) == BL_SIM_DONE);
    CHECK(o->record_count > 6 * 3 * STEPS && o->record_count < RECORD);
    return c;
}

static bool same(const bl_sim_options *a, const bl_sim_options *b) {
    return a->record_count == b->record_count && !memcmp(a->record, b->record, sizeof(uint32_t) * a->record_count);
}

static void test_reproducible(void) {
    static uint32_t first[RECORD], second[RECORD];
    bl_sim_options a = {.seed = 7}, b = {.seed = 7}, c = {.seed = 8};
    counters ra = record_count(&a, first), rb = record_count(&b, second);
    CHECK(same(&a, &b) && !memcmp(&ra, &rb, sizeof ra));

    rb = record_count(&c, second);
    CHECK(!same(&a, &c));

    bl_sim_options d = {.seed = 99, .replay = first, .replay_count = a.record_count};
    rb = record_count(&d, second);
    CHECK(same(&a, &d) && !memcmp(&ra, &rb, sizeof ra));

    bl_sim_options e = {.seed = 7, .replay = first, .replay_count = a.record_count / 2};
    rb = record_count(&e, second);
    CHECK(same(&a, &e) && !memcmp(&ra, &rb, sizeof ra)); /* half a record and the seed reproduce the whole run */

    static const uint32_t nonsense[] = {77, UINT32_MAX, 6, 5};
    bl_sim_options f = {.seed = 7, .replay = nonsense, .replay_count = 4};
    record_count(&f, second);
    CHECK(second[0] == first[0] && second[3] == 5);

    uint32_t few[5];
    bl_sim_options g = {.seed = 7, .record = few, .record_capacity = 5};
    CHECK(bl_sim_run(3, 2, count, &ra, &g) == BL_SIM_DONE && g.record_count == 5 && !memcmp(few, first, sizeof few));
}

static void test_interleaved(void) {
    uint32_t lost = 0, whole = 0, orders = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        counters c = {0};
        CHECK(run_seed(3, 2, count, &c, seed) == BL_SIM_DONE);
        lost += c.split < 6 * STEPS;
        whole += c.whole == 6 * STEPS;
        orders |= 1u << c.order[0];
    }
    CHECK(lost > 0);
    CHECK(whole == 100);
    CHECK(bl_popcount(orders) == 6); /* any fiber can be the first to end */
}

typedef struct turns {
    uint32_t last, ended, wrong;
} turns;

static void take_turns(void *arg, uint32_t block, uint32_t lane) {
    turns *t = arg;
    (void)lane;
    for (uint32_t i = 0; i < 100; i++) {
        t->last = block;
        bl_backoff(i);
        t->wrong += t->last == block && t->ended < 2;
    }
    t->last = block;
    t->ended++;
}

/* A fiber that backs off lets another go first, if there is one. */
static void test_backoff(void) {
    for (uint64_t seed = 0; seed < 10; seed++) {
        turns t = {0};
        CHECK(run_seed(3, 1, take_turns, &t, seed) == BL_SIM_DONE && t.wrong == 0);
    }
}

/* ---- memory ---- */

typedef struct litmus {
    uint32_t x, y, seen[2];
} litmus;

static void store_buffering(void *arg, uint32_t block, uint32_t lane) {
    litmus *l = arg;
    (void)lane;
    bl_store32_relaxed(block ? &l->y : &l->x, 1);
    l->seen[block] = bl_load32_relaxed(block ? &l->x : &l->y);
}

static void test_sequentially_consistent(void) {
    uint32_t outcomes = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        litmus l = {0};
        run_seed(2, 1, store_buffering, &l, seed);
        outcomes |= 1u << (l.seen[0] * 2 + l.seen[1]);
    }
    CHECK(outcomes == 0xe); /* 01, 10 and 11 occur, 00 does not */
}

typedef struct words {
    uint32_t a32, fail;
    uint64_t a64, host64;
    uint32_t host32, from[5], to[5];
#if BL_HAS_CAS128
    bl_u128 a128;
#endif
} words;

/* Every operation once, so that its value can be checked alone; no other fiber touches the words. */
static void every_operation(void *arg, uint32_t block, uint32_t lane) {
    words *w = arg;
    (void)block, (void)lane;
#define EXPECT(x) (w->fail += !(x))
#define OPERATIONS(bits, top)                                                                                          \
    do {                                                                                                               \
        uint##bits##_t *p = &w->a##bits, old = 3, big = (uint##bits##_t)1 << (top), minus6 = 0u - (uint##bits##_t)6;   \
        bl_store##bits##_relaxed(p, 1), EXPECT(bl_load##bits##_relaxed(p) == 1);                                       \
        bl_store##bits##_release(p, 2), EXPECT(bl_load##bits##_acquire(p) == 2);                                       \
        bl_store##bits##_first_seq_cst(p, 9), EXPECT(bl_load##bits##_first_seq_cst(p) == 9);                           \
        bl_store##bits##_seq_cst(p, 3), EXPECT(bl_load##bits##_seq_cst(p) == 3);                                       \
        EXPECT(bl_fetch_add##bits##_relaxed(p, 1) == 3 && bl_fetch_add##bits##_acquire(p, 1) == 4);                    \
        EXPECT(bl_fetch_add##bits##_release(p, 1) == 5 && bl_fetch_add##bits##_acq_rel(p, minus6) == 6);               \
        EXPECT(bl_fetch_max##bits##_relaxed(p, 5) == 0 && bl_fetch_max##bits##_relaxed(p, 4) == 5);                    \
        EXPECT(bl_fetch_or##bits##_relaxed(p, big) == 5 && bl_exchange##bits##_acquire(p, big) == big + 5);            \
        EXPECT(bl_exchange##bits##_acq_rel(p, 12) == big);                                                             \
        EXPECT(bl_fetch_and##bits##_relaxed(p, 6) == 12 && bl_fetch_xor##bits##_relaxed(p, 7) == 4);                   \
        EXPECT(bl_fetch_min##bits##_relaxed(p, 9) == 3 && bl_fetch_min##bits##_relaxed(p, 1) == 3);                    \
        EXPECT(!bl_cas##bits##_relaxed(p, &old, 2) && old == 1 && bl_cas##bits##_acquire(p, &old, 2));                 \
        EXPECT(!bl_cas##bits##_release(p, &old, 3) && old == 2 && bl_cas##bits##_acq_rel(p, &old, 3));                 \
        EXPECT(!bl_cas##bits##_seq_cst(p, &old, 3) && old == 3);                                                       \
        EXPECT(bl_cas##bits##_first_seq_cst(p, &old, 3) && !bl_cas##bits##_first_seq_cst(p, &minus6, 4));              \
    } while (0)
    OPERATIONS(32, 31);
    OPERATIONS(64, 63);
#undef OPERATIONS
    bl_fence_acquire(), bl_fence_release(), bl_fence_seq_cst(), bl_fence_light(), bl_fence_heavy();
    bl_store64_host(&w->host64, 9), EXPECT(bl_load64_host(&w->host64) == 9);
    bl_store32_host(&w->host32, 8), EXPECT(bl_load32_host(&w->host32) == 8);
    uint32_t copy[5];
    bl_data_write(w->to, w->from, 5), bl_data_read(copy, w->to, 5), EXPECT(!memcmp(copy, w->from, sizeof copy));
    memset(w->to, 0, sizeof w->to), memset(copy, 0, sizeof copy);
    bl_race_write(w->to, w->from, 5), bl_race_read(copy, w->to, 5), EXPECT(!memcmp(copy, w->from, sizeof copy));
    EXPECT(bl_lane_add32(&w->host32, 2) == 8 && w->host32 == 10 && bl_popcount(0xf1) == 5 && bl_lowest_bit(8) == 3);
    uint64_t before = bl_clock();
    bl_backoff(0), EXPECT(bl_clock() > before);
#if BL_HAS_CAS128
    bl_u128 wide = (bl_u128)1 << 100, old = 1;
    EXPECT(!bl_cas128_acq_rel(&w->a128, &old, wide) && old == 0);
    EXPECT(bl_cas128_acq_rel(&w->a128, &old, wide) && w->a128 == wide);
#endif
#undef EXPECT
}

static void test_operations(void) {
    words w = {.from = {1, 2, 3, 4, 5}};
    CHECK(run_seed(1, 1, every_operation, &w, 1) == BL_SIM_DONE && w.fail == 0);
    words direct = {.from = {1, 2, 3, 4, 5}};
    every_operation(&direct, 0, 0); /* outside of a run */
    CHECK(direct.fail == 0);
    uint32_t tries = 0, word = 5;
    bl_wait_change32(&word, 5, &tries), bl_block_sync(), bl_warp_sync();
    CHECK(tries == 1 && bl_warp_lane() == 0 && bl_warp_ballot(true) == 1 && !bl_warp_any(false) && bl_warp_or(6) == 6);
    CHECK(bl_warp_broadcast32(7, 0) == 7 && bl_warp_prefix_add(7) == 0);
}

/* ---- waiting ---- */

typedef struct chain {
    uint32_t word[16], order;
    union {
        uint64_t whole;
        uint32_t half[2];
    } pair;
    union {
#if BL_HAS_CAS128
        bl_u128 whole;
#endif
        uint32_t part[4];
    } quad;
} chain;

static void store_quad(chain *c) {
#if BL_HAS_CAS128
    bl_u128 none = 0;
    bl_cas128_acq_rel(&c->quad.whole, &none, ~none);
#else
    bl_store32_relaxed(&c->quad.part[3], 1);
#endif
}

static void wait_for(const uint32_t *p, uint32_t seen) {
    uint32_t tries = 0;
    while (bl_load32_acquire(p) == seen)
        bl_wait_change32(p, seen, &tries);
}

/* Each fiber waits for the previous one. */
static void pass_on(void *arg, uint32_t block, uint32_t lane) {
    chain *c = arg;
    uint32_t me = block * 4 + lane;
    if (me)
        wait_for(&c->word[me - 1], 0);
    c->order += c->order == me;
    bl_store32_release(&c->word[me], 1);
}

/* Four fibers sleep, each woken by a different kind of store, and the last one stays runnable, so that no fiber is
 * woken merely because all sleep. */
static void wake_each(void *arg, uint32_t block, uint32_t lane) {
    chain *c = arg;
    const uint32_t *slept_on[] = {&c->word[0], &c->word[1], c->pair.half + 1, c->quad.part + 3};
    (void)lane;
    if (block < 4) {
        wait_for(slept_on[block], 0);
        bl_fetch_add32_relaxed(&c->order, 1);
        return;
    }
    for (uint32_t i = 0; i < 100; i++)
        bl_backoff(i); /* by now they are asleep */
    uint32_t zero = 0;
    for (uint32_t kind = 0; kind < 4; kind++) {
        if (kind == 0)
            bl_store32_relaxed(&c->word[0], 1);
        else if (kind == 1)
            bl_cas32_relaxed(&c->word[1], &zero, 1);
        else if (kind == 2)
            bl_fetch_add64_acq_rel(&c->pair.whole, 0x100000001u);
        else
            store_quad(c);
        for (uint32_t tries = 0; bl_load32_relaxed(&c->order) <= kind; tries++)
            bl_backoff(tries);
    }
}

static void wait_for_ever(void *arg, uint32_t block, uint32_t lane) {
    chain *c = arg;
    (void)lane;
    bl_store32_relaxed(&c->word[2 + block], 1);
    bl_store32_relaxed(&c->word[block], 0); /* storing the same value wakes no fiber for good */
    wait_for(&c->word[block], 0);
}

/* The host writes the word on which fiber 1 sleeps, unseen by the machine. */
static void wait_for_host(void *arg, uint32_t block, uint32_t lane) {
    chain *c = arg;
    (void)lane;
    if (block)
        wait_for(&c->word[1], 0);
    else
        for (uint32_t tries = 0; bl_load32_host(&c->word[0]) == 0; tries++)
            bl_backoff(tries);
}

static int write_from_host(void *arg) {
    chain *c = arg;
    bl_store32_host(&c->word[0], 1);
    bl_store32_host(&c->word[1], 1);
    return 0;
}

static void test_waiting(void) {
    int deadlocks = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        chain c = {.order = 0};
        CHECK(run_seed(4, 4, pass_on, &c, seed) == BL_SIM_DONE && c.order == 16);
        chain each = {.order = 0};
        bl_sim_options limit = {.seed = seed, .max_points = 100000};
        CHECK(bl_sim_run(5, 1, wake_each, &each, &limit) == BL_SIM_DONE && each.order == 4);
        chain never = {.order = 0};
        deadlocks += run_seed(2, 1, wait_for_ever, &never, seed) == BL_SIM_DEADLOCK;
    }
    CHECK(deadlocks == 50);
    chain c = {.order = 0};
    bl_sim_options o = {.watch = write_from_host, .watch_arg = &c};
    CHECK(bl_sim_run(2, 1, wait_for_host, &c, &o) == BL_SIM_DONE);
}

/* ---- lanes ---- */

typedef struct lanes {
    uint32_t count, wrong, phase[128];
} lanes;

static void warp_operations(void *arg, uint32_t block, uint32_t lane) {
    lanes *l = arg;
    uint32_t me = lane % BL_WARP, first = lane - me;
    uint32_t size = l->count - first < BL_WARP ? l->count - first : BL_WARP, all = (1u << size) - 1;
    for (uint32_t round = 0; round < 10; round++) {
        uint32_t base = 100 * (round + 1) + block, wrong = 0, sum = 0;
        for (uint32_t i = 0; i < me; i++)
            sum += base + i;
        wrong += bl_warp_lane() != me;
        wrong += bl_warp_ballot(me % 2 == 0) != (all & 0x55u);
        wrong += bl_warp_any(me == size - 1 && round % 2) != (round % 2 == 1);
        wrong += bl_warp_broadcast32(base + me, (me + round) % size) != base + (me + round) % size;
        wrong += bl_warp_prefix_add(base + me) != sum;
        wrong += bl_warp_or(1u << me) != all;
        l->phase[lane] = round;
        bl_warp_sync();
        for (uint32_t i = 0; i < size; i++)
            wrong += l->phase[first + i] != round;
        bl_warp_sync();
        l->wrong += wrong;
    }
}

static void block_phases(void *arg, uint32_t block, uint32_t lane) {
    lanes *l = arg;
    uint32_t *mine = l->phase + block * l->count;
    for (uint32_t round = 1; round < 10; round++) {
        bl_store32_relaxed(&mine[lane], round);
        bl_block_sync();
        for (uint32_t i = 0; i < l->count; i++)
            l->wrong += bl_load32_relaxed(&mine[i]) != round;
        bl_block_sync();
    }
}

static void leave_in_any_order(void *arg, uint32_t block, uint32_t lane) {
    lanes *l = arg;
    (void)block;
    l->phase[0] = lane; /* the last to arrive */
    bl_warp_sync();
    if (l->phase[1]++ == 0)
        l->wrong += lane == l->phase[0];
}

static void skip_meeting(void *arg, uint32_t block, uint32_t lane) {
    uint32_t *skipper = arg;
    if (block == 1 && lane == *skipper)
        return;
    bl_warp_sync();
}

static void skip_block_meeting(void *arg, uint32_t block, uint32_t lane) {
    (void)arg, (void)block;
    if (lane != 9)
        bl_block_sync();
}

static void test_lanes(void) {
    lanes first = {.count = 4};
    for (uint64_t seed = 0; seed < 50; seed++, first.phase[1] = 0)
        CHECK(run_seed(1, 4, leave_in_any_order, &first, seed) == BL_SIM_DONE);
    CHECK(first.wrong > 0 && first.wrong < 50); /* the last to arrive is sometimes the first to leave */
    static const uint32_t sizes[] = {1, 2, 3, 8, 20};
    for (uint64_t seed = 0; seed < 50; seed++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            lanes l = {.count = sizes[i]};
            CHECK(run_seed(1, sizes[i], warp_operations, &l, seed) == BL_SIM_DONE && l.wrong == 0);
            lanes b = {.count = sizes[i]};
            CHECK(run_seed(5, sizes[i], block_phases, &b, seed) == BL_SIM_DONE && b.wrong == 0);
        }
        /* lane 8 of 9 is alone in its warp, so no lane waits for it */
        for (uint32_t skipper = 0; skipper < 9; skipper++)
            CHECK(run_seed(2, 9, skip_meeting, &skipper, seed) == (skipper < 8 ? BL_SIM_DEADLOCK : BL_SIM_DONE));
        CHECK(run_seed(1, 10, skip_block_meeting, NULL, seed) == BL_SIM_DEADLOCK);
    }
}

/* ---- the run ---- */

static void spin(void *arg, uint32_t block, uint32_t lane) {
    (void)block, (void)lane;
    for (uint32_t tries = 0; bl_load32_relaxed(arg) == 0; tries++)
        bl_backoff(tries);
}

static int stop_at_third(void *arg) { return ++*(int *)arg == 3; }

static void test_ends(void) {
    uint32_t never = 0;
    int calls = 0;
    bl_sim_options limit = {.max_points = 1000}, watch = {.watch = stop_at_third, .watch_arg = &calls};
    CHECK(bl_sim_run(2, 3, spin, &never, &limit) == BL_SIM_LIMIT);
    CHECK(bl_sim_run(2, 3, spin, &never, &watch) == BL_SIM_STOPPED && calls == 3);
    limit.watch = stop_at_third, limit.watch_arg = &calls, limit.max_points = 100000, calls = 0;
    CHECK(bl_sim_run(2, 3, spin, &never, &limit) == BL_SIM_LIMIT && calls == 1);
    CHECK(bl_sim_run(0, 4, spin, &never, NULL) == BL_SIM_DONE && bl_sim_run(4, 0, spin, &never, NULL) == BL_SIM_DONE);
    CHECK(bl_sim_run(1u << 16, 1u << 16, spin, &never, NULL) == BL_SIM_NOMEM);
}

static size_t mappings(void) {
    size_t lines = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    for (int c; f && (c = getc(f)) != EOF;)
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines;
}

/* Abandoned stacks are reused: a hundred runs that end badly map no more memory than the first. */
static void test_stacks_return(void) {
    uint32_t never = 0;
    size_t before = 0;
    for (int i = 0; i < 100; i++) {
        bl_sim_options o = {.seed = (uint64_t)i, .max_points = 500};
        CHECK(bl_sim_run(10, 10, spin, &never, &o) == BL_SIM_LIMIT);
        before = i ? before : mappings();
    }
    CHECK(mappings() < before + 100);
    bl__fiber_trim();
    counters c = {0};
    CHECK(run_seed(3, 2, count, &c, 1) == BL_SIM_DONE && c.whole == 6 * STEPS);
}

/* Enough live values to fill the registers that a switch must preserve, and a deep stack. */
static double keep_registers(double a, uint32_t depth) {
    volatile char frame[512];
    frame[depth] = 1;
    double b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
    uint64_t i = (uint64_t)a, j = i + 1, k = i + 2, l = i + 3, m = i + 4, n = i + 5, o = i + 6;
    for (int round = 0; round < 3; round++) {
        bl_backoff(0);
        a += 1, b += 1, c += 1, d += 1, e += 1, f += 1, g += 1, h += 1;
        i += 1, j += 1, k += 1, l += 1, m += 1, n += 1, o += 1;
    }
    double deeper = depth ? keep_registers(a, depth - 1) : 0;
    return deeper + a + b + c + d + e + f + g + h + (double)(i + j + k + l + m + n + o) + frame[depth] - 1;
}

static void use_registers(void *arg, uint32_t block, uint32_t lane) {
    ((double *)arg)[block] = keep_registers(1000.0 * block, 40);
    (void)lane;
}

static void nest(void *arg, uint32_t block, uint32_t lane) {
    bl_fetch_add32_relaxed(arg, 1);
    counters c = {0};
    if (run_seed(3, 2, count, &c, block + lane) == BL_SIM_DONE && c.whole == 6 * STEPS)
        bl_fetch_add32_relaxed(arg, 100);
}

static void test_contexts(void) {
    double got[8];
    CHECK(run_seed(8, 1, use_registers, got, 3) == BL_SIM_DONE);
    for (uint32_t i = 0; i < 8; i++)
        CHECK(got[i] == keep_registers(1000.0 * i, 40)); /* outside a run nothing switches */
    uint32_t sum = 0;
    CHECK(run_seed(2, 2, nest, &sum, 3) == BL_SIM_DONE && sum == 404);
}

static void *count_on_thread(void *arg) {
    for (int i = 0; i < 50; i++)
        memset(arg, 0, sizeof(counters)), run_seed(3, 2, count, arg, 5);
    return NULL;
}

static void test_threads(void) {
    counters c[2];
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, count_on_thread, &c[1]) == 0);
    count_on_thread(&c[0]);
    pthread_join(thread, NULL);
    CHECK(c[0].whole == 6 * STEPS && !memcmp(&c[0], &c[1], sizeof c[0]));
}

/* ---- virtual time ---- */

enum { TIMED_STEPS = 50, TIMED_BLOCKS = 3, TIMED_LANES = 4, TIMED = TIMED_BLOCKS * TIMED_LANES };

typedef struct times {
    uint64_t at[TIMED * TIMED_STEPS], met[TIMED], waited, backed_off[8];
    uint32_t count, word;
} times;

/* The seed adds up to an eighth to each cost, and up to one tick to each step. */
static bool about(uint64_t ticks, uint64_t expected, uint64_t steps) {
    return ticks >= expected && ticks <= expected + expected / 8 + 2 * steps;
}

static bl_sim_options run_timed(uint32_t blocks, uint32_t lanes, bl_sim_body body, times *t, uint64_t seed) {
    bl_sim_options o = {.seed = seed, .timed = true};
    memset(t, 0, sizeof *t);
    bl_sim_start_clock();
    CHECK(bl_sim_run(blocks, lanes, body, t, &o) == BL_SIM_DONE);
    return o;
}

static void tick_along(void *arg, uint32_t block, uint32_t lane) {
    times *t = arg;
    for (uint32_t i = 0; i < TIMED_STEPS; i++) {
        bl_spend(i % 2 ? 1000 : 10 + 30 * lane + block);
        bl_fetch_add32_relaxed(&t->word, 1);
        uint64_t clock = bl_clock(); /* other fibers may run meanwhile, and count too */
        t->at[t->count++] = clock;
    }
}

static void spend_and_meet(void *arg, uint32_t block, uint32_t lane) {
    times *t = arg;
    bl_spend(block == 0 ? 100 * (lane + 1) : 50);
    bl_block_sync();
    t->met[block * TIMED_LANES + lane] = bl_clock();
}

static void wait_and_back_off(void *arg, uint32_t block, uint32_t lane) {
    times *t = arg;
    uint32_t tries = 0;
    (void)lane;
    if (block == 0) {
        bl_spend(5000);
        bl_store32_release(&t->word, 1);
    } else if (block == 1) {
        while (!bl_load32_acquire(&t->word))
            bl_wait_change32(&t->word, 0, &tries);
        t->waited = bl_clock();
    } else {
        for (uint32_t i = 0; i < 8; i++) {
            uint64_t since = bl_clock();
            bl_backoff(i);
            t->backed_off[i] = bl_clock() - since;
        }
    }
}

/* Events that are later on a clock are later in the run; time passes for all lanes at once; a lane that waits is as
 * late as the last to arrive. */
static void test_time(void) {
    static times t, other;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bl_sim_options o = run_timed(TIMED_BLOCKS, TIMED_LANES, tick_along, &t, seed);
        uint64_t later = 0;
        for (uint32_t i = 1; i < t.count; i++)
            later += t.at[i] >= t.at[i - 1];
        CHECK(t.count == TIMED * TIMED_STEPS && later == t.count - 1 && t.word == t.count);
        CHECK(about(o.makespan, TIMED_STEPS / 2 * (1000 + 10 + 30 * (TIMED_LANES - 1)), 2 * TIMED_STEPS + 100));
        CHECK(run_timed(TIMED_BLOCKS, TIMED_LANES, tick_along, &other, seed).makespan == o.makespan);
        CHECK(!memcmp(&t, &other, sizeof t));
        CHECK(run_timed(TIMED_BLOCKS, TIMED_LANES, tick_along, &other, seed + 100).makespan != o.makespan);
        run_timed(2, TIMED_LANES, spend_and_meet, &t, seed);
        for (uint32_t lane = 0; lane < TIMED_LANES; lane++)
            CHECK(about(t.met[lane], 100 * TIMED_LANES, 2) && about(t.met[TIMED_LANES + lane], 50, 2));
        o = run_timed(3, 1, wait_and_back_off, &t, seed);
        CHECK(about(t.waited, 5000, 6) && about(o.makespan, 5000, 6));
        for (uint32_t i = 0; i < 8; i++)
            CHECK(about(t.backed_off[i], i < 4 ? 2u << i : 32, 2));
    }
    bl_sim_options none = {.timed = true};
    CHECK(bl_sim_run(0, 1, tick_along, &t, &none) == BL_SIM_DONE && none.makespan == 0);
    bl_sim_options steps = {.seed = 1};
    memset(&t, 0, sizeof t);
    CHECK(bl_sim_run(2, 2, tick_along, &t, &steps) == BL_SIM_DONE && steps.makespan == 0);
}

/* ---- cost ---- */

enum { SWITCHES = 1000000 };

static double now(void) { return 1e9 * bl__now(); }

static bl__fiber *answer(void *arg) {
    bl__fiber **pair = arg;
    for (int i = 0; i < SWITCHES; i++)
        bl__fiber_switch(pair[1], pair[0]);
    return pair[0];
}

static void load_only(void *arg, uint32_t block, uint32_t lane) {
    (void)block, (void)lane;
    for (int i = 0; i < SWITCHES / 8; i++)
        bl_load32_relaxed(arg);
}

static void yield_only(void *arg, uint32_t block, uint32_t lane) {
    (void)arg, (void)block, (void)lane;
    for (uint32_t i = 0; i < SWITCHES / 8; i++)
        bl_backoff(i);
}

static void nothing(void *arg, uint32_t block, uint32_t lane) { (void)arg, (void)block, (void)lane; }

static void print_costs(void) {
    bl__fiber here, *pair[2] = {&here, NULL};
    bl__fiber_adopt(&here);
    pair[1] = bl__fiber_create(0, answer, pair);
    CHECK(pair[1] != NULL);
    double start = now();
    for (int i = 0; pair[1] && i < SWITCHES; i++)
        bl__fiber_switch(pair[0], pair[1]);
    fprintf(stderr, "switch of fibers           %6.1f ns\n", (now() - start) / SWITCHES / 2);
    if (pair[1])
        bl__fiber_destroy(pair[1]);
    uint32_t word = 0;
    start = now(), run_seed(8, 1, load_only, &word, 1);
    fprintf(stderr, "scheduling point, 8 fibers %6.1f ns\n", (now() - start) / SWITCHES);
    start = now(), run_seed(8, 1, yield_only, &word, 1);
    fprintf(stderr, "yield to another           %6.1f ns\n", (now() - start) / SWITCHES);
    bl_sim_options timed = {.seed = 1, .timed = true};
    start = now(), bl_sim_run(8, 1, load_only, &word, &timed);
    fprintf(stderr, "point in virtual time      %6.1f ns\n", (now() - start) / SWITCHES);
    start = now();
    for (uint64_t i = 0; i < 1000; i++)
        run_seed(3, 1, nothing, NULL, i);
    fprintf(stderr, "empty run of 3 fibers      %6.1f ns\n", (now() - start) / 1000);
}

int main(void) {
    test_reproducible();
    test_interleaved();
    test_backoff();
    test_sequentially_consistent();
    test_operations();
    test_waiting();
    test_lanes();
    test_ends();
    test_stacks_return();
    test_contexts();
    test_threads();
    test_time();
    print_costs();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
