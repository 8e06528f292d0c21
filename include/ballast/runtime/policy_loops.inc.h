/* Template: the worker loop for the schedulers of the library, once for those with queues and once for those that
 * run in waves. */
#define BL__PAPER 1
#ifdef BL__OTHER
#define BL_INSTANCE queues_other
#else
#define BL_INSTANCE queues
#endif
#define BL_SCHEDULER <ballast/runtime/policy_queues.inc.h>
#include "worker_loop.inc.h"
#undef BL_INSTANCE
#undef BL_SCHEDULER

#ifdef BL__OTHER
#define BL_INSTANCE waves_other
#else
#define BL_INSTANCE waves
#endif
#define BL_SCHEDULER <ballast/runtime/policy_waves.inc.h>
#include "worker_loop.inc.h"
#undef BL_INSTANCE
#undef BL_SCHEDULER
#undef BL__PAPER
