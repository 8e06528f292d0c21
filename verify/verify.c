/* All checks of one queue on one target within a given time, and the verdict. */
#include "verify.h"

#include "platform/clock.h"

#include <string.h>

/* Histories of the simulated machine: at least this many, as a later one may be shorter; after the most, it has shown
 * nothing. */
enum { SIMULATED_LEAST = 20000, SIMULATED_MOST = 100000 };

const verify_queue *verify_find(const verify_target *target, const char *name) {
    for (uint32_t i = 0; target->queue[i]; i++)
        if (!strcmp(target->queue[i]->name, name))
            return target->queue[i];
    return NULL;
}

#ifndef BL_HAVE_CUDA
const verify_target *verify_cuda(int device) {
    (void)device;
    return NULL;
}
#endif

/* ---- contract and stress ---- */

enum { ROUNDS = 12 }; /* enough for every variant of crowds() */

/* Crowds of one layout: the round determines which threads push and pop, the depth, and the batch size. */
static void crowds(contract_run *r, uint32_t round) {
    static const uint32_t capacities[] = {2, 64, 1024}, words[] = {CONTRACT_WORDS, 1, 3};
    uint32_t threads = r->layout.threads, i = round % 3, seed = round + 1;
    uint32_t items = r->target->items / threads / (i == 0 ? 4 : 1);
    contract_client c =
        contract_shape(r, capacities[i], r->queue->by_handle ? 1 : words[i], UINT32_MAX - 100, seed, items ? items : 1);
    c.threads = threads;
    c.batch = i == 2 ? 4 : 1;
    switch (round / 3 % 4) {
    case 0:
        contract_crowd(r, c, threads / 2, threads - threads / 2);
        break;
    case 1:
        contract_crowd(r, c, threads, threads);
        break;
    case 2:
        contract_crowd(r, c, 1, threads - 1);
        break;
    default:
        if (r->queue->kind == BL_QUEUE_KIND_FIFO)
            contract_tokens(r, c);
        else
            contract_crowd(r, c, threads / 2, threads - threads / 2);
    }
}

/* One case of each layout. */
static void all_layouts(contract_run *r, uint32_t round) {
    for (uint32_t i = 0; r->target->layout[i].text; i++) {
        r->layout = r->target->layout[i];
        if (contract_fits(r))
            crowds(r, round);
    }
}

static bool contract_holds(const verify_target *target, const verify_queue *queue, double seconds,
                           verify_result *result) {
    contract_run r = contract_open(target, queue);
    contract_alone(&r, target->steps);
    uint32_t round = 0;
    for (; round < ROUNDS; round++)
        all_layouts(&r, round);
    result->cases = r.cases;
    r.operations = 0;
    for (double end = bl__now() + seconds; bl__now() < end && !r.failures; round++)
        all_layouts(&r, round);
    result->operations = r.operations;
    if (r.failures)
        snprintf(result->text, sizeof result->text, "FAILED: %s", r.first);
    return !r.failures;
}

/* ---- histories ---- */

static void show(verify_result *result, const history_run *r, verify_finding finding) {
    const verify_history *h = history_show(r, finding);
    if (!h)
        return;
    result->finding[result->shown] = finding;
    result->history[result->shown++] = *h;
}

static bool is_shown(const verify_result *result, verify_finding finding) {
    for (uint32_t i = 0; i < result->shown; i++)
        if (result->finding[i] == finding)
            return true;
    return false;
}

/* Records until the end, and at least until every kind of batch has had its turn. */
static void record_until(history_run *r, double end, uint32_t turns) {
    for (uint32_t i = 0; i < turns || bl__now() < end; i++)
        if (!history_batch_next(r) || history_found(r) & 1u << VERIFY_BROKEN)
            return;
}

/* Searches the simulated machine for what is still to be shown. Not limited by time, so that a slow machine finds the
 * same. */
static void search(history_run *r, uint32_t goals) {
    while (goals && (history_count(r) < SIMULATED_LEAST ||
                     (history_count(r) < SIMULATED_MOST && (history_found(r) & goals) != goals)))
        if (!history_batch_next(r) || history_found(r) & 1u << VERIFY_BROKEN)
            return;
}

static uint32_t missing(const verify_result *result, uint32_t goals) {
    for (int finding = 0; finding < VERIFY_FINDINGS; finding++)
        if (is_shown(result, (verify_finding)finding))
            goals &= ~(1u << finding);
    return goals;
}

static void show_all(verify_result *result, const history_run *r, uint32_t findings) {
    for (int finding = VERIFY_FINDINGS; finding-- > 0;)
        if (findings & 1u << finding)
            show(result, r, (verify_finding)finding);
    result->undecided += history_undecided(r);
}

static bool no_memory(verify_result *result) {
    snprintf(result->text, sizeof result->text, "FAILED: out of memory");
    return false;
}

/* False if it could not be done. */
static bool histories(const verify_target *target, const verify_queue *queue, const verify_queue *simulated, double end,
                      verify_result *result) {
    uint32_t goals = history_goals(queue), all = goals | 1u << VERIFY_BROKEN;
    history_run *r = history_open(target, queue);
    if (!r)
        return no_memory(result);
    record_until(r, end, 2 * target->spreads * (HISTORY_THREADS - 1));
    if (target == &verify_sim)
        search(r, goals);
    show_all(result, r, all);
    result->histories = history_count(r);
    history_close(r);
    if (target->trouble()) {
        snprintf(result->text, sizeof result->text, "FAILED: histories: %s", target->trouble());
        return false;
    }
    if (target == &verify_sim || !simulated || is_shown(result, VERIFY_BROKEN) || !missing(result, goals))
        return true;
    r = history_open(&verify_sim, simulated);
    if (!r)
        return no_memory(result);
    search(r, missing(result, goals));
    result->simulated = history_count(r);
    show_all(result, r, missing(result, goals) | 1u << VERIFY_BROKEN);
    history_close(r);
    return true;
}

/* ---- the verdict ---- */

static const char *names_of(uint32_t findings) {
    bool full = findings & 1u << VERIFY_FULL, empty = findings & 1u << VERIFY_EMPTY;
    return full && empty ? "FULL, EMPTY" : full ? "FULL" : empty ? "EMPTY" : "an order";
}

static const char *broken_text(const verify_result *result) {
    for (uint32_t i = 0; i < result->shown; i++)
        if (result->finding[i] == VERIFY_BROKEN && result->history[i].why)
            return result->history[i].why;
    return "no order explains a history";
}

static void decide(const verify_queue *queue, verify_result *result) {
    uint32_t goals = history_goals(queue), open = missing(result, goals);
    size_t room = sizeof result->text;
    result->verdict = VERIFY_FAILED;
    if (is_shown(result, VERIFY_BROKEN)) {
        snprintf(result->text, room, "FAILED: breaks its claims: %s", broken_text(result));
    } else if (open) {
        result->verdict = VERIFY_UNPROVEN;
        snprintf(result->text, room, "unproven: %s is not claimed, yet none of %llu histories shows why",
                 names_of(open), (unsigned long long)(result->histories + result->simulated));
    } else {
        result->verdict = VERIFY_HOLDS;
        if (goals & 1u << VERIFY_ORDER)
            snprintf(result->text, room, "not linearizable: shown");
        else if (goals)
            snprintf(result->text, room, "linearizable but for %s: shown", names_of(goals));
        else
            snprintf(result->text, room, "linearizable");
    }
    size_t length = strlen(result->text);
    if (result->undecided)
        snprintf(result->text + length, room - length, " (%llu undecided)", (unsigned long long)result->undecided);
}

static bool is_ceiling(const verify_queue *queue, verify_result *result) {
    if (queue->kind != BL_QUEUE_KIND_CEILING)
        return false;
    result->verdict = VERIFY_SKIPPED;
    snprintf(result->text, sizeof result->text, "skipped: a ceiling, not a queue");
    return true;
}

void verify_run(const verify_target *target, const verify_queue *queue, const verify_queue *simulated, double seconds,
                verify_result *result) {
    double start = bl__now();
    *result = (verify_result){.verdict = VERIFY_FAILED};
    snprintf(result->clocks, sizeof result->clocks, "%s%s", target->time, target->clocks > 1 ? ", counter" : "");
    if (is_ceiling(queue, result))
        return;
    if (target->trouble()) {
        snprintf(result->text, sizeof result->text, "FAILED: not tried: %s", target->trouble());
        return;
    }
    /* Half of the time that the contract's cases leave goes to the stress test. The cases are the same however short
     * the time is. */
    if (contract_holds(target, queue, seconds / 3, result) &&
        histories(target, queue, simulated, start + seconds, result))
        decide(queue, result);
}

void verify_replay(const verify_queue *simulated, uint32_t seed, verify_result *result) {
    *result = (verify_result){.verdict = VERIFY_FAILED};
    snprintf(result->clocks, sizeof result->clocks, "%s", verify_sim.time);
    if (is_ceiling(simulated, result))
        return;
    history_run *r = history_open(&verify_sim, simulated);
    if (!r || !history_one(r, seed)) {
        no_memory(result);
        history_close(r);
        return;
    }
    result->histories = 1;
    show_all(result, r, UINT32_MAX);
    bool broken = is_shown(result, VERIFY_BROKEN);
    if (!broken)
        result->verdict = VERIFY_HOLDS;
    if (!result->shown)
        show(result, r, VERIFY_FINDINGS);
    snprintf(result->text, sizeof result->text, "%s", broken ? "FAILED: breaks its claims" : "as claimed");
    history_close(r);
}
