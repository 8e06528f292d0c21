/* A plain function as a program: the worker loop once more, with a call per task and payloads whose size is known at run time. */
#include <ballast/task.h>

#include <stdlib.h>

#define FUNCTION_WORDS 64 /* the largest payload */

typedef struct function_payload {
    _Alignas(16) uint32_t words[FUNCTION_WORDS]; /* for any type that a user has */
} function_payload;

typedef struct function_shared { /* as run.c makes it */
    void (*run)(bl_task *task, const void *payload, uint32_t index, const void *shared);
    const void *shared;
} function_shared;

static BL_TASK void function_run(bl_task *t, const function_payload *payload, uint32_t index,
                                 const function_shared *data, bl_nothing *local) {
    (void)local;
    data->run(t, payload, index, data->shared);
}

#define BL_PROGRAM bl__function
#define BL_PAYLOAD function_payload
#define BL_SHARED function_shared
#define BL_RUN function_run
#define BL_LANE_TASKS 1
#define BL_ENTRY_WORDS(run) ((run)->words)
#include <ballast/program.h>

/* The same for a body that is given pieces of a loop. */
typedef struct loop_shared {
    void (*body)(uint32_t begin, uint32_t end, const void *shared);
    const void *shared;
} loop_shared;

static BL_TASK void loop_run(bl_task *t, const function_payload *payload, uint32_t begin, uint32_t end,
                             const loop_shared *data, bl_nothing *local) {
    (void)t, (void)payload, (void)local;
    data->body(begin, end, data->shared);
}

#define BL_PROGRAM bl__loop
#define BL_PAYLOAD function_payload
#define BL_SHARED loop_shared
#define BL_RANGE_RUN loop_run
#define BL_LANE_TASKS 1
#define BL_MAX_SPAWN 0
#define BL_ENTRY_WORDS(run) ((run)->words)
#include <ballast/program.h>

static bl_program *copy_program(const bl_program *program, bl_task_function run, size_t payload_bytes,
                                size_t shared_bytes) {
    bl_program *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *program;
    copy->function = run;
    copy->payload_bytes = copy->carried_bytes = (uint32_t)payload_bytes;
    copy->shared_bytes = (uint32_t)shared_bytes;
    return copy;
}

bl_program *bl_function(bl_task_function run, size_t payload_bytes, size_t shared_bytes, uint32_t max_spawn) {
    if (!run || payload_bytes > sizeof(function_payload) || payload_bytes % 4 || shared_bytes > UINT32_MAX)
        return NULL;
    bl_program *program = copy_program(bl__function_cpu(), run, payload_bytes, shared_bytes);
    if (program)
        program->max_spawn = max_spawn ? max_spawn : 1;
    return program;
}

bl_program *bl_range_function(bl_range_body body, size_t shared_bytes) {
    if (!body || shared_bytes > UINT32_MAX)
        return NULL;
    return copy_program(bl__loop_cpu(), (bl_task_function)(void (*)(void))body, 0,
                        shared_bytes); /* loop_run calls it */
}

void bl_function_free(bl_program *program) { free(program); }

void bl_task_spawn(bl_task *task, const void *payload, uint32_t count) {
    bl__spawn(task, payload, 4 * (task->words - BL__ENTRY_HEAD), count, BL__NO_JOIN);
}
void bl_task_fail(bl_task *task) { bl_fail(task); }
