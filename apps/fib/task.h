/* The task of fib: one call. */
#ifndef BALLAST_FIB_TASK_H
#define BALLAST_FIB_TASK_H

#include "fib.h"
#include "common/kernels.h"
#include <ballast/task.h>

static BL_TASK void fib_run(bl_task *t, const fib_call *caller, uint32_t index, const bl_nothing *shared,
                            bl_nothing *local) {
    (void)shared, (void)local;
    fib_call call = {bl_is_root(t) ? caller->n : caller->n - 1 - index};
    uint64_t value = call.n;
    if (t->lane != 0) /* one lane is enough for a task this small */
        return;
    if (call.n < 2)
        bl_return(t, &value);
    else
        bl_fork(t, &call, &call, 2);
}

#define BL_PROGRAM fib
#define BL_PAYLOAD fib_call
#define BL_RESULT uint64_t
#define BL_SUM 1
#define BL_RUN fib_run
#define BL_LANE_TASKS 1
#define BL_RESIDENT 32
#define BL_MAX_SPAWN 1
#define BL_OPEN 1
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_DEFAULT, 0)
#include <ballast/program.h>

#endif
