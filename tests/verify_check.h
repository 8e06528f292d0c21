/* Tests of queue verification, the same for threads and the simulated machine: it must find the fault of a broken queue
 * by the recorded histories alone, and by the contract, and must find none in a correct queue. */
#ifndef BALLAST_TESTS_VERIFY_CHECK_H
#define BALLAST_TESTS_VERIFY_CHECK_H

#include "contract_check.h"

#include "broken.h"
#define BL_QUEUE bl_broken
#include "../verify/queue.inc.h"
#undef BL_QUEUE

static const char *const broken_names[] = {"none", "FULL", "EMPTY", "swap", "lose", "twice", "tear", "hang"};

/* The findings of this many batches, a bit for each. */
static uint32_t findings_of(const verify_target *target, const verify_queue *queue, uint32_t batches) {
    uint32_t found = 0;
    history_run *r = history_open(target, queue);
    if (!CHECK(r != NULL))
        return 0;
    for (uint32_t i = 0; i < batches && found == 0; i++) {
        CHECK(history_batch_next(r));
        found = history_found(r);
    }
    CHECK(history_count(r) > 0);
    CHECK_SAME(history_undecided(r), 0);
    if (found & 1u << VERIFY_BROKEN) {
        const verify_history *h = history_show(r, VERIFY_BROKEN);
        lin_search *search = lin_open();
        CHECK(h && h->count > 0);
        CHECK(h && (h->why || linearize(search, h->ops, h->count, &h->spec, NULL) == LIN_NO));
        lin_close(search);
    }
    history_close(r);
    return found;
}

/* `kinds`: those below. Only the simulated machine can end a queue that hangs. */
static void faults(const verify_target *target, const verify_queue *queue, int kinds) {
    for (int fault = BROKEN_NOT; fault < kinds; fault++) {
        broken_fault = (broken_kind)fault;
        check_at("histories with a fault: %s", broken_names[fault]);
        uint32_t found = findings_of(target, queue, 12);
        CHECK_SAME(found, fault == BROKEN_NOT ? 0 : 1u << VERIFY_BROKEN);
        check_at("contract with a fault: %s", broken_names[fault]);
        contract_run r = contract_open(target, queue);
        contract_alone(&r, 200);
        CHECK((r.failures != 0) == (fault != BROKEN_NOT));
    }
    broken_fault = BROKEN_NOT;
}

/* The same queue with other claims. */
static void claims(const verify_target *target, const verify_queue *queue) {
    static verify_result result; /* large */
    verify_queue modest = *queue;
    modest.flags &= ~(uint32_t)BL_QUEUE_EXACT_EMPTY;
    check_at("a claim that is held");
    verify_run(target, queue, NULL, 0.01, &result);
    CHECK(result.verdict == VERIFY_HOLDS && strcmp(result.text, "linearizable") == 0);
    CHECK(result.cases > 0 && result.histories > 0 && result.shown == 0);
    check_at("a claim that is not made");
    verify_run(target, &modest, NULL, 0.01, &result);
    CHECK(result.verdict == VERIFY_UNPROVEN && strncmp(result.text, "unproven: EMPTY", 15) == 0);
}

#endif
