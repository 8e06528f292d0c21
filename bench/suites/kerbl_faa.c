/* Kerbl et al. 2018, Figure 1: the time of a fetch-and-add on one word, over the number of threads that do it at the
 * same time, relative to an access that is neither atomic nor contended. The paper's point: contention costs far less
 * on a GPU than on a CPU. */
#include "harness/suite.h"

#include "harness/common.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const bench_column COLUMNS[] = {
    {"device", "where"},
    {"access",
     "plain: load and store of a private word; faa: fetch-and-add on one word; faa per warp: one for all lanes"},
    {"threads", "threads that did so at the same time"},
    {"repeat", "number of the measurement"},
    {"times", "accesses per thread, each waiting for the one before"},
    {"nanoseconds",
     "time of one access as its thread sees it; cpu: of its time on a core; cuda: kernel time, including the launch"},
    {"relative", "the same over the median of plain with the fewest threads"},
    {"mops", "million accesses per second by all threads together"},
    {"check", "right: every number was handed out exactly once"},
    {NULL, NULL},
};

static const char *const ACCESSES[BENCH_ACCESSES] = {"plain", "faa", "faa per warp"};

typedef struct steps {
    uint32_t threads[BENCH_LABELS_MAX];
    unsigned count;
    char labels[BENCH_LABELS_MAX][16];
} steps;

static void add_step(steps *s, uint32_t threads) {
    if (s->count == BENCH_LABELS_MAX || (s->count > 0 && s->threads[s->count - 1] >= threads))
        return;
    s->threads[s->count] = threads;
    snprintf(s->labels[s->count++], sizeof s->labels[0], "%" PRIu32, threads);
}

static void find_steps(const bench *b, bench_device *d, steps *s) {
    uint32_t most = d->atomic_room(d), factor = d->warp > 1 && bench_quick(b) ? 8 : 2;
    for (uint32_t threads = d->warp; threads <= most; threads *= factor)
        add_step(s, threads);
    add_step(s, most);
}

/* On a CPU, where threads take turns, a fixed total for all threads; on a GPU a fixed number for each. */
static uint32_t times(const bench *b, const bench_device *d, uint32_t threads) {
    if (d->warp > 1)
        return 128;
    return (bench_quick(b) ? 1u << 18 : 1u << 21) / threads;
}

typedef struct row_key {
    char text[64];
} row_key;

static row_key make_key(const bench_device *d, bench_access access, uint32_t threads) {
    row_key key;
    snprintf(key.text, sizeof key.text, "%s,%s,%" PRIu32, d->id, ACCESSES[access], threads);
    return key;
}

/* One row. *base is the time of a plain access, once measured. */
static bool measure_once(bench *b, bench_device *d, bench_access access, uint32_t threads, bench_times *all,
                         double *base) {
    bench_atomic_result r;
    uint32_t n = times(b, d, threads);
    bench_progress(b, "%s %s, %" PRIu32 " threads", d->id, ACCESSES[access], threads);
    if (all->count == 0)
        d->atomics(d, access, threads, n, &r); /* warm */
    d->atomics(d, access, threads, n, &r);
    bench_add(all, 1e9 * r.busy / n);
    if (*base == 0 || (access == BENCH_PLAIN && threads == d->warp))
        *base = bench_sum_up(all).median;
    bench_row(b, "%s,%" PRIu32 ",%" PRIu32 ",%.6g,%.6g,%.6g,%s", make_key(d, access, threads).text, all->count, n,
              1e9 * r.busy / n, 1e9 * r.busy / n / *base, 1e-6 * threads * n / r.span, r.right ? "right" : "WRONG");
    return r.right;
}

static bench_number measure(bench *b, bench_device *d, bench_access access, uint32_t threads, double *base) {
    bench_times all = {.count = 0};
    bool right = true;
    bench_earlier(b, make_key(d, access, threads).text, "nanoseconds", &all);
    if (*base == 0 && all.count > 0)
        *base = bench_sum_up(&all).median;
    while (all.count < bench_repeats(b) && !bench_stopped())
        right = measure_once(b, d, access, threads, &all, base) && right;
    bench_number number = {"WRONG"};
    if (!right)
        bench_wrong(b);
    return right ? bench_digits(bench_sum_up(&all).median / *base) : number;
}

static void run(bench *b, bench_device *d) {
    steps s = {.count = 0};
    double base = 0;
    const char *labels[BENCH_LABELS_MAX];
    find_steps(b, d, &s);
    for (unsigned i = 0; i < s.count; i++)
        labels[i] = s.labels[i];
    bench_table(b, "%s (%s): time of one access over that of a plain one, medians of %u, over the number of threads",
                d->id, d->name, (unsigned)bench_repeats(b));
    bench_head(b, "access", labels, s.count, 8);
    for (int access = 0; access < (d->warp > 1 ? BENCH_ACCESSES : BENCH_FAA_WARP) && !bench_stopped(); access++) {
        bench_line(b, ACCESSES[access]);
        for (unsigned i = 0; i < s.count && !bench_stopped(); i++)
            bench_cell(b, "%s", measure(b, d, (bench_access)access, s.threads[i], &base).text);
        bench_line_end(b, "%s", "");
    }
    bench_table(b, "a plain access takes %s ns", bench_digits(base).text);
    bench_remark(b, "%s: a plain access takes %.4g ns", d->id, base);
}

/* ---- the figure ---- */

static const bench_panel *find_panel(const bench_panel *p, bool gpu) {
    for (unsigned i = 0; i < p->panels; i++)
        if (bench_panel_gpu(&p->first[i]) == gpu)
            return &p->first[i];
    return NULL;
}

static void judge_cpu(const bench_panel *p, bench_verdict *v) {
    double alone = bench_panel_at(p, "faa", 1), many = bench_panel_end(p, "faa"), rise = many / alone;
    if (isnan(rise))
        return;
    bench_say(
        v,
        rise >= 5   ? BENCH_YES
        : rise >= 2 ? BENCH_PARTLY
                    : BENCH_NO,
        "On this CPU a fetch-and-add takes %s times a plain access when one thread does it and %s times when as many "
        "as here do: it rises %s times.",
        bench_digits(alone).text, bench_digits(many).text, bench_digits(rise).text);
}

/* The paper's comparison needs both devices; the numbers of threads are the paper's. */
static void judge(const bench_panel *p, bench_verdict *v) {
    const bench_panel *cpu = find_panel(p, false);
    if (!bench_panel_gpu(p)) {
        judge_cpu(p, v);
        return;
    }
    double here = bench_panel_near(p, "faa", 10000), there = cpu ? bench_panel_near(cpu, "faa", 10) : NAN;
    if (isnan(here / there)) {
        bench_say(v, BENCH_NOT_APPLICABLE,
                  "With about 10,000 threads a fetch-and-add takes %s times a plain access; the rows have no CPU to "
                  "compare with.",
                  bench_digits(here).text);
        return;
    }
    bench_say(
        v,
        here <= 2 * there   ? BENCH_YES
        : here <= 5 * there ? BENCH_PARTLY
                            : BENCH_NO,
        "With about 10,000 threads on the GPU a fetch-and-add takes %s times a plain access, with about 10 on the CPU "
        "%s times.",
        bench_digits(here).text, bench_digits(there).text);
}

static const bench_figure FIGURES[] = {
    {.name = "faa",
     .title = "A contended fetch-and-add",
     .asks = "What does one counter shared by all threads cost, compared with private memory?",
     .found = "Kerbl et al. 2018, Figure 1: the cost rises sharply with the threads on a CPU; on a GPU 10,000 threads "
              "pay about "
              "what 10 pay on a CPU.",
     .series = "access",
     .series_text = "access",
     .x = "threads",
     .y = "relative",
     .x_text = "threads",
     .y_text = "time over a plain access",
     .flags = BENCH_LOG_X | BENCH_LOG_Y | BENCH_LESS,
     .no_contest = true,
     .bounds = "plain",
     .agrees = judge},
    {.name = NULL},
};

const bench_suite kerbl_faa_suite = {.name = "kerbl-faa",
                                     .text = "a contended fetch-and-add over a plain access (Figure 1)",
                                     .columns = COLUMNS,
                                     .run = run,
                                     .version = 1,
                                     .figures = FIGURES};
