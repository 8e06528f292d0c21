/* The protocols and parts as one list, and what is printed about them. */
#include "prove.h"
#include "workers.h"

#include "platform/clock.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LARGER = 40 }; /* their budget relative to that of an ordinary client of a queue */

static const prove_family *const families[] = {&prove_termination, &prove_joins,      &prove_gate,     &prove_lookout,
                                               &prove_outside,     &prove_answers,    &prove_parcels,  &prove_ranges,
                                               &prove_pool,        &prove_schedulers, &prove_pagerank, &prove_meetings,
                                               &prove_boards,      &prove_warps,      &prove_endings};
enum { FAMILIES = sizeof families / sizeof families[0] };

uint32_t prove_protocol_count(void) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < FAMILIES; i++)
        sum += families[i]->count();
    return sum;
}

/* The family of a client; the client's number becomes that within the family. */
static const prove_family *family_of(uint32_t *client) {
    uint32_t i = 0;
    for (; *client >= families[i]->count(); i++)
        *client -= families[i]->count();
    return families[i];
}

void prove_protocol_text(uint32_t client, char text[PROVE_TEXT]) {
    const prove_family *f = family_of(&client);
    f->text(client, text);
}

bool prove_protocol_find(const char *text, uint32_t *client) {
    char own[PROVE_TEXT];
    for (uint32_t i = 0, n = prove_protocol_count(); i < n; i++) {
        prove_protocol_text(i, own);
        if (!strcmp(own, text)) {
            *client = i;
            return true;
        }
    }
    return false;
}

bool prove_protocol_explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    const prove_family *f = family_of(&client);
    return f->explore(client, limits, result);
}

/* ---- all of them, unchanged ---- */

typedef struct outcome {
    uint64_t executions;
    double seconds;
    bool explored, complete, within, wrong;
} outcome;

typedef struct plan {
    const prove_options *o;
    outcome *outcomes;
    double begin, told;
} plan;

static bool explore(const plan *p, uint32_t client, uint32_t preemptions, outcome *out) {
    static bl_explore_result result;
    prove_limits limits = {.executions = LARGER * p->o->budget, .preemptions = preemptions};
    char text[PROVE_TEXT];
    bool right = prove_protocol_explore(client, &limits, &result);
    out->executions += result.executions;
    out->wrong = !right;
    if (!right) {
        prove_protocol_text(client, text);
        printf("WRONG: %s\n  again: ballast_prove --client \"%s\" --schedule \"%s\"\n", result.failure, text,
               result.schedule);
    }
    return right && result.complete;
}

static bool is_wanted(const prove_options *o, uint32_t client) {
    char text[PROVE_TEXT];
    prove_protocol_text(client, text);
    return !o->only || !fnmatch(o->only, text, 0);
}

static void print_client(uint32_t client, const outcome *out) {
    char text[PROVE_TEXT];
    prove_protocol_text(client, text);
    printf("%12llu %-8s %8.1f  %s\n", (unsigned long long)out->executions,
           out->complete ? "complete"
           : out->within ? "bounded"
                         : "cut",
           out->seconds, text);
}

static void work(void *arg, uint32_t job) {
    plan *p = arg;
    outcome *out = &p->outcomes[job];
    double begin = bl__now();
    if (job % p->o->every || !is_wanted(p->o, job))
        return;
    out->explored = true;
    out->complete = out->within = explore(p, job, 0, out);
    if (!out->wrong && !out->complete)
        out->within = explore(p, job, p->o->bound, out);
    out->seconds = bl__now() - begin;
    if (p->o->verbose)
        print_client(job, out);
}

static void crashed(void *arg, uint32_t job) {
    plan *p = arg;
    char text[PROVE_TEXT];
    prove_protocol_text(job, text);
    printf("WRONG: crashed: %s\n", text);
    p->outcomes[job].wrong = true;
}

static void progress(void *arg, uint32_t done) {
    plan *p = arg;
    double now = bl__now();
    if (now - p->told < (isatty(2) ? 5 : 60))
        return;
    p->told = now;
    fprintf(stderr, "  %u of %u protocols, %.0f s\n", done, prove_protocol_count(), now - p->begin);
}

static bool print_family(const plan *p, uint32_t family, uint32_t first) {
    uint32_t count = families[family]->count(), explored = 0, complete = 0, within = 0, wrong = 0;
    uint64_t executions = 0, most = 0;
    double seconds = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const outcome *out = &p->outcomes[i];
        explored += out->explored;
        complete += out->complete;
        within += out->within;
        wrong += out->wrong;
        executions += out->executions;
        most = out->complete && out->executions > most ? out->executions : most;
        seconds += out->seconds;
    }
    printf("%-14s %7u %12llu %9u %9u %6u %10llu %8.1f  %s\n", families[family]->name, explored,
           (unsigned long long)executions, complete, within - complete, explored - within, (unsigned long long)most,
           seconds, wrong ? "WRONG" : "ok");
    return wrong == 0;
}

int prove_protocols(const prove_options *o) {
    uint32_t count = prove_protocol_count(), first = 0;
    plan p = {o, workers_share(count * sizeof *p.outcomes), bl__now(), bl__now()};
    workers_plan jobs = {count, o->workers, work, crashed, progress, &p};
    int wrong = 0;
    if (!p.outcomes || !workers_run(&jobs))
        return 2;
    printf("%-14s %7s %12s %9s %9s %6s %10s %8s\n", "protocol", "clients", "executions", "complete", "bounded", "cut",
           "largest", "seconds");
    for (uint32_t i = 0; i < FAMILIES; first += families[i++]->count())
        wrong |= !print_family(&p, i, first);
    printf("largest: executions of the largest complete one; others are cut at %llu.\n",
           (unsigned long long)(LARGER * o->budget));
    return wrong;
}
