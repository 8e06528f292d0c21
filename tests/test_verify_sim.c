/* Tests queue verification itself on the simulated machine, including faults that show only in some schedules, and
 * reproducibility. */
#include "verify_check.h"

/* A queue that is not linearizable but claims to be. */
static void boaster(void) {
    verify_queue queue = *verify_find(&verify_sim, "bwd");
    check_at("bwd that claims too much");
    CHECK_SAME(findings_of(&verify_sim, &queue, 400), 1u << VERIFY_ORDER);
    queue.flags |= BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_EXACT_FULL;
    CHECK_SAME(findings_of(&verify_sim, &queue, 400), 1u << VERIFY_BROKEN);
}

/* But its items do come out in order. */
static void more_modest(void) {
    static verify_result result;
    verify_queue queue = *verify_find(&verify_sim, "bwd");
    queue.flags |= BL_QUEUE_LINEARIZABLE;
    check_at("bwd that claims an order of values");
    verify_run(&verify_sim, &queue, NULL, 0.01, &result);
    CHECK(result.verdict == VERIFY_HOLDS && strcmp(result.text, "linearizable but for FULL, EMPTY: shown") == 0);
    CHECK(result.shown == 2 && result.finding[0] == VERIFY_EMPTY && result.finding[1] == VERIFY_FULL);
}

static void again(void) {
    static verify_result once, twice;
    const verify_queue *queue = verify_find(&verify_sim, "bwd");
    check_at("the same again");
    verify_run(&verify_sim, queue, NULL, 0.01, &once);
    if (!CHECK(once.verdict == VERIFY_HOLDS && once.shown == 1 && once.finding[0] == VERIFY_ORDER))
        return;
    const verify_history *h = &once.history[0], *same = &twice.history[0];
    verify_replay(queue, h->shape.seed, &twice);
    CHECK(twice.verdict == VERIFY_HOLDS && twice.shown == 1 && twice.finding[0] == VERIFY_ORDER);
    CHECK_SAME(same->count, h->count);
    CHECK(memcmp(same->ops, h->ops, h->count * sizeof *h->ops) == 0);
}

int main(void) {
    check_limit(200);
    faults(&verify_sim, &verify_sim_bl_broken, BROKEN_KINDS);
    claims(&verify_sim, &verify_sim_bl_broken);
    boaster();
    more_modest();
    again();
    return check_end();
}
