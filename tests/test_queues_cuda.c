/* The contract of every queue on a GPU: one thread, the lanes of one warp, the warps of one block, many blocks. A
 * queue that hangs is reported. */
#include "contract_check.h"

static void crowds(contract_run *r, const verify_layout *layout) {
    static const uint32_t capacities[] = {2, 64, 4096};
    uint32_t threads = layout->threads;
    r->layout = *layout;
    for (uint32_t i = 0; i < 3 && contract_fits(r); i++) {
        uint32_t words = r->queue->by_handle ? 1 : i == 0 ? 8 : i == 1 ? 1 : 3;
        contract_client c = contract_shape(r, capacities[i], words, UINT32_MAX - 100, threads + i, 0);
        c.threads = threads;
        c.batch = i == 2 ? 4 : 1;
        c.items = (i == 0 ? 4096 : 32768) / threads;
        contract_crowd(r, c, threads / 2, threads - threads / 2);
        contract_crowd(r, c, threads, threads);
        if (r->queue->kind != BL_QUEUE_KIND_DEQUE) {
            contract_crowd(r, c, 1, threads - 1);
            c.items = 16;
            c.capacity = 2;
            contract_tokens(r, c);
        }
    }
}

static void pools(contract_run *r, const verify_layout *layout) {
    contract_client c = contract_shape(r, 0, 0, 0, layout->threads, 40);
    r->layout = *layout;
    c.threads = layout->threads;
    contract_run_pool(r, c, 4096, CONTRACT_TRAFFIC);
    c.items = 100;
    contract_run_pool(r, c, 128, CONTRACT_TOKENS);
}

static void tickets(contract_run *r) {
    contract_client c = contract_shape(r, 2, 3, UINT32_MAX - 5, 1, 64);
    c.threads = 1024;
    r->layout.block = 64;
    contract_tickets(r, c);
}

static void all_queues(const verify_target *target) {
    for (int i = 0; target->queue[i] && !target->trouble(); i++) {
        contract_run r = contract_start(target, target->queue[i]);
        if (r.queue->kind == BL_QUEUE_KIND_CEILING)
            tickets(&r);
        else
            contract_alone(&r, 300);
        for (int k = 0; r.queue->kind != BL_QUEUE_KIND_CEILING && target->layout[k].text; k++)
            crowds(&r, &target->layout[k]);
        contract_count(&r);
    }
}

int main(void) {
    const verify_target *target = verify_cuda(0);
    if (!target) {
        printf("skipped: no CUDA device\n");
        return CHECK_SKIPPED;
    }
    check_limit(220);
    all_queues(target);
    contract_run r = contract_start(target, NULL);
    for (int k = 0; target->layout[k].text && !target->trouble(); k++)
        pools(&r, &target->layout[k]);
    contract_count(&r);
    int status = check_end();
    fflush(stdout);
    if (target->trouble()) /* a kernel may still be running, and a normal exit would wait for it */
        _exit(1);
    return status;
}
