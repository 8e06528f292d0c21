/* Queues alone: ten alternating pushes and pops (Kerbl et al. 2018, Figure 2) by our queues, oneTBB's concurrent_queue,
 * moodycamel's ConcurrentQueue, boost's lockfree::queue, Concurrency Kit's ring and liburcu's wfcqueue. Loads are the
 * number of callers: 2 to 64, another, or all (as many as there are processors); beyond the processors they share them.
 *
 * Every run takes the same time, and the table shows what it would have taken for a given number of pairs. Every popped
 * value is verified, except for `faa`, the bound, which is not a queue: its pops may overtake their pushes.
 * "sequential" is one unshared item. moodycamel's queue keeps no order between producers, so it does less than the
 * others. */
#include "queues/contender.h"
#include "peers.h"
#include "queues_peers.h"

#include <stdlib.h>

enum { PAIRS = 1000000, CALLERS_MAX = 4096, RUN_NS = 30000000 };

typedef struct caller {
    uint32_t rounds;
    uint64_t out;
} caller;

typedef struct pairs_work {
    const bench_contender *ours; /* one of these two */
    const pairs_peer *peer;
    bench_job job; /* ours */
    size_t bytes;
    void *queue; /* the peer's */
    peers_crew *crew;
    caller *callers;
} pairs_work;

/* ---- one thread ---- */

static uint64_t our_pairs(const pairs_work *w, uint32_t rank, uint32_t *rounds) {
    w->ours->cpu[BENCH_TEN](&w->job, rank, w->job.threads);
    *rounds = w->job.pushes[rank] / PAIRS_A_ROUND;
    return w->job.out[rank];
}

static void call(void *work, uint32_t rank) {
    const pairs_work *w = work;
    caller *c = &w->callers[rank];
    c->out = w->ours ? our_pairs(w, rank, &c->rounds)
                     : w->peer->pairs(w->queue, bench_first(&w->job, rank), w->job.until, &c->rounds);
}

/* ---- a run ---- */

static const pairs_peer *peer_of(const peers_method *m); /* NULL: one of our queues */
static const bench_contender *contender_of(const peers_method *m);

static int open_ours(pairs_work *w, uint32_t threads) {
    const bench_contender *q = w->ours;
    bl_shape shape = {PAIRS_CAPACITY, 1, threads};
    if (bl__shape_fit(&shape, q->least, q->most_threads, q->by_handle) > BL_FIT_ROUNDED)
        return BL_EINVAL;
    w->job.capacity = shape.capacity;
    w->bytes = (q->bytes(shape, 1) + BL_LINE - 1) / BL_LINE * BL_LINE;
    w->job.memory = aligned_alloc(BL_LINE, w->bytes);
    if (!w->job.memory)
        return BL_ENOMEM;
    q->cpu[BENCH_INIT](&w->job, 0, 1);
    return BL_OK;
}

static int open_queue(pairs_work *w, const peers_run *run) {
    w->peer = peer_of(run->method);
    w->ours = w->peer ? NULL : contender_of(run->method);
    w->job.threads = w->job.callers = run->threads;
    if (!w->peer)
        return open_ours(w, run->threads);
    w->queue = w->peer->open();
    return w->queue ? BL_OK : BL_ENOMEM;
}

static int start(const peers_run *run) {
    pairs_work *w = run->work;
    int status = open_queue(w, run);
    for (uint32_t i = 0; i < run->threads; i++)
        w->callers[i] = (caller){.rounds = 0};
    if (status == BL_OK)
        w->crew = peers_crew_start(run->threads, call, w);
    return status != BL_OK ? status : w->crew ? BL_OK : BL_ENOMEM;
}

static int run_pairs(peers_run *run) {
    pairs_work *w = run->work;
    uint64_t rounds = 0;
    w->job.until = bl_time() + RUN_NS;
    peers_crew_run(w->crew);
    for (uint32_t i = 0; i < run->threads; i++)
        rounds += w->callers[i].rounds;
    run->peak_bytes = w->ours ? w->bytes : 0;
    run->done = (double)rounds * PAIRS_A_ROUND / PAIRS;
    return BL_OK;
}

static void stop(const peers_run *run) {
    pairs_work *w = run->work;
    peers_crew_stop(w->crew);
    if (w->peer)
        w->peer->close(w->queue);
    free(w->job.memory);
    w->crew = NULL;
    w->job.memory = NULL;
}

/* ---- results ---- */

static uint64_t squares_in(const pairs_work *w, uint32_t rank) {
    uint64_t in = 0;
    for (uint64_t i = 0, first = bench_first(&w->job, rank); i < PAIRS_A_ROUND; i++)
        in += (first + i) * (first + i);
    return in * w->callers[rank].rounds;
}

/* The counts agree, or the threads would not have ended; the sums show that the items were the same. */
static bool right_queue(const peers_run *run) {
    const pairs_work *w = run->work;
    uint64_t in = 0, out = 0;
    for (uint32_t i = 0; i < run->threads; i++) {
        in += squares_in(w, i);
        out += w->callers[i].out;
    }
    return in == out;
}

static bool right_bound(const peers_run *run) { return run->threads > 1 || right_queue(run); }

static uint64_t tasks(const void *work) { return (void)work, PAIRS; }

/* ---- loads ---- */

static uint32_t callers_of(const char *load) {
    char *end;
    unsigned long callers = strtoul(load, &end, 10);
    return *end == '\0' && callers <= CALLERS_MAX ? (uint32_t)callers : 0;
}

static void close_callers(void *work) {
    pairs_work *w = work;
    free(w->job.out);
    free(w->job.pushes);
    free(w->job.pops);
    free(w->callers);
    free(w);
}

static void *open_callers(const char *load, const uint32_t threads[PEERS_TEAMS]) {
    uint32_t most = threads[PEERS_ALL];
    if (strcmp(load, "all") != 0 && callers_of(load) == 0)
        return peers_complain(load, "unknown load (accepted: all, or a number of callers, 1..4096)"), NULL;
    pairs_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->job.stride = PAIRS_A_ROUND;
    w->job.out = calloc(most, sizeof *w->job.out);
    w->job.pushes = calloc(most, sizeof *w->job.pushes);
    w->job.pops = calloc(most, sizeof *w->job.pops);
    w->callers = calloc(most, sizeof *w->callers);
    if (w->job.out && w->job.pushes && w->job.pops && w->callers)
        return w;
    close_callers(w);
    return NULL;
}

/* ---- the contest ---- */

enum { SEQUENTIAL, FAA, BROKER, BWD, SFQ, WFQ, LCRQ, TZ, BLOCKING, TBB, MOODYCAMEL, BOOST, CK, URCU };
enum { BOTH = PEERS_ON_ONE | PEERS_ON_ALL };

#ifdef BENCH_TBB
#define run_tbb run_pairs
#else
#define run_tbb NULL
#endif
#ifdef BENCH_MOODYCAMEL
#define run_moodycamel run_pairs
#else
#define run_moodycamel NULL
#endif
#ifdef BENCH_BOOST
#define run_boost run_pairs
#else
#define run_boost NULL
#endif
#ifdef BENCH_CK
#define run_ck run_pairs
#else
#define run_ck NULL
#endif
#ifdef BENCH_URCU
#define run_urcu run_pairs
#else
#define run_urcu NULL
#endif

static peers_contest contest = {
    .program = "queues_peers",
    .load = "callers",
    .loads = (const char *const[]){"2", "4", "8", "16", "32", "64", NULL},
    .bound = FAA,
    .spins = 1 << CK,
    .methods = {[SEQUENTIAL] = {"sequential", PEERS_ON_ONE, run_pairs, right_queue},
                [FAA] = {"faa", BOTH, run_pairs, right_bound},
                [BROKER] = {"broker", BOTH, run_pairs, right_queue},
                [BWD] = {"bwd", BOTH, run_pairs, right_queue},
                [SFQ] = {"sfq", BOTH, run_pairs, right_queue},
                [WFQ] = {"wfq", BOTH, run_pairs, right_queue},
                [LCRQ] = {"lcrq", BOTH, run_pairs, right_queue},
                [TZ] = {"tz", BOTH, run_pairs, right_queue},
                [BLOCKING] = {"blocking", BOTH, run_pairs, right_queue},
                [TBB] = {"oneTBB", BOTH, run_tbb, right_queue},
                [MOODYCAMEL] = {"moodycamel", BOTH, run_moodycamel, right_queue},
                [BOOST] = {"boost", BOTH, run_boost, right_queue},
                [CK] = {"Concurrency Kit", BOTH, run_ck, right_queue},
                [URCU] = {"liburcu", BOTH, run_urcu, right_queue}},
    .promises = {{"broker, of the bound", {FAA, PEERS_ALL}, {BROKER, PEERS_ALL}, 0.5, false, false},
                 {"bwd, of the bound", {FAA, PEERS_ALL}, {BWD, PEERS_ALL}, 0.5, false, false},
                 {"wfq over oneTBB, all threads", {TBB, PEERS_ALL}, {WFQ, PEERS_ALL}, 0, false, false},
                 {"broker over oneTBB, all threads", {TBB, PEERS_ALL}, {BROKER, PEERS_ALL}, 0, false, false},
                 {"sfq over oneTBB, all threads", {TBB, PEERS_ALL}, {SFQ, PEERS_ALL}, 0, false, false},
                 {"wfq over moodycamel, all threads", {MOODYCAMEL, PEERS_ALL}, {WFQ, PEERS_ALL}, 0, false, false},
                 {"broker over moodycamel, all threads", {MOODYCAMEL, PEERS_ALL}, {BROKER, PEERS_ALL}, 0, false, false},
                 {"sfq over moodycamel, all threads", {MOODYCAMEL, PEERS_ALL}, {SFQ, PEERS_ALL}, 0, false, false}},
    .threads = callers_of,
    .open = open_callers,
    .close = close_callers,
    .tasks = tasks,
    .start = start,
    .stop = stop,
};

static const pairs_peer *peer_of(const peers_method *m) {
#ifdef BENCH_TBB
    if (m == &contest.methods[TBB])
        return &pairs_tbb;
#endif
#ifdef BENCH_MOODYCAMEL
    if (m == &contest.methods[MOODYCAMEL])
        return &pairs_moodycamel;
#endif
#ifdef BENCH_BOOST
    if (m == &contest.methods[BOOST])
        return &pairs_boost;
#endif
#ifdef BENCH_CK
    if (m == &contest.methods[CK])
        return &pairs_ck;
#endif
#ifdef BENCH_URCU
    if (m == &contest.methods[URCU])
        return &pairs_urcu;
#endif
    return (void)m, NULL;
}

static const bench_contender *contender_of(const peers_method *m) {
    return bench_contender_find(m == &contest.methods[SEQUENTIAL] ? "none" : m->name);
}

/* A build may also lack some of our queues. */
int main(int argc, char **argv) {
    for (int i = SEQUENTIAL; i < TBB; i++)
        if (!contender_of(&contest.methods[i]))
            contest.methods[i].run = NULL;
    return peers_main(&contest, argc, argv);
}
