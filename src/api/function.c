/* A plain function as a program: the worker loop once more, with a call per task and payloads whose size is known at
 * run time. */
#include "internal.h"

#include <ballast/task.h>

#include <stdlib.h>
#include <string.h>

#define FUNCTION_WORDS 64 /* the largest payload */

typedef struct function_payload {
    _Alignas(16) uint32_t words[FUNCTION_WORDS]; /* for any type that a user has */
} function_payload;

/* A function of a C++ program, which may throw. */
static void call_guarded(bl_task *t, bl__guard guard, bl__call call) {
    char text[BL__FAILURE_TEXT] = "";
    if (!guard(&call, text) && bl__throws_first(t->run, t->payload_bytes, text))
        memcpy(t->run->failure, call.payload, t->payload_bytes);
}

static BL_TASK void function_run(bl_task *t, const function_payload *payload, uint32_t index,
                                 const bl__function_data *data, bl_nothing *local) {
    (void)local;
    if (data->guard)
        call_guarded(t, data->guard,
                     (bl__call){BL__CALL_TASK, (void (*)(void))data->run, t, payload, data->shared, index, 0});
    else
        data->run(t, payload, index, data->shared);
}

#define BL_PROGRAM bl__function
#define BL_PAYLOAD function_payload
#define BL_SHARED bl__function_data
#define BL_RUN function_run
#define BL_LANE_TASKS 1
#define BL_ENTRY_WORDS(run) ((run)->words)
#include <ballast/program.h>

/* The same for a body that is given pieces of a loop. */
static BL_TASK void loop_run(bl_task *t, const function_payload *payload, uint32_t begin, uint32_t end,
                             const bl__function_data *data, bl_nothing *local) {
    (void)payload, (void)local;
    if (data->guard)
        call_guarded(t, data->guard,
                     (bl__call){data->is_long ? BL__CALL_LONG_BODY : BL__CALL_BODY, (void (*)(void))data->run, t,
                                payload, data->shared, data->is_long ? bl_index(t, begin) : begin,
                                data->is_long ? bl_index(t, end) : end});
    else if (data->is_long)
        ((bl_long_body)(void (*)(void))data->run)(bl_index(t, begin), bl_index(t, end), data->shared);
    else
        ((bl_range_body)(void (*)(void))data->run)(begin, end, data->shared);
}

#define BL_PROGRAM bl__loop
#define BL_PAYLOAD function_payload
#define BL_SHARED bl__function_data
#define BL_RANGE_RUN loop_run
#define BL_LANE_TASKS 1
#define BL_MAX_SPAWN 0
#define BL_ENTRY_WORDS(run) ((run)->words)
#include <ballast/program.h>

/* Whether a program can be made of it; if not, bl_error_detail(NULL) says why. */
static bool is_accepted(bl_task_function run, size_t payload_bytes, size_t shared_bytes) {
    bl__detail_clear(NULL);
    if (!run)
        bl__detail(NULL, "function: NULL");
    else if (payload_bytes > sizeof(function_payload) || payload_bytes % 4)
        bl__detail(NULL, "payload_bytes %zu: out of range (accepted: multiples of 4 up to %zu)", payload_bytes,
                   sizeof(function_payload));
    else if (shared_bytes > UINT32_MAX)
        bl__detail(NULL, "shared_bytes %zu: too many (accepted: fewer than 2^32)", shared_bytes);
    else
        return true;
    return false;
}

static bl_program *copy_program(const bl_program *program, const char *name, bl_task_function run, size_t payload_bytes,
                                size_t shared_bytes) {
    if (!is_accepted(run, payload_bytes, shared_bytes))
        return NULL;
    bl_program *copy = malloc(sizeof *copy);
    if (!copy) {
        bl__no_memory(NULL, "a program");
        return NULL;
    }
    *copy = *program;
    copy->name = name;
    copy->function = run;
    copy->payload_bytes = copy->carried_bytes = (uint32_t)payload_bytes;
    copy->shared_bytes = (uint32_t)shared_bytes;
    return copy;
}

bl_program *bl_program_from_function(bl_task_function run, size_t payload_bytes, size_t shared_bytes,
                                     uint32_t max_spawn) {
    bl_program *program = copy_program(bl__function_cpu(), "function", run, payload_bytes, shared_bytes);
    if (program)
        program->max_spawn = max_spawn ? max_spawn : 1;
    return program;
}

bl_program *bl_program_from_body(bl_range_body body, size_t shared_bytes) {
    return copy_program(bl__loop_cpu(), "body", (bl_task_function)(void (*)(void))body, 0,
                        shared_bytes); /* loop_run calls it */
}

bl_program *bl_program_from_long_body(bl_long_body body, size_t shared_bytes) {
    bl_program *program = bl_program_from_body((bl_range_body)(void (*)(void))body, shared_bytes);
    if (program)
        program->long_body = 1;
    return program;
}

bl_program *bl__program_guard(bl_program *program, bl__guard guard) {
    if (program)
        program->guard = guard;
    return program;
}

static bool belong_together(const bl_program *a, const bl_program *b) {
    return a->abi == b->abi && !strcmp(a->name, b->name) && a->payload_bytes == b->payload_bytes &&
           a->result_bytes == b->result_bytes;
}

bl_program *bl_program_join(const bl_program *const *parts, uint32_t count) {
    const bl_program *first = NULL;
    bl_program *program = parts ? calloc(1, sizeof *program + count * sizeof *parts) : NULL;
    if (!program)
        return NULL;
    const bl_program **own = (const bl_program **)(void *)(program + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!parts[i])
            continue;
        first = first ? first : parts[i];
        if (parts[i]->part_count || !belong_together(first, parts[i])) {
            free(program);
            return NULL;
        }
        own[n++] = parts[i];
    }
    if (!first) {
        free(program);
        return NULL;
    }
    *program = *first;
    program->parts = own;
    program->part_count = n;
    return program;
}

const bl_program *bl_program_part(const bl_program *program, const char *target) {
    if (!program || !target || program->abi != BL__ABI)
        return NULL;
    for (uint32_t i = 0; i < program->part_count; i++)
        if (!strcmp(program->parts[i]->target, target))
            return program->parts[i];
    return !program->part_count && !strcmp(program->target, target) ? program : NULL;
}

void bl_program_free(bl_program *program) { free(program); }

void bl_task_spawn(bl_task *task, const void *payload, uint32_t count) {
    bl__spawn(task, payload, 4 * (task->words - BL__ENTRY_HEAD), count, BL__NO_JOIN);
}
uint32_t bl_task_worker(const bl_task *task) { return task->worker; }
void bl_task_fail(bl_task *task, uint64_t error, const void *payload) {
    bl__fail(task, error, payload, task->payload_bytes);
}
