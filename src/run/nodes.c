/* A run of several nodes (src/cluster/local.c): each has a job of its own. The caller's thread drives node 0, and a
 * thread for each of the others drives that. A GPU gets the roots, if there is one. What nodes return is put together
 * here, and so is what other processes return (src/cluster/ranks.c). */
#include "cluster/local.h"
#include "cluster/ranks.h"
#include "job.h"
#include "node_pieces.h"

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
    bool waits;   /* until another node has begun */
    void *shared; /* with its own addresses; NULL: it has the memory of node 0 */
    uint32_t payload_bytes;
    kept_entry *kept;
    bool lost; /* no memory to keep one */
} part;

static bool has_file(const bl_config *config) { return config->checkpoint[0] || config->resume[0]; }

/* What a node has left can be put together with what the first one has. */
static bool fits(const bl_program *a, const bl_program *b) {
    return a->payload_bytes == b->payload_bytes && a->carried_bytes == b->carried_bytes &&
           a->shared_bytes == b->shared_bytes && a->result_bytes == b->result_bytes &&
           a->record_bytes == b->record_bytes && a->results_at == b->results_at && a->payload_at == b->payload_at &&
           a->join_width == b->join_width;
}

/* Whether the nodes have code to take part in it. */
static int check_nodes(bl_context *c, const bl__request *q, bl_context *told) {
    bl_context *node;
    for (uint32_t i = 0; (node = bl__local_node(c->cluster, i)); i++) {
        bl__request part = {.program = q->whole};
        int status = bl__request_part(node, &part, told);
        if (status != BL_OK)
            return status;
        const bl_program *p = part.program;
        const char *const name = node->config.device;
        if (strcmp(p->target, node->ops->target))
            bl__detail(told, "%s has no code for %s (accepted: a program with a part for each device)", p->name, name);
        else if (!p->opens)
            bl__detail(told, "%s has no code to share a run on %s (accepted: with BL_OPEN 1)", p->name, name);
        else if (!fits(p, q->program))
            bl__detail(told, "%s has payloads or results of other sizes on %s than on %s (accepted: the same)", p->name,
                       name, c->config.device);
        else
            continue;
        return BL_ENOCODE;
    }
    return BL_OK;
}

int bl__nodes_check(bl_context *c, bl__request *q, bl_context *told) {
    q->whole = q->program;
    int status = bl__request_check(c, q, told);
    if (status == BL_OK && bl__ranks_are_several(c))
        status = check_nodes(c, q, told);
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
    else if (has_file(&c->config) && bl_memories(c) > 1 && bl__untold(c))
        bl__detail(told, "%s: memory block %zu may differ between devices (accepted: after bl_combine)",
                   c->config.checkpoint[0] ? "checkpoint" : "resume", bl__untold(c));
    else
        return check_nodes(c, q, told);
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
    if (p->waits)
        bl__local_await_begin(bl__local_of(p->c));
    bl__node_ends(p->c, bl__request_run(p->c, &p->request, &p->stats));
    return NULL;
}

/* The shared struct with the addresses of the node's own memory. */
static void *shared_of(const bl_context *c, const bl_context *node, const void *shared, size_t bytes) {
    unsigned char *copy = malloc(bytes);
    if (!copy)
        return NULL;
    memcpy(copy, shared, bytes);
    for (size_t at = 0; at + sizeof(void *) <= bytes; at += sizeof(void *)) {
        void *address;
        memcpy(&address, copy + at, sizeof address);
        if (address && (address = bl__elsewhere(c, node, address)))
            memcpy(copy + at, &address, sizeof address);
    }
    return copy;
}

static bool prepare_part(bl_context *c, part *p, const bl__request *q, bool has_roots) {
    p->request = *q;
    p->request.program = q->whole;
    (void)bl__request_part(p->c, &p->request, c); /* bl__nodes_check has seen that there is one */
    p->request.rootless = q->rootless || !has_roots;
    if (!has_roots) {
        p->request.range = 1;
        p->request.results = NULL;
        p->request.from = NULL;
        p->request.fails = BL_OK;
    }
    if (p->c->memory == c || !q->program->shared_bytes)
        return true;
    p->request.shared = p->shared = shared_of(c, p->c, q->shared, q->program->shared_bytes);
    return p->shared != NULL;
}

static void start_part(bl_context *c, part *p, const bl__request *q, bool has_roots) {
    p->payload_bytes = q->program->payload_bytes;
    p->c->spent = c->spent;
    p->c->config.left = c->config.left ? keep : NULL;
    p->c->config.left_arg = p;
    bl__detail_clear(p->c);
    p->has_thread = prepare_part(c, p, q, has_roots) && pthread_create(&p->thread, NULL, part_main, p) == 0;
    if (!p->has_thread)
        bl__local_misses(p->c, bl__no_memory(p->c, "the thread of a node"));
}

/* The node that begins: a GPU spreads work faster than others can fetch it from a CPU. Results return to node 0, and
 * that one keeps the files. */
static uint32_t beginner(const bl_context *c, const bl_program *program) {
    const bool any = !program->result_bytes && !has_file(&c->config);
    const bl_context *node;
    for (uint32_t i = 0; any && (node = bl__local_node(c->cluster, i)); i++)
        if (!node->ops->knock)
            return i;
    return 0;
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

/* What a node did, in all parts of the run so far. */
static void note_stats(bl_context *node, const bl__request *q, const bl_stats *part) {
    if (q->goes_on)
        bl__stats_next(&node->node_stats, part);
    else
        node->node_stats = *part;
}

static int run_all(bl_context *c, const bl__request *q, bl_stats *stats) {
    part parts[BL__LOCAL_NODES_MAX + 1]; /* and one that ends the list */
    uint32_t count = 1, halted_by;
    const uint32_t begins = beginner(c, q->program);
    /* Node 0 copies what it reads from a file to the memory of all. A GPU would copy when its kernel has ended, and
     * that would wait for node 0. */
    const bool reads = c->config.resume[0] && !q->goes_on;
    memset(parts, 0, sizeof parts);
    parts[0].c = c;
    (void)prepare_part(c, &parts[0], q, begins == 0); /* its memory is the context's */
    for (; (parts[count].c = bl__local_node(c->cluster, count)); count++) {
        parts[count].waits = reads || (begins && begins != count);
        start_part(c, &parts[count], q, begins == count);
    }
    /* A GPU takes longer to begin than others, which have nothing to do until then. */
    if (begins)
        bl__local_await_begin(c->cluster);
    bl__node_ends(c, bl__request_run(c, &parts[0].request, stats));
    note_stats(c, q, stats);
    for (uint32_t i = 1; i < count; i++) {
        if (parts[i].has_thread)
            pthread_join(parts[i].thread, NULL);
        add_stats(stats, &parts[i].stats);
        note_stats(parts[i].c, q, &parts[i].stats);
        free(parts[i].shared);
        c->dead = c->dead || parts[i].c->dead;
    }
    int status = bl__local_status(c->cluster, &halted_by), kept = BL_OK;
    if (status != BL_OK && halted_by)
        tell_why(c, parts[halted_by].c);
    for (uint32_t i = 1; i < count; i++)
        kept = give_kept(c, &parts[i]) == BL_OK ? kept : BL_ENOMEM;
    return status != BL_OK ? status : kept;
}

/* ---- checkpoints: what all nodes have left becomes one file, as one node would have written it ---- */

static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* What a process sends to rank 0: statistics, how many pieces it has, these, and the memory that is to be combined. */
typedef struct parcel {
    unsigned char *memory;
    size_t bytes, blocks_at;
} parcel;

typedef struct parcel_head {
    bl_stats stats;
    uint64_t blocks; /* bytes of memory that is to be combined */
    uint32_t pieces;
} parcel_head;

static size_t combined_bytes(const bl__block *b) { return b->combine ? aligned(b->bytes) : 0; }

/* What all memories of this process have, one block after the other, each combined from all of them. */
static int gather_blocks(bl_context *c, unsigned char *at) {
    int status = BL_OK;
    for (size_t i = 0; i < c->block_count && status == BL_OK; at += combined_bytes(&c->blocks[i++])) {
        const bl__block *b = &c->blocks[i];
        if (!b->combine)
            continue;
        unsigned char *more = bl_memories(c) > 1 ? malloc(b->bytes) : NULL;
        status = bl__copy_out(c, at, b->memory, b->bytes);
        for (uint32_t k = 1; k < bl_memories(c) && status == BL_OK; k++) {
            status = more ? bl__copy_out_of(c, k, more, b->memory, b->bytes) : bl__no_memory(c, "a checkpoint");
            if (status == BL_OK)
                b->combine(at, more, b->bytes);
        }
        free(more);
    }
    return status;
}

/* False: a node has none. */
static bool measure_parcel(const bl_context *c, parcel *p, parcel_head *head) {
    bool has_all = true;
    p->bytes = aligned(sizeof *head);
    for (const bl_context *node; (node = bl__local_node(c->cluster, head->pieces)); head->pieces++) {
        has_all = has_all && node->piece;
        p->bytes += node->piece ? aligned(node->piece->bytes) : 0;
    }
    p->blocks_at = p->bytes;
    for (size_t i = 0; i < c->block_count; i++)
        p->bytes += combined_bytes(&c->blocks[i]);
    head->blocks = p->bytes - p->blocks_at;
    return has_all;
}

static int pack(bl_context *c, const bl_stats *so_far, parcel *p) {
    parcel_head head = {.stats = *so_far};
    p->memory = measure_parcel(c, p, &head) ? calloc(1, p->bytes) : NULL;
    if (!p->memory)
        return bl__no_memory(c, "a checkpoint");
    memcpy(p->memory, &head, sizeof head);
    unsigned char *at = p->memory + aligned(sizeof head);
    for (uint32_t i = 0; i < head.pieces; i++) {
        const bl__piece *piece = bl__local_node(c->cluster, i)->piece;
        memcpy(at, piece, piece->bytes);
        at += aligned(piece->bytes);
    }
    return gather_blocks(c, at);
}

/* Of all processes into those of the first; and where each piece of memory lies there. */
static void combine(bl_context *c, unsigned char *const *all, const size_t *blocks_at, uint32_t count, void **memory) {
    size_t at = 0;
    for (size_t i = 0; i < c->block_count; at += combined_bytes(&c->blocks[i++])) {
        memory[i] = c->blocks[i].combine ? all[0] + blocks_at[0] + at : NULL;
        for (uint32_t k = 1; k < count && memory[i]; k++)
            c->blocks[i].combine(memory[i], all[k] + blocks_at[k] + at, c->blocks[i].bytes);
    }
}

/* By the first process. BL__COMPLETE: nothing is left. */
static int write_whole(bl_context *c, const bl__rest *run, const bl__piece *const *pieces, uint32_t count,
                       bl__whole *whole) {
    bl__rest rest = *run;
    int status = bl__whole_make(c, run->program, pieces, count, whole);
    if (status != BL_OK || whole->entries == 0)
        return status == BL_OK ? BL__COMPLETE : status;
    rest.entries = whole->entries;
    rest.record_capacity = whole->record_capacity;
    rest.flat = whole->flat;
    rest.records = whole->records;
    rest.results = whole->results;
    rest.here = true;
    return bl__checkpoint_write(c, &rest);
}

/* At rank 0: where the pieces of a process lie in what it has sent, and where its memory does. */
static parcel_head find_pieces(const unsigned char *sent, const bl__piece **pieces, size_t *blocks_at) {
    parcel_head head;
    memcpy(&head, sent, sizeof head);
    *blocks_at = aligned(sizeof head);
    for (uint32_t i = 0; i < head.pieces; i++) {
        pieces[i] = (const bl__piece *)(const void *)(sent + *blocks_at);
        *blocks_at += aligned(pieces[i]->bytes);
    }
    return head;
}

/* What has come from all. */
static int write_ranks(bl_context *c, bl__rest *rest, unsigned char *const *all, uint32_t ranks, bl__whole *whole) {
    const bl__piece **pieces = calloc((size_t)ranks * BL__LOCAL_NODES_MAX, sizeof *pieces);
    size_t *blocks_at = calloc(ranks, sizeof *blocks_at);
    void **memory = calloc(c->block_count + 1, sizeof *memory);
    uint64_t blocks = 0;
    uint32_t count = 0;
    int status = pieces && blocks_at && memory ? BL_OK : bl__no_memory(c, "a checkpoint");
    for (uint32_t i = 0; i < ranks && status == BL_OK; i++) {
        parcel_head of = find_pieces(all[i], pieces + count, &blocks_at[i]);
        of.stats.seconds = i ? 0 : of.stats.seconds; /* they pass for all at the same time */
        bl__stats_add(&rest->stats, &of.stats);
        count += of.pieces;
        blocks = i ? blocks : of.blocks;
        if (of.blocks != blocks) {
            bl__detail(c, "checkpoint: rank %u has other memory blocks than rank 0 (accepted: the same)", (unsigned)i);
            status = BL_EFILE;
        }
    }
    if (status == BL_OK) {
        combine(c, all, blocks_at, ranks, memory);
        rest->memory = memory;
        status = write_whole(c, rest, pieces, count, whole);
    }
    free(pieces);
    free(blocks_at);
    free(memory);
    return status;
}

/* Collective. */
static int save_ranks(bl_context *c, bl__rest *rest, const bl_stats *so_far, bl__whole *whole) {
    const uint32_t ranks = bl_ranks(c);
    parcel mine = {.memory = NULL};
    void **all = calloc(ranks, sizeof *all);
    int status = pack(c, so_far, &mine);
    if (status == BL_OK && !all)
        status = bl__no_memory(c, "a checkpoint");
    status = bl__ranks_collect(c, mine.memory, mine.bytes, all, status);
    if (status == BL_OK)
        status = bl__ranks_hear(c, bl_rank(c) == 0 ? write_ranks(c, rest, (unsigned char *const *)all, ranks, whole)
                                                   : BL_OK);
    for (uint32_t i = 0; all && i < ranks; i++)
        free(all[i]);
    free(all);
    free(mine.memory);
    return status;
}

static int save_nodes(bl_context *c, bl__rest *rest, const bl_stats *so_far, bl__whole *whole) {
    const bl__piece *pieces[BL__LOCAL_NODES_MAX];
    uint32_t count = 0;
    for (bl_context *node; (node = bl__local_node(c->cluster, count)); count++)
        if (!(pieces[count] = node->piece))
            return bl__no_memory(c, "a checkpoint");
    rest->stats = *so_far;
    if (bl_memories(c) == 1)
        return write_whole(c, rest, pieces, count, whole);
    size_t bytes = 0;
    for (size_t i = 0; i < c->block_count; i++)
        bytes += combined_bytes(&c->blocks[i]);
    unsigned char *blocks = malloc(bytes + 1);
    void **memory = calloc(c->block_count + 1, sizeof *memory);
    int status = blocks && memory ? gather_blocks(c, blocks) : bl__no_memory(c, "a checkpoint");
    if (status == BL_OK) {
        combine(c, &blocks, &(size_t){0}, 1, memory);
        rest->memory = memory;
        status = write_whole(c, rest, pieces, count, whole);
    }
    free(memory);
    free(blocks);
    return status;
}

static void drop_pieces(bl_context *c) {
    bl_context *node;
    for (uint32_t i = 0; (node = bl__local_node(c->cluster, i)); i++) {
        free(node->piece);
        node->piece = NULL;
    }
}

/* What all nodes have left. BL_OK: it is written, and at the first node in `whole`. Collective. */
static int save(bl_context *c, const bl__request *q, const bl_stats *so_far, bl__whole *whole) {
    uint32_t roots = q->count, first;
    if (bl__ranks_are_several(c))
        roots = bl__ranks_roots(c, &first);
    bl__rest rest = bl__this_run(c, q->program, roots);
    const int status =
        bl__ranks_are_several(c) ? save_ranks(c, &rest, so_far, whole) : save_nodes(c, &rest, so_far, whole);
    if (status == BL__COMPLETE)
        bl__detail_clear(c);
    drop_pieces(c);
    return status;
}

/* After a part of a run that writes checkpoints has ended with `status`, in all processes. True: the next part begins.
 * If a checkpoint cannot be written on the way, that one ends at once, and gives away what is left. */
static bool begin_next(bl_context *c, bl__request *q, const bl_stats *so_far, bl__whole *whole, int *status) {
    const bool pauses = *status == BL__PAUSE, several = bl__ranks_are_several(c);
    bl__whole_free(whole);
    const int saved = save(c, q, so_far, whole);
    if (saved == BL__COMPLETE && q->results)
        memcpy(q->results, whole->results, q->program->result_bytes * (size_t)(q->count + q->others));
    if (saved != BL_OK)
        *status = saved == BL__COMPLETE ? BL_OK : saved;
    if (several && (!pauses || saved != BL_OK))
        bl__ranks_decide(c, *status);
    if (!pauses || (saved != BL_OK && saved != BL_EFILE))
        return false;
    const int started =
        several ? bl__ranks_resume(c, q->program) : bl__local_start(c->cluster, q->program, q->count, true, c);
    if (started != BL_OK) {
        *status = started;
        if (several)
            bl__ranks_decide(c, started);
        return false;
    }
    q->goes_on = q->rootless = true;
    q->range = 1;
    q->from = bl__node_is_first(c) ? whole : NULL;
    q->fails = bl__node_is_first(c) ? saved : BL_OK;
    c->of_parts = so_far->tasks;
    return true;
}

/* The part of this process, which has begun; with config.checkpoint in several parts, with a checkpoint after each. */
static int run_in_parts(bl_context *c, bl__request *q, bl_stats *all) {
    bl__whole whole = {.entries = 0};
    int status;
    bool goes_on;
    do {
        bl_stats part = {.tasks = 0};
        status = run_all(c, q, &part);
        bl__stats_next(all, &part);
        const int ended = bl__ranks_are_several(c) ? bl__node_status(c) : status;
        const bool writes = bl__ranks_are_several(c) ? bl__ranks_write(c) : c->writes;
        goes_on = false;
        if (writes && (ended == BL__PAUSE || ended == BL_ETIME || ended == BL_ECANCEL)) {
            status = ended;
            goes_on = begin_next(c, q, all, &whole, &status);
        } else {
            drop_pieces(c);
        }
    } while (goes_on);
    bl__whole_free(&whole);
    return status;
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
    return run_in_parts(c, q, stats);
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
        status = c->dead ? BL_EDEAD : bl__local_start(c->cluster, q->program, q->count, false, c);
        if (status == BL_OK)
            status = run_in_parts(c, &open, &all);
    }
    if (stats)
        *stats = all;
    return status;
}

/* ---- what each node did ---- */

const char *bl_node_device(const bl_context *c, uint32_t node) {
    const bl_context *of = c && c->cluster ? bl__local_node(c->cluster, node) : NULL;
    return of ? of->config.device : NULL;
}

static int node_at(bl_context *c, uint32_t number, const void *to, const bl_context **node) {
    *node = c->cluster && to ? bl__local_node(c->cluster, number) : NULL;
    if (*node)
        return BL_OK;
    bl__detail(c, to ? "node %u: there is none (accepted: of a context with several devices)" : "NULL",
               (unsigned)number);
    return BL_EINVAL;
}

int bl_node_stats(bl_context *c, uint32_t number, bl_stats *stats) {
    const bl_context *node;
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = node_at(c, number, stats, &node);
    if (status == BL_OK)
        bl__stats_give(c, stats, &node->node_stats);
    return bl__leave(c, status);
}

int bl_node_traffic_sized(bl_context *c, uint32_t number, bl_traffic *traffic, size_t bytes) {
    const bl_context *node;
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = node_at(c, number, traffic, &node);
    if (status == BL_OK) {
        memset(traffic, 0, bytes);
        memcpy(traffic, bl__local_traffic(c->cluster, number), bytes < sizeof *traffic ? bytes : sizeof *traffic);
    }
    return bl__leave(c, status);
}
