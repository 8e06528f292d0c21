// COMPILE: -O1
/* The runtime on the CPU: every scheduler gives the right answer with any amount of memory, or reports that it
 * cannot. */
#include "check.h"
#include "platform/clock.h"
#include "config.h"

#define TREE_NAME tree
#define TREE_LANE_TASKS 1
#include "tree_program.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double processor_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}
static void pause_seconds(double seconds) {
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

static bl_context *open_with(bl_config config) { return config_open("cpu", config); }

enum { SLOW_STEP = 8 }; /* tests that mostly wait take every eighth scheduler */

static bool is_alias(const char *scheduler) {
    const char *alias;
    for (uint32_t i = 0; (alias = bl_alias_name(i, NULL)); i++)
        if (!strcmp(alias, scheduler))
            return true;
    return false;
}

/* ---- the tree, as a typed program and as a plain function ---- */

static void tree_function(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const tree_node *node = payload;
    const tree_shared *shared = data;
    bl_fetch_add64_relaxed(&shared->totals->tasks, 1);
    bl_fetch_add64_relaxed(&shared->totals->sum, tree_weight(node, index));
    tree_node child = {node->depth - 1, node->width, node->range};
    if (node->depth && node->range)
        bl_task_spawn(task, &child, node->width);
    for (uint32_t i = 0; node->depth && !node->range && i < node->width; i++)
        bl_task_spawn(task, &child, 1);
}

/* `count` equal roots, or with `range` one root of `count` indices. */
static bl_stats run_tree(bl_context *c, const bl_program *program, tree_node node, uint32_t count, bool range) {
    tree_totals totals = {0, 0}, expected = tree_expect(node, range ? count : 1);
    tree_shared shared;
    bl_stats stats;
    void *memory;
    memset(&stats, 0, sizeof stats);
    CHECK_SAME(bl_alloc(c, &memory, sizeof totals), BL_OK);
    CHECK_SAME(bl_copy_in(c, memory, &totals, sizeof totals), BL_OK);
    shared.totals = memory;
    tree_node *roots = malloc(sizeof *roots * (range || !count ? 1 : count));
    for (uint32_t i = 0; roots && i < (range ? 1 : count); i++)
        roots[i] = node;
    CHECK_SAME(range ? bl_run_range(c, program, &shared, roots, count, &stats)
                     : bl_run(c, program, &shared, roots, count, &stats),
               BL_OK);
    free(roots);
    CHECK_SAME(bl_copy_out(c, &totals, memory, sizeof totals), BL_OK);
    bl_free(c, memory);
    uint64_t times = range ? 1 : count;
    CHECK_SAME(totals.tasks, times * expected.tasks);
    CHECK_SAME(totals.sum, times * expected.sum);
    CHECK_SAME(stats.tasks, times * expected.tasks);
    return stats;
}

static const tree_node leafy = {5, 4, 0}, ranged = {5, 5, 1}, thin = {300, 1, 0};

static void try_sizes(const char *scheduler, bl_program *function, uint32_t workers, uint32_t capacity,
                      uint32_t private) {
    check_at("%s, %u workers, capacity %u, private %d", scheduler, workers, capacity, (int)private);
    bl_context *c = open_with((bl_config){
        .scheduler = scheduler, .workers = workers, .capacity = capacity, .private_entries = private, .seed = workers});
    bl_stats s = run_tree(c, tree_cpu(), leafy, 1, false);
    CHECK_SAME(s.workers, workers);
    CHECK_SAME(s.lanes, 1);
    CHECK(is_alias(scheduler) || !strcmp(s.scheduler, scheduler));
    CHECK(!strcmp(s.group, "lane"));
    CHECK(s.launches >= 1 && s.peak_bytes > 0 && s.balance >= 0 && s.balance <= 1);
    if (!is_static(scheduler)) {
        CHECK_SAME(s.launches, s.pauses + 1);
        CHECK(capacity != 2 || private != BL_NONE || s.pauses > 0);
    }
    bl_stats r = run_tree(c, tree_cpu(), ranged, 1, false);
    if (is_static(scheduler)) { /* one launch per level, for entries and for ranges */
        CHECK_SAME(s.launches, leafy.depth + 1);
        CHECK_SAME(r.launches, ranged.depth + 1);
    }
    run_tree(c, tree_cpu(), (tree_node){2, 3, 1}, 100, true);
    run_tree(c, function, leafy, 3, false);
    run_tree(c, function, ranged, 1, false);
    if (!is_static(scheduler))
        run_tree(c, function, thin, 2, false);
    bl_close(c);
}

static void test_schedulers(void) {
    static const uint32_t workers[] = {1, 2, 5}, capacities[] = {2, 0}, privates[] = {BL_NONE, 1, 0};
    bl_program *function = bl_program_from_function(tree_function, sizeof(tree_node), sizeof(tree_shared), TREE_WIDTH);
    CHECK(function != NULL);
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        CHECK(bl_program_has(tree_cpu(), scheduler) == 1);
        for (uint32_t n = 0; n < 3 * 2 * 3; n++)
            try_sizes(scheduler, function, workers[n / 6], capacities[n / 3 % 2], privates[n % 3]);
    }
    bl_program_free(function);
}

static void test_roots(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        check_at("%s, roots", scheduler);
        bl_context *c = open_with((bl_config){.scheduler = scheduler, .workers = 3, .capacity = 2});
        run_tree(c, tree_cpu(), leafy, 0, false);
        run_tree(c, tree_cpu(), leafy, 0, true);
        run_tree(c, tree_cpu(), (tree_node){1, 2, 1}, 20000, false);
        run_tree(c, tree_cpu(), (tree_node){0, 0, 0}, 1, false);
        bl_close(c);
    }
}

static void test_many_workers(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        check_at("%s, 16 workers", scheduler);
        bl_context *c =
            open_with((bl_config){.scheduler = scheduler, .workers = 16, .private_entries = i % 2 ? BL_NONE : 0});
        run_tree(c, tree_cpu(), (tree_node){7, 5, i % 2}, 1, false);
        run_tree(c, tree_cpu(), leafy, 1, false);
        bl_close(c);
    }
}

/* Every stealing policy, with private stacks barely larger than what a task may spawn. */
static void test_policies(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        for (uint32_t n = 0; n < 8 && bl_scheduler_uses(scheduler) & BL_USES_STEAL_ONE; n++) {
            uint32_t most = n & 1 ? 14 : 6;
            check_at("%s, policy %u, at most %u spawned", scheduler, n, most);
            bl_program *function =
                bl_program_from_function(tree_function, sizeof(tree_node), sizeof(tree_shared), most);
            bl_context *c = open_with((bl_config){.scheduler = scheduler,
                                                  .workers = 4,
                                                  .private_entries = n & 2 ? BL_NONE : 1,
                                                  .victims = n & 4 ? BL_VICTIMS_ROUND_ROBIN : BL_VICTIMS_RANDOM,
                                                  .steal = BL_STEAL_HALF});
            for (int times = 0; times < 5; times++)
                run_tree(c, function, (tree_node){3, most, 0}, 2, false);
            bl_close(c);
            bl_program_free(function);
        }
}

/* ---- ranges: every index once ---- */

typedef struct marks {
    uint32_t *hits;
    uint32_t count;
} marks;

static void mark(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const marks *m = data;
    const uint32_t *spawns = payload;
    if (*spawns) {
        uint32_t none = 0;
        bl_task_spawn(task, &none, *spawns);
    } else if (index < m->count) {
        bl_fetch_add32_relaxed(m->hits + index, 1);
    }
}

static uint32_t marked_once(const marks *m) {
    uint32_t once = 0;
    for (uint32_t i = 0; i < m->count; i++)
        once += m->hits[i] == 1;
    memset(m->hits, 0, sizeof *m->hits * m->count);
    return once;
}

static void test_ranges(void) {
    bl_program *program = bl_program_from_function(mark, sizeof(uint32_t), sizeof(marks), 1);
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        uint32_t count = is_static(scheduler) || is_alias(scheduler) ? 50000 / CHECK_SLOWER : 250000, none = 0;
        marks m = {calloc(count, sizeof(uint32_t)), count};
        bl_stats stats;
        check_at("%s, ranges", scheduler);
        bl_context *c = open_with((bl_config){.scheduler = scheduler, .workers = 3});
        CHECK_SAME(bl_run_range(c, program, &m, &none, count, &stats), BL_OK);
        CHECK_SAME(stats.tasks, count);
        CHECK_SAME(marked_once(&m), count);
        if (is_static(scheduler))
            CHECK_SAME(stats.launches, 1); /* nothing was spawned, so there is one wave */
        CHECK_SAME(bl_run(c, program, &m, &count, 1, &stats), BL_OK);
        CHECK_SAME(stats.tasks, 1 + count);
        CHECK_SAME(marked_once(&m), count);
        if (is_static(scheduler))
            CHECK_SAME(stats.launches, 2);
        bl_close(c);
        free(m.hits);
    }
    bl_program_free(program);
}

/* Each task spawns one: nothing may pile up, on the stack or elsewhere. */
static void test_chain(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        check_at("%s, chain", scheduler);
        bl_context *c = open_with((bl_config){.scheduler = scheduler, .workers = 2, .capacity = 2});
        bl_stats s = run_tree(c, tree_cpu(), (tree_node){is_static(scheduler) ? 1000 : 30000, 1, 0}, 1, false);
        CHECK(s.peak_entries <= 16);
        CHECK_SAME(s.pauses, 0);
        bl_close(c);
    }
}

/* Runs that take microseconds, again and again: all workers notice the end, asleep or not. */
static void test_many_runs(void) {
    static const char *const schedulers[] = {"steal:chase_lev", "central:blocking", "static:split"};
    for (int i = 0; i < 3; i++) {
        check_at("%s, many runs", schedulers[i]);
        bl_context *c = open_with((bl_config){.scheduler = schedulers[i], .workers = 4});
        for (int times = 0; times < 1500 / CHECK_SLOWER; times++)
            run_tree(c, tree_cpu(), (tree_node){(uint32_t)times % 3, 2, 0}, 1, false);
        bl_close(c);
    }
}

/* ---- errors ---- */

/* Two ranges with more tasks than 32 bits can number: an error, or all of them, but never a part. */
static void spawn_too_many(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const uint32_t *depth = payload, leaf = 0;
    (void)index, (void)data;
    for (uint32_t i = 0; i < 2 && *depth; i++)
        bl_task_spawn(task, &leaf, UINT32_C(1) << 31);
}

static void test_too_many(void) {
    bl_program *program = bl_program_from_function(spawn_too_many, sizeof(uint32_t), 0, 2);
    static const char *const schedulers[] = {"static:wave", "static:split", "static:cyclic", "list:locked", "list:faa"};
    for (int i = 0; i < 5; i++) {
        uint32_t root = 1;
        check_at("%s, more than 2^32 tasks", schedulers[i]);
        bl_context *c = open_with((bl_config){.scheduler = schedulers[i], .workers = 2});
        CHECK_SAME(bl_run(c, program, NULL, &root, 1, NULL), BL_ETOOMANY);
        run_tree(c, tree_cpu(), leafy, 1, false);
        bl_close(c);
    }
    bl_program_free(program);
}

static void fail_at_depth_2(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const tree_node *node = payload;
    tree_function(task, payload, index, data);
    if (node->depth == 2)
        bl_task_fail(task, 2, payload);
}

static void test_task_error(void) {
    bl_program *failing = bl_program_from_function(fail_at_depth_2, sizeof(tree_node), sizeof(tree_shared), TREE_WIDTH);
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        for (uint32_t workers = 1; workers <= 4; workers += 3) {
            tree_totals totals = {0, 0}, all = tree_expect((tree_node){9, 5, 0}, 1);
            tree_shared shared = {&totals};
            tree_node root = {9, 5, 0};
            bl_stats stats;
            check_at("%s, %u workers, task error", scheduler, workers);
            bl_context *c = open_with((bl_config){.scheduler = scheduler, .workers = workers, .capacity = 2});
            CHECK_SAME(bl_run(c, failing, &shared, &root, 1, &stats), BL_ETASK);
            CHECK(stats.tasks == totals.tasks && totals.tasks < all.tasks);
            run_tree(c, tree_cpu(), leafy, 1, false);
            CHECK_SAME(bl_run(c, failing, &shared, &root, 1, NULL), BL_ETASK);
            bl_close(c);
        }
    bl_program_free(failing);
}

static void test_bad_arguments(void) {
    bl_context *c = (bl_context *)1;
    tree_totals totals = {0, 0};
    tree_shared shared = {&totals};
    void *memory;
    check_at("bad arguments");
    CHECK_SAME(bl_open(NULL, NULL), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "no such device"}), BL_ENODEVICE);
    CHECK(c == NULL);
    CHECK_SAME(bl_open(&c, &(bl_config){.stall_seconds = -1}), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.capacity = UINT32_MAX}), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.workers = UINT32_MAX}), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.steal = (bl_steal)77}), BL_EINVAL);
    CHECK(c == NULL);
    bl_close(NULL);
    bl_program_free(NULL);
    CHECK(bl_program_from_function(NULL, 4, 0, 1) == NULL && bl_program_from_function(tree_function, 7, 0, 1) == NULL &&
          bl_program_from_function(tree_function, 260, 0, 1) == NULL);
    CHECK_SAME(bl_run(NULL, tree_cpu(), &shared, &leafy, 1, NULL), BL_EINVAL);

    CHECK_SAME(bl_open(&c, &(bl_config){.scheduler = "no such scheduler"}), BL_ESCHEDULER);
    CHECK(c == NULL && strstr(bl_error_detail(NULL), "no such scheduler") != NULL);
    static const char *const groups[] = {"warp", "block:128", "Lane", "lanes", "block:", " "};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        c = open_with((bl_config){.group = groups[i]});
        CHECK_SAME(bl_run(c, tree_cpu(), &shared, &leafy, 1, NULL), BL_EINVAL);
        CHECK(strstr(bl_error_detail(c), "lane") != NULL);
        bl_close(c);
    }

    c = open_with((bl_config){.group = "lane"});
    CHECK_SAME(bl_run(c, NULL, &shared, &leafy, 1, NULL), BL_EINVAL);
    CHECK_SAME(bl_run(c, tree_cpu(), NULL, &leafy, 1, NULL), BL_EINVAL);
    CHECK_SAME(bl_run(c, tree_cpu(), &shared, NULL, 1, NULL), BL_EINVAL);
    CHECK_SAME(bl_run(c, tree_cpu(), &shared, NULL, 0, NULL), BL_OK);
    CHECK_SAME(bl_alloc(c, NULL, 1), BL_EINVAL);
    CHECK_SAME(bl_alloc(NULL, &memory, 1), BL_EINVAL);
    CHECK_SAME(bl_alloc(c, &memory, SIZE_MAX), BL_ENOMEM);
    CHECK(memory == NULL);
    CHECK_SAME(bl_alloc(c, &memory, 0), BL_OK);
    CHECK(memory != NULL);
    bl_free(c, memory);
    bl_free(c, NULL);
    bl_free(NULL, NULL);
    CHECK(!strcmp(bl_device_id(c), "cpu") && !strcmp(bl_device_target(c), "cpu") && *bl_device_name(c));
    run_tree(c, tree_cpu(), leafy, 1, false); /* after all that */
    CHECK(!*bl_error_detail(c));
    bl_close(c);

    CHECK_SAME(bl_open(&c, &(bl_config){.device = "sim"}), BL_OK);
    CHECK_SAME(bl_run(c, tree_cpu(), &shared, &leafy, 1, NULL), BL_ENOCODE);
    CHECK(strstr(bl_error_detail(c), "sim") && strstr(bl_error_detail(c), "cpu"));
    bl_close(c);
    CHECK_SAME(totals.tasks, 0);
}

/* A stealing or ending policy that a scheduler does not support is rejected by name; sizes are ignored. */
static void try_field(const char *scheduler, bl_config config, bool used, const char *name) {
    tree_totals totals = {0, 0};
    tree_shared shared = {&totals};
    bl_context *c;
    check_at("%s, %s", scheduler, name);
    config.device = "cpu";
    config.scheduler = scheduler;
    config.workers = 2;
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    CHECK_SAME(bl_run(c, tree_cpu(), &shared, &leafy, 1, NULL), used ? BL_OK : BL_EINVAL);
    CHECK(used ? !*bl_error_detail(c) : !strncmp(bl_error_detail(c), name, strlen(name)));
    CHECK((totals.tasks != 0) == used);
    bl_close(c);
}

static void test_fields(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        uint32_t traits = bl_scheduler_traits(scheduler);
        bool steals = (traits & BL_TRAIT_STEALS) != 0, one = steals && !(traits & BL_TRAIT_RANGES);
        try_field(scheduler, (bl_config){.capacity = 64}, true, "capacity");
        try_field(scheduler, (bl_config){.private_entries = 3}, true, "private");
        try_field(scheduler, (bl_config){.private_entries = BL_NONE}, true, "private none");
        try_field(scheduler, (bl_config){.victims = BL_VICTIMS_RANDOM}, steals, "victims");
        try_field(scheduler, (bl_config){.victims = BL_VICTIMS_ROUND_ROBIN}, steals, "victims");
        try_field(scheduler, (bl_config){.steal = BL_STEAL_HALF}, steals, "steal half");
        try_field(scheduler, (bl_config){.steal = BL_STEAL_ONE}, one, "steal one");
        try_field(scheduler, (bl_config){.done_test = BL_DONE_TEST_ASK}, false, "done_test"); /* tree has none */
        try_field(scheduler, (bl_config){.grain = 2}, false, "grain 2");
    }
    CHECK_SAME(bl_scheduler_uses(NULL), BL_USES_NOTHING);
    CHECK_SAME(bl_scheduler_uses("no such scheduler"), BL_USES_NOTHING);
    CHECK_SAME(bl_scheduler_uses("auto"), bl_scheduler_uses("abp"));
    bl_context *c;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .stream = &c}), BL_EINVAL);
}

static void test_names(void) {
    check_at("names");
    CHECK_SAME(BL_OK, 0);
    for (int i = 0; i < BL_STATUS_COUNT; i++) {
        CHECK(!strncmp(bl_status_name(i), "BL_", 3) && *bl_status_text(i));
        for (int k = 0; k < i; k++)
            CHECK(strcmp(bl_status_name(i), bl_status_name(k)) && strcmp(bl_status_text(i), bl_status_text(k)));
    }
    CHECK(!strcmp(bl_status_name(BL_ENOMEM), "BL_ENOMEM"));
    CHECK(*bl_status_name(-1) && *bl_status_name(BL_STATUS_COUNT) && *bl_status_text(1000));
    CHECK(!strcmp(bl_version(), BL_VERSION));
    const char *scheduler, *alias;
    uint32_t schedulers = 0;
    for (; (scheduler = bl_scheduler_name(schedulers)); schedulers++)
        CHECK(strchr(scheduler, ':') && *bl_scheduler_text(schedulers));
    CHECK(schedulers >= 4 && !bl_scheduler_text(schedulers));
    for (uint32_t i = 0; (alias = bl_alias_name(i, &scheduler)); i++) {
        bool known = false;
        for (uint32_t k = 0; k < schedulers; k++)
            known = known || !strcmp(scheduler, bl_scheduler_name(k));
        CHECK(known);
    }
    CHECK(!bl_program_has(tree_cpu(), "steal:nothing") && !bl_program_has(NULL, "steal:abp") &&
          !bl_program_has(tree_cpu(), NULL));
    bl_queue_info queue;
    bl_device_info device;
    CHECK(bl_queue_info_at(0, &queue) && *queue.name && *queue.text && *queue.progress &&
          !bl_queue_info_at(1000, &queue));
    CHECK(bl_device_info_at(0, &device) && *device.id && device.workers && !bl_device_info_at(1000, &device));
}

/* What "auto" means: the program's preference if available, unless the config rules it out. */
static void test_auto(void) {
    static const struct {
        const char *automatic;
        bl_config config;
        const char *runs; /* NULL: as without a preference */
    } cases[] = {
        {NULL, {.workers = 2}, NULL},
        {"static:split", {.workers = 2}, "static:split"},
        {"static:split", {.workers = 2, .time_limit = 100}, NULL}, /* it cannot be stopped in time */
        {"static:split", {.workers = 2, .capacity = 64}, NULL},    /* has no queues */
        {"steal:nothing", {.workers = 2}, NULL},
        {"static:split", {.workers = 2, .scheduler = "list:faa"}, "list:faa"},
    };
    char without[32] = "";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bl_program program = *tree_cpu();
        program.automatic = cases[i].automatic;
        check_at("auto, case %zu", i);
        bl_context *c = open_with(cases[i].config);
        bl_stats stats = run_tree(c, &program, (tree_node){3, 3, 0}, 2, false);
        if (i == 0)
            memcpy(without, stats.scheduler, sizeof without);
        CHECK(!strcmp(stats.scheduler, cases[i].runs ? cases[i].runs : without));
        bl_close(c);
    }
}

/* ---- stalls ---- */

typedef struct gate {
    uint32_t *open;
} gate;

static void wait_at_gate(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const gate *g = data;
    (void)task, (void)payload, (void)index;
    while (!bl_load32_acquire(g->open))
        pause_seconds(0.002);
    bl_fetch_add32_relaxed(g->open, 1); /* counts each task that got through */
}

static void *open_gate_soon(void *argument) {
    pause_seconds(0.8);
    bl_fetch_add32_relaxed(argument, 1);
    return NULL;
}

/* A task that is late but returns within the grace period: the run fails, the context survives. */
static void test_stall_that_ends(uint32_t caller_waits) {
    bl_program *program = bl_program_from_function(wait_at_gate, 0, sizeof(gate), 1);
    uint32_t open = 0;
    gate g = {&open};
    pthread_t helper;
    check_at("a stall that ends, the caller %s", caller_waits ? "waits" : "is in the task");
    bl_context *c = open_with((bl_config){.workers = 3, .stall_seconds = 0.3, .caller_waits = caller_waits});
    CHECK_SAME(pthread_create(&helper, NULL, open_gate_soon, &open), 0);
    CHECK_SAME(bl_run(c, program, &g, NULL, 1, NULL), BL_ESTALL);
    CHECK(strstr(bl_error_detail(c), "worker") && strstr(bl_error_detail(c), "in a task"));
    pthread_join(helper, NULL);
    run_tree(c, tree_cpu(), leafy, 1, false);
    bl_close(c);
    bl_program_free(program);
}

static void grow_for_long(bl_task *task, const void *depth, uint32_t index, const void *shared) {
    uint32_t next = *(const uint32_t *)depth - 1;
    (void)index, (void)shared;
    bl_spend(20000);
    if (next)
        bl_task_spawn(task, &next, 2);
}

/* While a run stops, its workers publish what they hold, and ask for others to take it. Those need not come any more. A
 * caller that waited for them sometimes waited forever, because one that had already left took the signal. */
static void test_stops_while_waking(void) {
    bl_program *program = bl_program_from_function(grow_for_long, sizeof(uint32_t), 0, 1);
    check_at("a run that is stopped while it wakes workers, and the caller waits");
    for (int i = 0; i < 200 / CHECK_SLOWER; i++) {
        bl_context *c = open_with((bl_config){.workers = 13,
                                              .private_entries = 9,
                                              .caller_waits = 1,
                                              .stall_seconds = 5,
                                              .time_limit = 0.0005 + 0.00001 * i});
        CHECK_SAME(bl_run(c, program, NULL, &(uint32_t){30}, 1, NULL), BL_ETIME);
        bl_close(c);
    }
    bl_program_free(program);
}

/* A stuck run deliberately leaks what it holds, so that the stuck worker cannot touch freed memory; the leak checker
 * must accept that. */
static uint32_t stuck_open;

static void test_stall(const char *scheduler) {
    bl_program *program = bl_program_from_function(wait_at_gate, 0, sizeof(gate), 1);
    gate *g = malloc(sizeof *g); /* not on this stack: the task outlives the run */
    bl_store32_relaxed(&stuck_open, 0);
    g->open = &stuck_open;
    check_at("%s, a stall", scheduler);
    bl_context *c =
        open_with((bl_config){.scheduler = scheduler, .workers = 2, .stall_seconds = 0.3, .caller_waits = 1});
    double begun = bl__now();
    CHECK_SAME(bl_run(c, program, g, NULL, 1, NULL), BL_ESTALL);
    CHECK(bl__now() - begun > 0.3 && bl__now() - begun < 30);
    CHECK(strstr(bl_error_detail(c), "worker") && strstr(bl_error_detail(c), "in a task"));
    memset(g, 0x55, sizeof *g); /* `shared` was copied, so the caller may overwrite its own */
    CHECK_SAME(bl_run(c, tree_cpu(), g, &leafy, 1, NULL), BL_EDEAD);
    void *memory;
    CHECK_SAME(bl_alloc(c, &memory, 8), BL_EDEAD);
    bl_fetch_add32_relaxed(&stuck_open, 1);
    bl_close(c);
    for (int i = 0; i < 1000 && bl_load32_acquire(&stuck_open) < 2; i++)
        pause_seconds(0.01);
    CHECK_SAME(bl_load32_acquire(&stuck_open), 2);
    pause_seconds(0.1); /* lets the worker end before the test does */
    free(g);
    bl_program_free(program);
}

static void doze(bl_task *task, const void *payload, uint32_t index, const void *data) {
    (void)task, (void)payload, (void)index, (void)data;
    pause_seconds(0.015);
}

/* Slow but steady: not a stall, whatever the scheduler. */
static void test_no_stall(void) {
    bl_program *program = bl_program_from_function(doze, 0, 0, 1);
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i += SLOW_STEP) {
        check_at("%s, steady work", scheduler);
        bl_context *c = open_with((bl_config){.scheduler = scheduler, .workers = 1, .stall_seconds = 0.3});
        CHECK_SAME(bl_run_range(c, program, NULL, NULL, 30, NULL), BL_OK);
        bl_close(c);
    }
    bl_program_free(program);
}

/* The caller has nothing to do, and another worker is stuck. */
static pthread_t stuck_caller;

static void wait_unless_caller(bl_task *task, const void *payload, uint32_t index, const void *data) {
    if (!pthread_equal(pthread_self(), stuck_caller)) {
        wait_at_gate(task, payload, index, data);
        return;
    }
    pause_seconds(0.05); /* the other one takes the next task meanwhile */
}

static void test_stall_beside_caller(void) {
    bl_program *program = bl_program_from_function(wait_unless_caller, 0, sizeof(gate), 1);
    gate *g = malloc(sizeof *g);
    stuck_caller = pthread_self();
    bl_store32_relaxed(&stuck_open, 0);
    g->open = &stuck_open;
    check_at("a stall beside the caller");
    bl_context *c = open_with((bl_config){.workers = 2, .stall_seconds = 0.3});
    CHECK_SAME(bl_run_range(c, program, g, NULL, 4, NULL), BL_ESTALL);
    CHECK(strstr(bl_error_detail(c), "in a task"));
    CHECK_SAME(bl_run(c, tree_cpu(), g, &leafy, 1, NULL), BL_EDEAD);
    bl_fetch_add32_relaxed(&stuck_open, 1);
    bl_close(c);
    pause_seconds(0.1);
    free(g);
    bl_program_free(program);
}

/* ---- the calling thread ---- */

typedef struct seen_threads {
    pthread_t caller;
    uint32_t *by_caller, *by_others;
} seen_threads;

static void note_thread(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const seen_threads *s = data;
    (void)task, (void)payload, (void)index;
    bl_fetch_add32_relaxed(pthread_equal(pthread_self(), s->caller) ? s->by_caller : s->by_others, 1);
}

static void count_progress(void *arg, uint64_t tasks) { (void)arg, (void)tasks; }

/* By default it is a worker; with only one, it runs all tasks. */
static void test_caller(void) {
    const bl_config configs[] = {
        {.workers = 1},
        {.workers = 1, .caller_waits = 1},
        {.workers = 1, .progress = count_progress},
        {.workers = 1, .bind = 1},
        {.workers = 1, .scheduler = "static:split"},
    };
    bl_program *program = bl_program_from_function(note_thread, 0, sizeof(seen_threads), 1);
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        uint32_t by_caller = 0, by_others = 0;
        seen_threads s = {pthread_self(), &by_caller, &by_others};
        bool works = !configs[i].caller_waits && !configs[i].progress && !configs[i].bind;
        check_at("the caller, config %zu", i);
        bl_context *c = open_with(configs[i]);
        CHECK_SAME(bl_run_range(c, program, &s, NULL, 100, NULL), BL_OK);
        CHECK_SAME(by_caller, works ? 100 : 0);
        CHECK_SAME(by_others, works ? 0 : 100);
        bl_close(c);
    }
    bl_program_free(program);
}

/* Workers join a run that may be over before they have: nothing is lost, nothing is run twice. */
static void test_short_runs(void) {
    for (uint32_t workers = 1; workers <= 5; workers += 2) {
        check_at("%u workers, short runs", workers);
        bl_context *c = open_with((bl_config){.workers = workers, .private_entries = workers == 5 ? BL_NONE : 0});
        for (uint32_t i = 0; i < 3000 / CHECK_SLOWER; i++) {
            run_tree(c, tree_cpu(), (tree_node){i % 5, 2, 0}, 1 + i % 3, i % 2);
            if (i % 64 == 0)
                pause_seconds(0.001);
        }
        bl_close(c);
    }
}

static void test_nothing_between_runs(void) {
    check_at("between runs");
    bl_context *c = open_with((bl_config){.workers = 3});
    run_tree(c, tree_cpu(), leafy, 1, false);
    pause_seconds(0.2); /* until the last one is asleep */
    double before = processor_seconds();
    pause_seconds(0.5);
    CHECK(processor_seconds() - before < 0.005);
    bl_close(c);
}

/* ---- processor time ---- */

static void work_300_ms(bl_task *task, const void *payload, uint32_t index, const void *data) {
    (void)task, (void)payload, (void)index, (void)data;
    double until = bl__now() + 0.3;
    while (bl__now() < until)
        ;
}

static void test_idle(void) {
    bl_program *program = bl_program_from_function(work_300_ms, 0, 0, 1);
    const char *scheduler;
    for (uint32_t i = 1; (scheduler = scheduler_at(i)); i += SLOW_STEP) {
        check_at("%s, idle", scheduler);
        bl_context *c = open_with((bl_config){.scheduler = scheduler, .workers = 6});
        run_tree(c, tree_cpu(), leafy, 1, false);
        double before = processor_seconds();
        pause_seconds(0.3);
        CHECK(processor_seconds() - before < 0.01 * CHECK_SLOWER);
        before = processor_seconds();
        CHECK_SAME(bl_run(c, program, NULL, NULL, 1, NULL), BL_OK);
        CHECK(processor_seconds() - before < 0.45 + 0.05 * (CHECK_SLOWER - 1));
        bl_close(c);
    }
    bl_program_free(program);
}

/* ---- a done test, progress, several contexts ---- */

typedef struct leaves_shared {
    uint64_t *leaves;
    uint64_t wanted;
} leaves_shared;

static BL_TASK void leaves_run(bl_task *t, const tree_node *node, uint32_t index, const leaves_shared *shared,
                               bl_nothing *local) {
    (void)index, (void)local;
    tree_node child = {node->depth - 1, node->width, 0};
    if (node->depth == 0)
        bl_fetch_add64_relaxed(shared->leaves, 1);
    for (uint32_t i = 0; node->depth && i < node->width; i++)
        bl_spawn(t, &child);
}
static BL_TASK bool leaves_done(const leaves_shared *shared) {
    return bl_load64_relaxed(shared->leaves) == shared->wanted;
}

#define BL_PROGRAM leaves
#define BL_PAYLOAD tree_node
#define BL_SHARED leaves_shared
#define BL_RUN leaves_run
#define BL_DONE_TEST leaves_done
#define BL_MAX_SPAWN 4
#include <ballast/program.h>

static void test_done_test(void) {
    const char *scheduler;
    static const bl_done_test asked[] = {BL_DONE_TEST_DEFAULT, BL_DONE_TEST_ASK, BL_DONE_TEST_IGNORE};
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        for (uint32_t n = 0; n < 9; n++) {
            uint32_t workers = 1 + 2 * (n / 3);
            uint64_t leaves = 0;
            leaves_shared shared = {&leaves, 4096};
            tree_node root = {6, 4, 0};
            bl_stats stats;
            check_at("%s, %u workers, done test", scheduler, workers);
            bl_context *c = open_with((bl_config){.scheduler = scheduler,
                                                  .workers = workers,
                                                  .capacity = workers == 3 ? 2 : 0,
                                                  .done_test = asked[n % 3]});
            CHECK_SAME(bl_run(c, leaves_cpu(), &shared, &root, 1, &stats), BL_OK);
            CHECK_SAME(leaves, 4096);
            CHECK_SAME(stats.tasks, 5461);
            bl_close(c);
        }
}

/* Spawns itself for ever, and cancels once the run is a millisecond old. */
typedef struct cancel_times {
    bl_context *c;
    double begun, asked;
} cancel_times;

static void cancel_soon(bl_task *task, const void *payload, uint32_t index, const void *data) {
    cancel_times *t = *(cancel_times *const *)data;
    (void)index;
    if (t->asked == 0 && bl__now() - t->begun > 1e-3) {
        t->asked = bl__now();
        bl_cancel(t->c);
    }
    bl_task_spawn(task, payload, 1);
}

/* Nobody waits for the watcher's next look, which may be 50 ms away. */
static void test_prompt_cancel(void) {
    cancel_times t, *shared = &t;
    uint32_t roots[2] = {0, 0};
    double fastest = INFINITY;
    bl_program *program = bl_program_from_function(cancel_soon, 4, sizeof shared, 1);
    t.c = open_with((bl_config){.workers = 1});
    check_at("cancelled by a task");
    for (int i = 0; i < 20; i++) {
        t.begun = bl__now();
        t.asked = 0;
        CHECK_SAME(bl_run(t.c, program, &shared, roots, 2, NULL), BL_ECANCEL);
        fastest = fmin(fastest, bl__now() - t.asked);
        CHECK_SAME(bl_reset(t.c), BL_OK);
    }
    if (!CHECK(fastest < 0.005))
        printf("    %g ms at best\n", 1e3 * fastest);
    bl_close(t.c);
    bl_program_free(program);
}

typedef struct progress_seen {
    uint64_t calls, last, backwards;
    pthread_t caller;
    bool elsewhere;
} progress_seen;

static void see_progress(void *argument, uint64_t tasks) {
    progress_seen *seen = argument;
    seen->calls++;
    seen->backwards += tasks < seen->last;
    seen->last = tasks;
    seen->elsewhere = seen->elsewhere || !pthread_equal(seen->caller, pthread_self());
}

/* Many tasks, then few: a count that restarts with each wave or pause would go backwards. */
static void doze_and_spawn(bl_task *task, const void *payload, uint32_t index, const void *data) {
    static const uint32_t children[] = {0, 8, 32};
    uint32_t depth = *(const uint32_t *)payload;
    doze(task, payload, index, data);
    for (uint32_t i = 0, next = depth - 1; i < children[depth]; i++, next = 0)
        bl_task_spawn(task, &next, 1);
}

static void test_progress(void) {
    bl_program *program = bl_program_from_function(doze_and_spawn, 4, 0, 32);
    const char *scheduler;
    for (uint32_t i = 2; (scheduler = bl_scheduler_name(i)); i += SLOW_STEP) {
        uint32_t depth = 2;
        bl_stats stats;
        progress_seen seen = {.caller = pthread_self()};
        check_at("%s, progress", scheduler);
        bl_context *c = open_with((bl_config){.scheduler = scheduler,
                                              .workers = 1,
                                              .capacity = 2,
                                              .private_entries = BL_NONE,
                                              .progress = see_progress,
                                              .progress_arg = &seen});
        CHECK_SAME(bl_run(c, program, NULL, &depth, 1, &stats), BL_OK);
        CHECK_SAME(stats.tasks, 41);
        CHECK(seen.calls >= 3 && !seen.elsewhere);
        CHECK_SAME(seen.backwards, 0);
        CHECK(seen.last > 0 && seen.last <= 41);
        bl_close(c);
    }
    bl_program_free(program);
}

/* CHECK is for one thread, so each thread counts its own failures. */
static void *run_own_context(void *argument) {
    uintptr_t *wrong = argument;
    tree_totals expected = tree_expect(leafy, 1);
    for (int i = 0; i < 40; i++) {
        tree_totals totals = {0, 0};
        tree_shared shared = {&totals};
        bl_context *c;
        bl_stats stats;
        bl_config config = {.device = "cpu", .workers = 2, .capacity = 2, .private_entries = i % 2 ? BL_NONE : 0};
        *wrong += bl_open(&c, &config) != BL_OK;
        for (int k = 0; k < 10; k++)
            *wrong += bl_run(c, tree_cpu(), &shared, &leafy, 1, &stats) != BL_OK || stats.tasks != expected.tasks;
        *wrong += totals.sum != 10 * expected.sum;
        bl_close(c);
    }
    return NULL;
}

static void test_two_contexts(void) {
    pthread_t threads[2];
    uintptr_t wrong[2] = {0, 0};
    check_at("two contexts at once");
    for (int i = 0; i < 2; i++)
        CHECK_SAME(pthread_create(threads + i, NULL, run_own_context, wrong + i), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_SAME(wrong[0] + wrong[1], 0);
}

/* ---- payloads with members aligned to more than a word ---- */

typedef struct aligned_payload {
    uint64_t number;
    double real;
    void *pointer;
} aligned_payload;

static void see_aligned(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const aligned_payload *p = payload;
    (void)index, (void)data;
    bl_fetch_add64_relaxed(p->pointer, p->number + (uint64_t)p->real);
    aligned_payload next = {p->number - 1, p->real, p->pointer};
    if (p->number > 1)
        bl_task_spawn(task, &next, 1);
}

/* As large as a plain function's payload may be; every word must pass through every queue. */
typedef struct large_payload {
    uint32_t words[64];
} large_payload;

static void see_large(bl_task *task, const void *payload, uint32_t index, const void *data) {
    large_payload p = *(const large_payload *)payload;
    uint64_t *const *sum = data;
    uint32_t wrong = index;
    for (uint32_t i = 1; i < 64; i++)
        wrong += p.words[i] != p.words[0] * i;
    bl_fetch_add64_relaxed(*sum, wrong ? 1000000 : 1);
    for (uint32_t i = 0, depth = p.words[0]; i < 3 && depth > 1; i++) {
        for (uint32_t k = 0; k < 64; k++)
            p.words[k] = (depth - 1) * (k ? k : 1);
        bl_task_spawn(task, &p, 1);
    }
}

static void test_large_payloads(void) {
    bl_program *program = bl_program_from_function(see_large, sizeof(large_payload), sizeof(uint64_t *), 3);
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        uint64_t sum = 0, *where = &sum;
        large_payload root;
        for (uint32_t k = 0; k < 64; k++)
            root.words[k] = 6 * (k ? k : 1);
        check_at("%s, large payloads", scheduler);
        bl_context *c =
            open_with((bl_config){.scheduler = scheduler, .workers = 3, .capacity = 2, .private_entries = BL_NONE});
        CHECK_SAME(bl_run(c, program, &where, &root, 1, NULL), BL_OK);
        CHECK_SAME(sum, 364);
        bl_close(c);
    }
    bl_program_free(program);
}

static void test_payloads(void) {
    check_at("payloads");
    bl_context *c = open_with((bl_config){.workers = 2, .private_entries = 1});
    uint64_t sum = 0;
    aligned_payload roots[3] = {{100, 2, &sum}, {50, 0, &sum}, {1, 1, &sum}};
    bl_program *program = bl_program_from_function(see_aligned, sizeof(aligned_payload), 0, 1);
    CHECK_SAME(bl_run(c, program, NULL, roots, 3, NULL), BL_OK);
    CHECK_SAME(sum, 5050 + 200 + 1275 + 2);
    bl_program_free(program);
    bl_close(c);
}

int main(void) {
    check_limit(230);
    test_names();
    test_auto();
    test_bad_arguments();
    test_fields();
    test_payloads();
    test_large_payloads();
    test_schedulers();
    test_roots();
    test_ranges();
    test_chain();
    test_many_workers();
    test_policies();
    test_many_runs();
    test_too_many();
    test_task_error();
    test_done_test();
    test_progress();
    test_prompt_cancel();
    test_two_contexts();
    test_idle();
    test_no_stall();
    test_caller();
    test_short_runs();
    test_nothing_between_runs();
    test_stops_while_waking();
    test_stall_that_ends(0);
    test_stall_that_ends(1);
    test_stall_beside_caller();
    test_stall("steal:chase_lev");
    test_stall("static:split");
    return check_end();
}
