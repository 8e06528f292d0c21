/* One run over processes that have other devices each: what must hold, for test_ranks_apart.c with the simulated
 * machine and test_nodes_cuda.c with a GPU. Ranks are threads (mailbox.h). */
#ifndef BALLAST_TESTS_RANKS_CHECK_H
#define BALLAST_TESTS_RANKS_CHECK_H

#include "mailbox.h"
#include "nodes_check.h"

/* What all ranks run. */
typedef struct errand {
    const bl_program *program;
    wood_rules rules;
    const wood_place *roots;
    uint32_t count, result_bytes; /* 0: it has none */
    uint32_t cancels;             /* the rank that does; RANKS_MAX: none */
    bl_config config;
} errand;

typedef struct rank {
    member member;
    pthread_t thread;
    const char *device;
    const errand *errand;
    grove g;
    wood_totals totals;
    unsigned char results[SHOOTS * sizeof(branch_text)];
    int status;
    bl_stats stats, own;
    uint64_t error;
    char detail[256];
} rank;

static inline void *rank_main(void *argument) {
    rank *r = (rank *)argument;
    const errand *e = r->errand;
    const bl_link link = link_of(&r->member);
    bl_config config = e->config;
    pthread_t helper;
    config.device = r->device;
    grove_open_on(&r->g, config, r->member.w->ranks > 1 ? &link : NULL);
    grove_begin(&r->g, &e->rules);
    const bool cancels = e->cancels == r->member.rank;
    if (cancels)
        CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, r->g.c), 0);
    r->status = e->result_bytes
                    ? bl_run_join(r->g.c, e->program, &r->g.shared, e->roots, e->count, r->results, &r->stats)
                    : bl_run(r->g.c, e->program, &r->g.shared, e->roots, e->count, &r->stats);
    if (cancels)
        pthread_join(helper, NULL);
    snprintf(r->detail, sizeof r->detail, "%s", bl_error_detail(r->g.c));
    (void)bl_failure(r->g.c, &r->error);
    if (r->member.w->ranks > 1) {
        CHECK_SAME(bl_rank_stats(r->g.c, r->member.rank, &r->own), BL_OK);
        CHECK(!strcmp(bl_rank_device(r->g.c, r->member.rank), r->device));
    }
    (void)bl_reset(r->g.c);
    r->totals = grove_totals(&r->g);
    grove_close(&r->g);
    return NULL;
}

/* `devices`: of each rank, and then NULL; a single one is on no link. Returns what all have counted; `left`: tasks. */
static inline wood_totals run_errand(const errand *e, rank *all, const char *const *devices, uint32_t seed,
                                     uint64_t *left) {
    static const uint64_t delays[] = {0, 100000, 2000000};
    world w = {.random = seed, .longest = delays[seed % 3]};
    wood_totals sum = {0, 0, 0};
    while (devices[w.ranks])
        w.ranks++;
    world_begin(&w);
    *left = 0;
    for (uint32_t i = 0; i < w.ranks; i++) {
        memset(&all[i], 0, sizeof all[i]);
        all[i].member = (member){&w, i};
        all[i].device = devices[i];
        all[i].errand = e;
        CHECK_SAME(pthread_create(&all[i].thread, NULL, rank_main, &all[i]), 0);
    }
    for (uint32_t i = 0; i < w.ranks; i++) {
        pthread_join(all[i].thread, NULL);
        sum.tasks += all[i].totals.tasks;
        sum.sum += all[i].totals.sum;
        sum.spawned += all[i].totals.spawned;
        *left += all[i].g.left;
        if (!e->config.checkpoint) /* else rank 0 has what all had found before */
            CHECK_SAME(all[i].own.tasks, all[i].totals.tasks);
        CHECK_SAME(all[i].status, all[0].status);
        CHECK_SAME(all[i].stats.tasks, all[0].stats.tasks);
    }
    CHECK_SAME(all[0].stats.tasks, sum.tasks);
    CHECK_SAME(all[0].stats.left, *left);
    CHECK_SAME(w.closed, w.ranks > 1 ? w.ranks : 0);
    world_end(&w);
    return sum;
}

static inline void check_ranks_woods(const bl_program *wood, const char *const *devices, bl_config config,
                                     uint32_t seeds) {
    for (uint32_t seed = 1; seed <= seeds / CHECK_SLOWER + 1; seed++) {
        wood_place roots[5];
        errand e = {.program = wood,
                    .rules = {.seed = seed, .deepest = 4 + seed % 12, .widest = 2 + seed % 3},
                    .roots = roots,
                    .count = seed % 5,
                    .cancels = RANKS_MAX,
                    .config = config};
        rank all[RANKS_MAX];
        wood_totals want = {0, 0, 0};
        uint64_t left;
        check_at("ranks with %s, %s, seed %u", devices[0], devices[1], (unsigned)seed);
        for (uint32_t i = 0; i < e.count; i++) {
            roots[i] = (wood_place){mix(seed, i), 0};
            grow_alone(&e.rules, &want, roots[i], 1);
        }
        const wood_totals got = run_errand(&e, all, devices, seed, &left);
        if (!CHECK_SAME(all[0].status, BL_OK))
            printf("    %s\n", all[0].detail);
        CHECK_SAME(got.tasks, want.tasks);
        CHECK_SAME(got.sum, want.sum);
        CHECK_SAME(left, 0);
    }
}

/* A program with results, by a number, and what they are. */
static inline errand shoots_errand(const shoots *programs, uint32_t kind) {
    return (errand){.program = kind ? programs->branches[kind - 1] : programs->twig,
                    .result_bytes = kind ? sizeof(branch_text) : sizeof(uint64_t),
                    .cancels = RANKS_MAX};
}
static inline void results_alone(const errand *e, uint32_t kind, unsigned char *results, wood_totals *totals) {
    for (uint32_t i = 0; i < e->count; i++) {
        const branch_text text = kind ? branch_alone(&e->rules, totals, e->roots[i]) : (branch_text){0, 0, 0};
        const uint64_t sum = kind ? 0 : twig_alone(&e->rules, totals, e->roots[i]);
        memcpy(results + i * e->result_bytes, kind ? (const void *)&text : (const void *)&sum, e->result_bytes);
    }
}

/* All ranks have the results of the roots of rank 0. */
static inline void check_ranks_results(const shoots *programs, const char *const *devices, bl_config config,
                                       uint32_t seeds, uint32_t ticks) {
    for (uint32_t seed = 1; seed <= seeds / CHECK_SLOWER + 1; seed++) {
        const uint32_t count = seed % 7 == 0 ? SHOOTS : seed % 7 == 6 ? 0 : seed % 7, kind = seed % 3;
        wood_place roots[SHOOTS];
        errand e = shoots_errand(programs, kind);
        e.rules = (wood_rules){.seed = seed,
                               .deepest = 3 + seed % (count < SHOOTS ? 7 : 3),
                               .widest = 2 + seed % 4,
                               .task_ticks = seed % 3 ? 0 : ticks};
        e.roots = roots;
        e.count = count;
        e.config = config;
        rank all[RANKS_MAX];
        wood_totals want = {0, 0, 0};
        unsigned char results[SHOOTS * sizeof(branch_text)];
        uint64_t left;
        check_at("ranks with %s, %s, results, seed %u", devices[0], devices[1], (unsigned)seed);
        for (uint32_t i = 0; i < count; i++)
            roots[i] = (wood_place){mix(seed, i), 0};
        results_alone(&e, kind, results, &want);
        const wood_totals got = run_errand(&e, all, devices, seed, &left);
        if (!CHECK_SAME(all[0].status, BL_OK))
            printf("    %s\n", all[0].detail);
        CHECK_SAME(got.tasks, want.tasks);
        CHECK_SAME(left, 0);
        for (uint32_t i = 0; devices[i]; i++)
            CHECK(!memcmp(all[i].results, results, (size_t)count * e.result_bytes));
    }
}

/* Until every rank has run some: entries have been exchanged, and their results. */
static inline void check_ranks_all_work(const bl_program *branch, const char *const *devices, uint32_t ticks,
                                        uint32_t deepest) {
    const wood_place root = {21, 0};
    const errand e = {.program = branch,
                      .rules = {.seed = 3, .deepest = deepest, .widest = 5, .task_ticks = ticks},
                      .roots = &root,
                      .count = 1,
                      .result_bytes = sizeof(branch_text),
                      .cancels = RANKS_MAX};
    rank all[RANKS_MAX];
    wood_totals none = {0, 0, 0};
    const branch_text want = branch_alone(&e.rules, &none, root);
    const double until = check_now() + nodes_patience;
    uint32_t worked = 0, wanted = 0;
    uint64_t left;
    check_at("ranks with %s, %s, all work", devices[0], devices[1]);
    for (uint32_t i = 0; devices[i]; i++)
        wanted |= 1u << i;
    for (uint32_t rounds = 0; worked != wanted && check_now() < until; rounds++) {
        (void)run_errand(&e, all, devices, rounds, &left);
        for (uint32_t i = 0; devices[i]; i++) {
            worked |= all[i].own.tasks ? 1u << i : 0;
            CHECK(!memcmp(all[i].results, &want, sizeof want));
        }
    }
    CHECK_SAME(worked, wanted);
}

/* Every task is run or left, wherever it was when a rank ended the run: cancelled, out of time, or by a task. */
static inline void check_ranks_ends(const bl_program *wood, const shoots *programs, const char *const *devices,
                                    uint32_t rounds) {
    for (uint32_t i = 0; i < rounds / CHECK_SLOWER + 1; i++) {
        const uint32_t how = i % 3, kind = i / 3 % 3;
        const int want = how == 0 ? BL_ECANCEL : how == 1 ? BL_ETIME : BL_ETASK;
        wood_place roots[SHOOTS];
        errand e = {.program = kind == 0   ? wood
                               : kind == 1 ? programs->twig
                                           : programs->branches[0],
                    .rules = {.seed = 5, .deepest = 18, .widest = 5, .fails = how == 2 ? 4 : 0, .task_ticks = 20},
                    .roots = roots,
                    .count = SHOOTS,
                    .result_bytes = kind == 0   ? 0
                                    : kind == 1 ? sizeof(uint64_t)
                                                : sizeof(branch_text),
                    .cancels = RANKS_MAX,
                    .config = {.time_limit = how == 1 ? 0.02 : 0}};
        rank all[RANKS_MAX];
        uint64_t left;
        check_at("ranks with %s, %s, early end %u", devices[0], devices[1], (unsigned)i);
        if (kind == 0) /* chains without end */
            e.rules = (wood_rules){.endless = 1, .fails = how == 2 ? 200 : 0};
        e.cancels = how == 0 ? i / 9 % 2 : RANKS_MAX;
        for (uint32_t k = 0; k < SHOOTS; k++)
            roots[k] = (wood_place){mix(5, k), 0};
        const wood_totals got = run_errand(&e, all, devices, i, &left);
        CHECK(all[0].status == want || (kind && how < 2 && all[0].status == BL_OK));
        CHECK_SAME(got.tasks + left, SHOOTS + got.spawned);
        CHECK_SAME(all[1].error, how == 2 ? 77 : 0);
    }
}

/* A fork that is too wide for the records of a GPU, wherever that is, is refused where it is forked. */
static inline void check_ranks_width(const bl_program *branch, const char *const *devices) {
    const wood_place root = {21, 0};
    errand e = {.program = branch,
                .rules = {.deepest = 1, .widest = 40},
                .roots = &root,
                .count = 1,
                .result_bytes = sizeof(branch_text),
                .cancels = RANKS_MAX,
                .config = {.workers = 2}};
    rank all[RANKS_MAX];
    uint64_t left;
    check_at("ranks with %s, %s, a wide fork", devices[0], devices[1]);
    while (wood_children(&e.rules, root) <= 6) /* only the root forks */
        e.rules.seed++;
    (void)run_errand(&e, all, devices, 1, &left);
    CHECK(all[0].status != BL_OK);
    if (!CHECK(strstr(all[0].detail, "BL_JOIN_WIDTH")))
        printf("    %s: %s\n", bl_status_name(all[0].status), all[0].detail);
}

/* ---- checkpoints ---- */

/* What a run of several steps goes through: each step has other devices. */
typedef struct journey {
    const char *const (*devices)[RANKS_MAX];
    uint32_t count;
    const char *file;
    double seconds;   /* of the first step of a run that is stopped, which is not to end in that time, ... */
    double every;     /* ... and from one checkpoint to the next of one that is not */
    uint32_t deepest; /* of the tree: longer than a few steps */
    uint32_t ticks;
} journey;

/* Stopped by the clock, or interrupted again and again, and resumed until it is done; `kind` 3: without results. */
static inline uint32_t check_journey(const journey *way, const bl_program *wood, const shoots *programs, uint32_t kind,
                                     uint32_t seed) {
    const bool stops = seed % 2;
    wood_place roots[5];
    errand e = shoots_errand(programs, kind % 3);
    rank all[RANKS_MAX];
    wood_totals want = {0, 0, 0}, got;
    unsigned char results[5 * sizeof(branch_text)];
    double seconds = way->seconds;
    uint64_t left;
    uint32_t steps = 0;
    if (kind == 3) {
        e.program = wood;
        e.result_bytes = 0;
    }
    e.rules = (wood_rules){.seed = seed, .deepest = way->deepest, .widest = 5, .task_ticks = way->ticks};
    e.roots = roots;
    e.count = 1 + seed % 5;
    for (uint32_t i = 0; i < e.count; i++) {
        roots[i] = (wood_place){mix(seed, i), 0};
        if (kind == 3)
            grow_alone(&e.rules, &want, roots[i], 1);
    }
    if (kind < 3)
        results_alone(&e, kind, results, &want);
    do {
        const char *const *devices = way->devices[(seed + steps) % way->count];
        check_at("%s, checkpoint %u, seed %u, program %u", devices[0], (unsigned)steps, (unsigned)seed, (unsigned)kind);
        e.config = (bl_config){.checkpoint = way->file, .resume = steps ? way->file : NULL};
        if (stops)
            e.config.time_limit = seconds;
        else
            e.config.checkpoint_seconds = way->every;
        got = run_errand(&e, all, devices, seed + steps, &left);
        seconds *= 1.6;
        if (all[0].status != BL_OK && all[0].status != BL_ETIME)
            printf("    %s: %s\n", bl_status_name(all[0].status), all[0].detail);
        CHECK_SAME(left > 0, all[0].status != BL_OK);
    } while (all[0].status == BL_ETIME && ++steps < 100);
    CHECK_SAME(all[0].status, BL_OK);
    CHECK_SAME(got.tasks, want.tasks);
    CHECK_SAME(all[0].stats.tasks, want.tasks);
    CHECK(!memcmp(all[0].results, results, kind == 3 ? 0 : (size_t)e.count * e.result_bytes));
    steps += !stops && remove(way->file) == 0; /* one was written */
    remove(way->file);
    return steps;
}

static inline void check_journeys(const journey *way, const bl_program *wood, const shoots *programs, uint32_t seeds) {
    for (uint32_t kind = 0; kind < 4; kind++) {
        uint32_t steps[2] = {0, 0};
        for (uint32_t seed = 1; seed <= seeds / CHECK_SLOWER + 2; seed++)
            steps[seed % 2] += check_journey(way, wood, programs, kind, seed);
        check_at("checkpoints, program %u", (unsigned)kind);
        CHECK(steps[0] > 0); /* some were written on the way, and some runs stopped */
        CHECK(steps[1] > 0);
    }
}

#endif
