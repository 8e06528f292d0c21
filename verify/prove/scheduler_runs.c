/* Schedulers as a whole: a real run of the library (src/run/run.c), on a device whose launches are explored.
 *
 * The workers are those of a CPU, runtime/worker_loop.inc.h with every scheduler and queue, and the host is the
 * library's: it plans, fills the queues, and enlarges them after a pause. Before a launch the memory of the run is
 * copied, and each execution starts from the copy. A client explores one launch of its run; earlier launches are
 * executed once.
 *
 * After an execution the queues and what the workers left are drained, as the host would after a pause: each task has
 * run once, or waits in one place, or is still to be spawned by one that waits. If no worker asked for a pause, all
 * have run, and before any worker returned. */
#include "prove.h"

#include "internal.h"
#include "explored_tree.h"

#include <ballast/parts/gate.h>
#include <ballast/runtime/policy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 32, WAITING = 64, STEPS = 1000, LESS = 4, PRUNED = 4 };

/* DEQUES: the default among them, for what hardly depends on the scheduler. */
typedef enum kind { WAVES = 1, QUEUED = 2, RANGES = 4, PAPERS = 8, DEQUES = 16 } kind;

/* Capacity is 2, or what the library rounds it to.
 *   together      the children of a task are one entry
 *   kept          private stacks
 *   held          the first task waits for its children, or the first two of their entry for each other: other workers
 *                 must take them off its stack
 *   half          thieves take half
 *   loop, alone   the roots are a range, of tasks that spawn, or that spawn nothing
 *   pause         there is no room for what a task spawns
 *   forks         tasks fork and return results, and workers recurse; short: with hardly any records; wanted: the first
 *                 task ends when another worker is idle; late: not that task but task 2 does; halts: task 1 stops the
 *                 run; handed: both wait, and task 3, of the same entry as task 2, runs beside the children of task 2
 *   stopped       the host stops the run, at any time
 *   X|Y           workers that follow a script: p, P spawn one task or two and publish, f fetches if it has none,
 *                 and runs one */
typedef struct shape {
    uint32_t kinds; /* kinds of schedulers that it is for */
    uint32_t workers, roots, width, tasks;
    const char *how; /* words from above, or scripts */
    uint32_t launch; /* the launch that is explored */
} shape;

static const shape shapes[] = {
    {QUEUED, 2, 1, 1, 2, "", 1},
    {QUEUED, 2, 2, 1, 2, "", 1},
    {QUEUED, 2, 1, 2, 3, "", 1},
    {QUEUED, 2, 1, 2, 3, "together", 1},
    {QUEUED, 2, 1, 2, 3, "kept", 1},
    {QUEUED, 2, 1, 2, 3, "kept together", 1},
    {QUEUED, 2, 1, 3, 4, "half", 1},
    {QUEUED, 2, 1, 7, 8, "pause", 1},
    {QUEUED, 2, 1, 7, 8, "pause", 2},
    {QUEUED, 2, 1, 1, 2, "held", 1},
    {QUEUED, 2, 1, 2, 3, "kept held", 1},
    {QUEUED, 2, 1, 4, 5, "kept held together", 1},
    {QUEUED, 3, 1, 2, 3, "kept held", 1},
    {QUEUED, 3, 1, 1, 2, "", 1},
    {QUEUED, 3, 1, 2, 3, "", 1},
    {QUEUED, 2, 1, 1, 2, "stopped", 1},
    {QUEUED, 2, 1, 2, 3, "stopped kept together", 1},
    {DEQUES, 2, 1, 2, 5, "kept forks", 1},
    {DEQUES, 2, 1, 2, 5, "kept forks short", 1},
    {DEQUES, 2, 1, 2, 3, "kept forks wanted", 1},
    {DEQUES, 2, 1, 2, 7, "kept forks wanted", 1},
    {DEQUES, 2, 1, 2, 7, "kept forks wanted late", 1},
    {DEQUES, 2, 1, 3, 10, "kept forks wanted handed", 1},
    {DEQUES, 2, 1, 2, 7, "kept forks halts", 1},
    {DEQUES, 2, 1, 2, 7, "kept forks halts wanted", 1},
    {DEQUES, 2, 1, 2, 7, "kept forks halts", 2},
    {DEQUES, 3, 1, 2, 7, "kept forks wanted", 1},
    {PAPERS, 2, 1, 2, 3, "together", 1},
    {PAPERS, 2, 1, 1, 2, "stopped", 1},
    {RANGES, 2, 1, 2, 7, "", 1},
    {RANGES, 2, 3, 1, 6, "loop", 1},
    {RANGES, 2, 4, 1, 4, "alone", 1},
    {RANGES, 3, 3, 1, 3, "alone", 1},
    {RANGES, 2, 4, 1, 8, "pause loop", 1},
    {RANGES, 2, 3, 1, 6, "stopped loop", 1},
    {RANGES, 2, 4, 1, 4, "stopped alone", 1},
    {WAVES, 2, 2, 1, 4, "", 1},
    {WAVES, 2, 3, 1, 4, "", 1},
    {WAVES, 3, 3, 1, 3, "", 1},
    {WAVES, 2, 3, 1, 6, "loop", 1},
    {WAVES, 2, 1, 2, 3, "together", 2},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool is_how(const shape *s, const char *word) { return strstr(s->how, word) != NULL; }

typedef struct block {
    void *memory;
    unsigned char *copy; /* of its contents before the launch */
    size_t bytes;
} block;

typedef struct scheduled {
    const shape *shape;
    const prove_limits *limits;
    bl_explore_result *result;
    block blocks[BLOCKS];
    uint32_t launches;
    bool explored, right;
    /* of the launch */
    const bl__plan *plan;
    const bl__run *run;
    const void *shared;
} scheduled;

/* ---- memory of the run, as it was before the launch ---- */

static scheduled *of(bl_context *c) { return c->device; }

static int explored_alloc(bl_context *c, void **memory, size_t bytes) {
    for (block *b = of(c)->blocks; b < of(c)->blocks + BLOCKS; b++)
        if (!b->memory) {
            size_t lines = (bytes + BL_LINE - 1) / BL_LINE * BL_LINE;
            b->memory = aligned_alloc(BL_LINE, lines);
            b->copy = malloc(bytes);
            b->bytes = bytes;
            *memory = b->memory;
            if (!b->memory || !b->copy)
                return BL_ENOMEM;
            memset(b->memory, 0xa5, lines);
            return BL_OK;
        }
    return BL_ENOMEM;
}

static void explored_free(bl_context *c, void *memory) {
    for (block *b = of(c)->blocks; b < of(c)->blocks + BLOCKS; b++)
        if (b->memory == memory) {
            free(b->memory);
            free(b->copy);
            memset(b, 0, sizeof *b);
        }
}

static void keep(scheduled *s) {
    for (block *b = s->blocks; b < s->blocks + BLOCKS; b++)
        if (b->memory)
            memcpy(b->copy, b->memory, b->bytes);
}

static void before(void *arg) {
    scheduled *s = arg;
    for (block *b = s->blocks; b < s->blocks + BLOCKS; b++)
        if (b->memory)
            memcpy(b->memory, b->copy, b->bytes);
}

/* ---- an execution ---- */

static void open_stack(const bl__run *run, uint32_t slot) { bl__stack_open(bl__stack_of(run, slot), run); }

static tree *tree_of(const scheduled *s) { return ((const tree_shared *)s->shared)->tree; }

/* ---- workers that follow a script ---- */

static bool is_told(const shape *s) { return strchr(s->how, '|') != NULL; }

static void publish(const scheduled *s, bl__worker *w, uint32_t n) {
    tree *t = tree_of(s);
    for (uint32_t i = 0; i < n; i++)
        tree_spawn(w, t, t->roots + w->id * s->shape->width + t->spawned[w->id]++);
    s->run->policy->publish(w, bl__stack_count(w->stack));
}

static void follow_script(const scheduled *s, uint32_t worker) {
    const char *script = s->shape->how;
    for (uint32_t i = 0; i < worker; i++)
        script = strchr(script, '|') + 1;
    bl__worker w = tree_worker(s->run, worker);
    for (; *script && *script != '|'; script++)
        if (*script != 'f')
            publish(s, &w, *script == 'P' ? 2 : 1);
        else if (bl__stack_count(w.stack) || s->run->policy->fetch(&w))
            tree_run_newest(&w, tree_of(s));
    while (bl__stack_count(w.stack))
        tree_run_newest(&w, tree_of(s));
}

static bool is_spawned(const scheduled *s, uint32_t task) {
    const tree *t = tree_of(s);
    uint32_t by = (task - t->roots) / t->width;
    return is_told(s->shape) ? (task - t->roots) % t->width < t->spawned[by] : t->runs[by] != 0;
}

/* ---- workers ---- */

/* A static wave has more groups than workers. */
static void work(const scheduled *s, uint32_t worker) {
    const bl__run *run = s->run;
    for (uint32_t group = worker; group < run->groups; group += run->workers) {
        open_stack(run, worker);
        s->plan->instance->work(run, s->shared, group, 0, worker);
    }
    if (!(s->plan->traits & BL_TRAIT_WAVES) && !run->alone && !run->control->stop &&
        tree_of(s)->finished != tree_of(s)->tasks)
        bl_explore_fail("worker %u ends while a task is in flight", worker);
}

/* Workers, and the host if it takes part. */
static uint32_t threads(const scheduled *s) { return s->run->workers + (is_how(s->shape, "stopped") ? 1 : 0); }

static void body(void *arg, uint32_t worker, uint32_t lane) {
    scheduled *s = arg;
    (void)lane;
    if (worker == s->run->workers) {
        tree_stop(s->run);
        return;
    }
    open_stack(s->run, worker);
    if (is_told(s->shape))
        follow_script(s, worker);
    else
        work(s, worker);
}

/* Entries with which the next launch would begin; returns how many. */
static uint32_t left_over(const scheduled *s, const uint32_t **entries) {
    static uint32_t flat[WAITING * 8]; /* of entries of up to 8 words */
    static uint64_t total;
    if (s->plan->traits & BL_TRAIT_WAVES) {
        *entries = s->run->out;
        return (uint32_t)s->run->control->out[0];
    }
    total = 0;
    *entries = flat;
    prove_manage(BL__COUNT, s->plan->queue, s->run, NULL, 0, &total, 0, 1);
    const uint32_t queued = (uint32_t)total;
    total = 0;
    prove_manage(BL__DRAIN, s->plan->queue, s->run, flat, queued, &total, 0, 1);
    return (uint32_t)total;
}

static const char *after(void *arg) {
    scheduled *s = arg;
    const tree *t = tree_of(s);
    const uint32_t *entries;
    uint32_t waiting[TREE_TASKS] = {0}, count = left_over(s, &entries), left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *entry = entries + (size_t)i * s->run->words;
        for (uint32_t task = entry[2] + entry[0]; task < entry[2] + entry[1] && task < t->tasks; task++, left++)
            waiting[task]++;
    }
    for (uint32_t task = 0; task < t->tasks; task++) {
        bool is_there = task < t->roots || is_spawned(s, task);
        if (t->runs[task] + waiting[task] != is_there)
            return t->runs[task] + waiting[task] ? "a task is there twice" : "a task is lost";
    }
    if (is_how(s->shape, "forks") && !s->run->control->stop)
        for (uint32_t root = 0; root < t->roots; root++)
            if (((const uint32_t *)(const void *)s->run->results)[root] != tree_size(t, root))
                return "a root has another result";
    bool may_wait = (s->plan->traits & BL_TRAIT_WAVES) || is_told(s->shape) || s->run->control->stop;
    return left && !may_wait ? "a task is left" : NULL;
}

/* ---- a device whose launches are explored ---- */

static int explored_manage(bl_context *c, bl__manage_op op, int queue, const bl__run *run, uint32_t *entries,
                           uint32_t count, uint64_t *total) {
    (void)c;
    prove_manage(op, queue, run, entries, count, total, 0, 1);
    return BL_OK;
}

static int explored_fit(bl_context *c, bl__plan *plan, uint32_t lanes, size_t worker_memory) {
    (void)worker_memory;
    plan->fit = plan->processors = c->config.workers;
    plan->workers_per_block = 1;
    plan->threads = lanes;
    return BL_OK;
}

/* One execution, in any order: produces what the explored launch begins with. */
static bool execute(scheduled *s) {
    bl_explore_options o = {.before = before, .max_steps = STEPS, .replay = ""};
    static bl_explore_result result;
    return bl_explore(threads(s), body, s, &o, &result);
}

/* Any status other than BL_OK ends the run. After this one the host leaves alone what the workers were at: they stand
 * where the last execution has left them. */
static int explored_launch(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared) {
    scheduled *s = of(c);
    s->plan = plan;
    s->run = run;
    s->shared = shared;
    keep(s);
    if (++s->launches < s->shape->launch)
        return execute(s) ? BL_OK : BL_ESTALL;
    bl_explore_options o = prove_explore_options(s->limits, before, after);
    o.max_steps = STEPS;
    o.max_executions /= LESS;
    o.max_pruned = PRUNED * o.max_executions;
    s->explored = true;
    s->right = bl_explore(threads(s), body, s, &o, s->result);
    if (s->right && !s->result->executions) {
        s->right = false;
        snprintf(s->result->failure, sizeof s->result->failure, "no execution ends within %u steps", STEPS);
    }
    /* Cut executions are those in which a worker keeps looking for what another, which does not run, holds. */
    s->result->complete =
        s->right && s->result->executions + s->result->cut < o.max_executions && s->result->pruned < o.max_pruned;
    return BL_ESTALL;
}

static int no_timer_start(bl_context *c) { return (void)c, BL_OK; }
static int no_timer_stop(bl_context *c, double *seconds) { return (void)c, *seconds = 0, BL_OK; }

static bl__device_ops explored_device(void) {
    bl__device_ops ops = bl__sim_ops;
    ops.target = bl__cpu_ops.target;
    ops.warp = bl__cpu_ops.warp;
    ops.workers_allocate = bl__cpu_ops.workers_allocate;
    ops.default_private = bl__cpu_ops.default_private;
    ops.default_scheduler = bl__cpu_ops.default_scheduler;
    ops.sent = bl__cpu_ops.sent; /* threads find their roots in the queues */
    ops.policies = tree_policies;
    ops.alloc = explored_alloc;
    ops.free = explored_free;
    ops.fit = explored_fit;
    ops.manage = explored_manage;
    ops.launch = explored_launch;
    ops.timer_start = no_timer_start;
    ops.timer_stop = no_timer_stop;
    return ops;
}

/* ---- the clients ---- */

static bool has_deques(const char *scheduler) {
    bl_queue_info queue;
    return bl__queue_of(scheduler, &queue) && queue.kind == BL_QUEUE_KIND_DEQUE;
}

/* The discovered schedulers, then the papers' names, which have their own settings. */
static const char *scheduler_at(uint32_t i, kind *kind) {
    uint32_t known = 0;
    const char *name, *meant;
    for (; (name = bl_scheduler_name(known)); known++)
        if (known == i) {
            const uint32_t traits = bl_scheduler_traits(name);
            *kind = traits & BL_TRAIT_WAVES ? WAVES : QUEUED;
            *kind |= traits & BL_TRAIT_RANGES ? RANGES : 0;
            *kind |= has_deques(name) ? DEQUES : 0;
            return name;
        }
    name = bl_alias_name(i - known, &meant);
    *kind = name && !(bl_scheduler_traits(meant) & BL_TRAIT_WAVES) ? PAPERS : 0;
    return name;
}

/* Queues that hold more than their capacity never pause here, and nothing follows a pause. */
static bool never_pauses(const shape *s, const char *scheduler) {
    bl_queue_info queue;
    return is_how(s, "pause") && s->launch > 1 && bl__queue_of(scheduler, &queue) && !(queue.flags & BL_QUEUE_BOUNDED);
}

/* Every script of three calls that begins with a publish, against each of the others. */
enum { CALLS = 3, OWNERS = 2 * 3 * 3, OTHERS = 2, SCRIPTS = OWNERS * OTHERS, SPAWNED = 2 * CALLS };

static const shape *script_at(uint32_t i) {
    static const char *const others[OTHERS] = {"ff", "pff"};
    static char scripts[32];
    static const shape s = {QUEUED, 2, 1, SPAWNED, 1 + 2 * SPAWNED, scripts, 1};
    uint32_t owner = i % OWNERS;
    snprintf(scripts, sizeof scripts, "%c%c%c|%s", "pP"[owner / 9], "pPf"[owner / 3 % 3], "pPf"[owner % 3],
             others[i / OWNERS]);
    return &s;
}

/* The client with that number; NULL past the last, and then *client has been reduced by the number of clients. */
static const shape *client_at(uint32_t *client, const char **scheduler) {
    kind kind;
    for (uint32_t i = 0; (*scheduler = scheduler_at(i, &kind)); i++) {
        for (uint32_t k = 0; k < SHAPES; k++)
            if (shapes[k].kinds & kind && !never_pauses(&shapes[k], *scheduler) && (*client)-- == 0)
                return &shapes[k];
        for (uint32_t k = 0; k < SCRIPTS && kind & QUEUED; k++)
            if ((*client)-- == 0)
                return script_at(k);
    }
    return NULL;
}

static uint32_t count(void) {
    uint32_t left = UINT32_MAX;
    const char *scheduler;
    client_at(&left, &scheduler);
    return UINT32_MAX - left;
}

static void text(uint32_t client, char text[PROVE_TEXT]) {
    const char *scheduler;
    const shape *s = client_at(&client, &scheduler);
    if (is_told(s))
        snprintf(text, PROVE_TEXT, "%s contract %s", scheduler, s->how);
    else
        snprintf(text, PROVE_TEXT, "%s %u workers %u roots %u children %u tasks%s%s launch %u", scheduler, s->workers,
                 s->roots, s->width, s->tasks, *s->how ? " " : "", s->how, s->launch);
}

static bl_context open_context(scheduled *s, const bl__device_ops *ops, const char *scheduler) {
    bl_context c = {
        .ops = ops, .device = s, .process = (int)getpid()}; /* each client is explored in a separate process */
    uint32_t uses = bl_scheduler_uses(scheduler);
    c.config.scheduler = scheduler;
    c.config.group = c.config.checkpoint = c.config.resume = c.config.checkpoint_tag = "";
    c.config.workers = s->shape->workers;
    bool records = is_how(s->shape, "forks") && !is_how(s->shape, "short");
    c.config.capacity = records ? 8 : uses & BL_USES_CAPACITY ? 2 : 0;
    c.config.private_entries = is_how(s->shape, "kept") ? 2 : BL_NONE;
    c.config.victims = uses & BL_USES_VICTIMS ? BL_VICTIMS_ROUND_ROBIN : BL_VICTIMS_DEFAULT;
    c.config.steal = uses & BL_USES_STEAL_HALF && is_how(s->shape, "half") ? BL_STEAL_HALF : BL_STEAL_DEFAULT;
    c.config.seed = 1;
    return c;
}

static tree *make_tree(bl_context *c, const shape *s, tree_payload *roots) {
    void *memory;
    if (explored_alloc(c, &memory, sizeof(tree)))
        return NULL;
    tree *t = memory;
    memset(t, 0, sizeof *t);
    t->roots = s->roots;
    t->width = s->width;
    t->tasks = s->tasks;
    t->together = is_how(s, "together");
    t->held = is_how(s, "held");
    t->wanted = !is_how(s, "wanted") ? 0 : is_how(s, "late") ? 1 << 2 : is_how(s, "handed") ? 1 << 0 | 1 << 2 : 1 << 0;
    t->halts = is_how(s, "halts");
    t->handed = is_how(s, "handed");
    for (uint32_t i = 0; i < s->roots; i++) {
        roots[i] = (tree_payload){i, tree_check(i)};
        t->left_for[i] = tree_left(i);
    }
    return t;
}

/* With so little room for what a task may spawn that three entries too many make it pause. */
static bl_program tree_program(const shape *s) {
    bl_program program = is_how(s, "forks") ? *forks_cpu() : *tree_cpu();
    program.max_spawn = is_how(s, "alone") ? 0 : is_how(s, "pause") ? 14 : is_how(s, "forks") ? 1 : s->width;
    program.grain = is_how(s, "alone");
    return program;
}

static bool explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    static scheduled s;
    const char *scheduler;
    s = (scheduled){.limits = limits, .result = result};
    s.shape = client_at(&client, &scheduler);
    bl__device_ops ops = explored_device();
    bl_context c = open_context(&s, &ops, scheduler);
    tree_payload roots[TREE_TASKS];
    uint32_t results[TREE_TASKS];
    tree_shared shared = {make_tree(&c, s.shape, roots)};
    bl_program program = tree_program(s.shape);
    if (shared.tree && (is_how(s.shape, "loop") || is_how(s.shape, "alone")))
        bl_run_range(&c, &program, &shared, roots, s.shape->roots, NULL);
    else if (shared.tree && is_how(s.shape, "forks"))
        bl_run_join(&c, &program, &shared, roots, s.shape->roots, results, NULL);
    else if (shared.tree)
        bl_run(&c, &program, &shared, roots, s.shape->roots, NULL);
    explored_free(&c, shared.tree);
    if (!s.explored) {
        memset(result, 0, sizeof *result);
        snprintf(result->failure, sizeof result->failure, "launch %u is not reached: %.100s", s.shape->launch,
                 c.detail);
    }
    return s.explored && s.right;
}

const prove_family prove_schedulers = {"schedulers", count, text, explore};
