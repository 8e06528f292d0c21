/* Throughput of every queue on the CPU, in million operations a second.
 *
 *     queues_bench [--repeats N] [--seconds S] [--csv] [QUEUE ...]
 *
 * Queues that anyone may use: each thread does push, pop, ten such pairs an iteration. Deques: the first thread pushes
 * ten and pops what the others have not stolen of them. Values have 32 bits. Both ends count, successful operations only,
 * and what went in must have come out. Every thread looks at the clock itself now and then, so that none has to be told to
 * stop, and stays on one core, or two threads might take turns on the same one and never meet. `none` is the floor, the
 * loop around no queue; `faa` the ceiling of anything with one shared counter per end. The queues are found by the build,
 * as everywhere. */
#include "common.h"

#include <ballast/generated/queues.h>

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

enum { CAPACITY = 1024, PAIRS = 10, ROUNDS = 64, THREADS_MAX = 8 };
static const uint32_t thread_counts[] = {1, 2, THREADS_MAX};
enum { COLUMNS = sizeof thread_counts / sizeof thread_counts[0] };

/* What went in and came out of one thread's hands; the sums of all threads must agree. */
typedef struct score {
    uint64_t pushes, pops;
    uint64_t in, out;
} score;

typedef struct job {
    void *memory;
    double until;
} job;

typedef struct contender {
    const char *name;
    int kind;
    size_t (*bytes)(void);
    void (*init)(const job *j);
    void (*run)(const job *j, uint32_t thread, score *s);
    void (*drain)(const job *j, score *s);
} contender;

/* A sum of squares: it sees a value lost and another one doubled. */
static inline void score_in(score *s, uint32_t value) {
    s->pushes++;
    s->in += (uint64_t)value * value;
}
static inline void score_out(score *s, uint32_t value) {
    s->pops++;
    s->out += (uint64_t)value * value;
}

/* Neither zero nor all ones, which queues of handles may reserve. */
static inline uint32_t first_value(uint32_t thread) { return thread << 24 | 1u; }
static inline uint32_t next_value(uint32_t value) { return (value & 0xff000000u) | ((value + PAIRS) & 0xfffff) | 1u; }

/* ---- the floor: a queue of one item that nobody shares ---- */

#define none_KIND BL_KIND_CEILING
typedef struct none {
    volatile uint32_t value; /* so that the loop is not optimised away */
} none;
static size_t none_bytes(bl_shape shape) { return 4u * (size_t)shape.words; }
static void none_bind(none *q, void *memory, bl_shape shape, uint32_t thread) {
    (void)q, (void)memory, (void)shape, (void)thread;
}
static void none_init(none *q, uint32_t start, uint32_t rank, uint32_t size) {
    (void)q, (void)start, (void)rank, (void)size;
}
static inline bl_outcome none_push(none *q, const uint32_t *item) { return q->value = *item, BL_DONE; }
static inline bl_outcome none_pop(none *q, uint32_t *item) { return *item = q->value, BL_DONE; }
static inline bl_outcome none_steal(none *q, uint32_t *item) { return none_pop(q, item); }

#define BENCH_STRING(x) #x
#define BENCH_TEXT(x) BENCH_STRING(x)
#define BL_QUEUE none
#include "queue_loop.h"
#undef BL_QUEUE
#include "bench/each_queue.h"

static const contender *const contenders[] = {&loop_none_contender,
#define X(name) &loop_##name##_contender,
                                              BL_QUEUES(X)
#undef X
};
enum { CONTENDERS = sizeof contenders / sizeof contenders[0] };

/* ---- one measurement ---- */

typedef struct crew {
    const contender *queue;
    job job;
    pthread_barrier_t start;
} crew;

typedef struct hand {
    crew *crew;
    uint32_t number;
    double begun, ended;
    score score;
} hand;

/* To the cores that this process may use, in turn. Where that is refused threads run wherever the system puts them. */
static void bind_to_core(uint32_t number) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0)
        return;
    uint32_t left = number % (uint32_t)CPU_COUNT(&allowed);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && left-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            pthread_setaffinity_np(pthread_self(), sizeof one, &one);
            return;
        }
}

static void *hand_main(void *argument) {
    hand *h = argument;
    score own = {0, 0, 0, 0}; /* not in the array: threads would share lines */
    bind_to_core(h->number);
    pthread_barrier_wait(&h->crew->start);
    h->begun = bench_now();
    h->crew->queue->run(&h->crew->job, h->number, &own);
    h->ended = bench_now();
    h->score = own;
    return NULL;
}

static bool came_out(const score *total, const contender *queue) {
    return queue->kind == BL_KIND_CEILING || (total->pushes == total->pops && total->in == total->out);
}

static void add_score(score *total, const score *one) {
    total->pushes += one->pushes;
    total->pops += one->pops;
    total->in += one->in;
    total->out += one->out;
}

/* Starts the threads, waits for them, adds up what they did; the seconds from the first start to the last end. */
static double work_together(crew *c, uint32_t threads, double seconds, score *total) {
    hand hands[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    for (uint32_t i = 0; i < threads; i++) {
        hands[i] = (hand){.crew = c, .number = i};
        if (pthread_create(&ids[i], NULL, hand_main, &hands[i]) != 0)
            abort(); /* those that are there wait at the barrier for ever */
    }
    c->job.until = bench_now() + seconds;
    pthread_barrier_wait(&c->start);
    double begun = 0, ended = 0;
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        add_score(total, &hands[i].score);
        begun = i > 0 && begun < hands[i].begun ? begun : hands[i].begun;
        ended = ended > hands[i].ended ? ended : hands[i].ended;
    }
    return ended - begun;
}

/* Mop/s, or a negative number when something was lost or doubled, or there is no memory. */
static double measure(const contender *queue, uint32_t threads, double seconds) {
    size_t bytes = (queue->bytes() + BL_LINE - 1) / BL_LINE * BL_LINE;
    crew c = {.queue = queue, .job = {.memory = aligned_alloc(BL_LINE, bytes)}};
    score total = {0, 0, 0, 0};
    if (!c.job.memory)
        return -1;
    memset(c.job.memory, 0, bytes);
    queue->init(&c.job);
    pthread_barrier_init(&c.start, NULL, threads + 1);
    double span = work_together(&c, threads, seconds, &total);
    double rate = 1e-6 * (double)(total.pushes + total.pops) / span;
    queue->drain(&c.job, &total);
    pthread_barrier_destroy(&c.start);
    free(c.job.memory);
    return came_out(&total, queue) ? rate : -1;
}

/* ---- all of it ---- */

typedef struct request {
    uint32_t repeats;
    double seconds;
    bool csv;
    bool chosen[CONTENDERS];
} request;

static bool choose(request *r, const char *name) {
    for (int i = 0; i < CONTENDERS; i++)
        if (strcmp(contenders[i]->name, name) == 0)
            return r->chosen[i] = true;
    return false;
}

static bool parse(int argc, char **argv, request *r) {
    bool some = false, good = true;
    *r = (request){.repeats = 5, .seconds = 0.05};
    for (int i = 1; i < argc && good; i++) {
        if (strcmp(argv[i], "--csv") == 0)
            r->csv = true;
        else if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc)
            r->repeats = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            r->seconds = strtod(argv[++i], NULL);
        else
            some = good = choose(r, argv[i]);
    }
    for (int i = 0; i < CONTENDERS && !some; i++)
        r->chosen[i] = true;
    return good && r->repeats >= 1 && r->repeats <= BENCH_REPEATS_MAX && r->seconds > 0 && r->seconds <= 60;
}

static void print_head(const request *r) {
    if (r->csv) {
        puts("queue,threads,repeat,mops");
        return;
    }
    printf("Mop/s: pushes plus pops of 32-bit values; median (min..max) of %" PRIu32 " runs\n%-12s", r->repeats,
           "queue");
    for (int i = 0; i < COLUMNS; i++)
        printf(" %7" PRIu32 "%-19s", thread_counts[i], thread_counts[i] == 1 ? " thread" : " threads");
    puts("");
}

static void print_cell(const request *r, const contender *queue, uint32_t threads, const bench_times *rates) {
    bench_spread s = bench_sum_up(rates);
    char spread[32];
    snprintf(spread, sizeof spread, "(%.1f..%.1f)", s.least, s.most);
    for (uint32_t i = 0; r->csv && i < rates->count; i++)
        printf("%s,%" PRIu32 ",%" PRIu32 ",%.3f\n", queue->name, threads, i + 1, rates->all[i]);
    if (!r->csv)
        printf(" %7.1f %-18s", s.median, spread);
    fflush(stdout);
}

static int measure_row(const request *r, const contender *queue) {
    if (!r->csv)
        printf("%-12s", queue->name);
    for (int column = 0; column < COLUMNS; column++) {
        bench_times rates = {.count = 0};
        for (uint32_t i = 0; i < r->repeats; i++) {
            double rate = measure(queue, thread_counts[column], r->seconds);
            if (rate < 0) {
                fflush(stdout);
                fprintf(stderr, "\nqueues_bench: %s, %" PRIu32 " threads: what came out is not what went in\n",
                        queue->name, thread_counts[column]);
                return 1;
            }
            bench_add(&rates, rate);
        }
        print_cell(r, queue, thread_counts[column], &rates);
    }
    if (!r->csv)
        puts(queue->kind == BL_KIND_CEILING ? " not a queue"
             : queue->kind == BL_KIND_DEQUE ? " deque, checked"
                                            : " checked");
    return 0;
}

int main(int argc, char **argv) {
    request r;
    if (!parse(argc, argv, &r)) {
        fprintf(stderr,
                "usage: queues_bench [--repeats 1..%d] [--seconds S] [--csv] [QUEUE ...]; queues:", BENCH_REPEATS_MAX);
        for (int i = 0; i < CONTENDERS; i++)
            fprintf(stderr, " %s", contenders[i]->name);
        fputs("\n", stderr);
        return 2;
    }
    print_head(&r);
    int status = 0;
    for (int i = 0; i < CONTENDERS; i++)
        if (r.chosen[i])
            status |= measure_row(&r, contenders[i]);
    return status;
}
