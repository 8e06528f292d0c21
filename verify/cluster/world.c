#include "world.h"

#include <stdio.h>
#include <string.h>

const char *const world_kinds[BL__CLUSTER_KINDS] = {"ASK",   "REFUSE", "NAME",  "ENTRIES", "RESULTS",
                                                    "PROBE", "REPORT", "HEARD", "OVER",    "ALARM"};

typedef struct message {
    bl__cluster_message is;
    uint16_t first; /* of its entries or results */
    uint16_t next;  /* in the channel, or the next free one */
    uint16_t from, to;
} message;

typedef struct channel {
    uint16_t head, tail; /* messages */
    uint16_t at;         /* in the list of channels with messages */
} channel;

/* An entry is in one place: with a node, in a message, or run. Its result, too. */
typedef struct entry {
    uint16_t older, newer; /* in the stack of its node; `newer` also in a message */
    uint16_t ran_at;
    uint16_t pending; /* children that have not returned */
    uint8_t ran, returned, joined;
} entry;

typedef struct site { /* a node and its driver */
    bl__cluster_node node;
    uint32_t held;
    uint16_t oldest, newest;
    uint16_t at;     /* in the list of those that hold entries */
    uint16_t asked;  /* the node from which an answer is due, or WORLD_NONE */
    uint32_t names;  /* dimensions in which this node's name is under way or there */
    uint16_t notice; /* the killed node that this one will notice, or WORLD_NONE */
    uint8_t told_dry, wanted, dead, ends, failed;
} site;

typedef struct layout {
    size_t sites, channels, entries, messages, arriving, runnable, size;
} layout;

struct world {
    world_options o;
    world_tree t;
    layout l;
    uint32_t channels, messages, free; /* messages: room for them; free: the first one */
    uint32_t flying, flying_by[BL__CLUSTER_KINDS];
    uint32_t arriving, runnable; /* lengths of the lists */
    uint32_t ran, returned;
    uint32_t killed;
    const char *wrong;
    world_sums sums;
    /* then: sites, channels, entries, messages, both lists */
};

/* Per pair, far more than the protocol needs. */
enum { MESSAGES_PER_PAIR = 12 };

static uint32_t message_room(const world_options *o, const world_tree *t) {
    uint32_t room = o->nodes * (uint32_t)(o->nodes < 16 ? MESSAGES_PER_PAIR * o->nodes : 64) + 2 * t->count + 64;
    return room < WORLD_NONE ? room : WORLD_NONE - 1;
}

static size_t rounded(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

static layout lay_out(uint32_t nodes, uint32_t entries, uint32_t messages) {
    layout l;
    l.sites = rounded(sizeof(world));
    l.channels = l.sites + rounded(nodes * sizeof(site));
    l.entries = l.channels + rounded((size_t)nodes * nodes * sizeof(channel));
    l.messages = l.entries + rounded(entries * sizeof(entry));
    l.arriving = l.messages + rounded(messages * sizeof(message));
    l.runnable = l.arriving + rounded((size_t)nodes * nodes * sizeof(uint16_t));
    l.size = l.runnable + rounded(nodes * sizeof(uint16_t));
    return l;
}

static void *part(const world *w, size_t layout_offset) { return (char *)(uintptr_t)w + layout_offset; }
#define PART(w, which) part(w, (w)->l.which)
static site *site_at(const world *w, uint32_t i) { return (site *)PART(w, sites) + i; }
static channel *channel_at(const world *w, uint32_t i) { return (channel *)PART(w, channels) + i; }
static entry *entry_at(const world *w, uint32_t i) { return (entry *)PART(w, entries) + i; }
static message *message_at(const world *w, uint32_t i) { return (message *)PART(w, messages) + i; }
static uint16_t *arriving_list(const world *w) { return PART(w, arriving); }
static uint16_t *runnable_list(const world *w) { return PART(w, runnable); }

static void fail(world *w, const char *why) {
    if (!w->wrong)
        w->wrong = why;
}

/* ---- the lists of what can be done ---- */

static void list_add(uint16_t *list, uint32_t *count, uint16_t *at, uint32_t what) {
    *at = (uint16_t)*count;
    list[(*count)++] = (uint16_t)what;
}

static void holds(world *w, uint32_t i, uint32_t held) {
    site *s = site_at(w, i);
    uint16_t *list = runnable_list(w);
    bool before = s->held && !s->dead, after = held && !s->dead;
    s->held = held;
    if (after && !before)
        list_add(list, &w->runnable, &s->at, i);
    if (before && !after) {
        list[s->at] = list[--w->runnable];
        site_at(w, list[s->at])->at = s->at;
    }
}

static void channel_fills(world *w, uint32_t i) { list_add(arriving_list(w), &w->arriving, &channel_at(w, i)->at, i); }

static void channel_empties(world *w, uint32_t i) {
    uint16_t *list = arriving_list(w), at = channel_at(w, i)->at;
    list[at] = list[--w->arriving];
    channel_at(w, list[at])->at = at;
}

/* ---- the network ---- */

static bool work_remains(const world *w) { return w->ran < w->t.count || (w->t.results && w->returned < w->t.count); }

static uint32_t put_message(world *w, uint32_t from, uint32_t to, const bl__cluster_message *m) {
    uint32_t i = w->free, c = from * w->o.nodes + to;
    channel *ch = channel_at(w, c);
    if (i == WORLD_NONE) {
        fail(w, "more messages in flight than the network holds");
        return i;
    }
    message *p = message_at(w, i);
    w->free = p->next;
    p->is = *m;
    p->from = (uint16_t)from;
    p->to = (uint16_t)to;
    p->first = p->next = WORLD_NONE;
    if (ch->head == WORLD_NONE) {
        ch->head = (uint16_t)i;
        channel_fills(w, c);
    } else
        message_at(w, ch->tail)->next = (uint16_t)i;
    ch->tail = (uint16_t)i;
    w->flying++;
    w->flying_by[m->kind]++;
    w->sums.messages[m->kind]++;
    w->sums.idle += !work_remains(w);
    return i;
}

/* Takes the first message of a channel out of it. */
static message get_message(world *w, uint32_t c) {
    channel *ch = channel_at(w, c);
    uint32_t i = ch->head;
    message *p = message_at(w, i), got = *p;
    ch->head = p->next;
    if (ch->head == WORLD_NONE)
        channel_empties(w, c);
    memset(p, 0, sizeof *p);
    p->next = (uint16_t)w->free;
    w->free = i;
    w->flying--;
    w->flying_by[got.is.kind]--;
    return got;
}

/* ---- the driver of a node ---- */

static void push(world *w, uint32_t i, uint32_t e) {
    site *s = site_at(w, i);
    entry *p = entry_at(w, e);
    p->older = s->newest;
    p->newer = WORLD_NONE;
    if (s->held)
        entry_at(w, s->newest)->newer = (uint16_t)e;
    else
        s->oldest = (uint16_t)e;
    s->newest = (uint16_t)e;
    holds(w, i, s->held + 1);
}

static uint32_t pop_newest(world *w, uint32_t i) {
    site *s = site_at(w, i);
    uint32_t e = s->newest;
    s->newest = entry_at(w, e)->older;
    if (s->held > 1)
        entry_at(w, s->newest)->newer = WORLD_NONE;
    else
        s->oldest = s->newest = WORLD_NONE;
    holds(w, i, s->held - 1);
    return e;
}

/* The oldest `count` entries, as a chain. */
static uint16_t detach(world *w, uint32_t i, uint32_t count) {
    site *s = site_at(w, i);
    uint16_t first = s->oldest, last = first;
    for (uint32_t k = 1; k < count; k++)
        last = entry_at(w, last)->newer;
    s->oldest = entry_at(w, last)->newer;
    entry_at(w, last)->newer = WORLD_NONE;
    if (s->oldest == WORLD_NONE)
        s->newest = WORLD_NONE;
    else
        entry_at(w, s->oldest)->older = WORLD_NONE;
    holds(w, i, s->held - count);
    return first;
}

static void take_result(world *w, uint32_t i, uint32_t e);

static void spawn_children(world *w, uint32_t i, uint32_t e, bool late) {
    entry *p = entry_at(w, e);
    for (uint32_t c = w->t.child[e]; c != WORLD_NONE; c = w->t.sibling[c])
        if (!w->t.results || w->t.late[c] == late) {
            push(w, i, c);
            p->pending++;
        }
}

static uint32_t dimension_between(uint32_t a, uint32_t b) {
    uint32_t d = 0;
    while ((a ^ b) >> d > 1)
        d++;
    return d;
}

/* Keeps the books from which answers that nobody expects show. */
static void check_sending(world *w, uint32_t i, const bl__cluster_order *o) {
    site *s = site_at(w, i);
    if (o->message.kind == BL__CLUSTER_ASK) {
        if (s->asked != WORLD_NONE)
            fail(w, "a node asks twice");
        s->asked = (uint16_t)o->node;
    }
    if (o->message.kind == BL__CLUSTER_NAME) {
        uint32_t bit = 1u << dimension_between(i, o->node);
        if ((i ^ o->node) != bit)
            fail(w, "a name is left with a node that is no neighbour");
        if (s->names & bit)
            fail(w, "a name is left twice");
        s->names |= bit;
    }
}

static void check_receiving(world *w, uint32_t i, const message *m) {
    site *s = site_at(w, i);
    uint32_t kind = m->is.kind;
    if (kind == BL__CLUSTER_REFUSE || (kind == BL__CLUSTER_ENTRIES && m->is.answers)) {
        if (s->asked != m->from)
            fail(w, "an answer that nobody waits for");
        s->asked = WORLD_NONE;
    } else if (kind == BL__CLUSTER_ENTRIES) {
        uint32_t bit = 1u << dimension_between(i, m->from);
        if (!(s->names & bit))
            fail(w, "entries that nobody has asked for");
        s->names &= ~bit;
    }
}

static void send_message(world *w, uint32_t i, const bl__cluster_order *o, uint16_t result) {
    uint32_t kind = o->message.kind, count = o->message.count;
    if (o->node == BL__CLUSTER_ALL) {
        for (uint32_t to = 0; to < w->o.nodes; to++)
            if (to != i && !site_at(w, to)->dead)
                put_message(w, i, to, &o->message);
        return;
    }
    if (o->node >= w->o.nodes || o->node == i) {
        fail(w, "a message to nobody");
        return;
    }
    check_sending(w, i, o);
    uint16_t first = result;
    if (kind == BL__CLUSTER_ENTRIES) {
        if (!count || count >= site_at(w, i)->held || count > w->o.most) {
            fail(w, "a node gives entries that it does not show");
            return;
        }
        first = detach(w, i, count);
        w->sums.entries += count;
    }
    if (site_at(w, o->node)->dead)
        return;
    uint32_t m = put_message(w, i, o->node, &o->message);
    if (m != WORLD_NONE)
        message_at(w, m)->first = first;
}

static void check_end(world *w) {
    if (work_remains(w))
        fail(w, "the end is announced while work remains");
    for (uint32_t kind = 0; kind < BL__CLUSTER_KINDS && !w->killed; kind++)
        if (w->flying_by[kind] && kind != BL__CLUSTER_NAME && kind != BL__CLUSTER_OVER)
            fail(w, "the end is announced while messages are in flight");
}

static void carry_out(world *w, uint32_t i, const bl__cluster_orders *orders, const message *m, uint16_t result) {
    site *s = site_at(w, i);
    for (uint32_t k = 0; k < orders->count && !w->wrong; k++) {
        const bl__cluster_order *o = &orders->list[k];
        if (s->ends && o->verb != BL__CLUSTER_SEND)
            fail(w, o->verb == BL__CLUSTER_END ? "the end is announced twice" : "an order after the end");
        switch (o->verb) {
        case BL__CLUSTER_SEND:
            send_message(w, i, o, result);
            break;
        case BL__CLUSTER_TAKE_ENTRIES:
            s->told_dry = 0;
            for (uint16_t e = m->first; e != WORLD_NONE;) {
                uint16_t next = entry_at(w, e)->newer;
                push(w, i, e);
                e = next;
            }
            break;
        case BL__CLUSTER_TAKE_RESULTS:
            s->told_dry = 0;
            take_result(w, i, m->first);
            break;
        case BL__CLUSTER_WANTED:
            s->wanted = o->on;
            break;
        case BL__CLUSTER_END:
            s->ends++;
            s->failed = o->on;
            s->oldest = s->newest = WORLD_NONE;
            holds(w, i, 0);
            if (!o->on)
                check_end(w);
            else if (!w->killed)
                fail(w, "an error without a cause");
            break;
        }
    }
}

/* Entry e and its children have returned, at node i, which ran e. */
static void finish(world *w, uint32_t i, uint32_t e) {
    entry *p = entry_at(w, e);
    if (!p->joined) {
        p->joined = 1;
        spawn_children(w, i, e, true);
        if (p->pending)
            return;
    }
    uint32_t parent = w->t.parent[e];
    if (parent == WORLD_NONE || entry_at(w, parent)->ran_at == i) {
        take_result(w, i, e);
        return;
    }
    bl__cluster_orders orders;
    bl__cluster_results(&site_at(w, i)->node, entry_at(w, parent)->ran_at, 1, &orders);
    carry_out(w, i, &orders, NULL, (uint16_t)e);
}

static void take_result(world *w, uint32_t i, uint32_t e) {
    entry *p = entry_at(w, e);
    uint32_t parent = w->t.parent[e];
    if (p->returned)
        fail(w, "a result is taken twice");
    p->returned = 1;
    w->returned++;
    if (parent != WORLD_NONE && --entry_at(w, parent)->pending == 0)
        finish(w, i, parent);
}

static void run_entry(world *w, uint32_t i) {
    uint32_t e = pop_newest(w, i);
    bl__cluster_ran(&site_at(w, i)->node);
    entry *p = entry_at(w, e);
    if (p->ran)
        fail(w, "an entry is run twice");
    p->ran = 1;
    p->ran_at = (uint16_t)i;
    w->ran++;
    spawn_children(w, i, e, false);
    if (w->t.results && !p->pending)
        finish(w, i, e);
}

/* Tells the protocol what its node holds now. */
static void settle(world *w, uint32_t i) {
    site *s = site_at(w, i);
    bl__cluster_orders orders;
    for (int again = 1; again && !w->wrong && !s->ends;) {
        uint8_t wanted = s->wanted;
        again = 0;
        if (s->held) {
            bl__cluster_shows(&s->node, w->o.lazy && !s->wanted ? 0 : s->held - 1, &orders);
            carry_out(w, i, &orders, NULL, WORLD_NONE);
            if (s->held == 1 && w->o.early) {
                bl__cluster_low(&s->node, &orders);
                carry_out(w, i, &orders, NULL, WORLD_NONE);
            }
            again = w->o.lazy && wanted < s->wanted;
        } else if (!s->told_dry) {
            s->told_dry = 1;
            bl__cluster_dry(&s->node, &orders);
            carry_out(w, i, &orders, NULL, WORLD_NONE);
        }
    }
}

/* ---- actions ---- */

static void deliver(world *w, uint32_t from, uint32_t to) {
    bl__cluster_orders orders;
    message m = get_message(w, from * w->o.nodes + to);
    check_receiving(w, to, &m);
    bl__cluster_receive(&site_at(w, to)->node, from, &m.is, &orders);
    carry_out(w, to, &orders, &m, WORLD_NONE);
}

static void kill_node(world *w, world_action a) {
    site *s = site_at(w, a.node);
    holds(w, a.node, 0);
    s->dead = 1;
    w->killed++;
    site_at(w, a.from)->notice = (uint16_t)a.node;
    for (uint32_t i = 0; i < w->o.nodes; i++) {
        uint32_t to = i * w->o.nodes + a.node, from = a.node * w->o.nodes + i;
        while (channel_at(w, to)->head != WORLD_NONE)
            (void)get_message(w, to);
        while (a.drop && channel_at(w, from)->head != WORLD_NONE)
            (void)get_message(w, from);
        /* A killed node that had to notice another one: somebody else does. */
        if (s->notice != WORLD_NONE && i != a.node && !site_at(w, i)->dead && site_at(w, i)->notice == WORLD_NONE) {
            site_at(w, i)->notice = s->notice;
            s->notice = WORLD_NONE;
        }
    }
}

void world_do(world *w, world_action a) {
    switch (a.act) {
    case WORLD_RUN:
        run_entry(w, a.node);
        break;
    case WORLD_DELIVER:
        deliver(w, a.from, a.node);
        break;
    case WORLD_KILL:
        kill_node(w, a);
        return;
    case WORLD_NOTICE: {
        site *s = site_at(w, a.node);
        bl__cluster_orders orders;
        bl__cluster_lost(&s->node, s->notice, &orders);
        s->notice = WORLD_NONE;
        carry_out(w, a.node, &orders, NULL, WORLD_NONE);
        break;
    }
    }
    settle(w, a.node);
}

uint32_t world_runnable(const world *w) { return w->runnable; }
uint32_t world_arriving(const world *w) { return w->arriving; }
bool world_alive(const world *w, uint32_t node) { return !site_at(w, node)->dead; }
const world_sums *world_counted(const world *w) { return &w->sums; }
uint32_t *world_random(world *w, uint32_t node) { return &site_at(w, node)->node.random; }

uint32_t world_victim(const world *w, uint32_t node) { return site_at(w, node)->node.victim; }

world_action world_run(const world *w, uint32_t i) {
    world_action a = {WORLD_RUN, runnable_list(w)[i], 0, false};
    return a;
}

world_action world_deliver(const world *w, uint32_t i) {
    uint32_t c = arriving_list(w)[i];
    world_action a = {WORLD_DELIVER, c % w->o.nodes, c / w->o.nodes, false};
    return a;
}

bool world_unnoticed(const world *w, world_action *a) {
    for (uint32_t i = 0; i < w->o.nodes && w->killed; i++)
        if (!site_at(w, i)->dead && site_at(w, i)->notice != WORLD_NONE) {
            *a = (world_action){WORLD_NOTICE, i, 0, false};
            return true;
        }
    return false;
}

bool world_ended(const world *w) {
    for (uint32_t i = 0; i < w->o.nodes; i++)
        if (!site_at(w, i)->dead && !site_at(w, i)->ends)
            return false;
    return true;
}

/* With nothing in flight, an idle node has left its name with all neighbours, so none of them has entries to spare. */
static bool starves(const world *w) {
    for (uint32_t i = 0; i < w->o.nodes; i++)
        for (uint32_t bit = 1; bit < w->o.nodes && !site_at(w, i)->held; bit *= 2)
            if ((i ^ bit) < w->o.nodes && site_at(w, i ^ bit)->held > 1)
                return true;
    return false;
}

const char *world_wrong(world *w) {
    world_action a;
    if (w->wrong || w->flying || w->killed) {
        if (!w->wrong && !w->arriving && !w->runnable && !world_unnoticed(w, &a) && !world_ended(w))
            w->wrong = "a node was killed, and another waits for ever";
        return w->wrong;
    }
    if (w->runnable) {
        if (starves(w))
            w->wrong = "an idle node starves: its neighbour has entries to spare, and no message is in flight";
    } else if (work_remains(w))
        w->wrong = "an entry or a result is lost";
    else if (!world_ended(w))
        w->wrong = "everything is done, no message is in flight, and the end is not announced";
    return w->wrong;
}

/* ---- begin, copy, compare ---- */

size_t world_size(const world_options *o, const world_tree *t) {
    return lay_out(o->nodes, t->count, message_room(o, t)).size;
}

world *world_begin(void *memory, const world_options *o, const world_tree *t) {
    world *w = memory;
    memset(w, 0, sizeof *w);
    w->o = *o;
    w->t = *t;
    w->messages = message_room(o, t);
    w->l = lay_out(o->nodes, t->count, w->messages);
    w->channels = o->nodes * o->nodes;
    for (uint32_t i = 0; i < w->channels; i++)
        *channel_at(w, i) = (channel){WORLD_NONE, WORLD_NONE, 0};
    memset(message_at(w, 0), 0, w->messages * sizeof(message));
    for (uint32_t i = 0; i < w->messages; i++)
        message_at(w, i)->next = (uint16_t)(i + 1 < w->messages ? i + 1 : WORLD_NONE);
    memset(entry_at(w, 0), 0, t->count * sizeof(entry));
    for (uint32_t i = 0; i < o->nodes; i++) {
        site *s = site_at(w, i);
        memset(s, 0, sizeof *s);
        bl__cluster_begin(&s->node, i, o->nodes, 1, o->most, o->seed);
        s->node.takes_all = o->strong >> i & 1;
        s->oldest = s->newest = s->asked = s->notice = WORLD_NONE;
    }
    for (uint32_t e = 0; e < t->count; e++)
        if (t->parent[e] == WORLD_NONE)
            push(w, t->where[e], e);
    for (uint32_t i = 0; i < o->nodes; i++)
        settle(w, i);
    return w;
}

void world_copy(world *to, const world *from) { memcpy(to, from, from->l.size); }

/* Two independent 64-bit hashes of the same words. */
static void mix(uint64_t digest[2], uint64_t word) {
    digest[0] = (digest[0] ^ word) * 0x9e3779b97f4a7c15u;
    digest[0] ^= digest[0] >> 29;
    digest[1] = (digest[1] + word) * 0xd6e8feb86659fd93u;
    digest[1] ^= digest[1] >> 32;
}

static void mix_node(uint64_t digest[2], const bl__cluster_node *n) {
    mix(digest, n->victim | (uint64_t)n->tries << 32);
    mix(digest, n->shows | (uint64_t)n->waiting << 32);
    mix(digest, n->left | (uint64_t)n->turn << 32);
    mix(digest, n->pending | (uint64_t)n->dry << 32 | (uint64_t)n->asking << 33 | (uint64_t)n->refused << 34 |
                    (uint64_t)n->wanted << 35 | (uint64_t)n->owes << 36 | (uint64_t)n->ended << 37 |
                    (uint64_t)n->alarmed << 38 | (uint64_t)n->ran << 39 | (uint64_t)n->unheard << 40);
    for (uint32_t i = 0; i < BL__CLUSTER_SUMS; i++) {
        mix(digest, n->sums[i]);
        mix(digest, n->reported[i]);
    }
}

void world_digest(const world *w, uint64_t digest[2]) {
    digest[0] = digest[1] = 0x243f6a8885a308d3u;
    for (uint32_t i = 0; i < w->o.nodes; i++) {
        const site *s = site_at(w, i);
        mix_node(digest, &s->node);
        mix(digest, s->held | (uint64_t)s->asked << 32 | (uint64_t)s->notice << 48);
        mix(digest, s->names | (uint64_t)s->told_dry << 32 | (uint64_t)s->wanted << 33 | (uint64_t)s->dead << 34 |
                        (uint64_t)s->ends << 35 | (uint64_t)s->failed << 43);
        uint32_t e = s->oldest;
        for (uint32_t k = 0; k < s->held; k++, e = entry_at(w, e)->newer)
            mix(digest, e);
    }
    for (uint32_t e = 0; e < w->t.count; e++) {
        const entry *p = entry_at(w, e);
        mix(digest, (uint64_t)p->ran | (uint64_t)p->returned << 1 | (uint64_t)p->joined << 2 |
                        (uint64_t)p->pending << 8 | (uint64_t)(p->ran ? p->ran_at : 0) << 32);
    }
    for (uint32_t c = 0; c < w->channels; c++)
        for (uint32_t m = channel_at(w, c)->head; m != WORLD_NONE; m = message_at(w, m)->next) {
            const message *p = message_at(w, m);
            mix(digest, c | (uint64_t)p->is.kind << 32 | (uint64_t)p->is.answers << 40 | (uint64_t)p->first << 48);
            mix(digest, p->is.count);
            for (uint32_t i = 0; i < BL__CLUSTER_SUMS && p->is.kind == BL__CLUSTER_REPORT; i++)
                mix(digest, p->is.sums[i]);
        }
}

void world_describe(const world *w, world_action a, char *text, size_t size) {
    switch (a.act) {
    case WORLD_RUN:
        snprintf(text, size, "%u runs entry %u", a.node, site_at(w, a.node)->newest);
        break;
    case WORLD_DELIVER: {
        const message *m = message_at(w, channel_at(w, a.from * w->o.nodes + a.node)->head);
        snprintf(text, size, "%u -> %u %s count %u answers %u sums %llu %llu %llu %llu", a.from, a.node,
                 world_kinds[m->is.kind], m->is.count, m->is.answers, (unsigned long long)m->is.sums[0],
                 (unsigned long long)m->is.sums[1], (unsigned long long)m->is.sums[2],
                 (unsigned long long)m->is.sums[3]);
        break;
    }
    case WORLD_KILL:
        snprintf(text, size, "%u is killed%s; %u will notice", a.node, a.drop ? ", what it sent is lost" : "", a.from);
        break;
    case WORLD_NOTICE:
        snprintf(text, size, "%u notices that %u is lost", a.node, site_at(w, a.node)->notice);
        break;
    }
}
