#include "peers.h"

#include "harness/common.h"

#include <inttypes.h>
#include <pthread.h>

static const double row_seconds = 12; /* after this a row is not repeated any more */

typedef struct row {
    bench_times seconds, processor;
    double used;
    uint64_t peak_bytes;
} row;

typedef struct contest_state {
    const peers_contest *contest;
    const char *load;
    void *work;
    bl_device_info cpu;
    uint32_t threads[PEERS_TEAMS];
    uint64_t tasks;
    row rows[PEERS_METHODS_MAX][PEERS_TEAMS];
} contest_state;

int peers_complain(const char *who, const char *what) {
    fprintf(stderr, "%s: %s\n", who, what);
    return 1;
}

static bool takes_part(const contest_state *s, int method, int team) {
    const peers_method *m = &s->contest->methods[method];
    const bool fits = s->threads[team] <= s->cpu.workers || !(s->contest->spins >> method & 1);
    return m->name && m->run && (m->teams >> team & 1) && fits;
}

/* ---- running ---- */

static void keep(row *r, double seconds, double processor) {
    bench_add(&r->seconds, seconds);
    bench_add(&r->processor, processor);
}

/* The first run is not recorded, unless it takes so long that it stays the only one. */
static int measure(contest_state *s, int method, int team, bool first) {
    const peers_method *m = &s->contest->methods[method];
    row *r = &s->rows[method][team];
    peers_run run = {m, s->work, team, s->threads[team], 0, 1};
    if (s->contest->reset)
        s->contest->reset(s->work);
    int status = s->contest->start ? s->contest->start(&run) : BL_OK;
    bench_settle();
    double processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID), start = bench_now();
    status = status == BL_OK ? m->run(&run) : status;
    double seconds = bench_now() - start;
    processor = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - processor;
    if (s->contest->stop)
        s->contest->stop(&run);
    if (status != BL_OK)
        return peers_complain(m->name, bl_status_text(status));
    if (!m->right(&run))
        return peers_complain(m->name, "wrong result");
    r->used += seconds;
    r->peak_bytes = run.peak_bytes;
    if (!first || r->used >= row_seconds)
        keep(r, seconds / run.done, processor / run.done);
    return 0;
}

static int measure_all(contest_state *s, uint32_t repeats) {
    int status = 0;
    for (uint32_t repeat = 0; repeat <= repeats; repeat++)
        for (int method = 0; method < PEERS_METHODS_MAX; method++)
            for (int team = 0; team < PEERS_TEAMS && status == 0; team++)
                if (takes_part(s, method, team) && s->rows[method][team].used < row_seconds)
                    status = measure(s, method, team, repeat == 0);
    return status;
}

/* ---- output ---- */

static void print_head(const contest_state *s, bool csv) {
    if (csv) {
        printf("%s,method,threads,repeat,ms,processor_ms,peak_bytes,tasks\n", s->contest->load);
        return;
    }
    printf("%s, %" PRIu32 " threads; medians of interleaved runs\n", s->cpu.name, s->threads[PEERS_ALL]);
    for (int method = 0; method < PEERS_METHODS_MAX; method++)
        if (s->contest->methods[method].name && !s->contest->methods[method].run)
            printf("without %s: it was not found when this was built\n", s->contest->methods[method].name);
    printf("%-14s %-15s %7s %4s %9s %-20s %9s %12s %9s %10s  %s\n", s->contest->load, "method", "threads", "runs", "ms",
           "(min..max)", "ns/task", "/ sequential", "speed-up", "cpu ms min", "peak memory");
}

static double median_of(const contest_state *s, int method, int team) {
    return bench_sum_up(&s->rows[method][team].seconds).median;
}

static void print_row(const contest_state *s, int method, int team) {
    const row *r = &s->rows[method][team];
    bench_spread spread = bench_sum_up(&r->seconds);
    char range[48], speedup[16] = "", peak[24] = "";
    snprintf(range, sizeof range, "(%.1f..%.1f)", 1e3 * spread.least, 1e3 * spread.most);
    if (team == PEERS_ALL && takes_part(s, method, PEERS_ONE))
        snprintf(speedup, sizeof speedup, "%.2f", median_of(s, method, PEERS_ONE) / spread.median);
    if (r->peak_bytes)
        snprintf(peak, sizeof peak, "%.1f kB", 1e-3 * (double)r->peak_bytes);
    printf("%-14s %-15s %7" PRIu32 " %4" PRIu32 " %9.1f %-20s %9.2f %12.3f %9s %10.1f  %s\n", s->load,
           s->contest->methods[method].name, s->threads[team], r->seconds.count, 1e3 * spread.median, range,
           1e9 * spread.median / (double)s->tasks, spread.median / median_of(s, 0, PEERS_ONE), speedup,
           1e3 * bench_sum_up(&r->processor).least, peak);
}

static void print_csv(const contest_state *s, int method, int team) {
    const row *r = &s->rows[method][team];
    for (uint32_t i = 0; i < r->seconds.count; i++)
        printf("%s,%s,%" PRIu32 ",%" PRIu32 ",%.3f,%.3f,%" PRIu64 ",%" PRIu64 "\n", s->load,
               s->contest->methods[method].name, s->threads[team], i + 1, 1e3 * r->seconds.all[i],
               1e3 * r->processor.all[i], r->peak_bytes, s->tasks);
}

static void print_rows(const contest_state *s, bool csv) {
    for (int method = 0; method < PEERS_METHODS_MAX; method++)
        for (int team = 0; team < PEERS_TEAMS; team++)
            if (takes_part(s, method, team))
                (csv ? print_csv : print_row)(s, method, team);
    fflush(stdout);
}

static double bound_of(const contest_state *s, const peers_promise *p) {
    double threads = p->per_thread ? (double)s->threads[PEERS_ALL] : 1;
    return p->at_most ? p->bound / threads : p->bound * threads;
}

/* By medians, and by values that a busy machine disturbs less: the fastest runs, and the least CPU time. */
static void print_promise(const contest_state *s, const peers_promise *p) {
    if (!takes_part(s, p->above[0], p->above[1]) || !takes_part(s, p->below[0], p->below[1]))
        return;
    bench_spread above = bench_sum_up(&s->rows[p->above[0]][p->above[1]].seconds);
    bench_spread below = bench_sum_up(&s->rows[p->below[0]][p->below[1]].seconds);
    double ratio = above.median / below.median, bound = bound_of(s, p);
    char verdict[40] = "";
    if (p->bound > 0)
        snprintf(verdict, sizeof verdict, "%s %.3f: %s", p->at_most ? "<=" : ">=", bound,
                 (p->at_most ? ratio <= bound : ratio >= bound) ? "met" : "missed");
    printf("%-14s %-40s %7.3f %7.3f %7.3f  %s\n", s->load, p->what, ratio, above.least / below.least,
           bench_sum_up(&s->rows[p->above[0]][p->above[1]].processor).least /
               bench_sum_up(&s->rows[p->below[0]][p->below[1]].processor).least,
           verdict);
}

static void print_promises(const contest_state *s) {
    for (int i = 0; i < PEERS_PROMISES_MAX && s->contest->promises[i].what; i++)
        print_promise(s, &s->contest->promises[i]);
}

/* All methods over all loads, with all threads: millions of tasks per second, and the share of the bound. */
static void print_table(const contest_state *states, uint32_t count) {
    const peers_contest *contest = states->contest;
    printf("\nmillions of pairs a second (%% of %s), over %s\n%-15s", contest->methods[contest->bound].name,
           contest->load, "");
    for (uint32_t i = 0; i < count; i++)
        printf(" %14s", states[i].load);
    printf("\n");
    for (int method = 1; method < PEERS_METHODS_MAX; method++) {
        if (!contest->methods[method].name || !contest->methods[method].run)
            continue;
        printf("%-15s", contest->methods[method].name);
        for (uint32_t i = 0; i < count; i++) {
            if (!takes_part(&states[i], method, PEERS_ALL)) {
                printf(" %14s", "-");
                continue;
            }
            const double median = median_of(&states[i], method, PEERS_ALL);
            printf(" %8.2f %4.0f%%", 1e-6 * (double)states[i].tasks / median,
                   100 * median_of(&states[i], contest->bound, PEERS_ALL) / median);
        }
        printf("\n");
    }
}

/* ---- all of it ---- */

typedef struct request {
    uint32_t repeats, threads, count;
    bool csv;
    const char *loads[PEERS_LOADS_MAX];
} request;

static bool parse_number(const char *text, uint32_t most, uint32_t *number) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && value >= 1 && value <= most;
}

static bool parse(const peers_contest *contest, int argc, char **argv, request *r) {
    bool good = true;
    *r = (request){.repeats = 5};
    for (int i = 1; i < argc && good; i++) {
        if (strcmp(argv[i], "--csv") == 0)
            r->csv = true;
        else if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc)
            good = parse_number(argv[++i], BENCH_REPEATS_MAX, &r->repeats);
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            good = parse_number(argv[++i], 4096, &r->threads);
        else if (argv[i][0] != '-' && r->count < PEERS_LOADS_MAX)
            r->loads[r->count++] = argv[i];
        else
            good = false;
    }
    for (uint32_t i = 0; r->count == i && contest->loads[i]; i++)
        r->loads[r->count++] = contest->loads[i];
    return good;
}

static bl_device_info find_cpu(void) {
    bl_device_info cpu;
    if (!bl_device_find("cpu", &cpu))
        cpu.workers = 1;
    return cpu;
}

static int run_load(contest_state *s, const peers_contest *contest, const request *r, uint32_t number) {
    *s = (contest_state){.contest = contest, .load = r->loads[number], .cpu = find_cpu()};
    s->threads[PEERS_ONE] = 1;
    s->threads[PEERS_ALL] = contest->threads ? contest->threads(s->load) : 0;
    if (s->threads[PEERS_ALL] == 0)
        s->threads[PEERS_ALL] = r->threads ? r->threads : s->cpu.workers;
    s->work = contest->open(s->load, s->threads);
    s->tasks = s->work ? contest->tasks(s->work) : 0;
    int status = s->work ? measure_all(s, r->repeats) : 1;
    if (status == 0 && number == 0)
        print_head(s, r->csv);
    if (status == 0)
        print_rows(s, r->csv);
    if (s->work)
        contest->close(s->work);
    return status;
}

int peers_main(const peers_contest *contest, int argc, char **argv) {
    static contest_state states[PEERS_LOADS_MAX];
    request r;
    if (!parse(contest, argc, argv, &r)) {
        fprintf(stderr, "usage: %s [--repeats 1..%d] [--threads N] [--csv] [%s ...], up to %d of them\n",
                contest->program, BENCH_REPEATS_MAX, contest->load, PEERS_LOADS_MAX);
        return 2;
    }
    int status = 0;
    for (uint32_t i = 0; i < r.count && status == 0; i++)
        status = run_load(&states[i], contest, &r, i);
    if (status == 0 && !r.csv && contest->bound)
        print_table(states, r.count);
    if (status == 0 && !r.csv && contest->promises[0].what)
        printf("\n%-14s %-40s %7s %7s %7s\n", contest->load, "ratio of times", "median", "minimum", "cpu min");
    for (uint32_t i = 0; i < r.count && status == 0 && !r.csv; i++)
        print_promises(&states[i]);
    return status;
}

/* ---- threads ---- */

typedef struct crew_member {
    peers_crew *crew;
    pthread_t id;
    uint32_t rank;
} crew_member;

struct peers_crew {
    pthread_barrier_t begin, end;
    void (*work)(void *argument, uint32_t rank);
    void *argument;
    uint32_t threads;
    crew_member members[];
};

static void *crew_main(void *argument) {
    const crew_member *m = argument;
    pthread_barrier_wait(&m->crew->begin);
    m->crew->work(m->crew->argument, m->rank);
    pthread_barrier_wait(&m->crew->end);
    return NULL;
}

/* If a thread cannot be started, those already running wait for ever: the run has failed, and the program ends. */
peers_crew *peers_crew_start(uint32_t threads, void (*work)(void *, uint32_t), void *argument) {
    peers_crew *crew = calloc(1, sizeof *crew + threads * sizeof *crew->members);
    if (!crew)
        return NULL;
    crew->work = work;
    crew->argument = argument;
    crew->threads = threads;
    pthread_barrier_init(&crew->begin, NULL, threads + 1);
    pthread_barrier_init(&crew->end, NULL, threads + 1);
    for (uint32_t i = 0; i < threads; i++) {
        crew->members[i] = (crew_member){.crew = crew, .rank = i};
        if (pthread_create(&crew->members[i].id, NULL, crew_main, &crew->members[i]) != 0)
            return NULL;
    }
    return crew;
}

void peers_crew_run(peers_crew *crew) {
    pthread_barrier_wait(&crew->begin);
    pthread_barrier_wait(&crew->end);
}

void peers_crew_stop(peers_crew *crew) {
    if (!crew)
        return;
    for (uint32_t i = 0; i < crew->threads; i++)
        pthread_join(crew->members[i].id, NULL);
    pthread_barrier_destroy(&crew->begin);
    pthread_barrier_destroy(&crew->end);
    free(crew);
}

/* ---- our applications ---- */

static int open_team(peers_app *ours, int team, const char *const *values, uint32_t threads) {
    app_error error;
    if (ours->app->open(&ours->problem[team], values, 1, &error) != 0)
        return peers_complain(ours->app->name, error.text);
    bl_config config = {.device = "cpu", .workers = threads};
    int status = bl_open(&ours->context[team], &config);
    if (status == BL_OK)
        status = ours->app->load(ours->problem[team], ours->context[team]);
    return status == BL_OK ? 0 : peers_complain(ours->app->name, bl_status_text(status));
}

int peers_app_open(peers_app *ours, const char *name, const char *option, const char *value,
                   const uint32_t threads[PEERS_TEAMS]) {
    const char *values[16] = {NULL};
    int status = 0;
    *ours = (peers_app){.app = app_find(name)};
    if (!ours->app)
        return peers_complain(name, "no such application");
    for (uint32_t i = 0; ours->app->options[i].name; i++)
        values[i] = strcmp(ours->app->options[i].name, option) == 0 ? value : ours->app->options[i].initial;
    for (int team = 0; team < PEERS_TEAMS && status == 0; team++)
        status = open_team(ours, team, values, threads[team]);
    return status;
}

int peers_app_run(const peers_app *ours, peers_run *run) {
    bl_stats stats;
    int status = ours->app->run(ours->problem[run->team], ours->context[run->team], &stats);
    run->peak_bytes = stats.peak_bytes;
    return status;
}

/* The application keeps its result and verifies it. */
bool peers_app_right(const peers_app *ours, const peers_run *run) {
    app_error error;
    const char *how;
    return ours->app->check(ours->problem[run->team], NULL, false, &how, &error);
}

void peers_app_close(peers_app *ours) {
    for (int team = 0; team < PEERS_TEAMS; team++) {
        if (ours->context[team])
            ours->app->unload(ours->problem[team], ours->context[team]);
        bl_close(ours->context[team]);
        if (ours->problem[team])
            ours->app->close(ours->problem[team]);
    }
}
