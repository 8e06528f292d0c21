/* For clients that explore the code of a CPU's threads: these go idle and fall asleep at once, and every task counts as
 * long once it is seen. Included before any header of the library. */
#ifndef BALLAST_PROVE_IMPATIENT_THREAD_H
#define BALLAST_PROVE_IMPATIENT_THREAD_H

#include "prove.h"

static uint32_t no_time;

#undef BL_WARP
#define BL_WARP 1u
#undef BL_CAN_SLEEP
#define BL_CAN_SLEEP 1
#define BL__QUICK_TRIES no_time
#define BL__IDLE_SPINS no_time
#define BL__PATIENCE no_time
#define BL__LEAST_NAP no_time
#define BL__MOST_NAP no_time
#define BL__NAP_SHARE 1u
#define bl__sleep prove_sleep
#define bl__nap prove_nap
#define bl__wake prove_wake
#include <ballast/parts/gate.h>
#include <ballast/parts/worker.h>
#include <ballast/parts/idle.h>
#include <ballast/parts/outside.h>
#include <ballast/runtime/lookout.h>
#include <ballast/task.h>

#endif
