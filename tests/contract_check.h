/* The contract's cases as checks of a test program: failures are printed and counted as by CHECK. */
#ifndef BALLAST_TESTS_CONTRACT_CHECK_H
#define BALLAST_TESTS_CONTRACT_CHECK_H

#include "check.h"

#include "../verify/verify.h"

static inline contract_run contract_start(const verify_target *target, const verify_queue *queue) {
    contract_run r = contract_open(target, queue);
    r.out = stdout;
    r.doing = check_doing;
    return r;
}

static inline void contract_count(const contract_run *r) {
    check_passed += r->cases - r->failures;
    check_failed += r->failures;
}

#endif
