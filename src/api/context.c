/* Contexts, devices, device memory. */
#include "cluster/local.h"
#include "cluster/protocol.h"
#include "cluster/ranks.h"
#include "internal.h"
#include "platform/fence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef BL_HAVE_CUDA
/* A library without code for GPUs knows their names all the same. */
static int no_device(uint32_t i, bl_device_info *info) { return (void)i, (void)info, 0; }
const bl__device_ops bl__cuda_ops = {.target = "cuda", .traits = BL_DEVICE_GPU, .enumerate = no_device};
#endif
static const bl__device_ops *const device_kinds[] = {
    &bl__cuda_ops,
    &bl__cpu_ops,
    &bl__sim_ops,
};
enum { DEVICE_KINDS = sizeof device_kinds / sizeof device_kinds[0] };

const char *bl_version(void) { return BL_VERSION; }

int bl_device_info_at(uint32_t i, bl_device_info *info) {
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
            continue; /* a caller that asks for the CPU does not wait for a GPU driver to start */
        for (uint32_t n = 0; device_kinds[kind]->enumerate(n, info); n++)
            if (!strcmp(wanted, "auto") || !strcmp(wanted, info->id) || (n == 0 && !strcmp(wanted, target))) {
                *ops = device_kinds[kind];
                return 1;
            }
    }
    return 0;
}

int bl_device_find(const char *device, bl_device_info *info) {
    const bl__device_ops *ops;
    int found = find_device(device ? device : "auto", info, &ops);
    if (!found)
        memset(info, 0, sizeof *info);
    return found;
}

/* Only GPUs have numbers. */
static bool is_name_of(const char *device, const bl__device_ops *ops) {
    size_t length = strlen(ops->target);
    if (strncmp(device, ops->target, length))
        return false;
    const char *number = device + length;
    return !*number || (ops->traits & BL_DEVICE_GPU && number[0] == ':' && number[1] &&
                        !number[1 + strspn(number + 1, "0123456789")]);
}

uint32_t bl_device_traits(const char *device) {
    bl_device_info info;
    const bl__device_ops *ops;
    if (!device || !strcmp(device, "auto"))
        return find_device("auto", &info, &ops) ? ops->traits : 0;
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
        if (is_name_of(device, device_kinds[kind]))
            return device_kinds[kind]->traits;
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
    free((char *)config->checkpoint_tag);
}

/* ---- opening and closing ---- */

/* Which field of a config cannot be used, and why; NULL: none. */
static const char *wrong_field(const bl_config *c, const bl__device_ops *ops) {
    if (c->victims > BL_VICTIMS_RANDOM)
        return "victims: no such way to choose one (accepted: those of bl_victims)";
    if (c->done_test > BL_DONE_TEST_IGNORE)
        return "done_test: no such way (accepted: those of bl_done_test)";
    if (c->steal > BL_STEAL_HALF)
        return "steal: no such way (accepted: those of bl_steal)";
    if (c->workers > 1u << 24)
        return "workers: too many (accepted: up to 2^24)";
    if (c->capacity > 1u << 30)
        return "capacity: too large (accepted: up to 2^30)";
    if (c->inbox > 1u << 24)
        return "inbox: too large (accepted: up to 2^24)";
    if (!(c->stall_seconds >= 0))
        return "stall_seconds: negative or not a number";
    if (!(c->time_limit >= 0))
        return "time_limit: negative or not a number";
    if (!(c->checkpoint_seconds >= 0))
        return "checkpoint_seconds: negative or not a number";
    if (c->stream && !ops->has_streams)
        return "stream: only a GPU has streams (accepted: NULL)";
    if (c->bind > 1)
        return "bind: 0 or 1";
    if (c->caller_waits > 1)
        return "caller_waits: 0 or 1";
    if (c->bind && !ops->can_bind)
        return "bind: only workers on the CPU can be bound to cores (accepted: with device cpu)";
    return NULL;
}

static int check_config(const bl_config *config, bl_device_info *info, const bl__device_ops **ops) {
    const char *device = config->device ? config->device : "auto";
    if (!find_device(device, info, ops)) {
        bl__detail(NULL, "device %.200s: not here", device);
        return BL_ENODEVICE;
    }
    const char *wrong = wrong_field(config, *ops);
    if (wrong) {
        bl__detail(NULL, "%s", wrong);
        return BL_EINVAL;
    }
    if (config->scheduler && !bl__scheduler_known(config->scheduler)) {
        bl__detail(NULL,
                   "scheduler %.200s: unknown (accepted: auto, and the names of bl_scheduler_name and "
                   "bl_alias_name)",
                   config->scheduler);
        return BL_ESCHEDULER;
    }
    return BL_OK;
}

static bool copy_config(bl_config *to, const bl_config *config, const char *device) {
    *to = *config;
    to->device = copy_text(device, "");
    to->scheduler = copy_text(config->scheduler, "auto");
    to->group = copy_text(config->group, "");
    to->checkpoint = copy_text(config->checkpoint, "");
    to->resume = copy_text(config->resume, "");
    to->checkpoint_tag = copy_text(config->checkpoint_tag, "");
    if (to->seed == 0)
        to->seed = 1;
    if (to->inbox == 0)
        to->inbox = 1024;
    if (!(to->stall_seconds > 0))
        to->stall_seconds = 60;
    if (!(to->checkpoint_seconds > 0))
        to->checkpoint_seconds = 60;
    return to->device && to->scheduler && to->group && to->checkpoint && to->resume && to->checkpoint_tag;
}

/* The caller's config as this version has it. False: it asks for something that only a newer version has. */
static bool read_config(bl_config *to, const bl_config *config, size_t bytes) {
    memset(to, 0, sizeof *to);
    if (config)
        memcpy(to, config, bytes < sizeof *to ? bytes : sizeof *to);
    for (size_t i = sizeof *to; config && i < bytes; i++)
        if (((const unsigned char *)config)[i])
            return false;
    return true;
}

static int read_whole_config(bl_config *to, const bl_config *config, size_t bytes) {
    if (read_config(to, config, bytes))
        return BL_OK;
    bl__detail(NULL, "config: a field that is set came after version " BL_VERSION " of this library");
    return BL_EINVAL;
}

static int open_one(bl_context **context, const bl_config *given, size_t stats_bytes) {
    const bl_config config = *given;
    bl_device_info info;
    const bl__device_ops *ops;
    int status = check_config(&config, &info, &ops);
    if (status != BL_OK)
        return status;
    bl_context *c = calloc(1, sizeof *c);
    if (!c)
        return bl__no_memory(NULL, "a context");
    c->ops = ops;
    bl__driver_open(c);
    bl__inlet_open(c);
    c->stats_bytes = stats_bytes;
    c->process = (int)getpid();
    c->log = bl__log_wanted();
    c->profiler = bl__profiler();
    c->capability = info.capability;
    memcpy(c->id, info.id, sizeof info.id);
    memcpy(c->name, info.name, sizeof c->name);
    status = copy_config(&c->config, &config, info.id) ? ops->open(c, info.id) : bl__no_memory(c, "a context");
    if (status != BL_OK) {
        bl__detail(NULL, "%.1000s", c->detail);
        bl__driver_close(c);
        bl__inlet_destroy(c);
        free_config(&c->config);
        free(c);
        return status;
    }
    *context = c;
    return BL_OK;
}

/* ---- several nodes ---- */

/* The names between plus signs; 0: not all of them can be nodes of a run. */
static uint32_t count_nodes(const char *device) {
    const char *const cpu = bl__cpu_ops.target;
    const size_t length = strlen(cpu);
    uint32_t count = 0;
    for (const char *at = device;; at += length + 1) {
        if (strncmp(at, cpu, length) || (at[length] && at[length] != '+') || ++count > BL__LOCAL_NODES_MAX)
            return 0;
        if (!at[length])
            return count;
    }
}

/* Which field of a config cannot be used with several nodes; NULL: none. */
static const char *wrong_for_nodes(const bl_config *c) {
    if (c->bind)
        return "bind: not with several devices or processes, which would share cores (accepted: with one)";
    return NULL;
}

/* Workers of node i, unless told: all nodes together have as many as one would have. */
static uint32_t share_of(uint32_t workers, uint32_t i, uint32_t nodes) {
    const uint32_t share = workers / nodes + (i < workers % nodes);
    return share ? share : 1;
}

static int open_nodes(bl_context **context, const bl_config *given, size_t stats_bytes) {
    bl_context *nodes[BL__LOCAL_NODES_MAX] = {NULL};
    bl_device_info info;
    const uint32_t count = count_nodes(given->device);
    const char *wrong = wrong_for_nodes(given);
    if (count == 0) {
        bl__detail(NULL, "device %.200s: only CPUs can share a run (accepted: cpu+cpu, up to %u of them)",
                   given->device, (unsigned)BL__LOCAL_NODES_MAX);
        return BL_ENODEVICE;
    }
    if (wrong) {
        bl__detail(NULL, "%s", wrong);
        return BL_EINVAL;
    }
    (void)bl__can_fence_all_threads(); /* to ask takes 10 ms in a process with many threads, and soon this is one */
    int status = bl__cpu_ops.enumerate(0, &info) ? BL_OK : BL_ENODEVICE;
    for (uint32_t i = 0; i < count && status == BL_OK; i++) {
        bl_config config = *given;
        config.device = bl__cpu_ops.target;
        if (!config.workers)
            config.workers = share_of(info.workers, i, count);
        if (i) {
            config.progress = NULL;
            config.left = NULL;
        }
        status = open_one(&nodes[i], &config, i ? sizeof(bl_stats) : stats_bytes);
        if (status == BL_OK && i)
            nodes[i]->leader = nodes[0];
    }
    bl_context *c = nodes[0];
    if (status == BL_OK && !(c->cluster = bl__local_open(nodes, count)))
        status = bl__no_memory(NULL, "a context");
    if (status == BL_OK) {
        snprintf(c->id, sizeof c->id, "%s", given->device);
        *context = c;
        return BL_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        bl_close(nodes[i]);
    return status;
}

int bl_open_sized(bl_context **context, const bl_config *given, size_t config_bytes, size_t stats_bytes) {
    bl_config config;
    bl__detail_clear(NULL);
    if (!context) {
        bl__detail(NULL, "context: no place for it (accepted: a pointer to a bl_context *)");
        return BL_EINVAL;
    }
    *context = NULL;
    int status = read_whole_config(&config, given, config_bytes);
    if (status != BL_OK)
        return status;
    const bool several = config.device && strchr(config.device, '+');
    return several ? open_nodes(context, &config, stats_bytes) : open_one(context, &config, stats_bytes);
}

/* One device of this process, on a link to others. */
static int open_for_link(bl_context **context, const bl_config *given, size_t stats_bytes) {
    const char *wrong = wrong_for_nodes(given), *device = given->device ? given->device : "auto";
    bl_config config = *given;
    config.device = bl__cpu_ops.target;
    if (strcmp(device, "auto") && !is_name_of(device, &bl__cpu_ops)) {
        bl__detail(NULL, "device %.200s: only CPUs can share a run with other processes (accepted: cpu)", device);
        return BL_ENODEVICE;
    }
    if (wrong) {
        bl__detail(NULL, "%s", wrong);
        return BL_EINVAL;
    }
    (void)bl__can_fence_all_threads(); /* as above: MPI has threads, too */
    return open_one(context, &config, stats_bytes);
}

int bl_open_linked_sized(bl_context **context, const bl_config *given, size_t config_bytes, size_t stats_bytes,
                         const bl_link *link) {
    bl_config config;
    bl__detail_clear(NULL);
    const char *wrong = !context      ? "context: no place for it (accepted: a pointer to a bl_context *)"
                        : !link       ? "link: NULL"
                        : link->wrong ? link->wrong
                        : link->rank >= link->ranks || link->ranks > BL__CLUSTER_NODES_MAX
                            ? "link: rank and ranks do not fit (accepted: rank < ranks <= 2^20)"
                            : NULL;
    if (context)
        *context = NULL;
    if (wrong) {
        bl__detail(NULL, "%s", wrong);
        if (link && !link->wrong && link->close)
            link->close(link->arg);
        return BL_EINVAL;
    }
    int status = read_whole_config(&config, given, config_bytes);
    if (status == BL_OK)
        status = open_for_link(context, &config, stats_bytes);
    status = bl__ranks_open(*context, link, status);
    if (status != BL_OK && *context) {
        bl_close(*context);
        *context = NULL;
    }
    if (status != BL_OK && link->close)
        link->close(link->arg);
    return status;
}

/* Closes the other nodes of a context. */
static void close_nodes(bl_context *c) {
    bl_context *node;
    if (!c->cluster)
        return;
    for (uint32_t i = 1; (node = bl__local_node(c->cluster, i)); i++)
        bl_close(node);
    bl__ranks_close(c);
    if (!c->dead) /* else a stuck worker may wake up and look at it */
        bl__local_close(c->cluster);
}

bool bl__inherited(const bl_context *c) { return c->process != (int)getpid(); }

static _Thread_local const bl_context *works_for;

void bl__thread_belongs_to(const bl_context *c) { works_for = c->leader ? c->leader : c; }
bool bl__is_thread_of(const bl_context *c) { return works_for == c; }

int bl__usable(bl_context *c) {
    if (!c) {
        bl__detail_clear(NULL);
        bl__detail(NULL, "context: NULL (accepted: one from bl_open)");
        return BL_EINVAL;
    }
    if (bl__inherited(c)) {
        bl__detail_clear(c);
        bl__detail(c,
                   "process %d opened this context, and its workers are there; a fork does not copy threads: open one "
                   "in the child, process %d",
                   c->process, (int)getpid());
        return BL_EDEAD;
    }
    return BL_OK;
}

/* The busy word is the only thing that a second caller may touch. What an earlier call wrote is ordered by it:
 * acquire here, release in bl__leave. */
int bl__enter(bl_context *c) {
    uint32_t idle = 0;
    int status = bl__usable(c);
    if (status != BL_OK)
        return status;
    if (!bl_cas32_acquire(&c->busy, &idle, 1))
        return BL_EBUSY;
    c->detail_is_old = true;
    return BL_OK;
}

int bl__leave(bl_context *c, int status) {
    bl_store32_release(&c->busy, 0);
    return status;
}

int bl_close(bl_context *c) {
    if (!c)
        return BL_OK;
    bool inherited = bl__inherited(c);
    int status = inherited ? BL_OK : bl__driver_wait(c);
    if (status == BL_OK && !inherited)
        status = bl__enter(c);
    if (status != BL_OK)
        return status;
    if (!inherited)
        bl__driver_close(c);
    for (size_t i = 0; i < c->block_count; i++)
        if (inherited ? c->ops->host_memory : !c->dead)
            c->ops->free(c, c->blocks[i].memory);
    if (!inherited || c->ops->host_memory)
        bl__free_kept(c);
    close_nodes(c);
    bl__inlet_destroy(c);
    c->ops->close(c);
    free_config(&c->config);
    free(c->timelines.spans);
    free(c->failed_payload);
    free(c->blocks);
    free(c);
    return BL_OK;
}

static void set_cancelled(bl_context *c, uint32_t to) {
    bl_context *node;
    bl_store32_host(&c->cancelled, to);
    for (uint32_t i = 1; c->cluster && (node = bl__local_node(c->cluster, i)); i++)
        bl_store32_host(&node->cancelled, to);
}

void bl_cancel(bl_context *c) {
    if (c)
        set_cancelled(c, 1);
}

int bl_reset(bl_context *c) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    set_cancelled(c, 0);
    return bl__leave(c, BL_OK);
}

int bl_limit(bl_context *c, uint32_t workers) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    bl_context *node;
    c->limit = workers;
    for (uint32_t i = 1; c->cluster && (node = bl__local_node(c->cluster, i)); i++)
        node->limit = workers;
    return bl__leave(c, BL_OK);
}

const void *bl_failure(const bl_context *c, uint64_t *error) {
    if (!c || !c->failed)
        return NULL;
    if (error)
        *error = c->error;
    return c->failed_payload;
}

const char *bl_device_id(const bl_context *c) { return c ? c->id : ""; }
const char *bl_device_name(const bl_context *c) { return c ? c->name : ""; }
const char *bl_device_target(const bl_context *c) { return c ? c->ops->target : ""; }

/* ---- memory ---- */

/* All memory that runs have left. */
enum { REUSABLE = 4 };
static bl__block *kept_at(bl_context *c, uint32_t i) {
    bl__reusable *r = &c->reusable;
    bl__block *reusable[REUSABLE] = {&r->queues, &r->records, &r->free_records, &r->spares};
    return i < BL__KEPT ? &c->kept[i] : reusable[i - BL__KEPT];
}

bool bl__free_kept(bl_context *c) {
    bool any = false;
    for (uint32_t i = 0; i < BL__KEPT + REUSABLE; i++) {
        bl__block *b = kept_at(c, i);
        any = any || b->memory;
        bl__free(c, b->memory);
        b->memory = NULL;
    }
    return any;
}
int bl__alloc(bl_context *c, void **memory, size_t bytes) {
    *memory = NULL;
    if (c->dead)
        return BL_EDEAD;
    int status = c->ops->alloc(c, memory, bytes ? bytes : 1);
    if (status == BL_ENOMEM && bl__free_kept(c)) {
        bl__detail_clear(c);
        status = c->ops->alloc(c, memory, bytes ? bytes : 1);
    }
    if (status == BL_ENOMEM)
        bl__detail(c, "%zu bytes cannot be had on %s", bytes, c->id);
    return status;
}
void bl__free(bl_context *c, void *memory) {
    if (memory && !c->dead)
        c->ops->free(c, memory);
}
int bl__copy_in(bl_context *c, void *device, const void *host, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->copy_in(c, device, host, bytes) : BL_OK;
}
int bl__copy_out(bl_context *c, void *host, const void *device, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->copy_out(c, host, device, bytes) : BL_OK;
}
int bl__send(bl_context *c, void *device, const void *host, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->send(c, device, host, bytes) : BL_OK;
}
int bl__zero(bl_context *c, void *device, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->zero(c, device, bytes) : BL_OK;
}
int bl__zero_for_launch(bl_context *c, void *device, size_t bytes) {
    return c->dead ? BL_EDEAD : c->ops->zero_for_launch(c, device, bytes);
}

int bl__check_addresses(bl_context *told, const void *one, const void *other, size_t bytes) {
    if ((one && other) || !bytes)
        return BL_OK;
    if (!told)
        bl__detail_clear(told);
    bl__detail(told, "memory: NULL, but there are %zu bytes", bytes);
    return BL_EINVAL;
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

static int alloc_block(bl_context *c, void **memory, size_t bytes) {
    if (!memory) {
        bl__detail(c, "memory: no place for the address (accepted: a pointer to a pointer)");
        return BL_EINVAL;
    }
    *memory = NULL;
    int status = room_for_block(c) ? bl__alloc(c, memory, bytes) : bl__no_memory(c, "the list of allocations");
    if (status == BL_OK)
        c->blocks[c->block_count++] = (bl__block){.memory = *memory, .bytes = bytes};
    return status;
}

/* Its number among the blocks, from 1 on; 0: it is none, and bl_error_detail says so. */
static size_t find_block(bl_context *c, const void *memory) {
    size_t i = c->block_count;
    while (i > 0 && c->blocks[i - 1].memory != memory)
        i--;
    if (i == 0)
        bl__detail(c, "memory: not from bl_alloc of this context, or freed already");
    return i;
}

int bl_combine(bl_context *c, void *memory, bl_combination combine) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    bl__detail_clear(c);
    const size_t i = find_block(c, memory);
    if (i) {
        c->blocks[i - 1].told = true;
        c->blocks[i - 1].combine = combine;
    }
    return bl__leave(c, i ? BL_OK : BL_EINVAL);
}

static int free_block(bl_context *c, void *memory) {
    const size_t i = find_block(c, memory);
    if (i == 0)
        return BL_EINVAL;
    memmove(c->blocks + i - 1, c->blocks + i, (c->block_count - i) * sizeof *c->blocks);
    c->block_count--;
    bl__free(c, memory);
    return BL_OK;
}

int bl_alloc(bl_context *c, void **memory, size_t bytes) {
    int status = bl__enter(c);
    return status == BL_OK ? bl__leave(c, alloc_block(c, memory, bytes)) : status;
}
int bl_free(bl_context *c, void *memory) {
    int status = memory ? bl__enter(c) : BL_OK;
    if (!memory || status != BL_OK)
        return status;
    return bl__leave(c, free_block(c, memory));
}
int bl_copy_in(bl_context *c, void *device, const void *host, size_t bytes) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = bl__check_addresses(c, device, host, bytes);
    return bl__leave(c, status == BL_OK ? bl__copy_in(c, device, host, bytes) : status);
}
int bl_copy_out(bl_context *c, void *host, const void *device, size_t bytes) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = bl__check_addresses(c, host, device, bytes);
    return bl__leave(c, status == BL_OK ? bl__copy_out(c, host, device, bytes) : status);
}
int bl_trim(bl_context *c) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    bl__free_kept(c);
    return bl__leave(c, BL_OK);
}
int bl_zero(bl_context *c, void *device, size_t bytes) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = bl__check_addresses(c, device, device, bytes);
    return bl__leave(c, status == BL_OK ? bl__zero(c, device, bytes) : status);
}
