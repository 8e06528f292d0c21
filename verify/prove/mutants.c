/* The mutation gate: each order of a queue weakened by one step, each bump forgotten; some client must then be wrong.
 *
 * First all clients are explored a little, to know which operations each of them meets. Then for each mutant the
 * clients that meet its operation, cheapest first, until one is wrong. A part that several queues include is right to
 * have an order that one of them needs: a mutant is killed if it is killed with any queue.
 *
 * Who survives needs a line in equivalent.txt,
 *     FILE FUNCTION LABEL OPERATION ORDER > ORDER: reason
 * where LABEL is that of the comment on the line (A1, if it has one) and #2 .. follows for further ones of that name:
 * it has no line number, so that it stays true when the file is edited elsewhere. Patterns with * are for many. */
#include "prove.h"
#include "workers.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SITES = 4096, MUTANTS = 2048, KEY = 160, LINE = 400, GLANCE = 60, QUICK = 200 };

typedef struct mutant {
    bl_mutant change;
    char key[KEY];
    const char *reason;
    bool general; /* the reason is for many, of which some may well be killed */
} mutant;

typedef struct verdict {
    bool done, killed;
    uint32_t client;
    uint64_t executions;
    char failure[128];
} verdict;

typedef struct reason {
    char key[KEY], text[LINE];
    bool used;
} reason;

typedef struct gate {
    const prove_options *o;
    prove_client *clients;
    uint32_t count;
    uint64_t (*meets)[SITES / 64]; /* per client: the sites */
    mutant *mutants;
    uint32_t mutant_count;
    reason *reasons;
    uint32_t reason_count;
    verdict *verdicts;
    double begin, told;
} gate;

/* ---- which client meets which operation ---- */

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static bool is_protocol(const bl_site *s) { return strstr(s->file, "/runtime/") != NULL; }
static bool is_ours(const bl_site *s) {
    return strstr(s->file, "/queues/") || strstr(s->file, "/parts/") || is_protocol(s);
}

static void glance(gate *g) {
    static uint64_t before[SITES];
    static bl_explore_result result;
    prove_limits limits = {.executions = GLANCE};
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint32_t site = 1; site <= bl_site_count(); site++)
            before[site] = bl_site_get(site).explored;
        prove_explore(&g->clients[i], &limits, &result);
        for (uint32_t site = 1; site <= bl_site_count() && site < SITES; site++)
            if (bl_site_get(site).explored != before[site])
                g->meets[i][site / 64] |= UINT64_C(1) << site % 64;
    }
}

/* ---- names that outlive an edit ---- */

static void function_of(const char *line, char *name) {
    const char *open = strchr(line, '('), *at = open;
    if (strncmp(line, "BL_FN", 5) != 0 && strncmp(line, "BL_HOST_FN", 10) != 0)
        return;
    while (at && at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
        at--;
    if (at)
        snprintf(name, 64, "%.*s", (int)(open - at), at);
}

/* A1, or H2,T2, of a comment that begins so. */
static void label_of(const char *line, char *label) {
    const char *at = strstr(line, "/* ");
    size_t n = 0;
    *label = 0;
    if (!at || !isupper((unsigned char)at[3]) || islower((unsigned char)at[4]))
        return;
    for (at += 3; n < 15 && (isupper((unsigned char)*at) || isdigit((unsigned char)*at) || (*at == ',' && at[1]));
         at++) {
        label[n++] = *at;
        at += *at == ',' && at[1] == ' ';
    }
    while (n && label[n - 1] == ',')
        n--;
    label[n] = 0;
}

static void key_of(bl_mutant change, char *key) {
    bl_site s = bl_site_get(change.site);
    char line[LINE], function[64] = "?", label[16] = "", text[128];
    FILE *f = fopen(s.file, "r");
    for (uint32_t i = 0; f && i < s.line && fgets(line, sizeof line, f); i++)
        function_of(line, function);
    if (f) {
        label_of(line, label);
        fclose(f);
    }
    bl_mutant_text(change, text, sizeof text);
    const char *what = strchr(text, ' ');
    snprintf(key, KEY - 4, "%s %s%s%s%s", base_name(s.file), function, *label ? " " : "", label, what ? what : "");
}

static void number_key(gate *g, uint32_t mutant) {
    uint32_t same = 1;
    size_t n = strlen(g->mutants[mutant].key);
    for (uint32_t i = 0; i < mutant; i++)
        same += !strncmp(g->mutants[i].key, g->mutants[mutant].key, n) &&
                (g->mutants[i].key[n] == 0 || g->mutants[i].key[n + 1] == '#');
    if (same > 1)
        snprintf(g->mutants[mutant].key + n, KEY - n, " #%u", same);
}

static int by_place(const void *a, const void *b) {
    const mutant *x = a, *y = b;
    bl_site s = bl_site_get(x->change.site), t = bl_site_get(y->change.site);
    int file = strcmp(s.file, t.file);
    return file ? file : s.line != t.line ? (s.line < t.line ? -1 : 1) : strcmp(x->key, y->key);
}

static void list_mutants(gate *g) {
    for (uint32_t site = 1; site <= bl_site_count(); site++) {
        bl_mutant changes[BL_MUTANTS];
        bl_site s = bl_site_get(site);
        uint32_t n = is_ours(&s) ? bl_site_mutants(site, changes) : 0;
        for (uint32_t i = 0; i < n && g->mutant_count < MUTANTS; i++) {
            mutant *m = &g->mutants[g->mutant_count++];
            m->change = changes[i];
            key_of(changes[i], m->key);
        }
    }
    qsort(g->mutants, g->mutant_count, sizeof *g->mutants, by_place);
    for (uint32_t i = 0; i < g->mutant_count; i++)
        number_key(g, i);
}

/* ---- reasons ---- */

static bool read_reasons(gate *g) {
    char line[LINE + KEY];
    FILE *f = fopen(g->o->reasons, "r");
    while (f && g->reason_count < MUTANTS && fgets(line, sizeof line, f)) {
        char *colon = strstr(line, ": ");
        if (line[0] == '#' || !colon)
            continue;
        reason *r = &g->reasons[g->reason_count++];
        line[strcspn(line, "\n")] = 0;
        snprintf(r->key, sizeof r->key, "%.*s", (int)(colon - line), line);
        snprintf(r->text, sizeof r->text, "%.*s", (int)sizeof r->text - 1, colon + 2);
    }
    if (f)
        fclose(f);
    for (uint32_t i = 0; i < g->mutant_count; i++)
        for (uint32_t k = 0; k < g->reason_count; k++)
            if (!g->mutants[i].reason && !fnmatch(g->reasons[k].key, g->mutants[i].key, 0)) {
                g->mutants[i].reason = g->reasons[k].text;
                g->mutants[i].general = strchr(g->reasons[k].key, '*') != NULL;
                g->reasons[k].used = true;
            }
    return f != NULL;
}

/* ---- the run ---- */

static void print_mutant(const gate *g, uint32_t i, const char *what) {
    const verdict *v = &g->verdicts[i];
    char client[PROVE_TEXT];
    prove_client_text(&g->clients[v->client], client);
    if (v->killed)
        printf("%-10s %s\n           by %s: %s\n", what, g->mutants[i].key, client, v->failure);
    else
        printf("%-10s %s\n           after %llu executions%s%s\n", what, g->mutants[i].key,
               (unsigned long long)v->executions, g->mutants[i].reason ? ": " : "",
               g->mutants[i].reason ? g->mutants[i].reason : "");
}

/* Whether it is wrong in a way that is not known of the queue itself. */
static bool kills(const gate *g, uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    return !prove_explore(&g->clients[client], limits, result) &&
           !prove_is_known(g->clients[client].queue, result->failure);
}

static void work(void *arg, uint32_t job) {
    gate *g = arg;
    verdict *v = &g->verdicts[job];
    prove_limits limits = {.executions = g->o->budget, .mutant = g->mutants[job].change};
    uint32_t site = limits.mutant.site, queue = UINT32_MAX;
    uint64_t spent = 0;
    static bl_explore_result result;
    static bool guarded;
    if (!guarded)
        prove_guard();
    guarded = true;
    bl_site at = bl_site_get(site);
    uint64_t allowance = at.op == BL__SIM_BUMP ? 8 * g->o->allowance : g->o->allowance; /* few, and hard to find */
    if (is_protocol(&at))
        v->killed = prove_protocols_kill(limits.mutant, g->o->allowance / 10, &result);
    /* First a little of every client: many mistakes show in the first executions of the right one. */
    prove_limits quick = limits;
    quick.executions = QUICK;
    for (uint32_t i = 0; i < g->count && !v->killed; i++)
        if (g->meets[i][site / 64] >> site % 64 & 1) {
            v->client = i;
            v->killed = kills(g, i, &quick, &result);
            v->executions += result.executions;
        }
    for (uint32_t i = 0; i < g->count && !v->killed; i++) {
        if (!(g->meets[i][site / 64] >> site % 64 & 1))
            continue;
        spent = g->clients[i].queue == queue ? spent : 0;
        queue = g->clients[i].queue;
        if (spent >= allowance)
            continue;
        v->client = i;
        v->killed = kills(g, i, &limits, &result);
        if (!v->killed && !result.complete) {
            prove_limits bounded = limits;
            bounded.preemptions = g->o->bound;
            v->executions += result.executions;
            spent += result.executions;
            v->killed = kills(g, i, &bounded, &result);
        }
        v->executions += result.executions;
        spent += result.executions + result.pruned / 4 + 20;
    }
    if (v->killed)
        snprintf(v->failure, sizeof v->failure, "%.*s", (int)sizeof v->failure - 1, result.failure);
    v->done = true;
    if (!v->killed && !g->mutants[job].reason)
        print_mutant(g, job, "SURVIVED");
}

static void crashed(void *arg, uint32_t job) {
    gate *g = arg;
    g->verdicts[job].killed = g->verdicts[job].done = true;
    snprintf(g->verdicts[job].failure, sizeof g->verdicts[job].failure, "crashes");
}

static void progress(void *arg, uint32_t done) {
    gate *g = arg;
    double now = workers_seconds();
    if (now - g->told < (isatty(2) ? 5 : 60))
        return;
    g->told = now;
    fprintf(stderr, "  %u of %u mutants, %.0f s\n", done, g->mutant_count, now - g->begin);
}

/* ---- the score ---- */

typedef struct score {
    uint32_t mutants, killed, equivalent, survived;
} score;

static void count_mutant(const gate *g, uint32_t i, score *s) {
    bool killed = g->verdicts[i].killed, excused = g->mutants[i].reason != NULL;
    s->mutants++;
    s->killed += killed;
    s->equivalent += !killed && excused;
    s->survived += !killed && !excused;
    if (killed && excused && !g->mutants[i].general)
        print_mutant(g, i, "KILLED, though it has a reason:");
    else if (g->o->verbose && (killed || excused))
        print_mutant(g, i, killed ? "killed" : "equivalent");
}

static void print_score(const char *name, const score *s) {
    printf("%-18s %8u %8u %11u %9u\n", name, s->mutants, s->killed, s->equivalent, s->survived);
}

static score print_files(const gate *g) {
    score all = {0}, files[64] = {{0}};
    const char *names[64];
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->mutant_count; i++) {
        const char *file = base_name(bl_site_get(g->mutants[i].change.site).file);
        bool parts = strstr(bl_site_get(g->mutants[i].change.site).file, "/parts/") != NULL;
        static char text[64][64];
        char name[64];
        snprintf(name, sizeof name, "%s%s", parts ? "parts/" : "", file);
        if ((!count || strcmp(names[count - 1], name) != 0) && count < 64) {
            names[count] = strcpy(text[count], name);
            count++;
        }
        count_mutant(g, i, &files[count - 1]);
    }
    printf("%-18s %8s %8s %11s %9s\n", "file", "mutants", "killed", "equivalent", "survived");
    for (uint32_t i = 0; i < count; i++) {
        print_score(names[i], &files[i]);
        all.mutants += files[i].mutants;
        all.killed += files[i].killed;
        all.equivalent += files[i].equivalent;
        all.survived += files[i].survived;
    }
    print_score("all", &all);
    return all;
}

int prove_mutants(const prove_options *o) {
    static bl_explore_result result;
    gate g = {.o = o, .begin = workers_seconds()};
    g.clients = prove_all_clients(o, &g.count);
    g.meets = calloc(g.count, sizeof *g.meets);
    g.mutants = calloc(MUTANTS, sizeof *g.mutants);
    g.reasons = calloc(MUTANTS, sizeof *g.reasons);
    if (!g.meets || !g.mutants || !g.reasons)
        return 2;
    glance(&g);
    if (o->all)
        prove_protocols_kill((bl_mutant){0}, GLANCE, &result);
    list_mutants(&g);
    if (!read_reasons(&g))
        fprintf(stderr, "ballast_prove: no reasons: %s\n", o->reasons);
    g.verdicts = workers_share(g.mutant_count * sizeof *g.verdicts);
    workers_plan plan = {g.mutant_count, o->workers, work, crashed, progress, &g};
    if (!g.verdicts || !workers_run(&plan))
        return 2;
    score all = print_files(&g);
    for (uint32_t i = 0; i < g.reason_count && o->all && o->every == 1; i++)
        if (!g.reasons[i].used)
            printf("no such mutant: %s\n", g.reasons[i].key);
    printf("%u of %u killed, %u equivalent with a reason, %u survived; %.0f s\n", all.killed, all.mutants,
           all.equivalent, all.survived, workers_seconds() - g.begin);
    free(g.clients);
    free(g.meets);
    free(g.mutants);
    free(g.reasons);
    return all.survived != 0;
}
