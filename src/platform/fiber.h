/* Fibers: several stacks on one OS thread, changed by hand. A switch saves the registers that a call preserves, nothing
 * else: no signal mask, no floating-point mode. Stacks have a guard page below them and are pooled, not unmapped. */
#ifndef BALLAST_PLATFORM_FIBER_H
#define BALLAST_PLATFORM_FIBER_H

#include <stddef.h>

#ifndef BL__FIBER_ASM
#if defined(__ELF__) && (defined(__aarch64__) || defined(__x86_64__))
#define BL__FIBER_ASM 1
#else
#define BL__FIBER_ASM 0
#endif
#endif

#if !BL__FIBER_ASM
#include <ucontext.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bl__fiber bl__fiber;

/* What a fiber runs. It returns the fiber that runs in its place; the one that returned is never entered again. */
typedef bl__fiber *(*bl__fiber_entry)(void *arg);

struct bl__fiber {
#if BL__FIBER_ASM
    void *sp; /* where the registers lie while it does not run */
#else
    ucontext_t context;
#endif
    bl__fiber_entry entry;
    void *arg;
    void *stack; /* lowest usable byte; for an adopted thread known only to AddressSanitizer */
    size_t stack_bytes, mapped_bytes;
    bl__fiber *next; /* in the pool */
    /* for the sanitizers, which must be told whose stack it is */
    bl__fiber *came_from;
    void *fake_stack;
    void *tsan;
    unsigned restarts;
};

/* A fiber with stack_bytes of stack (0: the default), or NULL. */
bl__fiber *bl__fiber_create(size_t stack_bytes, bl__fiber_entry entry, void *arg);
/* Makes self stand for the code that calls, so that fibers can switch back to it. Nothing to destroy. */
void bl__fiber_adopt(bl__fiber *self);
/* from: the fiber that runs now. Comes back when somebody switches to from. */
void bl__fiber_switch(bl__fiber *from, bl__fiber *to);
/* Of a fiber that does not run, finished or not. Its stack goes to the pool. */
void bl__fiber_destroy(bl__fiber *f);
/* Of a fiber that does not run, finished or not: it begins again. */
void bl__fiber_restart(bl__fiber *f);
/* Unmaps the stacks in the pool. */
void bl__fiber_trim(void);

#ifdef __cplusplus
}
#endif

#endif
