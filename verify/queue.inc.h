/* Template: everything the host needs to verify one queue, BL_QUEUE, on one target: its contract, its recorder and a
 * row with its claims,
 *
 *     const verify_queue verify_TARGET_NAME;
 *
 * The build includes it for every queue and target. The target decides what a row's code is and how to
 * call it: functions for threads and the simulated machine, kernels for a GPU. */
#ifndef BALLAST_VERIFY_QUEUE_ONCE
#define BALLAST_VERIFY_QUEUE_ONCE

#include "verify.h"

#if defined(BL_TARGET_CUDA)
#include "place.h"
#endif

#endif

#include "contract_cases.inc.h"
#include "history.inc.h"

#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define VERIFY_ROW BL_CAT(BL_CAT(BL_CAT(verify_, BL_TARGET), _), BL_QUEUE)

#if defined(BL_TARGET_CUDA)

static __global__ void BL_QUEUE_(contract_kernel)(contract_client *c, contract_case what, uint32_t threads,
                                                  uint32_t stride) {
    uint32_t rank = verify_rank(stride);
    if (rank < threads)
        BL_QUEUE_(contract)(c, what, rank);
}

#if BL_QUEUE_(KIND) != BL_QUEUE_KIND_CEILING
static __global__ void BL_QUEUE_(history_kernel)(history_batch *b, bool set_up, verify_spread spread) {
    verify_place at = verify_place_of(spread, set_up ? 1 : b->threads);
    for (uint32_t cell = at.group; at.rank != VERIFY_NOBODY && cell < b->count; cell += at.groups)
        if (set_up)
            BL_QUEUE_(history_set_up)(b, cell);
        else
            BL_QUEUE_(history_record)(b, cell, at.rank);
}
#endif

#define VERIFY_CODE(x) BL_QUEUE_(x##_kernel)

#else

static void BL_QUEUE_(contract_thread)(contract_client *c, contract_case what, uint32_t rank) {
    BL_QUEUE_(contract)(c, what, rank);
}

#if BL_QUEUE_(KIND) != BL_QUEUE_KIND_CEILING
static void BL_QUEUE_(history_thread)(history_batch *b, bool set_up, uint32_t cell, uint32_t rank) {
    if (set_up)
        BL_QUEUE_(history_set_up)(b, cell);
    else
        BL_QUEUE_(history_record)(b, cell, rank);
}
#endif

#define VERIFY_CODE(x) BL_QUEUE_(x##_thread)

#endif

#ifdef __cplusplus
extern "C" {
#endif
extern const verify_queue VERIFY_ROW;
const verify_queue VERIFY_ROW = {
    BL_QUEUE_NAME(BL_QUEUE),
    BL_QUEUE_(KIND),
    BL_QUEUE_(FLAGS),
    BL_QUEUE_(LEAST),
    BL_QUEUE_(BY_HANDLE),
    BL_QUEUE_(bytes),
    (verify_code)VERIFY_CODE(contract),
#if BL_QUEUE_(KIND) != BL_QUEUE_KIND_CEILING
    (verify_code)VERIFY_CODE(history),
#else
    NULL,
#endif
};
#ifdef __cplusplus
}
#endif

#undef VERIFY_CODE
#undef VERIFY_ROW
#undef BL_QUEUE_
