/* A plain function as a program: the worker loop once more, with a call per task and payloads whose size is known at run time. */
#include <ballast/task.h>

#include <stdlib.h>

#define FUNCTION_WORDS 64 /* the largest payload */

typedef struct function_payload {
    uint32_t words[FUNCTION_WORDS];
} function_payload;

typedef struct function_shared { /* as run.c makes it */
    void (*run)(bl_task *task, const void *payload, uint32_t index, const void *shared);
    const void *shared;
} function_shared;

#define function_run(t, payload, index, data, local)                                                                   \
    ((void)(local), (data)->run((t), (payload), (index), (data)->shared))

#define BL_PROGRAM bl__function
#define BL_PAYLOAD function_payload
#define BL_SHARED function_shared
#define BL_RUN function_run
#define BL_LANE_TASKS 1
#define BL_ENTRY_WORDS run->words
#include <ballast/program.h>

bl_program *bl_function(bl_task_function run, size_t payload_bytes, size_t shared_bytes, uint32_t max_spawn) {
    if (!run || payload_bytes > sizeof(function_payload) || payload_bytes % 4 || shared_bytes > UINT32_MAX)
        return NULL;
    bl_program *program = malloc(sizeof *program);
    if (!program)
        return NULL;
    *program = *bl__function_cpu();
    program->function = run;
    program->payload_bytes = program->carried_bytes = (uint32_t)payload_bytes;
    program->shared_bytes = (uint32_t)shared_bytes;
    program->max_spawn = max_spawn ? max_spawn : 1;
    return program;
}

void bl_function_free(bl_program *program) { free(program); }

void bl_task_spawn(bl_task *task, const void *payload, uint32_t count) {
    bl__spawn(task, payload, 4 * (task->words - BL__ENTRY_HEAD), count, BL__NO_JOIN);
}
void bl_task_fail(bl_task *task) { bl_fail(task); }
