// COMPILE: -O1
/* Runs that several processes share, over a link that is made of mailboxes: each rank is a thread with a context of its
 * own. Messages take their time, a different one between any two ranks, so what is rare on a real network happens here:
 * runs are halted while entries are under way, and names arrive after the end. tests/mpi has the same over MPI. */
#include "check.h"

#include "mailbox.h"
#include "riddles.h"

#include <ballast/link.h>
#include <unistd.h>

enum { ROOTS_MAX = 8 };

/* ---- ranks ---- */

typedef struct rank {
    member member;
    pthread_t thread;
    const bl_program *program; /* of trees, or NULL: ... */
    bl_config config;
    totals t;
    const bl_program *bush; /* ... with results, */
    garden g;
    uint64_t results[ROOTS_MAX];
    uint32_t loop; /* or, without roots, a reduction of so many indices */
    double reduced;
    const riddle *riddle; /* or this, ... */
    uint64_t number;      /* ... of which this is what the rank has added up, ... */
    bool wrong;           /* ... or which it has got wrong */
    uint32_t roots;
    bool of_all;
    bool cancels; /* its own run, soon */
    int opened, status;
    bl_stats stats;
    uint64_t error, failed;
    char detail[256];
    uint32_t under_way; /* letters, when its run had ended */
} rank;

static void *cancel_soon(void *argument) {
    sleep_us(5000);
    bl_cancel(argument);
    return NULL;
}

static int run_tree(rank *r, bl_context *c) {
    totals *shared = &r->t;
    place roots[ROOTS_MAX];
    for (uint32_t i = 0; i < r->roots; i++)
        roots[i] = (place){mix(r->t.seed, i) + r->member.rank, 0};
    return bl_run(c, r->program, &shared, roots, r->roots, &r->stats);
}

static twig bush_root(uint32_t seed, uint32_t rank, uint32_t i) { return (twig){twig_mix(seed, i) + rank, 0, 0}; }

static int run_bush(rank *r, bl_context *c) {
    const garden_of shared = {&r->g};
    twig roots[ROOTS_MAX];
    for (uint32_t i = 0; i < r->roots; i++)
        roots[i] = bush_root(r->t.seed, r->member.rank, i);
    return bl_run_join(c, r->bush, &shared, roots, r->roots, r->results, &r->stats);
}

static int run_sum(rank *r, bl_context *c) {
    const uint32_t from = r->member.rank; /* without of_all what others give must not count */
    return bl_run_reduce(c, terms_cpu(), NULL, &from, r->loop, &r->reduced, &r->stats);
}

static int run_riddle(rank *r, bl_context *c) {
    riddle got = {.kind = r->riddle->kind, .seed = r->riddle->seed};
    const int status = riddle_run(&got, c, &r->stats);
    r->number = got.number;
    r->wrong = status == BL_OK && got.kind != SPREAD && !riddle_is_right(&got, got.number, r->riddle);
    return status;
}

static void *rank_main(void *argument) {
    rank *r = argument;
    bl_link link = link_of(&r->member);
    bl_context *c = NULL;
    r->opened = bl_open_linked(&c, &r->config, &link);
    if (r->opened != BL_OK)
        return NULL;
    bl_roots_of_all(c, r->of_all);
    pthread_t helper;
    if (r->cancels)
        pthread_create(&helper, NULL, cancel_soon, c);
    r->status = r->program ? run_tree(r, c) : r->bush ? run_bush(r, c) : r->riddle ? run_riddle(r, c) : run_sum(r, c);
    if (r->member.rank == 0)
        r->under_way = letters_under_way(r->member.w);
    const uint32_t *failed = bl_failure(c, &r->error); /* its hash comes first */
    r->failed = failed ? *failed : 0;
    snprintf(r->detail, sizeof r->detail, "%s", bl_error_detail(c));
    if (r->cancels)
        pthread_join(helper, NULL);
    bl_close(c);
    return NULL;
}

/* What all ranks should have in common is filled in by the caller. */
static void run_ranks(world *w, rank *all) {
    world_begin(w);
    for (uint32_t i = 0; i < w->ranks; i++) {
        all[i].member = (member){w, i};
        CHECK_SAME(pthread_create(&all[i].thread, NULL, rank_main, &all[i]), 0);
    }
    for (uint32_t i = 0; i < w->ranks; i++)
        pthread_join(all[i].thread, NULL);
    CHECK_SAME(w->closed, w->ranks);
    CHECK_SAME(all[0].under_way, 0);
    world_end(w);
}

static const uint64_t delays[] = {0, 100000, 2000000};

static void test_trees(const bl_program *program) {
    for (uint32_t seed = 1; seed <= 150 / CHECK_SLOWER; seed++) {
        world w = {.ranks = 1 + seed % RANKS_MAX, .random = seed, .longest = delays[seed % 3]};
        rank all[RANKS_MAX] = {{.of_all = false}};
        totals want = {.seed = seed, .deepest = 4 + seed % 12, .widest = 2 + seed % 3}, got = {.seed = 0};
        const uint32_t roots = seed % 5;
        check_at("seed %u, %u ranks", seed, w.ranks);
        for (uint32_t i = 0; i < w.ranks; i++) {
            all[i] = (rank){.program = program,
                            .config = {.workers = 1 + seed % 2},
                            .t = {.seed = seed, .deepest = want.deepest, .widest = want.widest},
                            .roots = roots,
                            .of_all = seed % 2};
            for (uint32_t k = 0; k < roots && (i == 0 || seed % 2); k++)
                grow_alone(&want, (place){mix(seed, k) + i, 0}, 1);
        }
        run_ranks(&w, all);
        for (uint32_t i = 0; i < w.ranks; i++) {
            got.tasks += all[i].t.tasks;
            got.sum += all[i].t.sum;
            CHECK_SAME(all[i].status, BL_OK);
            CHECK_SAME(all[i].stats.tasks, want.tasks);
        }
        CHECK_SAME(got.tasks, want.tasks);
        CHECK_SAME(got.sum, want.sum);
    }
}

/* Every task is run or left, wherever it was when one rank ended the run. */
static void test_early_ends(const bl_program *program) {
    for (uint32_t seed = 1; seed <= 60 / CHECK_SLOWER; seed++) {
        world w = {.ranks = 2 + seed % (RANKS_MAX - 1), .random = seed, .longest = delays[1 + seed % 2]};
        rank all[RANKS_MAX];
        totals got = {.seed = 0};
        const uint32_t where = seed % w.ranks;
        const int want = seed % 3 == 0 ? BL_ECANCEL : seed % 3 == 1 ? BL_ETIME : BL_ETASK;
        check_at("early end, seed %u, %u ranks", seed, w.ranks);
        for (uint32_t i = 0; i < w.ranks; i++)
            all[i] = (rank){.program = program,
                            .config = {.workers = 1,
                                       .left = count_left,
                                       .left_arg = &all[i].t,
                                       .time_limit = want == BL_ETIME ? 0.005 : 0},
                            .t = {.seed = seed, .endless = true, .fails_at = want == BL_ETASK && i == where ? 500 : 0},
                            .roots = 1,
                            .of_all = seed % 2,
                            .cancels = want == BL_ECANCEL && i == where};
        if (want == BL_ETASK)
            all[0].t.fails_at = 500; /* which has work, in any case */
        run_ranks(&w, all);
        for (uint32_t i = 0; i < w.ranks; i++) {
            got.tasks += all[i].t.tasks;
            got.left_tasks += all[i].t.left_tasks;
            got.spawned += all[i].t.spawned;
            CHECK_SAME(all[i].status, want);
            CHECK_SAME(all[i].error, want == BL_ETASK ? 77 : 0);
            CHECK_SAME(all[i].failed, all[0].failed);
        }
        CHECK_SAME(got.tasks + got.left_tasks, got.spawned + (seed % 2 ? w.ranks : 1));
        CHECK_SAME(all[w.ranks - 1].stats.tasks, got.tasks);
        CHECK_SAME(all[w.ranks - 1].stats.left, got.left_tasks);
    }
}

/* ---- results ---- */

/* All ranks have the results of the roots of rank 0, or each those of its own. */
static void check_bushes(const rank *all, uint32_t ranks, uint32_t seed, bool of_all, bool sums) {
    garden want = all[0].g;
    uint64_t results[ROOTS_MAX], tasks = 0;
    want.tasks = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        for (uint32_t k = 0; k < all[0].roots && (i == 0 || of_all); k++)
            results[k] = bush_expect(&want, bush_root(seed, i, k), 0, sums);
        for (uint32_t k = 0; k < all[0].roots; k++)
            CHECK_SAME(all[i].results[k], results[k]);
        CHECK_SAME(all[i].status, BL_OK);
        CHECK_SAME(all[i].g.wrong, 0);
        tasks += all[i].g.tasks;
    }
    CHECK_SAME(tasks, want.tasks);
    CHECK_SAME(all[ranks - 1].stats.tasks, want.tasks);
}

static void test_results(void) {
    for (uint32_t seed = 1; seed <= 120 / CHECK_SLOWER; seed++) {
        world w = {.ranks = 1 + seed % RANKS_MAX, .random = seed, .longest = delays[seed % 3]};
        rank all[RANKS_MAX];
        const bool sums = seed % 3 == 0, of_all = seed % 4 == 1;
        check_at("results, seed %u, %u ranks", seed, w.ranks);
        for (uint32_t i = 0; i < w.ranks; i++)
            all[i] = (rank){.bush = sums ? bush_sum_cpu() : bush_cpu(),
                            .config = {.workers = 1 + seed % 2, .capacity = seed % 5 ? 0 : 2},
                            .t = {.seed = seed},
                            .g = {.deepest = 4 + seed % 6, .widest = seed % 2 ? 900 : 40},
                            .roots = seed % 7,
                            .of_all = of_all};
        run_ranks(&w, all);
        check_bushes(all, w.ranks, seed, of_all, sums);
    }
}

static void test_reductions(void) {
    static const uint32_t loops[] = {0, 1, 63, 20000};
    for (uint32_t i = 0; i < 16; i++) {
        world w = {.ranks = 1 + i % 5, .random = i, .longest = delays[i % 3]};
        rank all[RANKS_MAX];
        const bool of_all = i % 2;
        check_at("reduction %u, %u ranks", i, w.ranks);
        for (uint32_t k = 0; k < w.ranks; k++)
            all[k] = (rank){.config = {.workers = 1, .grain = 16},
                            .loop = of_all && k == 1 ? 0 : loops[i / 4],
                            .reduced = 3,
                            .of_all = of_all};
        run_ranks(&w, all);
        for (uint32_t k = 0; k < w.ranks; k++) {
            const uint32_t from = of_all ? k : 0;
            double want = 3;
            bl_context *c = NULL;
            bl_open(&c, &(bl_config){.device = "cpu", .workers = 1, .grain = 16});
            CHECK_SAME(bl_run_reduce(c, terms_cpu(), NULL, &from, all[from].loop, &want, NULL), BL_OK);
            bl_close(c);
            CHECK_SAME(all[k].status, BL_OK);
            CHECK(!memcmp(&all[k].reduced, &want, sizeof want));
        }
    }
}

/* Every task is run or left, wherever it was, and wherever its result was going. */
static void test_early_ends_with_results(void) {
    for (uint32_t seed = 1; seed <= 60 / CHECK_SLOWER; seed++) {
        world w = {.ranks = 2 + seed % (RANKS_MAX - 1), .random = seed, .longest = delays[1 + seed % 2]};
        rank all[RANKS_MAX];
        const uint32_t where = seed % w.ranks;
        const int want = seed % 3 == 0 ? BL_ECANCEL : seed % 3 == 1 ? BL_ETIME : BL_ETASK;
        uint64_t tasks = 0, left = 0, forked = 0;
        check_at("early end with results, seed %u, %u ranks", seed, w.ranks);
        for (uint32_t i = 0; i < w.ranks; i++)
            all[i] = (rank){.bush = seed % 2 ? bush_cpu() : bush_sum_cpu(),
                            .config = {.workers = 1 + seed % 2,
                                       .left = bush_left,
                                       .left_arg = &all[i].g,
                                       .time_limit = want == BL_ETIME ? 0.01 : 0},
                            .t = {.seed = seed},
                            .g = {.endless = true,
                                  .widest = seed % 4 < 2 ? 3 : 700,
                                  .fails_at = want == BL_ETASK && (i == where || i == 0) ? 900 : 0},
                            .roots = 1,
                            .of_all = seed % 2,
                            .cancels = want == BL_ECANCEL && i == where};
        run_ranks(&w, all);
        for (uint32_t i = 0; i < w.ranks; i++) {
            tasks += all[i].g.tasks;
            left += all[i].g.left_tasks;
            forked += all[i].g.forked;
            CHECK_SAME(all[i].status, want);
            CHECK_SAME(all[i].error, want == BL_ETASK ? 77 : 0);
            CHECK_SAME(all[i].failed, all[0].failed);
            CHECK_SAME(all[i].g.wrong, 0);
        }
        CHECK_SAME(tasks + left, forked + (seed % 2 ? w.ranks : 1));
        CHECK_SAME(all[w.ranks - 1].stats.tasks, tasks);
        CHECK_SAME(all[w.ranks - 1].stats.left, left);
    }
}

/* ---- checkpoints ---- */

static char file[64];

/* A step of a run, on so many ranks; 0: on two nodes of one process. The same status for all. */
static int step(const riddle *want, uint32_t ranks, uint32_t seed, bl_config config, bool cancels) {
    world w = {.ranks = ranks ? ranks : 1, .random = seed, .longest = delays[seed % 3]};
    rank all[RANKS_MAX];
    uint64_t left = 0, number = 0, tasks = 0;
    config.workers = 1 + seed % 2;
    config.grain = want->kind == TERMS ? 16 : 0;
    config.left = count_left;
    if (ranks == 0) {
        riddle got = {.kind = want->kind, .seed = want->seed};
        totals t = {.seed = 0};
        bl_stats stats;
        bl_context *c = NULL;
        config.device = "cpu+cpu";
        config.left_arg = &t;
        CHECK_SAME(bl_open(&c, &config), BL_OK);
        const int status = riddle_run(&got, c, &stats);
        CHECK(status != BL_OK || (riddle_is_right(&got, got.number, want) && stats.tasks == want->tasks));
        CHECK_SAME(stats.left, t.left_tasks);
        CHECK_SAME(bl_close(c), BL_OK);
        return status;
    }
    for (uint32_t i = 0; i < ranks; i++) {
        all[i] = (rank){.riddle = want, .config = config, .cancels = cancels && i == seed % ranks};
        all[i].config.left_arg = &all[i].t;
    }
    run_ranks(&w, all);
    for (uint32_t i = 0; i < ranks; i++) {
        bl_stats one = all[i].stats;
        if (!CHECK_SAME(all[i].status, all[0].status))
            printf("    rank %u: %s\n", i, all[i].detail);
        CHECK_SAME(one.tasks, all[0].stats.tasks);
        CHECK(!all[i].wrong);
        left += all[i].t.left_tasks;
        number += all[i].number;
        tasks = one.tasks;
    }
    CHECK_SAME(all[0].stats.left, left);
    if (all[0].status == BL_OK) {
        CHECK_SAME(tasks, want->tasks);
        if (want->kind == SPREAD)
            CHECK_SAME(number, want->number);
    } else if (all[0].status != BL_ETIME && all[0].status != BL_ECANCEL) {
        printf("    %s\n", all[0].detail);
    }
    return all[0].status;
}

/* Stopped by the clock or by one rank, or interrupted on the way, and resumed on another number of ranks; and once more
 * from the last file. */
static uint32_t check_steps(uint32_t kind, uint32_t seed) {
    const riddle want = riddle_solve(kind, seed);
    const uint32_t stop = seed % 3;
    double seconds = 0.004;
    uint32_t steps = 0;
    int status;
    do {
        const uint32_t ranks = (seed + 3 * steps) % 7;
        check_at("riddle %u, seed %u, step %u, %u ranks", kind, seed, steps, ranks);
        bl_config config = {.checkpoint = file, .resume = steps ? file : NULL};
        config.time_limit = stop == 0 ? seconds : 0;
        config.checkpoint_seconds = stop == 1 ? seconds : 0;
        status = step(&want, ranks, seed + steps, config, stop == 2 && steps < 5);
        seconds *= 1.3;
        steps++;
    } while (status == (stop == 0 ? BL_ETIME : BL_ECANCEL) && steps < 100);
    CHECK_SAME(status, BL_OK);
    if (access(file, F_OK) == 0) {
        check_at("riddle %u, seed %u, from the last file", kind, seed);
        CHECK_SAME(step(&want, (seed + 3 * steps) % 7, seed + steps, (bl_config){.resume = file}, false), BL_OK);
        remove(file);
    }
    return steps;
}

static void test_checkpoints(void) {
    uint32_t runs = 0, steps = 0;
    snprintf(file, sizeof file, "/tmp/ballast-link-%ld", (long)getpid());
    for (uint32_t kind = 0; kind < RIDDLES; kind++)
        for (uint32_t seed = 1; seed <= 6 / CHECK_SLOWER + 2; seed++, runs++)
            steps += check_steps(kind, seed);
    CHECK(steps > runs); /* some are stopped */
}

/* What ranks must have told, or must have in common. */
static void test_other_checkpoints(const bl_program *program) {
    static const char *const words[] = {"Rank 1: config.checkpoint", "Rank 2: config.resume",
                                        "checkpoint: not with bl_roots_of_all", "/nowhere/file: cannot be written"};
    for (uint32_t i = 0; i < 4; i++) {
        world w = {.ranks = 3, .random = i};
        rank all[3];
        check_at("other checkpoints %u", i);
        for (uint32_t k = 0; k < 3; k++) {
            all[k] = (rank){.program = program, .t = {.deepest = 4, .widest = 4}, .roots = 1, .of_all = i == 2};
            all[k].config = (bl_config){.workers = 1,
                                        .checkpoint = i == 3             ? "/nowhere/file"
                                                      : i == 0 && k == 1 ? NULL
                                                                         : file,
                                        .resume = i == 1 && k == 2 ? file : NULL};
        }
        run_ranks(&w, all);
        for (uint32_t k = 0; k < 3; k++) {
            CHECK_SAME(all[k].status, i == 3 ? BL_EFILE : BL_EINVAL);
            if (!CHECK(strstr(all[k].detail, words[i])))
                printf("    %s\n", all[k].detail);
        }
    }
}

/* Ranks that ask for other results than rank 0 are named. */
static void test_other_results(void) {
    for (uint32_t i = 0; i < 2; i++) {
        world w = {.ranks = 3, .random = i};
        rank all[3];
        check_at("other results %u", i);
        for (uint32_t k = 0; k < 3; k++)
            all[k] = (rank){.bush = i == 1 && k == 2 ? bush_sum_cpu() : bush_cpu(),
                            .config = {.workers = 1},
                            .g = {.deepest = 4, .widest = 4},
                            .roots = i == 0 && k == 1 ? 3 : 2};
        run_ranks(&w, all);
        for (uint32_t k = 0; k < 3; k++) {
            CHECK_SAME(all[k].status, BL_EINVAL);
            CHECK(strstr(all[k].detail, i ? "Rank 2: program bush_sum" : "Rank 1: results of 3 roots"));
        }
    }
}

static void test_opening(const bl_program *program) {
    world w = {.ranks = 3, .random = 1};
    rank all[3];
    check_at("opening");
    for (uint32_t i = 0; i < 3; i++)
        all[i] = (rank){.program = program, .config = {.workers = 1, .device = i == 1 ? "cuda:99" : "cpu"}};
    run_ranks(&w, all);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_SAME(all[i].opened, BL_ENODEVICE);
    bl_context *c = NULL;
    bl_link wrong = {.rank = 1, .ranks = 1}, broken = {.ranks = 1, .wrong = "comm: broken"};
    CHECK_SAME(bl_open_linked(&c, NULL, NULL), BL_EINVAL);
    CHECK_SAME(bl_open_linked(&c, NULL, &wrong), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "rank and ranks do not fit"));
    CHECK_SAME(bl_open_linked(&c, NULL, &broken), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "comm: broken"));
}

int main(void) {
    check_limit(400);
    bl_program *program = bl_program_from_function(grow, sizeof(place), sizeof(totals *), 1);
    test_opening(program);
    test_trees(program);
    test_early_ends(program);
    test_results();
    test_reductions();
    test_early_ends_with_results();
    test_other_results();
    test_checkpoints();
    test_other_checkpoints(program);
    bl_program_free(program);
    return check_end();
}
