/* The order of seq_cst operations in an exploration, by RC11 (Lahav et al. 2017): such an order exists if the relation
 * psc has no cycle. Its nodes are seq_cst accesses A, B and fences F, G, heavy and light ones among them. One comes
 * before another where (hb: happens before; eco: reads from, overwrites, or is overwritten after it was read, any
 * number of these)
 *   A, B   in program order; to one location with hb between them; B overwrites A or what A read; or A is followed by
 *          an access to another location that happens before one to another location which B follows
 *   F, A   hb; or A overwrites, or overwrites what was read by, an access that happens after F
 *   A, F   hb; or a store that happens before F overwrites A or what A read
 *   F, G   hb; or an access that happens after F is in eco with one that happens before G
 * A light fence has such steps from and to heavy fences only.
 *
 * An execution is built step by step, and the latest step has an edge only to an earlier store that it did not read. So
 * only a load that reads an old store can close a cycle, and bl__order_allows decides about those loads. Whether there
 * is a cycle depends only on what reads from what and on the orders of stores, not on the order of the steps, so the
 * reduction can ignore seq_cst.
 *
 * The clocks in the views give hb. For eco, every store keeps the clocks of what happens before the accesses that
 * precede it in eco. */
#include "explorer_parts.h"

#include <stdlib.h>
#include <string.h>

enum { NOWHERE = UINT16_MAX };

/* ---- sets of nodes ---- */

static uint32_t words(const bl__explorer *x) { return (x->ordered_count + 63) / 64; }
static uint64_t *row(const bl__explorer *x, uint32_t node) { return x->before + (size_t)node * x->order_stride; }
static bool has(const uint64_t *set, uint32_t node) { return set[node / 64] >> node % 64 & 1; }
static void put(uint64_t *set, uint32_t node) { set[node / 64] |= (uint64_t)1 << node % 64; }

static void unite(const bl__explorer *x, uint64_t *set, const uint64_t *with) {
    for (uint32_t i = 0; i < words(x); i++)
        set[i] |= with[i];
}

static bool meet(const bl__explorer *x, const uint64_t *a, const uint64_t *b) {
    for (uint32_t i = 0; i < words(x); i++)
        if (a[i] & b[i])
            return true;
    return false;
}

static void clear(const bl__explorer *x, uint64_t *set) { memset(set, 0, sizeof *set * words(x)); }

bool bl__order_open(bl__explorer *x) {
    x->order_capacity = x->max_steps + 64;
    x->order_stride = (x->order_capacity + 63) / 64;
    x->ordered = malloc(sizeof *x->ordered * x->order_capacity);
    x->before = malloc(sizeof *x->before * x->order_stride * (x->order_capacity + 2)); /* two more as scratch */
    return x->ordered && x->before;
}

void bl__order_close(bl__explorer *x) {
    free(x->ordered);
    free(x->before);
}

void bl__order_reset(bl__explorer *x) {
    x->ordered_count = x->order_fences = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        x->fibers[i].pending = BL__NO_NODE;
        memset(x->fibers[i].lately, 0, sizeof x->fibers[i].lately);
        x->fibers[i].lately[0].at = x->fibers[i].lately[1].at = NOWHERE;
    }
}

/* ---- psc edges into a new node ---- */

static void learn(uint16_t *to, const uint16_t *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

static bool knows(const uint16_t *known, uint32_t fiber, uint16_t clock) { return known[fiber] >= clock; }

/* Whether a store to the location, later than the stamp, is among what these clocks cover. */
static bool knows_later(const bl__explorer *x, const uint16_t *known, const bl__location *at, uint16_t stamp) {
    for (const bl__message *m = bl__newest(x, at); m->stamp > stamp; m = &x->messages[m->previous])
        if (knows(known, m->fiber, m->clock))
            return true;
    return false;
}

/* A new node: `eco`, the clocks of what precedes it by hb or eco; `apart`, the clocks of what happened before its
 * fiber's last access to another location. */
typedef struct arrival {
    const bl__ordered *node;
    const uint16_t *eco, *apart;
} arrival;

static bool comes_before(const bl__explorer *x, const bl__ordered *n, const arrival *a) {
    const bl__ordered *e = a->node;
    bool hb = knows(e->known, n->fiber, n->clock);
    if ((n->kind == BL__ORDERED_LIGHT || e->kind == BL__ORDERED_LIGHT) && n->kind != BL__ORDERED_HEAVY &&
        e->kind != BL__ORDERED_HEAVY)
        return false;
    if (n->kind != BL__ORDERED_ACCESS)
        return hb || knows(a->eco, n->fiber, n->clock);
    if (e->kind != BL__ORDERED_ACCESS)
        return hb || knows_later(x, e->known, n->at, n->stamp);
    if (n->fiber == e->fiber)
        return true;
    if (n->at == e->at)
        return hb || e->writes;
    return n->next && knows(a->apart, n->fiber, n->next);
}

static void find_before(const bl__explorer *x, const arrival *a, uint64_t *set) {
    clear(x, set);
    for (uint32_t i = x->ordered_count; i-- > 0;)
        if (!has(set, i) && comes_before(x, &x->ordered[i], a)) {
            unite(x, set, row(x, i));
            put(set, i);
        }
}

static const uint16_t *apart_from(const bl__explored *f, const bl__location *at) {
    return f->lately[f->lately[0].at == at->index].known;
}

/* ---- psc edges added by reading an old store ---- */

typedef struct reader {
    const bl__location *at;
    uint16_t stamp;
    const uint16_t *known;
} reader;

/* From fences that happened before the load, by kind; from the load itself if it is seq_cst. */
typedef enum reason { FROM_FENCE, FROM_HEAVY, FROM_LIGHT, FROM_LOAD } reason;

static bool is_source(const bl__ordered *n, const reader *r, reason why) {
    static const uint8_t kinds[] = {1 << BL__ORDERED_FENCE | 1 << BL__ORDERED_HEAVY, 1 << BL__ORDERED_HEAVY,
                                    1 << BL__ORDERED_LIGHT};
    return kinds[why] >> n->kind & 1 && knows(r->known, n->fiber, n->clock);
}

static bool is_target(const bl__explorer *x, const bl__ordered *n, const reader *r, reason why) {
    static const uint8_t kinds[] = {1 << BL__ORDERED_ACCESS | 1 << BL__ORDERED_FENCE | 1 << BL__ORDERED_HEAVY,
                                    1 << BL__ORDERED_LIGHT, 1 << BL__ORDERED_HEAVY,
                                    1 << BL__ORDERED_ACCESS | 1 << BL__ORDERED_FENCE | 1 << BL__ORDERED_HEAVY};
    if (!(kinds[why] >> n->kind & 1))
        return false;
    if (n->kind == BL__ORDERED_ACCESS)
        return n->writes && n->at == r->at && n->stamp > r->stamp;
    if (why == FROM_LOAD)
        return knows_later(x, n->known, r->at, r->stamp);
    return r->at->index < n->width && x->arena[n->view + r->at->index] > r->stamp;
}

/* The sources and their predecessors. Returns whether there are any. */
static bool find_sources(const bl__explorer *x, const reader *r, reason why, uint64_t *set) {
    bool any = false;
    clear(x, set);
    for (uint32_t i = x->ordered_count; i-- > 0;)
        if (is_source(&x->ordered[i], r, why)) {
            any = true;
            if (has(set, i))
                continue; /* including all of its predecessors */
            unite(x, set, row(x, i));
            put(set, i);
        }
    return any;
}

static bool has_target(const bl__explorer *x, const reader *r, reason why, const uint64_t *set) {
    for (uint32_t i = x->ordered_count; i-- > 0;)
        if (has(set, i) && is_target(x, &x->ordered[i], r, why))
            return true;
    return false;
}

static void add_steps(bl__explorer *x, const reader *r, reason why, const uint64_t *sources) {
    uint64_t *targets = row(x, x->order_capacity + 1);
    clear(x, targets);
    for (uint32_t i = 0; i < x->ordered_count; i++)
        if (is_target(x, &x->ordered[i], r, why))
            put(targets, i);
    for (uint32_t i = 0; i < x->ordered_count; i++)
        if (has(targets, i) || meet(x, row(x, i), targets))
            unite(x, row(x, i), sources);
}

bool bl__order_allows(bl__explorer *x, const bl__explored *f, const bl__location *at, const bl__message *m,
                      bool acquires, bool sc) {
    if (!x->ordered_count || (!sc && !x->order_fences))
        return true;
    bl__ordered e = {.kind = BL__ORDERED_ACCESS, .fiber = (uint8_t)(f - x->fibers), .at = at, .stamp = m->stamp};
    uint64_t *set = row(x, x->order_capacity);
    memcpy(e.known, f->view, sizeof e.known[0] * x->count);
    if (acquires && m->width)
        learn(e.known, x->arena + m->view, x->count);
    reader r = {at, m->stamp, e.known};
    for (reason why = FROM_FENCE; x->order_fences && why <= FROM_LIGHT; why = (reason)(why + 1))
        if (find_sources(x, &r, why, set) && has_target(x, &r, why, set))
            return false;
    if (sc)
        find_before(x, &(arrival){&e, e.known, apart_from(f, at)}, set);
    return !sc || !has_target(x, &r, FROM_LOAD, set);
}

/* ---- what was done ---- */

/* c and d of A, c, d, B: the fiber's next access to another location, and its last access to each. */
static void did_at(bl__explorer *x, uint32_t fiber, uint16_t at) {
    bl__explored *f = &x->fibers[fiber];
    if (!x->ordered_count)
        return;
    while (f->pending != BL__NO_NODE && x->ordered[f->pending].at->index != at) {
        bl__ordered *n = &x->ordered[f->pending];
        n->next = f->view[fiber];
        f->pending = n->pending;
    }
    if (f->lately[0].at != at)
        f->lately[1] = f->lately[0];
    f->lately[0].at = at;
    memcpy(f->lately[0].known, f->view, sizeof f->view[0] * x->count);
}

static bl__ordered *add(bl__explorer *x, bl__ordered n, const uint16_t *eco, const uint16_t *apart) {
    uint32_t i = x->ordered_count;
    if (i == x->order_capacity)
        bl__explore_wrong(x, "more seq_cst operations than an exploration can keep");
    n.fiber = (uint8_t)x->self;
    n.clock = x->fibers[x->self].view[x->self];
    n.pending = BL__NO_NODE;
    memcpy(n.known, x->fibers[x->self].view, sizeof n.known[0] * x->count);
    find_before(x, &(arrival){&n, eco, apart}, row(x, i));
    x->ordered[i] = n;
    x->ordered_count++;
    if (i % 64 == 0)
        for (uint32_t k = 0; k <= i; k++)
            row(x, k)[i / 64] = 0;
    return &x->ordered[i];
}

static void add_access(bl__explorer *x, const bl__location *at, const bl__message *m, bool writes) {
    bl__explored *f = &x->fibers[x->self];
    bl__ordered n = {.kind = BL__ORDERED_ACCESS, .writes = writes, .at = at, .stamp = m->stamp};
    did_at(x, x->self, at->index);
    bl__ordered *added = add(x, n, writes ? m->eco : f->view, apart_from(f, at));
    added->pending = f->pending;
    f->pending = (uint32_t)(added - x->ordered);
}

static void read_old(bl__explorer *x, const bl__location *at, const bl__message *m, bool sc) {
    uint64_t *sources = row(x, x->order_capacity);
    reader r = {at, m->stamp, x->fibers[x->self].view};
    for (reason why = FROM_FENCE; x->order_fences && why <= FROM_LIGHT; why = (reason)(why + 1))
        if (find_sources(x, &r, why, sources))
            add_steps(x, &r, why, sources);
    if (!sc)
        return;
    memcpy(sources, row(x, x->ordered_count - 1), sizeof *sources * words(x));
    put(sources, x->ordered_count - 1);
    add_steps(x, &r, FROM_LOAD, sources);
}

void bl__order_read(bl__explorer *x, const bl__location *at, bl__message *m, bool sc) {
    const uint16_t *known = x->fibers[x->self].view;
    bool old = m->stamp != bl__newest(x, at)->stamp;
    if (x->options.sequential)
        return;
    if (sc)
        add_access(x, at, m, false);
    else
        did_at(x, x->self, at->index);
    if (old && x->ordered_count)
        read_old(x, at, m, sc);
    if (!x->order_fences)
        return; /* nothing that happens after a future fence exists yet */
    learn(m->eco_read, known, x->count);
    for (bl__message *later = &x->messages[at->newest]; later->stamp > m->stamp; later = &x->messages[later->previous])
        learn(later->eco, known, x->count);
}

void bl__order_wrote(bl__explorer *x, const bl__location *at, bl__message *m, bool sc) {
    const bl__message *previous = &x->messages[m->previous];
    if (x->options.sequential)
        return;
    if (x->order_fences) {
        learn(m->eco, previous->eco, x->count);
        learn(m->eco, previous->eco_read, x->count);
        learn(m->eco, x->fibers[x->self].view, x->count);
    }
    if (sc)
        add_access(x, at, m, true);
    else
        did_at(x, x->self, at->index);
}

void bl__order_meet(bl__explorer *x, uint32_t fiber) { did_at(x, fiber, NOWHERE); }

void bl__order_fence(bl__explorer *x, bl__ordered_kind kind) {
    bl__explored *f = &x->fibers[x->self];
    uint16_t eco[BL_EXPLORE_FIBERS];
    did_at(x, x->self, NOWHERE);
    if (kind == BL__ORDERED_NONE || x->options.sequential)
        return;
    memcpy(eco, f->view, sizeof eco[0] * x->count);
    for (uint32_t i = 1; x->order_fences && i <= x->location_count; i++) {
        const bl__message *m = bl__newest(x, &x->locations[i]);
        while (m->stamp > f->view[x->locations[i].index])
            m = &x->messages[m->previous];
        learn(eco, m->eco, x->count);
    }
    bl__ordered n = {.kind = (uint8_t)kind, .width = (uint16_t)(x->count + x->location_count)};
    n.view = bl__arena_keep(x, f->view, n.width);
    add(x, n, eco, eco);
    x->order_fences++;
}
