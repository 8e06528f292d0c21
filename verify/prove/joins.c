/* Join records (parts/record.h): small trees of forks whose owner publishes some of the children for other workers.
 *
 * Node n of the tree has the children 2n and 2n + 1; node 1 is the root. A fork keeps plain data, and its record has
 * its number. Worker 0 runs the root; a worker runs the first child of a fork and then the second, unless that was
 * published and another worker has taken it. Results go to slots, also plain data, or are added up in the record. The
 * last to arrive continues in the fork's place: once for each fork, with all results.
 *   own    as on a CPU: a record is its owner's, and no operation is atomic, until it is shared
 *   lanes  as on a GPU: every arrival is atomic
 * Then dependencies (bl_arrive of task.h): all workers but one write, and the last to arrive reads. */
#include "prove.h"

#include <ballast/task.h>

#include <stdio.h>
#include <string.h>

enum { NODES = 8, RECORDS = 4, TRIES = 2 };

static const struct {
    uint32_t forks, publish; /* sets of nodes */
} trees[] = {{1 << 1, 1 << 1},
             {1 << 1 | 1 << 2, 1 << 1},
             {1 << 1 | 1 << 2, 1 << 2},
             {1 << 1 | 1 << 2, 1 << 1 | 1 << 2},
             {1 << 1 | 1 << 3, 1 << 1},
             {1 << 1 | 1 << 3, 1 << 3},
             {1 << 1 | 1 << 3, 1 << 1 | 1 << 3},
             {1 << 1 | 1 << 2 | 1 << 3, 1 << 1},
             {1 << 1 | 1 << 2 | 1 << 3, 1 << 1 | 1 << 2},
             {1 << 1 | 1 << 2 | 1 << 3, 1 << 1 | 1 << 3},
             {1 << 1 | 1 << 2 | 1 << 3, 1 << 1 | 1 << 2 | 1 << 3}};
static const char *const ways[] = {"own", "own sum", "lanes", "lanes sum"};
enum { TREES = sizeof trees / sizeof trees[0], WAYS = sizeof ways / sizeof ways[0], ARRIVES = 2 };

typedef struct join_run {
    uint32_t workers, tree;
    bool own, sums, arrives;
    bl__run run;
    bl__record records[RECORDS];
    uint32_t kept[RECORDS], slots[RECORDS][2];
    uint32_t offers[RECORDS]; /* 1: the second child may be taken */
    uint32_t runs[NODES], ends;
    uint32_t result, unmet;
} join_run;

static bool is_in(uint32_t set, uint32_t node) { return set >> node & 1; }
static uint32_t leaf_value(uint32_t node) { return 10 * node; }

static uint32_t expected(const join_run *r, uint32_t node) {
    if (!is_in(trees[r->tree].forks, node))
        return leaf_value(node);
    return expected(r, 2 * node) + expected(r, 2 * node + 1) + (r->sums ? 0 : 1);
}

/* ---- arriving ---- */

static uint64_t arrive(join_run *r, bl__record *record, uint64_t sum) {
    return r->own    ? bl__record_arrive_own(record, sum)
           : r->sums ? bl__record_arrive_sum(record, sum)
                     : bl__record_arrive(record, sum);
}

/* BL_JOIN: the kept data and both results must be there. */
static uint32_t joined(join_run *r, uint32_t fork, uint64_t state) {
    uint32_t kept, results[2];
    bl_data_read(&kept, &r->kept[fork], 1);
    if (kept != fork)
        bl_explore_fail("fork %u does not find what it kept", fork);
    if (r->sums)
        return (uint32_t)(state & BL__SUM_MASK);
    bl_data_read(results, r->slots[fork], 2);
    return results[0] + results[1] + 1;
}

static void return_to(join_run *r, uint32_t node, uint32_t value) {
    for (; node != 1; node /= 2) {
        uint32_t fork = node / 2;
        if (!r->sums)
            bl_data_write(&r->slots[fork][node & 1], &value, 1);
        uint64_t state = arrive(r, bl__record_at(&r->run, fork), r->sums ? value : 0);
        if (bl__record_out(state))
            return;
        value = joined(r, fork, state);
    }
    bl_data_write(&r->result, &value, 1);
    if (bl_fetch_add32_relaxed(&r->ends, 1))
        bl_explore_fail("the root continues twice");
}

/* ---- running ---- */

static void run_node(join_run *r, uint32_t node);

static bool take(join_run *r, uint32_t fork) {
    uint32_t one = 1;
    return bl_load32_relaxed(&r->offers[fork]) && bl_cas32_acquire(&r->offers[fork], &one, 0);
}

/* bl__fork, and what settle does before it publishes. */
static void fork_node(join_run *r, uint32_t node) {
    bl__record *record = bl__record_at(&r->run, node);
    bool published = is_in(trees[r->tree].publish, node);
    bl_store64_relaxed(&record->state, 2 * BL__ONE_CHILD);
    record->parent = node == 1 ? BL__ROOT : node / 2;
    record->slot = node & 1;
    bl_data_write(&r->kept[node], &node, 1);
    if (published) {
        if (r->own)
            bl__record_share(&r->run, node);
        bl_store32_release(&r->offers[node], 1);
    }
    run_node(r, 2 * node);
    if (!published || take(r, node))
        run_node(r, 2 * node + 1);
}

static void run_node(join_run *r, uint32_t node) {
    if (r->runs[node]++)
        bl_explore_fail("task %u is run twice", node);
    if (is_in(trees[r->tree].forks, node))
        fork_node(r, node);
    else
        return_to(r, node, leaf_value(node));
}

static void dependencies(join_run *r, uint32_t worker) {
    uint32_t value = worker + 1, seen;
    bl_data_write(&r->kept[worker], &value, 1);
    if (!bl_arrive(&r->unmet))
        return;
    bl_fetch_add32_relaxed(&r->ends, 1);
    for (uint32_t i = 0; i < r->workers; i++) {
        bl_data_read(&seen, &r->kept[i], 1);
        if (seen != i + 1)
            bl_explore_fail("what worker %u wrote is not seen", i);
    }
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    join_run *r = arg;
    (void)lane;
    if (r->arrives)
        dependencies(r, worker);
    else if (worker == 0)
        run_node(r, 1);
    else
        for (uint32_t i = 0; i < TRIES * RECORDS; i++)
            if (i % RECORDS && is_in(trees[r->tree].publish, i % RECORDS) && take(r, i % RECORDS))
                run_node(r, 2 * (i % RECORDS) + 1);
}

static void before(void *arg) {
    join_run *r = arg;
    memset(r->kept, 0xa5, sizeof r->kept);
    memset(r->slots, 0xa5, sizeof r->slots);
    memset(r->records, 0xa5, sizeof r->records);
    memset(r->offers, 0, sizeof r->offers);
    memset(r->runs, 0, sizeof r->runs);
    r->ends = r->result = 0;
    r->unmet = r->workers;
    r->run.records = (unsigned char *)r->records;
    r->run.record_bytes = sizeof r->records[0];
}

static const char *after(void *arg) {
    join_run *r = arg;
    if (r->ends != 1)
        return "no worker continues in the end";
    return r->arrives || r->result == expected(r, 1) ? NULL : "a wrong result";
}

/* ---- the clients ---- */

static uint32_t count(void) { return TREES * WAYS * 2 + ARRIVES; }

static void fill(uint32_t i, join_run *r) {
    uint32_t way = i / 2 % WAYS;
    r->arrives = i >= TREES * WAYS * 2;
    r->workers = 2 + i % 2;
    r->own = way < 2;
    r->sums = way % 2 != 0;
    r->tree = r->arrives ? 0 : i / 2 / WAYS;
}

static void text(uint32_t i, char text[PROVE_TEXT]) {
    static join_run r;
    fill(i, &r);
    if (r.arrives)
        snprintf(text, PROVE_TEXT, "arrive %u workers", r.workers);
    else
        snprintf(text, PROVE_TEXT, "join %u workers forks %x publish %x %s", r.workers, trees[r.tree].forks,
                 trees[r.tree].publish, ways[i / 2 % WAYS]);
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static join_run r;
    bl_explore_options o = prove_explore_options(limits, before, after);
    fill(i, &r);
    return bl_explore(r.workers, body, &r, &o, result);
}

const prove_family prove_joins = {"joins", count, text, explore};
