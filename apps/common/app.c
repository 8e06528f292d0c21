#include "app.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

int app_wrong(app_error *error, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

uint64_t app_digest(uint64_t digest, const void *from, size_t bytes) {
    const unsigned char *at = from;
    uint64_t word = bytes;
    for (size_t n = 0;; at += n, bytes -= n) {
        digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 32;
        if (bytes == 0)
            return digest;
        n = bytes < sizeof word ? bytes : sizeof word;
        word = 0;
        memcpy(&word, at, n);
    }
}

const bl_program *app_join_once(bl_program **joined, const bl_program *const *parts, uint32_t count) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!*joined)
        *joined = bl_program_join(parts, count);
    const bl_program *program = *joined;
    pthread_mutex_unlock(&lock);
    return program;
}

void app_add_counts(void *into, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
        ((uint64_t *)into)[i] += ((const uint64_t *)from)[i];
}

int app_add_memories(bl_context *context, uint64_t *sum, const uint64_t *number) {
    int status = BL_OK;
    *sum = 0;
    for (uint32_t i = 0; i < bl_memories(context) && status == BL_OK; i++) {
        uint64_t part = 0;
        status = bl_copy_out_of(context, i, &part, number, sizeof part);
        *sum += part;
    }
    return status;
}
