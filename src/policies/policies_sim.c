/* The schedulers of this target, in the order of BL__SCHEDULERS. */
#define BL_TARGET_SIM 1
#include "policies.h"

#include "internal.h"

#define X(instance, name, policy) &BL__POLICY(instance),
const bl__policy *bl__sim_policies[] = {BL__SCHEDULERS(X)};
#undef X
