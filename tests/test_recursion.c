// COMPILE: -O1
/* Forks that a CPU thread runs by recursion: deep ones, on a small stack, with few records, wide, aligned, wrong; and
 * runs that are stopped, resumed and shared with others in the middle. With one worker a run recurses from its first
 * task on; several workers first have to see short tasks. */
#include "check.h"
#include "config.h"

#include "join_trees.h"

#include <ballast/ballast.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static bl_context *open_with(bl_config config) { return config_open("cpu", config); }

/* ---- words: trees whose joins fork again ---- */

static bl_context *to_cancel;
static uint32_t tasks_run, cancel_after; /* 0: never */
static uint32_t in_frames;               /* tasks that return to a frame */

static BL_TASK void watched_word_run(bl_task *t, const word_node *node, uint32_t index, const bl_nothing *shared,
                                     bl_nothing *local) {
    if (t->to)
        bl_fetch_add32_relaxed(&in_frames, 1);
    if (cancel_after && bl_fetch_add32_relaxed(&tasks_run, 1) + 1 >= cancel_after) {
        bl_cancel(to_cancel);
        nanosleep(&(struct timespec){0, 500000}, NULL); /* so that the run is stopped before it ends */
    }
    bl_spawn_n(t, node, 0); /* nothing */
    word_run(t, node, index, shared, local);
}

#define BL_PROGRAM watched_words
#define BL_PAYLOAD word_node
#define BL_RUN watched_word_run
#define BL_RESULT word
#define BL_JOIN word_join
#define BL_JOIN_WIDTH JOINS_WIDTH
#include <ballast/program.h>

enum { DEPTH = 9, ROOTS = 5 };

static int run_words(bl_context *c, uint32_t roots, bl_stats *stats) {
    word_node nodes[ROOTS] = {{0, 0, 0}};
    word results[ROOTS];
    uint64_t tasks = 0;
    memset(results, 0, sizeof results);
    for (uint32_t i = 0; i < roots; i++)
        nodes[i] = (word_node){i * 7919u + 4, DEPTH, 0};
    int status = bl_run_join(c, watched_words_cpu(), NULL, nodes, roots, results, stats);
    for (uint32_t i = 0; i < roots && status == BL_OK; i++) {
        word expected = word_expect(nodes[i], 0);
        CHECK(results[i].text == expected.text && results[i].tasks == expected.tasks);
        tasks += expected.tasks;
    }
    if (status == BL_OK)
        CHECK_SAME(stats->tasks, tasks);
    return status;
}

/* It does recurse; and with papers' rules, which allow no private work, it does not. */
static void test_recurses(void) {
    bl_stats stats;
    for (uint32_t private_entries = 0; private_entries <= 1; private_entries++) {
        check_at("recursion, %s private entries", private_entries ? "no" : "with");
        bl_context *c = open_with((bl_config){.workers = 1, .private_entries = private_entries ? BL_NONE : 0});
        in_frames = 0;
        CHECK_SAME(run_words(c, ROOTS, &stats), BL_OK);
        CHECK_SAME(in_frames, private_entries ? 0 : stats.tasks - ROOTS);
        bl_close(c);
    }
}

/* So few records and so small a stack that the recursion ends after a few levels, again and again. */
static void test_short_of_records(void) {
    bl_stats stats;
    for (uint32_t i = 0; i < 24; i++) {
        check_at("capacity 2, %u workers, %u private entries", 1 + i % 4, i / 4);
        bl_context *c = open_with((bl_config){.workers = 1 + i % 4, .capacity = 2, .private_entries = i / 4});
        CHECK_SAME(run_words(c, ROOTS, &stats), BL_OK);
        bl_close(c);
    }
}

/* ---- stopped and resumed ---- */

static void test_resume(void) {
    static char folder[] = "/tmp/ballast_recursion_XXXXXX", file[64];
    bl_stats stats;
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    snprintf(file, sizeof file, "%s/checkpoint", folder);
    for (uint32_t i = 0; i < 12 / CHECK_SLOWER; i++) {
        int status = BL_ECANCEL;
        uint64_t tasks = 0;
        for (uint32_t part = 0; part < 4 && status == BL_ECANCEL; part++) {
            check_at("checkpoint after %u tasks, part %u", 40 + 61 * i, part);
            bl_context *c =
                open_with((bl_config){.workers = 1 + (i + part) % 2, .checkpoint = file, .resume = part ? file : NULL});
            to_cancel = c;
            tasks_run = 0;
            cancel_after = part < 3 ? 40 + 61 * i : 0;
            status = run_words(c, ROOTS, &stats);
            CHECK_SAME(status, part < 3 ? BL_ECANCEL : BL_OK);
            CHECK(stats.tasks > tasks);
            tasks = stats.tasks;
            bl_close(c);
        }
    }
    cancel_after = 0;
    remove(file);
    remove(folder);
}

/* ---- chains: a fork of one child, as deep as wanted ---- */

static BL_TASK void chain_run(bl_task *t, const uint32_t *left, uint32_t index, const bl_nothing *shared,
                              bl_nothing *local) {
    (void)index, (void)shared, (void)local;
    uint32_t below = *left - 1;
    uint64_t end = 1;
    if (*left == 0)
        bl_return(t, &end);
    else
        bl_fork(t, left, &below, 1);
}

static BL_TASK void chain_join(bl_task *t, const uint32_t *left, const uint64_t *below, uint32_t count,
                               const bl_nothing *shared, bl_nothing *local) {
    (void)left, (void)shared, (void)local;
    uint64_t sum = *below + count;
    bl_return(t, &sum);
}

#define BL_PROGRAM chain
#define BL_PAYLOAD uint32_t
#define BL_RUN chain_run
#define BL_RESULT uint64_t
#define BL_JOIN chain_join
#include <ballast/program.h>

#define BL_PROGRAM chain_sum
#define BL_PAYLOAD uint32_t
#define BL_RUN chain_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#include <ballast/program.h>

static void test_deep(void) {
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t depth = 1000000;
        uint64_t result = 0;
        bl_stats stats;
        check_at("a chain of %u forks, %u workers%s", depth, 1 + i % 2, i / 2 ? ", a sum" : "");
        bl_context *c = open_with((bl_config){.workers = 1 + i % 2});
        CHECK_SAME(bl_run_join(c, i / 2 ? chain_sum_cpu() : chain_cpu(), NULL, &depth, 1, &result, &stats), BL_OK);
        CHECK_SAME(result, i / 2 ? 1 : depth + 1);
        CHECK_SAME(stats.tasks, depth + 1);
        bl_close(c);
    }
}

static void *cancel_soon(void *arg) {
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    bl_cancel(arg);
    return NULL;
}

/* A recursion that does not end. */
static void test_endless(void) {
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t depth = UINT32_MAX;
        uint64_t result = 0;
        pthread_t canceller;
        check_at("endless, %u workers, %s", 1 + i % 2, i / 2 ? "cancelled" : "time limit");
        bl_context *c = open_with((bl_config){.workers = 1 + i % 2, .time_limit = i / 2 ? 0 : 0.05});
        if (i / 2)
            CHECK(pthread_create(&canceller, NULL, cancel_soon, c) == 0);
        CHECK_SAME(bl_run_join(c, chain_cpu(), NULL, &depth, 1, &result, NULL), i / 2 ? BL_ECANCEL : BL_ETIME);
        if (i / 2)
            pthread_join(canceller, NULL);
        bl_close(c);
    }
}

/* ---- wide forks, and results that need alignment ---- */

typedef struct BL_MAY_ALIAS aligned_sum {
    __attribute__((aligned(32))) uint64_t nodes;
    uint32_t misplaced, unused;
} aligned_sum;

static BL_TASK uint32_t wide_count(uint32_t depth, uint32_t index) {
    return depth == 0 ? 0 : (depth + index) % 4 == 0 ? 37 : 3;
}

static BL_TASK void wide_run(bl_task *t, const uint32_t *depth, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    uint32_t below = *depth - 1, count = wide_count(*depth, index);
    aligned_sum leaf = {1, 0, 0};
    if (count)
        bl_fork(t, depth, &below, count);
    else
        bl_return(t, &leaf);
}

static BL_TASK void wide_join(bl_task *t, const uint32_t *depth, const aligned_sum *results, uint32_t count,
                              const bl_nothing *shared, bl_nothing *local) {
    (void)depth, (void)shared, (void)local;
    aligned_sum sum = {1, (uintptr_t)results % 32 != 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        sum.nodes += results[i].nodes;
        sum.misplaced += results[i].misplaced;
    }
    bl_return(t, &sum);
}

#define BL_PROGRAM wide
#define BL_PAYLOAD uint32_t
#define BL_RUN wide_run
#define BL_RESULT aligned_sum
#define BL_JOIN wide_join
#define BL_JOIN_WIDTH 4
#include <ballast/program.h>

static uint64_t wide_expect(uint32_t depth, uint32_t index) {
    uint64_t nodes = 1;
    for (uint32_t i = 0; i < wide_count(depth, index); i++)
        nodes += wide_expect(depth - 1, i);
    return nodes;
}

static void test_wide(void) {
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t depth = 5;
        aligned_sum result;
        bl_stats stats;
        memset(&result, 0, sizeof result);
        check_at("wide, %u workers, capacity %u", 1 + i % 3, i / 3 ? 2 : 0);
        bl_context *c = open_with((bl_config){.workers = 1 + i % 3, .capacity = i / 3 ? 2 : 0});
        CHECK_SAME(bl_run_join(c, wide_cpu(), NULL, &depth, 1, &result, &stats), BL_OK);
        CHECK_SAME(result.nodes, wide_expect(depth, 0));
        CHECK_SAME(stats.tasks, result.nodes);
        CHECK_SAME(result.misplaced, 0);
        bl_close(c);
    }
}

/* ---- mistakes, in the middle of a recursion ---- */

typedef enum mistake { NONE, ENDS_NOT, RETURNS_TWICE, FORKS_AND_RETURNS, FORKS_NONE, FAILS, MISTAKES } mistake;

typedef struct wrong_node {
    uint32_t depth, number, what;
} wrong_node;

static BL_TASK void wrong_run(bl_task *t, const wrong_node *parent, uint32_t index, const bl_nothing *shared,
                              bl_nothing *local) {
    (void)shared, (void)local;
    wrong_node node = {parent->depth - 1, 2 * parent->number + index, parent->what};
    uint64_t one = 1;
    bool wrong = node.depth == 3 && node.number % 8 == 5;
    if (wrong && node.what == FAILS)
        bl_fail(t, node.number, parent);
    if (wrong && (node.what == ENDS_NOT || node.what == FAILS))
        return;
    if (node.depth && !(wrong && (node.what == FORKS_NONE || node.what == RETURNS_TWICE)))
        bl_fork(t, &node, &node, 2);
    if (wrong && node.what == FORKS_NONE)
        bl_fork(t, &node, &node, 0);
    if (!node.depth || (wrong && (node.what == RETURNS_TWICE || node.what == FORKS_AND_RETURNS)))
        bl_return(t, &one);
    if (wrong && node.what == RETURNS_TWICE)
        bl_return(t, &one);
}

static BL_TASK void wrong_join(bl_task *t, const wrong_node *node, const uint64_t *results, uint32_t count,
                               const bl_nothing *shared, bl_nothing *local) {
    (void)node, (void)count, (void)shared, (void)local;
    uint64_t sum = results[0] + results[1];
    bl_return(t, &sum);
}

#define BL_PROGRAM wrong
#define BL_PAYLOAD wrong_node
#define BL_RUN wrong_run
#define BL_RESULT uint64_t
#define BL_JOIN wrong_join
#define BL_JOIN_WIDTH 2
#include <ballast/program.h>

#define BL_PROGRAM wrong_sum
#define BL_PAYLOAD wrong_node
#define BL_RUN wrong_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#include <ballast/program.h>

static void test_mistakes(void) {
    for (uint32_t i = 0; i < 4 * MISTAKES; i++) {
        wrong_node root = {12, 0, i / 4};
        uint64_t result = 0;
        int expected = root.what == NONE ? BL_OK : root.what == FAILS ? BL_ETASK : BL_EMISUSE;
        check_at("mistake %u, %u workers%s", root.what, 1 + i % 2, i / 2 % 2 ? ", a sum" : "");
        bl_context *c = open_with((bl_config){.workers = 1 + i % 2});
        CHECK_SAME(bl_run_join(c, i / 2 % 2 ? wrong_sum_cpu() : wrong_cpu(), NULL, &root, 1, &result, NULL), expected);
        if (expected == BL_OK)
            CHECK_SAME(result, 1u << 11);
        bl_close(c);
    }
}

/* ---- tasks that spawn beside their forks ---- */

typedef struct beside_shared {
    uint64_t *spawned;
} beside_shared;

/* Leaves spawn a task each, with a negative depth. */
static BL_TASK void beside_run(bl_task *t, const int32_t *depth, uint32_t index, const beside_shared *shared,
                               bl_nothing *local) {
    (void)index, (void)local;
    int32_t below = *depth - 1, beside = -1;
    uint64_t one = 1;
    if (*depth == 0)
        bl_spawn(t, &beside);
    else if (*depth < 0)
        bl_fetch_add64_relaxed(shared->spawned, 1);
    if (*depth > 0)
        bl_fork(t, depth, &below, 2);
    else
        bl_return(t, &one);
}

#define BL_PROGRAM beside
#define BL_PAYLOAD int32_t
#define BL_SHARED beside_shared
#define BL_RUN beside_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_MAX_SPAWN 2
#include <ballast/program.h>

/* They run soon: there are never many of them. */
static void test_beside(void) {
    for (uint32_t workers = 1; workers <= 3; workers++) {
        int32_t depth = 14;
        uint64_t spawned = 0, result = 0;
        beside_shared shared = {&spawned};
        bl_stats stats;
        check_at("spawns beside forks, %u workers", workers);
        bl_context *c = open_with((bl_config){.workers = workers});
        CHECK_SAME(bl_run_join(c, beside_cpu(), &shared, &depth, 1, &result, &stats), BL_OK);
        CHECK_SAME(result, 1u << depth);
        CHECK_SAME(spawned, result);
        CHECK_SAME(stats.tasks, 3 * result - 1);
        CHECK(stats.peak_entries < 1000 * workers);
        bl_close(c);
    }
}

/* ---- entries of many tasks, of which some are published while the first is run by recursion ---- */

typedef struct shelf_node {
    uint32_t depth, tag;
} shelf_node;

static BL_TASK void shelf_run(bl_task *t, const shelf_node *parent, uint32_t index, const bl_nothing *shared,
                              bl_nothing *local) {
    (void)shared, (void)local;
    shelf_node node = {parent->depth - 1, parent->tag * 31 + index};
    uint64_t value = node.tag;
    if (node.depth)
        bl_fork(t, &node, &node, node.depth % 2 ? 40 : 2);
    else
        bl_return(t, &value);
}

#define BL_PROGRAM shelf
#define BL_PAYLOAD shelf_node
#define BL_RUN shelf_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#include <ballast/program.h>

static uint64_t shelf_expect(shelf_node parent, uint32_t index) {
    shelf_node node = {parent.depth - 1, parent.tag * 31 + index};
    uint64_t sum = node.depth ? 0 : node.tag;
    for (uint32_t i = 0; node.depth && i < (node.depth % 2 ? 40 : 2); i++)
        sum += shelf_expect(node, i);
    return sum;
}

static void test_shared(void) {
    shelf_node root = {5, 1};
    uint64_t expected = shelf_expect(root, 0);
    for (uint32_t i = 0; i < 300 / CHECK_SLOWER; i++) {
        uint64_t result = 0;
        check_at("shared, round %u", i);
        bl_context *c = open_with((bl_config){.workers = 2 + i % 3, .seed = i});
        CHECK_SAME(bl_run_join(c, shelf_cpu(), NULL, &root, 1, &result, NULL), BL_OK);
        CHECK_SAME(result, expected);
        bl_close(c);
    }
}

/* ---- long tasks behind short ones ---- */

typedef struct comb_node {
    uint32_t kind, depth; /* 0: a binary tree of short tasks; 1: a spine with a long leaf at each vertebra; 2: a leaf */
} comb_node;

enum { TEETH = 12, TOOTH_MS = 30, COMB_WORKERS = 4 };

static BL_TASK void comb_run(bl_task *t, const comb_node *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    comb_node node = {index ? 2 : parent->kind, parent->depth - 1};
    uint64_t one = 1;
    if (parent->kind == 0)
        node.kind = 0;
    if (node.kind == 2)
        nanosleep(&(struct timespec){0, TOOTH_MS * 1000000l}, NULL);
    if (node.kind == 2 || (node.kind == 1 && node.depth == 1))
        bl_return(t, &one);
    else if (node.depth)
        bl_fork(t, &node, &node, 2);
    else
        bl_return(t, &one);
}

/* The join of the short ones forks the comb, so that these have been seen when it begins. */
static BL_TASK void comb_join(bl_task *t, const comb_node *node, const uint64_t *results, uint32_t count,
                              const bl_nothing *shared, bl_nothing *local) {
    (void)shared, (void)local;
    comb_node comb = {1, TEETH + 2};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += results[i];
    if (node->kind == 0 && bl_is_root(t))
        bl_fork(t, &comb, &comb, 1);
    else
        bl_return(t, &sum);
}

#define BL_PROGRAM comb
#define BL_PAYLOAD comb_node
#define BL_RUN comb_run
#define BL_RESULT uint64_t
#define BL_JOIN comb_join
#include <ballast/program.h>

/* Frames hide the teeth of the comb, but not for longer than one of them takes. */
static void test_greedy(void) {
    comb_node root = {0, 12};
    uint64_t result = 0;
    bl_stats stats;
    check_at("long tasks behind short ones");
    bl_context *c = open_with((bl_config){.workers = COMB_WORKERS});
    CHECK_SAME(bl_run_join(c, comb_cpu(), NULL, &root, 1, &result, &stats), BL_OK);
    CHECK_SAME(result, TEETH + 1);
    CHECK(1e3 * stats.seconds < 1.1 * TOOTH_MS * (TEETH / COMB_WORKERS + 2) + 40);
    bl_close(c);
}

/* ---- with a stack of 256 kB: all of this again, in another process ---- */

static void test_small_stack(const char *self) {
    check_at("a stack of 256 kB");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {256 * 1024, 256 * 1024};
        if (setrlimit(RLIMIT_STACK, &limit) == 0)
            execl(self, self, "--small", (char *)NULL);
        _exit(2);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv) {
    check_limit(300);
    test_recurses();
    test_short_of_records();
    test_resume();
    test_deep();
    test_endless();
    test_wide();
    test_mistakes();
    test_beside();
    test_shared();
    test_greedy();
    if (argc == 1)
        test_small_stack(argv[0]);
    return check_end();
}
