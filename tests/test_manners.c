// LINK: -Wl,--wrap=posix_memalign -Wl,--wrap=free
/* Good manners: the cores that a process may use, one context with several callers, fork, memory, and error
 * messages. */
#include "check.h"
#include "platform/cpus.h"
#include "internal.h"

#include <ballast/platform/platform.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- memory from bl_alloc that the library still holds ---- */

int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
void __real_free(void *memory);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
void __wrap_free(void *memory);

enum { WATCHED = 64 };
static void *watched[WATCHED]; /* allocated and not freed yet */
static bool watching;

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
    int error = __real_posix_memalign(memory, alignment, bytes);
    for (int i = 0; watching && !error && i < WATCHED; i++)
        if (!watched[i]) {
            watched[i] = *memory;
            break;
        }
    return error;
}
void __wrap_free(void *memory) {
    for (int i = 0; watching && memory && i < WATCHED; i++)
        if (watched[i] == memory)
            watched[i] = NULL;
    __real_free(memory);
}

static void test_memory(void) {
    check_at("bl_close frees memory from bl_alloc");
    bl_context *c;
    void *memory[20], *null = NULL;
    int held = 0;
    watching = true;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu"}), BL_OK);
    for (int i = 0; i < 20; i++)
        CHECK_SAME(bl_alloc(c, memory + i, 100), BL_OK);
    CHECK_SAME(bl_free(c, memory[3]), BL_OK);
    CHECK_SAME(bl_free(c, null), BL_OK);
    for (int i = 0; i < WATCHED; i++)
        held += watched[i] != NULL;
    CHECK_SAME(held, 19);
    CHECK_SAME(bl_close(c), BL_OK);
    watching = false;
    for (int i = 0; i < WATCHED; i++)
        CHECK(watched[i] == NULL);
}

/* ---- large pages ---- */

/* Whether large pages were asked for where the address lies; -1 if the system does not say. */
static int prefers_large_pages(const void *address) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    uintptr_t begin, end;
    bool here = false;
    int answer = -1;
    while (maps && answer < 0 && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
            here = begin <= (uintptr_t)address && (uintptr_t)address < end;
        else if (here && !strncmp(line, "VmFlags:", 8))
            answer = strstr(line, " hg") != NULL;
    }
    if (maps)
        fclose(maps);
    return access("/sys/kernel/mm/transparent_hugepage", F_OK) ? -1 : answer;
}

static void test_large_pages(void) {
    check_at("large memory prefers large pages");
    bl_context *c;
    void *large, *small;
    const size_t bytes = (size_t)64 << 20;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu"}), BL_OK);
    CHECK_SAME(bl_alloc(c, &large, bytes), BL_OK);
    CHECK_SAME(bl_alloc(c, &small, 1u << 20), BL_OK);
    CHECK_SAME(bl_zero(c, large, bytes), BL_OK);
    CHECK(prefers_large_pages((char *)large + bytes / 2) != 0);
    CHECK(prefers_large_pages((char *)small + (1u << 19)) != 1);
    bl_close(c);
}

/* ---- BALLAST_WORKERS ---- */

static void do_nothing(bl_task *t, const void *payload, uint32_t index, const void *shared) {
    (void)t, (void)payload, (void)index, (void)shared;
}

static uint32_t workers_with(const char *limit, uint32_t asked) {
    bl_program *program = bl_program_from_function(do_nothing, 4, 0, 1);
    bl_context *c = NULL;
    bl_stats stats = {.workers = 0};
    uint32_t root = 0;
    if (limit)
        setenv("BALLAST_WORKERS", limit, 1);
    else
        unsetenv("BALLAST_WORKERS");
    int status = bl_open(&c, &(bl_config){.device = "cpu", .workers = asked});
    if (status == BL_OK)
        CHECK_SAME(bl_run(c, program, NULL, &root, 1, &stats), BL_OK);
    else
        CHECK(status == BL_EINVAL && strstr(bl_error_detail(NULL), "BALLAST_WORKERS"));
    unsetenv("BALLAST_WORKERS");
    bl_close(c);
    bl_program_free(program);
    return stats.workers;
}

static void test_environment(void) {
    uint32_t all = workers_with(NULL, 0);
    CHECK_SAME(all, bl__cpus_usable());
    CHECK_SAME(workers_with("1", 0), 1);
    CHECK_SAME(workers_with("100000", 0), all);
    CHECK_SAME(workers_with("99999999999999999999", 0), all);
    CHECK_SAME(workers_with("", 0), all);
    CHECK_SAME(workers_with("1", 3), 3); /* only the default */
    CHECK_SAME(workers_with("0", 0), 0);
    CHECK_SAME(workers_with("two", 0), 0);
    CHECK_SAME(workers_with("2x", 0), 0);
    CHECK_SAME(workers_with("-1", 0), 0);
}

/* ---- control groups ---- */

static char tree[64];

static void put(const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s/%s", tree, path);
    for (char *slash = strchr(full + strlen(tree) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    CHECK(file != NULL);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static void clear_tree(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", tree);
    CHECK_SAME(system(command), 0);
    CHECK_SAME(mkdir(tree, 0700), 0);
}

static void test_quota_2(void) {
    static const struct {
        const char *own, *parent;
        uint32_t cpus;
    } rows[] = {{"max 100000\n", "max 100000\n", UINT32_MAX}, {"150000 100000\n", "max 100000\n", 2},
                {"200000 100000\n", "max 100000\n", 2},       {"200001 100000\n", "max 100000\n", 3},
                {"max 100000\n", "10000 100000\n", 1},        {"800000 100000\n", "350000 100000\n", 4},
                {"100000 50000\n", "max 100000\n", 2},        {"nonsense", "", UINT32_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_at("version 2, %.10s below %.10s", rows[i].own, rows[i].parent);
        clear_tree();
        put("proc/self/cgroup", "0::/parent/own\n");
        put("proc/self/mountinfo", "25 1 0:23 / /proc rw,relatime - proc proc rw\n"
                                   "31 25 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
        put("sys/fs/cgroup/parent/own/cpu.max", rows[i].own);
        put("sys/fs/cgroup/parent/cpu.max", rows[i].parent);
        CHECK_SAME(bl__cpus_quota(tree), rows[i].cpus);
    }
    check_at("version 2, a container that sees only its own group");
    clear_tree();
    put("proc/self/cgroup", "0::/../../elsewhere\n");
    put("proc/self/mountinfo", "31 25 0:27 /box /sys/fs/cgroup ro - cgroup2 cgroup ro\n");
    put("sys/fs/cgroup/cpu.max", "250000 100000\n");
    CHECK_SAME(bl__cpus_quota(tree), 3);
}

static void test_quota_1(void) {
    static const char MOUNTS[] =
        "40 25 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "41 25 0:31 %s /sys/fs/cgroup/cpu,cpuacct rw shared:15 - cgroup cgroup rw,cpu,cpuacct\n";
    char mounts[512];
    check_at("version 1");
    clear_tree();
    snprintf(mounts, sizeof mounts, MOUNTS, "/");
    put("proc/self/cgroup", "7:cpuset:/other\n4:cpu,cpuacct:/slice/job\n");
    put("proc/self/mountinfo", mounts);
    put("sys/fs/cgroup/cpu,cpuacct/slice/job/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/slice/job/cpu.cfs_period_us", "100000\n");
    CHECK_SAME(bl__cpus_quota(tree), UINT32_MAX);
    put("sys/fs/cgroup/cpu,cpuacct/slice/cpu.cfs_quota_us", "150000\n");
    put("sys/fs/cgroup/cpu,cpuacct/slice/cpu.cfs_period_us", "100000\n");
    CHECK_SAME(bl__cpus_quota(tree), 2);
    put("sys/fs/cgroup/cpu,cpuacct/slice/job/cpu.cfs_quota_us", "50000\n");
    CHECK_SAME(bl__cpus_quota(tree), 1);
    check_at("version 1, in a container");
    clear_tree();
    snprintf(mounts, sizeof mounts, MOUNTS, "/docker/box");
    put("proc/self/cgroup", "4:cpu,cpuacct:/docker/box/inner\n");
    put("proc/self/mountinfo", mounts);
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    CHECK_SAME(bl__cpus_quota(tree), 3);
    put("sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "200000\n");
    put("sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us", "100000\n");
    CHECK_SAME(bl__cpus_quota(tree), 2);
}

static void test_quota(void) {
    snprintf(tree, sizeof tree, "/tmp/ballast_manners_XXXXXX");
    CHECK(mkdtemp(tree) != NULL);
    test_quota_2();
    test_quota_1();
    check_at("no control groups");
    clear_tree();
    CHECK_SAME(bl__cpus_quota(tree), UINT32_MAX);
    CHECK_SAME(rmdir(tree), 0);
}

/* ---- where workers run ---- */

enum { SEEN_MAX = 64 };
typedef struct places {
    uint32_t tasks;
    cpu_set_t masks[SEEN_MAX]; /* mask of the worker that ran task i */
} places;

static void look_around(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    places *seen = *(places *const *)shared;
    (void)task, (void)payload;
    sched_getaffinity(0, sizeof seen->masks[index], seen->masks + index);
}

/* Runs one task per worker, each on a different one. */
static void see_places(bl_context *c, places *seen, uint32_t *workers) {
    bl_program *program = bl_program_from_function(look_around, 4, sizeof seen, 1);
    bl_stats stats;
    CHECK_SAME(bl_run_range(c, program, &seen, &(uint32_t){0}, 1, &stats), BL_OK);
    *workers = stats.workers;
    CHECK(stats.workers <= SEEN_MAX);
    if (stats.workers <= SEEN_MAX)
        CHECK_SAME(bl_run_range(c, program, &seen, &(uint32_t){0}, stats.workers, NULL), BL_OK);
    bl_program_free(program);
}

static int only_core(const cpu_set_t *mask) {
    int core = -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, mask))
            core = core < 0 ? i : -2;
    return core;
}

static bl_context *open_cpu(uint32_t workers, uint32_t bind) {
    bl_context *c = NULL;
    CHECK_SAME(
        bl_open(&c, &(bl_config){.device = "cpu", .scheduler = "static:split", .workers = workers, .bind = bind}),
        BL_OK);
    return c;
}

static int core_of(bl_context *c) {
    static places seen;
    uint32_t workers;
    see_places(c, &seen, &workers);
    CHECK_SAME(workers, 1);
    return only_core(seen.masks);
}

/* Within `mask`, the affinity of this thread. */
static void workers_stay_within(const cpu_set_t *mask) {
    static places seen;
    uint32_t workers, count = (uint32_t)CPU_COUNT(mask), quota = bl__cpus_quota("");
    bl_context *c = open_cpu(0, 0);
    see_places(c, &seen, &workers);
    CHECK_SAME(workers, count < quota ? count : quota);
    CHECK_SAME(workers, bl__cpus_usable());
    for (uint32_t i = 0; i < workers && i < SEEN_MAX; i++)
        CHECK(CPU_EQUAL(seen.masks + i, mask)); /* not bound */
    bl_close(c);
    c = open_cpu(count < SEEN_MAX ? count : SEEN_MAX, 1);
    see_places(c, &seen, &workers);
    cpu_set_t used;
    CPU_ZERO(&used);
    for (uint32_t i = 0; i < workers && i < SEEN_MAX; i++) {
        int core = only_core(seen.masks + i);
        CHECK(core >= 0 && CPU_ISSET(core, mask) && !CPU_ISSET(core, &used));
        if (core >= 0)
            CPU_SET(core, &used);
    }
    bl_close(c);
}

static void test_affinity(void) {
    cpu_set_t all, one;
    CHECK_SAME(sched_getaffinity(0, sizeof all, &all), 0);
    check_at("all cores");
    workers_stay_within(&all);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &all))
            continue;
        check_at("core %d only", core);
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        CHECK_SAME(sched_setaffinity(0, sizeof one, &one), 0);
        workers_stay_within(&one);
    }
    CHECK_SAME(sched_setaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2)
        return;
    check_at("bound workers of several contexts");
    bl_context *a = open_cpu(1, 1), *b = open_cpu(1, 1);
    int core_a = core_of(a), core_b = core_of(b);
    CHECK(core_a >= 0 && core_b >= 0 && core_a != core_b);
    bl_close(a);
    a = open_cpu(1, 1);
    CHECK_SAME(core_of(a), core_a); /* released, so it is the first free one again */
    bl_close(a);
    bl_close(b);
    bl_context *c = NULL;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "sim", .bind = 1}), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "bind") != NULL);
}

/* ---- one context, several callers ---- */

enum { CALLS = 12 };
typedef struct guest {
    bl_context *c;
    bl_program *program;
    void *memory;
    int status[CALLS];
    uint32_t calls;
    const bl_span *spans;
} guest;

/* Every call that a busy context must reject. */
static void call_everything(guest *g) {
    uint32_t n = 0, root = 0, word = 0;
    void *memory = NULL;
    size_t count;
    g->status[n++] = bl_run(g->c, g->program, &g, &root, 1, NULL);
    g->status[n++] = bl_run_range(g->c, g->program, &g, &root, 4, NULL);
    g->status[n++] = bl_run_join(g->c, g->program, &g, &root, 1, &word, NULL);
    g->status[n++] = bl_alloc(g->c, &memory, 16);
    g->status[n++] = bl_free(g->c, g->memory);
    g->status[n++] = bl_copy_in(g->c, g->memory, &word, sizeof word);
    g->status[n++] = bl_copy_out(g->c, &word, g->memory, sizeof word);
    g->status[n++] = bl_zero(g->c, g->memory, sizeof word);
    g->status[n++] = bl_trace_start(g->c, 0);
    g->status[n++] = bl_trace_stop(g->c);
    g->status[n++] = bl_close(g->c);
    g->spans = bl_trace(g->c, &count);
    g->calls = n;
}

static void expect_busy(guest *g) {
    CHECK_SAME(g->calls, 11);
    for (uint32_t i = 0; i < g->calls; i++)
        CHECK_SAME(g->status[i], BL_EBUSY);
    CHECK(g->spans == NULL);
    g->calls = 0;
}

static void nested(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload, (void)index;
    call_everything(*(guest *const *)shared);
}

static void *call_from_thread(void *argument) {
    call_everything(argument);
    return NULL;
}

static void with_second_thread(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    pthread_t thread;
    (void)task, (void)payload, (void)index;
    if (pthread_create(&thread, NULL, call_from_thread, *(guest *const *)shared) == 0)
        pthread_join(thread, NULL);
}

static void call_from_progress(void *argument, uint64_t tasks) {
    guest *g = argument;
    (void)tasks;
    if (!g->calls)
        call_everything(g);
}

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static void linger(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload, (void)index, (void)shared;
    sleep_ms(300);
}

static void test_busy(void) {
    guest g = {.c = NULL}, *shared = &g;
    static const bl_task_function functions[] = {nested, with_second_thread, linger};
    static const char *const how[] = {"a task", "another thread", "the progress function"};
    uint32_t root = 0;
    for (int i = 0; i < 3; i++) {
        check_at("calls by %s during a run", how[i]);
        bl_config config = {.device = "cpu", .workers = 2};
        if (i == 2) {
            config.progress = call_from_progress;
            config.progress_arg = &g;
        }
        CHECK_SAME(bl_open(&g.c, &config), BL_OK);
        CHECK_SAME(bl_alloc(g.c, &g.memory, 16), BL_OK);
        g.program = bl_program_from_function(functions[i], 4, sizeof shared, 1);
        for (int again = 0; again < 2; again++) {
            CHECK_SAME(bl_run(g.c, g.program, &shared, &root, 1, NULL), BL_OK);
            expect_busy(&g);
        }
        bl_program_free(g.program);
        CHECK_SAME(bl_close(g.c), BL_OK);
    }
    CHECK(!strcmp(bl_status_name(BL_EBUSY), "BL_EBUSY"));
}

/* Many threads run on one context at the same time: each run succeeds or is rejected, and no task is lost. */
typedef struct crowd {
    bl_context *c;
    const bl_program *program;
    uint32_t succeeded, refused, other;
} crowd;

static void count_one(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)task, (void)payload, (void)index;
    bl_fetch_add32_relaxed(*(uint32_t *const *)shared, 1);
}

static void *run_often(void *argument) {
    crowd *crowd = argument;
    for (int i = 0; i < 200; i++) {
        uint32_t count = 0, *shared = &count;
        int status = bl_run_range(crowd->c, crowd->program, &shared, &(uint32_t){0}, 100, NULL);
        bool right = status == BL_OK ? count == 100 : status == BL_EBUSY && count == 0;
        bl_fetch_add32_relaxed(!right ? &crowd->other : status == BL_OK ? &crowd->succeeded : &crowd->refused, 1);
    }
    return NULL;
}

static void test_crowd(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bl_program *program = bl_program_from_function(count_one, 4, sizeof(uint32_t *), 1);
    crowd all = {.program = program};
    check_at("four threads, one context");
    CHECK_SAME(bl_open(&all.c, &(bl_config){.device = "cpu", .workers = 2}), BL_OK);
    for (int i = 0; i < THREADS; i++)
        CHECK_SAME(pthread_create(threads + i, NULL, run_often, &all), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_SAME(all.other, 0);
    CHECK_SAME(all.succeeded + all.refused, 200 * THREADS);
    CHECK(all.succeeded > 0);
    CHECK_SAME(bl_close(all.c), BL_OK);
    bl_program_free(program);
}

/* ---- fork ---- */

/* Uses the parent's context in a child. Returns 0 if all is well, otherwise the line. */
static int in_child(bl_context *inherited, const bl_program *program) {
    uint32_t count = 0, *shared = &count, root = 0;
    void *memory;
    if (bl_run(inherited, program, &shared, &root, 1, NULL) != BL_EDEAD || !strstr(bl_error_detail(inherited), "fork"))
        return __LINE__;
    if (bl_alloc(inherited, &memory, 1) != BL_EDEAD || bl_trace_start(inherited, 0) != BL_EDEAD)
        return __LINE__;
    if (bl_close(inherited) != BL_OK)
        return __LINE__;
    if (CHECK_SLOWER == 12) /* ThreadSanitizer does not let a forked child start threads */
        return 0;
    bl_context *own;
    if (bl_open(&own, &(bl_config){.device = "cpu", .workers = 2, .bind = 1}) != BL_OK ||
        bl_run_range(own, program, &shared, &root, 10, NULL) != BL_OK || count != 10 || bl_close(own) != BL_OK)
        return __LINE__;
    return 0;
}

static int wait_for(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static pid_t fork_and_use(bl_context *c, const bl_program *program) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20 * CHECK_SLOWER);
        int line = in_child(c, program);
        _exit(line ? line % 255 + 1 : 0);
    }
    return child;
}

typedef struct forker {
    bl_context *c;
    const bl_program *program;
    pid_t child;
} forker;

static void fork_in_task(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    forker *f = *(forker *const *)shared;
    (void)task, (void)payload, (void)index;
    f->child = fork_and_use(f->c, f->program);
}

static void test_fork(void) {
    bl_program *program = bl_program_from_function(count_one, 4, sizeof(uint32_t *), 1);
    uint32_t count = 0, *shared = &count, root = 0;
    bl_context *c;
    void *memory;
    for (uint32_t bind = 0; bind < 2; bind++) {
        check_at("fork, bind %u", bind);
        CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2, .bind = bind}), BL_OK);
        CHECK_SAME(bl_alloc(c, &memory, 100), BL_OK);
        CHECK_SAME(bl_run(c, program, &shared, &root, 1, NULL), BL_OK);
        CHECK_SAME(wait_for(fork_and_use(c, program)), 0);
        CHECK_SAME(bl_run(c, program, &shared, &root, 1, NULL), BL_OK); /* the parent's context still works */
        CHECK_SAME(bl_close(c), BL_OK);
    }
    check_at("fork during a run");
    forker f = {.program = program}, *in_run = &f;
    bl_program *forking = bl_program_from_function(fork_in_task, 4, sizeof in_run, 1);
    CHECK_SAME(bl_open(&f.c, &(bl_config){.device = "cpu", .workers = 2}), BL_OK);
    CHECK_SAME(bl_run(f.c, forking, &in_run, &root, 1, NULL), BL_OK);
    CHECK_SAME(wait_for(f.child), 0);
    CHECK_SAME(bl_close(f.c), BL_OK);
    bl_program_free(forking);
    bl_program_free(program);
}

/* ---- error messages ---- */

static void *fail_elsewhere(void *argument) {
    bl_context *c;
    int status = bl_open(&c, &(bl_config){.device = "cpu", .scheduler = "nonsense"});
    *(bool *)argument = status == BL_ESCHEDULER && strstr(bl_error_detail(NULL), "nonsense");
    return NULL;
}

static void test_details(void) {
    static const struct {
        bl_config config;
        const char *says;
        int status;
    } rows[] = {{{.device = "toaster"}, "toaster", BL_ENODEVICE},
                {{.device = "cpu", .scheduler = "steal:nobody"}, "steal:nobody", BL_ESCHEDULER},
                {{.device = "cpu", .scheduler = ""}, "scheduler", BL_ESCHEDULER},
                {{.device = "cpu", .victims = (bl_victims)9}, "victims", BL_EINVAL},
                {{.device = "cpu", .steal = (bl_steal)9}, "steal", BL_EINVAL},
                {{.device = "cpu", .workers = UINT32_MAX}, "workers", BL_EINVAL},
                {{.device = "cpu", .capacity = UINT32_MAX}, "capacity", BL_EINVAL},
                {{.device = "cpu", .stall_seconds = -1}, "stall_seconds", BL_EINVAL},
                {{.device = "cpu", .time_limit = -1}, "time_limit", BL_EINVAL},
                {{.device = "cpu", .checkpoint_seconds = -1}, "checkpoint_seconds", BL_EINVAL},
                {{.device = "cpu", .bind = 2}, "bind", BL_EINVAL},
                {{.device = "cpu", .stream = &tree}, "stream", BL_EINVAL}};
    bl_context *c;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_at("bl_open, %s", rows[i].says);
        CHECK_SAME(bl_open(&c, &rows[i].config), rows[i].status);
        CHECK(c == NULL && strstr(bl_error_detail(NULL), rows[i].says));
    }
    check_at("details belong to a thread");
    pthread_t thread;
    bool right = false;
    CHECK_SAME(pthread_create(&thread, NULL, fail_elsewhere, &right), 0);
    pthread_join(thread, NULL);
    CHECK(right && strstr(bl_error_detail(NULL), "stream"));
    CHECK_SAME(bl_open(NULL, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "context"));
    CHECK_SAME(bl_run(NULL, NULL, NULL, NULL, 0, NULL), BL_EINVAL);
    CHECK(*bl_error_detail(NULL));

    check_at("details of programs");
    CHECK(!bl_program_from_function(count_one, 1, 0, 1) && strstr(bl_error_detail(NULL), "payload_bytes 1:"));
    CHECK(!bl_program_from_function(count_one, 4096, 0, 1) && strstr(bl_error_detail(NULL), "payload_bytes 4096:"));
    CHECK(!bl_program_from_body(NULL, 0) && !strcmp(bl_error_detail(NULL), "function: NULL"));

    check_at("details of calls");
    bl_program *program = bl_program_from_function(count_one, 4, sizeof(uint32_t *), 1);
    uint32_t count = 0, *shared = &count, root = 0;
    void *memory;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 1}), BL_OK);
    CHECK(!*bl_error_detail(NULL) && !*bl_error_detail(c));
    CHECK_SAME(bl_run(c, NULL, &shared, &root, 1, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "program"));
    CHECK_SAME(bl_run(c, program, &shared, NULL, 1, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "roots"));
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "shared"));
    CHECK_SAME(bl_run(c, program, &shared, &root, UINT32_MAX, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "count"));
    CHECK_SAME(bl_run_join(c, program, &shared, &root, 1, &count, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "results"));
    CHECK_SAME(bl_run_join(c, program, &shared, &root, 1, NULL, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "results"));
    CHECK_SAME(bl_alloc(c, NULL, 1), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "memory"));
    CHECK_SAME(bl_alloc(c, &memory, SIZE_MAX), BL_ENOMEM);
    CHECK(memory == NULL && strstr(bl_error_detail(c), "bytes"));
    CHECK_SAME(bl_free(c, NULL), BL_OK);
    CHECK(strstr(bl_error_detail(c), "bytes")); /* a call that succeeds keeps it */
    CHECK_SAME(bl_free(c, &root), BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "bl_alloc"));
    CHECK_SAME(bl_alloc(c, &memory, 4), BL_OK);
    CHECK_SAME(bl_free(c, memory), BL_OK);
    CHECK_SAME(bl_free(c, memory), BL_EINVAL);
    const int refused[] = {bl_copy_in(c, NULL, &root, 4),       bl_copy_in(c, &count, NULL, 4),
                           bl_copy_out(c, NULL, &root, 4),      bl_zero(c, NULL, 4),
                           bl_start_copy_in(c, NULL, &root, 4), bl_start_copy_out(c, &count, NULL, 4)};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK_SAME(refused[i], BL_EINVAL);
    CHECK(strstr(bl_error_detail(c), "memory: NULL"));
    CHECK_SAME(bl_copy_in(c, NULL, NULL, 0), BL_OK);
    CHECK_SAME(bl_zero(c, NULL, 0), BL_OK);
    CHECK_SAME(bl_run(c, program, &shared, &root, 1, NULL), BL_OK);
    CHECK(!*bl_error_detail(c)); /* but a run clears it */
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

/* ---- a context that could not be opened ---- */

static void test_no_context(void) {
    void *memory = NULL;
    uint32_t workers = 7, root = 0;
    uint64_t error = 7;
    size_t spans = 7;
    check_at("no context");
    const int refused[] = {
        bl_alloc(NULL, &memory, 4),
        bl_free(NULL, &root),
        bl_copy_in(NULL, &root, &root, 4),
        bl_copy_out(NULL, &root, &root, 4),
        bl_zero(NULL, &root, 4),
        bl_trim(NULL),
        bl_run_range(NULL, NULL, NULL, NULL, 1, NULL),
        bl_run_reduce(NULL, NULL, NULL, NULL, 1, &root, NULL),
        bl_run_join(NULL, NULL, NULL, NULL, 1, &root, NULL),
        bl_workers(NULL, NULL, &workers),
        bl_start(NULL, NULL, NULL, NULL, 1),
        bl_start_open(NULL, NULL, NULL),
        bl_submit(NULL, &root, 4, 1, NULL),
        bl_try_submit(NULL, &root, 4, 1, NULL),
        bl_submit_end(NULL),
        bl_start_copy_in(NULL, &root, &root, 4),
        bl_start_copy_out(NULL, &root, &root, 4),
        bl_wait(NULL, NULL),
        bl_wait_for(NULL, 0, NULL),
        bl_start_after(NULL, NULL),
        bl_hold_stream(NULL, NULL),
        bl_reset(NULL),
        bl_trace_start(NULL, 0),
        bl_trace_stop(NULL),
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK_SAME(refused[i], BL_EINVAL);
    bl_cancel(NULL);
    CHECK_SAME(bl_progress(NULL), 0);
    CHECK(!bl_failure(NULL, &error) && error == 7);
    CHECK(!bl_trace(NULL, &spans) && spans == 0 && !bl_trace(NULL, NULL));
    CHECK(!*bl_device_id(NULL) && !*bl_device_name(NULL) && !*bl_device_target(NULL));
    CHECK_SAME(bl_close(NULL), BL_OK);
}

/* ---- a GPU that cannot run every queue ---- */

static void test_lacks(void) {
    static const bl_device_info old = {.id = "cuda:0", .capability = 80}, new = {.id = "cuda:0", .capability = 90},
                                cpu = {.id = "cpu", .capability = 0};
    static const char *const fine[] = {"auto", "central:tz", "abp", "static:wave", "broker", "no such thing"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        CHECK(!bl_device_lacks(&old, fine[i]));
    bl_device_info found;
    CHECK(bl_device_find("cpu", &found) && !strcmp(found.id, "cpu") && found.capability == 0);
    CHECK_SAME(bl_device_traits("cpu"), BL_DEVICE_CPU);
    CHECK_SAME(bl_device_traits("sim"), BL_DEVICE_SIMULATED);
    CHECK(bl_device_traits("cuda") == BL_DEVICE_GPU && bl_device_traits("cuda:12") == BL_DEVICE_GPU);
    CHECK(bl_device_find("auto", &found) && bl_device_traits(found.id) == bl_device_traits("auto"));
    CHECK_SAME(bl_device_traits("cpu+cpu"), BL_DEVICE_SEVERAL);
    CHECK_SAME(bl_device_traits("all"), BL_DEVICE_SEVERAL);
    static const char *const nobody[] = {"", "cp", "cpus", "cpu:0", "sim:1", "cuda:", "cuda:x", "cuda:1x", "cuda0"};
    for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++)
        CHECK_SAME(bl_device_traits(nobody[i]), 0);
    CHECK(!bl_device_find("cuda:999", &found) && !found.id[0] && found.capability == 0);
    bl_queue_info queue;
    for (uint32_t i = 0; bl_queue_info_at(i, &queue); i++) {
        char scheduler[64];
        bool needs = queue.flags & BL_QUEUE_NEEDS_CAS128;
        snprintf(scheduler, sizeof scheduler, "central:%s", queue.name);
        check_at("%s on an older GPU", queue.name);
        CHECK(!bl_device_lacks(&new, queue.name) && !bl_device_lacks(&cpu, queue.name));
        CHECK_SAME(bl_device_lacks(&old, queue.name) != NULL, needs);
        if (!needs)
            continue;
        CHECK(strstr(bl_device_lacks(&old, scheduler), "9.0"));
        bl_program *program = bl_program_from_function(count_one, 4, sizeof(uint32_t *), 1);
        uint32_t count = 0, *shared = &count, root = 0;
        bl_context *c;
        CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .scheduler = scheduler, .workers = 1}), BL_OK);
        CHECK_SAME(bl_run(c, program, &shared, &root, 1, NULL), BL_OK);
        c->capability = 80; /* pretend that it is one */
        c->planned.of = NULL;
        CHECK_SAME(bl_run(c, program, &shared, &root, 1, NULL), BL_ENOCODE);
        CHECK(strstr(bl_error_detail(c), scheduler) && strstr(bl_error_detail(c), "8.0"));
        CHECK_SAME(count, 1);
        CHECK_SAME(bl_close(c), BL_OK);
        bl_program_free(program);
    }
}

int main(void) {
    check_limit(120);
    test_memory();
    test_large_pages();
    test_environment();
    test_quota();
    test_affinity();
    test_busy();
    test_crowd();
    test_fork();
    test_details();
    test_no_context();
    test_lacks();
    return check_end();
}
