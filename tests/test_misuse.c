// COMPILE: -O1
/* Tasks that break a rule: on a CPU nothing is lost if a limit may be exceeded; in all other cases the run ends with
 * BL_EMISUSE and a detail that names the program and the rule. test_misuse_sim.c runs the same tests on the simulated
 * machine, which has lanes as a GPU has; test_misuse_cuda.c runs them on a GPU. */
#include "check.h"
#include "config.h"

#include "misuse.h"
#include <ballast/ballast.h>
#include <stdlib.h>

#if defined(MISUSE_ON_CUDA)
#define DEVICE "cuda"
#define PROGRAM(name) name##_cuda()
#define LANES 1
#define BLOCK "block:64"
const bl_program *spawner_cuda(void), *wide_cuda(void), *rules_cuda(void), *bare_cuda(void), *checked_cuda(void),
    *sixteen_fib_cuda(void);
#elif defined(BL_TARGET_SIM)
#define DEVICE "sim"
#define PROGRAM(name) name##_sim()
#define LANES 1
#define BLOCK "block:32"
#else
#define DEVICE "cpu"
#define PROGRAM(name) name##_cpu()
#define LANES 0
#define BLOCK "lane"
#endif

static bl_context *open_with(bl_config config) { return config_open(DEVICE, config); }

static void says(const bl_context *c, int status, int expected, const char *detail) {
    if (!CHECK_SAME(status, expected) || !CHECK(!strcmp(bl_error_detail(c), detail)))
        printf("    status %s, detail \"%s\"\n    expected \"%s\"\n", bl_status_name(status), bl_error_detail(c),
               detail);
}

/* ---- spawning more than BL_MAX_SPAWN ---- */

static uint64_t nodes_of(spawner_node node) {
    uint64_t all = 1, level = 1;
    for (; node.depth; node.depth--)
        all += level *= node.width;
    return all;
}

static void try_spawner(bl_context *c, spawner_node root, const char *detail) {
    bl_stats stats;
    int status = bl_run(c, PROGRAM(spawner), NULL, &root, 1, &stats);
    says(c, status, LANES ? BL_EMISUSE : BL_OK, LANES ? detail : "");
    if (!LANES)
        CHECK_SAME(stats.tasks, nodes_of(root));
}

static void test_spawns(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        if (!bl_program_has(PROGRAM(spawner), scheduler))
            continue;
        for (uint32_t seed = 1; seed <= 2; seed++) {
            bl_config config = {.scheduler = scheduler, .seed = seed, .workers = 1 + (i + seed) % 3};
            config.capacity = seed % 2 ? 0 : 2;
            config.private_entries = seed % 2 ? 0 : 1;
            check_at("spawns: %s, %u workers, seed %u", scheduler, config.workers, seed);
            bl_context *c = open_with(config);
            try_spawner(c, (spawner_node){2, 3}, "spawner: a task spawned 3 entries, but BL_MAX_SPAWN is 1");
            try_spawner(c, (spawner_node){1, 1000}, "spawner: a task spawned 1000 entries, but BL_MAX_SPAWN is 1");
            if (!LANES)
                try_spawner(c, (spawner_node){6, 7}, "");
            CHECK_SAME(bl_run(c, PROGRAM(spawner), NULL, &(spawner_node){9, 1}, 1, NULL), BL_OK); /* within the rules */
            bl_close(c);
        }
    }
}

/* The lanes of a group that runs one task are counted together. */
static void test_groups(void) {
    static const char *const groups[] = {"warp", BLOCK};
    for (uint32_t i = 0; i < 2 && LANES; i++) {
        check_at("spawns: %s", groups[i]);
        bl_context *c = open_with((bl_config){.group = groups[i], .workers = 2});
        try_spawner(c, (spawner_node){2, 3}, "spawner: a task spawned 3 entries, but BL_MAX_SPAWN is 1");
        try_spawner(c, (spawner_node){1, 1000}, "spawner: a task spawned 1000 entries, but BL_MAX_SPAWN is 1");
        CHECK_SAME(bl_run(c, PROGRAM(spawner), NULL, &(spawner_node){9, 1}, 1, NULL), BL_OK);
        bl_close(c);
    }
}

/* ---- forks ---- */

static void test_forks(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++) {
        if (!bl_program_has(PROGRAM(wide), scheduler))
            continue;
        bl_config config = {.scheduler = scheduler, .workers = 1 + i % 3, .capacity = i % 2 ? 2 : 0};
        check_at("forks: %s, %u workers", scheduler, config.workers);
        bl_context *c = open_with(config);
        for (uint32_t width = 2; width < 2000; width *= 9) {
            wide_node root = {width > 99 ? 2 : 4, width, 0, 0};
            uint64_t result = 0;
            char detail[99] = "";
            bool right = width <= 2 || !LANES;
            if (!right)
                snprintf(detail, sizeof detail, "wide: a fork of %u children, but BL_JOIN_WIDTH is 2", width);
            says(c, bl_run_join(c, PROGRAM(wide), NULL, &root, 1, &result, NULL), right ? BL_OK : BL_EMISUSE, detail);
            if (right)
                CHECK_SAME(result, wide_expect(root, 0));
        }
        bl_close(c);
    }
}

static const char *const broken[RULES] = {
    [RULE_NEITHER] = "rules: a task or join called neither bl_return nor bl_fork",
    [RULE_JOIN_NEITHER] = "rules: a task or join called neither bl_return nor bl_fork",
    [RULE_FORK_NONE] = "rules: a fork of no children",
    [RULE_BOTH] = "rules: a task or join called bl_return or bl_fork more than once",
    [RULE_RETURN_TWICE] = "rules: a task or join called bl_return or bl_fork more than once",
    [RULE_FORK_TWICE] = "rules: a task or join called bl_return or bl_fork more than once",
    [RULE_SPAWN_OTHER] = "rules: a task spawned or forked a payload of 12 bytes, but BL_PAYLOAD has 8",
    [RULE_FORK_OTHER] = "rules: a task spawned or forked a payload of 12 bytes, but BL_PAYLOAD has 8",
    [RULE_RETURN_OTHER] = "rules: a task returned 8 bytes, but BL_RESULT has 4",
    [RULE_FORK_MANY] = "rules: a fork of 100000 children (accepted: up to 32767)",
};

static void test_rules(const char *group) {
    for (uint32_t i = 0; i < RULES; i++)
        for (uint32_t depth = 1; depth < 7; depth += 5) {
            rule_node root = {depth, i};
            uint32_t result = 0;
            check_at("rule %u, depth %u, %s", i, depth, group ? group : "");
            if (i == RULE_JOIN_NEITHER && depth < 4)
                continue;
            bl_context *c = open_with((bl_config){.workers = 2, .group = group});
            int status = bl_run_join(c, PROGRAM(rules), NULL, &root, 1, &result, NULL);
            if (depth == 1) /* the root, whose index is 0 */
                CHECK(status == BL_OK && result == 1);
            else
                says(c, status,
                     broken[i]        ? BL_EMISUSE
                     : i == RULE_FAIL ? BL_ETASK
                                      : BL_OK,
                     broken[i]        ? broken[i]
                     : i == RULE_FAIL ? "rules: a task failed with error 1"
                                      : "");
            root.broken = RULES_KEPT; /* the context still works */
            CHECK_SAME(bl_run_join(c, PROGRAM(rules), NULL, &root, 1, &result, NULL), BL_OK);
            CHECK_SAME(result, 1u << (depth - 1));
            bl_close(c);
        }
}

static void test_bare(void) {
    static const char *const details[] = {"bare: a task called bl_return, but the program has no BL_RESULT",
                                          "bare: a task called bl_fork, but the program has no BL_RESULT"};
    for (uint32_t forks = 0; forks < 2; forks++) {
        check_at("bare %u", forks);
        bl_context *c = open_with((bl_config){.workers = 1});
        says(c, bl_run(c, PROGRAM(bare), NULL, &forks, 1, NULL), BL_EMISUSE, details[forks]);
        bl_close(c);
    }
}

static void test_checked(void) {
    static const char *const details[] = {"checked: a sum of results reached 2^48",
                                          "checked: a task passed a payload at an address that is no multiple of 4",
                                          "checked: a task passed a result at an address that is no multiple of 4"};
    for (uint32_t what = 0; what < 3; what++) {
        checked_node root = {4, what}, small = {2, 0};
        uint64_t result = 0;
        check_at("checked %u", what);
        bl_context *c = open_with((bl_config){.workers = 2});
        says(c, bl_run_join(c, PROGRAM(checked), NULL, &root, 1, &result, NULL), BL_EMISUSE, details[what]);
        says(c, bl_run_join(c, PROGRAM(checked), NULL, &small, 1, &result, NULL), BL_OK, "");
        CHECK_SAME(result, 1ull << 47);
        bl_close(c);
    }
}

static void test_alignment(const char *group) {
    check_at("alignment, %s", group ? group : "");
    for (uint32_t workers = 1; workers < 4; workers++) {
        sixteen root = {LANES ? 12 : 20, 0}, result = {0, 1};
        bl_context *c = open_with((bl_config){.workers = workers, .group = group, .capacity = 2});
        CHECK_SAME(bl_run_join(c, PROGRAM(sixteen_fib), NULL, &root, 1, &result, NULL), BL_OK);
        CHECK_SAME(result.n, LANES ? 89 : 4181);
        CHECK_SAME(result.misplaced, 0);
        bl_close(c);
    }
}

#if !LANES

/* ---- the same where a run is stopped, resumed, cancelled, or out of memory ---- */

/* One task spawns nearly all of them, and each takes a while, so most have overflowed the stack when the run is
 * stopped. */
static uint64_t slow_runs;
static void slow_function(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t count = *(const uint32_t *)payload, one = 0;
    (void)index, (void)shared;
    bl_fetch_add64_relaxed(&slow_runs, 1);
    for (uint32_t i = 0; i < count; i++)
        bl_task_spawn(task, &one, 1);
    for (uint64_t until = bl_clock() + 20000 * CHECK_SLOWER; count == 0 && bl_clock() < until;)
        ;
}

static void test_stopped(void) {
    enum { COUNT = 20000 / CHECK_SLOWER };
    static const char *const schedulers[] = {"steal:chase_lev", "steal:steal_many", "central:bwd",
                                             "range:packed_range"};
    char file[] = "/tmp/test_misuse_XXXXXX";
    int fd = mkstemp(file);
    if (!CHECK(fd >= 0))
        return;
    close(fd);
    for (uint32_t i = 0; i < sizeof schedulers / sizeof schedulers[0]; i++) {
        bl_program *program = bl_program_from_function(slow_function, 4, 0, 0);
        bl_config config = {.scheduler = schedulers[i], .workers = 2, .time_limit = 0.05, .checkpoint = file};
        uint32_t stops = 0, count = COUNT;
        bl_stats stats;
        int status = BL_ETIME;
        check_at("stopped and resumed: %s", schedulers[i]);
        bl_store64_relaxed(&slow_runs, 0);
        for (; status == BL_ETIME && stops < 99; stops++) {
            config.resume = stops ? file : NULL;
            bl_context *c = open_with(config);
            status = bl_run(c, program, NULL, &count, 1, &stats);
            bl_close(c);
            config.time_limit *= 2;
        }
        CHECK_SAME(status, BL_OK);
        CHECK(stops > 1);
        CHECK_SAME(stats.tasks, COUNT + 1);
        CHECK_SAME(bl_load64_relaxed(&slow_runs), COUNT + 1);
        bl_program_free(program);
    }
    remove(file);
}

/* With a checkpoint the results of forks must fit their records. Memory that a failed run leaves of those that do not
 * fit is freed. */
static void test_wide_stopped(void) {
    wide_node root = {3, 50, 0, 0};
    uint64_t result;
    check_at("wide with a checkpoint");
    bl_context *c = open_with((bl_config){.workers = 2, .checkpoint = "/tmp/test_misuse_none"});
    says(c, bl_run_join(c, wide_cpu(), NULL, &root, 1, &result, NULL), BL_EMISUSE,
         "wide: a fork of 50 children, but BL_JOIN_WIDTH is 2, and neither a checkpoint nor a GPU holds the results of "
         "a wider one");
    bl_close(c);
    check_at("wide, cancelled");
    c = open_with((bl_config){.workers = 2, .time_limit = 1e-9});
    root.depth = 5;
    CHECK_SAME(bl_run_join(c, wide_cpu(), NULL, &root, 1, &result, NULL), BL_ETIME);
    bl_close(c);
    c = open_with((bl_config){.workers = 2, .time_limit = 0.02});
    CHECK_SAME(bl_run_join(c, wide_cpu(), NULL, &root, 1, &result, NULL), BL_ETIME);
    bl_close(c);
}

/* A loop that is declared to spawn nothing, but does. */
static uint64_t loop_seen;
static BL_TASK void loop_run(bl_task *t, const uint32_t *spawns, uint32_t begin, uint32_t end, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    uint32_t none = 0;
    bl_fetch_add64_relaxed(&loop_seen, end - begin);
    for (uint32_t i = begin; i < end && *spawns; i++)
        bl_spawn_n(t, &none, *spawns);
}
#define BL_PROGRAM loop
#define BL_PAYLOAD uint32_t
#define BL_RANGE_RUN loop_run
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

static void test_loop(void) {
    const char *scheduler;
    uint32_t spawns = 3, count = 20000;
    for (uint32_t i = 0; (scheduler = scheduler_at(i)); i++)
        for (uint32_t pop = 0; pop < 1001; pop = pop * 10 + 1) {
            bl_stats stats;
            check_at("loop: %s, pop %u", scheduler, pop);
            bl_context *c = open_with((bl_config){.scheduler = scheduler, .workers = 2, .grain = pop});
            bl_store64_relaxed(&loop_seen, 0);
            CHECK_SAME(bl_run_range(c, loop_cpu(), NULL, &spawns, count, &stats), BL_OK);
            CHECK_SAME(stats.tasks, 4 * count);
            CHECK_SAME(bl_load64_relaxed(&loop_seen), 4 * count);
            bl_close(c);
        }
}

/* Types that the compiler itself aligns to 16 bytes. */
typedef uint32_t vector __attribute__((vector_size(16)));
static BL_TASK void vector_run(bl_task *t, const vector *caller, uint32_t index, const bl_nothing *shared,
                               bl_nothing *local) {
    (void)shared, (void)local;
    vector call = *caller - (vector){1, 1, 1, 1} - (vector){index, index, index, index};
    long double value = call[3];
    if (call[0] < 2)
        bl_return(t, &value);
    else
        bl_fork(t, &call, &call, 2);
}
static BL_TASK void vector_join(bl_task *t, const vector *forked, const long double *results, uint32_t count,
                                const bl_nothing *shared, bl_nothing *local) {
    (void)shared, (void)local, (void)forked;
    long double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += results[i];
    bl_return(t, &sum);
}
#define BL_PROGRAM vectors
#define BL_PAYLOAD vector
#define BL_RUN vector_run
#define BL_RESULT long double
#define BL_JOIN vector_join
#define BL_JOIN_WIDTH 1
#include <ballast/program.h>

static void aligned_function(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    vector depth = *(const vector *)payload - (vector){1, 1, 1, 1};
    (void)index, (void)shared;
    if (depth[2])
        bl_task_spawn(task, &depth, 3);
}

static void test_vectors(void) {
    for (uint32_t workers = 1; workers < 4; workers++) {
        vector root = {16, 16, 16, 16};
        long double result = 0;
        check_at("vectors: %u workers", workers);
        bl_context *c = open_with((bl_config){.workers = workers, .capacity = 2});
        CHECK_SAME(bl_run_join(c, vectors_cpu(), NULL, &root, 1, &result, NULL), BL_OK);
        CHECK_SAME(result, 610);
        bl_program *program = bl_program_from_function(aligned_function, sizeof(vector), 0, 1);
        bl_stats stats;
        root -= (vector){10, 10, 10, 10};
        CHECK_SAME(bl_run(c, program, NULL, &root, 1, &stats), BL_OK);
        CHECK_SAME(stats.tasks, 364);
        bl_program_free(program);
        bl_close(c);
    }
}

static void test_cpu(void) {
    test_stopped();
    test_wide_stopped();
    test_loop();
    test_vectors();
}
#else
static void test_cpu(void) {
    test_rules("warp");
    test_rules(BLOCK);
    test_alignment("warp");
    test_alignment(BLOCK);
}
#endif

int main(void) {
    check_limit(240);
    test_spawns();
    test_groups();
    test_forks();
    test_rules(NULL);
    test_bare();
    test_checked();
    test_alignment(NULL);
    test_cpu();
    return check_end();
}
