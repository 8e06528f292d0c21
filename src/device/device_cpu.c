/* Device: the CPU. The calling thread is worker 0, and a pool of threads has the others; they sleep while there is
 * nothing to do.
 *
 * A run starts without them. A thread that has not joined counts as idle and asleep until it is wanted: when there are
 * roots for it, and from then on whenever a worker publishes (bl__wake). So a run of one task wakes no thread, and its
 * end waits for none that has not joined. In waves every worker has a share that only it runs, so all of them join.
 *
 * While the caller works, the watcher, a thread of its own, looks after stalls, time limits, checkpoints and bl_cancel.
 * It sleeps too while there is no run. With config.caller_waits, and where the caller must not work, there is no
 * watcher: the caller watches, and the pool has all workers. */
#include "platform/cpus.h"
#include "internal.h"
#include "platform/fence.h"
#include "platform/topology.h"

#include <ballast/parts/gate.h>
#include <ballast/parts/idle.h>
#include <ballast/parts/outside.h>
#include <ballast/parts/trace.h>
#include <ballast/runtime/termination.h>
#include <ballast/task.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

typedef struct cpu_device {
    pthread_mutex_t lock;
    pthread_cond_t job_given, job_ended; /* job_ended on the monotonic clock, for the watch */
    pthread_mutex_t sleep_lock;
    pthread_cond_t woken;
    pthread_t *threads;
    struct cpu_thread *numbers;
    uint32_t thread_count, first; /* and the worker that the first of them is */
    uint32_t pool;                /* threads that the run may have; the others sleep */
    uint32_t cores;               /* that were usable when it was opened */
    bool bind;
    uint64_t job;     /* bumped with each job */
    uint32_t running; /* threads of the pool that are in it */
    uint32_t wanted;  /* threads of the pool that should join, and have not yet */
    uint32_t absent;  /* threads of the pool that nobody has asked to join: idle and asleep, to the others */
    bool open;        /* they still may */
    bool left;        /* one that has joined has ended its part */
    bool late;        /* they are counted as idle */
    bool quit;
    /* The watcher, where the caller works: */
    pthread_t watcher;
    int bell; /* an eventfd: there is a run to watch, or it is to look sooner. A condition is not for signal handlers */
    bool has_watcher, dozing, watcher_quit;
    bool active;   /* a run is under way */
    bool works;    /* the caller, in its worker */
    bool stalled;  /* the run makes no progress, ... */
    bool given_up; /* ... and its workers did not stop in time */
    bl_context *c;
    const bl__plan *plan;
    const bl__run *run;
    const void *shared;
    double timer;
    struct cpu_places *places; /* NULL: the machine has one, or they are not known */
    struct cpu_device *next;   /* abandoned */
} cpu_device;

/* Where the workers are: those that are bound, and others where they were when they last joined a run. */
typedef struct cpu_places {
    const bl__topology *topology;
    uint32_t workers; /* that there is room for */
    bl__place *now, *used;
    bl__near *near; /* made from `used`, ... */
    uint32_t *order;
    uint32_t made_for; /* ... of so many workers; 0: of none */
    bool several;
    const void *moved[2]; /* the memory that lies near its bound workers */
    bl__run run;          /* the run, with who is near to whom */
} cpu_places;

typedef struct cpu_thread {
    cpu_device *device;
    uint32_t number;
    int core; /* that it is bound to; -1: to none */
} cpu_thread;

/* ---- what there is ---- */

static void cpu_model(char *name, size_t size) {
    struct utsname system;
    snprintf(name, size, "%s CPU", uname(&system) == 0 ? system.machine : "unknown");
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
    const uint32_t workers = bl__cpus_default();
    info->workers = workers ? workers : bl__cpus_usable();
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

/* A thread that joins late was idle and asleep until now. False: the run is over. */
static bool joins_late(const bl__run *run, uint32_t number) {
    bl_store32_host(&run->tally[number].standing, BL__AT_IDLE);
    bl__sleep_end(run);
    return bl__idle_leave(run->control);
}

/* ---- places ---- */

static void free_places(cpu_device *d) {
    cpu_places *p = d->places;
    if (!p)
        return;
    free(p->now);
    free(p->used);
    free(p->near);
    free(p->order);
    free(p);
    d->places = NULL;
}

/* Room for so many workers. Without memory for it they have no places. */
static void make_places(cpu_device *d, uint32_t workers) {
    const bl__topology *topology = bl__topology_machine();
    if (!topology || (d->places && d->places->workers >= workers))
        return;
    free_places(d);
    cpu_places *p = d->places = calloc(1, sizeof *p);
    if (!p)
        return;
    p->topology = topology;
    p->workers = workers;
    p->now = malloc(workers * sizeof *p->now);
    p->used = malloc(workers * sizeof *p->used);
    p->near = malloc(workers * sizeof *p->near);
    p->order = malloc(workers * sizeof *p->order);
    if (!p->now || !p->used || !p->near || !p->order) {
        free_places(d);
        return;
    }
    for (uint32_t i = 0; i < workers; i++)
        p->now[i] = bl__topology_place(topology, -1);
}

/* Called with the lock, by the worker's own thread. */
static void note_place(cpu_device *d, uint32_t worker, int core) {
    if (d->places && worker < d->places->workers)
        d->places->now[worker] = bl__topology_place(d->places->topology, core < 0 ? sched_getcpu() : core);
}

/* The stacks and queues of bound workers move to them, once. */
static void move_memory(cpu_device *d, const bl__run *run) {
    cpu_places *p = d->places;
    if (!d->bind || (p->moved[0] == run->memory && p->moved[1] == run->queues))
        return;
    p->moved[0] = run->memory;
    p->moved[1] = run->queues;
    for (uint32_t i = 0; i < run->workers; i++) {
        if (run->memory)
            bl__topology_move(p->topology, p->now[i], run->memory + (size_t)i * run->worker_memory, run->worker_memory);
        if (run->queues && run->queue_count == run->workers)
            bl__topology_move(p->topology, p->now[i], run->queues + i * run->queue_stride, run->queue_stride);
    }
}

/* Called with the lock: the same run, and its workers know who is near. */
static const bl__run *place_workers(cpu_device *d, const bl__run *run) {
    cpu_places *p = d->places;
    const size_t bytes = run->workers * sizeof *p->now;
    if (!p || run->workers > p->workers)
        return run;
    for (uint32_t i = 0; i < d->thread_count && d->bind; i++)
        if (d->first + i < run->workers && d->numbers[i].core >= 0)
            note_place(d, d->first + i, d->numbers[i].core);
    if (d->first == 1)
        note_place(d, 0, -1); /* the calling thread */
    if (p->made_for != run->workers || memcmp(p->used, p->now, bytes)) {
        memcpy(p->used, p->now, bytes);
        p->made_for = run->workers;
        p->several = bl__near_make(p->used, run->workers, p->near, p->order);
    }
    move_memory(d, run);
    if (!p->several)
        return run;
    p->run = *run;
    p->run.near = p->near;
    p->run.order = p->order;
    return &p->run;
}

static void *thread_main(void *argument) {
    cpu_thread *self = argument;
    cpu_device *d = self->device;
    uint64_t seen = 0;
    char name[16]; /* what Linux allows */
    snprintf(name, sizeof name, "ballast-%u", (unsigned)self->number);
    pthread_setname_np(pthread_self(), name);
    bl__cpus_stay_on(self->core);
    bl__thread_belongs_to(d->c);
    pthread_mutex_lock(&d->lock);
    for (;;) {
        while (!(d->open && d->wanted && d->job != seen && self->number < d->run->workers) && !d->quit)
            pthread_cond_wait(&d->job_given, &d->lock);
        if (d->quit)
            break;
        seen = d->job;
        d->wanted--;
        d->running++;
        note_place(d, self->number, self->core);
        pthread_mutex_unlock(&d->lock);
        if (!d->late || joins_late(d->run, self->number))
            run_part(d, self->number);
        pthread_mutex_lock(&d->lock);
        d->left = true;
        if (--d->running == 0)
            pthread_cond_broadcast(&d->job_ended);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* Called with the lock: up to n more of the pool. */
static void want(cpu_device *d, uint32_t n) {
    n = n < d->absent ? n : d->absent;
    bl_store32_relaxed(&d->absent, d->absent - n);
    d->wanted += n;
    if (n > 1 || (n && d->pool < d->thread_count)) /* one alone might be one that the run may not have */
        pthread_cond_broadcast(&d->job_given);
    else if (n)
        pthread_cond_signal(&d->job_given);
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
}

/* At least `count`. */
static int start_threads(cpu_device *d, uint32_t first, uint32_t count) {
    d->pool = count;
    if (d->thread_count >= count && (d->first == first || d->thread_count == 0))
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
    d->first = first;
    for (uint32_t i = 0; i < count && !error; i++) {
        d->numbers[i].device = d;
        d->numbers[i].number = first + i;
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

void bl__sleep(const bl__run *run, uint32_t seen) {
    cpu_device *d = run->host;
    pthread_mutex_lock(&d->sleep_lock);
    while (bl_load32_relaxed(&run->control->wakes) == seen)
        pthread_cond_wait(&d->woken, &d->sleep_lock);
    pthread_mutex_unlock(&d->sleep_lock);
}

void bl__nap(const bl__run *run, uint32_t seen, uint64_t ns) {
    cpu_device *d = run->host;
    const struct timespec until = bl__after(1e-9 * (double)ns);
    pthread_mutex_lock(&d->sleep_lock);
    if (bl_load32_relaxed(&run->control->wakes) == seen)
        pthread_cond_timedwait(&d->woken, &d->sleep_lock, &until);
    pthread_mutex_unlock(&d->sleep_lock);
}

/* Sleepers first. UINT32_MAX, at the end or for a pause: threads that have not joined need not join for that. */
void bl__wake(const bl__run *run, uint32_t n) {
    cpu_device *d = run->host;
    uint32_t absent = bl_load32_relaxed(&d->absent), asleep = bl_load32_relaxed(&run->control->sleepers);
    asleep = asleep > absent ? asleep - absent : 0; /* as good as it can be known without the locks */
    pthread_mutex_lock(&d->sleep_lock);
    bl_fetch_add32_release(&run->control->wakes, 1);
    if (n >= asleep)
        pthread_cond_broadcast(&d->woken);
    else
        for (uint32_t i = 0; i < n; i++)
            pthread_cond_signal(&d->woken);
    pthread_mutex_unlock(&d->sleep_lock);
    if (absent == 0 || n == UINT32_MAX || n <= asleep)
        return;
    pthread_mutex_lock(&d->lock);
    if (d->open) /* what is submitted early is found by those that start anyway */
        want(d, n - asleep);
    pthread_mutex_unlock(&d->lock);
}

static void cpu_knock(const bl__run *run, uint32_t n) {
    bl__inlet_knock(run);
    bl__wake_for_entries(run, n);
}

/* ---- device operations ---- */

#define LOOK_SECONDS 0.05

static void *watcher_main(void *argument);

static void ring(const cpu_device *d) {
    const uint64_t once = 1;
    const int before = errno;
    (void)!write(d->bell, &once, sizeof once);
    errno = before;
}

static void cpu_look_soon(bl_context *c) { ring(c->device); }

/* Called with the lock, which others can take meanwhile. NULL: however long it takes. */
static void wait_for_bell(cpu_device *d, const struct timespec *at_most) {
    struct pollfd bell = {.fd = d->bell, .events = POLLIN};
    uint64_t rings;
    pthread_mutex_unlock(&d->lock);
    if (ppoll(&bell, 1, at_most, NULL) > 0)
        (void)!read(d->bell, &rings, sizeof rings);
    pthread_mutex_lock(&d->lock);
}

static int start_watcher(cpu_device *d) {
    if (!d->has_watcher)
        d->has_watcher = pthread_create(&d->watcher, NULL, watcher_main, d) == 0;
    return d->has_watcher ? BL_OK : BL_ENOMEM;
}

static void stop_watcher(cpu_device *d) {
    if (!d->has_watcher)
        return;
    pthread_mutex_lock(&d->lock);
    d->watcher_quit = true;
    ring(d);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->watcher, NULL);
    d->has_watcher = d->watcher_quit = false;
}

static int cpu_open(bl_context *c, const char *id) {
    (void)id;
    const uint32_t cores = c->config.workers ? bl__cpus_usable() : bl__cpus_default();
    if (cores == 0) {
        bl__detail(c, "BALLAST_WORKERS %.64s: not a number of workers (accepted: 1 or more)",
                   getenv("BALLAST_WORKERS"));
        return BL_EINVAL;
    }
    (void)bl__can_fence_all_threads(); /* to ask takes 10 ms in a process with several threads: before we start ours */
    cpu_device *d = calloc(1, sizeof *d);
    if (!d)
        return bl__no_memory(c, "the CPU's threads");
    d->cores = cores;
    d->bind = c->config.bind;
    d->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->bell < 0) {
        bl__detail(c, "no file descriptor for the CPU's watcher: %s", strerror(errno));
        free(d);
        return BL_ENOMEM;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->sleep_lock, NULL);
    pthread_cond_init(&d->job_given, NULL);
    pthread_cond_init(&d->job_ended, &monotonic);
    pthread_cond_init(&d->woken, &monotonic);
    pthread_condattr_destroy(&monotonic);
    d->c = c;
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
        close(d->bell);
        /* Locks and conditions are as other threads left them when the process forked: not to be touched. */
        free(d->threads);
        free(d->numbers);
        free_places(d);
        free(d);
        return;
    }
    stop_watcher(d);
    close(d->bell);
    if (c->dead) {
        abandon(d);
        return;
    }
    stop_threads(d);
    free_places(d);
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
static void give_up(bl_context *c) {
    cpu_device *d = c->device;
    const uint64_t job = d->job;
    bl__watch_report(c, "no task ended in time", d->run->tally, d->run->tallies, d->run);
    d->stalled = true;
    stop_workers(d->run);
    const struct timespec until = bl__after(1.8);
    while (d->active && d->job == job && (d->running || d->works))
        if (pthread_cond_timedwait(&d->job_ended, &d->lock, &until)) {
            d->given_up = true;
            pthread_cond_broadcast(&d->job_ended);
            return;
        }
}

/* Called with the lock, by the caller or the watcher. */
static void look_after(bl_context *c, bl__watch *watch) {
    cpu_device *d = c->device;
    /* Where a group has one task, its thread opens the stack anew each time, and counts nothing there. */
    const bl__run *threads = d->plan->traits & BL_TRAIT_GROUP_PER_TASK ? NULL : d->run;
    bl__seen seen = bl__watch_look(c, watch, d->run->tally, d->run->tallies, threads);
    if (seen == BL__TO_PAUSE)
        stop_workers(d->run);
    else if (seen == BL__NO_PROGRESS)
        give_up(c);
}

static void *watcher_main(void *argument) {
    cpu_device *d = argument;
    bl__watch watch;
    uint64_t job = 0;
    pthread_setname_np(pthread_self(), "ballast-watch");
    pthread_mutex_lock(&d->lock);
    while (!d->watcher_quit) {
        if (!d->active || d->stalled) {
            wait_for_bell(d, NULL);
            continue;
        }
        if (d->job != job) {
            job = d->job;
            bl__watch_start(&watch);
        }
        look_after(d->c, &watch);
        const double seconds = bl__watch_next(d->c, LOOK_SECONDS); /* less than one */
        d->dozing = true;
        wait_for_bell(d, &(struct timespec){0, (long)(1e9 * seconds)});
        d->dozing = false;
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* Called with the lock, when a run starts: a watcher that dozes wakes up soon enough by itself. */
static void tell_watcher(bl_context *c) {
    cpu_device *d = c->device;
    if (!d->dozing || bl__watch_next(c, LOOK_SECONDS) < LOOK_SECONDS)
        ring(d);
}

/* How many of the pool are wanted from the start: all for waves, and for a loop that is dealt out; one for each root,
 * or one where others may follow, so that somebody is there when a long task spawns. */
static uint32_t wanted_at_first(const bl__plan *plan, const bl__run *run, bool works, uint32_t pool) {
    const bl_program *p = plan->program;
    if (run->in_entries == 0) /* all comes from outside */
        return works ? 0 : 1;
    if (run->in_entries != 1 || run->alone || run->of_range.loop_tasks || plan->traits & BL_TRAIT_WAVES)
        return pool;
    return works && p->max_spawn == 0 && p->result_bytes == 0 ? 0 : 1;
}

/* Before any worker looks at another's. */
static void set_places(const bl__run *run, uint32_t late) {
    for (uint32_t i = 0; i < run->workers; i++) {
        bl__stack_open(bl__stack_of(run, i), run);
        run->tally[i].standing = BL__AT_START; /* an earlier launch may have left something */
        run->tally[i].spilled = 0;
    }
    /* Nobody else changes them yet, but somebody who submits may be looking. */
    bl_store64_relaxed(&run->control->idle, run->control->idle + late);
    bl_store32_relaxed(&run->control->sleepers, run->control->sleepers + late);
}

static int cpu_launch(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared) {
    cpu_device *d = c->device;
    const bool works = !c->config.caller_waits && !c->config.bind && !c->config.progress;
    const bool waves = plan->traits & BL_TRAIT_WAVES;
    make_places(d, run->workers);
    int status = start_threads(d, works, run->workers - works);
    if (status == BL_OK && works)
        status = start_watcher(d);
    if (status != BL_OK) {
        bl__detail(c, "workers %u: cannot start that many threads", (unsigned)run->workers);
        return status;
    }
    bl__watch watch;
    bl__watch_start(&watch);
    pthread_mutex_lock(&d->lock);
    d->plan = plan;
    run = d->run = place_workers(d, run);
    d->shared = shared;
    d->late = !waves && !run->alone;
    set_places(run, d->late ? d->pool : 0);
    d->job++;
    d->open = d->active = true;
    d->works = works;
    d->left = d->stalled = d->given_up = false;
    bl_store32_relaxed(&d->absent, d->pool);
    want(d, wanted_at_first(plan, run, works, d->pool));
    if (works)
        tell_watcher(c);
    pthread_mutex_unlock(&d->lock);
    if (c->open)
        bl__inlet_works(c, run);
    if (works)
        run_part(d, 0);
    pthread_mutex_lock(&d->lock);
    if (works) {
        d->works = false;
        pthread_cond_broadcast(&d->job_ended); /* the watcher may be waiting for this worker */
    }
    for (;;) {
        /* A worker that has ended tells that the run is over, or stops: in waves only its own part. Do not wait for
         * those that are wanted: one that publishes while it stops may signal a thread that has already left. */
        bool all = !d->running && (waves ? d->wanted == 0 : works || d->left);
        if (all || d->given_up || (d->stalled && !d->running))
            break;
        if (works) {
            pthread_cond_wait(&d->job_ended, &d->lock);
            continue;
        }
        const struct timespec until = bl__after(bl__watch_next(c, LOOK_SECONDS));
        pthread_cond_timedwait(&d->job_ended, &d->lock, &until);
        if (d->running || d->wanted)
            look_after(c, &watch);
    }
    d->open = d->active = false;
    d->wanted = 0;
    c->dead = d->running != 0;
    status = d->stalled ? BL_ESTALL : BL_OK;
    pthread_mutex_unlock(&d->lock);
    if (c->open)
        bl__inlet_rest(c); /* the host reads next what a knock changes */
    return status;
}

static int cpu_finish(bl_context *c, const bl__run *run, void *host, void *device, size_t bytes, size_t clear) {
    (void)run, (void)clear;
    if (c->open)
        bl__inlet_rest(c); /* it may still be knocking */
    return host_copy(c, host, device, bytes);
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
    .traits = BL_DEVICE_CPU,
    .warp = 1,
    .policies = bl__cpu_policies,
    .host_memory = true,
    .host_stacks = true,
    .workers_allocate = true,
    .most_kept = 1 << 20,
    .can_bind = true,
    .default_private = cpu_default_private,
    .enumerate = cpu_enumerate,
    .open = cpu_open,
    .look_soon = cpu_look_soon,
    .close = cpu_close,
    .alloc = host_alloc,
    .free = host_free,
    .copy_in = host_copy,
    .copy_out = host_copy,
    .send = host_copy,
    .move = host_copy,
    .zero = host_zero,
    .zero_for_launch = host_zero,
    .fit = cpu_fit,
    .manage = cpu_manage,
    .launch = cpu_launch,
    .finish = cpu_finish,
    .knock = cpu_knock,
    .timer_start = cpu_timer_start,
    .timer_stop = cpu_timer_stop,
};
