/* Contexts, devices, device memory. */
#include "cluster/local.h"
#include "cluster/protocol.h"
#include "cluster/ranks.h"
#include "internal.h"
#include "platform/pages.h"

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

/* What follows the kind in a name of a device of that kind: "", or ":N" for a GPU; NULL: not a name of one. */
static const char *number_in(const char *device, const bl__device_ops *ops) {
    size_t length = strlen(ops->target);
    if (strncmp(device, ops->target, length))
        return NULL;
    const char *number = device + length;
    const bool numbered =
        ops->traits & BL_DEVICE_GPU && number[0] == ':' && number[1] && !number[1 + strspn(number + 1, "0123456789")];
    return !*number || numbered ? number : NULL;
}

static const char all_devices[] = "all";

/* Several names, or one that stands for several. */
static bool names_several(const char *device) { return strchr(device, '+') || !strcmp(device, all_devices); }

uint32_t bl_device_traits(const char *device) {
    bl_device_info info;
    const bl__device_ops *ops;
    if (!device || !strcmp(device, "auto"))
        return find_device("auto", &info, &ops) ? ops->traits : 0;
    if (names_several(device))
        return BL_DEVICE_SEVERAL;
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
        if (number_in(device, device_kinds[kind]))
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
        bl__detail(NULL, "device %.200s: not here (accepted:", device);
        for (uint32_t i = 0; bl_device_info_at(i, info); i++)
            bl__detail(NULL, "%s %s", i ? "," : "", info->id);
        bl__detail(NULL, ")");
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

/* `sharers`: nodes of a run that have this device, the one to be opened included. */
static int open_one(bl_context **context, const bl_config *given, size_t stats_bytes, uint32_t sharers) {
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
    c->memory = c;
    c->sharers = sharers;
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

enum { NODES_TEXT = 192, NODES_MAX = BL__LOCAL_NODES_MAX };

/* The devices of a run that has several nodes. */
typedef struct nodes_wanted {
    char text[NODES_TEXT]; /* their names, with plus signs between them */
    uint32_t count, cpus;
    struct {
        const bl__device_ops *ops;
        bl_device_info info;
        uint32_t sharers, first; /* nodes with the same device, and the first of them */
    } of[NODES_MAX];
} nodes_wanted;

/* "all": the CPU and every GPU. */
static void name_all(char *text) {
    bl_device_info info;
    size_t length = (size_t)snprintf(text, NODES_TEXT, "%s", bl__cpu_ops.target);
    for (uint32_t i = 0; i + 1 < NODES_MAX && bl__cuda_ops.enumerate(i, &info); i++)
        length += (size_t)snprintf(text + length, NODES_TEXT - length, "+%s", info.id);
}

static bool add_node(nodes_wanted *w, const char *name) {
    const uint32_t i = w->count;
    if (i == NODES_MAX || !strcmp(name, "auto") || !find_device(name, &w->of[i].info, &w->of[i].ops))
        return false;
    w->of[i].first = i;
    for (uint32_t k = 0; k < i && w->of[i].first == i; k++)
        if (!strcmp(w->of[k].info.id, w->of[i].info.id))
            w->of[i].first = k;
    w->of[w->of[i].first].sharers++;
    w->cpus += w->of[i].ops->traits == BL_DEVICE_CPU;
    w->count++;
    return true;
}

/* False: not all of them are here, or can be nodes of a run. */
static bool find_nodes(const char *device, nodes_wanted *w) {
    char name[NODES_TEXT];
    memset(w, 0, sizeof *w);
    if (!strcmp(device, all_devices))
        name_all(w->text);
    else if ((size_t)snprintf(w->text, sizeof w->text, "%s", device) >= sizeof w->text)
        return false;
    for (const char *at = w->text;;) {
        const size_t length = strcspn(at, "+");
        memcpy(name, at, length);
        name[length] = 0;
        if (!add_node(w, name))
            return false;
        if (!at[length])
            return true;
        at += length + 1;
    }
}

/* Which field of a config cannot be used with several nodes; NULL: none. */
static const char *wrong_for_nodes(const bl_config *c) {
    if (c->stream)
        return "stream: not with several devices or processes (accepted: with one)";
    if (c->bind)
        return "bind: not with several devices or processes, which would share cores (accepted: with one)";
    return NULL;
}

/* Workers of CPU i, unless told: all of them together have as many as one would have, less those cores from which
 * another device is driven. */
static uint32_t share_of(const nodes_wanted *w, uint32_t i) {
    const uint32_t cores = w->of[i].info.workers, others = w->count - w->cpus;
    const uint32_t workers = cores > others ? cores - others : 1;
    uint32_t before = 0;
    for (uint32_t k = 0; k < i; k++)
        before += w->of[k].ops == w->of[i].ops;
    const uint32_t share = workers / w->cpus + (before < workers % w->cpus);
    return share ? share : 1;
}

/* What is said about workers and groups is about one kind of them. */
static bl_config config_of(const bl_config *given, const nodes_wanted *w, uint32_t i) {
    bl_config config = *given;
    const bool is_cpu = w->of[i].ops->traits == BL_DEVICE_CPU;
    config.device = w->of[i].info.id;
    if (is_cpu && w->cpus < w->count)
        config.group = NULL;
    if (is_cpu && !config.workers)
        config.workers = share_of(w, i);
    else if (!is_cpu && w->cpus)
        config.workers = 0;
    if (i) {
        config.progress = NULL;
        config.left = NULL;
    }
    return config;
}

static int open_all(bl_context **nodes, const nodes_wanted *w, const bl_config *given, size_t stats_bytes) {
    int status = BL_OK;
    for (uint32_t i = 0; i < w->count && status == BL_OK; i++) {
        const bl_config config = config_of(given, w, i);
        const uint32_t first = w->of[i].first;
        status = open_one(&nodes[i], &config, i ? sizeof(bl_stats) : stats_bytes, w->of[first].sharers);
        if (status != BL_OK)
            return status;
        nodes[i]->memory = nodes[first];
        nodes[i]->leader = i ? nodes[0] : NULL;
        nodes[i]->unlimited = w->cpus && w->of[i].ops->traits != BL_DEVICE_CPU;
        if (first == i && i) {
            const size_t length = strlen(nodes[0]->name);
            snprintf(nodes[0]->name + length, sizeof nodes[0]->name - length, " + %.100s", nodes[i]->name);
        }
    }
    return status;
}

static int open_nodes(bl_context **context, const bl_config *given, size_t stats_bytes) {
    bl_context *nodes[NODES_MAX] = {NULL};
    nodes_wanted wanted;
    if (!find_nodes(given->device, &wanted)) {
        bl__detail(NULL, "device %.200s: not here (accepted: cpu+cpu, cpu+cuda:0, up to %u that are here; all)",
                   given->device, (unsigned)NODES_MAX);
        return BL_ENODEVICE;
    }
    bl_config config = *given;
    config.device = wanted.text;
    if (wanted.count == 1)
        return open_one(context, &config, stats_bytes, 1);
    const char *wrong = wrong_for_nodes(given);
    if (wrong) {
        bl__detail(NULL, "%s", wrong);
        return BL_EINVAL;
    }
    int status = open_all(nodes, &wanted, given, stats_bytes);
    bl_context *c = nodes[0];
    if (status == BL_OK && !(c->cluster = bl__local_open(nodes, wanted.count)))
        status = bl__no_memory(NULL, "a context");
    if (status == BL_OK) {
        snprintf(c->id, sizeof c->id, "%s", wanted.text);
        *context = c;
        return BL_OK;
    }
    for (uint32_t i = 0; i < wanted.count; i++)
        bl_close(nodes[i]);
    return status;
}

int bl_open_sized(bl_context **context, const bl_config *given, size_t config_bytes, size_t stats_bytes) {
    bl_config config;
    bl__detail_clear(NULL);
    if (!context) {
        bl__detail(NULL, "context: NULL (accepted: the address of a bl_context *)");
        return BL_EINVAL;
    }
    *context = NULL;
    int status = read_whole_config(&config, given, config_bytes);
    if (status != BL_OK)
        return status;
    const bool several = config.device && names_several(config.device);
    return several ? open_nodes(context, &config, stats_bytes) : open_one(context, &config, stats_bytes, 1);
}

/* The devices of this process, on a link to others. Processes of one machine have a GPU each, as far as there are as
 * many, unless they say which. */
static int open_for_link(bl_context **context, const bl_config *given, size_t stats_bytes, const bl_link *link) {
    const char *wrong = wrong_for_nodes(given), *device = given->device ? given->device : "auto";
    const char *number = number_in(device, &bl__cuda_ops);
    bl_config config = *given;
    bl_device_info info;
    char own[sizeof info.id];
    uint32_t gpus = 0;
    config.device = strcmp(device, "auto") ? device : bl__cpu_ops.target;
    if (number && !*number) {
        while (bl__cuda_ops.enumerate(gpus, &info))
            gpus++;
        snprintf(own, sizeof own, "%s:%u", device, gpus ? (unsigned)(link->local % gpus) : 0);
        config.device = own;
    }
    if (wrong) {
        bl__detail(NULL, "%s", wrong);
        return BL_EINVAL;
    }
    return names_several(config.device) ? open_nodes(context, &config, stats_bytes)
                                        : open_one(context, &config, stats_bytes, 1);
}

int bl_open_linked_sized(bl_context **context, const bl_config *given, size_t config_bytes, size_t stats_bytes,
                         const bl_link *link) {
    bl_config config;
    bl__detail_clear(NULL);
    const char *wrong = !context      ? "context: NULL (accepted: the address of a bl_context *)"
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
        status = open_for_link(context, &config, stats_bytes, link);
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

static void set_cancelled_of(bl_context *c, uint32_t to) {
    bl_store32_host(&c->cancelled, to);
    if (to && c->ops->look_soon)
        c->ops->look_soon(c);
}

static void set_cancelled(bl_context *c, uint32_t to) {
    bl_context *node;
    set_cancelled_of(c, to);
    for (uint32_t i = 1; c->cluster && (node = bl__local_node(c->cluster, i)); i++)
        set_cancelled_of(node, to);
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
    c->limit = c->unlimited ? 0 : workers;
    for (uint32_t i = 1; c->cluster && (node = bl__local_node(c->cluster, i)); i++)
        node->limit = node->unlimited ? 0 : workers;
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
enum { REUSABLE = 5 };
static bl__block *kept_at(bl_context *c, uint32_t i) {
    bl__reusable *r = &c->reusable;
    bl__block *reusable[REUSABLE] = {&r->queues, &r->records, &r->free_records, &r->spares, &r->state};
    return i < BL__KEPT ? &c->kept[i] : reusable[i - BL__KEPT];
}

/* Nodes of one run may have memories of their own. What the user has in one is in all of them, block by block in the
 * same order: bl_alloc, bl_free, bl_copy_in and bl_zero are about all, and bl_copy_out about the first. */

/* The next node from number *i on, and behind node 0, that has such a memory; NULL: none. */
static bl_context *next_memory(const bl_context *c, uint32_t *i) {
    bl_context *node = NULL;
    while (c->cluster && (node = bl__local_node(c->cluster, ++*i)) && node->memory != node)
        ;
    return node;
}

void *bl__elsewhere(const bl_context *c, const bl_context *node, const void *address) {
    for (size_t end = 0; end < 2; end++) /* a place in one block rather than the end of another */
        for (size_t i = 0; i < c->block_count; i++) {
            const size_t offset = (uintptr_t)address - (uintptr_t)c->blocks[i].memory;
            if (offset < c->blocks[i].bytes + end)
                return (char *)node->memory->blocks[i].memory + offset;
        }
    return NULL;
}

/* What went wrong at a node, as the context's user sees it. */
static int tell_of(bl_context *c, const bl_context *node, int status) {
    if (status != BL_OK)
        bl__detail(c, "%s", node->detail);
    return status;
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
        bl__detail(c, "cannot allocate %zu bytes on %s", bytes, c->id);
    return status;
}
void bl__free(bl_context *c, void *memory) {
    if (memory && !c->dead)
        c->ops->free(c, memory);
}
int bl__copy_in(bl_context *c, void *device, const void *host, size_t bytes) {
    if (c->dead || !bytes)
        return c->dead ? BL_EDEAD : BL_OK;
    int status = c->ops->copy_in(c, device, host, bytes);
    bl_context *node;
    void *there;
    for (uint32_t i = 0; status == BL_OK && (node = next_memory(c, &i));)
        if ((there = bl__elsewhere(c, node, device)))
            status = tell_of(c, node, node->ops->copy_in(node, there, host, bytes));
    return status;
}
int bl__copy_out(bl_context *c, void *host, const void *device, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->copy_out(c, host, device, bytes) : BL_OK;
}
int bl__send(bl_context *c, void *device, const void *host, size_t bytes) {
    return c->dead ? BL_EDEAD : bytes ? c->ops->send(c, device, host, bytes) : BL_OK;
}
int bl__zero(bl_context *c, void *device, size_t bytes) {
    if (c->dead || !bytes)
        return c->dead ? BL_EDEAD : BL_OK;
    int status = c->ops->zero(c, device, bytes);
    bl_context *node;
    void *there;
    for (uint32_t i = 0; status == BL_OK && (node = next_memory(c, &i));)
        if ((there = bl__elsewhere(c, node, device)))
            status = tell_of(c, node, node->ops->zero(node, there, bytes));
    return status;
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

static void drop_block(bl_context *c, size_t i) {
    bl__free(c, c->blocks[i].memory);
    memmove(c->blocks + i, c->blocks + i + 1, (c->block_count - i - 1) * sizeof *c->blocks);
    c->block_count--;
}

/* In one memory. */
static int add_block(bl_context *c, void **memory, size_t bytes) {
    *memory = NULL;
    int status = room_for_block(c) ? bl__alloc(c, memory, bytes) : bl__no_memory(c, "the list of allocations");
    if (status != BL_OK)
        return status;
    if (c->ops->host_memory)
        bl__prefer_large_pages(*memory, bytes);
    c->blocks[c->block_count++] = (bl__block){.memory = *memory, .bytes = bytes};
    return BL_OK;
}

static int alloc_block(bl_context *c, void **memory, size_t bytes) {
    if (!memory) {
        bl__detail(c, "memory: NULL (accepted: the address of a pointer)");
        return BL_EINVAL;
    }
    const size_t before = c->block_count;
    bl_context *node;
    void *there;
    int status = add_block(c, memory, bytes);
    for (uint32_t i = 0; status == BL_OK && (node = next_memory(c, &i));)
        status = tell_of(c, node, add_block(node, &there, bytes));
    if (status == BL_OK)
        return BL_OK;
    *memory = NULL;
    if (c->block_count > before)
        drop_block(c, before);
    for (uint32_t i = 0; (node = next_memory(c, &i));)
        if (node->block_count > before)
            drop_block(node, before);
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

size_t bl__untold(const bl_context *c) {
    for (size_t i = 0; i < c->block_count; i++)
        if (!c->blocks[i].told)
            return i + 1;
    return 0;
}

static int free_block(bl_context *c, void *memory) {
    const size_t i = find_block(c, memory);
    bl_context *node;
    if (i == 0)
        return BL_EINVAL;
    for (uint32_t n = 0; (node = next_memory(c, &n));)
        drop_block(node, i - 1);
    drop_block(c, i - 1);
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
uint32_t bl_memories(const bl_context *c) {
    uint32_t count = 1, i = 0;
    while (c && next_memory(c, &i))
        count++;
    return count;
}

/* Of the memory of that number. */
int bl__copy_out_of(bl_context *c, uint32_t memory, void *host, const void *device, size_t bytes) {
    bl_context *node = c;
    for (uint32_t i = 0, n = 0; node && n < memory; n++)
        node = next_memory(c, &i);
    const void *there = node && memory ? bl__elsewhere(c, node, device) : device;
    if (!node || !there) {
        bl__detail(c,
                   !node ? "memory %u: there are %u (accepted: numbers below that)"
                         : "memory %u: device is not in memory from bl_alloc, of which there are %u",
                   (unsigned)memory, (unsigned)bl_memories(c));
        return BL_EINVAL;
    }
    return node == c ? bl__copy_out(c, host, there, bytes) : tell_of(c, node, bl__copy_out(node, host, there, bytes));
}

int bl_copy_out_of(bl_context *c, uint32_t memory, void *host, const void *device, size_t bytes) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = bl__check_addresses(c, host, device, bytes);
    return bl__leave(c, status == BL_OK ? bl__copy_out_of(c, memory, host, device, bytes) : status);
}

int bl_trim(bl_context *c) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    bl_context *node;
    for (uint32_t i = 1; c->cluster && (node = bl__local_node(c->cluster, i)); i++)
        bl__free_kept(node);
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
