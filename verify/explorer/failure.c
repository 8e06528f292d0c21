/* The end of an execution that is wrong. */
#include "explorer_parts.h"

#include <stdarg.h>
#include <stdlib.h>

static void set_failure(bl__explorer *x, const char *format, va_list values) {
    vsnprintf(x->result->failure, sizeof x->result->failure, format, values);
    x->end = BL__FAILED;
}

void bl__explore_failed(bl__explorer *x, const char *format, ...) {
    va_list values;
    va_start(values, format);
    set_failure(x, format, values);
    va_end(values);
}

static _Noreturn void give_up(bl__explorer *x) {
    bl__fiber_switch(x->fibers[x->self].stack, &x->host);
    abort(); /* a fiber that gave up is never resumed */
}

void bl__explore_wrong(bl__explorer *x, const char *format, ...) {
    va_list values;
    va_start(values, format);
    set_failure(x, format, values);
    va_end(values);
    give_up(x);
}

void bl_explore_fail(const char *format, ...) {
    bl__explorer *x = bl__exploring.x;
    if (!x)
        abort(); /* there is no execution to blame, and no way to continue */
    va_list values;
    va_start(values, format);
    set_failure(x, format, values);
    va_end(values);
    give_up(x);
}
