/* ballast_prove [OPTIONS] [QUEUE...]
 *
 * Explores all clients of the named queues, or of all queues. A client is first explored without any bound; if its
 * budget of executions does not suffice, then again with few preemptions; and once more with sequentially consistent
 * memory and calls ordered by one clock. A failure is printed with a command that repeats it:
 *
 *     ballast_prove --client "QUEUE CAPACITY START FILLED SCRIPT|SCRIPT" [--schedule SCHEDULE] [--sequential] */
#include "prove.h"
#include "workers.h"

#include "platform/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct outcome {
    uint64_t executions, left_out;
    double seconds;
    bool done, wrong, known, complete, within, stamped; /* within the bound; with stamps */
} outcome;

typedef struct proof {
    const prove_options *o;
    prove_client *clients;
    uint32_t count, printed; /* clients; queues whose row has been printed */
    outcome *outcomes;
    double begin, told;
} proof;

static bool explore(proof *p, uint32_t job, uint32_t preemptions, bool sequential, bool *complete) {
    uint64_t budget = p->o->budget * (p->clients[job].deep ? PROVE_DEEPER : 1);
    prove_limits limits = {.executions = budget, .preemptions = preemptions, .sequential = sequential};
    static bl_explore_result result;
    char text[PROVE_TEXT];
    bool right = prove_explore(&p->clients[job], &limits, &result);
    p->outcomes[job].executions += result.executions;
    p->outcomes[job].left_out += result.left_out;
    *complete = right && result.complete;
    if (!right && prove_is_known(p->clients[job].queue, result.failure)) {
        p->outcomes[job].known = true;
        return true;
    }
    if (!right) {
        prove_client_text(&p->clients[job], text);
        printf("WRONG: %s%s\n  again: ballast_prove --client \"%s\" --schedule \"%s\"%s\n", result.failure,
               sequential ? " (sequentially consistent)" : "", text, result.schedule,
               sequential ? " --sequential" : "");
    }
    return right;
}

static void work(void *arg, uint32_t job) {
    proof *p = arg;
    outcome *out = &p->outcomes[job];
    double begin = bl__now();
    static bool guarded;
    if (!guarded)
        prove_guard();
    guarded = true;
    out->wrong = !explore(p, job, 0, false, &out->complete);
    out->within = out->complete;
    if (!out->wrong && !out->complete)
        out->wrong = !explore(p, job, p->o->bound, false, &out->within);
    if (!out->wrong)
        out->wrong = !explore(p, job, 0, true, &out->stamped);
    out->seconds = bl__now() - begin;
    out->done = true;
}

static void crashed(void *arg, uint32_t job) {
    proof *p = arg;
    char text[PROVE_TEXT];
    prove_client_text(&p->clients[job], text);
    printf("WRONG: crashed: %s\n", text);
    p->outcomes[job].wrong = p->outcomes[job].done = true;
}

typedef struct row {
    uint32_t clients, done, complete, within, stamped, wrong, known;
    uint64_t executions, left_out;
    double seconds;
} row;

static row sum_up(const proof *p, uint32_t queue) {
    row r = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        const outcome *o = &p->outcomes[i];
        if (queue != UINT32_MAX && p->clients[i].queue != queue)
            continue;
        r.clients++;
        r.done += o->done;
        r.complete += o->complete;
        r.within += o->within;
        r.stamped += o->stamped;
        r.wrong += o->wrong;
        r.known += o->known;
        r.executions += o->executions;
        r.left_out += o->left_out;
        r.seconds += o->seconds;
    }
    return r;
}

static void print_row(const char *name, const row *r) {
    printf("%-14s %7u %12llu %9u %9u %6u %10u %5u %8.1f  %s\n", name, r->clients, (unsigned long long)r->executions,
           r->complete, r->within - r->complete, r->clients - r->within, r->stamped, r->known, r->seconds,
           r->wrong ? "WRONG" : "ok");
}

/* Prints rows in the order of the queues, as soon as all clients of one are done. */
static void progress(void *arg, uint32_t done) {
    proof *p = arg;
    double now = bl__now();
    for (; p->printed < prove_queue_count; p->printed++) {
        row r = sum_up(p, p->printed);
        if (r.done < r.clients)
            break;
        if (r.clients)
            print_row(prove_queues[p->printed].name, &r);
    }
    fflush(stdout);
    if (now - p->told < (isatty(2) ? 5 : 60))
        return;
    p->told = now;
    fprintf(stderr, "  %u of %u clients, %.0f s\n", done, p->count, now - p->begin);
}

static int prove_clean(const prove_options *o) {
    proof p = {.o = o, .begin = bl__now()};
    p.clients = prove_all_clients(o, &p.count);
    p.outcomes = workers_share(p.count * sizeof *p.outcomes);
    if (!p.outcomes)
        return 2;
    printf("%-14s %7s %12s %9s %9s %6s %10s %5s %8s\n", "queue", "clients", "executions", "complete", "bounded", "cut",
           "sequential", "known", "seconds");
    workers_plan plan = {p.count, o->workers, work, crashed, progress, &p};
    if (!workers_run(&plan))
        return 2;
    progress(&p, p.count);
    row all = sum_up(&p, UINT32_MAX);
    print_row("all", &all);
    printf(
        "complete: every execution. bounded: every one with at most %u preemptions, others up to the budget of %llu. "
        "sequential: complete also with one clock for all calls.\n"
        "%llu old stores were left out because a site had read them before. %.0f s by the clock.\n",
        o->bound, (unsigned long long)o->budget, (unsigned long long)all.left_out, bl__now() - p.begin);
    free(p.clients);
    return all.wrong != 0;
}

/* One client, within the budget, or one execution of it. */
static int explore_one(const prove_options *o, const char *text, const char *schedule, bool sequential) {
    prove_client c;
    uint32_t protocol = 0;
    bl_explore_result *result = calloc(1, sizeof *result);
    prove_limits limits = {
        .executions = o->budget, .preemptions = o->bound, .replay = schedule, .sequential = sequential};
    bool is_queue = prove_client_parse(text, &c);
    if (!result || !(is_queue || prove_protocol_find(text, &protocol))) {
        fprintf(stderr, "ballast_prove: no such client: %s\n", text);
        return 2;
    }
    prove_guard();
    bool right = is_queue ? prove_explore(&c, &limits, result) : prove_protocol_explore(protocol, &limits, result);
    printf("%s; %llu executions, %s\n%s\n", right ? "nothing wrong" : result->failure,
           (unsigned long long)result->executions, result->complete ? "complete" : "cut", result->schedule);
    free(result);
    return !right;
}

static int usage(void) {
    fprintf(stderr, "usage: ballast_prove [--budget N] [--bound N] [--jobs N] [--every N] [QUEUE... | protocols "
                    "[--only PATTERN]]\n"
                    "       ballast_prove --mutants [--only PATTERN] [--allowance N] [--verbose] [the above]\n"
                    "       ballast_prove --client \"QUEUE CAPACITY START FILLED SCRIPT|SCRIPT\" [--schedule SCHEDULE] "
                    "[--sequential]\n");
    return 2;
}

static bool name_queue(prove_options *o, const char *name) {
    if (!strcmp(name, "protocols"))
        return o->protocols = true;
    for (uint32_t i = 0; i < prove_queue_count; i++)
        if (!strcmp(name, prove_queues[i].name)) {
            o->queues |= UINT64_C(1) << i;
            return true;
        }
    fprintf(stderr, "ballast_prove: no queue %s\n", name);
    return false;
}

static bool read_number(prove_options *o, const char *name, const char *text) {
    uint64_t number = text ? strtoull(text, NULL, 10) : 0;
    if (!strcmp(name, "--budget"))
        o->budget = number;
    else if (!strcmp(name, "--allowance"))
        o->allowance = number;
    else if (!strcmp(name, "--bound"))
        o->bound = (uint32_t)number;
    else if (!strcmp(name, "--jobs"))
        o->workers = (uint32_t)number;
    else if (!strcmp(name, "--every"))
        o->every = (uint32_t)number;
    else
        return false;
    return number != 0;
}

int main(int argc, char **argv) {
    prove_options o = {.workers = 2, .every = 1, .allowance = 300000, .reasons = PROVE_REASONS};
    const char *client = NULL, *schedule = NULL;
    bool mutants = false, sequential = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--mutants"))
            mutants = true;
        else if (!strcmp(argv[i], "--verbose"))
            o.verbose = true;
        else if (!strcmp(argv[i], "--sequential"))
            sequential = true;
        else if (!strcmp(argv[i], "--client") && i + 1 < argc)
            client = argv[++i];
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            o.only = argv[++i];
        else if (!strcmp(argv[i], "--schedule") && i + 1 < argc)
            schedule = argv[++i];
        else if (argv[i][0] == '-' && !read_number(&o, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
            return usage();
        else if (argv[i][0] == '-')
            i++;
        else if (!name_queue(&o, argv[i]))
            return 2;
    }
    if (!prove_read_known(PROVE_KNOWN))
        fprintf(stderr, "ballast_prove: cannot read %s\n", PROVE_KNOWN);
    o.all = !o.queues && !o.protocols;
    o.queues = o.all ? UINT64_MAX : o.queues;
    o.protocols |= o.all;
    o.budget = o.budget ? o.budget : client ? 1000000 : mutants ? 3000 : 1500;
    o.bound = o.bound || client ? o.bound : 2;
    if (client)
        return explore_one(&o, client, schedule, sequential);
    if (mutants)
        return prove_mutants(&o);
    int wrong = o.queues ? prove_clean(&o) : 0;
    return (o.protocols ? prove_protocols(&o) : 0) | wrong;
}
