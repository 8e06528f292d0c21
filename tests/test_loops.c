// COMPILE: -O1
/* Parallel loops whose body gets pieces: every index once on every scheduler, no piece larger than requested, and
 * bodies that spawn. Built for the CPU and for the simulated machine. */
#include "check.h"
#include "config.h"

#include <ballast/task.h>
#include <stdlib.h>

/* The lane that gets an index marks it; the first lane of a piece counts the piece. With `spawn`, the last index of a
 * piece spawns one more, which runs as index 0 of a payload that spawns nothing. */
typedef struct loop_payload {
    uint32_t spawn;
} loop_payload;

typedef struct loop_totals {
    uint64_t pieces, spawned;
    uint32_t largest, unused;
} loop_totals;

typedef struct loop_shared {
    uint32_t *hits;
    loop_totals *totals;
} loop_shared;

static BL_TASK void loop_run(bl_task *t, const loop_payload *p, uint32_t begin, uint32_t end, const loop_shared *shared,
                             bl_nothing *local) {
    (void)local;
    if (p->spawn == 2) {
        if (t->lane == 0)
            bl_fetch_add64_relaxed(&shared->totals->spawned, end - begin);
        return;
    }
    for (uint32_t i = begin + t->lane; i < end; i += t->lanes)
        bl_fetch_add32_relaxed(shared->hits + i, 1);
    if (t->lane)
        return;
    if (p->spawn == 3) { /* fails somewhere in the middle */
        if (begin <= 7 && 7 < end)
            bl_fail(t, begin, p);
        return;
    }
    bl_fetch_add64_relaxed(&shared->totals->pieces, 1);
    bl_fetch_max32_relaxed(&shared->totals->largest, end - begin);
    loop_payload child = {2};
    if (p->spawn)
        bl_spawn_n(t, &child, end - begin);
}
#define BL_PROGRAM loop
#define BL_PAYLOAD loop_payload
#define BL_SHARED loop_shared
#define BL_RANGE_RUN loop_run
#include <ballast/program.h>

/* The same without spawns, a property that some schedulers may rely on. */
#define BL_PROGRAM plain
#define BL_PAYLOAD loop_payload
#define BL_SHARED loop_shared
#define BL_RANGE_RUN loop_run
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

/* A malleable task: its payload says which part of the loop it is, so dividing the range must divide the payload
 * too. */
typedef struct part_payload {
    uint32_t low, high;
} part_payload;

static BL_TASK uint32_t part_split(part_payload *kept, part_payload *given, uint32_t begin, uint32_t end,
                                   const loop_shared *shared) {
    uint32_t middle = begin + (end - begin + 2) / 3;
    bl_fetch_add64_relaxed(&shared->totals->spawned, 1);
    kept->high = middle;
    given->low = middle;
    return middle;
}

static BL_TASK void part_run(bl_task *t, const part_payload *p, uint32_t begin, uint32_t end, const loop_shared *shared,
                             bl_nothing *local) {
    (void)local;
    for (uint32_t i = begin + t->lane; i < end && p->low <= begin && end <= p->high; i += t->lanes)
        bl_fetch_add32_relaxed(shared->hits + i, 1);
}
#define BL_PROGRAM part
#define BL_PAYLOAD part_payload
#define BL_SHARED loop_shared
#define BL_RANGE_RUN part_run
#define BL_SPLIT part_split
#include <ballast/program.h>

#ifdef BL_TARGET_SIM
#define LOOP(name) name##_sim()
#define LOOP_DEVICE "sim"
enum { LARGE = 300, SEEDS = CHECK_SLOWER > 1 ? 2 : 3 };
#else
#define LOOP(name) name##_cpu()
#define LOOP_DEVICE "cpu"
enum { LARGE = 100000 / CHECK_SLOWER, SEEDS = CHECK_SLOWER > 1 ? 1 : 2 };
#endif

static bl_stats run_loop(bl_context *c, const bl_program *program, uint32_t count, uint32_t spawn, uint32_t pop) {
    loop_totals totals = {0, 0, 0, 0};
    loop_shared shared = {calloc(count + 1, sizeof(uint32_t)), &totals};
    loop_payload payload = {spawn};
    bl_stats stats;
    memset(&stats, 0, sizeof stats);
    if (!CHECK_SAME(bl_run_range(c, program, &shared, &payload, count, &stats), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    uint32_t once = 0;
    for (uint32_t i = 0; i < count; i++)
        once += shared.hits[i] == 1;
    CHECK_SAME(once, count);
    CHECK_SAME(stats.tasks, spawn ? 2 * (uint64_t)count : count);
    CHECK_SAME(totals.spawned, spawn ? count : 0);
    CHECK(totals.pieces <= count && (count == 0 || totals.pieces > 0));
    CHECK(pop == 0 || totals.largest <= pop);
    free(shared.hits);
    return stats;
}

static void fail_loop(bl_context *c, const bl_program *program) {
    loop_totals totals = {0, 0, 0, 0};
    loop_shared shared = {calloc(LARGE, sizeof(uint32_t)), &totals};
    loop_payload payload = {3};
    CHECK_SAME(bl_run_range(c, program, &shared, &payload, LARGE, NULL), BL_ETASK);
    uint32_t twice = 0;
    for (uint32_t i = 0; i < LARGE; i++)
        twice += shared.hits[i] > 1;
    CHECK_SAME(twice, 0);
    CHECK_SAME(shared.hits[7], 1);
    free(shared.hits);
}

/* Returns how many times the range was divided. */
static uint64_t run_parts(bl_context *c) {
    loop_totals totals = {0, 0, 0, 0};
    loop_shared shared = {calloc(LARGE, sizeof(uint32_t)), &totals};
    part_payload payload = {0, LARGE};
    uint32_t once = 0;
    CHECK_SAME(bl_run_range(c, LOOP(part), &shared, &payload, LARGE, NULL), BL_OK);
    for (uint32_t i = 0; i < LARGE; i++)
        once += shared.hits[i] == 1;
    CHECK_SAME(once, LARGE);
    free(shared.hits);
    return totals.spawned;
}

static uint64_t divided; /* how many times a range was divided, over all runs */

static void try_loops(const char *scheduler, uint64_t seed) {
    static const uint32_t pops[] = {0, 1, 3, 1000}, workers[] = {1, 2, 3, 5};
    for (uint32_t i = 0; i < 4; i++) {
        bl_config config = {.device = LOOP_DEVICE,
                            .scheduler = scheduler,
                            .workers = workers[(seed + i) % 4],
                            .grain = pops[i],
                            .capacity = seed % 2 ? 2 : 0,
                            .private_entries = seed % 3 ? 0 : BL_NONE,
                            .seed = seed};
        check_at("%s, pop %u, %u workers, seed %u", scheduler, pops[i], config.workers, (unsigned)seed);
        bl_context *c = NULL;
        config = config_for(config);
        if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
            return;
        run_loop(c, LOOP(loop), LARGE, 0, pops[i]);
        run_loop(c, LOOP(plain), LARGE, 0, pops[i]);
        run_loop(c, LOOP(loop), LARGE / 10, 1, pops[i]);
        fail_loop(c, LOOP(loop));
        fail_loop(c, LOOP(plain));
        divided += run_parts(c);
        for (uint32_t count = 0; count < 4; count++) {
            run_loop(c, LOOP(loop), count, 1, pops[i]);
            run_loop(c, LOOP(plain), count, 0, pops[i]);
        }
        bl_close(c);
    }
}

#ifndef BL_TARGET_SIM
/* A plain function as the body. */
static void mark_piece(uint32_t begin, uint32_t end, const void *data) {
    uint32_t *const *hits = data;
    for (uint32_t i = begin; i < end; i++)
        bl_fetch_add32_relaxed(*hits + i, 1);
}

static void try_plain_function(const char *scheduler) {
    bl_program *program = bl_program_from_body(mark_piece, sizeof(uint32_t *));
    uint32_t *hits = calloc(LARGE, sizeof *hits), once = 0;
    bl_config config = {.device = "cpu", .scheduler = scheduler, .workers = 3};
    bl_context *c = NULL;
    bl_stats stats;
    check_at("%s, a plain function", scheduler);
    CHECK(program != NULL && bl_program_from_body(NULL, 0) == NULL);
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    CHECK_SAME(bl_run_range(c, program, &hits, NULL, LARGE, &stats), BL_OK);
    for (uint32_t i = 0; i < LARGE; i++)
        once += hits[i] == 1;
    CHECK_SAME(once, LARGE);
    CHECK_SAME(stats.tasks, LARGE);
    bl_close(c);
    free(hits);
    bl_program_free(program);
}

static void add_piece(uint32_t begin, uint32_t end, const void *data) {
    bl_fetch_add64_relaxed(*(uint64_t *const *)data, end - begin);
}

/* Workers and pieces whose product has more than 32 bits. */
static void try_large_pieces(const char *scheduler) {
    bl_program *program = bl_program_from_body(add_piece, sizeof(uint64_t *));
    const uint64_t count = UINT64_C(1) << 27;
    uint64_t sum = 0, *to = &sum;
    bl_config config = {.device = "cpu", .scheduler = scheduler, .workers = 65, .grain = 1u << 26};
    bl_context *c = NULL;
    bl_stats stats;
    check_at("%s, large pieces", scheduler);
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    CHECK_SAME(bl_run_range(c, program, &to, NULL, count, &stats), BL_OK);
    CHECK_SAME(sum, count);
    CHECK_SAME(stats.tasks, count);
    bl_close(c);
    bl_program_free(program);
}
#endif

int main(void) {
    check_limit(120);
    const char *scheduler;
#ifndef BL_TARGET_SIM
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        if (bl_program_has(LOOP(loop), scheduler)) {
            try_plain_function(scheduler);
            try_large_pieces(scheduler);
        }
#endif
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        for (uint64_t seed = 1; seed <= SEEDS && bl_program_has(LOOP(loop), scheduler);
             seed++) /* otherwise not in this build */
            try_loops(scheduler, seed);
    check_at("malleable tasks");
    CHECK(divided > 0);
    return check_end();
}
