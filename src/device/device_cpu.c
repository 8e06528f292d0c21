/* Device: the CPU. A pool of threads, one per worker; they sleep while there is nothing to do. */
#include "platform/cpus.h"
#include "internal.h"
#include "platform/fence.h"

#include <ballast/parts/gate.h>
#include <ballast/parts/trace.h>
#include <ballast/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef BL_HAVE_HWLOC
#include <hwloc.h>
#endif

typedef struct cpu_device {
    pthread_mutex_t lock;
    pthread_cond_t job_given, job_ended; /* job_ended on the monotonic clock, for the watch */
    pthread_mutex_t sleep_lock;
    pthread_cond_t woken;
    pthread_t *threads;
    struct cpu_thread *numbers;
    uint32_t thread_count;
    uint32_t cores; /* that were usable when it was opened */
    bool bind;
    uint64_t job;     /* bumped with each job */
    uint32_t running; /* threads still in it */
    bool quit;
    const bl__plan *plan;
    const bl__run *run;
    const void *shared;
    double timer;
    struct cpu_device *next; /* abandoned */
} cpu_device;

typedef struct cpu_thread {
    cpu_device *device;
    uint32_t number;
    int core; /* that it is bound to; -1: to none */
} cpu_thread;

/* ---- what there is ---- */

#ifdef BL_HAVE_HWLOC
/* The machine does not change: it is looked at once, for the first caller, and kept for all contexts. */
static hwloc_topology_t machine; /* NULL: not known */

static void look_at_machine(void) {
    if (hwloc_topology_init(&machine) == 0 && hwloc_topology_load(machine) == 0)
        return;
    if (machine)
        hwloc_topology_destroy(machine);
    machine = NULL;
}

static hwloc_topology_t topology(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_at_machine);
    return machine;
}
#endif

static void cpu_model(char *name, size_t size) {
    struct utsname system;
    snprintf(name, size, "%s CPU", uname(&system) == 0 ? system.machine : "unknown");
#ifdef BL_HAVE_HWLOC
    hwloc_obj_t package = topology() ? hwloc_get_obj_by_type(topology(), HWLOC_OBJ_PACKAGE, 0) : NULL;
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (model)
        snprintf(name, size, "%s", model);
#endif
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            colon[strcspn(colon, "\n")] = 0;
            snprintf(name, size, "%s", colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static int cpu_enumerate(uint32_t i, bl_device_info *info) {
    if (i)
        return 0;
    memset(info, 0, sizeof *info);
    snprintf(info->id, sizeof info->id, "cpu");
    cpu_model(info->name, sizeof info->name);
    info->workers = bl__cpus_usable();
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    info->memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    return 1;
}

/* ---- threads ---- */

/* A thread's part of a job: its worker, or group after group of a static wave as a GPU's hardware would hand them
 * out. */
static void run_groups(cpu_device *d, uint32_t number) {
    const bl__run *run = d->run;
    bl__stack *stack = bl__stack_of(run, number);
    bool wave = d->plan->traits & BL_TRAIT_GROUP_PER_TASK;
    uint32_t id = number;
    for (;;) {
        if (wave)
            id = bl_fetch_add32_relaxed(&run->control->ticket, 1);
        if (id >= run->groups)
            return;
        if (wave)
            bl__stack_open(stack, run);
        d->plan->instance->work(run, d->shared, id, 0, number);
        if (!wave)
            return;
    }
}

static void run_part(cpu_device *d, uint32_t number) {
    const bl__run *run = d->run;
    if (!run->trace || !(d->plan->traits & BL_TRAIT_WAVES)) {
        run_groups(d, number);
        return;
    }
    uint64_t before = run->tally[number].tasks;
    bl__trace_wave_begins(run->trace + number, run->launch);
    run_groups(d, number);
    bl__trace_wave_ends(run->trace + number, run->launch, run->tally[number].tasks - before);
}

static void *thread_main(void *argument) {
    cpu_thread *self = argument;
    cpu_device *d = self->device;
    uint64_t seen = 0;
    bl__cpus_stay_on(self->core);
    pthread_mutex_lock(&d->lock);
    for (;;) {
        while (d->job == seen && !d->quit)
            pthread_cond_wait(&d->job_given, &d->lock);
        if (d->quit)
            break;
        seen = d->job;
        pthread_mutex_unlock(&d->lock);
        run_part(d, self->number);
        pthread_mutex_lock(&d->lock);
        if (--d->running == 0)
            pthread_cond_signal(&d->job_ended);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void stop_threads(cpu_device *d) {
    pthread_mutex_lock(&d->lock);
    d->quit = true;
    pthread_cond_broadcast(&d->job_given);
    pthread_mutex_unlock(&d->lock);
    for (uint32_t i = 0; i < d->thread_count; i++) {
        pthread_join(d->threads[i], NULL);
        bl__cpus_give_back(d->numbers[i].core);
    }
    free(d->threads);
    free(d->numbers);
    d->threads = NULL;
    d->numbers = NULL;
    d->thread_count = 0;
    d->quit = false;
    d->job = 0; /* the next threads have seen none */
}

static int start_threads(cpu_device *d, uint32_t count) {
    if (d->thread_count == count)
        return BL_OK;
    stop_threads(d);
    d->threads = calloc(count, sizeof *d->threads);
    d->numbers = calloc(count, sizeof *d->numbers);
    if (!d->threads || !d->numbers) {
        stop_threads(d);
        return BL_ENOMEM;
    }
    pthread_mutex_lock(&d->lock);
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        d->numbers[i].device = d;
        d->numbers[i].number = i;
        d->numbers[i].core = d->bind ? bl__cpus_take() : -1;
        error = pthread_create(&d->threads[i], NULL, thread_main, &d->numbers[i]);
        if (!error)
            d->thread_count++;
        else
            bl__cpus_give_back(d->numbers[i].core);
    }
    pthread_mutex_unlock(&d->lock);
    if (error)
        stop_threads(d);
    return error ? BL_ENOMEM : BL_OK;
}

/* ---- sleeping workers ---- */

static void after_seconds(struct timespec *t, double seconds) {
    clock_gettime(CLOCK_MONOTONIC, t);
    t->tv_nsec += (long)(1e9 * seconds);
    t->tv_sec += t->tv_nsec / 1000000000;
    t->tv_nsec %= 1000000000;
}

void bl__sleep(const bl__run *run, uint32_t seen) {
    cpu_device *d = run->host;
    pthread_mutex_lock(&d->sleep_lock);
    while (bl_load32_relaxed(&run->control->wakes) == seen)
        pthread_cond_wait(&d->woken, &d->sleep_lock);
    pthread_mutex_unlock(&d->sleep_lock);
}

void bl__nap(const bl__run *run, uint32_t seen, uint64_t ns) {
    cpu_device *d = run->host;
    struct timespec until;
    after_seconds(&until, 1e-9 * (double)ns);
    pthread_mutex_lock(&d->sleep_lock);
    if (bl_load32_relaxed(&run->control->wakes) == seen)
        pthread_cond_timedwait(&d->woken, &d->sleep_lock, &until);
    pthread_mutex_unlock(&d->sleep_lock);
}

void bl__wake(const bl__run *run, uint32_t n) {
    cpu_device *d = run->host;
    pthread_mutex_lock(&d->sleep_lock);
    bl_fetch_add32_release(&run->control->wakes, 1);
    if (n >= bl_load32_relaxed(&run->control->sleepers))
        pthread_cond_broadcast(&d->woken);
    else
        for (uint32_t i = 0; i < n; i++)
            pthread_cond_signal(&d->woken);
    pthread_mutex_unlock(&d->sleep_lock);
}

/* ---- device operations ---- */

static int cpu_open(bl_context *c, const char *id) {
    (void)id;
    cpu_device *d = calloc(1, sizeof *d);
    if (!d)
        return bl__no_memory(c, "the CPU's threads");
    d->cores = bl__cpus_usable();
    d->bind = c->config.bind;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->sleep_lock, NULL);
    pthread_cond_init(&d->job_given, NULL);
    pthread_cond_init(&d->job_ended, &monotonic);
    pthread_cond_init(&d->woken, &monotonic);
    pthread_condattr_destroy(&monotonic);
    c->device = d;
    return BL_OK;
}

/* A worker is stuck in a task: it keeps what it may still touch. */
static void abandon(cpu_device *d) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static cpu_device *abandoned;
    for (uint32_t i = 0; i < d->thread_count; i++)
        pthread_detach(d->threads[i]);
    pthread_mutex_lock(&lock);
    d->next = abandoned;
    abandoned = d;
    pthread_mutex_unlock(&lock);
}

static void cpu_close(bl_context *c) {
    cpu_device *d = c->device;
    if (bl__inherited(c)) {
        /* Locks and conditions are as other threads left them when the process forked: not to be touched. */
        free(d->threads);
        free(d->numbers);
        free(d);
        return;
    }
    if (c->dead) {
        abandon(d);
        return;
    }
    stop_threads(d);
    pthread_cond_destroy(&d->woken);
    pthread_cond_destroy(&d->job_ended);
    pthread_cond_destroy(&d->job_given);
    pthread_mutex_destroy(&d->sleep_lock);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static int host_alloc(bl_context *c, void **memory, size_t bytes) {
    (void)c;
    return bytes <= SIZE_MAX / 2 && posix_memalign(memory, BL_LINE, bytes) == 0 ? BL_OK : BL_ENOMEM;
}
static void host_free(bl_context *c, void *memory) {
    (void)c;
    free(memory);
}
static int host_copy(bl_context *c, void *to, const void *from, size_t bytes) {
    (void)c;
    memcpy(to, from, bytes);
    return BL_OK;
}
static int host_zero(bl_context *c, void *memory, size_t bytes) {
    (void)c;
    memset(memory, 0, bytes);
    return BL_OK;
}

static int cpu_fit(bl_context *c, bl__plan *plan, uint32_t lanes, size_t worker_memory) {
    (void)lanes, (void)worker_memory;
    plan->fit = plan->processors = ((cpu_device *)c->device)->cores;
    plan->workers_per_block = plan->threads = 1;
    plan->fences_alone = !bl__can_fence_all_threads();
    if (c->config.workers > plan->processors)
        plan->processors = c->config.workers; /* threads stand for processors */
    return BL_OK;
}

static int cpu_manage(bl_context *c, bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count,
                      uint64_t *total) {
    (void)c;
    bl__manage_cpu(op, queue, run, entries, count, total, 0, 1);
    return BL_OK;
}

static void stop_workers(const bl__run *run) {
    bl_fetch_or32_relaxed(&run->control->stop, BL__STOP_HOST);
    bl__wake(run, UINT32_MAX);
}

/* Called with the lock. Asks the workers to stop and gives them two seconds. */
static int give_up(bl_context *c, const bl__run *run) {
    cpu_device *d = c->device;
    bl__watch_report(c, "no task ended in time", run->tally, run->tallies);
    stop_workers(run);
    struct timespec until;
    after_seconds(&until, 0.9);
    for (int i = 0; i < 2 && d->running; i++) {
        pthread_cond_timedwait(&d->job_ended, &d->lock, &until);
        after_seconds(&until, 0.9);
    }
    c->dead = d->running != 0;
    return BL_ESTALL;
}

static int cpu_launch(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared) {
    cpu_device *d = c->device;
    int status = start_threads(d, run->workers);
    if (status != BL_OK) {
        bl__detail(c, "workers %u: so many threads cannot be started here", (unsigned)run->workers);
        return status;
    }
    for (uint32_t i = 0; i < run->workers; i++) /* before any of them looks at another's */
        bl__stack_open(bl__stack_of(run, i), run);
    bl__watch watch;
    bl__watch_start(&watch);
    pthread_mutex_lock(&d->lock);
    d->plan = plan;
    d->run = run;
    d->shared = shared;
    d->running = d->thread_count;
    d->job++;
    pthread_cond_broadcast(&d->job_given);
    while (d->running && status == BL_OK) {
        struct timespec until;
        after_seconds(&until, bl__watch_next(c, 0.05));
        pthread_cond_timedwait(&d->job_ended, &d->lock, &until);
        bl__seen seen = d->running ? bl__watch_look(c, &watch, run->tally, run->tallies) : BL__ALL_WELL;
        if (seen == BL__TO_PAUSE)
            stop_workers(run);
        else if (seen == BL__NO_PROGRESS)
            status = give_up(c, run);
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

static int cpu_timer_start(bl_context *c) {
    ((cpu_device *)c->device)->timer = bl__now();
    return BL_OK;
}
static int cpu_timer_stop(bl_context *c, double *seconds) {
    *seconds = bl__now() - ((cpu_device *)c->device)->timer;
    return BL_OK;
}

static uint32_t cpu_default_private(uint32_t words, uint32_t outbox) { return (void)words, (void)outbox, 256; }

const bl__device_ops bl__cpu_ops = {
    .target = "cpu",
    .warp = 1,
    .policies = bl__cpu_policies,
    .host_memory = true,
    .host_stacks = true,
    .workers_allocate = true,
    .can_bind = true,
    .default_private = cpu_default_private,
    .enumerate = cpu_enumerate,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = host_alloc,
    .free = host_free,
    .copy_in = host_copy,
    .copy_out = host_copy,
    .move = host_copy,
    .zero = host_zero,
    .fit = cpu_fit,
    .manage = cpu_manage,
    .launch = cpu_launch,
    .timer_start = cpu_timer_start,
    .timer_stop = cpu_timer_stop,
};
