/* Several processes that share a run. local.c sends and delivers letters; here are the thread that listens for them,
 * and what ranks have to agree on: before a run, whether they all can and want to run the same; after it, how it ended
 * and what each has done.
 *
 * Listening. Nothing tells a process that a message has come, so a thread looks from time to time. While the workers
 * have work it should leave them the processor: its naps grow as long as nothing comes. A node that waits for others
 * listens closely, and workers that send something wake the thread (line.stirs). Where tasks are short, and where
 * workers wait, they listen by themselves, and the thread naps: to wake it takes longer than to look.
 *
 * The end. Ranks leave a run together, when its last message has arrived (settle): so entries that were in flight when
 * the run was halted are not lost, and no run hears the letters of another. */
#include "cluster/ranks.h"

#include "cluster/local.h"
#include "cluster/protocol.h"
#include "run/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Naps last for a part of the time for which it has been quiet: a larger one while the node has work. */
enum { LEAST_NAP = 10000, MOST_NAP = 500000 /* ns */, NAP_SHARE = 1, WAITING_SHARE = 16 };

enum { DETAIL = 512, NAME = 64, DEVICE = sizeof((bl_context *)NULL)->id };

/* Results go to all in pieces: of so many bytes, but of no more than memory for all ranks' pieces allows. */
enum { LEAST_PIECE = 4096, ALL_PIECES = 1 << 20 };

/* What ranks tell each other, each with one gather. */
typedef struct opening {
    int32_t status;
    uint32_t nodes, gpus;
    char version[NAME], device[DEVICE];
    char detail[DETAIL];
} opening;

typedef struct terms {
    int32_t status;
    uint32_t payload_bytes, carried_bytes, shared_bytes, result_bytes, record_bytes, results_at, payload_at, join_width;
    uint32_t of_all;
    uint32_t roots, results_wanted, empty; /* empty: a loop of no indices */
    uint32_t checkpoint, resume;
    double time_limit, stall_seconds;
    char program[NAME], scheduler[NAME];
    char detail[DETAIL];
} terms;

typedef struct settlement {
    uint64_t sent, received;
    int32_t status;           /* of the rank that has ended the run early; BL_OK: this one has not */
    uint32_t writes, waiting; /* waiting: results that have come home wait for workers */
} settlement;

typedef struct reason { /* why it has; the payload of a task that failed follows */
    uint64_t error;
    uint32_t failed;
    char detail[DETAIL];
} reason;

typedef struct outcome {
    bl_stats stats;
    bl_traffic traffic;
} outcome;

typedef struct bl__ranks {
    bl__line line;
    bl__cluster *cluster;
    pthread_t thread;
    bool has_thread, listening, quit;
    bool of_all;  /* bl_roots_of_all */
    bool gpus;    /* some rank has one */
    int status;   /* of the run, once it is over everywhere, ... */
    uint32_t why; /* ... and the rank that knows why */
    bool writes;  /* checkpoints, as rank 0 says */
    bool ran;     /* `stats` are of a run */
    /* Of the run under way: roots of all, the first that is of this rank, and whose results are given here. */
    uint32_t roots, first, given, given_from;
    uint32_t result_bytes; /* 0: nobody wants them */
    void *gathered;
    size_t room;
    bl_stats *stats; /* of the last run, by rank */
    bl_traffic *traffic;
    char (*devices)[DEVICE];
} bl__ranks;

static bl__ranks *ranks_of(const bl_context *c) {
    return (bl__ranks *)(void *)bl__local_line(c->leader ? c->leader->cluster : c->cluster);
}

bool bl__ranks_are_several(const bl_context *c) { return ranks_of(c) != NULL; }

bool bl__ranks_begin_here(const bl_context *c) {
    const bl__ranks *r = ranks_of(c);
    return !r || r->of_all || r->line.link.rank == 0;
}

static bool make_room(bl__ranks *r, size_t bytes) {
    if (bytes <= r->room)
        return true;
    void *more = realloc(r->gathered, bytes);
    if (more) {
        r->gathered = more;
        r->room = bytes;
    }
    return more != NULL;
}

static const void *gather(bl__ranks *r, const void *mine, size_t bytes) {
    r->line.link.gather(r->line.link.arg, mine, bytes, r->gathered);
    return r->gathered;
}

/* ---- listening ---- */

/* `quiet`: for so long, ns. */
static long next_nap(bl__ranks *r, bool heard, long *quiet) {
    if (heard || r->line.stirred)
        *quiet = 0;
    r->line.stirred = false;
    if (bl__local_listens(r->cluster))
        return MOST_NAP;
    long nap = *quiet / (bl__local_waits(r->cluster) ? WAITING_SHARE : NAP_SHARE);
    nap = nap < LEAST_NAP ? LEAST_NAP : nap < MOST_NAP ? nap : MOST_NAP;
    *quiet = *quiet < LONG_MAX / 2 ? *quiet + nap : *quiet;
    return nap;
}

static void *listen_main(void *argument) {
    bl__ranks *r = argument;
    long quiet = 0;
    pthread_setname_np(pthread_self(), "ballast-ranks");
    prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0); /* else naps are longer by 50 us */
    bl__local_lock(r->cluster);
    while (!r->quit) {
        long nap = 1000000000;
        if (r->listening) {
            nap = next_nap(r, bl__local_hear(r->cluster), &quiet);
            bl__local_relieve(r->cluster);
        }
        const struct timespec until = bl__after(1e-9 * (double)nap);
        bl__local_rest(r->cluster, &until);
    }
    bl__local_unlock(r->cluster);
    return NULL;
}

static void set_listening(bl__ranks *r, bool *which, bool to) {
    bl__local_lock(r->cluster);
    *which = to;
    pthread_cond_signal(&r->line.stirs);
    bl__local_unlock(r->cluster);
}

/* ---- where all ranks come together at the end ---- */

/* Of the ranks that have ended the run early, the one that tells why. */
static void find_reason(bl__ranks *r, const settlement *all) {
    r->why = 0;
    for (uint32_t i = 1; i < r->line.link.ranks; i++)
        r->why = bl__local_outranks(all[i].status, all[r->why].status) ? i : r->why;
    r->status = all[r->why].status;
    r->writes = all[0].writes;
}

/* Nobody sends once it is here, so if all messages that were sent so far have arrived, all have. True: results have
 * come home to somebody, and a checkpoint has to wait for workers that see to them. */
static bool settle(bl__line *line) {
    bl__ranks *r = (bl__ranks *)(void *)line;
    const uint32_t ranks = line->link.ranks;
    const settlement *all;
    uint64_t sent, received, waiting;
    uint32_t node;
    set_listening(r, &r->listening, false);
    do {
        bl__local_lock(r->cluster);
        bl__local_hear(r->cluster);
        const settlement mine = {.sent = r->line.sent,
                                 .received = r->line.received,
                                 .status = bl__local_status(r->cluster, &node),
                                 .writes = bl__local_node(r->cluster, 0)->writes,
                                 .waiting = bl__local_keeps(r->cluster) && bl__local_has_results(r->cluster)};
        bl__local_unlock(r->cluster);
        all = gather(r, &mine, sizeof mine);
        sent = received = waiting = 0;
        for (uint32_t i = 0; i < ranks; i++) {
            sent += all[i].sent;
            received += all[i].received;
            waiting += all[i].waiting;
        }
    } while (sent != received);
    find_reason(r, all);
    return waiting && !bl__local_outranks(r->status, BL_ETIME); /* after a failure there is no checkpoint */
}

/* ---- opening and closing ---- */

static void free_ranks(bl__ranks *r) {
    free(r->line.firsts);
    free(r->line.sending);
    free(r->line.arrived);
    free(r->gathered);
    free(r->stats);
    free(r->traffic);
    free(r->devices);
    free(r);
}

static int start_ranks(bl_context *c, bl__ranks *r) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->line.stirs, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!c->cluster && !(c->cluster = bl__local_open(&c, 1)))
        return bl__no_memory(NULL, "a context");
    r->cluster = c->cluster;
    bl__local_join(r->cluster, &r->line);
    r->has_thread = pthread_create(&r->thread, NULL, listen_main, r) == 0;
    return r->has_thread ? BL_OK : bl__no_memory(NULL, "the thread that listens to other processes");
}

static void stop_ranks(bl__ranks *r) {
    if (r->has_thread) {
        set_listening(r, &r->quit, true);
        pthread_join(r->thread, NULL);
        pthread_cond_destroy(&r->line.stirs);
    }
    r->has_thread = false;
}

/* The first rank that could not, or is of another version. */
static int judge_openings(const opening *all, uint32_t ranks) {
    for (uint32_t i = 0; i < ranks; i++) {
        if (all[i].status == BL_OK && !strcmp(all[i].version, all[0].version))
            continue;
        bl__detail_clear(NULL);
        if (all[i].status != BL_OK && ranks == 1)
            bl__detail(NULL, "%s", all[i].detail);
        else if (all[i].status != BL_OK)
            bl__detail(NULL, "%s%srank %u", all[i].detail, all[i].detail[0] ? "; at " : "", (unsigned)i);
        else
            bl__detail(NULL, "Rank %u: version %s of this library, but rank 0 has %s (accepted: the same)", (unsigned)i,
                       all[i].version, all[0].version);
        return all[i].status != BL_OK ? all[i].status : BL_EINVAL;
    }
    return BL_OK;
}

/* Nodes are numbered from rank 0 on. */
static int number_nodes(bl__ranks *r, const opening *all) {
    uint64_t count = 0;
    r->gpus = false;
    for (uint32_t i = 0; i < r->line.link.ranks; i++) {
        r->gpus = r->gpus || all[i].gpus;
        r->line.firsts[i] = (uint32_t)count;
        memcpy(r->devices[i], all[i].device, sizeof r->devices[i]);
        count += all[i].nodes;
    }
    r->line.firsts[r->line.link.ranks] = (uint32_t)count;
    if (count > BL__CLUSTER_NODES_MAX) {
        bl__detail(NULL, "device: too many nodes on all ranks (accepted: up to 2^20)");
        return BL_EINVAL;
    }
    bl__local_number(r->cluster, r->gpus);
    return BL_OK;
}

int bl__ranks_open(bl_context *c, const bl_link *link, int status) {
    bl__ranks *r = calloc(1, sizeof *r);
    const uint32_t ranks = link->ranks;
    opening mine = {.version = BL_VERSION};
    if (r)
        r->line.link = *link;
    const size_t largest = sizeof(terms) > sizeof(opening) ? sizeof(terms) : sizeof(opening);
    if (!r || !make_room(r, ranks * largest)) { /* then nobody can be told */
        free(r);
        return bl__no_memory(NULL, "a context");
    }
    r->stats = calloc(ranks, sizeof *r->stats);
    r->traffic = calloc(ranks, sizeof *r->traffic);
    r->line.firsts = malloc((ranks + 1) * sizeof *r->line.firsts);
    r->devices = calloc(ranks, sizeof *r->devices);
    r->line.settle = settle;
    if (status == BL_OK &&
        !(r->stats && r->traffic && r->devices && r->line.firsts && make_room(r, ranks * sizeof(outcome))))
        status = bl__no_memory(NULL, "a context");
    if (status == BL_OK)
        status = start_ranks(c, r);
    mine.status = status;
    if (status == BL_OK) {
        mine.nodes = bl__local_count(r->cluster);
        mine.gpus = bl__local_has_gpus(r->cluster);
        memcpy(mine.device, c->id, sizeof mine.device);
    }
    snprintf(mine.detail, sizeof mine.detail, "%s", bl_error_detail(NULL));
    const opening *all = gather(r, &mine, sizeof mine);
    status = judge_openings(all, ranks);
    if (status == BL_OK)
        status = number_nodes(r, all);
    if (status == BL_OK)
        return BL_OK;
    stop_ranks(r);
    if (r->cluster)
        bl__local_join(r->cluster, NULL);
    free_ranks(r);
    return status;
}

void bl__ranks_close(bl_context *c) {
    bl__ranks *r = ranks_of(c);
    if (!r)
        return;
    if (!bl__inherited(c)) {
        stop_ranks(r);
        if (r->line.link.close)
            r->line.link.close(r->line.link.arg);
    }
    if (!c->dead) /* else a stuck worker may wake up and look at it */
        free_ranks(r);
}

static size_t reason_size(const bl_program *program) { return sizeof(reason) + (program->payload_bytes + 7u) / 8 * 8; }

/* ---- before a run ---- */

/* What rank i has that is not as rank 0 has it; false: nothing. */
static bool differs(bl_context *c, const terms *all, uint32_t i) {
    const terms *a = &all[0], *b = &all[i];
    const char *const same = "(accepted: the same on all ranks)";
    if (strcmp(a->program, b->program))
        bl__detail(c, "Rank %u: program %s, but rank 0 has %s %s", (unsigned)i, b->program, a->program, same);
    else if (a->payload_bytes != b->payload_bytes || a->carried_bytes != b->carried_bytes)
        bl__detail(c, "Rank %u: %s has payloads of %u bytes, but of %u at rank 0 %s", (unsigned)i, b->program,
                   (unsigned)b->payload_bytes, (unsigned)a->payload_bytes, same);
    else if (a->result_bytes != b->result_bytes || a->record_bytes != b->record_bytes ||
             a->results_at != b->results_at || a->payload_at != b->payload_at || a->join_width != b->join_width)
        bl__detail(c, "Rank %u: %s has results of %u bytes and joins of %u, but of %u and %u at rank 0 %s", (unsigned)i,
                   b->program, (unsigned)b->result_bytes, (unsigned)b->record_bytes, (unsigned)a->result_bytes,
                   (unsigned)a->record_bytes, same);
    else if (a->results_wanted != b->results_wanted)
        bl__detail(c, "Rank %u: asks for %s, but rank 0 for %s (accepted: the same call on all ranks)", (unsigned)i,
                   b->results_wanted ? "results" : "none", a->results_wanted ? "results" : "none");
    else if (a->results_wanted && !a->of_all && a->roots != b->roots)
        bl__detail(c, "Rank %u: results of %u roots, but rank 0 has %u %s", (unsigned)i, (unsigned)b->roots,
                   (unsigned)a->roots, same);
    else if (a->shared_bytes != b->shared_bytes)
        bl__detail(c, "Rank %u: %s has %u bytes of shared data, but %u at rank 0 %s", (unsigned)i, b->program,
                   (unsigned)b->shared_bytes, (unsigned)a->shared_bytes, same);
    else if (strcmp(a->scheduler, b->scheduler))
        bl__detail(c, "Rank %u: scheduler %s, but rank 0 has %s %s", (unsigned)i, b->scheduler, a->scheduler, same);
    else if (a->time_limit < b->time_limit || a->time_limit > b->time_limit)
        bl__detail(c, "Rank %u: time_limit %g, but rank 0 has %g %s", (unsigned)i, b->time_limit, a->time_limit, same);
    else if (a->stall_seconds < b->stall_seconds || a->stall_seconds > b->stall_seconds)
        bl__detail(c, "Rank %u: stall_seconds %g, but rank 0 has %g %s", (unsigned)i, b->stall_seconds,
                   a->stall_seconds, same);
    else if (a->checkpoint != b->checkpoint || a->resume != b->resume)
        bl__detail(c, "Rank %u: %s, but not as at rank 0 %s", (unsigned)i,
                   a->checkpoint != b->checkpoint ? "config.checkpoint" : "config.resume", same);
    else if (a->of_all != b->of_all)
        bl__detail(c, "Rank %u: bl_roots_of_all %u, but rank 0 has %u %s", (unsigned)i, (unsigned)b->of_all,
                   (unsigned)a->of_all, same);
    else
        return false;
    return true;
}

/* The same in all ranks: a rank that cannot run it comes before one that has something else in mind. */
static int judge_terms(bl_context *c, const terms *all, uint32_t ranks) {
    for (uint32_t i = 0; i < ranks; i++)
        if (all[i].status != BL_OK) {
            bl__detail_clear(c);
            bl__detail(c, "%s", all[i].detail);
            if (ranks > 1)
                bl__detail(c, "%srank %u", all[i].detail[0] ? "; at " : "", (unsigned)i);
            return all[i].status;
        }
    for (uint32_t i = 1; i < ranks; i++)
        if (differs(c, all, i))
            return BL_EINVAL;
    return BL_OK;
}

/* Which of what was asked for is not built; BL_OK: nothing. */
static int check_terms(bl_context *c, const bl__ranks *r, const bl__terms *t) {
    const char *file = c->config.checkpoint[0] ? "checkpoint" : c->config.resume[0] ? "resume" : NULL;
    if (file && r->of_all)
        bl__detail(c, "%s: not with bl_roots_of_all (accepted: with roots of rank 0)", file);
    else if (file && bl__untold(c) && (r->line.link.ranks > 1 || bl_memories(c) > 1))
        bl__detail(c, "%s: memory block %zu may differ between processes (accepted: after bl_combine)", file,
                   bl__untold(c));
    else if (t->range > UINT32_MAX)
        bl__detail(c, "count: too many indices for several processes (accepted: fewer than 2^32)");
    else if (c->timelines.room)
        bl__detail(c, "trace: not with several processes (accepted: in one)");
    else
        return BL_OK;
    return BL_EINVAL;
}

/* Numbers roots from rank 0 on, and finds out which results are given here. */
static int count_roots(bl_context *c, bl__ranks *r, const terms *all) {
    const uint32_t rank = r->line.link.rank, others = r->of_all ? rank : 0;
    uint64_t roots = 0;
    for (uint32_t i = 0; i < (r->of_all ? r->line.link.ranks : 1); i++) {
        r->first = i == others ? (uint32_t)roots : r->first;
        roots += all[i].roots;
    }
    if (roots >= 1u << 30) {
        bl__detail(c, "count: too many roots on all ranks (accepted: fewer than 2^30)");
        return BL_EINVAL;
    }
    r->roots = (uint32_t)roots;
    r->given_from = r->first;
    r->given = all[others].empty ? 0 : all[others].roots;
    r->result_bytes = all[0].results_wanted ? all[0].result_bytes : 0;
    return BL_OK;
}

uint32_t bl__ranks_roots(const bl_context *c, uint32_t *first) {
    *first = ranks_of(c)->first;
    return ranks_of(c)->roots;
}

static size_t piece_size(uint32_t ranks) { return ALL_PIECES / ranks > LEAST_PIECE ? ALL_PIECES / ranks : LEAST_PIECE; }

/* What this rank has to gather, at most; one piece more: its own. */
static size_t gathered_size(const bl__terms *t, uint32_t ranks) {
    const size_t why = reason_size(t->program), piece = piece_size(ranks);
    return (ranks + 1) * (why > piece ? why : piece);
}

int bl__ranks_agree(bl_context *c, const bl__terms *t, int status) {
    bl__ranks *r = ranks_of(c);
    const uint32_t ranks = r->line.link.ranks;
    terms mine;
    if (status == BL_OK && c->dead)
        status = BL_EDEAD;
    if (status == BL_OK)
        status = check_terms(c, r, t);
    if (status == BL_OK && !make_room(r, gathered_size(t, ranks)))
        status = bl__no_memory(c, "what processes exchange");
    if (status == BL_OK)
        status = bl__local_start(r->cluster, t->program, t->count, false, c);
    memset(&mine, 0, sizeof mine);
    mine.status = status;
    mine.of_all = r->of_all;
    mine.time_limit = c->config.time_limit;
    mine.stall_seconds = c->config.stall_seconds;
    mine.checkpoint = c->config.checkpoint[0] != '\0';
    mine.resume = c->config.resume[0] != '\0';
    snprintf(mine.scheduler, sizeof mine.scheduler, "%s", c->config.scheduler);
    snprintf(mine.detail, sizeof mine.detail, "%.*s", DETAIL - 1, c->detail);
    if (status == BL_OK) {
        snprintf(mine.program, sizeof mine.program, "%s", t->program->name);
        mine.payload_bytes = t->program->payload_bytes;
        mine.carried_bytes = t->program->carried_bytes;
        mine.shared_bytes = t->program->shared_bytes;
        mine.result_bytes = t->program->result_bytes;
        mine.record_bytes = t->program->record_bytes;
        mine.results_at = t->program->results_at;
        mine.payload_at = t->program->payload_at;
        mine.join_width = t->program->join_width;
        mine.roots = t->count;
        mine.results_wanted = t->results_wanted;
        mine.empty = t->range == 0;
    }
    const terms *all = gather(r, &mine, sizeof mine);
    const bool counts = r->gpus && all[0].result_bytes;
    status = judge_terms(c, all, ranks);
    if (status == BL_OK)
        status = count_roots(c, r, all);
    if (status == BL_OK && counts) /* GPUs need room for the results of all roots */
        status = bl__ranks_hear(c, bl__local_start(r->cluster, t->program, r->roots, false, c));
    if (status == BL_OK)
        set_listening(r, &r->listening, ranks > 1);
    return status;
}

/* ---- the end ---- */

void bl__node_ends(bl_context *c, int status) {
    bl__local_ends(c, status);
    bl__local_goes_on(c, true);
}

bool bl__node_restarts(bl_context *c, int status) {
    const bl__cluster *cluster = bl__local_of(c);
    if (!cluster || !bl__local_keeps(cluster))
        return false;
    bl__local_ends(c, status);
    return bl__local_goes_on(c, false);
}

int bl__node_status(const bl_context *c) {
    uint32_t node;
    return ranks_of(c) ? ranks_of(c)->status : bl__local_status(bl__local_of(c), &node);
}

bool bl__node_is_first(const bl_context *c) { return !c->leader && bl_rank(c) == 0; }

/* ---- between two parts ---- */

bool bl__ranks_write(const bl_context *c) { return ranks_of(c)->writes; }

typedef struct opinion {
    uint64_t bytes;
    int32_t status;
    char detail[DETAIL];
} opinion;

/* The status of the first rank that has one other than BL_OK, and its words. */
static int judge_opinions(bl_context *c, bl__ranks *r, uint64_t bytes, int status, uint64_t *most) {
    opinion mine = {.bytes = bytes, .status = status};
    snprintf(mine.detail, sizeof mine.detail, "%.*s", DETAIL - 1, c->detail);
    const opinion *all = gather(r, &mine, sizeof mine);
    *most = 0;
    for (uint32_t i = 0; i < r->line.link.ranks; i++) {
        *most = all[i].bytes > *most ? all[i].bytes : *most;
        if (all[i].status == BL_OK)
            continue;
        if (i != r->line.link.rank) {
            bl__detail_clear(c);
            bl__detail(c, "%s%srank %u", all[i].detail, all[i].detail[0] ? "; at " : "", (unsigned)i);
        }
        return all[i].status;
    }
    return BL_OK;
}

int bl__ranks_hear(bl_context *c, int status) {
    uint64_t most;
    return judge_opinions(c, ranks_of(c), 0, status, &most);
}

/* At rank 0: how many bytes each rank has, as just gathered, and memory for them. */
static int make_copies(bl_context *c, const bl__ranks *r, uint64_t *sizes, void **all) {
    const opinion *of = r->gathered;
    bool made = sizes != NULL;
    for (uint32_t i = 0; i < r->line.link.ranks && made; i++) {
        sizes[i] = of[i].bytes;
        made = (all[i] = malloc(sizes[i] + 1)) != NULL;
    }
    return made ? BL_OK : bl__no_memory(c, "a checkpoint of all ranks");
}

/* The bytes from `at` on, `count` of each rank; shorter ones end earlier. */
static void collect_piece(bl__ranks *r, const void *mine, uint64_t bytes, uint64_t at, size_t count,
                          const uint64_t *sizes, void **all) {
    unsigned char *sent = (unsigned char *)r->gathered + r->line.link.ranks * count;
    memset(sent, 0, count);
    if (at < bytes)
        memcpy(sent, (const unsigned char *)mine + at, bytes - at < count ? bytes - at : count);
    const unsigned char *got = gather(r, sent, count);
    for (uint32_t i = 0; sizes && i < r->line.link.ranks; i++)
        if (at < sizes[i])
            memcpy((unsigned char *)all[i] + at, got + i * count, sizes[i] - at < count ? sizes[i] - at : count);
}

int bl__ranks_collect(bl_context *c, const void *mine, uint64_t bytes, void **all, int status) {
    bl__ranks *r = ranks_of(c);
    const uint32_t ranks = r->line.link.ranks;
    const size_t piece = piece_size(ranks);
    uint64_t most, none, *sizes = NULL;
    status = judge_opinions(c, r, bytes, status, &most);
    if (status != BL_OK)
        return status;
    if (r->line.link.rank == 0) {
        sizes = malloc(ranks * sizeof *sizes);
        status = make_copies(c, r, sizes, all);
    }
    status = judge_opinions(c, r, 0, status, &none);
    for (uint64_t at = 0; at < most && status == BL_OK; at += piece)
        collect_piece(r, mine, bytes, at, most - at < piece ? (size_t)(most - at) : piece, sizes, all);
    free(sizes);
    return status;
}

int bl__ranks_resume(bl_context *c, const bl_program *program) {
    bl__ranks *r = ranks_of(c);
    int status = bl__ranks_hear(c, bl__local_start(r->cluster, program, r->roots, true, c));
    if (status == BL_OK)
        set_listening(r, &r->listening, true);
    return status;
}

void bl__ranks_decide(bl_context *c, int status) {
    ranks_of(c)->status = status;
    ranks_of(c)->why = 0;
}

/* What the rank that ended the run early says about it, to all. */
static void tell_why(bl_context *c, bl__ranks *r) {
    const size_t payload = c->inlet.program->payload_bytes, bytes = reason_size(c->inlet.program);
    unsigned char *mine = (unsigned char *)r->gathered + r->line.link.ranks * bytes;
    reason why = {.failed = c->failed, .error = c->error};
    snprintf(why.detail, sizeof why.detail, "%.*s", DETAIL - 1, c->detail);
    memset(mine, 0, bytes);
    memcpy(mine, &why, sizeof why);
    if (c->failed && c->failed_payload)
        memcpy(mine + sizeof why, c->failed_payload, payload);
    const unsigned char *from = (const unsigned char *)gather(r, mine, bytes) + r->why * bytes;
    memcpy(&why, from, sizeof why);
    if (r->why == r->line.link.rank)
        return;
    bl__detail_clear(c);
    bl__detail(c, "%s%srank %u", why.detail, why.detail[0] ? "; at " : "", (unsigned)r->why);
    free(c->failed_payload);
    c->failed_payload = NULL;
    c->failed = why.failed;
    c->error = why.error;
    if (why.failed && posix_memalign(&c->failed_payload, BL_LINE, payload + 1) == 0)
        memcpy(c->failed_payload, from + sizeof why, payload);
}

int bl__ranks_end(bl_context *c, int status, const bl_stats *here, const bl_stats **all) {
    bl__ranks *r = ranks_of(c);
    outcome mine;
    memset(&mine, 0, sizeof mine);
    mine.stats = *here;
    mine.traffic = r->line.traffic;
    const outcome *of = gather(r, &mine, sizeof mine);
    for (uint32_t i = 0; i < r->line.link.ranks; i++) {
        r->stats[i] = of[i].stats;
        r->traffic[i] = of[i].traffic;
    }
    r->ran = true;
    *all = r->stats;
    if (r->status == BL_OK)
        return status;
    tell_why(c, r);
    return r->status;
}

/* What pieces [at, at + bytes) of all results have for this rank. */
static void take_piece(const bl__ranks *r, const void *piece, size_t at, size_t bytes, void *results) {
    const size_t begin = (size_t)r->given_from * r->result_bytes, end = begin + (size_t)r->given * r->result_bytes;
    const size_t from = at > begin ? at : begin, to = at + bytes < end ? at + bytes : end;
    if (from < to)
        memcpy((unsigned char *)results + (from - begin), (const unsigned char *)piece + (from - at), to - from);
}

void bl__ranks_give_results(bl_context *c, const void *results_of_all, void *results) {
    bl__ranks *r = ranks_of(c);
    const uint32_t ranks = r->line.link.ranks;
    const size_t all = (size_t)r->roots * r->result_bytes, most = piece_size(ranks);
    if (r->status != BL_OK)
        return;
    for (size_t at = 0; at < all; at += most) {
        const size_t bytes = all - at < most ? all - at : most;
        unsigned char *mine = (unsigned char *)r->gathered + ranks * bytes;
        if (r->line.link.rank == 0)
            memcpy(mine, (const unsigned char *)results_of_all + at, bytes);
        else
            memset(mine, 0, bytes);
        take_piece(r, gather(r, mine, bytes), at, bytes, results);
    }
}

/* ---- what users ask ---- */

uint32_t bl_rank(const bl_context *c) { return ranks_of(c) ? ranks_of(c)->line.link.rank : 0; }
uint32_t bl_ranks(const bl_context *c) { return ranks_of(c) ? ranks_of(c)->line.link.ranks : 1; }

const char *bl_rank_device(const bl_context *c, uint32_t rank) {
    const bl__ranks *r = ranks_of(c);
    return r && rank < r->line.link.ranks ? r->devices[rank] : NULL;
}

/* Within a call: NULL after having said why. */
static bl__ranks *linked(bl_context *c) {
    if (!ranks_of(c))
        bl__detail(c, "the context is on no link (accepted: from bl_open_linked or bl_open_mpi)");
    return ranks_of(c);
}

int bl_roots_of_all(bl_context *c, int all) {
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    bl__ranks *r = linked(c);
    if (r)
        r->of_all = all != 0;
    return bl__leave(c, r ? BL_OK : BL_EINVAL);
}

static int find_rank(bl_context *c, uint32_t rank, bl__ranks **r) {
    *r = linked(c);
    if (!*r)
        return BL_EINVAL;
    if (rank >= (*r)->line.link.ranks)
        bl__detail(c, "rank %u: there is none (accepted: less than %u)", (unsigned)rank,
                   (unsigned)(*r)->line.link.ranks);
    else if (!(*r)->ran)
        bl__detail(c, "rank %u: nothing was run yet (accepted: after a run)", (unsigned)rank);
    else
        return BL_OK;
    return BL_EINVAL;
}

int bl_rank_stats(bl_context *c, uint32_t rank, bl_stats *stats) {
    bl__ranks *r;
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = find_rank(c, rank, &r);
    if (status == BL_OK)
        bl__stats_give(c, stats, &r->stats[rank]);
    return bl__leave(c, status);
}

int bl_rank_traffic_sized(bl_context *c, uint32_t rank, bl_traffic *traffic, size_t bytes) {
    bl__ranks *r;
    int status = bl__enter(c);
    if (status != BL_OK)
        return status;
    status = find_rank(c, rank, &r);
    if (status == BL_OK) {
        memset(traffic, 0, bytes);
        memcpy(traffic, &r->traffic[rank], bytes < sizeof *traffic ? bytes : sizeof *traffic);
    }
    return bl__leave(c, status);
}
