/* A run of several nodes (src/cluster/local.c): each has a job of its own. The caller's thread drives node 0, which gets
 * the roots, and a thread for each of the others drives that. What they return is put together here, and so is what
 * other processes return (src/cluster/ranks.c). */
#include "cluster/local.h"
#include "cluster/ranks.h"
#include "job.h"

#include <stdlib.h>
#include <string.h>

/* What a node other than the first has not run, until the caller's thread can give it to config.left. */
typedef struct kept_entry {
    struct kept_entry *next;
    uint32_t begin, end;
    _Alignas(BL_LINE) unsigned char payload[];
} kept_entry;

typedef struct part {
    bl_context *c;
    bl__request request;
    bl_stats stats;
    pthread_t thread;
    bool has_thread;
    uint32_t payload_bytes;
    kept_entry *kept;
    bool lost; /* no memory to keep one */
} part;

int bl__nodes_check(bl_context *c, bl__request *q, bl_context *told) {
    int status = bl__request_check(c, q, told);
    if (bl__ranks_are_several(c))
        return bl__ranks_agree(c,
                               &(bl__terms){.program = status == BL_OK ? q->program : NULL,
                                            .range = q->range,
                                            .count = q->count,
                                            .results_wanted = q->results_wanted},
                               status);
    if (status != BL_OK || !c->cluster)
        return status;
    if (q->open)
        bl__detail(told, "submissions: not with several devices (accepted: with one)");
    else if (q->range > UINT32_MAX)
        bl__detail(told, "count: too many indices for several devices (accepted: fewer than 2^32)");
    else if (c->timelines.room)
        bl__detail(told, "trace: not with several devices (accepted: with one)");
    else
        return BL_OK;
    return BL_EINVAL;
}

/* ---- what is left ---- */

static void keep(void *argument, const void *payload, uint32_t begin, uint32_t end) {
    part *p = argument;
    const size_t bytes = (sizeof(kept_entry) + p->payload_bytes + BL_LINE - 1) / BL_LINE * BL_LINE;
    kept_entry *entry = aligned_alloc(BL_LINE, bytes);
    if (!entry) {
        p->lost = true;
        return;
    }
    entry->next = p->kept;
    entry->begin = begin;
    entry->end = end;
    memcpy(entry->payload, payload, p->payload_bytes);
    p->kept = entry;
}

static int give_kept(bl_context *c, part *p) {
    while (p->kept) {
        kept_entry *entry = p->kept;
        p->kept = entry->next;
        c->config.left(c->config.left_arg, entry->payload, entry->begin, entry->end);
        free(entry);
    }
    return p->lost ? bl__no_memory(c, "what is left") : BL_OK;
}

/* ---- the parts ---- */

static void *part_main(void *argument) {
    part *p = argument;
    bl__thread_belongs_to(p->c);
    pthread_setname_np(pthread_self(), "ballast-node");
    bl__node_ends(p->c, bl__request_run(p->c, &p->request, &p->stats));
    return NULL;
}

static void start_part(bl_context *c, part *p, const bl__request *q) {
    p->request = *q;
    p->request.rootless = true;
    p->request.range = 1;
    p->request.results = NULL;
    p->payload_bytes = q->program->payload_bytes;
    p->c->spent = c->spent;
    p->c->config.left = c->config.left ? keep : NULL;
    p->c->config.left_arg = p;
    bl__detail_clear(p->c);
    p->has_thread = pthread_create(&p->thread, NULL, part_main, p) == 0;
    if (!p->has_thread)
        bl__node_ends(p->c, bl__no_memory(p->c, "the thread of a node"));
}

static void add_stats(bl_stats *all, const bl_stats *one) {
    const double seconds = all->seconds > one->seconds ? all->seconds : one->seconds;
    bl__stats_add(all, one);
    all->seconds = seconds;
    all->workers += one->workers;
    all->peak_entries += one->peak_entries;
    all->paper_tasks += one->paper_tasks;
    all->peak_bytes += one->peak_bytes;
    all->left += one->left;
    all->balance = all->balance < one->balance ? all->balance : one->balance;
}

/* The node that ended early says why. */
static void tell_why(bl_context *c, bl_context *node) {
    bl__detail_clear(c);
    bl__detail(c, "%s", node->detail);
    free(c->failed_payload);
    c->failed = node->failed;
    c->error = node->error;
    c->failed_payload = node->failed_payload;
    node->failed = false;
    node->failed_payload = NULL;
}

static int run_all(bl_context *c, const bl__request *q, bl_stats *stats) {
    part parts[BL__LOCAL_NODES_MAX + 1]; /* and one that ends the list */
    uint32_t count = 1, halted_by;
    memset(parts, 0, sizeof parts);
    for (; (parts[count].c = bl__local_node(c->cluster, count)); count++)
        start_part(c, &parts[count], q);
    bl__node_ends(c, bl__request_run(c, q, stats));
    for (uint32_t i = 1; i < count; i++) {
        if (parts[i].has_thread)
            pthread_join(parts[i].thread, NULL);
        add_stats(stats, &parts[i].stats);
        c->dead = c->dead || parts[i].c->dead;
    }
    int status = bl__local_status(c->cluster, &halted_by), kept = BL_OK;
    if (status != BL_OK && halted_by)
        tell_why(c, parts[halted_by].c);
    for (uint32_t i = 1; i < count; i++)
        kept = give_kept(c, &parts[i]) == BL_OK ? kept : BL_ENOMEM;
    return status != BL_OK ? status : kept;
}

/* The part of this process. `results`: of all roots, at rank 0 if they are wanted. */
static int run_here(bl_context *c, bl__request *q, void *results, bl_stats *stats) {
    const uint32_t roots = bl__ranks_roots(c, &q->first);
    q->rootless = !bl__ranks_begin_here(c);
    q->count = q->rootless ? roots : q->count;
    q->range = q->rootless ? 1 : q->range;
    q->others = roots - q->count;
    q->results = results;
    if (q->results_wanted && bl_rank(c) == 0 && !results)
        bl__local_ends(c, bl__no_memory(c, "the results of all ranks"));
    return run_all(c, q, stats);
}

/* And then what all have done. */
static int run_ranks(bl_context *c, bl__request *q, bl_stats *all) {
    uint32_t first;
    const size_t bytes = (size_t)bl__ranks_roots(c, &first) * q->program->result_bytes;
    void *mine = q->results, *results = q->results_wanted && bl_rank(c) == 0 ? malloc(bytes + 1) : NULL;
    const bl_stats *of;
    int status = run_here(c, q, results, all);
    status = bl__ranks_end(c, status, all, &of);
    *all = of[0];
    for (uint32_t i = 1; i < bl_ranks(c); i++)
        add_stats(all, &of[i]);
    if (q->results_wanted)
        bl__ranks_give_results(c, results, mine);
    free(results);
    return status;
}

int bl__nodes_run(bl_context *c, const bl__request *q, bl_stats *stats) {
    if (!c->cluster)
        return bl__request_run(c, q, stats);
    bl_stats all = {.tasks = 0};
    bl__request open = *q;
    open.open = true;
    int status;
    if (bl__ranks_are_several(c)) {
        status = run_ranks(c, &open, &all);
    } else {
        status = c->dead ? BL_EDEAD : bl__local_start(c->cluster, q->program, c);
        if (status == BL_OK)
            status = run_all(c, &open, &all);
    }
    if (stats)
        *stats = all;
    return status;
}
