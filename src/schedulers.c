/* Names: schedulers, the papers' methods, queues; and from a name and a program to a plan. */
#include "internal.h"

#include <ballast/generated/queues.h>
#include <ballast/parts/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Complete names. */
static const char *const scheduler_names[] = {
#define X(word, name, other) name,
    BL_INSTANCES(X)
#undef X
};
enum { INSTANCES = sizeof scheduler_names / sizeof scheduler_names[0] };

/* Schedulers without queues are one instance in several forms. */
static const struct {
    const char *name, *instance, *text;
} forms[] = {
    {"static:wave", "static", "in- and out-array, a launch per wave, a group per task"},
    {"static:split", "static", "in- and out-array, a launch per wave, an equal share for each worker"},
    {"static:cyclic", "static", "in- and out-array, a launch per wave, workers take turns"},
    {"list:locked", "list", "a list behind a lock, a launch per wave, everybody takes the next tasks"},
    {"list:faa", "list", "a list and a fetch-and-add, a launch per wave, everybody takes the next tasks, greedy within a wave"},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static const struct {
    const char *policy;
    uint32_t uses;
    const char *text;
} policies[] = {
#define X(policy, uses, text) {#policy, uses, text},
    BL_SCHEDULERS(X)
#undef X
};
enum { POLICIES = sizeof policies / sizeof policies[0] };

/* Of a complete name. */
static size_t policy_of(const char *scheduler) {
    size_t n = 0, length = strcspn(scheduler, ":");
    while (strncmp(scheduler, policies[n].policy, length) || policies[n].policy[length])
        n++;
    return n;
}

static const struct {
    const char *name, *scheduler;
} aliases[] = {
    {"static", "static:wave"},        /* Cederman, Tsigas 2008, Algorithm 1 */
    {"blocking", "central:blocking"}, /* Algorithm 2 */
    {"lockfree", "central:tz"},       /* Algorithm 3 */
    {"abp", "steal:abp"},             /* section 4.4, and Gems 35 */
    {"bq", "central:broker"},         /* Kerbl et al. 2018, Algorithm 1 */
    {"bwd", "central:bwd"},           /* section 6.1 */
    {"bsq", "steal:broker"},          /* section 6.2 */
    {"list", "list:locked"},          /* Toss, Gautier 2012, section 4.3 */
    {"range", "range:the_range"},     /* sections 3.2 to 3.4 */
};
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

const char *bl_scheduler_name(uint32_t i) {
    for (uint32_t n = 0; n < INSTANCES; n++) {
        if (strchr(scheduler_names[n], ':') && i-- == 0)
            return scheduler_names[n];
        for (uint32_t f = 0; f < FORMS; f++)
            if (!strcmp(forms[f].instance, scheduler_names[n]) && i-- == 0)
                return forms[f].name;
    }
    return NULL;
}

const char *bl_scheduler_text(uint32_t i) {
    const char *name = bl_scheduler_name(i);
    if (!name)
        return NULL;
    for (uint32_t f = 0; f < FORMS; f++)
        if (!strcmp(name, forms[f].name))
            return forms[f].text;
    return policies[policy_of(name)].text;
}

const char *bl_alias_name(uint32_t i, const char **scheduler) {
    if (i >= ALIASES)
        return NULL;
    if (scheduler)
        *scheduler = aliases[i].scheduler;
    return aliases[i].name;
}

/* The complete name, or NULL. */
static const char *resolve(const char *name, bool *alias) {
    *alias = false;
    if (!strcmp(name, "auto"))
        return BL_DEFAULT_TEXT;
    for (uint32_t i = 0; i < ALIASES; i++)
        if (!strcmp(name, aliases[i].name)) {
            *alias = true;
            return aliases[i].scheduler;
        }
    const char *known;
    for (uint32_t i = 0; (known = bl_scheduler_name(i)); i++)
        if (!strcmp(name, known))
            return known;
    return NULL;
}

bool bl__scheduler_known(const char *name) {
    bool alias;
    return resolve(name, &alias) != NULL;
}

uint32_t bl_scheduler_uses(const char *scheduler) {
    bool alias;
    const char *name = scheduler ? resolve(scheduler, &alias) : NULL;
    return name ? policies[policy_of(name)].uses : BL_USES_NOTHING;
}

static const bl__instance *find_instance(const bl_program *program, const char *name, int lane_tasks) {
    const char *stored = name;
    for (uint32_t f = 0; f < FORMS; f++)
        if (!strcmp(name, forms[f].name))
            stored = forms[f].instance;
    for (uint32_t i = 0; i < program->instance_count; i++)
        if (!strcmp(program->instances[i].scheduler, stored) &&
            (program->instances[i].lane_tasks == lane_tasks || !strcmp(program->target, "cpu")))
            return program->instances + i;
    return NULL;
}

int bl_program_has(const bl_program *program, const char *scheduler) {
    bool alias;
    const char *name = program && scheduler ? resolve(scheduler, &alias) : NULL;
    return name && find_instance(program, name, (int)program->lane_tasks) != NULL;
}

static uint32_t warp_of(const char *target) { return !strcmp(target, "cuda") ? 32 : !strcmp(target, "sim") ? 8 : 1; }

/* Which lanes work together. False for a text that is no group here. */
static bool parse_group(const char *text, const bl_program *program, uint32_t warp, int *lane_tasks, uint32_t *lanes) {
    if (warp == 1) {
        *lane_tasks = 1;
        *lanes = 1;
        return !*text || !strcmp(text, "lane");
    }
    *lane_tasks = (int)program->lane_tasks;
    *lanes = program->lane_tasks ? warp : warp == 8 ? 16 : program->lanes; /* small blocks on the simulated machine */
    if (!*text)
        return true;
    *lane_tasks = !strcmp(text, "lane");
    *lanes = warp;
    if (*lane_tasks || !strcmp(text, "warp"))
        return true;
    char *end;
    if (strncmp(text, "block:", 6) || text[6] < '0' || text[6] > '9')
        return false;
    unsigned long n = strtoul(text + 6, &end, 10);
    *lanes = (uint32_t)n;
    return !*end && n >= warp && n <= 1024 && n % warp == 0;
}

/* ---- what is asked for and cannot be had ---- */

const char *bl__lacks(uint32_t capability, const char *name) {
    bool alias;
    const char *scheduler = resolve(name, &alias), *queue = strchr(scheduler ? scheduler : name, ':');
    queue = queue ? queue + 1 : name;
    bl_queue_info info;
    for (uint32_t i = 0; capability && capability < 90 && bl_queue(i, &info); i++)
        if (!strcmp(queue, info.name) && info.flags & BL_NEEDS_CAS128)
            return "needs a 128-bit compare-and-swap, which GPUs have from compute capability 9.0 on";
    return NULL;
}

const char *bl_device_lacks(const bl_device_info *device, const char *name) {
    return bl__lacks(device->capability, name);
}

/* The fields of bl_config that not all schedulers use: whether given, and what bl_error_detail calls them. */
static const char *asked_for(const bl_config *config, uint32_t use) {
    switch (use) {
    case BL_USES_CAPACITY:
        return config->capacity ? "capacity" : NULL;
    case BL_USES_PRIVATE:
        return config->private_entries && config->private_entries != BL_NONE ? "private" : NULL;
    case BL_USES_VICTIMS:
        return config->victims ? "victims" : NULL;
    case BL_USES_STEAL_ONE:
        return config->steal == BL_STEAL_ONE ? "steal one" : NULL;
    case BL_USES_STEAL_HALF:
        return config->steal == BL_STEAL_HALF ? "steal half" : NULL;
    case BL_USES_DONE_TEST:
        return config->done_test == 1 ? "done_test" : NULL;
    default:
        return NULL;
    }
}

/* One of the fields from `first` on that were given and that this scheduler does not use; 0: none. Sizes come first. */
static uint32_t unused_field(const bl_config *config, const char *scheduler, uint32_t first) {
    uint32_t uses = policies[policy_of(scheduler)].uses;
    for (uint32_t use = first; use <= BL_USES_DONE_TEST; use *= 2)
        if (!(uses & use) && asked_for(config, use))
            return use;
    return 0;
}

static int check_fields(bl_context *c, const bl__plan *plan) {
    const bl_config *config = &c->config;
    const bl_program *program = plan->program;
    uint32_t unused = unused_field(config, plan->scheduler, BL_USES_VICTIMS);
    bool pieces = program->takes_pieces && (plan->warp == 1 || !plan->instance->lane_tasks);
    if (unused) {
        bl__detail(c, "%s: %s has no use for it (accepted with", asked_for(config, unused), plan->scheduler);
        for (uint32_t n = 0, users = 0; n < POLICIES; n++)
            if (policies[n].uses & unused)
                bl__detail(c, "%s %s", users++ ? "," : "", policies[n].policy);
        bl__detail(c, ")");
    } else if (config->pop > 1 && !pieces) {
        bl__detail(c,
                   program->takes_pieces
                       ? "pop %u: with this group a lane of %s takes one (accepted: 1, or with warp, block:N)"
                       : "pop %u: %s takes its tasks one by one (accepted: 1, or a program of loops)",
                   (unsigned)config->pop, program->name);
    } else if (config->done_test == 1 && !program->has_done_test) {
        bl__detail(c, "done_test: %s has none (accepted with BL_DONE_TEST)", program->name);
    } else {
        return BL_OK;
    }
    return BL_EINVAL;
}

/* Whether "auto" may mean that one: it is there, has a use for what was asked for, and can be stopped if that is wanted. */
static bool may_choose(const bl_context *c, const bl_program *program, const char *name, int lane_tasks) {
    bool waves = !(bl_scheduler_uses(name) & BL_USES_CAPACITY); /* no queues */
    bool to_stop = c->config.time_limit > 0 || c->config.checkpoint[0];
    return find_instance(program, name, lane_tasks) && !bl__lacks(c->capability, name) &&
           !unused_field(&c->config, name, BL_USES_CAPACITY) && !(waves && to_stop);
}

/* What "auto" means for a program, `otherwise` unless there is a reason. */
static const char *choose(const bl_context *c, const bl_program *program, int lane_tasks, const char *otherwise) {
    if (program->automatic && may_choose(c, program, program->automatic, lane_tasks))
        return program->automatic;
    /* A loop on a GPU: one fetch-and-add a piece, asked for before the last piece is run, costs less than looking for victims. */
    if (program->takes_pieces && !strcmp(program->target, "cuda") && may_choose(c, program, "list:faa", lane_tasks))
        return "list:faa";
    return otherwise;
}

int bl__plan_make(bl_context *c, const bl_program *program, bl__plan *plan, uint32_t *lanes) {
    memset(plan, 0, sizeof *plan);
    plan->program = program;
    if (strcmp(program->target, c->ops->target)) {
        bl__detail(c, "the program is built for %s, the context is on %s", program->target, c->ops->target);
        return BL_ENOCODE;
    }
    const char *name = resolve(c->config.scheduler, &plan->as_in_paper); /* bl_open has looked whether it is known */
    int lane_tasks;
    plan->warp = warp_of(program->target);
    if (!parse_group(c->config.group, program, plan->warp, &lane_tasks, lanes)) {
        bl__detail(c, "group %s: not on %s (accepted: lane", c->config.group, program->target);
        if (plan->warp > 1)
            bl__detail(c, ", warp, block:N with N a multiple of %u up to 1024", plan->warp);
        bl__detail(c, ")");
        return BL_EINVAL;
    }
    if (!strcmp(c->config.scheduler, "auto"))
        name = choose(c, program, lane_tasks, name);
    const char *lack = bl__lacks(c->capability, name);
    if (lack) {
        bl__detail(c, "scheduler %s: %s; %s has %u.%u", name, lack, c->id, c->capability / 10, c->capability % 10);
        return BL_ENOCODE;
    }
    plan->instance = find_instance(program, name, lane_tasks);
    if (!plan->instance) {
        bl__detail(c, "%s has no code for %s with group %s: other groups run with " BL_DEFAULT_TEXT, program->name,
                   name, c->config.group);
        return BL_ENOCODE;
    }
    plan->scheduler = name;
    plan->is_static = !strchr(plan->instance->scheduler, ':');
    plan->wave = !strcmp(name, "static:wave");
    plan->cyclic = !strcmp(name, "static:cyclic");
    plan->locked = !strcmp(name, "list:locked");
    plan->range = !strncmp(name, "range", 5);
    plan->central = !strncmp(name, "central", 7);
    plan->queue = plan->is_static ? -1 : bl__queue_number(strchr(name, ':') + 1);
    plan->deque = plan->queue >= 0 && bl__queue_type_at(plan->queue)->deque;
    return check_fields(c, plan);
}

/* ---- queues ---- */

/* In the order of src/manage.h. What a worker needs for its ranges is a region. */
static size_t region_bytes(bl_shape shape) { return bl__region_bytes(shape.capacity, shape.words); }
#define X(name) {#name, name##_bytes, name##_KIND == BL_KIND_DEQUE, name##_BY_HANDLE, name##_MOST_THREADS},
#define Y(name) {#name, region_bytes, 0, 0, UINT32_MAX},
static const bl__queue_type queue_types[] = {BL_MANAGED_QUEUES(X) BL_RANGES(Y)};
#undef Y
#undef X

const bl__queue_type *bl__queue_type_at(int queue) { return queue_types + queue; }

int bl__queue_number(const char *name) {
    for (size_t i = 0; i < sizeof queue_types / sizeof queue_types[0]; i++)
        if (!strcmp(name, queue_types[i].name))
            return (int)i;
    return -1;
}

int bl_queue(uint32_t i, bl_queue_info *info) {
    static const bl_queue_info queues[] = {
#define X(name)                                                                                                        \
    {#name, name##_TEXT, name##_KIND, name##_FLAGS, name##_PROGRESS, name##_BY_HANDLE, name##_LEAST, name##_DEVICES},
        BL_QUEUES(X)
#undef X
    };
    if (i >= sizeof queues / sizeof queues[0])
        return 0;
    *info = queues[i];
    return 1;
}
