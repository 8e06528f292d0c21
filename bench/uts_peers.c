/* Unbalanced tree search by Ballast, oneTBB, OpenMP tasks and the sequential twin, in one run, interleaved.
 *
 *     uts_peers [--repeats N] [--csv] [TREE ...]        trees T1 and T3 unless given
 *
 * Every method expands nodes by the same two functions, every result is compared with the published counts, and a time is all that a
 * caller waits for. The table ends with the ratios that the project promises. */
#include "common.h"
#include "uts_peers.h"

#include "app.h"
#include "uts/tree.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES_MAX = 8, METHODS = 7 };

typedef struct method {
    const char *name;
    bool available, parallel; /* parallel: on all threads, else on one */
    bench_times seconds, processor;
    uint64_t peak_bytes;
} method;

enum { SEQUENTIAL, OURS, OURS_ALL, TBB, TBB_ALL, OPENMP, OPENMP_ALL };

#ifdef BENCH_TBB
#define HAVE_TBB true
#else
#define HAVE_TBB false
#define peer_tbb NULL
#endif
#ifdef BENCH_OPENMP
#define HAVE_OPENMP true
#else
#define HAVE_OPENMP false
#define peer_openmp NULL
#endif

typedef void peer_function(const peer_tree *tree, uint32_t threads, peer_tally *tallies);

/* One tree with everything that counts it. */
typedef struct bench {
    const uts_known *known;
    uts_table table;
    peer_tree peer;
    peer_tally *tallies;
    const app *uts;
    void *problem[2];
    bl_context *context[2]; /* on one thread, on all */
    uint32_t threads;       /* all */
    method methods[METHODS];
} bench;

static int complain(const char *who, const char *what) {
    fprintf(stderr, "uts_peers: %s: %s\n", who, what);
    return 1;
}

/* ---- running one method once ---- */

static int run_sequential(bench *b, uts_counts *counts) { return uts_twin(&b->known->tree, &b->table, counts); }

/* The application compares its counts itself. */
static int run_ours(bench *b, bool all, uint64_t *peak_bytes) {
    bl_stats stats;
    int status = b->uts->run(b->problem[all], b->context[all], &stats);
    *peak_bytes = stats.peak_bytes;
    return status;
}

static void run_peer(const bench *b, peer_function *peer, uint32_t threads, uts_counts *counts) {
    memset(b->tallies, 0, threads * sizeof *b->tallies);
    peer(&b->peer, threads, b->tallies);
    *counts = (uts_counts){.nodes = 1};
    for (uint32_t i = 0; i < threads; i++) {
        counts->nodes += b->tallies[i].nodes;
        counts->leaves += b->tallies[i].leaves;
        if (counts->depth < b->tallies[i].depth)
            counts->depth = b->tallies[i].depth;
    }
}

static bool is_right(const bench *b, int which, const uts_counts *counts) {
    const uts_counts *known = &b->known->counts;
    app_error error;
    const char *how;
    if (which == OURS || which == OURS_ALL)
        return b->uts->check(b->problem[which == OURS_ALL], NULL, false, &how, &error);
    return counts->nodes == known->nodes && counts->depth == known->depth &&
           (counts->leaves == known->leaves || known->leaves == 0);
}

static int run_method(bench *b, int which, uts_counts *counts) {
    method *m = &b->methods[which];
    uint32_t threads = m->parallel ? b->threads : 1;
    switch (which) {
    case SEQUENTIAL:
        return run_sequential(b, counts);
    case OURS:
    case OURS_ALL:
        return run_ours(b, m->parallel, &m->peak_bytes);
    case TBB:
    case TBB_ALL:
        run_peer(b, peer_tbb, threads, counts);
        return BL_OK;
    default:
        run_peer(b, peer_openmp, threads, counts);
        return BL_OK;
    }
}

/* 0, or 1 when it failed or counted wrongly. Not `keep`: a first run, to start threads and touch memory. */
static int measure(bench *b, int which, bool keep) {
    method *m = &b->methods[which];
    uts_counts counts = {0};
    bench_settle();
    double processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID), start = bench_now();
    int status = run_method(b, which, &counts);
    double seconds = bench_now() - start;
    processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - processor;
    if (status != BL_OK)
        return complain(m->name, bl_status_text(status));
    if (!is_right(b, which, &counts))
        return complain(m->name, "wrong counts");
    if (keep) {
        bench_add(&m->seconds, seconds);
        bench_add(&m->processor, processor);
    }
    return 0;
}

/* ---- a tree ---- */

static int open_ours(bench *b, bool all) {
    const char *values[16] = {0};
    uint32_t i = 0;
    for (; b->uts->options[i].name && i < sizeof values / sizeof values[0]; i++)
        values[i] = strcmp(b->uts->options[i].name, "--tree") ? b->uts->options[i].initial : b->known->name;
    app_error error;
    if (b->uts->open(&b->problem[all], values, 1, &error) != 0)
        return complain(b->known->name, error.text);
    bl_config config = {.device = "cpu", .workers = all ? 0 : 1};
    int status = bl_open(&b->context[all], &config);
    if (status == BL_OK)
        status = b->uts->load(b->problem[all], b->context[all]);
    return status == BL_OK ? 0 : complain("Ballast", bl_status_text(status));
}

static int open_peers(bench *b) {
    bl_device_info cpu;
    for (uint32_t i = 0; bl_device(i, &cpu) && strcmp(cpu.id, "cpu") != 0;)
        i++;
    b->threads = cpu.workers;
    b->tallies = aligned_alloc(sizeof(peer_tally), b->threads * sizeof(peer_tally));
    if (!b->tallies || uts_table_make(&b->table, &b->known->tree) != BL_OK)
        return complain(b->known->name, "out of memory");
    return 0;
}

static void name_methods(bench *b) {
    static const char *const names[METHODS] = {"sequential", "Ballast", "Ballast", "oneTBB", "oneTBB", "OpenMP", "OpenMP"};
    for (int i = 0; i < METHODS; i++) {
        b->methods[i].name = names[i];
        b->methods[i].parallel = i == OURS_ALL || i == TBB_ALL || i == OPENMP_ALL;
        b->methods[i].available = i < TBB || (i < OPENMP ? HAVE_TBB : HAVE_OPENMP);
    }
}

static int open_tree(bench *b, const char *name) {
    *b = (bench){.known = uts_known_find(name), .uts = app_find("uts")};
    if (!b->known || !b->uts)
        return complain(name, "not a tree with known counts");
    name_methods(b);
    int status = open_peers(b);
    if (status == 0)
        status = open_ours(b, false);
    if (status == 0)
        status = open_ours(b, true);
    return status;
}

static void close_tree(bench *b) {
    for (int all = 0; all < 2; all++) {
        if (b->context[all])
            b->uts->unload(b->problem[all], b->context[all]);
        bl_close(b->context[all]);
        if (b->problem[all])
            b->uts->close(b->problem[all]);
    }
    uts_table_free(&b->table);
    free(b->tallies);
}

/* The twin goes first: it lengthens the table where the tree is deeper than it, and the peers only read it. */
static int measure_all(bench *b, uint32_t repeats) {
    uts_counts counts;
    int status = run_sequential(b, &counts) == BL_OK ? 0 : complain(b->known->name, "out of memory");
    b->peer = (peer_tree){b->table.rows, b->table.count, uts_root_children(&b->known->tree), uts_root(&b->known->tree)};
    for (uint32_t repeat = 0; repeat <= repeats; repeat++)
        for (int i = 0; i < METHODS && status == 0; i++)
            if (b->methods[i].available)
                status = measure(b, i, repeat > 0);
    return status;
}

/* ---- output ---- */

static void print_row(const bench *b, int which) {
    const method *m = &b->methods[which];
    bench_spread s = bench_sum_up(&m->seconds), sequential = bench_sum_up(&b->methods[SEQUENTIAL].seconds);
    char spread[48], alone[16] = "", peak[24] = "";
    snprintf(spread, sizeof spread, "(%.1f..%.1f)", 1e3 * s.least, 1e3 * s.most);
    if (m->parallel)
        snprintf(alone, sizeof alone, "%.2f", bench_sum_up(&b->methods[which - 1].seconds).median / s.median);
    if (m->peak_bytes)
        snprintf(peak, sizeof peak, "%.1f kB", (double)m->peak_bytes / 1000);
    printf("%-12s %-10s %7" PRIu32 " %9.1f %-18s %10.2f %8s  %s\n", b->known->name, m->name, m->parallel ? b->threads : 1,
           1e3 * s.median, spread, s.median / sequential.median, alone, peak);
}

static void print_csv(const bench *b) {
    for (int i = 0; i < METHODS; i++) {
        const method *m = &b->methods[i];
        for (uint32_t k = 0; k < m->seconds.count; k++)
            printf("%s,%s,%" PRIu32 ",%" PRIu32 ",%.3f,%.3f,%" PRIu64 "\n", b->known->name, m->name,
                   m->parallel ? b->threads : 1, k + 1, 1e3 * m->seconds.all[k], 1e3 * m->processor.all[k], m->peak_bytes);
    }
}

/* By medians, and by the fastest runs, which a busy machine disturbs less. */
static void print_ratio(const bench *b, const char *what, int above, int below, double bound, bool at_most) {
    if (!b->methods[above].available || !b->methods[below].available)
        return;
    bench_spread x = bench_sum_up(&b->methods[above].seconds), y = bench_sum_up(&b->methods[below].seconds);
    double ratio = x.median / y.median;
    bool met = at_most ? ratio <= bound : ratio >= bound;
    printf("%-12s %-44s %6.2f  by minimums %6.2f  wanted %s %.2f  %s\n", b->known->name, what, ratio, x.least / y.least,
           at_most ? "<=" : ">=", bound, met ? "met" : "missed");
}

static void print_ratios(const bench *b) {
    print_ratio(b, "Ballast on 1 thread / sequential", OURS, SEQUENTIAL, 1.10, true);
    if (b->threads < 2)
        return;
    print_ratio(b, "Ballast on all threads over 1 thread", OURS, OURS_ALL, 0.95 * b->threads, false);
    print_ratio(b, "Ballast over oneTBB, all threads", TBB_ALL, OURS_ALL, 1.3, false);
    print_ratio(b, "Ballast over OpenMP, all threads", OPENMP_ALL, OURS_ALL, 1.3, false);
}

static void print_head(const bench *b, bool csv) {
    if (csv) {
        puts("tree,method,threads,repeat,ms,processor_ms,peak_bytes");
        return;
    }
    if (!HAVE_TBB)
        puts("built without oneTBB: not found");
    if (!HAVE_OPENMP)
        puts("built without OpenMP: not found");
    printf("%s, %" PRIu32 " threads\n", bl_device_name(b->context[0]), b->threads);
    printf("%-12s %-10s %7s %9s %-18s %10s %8s  %s\n", "tree", "method", "threads", "ms median", "(min..max)", "/sequential",
           "speed-up", "peak memory");
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
    request r;
    if (!parse(argc, argv, &r)) {
        fprintf(stderr, "usage: uts_peers [--repeats 1..%d] [--csv] [TREE ...]\n", BENCH_REPEATS_MAX);
        return 2;
    }
    bench benches[TREES_MAX];
    int status = 0;
    uint32_t opened = 0;
    while (opened < r.count && status == 0) {
        bench *b = &benches[opened++];
        status = open_tree(b, r.trees[opened - 1]);
        if (status == 0)
            status = measure_all(b, r.repeats);
        if (status != 0)
            break;
        if (opened == 1)
            print_head(b, r.csv);
        if (r.csv)
            print_csv(b);
        for (int i = 0; i < METHODS && !r.csv; i++)
            if (b->methods[i].available)
                print_row(b, i);
        fflush(stdout);
    }
    for (uint32_t i = 0; i < opened && status == 0 && !r.csv; i++)
        print_ratios(&benches[i]);
    for (uint32_t i = 0; i < opened; i++)
        close_tree(&benches[i]);
    return status;
}
