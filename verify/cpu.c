/* Target: threads of the CPU. */
#include "here.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE = 15, LIMIT = 60 }; /* seconds */

static const verify_layout layouts[] = {
    {"2 threads", 2, 0, 0}, {"4 threads", 4, 0, 0}, {"8 threads", 8, 0, 0}, {"16 threads", 16, 0, 0}, {NULL, 0, 0, 0}};

static const char *trouble;

static const char *cpu_trouble(void) { return trouble; }

/* ---- threads, and a bounded wait for them ---- */

typedef struct job job;
typedef struct worker {
    job *job;
    pthread_t id;
    uint32_t rank;
} worker;
struct job {
    verify_code code;
    void *there;
    contract_case what;
    bool set_up;
    uint32_t count;         /* number of histories; 0: a case of the contract */
    uint32_t threads, done; /* done: threads that have returned */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    worker workers[];
};

static void work(const job *j, uint32_t rank) {
    if (!j->count)
        ((contract_function)j->code)(j->there, j->what, rank);
    for (uint32_t cell = 0; cell < j->count; cell++)
        ((history_function)j->code)(j->there, j->set_up, cell, rank);
}

static void *worker_main(void *argument) {
    const worker *w = argument;
    job *j = w->job;
    work(j, w->rank);
    pthread_mutex_lock(&j->lock);
    if (++j->done == j->threads)
        pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

static bool wait_for(job *j) {
    struct timespec limit;
    int status = 0;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += LIMIT;
    pthread_mutex_lock(&j->lock);
    while (j->done < j->threads && status == 0)
        status = pthread_cond_timedwait(&j->ended, &j->lock, &limit);
    bool ended = j->done == j->threads;
    pthread_mutex_unlock(&j->lock);
    return ended;
}

/* A thread that does not return cannot be stopped: the job, and everything it uses, is abandoned to it. */
static bool run_job(job what, uint32_t threads) {
    job *j = malloc(sizeof *j + threads * sizeof *j->workers);
    if (!j) {
        trouble = "out of memory";
        return false;
    }
    *j = what;
    j->threads = threads;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->ended, NULL);
    for (uint32_t i = 0; i < threads; i++) {
        j->workers[i] = (worker){.job = j, .rank = i};
        if (pthread_create(&j->workers[i].id, NULL, worker_main, &j->workers[i])) {
            trouble = "a thread cannot be started";
            return false;
        }
    }
    if (!wait_for(j)) {
        trouble = "an operation never ends";
        return false;
    }
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(j->workers[i].id, NULL);
    pthread_cond_destroy(&j->ended);
    pthread_mutex_destroy(&j->lock);
    free(j);
    return true;
}

static bool cpu_run(verify_code code, contract_client *there, contract_case what, const contract_client *c,
                    const verify_layout *layout) {
    (void)layout;
    return run_job((job){.code = code, .there = there, .what = what}, verify_threads(c, what));
}

/* The threads go from history to history; each history has its own meeting point. */
static bool cpu_record(verify_code code, history_batch *there, bool set_up, const history_batch *b,
                       verify_spread spread) {
    (void)spread;
    return run_job((job){.code = code, .there = there, .set_up = set_up, .count = b->count}, set_up ? 1 : b->threads);
}

const verify_target verify_cpu = {
    .name = "cpu",
    .time = "ns",
    .queue = queues,
    .layout = layouts,
    .pool = (verify_code)pool_thread,
    .patience = PATIENCE * UINT64_C(1000000000),
    .steps = 1000,
    .items = 20000,
    .cells = 512,
    .spreads = 1,
    .clocks = 2,
    .meets = 1,
    .alloc = here_alloc,
    .release = free,
    .fill = here_fill,
    .copy = here_copy,
    .run = cpu_run,
    .record = cpu_record,
    .trouble = cpu_trouble,
};
