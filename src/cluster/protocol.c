/* Nodes are the corners of a hypercube, of which any number may be missing at the end: the neighbours of a node, its
 * lifelines, differ from it in one bit. The same edges form the tree in which the end is detected: the parent of a node
 * lacks its lowest bit. */
#include "protocol.h"

#include <ballast/parts/random.h>
#include <string.h>

static void send(const bl__cluster_node *n, uint32_t to, bl__cluster_kind kind, uint32_t count, uint32_t answers,
                 bl__cluster_orders *out) {
    bl__cluster_order *o = &out->list[out->count++];
    memset(o, 0, sizeof *o);
    o->verb = BL__CLUSTER_SEND;
    o->node = to;
    o->message.kind = kind;
    o->message.run = n->run;
    o->message.count = count;
    o->message.answers = answers;
}

static void order(bl__cluster_verb verb, uint32_t node, bool on, bl__cluster_orders *out) {
    bl__cluster_order *o = &out->list[out->count++];
    memset(o, 0, sizeof *o);
    o->verb = verb;
    o->node = node;
    o->on = on;
}

static bool is_neighbour(const bl__cluster_node *n, uint32_t dimension) {
    return (n->number ^ 1u << dimension) < n->nodes;
}

static bool is_child(const bl__cluster_node *n, uint32_t dimension) {
    uint32_t bit = 1u << dimension;
    return (n->number & (2 * bit - 1)) == 0 && n->number + bit < n->nodes;
}

static uint32_t dimension_of(const bl__cluster_node *n, uint32_t neighbour) {
    uint32_t dimension = 0;
    while ((n->number ^ neighbour) >> dimension > 1)
        dimension++;
    return dimension;
}

/* Returns how many there are. */
static uint32_t send_to_children(const bl__cluster_node *n, bl__cluster_kind kind, bl__cluster_orders *out) {
    uint32_t before = out->count;
    for (uint32_t d = 0; d < BL__CLUSTER_DIMENSIONS; d++)
        if (is_child(n, d))
            send(n, n->number + (1u << d), kind, 0, 0, out);
    return out->count - before;
}

static void end(bl__cluster_node *n, uint32_t who, bool lost, bl__cluster_orders *out) {
    n->ended = true;
    order(BL__CLUSTER_END, who, lost, out);
}

/* ---- the end of the run ---- */

static bool balanced(const uint64_t *sums) {
    return sums[BL__SENT_ENTRIES] == sums[BL__RECEIVED_ENTRIES] && sums[BL__SENT_RESULTS] == sums[BL__RECEIVED_RESULTS];
}

static void report(bl__cluster_node *n, bl__cluster_orders *out) {
    send(n, n->number & (n->number - 1), BL__CLUSTER_REPORT, 0, n->owes, out);
    for (uint32_t i = 0; i < BL__CLUSTER_SUMS; i++)
        out->list[out->count - 1].message.sums[i] = n->sums[i] - n->reported[i];
    n->unheard = !n->owes;
    n->owes = false;
    memcpy(n->reported, n->sums, sizeof n->sums);
}

/* Called after every event. Only an idle node whose children have all reported goes on: so a part of the tree in which
 * somebody works is silent. Sums only grow. If the root finds the same sums twice, then no node has sent or received
 * anything between its two reports, so all were idle when the probe between them began, and what had been sent until
 * then had arrived. */
static void advance(bl__cluster_node *n, bl__cluster_orders *out) {
    if (n->ended || !n->dry || n->asking || n->pending)
        return;
    bool same = memcmp(n->sums, n->reported, sizeof n->sums) == 0;
    if (n->number) {
        if (n->owes || (!same && !n->unheard))
            report(n, out);
    } else if (balanced(n->sums)) {
        if (same && !n->owes) {
            send_to_children(n, BL__CLUSTER_OVER, out);
            end(n, 0, false, out);
            return;
        }
        n->owes = false;
        memcpy(n->reported, n->sums, sizeof n->sums);
        n->pending = send_to_children(n, BL__CLUSTER_PROBE, out);
        if (n->pending == 0) /* the only node */
            end(n, 0, false, out);
    }
}

/* ---- work ---- */

static void give(bl__cluster_node *n, uint32_t to, bool all, uint32_t answers, bl__cluster_orders *out) {
    uint32_t count = all ? n->shows : n->shows - n->shows / 2;
    if (count > n->most)
        count = n->most;
    n->shows -= count;
    n->sums[BL__SENT_ENTRIES] += count;
    send(n, to, BL__CLUSTER_ENTRIES, count, answers, out);
}

/* Serves the names that were left here, and tells the driver whether any remain. */
static void feed(bl__cluster_node *n, bl__cluster_orders *out) {
    while (n->shows && n->waiting) {
        while (!(n->waiting >> n->turn & 1))
            n->turn = (n->turn + 1) % BL__CLUSTER_DIMENSIONS;
        n->waiting &= ~(1u << n->turn);
        give(n, n->number ^ 1u << n->turn, n->stronger >> n->turn & 1, 0, out);
        n->turn = (n->turn + 1) % BL__CLUSTER_DIMENSIONS;
    }
    bool wanted = n->waiting || n->refused;
    if (wanted != n->wanted)
        order(BL__CLUSTER_WANTED, n->number, wanted, out);
    n->wanted = wanted;
}

static uint32_t all_tries(const bl__cluster_node *n) {
    return n->nodes - 1 < BL__CLUSTER_TRIES ? n->nodes - 1 : BL__CLUSTER_TRIES;
}

/* Any node but this one and, if there is another, the one asked last. */
static uint32_t select_victim(bl__cluster_node *n) {
    bool again = n->victim == n->number || n->nodes == 2;
    uint32_t choices = n->nodes - (again ? 1 : 2);
    uint32_t victim = (uint32_t)((uint64_t)bl__random32(&n->random) * choices >> 32);
    uint32_t low = n->number, high = n->victim;
    if (again)
        return victim + (victim >= low);
    if (low > high) {
        low = n->victim;
        high = n->number;
    }
    victim += victim >= low;
    return victim + (victim >= high);
}

static void ask(bl__cluster_node *n, bl__cluster_orders *out) {
    n->tries--;
    n->asking = true;
    n->victim = select_victim(n);
    send(n, n->victim, BL__CLUSTER_ASK, n->takes_all, 0, out);
}

/* A node that is dry, and has no answer to wait for. */
static void seek(bl__cluster_node *n, bl__cluster_orders *out) {
    if (n->tries) {
        ask(n, out);
        return;
    }
    for (uint32_t d = 0; d < BL__CLUSTER_DIMENSIONS; d++)
        if (is_neighbour(n, d) && !(n->left >> d & 1)) {
            n->left |= 1u << d;
            send(n, n->number ^ 1u << d, BL__CLUSTER_NAME, n->takes_all, 0, out);
        }
}

/* ---- events ---- */

void bl__cluster_begin(bl__cluster_node *n, uint32_t number, uint32_t nodes, uint32_t run, uint32_t most,
                       uint32_t seed) {
    memset(n, 0, sizeof *n);
    n->number = n->victim = number;
    n->nodes = nodes;
    n->run = run;
    n->most = most;
    n->random = seed ^ (number + 1) * 2654435769u;
    if (n->random == 0)
        n->random = 1;
    for (int i = 0; i < 8; i++) /* seeds of neighbours differ in few bits */
        bl__random32(&n->random);
    n->tries = all_tries(n);
    n->owes = true;
    for (uint32_t d = 0; d < BL__CLUSTER_DIMENSIONS; d++)
        n->pending += is_child(n, d);
}

void bl__cluster_shows(bl__cluster_node *n, uint32_t count, bl__cluster_orders *out) {
    out->count = 0;
    if (n->ended)
        return;
    n->shows = count;
    if (count) { /* before it is dry again, the others may have got work */
        n->tries = all_tries(n);
        n->refused = false;
    }
    feed(n, out);
}

void bl__cluster_ran(bl__cluster_node *n) { n->ran = true; }

/* A busy node has to run something before it asks again. Else two nodes in long tasks would pass the last entry back
 * and forth, because each of them would soon be dry. */
void bl__cluster_low(bl__cluster_node *n, bl__cluster_orders *out) {
    out->count = 0;
    if (n->ended || n->dry || n->asking || !n->ran || !n->tries)
        return;
    n->ran = false;
    ask(n, out);
}

void bl__cluster_dry(bl__cluster_node *n, bl__cluster_orders *out) {
    out->count = 0;
    if (n->ended)
        return;
    n->dry = true;
    n->shows = 0;
    n->refused = false;
    feed(n, out);
    if (!n->asking)
        seek(n, out);
    advance(n, out);
}

void bl__cluster_results(bl__cluster_node *n, uint32_t home, uint32_t count, bl__cluster_orders *out) {
    out->count = 0;
    if (n->ended)
        return;
    n->sums[BL__SENT_RESULTS] += count;
    send(n, home, BL__CLUSTER_RESULTS, count, 0, out);
}

static void receive_entries(bl__cluster_node *n, uint32_t from, const bl__cluster_message *m, bl__cluster_orders *out) {
    n->sums[BL__RECEIVED_ENTRIES] += m->count;
    if (m->answers)
        n->asking = false;
    else
        n->left &= ~(1u << dimension_of(n, from));
    n->tries = all_tries(n);
    n->dry = false;
    order(BL__CLUSTER_TAKE_ENTRIES, from, true, out);
}

static void receive_ask(bl__cluster_node *n, uint32_t from, bool all, bl__cluster_orders *out) {
    if (n->shows) {
        give(n, from, all, 1, out);
        return;
    }
    send(n, from, BL__CLUSTER_REFUSE, 0, 0, out);
    n->refused = !n->dry;
    feed(n, out);
}

void bl__cluster_receive(bl__cluster_node *n, uint32_t from, const bl__cluster_message *m, bl__cluster_orders *out) {
    out->count = 0;
    if (n->ended || m->run != n->run)
        return;
    switch ((bl__cluster_kind)m->kind) {
    case BL__CLUSTER_ASK:
        receive_ask(n, from, m->count, out);
        break;
    case BL__CLUSTER_REFUSE:
        n->asking = false;
        if (n->dry)
            seek(n, out);
        else
            n->tries = all_tries(n); /* the victim is told to show some: it pays to ask again, after having run more */
        break;
    case BL__CLUSTER_NAME:
        n->waiting |= 1u << dimension_of(n, from);
        n->stronger = (n->stronger & ~(1u << dimension_of(n, from))) | m->count << dimension_of(n, from);
        feed(n, out);
        break;
    case BL__CLUSTER_ENTRIES:
        receive_entries(n, from, m, out);
        break;
    case BL__CLUSTER_RESULTS:
        n->sums[BL__RECEIVED_RESULTS] += m->count;
        n->dry = false;
        order(BL__CLUSTER_TAKE_RESULTS, from, true, out);
        break;
    case BL__CLUSTER_PROBE:
        n->owes = true;
        n->pending = send_to_children(n, BL__CLUSTER_PROBE, out);
        break;
    case BL__CLUSTER_REPORT:
        n->pending -= m->answers;
        for (uint32_t i = 0; i < BL__CLUSTER_SUMS; i++)
            n->sums[i] += m->sums[i];
        if (!m->answers) /* a node that hears many reports passes on their sum */
            send(n, from, BL__CLUSTER_HEARD, 0, 0, out);
        break;
    case BL__CLUSTER_HEARD:
        n->unheard = false;
        break;
    case BL__CLUSTER_OVER:
        send_to_children(n, BL__CLUSTER_OVER, out);
        end(n, 0, false, out);
        break;
    case BL__CLUSTER_ALARM:
        end(n, m->count, true, out);
        break;
    case BL__CLUSTER_KINDS:
        break;
    }
    advance(n, out);
}

void bl__cluster_lost(bl__cluster_node *n, uint32_t who, bl__cluster_orders *out) {
    out->count = 0;
    if (!n->alarmed) /* even after the end: the node that told this one may be lost before it has told the others */
        send(n, BL__CLUSTER_ALL, BL__CLUSTER_ALARM, who, 0, out);
    n->alarmed = true;
    if (!n->ended)
        end(n, who, true, out);
}
