// COMPILE: -O1
/* Waves: no task of a wave starts before all tasks of the last one have ended, and it sees what they wrote; on a GPU
 * and on the simulated machine, waves follow each other in one launch, and a run can still be stopped between two of
 * them. test_waves_sim.c and test_waves_cuda.cu run the same tests there. */
#include <ballast/task.h>

enum { LEVELS = 24 };

typedef struct wave_shared {
    uint32_t *ended;                   /* per level: tasks that have run */
    uint32_t *mark;                    /* per level: plain data, the last task's number + 1; see wave_check */
    uint64_t *spawned, *begun, *early; /* begun: times that a lane of a worker began */
    uint32_t expected[LEVELS];
    uint32_t levels, spread;
    uint32_t endless, fails_at; /* a level */
} wave_shared;

typedef struct wave_task {
    uint64_t hash;
    uint32_t level, unused;
} wave_task;

/* The tree becomes wide, and thin again. */
BL_HOST_FN uint32_t wave_children(uint64_t hash, uint32_t level, uint32_t levels, uint32_t spread) {
    if (level + 1 >= levels)
        return 0;
    return level < levels / 3 ? 1 + (uint32_t)(hash >> 40) % spread : (hash >> 40) % 8 != 0;
}
BL_HOST_FN uint64_t wave_hash(uint64_t hash, uint32_t index) {
    hash = (hash ^ (index + 1)) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static BL_TASK void wave_begin(const wave_shared *s, bl_nothing *local, uint32_t worker) {
    (void)local, (void)worker;
    bl_fetch_add64_relaxed(s->begun, 1);
}

/* What the last wave left, in a counter and in plain words. */
static BL_TASK void wave_check(const wave_shared *s, uint32_t level) {
    if (level && (s->mark[level - 1] == 0 || bl_load32_relaxed(&s->ended[level - 1]) != s->expected[level - 1]))
        bl_fetch_add64_relaxed(s->early, 1);
}

static BL_TASK void wave_run(bl_task *t, const wave_task *task, uint32_t index, const wave_shared *s,
                             bl_nothing *local) {
    (void)local;
    wave_task child = {0, task->level + 1, 0};
    if (t->lane != 0)
        return;
    const uint64_t hash = wave_hash(task->hash, index);
    if (s->endless) {
        child.level = 0;
        child.hash = hash;
        bl_fetch_add64_relaxed(s->spawned, 1);
        bl_spawn(t, &child);
        return;
    }
    wave_check(s, task->level);
    if (task->level == s->fails_at)
        bl_fail(t, 7, task);
    const uint32_t count = wave_children(hash, task->level, s->levels, s->spread);
    child.hash = hash;
    if (count) {
        bl_fetch_add64_relaxed(s->spawned, count);
        bl_spawn_n(t, &child, count);
    }
    if (bl_fetch_add32_relaxed(&s->ended[task->level], 1) + 1 == s->expected[task->level])
        s->mark[task->level] = 1;
}

#define BL_PROGRAM wave
#define BL_PAYLOAD wave_task
#define BL_SHARED wave_shared
#define BL_RUN wave_run
#define BL_BEGIN wave_begin
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#define BL_SCHEDULERS (BL_SCHEDULER_static | BL_SCHEDULER_list)
#include <ballast/program.h>

#include "check.h"

#include <stdlib.h>

#if defined(BL_TARGET_CUDA)
#define PROGRAM wave_cuda()
static const char device[] = "cuda";
enum { STAYS = 1, LANES = 32, SPREAD = 4 };
#elif defined(BL_TARGET_SIM)
#define PROGRAM wave_sim()
static const char device[] = "sim";
enum { STAYS = 1, LANES = 8, SPREAD = 2 };
#else
#define PROGRAM wave_cpu()
static const char device[] = "cpu";
enum { STAYS = 0, LANES = 1, SPREAD = 4 };
#endif

static const char *const schedulers[] = {"static:split", "static:cyclic", "list:faa", "list:locked", "static:wave"};
enum { SCHEDULERS = sizeof schedulers / sizeof schedulers[0], ROOTS = 3 };

typedef struct fixture {
    bl_context *c;
    wave_shared shared;
    void *memory;
    wave_task roots[ROOTS];
    uint64_t tasks;
    uint32_t levels; /* that have tasks */
} fixture;

typedef struct counters {
    uint64_t spawned, begun, early;
    uint32_t ended[LEVELS], mark[LEVELS];
} counters;

static void count(fixture *f, uint64_t hash, uint32_t level) {
    const uint32_t n = wave_children(hash, level, f->shared.levels, f->shared.spread);
    f->tasks++;
    f->shared.expected[level]++;
    f->levels = level + 1 > f->levels ? level + 1 : f->levels;
    for (uint32_t i = 0; i < n; i++)
        count(f, wave_hash(hash, i), level + 1);
}

static void prepare(fixture *f, bl_config config, const char *scheduler, uint32_t spread) {
    memset(f, 0, sizeof *f);
    check_at("%s, spread %u, %u workers", scheduler, (unsigned)spread, (unsigned)config.workers);
    config.device = device;
    config.scheduler = scheduler;
    if (bl_open(&f->c, &config) == BL_ENODEVICE) {
        printf("skipped: no %s\n", device);
        exit(CHECK_SKIPPED);
    }
    f->shared.levels = LEVELS;
    f->shared.spread = spread;
    f->shared.fails_at = UINT32_MAX;
    for (uint32_t i = 0; i < ROOTS; i++) {
        f->roots[i].hash = i + 1;
        count(f, wave_hash(i + 1, 0), 0);
    }
    CHECK_SAME(bl_alloc(f->c, &f->memory, sizeof(counters)), BL_OK);
    counters *on_device = (counters *)f->memory;
    f->shared.spawned = &on_device->spawned;
    f->shared.begun = &on_device->begun;
    f->shared.early = &on_device->early;
    f->shared.ended = on_device->ended;
    f->shared.mark = on_device->mark;
}

static int run(fixture *f, bl_stats *stats, counters *seen) {
    memset(stats, 0, sizeof *stats);
    CHECK_SAME(bl_zero(f->c, f->memory, sizeof *seen), BL_OK);
    const int status = bl_run(f->c, PROGRAM, &f->shared, f->roots, ROOTS, stats);
    CHECK_SAME(bl_copy_out(f->c, seen, f->memory, sizeof *seen), BL_OK);
    return status;
}

static void check_complete(const fixture *f, const bl_stats *stats, const counters *seen) {
    CHECK_SAME(seen->early, 0);
    CHECK_SAME(stats->tasks, f->tasks);
    CHECK_SAME(seen->spawned + ROOTS, f->tasks);
    CHECK_SAME(stats->launches, f->levels);
    for (uint32_t i = 0; i < LEVELS; i++)
        CHECK_SAME(seen->ended[i], f->shared.expected[i]);
}

/* `most`: launches of a kernel that the run may take where waves stay. */
static void test_right(const char *scheduler, uint32_t workers, uint32_t spread, uint32_t most) {
    fixture f;
    bl_stats stats;
    counters seen;
    bl_config config;
    memset(&config, 0, sizeof config);
    config.workers = workers;
    config.seed = workers + spread;
    prepare(&f, config, scheduler, spread);
    for (int i = 0; i < 3; i++) {
        CHECK_SAME(run(&f, &stats, &seen), BL_OK);
        check_complete(&f, &stats, &seen);
        if (bl_scheduler_traits(scheduler) & BL_TRAIT_GROUP_PER_TASK)
            continue;
        const uint64_t launches = seen.begun / (stats.workers * (uint64_t)LANES);
        CHECK(STAYS ? launches <= most : launches == stats.launches);
    }
    bl_close(f.c);
}

/* Every wave is like the one before, for ever; then the context is of use again. */
static void test_stopped(const char *scheduler) {
    fixture f;
    bl_stats stats;
    counters seen;
    bl_config config;
    memset(&config, 0, sizeof config);
    config.time_limit = 0.05;
    prepare(&f, config, scheduler, SPREAD);
    f.shared.endless = 1;
    CHECK_SAME(run(&f, &stats, &seen), BL_ETIME);
    CHECK_SAME(stats.tasks, seen.spawned);
    CHECK_SAME(stats.left, ROOTS);
    bl_close(f.c);
    config.time_limit = 0;
    prepare(&f, config, scheduler, SPREAD);
    f.shared.endless = 1;
    CHECK_SAME(bl_start(f.c, PROGRAM, &f.shared, f.roots, ROOTS), BL_OK);
    CHECK_SAME(bl_wait_for(f.c, 0.05, NULL), BL_EBUSY);
    bl_cancel(f.c);
    CHECK_SAME(bl_wait(f.c, &stats), BL_ECANCEL);
    CHECK_SAME(stats.left, ROOTS);
    CHECK_SAME(bl_reset(f.c), BL_OK);
    f.shared.endless = 0;
    CHECK_SAME(run(&f, &stats, &seen), BL_OK);
    check_complete(&f, &stats, &seen);
    bl_close(f.c);
}

/* A task of a later wave fails: nobody waits for its worker, and nothing is forgotten. */
static void test_failed(const char *scheduler) {
    fixture f;
    bl_stats stats;
    counters seen;
    bl_config config;
    memset(&config, 0, sizeof config);
    config.seed = 5;
    prepare(&f, config, scheduler, SPREAD);
    for (uint32_t level = 0; level < f.levels; level += 5) {
        f.shared.fails_at = level;
        CHECK_SAME(run(&f, &stats, &seen), BL_ETASK);
        CHECK_SAME(seen.early, 0);
        CHECK_SAME(stats.tasks + stats.left, seen.spawned + ROOTS);
    }
    f.shared.fails_at = UINT32_MAX;
    CHECK_SAME(run(&f, &stats, &seen), BL_OK);
    check_complete(&f, &stats, &seen);
    bl_close(f.c);
}

#ifdef __cplusplus
extern "C" uint32_t bl__slice_entries; /* src/internal.h */
#else
extern uint32_t bl__slice_entries;
#endif

/* Waves that are cut into several launches, at any place: also where a launch has as many tasks as the wave has
 * entries, of which some are of several tasks. */
static void test_sliced(const char *scheduler) {
    fixture f;
    bl_stats stats;
    counters seen;
    bl_config config;
    memset(&config, 0, sizeof config);
    const uint32_t usual = bl__slice_entries;
    prepare(&f, config, scheduler, 2);
    for (bl__slice_entries = 1; bl__slice_entries <= 100; bl__slice_entries++) {
        CHECK_SAME(run(&f, &stats, &seen), BL_OK);
        CHECK_SAME(seen.early, 0);
        CHECK_SAME(stats.tasks, f.tasks);
    }
    bl__slice_entries = usual;
    bl_close(f.c);
}

#if !defined(BL_TARGET_CUDA) /* there the host cannot call it */
/* Every worker has a place of its own, also if the last block is not full. */
static void test_places(void) {
    enum { MOST = 40 };
    bl__run run;
    memset(&run, 0, sizeof run);
    for (run.workers = 1; run.workers <= MOST; run.workers++)
        for (run.block_workers = 1; run.block_workers <= run.workers; run.block_workers++) {
            bool taken[MOST] = {false};
            run.blocks = (run.workers + run.block_workers - 1) / run.block_workers;
            for (uint32_t id = 0; id < run.workers; id++) {
                const uint32_t place = bl__place_of(&run, id);
                CHECK(place < run.workers && !taken[place < run.workers ? place : 0]);
                taken[place < run.workers ? place : 0] = true;
                CHECK(id % run.block_workers || place == id / run.block_workers);
            }
        }
}
#endif

int main(void) {
    check_limit(200);
#if !defined(BL_TARGET_CUDA)
    test_places();
#endif
    for (int i = 0; i < SCHEDULERS; i++) {
        test_right(schedulers[i], 0, SPREAD, 1);
        test_right(schedulers[i], 1, 2, 1);
        test_right(schedulers[i], 3, SPREAD, 1);
        test_stopped(schedulers[i]);
        test_failed(schedulers[i]);
        test_sliced(schedulers[i]);
    }
    for (int i = 0; i < SCHEDULERS && LANES == 32; i++) {
        test_right(schedulers[i], 999, SPREAD, 1); /* the last block is smaller than the others */
        if (i < 3)
            test_right(schedulers[i], 0, 9, 3); /* more than there is room for at first */
    }
    return check_end();
}
