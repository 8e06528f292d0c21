/* The memory of an exploration: C atomics modelled by views, after Kang et al. 2017 (without promises).
 *
 * Each location keeps its stores, oldest first: its modification order. Each fiber has a view, the oldest store that it
 * may still read per location. A load returns any store from there on and advances the view to it; a store is appended,
 * whatever the fiber's view.
 *   release/acquire   A release store carries the fiber's view; an acquire load that reads it joins it to its own.
 *   read-modify-write reads the newest store, and carries on what that store carries (release sequences as in C++20:
 *                     any plain store ends them, even one by the same thread).
 *   compare-and-swap  that fails is a load with the failure order and may return an older store with another value. One
 *                     of 128 bits that fails reads the newest of both halves.
 *   fences            An acquire fence joins what relaxed loads have read before it; a relaxed store carries the view
 *                     of the last release fence before it.
 *   seq_cst           is acquire and release, plus what RC11 demands of seq_cst accesses and fences: order.c.
 *   light and heavy   A heavy fence is a seq_cst fence; a light fence orders only against heavy fences of others, as
 *                     two seq_cst fences would. Both a full fence on either side and membarrier with a compiler
 *                     barrier guarantee this.
 *   plain data        (bl_data_read, bl_data_write) has clocks in the views: an access that does not happen after all
 *                     earlier ones that it conflicts with is a race, and an error. Initial contents happened before
 *                     everything.
 *   meetings          of lanes join the views of all of them.
 *
 * The model is RC11 (Lahav et al. 2017), the weakest of the three where it differs from C11 and C++20, except for
 * release sequences, which are the shorter ones of C++20. It shows nothing that RC11 forbids: tests/test_rc11_sim.c
 * compares it with the axioms. What it cannot show, so that it misses errors that depend on it:
 *   - load buffering: a load never returns a store that comes later in the execution. So a missing order goes
 *     unnoticed if it only keeps a load before another thread's later store (a racing read of a slot before it is
 *     overwritten); if the read is plain data, it is a race and is found. RC11 itself allows load buffering only if
 *     nothing depends on the loaded value;
 *   - 2+2W and the like: a store is never ordered before an earlier one, so modification orders agree with program
 *     order across locations (of two threads that write x then y and y then x, the first stores cannot both come last);
 *   - fetch_max always stores, even the same value;
 *   - plain C accesses that bypass the platform's operations see the newest store and are not checked;
 *   - words accessed in two sizes, or both as atomics and as plain data, are reported as errors (128 bits over two
 *     words of 64 are allowed);
 *   - one site of a fiber reads a store that is not the newest at most options.stale times. */
#undef BL_TARGET_SIM
#include "ballast/platform/platform.h"
#include "explorer_parts.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 64 };

/* ---- set up ---- */

bool bl__views_open(bl__explorer *x) {
    x->message_capacity = 2 * x->max_steps + 2 * BL__LOCATIONS;
    x->messages = malloc(sizeof *x->messages * x->message_capacity);
    x->arena_capacity = 1 << 14;
    x->arena = malloc(sizeof *x->arena * x->arena_capacity);
    uint32_t size = 1024;
    while (size < 2 * x->max_steps)
        size *= 2;
    x->stale_mask = size - 1;
    x->stale = calloc(size, sizeof *x->stale);
    return x->messages && x->arena && x->stale;
}

void bl__views_close(bl__explorer *x) {
    free(x->messages);
    free(x->arena);
    free(x->stale);
}

static uint32_t width(const bl__explorer *x) { return x->count + x->location_count; }

void bl__views_reset(bl__explorer *x) {
    size_t bytes = sizeof(uint16_t) * width(x);
    for (uint32_t i = 0; i < x->count; i++) {
        bl__explored *f = &x->fibers[i];
        memset(f->view, 0, bytes);
        memset(f->acquired, 0, bytes);
        memset(f->released, 0, bytes);
        f->view[i] = 1;
    }
    bl__order_reset(x);
    x->location_count = x->data_count = x->message_count = x->writes = x->arena_used = 0;
    x->generation++;
}

static void join(uint16_t *to, const uint16_t *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

void bl__views_meet(bl__explorer *x, uint32_t first, uint32_t count) {
    uint16_t *all = x->fibers[first].view;
    for (uint32_t i = first; i < first + count; i++)
        bl__order_meet(x, i);
    for (uint32_t i = first + 1; i < first + count; i++)
        join(all, x->fibers[i].view, width(x));
    for (uint32_t i = first + 1; i < first + count; i++)
        memcpy(x->fibers[i].view, all, sizeof *all * width(x));
    for (uint32_t i = first; i < first + count; i++) {
        bl__order_meet(x, i);
        x->fibers[i].view[i]++;
    }
}

/* ---- places ---- */

static bl__granule *granule_of(bl__explorer *x, const void *p) {
    uintptr_t key = (uintptr_t)p >> 3;
    uint32_t at = (uint32_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> 40);
    for (;; at++) {
        bl__granule *g = &x->granules[at % BL__GRANULES];
        if (g->generation != x->generation) {
            if (x->location_count + x->data_count >= BL__GRANULES / 2)
                bl__explore_wrong(x, "more words than an exploration can keep");
            *g = (bl__granule){.key = key, .generation = x->generation};
            return g;
        }
        if (g->key == key)
            return g;
    }
}

static uint64_t in_memory(const void *p, unsigned bits) {
    return bits == 32 ? bl_load32_relaxed((const uint32_t *)p) : bl_load64_relaxed((const uint64_t *)p);
}

static uint16_t new_location(bl__explorer *x, void *p, unsigned bits) {
    if (x->location_count + 1 >= BL__LOCATIONS)
        bl__explore_wrong(x, "more than %d atomic words", BL__LOCATIONS - 2);
    uint16_t number = (uint16_t)++x->location_count;
    bl__location *at = &x->locations[number];
    memset(at, 0, sizeof *at);
    at->p = p;
    at->bits = (uint16_t)bits;
    at->index = (uint16_t)(x->count + number - 1);
    at->newest = ++x->message_count;
    x->messages[at->newest] = (bl__message){.value = in_memory(p, bits)};
    for (uint32_t i = 0; i < x->count; i++)
        x->fibers[i].view[at->index] = x->fibers[i].acquired[at->index] = x->fibers[i].released[at->index] = 0;
    return number;
}

static void say_mixed(bl__explorer *x, const void *p, const char *what) {
    char name[64];
    bl__location_text(x, p, name, sizeof name);
    bl__explore_wrong(x, "%s: %s", name, what);
}

static bl__location *location_of(bl__explorer *x, const void *p, unsigned bits) {
    bl__granule *g = granule_of(x, p);
    uint32_t half = ((uintptr_t)p >> 2) & 1;
    uint16_t number = g->location[half];
    if (!number) {
        if (g->data[half] || (bits == 64 && g->data[1]))
            say_mixed(x, p, "both plain data and atomic");
        if (bits == 64 ? g->location[1] != 0 : half && g->location[0] && x->locations[g->location[0]].bits == 64)
            say_mixed(x, p, "accessed in two sizes");
        number = g->location[half] = new_location(x, (void *)(uintptr_t)p, bits);
    }
    if (x->locations[number].bits != bits)
        say_mixed(x, p, "accessed in two sizes");
    return &x->locations[number];
}

/* ---- parts of an operation ---- */

typedef struct operation {
    bl__explored *f;
    bl__location *at;
    uint32_t site;
    bl__sim_order order, failed;
    bl__effect effect;
} operation;

static bool releases(bl__sim_order o) { return o == BL__SIM_RELEASE || o >= BL__SIM_ACQ_REL; }

/* Waits for the fiber's turn for the site's operation; uses the mutant's order if it is that site. */
static operation begin(bl__explorer *x, bl__sim_site *site, bl__step_kind kind, bl__location *a, bl__location *b,
                       uint64_t seen) {
    operation o = {.f = &x->fibers[x->self], .at = a, .site = bl__site_id(x, site)};
    bool mutant = o.site == x->options.mutant.site && o.site;
    o.order = (bl__sim_order)(mutant ? x->options.mutant.order : site->order);
    o.failed = (bl__sim_order)(mutant ? x->options.mutant.failed : site->failed);
    o.f->step = (bl__step){.kind = (uint8_t)kind, .site = o.site, .seen = seen, .at = {a, b}};
    bl__explore_point(x);
    o.effect.exact = x->options.sequential;
    return o;
}

static void finish(bl__explorer *x, operation *o) {
    bl__explore_did(x, &o->effect);
    o->f->view[x->self]++; /* nothing stored so far tells its readers of what follows */
}

static void row(bl__explorer *x, const operation *o, bl__row r) {
    if (!x->rows)
        return;
    r.site = o->site;
    r.fiber = (uint16_t)x->self;
    r.order = (uint8_t)(r.failed ? o->failed : o->order);
    r.p = r.p ? r.p : o->at ? o->at->p : NULL;
    bl__table_row(x, r);
}

static bl__message *append(bl__explorer *x, const operation *o, bl__location *at, uint64_t value) {
    uint16_t stamp = bl__newest(x, at)->stamp;
    bl__message *m = &x->messages[++x->message_count];
    *m = (bl__message){.value = value,
                       .previous = at->newest,
                       .stamp = (uint16_t)(stamp + 1),
                       .event = (uint16_t)x->steps,
                       .fiber = (uint8_t)x->self,
                       .clock = o->f->view[x->self]};
    at->newest = x->message_count;
    o->f->view[at->index] = m->stamp;
    if (at->bits == 32)
        bl_store32_relaxed((uint32_t *)at->p, (uint32_t)value);
    else
        bl_store64_relaxed((uint64_t *)at->p, value);
    x->writes++;
    o->f->own_writes++;
    return m;
}

/* What readers of m learn. read: the store that a read-modify-write replaces. */
static void publish(bl__explorer *x, const operation *o, bl__message *m, const bl__message *read) {
    const uint16_t *own = releases(o->order) ? o->f->view : o->f->fenced ? o->f->released : NULL;
    bool passes_on = read && read->width;
    if (!own && !passes_on)
        return;
    m->width = (uint16_t)width(x);
    m->view = bl__arena_take(x, m->width);
    uint16_t *view = x->arena + m->view;
    if (own)
        memcpy(view, own, sizeof *view * m->width);
    else
        memset(view, 0, sizeof *view * m->width);
    if (passes_on)
        join(view, x->arena + read->view, read->width);
}

static void read_from(bl__explorer *x, operation *o, bl__location *at, const bl__message *m, bl__sim_order order) {
    uint16_t *seen = &o->f->view[at->index];
    *seen = *seen > m->stamp ? *seen : m->stamp;
    join(bl__acquires(order) ? o->f->view : o->f->acquired, x->arena + m->view, m->width);
}

/* And nothing more. */
static void only_read(bl__explorer *x, operation *o, bl__location *at, bl__message *m, bl__sim_order order) {
    read_from(x, o, at, m, order);
    bl__order_read(x, at, m, bl__is_sc(order));
}

/* ---- which store a load returns ---- */

static bl__stale *stale_of(bl__explorer *x, uint32_t site, const bl__message *m) {
    uint64_t key = ((uint64_t)(m - x->messages) << 32 | site << 4 | x->self) + 1;
    for (uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32);; at++) {
        bl__stale *s = &x->stale[at & x->stale_mask];
        if (s->generation != x->generation)
            *s = (bl__stale){key, x->generation, 0};
        if (s->key == key)
            return s;
    }
}

/* The store that a replayed line names, if it may be read. */
static bl__message *follow(bl__explorer *x, const bl__location *at, uint16_t oldest) {
    bl__message *m = &x->messages[at->newest];
    uint32_t behind = x->steps <= x->line_count ? x->line[x->steps - 1].behind : 0;
    for (; behind && m->previous && m->stamp > oldest; behind--)
        m = &x->messages[m->previous];
    return m;
}

/* A store that the fiber may read with this order; unless it is the newest, its value must differ from the expected
 * one. */
static bl__message *pick(bl__explorer *x, operation *o, bl__sim_order order, const uint64_t *expected) {
    bl__message *all[CANDIDATES], *newest = &x->messages[o->at->newest], *m = newest;
    uint32_t n = 0;
    uint16_t oldest = o->f->view[o->at->index];
    oldest = oldest > x->least ? oldest : x->least;
    if (x->options.sequential)
        return newest;
    if (x->line) {
        m = follow(x, o->at, oldest);
        m = bl__readable(x, o->f, o->at, m, order) ? m : newest;
    } else if (newest->stamp > oldest) {
        for (; m->stamp >= oldest && n < CANDIDATES; m = &x->messages[m->previous]) {
            bool fits = m == newest || ((!expected || m->value != *expected) && bl__readable(x, o->f, o->at, m, order));
            if (fits && (m == newest || stale_of(x, o->site, m)->count < x->options.stale))
                all[n++] = m;
            else
                x->result->left_out += fits;
            if (!m->previous)
                break;
        }
        m = n > 1 ? all[bl__explore_pick(x, n)] : all[0];
    }
    if (m != newest) {
        stale_of(x, o->site, m)->count++;
        o->f->stale = true;
        x->decisions[x->steps - 1].behind = (uint16_t)(newest->stamp - m->stamp);
    }
    return m;
}

static uint16_t behind(const bl__explorer *x, const bl__location *at, const bl__message *m) {
    return (uint16_t)(bl__newest(x, at)->stamp - m->stamp);
}

/* ---- operations ---- */

uint64_t bl__views_load(bl__explorer *x, bl__sim_site *site, const void *p, unsigned bits) {
    bl__location *at = location_of(x, p, bits);
    operation o = begin(x, site, BL__STEP_LOAD, at, NULL, 0);
    bl__message *m = pick(x, &o, o.order, NULL);
    only_read(x, &o, at, m, o.order);
    o.effect.from[0] = m->event;
    row(x, &o, (bl__row){.reads = true, .read = m->value, .behind = behind(x, at, m)});
    finish(x, &o);
    return m->value;
}

void bl__views_store(bl__explorer *x, bl__sim_site *site, void *p, unsigned bits, uint64_t v) {
    bl__location *at = location_of(x, p, bits);
    operation o = begin(x, site, BL__STEP_STORE, at, NULL, 0);
    bl__message *m = append(x, &o, at, v);
    publish(x, &o, m, NULL);
    bl__order_wrote(x, at, m, bl__is_sc(o.order));
    o.effect.wrote = true;
    row(x, &o, (bl__row){.writes = true, .written = v});
    finish(x, &o);
}

/* The write of a read-modify-write that read m. */
static void replace(bl__explorer *x, operation *o, bl__location *at, const bl__message *m, uint64_t v) {
    read_from(x, o, at, m, o->order);
    bl__message *mine = append(x, o, at, v);
    publish(x, o, mine, m);
    bl__order_wrote(x, at, mine, bl__is_sc(o->order));
    o->effect.wrote = true;
}

static uint64_t modified(bl__sim_op op, uint64_t old, uint64_t v) {
    switch (op) {
    case BL__SIM_ADD:
        return old + v;
    case BL__SIM_MAX:
        return old > v ? old : v;
    case BL__SIM_MIN:
        return old < v ? old : v;
    case BL__SIM_AND:
        return old & v;
    case BL__SIM_OR:
        return old | v;
    case BL__SIM_XOR:
        return old ^ v;
    default:
        return v;
    }
}

uint64_t bl__views_rmw(bl__explorer *x, bl__sim_site *site, bl__sim_op op, void *p, unsigned bits, uint64_t v) {
    bl__location *at = location_of(x, p, bits);
    operation o = begin(x, site, BL__STEP_STORE, at, NULL, 0);
    const bl__message *m = bl__newest(x, at);
    uint64_t now = modified(op, m->value, v);
    now = bits == 32 ? (uint32_t)now : now;
    replace(x, &o, at, m, now);
    o.effect.from[0] = m->event;
    row(x, &o, (bl__row){.reads = true, .writes = true, .read = m->value, .written = now});
    finish(x, &o);
    return m->value;
}

bool bl__views_cas(bl__explorer *x, bl__sim_site *site, void *p, unsigned bits, uint64_t *expected, uint64_t v) {
    bl__location *at = location_of(x, p, bits);
    operation o = begin(x, site, BL__STEP_CAS, at, NULL, 0);
    bl__message *m = pick(x, &o, o.failed, expected);
    bool swaps = m->value == *expected && m == bl__newest(x, at);
    uint16_t old = behind(x, at, m);
    o.effect.from[0] = m->event;
    o.effect.tried = true;
    if (swaps)
        replace(x, &o, at, m, v);
    else
        only_read(x, &o, at, m, o.failed);
    row(x, &o,
        (bl__row){.reads = true, .writes = swaps, .failed = !swaps, .read = m->value, .written = v, .behind = old});
    finish(x, &o);
    *expected = m->value;
    return swaps;
}

bool bl__views_cas128(bl__explorer *x, bl__sim_site *site, void *p, void *expected, const void *v) {
    bl__location *at[2] = {location_of(x, p, 64), location_of(x, (uint64_t *)p + 1, 64)};
    operation o = begin(x, site, BL__STEP_CAS, at[0], at[1], 0);
    const bl__message *m[2] = {bl__newest(x, at[0]), bl__newest(x, at[1])};
    uint64_t found[2] = {m[0]->value, m[1]->value}, now[2];
    bool swaps = !memcmp(found, expected, 16);
    memcpy(now, v, 16);
    o.effect.tried = o.effect.exact = true;
    for (int i = 0; i < 2; i++) { /* both halves are read before either is written, so that the views cover both */
        o.effect.from[i] = m[i]->event;
        read_from(x, &o, at[i], m[i], swaps ? o.order : o.failed);
    }
    for (int i = 0; i < 2 && swaps; i++)
        o.f->view[at[i]->index] = (uint16_t)(m[i]->stamp + 1);
    for (int i = 0; i < 2; i++) {
        if (swaps)
            replace(x, &o, at[i], m[i], now[i]);
        else
            bl__order_read(x, at[i], &x->messages[at[i]->newest], false);
        row(x, &o,
            (bl__row){
                .reads = true, .writes = swaps, .failed = !swaps, .read = found[i], .written = now[i], .p = at[i]->p});
    }
    finish(x, &o);
    memcpy(expected, found, 16);
    return swaps;
}

static bl__ordered_kind kind_of(uint8_t op, bl__sim_order order, bool mutant) {
    if (!bl__is_sc(order))
        return BL__ORDERED_NONE;
    if (op == BL__SIM_LIGHT)
        return BL__ORDERED_LIGHT;
    return op == BL__SIM_HEAVY && !mutant ? BL__ORDERED_HEAVY : BL__ORDERED_FENCE;
}

/* Fences are local to the fiber and are not steps. */
void bl__views_fence(bl__explorer *x, bl__sim_site *site) {
    uint32_t id = bl__site_id(x, site);
    bool mutant = id && id == x->options.mutant.site, light = site->op == BL__SIM_LIGHT;
    bl__sim_order order = (bl__sim_order)(mutant ? x->options.mutant.order : site->order);
    operation o = {.f = &x->fibers[x->self], .site = id, .order = order};
    if (bl__acquires(order) && !light)
        join(o.f->view, o.f->acquired, width(x));
    if (releases(order) && !light) {
        memcpy(o.f->released, o.f->view, sizeof *o.f->view * width(x));
        o.f->fenced = true;
    }
    bl__order_fence(x, kind_of(site->op, order, mutant));
    row(x, &o, (bl__row){0});
    o.f->view[x->self]++;
}

/* ---- waiting ---- */

void bl__views_wait(bl__explorer *x, bl__sim_site *site, const void *p, unsigned bits, uint64_t seen) {
    bl__location *at = location_of(x, p, bits);
    operation o = begin(x, site, BL__STEP_WAIT, at, NULL, seen);
    bl__message *m = bl__readable_changed(x, o.f);
    only_read(x, &o, at, m, BL__SIM_RELAXED);
    o.effect.from[0] = m->event;
    row(x, &o, (bl__row){.reads = true, .read = m->value, .behind = behind(x, at, m)});
    finish(x, &o);
}

void bl__views_yield(bl__explorer *x, bl__sim_site *site) {
    operation o = begin(x, site, BL__STEP_YIELD, NULL, NULL, 0);
    o.f->stale = false;
    o.f->mark = x->writes - o.f->own_writes;
    row(x, &o, (bl__row){0});
    finish(x, &o);
}

/* ---- plain data ---- */

static bl__data *data_of(bl__explorer *x, const void *p) {
    bl__granule *g = granule_of(x, p);
    uint32_t half = ((uintptr_t)p >> 2) & 1;
    if (!g->data[half]) {
        if (g->location[half] || (g->location[0] && x->locations[g->location[0]].bits == 64))
            say_mixed(x, p, "both plain data and atomic");
        if (x->data_count + 1 >= BL__LOCATIONS)
            bl__explore_wrong(x, "more than %d words of plain data", BL__LOCATIONS - 2);
        g->data[half] = (uint16_t)++x->data_count;
        memset(&x->data[x->data_count], 0, sizeof x->data[0]);
    }
    return &x->data[g->data[half]];
}

static void say_race(bl__explorer *x, const void *p, uint32_t a, uint32_t site_a, uint32_t site_b) {
    char name[64], first[64], second[64];
    bl__location_text(x, p, name, sizeof name);
    bl__site_text(site_a, first, sizeof first);
    bl__site_text(site_b, second, sizeof second);
    bl__explore_wrong(x, "race on %s: thread %u at %s, thread %u at %s", name, a / x->lanes, first, x->self / x->lanes,
                      second);
}

static void data_word(bl__explorer *x, const operation *o, const void *p, bool write) {
    bl__data *d = data_of(x, p);
    if (d->written && o->f->view[d->writer] < d->written)
        say_race(x, p, d->writer, d->write_site, o->site);
    for (uint32_t i = 0; write && i < x->count; i++)
        if (d->read[i] && o->f->view[i] < d->read[i])
            say_race(x, p, i, d->read_site[i], o->site);
    uint16_t now = o->f->view[x->self];
    if (write) {
        d->writer = (uint16_t)x->self;
        d->written = now;
        d->write_site = o->site;
    } else {
        d->read[x->self] = now;
        d->read_site[x->self] = o->site;
    }
}

void bl__views_data(bl__explorer *x, bl__sim_site *site, const void *p, uint32_t words) {
    operation o = {.f = &x->fibers[x->self], .site = bl__site_id(x, site)};
    bool write = site->op == BL__SIM_DATA_WRITE;
    for (uint32_t i = 0; i < words; i++) {
        const uint32_t *word = (const uint32_t *)p + i;
        /* recorded before a race ends the execution */
        row(x, &o, (bl__row){.reads = !write, .read = *word, .p = word});
        data_word(x, &o, word, write);
    }
}

uint32_t bl__views_bump(bl__explorer *x, bl__sim_site *site) {
    uint32_t id = bl__site_id(x, site);
    return id && id == x->options.mutant.site ? 0 : 1;
}
