#include "cluster_model.h"

#include "../../src/cluster/protocol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- trees ---- */

typedef struct entry {
    uint64_t hash;
    uint32_t depth;
} entry;

static uint64_t hash_of(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* What is drawn is compared with, so that a task needs no logarithm: the limits of up to MOST children. */
enum { MOST = 64 };
typedef struct draw {
    const cluster_tree *tree;
    uint64_t limits[MOST]; /* a hash below limits[k] has more than k children */
} draw;

static void draw_begin(draw *d, const cluster_tree *t) {
    double more = t->branching / (1 + t->branching), chance = 1;
    d->tree = t;
    for (uint32_t k = 0; k < MOST; k++) {
        chance *= more;
        d->limits[k] = (uint64_t)(ldexp(t->binomial ? (1 - 1 / t->size) / 2 : chance, 63)) * 2;
    }
}

static uint32_t children_of(const draw *d, const entry *e) {
    uint32_t count = 0;
    if (d->tree->binomial)
        return e->depth == 0 ? d->tree->roots : e->hash < d->limits[0] ? 2 : 0;
    if (e->depth == 0)
        return (uint32_t)d->tree->branching;
    while (count < MOST && e->depth < d->tree->depth && e->hash < d->limits[count])
        count++;
    return count;
}

/* ---- the entries of a node: a ring, the oldest at `begin` ---- */

typedef struct ring {
    entry *entries;
    uint32_t begin, count, room; /* a power of two */
} ring;

static bool ring_reserve(ring *r, uint32_t more) {
    uint32_t room = r->room ? r->room : 64;
    while (room < r->count + more)
        room *= 2;
    if (room == r->room)
        return true;
    entry *entries = malloc(room * sizeof *entries);
    if (!entries)
        return false;
    for (uint32_t i = 0; i < r->count; i++)
        entries[i] = r->entries[(r->begin + i) & (r->room - 1)];
    free(r->entries);
    r->entries = entries;
    r->begin = 0;
    r->room = room;
    return true;
}

static void ring_push(ring *r, entry e) { r->entries[(r->begin + r->count++) & (r->room - 1)] = e; }
static entry ring_pop(ring *r) { return r->entries[(r->begin + --r->count) & (r->room - 1)]; }

static entry ring_oldest(ring *r) {
    entry e = r->entries[r->begin];
    r->begin = (r->begin + 1) & (r->room - 1);
    r->count--;
    return e;
}

/* Runs the newest entry. */
static bool run_one(ring *r, const draw *d) {
    entry e = ring_pop(r);
    uint32_t children = children_of(d, &e);
    if (children && !ring_reserve(r, children))
        return false;
    for (uint32_t i = 0; i < children; i++)
        ring_push(r, (entry){hash_of(e.hash + (i + 1) * 0x9e3779b97f4a7c15u), e.depth + 1});
    return true;
}

static entry root_of(const cluster_tree *t) { return (entry){hash_of(t->seed), 0}; }

uint64_t cluster_tree_size(const cluster_tree *t) {
    ring r = {NULL, 0, 0, 0};
    draw d;
    uint64_t size = 0;
    draw_begin(&d, t);
    if (ring_reserve(&r, 1))
        ring_push(&r, root_of(t));
    for (; r.count; size++)
        if (!run_one(&r, &d))
            break;
    if (r.count)
        size = 0;
    free(r.entries);
    return size;
}

/* ---- events in the order of their times ---- */

/* In picoseconds, as whole numbers: the same on every machine, whatever its compiler makes of fractions. */
typedef uint64_t moment;

static moment to_moment(double seconds) { return (moment)(seconds * 1e12 + 0.5); }
static double to_seconds(moment m) { return 1e-12 * (double)m; }

typedef struct packet {
    bl__cluster_message message;
    uint32_t from, to;
    entry *entries;
} packet;

typedef struct event {
    moment time;
    uint64_t number; /* of two at the same time, the earlier one first */
    packet *packet;  /* that arrives; NULL: the node continues to work */
    uint32_t node;
} event;

typedef struct agenda {
    event *heap;
    uint32_t count, room;
    uint64_t next;
} agenda;

static bool earlier(const event *a, const event *b) {
    return a->time < b->time || (a->time == b->time && a->number < b->number);
}

static bool agenda_add(agenda *a, event e) {
    if (a->count == a->room) {
        uint32_t room = a->room ? 2 * a->room : 1024;
        event *heap = realloc(a->heap, room * sizeof *heap);
        if (!heap)
            return false;
        a->heap = heap;
        a->room = room;
    }
    uint32_t i = a->count++;
    for (; i && earlier(&e, &a->heap[(i - 1) / 2]); i = (i - 1) / 2)
        a->heap[i] = a->heap[(i - 1) / 2];
    a->heap[i] = e;
    return true;
}

static event agenda_first(agenda *a) {
    event first = a->heap[0], last = a->heap[--a->count];
    uint32_t i = 0;
    for (uint32_t child = 1; child < a->count; child = 2 * i + 1) {
        if (child + 1 < a->count && earlier(&a->heap[child + 1], &a->heap[child]))
            child++;
        if (!earlier(&a->heap[child], &last))
            break;
        a->heap[i] = a->heap[child];
        i = child;
    }
    a->heap[i] = last;
    return first;
}

/* ---- nodes ---- */

typedef struct member {
    bl__cluster_node node;
    ring held;
    moment link_free, hands_free; /* when it can send, and receive, again */
    bool working, started, dry;
} member;

typedef struct model {
    draw draw;
    const cluster_machine *m;
    member *members;
    agenda agenda;
    moment now, last_task;
    moment within, between, handling, task; /* `m` in moments; within and between: one way */
    double per_byte;
    uint32_t started, ended;
    bool failed; /* out of memory */
    bl__cluster_orders orders;
    cluster_outcome *outcome;
} model;

static moment later(moment a, moment b) { return a > b ? a : b; }

static bool schedule(model *x, moment time, uint32_t node, packet *p) {
    event e = {time, x->agenda.next++, p, node};
    return agenda_add(&x->agenda, e);
}

static void free_packet(packet *p) {
    free(p->entries);
    free(p);
}

/* A link sends one message after another, and a pair of nodes has a fixed latency: so the order of a pair is kept. */
static void send_packet(model *x, uint32_t from, const bl__cluster_order *o) {
    member *s = &x->members[from];
    packet *p = calloc(1, sizeof *p);
    uint32_t count = o->message.kind == BL__CLUSTER_ENTRIES ? o->message.count : 0;
    if (p && count)
        p->entries = malloc(count * sizeof *p->entries);
    if (!p || (count && !p->entries)) {
        free(p);
        x->failed = true;
        return;
    }
    p->message = o->message;
    p->from = from;
    p->to = o->node;
    for (uint32_t i = 0; i < count; i++)
        p->entries[i] = ring_oldest(&s->held);
    uint64_t bytes = sizeof p->message + (uint64_t)count * x->m->bytes;
    bool near = from / x->m->together == o->node / x->m->together;
    s->link_free = later(s->link_free, x->now) + (moment)((double)bytes * x->per_byte);
    x->outcome->messages++;
    x->outcome->moved += count;
    x->outcome->bytes += bytes;
    if (!schedule(x, s->link_free + (near ? x->within : x->between), o->node, p)) {
        free_packet(p);
        x->failed = true;
    }
}

static void carry_out(model *x, uint32_t i, const packet *p) {
    member *s = &x->members[i];
    for (uint32_t k = 0; k < x->orders.count; k++) {
        const bl__cluster_order *o = &x->orders.list[k];
        if (o->verb == BL__CLUSTER_SEND)
            send_packet(x, i, o);
        else if (o->verb == BL__CLUSTER_END)
            x->ended++;
        else if (o->verb == BL__CLUSTER_TAKE_ENTRIES) {
            s->dry = false;
            if (!ring_reserve(&s->held, p->message.count))
                x->failed = true;
            for (uint32_t e = 0; e < p->message.count && !x->failed; e++)
                ring_push(&s->held, p->entries[e]);
        }
    }
}

static void settle(model *x, uint32_t i) {
    member *s = &x->members[i];
    if (s->held.count || s->working) {
        bl__cluster_shows(&s->node, s->held.count ? s->held.count - 1 : 0, &x->orders);
        carry_out(x, i, NULL);
        if (s->held.count < x->m->low) {
            bl__cluster_low(&s->node, &x->orders);
            carry_out(x, i, NULL);
        }
    } else if (!s->dry) {
        s->dry = true;
        bl__cluster_dry(&s->node, &x->orders);
        carry_out(x, i, NULL);
    }
}

/* Takes up to a batch of tasks off the stack and is busy with them for their time. Others see what they spawn at once,
 * which is early by half a batch on average. */
static void work(model *x, uint32_t i) {
    member *s = &x->members[i];
    uint32_t done = 0;
    for (; done < x->m->batch && s->held.count && !x->failed; done++)
        x->failed = !run_one(&s->held, &x->draw);
    s->working = done > 0;
    if (done) {
        moment until = x->now + done * x->task;
        if (!s->started && ++x->started == x->m->nodes)
            x->outcome->spread = to_seconds(x->now);
        s->started = true;
        x->outcome->tasks += done;
        x->last_task = later(x->last_task, until);
        bl__cluster_ran(&s->node);
        if (!schedule(x, until, i, NULL))
            x->failed = true;
    }
    settle(x, i);
}

static void arrive(model *x, packet *p) {
    member *s = &x->members[p->to];
    if (s->hands_free > x->now) { /* those that came before are first */
        if (!schedule(x, s->hands_free, p->to, p)) {
            free_packet(p);
            x->failed = true;
        }
        return;
    }
    s->hands_free = x->now + x->handling;
    bl__cluster_receive(&s->node, p->from, &p->message, &x->orders);
    carry_out(x, p->to, p);
    if (s->held.count && !s->working)
        work(x, p->to);
    else
        settle(x, p->to);
    free_packet(p);
}

static void run_model(model *x) {
    for (uint32_t i = 0; i < x->m->nodes && !x->failed; i++)
        work(x, i);
    while (x->agenda.count && !x->failed) {
        event e = agenda_first(&x->agenda);
        x->now = e.time;
        if (e.packet)
            arrive(x, e.packet);
        else
            work(x, e.node);
        if (x->ended == x->m->nodes && x->outcome->seconds <= 0)
            x->outcome->seconds = to_seconds(x->now);
    }
}

bool cluster_model_run(const cluster_tree *t, const cluster_machine *m, uint32_t seed, cluster_outcome *outcome) {
    model x;
    memset(&x, 0, sizeof x);
    memset(outcome, 0, sizeof *outcome);
    x.m = m;
    x.outcome = outcome;
    x.within = to_moment(m->within / 2);
    x.between = to_moment(m->between / 2);
    x.handling = to_moment(m->handling);
    x.task = to_moment(m->task);
    x.per_byte = 1e12 / m->bandwidth;
    x.members = calloc(m->nodes, sizeof *x.members);
    if (!x.members)
        return false;
    draw_begin(&x.draw, t);
    for (uint32_t i = 0; i < m->nodes; i++)
        bl__cluster_begin(&x.members[i].node, i, m->nodes, 1, UINT32_MAX, seed);
    x.failed = !ring_reserve(&x.members[0].held, 1);
    if (!x.failed) {
        ring_push(&x.members[0].held, root_of(t));
        run_model(&x);
    }
    outcome->efficiency = outcome->seconds > 0 ? (double)outcome->tasks * m->task / (m->nodes * outcome->seconds) : 0;
    outcome->ending = outcome->seconds - to_seconds(x.last_task);
    for (uint32_t i = 0; i < x.agenda.count; i++)
        if (x.agenda.heap[i].packet)
            free_packet(x.agenda.heap[i].packet);
    for (uint32_t i = 0; i < m->nodes; i++)
        free(x.members[i].held.entries);
    free(x.members);
    free(x.agenda.heap);
    return !x.failed;
}
