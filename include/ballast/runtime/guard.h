/* C++: what a plain function throws that is a task (bl_program_from_function, ..._from_body, ..._from_long_body) is
 * caught before it gets to the library, which is C. Typed programs catch it themselves (task.h). */
#ifndef BL_RUNTIME_GUARD_H
#define BL_RUNTIME_GUARD_H

#include "../export.h"
#include <stdint.h>

/* One call of such a function, by the library. */
typedef struct bl__call {
    enum bl__call_kind { BL__CALL_TASK, BL__CALL_BODY, BL__CALL_LONG_BODY } kind;
    void (*function)(void);
    struct bl_task *task;
    const void *payload, *shared;
    uint64_t begin, end;
} bl__call;

/* Calls it. False: it threw, and `text` has 256 bytes for what it said. */
typedef int (*bl__guard)(const bl__call *call, char *text);
BL_API struct bl_program *bl__program_guard(struct bl_program *program, bl__guard guard);

#if defined(__cplusplus) && defined(__cpp_exceptions)
extern "C++" { /* the file may be included within extern "C" */
#include <exception>
}
#include <string.h>

static inline void bl__make_call(const bl__call *c) {
    if (c->kind == bl__call::BL__CALL_TASK)
        ((void (*)(struct bl_task *, const void *, uint32_t, const void *))c->function)(c->task, c->payload,
                                                                                        (uint32_t)c->begin, c->shared);
    else if (c->kind == bl__call::BL__CALL_BODY)
        ((void (*)(uint32_t, uint32_t, const void *))c->function)((uint32_t)c->begin, (uint32_t)c->end, c->shared);
    else
        ((void (*)(uint64_t, uint64_t, const void *))c->function)(c->begin, c->end, c->shared);
}

static inline int bl__call_guarded(const bl__call *c, char *text) {
    try {
        bl__make_call(c);
        return 1;
    } catch (const std::exception &bl__exception) {
        strncpy(text, bl__exception.what(), 255);
    } catch (...) {
        strncpy(text, "an exception that is not a std::exception", 255);
    }
    return 0;
}

/* A macro is not expanded within itself. */
#define bl_program_from_function(...) bl__program_guard(bl_program_from_function(__VA_ARGS__), bl__call_guarded)
#define bl_program_from_body(...) bl__program_guard(bl_program_from_body(__VA_ARGS__), bl__call_guarded)
#define bl_program_from_long_body(...) bl__program_guard(bl_program_from_long_body(__VA_ARGS__), bl__call_guarded)
#endif

#endif
