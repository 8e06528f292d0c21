/* Runs that the ranks of an MPI job share: counts are exact, all ranks work, and an early end, wherever it begins, ends
 * all of them with the same status and loses nothing. Started by mpi.sh.
 *
 *     test_ranks            all tests
 *     test_ranks measure    how long after its last task a run returns, and how long a question for work takes */
#include "../check.h"

#include "../bushes.h"

#include <ballast/mpi.h>

static int rank, ranks;

static uint64_t sum(uint64_t mine) {
    uint64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static bl_context *open_ranks(bl_config config) {
    bl_context *c = NULL;
    if (!config.workers)
        config.workers = 1;
    CHECK_SAME(bl_open_mpi(&c, &config, MPI_COMM_WORLD), BL_OK);
    CHECK_SAME(bl_rank(c), rank);
    CHECK_SAME(bl_ranks(c), ranks);
    return c;
}

static void check_tree(bl_context *c, bl_program *program, uint32_t seed, bool of_all) {
    totals got = {.seed = seed, .deepest = 4 + seed % 12, .widest = 2 + seed % 3}, *shared = &got, want = got;
    const uint32_t count = seed % 5;
    place roots[5];
    bl_stats stats, one;
    for (uint32_t i = 0; i < count; i++) { /* without of_all what others give must not count */
        roots[i] = (place){mix(seed, i) + (uint32_t)rank, 0};
        if (of_all || rank == 0)
            grow_alone(&want, roots[i], 1);
    }
    CHECK_SAME(bl_roots_of_all(c, of_all), BL_OK);
    CHECK_SAME(bl_run(c, program, &shared, roots, count, &stats), BL_OK);
    CHECK_SAME(sum(got.tasks), sum(want.tasks));
    CHECK_SAME(sum(got.sum), sum(want.sum));
    CHECK_SAME(stats.tasks, sum(want.tasks));
    CHECK_SAME(stats.left, 0);
    CHECK_SAME(bl_rank_stats(c, (uint32_t)rank, &one), BL_OK);
    CHECK_SAME(one.tasks, got.tasks);
    uint64_t tasks = 0, sent = 0, received = 0;
    bl_traffic traffic;
    for (uint32_t i = 0; i < (uint32_t)ranks; i++) {
        CHECK_SAME(bl_rank_stats(c, i, &one), BL_OK);
        CHECK_SAME(bl_rank_traffic(c, i, &traffic), BL_OK);
        tasks += one.tasks;
        sent += traffic.entries_sent;
        received += traffic.entries_received;
    }
    CHECK_SAME(tasks, stats.tasks);
    CHECK_SAME(sent, received);
}

static void test_trees(bl_program *program) {
    static const struct {
        uint32_t workers, capacity, private_entries, caller_waits;
    } shapes[] = {{1, 0, 0, 0}, {2, 0, 0, 1}, {2, 2, 1, 1}, {1, 2, BL_NONE, 0}};
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        bl_context *c = open_ranks((bl_config){.workers = shapes[i].workers,
                                               .capacity = shapes[i].capacity,
                                               .private_entries = shapes[i].private_entries,
                                               .caller_waits = shapes[i].caller_waits});
        for (uint32_t seed = 1; seed <= 50 / CHECK_SLOWER; seed++) {
            check_at("rank %d, shape %u, seed %u", rank, i, seed);
            check_tree(c, program, seed, seed % 2);
        }
        CHECK_SAME(bl_close(c), BL_OK);
    }
    const char *name;
    for (uint32_t i = 0; (name = bl_scheduler_name(i)); i++)
        if (!(bl_scheduler_traits(name) & BL_TRAIT_WAVES)) {
            bl_context *c = open_ranks((bl_config){.workers = 2, .scheduler = name});
            for (uint32_t seed = 1; seed <= 12 / CHECK_SLOWER; seed++) {
                check_at("rank %d, %s, seed %u", rank, name, seed);
                check_tree(c, program, seed, seed % 2);
            }
            CHECK_SAME(bl_close(c), BL_OK);
        }
}

static void test_range(void) {
    bl_program *program = bl_program_from_function(count_index, 0, sizeof(totals *), 0);
    bl_context *c = open_ranks((bl_config){.workers = 1});
    for (uint32_t n = 1; n <= 1000000; n *= 10) {
        totals t = {.seed = 0}, *shared = &t;
        check_at("rank %d, loop of %u", rank, n);
        CHECK_SAME(bl_run_range(c, program, &shared, NULL, n, NULL), BL_OK);
        CHECK_SAME(sum(t.tasks), n);
        CHECK_SAME(sum(t.sum), (uint64_t)n * (n - 1) / 2);
    }
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- results ---- */

static void check_bush(bl_context *c, uint32_t seed, bool of_all) {
    enum { ROOTS = 6 };
    const bool sums = seed % 3 == 0;
    garden got = {.deepest = 4 + seed % 6, .widest = seed % 2 ? 900 : 40}, want = got;
    const garden_of shared = {&got};
    twig roots[ROOTS];
    uint64_t results[ROOTS] = {0};
    bl_stats stats;
    for (uint32_t i = 0; i < seed % ROOTS; i++)
        roots[i] = (twig){twig_mix(seed, i) + (uint32_t)rank, 0, 0};
    CHECK_SAME(bl_roots_of_all(c, of_all), BL_OK);
    CHECK_SAME(bl_run_join(c, sums ? bush_sum_cpu() : bush_cpu(), &shared, roots, seed % ROOTS, results, &stats),
               BL_OK);
    for (uint32_t i = 0; i < seed % ROOTS; i++) { /* each rank has its own, or all have those of rank 0 */
        const twig root = {twig_mix(seed, i) + (of_all ? (uint32_t)rank : 0), 0, 0};
        CHECK_SAME(results[i], bush_expect(&want, root, 0, sums));
    }
    CHECK_SAME(sum(got.tasks), of_all ? sum(want.tasks) : want.tasks);
    CHECK_SAME(stats.tasks, sum(got.tasks));
    CHECK_SAME(got.wrong, 0);
}

/* A few roots, and more results than one message has room for. */
static void test_results(void) {
    bl_context *c = open_ranks((bl_config){.workers = 1});
    for (uint32_t seed = 1; seed <= 40 / CHECK_SLOWER; seed++) {
        check_at("rank %d, results, seed %u", rank, seed);
        check_bush(c, seed, seed % 4 == 1);
    }
    enum { MANY = 200000 };
    twig *roots = calloc(MANY, sizeof *roots);
    uint64_t *results = calloc(MANY, sizeof *results);
    garden g = {.deepest = 1, .widest = 3};
    check_at("rank %d, %d roots", rank, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        roots[i] = (twig){i, 0, 0};
    CHECK_SAME(bl_roots_of_all(c, false), BL_OK);
    CHECK_SAME(bl_run_join(c, bush_cpu(), &(garden_of){&g}, roots, MANY, results, NULL), BL_OK);
    for (uint32_t i = 0; i < MANY; i += 997)
        CHECK_SAME(results[i], bush_expect(&g, roots[i], 0, false));
    CHECK_SAME(bl_close(c), BL_OK);
    free(results);
    free(roots);
}

/* ---- all ranks work ---- */

static void nap(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload, (void)index;
    bl_fetch_add64_relaxed(&(*(totals *const *)shared)->tasks, 1);
    sleep_us(200);
}

static void test_sharing(void) {
    bl_program *program = bl_program_from_function(nap, 0, sizeof(totals *), 0);
    bl_context *c = open_ranks((bl_config){.workers = 1});
    const uint32_t tasks = 2000, rounds = 5;
    uint64_t mine = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        totals t = {.seed = 0}, *shared = &t;
        bl_traffic traffic;
        check_at("rank %d, sharing %u", rank, i);
        CHECK_SAME(bl_run_range(c, program, &shared, NULL, tasks, NULL), BL_OK);
        CHECK_SAME(sum(t.tasks), tasks);
        mine += t.tasks;
        CHECK_SAME(bl_rank_traffic(c, (uint32_t)rank, &traffic), BL_OK);
        if (ranks > 1)
            CHECK(traffic.messages && traffic.bytes > 50 * traffic.messages);
        if (rank > 0)
            CHECK(traffic.asks && traffic.ask_seconds > 0 && traffic.entries_received);
    }
    CHECK(mine > rounds * tasks / (uint32_t)ranks / 8); /* in naps it needs no processor */
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- early ends ---- */

static void *cancel_soon(void *argument) {
    sleep_us(20000);
    bl_cancel(argument);
    return NULL;
}

static void test_early_ends(bl_program *program) {
    const place root = {1, 0};
    for (uint32_t i = 0; i < 18; i++) {
        const int where = (int)(i / 3) % ranks; /* it begins there */
        const int want = i % 3 == 0 ? BL_ECANCEL : i % 3 == 1 ? BL_ETIME : BL_ETASK;
        totals t = {.endless = true, .fails_at = want == BL_ETASK && rank == where ? 500 : 0}, *shared = &t;
        bl_stats stats;
        bl_config config = {.workers = 1 + i % 2, .left = count_left, .left_arg = &t};
        check_at("rank %d, early end %u", rank, i);
        if (want == BL_ETIME)
            config.time_limit = 0.02;
        bl_context *c = open_ranks(config);
        pthread_t helper;
        const bool cancels = want == BL_ECANCEL && rank == where;
        if (cancels)
            CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, c), 0);
        CHECK_SAME(bl_roots_of_all(c, 1), BL_OK);
        CHECK_SAME(bl_run(c, program, &shared, &root, 1, &stats), want);
        if (cancels)
            pthread_join(helper, NULL);
        CHECK_SAME(stats.tasks, sum(t.tasks));
        CHECK_SAME(stats.left, sum(t.left_tasks));
        CHECK_SAME(sum(t.tasks) + sum(t.left_tasks), sum(t.spawned) + (uint64_t)ranks);
        uint64_t error = 0;
        const place *failed = bl_failure(c, &error);
        CHECK_SAME(failed != NULL, want == BL_ETASK);
        CHECK_SAME(error, want == BL_ETASK ? 77 : 0);
        CHECK_SAME(sum(failed ? failed->hash : 0), failed ? (uint64_t)ranks * failed->hash : 0); /* the same for all */
        char text[16];
        snprintf(text, sizeof text, "at rank %d", where);
        if (want == BL_ETASK && rank != where)
            CHECK(strstr(bl_error_detail(c), text) || !strcmp(bl_error_detail(c), text + 3));
        if (want == BL_ECANCEL) /* until bl_reset */
            CHECK_SAME(bl_run(c, program, &shared, &root, 1, &stats), BL_ECANCEL);
        CHECK_SAME(bl_reset(c), BL_OK);
        t = (totals){.endless = false};
        if (want != BL_ETIME) /* the context is as good as before */
            check_tree(c, program, 7, false);
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

/* The same with results, which are on their way between ranks. */
static void test_early_ends_with_results(void) {
    for (uint32_t i = 0; i < 8; i++) {
        const int where = (int)(i / 2) % ranks, want = i % 2 ? BL_ETASK : BL_ECANCEL;
        const bool here = rank == where, of_all = i >= 4;
        garden g = {.endless = true, .widest = i % 4 < 2 ? 3 : 700, .fails_at = i % 2 && (here || rank == 0) ? 900 : 0};
        const garden_of shared = {&g};
        const twig root = {i, 0, 0};
        uint64_t result;
        bl_stats stats;
        check_at("rank %d, early end with results %u", rank, i);
        bl_context *c = open_ranks((bl_config){.workers = 1 + i % 2, .left = bush_left, .left_arg = &g});
        pthread_t helper;
        if (here && want == BL_ECANCEL)
            CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, c), 0);
        CHECK_SAME(bl_roots_of_all(c, of_all), BL_OK);
        CHECK_SAME(bl_run_join(c, i % 4 < 2 ? bush_cpu() : bush_sum_cpu(), &shared, &root, 1, &result, &stats), want);
        if (here && want == BL_ECANCEL)
            pthread_join(helper, NULL);
        CHECK_SAME(stats.tasks, sum(g.tasks));
        CHECK_SAME(stats.left, sum(g.left_tasks));
        CHECK_SAME(sum(g.tasks) + sum(g.left_tasks), sum(g.forked) + (of_all ? (uint64_t)ranks : 1));
        CHECK_SAME(g.wrong, 0);
        CHECK_SAME(bl_reset(c), BL_OK);
        check_bush(c, 7, false);
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

/* A task that takes longer than the stall time, in one rank. */
static void sleep_long(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload, (void)index, (void)shared;
    if (rank == ranks - 1)
        sleep_us(800000);
}

static void test_stall(void) {
    bl_program *program = bl_program_from_function(sleep_long, 0, 0, 0);
    bl_context *c = open_ranks((bl_config){.workers = 1, .stall_seconds = 0.3, .caller_waits = 1});
    check_at("rank %d, stall", rank);
    CHECK_SAME(bl_roots_of_all(c, 1), BL_OK);
    CHECK_SAME(bl_run(c, program, NULL, NULL, 1, NULL), BL_ESTALL);
    CHECK(strstr(bl_error_detail(c), "in a task"));
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- ranks that do not fit ---- */

static void check_refused(bl_context *c, const bl_program *program, const void *shared, const char *text) {
    const place root = {1, 0};
    CHECK_SAME(bl_run(c, program, shared, &root, 1, NULL), BL_EINVAL);
    if (!CHECK(strstr(bl_error_detail(c), text)))
        printf("%s\n", bl_error_detail(c));
}

static void test_mismatches(bl_program *program) {
    const bool odd = rank == ranks - 1 && ranks > 1;
    totals t = {.seed = 1}, *shared = &t;
    bl_program *larger = bl_program_from_function(grow, 2 * sizeof(place), sizeof(totals *), 1);
    bl_context *c = open_ranks((bl_config){.workers = 1});
    check_at("rank %d, mismatches", rank);
    CHECK_SAME(bl_rank_stats(c, 0, &(bl_stats){0}), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "nothing was run yet"));
    char text[64];
    snprintf(text, sizeof text, "Rank %d:", ranks - 1);
    if (ranks > 1) {
        check_refused(c, odd ? larger : program, &shared, "payloads of 16 bytes, but of 8 at rank 0");
        CHECK(strstr(bl_error_detail(c), text));
        snprintf(text, sizeof text, "at rank %d", ranks - 1);
        check_refused(c, odd ? NULL : program, &shared, "program: NULL");
        CHECK(strstr(bl_error_detail(c), text));
        check_refused(c, program, odd ? NULL : &shared, "shared: NULL");
        CHECK_SAME(bl_roots_of_all(c, odd), BL_OK);
        check_refused(c, program, &shared, "bl_roots_of_all 1, but rank 0 has 0");
    }
    check_tree(c, program, 9, true);
    CHECK_SAME(bl_rank_stats(c, (uint32_t)ranks, &(bl_stats){0}), BL_EINVAL);
    CHECK_SAME(bl_start(c, program, &shared, &(place){1, 0}, 1), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "several processes"));
    CHECK_SAME(bl_start_open(c, program, &shared), BL_EINVAL);
    CHECK_SAME(bl_close(c), BL_OK);
    if (ranks > 1) {
        c = open_ranks((bl_config){.workers = 1, .scheduler = odd ? "steal:chase_lev" : "auto"});
        check_refused(c, program, &shared, "scheduler steal:chase_lev, but rank 0 has auto");
        CHECK_SAME(bl_close(c), BL_OK);
        void *memory;
        c = open_ranks((bl_config){.workers = 1, .checkpoint = "unused"});
        CHECK_SAME(bl_combine(c, &t, NULL), BL_EINVAL);
        CHECK_SAME(bl_alloc(c, &memory, 8), BL_OK);
        check_refused(c, program, &shared, "memory block 1 may differ between processes");
        CHECK_SAME(bl_combine(c, memory, NULL), BL_OK);
        check_tree(c, program, 9, false);
        CHECK_SAME(bl_free(c, memory), BL_OK);
        CHECK_SAME(bl_close(c), BL_OK);
        c = open_ranks((bl_config){.workers = 1, .time_limit = odd ? 5 : 0});
        check_refused(c, program, &shared, "time_limit 5, but rank 0 has 0");
        CHECK_SAME(bl_close(c), BL_OK);
        CHECK_SAME(bl_open_mpi(&c, &(bl_config){.device = odd ? "cuda:99" : "cpu"}, MPI_COMM_WORLD), BL_ENODEVICE);
        CHECK(c == NULL && strstr(bl_error_detail(NULL), "device cuda:99: not here"));
        CHECK(strstr(bl_error_detail(NULL), text));
    }
    CHECK_SAME(bl_open_mpi(&c, &(bl_config){.device = "cpu+abacus"}, MPI_COMM_WORLD), BL_ENODEVICE);
    CHECK_SAME(bl_open_mpi(&c, &(bl_config){.device = rank % 2 ? "cpu" : "cpu+cpu", .workers = 1}, MPI_COMM_WORLD),
               BL_OK);
    CHECK(!strcmp(bl_rank_device(c, 0), "cpu+cpu") && bl_rank_device(c, bl_ranks(c)) == NULL);
    check_tree(c, program, 11, false);
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK_SAME(bl_open_mpi(&c, NULL, MPI_COMM_NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "MPI_COMM_NULL"));
    CHECK_SAME(bl_open_mpi(NULL, NULL, MPI_COMM_WORLD), BL_EINVAL);
    c = open_ranks((bl_config){.workers = 1, .scheduler = "static:split"});
    check_refused(c, program, &shared, "waves cannot take in work from outside");
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 1}), BL_OK);
    CHECK(bl_rank(c) == 0 && bl_ranks(c) == 1);
    CHECK_SAME(bl_roots_of_all(c, 1), BL_EINVAL);
    CHECK_SAME(bl_rank_stats(c, 0, &(bl_stats){0}), BL_EINVAL);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(larger);
}

/* ---- communicators ---- */

static void test_communicators(bl_program *program) {
    totals t = {.seed = 3, .deepest = 12, .widest = 4}, *shared = &t, want = t;
    const place root = {5, 0};
    bl_context *c = NULL;
    bl_stats stats;
    check_at("rank %d, communicators", rank);
    grow_alone(&want, root, 1);
    CHECK_SAME(bl_open_mpi(&c, NULL, MPI_COMM_SELF), BL_OK);
    CHECK_SAME(bl_run(c, program, &shared, &root, 1, &stats), BL_OK);
    CHECK_SAME(stats.tasks, want.tasks);
    CHECK_SAME(t.sum, want.sum);
    CHECK_SAME(bl_ranks(c), 1);
    CHECK_SAME(bl_close(c), BL_OK);
    /* two halves, each with its own runs */
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    CHECK_SAME(bl_open_mpi(&c, &(bl_config){.workers = 1}, half), BL_OK);
    MPI_Comm_free(&half); /* the context has its own */
    for (uint32_t i = 0; i < 10; i++) {
        t.tasks = t.sum = 0;
        CHECK_SAME(bl_run(c, program, &shared, &root, 1, &stats), BL_OK);
        CHECK_SAME(stats.tasks, want.tasks);
    }
    CHECK_SAME(bl_close(c), BL_OK);
}

/* ---- figures ---- */

static uint64_t last_task; /* on a clock that the processes of a machine share */

static void spin(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    const uint64_t begin = bl_clock();
    uint64_t now;
    (void)task, (void)payload, (void)index;
    do
        now = bl_clock();
    while (now - begin < *(const uint64_t *)shared);
    bl_fetch_max64_relaxed(&last_task, now);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(uint64_t ns, uint32_t tasks) {
    enum { RUNS = 15 };
    bl_program *program = bl_program_from_function(spin, 0, sizeof ns, 0);
    bl_context *c = open_ranks((bl_config){.workers = 1});
    double ends[RUNS], asks[RUNS];
    for (int i = 0; i < RUNS; i++) {
        uint64_t last = 0;
        bl_traffic traffic;
        last_task = 0;
        CHECK_SAME(bl_run_range(c, program, &ns, NULL, tasks, NULL), BL_OK);
        const uint64_t now = bl_clock();
        MPI_Allreduce(&last_task, &last, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        ends[i] = 1e-3 * (double)(now - last);
        CHECK_SAME(bl_rank_traffic(c, (uint32_t)ranks - 1, &traffic), BL_OK);
        asks[i] = traffic.asks ? 1e6 * traffic.ask_seconds / (double)traffic.asks : 0;
    }
    qsort(ends, RUNS, sizeof ends[0], ascending);
    qsort(asks, RUNS, sizeof asks[0], ascending);
    if (rank == 0)
        printf("%u tasks of %.0f us, %d ranks: returned %.0f us after the last task (%.0f to %.0f), "
               "asked for %.0f us (%.0f to %.0f)\n",
               (unsigned)tasks, 1e-3 * (double)ns, ranks, ends[RUNS / 2], ends[0], ends[RUNS - 1], asks[RUNS / 2],
               asks[0], asks[RUNS - 1]);
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

int main(int argc, char **argv) {
    int level;
    check_limit(200);
    bl_context *c = NULL;
    CHECK_SAME(bl_open_mpi(&c, NULL, MPI_COMM_WORLD), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "MPI: not initialised"));
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bl_program *program = bl_program_from_function(grow, sizeof(place), sizeof(totals *), 1);
    if (argc > 1 && !strcmp(argv[1], "measure")) {
        measure(1000, 20000);
        measure(10000, 20000);
        measure(100000, 2000);
    } else {
        test_mismatches(program);
        test_trees(program);
        test_range();
        test_results();
        test_sharing();
        test_early_ends(program);
        test_early_ends_with_results();
        test_stall();
        test_communicators(program);
    }
    bl_program_free(program);
    MPI_Finalize();
    return check_end();
}
