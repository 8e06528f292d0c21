/* Task functions for bl_program_from_function, for tests that need some run and not a certain one. */
#ifndef TESTS_TASK_FUNCTIONS_H
#define TESTS_TASK_FUNCTIONS_H

#include <ballast/ballast.h>

/* Of n: two tasks of n / 2, and so on down to 1. */
static void halve(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t half = *(const uint32_t *)payload / 2;
    (void)index, (void)shared;
    if (half)
        bl_task_spawn(task, &half, 2);
}

static void fail_now(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)index, (void)shared;
    bl_task_fail(task, 0, payload);
}

#endif
