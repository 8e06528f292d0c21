/* Timelines: memory for what the workers write about themselves (parts/trace.h), and spans without gaps made of it. */
#include "internal.h"

#include <ballast/parts/trace.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROOM = 4096, LEAST_ROOM = 16, MOST_SPANS = 1 << 20 };

int bl_trace_start(bl_context *c, uint32_t spans_per_worker) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    free(c->timelines.spans);
    memset(&c->timelines, 0, sizeof c->timelines);
    c->timelines.room = spans_per_worker == 0 ? DEFAULT_ROOM : spans_per_worker < 2 ? 2 : spans_per_worker;
    return bl__leave(c, BL_OK);
}

int bl_trace_stop(bl_context *c) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    c->timelines.room = 0;
    return bl__leave(c, BL_OK);
}

const bl_span *bl_trace(const bl_context *c, size_t *count) {
    const bool readable = c && !bl_load32_acquire(&c->busy); /* else a run is writing them */
    if (count)
        *count = readable ? c->timelines.count : 0;
    return readable ? c->timelines.spans : NULL;
}

/* ---- before a run ---- */

/* Short timelines for many workers: what they fill has to be copied, written and looked at. */
static uint32_t room_for(const bl_context *c, uint32_t workers) {
    uint32_t room = c->timelines.room, share = MOST_SPANS / workers;
    share = share < LEAST_ROOM ? LEAST_ROOM : share;
    return room < share ? room : share;
}

/* Heads, then the marks of each worker. */
static size_t marks_of(uint32_t room) { return (size_t)room + BL__TRACE_SLACK; }
static size_t bytes_of(uint32_t workers, uint32_t room) {
    return workers * (sizeof(bl__trace) + marks_of(room) * sizeof(bl__mark));
}

int bl__trace_begin(bl_context *c, bl__run *run) {
    if (!c->timelines.room)
        return BL_OK;
    uint32_t room = room_for(c, run->tallies);
    size_t bytes = bytes_of(run->tallies, room);
    void *memory;
    bl__trace *heads = calloc(run->tallies, sizeof *heads);
    int status = heads ? bl__alloc(c, &memory, bytes) : bl__no_memory(c, "timelines");
    if (status == BL_OK) {
        run->trace = memory;
        for (uint32_t i = 0; i < run->tallies; i++) {
            heads[i].marks = (bl__mark *)(void *)(run->trace + run->tallies) + i * marks_of(room);
            heads[i].waves = (bl__wave_mark *)(void *)heads[i].marks;
            heads[i].room = room;
        }
        status = bl__zero(c, memory, bytes);
    }
    if (status == BL_OK)
        status = bl__copy_in(c, memory, heads, sizeof *heads * run->tallies);
    free(heads);
    return status;
}

/* ---- after it ---- */

/* One run's timelines on their way into the context's. */
typedef struct collection {
    bl__timelines *to;
    const bl__trace *heads; /* copies of what the workers wrote */
    const bl__mark *marks;
    uint32_t workers, room, launches;
    bool waves;
    uint64_t *began, *ended; /* launch by launch; UINT64_MAX and 0: its spans are now part of others */
    int status;
} collection;

/* What continues the last span is made part of it. */
static bool joins_last(const bl__timelines *to, const bl_span *span) {
    bl_span *last = to->count ? &to->spans[to->count - 1] : NULL;
    if (!last || last->worker != span->worker || last->kind != span->kind || last->launch != span->launch)
        return false;
    last->end = span->end;
    last->tasks += span->tasks;
    last->steals += span->steals;
    last->steal_attempts += span->steal_attempts;
    last->parts += span->parts - 1;
    return true;
}

static void add(collection *m, bl_span span) {
    bl__timelines *to = m->to;
    span.launch += to->launches;
    span.begin -= to->origin;
    span.end -= to->origin;
    if (joins_last(to, &span))
        return;
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 1024;
        bl_span *larger = realloc(to->spans, capacity * sizeof *larger);
        if (!larger) {
            m->status = BL_ENOMEM;
            return;
        }
        to->spans = larger;
        to->capacity = capacity;
    }
    to->spans[to->count++] = span;
}

static uint64_t wait_until(collection *m, uint32_t worker, bl_span_kind kind, uint32_t launch, uint64_t from,
                           uint64_t to) {
    if (to <= from)
        return from;
    add(m, (bl_span){.worker = worker, .kind = kind, .begin = from, .end = to, .launch = launch, .parts = 1});
    return to;
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* A worker that had ended in a launch waited for the others; from there until the next launch was a pause. */
static void fill_gap(collection *m, uint32_t worker, uint32_t launch, uint64_t from, uint64_t to) {
    for (; launch + 1 < m->launches && from < to; launch++) {
        from = wait_until(m, worker, BL_SPAN_IDLE, launch, from, earlier(m->ended[launch], to));
        if (m->began[launch + 1] != UINT64_MAX)
            from = wait_until(m, worker, BL_SPAN_PAUSE, launch, from, earlier(m->began[launch + 1], to));
    }
    wait_until(m, worker, BL_SPAN_IDLE, launch, from, to);
}

/* A worker that was ready and ran nothing had begun to look for work. */
static bl_span_kind kind_of(const bl_span *s, uint32_t standing) {
    if (standing == BL__AT_IDLE)
        return BL_SPAN_IDLE;
    return standing == BL__AT_WORK && s->tasks ? BL_SPAN_TASKS : BL_SPAN_SEARCH;
}

/* Between two marks; on the device's clock, as are the others here until they are added. */
static bool between_marks(const bl__mark *mark, bl_span *s) {
    s->begin = mark[0].at;
    s->end = mark[1].at;
    s->tasks = mark[1].tasks - mark[0].tasks;
    s->steals = mark[1].steals - mark[0].steals;
    s->steal_attempts = mark[1].attempts - mark[0].attempts;
    s->launch = mark[0].launch;
    s->parts = mark[0].parts;
    s->kind = kind_of(s, mark[0].kind);
    return mark[0].kind != BL__AT_END;
}

/* What a worker did of wave i. Those that are past the room share the last place. */
static bool in_wave(const collection *m, const bl__wave_mark *wave, uint32_t i, bl_span *s) {
    s->begin = ~wave->begin;
    s->end = wave->end;
    s->tasks = wave->tasks;
    s->launch = i + 1 < m->room ? i : m->launches - 1;
    s->parts = s->launch - i + 1;
    s->kind = s->tasks ? BL_SPAN_TASKS : BL_SPAN_IDLE;
    return wave->end != 0;
}

static uint32_t spans_of(const collection *m, uint32_t worker) {
    uint32_t marks = m->heads[worker].count;
    return m->waves ? (m->launches < m->room ? m->launches : m->room) : marks ? marks - 1 : 0;
}

/* Span i of what a worker wrote; false: none there, it had ended or had got nothing. */
static bool span_at(const collection *m, uint32_t worker, uint32_t i, bl_span *s) {
    const bl__mark *marks = m->marks + worker * marks_of(m->room);
    memset(s, 0, sizeof *s);
    s->worker = worker;
    return m->waves ? in_wave(m, (const bl__wave_mark *)(const void *)marks + i, i, s) : between_marks(marks + i, s);
}

static void add_worker(collection *m, uint32_t worker) {
    uint64_t reached = m->began[0];
    uint32_t launch = 0, count = spans_of(m, worker);
    for (uint32_t i = 0; i < count; i++) {
        bl_span s;
        if (!span_at(m, worker, i, &s))
            continue;
        if (s.begin < reached) /* processors may differ by a tick about what time it is */
            s.begin = reached;
        if (s.end < s.begin)
            s.end = s.begin;
        fill_gap(m, worker, launch, reached, s.begin);
        reached = s.end;
        launch = s.launch;
        if (s.end > s.begin || s.tasks || s.steals || s.steal_attempts)
            add(m, s);
    }
    fill_gap(m, worker, launch, reached, m->to->end);
}

static void find_bounds(collection *m) {
    for (uint32_t i = 0; i < m->launches; i++) {
        m->began[i] = UINT64_MAX;
        m->ended[i] = 0;
    }
    for (uint32_t worker = 0; worker < m->workers; worker++)
        for (uint32_t i = 0, count = spans_of(m, worker); i < count; i++) {
            bl_span s;
            if (!span_at(m, worker, i, &s))
                continue;
            uint32_t first = s.parts > 1 ? 0 : s.launch; /* of a merged one nobody knows */
            m->began[first] = earlier(m->began[first], s.begin);
            m->ended[s.launch] = s.end > m->ended[s.launch] ? s.end : m->ended[s.launch];
        }
}

/* Behind `old` spans of earlier runs stand those of this one: together again worker by worker. */
static int weave(bl__timelines *to, size_t old) {
    bl_span *woven = malloc(to->capacity * sizeof *woven);
    if (!woven)
        return BL_ENOMEM;
    for (size_t a = 0, b = old, i = 0; i < to->count; i++) {
        bool earlier_run = a < old && (b == to->count || to->spans[a].worker <= to->spans[b].worker);
        woven[i] = to->spans[earlier_run ? a++ : b++];
    }
    free(to->spans);
    to->spans = woven;
    return BL_OK;
}

static int collect(collection *m) {
    bl__timelines *to = m->to;
    bool first = to->launches == 0;
    uint64_t before = to->end;
    size_t old = to->count;
    find_bounds(m);
    if (m->began[0] == UINT64_MAX) /* there was nothing to run */
        return BL_OK;
    if (first)
        to->origin = m->began[0];
    for (uint32_t i = 0; i < m->launches; i++)
        to->end = m->ended[i] > to->end ? m->ended[i] : to->end;
    for (uint32_t worker = 0; worker < m->workers && m->status == BL_OK; worker++) {
        if (!first)
            wait_until(m, worker, BL_SPAN_PAUSE, 0, before, m->began[0]);
        add_worker(m, worker);
    }
    to->launches += m->launches;
    return m->status == BL_OK && !first ? weave(to, old) : m->status;
}

static int fetch_and_collect(bl_context *c, const bl__run *run, bool waves) {
    uint32_t launches = run->launch + 1, room = room_for(c, run->tallies);
    size_t bytes = bytes_of(run->tallies, room);
    bl__trace *copy = malloc(bytes);
    uint64_t *bounds = calloc(launches, 2 * sizeof *bounds);
    int status = copy && bounds ? bl__copy_out(c, copy, run->trace, bytes) : BL_ENOMEM;
    if (status == BL_OK) {
        collection m = {.to = &c->timelines,
                        .heads = copy,
                        .marks = (const bl__mark *)(const void *)(copy + run->tallies),
                        .workers = run->tallies,
                        .room = room,
                        .launches = launches,
                        .waves = waves,
                        .began = bounds,
                        .ended = bounds + launches};
        status = collect(&m);
    }
    if (status == BL_ENOMEM)
        bl__no_memory(c, "timelines");
    free(bounds);
    free(copy);
    return status;
}

int bl__trace_end(bl_context *c, bl__run *run, bool waves, int status) {
    if (!run->trace || c->dead)
        return status;
    if (status == BL_OK)
        status = fetch_and_collect(c, run, waves);
    bl__free(c, run->trace);
    run->trace = NULL;
    return status;
}
