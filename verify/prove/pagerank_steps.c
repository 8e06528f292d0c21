/* How apps/pagerank passes values from step to step, with its own source: its tasks need no barrier, only the arrivals
 * at a counter.
 *
 * Every node links to all nodes, including itself, and is a separate unit. Worker i runs START of unit i and then what
 * its tasks have spawned, so only arrivals pass anything from worker to worker. Values are plain C, which the model
 * does not check; so each has a companion word of plain data, written before the task that computes the value, and read
 * after the task that adds it up. */
#include "prove.h"

#include "pagerank/task.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 3, STEPS = 2, SLOTS = 16 };

typedef struct ranks {
    uint32_t nodes, steps;
    pagerank_shared shared;
    uint32_t first[NODES + 1], all[NODES * NODES], needs[NODES];
    double scale[NODES], score[NODES], value[(STEPS + 1) * NODES];
    uint32_t unmet[(STEPS + 1) * NODES];
    uint32_t runs[(STEPS + 1) * NODES], made[(STEPS + 1) * NODES]; /* made: plain data */
    struct {
        bl__stack stack;
        uint32_t slots[SLOTS * (BL__ENTRY_HEAD + sizeof(pagerank_work) / 4)];
    } stacks[NODES];
} ranks;

static void make(ranks *r, uint32_t unit, uint32_t step) {
    uint32_t made = step + 1, at = step * r->nodes + unit;
    if (r->runs[at]++)
        bl_explore_fail("unit %u runs twice in step %u", unit, step);
    bl_data_write(&r->made[at], &made, 1);
}

static void check_sources(ranks *r, uint32_t step) {
    for (uint32_t i = 0; step && i < r->nodes; i++) {
        uint32_t made;
        bl_data_read(&made, &r->made[(step - 1) * r->nodes + i], 1);
        if (made != step)
            bl_explore_fail("a value of step %u is added up before it is there", step - 1);
    }
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    ranks *r = arg;
    bl__stack *stack = &r->stacks[worker].stack;
    bl_task task = {.stack = stack,
                    .lane = lane,
                    .lanes = 1,
                    .words = BL__ENTRY_HEAD + sizeof(pagerank_work) / 4,
                    .payload_bytes = sizeof(pagerank_work),
                    .max_spawn = UINT32_MAX};
    pagerank_work work = pagerank_make(PAGERANK_START, worker, 0);
    bl_nothing nothing = {0};
    for (;;) {
        make(r, work.unit, work.step);
        pagerank_run(&task, &work, work.unit, &r->shared, &nothing);
        check_sources(r, work.step);
        if (!bl__stack_count(stack))
            return;
        memcpy(&work, bl__stack_slot(stack, task.words, --stack->top) + BL__ENTRY_HEAD, sizeof work);
    }
}

static void link_all(ranks *r) {
    for (uint32_t i = 0; i <= r->nodes; i++)
        r->first[i] = i * r->nodes;
    for (uint32_t i = 0; i < r->nodes * r->nodes; i++)
        r->all[i] = i % r->nodes;
    for (uint32_t i = 0; i < r->nodes; i++) {
        r->needs[i] = r->nodes;
        r->scale[i] = 1;
        r->score[i] = i + 1;
    }
    r->shared.graph =
        (pagerank_cells){r->first, r->all, r->scale, r->first, r->all, r->needs, r->nodes, r->nodes, r->nodes, 1, 0, 0};
    r->shared.unmet = r->unmet;
    r->shared.value = r->value;
    r->shared.score = r->score;
    r->shared.steps = r->steps;
}

static void before(void *arg) {
    ranks *r = arg;
    for (uint32_t i = 0; i < (r->steps + 1) * r->nodes; i++) {
        r->unmet[i] = r->nodes;
        r->value[i] = -1;
    }
    memset(r->runs, 0, sizeof r->runs);
    memset(r->made, 0, sizeof r->made);
    for (uint32_t i = 0; i < r->nodes; i++)
        r->stacks[i].stack = (bl__stack){.mask = SLOTS - 1};
}

static const char *after(void *arg) {
    ranks *r = arg;
    double sum = 0.5 * r->nodes * (r->nodes + 1);
    for (uint32_t step = 0; step <= r->steps; step++, sum *= step > 1 ? r->nodes : 1)
        for (uint32_t i = 0; i < r->nodes; i++) {
            if (!r->runs[step * r->nodes + i])
                return "a unit does not run in some step";
            if (r->value[step * r->nodes + i] != (step ? sum : i + 1))
                return "a wrong value";
        }
    return NULL;
}

static const struct { uint32_t nodes, steps; } clients[] = {{2, 1}, {2, 2}, {3, 1}, {3, 2}};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static void text(uint32_t client, char text[PROVE_TEXT]) {
    snprintf(text, PROVE_TEXT, "pagerank %u workers %u steps", clients[client].nodes, clients[client].steps);
}

static bool explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    static ranks r;
    bl_explore_options o = prove_explore_options(limits, before, after);
    r.nodes = clients[client].nodes;
    r.steps = clients[client].steps;
    link_all(&r);
    return bl_explore(r.nodes, body, &r, &o, result);
}

const prove_family prove_pagerank = {"pagerank", count, text, explore};
