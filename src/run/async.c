/* What is started now and waited for later: runs and copies, which a thread of the context does one after another.
 *
 * While anything is under way the context is busy, as in any other call: the first start of a sequence takes it
 * (bl__enter), and the thread gives it back (bl__leave) when nothing is left. Everything else here is guarded by
 * driver.lock. The thread is started with the first use, and sleeps when there is nothing to do. */
#include "cluster/local.h"
#include "cluster/ranks.h"
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bl__started {
    struct bl__started *next;
    enum { A_RUN, A_COPY_IN, A_COPY_OUT, A_MARK } kind;
    bl__request run; /* its roots and shared data are copies, behind this struct */
    void *to;
    const void *from;
    size_t bytes;
    void *mark; /* in a stream of the user */
} bl__started;

/* ---- the thread ---- */

static int perform(bl_context *c, const bl__started *s, bl_stats *stats) {
    switch (s->kind) {
    case A_RUN:
        if (!c->dead) /* else it says why */
            bl__detail_clear(c);
        return bl__nodes_run(c, &s->run, stats);
    case A_COPY_IN:
        return bl__copy_in(c, s->to, s->from, s->bytes);
    case A_COPY_OUT:
        return bl__copy_out(c, s->to, s->from, s->bytes);
    case A_MARK:
        return c->ops->pass_mark(c, s->mark);
    }
    return BL_EINVAL;
}

/* Called with the lock, which it gives up meanwhile. After an error only marks are still passed, because they have to
 * be freed. */
static void do_first(bl_context *c) {
    bl__driver *d = &c->driver;
    bl__started *s = d->first;
    bl_stats stats = {.tasks = 0};
    int status = d->status;
    if (status == BL_OK || s->kind == A_MARK) {
        pthread_mutex_unlock(&d->lock);
        status = perform(c, s, &stats);
        pthread_mutex_lock(&d->lock);
    }
    if (d->status == BL_OK)
        d->status = status;
    d->untold = d->untold || d->status != BL_OK;
    if (s->kind == A_RUN) {
        if (s->run.open)
            bl__inlet_end(c, d->status); /* it may not have begun */
        d->stats = stats;
        d->runs = false;
    }
    d->first = s->next;
    d->done++;
    if (c->ops->reached)
        c->ops->reached(c, d->done);
    if (!d->first)
        bl__leave(c, BL_OK);
    pthread_cond_broadcast(&d->ended);
    free(s);
}

static void *driver_main(void *argument) {
    bl_context *c = argument;
    bl__driver *d = &c->driver;
    bl__thread_belongs_to(c);
    pthread_setname_np(pthread_self(), "ballast-start");
    pthread_mutex_lock(&d->lock);
    while (!d->quit)
        if (d->first)
            do_first(c);
        else
            pthread_cond_wait(&d->given, &d->lock);
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

void bl__driver_open(bl_context *c) {
    bl__driver *d = &c->driver;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->given, NULL);
    pthread_cond_init(&d->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int bl__driver_wait(bl_context *c) {
    bl__driver *d = &c->driver;
    int status = BL_OK;
    pthread_mutex_lock(&d->lock);
    if (d->first && bl__is_thread_of(c))
        status = BL_EBUSY;
    if (d->first && status == BL_OK)
        bl__inlet_close(c); /* or a run that is open would not end */
    while (d->first && status == BL_OK)
        pthread_cond_wait(&d->ended, &d->lock);
    pthread_mutex_unlock(&d->lock);
    return status;
}

void bl__driver_close(bl_context *c) {
    bl__driver *d = &c->driver;
    pthread_mutex_lock(&d->lock);
    d->quit = true;
    pthread_cond_signal(&d->given);
    pthread_mutex_unlock(&d->lock);
    if (d->has_thread)
        pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->ended);
    pthread_cond_destroy(&d->given);
    pthread_mutex_destroy(&d->lock);
}

/* ---- starting ---- */

/* BL_OK: with the lock, and something may be added; *idle: nothing is under way, so the context has been taken. */
static int claim(bl_context *c, bool run, bool *idle) {
    int status = bl__usable(c);
    if (status != BL_OK)
        return status;
    bl__driver *d = &c->driver;
    pthread_mutex_lock(&d->lock);
    *idle = !d->first;
    if (*idle)
        status = bl__enter(c);
    else if (run && d->runs)
        status = BL_EBUSY;
    if (status != BL_OK)
        pthread_mutex_unlock(&d->lock);
    return status;
}

/* After `claim`: whose detail says what is wrong with a start. While something is under way, or an error untold, that
 * of the context belongs to that. */
static bl_context *told_by(bl_context *c, bool idle) { return idle && !c->driver.untold ? c : NULL; }

/* Ends what `claim` began, without adding anything. */
static int refuse(bl_context *c, bool idle, int status) {
    if (idle)
        bl__leave(c, BL_OK);
    pthread_mutex_unlock(&c->driver.lock);
    return status;
}

/* Ends what `claim` began. NULL: there was no memory for it. */
static int add(bl_context *c, bool idle, bl__started *s) {
    bl__driver *d = &c->driver;
    if (s && !d->has_thread)
        d->has_thread = pthread_create(&d->thread, NULL, driver_main, c) == 0;
    if (!s || !d->has_thread) {
        free(s);
        return refuse(c, idle, bl__no_memory(idle ? c : NULL, "what is started"));
    }
    if (idle) {
        /* An untold error applies to this run, too, whether the last one has ended yet or not. */
        if (!d->untold)
            d->status = BL_OK;
        d->used = true;
        d->first = s;
    } else {
        d->last->next = s;
    }
    d->last = s;
    d->started++;
    d->runs = d->runs || s->kind == A_RUN;
    pthread_cond_signal(&d->given);
    pthread_mutex_unlock(&d->lock);
    return BL_OK;
}

/* With copies of what the caller need not keep. */
static bl__started *new_run(const bl__request *q) {
    const size_t at = (sizeof(bl__started) + 15) / 16 * 16, shared = (q->program->shared_bytes + 15u) / 16 * 16;
    const size_t roots = bl__request_bytes(q);
    bl__started *s = calloc(1, at + shared + roots);
    if (!s)
        return NULL;
    s->kind = A_RUN;
    s->run = *q;
    if (q->program->shared_bytes)
        s->run.shared = memcpy((char *)s + at, q->shared, q->program->shared_bytes);
    if (roots)
        s->run.roots = memcpy((char *)s + at + shared, q->roots, roots);
    return s;
}

static int start_run(bl_context *c, bl__request q) {
    bool idle;
    int status = claim(c, true, &idle);
    if (status != BL_OK)
        return status;
    bl_context *told = told_by(c, idle);
    if (!told || !c->dead)
        bl__detail_clear(told);
    if (bl__ranks_are_several(c)) {
        bl__detail(told,
                   "a run that several processes share cannot be started and waited for later (accepted: bl_run)");
        return refuse(c, idle, BL_EINVAL);
    }
    status = bl__nodes_check(c, &q, told);
    if (status == BL_OK && q.open)
        status = bl__inlet_start(c, q.program, told);
    if (status != BL_OK)
        return refuse(c, idle, status);
    status = add(c, idle, new_run(&q));
    if (status != BL_OK && q.open)
        bl__inlet_end(c, status);
    return status;
}

int bl_start(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count) {
    return start_run(c, bl__request_roots(program, shared, roots, count));
}

int bl_start_open(bl_context *c, const bl_program *program, const void *shared) {
    return start_run(c, (bl__request){.program = program, .shared = shared, .range = 1, .open = true});
}

int bl_start_join(bl_context *c, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                  void *results) {
    return start_run(c, bl__request_results(bl__request_roots(program, shared, roots, count), results));
}

int bl_start_range(bl_context *c, const bl_program *program, const void *shared, const void *payload, uint64_t count) {
    return start_run(c, bl__request_range(program, shared, payload, count));
}

int bl_start_reduce(bl_context *c, const bl_program *program, const void *shared, const void *payload, uint64_t count,
                    void *result) {
    return start_run(c, bl__request_reduction(bl__request_range(program, shared, payload, count), result));
}

static int start_copy(bl_context *c, bl__started copy) {
    bool idle;
    int status = claim(c, false, &idle);
    if (status != BL_OK)
        return status;
    status = bl__check_addresses(told_by(c, idle), copy.to, copy.from, copy.bytes);
    if (status != BL_OK)
        return refuse(c, idle, status);
    bl__started *s = malloc(sizeof *s);
    if (s)
        *s = copy;
    return add(c, idle, s);
}

int bl_start_copy_in(bl_context *c, void *device, const void *host, size_t bytes) {
    return start_copy(c, (bl__started){.kind = A_COPY_IN, .to = device, .from = host, .bytes = bytes});
}

int bl_start_copy_out(bl_context *c, void *host, const void *device, size_t bytes) {
    return start_copy(c, (bl__started){.kind = A_COPY_OUT, .to = host, .from = device, .bytes = bytes});
}

/* ---- waiting ---- */

/* Called with the lock. Until nothing is under way, or the time is up. */
static void await_end(bl__driver *d, double seconds) {
    const struct timespec until = bl__after(seconds);
    int late = 0;
    while (d->first && !late)
        late = pthread_cond_timedwait(&d->ended, &d->lock, &until);
}

static int nothing_started(bl_context *c) {
    int status = bl__enter(c); /* in another call: then this is not the time to ask */
    if (status != BL_OK)
        return status;
    bl__detail(c, "nothing was started on this context (accepted after bl_start and its like)");
    return bl__leave(c, BL_EINVAL);
}

int bl_wait_for(bl_context *c, double seconds, bl_stats *stats) {
    int status = bl__usable(c);
    if (status != BL_OK)
        return status;
    bl__driver *d = &c->driver;
    pthread_mutex_lock(&d->lock);
    if (!d->used) {
        pthread_mutex_unlock(&d->lock);
        return nothing_started(c);
    }
    const double a_century = 3e9;
    if (d->first && seconds > 0 && !bl__is_thread_of(c))
        await_end(d, seconds < a_century ? seconds : a_century);
    status = d->first ? BL_EBUSY : d->status;
    if (!d->first) {
        bl__stats_give(c, stats, &d->stats);
        d->untold = false;
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

int bl_wait(bl_context *c, bl_stats *stats) { return bl_wait_for(c, INFINITY, stats); }

uint64_t bl_progress(const bl_context *c) { return c ? bl__local_progress(c) : 0; }

/* ---- streams of the user ---- */

/* Why not, for the calling thread, as the context may be busy. */
static int check_stream(bl_context *c, void *stream) {
    int status = bl__usable(c);
    if (status != BL_OK)
        return status;
    bl__detail_clear(NULL);
    const char *wrong = !c->ops->has_streams ? "stream: only a GPU has streams"
                        : !stream            ? "stream: NULL (accepted: one from cudaStreamCreate)"
                                             : c->ops->wrong_stream(c, stream);
    if (!wrong)
        return BL_OK;
    bl__detail(NULL, "%s", wrong);
    return BL_EINVAL;
}

int bl_start_after(bl_context *c, void *stream) {
    bool idle;
    int status = check_stream(c, stream);
    if (status == BL_OK)
        status = claim(c, false, &idle);
    if (status != BL_OK)
        return status;
    void *mark = c->ops->mark(c, stream);
    bl__started *s = mark ? malloc(sizeof *s) : NULL;
    if (s)
        *s = (bl__started){.kind = A_MARK, .mark = mark};
    else if (mark)
        c->ops->pass_mark(c, mark);
    return add(c, idle, s);
}

int bl_hold_stream(bl_context *c, void *stream) {
    int status = check_stream(c, stream);
    if (status != BL_OK)
        return status;
    bl__driver *d = &c->driver;
    pthread_mutex_lock(&d->lock);
    const bool idle = !d->first;
    const uint32_t number = d->started;
    pthread_mutex_unlock(&d->lock);
    if (idle || c->ops->hold(c, stream, number))
        return BL_OK;
    bl__detail(NULL, "the device cannot make a stream wait for a word in memory");
    return BL_EDEVICE;
}
