/* The schedulers of this target, in the order of BL__SCHEDULERS. */
#include "policies.h"

#include "internal.h"

#define X(instance, name, policy) &BL__POLICY(instance),
const bl__policy *bl__cpu_policies[] = {BL__SCHEDULERS(X)};
#undef X
