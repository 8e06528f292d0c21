// COMPILE: -O1
/* Reductions have the same bits with any number of workers, every scheduler and every seed: loops, trees of forks in
 * which every task adds something, and exact sums of tasks that spawn. Numbers of very different sizes make a sum
 * depend on its order. test_reduce_sim.c and test_reduce_cuda.cu run the same tests on the simulated machine and on a
 * GPU. */
#include <ballast/exact.h>
#include <ballast/task.h>

/* Between 2^-20 and 2^43, made from bits, so that no compiler rounds it in another way. */
BL_HOST_FN double reduce_value(uint64_t number) {
    uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15u;
    double value;
    bits ^= bits >> 31;
    bits = (bits & 0x800fffffffffffffu) | (1003 + bits % 64) << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static BL_TASK void reduce_add(double *into, const double *next) { *into += *next; }

/* ---- a loop, whose body can be asked to break a rule or to report an error ---- */

typedef struct loop_payload {
    uint32_t from, spawns_at, fails_at;
} loop_payload;

static BL_TASK void loop_run(bl_task *t, const loop_payload *p, uint32_t begin, uint32_t end, const bl_nothing *shared,
                             bl_nothing *local) {
    double sum = 0;
    (void)shared, (void)local;
    if (t->lane != 0)
        return;
    for (uint32_t i = begin; i < end; i++)
        sum += reduce_value(p->from + i);
    if (begin <= p->fails_at && p->fails_at < end)
        bl_fail(t, p->fails_at, p);
    if (begin <= p->spawns_at && p->spawns_at < end)
        bl_spawn(t, p);
    bl_return(t, &sum);
}
#define BL_PROGRAM loop
#define BL_PAYLOAD loop_payload
#define BL_RESULT double
#define BL_RANGE_RUN loop_run
#define BL_REDUCE reduce_add
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* ---- a tree whose shape comes from a hash ---- */

typedef struct tree_node {
    uint64_t number;
    double own;
    uint32_t depth, unused;
} tree_node;

BL_HOST_FN tree_node tree_child(const tree_node *parent, uint32_t index) {
    tree_node child = {(parent->number ^ (index + 1)) * 0x9e3779b97f4a7c15u, 0, parent->depth - 1, 0};
    child.number ^= child.number >> 29;
    child.own = reduce_value(child.number);
    return child;
}
BL_HOST_FN uint32_t tree_children(const tree_node *n) {
    return n->depth == 0 ? 0 : (uint32_t)(n->number >> 20) % (n->depth > 3 ? 4 : 6);
}

static BL_TASK void tree_run(bl_task *t, const tree_node *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    tree_node mine = tree_child(parent, index);
    uint32_t count = tree_children(&mine);
    (void)shared, (void)local;
    if (t->lane != 0)
        return;
    if (count)
        bl_fork(t, &mine, &mine, count);
    else
        bl_return(t, &mine.own);
}
#define BL_PROGRAM tree
#define BL_PAYLOAD tree_node
#define BL_RESULT double
#define BL_RUN tree_run
#define BL_REDUCE reduce_add
#define BL_OWN own
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* ---- the same tree, spawned, with an exact sum ---- */

typedef struct spawned_shared {
    bl_exact *sum;
} spawned_shared;
typedef struct spawned_local {
    bl_exact sum;
} spawned_local;

static BL_TASK void spawned_run(bl_task *t, const tree_node *mine, uint32_t index, const spawned_shared *shared,
                                spawned_local *local) {
    (void)shared, (void)index;
    if (t->lane != 0)
        return;
    bl_exact_add(&local->sum, mine->own);
    for (uint32_t i = 0; i < tree_children(mine); i++) {
        tree_node child = tree_child(mine, i);
        bl_spawn(t, &child);
    }
}
static BL_TASK void spawned_merge(const spawned_shared *shared, const spawned_local *local) {
    bl_exact_merge(shared->sum, &local->sum);
}
#define BL_PROGRAM spawned
#define BL_PAYLOAD tree_node
#define BL_SHARED spawned_shared
#define BL_LOCAL spawned_local
#define BL_RUN spawned_run
#define BL_MERGE spawned_merge
#define BL_MAX_SPAWN 5
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* ---- totals, merged by all lanes at once or by some of them ---- */

typedef struct totals {
    uint64_t sum, most, odd, even, by_rest[3];
    uint32_t count, last;
} totals;
typedef struct totals_shared {
    totals *all;
} totals_shared;

static BL_TASK void totals_run(bl_task *t, const bl_nothing *nothing, uint32_t index, const totals_shared *shared,
                               totals *local) {
    const uint64_t value = (uint64_t)index << 20;
    (void)nothing, (void)shared;
    if (t->lane != 0)
        return;
    local->sum += value;
    local->most = local->most > value ? local->most : value;
    local->odd += index % 3;
    local->count++;
    local->last = local->last > index ? local->last : index;
}
static BL_TASK void totals_merge(const totals_shared *shared, const totals *local) {
    bl_merge_add64(&shared->all->sum, local->sum);
    bl_merge_max64(&shared->all->most, local->most);
    bl_merge_add32(&shared->all->count, local->count);
    bl_merge_max32(&shared->all->last, local->last);
    if (local->odd % 2) /* the lanes part, ... */
        bl_merge_add64(&shared->all->odd, local->odd);
    else
        bl_merge_add64(&shared->all->even, local->odd);
    bl_merge_add64(&shared->all->by_rest[local->last % 3], local->odd); /* ... and mean different words */
}
#define BL_PROGRAM totals
#define BL_PAYLOAD bl_nothing
#define BL_SHARED totals_shared
#define BL_LOCAL totals
#define BL_RUN totals_run
#define BL_MERGE totals_merge
#define BL_MAX_SPAWN 0
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* ---- what they must give ---- */

#include "check.h"
#include "config.h"
#include <stdlib.h>

#if defined(BL_TARGET_CUDA)
#define PROGRAM(name) name##_cuda()
static const char device[] = "cuda";
enum { COUNT = 3000000, DEPTH = 12, SEEDS = 5 };
#elif defined(BL_TARGET_SIM)
#define PROGRAM(name) name##_sim()
static const char device[] = "sim";
enum { COUNT = 400, DEPTH = 5, SEEDS = 3 };
#else
#define PROGRAM(name) name##_cpu()
static const char device[] = "cpu";
enum { COUNT = 30000, DEPTH = 9, SEEDS = 2 };
#endif
enum { FROM = 7 };

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* As ballast.h and parts/blocks.h describe it. */
static double loop_expect(uint64_t begin, uint64_t end, uint64_t grain) {
    uint64_t step = grain;
    double sum = 0;
    if (end - begin <= grain) {
        for (uint64_t i = begin; i < end; i++)
            sum += reduce_value(FROM + i);
        return sum;
    }
    while (step * 8 < end - begin)
        step *= 8;
    sum = loop_expect(begin, begin + step, grain);
    for (uint64_t at = begin + step; at < end; at += step)
        sum += loop_expect(at, at + step < end ? at + step : end, grain);
    return sum;
}

static double tree_expect(const tree_node *parent, uint32_t index, uint64_t *tasks, bl_exact *exact) {
    tree_node mine = tree_child(parent, index);
    double sum = mine.own;
    ++*tasks;
    bl_exact_add(exact, mine.own);
    for (uint32_t i = 0; i < tree_children(&mine); i++)
        sum += tree_expect(&mine, i, tasks, exact);
    return sum;
}

static uint32_t default_grain(uint32_t count) {
    return count / 4096 < 1 ? 1 : count / 4096 > 1024 ? 1024 : count / 4096;
}

static const tree_node root = {3, 0, DEPTH, 0};
static double right_loop, right_tree, right_spawned;
static uint64_t right_tasks;

static bl_context *open_with(bl_config config) { return config_open(device, config); }

static double run_loop(bl_context *c, uint64_t count) {
    const loop_payload payload = {FROM, UINT32_MAX, UINT32_MAX};
    double sum = -1;
    if (!CHECK_SAME(bl_run_reduce(c, PROGRAM(loop), NULL, &payload, count, &sum, NULL), BL_OK))
        printf("    %s\n", bl_error_detail(c));
    return sum;
}

static double run_spawned(bl_context *c) {
    const tree_node first = tree_child(&root, 0);
    spawned_shared shared;
    bl_exact sum;
    void *memory = NULL;
    CHECK(bl_alloc(c, &memory, sizeof sum) == BL_OK && bl_zero(c, memory, sizeof sum) == BL_OK);
    shared.sum = (bl_exact *)memory;
    CHECK_SAME(bl_run(c, PROGRAM(spawned), &shared, &first, 1, NULL), BL_OK);
    CHECK_SAME(bl_copy_out(c, &sum, memory, sizeof sum), BL_OK);
    bl_free(c, memory);
    return bl_exact_value(&sum);
}

/* ---- exact sums alone ---- */

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Of up to four doubles, given as bits. */
static uint64_t exact_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    bl_exact sum;
    memset(&sum, 0, sizeof sum);
    bl_exact_add(&sum, from_bits(a));
    bl_exact_add(&sum, from_bits(b));
    bl_exact_add(&sum, from_bits(c));
    bl_exact_add(&sum, from_bits(d));
    return bits_of(bl_exact_value(&sum));
}

__extension__ typedef __int128 wide;

/* Whole numbers below 2^113, whose sum the compiler rounds. */
static void test_against_whole_numbers(void) {
    uint64_t random = 1;
    for (uint32_t round = 0; round < 2000; round++) {
        bl_exact sum;
        wide all = 0;
        memset(&sum, 0, sizeof sum);
        for (uint32_t i = 0; i < 1 + round % 20; i++) {
            random = (random ^ random >> 29) * 0x9e3779b97f4a7c15u + i;
            wide part = (wide)(random >> 11) << random % (1 + round % 60);
            part = random & 1024 ? -part : part;
            all += part;
            bl_exact_add(&sum, (double)part);
        }
        CHECK_SAME(bits_of(bl_exact_value(&sum)), bits_of((double)all));
    }
}

#if BL_WARP == 1 && !defined(BL_TARGET_SIM)
/* As many additions as carries have room for, by eight workers. */
static void test_merges(void) {
    bl_exact one, all;
    memset(&one, 0, sizeof one);
    memset(&all, 0, sizeof all);
    one.digits[0] = 1ull << 62;
    for (uint32_t i = 0; i < 8; i++)
        bl_exact_merge(&all, &one);
    CHECK_SAME(bits_of(bl_exact_value(&all)), (65ull - 51) << 52); /* 2^65 of the least bits */
}
#else
static void test_merges(void) {}
#endif

static void test_exact(void) {
    const uint64_t minus = 1ull << 63, one = 1023ull << 52, half_ulp = (1023ull - 53) << 52, infinity = 2047ull << 52;
    const uint64_t largest = infinity - 1, normal = 1ull << 52;
    check_at("exact sums");
    CHECK_SAME(exact_of(0, 0, 0, 0), 0);
    CHECK_SAME(exact_of(minus, minus, minus, minus), 0);
    CHECK_SAME(exact_of(one, minus | one, 0, 0), 0);
    CHECK_SAME(exact_of(largest, one, minus | largest, 0), one);
    CHECK_SAME(exact_of(one, half_ulp, 0, 0), one); /* a tie, to even */
    CHECK_SAME(exact_of(one, half_ulp, 1, 0), one + 1);
    CHECK_SAME(exact_of(one + 1, half_ulp, 0, 0), one + 2);
    CHECK_SAME(exact_of(one + 1, half_ulp, minus | 1, 0), one + 1);
    CHECK_SAME(exact_of(minus | one, minus | half_ulp, minus | 1, 0), minus | (one + 1));
    CHECK_SAME(exact_of(1, 1, 1, 0), 3); /* subnormal */
    CHECK_SAME(exact_of(normal - 1, 1, 0, 0), normal);
    CHECK_SAME(exact_of(normal, minus | 1, 0, 0), normal - 1);
    CHECK_SAME(exact_of(largest, largest, 0, 0), infinity);
    CHECK_SAME(exact_of(largest, largest, minus | largest, 0), largest);
    CHECK_SAME(exact_of(minus | largest, minus | largest, one, 0), minus | infinity);
    CHECK_SAME(exact_of(infinity, one, 0, 0), infinity);
    CHECK_SAME(exact_of(minus | infinity, one, largest, 0), minus | infinity);
    CHECK(exact_of(infinity, minus | infinity, 0, 0) > infinity);
    CHECK(exact_of(infinity + 1, one, 0, 0) > infinity);
    test_against_whole_numbers();
    test_merges();
    /* Carries, which would come after 2^29 additions: now, and after each of the next. */
    bl_exact sum;
    memset(&sum, 0, sizeof sum);
    for (uint32_t i = 0; i < 100; i++) {
        sum.adds = BL__EXACT_ADDS - 1;
        bl_exact_add(&sum, i % 3 ? -1e300 : 1e-300);
        CHECK_SAME(sum.adds, 0);
    }
    for (uint32_t i = 0; i < 66; i++)
        bl_exact_add(&sum, 1e300);
    CHECK(bl_exact_value(&sum) > 33.9e-300 && bl_exact_value(&sum) < 34.1e-300);
}

#ifdef BL_TARGET_CUDA /* programs have the default scheduler alone */
static const char *scheduler_here(uint32_t i) { return i == 0 ? "auto" : NULL; }
#else
static const char *scheduler_here(uint32_t i) { return scheduler_at(i); }
#endif

static void test_same_bits(void) {
    static const uint32_t workers[] = {1, 2, 3, 8};
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_here(i)); i++)
        for (uint32_t seed = 0; seed < SEEDS * 4; seed++) {
            bl_config config;
            bl_stats stats;
            double sum = 0;
            memset(&config, 0, sizeof config);
            config.scheduler = scheduler;
            config.workers = workers[seed % 4];
            config.seed = seed + 1;
            check_at("%s, %u workers, seed %u", scheduler, config.workers, seed + 1);
            bl_context *c = open_with(config);
            CHECK_SAME(bits_of(run_loop(c, COUNT)), bits_of(right_loop));
            CHECK_SAME(bl_run_join(c, PROGRAM(tree), NULL, &root, 1, &sum, &stats), BL_OK);
            CHECK_SAME(bits_of(sum), bits_of(right_tree));
            CHECK_SAME(stats.tasks, right_tasks);
            CHECK_SAME(bits_of(run_spawned(c)), bits_of(right_spawned));
            bl_close(c);
        }
}

static void test_totals(void) {
    static const uint32_t counts[] = {1, 33, 100, COUNT};
    bl_config config;
    memset(&config, 0, sizeof config);
    bl_context *c = open_with(config);
    void *memory = NULL;
    CHECK_SAME(bl_alloc(c, &memory, sizeof(totals)), BL_OK);
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint64_t n = counts[i];
        totals_shared shared = {(totals *)memory};
        totals all;
        uint64_t some = 0;
        bl_stats stats;
        for (uint32_t k = 0; k < n; k++)
            some += k % 3;
        check_at("totals of %u", counts[i]);
        CHECK_SAME(bl_zero(c, memory, sizeof all), BL_OK);
        CHECK_SAME(bl_run_range(c, PROGRAM(totals), &shared, NULL, n, &stats), BL_OK);
        CHECK_SAME(bl_copy_out(c, &all, memory, sizeof all), BL_OK);
        CHECK_SAME(all.sum, (n * (n - 1) / 2) << 20);
        CHECK_SAME(all.most, (n - 1) << 20);
        CHECK_SAME(all.odd + all.even, some);
        CHECK_SAME(all.by_rest[0] + all.by_rest[1] + all.by_rest[2], some);
        CHECK(n > 1 || all.by_rest[1] + all.by_rest[2] == 0);
        CHECK_SAME(all.count, n);
        CHECK_SAME(all.last, n - 1);
    }
    bl_free(c, memory);
    bl_close(c);
}

/* A sum in any other order has other bits, or the tests above would pass with any. */
static void test_order_matters(void) {
    double backwards = 0;
    check_at("the order");
    for (uint32_t i = COUNT; i-- > 0;)
        backwards += reduce_value(FROM + i);
    CHECK(bits_of(backwards) != bits_of(right_loop));
    CHECK(bits_of(loop_expect(0, COUNT, 3)) != bits_of(right_loop));
}

/* Every length around the borders of blocks and forks, and grains that are asked for. */
static void test_lengths(void) {
    static const uint32_t grains[] = {0, 1, 2, 7, 100000};
    for (uint32_t i = 0; i < 5; i++) {
        bl_config config;
        memset(&config, 0, sizeof config);
        config.workers = 2;
        config.grain = grains[i];
        bl_context *c = open_with(config);
        for (uint32_t count = 0; count < 140; count += count < 70 ? 1 : 17) {
            check_at("%u indices, grain %u", count, grains[i]);
            double expected = count ? loop_expect(0, count, grains[i] ? grains[i] : default_grain(count)) : -1;
            CHECK_SAME(bits_of(run_loop(c, count)), bits_of(expected));
        }
        bl_close(c);
    }
}

static void test_started(void) {
    bl_config config;
    memset(&config, 0, sizeof config);
    bl_context *c = open_with(config);
    loop_payload payload = {FROM, UINT32_MAX, UINT32_MAX};
    double sum = 0;
    check_at("started");
    CHECK_SAME(bl_start_reduce(c, PROGRAM(loop), NULL, &payload, COUNT, &sum), BL_OK);
    payload.from = 0; /* it was copied */
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    CHECK_SAME(bits_of(sum), bits_of(right_loop));
    bl_close(c);
}

#if BL_WARP == 1 && !defined(BL_TARGET_SIM)
/* Stopped after a moment and resumed with another number of workers, until it is done. */
static void test_resumed(void) {
    enum { LONG = 4000000 / CHECK_SLOWER };
    const loop_payload payload = {FROM, UINT32_MAX, UINT32_MAX};
    char path[] = "/tmp/ballast_reduce_XXXXXX";
    int file = mkstemp(path), status = BL_ETIME;
    uint32_t stops = 0;
    double sum = 0;
    CHECK(file >= 0 && close(file) == 0);
    for (; status == BL_ETIME && stops < 1000; stops++) {
        bl_config config;
        memset(&config, 0, sizeof config);
        config.workers = 1 + stops % 3;
        config.time_limit = stops == 0 ? 1e-9 : stops < 4 ? 0.001 : 60; /* the first has no time at all */
        config.checkpoint = path;
        config.resume = stops ? path : NULL;
        check_at("stopped %u times", stops);
        bl_context *c = open_with(config);
        status = bl_run_reduce(c, PROGRAM(loop), NULL, &payload, LONG, &sum, NULL);
        bl_close(c);
    }
    CHECK_SAME(status, BL_OK);
    CHECK(stops > 1);
    CHECK_SAME(bits_of(sum), bits_of(loop_expect(0, LONG, default_grain(LONG))));
    remove(path);
}
#else
static void test_resumed(void) {}
#endif

static void test_refusals(void) {
    bl_config config;
    memset(&config, 0, sizeof config);
    bl_context *c = open_with(config);
    loop_payload payload = {FROM, UINT32_MAX, 33};
    uint64_t error = 0;
    double sum = 0;
    check_at("a body that fails");
    CHECK_SAME(bl_run_reduce(c, PROGRAM(loop), NULL, &payload, COUNT, &sum, NULL), BL_ETASK);
    const loop_payload *failed = (const loop_payload *)bl_failure(c, &error);
    CHECK(failed && error == 33 && failed->from == FROM && failed->fails_at == 33);
    check_at("a body that spawns");
    payload.fails_at = UINT32_MAX;
    payload.spawns_at = 1;
    CHECK_SAME(bl_run_reduce(c, PROGRAM(loop), NULL, &payload, COUNT, &sum, NULL), BL_EMISUSE);
    CHECK(strstr(bl_error_detail(c), "can only return"));
    check_at("refusals");
    CHECK_SAME(bl_run_reduce(c, PROGRAM(loop), NULL, &payload, COUNT, NULL, NULL), BL_EINVAL);
    CHECK_SAME(bl_run_reduce(c, PROGRAM(loop), NULL, NULL, COUNT, &sum, NULL), BL_EINVAL);
    CHECK_SAME(bl_run_reduce(c, PROGRAM(loop), NULL, &payload, 1ull << 32, &sum, NULL), BL_EINVAL);
    CHECK_SAME(bl_run_reduce(c, PROGRAM(tree), NULL, &root, COUNT, &sum, NULL), BL_EINVAL);
    CHECK_SAME(bl_run_range(c, PROGRAM(loop), NULL, &payload, COUNT, NULL), BL_EINVAL);
    CHECK_SAME(bl_run_join(c, PROGRAM(loop), NULL, &payload, 1, &sum, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "bl_run_reduce"));
    bl_close(c);
}

int main(void) {
    check_limit(240);
    right_loop = loop_expect(0, COUNT, default_grain(COUNT));
    bl_exact exact;
    memset(&exact, 0, sizeof exact);
    right_tree = tree_expect(&root, 0, &right_tasks, &exact);
    right_spawned = bl_exact_value(&exact);
    test_exact();
    test_totals();
    test_same_bits();
    test_order_matters();
    test_lengths();
    test_started();
    test_resumed();
    test_refusals();
    return check_end();
}
