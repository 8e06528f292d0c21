/* The guarantees that the queues rely on, on this machine and, if present, on its GPU: no outcome that the memory
 * orders forbid. */
#include "check.h"

#include "platform/fence.h"
#include "litmus.h"

#define SECONDS 0.1 /* a test */

static void print(const char *where, litmus_kind kind, const litmus_count *c) {
    printf("  %-7s %-13s %10llu of %12llu %s\n", where, litmus_tests[kind].name, (unsigned long long)c->odd,
           (unsigned long long)c->runs, litmus_tests[kind].forbidden ? "(forbidden)" : "");
}

static void judge(const char *where, litmus_kind kind, const litmus_count *c) {
    check_at("%s on %s", litmus_tests[kind].text, where);
    CHECK(c->runs > 0 || ((kind == LITMUS_SB_HEAVY || kind == LITMUS_MP_HEAVY) && !bl__can_fence_all_threads()));
    if (litmus_tests[kind].forbidden)
        CHECK_SAME(c->odd, 0);
    print(where, kind, c);
}

static void on_cpu(void) {
    /* The workers query this once, before the first run, and rely on it from then on. */
    CHECK_SAME(bl__fence_all_threads(), bl__can_fence_all_threads());
    for (int kind = 0; kind < LITMUS_KINDS; kind++) {
        litmus_count c = {0, 0};
        CHECK(litmus_cpu((litmus_kind)kind, SECONDS, &c));
        judge("cpu", (litmus_kind)kind, &c);
    }
}

static void on_gpu(void) {
    litmus_count block = {0, 0}, host = {0, 0};
    const char *trouble = litmus_cuda_block(SECONDS, &block);
    if (trouble) {
        printf("  no GPU: %s\n", trouble);
        return;
    }
    CHECK_SAME(block.odd, 0);
    for (int i = 0; i < LITMUS_KINDS * LITMUS_PLACES; i++) {
        litmus_count c = {0, 0};
        trouble = litmus_cuda((litmus_kind)(i / LITMUS_PLACES), (litmus_place)(i % LITMUS_PLACES), SECONDS, &c);
        CHECK(!trouble);
        if (trouble)
            printf("  %s\n", trouble);
        judge(litmus_places[i % LITMUS_PLACES], (litmus_kind)(i / LITMUS_PLACES), &c);
    }
    trouble = litmus_cuda_host(SECONDS, &host);
    CHECK(!trouble);
    CHECK_SAME(host.odd, 0);
    printf("  block   %llu reads after bl_block_sync; host: %llu steps of the host during a kernel\n",
           (unsigned long long)block.runs, (unsigned long long)host.runs);
}

int main(void) {
    check_limit(200);
    on_cpu();
    on_gpu();
    return check_end();
}
