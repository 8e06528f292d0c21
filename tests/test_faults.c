// LINK: -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=posix_memalign -Wl,--wrap=free -Wl,--wrap=pthread_create -Wl,--wrap=mmap
// COMPILE: -O1
/* The k-th request for memory or for a thread fails, for every k: the call returns an error, nothing leaks, and the
 * context can be used again, or at least closed. */
#include "check.h"
#include "config.h"

#define TREE_NAME tree
#define TREE_LANE_TASKS 1
#include "tree_program.h"

#include "common/app.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- the wrapped functions ---- */

static uint32_t requests, fail_at; /* counted from 1; 0: none fails */
static uint64_t live;              /* blocks not yet freed */
static bool fired;

static bool fails(void) {
    if (bl_fetch_add32_relaxed(&requests, 1) + 1 != bl_load32_relaxed(&fail_at))
        return false;
    fired = true;
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory) {
    if (memory)
        bl_fetch_add64_relaxed(&live, 1);
    return memory;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : counted(__real_malloc(bytes)); }
void *__wrap_calloc(size_t count, size_t bytes) { return fails() ? NULL : counted(__real_calloc(count, bytes)); }
void *__wrap_realloc(void *memory, size_t bytes) {
    if (fails())
        return NULL;
    return memory ? __real_realloc(memory, bytes) : counted(__real_realloc(NULL, bytes));
}
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
    if (fails())
        return ENOMEM;
    int error = __real_posix_memalign(memory, alignment, bytes);
    if (!error)
        counted(*memory);
    return error;
}
void __wrap_free(void *memory) {
    if (memory)
        bl_fetch_add64_relaxed(&live, (uint64_t)-1);
    __real_free(memory);
}
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    return fails() ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return fails() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

static void arm(uint32_t k) {
    requests = 0;
    fired = false;
    fail_at = k;
}

/* After a failure a run ends with BL_ENOMEM, unless the context could give back buffers that it had kept. Then all is
 * as if nothing had failed. */
static uint32_t survived;
static void check_status(int status, int expected) {
    if (fired && status == expected && expected != BL_ENOMEM)
        survived++;
    else
        CHECK_SAME(status, fired ? BL_ENOMEM : expected);
}

/* ---- runs of the library ---- */

static const tree_node node = {4, 4, 0};

static int run_once(bl_context *c, const bl_program *program, tree_totals *totals) {
    tree_shared shared = {totals};
    totals->tasks = totals->sum = 0;
    return bl_run(c, program, &shared, &node, 1, NULL);
}

static void open_and_run(const bl_config *config) {
    tree_totals totals, expected = tree_expect(node, 1);
    bl_context *c = (bl_context *)1;
    int status = bl_open(&c, config);
    if (status != BL_OK) {
        CHECK_SAME(status, BL_ENOMEM);
        CHECK(fired && c == NULL && *bl_error_detail(NULL));
        return;
    }
    status = run_once(c, tree_cpu(), &totals);
    check_status(status, BL_OK);
    CHECK(status == BL_OK ? totals.sum == expected.sum : *bl_error_detail(c));
    fail_at = 0;
    CHECK_SAME(run_once(c, tree_cpu(), &totals), BL_OK); /* works even after a failure */
    CHECK_SAME(totals.tasks, expected.tasks);
    CHECK_SAME(totals.sum, expected.sum);
    bl_close(c);
}

static void every_failure(const bl_config *config) {
    uint32_t k = 1;
    for (bool more = true; more; k++) {
        uint64_t before = live;
        check_at("%s, %u workers, request %u fails", config->scheduler, config->workers, k);
        arm(k);
        open_and_run(config);
        more = fired;
        arm(0);
        CHECK_SAME(live, before);
    }
    CHECK(k > 12);
}

static void test_library(void) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++) {
        bl_config config = {
            .device = "cpu", .scheduler = scheduler, .workers = 2, .capacity = 2, .private_entries = BL_NONE};
        config = config_for(config);
        every_failure(&config);
        config.workers = 1;
        config.capacity = 0;
        config.private_entries = 0;
        every_failure(&config);
    }
}

/* Buffers of a run are kept for the next, and given back when asked for or when memory is short. */
static void test_trim(void) {
    tree_totals totals, expected = tree_expect(node, 1);
    bl_context *c = NULL;
    CHECK(survived > 0);
    CHECK_SAME(bl_trim(NULL), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2}), BL_OK);
    for (int i = 0; i < 3; i++) {
        uint64_t before = live;
        CHECK_SAME(run_once(c, tree_cpu(), &totals), BL_OK);
        CHECK_SAME(totals.sum, expected.sum);
        CHECK(live > before);
        CHECK_SAME(bl_trim(c), BL_OK);
        CHECK(i == 0 || live == before); /* the first run also starts threads */
    }
    bl_close(c);
}

/* The checkpoint is written because the time is up before the run starts, then read. After a failure the file is whole
 * or absent. */
static void every_failure_with_file(const bl_config *config, int expected) {
    static tree_totals totals; /* the same address for the resumed run */
    uint32_t k = 1;
    for (bool more = true; more; k++) {
        uint64_t before = live;
        bl_context *c = NULL;
        check_at("%s, request %u fails", expected == BL_OK ? "resume" : "checkpoint", k);
        arm(k);
        int status = bl_open(&c, config);
        if (status == BL_OK)
            status = run_once(c, tree_cpu(), &totals);
        check_status(status, expected);
        CHECK(status == BL_OK || !fired || *bl_error_detail(c));
        more = fired;
        arm(0);
        bl_close(c);
        CHECK_SAME(live, before);
    }
    CHECK(k > 12);
    if (expected == BL_OK)
        CHECK_SAME(totals.tasks, tree_expect(node, 1).tasks);
}

static void test_checkpoint(void) {
    char file[] = "/tmp/ballast_faults_XXXXXX";
    int made = mkstemp(file);
    CHECK(made >= 0 && close(made) == 0);
    every_failure_with_file(&(bl_config){.device = "cpu", .workers = 1, .time_limit = 1e-9, .checkpoint = file},
                            BL_ETIME);
    every_failure_with_file(&(bl_config){.device = "cpu", .workers = 1, .resume = file}, BL_OK);
    remove(file);
}

static void nothing(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload, (void)index, (void)shared;
}

static void test_function(void) {
    check_at("bl_program_from_function");
    uint64_t before = live;
    arm(1);
    CHECK(bl_program_from_function(nothing, 4, 0, 1) == NULL);
    arm(0);
    bl_program_free(bl_program_from_function(nothing, 4, 0, 1));
    CHECK_SAME(live, before);
}

/* ---- tasks that exceed BL_MAX_SPAWN and BL_JOIN_WIDTH: workers allocate memory ---- */

static void many(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t count = *(const uint32_t *)payload, none = 0;
    (void)index, (void)shared;
    for (uint32_t i = 0; i < count; i++)
        bl_task_spawn(task, &none, 1);
}

static BL_TASK void wide_run(bl_task *t, const uint32_t *depth, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    uint32_t below = *depth - 1;
    if (*depth)
        bl_fork(t, &below, &below, 20);
    else
        bl_return(t, &index);
}
static BL_TASK void wide_join(bl_task *t, const uint32_t *depth, const uint32_t *results, uint32_t count,
                              const bl_nothing *shared, bl_nothing *local) {
    (void)shared, (void)local, (void)depth;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += results[i];
    bl_return(t, &sum);
}
#define BL_PROGRAM wide
#define BL_PAYLOAD uint32_t
#define BL_RUN wide_run
#define BL_RESULT uint32_t
#define BL_JOIN wide_join
#define BL_JOIN_WIDTH 2
#include <ballast/program.h>

static int run_beyond(const char *scheduler, bl_context *c, const bl_program *program) {
    uint32_t depth = 2, count = 900, result = 0;
    bl_stats stats;
    int status = scheduler ? bl_run(c, program, NULL, &count, 1, &stats)
                           : bl_run_join(c, wide_cpu(), NULL, &depth, 1, &result, &stats);
    CHECK(status != BL_OK || (scheduler ? stats.tasks == count + 1 : result == 20 * 190));
    return status;
}

static void test_beyond(void) {
    static const char *const schedulers[] = {"steal:chase_lev", "central:tz", "static:split", NULL}; /* NULL: wide */
    bl_program *program = bl_program_from_function(many, 4, 0, 1);
    for (int i = 0; i < 4; i++)
        for (uint32_t k = 1, more = 1; more; k++) {
            uint64_t before = live;
            bl_context *c = NULL;
            check_at("beyond limits, %s, request %u fails", schedulers[i] ? schedulers[i] : "wide", k);
            arm(k);
            int status = bl_open(&c, &(bl_config){.device = "cpu", .scheduler = schedulers[i], .workers = 2});
            if (status == BL_OK)
                status = run_beyond(schedulers[i], c, program);
            check_status(status, BL_OK);
            more = fired;
            arm(0);
            if (c)
                CHECK_SAME(run_beyond(schedulers[i], c, program), BL_OK);
            bl_close(c);
            CHECK_SAME(live, before);
        }
    bl_program_free(program);
}

/* ---- applications, whose host code also allocates memory, and the simulated machine ---- */

/* One problem from open to close; false if something failed. */
static bool run_app(const app *a, const char *const *values, const bl_config *config) {
    void *problem = NULL;
    app_error error = {""};
    const char *how;
    bl_stats stats;
    bl_context *c = NULL;
    int status = a->open(&problem, values, 1, &error);
    if (status != 0) {
        CHECK_SAME(status, 1);
        CHECK(*error.text && problem == NULL);
        return false;
    }
    bool right = false;
    status = bl_open(&c, config);
    if (status == BL_OK)
        status = a->load(problem, c);
    if (status == BL_OK) {
        status = a->run(problem, c, &stats);
        right = status == BL_OK && a->check(problem, &stats, true, &how, &error);
        CHECK(right || fired);
        a->unload(problem, c);
    }
    CHECK_SAME(status == BL_OK || (fired && status == BL_ENOMEM), 1);
    bl_close(c);
    a->close(problem);
    return right;
}

static void every_failure_of(const char *name, const char *option, const char *value, const bl_config *config) {
    const app *a = app_find(name);
    const char *values[16];
    for (int i = 0; a->options[i].name && i < 16; i++)
        values[i] = strcmp(a->options[i].name, option) ? a->options[i].initial : value;
    uint32_t k = 1;
    bool more = true;
    CHECK(run_app(a, values, config)); /* what is made once is kept */
    for (; more; k++) {
        uint64_t before = live;
        check_at("%s on %s %s, request %u fails", name, config->device, config->scheduler, k);
        arm(k);
        bool right = run_app(a, values, config);
        more = fired;
        CHECK(right || fired);
        arm(0);
        CHECK_SAME(live, before);
    }
    CHECK(k > 12);
}

static void test_apps(void) {
    static const char *const schedulers[] = {"steal:chase_lev", "central:tz", "static:split", "auto"};
    for (int i = 0; i < 4; i++) {
        bl_config config = {.device = "cpu", .scheduler = schedulers[i], .workers = 1, .capacity = 2};
        config = config_for(config);
        every_failure_of("octree", "--particles", "2000", &config);
        every_failure_of("uts", "--tree", "mini_T1_d3", &config);
        config.device = "sim";
        config.workers = 2;
        every_failure_of("octree", "--particles", "100", &config);
        every_failure_of("uts", "--tree", "mini_T1_d3", &config);
    }
}

int main(void) {
    check_limit(220);
    test_function();
    test_beyond();
    test_library();
    test_trim();
    test_checkpoint();
    test_apps();
    return check_end();
}
