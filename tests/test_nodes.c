/* One run over several nodes of a process, device cpu+cpu: counts are exact, both nodes work, and an early end,
 * wherever it begins, loses nothing. */
#include "check.h"
#include "shared_trees.h"

static bl_context *open_nodes(bl_config config) {
    bl_context *c = NULL;
    if (!config.device)
        config.device = "cpu+cpu";
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    return c;
}

static void check_tree(bl_context *c, bl_program *program, uint32_t seed) {
    totals got = {.seed = seed, .deepest = 4 + seed % 12, .widest = 2 + seed % 3}, *shared = &got, want = got;
    const uint32_t roots = seed % 5;
    place all[5];
    bl_stats stats;
    for (uint32_t i = 0; i < roots; i++) {
        all[i] = (place){mix(seed, i), 0};
        grow_alone(&want, all[i], 1);
    }
    CHECK_SAME(bl_run(c, program, &shared, all, roots, &stats), BL_OK);
    CHECK_SAME(got.tasks, want.tasks);
    CHECK_SAME(got.sum, want.sum);
    CHECK_SAME(stats.tasks, want.tasks);
    CHECK_SAME(stats.left, 0);
    CHECK_SAME(bl_progress(c), want.tasks);
}

static void test_trees(bl_program *program) {
    static const struct {
        const char *device;
        uint32_t workers, capacity, private_entries, caller_waits;
    } shapes[] = {{"cpu+cpu", 1, 0, 0, 0}, {"cpu+cpu", 2, 0, 0, 0},        {"cpu+cpu", 2, 2, 1, 1},
                  {"cpu+cpu", 0, 0, 0, 0}, {"cpu+cpu+cpu", 1, 0, 0, 0},    {"cpu+cpu+cpu+cpu+cpu", 2, 2, BL_NONE, 1},
                  {"cpu+cpu", 1, 2, 1, 0}, {"cpu+cpu+cpu+cpu", 1, 0, 0, 1}};
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        bl_context *c = open_nodes((bl_config){.device = shapes[i].device,
                                               .workers = shapes[i].workers,
                                               .capacity = shapes[i].capacity,
                                               .private_entries = shapes[i].private_entries,
                                               .caller_waits = shapes[i].caller_waits});
        CHECK(!strcmp(bl_device_id(c), shapes[i].device));
        for (uint32_t seed = 1; seed <= 150 / CHECK_SLOWER; seed++) {
            check_at("shape %u, seed %u", i, seed);
            check_tree(c, program, seed);
        }
        CHECK_SAME(bl_close(c), BL_OK);
    }
    const char *name;
    for (uint32_t i = 0; (name = bl_scheduler_name(i)); i++)
        if (!(bl_scheduler_traits(name) & BL_TRAIT_WAVES)) {
            bl_context *c = open_nodes((bl_config){.workers = 2, .scheduler = name});
            for (uint32_t seed = 1; seed <= 24 / CHECK_SLOWER; seed++) {
                check_at("%s, seed %u", name, seed);
                check_tree(c, program, seed);
            }
            CHECK_SAME(bl_close(c), BL_OK);
        }
}

static void test_range(void) {
    bl_program *program = bl_program_from_function(count_index, 0, sizeof(totals *), 0);
    for (uint32_t workers = 1; workers <= 2; workers++)
        for (uint32_t n = 1; n <= 100000; n *= 10) {
            totals t = {.seed = 0}, *shared = &t;
            check_at("loop of %u, %u workers", n, workers);
            bl_context *c = open_nodes((bl_config){.workers = workers});
            CHECK_SAME(bl_run_range(c, program, &shared, NULL, n, NULL), BL_OK);
            CHECK_SAME(t.tasks, n);
            CHECK_SAME(t.sum, (uint64_t)n * (n - 1) / 2);
            CHECK_SAME(bl_close(c), BL_OK);
        }
    bl_program_free(program);
}

/* ---- all nodes work ---- */

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_t seen[8];
    uint32_t count, wanted;
    double until;
} meeting;

/* Again and again, until tasks have been run by as many threads as there are workers. */
static void meet(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    meeting *m = *(meeting *const *)shared;
    uint32_t i = 0;
    (void)payload, (void)index;
    sleep_us(100);
    pthread_mutex_lock(&m->lock);
    while (i < m->count && !pthread_equal(m->seen[i], pthread_self()))
        i++;
    if (i == m->count && i < m->wanted)
        m->seen[m->count++] = pthread_self();
    const bool again = m->count < m->wanted && check_now() < m->until;
    pthread_mutex_unlock(&m->lock);
    if (again)
        bl_task_spawn(task, NULL, 1);
}

static void test_meeting(void) {
    bl_program *program = bl_program_from_function(meet, 0, sizeof(meeting *), 1);
    const char *const devices[] = {"cpu+cpu+cpu+cpu", "cpu+cpu"};
    for (uint32_t workers = 1; workers <= 2; workers++)
        for (uint32_t i = 0; i < 20 / CHECK_SLOWER + 1; i++) {
            meeting m = {.wanted = 4, .until = check_now() + 20}, *shared = &m;
            check_at("meeting %u, %u workers", i, workers);
            pthread_mutex_init(&m.lock, NULL);
            bl_context *c = open_nodes((bl_config){.device = devices[workers - 1], .workers = workers});
            CHECK_SAME(bl_run_range(c, program, &shared, NULL, 40, NULL), BL_OK);
            CHECK_SAME(m.count, 4);
            CHECK(check_now() < m.until); /* else the last ones came when there was nothing else to do */
            CHECK_SAME(bl_close(c), BL_OK);
            pthread_mutex_destroy(&m.lock);
        }
    bl_program_free(program);
}

/* ---- early ends ---- */

static void *cancel_soon(void *argument) {
    sleep_us(20000);
    bl_cancel(argument);
    return NULL;
}

static void check_nothing_lost(const totals *t, const bl_stats *stats, uint32_t roots) {
    CHECK_SAME(stats->tasks, t->tasks);
    CHECK_SAME(stats->left, t->left_tasks);
    CHECK_SAME(t->tasks + t->left_tasks, t->spawned + roots);
    if (t->left_tasks)
        CHECK(pthread_equal(t->left_in, pthread_self()));
}

static void test_early_ends(bl_program *program) {
    const place root = {1, 0};
    for (uint32_t workers = 1; workers <= 2; workers++)
        for (uint32_t i = 0; i < 12; i++) {
            totals t = {.endless = true}, *shared = &t;
            bl_stats stats;
            bl_config config = {.workers = workers, .left = count_left, .left_arg = &t};
            check_at("early end %u, %u workers", i, workers);
            if (i % 3 == 1)
                config.time_limit = 0.02;
            if (i % 3 == 2)
                t.fails_at = 1 + 977 * i;
            bl_context *c = open_nodes(config);
            pthread_t helper;
            if (i % 3 == 0)
                CHECK_SAME(pthread_create(&helper, NULL, cancel_soon, c), 0);
            CHECK_SAME(bl_run(c, program, &shared, &root, 1, &stats), i % 3 == 0   ? BL_ECANCEL
                                                                      : i % 3 == 1 ? BL_ETIME
                                                                                   : BL_ETASK);
            if (i % 3 == 0)
                pthread_join(helper, NULL);
            check_nothing_lost(&t, &stats, 1);
            uint64_t error = 0;
            CHECK_SAME(bl_failure(c, &error) != NULL, i % 3 == 2);
            CHECK_SAME(error, i % 3 == 2 ? 77 : 0);
            if (i % 3 == 2) { /* the context is as good as before */
                check_tree(c, program, 7);
                CHECK(bl_failure(c, NULL) == NULL);
            }
            CHECK_SAME(bl_reset(c), BL_OK);
            CHECK_SAME(bl_close(c), BL_OK);
        }
}

/* ---- contexts ---- */

static void test_refusals(bl_program *program) {
    totals t = {.seed = 1}, *shared = &t;
    bl_context *c = NULL;
    const char *const wrong[] = {"cpu+",        "+cpu",
                                 "cpu++cpu",    "cpu+auto",
                                 "cpu+cuda:99", "cpu+nothing",
                                 "cpu+cpus",    "cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu+cpu"};
    check_at("refusals");
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_SAME(bl_open(&c, &(bl_config){.device = wrong[i]}), BL_ENODEVICE);
        CHECK(strstr(bl_error_detail(NULL), wrong[i]) && strstr(bl_error_detail(NULL), "accepted: cpu+cpu"));
    }
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+cpu", .bind = 1}), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+cpu", .scheduler = "nothing"}), BL_ESCHEDULER);
    c = open_nodes((bl_config){.workers = 1});
    CHECK_SAME(bl_start_open(c, program, &shared), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "submissions: not with several devices"));
    CHECK_SAME(bl_submit(c, &(place){1, 0}, sizeof(place), 1, NULL), BL_ECLOSED);
    CHECK_SAME(bl_submit_end(c), BL_ECLOSED);
    CHECK_SAME(bl_close(c), BL_OK);
    c = open_nodes((bl_config){.workers = 2, .scheduler = "static:split"});
    const place root = {1, 0};
    CHECK_SAME(bl_run(c, program, &shared, &root, 1, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "waves cannot take in work from outside"));
    CHECK_SAME(bl_close(c), BL_OK);
}

static void test_started(bl_program *program) {
    totals t = {.seed = 3, .deepest = 12, .widest = 3}, *shared = &t, want = t;
    const place root = {5, 0};
    bl_stats stats;
    check_at("started");
    grow_alone(&want, root, 1);
    bl_context *c = open_nodes((bl_config){.workers = 2});
    CHECK_SAME(bl_start(c, program, &shared, &root, 1), BL_OK);
    CHECK_SAME(bl_submit(c, &root, sizeof root, 1, NULL), BL_ECLOSED); /* though a run of nodes is open inside */
    CHECK_SAME(bl_submit_end(c), BL_ECLOSED);
    CHECK_SAME(bl_wait(c, &stats), BL_OK);
    CHECK_SAME(stats.tasks, want.tasks);
    CHECK_SAME(stats.workers, 4);
    CHECK_SAME(bl_start(c, program, &shared, &root, 1), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK); /* waits for it */
    CHECK_SAME(t.tasks, 2 * want.tasks);
}

int main(void) {
    check_limit(120 * CHECK_SLOWER);
    bl_program *program = bl_program_from_function(grow, sizeof(place), sizeof(totals *), 4);
    test_refusals(program);
    test_trees(program);
    test_range();
    test_meeting();
    test_early_ends(program);
    test_started(program);
    bl_program_free(program);
    return check_end();
}
