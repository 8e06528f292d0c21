/* Statuses in words, and the details of the last error. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *bl_status_name(int status) {
    static const char *const names[] = {
#define X(name, text) "BL_" #name,
        BL_STATUS_MAP(X)
#undef X
    };
    return status >= 0 && status < BL_STATUS_COUNT ? names[status] : "BL_UNKNOWN";
}

const char *bl_status_text(int status) {
    static const char *const texts[] = {
#define X(name, text) text,
        BL_STATUS_MAP(X)
#undef X
    };
    return status >= 0 && status < BL_STATUS_COUNT ? texts[status] : "unknown status";
}

/* What calls without a context say about their errors. */
static _Thread_local char open_detail[1024];

const char *bl_error_detail(const bl_context *c) { return c ? c->detail : open_detail; }

void bl__detail_clear(bl_context *c) {
    char *text = c ? c->detail : open_detail;
    text[0] = 0;
}

void bl__detail(bl_context *c, const char *format, ...) {
    va_list arguments;
    char *text = c ? c->detail : open_detail;
    size_t size = c ? sizeof c->detail : sizeof open_detail;
    if (c && c->detail_is_old) {
        text[0] = 0;
        c->detail_is_old = false;
    }
    va_start(arguments, format);
    size_t used = strlen(text);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

int bl__no_memory(bl_context *c, const char *what) {
    bl__detail(c, "no memory for %s", what);
    return BL_ENOMEM;
}
