/* What comes from outside during a run, and the answers to it: the host's side of parts/outside.h.
 *
 * Threads that submit take turns. The one whose turn it is writes into the ring, and naps while the ring is full; the
 * others sleep until it is done. inlet.lock guards all of that, and workers never take it. */
#include "cluster/local.h"
#include "job.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/idle.h>
#include <ballast/parts/outside.h>
#include <ballast/parts/record.h>
#include <ballast/parts/stop.h>
#include <ballast/runtime/termination.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long the thread whose turn it is naps while the ring is full. */
enum { LEAST_NAP = 20000, MOST_NAP = 1000000 }; /* ns */

void bl__inlet_open(bl_context *c) {
    bl__inlet *in = &c->inlet;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&in->lock, NULL);
    pthread_mutex_init(&in->number_lock, NULL);
    pthread_cond_init(&in->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* ---- memory ---- */

static void free_memory(bl_context *c) {
    bl__inlet *in = &c->inlet;
    if (in->memory && c->ops->free_reached)
        c->ops->free_reached(c, in->memory);
    else if (in->memory)
        c->ops->free(c, in->memory);
    free(in->ticket_of);
    free(in->numbers);
    in->memory = NULL;
    in->ticket_of = NULL;
    in->numbers = NULL;
}

void bl__inlet_destroy(bl_context *c) {
    const bool inherited = bl__inherited(c);
    /* A worker that is stuck may still use it; and a forked child has no copy of a GPU's. */
    if (inherited ? c->ops->host_memory : !c->dead)
        free_memory(c);
    if (inherited)
        return;
    pthread_cond_destroy(&c->inlet.moved);
    pthread_mutex_destroy(&c->inlet.number_lock);
    pthread_mutex_destroy(&c->inlet.lock);
}

/* What the last run had is kept: to pin memory takes longer than many a run. */
static bool reserve_memory(bl_context *c, size_t bytes, uint32_t numbers) {
    bl__inlet *in = &c->inlet;
    int (*alloc)(bl_context *, void **, size_t) = c->ops->alloc_reached ? c->ops->alloc_reached : c->ops->alloc;
    if (in->memory && in->memory_bytes == bytes && in->numbers_room == numbers)
        return true;
    free_memory(c);
    in->ticket_of = malloc(8u * (size_t)numbers + 8);
    in->numbers = malloc(4u * (size_t)numbers + 4);
    in->memory_bytes = bytes;
    in->numbers_room = numbers;
    return in->ticket_of && in->numbers && alloc(c, &in->memory, bytes) == BL_OK;
}

static size_t lines(size_t bytes) { return (bytes + BL_LINE - 1) / BL_LINE * BL_LINE; }

/* Of a ring of parcels, each with room for all results of a record, or their sum. */
static uint32_t parcel_words(const bl_program *program) {
    const size_t results = program->results_at ? (size_t)program->join_width * program->result_bytes : sizeof(uint64_t);
    return (uint32_t)((4 + sizeof(bl__parcel) + results + 15) / 16 * 4);
}

static bl__parcels make_parcels(unsigned char *memory, uint32_t count, uint32_t stride) {
    const bl__parcels p = {(uint32_t *)(void *)memory, count - 1, stride, 0};
    for (uint32_t i = 0; i < count; i++)
        *bl__parcel_slot(&p, i) = i;
    return p;
}

/* The way out of a node whose workers are not threads, with room for `given` entries, and parcels if there are results.
 * How many bytes it takes; memory NULL: it is only measured. */
static size_t make_outlet(bl__outlet *x, unsigned char *memory, const bl_program *program, uint32_t given,
                          uint32_t stride) {
    const size_t entries = lines(sizeof(bl__notes) + 4u * (size_t)stride * given);
    const uint32_t words = program->result_bytes ? parcel_words(program) : 0;
    const size_t parcels = lines(4u * (size_t)words * given);
    memset(x, 0, sizeof *x);
    if (!given)
        return 0;
    if (memory) {
        x->notes = (bl__notes *)(void *)memory;
        x->notes->dry = UINT64_MAX; /* nothing has been said */
        x->slots = (uint32_t *)(void *)(memory + sizeof(bl__notes));
        x->mask = given - 1;
    }
    if (memory && parcels) {
        x->away = make_parcels(memory + entries, given, words);
        x->home = make_parcels(memory + entries + parcels, given, words);
    }
    return entries + 2 * parcels;
}

/* Room for `inbox` submissions; if the program has results, each has a number. Nodes have no submissions. If their
 * workers are not threads they have an outlet of `given` entries, and with results a number for each of the run's
 * roots. */
static bool make_memory(bl_context *c, const bl_program *program, uint32_t inbox, uint32_t given, uint32_t roots,
                        void *node) {
    bl__inlet *in = &c->inlet;
    const uint32_t capacity = bl__power_of_two((uint64_t)inbox + 1);
    const uint32_t stride = (1 + BL__ENTRY_HEAD + program->carried_bytes / 4 + 3) / 4 * 4;
    const uint32_t numbers = program->result_bytes && !node ? inbox : 0;
    const uint32_t answering = !program->result_bytes || c->ops->knock ? 0 : !node ? inbox : roots ? roots : 1;
    const uint32_t places = bl__power_of_two(answering);
    const size_t ring = lines(4u * (size_t)stride * capacity);
    const size_t results = lines((size_t)program->result_bytes * (numbers ? numbers : answering));
    const size_t answers = answering ? lines(4u * (size_t)places) : 0, before = ring + results + answers;
    const size_t all = before + make_outlet(&in->outlet, NULL, program, given, stride);
    if (!reserve_memory(c, all, numbers))
        return false;
    memset(in->memory, 0, all);
    in->results = (unsigned char *)in->memory + ring;
    in->ring = (bl__outside){.slots = in->memory,
                             .answers = answers ? (uint32_t *)(void *)(in->results + results) : NULL,
                             .host = c,
                             .node = node,
                             .mask = capacity - 1,
                             .stride = stride,
                             .answers_mask = places - 1};
    (void)make_outlet(&in->outlet, (unsigned char *)in->memory + before, program, given, stride);
    for (uint32_t i = 0; i < capacity; i++)
        *bl__inlet_slot(&in->ring, i) = i;
    for (uint32_t i = 0; i < numbers; i++)
        in->numbers[i] = numbers - 1 - i;
    in->free = numbers;
    return true;
}

/* ---- the run ---- */

int bl__inlet_make(bl_context *c, const bl_program *program, uint32_t entries, uint32_t given, uint32_t roots,
                   void *node, bl_context *told) {
    bl__inlet *in = &c->inlet;
    pthread_mutex_lock(&in->lock);
    const bool made = make_memory(c, program, entries, c->ops->knock ? 0 : given, roots, node);
    in->runs++;
    in->program = program;
    in->tickets = in->noticed = in->drawn = in->called = 0;
    in->hungry = false;
    in->finished = 0;
    bl_store32_host(&c->halted, 0);
    in->state = made ? BL__INLET_OPEN : BL__INLET_ENDED;
    in->status = BL_ENOMEM;
    pthread_mutex_unlock(&in->lock);
    return made ? BL_OK : bl__no_memory(told, node ? "what nodes exchange" : "submissions");
}

int bl__inlet_start(bl_context *c, const bl_program *program, bl_context *told) {
    if (c->config.checkpoint[0] || c->config.resume[0]) {
        bl__detail(told, "%s: a run that is open to submissions writes no checkpoint and resumes from none",
                   c->config.checkpoint[0] ? "checkpoint" : "resume");
        return BL_EINVAL;
    }
    if (!program->opens) {
        bl__detail(told, "%s has no code to take submissions on this device (accepted: with BL_OPEN 1)", program->name);
        return BL_ENOCODE;
    }
    return bl__inlet_make(c, program, c->config.inbox, 0, 0, NULL, told);
}

/* Without results nobody learns when a submission is done, so there the queues limit what is taken in. */
void bl__inlet_join(bl__job *j) {
    bl__inlet *in = &j->c->inlet;
    const bool numbered = j->plan.program->result_bytes && !in->ring.node;
    in->ring.most = numbered ? UINT32_MAX : j->run.capacity;
    if (numbered || in->ring.answers)
        j->run.results = in->results;
}

bool bl__results_are_here(const bl_context *c) { return c->ops->knock || (c->open && c->inlet.ring.answers); }

/* Called with the lock. Of a GPU the device's watch does it. */
static void set_bit(bl_context *c, uint32_t bit) {
    if (c->inlet.run && c->ops->knock)
        bl_fetch_or32_relaxed(&c->inlet.run->control->stop, bit);
}

/* Called with the lock. */
static void knock(bl_context *c, uint32_t n) {
    if (c->inlet.run && c->ops->knock)
        c->ops->knock(c->inlet.run, n);
}

void bl__inlet_begins(bl__job *j) {
    bl__inlet *in = &j->c->inlet;
    pthread_mutex_lock(&in->lock);
    j->run.outside = in->ring;
    j->run.outlet = in->outlet;
    in->run = &j->run;
    if (in->hungry)
        set_bit(j->c, BL__HUNGRY);
    if (bl_load32_host(&j->c->halted))
        set_bit(j->c, BL__STOP_HOST);
    if (bl__inlet_has(&in->ring, in->ring.taken))
        knock(j->c, 0); /* or workers that are about to start would sleep */
    pthread_mutex_unlock(&in->lock);
    bl__local_begins(&in->ring);
}

void bl__inlet_works(bl_context *c, const bl__run *run) {
    pthread_mutex_lock(&c->inlet.lock);
    c->inlet.working = run;
    pthread_mutex_unlock(&c->inlet.lock);
}

void bl__inlet_rest(bl_context *c) {
    pthread_mutex_lock(&c->inlet.lock);
    c->inlet.run = c->inlet.working = NULL;
    pthread_mutex_unlock(&c->inlet.lock);
}

void bl__inlet_pauses(bl__job *j, const bl__control *after) {
    bl__inlet *in = &j->c->inlet;
    bl__inlet_rest(j->c); /* where the device has not done it */
    pthread_mutex_lock(&in->lock);
    in->ring.taken += after->taken;
    in->outlet.given += after->given;
    in->outlet.away.moved += after->sent;
    in->outlet.home.moved += after->brought;
    in->finished = after->finished;
    pthread_mutex_unlock(&in->lock);
    (void)bl__inlet_stirs(j->c);
}

const uint32_t *bl__inlet_left(bl__job *j) {
    bl__outside *ring = &j->c->inlet.ring;
    while (bl__inlet_has(ring, ring->taken)) {
        const uint32_t *entry = bl__inlet_slot(ring, ring->taken++) + 1;
        if (entry[0] != entry[1]) /* else it says that results have come home */
            return entry;
    }
    return NULL;
}

bool bl__inlet_is_done(bl_context *c) {
    bl__inlet *in = &c->inlet;
    pthread_mutex_lock(&in->lock);
    const bool done = in->state == BL__INLET_CLOSED && !bl__inlet_has(&in->ring, in->ring.taken);
    pthread_mutex_unlock(&in->lock);
    return done;
}

bool bl__inlet_waits(const bl_context *c, const bl__tally *tally, uint32_t count) {
    const bl__inlet *in = &c->inlet;
    const uint32_t submitted = (uint32_t)bl_load64_host(&in->tickets);
    if (submitted && bl__inlet_has(&in->ring, submitted - 1))
        return false;
    uint32_t begun = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t standing = bl_load32_host(&tally[i].standing);
        if (standing == BL__AT_WORK || standing == BL__AT_SEARCH)
            return false;
        begun += standing != BL__AT_START;
    }
    return begun || !in->outlet.slots; /* a GPU has no reason not to begin, unless something else keeps it busy */
}

/* Called with the lock. */
static void leave_open(bl__inlet *in, int state, int status) {
    in->state = state;
    in->status = status;
    pthread_cond_broadcast(&in->moved);
}

void bl__inlet_finish(bl_context *c) {
    bl__inlet *in = &c->inlet;
    pthread_mutex_lock(&in->lock);
    if (in->state == BL__INLET_OPEN) {
        bl__inlet_shut(&in->ring, (uint32_t)in->tickets);
        leave_open(in, BL__INLET_CLOSED, BL_OK);
        knock(c, 1);
    }
    pthread_mutex_unlock(&in->lock);
}

void bl__inlet_close(bl_context *c) {
    if (!c->cluster)
        bl__inlet_finish(c);
}

void bl__inlet_end(bl_context *c, int status) {
    bl__inlet *in = &c->inlet;
    pthread_mutex_lock(&in->lock);
    if (in->state != BL__INLET_ENDED)
        leave_open(in, BL__INLET_ENDED, status);
    pthread_mutex_unlock(&in->lock);
}

/* ---- nodes that share a run: src/cluster/local.c ---- */

void bl__inlet_put(bl_context *c, const uint32_t *entries, uint32_t stride, uint32_t count) {
    bl__inlet *in = &c->inlet;
    const uint32_t words = BL__ENTRY_HEAD + in->program->carried_bytes / 4;
    pthread_mutex_lock(&in->lock);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = (uint32_t)in->tickets;
        while (!bl__inlet_is_free(&in->ring, at)) /* it has been taken: the worker that did so is copying it */
            sched_yield();
        if (entries)
            memcpy(bl__inlet_slot(&in->ring, at) + 1, entries + (size_t)i * stride, 4u * (size_t)words);
        else
            memset(bl__inlet_slot(&in->ring, at) + 1, 0, 4u * (size_t)words);
        bl__inlet_fill(&in->ring, at);
        bl_store64_host(&in->tickets, in->tickets + 1);
    }
    knock(c, count);
    pthread_mutex_unlock(&in->lock);
}

bl__loot bl__inlet_raid(bl_context *c, bl__raider *r, uint32_t join_at, const bl__rows *rows) {
    bl__inlet *in = &c->inlet;
    bl__loot loot = {.count = 0};
    pthread_mutex_lock(&in->lock);
    if (in->working && !bl__idle_count(bl__idle_read(in->working->control)))
        loot = bl__raid(r, in->working, join_at, rows);
    pthread_mutex_unlock(&in->lock);
    return loot;
}

void bl__inlet_rouse(bl_context *c) {
    pthread_mutex_lock(&c->inlet.lock);
    knock(c, 1);
    pthread_mutex_unlock(&c->inlet.lock);
}

void bl__inlet_is_wanted(bl_context *c, bool wanted) {
    bl__inlet *in = &c->inlet;
    pthread_mutex_lock(&in->lock);
    in->hungry = wanted;
    if (wanted)
        set_bit(c, BL__HUNGRY);
    else if (in->run)
        bl__inlet_unwanted(in->run);
    pthread_mutex_unlock(&in->lock);
}

void bl__inlet_halt(bl_context *c) {
    bl__inlet *in = &c->inlet;
    pthread_mutex_lock(&in->lock);
    bl_store32_host(&c->halted, 1);
    set_bit(c, BL__STOP_HOST);
    if (in->run && c->ops->knock)
        bl__wake_all(in->run);
    pthread_mutex_unlock(&in->lock);
}

/* ---- answers ---- */

static void answer(bl_context *c, uint32_t number) {
    bl__inlet *in = &c->inlet;
    const bl_config *config = &c->config;
    if (config->answer)
        config->answer(config->answer_arg, in->ticket_of[number],
                       in->results + (size_t)number * in->program->result_bytes);
    pthread_mutex_lock(&in->number_lock);
    in->numbers[in->free++] = number;
    pthread_mutex_unlock(&in->number_lock);
}

void bl__answer(const bl__run *run, uint32_t number) {
    bl_context *c = run->outside.host;
    if (run->outside.node)
        bl__node_returns(run, BL__ROOT | number, run->results + (size_t)number * c->inlet.program->result_bytes);
    else
        answer(c, number);
}

bool bl__has_porter(const bl_context *c) { return (c->cluster || c->leader) && !c->ops->knock; }

bool bl__inlet_stirs(bl_context *c) {
    if (!c->open)
        return false;
    bl__outside *ring = &c->inlet.ring;
    const uint64_t tickets = bl_load64_host(&c->inlet.tickets);
    bool stirs = tickets != c->inlet.noticed;
    c->inlet.noticed = tickets;
    if (c->inlet.outlet.slots)
        return bl__node_serves(c) || stirs;
    if (!ring->answers)
        return stirs;
    for (uint32_t number; (number = bl__answer_take(ring));) {
        answer(c, number - 1);
        stirs = true;
    }
    return stirs;
}

/* ---- submitting ---- */

/* Why nothing can be submitted, for the calling thread. */
static int refused(const bl__inlet *in) {
    if (in->state == BL__INLET_NEVER || in->ring.node)
        bl__detail(NULL, "no run was opened to submissions (accepted after bl_start_open)");
    else if (in->state == BL__INLET_ENDED)
        bl__detail(NULL, "the run that was open to submissions has ended: %s", bl_status_text(in->status));
    else
        bl__detail(NULL, "bl_submit_end has been called");
    return BL_ECLOSED;
}

/* Called with the lock: whether n more have room. The slot behind them stays free, for the end. */
static bool has_room(bl__inlet *in, uint32_t n) {
    const uint32_t at = (uint32_t)in->tickets;
    uint32_t numbers = n;
    if (in->program->result_bytes) {
        pthread_mutex_lock(&in->number_lock);
        numbers = in->free;
        pthread_mutex_unlock(&in->number_lock);
    }
    for (uint32_t i = 1; i <= n && numbers >= n; i++)
        if (!bl__inlet_is_free(&in->ring, at + i))
            return false;
    return numbers >= n;
}

/* Called with the lock, with room. */
static void put(bl__inlet *in, const void *payload) {
    const bl_program *p = in->program;
    const uint32_t at = (uint32_t)in->tickets;
    uint32_t *entry = bl__inlet_slot(&in->ring, at) + 1;
    memset(entry, 0, 4u * BL__ENTRY_HEAD + p->carried_bytes);
    entry[1] = 1; /* the indices [0, 1) */
    if (p->payload_bytes)
        memcpy(entry + BL__ENTRY_HEAD, payload, p->payload_bytes);
    if (p->result_bytes) {
        pthread_mutex_lock(&in->number_lock);
        const uint32_t number = in->numbers[--in->free];
        pthread_mutex_unlock(&in->number_lock);
        in->ticket_of[number] = in->tickets;
        entry[BL__ENTRY_HEAD + p->payload_bytes / 4] = BL__ROOT | number;
    }
    bl__inlet_fill(&in->ring, at);
    bl_store64_host(&in->tickets, in->tickets + 1);
}

static void nap(bl__inlet *in, long ns) {
    const struct timespec until = bl__after(1e-9 * (double)ns);
    pthread_cond_timedwait(&in->moved, &in->lock, &until);
}

static bool is_open(const bl__inlet *in, uint32_t run) { return in->state == BL__INLET_OPEN && in->runs == run; }

/* Called with the lock, in its turn. How many were submitted: all, unless the run is closed meanwhile. */
static uint32_t put_all(bl_context *c, const void *payloads, uint32_t count) {
    bl__inlet *in = &c->inlet;
    const uint32_t run = in->runs;
    uint32_t done = 0, told = 0;
    long wait = LEAST_NAP;
    while (done < count && is_open(in, run)) {
        if (has_room(in, 1)) {
            put(in, (const char *)payloads + (size_t)done++ * in->program->payload_bytes);
            wait = LEAST_NAP;
            continue;
        }
        knock(c, done - told);
        told = done;
        nap(in, wait);
        wait = wait < MOST_NAP / 2 ? 2 * wait : MOST_NAP;
    }
    if (done > told)
        knock(c, done - told);
    return done;
}

/* Called with the lock. */
static int take_turn(bl_context *c, const void *payloads, uint32_t count, uint64_t *ticket) {
    bl__inlet *in = &c->inlet;
    const uint32_t run = in->runs;
    const uint64_t turn = in->drawn++;
    while (turn != in->called && is_open(in, run))
        pthread_cond_wait(&in->moved, &in->lock);
    if (!is_open(in, run))
        return refused(in);
    *ticket = in->tickets;
    const uint32_t done = put_all(c, payloads, count);
    if (in->runs == run && ++in->called != in->drawn)
        pthread_cond_broadcast(&in->moved);
    if (done == count)
        return BL_OK;
    int status = refused(in);
    bl__detail(NULL, "; %u of %u were submitted", done, count);
    return status;
}

static int submit(bl_context *c, const void *payloads, size_t bytes, uint32_t count, uint64_t *ticket, bool waits) {
    int status = bl__usable(c);
    if (status != BL_OK)
        return status;
    bl__inlet *in = &c->inlet;
    uint64_t first = 0;
    bl__detail_clear(NULL);
    if (bl__is_thread_of(c)) {
        bl__detail(NULL, "a task or callback of the run cannot submit: it might wait for itself (accepted: spawn)");
        return BL_EBUSY;
    }
    pthread_mutex_lock(&in->lock);
    if (in->state != BL__INLET_OPEN || in->ring.node) {
        status = refused(in);
    } else if (bytes != in->program->payload_bytes) {
        bl__detail(NULL, "payload_bytes %zu: %s has payloads of %u bytes", bytes, in->program->name,
                   (unsigned)in->program->payload_bytes);
        status = BL_EINVAL;
    } else if (count && bytes && !payloads) {
        bl__detail(NULL, "payloads: NULL");
        status = BL_EINVAL;
    } else if (!waits && count > c->config.inbox) {
        bl__detail(NULL, "count %u: too many at once (accepted: up to config.inbox, %u)", (unsigned)count,
                   (unsigned)c->config.inbox);
        status = BL_EINVAL;
    } else if (!waits && (in->drawn != in->called || !has_room(in, count))) {
        bl__detail(NULL, "no room for %u more", (unsigned)count);
        status = BL_EFULL;
    } else {
        status = take_turn(c, payloads, count, &first);
    }
    pthread_mutex_unlock(&in->lock);
    if (ticket)
        *ticket = first;
    return status;
}

int bl_submit(bl_context *c, const void *payloads, size_t payload_bytes, uint32_t count, uint64_t *ticket) {
    return submit(c, payloads, payload_bytes, count, ticket, true);
}

int bl_try_submit(bl_context *c, const void *payloads, size_t payload_bytes, uint32_t count, uint64_t *ticket) {
    return submit(c, payloads, payload_bytes, count, ticket, false);
}

int bl_submit_end(bl_context *c) {
    int status = bl__usable(c);
    if (status != BL_OK)
        return status;
    bl__detail_clear(NULL);
    bl__inlet_close(c);
    pthread_mutex_lock(&c->inlet.lock);
    status = c->inlet.state == BL__INLET_NEVER || c->inlet.ring.node ? refused(&c->inlet) : BL_OK;
    pthread_mutex_unlock(&c->inlet.lock);
    return status;
}
