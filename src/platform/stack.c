/* How much of its stack a thread has left. The C library knows where the stack lies, but may have to read a file to say
 * so: each thread asks once. */
#include <ballast/parts/frame.h>
#include <ballast/platform/platform.h>

#ifdef __linux__
#include <pthread.h>

static _Thread_local struct { uintptr_t low, high; } bounds;

static void ask(void) {
    pthread_attr_t attributes;
    void *low;
    size_t bytes, guard;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0 && pthread_attr_getguardsize(&attributes, &guard) == 0) {
        bounds.low = (uintptr_t)low + guard;
        bounds.high = (uintptr_t)low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

/* The caller may be on another stack than its thread's own, one of a coroutine for example. */
size_t bl__stack_left(void) {
    const uintptr_t at = bl_stack_here();
    if (!bounds.high)
        ask();
    return at > bounds.low && at < bounds.high ? at - bounds.low : 0;
}

#else

size_t bl__stack_left(void) { return 0; }

#endif
