/* Contexts, devices, device memory, statuses. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const bl__device_ops *const device_kinds[] = {
#ifdef BL_HAVE_CUDA
    &bl__cuda_ops,
#endif
    &bl__cpu_ops,
    &bl__sim_ops,
};
enum { DEVICE_KINDS = sizeof device_kinds / sizeof device_kinds[0] };

const char *bl_version(void) { return BL_VERSION; }

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

int bl_device(uint32_t i, bl_device_info *info) {
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        uint32_t n = 0;
        while (device_kinds[kind]->enumerate(n, info)) {
            if (i-- == 0)
                return 1;
            n++;
        }
    }
    return 0;
}

/* "cuda" means the first one; "auto" the first device there is, which is a GPU where one can be used. */
static int find_device(const char *wanted, bl_device_info *info, const bl__device_ops **ops) {
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        const char *target = device_kinds[kind]->target;
        if (strcmp(wanted, "auto") && strncmp(wanted, target, strlen(target)))
            continue; /* who asks for the CPU does not wait for a GPU driver to start */
        for (uint32_t n = 0; device_kinds[kind]->enumerate(n, info); n++)
            if (!strcmp(wanted, "auto") || !strcmp(wanted, info->id) || (n == 0 && !strcmp(wanted, target))) {
                *ops = device_kinds[kind];
                return 1;
            }
    }
    return 0;
}

static char *copy_text(const char *text, const char *otherwise) {
    const char *from = text ? text : otherwise;
    size_t size = strlen(from) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, from, size);
    return copy;
}

static void free_config(bl_config *config) {
    free((char *)config->device);
    free((char *)config->scheduler);
    free((char *)config->group);
    free((char *)config->checkpoint);
    free((char *)config->resume);
    free((char *)config->problem);
}

static bool config_is_valid(const bl_config *c) {
    return c->victims <= BL_VICTIMS_RANDOM && c->steal <= BL_STEAL_HALF && c->stall_seconds >= 0 &&
           c->workers <= 1u << 24 && c->capacity <= 1u << 30 && c->time_limit >= 0 && c->checkpoint_seconds >= 0;
}

int bl_open(bl_context **context, const bl_config *config) {
    static const bl_config defaults;
    if (!context)
        return BL_EINVAL;
    *context = NULL;
    config = config ? config : &defaults;
    if (!config_is_valid(config))
        return BL_EINVAL;
    bl_device_info info;
    const bl__device_ops *ops;
    if (!find_device(config->device ? config->device : "auto", &info, &ops))
        return BL_ENODEVICE;
    if (config->stream && strcmp(ops->target, "cuda"))
        return BL_EINVAL;
    bl_context *c = calloc(1, sizeof *c);
    if (!c)
        return BL_ENOMEM;
    c->ops = ops;
    c->config = *config;
    c->config.device = copy_text(info.id, "");
    c->config.scheduler = copy_text(config->scheduler, "auto");
    c->config.group = copy_text(config->group, "");
    c->config.checkpoint = copy_text(config->checkpoint, "");
    c->config.resume = copy_text(config->resume, "");
    c->config.problem = copy_text(config->problem, "");
    if (c->config.seed == 0)
        c->config.seed = 1;
    if (!(c->config.stall_seconds > 0))
        c->config.stall_seconds = 60;
    if (!(c->config.checkpoint_seconds > 0))
        c->config.checkpoint_seconds = 60;
    memcpy(c->id, info.id, sizeof c->id);
    memcpy(c->name, info.name, sizeof c->name);
    bool copied = c->config.device && c->config.scheduler && c->config.group && c->config.checkpoint &&
                  c->config.resume && c->config.problem;
    int status = copied ? ops->open(c, info.id) : BL_ENOMEM;
    if (status != BL_OK) {
        free_config(&c->config);
        free(c);
        return status;
    }
    *context = c;
    return BL_OK;
}

void bl_close(bl_context *c) {
    if (!c)
        return;
    c->ops->close(c);
    free_config(&c->config);
    free(c->timelines.spans);
    free(c->blocks);
    free(c);
}

void bl_cancel(bl_context *c) {
    if (c)
        bl_store32_host(&c->cancelled, 1);
}

const char *bl_device_id(const bl_context *c) { return c->id; }
const char *bl_device_name(const bl_context *c) { return c->name; }
const char *bl_device_target(const bl_context *c) { return c->ops->target; }
const char *bl_detail(const bl_context *c) { return c->detail; }

void bl__detail(bl_context *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t used = strlen(c->detail);
    vsnprintf(c->detail + used, sizeof c->detail - used, format, arguments);
    va_end(arguments);
}

/* ---- memory ---- */

int bl__alloc(bl_context *c, void **memory, size_t bytes) {
    *memory = NULL;
    return c->dead ? BL_EDEAD : c->ops->alloc(c, memory, bytes ? bytes : 1);
}
void bl__free(bl_context *c, void *memory) {
    if (memory && !c->dead)
        c->ops->free(c, memory);
}

static bool room_for_block(bl_context *c) {
    size_t capacity = c->block_capacity ? 2 * c->block_capacity : 16;
    if (c->block_count < c->block_capacity)
        return true;
    bl__block *larger = realloc(c->blocks, capacity * sizeof *larger);
    if (!larger)
        return false;
    c->blocks = larger;
    c->block_capacity = capacity;
    return true;
}

int bl_alloc(bl_context *c, void **memory, size_t bytes) {
    if (!c || !memory)
        return BL_EINVAL;
    *memory = NULL;
    int status = room_for_block(c) ? bl__alloc(c, memory, bytes) : BL_ENOMEM;
    if (status == BL_OK)
        c->blocks[c->block_count++] = (bl__block){*memory, bytes};
    return status;
}
void bl_free(bl_context *c, void *memory) {
    if (!c || !memory)
        return;
    size_t i = c->block_count;
    while (i > 0 && c->blocks[i - 1].memory != memory)
        i--;
    if (i > 0) {
        memmove(c->blocks + i - 1, c->blocks + i, (c->block_count - i) * sizeof *c->blocks);
        c->block_count--;
    }
    bl__free(c, memory);
}
int bl_copy_in(bl_context *c, void *device, const void *host, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->copy_in(c, device, host, bytes) : BL_OK;
}
int bl_copy_out(bl_context *c, void *host, const void *device, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->copy_out(c, host, device, bytes) : BL_OK;
}
int bl_zero(bl_context *c, void *device, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->zero(c, device, bytes) : BL_OK;
}

/* ---- the watch ---- */

double bl__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bl__watch_start(bl__watch *watch) {
    watch->tasks = UINT64_MAX;
    watch->since = watch->reported = bl__now();
}

double bl__watch_next(const bl_context *c, double most) {
    double left = c->pausable ? c->pause_at - bl__now() : most;
    return left < 1e-4 ? 1e-4 : left < most ? left : most;
}

bl__seen bl__watch_look(bl_context *c, bl__watch *watch, const bl__tally *tally, uint32_t count) {
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < count; i++)
        tasks += bl_load64_host(&tally[i].beat) + bl_load64_host(&tally[i].tasks);
    double now = bl__now();
    if (tasks != watch->tasks) {
        watch->tasks = tasks;
        watch->since = now;
    }
    if (c->config.progress && now - watch->reported >= 0.1) {
        watch->reported = now;
        c->config.progress(c->config.progress_arg, tasks);
    }
    if (now - watch->since > c->config.stall_seconds)
        return BL__NO_PROGRESS;
    if (!c->pausable || (now < c->pause_at && !bl_load32_host(&c->cancelled)))
        return BL__ALL_WELL;
    c->pausable = false;
    return BL__TO_PAUSE;
}

void bl__watch_report(bl_context *c, const char *why, const bl__tally *tally, uint32_t count) {
    static const char *const names[] = {"not started", "in a task", "searching", "idle", "ended"};
    enum { SHOWN = 16 };
    uint32_t at[BL__AT_END + 1] = {0};
    c->detail[0] = 0;
    bl__detail(c, "%s; workers", why);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t standing = bl_load32_host(&tally[i].standing);
        at[standing <= BL__AT_END ? standing : BL__AT_END]++;
    }
    for (int standing = 0; standing <= BL__AT_END; standing++)
        if (at[standing])
            bl__detail(c, " %s: %u", names[standing], at[standing]);
    for (uint32_t i = 0, shown = 0; i < count && shown < SHOWN;
         i++) { /* those that hold it up, or else the first ones */
        uint32_t standing = bl_load32_host(&tally[i].standing);
        if (count > SHOWN && at[BL__AT_WORK] && standing != BL__AT_WORK)
            continue;
        shown++;
        bl__detail(c, "\nworker %u: %s, %llu tasks", i, names[standing <= BL__AT_END ? standing : BL__AT_END],
                   (unsigned long long)(bl_load64_host(&tally[i].beat) + bl_load64_host(&tally[i].tasks)));
    }
}
