/* What the schedulers are made of, for the files that compile them: one per policy and target, which the build
 * writes. */
#ifndef BALLAST_POLICIES_H
#define BALLAST_POLICIES_H

#include <ballast/generated/queues.h>
#include <ballast/generated/schedulers.h>
#include <ballast/parts/pool.h>
#include <ballast/parts/region.h>
#include <ballast/parts/worker.h>
#include <ballast/parts/idle.h>
#include <ballast/parts/piece.h>
#include <ballast/runtime/meeting.h>
#include <ballast/runtime/policy.h>

/* bl__policy_cpu_steal_abp */
#ifndef BL__POLICY
#define BL__POLICY(instance) BL_CAT(BL_CAT(BL_CAT(bl__policy_, BL_TARGET), _), instance)
#endif
#define BL__POLICY_DECLARE(instance, name, policy) extern const bl__policy BL__POLICY(instance);
BL__SCHEDULERS(BL__POLICY_DECLARE)
#undef BL__POLICY_DECLARE

#endif
