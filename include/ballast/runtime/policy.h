/* A scheduler as the worker loop calls it (schedulers/scheduler_contract.h), on targets whose code the host runs:
 * compiled once, in the library, for all programs.
 *
 * Nothing of this is called per task by the default scheduler: a worker that has enough on its private stack goes from
 * one task to the next.
 */
#ifndef BL_RUNTIME_POLICY_H
#define BL_RUNTIME_POLICY_H

#include "../parts/worker.h"

typedef struct bl__policy {
    uint32_t (*fetch)(bl__worker *w);
    uint32_t (*publish)(bl__worker *w, uint32_t n);
    uint32_t (*shown)(bl__worker *w);
    void (*leave)(bl__worker *w); /* NULL: nothing to do */
    /* with queues */
    bool (*sees_work)(bl__worker *w);
    bool (*all_empty)(bl__worker *w);
    bool empty_when_idle, claim_leaves;
    /* in waves */
    void (*open_share)(bl__worker *w);
    void (*end_share)(bl__worker *w); /* every worker then calls next_wave: each has a barrier for the block */
    bool (*next_wave)(bl__worker *w);
    /* By a thread that is no worker, with a stack: half of what a worker's queue shows, `most` at most. NULL: only
     * workers can use these queues. */
    uint32_t (*rob)(bl__worker *w, uint32_t victim, uint32_t most);
} bl__policy;

#endif
