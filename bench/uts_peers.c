/* Unbalanced tree search by Ballast, oneTBB, OpenMP tasks and the sequential twin, in one run, interleaved.
 *
 *     uts_peers [--repeats N] [--csv] [TREE ...]        trees T1 and T3 unless given
 *
 * Every method expands nodes by the same two functions, every result is compared with the published counts, and a time is all that a
 * caller waits for. A task is a node, for Ballast as for the peers, which are written as published ports of UTS are. "inner" are the same
 * libraries after some tuning by their user: only nodes with children become tasks, and nobody joins. The table ends with
 * the ratios that the project promises. Where other programs use the cores too, look at the least processor time instead. */
#include "common.h"
#include "uts_peers.h"

#include "app.h"
#include "uts/tree.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

enum { TREES_MAX = 8 };

typedef void peer_function(const peer_tree *tree, uint32_t threads, peer_tally *tallies);

#ifdef BENCH_TBB
#define TBB_PEER(function) (function)
#else
#define TBB_PEER(function) NULL
#endif
#ifdef BENCH_OPENMP
#define OPENMP_PEER(function) (function)
#else
#define OPENMP_PEER(function) NULL
#endif

/* The first two are ours; those that were not found when this was built have no function. */
enum { SEQUENTIAL, BALLAST, TBB, TBB_INNER, OPENMP, OPENMP_INNER, METHODS };
static const struct {
    const char *name;
    peer_function *peer;
} methods[METHODS] = {
    [SEQUENTIAL] = {"sequential", NULL},
    [BALLAST] = {"Ballast", NULL},
    [TBB] = {"oneTBB", TBB_PEER(peer_tbb)},
    [TBB_INNER] = {"oneTBB inner", TBB_PEER(peer_tbb_inner)},
    [OPENMP] = {"OpenMP", OPENMP_PEER(peer_openmp)},
    [OPENMP_INNER] = {"OpenMP inner", OPENMP_PEER(peer_openmp_inner)},
};

typedef struct row {
    bench_times seconds, processor;
    uint64_t peak_bytes;
} row;

enum { ONE, ALL }; /* threads */

/* One tree with everything that counts it. */
typedef struct bench {
    const uts_known *known;
    uts_table table;
    peer_tree peer;
    peer_tally *tallies;
    const app *uts;
    void *problem[2];
    bl_context *context[2];
    uint32_t threads[2];
    row rows[METHODS][2];
} bench;

static int complain(const char *who, const char *what) {
    fprintf(stderr, "uts_peers: %s: %s\n", who, what);
    return 1;
}

static bool available(int method, int team) {
    return method == SEQUENTIAL ? team == ONE : method == BALLAST || methods[method].peer;
}

/* ---- running one method once ---- */

/* The application keeps its counts and compares them itself. */
static int run_ours(bench *b, int team) {
    bl_stats stats;
    int status = b->uts->run(b->problem[team], b->context[team], &stats);
    b->rows[BALLAST][team].peak_bytes = stats.peak_bytes;
    return status;
}

/* The tuned forms leave the root, which is not a leaf, to their caller. */
static void run_peer(const bench *b, int method, int team, uts_counts *counts) {
    uint32_t threads = b->threads[team];
    memset(b->tallies, 0, threads * sizeof *b->tallies);
    methods[method].peer(&b->peer, threads, b->tallies);
    *counts = (uts_counts){.nodes = method == TBB_INNER || method == OPENMP_INNER ? 1 : 0};
    for (uint32_t i = 0; i < threads; i++) {
        counts->nodes += b->tallies[i].nodes;
        counts->leaves += b->tallies[i].leaves;
        if (counts->depth < b->tallies[i].depth)
            counts->depth = b->tallies[i].depth;
    }
}

static int run_method(bench *b, int method, int team, uts_counts *counts) {
    if (method == SEQUENTIAL)
        return uts_twin(&b->known->tree, &b->table, counts);
    if (method == BALLAST)
        return run_ours(b, team);
    run_peer(b, method, team, counts);
    return BL_OK;
}

static bool is_right(const bench *b, int method, int team, const uts_counts *counts) {
    const uts_counts *known = &b->known->counts;
    app_error error;
    const char *how;
    if (method == BALLAST)
        return b->uts->check(b->problem[team], NULL, false, &how, &error);
    return counts->nodes == known->nodes && counts->depth == known->depth &&
           (counts->leaves == known->leaves || known->leaves == 0);
}

/* 0, or 1 when it failed or counted wrongly. Not `keep`: a first run, to start threads and touch memory. */
static int measure(bench *b, int method, int team, bool keep) {
    row *r = &b->rows[method][team];
    uts_counts counts = {.nodes = 0};
    bench_settle();
    double processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID), start = bench_now();
    int status = run_method(b, method, team, &counts);
    double seconds = bench_now() - start;
    processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - processor;
    if (status != BL_OK)
        return complain(methods[method].name, bl_status_text(status));
    if (!is_right(b, method, team, &counts))
        return complain(methods[method].name, "wrong counts");
    if (keep) {
        bench_add(&r->seconds, seconds);
        bench_add(&r->processor, processor);
    }
    return 0;
}

/* The twin goes first: it lengthens the table where the tree is deeper than it, and the peers only read it. */
static int measure_all(bench *b, uint32_t repeats) {
    int status = measure(b, SEQUENTIAL, ONE, false);
    b->peer = (peer_tree){b->table.rows, b->table.count, uts_root_children(&b->known->tree), uts_root(&b->known->tree)};
    for (uint32_t repeat = 0; repeat <= repeats; repeat++)
        for (int method = 0; method < METHODS; method++)
            for (int team = ONE; team <= ALL && status == 0; team++)
                if (available(method, team))
                    status = measure(b, method, team, repeat > 0);
    return status;
}

/* ---- a tree ---- */

static int open_ours(bench *b, int team) {
    const char *values[16] = {NULL};
    for (uint32_t i = 0; b->uts->options[i].name; i++)
        values[i] = strcmp(b->uts->options[i].name, "--tree") == 0 ? b->known->name : b->uts->options[i].initial;
    app_error error;
    if (b->uts->open(&b->problem[team], values, 1, &error) != 0)
        return complain(b->known->name, error.text);
    bl_config config = {.device = "cpu", .workers = b->threads[team]};
    int status = bl_open(&b->context[team], &config);
    if (status == BL_OK)
        status = b->uts->load(b->problem[team], b->context[team]);
    return status == BL_OK ? 0 : complain("Ballast", bl_status_text(status));
}

static int open_peers(bench *b) {
    bl_device_info cpu = {.workers = 1};
    for (uint32_t i = 0; bl_device(i, &cpu) && strcmp(cpu.id, "cpu") != 0;)
        i++;
    b->threads[ONE] = 1;
    b->threads[ALL] = cpu.workers;
    b->tallies = aligned_alloc(sizeof(peer_tally), cpu.workers * sizeof(peer_tally));
    if (!b->tallies || uts_table_make(&b->table, &b->known->tree) != BL_OK)
        return complain(b->known->name, "out of memory");
    return 0;
}

static int open_tree(bench *b, const char *name) {
    memset(b, 0, sizeof *b);
    b->known = uts_known_find(name);
    b->uts = app_find("uts");
    if (!b->known || !b->uts || uts_root_children(&b->known->tree) == 0)
        return complain(name, "not a tree with known counts");
    int status = open_peers(b);
    for (int team = ONE; team <= ALL && status == 0; team++)
        status = open_ours(b, team);
    return status;
}

static void close_tree(bench *b) {
    for (int team = ONE; team <= ALL; team++) {
        if (b->context[team])
            b->uts->unload(b->problem[team], b->context[team]);
        bl_close(b->context[team]);
        if (b->problem[team])
            b->uts->close(b->problem[team]);
    }
    uts_table_free(&b->table);
    free(b->tallies);
}

/* ---- output ---- */

static void print_head(const bench *b, bool csv) {
    if (csv) {
        puts("tree,method,threads,repeat,ms,processor_ms,peak_bytes");
        return;
    }
    printf("%s, %" PRIu32 " threads; median of interleaved runs\n", bl_device_name(b->context[ALL]), b->threads[ALL]);
    if (!available(TBB, ONE))
        puts("without oneTBB: it was not found when this was built");
    if (!available(OPENMP, ONE))
        puts("without OpenMP: it was not found when this was built");
    printf("%-8s %-13s %7s %9s %-18s %12s %9s %10s  %s\n", "tree", "method", "threads", "ms", "(min..max)",
           "/ sequential", "speed-up", "cpu ms min", "peak memory");
}

static void print_row(const bench *b, int method, int team) {
    const row *r = &b->rows[method][team];
    bench_spread s = bench_sum_up(&r->seconds);
    char spread[48], speedup[16] = "", peak[24] = "";
    snprintf(spread, sizeof spread, "(%.1f..%.1f)", 1e3 * s.least, 1e3 * s.most);
    if (team == ALL)
        snprintf(speedup, sizeof speedup, "%.2f", bench_sum_up(&b->rows[method][ONE].seconds).median / s.median);
    if (r->peak_bytes)
        snprintf(peak, sizeof peak, "%.1f kB", 1e-3 * (double)r->peak_bytes);
    printf("%-8s %-13s %7" PRIu32 " %9.1f %-18s %12.3f %9s %10.1f  %s\n", b->known->name, methods[method].name,
           b->threads[team], 1e3 * s.median, spread, s.median / bench_sum_up(&b->rows[SEQUENTIAL][ONE].seconds).median,
           speedup, 1e3 * bench_sum_up(&r->processor).least, peak);
}

static void print_csv(const bench *b, int method, int team) {
    const row *r = &b->rows[method][team];
    for (uint32_t i = 0; i < r->seconds.count; i++)
        printf("%s,%s,%" PRIu32 ",%" PRIu32 ",%.3f,%.3f,%" PRIu64 "\n", b->known->name, methods[method].name,
               b->threads[team], i + 1, 1e3 * r->seconds.all[i], 1e3 * r->processor.all[i], r->peak_bytes);
}

static void print_rows(const bench *b, bool csv) {
    for (int method = 0; method < METHODS; method++)
        for (int team = ONE; team <= ALL; team++)
            if (available(method, team))
                (csv ? print_csv : print_row)(b, method, team);
    fflush(stdout);
}

typedef struct promise {
    const char *what;
    int above[2], below[2]; /* method, team */
    double bound;
    bool at_most;
} promise;

/* By medians, and by the fastest runs, which a busy machine disturbs less. */
static void print_promise(const bench *b, const promise *p) {
    if (!available(p->above[0], p->above[1]) || !available(p->below[0], p->below[1]))
        return;
    bench_spread above = bench_sum_up(&b->rows[p->above[0]][p->above[1]].seconds);
    bench_spread below = bench_sum_up(&b->rows[p->below[0]][p->below[1]].seconds);
    double ratio = above.median / below.median;
    char bound[32] = "";
    if (p->bound > 0)
        snprintf(bound, sizeof bound, "%s %.2f: %s", p->at_most ? "<=" : ">=", p->bound,
                 (p->at_most ? ratio <= p->bound : ratio >= p->bound) ? "met" : "missed");
    printf("%-8s %-44s %6.3f (%.3f)  %s\n", b->known->name, p->what, ratio, above.least / below.least, bound);
}

static void print_promises(const bench *b) {
    const promise promises[] = {
        {"Ballast on 1 thread / sequential", {BALLAST, ONE}, {SEQUENTIAL, ONE}, 1.10, true},
        {"speed-up of Ballast on all threads", {BALLAST, ONE}, {BALLAST, ALL}, 0.95 * b->threads[ALL], false},
        {"Ballast over oneTBB, all threads", {TBB, ALL}, {BALLAST, ALL}, 1.3, false},
        {"Ballast over OpenMP, all threads", {OPENMP, ALL}, {BALLAST, ALL}, 1.3, false},
        {"Ballast over oneTBB inner, all threads", {TBB_INNER, ALL}, {BALLAST, ALL}, 0, false},
        {"Ballast over OpenMP inner, all threads", {OPENMP_INNER, ALL}, {BALLAST, ALL}, 0, false},
    };
    for (size_t i = 0; i < sizeof promises / sizeof promises[0]; i++)
        print_promise(b, &promises[i]);
}

/* ---- all of it ---- */

typedef struct request {
    uint32_t repeats, count;
    bool csv;
    const char *trees[TREES_MAX];
} request;

static bool parse(int argc, char **argv, request *r) {
    *r = (request){.repeats = 5};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--csv") == 0)
            r->csv = true;
        else if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc)
            r->repeats = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (argv[i][0] != '-' && r->count < TREES_MAX)
            r->trees[r->count++] = argv[i];
        else
            return false;
    }
    if (r->count == 0) {
        r->trees[r->count++] = "T1";
        r->trees[r->count++] = "T3";
    }
    return r->repeats >= 1 && r->repeats <= BENCH_REPEATS_MAX;
}

int main(int argc, char **argv) {
    static bench benches[TREES_MAX];
    request r;
    if (!parse(argc, argv, &r)) {
        fprintf(stderr, "usage: uts_peers [--repeats 1..%d] [--csv] [TREE ...], up to %d trees\n", BENCH_REPEATS_MAX,
                TREES_MAX);
        return 2;
    }
    int status = 0;
    for (uint32_t i = 0; i < r.count && status == 0; i++) {
        status = open_tree(&benches[i], r.trees[i]);
        if (status == 0)
            status = measure_all(&benches[i], r.repeats);
        if (status == 0 && i == 0)
            print_head(&benches[i], r.csv);
        if (status == 0)
            print_rows(&benches[i], r.csv);
        close_tree(&benches[i]);
    }
    if (status == 0 && !r.csv)
        puts("\nratios of the medians (of the minimums)");
    for (uint32_t i = 0; i < r.count && status == 0 && !r.csv; i++)
        print_promises(&benches[i]);
    return status;
}
