/* Names: schedulers, the papers' methods, queues; and from a name and a program to a plan. */
#include "internal.h"

#include <ballast/generated/queues.h>
#include <ballast/generated/schedulers.h>
#include <ballast/parts/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the files of schedulers/ say of themselves. */
typedef struct policy {
    const char *name;
    uint32_t traits, uses;
    const char *text;
} policy;

enum {
#define X(policy, traits, uses, text) POLICY_##policy,
    BL__POLICIES(X)
#undef X
        POLICIES
};
static const policy policies[] = {
#define X(policy, traits, uses, text) {#policy, traits, uses, text},
    BL__POLICIES(X)
#undef X
};

/* Every scheduler by its complete name. Those without queues are one text in several forms. */
typedef struct scheduler {
    const char *name, *instance; /* instance: what a kernel is known by */
    const policy *policy;
    uint32_t traits;
    const char *text;
    int number; /* in bl__device_ops.policies */
} scheduler;

enum {
#define X(word, name, policy) NUMBER_##word,
    BL__SCHEDULERS(X)
#undef X
};
static const scheduler forms[] = {
#define X(policy, name, traits, text) {name, #policy, policies + POLICY_##policy, traits, text, NUMBER_##policy},
    BL__FORMS(X)
#undef X
};
static const scheduler instances[] = {
#define X(word, name, policy) {name, name, policies + POLICY_##policy, 0, NULL, NUMBER_##word},
    BL__SCHEDULERS(X)
#undef X
};
enum { FORMS = sizeof forms / sizeof forms[0], INSTANCES = sizeof instances / sizeof instances[0] };

/* In the order of the instances, each with its forms. False past the end. */
static bool scheduler_at(uint32_t i, scheduler *s) {
    for (uint32_t n = 0; n < INSTANCES; n++) {
        uint32_t has_forms = 0;
        for (uint32_t f = 0; f < FORMS; f++)
            if (forms[f].number == instances[n].number) {
                has_forms = 1;
                *s = forms[f];
                if (i-- == 0)
                    return true;
            }
        if (!has_forms && i-- == 0) {
            *s = instances[n];
            s->traits = s->policy->traits;
            s->text = s->policy->text;
            return true;
        }
    }
    return false;
}

static const struct {
    const char *name, *scheduler;
} aliases[] = {
#define X(name, scheduler) {name, scheduler},
    BL__PAPER_NAMES(X)
#undef X
};
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

const char *bl_scheduler_name(uint32_t i) {
    scheduler s;
    return scheduler_at(i, &s) ? s.name : NULL;
}

const char *bl_scheduler_text(uint32_t i) {
    scheduler s;
    return scheduler_at(i, &s) ? s.text : NULL;
}

const char *bl_alias_name(uint32_t i, const char **scheduler) {
    if (i >= ALIASES)
        return NULL;
    if (scheduler)
        *scheduler = aliases[i].scheduler;
    return aliases[i].name;
}

/* False for a name that is unknown. */
static bool resolve(const char *name, scheduler *s, bool *alias) {
    const char *meant = !strcmp(name, "auto") ? BL__DEFAULT_TEXT : name;
    *alias = false;
    for (uint32_t i = 0; i < ALIASES; i++)
        if (!strcmp(name, aliases[i].name)) {
            *alias = true;
            meant = aliases[i].scheduler;
        }
    for (uint32_t i = 0; scheduler_at(i, s); i++)
        if (!strcmp(meant, s->name))
            return true;
    return false;
}

bool bl__scheduler_known(const char *name) {
    bool alias;
    scheduler s;
    return resolve(name, &s, &alias);
}

uint32_t bl_scheduler_uses(const char *name) {
    bool alias;
    scheduler s;
    return name && resolve(name, &s, &alias) ? s.policy->uses : (uint32_t)BL_USES_NOTHING;
}

uint32_t bl_scheduler_traits(const char *name) {
    bool alias;
    scheduler s;
    return name && resolve(name, &s, &alias) ? s.traits : 0;
}

/* The second half of its name; NULL: it has no queues. */
static const char *queue_name(const scheduler *s) {
    return s->traits & BL_TRAIT_WAVES ? NULL : strchr(s->name, ':') + 1;
}

bool bl__queue_of(const char *name, bl_queue_info *info) {
    bool alias;
    scheduler s;
    const char *queue = resolve(name, &s, &alias) ? queue_name(&s) : name;
    for (uint32_t i = 0; queue && bl_queue_info_at(i, info); i++)
        if (!strcmp(queue, info->name))
            return true;
    return false;
}

/* `opens`: for a run that takes work from outside. On a GPU that is another kernel. */
static const bl__instance *find_instance(const bl_program *program, const scheduler *s, int lane_tasks, int opens) {
    const int waves = (s->traits & BL_TRAIT_WAVES) != 0;
    for (uint32_t i = 0; i < program->instance_count; i++) {
        const bl__instance *instance = program->instances + i;
        if ((instance->scheduler ? !strcmp(instance->scheduler, s->instance) && instance->opens == opens
                                 : instance->waves == waves) &&
            (instance->lane_tasks == lane_tasks || program->warp == 1))
            return instance;
    }
    return NULL;
}

int bl_program_has(const bl_program *program, const char *name) {
    bool alias;
    scheduler s;
    if (!program || !name || !resolve(name, &s, &alias))
        return 0;
    for (uint32_t i = 0; i < program->part_count; i++)
        if (!find_instance(program->parts[i], &s, (int)program->parts[i]->lane_tasks, BL__CLOSED))
            return 0;
    return find_instance(program, &s, (int)program->lane_tasks, BL__CLOSED) != NULL;
}

/* Which lanes work together. False for a text that is no group here. */
static bool parse_group(const char *text, const bl_program *program, const bl__device_ops *ops, int *lane_tasks,
                        uint32_t *lanes) {
    const uint32_t warp = ops->warp;
    if (warp == 1) {
        *lane_tasks = 1;
        *lanes = 1;
        return !*text || !strcmp(text, "lane");
    }
    *lane_tasks = (int)program->lane_tasks;
    *lanes = program->lane_tasks ? warp : ops->block ? ops->block : program->lanes;
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

/* ---- requests that cannot be met ---- */

const char *bl__lacks(uint32_t capability, const char *name) {
    bl_queue_info info;
    if (capability && capability < 90 && bl__queue_of(name, &info) && info.flags & BL_QUEUE_NEEDS_CAS128)
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
        return config->done_test == BL_DONE_TEST_ASK ? "done_test" : NULL;
    default:
        return NULL;
    }
}

/* One of the fields from `first` on that were given and that this scheduler does not use; 0: none. Sizes come first. */
static uint32_t unused_field(const bl_config *config, const scheduler *s, uint32_t first) {
    for (uint32_t use = first; use <= BL_USES_DONE_TEST; use *= 2)
        if (!(s->policy->uses & use) && asked_for(config, use))
            return use;
    return 0;
}

static int check_fields(bl_context *c, const bl__plan *plan, const scheduler *s) {
    const bl_config *config = &c->config;
    const bl_program *program = plan->program;
    uint32_t unused = unused_field(config, s, BL_USES_VICTIMS);
    if (unused) {
        bl__detail(c, "%s: %s does not support it (accepted with", asked_for(config, unused), plan->scheduler);
        for (uint32_t n = 0, users = 0; n < POLICIES; n++)
            if (policies[n].uses & unused)
                bl__detail(c, "%s %s", users++ ? "," : "", policies[n].name);
        bl__detail(c, ")");
    } else if (config->grain > 1 && !plan->pieces && !program->loop_at) {
        bl__detail(c,
                   program->takes_pieces
                       ? "grain %u: with this group a lane of %s takes one (accepted: 1, or with warp, block:N)"
                       : "grain %u: %s takes its tasks one by one (accepted: 1, or a program of loops)",
                   (unsigned)config->grain, program->name);
    } else if (config->done_test == BL_DONE_TEST_ASK && !program->has_done_test) {
        bl__detail(c, "done_test: %s has none (accepted with BL_DONE_TEST)", program->name);
    } else {
        return BL_OK;
    }
    return BL_EINVAL;
}

/* What the run under way takes from outside. */
static int opens_of(const bl_context *c) { return !c->open ? BL__CLOSED : bl__has_porter(c) ? BL__SHARED : BL__OPEN; }

/* Whether "auto" may mean that one: it is there, has a use for what was asked for, and can be stopped if that is
 * wanted. */
static bool may_choose(const bl_context *c, const bl_program *program, const char *name, int lane_tasks, scheduler *s) {
    bool to_stop = c->config.time_limit > 0 || c->config.checkpoint[0] || c->open, alias;
    return name && resolve(name, s, &alias) && find_instance(program, s, lane_tasks, opens_of(c)) &&
           !bl__lacks(c->capability, name) && !unused_field(&c->config, s, BL_USES_CAPACITY) &&
           !(s->traits & BL_TRAIT_WAVES && to_stop);
}

/* What "auto" means for a program; *s, the default, unless there is a reason. */
static void choose(const bl_context *c, const bl_program *program, int lane_tasks, scheduler *s) {
    scheduler better;
    if (may_choose(c, program, program->automatic, lane_tasks, &better) ||
        (program->takes_pieces && may_choose(c, program, c->ops->loop_scheduler, lane_tasks, &better)) ||
        may_choose(c, program, c->ops->default_scheduler, lane_tasks, &better))
        *s = better;
}

static const char *default_of(const bl_context *c) {
    return c->ops->default_scheduler ? c->ops->default_scheduler : BL__DEFAULT_TEXT;
}

static int make_plan(bl_context *c, const bl_program *program, bl__plan *plan, uint32_t *lanes) {
    memset(plan, 0, sizeof *plan);
    plan->program = program;
    if (strcmp(program->target, c->ops->target)) {
        bl__detail(c, "the program is built for %s, the context is on %s", program->target, c->ops->target);
        return BL_ENOCODE;
    }
    scheduler s;
    int lane_tasks;
    (void)resolve(c->config.scheduler, &s, &plan->as_in_paper); /* bl_open has looked whether it is known */
    if (!parse_group(c->config.group, program, c->ops, &lane_tasks, lanes)) {
        bl__detail(c, "group %s: not on %s (accepted: lane", c->config.group, program->target);
        if (c->ops->warp > 1)
            bl__detail(c, ", warp, block:N with N a multiple of %u up to 1024", c->ops->warp);
        bl__detail(c, ")");
        return BL_EINVAL;
    }
    if (!strcmp(c->config.scheduler, "auto"))
        choose(c, program, lane_tasks, &s);
    const char *lack = bl__lacks(c->capability, s.name);
    if (lack) {
        bl__detail(c, "scheduler %s: %s; %s has %u.%u", s.name, lack, c->id, c->capability / 10, c->capability % 10);
        return BL_ENOCODE;
    }
    if (c->open && s.traits & BL_TRAIT_WAVES) {
        bl__detail(c, "scheduler %s: waves cannot take in work from outside (accepted: one with queues)", s.name);
        return BL_EINVAL;
    }
    plan->instance = find_instance(program, &s, lane_tasks, opens_of(c));
    if (!plan->instance && c->open && find_instance(program, &s, lane_tasks, BL__CLOSED)) {
        bl__detail(
            c, "%s takes no work from outside with %s and group %s on %s (accepted: %s, with the program's own group)",
            program->name, s.name, c->config.group, c->id, default_of(c));
        return BL_ENOCODE;
    }
    if (!plan->instance) {
        bl__detail(c,
                   "%s has no code for %s with group %s: other groups run at most with %s, and BL_SCHEDULERS says what "
                   "else is compiled",
                   program->name, s.name, c->config.group, default_of(c));
        return BL_ENOCODE;
    }
    plan->scheduler = s.name;
    plan->traits = s.traits;
    plan->policy = s.number;
    plan->pieces = program->takes_pieces && (c->ops->warp == 1 || !plan->instance->lane_tasks);
    plan->queue = s.traits & BL_TRAIT_WAVES ? -1 : bl__queue_number(queue_name(&s));
    /* Waves of the papers' schedulers, and those that the hardware hands out, take a launch each. */
    plan->stays = s.traits & BL_TRAIT_WAVES && !(s.traits & BL_TRAIT_GROUP_PER_TASK) && !plan->as_in_paper &&
                  c->ops->warp > 1 && program->max_spawn;
    return check_fields(c, plan, &s);
}

int bl__plan_make(bl_context *c, const bl_program *program, bl__plan *plan, uint32_t *lanes) {
    int status = BL_OK;
    if (c->planned.of != program || c->planned.opens != opens_of(c) ||
        memcmp(&c->planned.copy, program, sizeof *program)) {
        c->planned.of = NULL;
        status = make_plan(c, program, &c->planned.plan, &c->planned.lanes);
        c->planned.copy = *program;
        c->planned.opens = opens_of(c);
        c->planned.of = status == BL_OK ? program : NULL;
    }
    *plan = c->planned.plan;
    *lanes = c->planned.lanes;
    return status;
}

/* ---- queues ---- */

/* In the order of src/policies/manage_all.inc.h. What a worker needs for its ranges is a region. */
static size_t region_bytes(bl_shape shape) { return bl__region_bytes(shape.capacity, shape.words); }
#define X(name)                                                                                                        \
    {BL_QUEUE_NAME(name), name##_bytes, name##_BY_HANDLE, name##_KIND == BL_QUEUE_KIND_DEQUE, name##_MOST_THREADS},
#define Y(name) {BL_QUEUE_NAME(name), region_bytes, 0, 0, UINT32_MAX},
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

int bl_queue_info_at(uint32_t i, bl_queue_info *info) {
    static const bl_queue_info queues[] = {
#define X(name)                                                                                                        \
    {BL_QUEUE_NAME(name), name##_TEXT,      name##_KIND,  name##_FLAGS,                                                \
     name##_PROGRESS,     name##_BY_HANDLE, name##_LEAST, name##_DEVICES},
        BL_QUEUES(X)
#undef X
    };
    if (i >= sizeof queues / sizeof queues[0])
        return 0;
    *info = queues[i];
    return 1;
}
