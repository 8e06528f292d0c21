/* The loops on CPU threads, bound to the cores in turn. */
#include "bench_device.h"

#include "harness/common.h"

#include <ballast/ballast.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { THREADS_MAX = 64 };

/* Threads that start together; each calls `work` with its number. */
typedef struct crew {
    void (*work)(struct crew *c, uint32_t number);
    const char *what; /* for the message if they do not return */
    uint32_t threads;
    double seconds; /* how long they should work */
    const bench_spec *spec;
    bench_job job;
    bench_access access;
    bench_words words;
    pthread_barrier_t start;
} crew;

typedef struct hand {
    crew *crew;
    uint32_t number;
    double begun, ended, busy;
} hand;

typedef struct span {
    double seconds; /* from the first start to the last end */
    double busy;    /* on a core, on average */
} span;

/* The arrays of a job, and memory for the queue, enlarged when needed. */
typedef struct store {
    uint64_t out[THREADS_MAX];
    uint32_t pushes[THREADS_MAX], pops[THREADS_MAX], ended;
    float work[THREADS_MAX];
    void *memory;
    size_t bytes;
} store;
static store cpu_store;

/* Binds to the cores that this process may use, in turn: two threads on the same core would never meet. If that is
 * denied, a thread runs anywhere. */
static void bind_to_core(uint32_t number) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0)
        return;
    uint32_t left = number % (uint32_t)CPU_COUNT(&allowed);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && left-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            pthread_setaffinity_np(pthread_self(), sizeof one, &one);
            return;
        }
}

static void *hand_main(void *argument) {
    hand *h = argument;
    bind_to_core(h->number);
    pthread_barrier_wait(&h->crew->start);
    h->begun = bench_now();
    h->busy = -bench_clock(CLOCK_THREAD_CPUTIME_ID);
    h->crew->work(h->crew, h->number);
    h->busy += bench_clock(CLOCK_THREAD_CPUTIME_ID);
    h->ended = bench_now();
    return NULL;
}

static void start(const bench_device *d, crew *c, hand *hands, pthread_t *ids) {
    pthread_barrier_init(&c->start, NULL, c->threads + 1);
    for (uint32_t i = 0; i < c->threads; i++) {
        hands[i] = (hand){.crew = c, .number = i};
        int error = pthread_create(&ids[i], NULL, hand_main, &hands[i]);
        if (error)
            bench_no_threads(d, c->what, c->threads, i, error);
    }
    c->job.until = bl_time() + (uint64_t)(c->seconds * 1e9);
    pthread_barrier_wait(&c->start);
}

static span work_together(const bench_device *d, crew *c) {
    hand hands[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    start(d, c, hands, ids);
    struct timespec limit = {(time_t)(bench_clock(CLOCK_REALTIME) + c->seconds + d->patience), 0};
    double begun = 0, ended = 0, busy = 0;
    for (uint32_t i = 0; i < c->threads; i++) {
        if (pthread_timedjoin_np(ids[i], NULL, &limit) != 0)
            bench_give_up(d, c->what, c->threads);
        begun = i > 0 && begun < hands[i].begun ? begun : hands[i].begun;
        ended = ended > hands[i].ended ? ended : hands[i].ended;
        busy += hands[i].busy;
    }
    pthread_barrier_destroy(&c->start);
    return (span){ended - begun, busy / c->threads};
}

static bool make_room(size_t bytes) {
    if (bytes <= cpu_store.bytes)
        return true;
    free(cpu_store.memory);
    cpu_store.bytes = (bytes + BL_LINE) / BL_LINE * BL_LINE;
    cpu_store.memory = aligned_alloc(BL_LINE, cpu_store.bytes);
    if (!cpu_store.memory) {
        cpu_store.bytes = 0;
        return false;
    }
    memset(cpu_store.memory, 0, cpu_store.bytes); /* touched before the clock starts */
    return true;
}

static bench_drained drain(const bench_spec *spec, const bench_job *job) {
    uint64_t out = 0;
    uint32_t pops = 0;
    bench_job last = *job;
    last.out = &out;
    last.pops = &pops;
    spec->queue->cpu[BENCH_DRAIN](&last, 0, 1);
    return (bench_drained){out, pops};
}

static void queue_work(crew *c, uint32_t number) { c->spec->queue->cpu[c->spec->loop](&c->job, number, c->threads); }

static void cpu_measure(bench_device *d, const bench_spec *spec, bench_result *result) {
    crew c = {.work = queue_work, .what = spec->queue->name, .seconds = spec->seconds, .spec = spec};
    *result = (bench_result){.seconds = 0};
    if (!bench_plan(d, spec, &c.job, result))
        return;
    bl_shape shape = {c.job.capacity, 1, c.job.threads};
    if (!make_room(spec->queue->bytes(shape, c.job.group))) {
        snprintf(result->problem, sizeof result->problem, "out of memory");
        return;
    }
    c.job.memory = cpu_store.memory;
    c.job.out = cpu_store.out;
    c.job.pushes = cpu_store.pushes;
    c.job.pops = cpu_store.pops;
    c.job.work = cpu_store.work;
    c.job.ended = &cpu_store.ended;
    cpu_store.ended = 0;
    spec->queue->cpu[BENCH_INIT](&c.job, 0, 1);
    spec->queue->cpu[BENCH_FILL](&c.job, 0, 1);
    c.threads = c.job.threads;
    result->seconds = work_together(d, &c).seconds;
    bench_drained drained = {0, 0};
    bench_check(spec, &c.job, bench_needs_drain(spec) ? drain(spec, &c.job) : drained, result);
}

static bench_room cpu_room(bench_device *d, const bench_contender *queue, bench_step loop) {
    (void)d, (void)queue, (void)loop;
    return (bench_room){THREADS_MAX, 0};
}

static void atomic_work(crew *c, uint32_t number) {
    if (c->access == BENCH_PLAIN)
        bench_plain(&c->words, number);
    else
        bench_faa(&c->words, number);
}

static void cpu_atomics(bench_device *d, bench_access access, uint32_t threads, uint32_t times,
                        bench_atomic_result *result) {
    crew c = {.work = atomic_work, .what = "fetch-and-add", .threads = threads, .access = access};
    *result = (bench_atomic_result){0, 0, false};
    if (!make_room((size_t)BL_LINE * (THREADS_MAX + 1)))
        return;
    memset(cpu_store.memory, 0, (size_t)BL_LINE * (THREADS_MAX + 1));
    c.words = (bench_words){.shared = cpu_store.memory, .out = cpu_store.out, .times = times};
    c.words.own = c.words.shared + BL_LINE / 4;
    span s = work_together(d, &c);
    result->busy = s.busy;
    result->span = s.seconds;
    result->right = bench_check_atomics(access, threads, times, cpu_store.out, *c.words.shared);
}

static uint32_t cpu_atomic_room(bench_device *d) { return (void)d, THREADS_MAX; }

static void cpu_close(bench_device *d) {
    (void)d;
    free(cpu_store.memory);
    cpu_store.memory = NULL;
    cpu_store.bytes = 0;
}

static void read_line(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, (int)size, file))
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* ARM's numbers, if the system has no name for the processor. */
static void add_part(char *name, size_t size) {
    char line[128], implementer[16] = "", part[16] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !part[0] && fgets(line, sizeof line, file)) {
        sscanf(line, "CPU implementer : %15s", implementer);
        sscanf(line, "CPU part : %15s", part);
    }
    if (file)
        fclose(file);
    size_t length = strlen(name);
    if (part[0])
        snprintf(name + length, size - length, ", implementer %s part %s", implementer, part);
}

#ifdef __clang__
#define COMPILER __VERSION__ /* contains the compiler's name */
#else
#define COMPILER "gcc " __VERSION__
#endif

bool bench_open_cpu(bench_device *d) {
    bl_device_info info;
    cpu_set_t allowed;
    char governor[64];
    *d = (bench_device){.id = "cpu", .name = "unknown", .target = "cpu", .warp = 1, .patience = 60};
    d->room = cpu_room;
    d->measure = cpu_measure;
    d->atomic_room = cpu_atomic_room;
    d->atomics = cpu_atomics;
    d->close = cpu_close;
    if (bl_device_find(d->id, &info))
        snprintf(d->name, sizeof d->name, "%.80s", info.name);
    add_part(d->name, sizeof d->name);
    d->processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (uint32_t)CPU_COUNT(&allowed) : 1;
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    snprintf(d->about, sizeof d->about, "compiler " COMPILER ", governor %s", governor[0] ? governor : "unknown");
    return true;
}
