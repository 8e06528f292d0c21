/* The limits of the hardware, for comparison with the other rows. Nothing is scheduled here. Loads:
 *
 *     faa     fetch-and-add on one word by every thread; sequential: load and store of a private word
 *     copy    memory read and written once, 128 MiB of it; a task is a byte, read or written
 *     sha1    hashes of UTS nodes, in independent chains; a task is a hash
 */
#include "queues/atomics.h"
#include "ceilings.h"
#include "queues/bench_device.h"
#include "peers.h"

#include <stdlib.h>
#include <string.h>

enum { TICKETS = 1 << 22, COPIED = 1 << 27, CHAINS = 1024, CHAIN = 1024 };

enum { SEQUENTIAL, CEILING };

typedef struct limit limit;

typedef struct limit_work {
    const limit *what;
    peers_crew *crew;
    uint32_t threads; /* of the run */
    bool alone;       /* this is the sequential run */
    bench_words words;
    unsigned char *from, *to;
    uint32_t ends[CHAINS], right_ends[CHAINS]; /* the last word of each chain */
} limit_work;

struct limit {
    const char *name;
    uint64_t tasks;
    bool (*open)(limit_work *w, uint32_t threads); /* false: out of memory */
    void (*part)(limit_work *w, uint32_t rank);    /* one thread's */
    void (*clear)(limit_work *w);                  /* clears what the previous run left */
    bool (*right)(const limit_work *w);
};

/* Where the share of thread `rank` begins, and the previous thread's ends. */
static uint64_t begin_of(const limit_work *w, uint64_t all, uint32_t rank) { return all * rank / w->threads; }

/* ---- fetch-and-add ---- */

static bool open_words(limit_work *w, uint32_t threads) {
    w->words.shared = aligned_alloc(BL_LINE, 2 * BL_LINE);
    w->words.out = calloc(threads, sizeof *w->words.out);
    w->words.own = w->words.shared + BL_LINE / 4;
    return w->words.shared && w->words.out;
}

static void add(limit_work *w, uint32_t rank) { (w->alone ? bench_plain : bench_faa)(&w->words, rank); }

static void clear_words(limit_work *w) {
    w->words.times = TICKETS / w->threads; /* all have equally many, which may leave a few */
    *w->words.shared = *w->words.own = 0;
}

static bool words_right(const limit_work *w) {
    return bench_check_atomics(w->alone ? BENCH_PLAIN : BENCH_FAA, w->threads, w->words.times, w->words.out,
                               *w->words.shared);
}

/* ---- copy ---- */

static bool open_copy(limit_work *w, uint32_t threads) {
    (void)threads;
    w->from = malloc(COPIED);
    w->to = malloc(COPIED);
    for (uint32_t i = 0; w->from && i < COPIED; i++)
        w->from[i] = (unsigned char)(i * 2654435761u >> 24);
    return w->from && w->to;
}

static void copy(limit_work *w, uint32_t rank) {
    uint64_t begin = begin_of(w, COPIED, rank), end = begin_of(w, COPIED, rank + 1);
    memcpy(w->to + begin, w->from + begin, end - begin);
}

static void clear_copy(limit_work *w) { memset(w->to, 0, COPIED); }

static bool copy_right(const limit_work *w) { return memcmp(w->from, w->to, COPIED) == 0; }

/* ---- SHA-1 ---- */

static bool open_chains(limit_work *w, uint32_t threads) {
    (void)threads;
    for (uint32_t i = 0; i < CHAINS; i++)
        w->right_ends[i] = ceilings_twin(i, CHAIN);
    return true;
}

/* Through a call, so that a compiler does not hash several chains at once: the tree search hashes one node at a
 * time. */
static void hash(limit_work *w, uint32_t rank) {
    for (uint64_t i = begin_of(w, CHAINS, rank); i < begin_of(w, CHAINS, rank + 1); i++)
        w->ends[i] = ceilings_twin((uint32_t)i, CHAIN);
}

static void clear_chains(limit_work *w) { memset(w->ends, 0, sizeof w->ends); }

static bool chains_right(const limit_work *w) { return memcmp(w->ends, w->right_ends, sizeof w->ends) == 0; }

/* ---- runs ---- */

static const limit limits[] = {
    {"faa", TICKETS, open_words, add, clear_words, words_right},
    {"copy", 2 * (uint64_t)COPIED, open_copy, copy, clear_copy, copy_right},
    {"sha1", (uint64_t)CHAINS *CHAIN, open_chains, hash, clear_chains, chains_right},
};

static void part(void *work, uint32_t rank) { ((limit_work *)work)->what->part(work, rank); }

static const peers_contest contest;

static int start(const peers_run *run) {
    limit_work *w = run->work;
    w->threads = run->threads;
    w->alone = run->method == &contest.methods[SEQUENTIAL];
    w->what->clear(w);
    w->crew = peers_crew_start(run->threads, part, w);
    return w->crew ? BL_OK : BL_ENOMEM;
}

static int run_crew(peers_run *run) {
    peers_crew_run(((limit_work *)run->work)->crew);
    return BL_OK;
}

static void stop(const peers_run *run) { peers_crew_stop(((limit_work *)run->work)->crew); }

static bool right(const peers_run *run) {
    const limit_work *w = run->work;
    return w->what->right(w);
}

static uint64_t tasks(const void *work) { return ((const limit_work *)work)->what->tasks; }

/* ---- loads ---- */

static void close_limit(void *work) {
    limit_work *w = work;
    free(w->words.shared);
    free(w->words.out);
    free(w->from);
    free(w->to);
    free(w);
}

static void *open_limit(const char *name, const uint32_t threads[PEERS_TEAMS]) {
    limit_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(limits[i].name, name) == 0)
            w->what = &limits[i];
    if (!w->what)
        peers_complain(name, "unknown load (accepted: faa, copy, sha1)");
    else if (!w->what->open(w, threads[PEERS_ALL]))
        peers_complain(name, "out of memory");
    else
        return w;
    close_limit(w);
    return NULL;
}

static const peers_contest contest = {
    .program = "ceilings_peers",
    .load = "what",
    .loads = (const char *const[]){"faa", "copy", "sha1", NULL},
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_crew, right},
                [CEILING] = {"ceiling", PEERS_ON_ONE | PEERS_ON_ALL, run_crew, right}},
    .open = open_limit,
    .close = close_limit,
    .tasks = tasks,
    .start = start,
    .stop = stop,
};

int main(int argc, char **argv) { return peers_main(&contest, argc, argv); }
