/* The mutation gate: each memory order of a queue weakened by one step, each bump omitted; some client must then fail.
 *
 * First all clients are explored briefly, to find out which operations each of them reaches. Then, for each mutant, the
 * clients that reach its operation run, cheapest first, until one fails that passes without the mutant. A part that
 * several queues include rightly has an order that one of them needs, so a mutant is killed if any queue kills it.
 * Clients of protocols are numbered after those of queues.
 *
 * A mutant that survives needs a line in equivalent.txt,
 *     FILE FUNCTION LABEL OPERATION ORDER > ORDER: reason
 * where LABEL is that of the comment on the line (A1, if it has one), followed by #2 .. for further ones of that name.
 * There is no line number, so that it stays valid when the file is edited elsewhere. Patterns with * cover many. An
 * operation that no client reaches survives, with the key FILE FUNCTION LABEL never met. A reason that begins with "out
 * of reach" does not say that the weaker order would do, only that no client here can show it. */
#include "prove.h"
#include "workers.h"

#include "platform/clock.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SITES = 4096, MUTANTS = 2048, KEY = 160, LINE = 400, GLANCE = 60, QUICK = 200, PROTOCOL = 10 };

typedef struct mutant {
    bl_mutant change;
    char key[KEY];
    const char *reason;
    bool general; /* the reason covers many, some of which may well be killed */
} mutant;

static bool is_unreached(const mutant *m) { return m->reason && !strncmp(m->reason, "out of reach", 12); }

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
    uint32_t queue_clients, count; /* count: including those of protocols */
    uint64_t (*meets)[SITES / 64]; /* per client: the sites it reaches */
    mutant *mutants;
    uint32_t mutant_count;
    reason *reasons;
    uint32_t reason_count;
    verdict *verdicts;
    double begin, told;
} gate;

/* ---- which client reaches which operation ---- */

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static bool is_ours(const bl_site *s) {
    return strstr(s->file, "/queues/") || strstr(s->file, "/parts/") || strstr(s->file, "/runtime/") ||
           strstr(s->file, "/schedulers/") || strstr(s->file, "/task.h");
}

/* Whether it passes, or fails in a way that is known of the queue itself. */
static bool is_right(const gate *g, uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    if (client >= g->queue_clients)
        return prove_protocol_explore(client - g->queue_clients, limits, result);
    return prove_explore(&g->clients[client], limits, result) ||
           prove_is_known(g->clients[client].queue, result->failure);
}

static void client_text(const gate *g, uint32_t client, char text[PROVE_TEXT]) {
    if (client >= g->queue_clients)
        prove_protocol_text(client - g->queue_clients, text);
    else
        prove_client_text(&g->clients[client], text);
}

static void glance(gate *g) {
    static uint64_t before[SITES];
    static bl_explore_result result;
    prove_limits limits = {.executions = GLANCE};
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint32_t site = 1; site <= bl_site_count(); site++)
            before[site] = bl_site_get(site).explored;
        is_right(g, i, &limits, &result);
        for (uint32_t site = 1; site <= bl_site_count() && site < SITES; site++)
            if (bl_site_get(site).explored != before[site])
                g->meets[i][site / 64] |= UINT64_C(1) << site % 64;
    }
}

/* ---- names that survive an edit ---- */

static void function_of(const char *line, char *name) {
    static const char *const begin[] = {"BL_FN", "BL_HOT_FN", "BL_CALLED_FN", "BL_HOST_FN", "static BL_TASK"};
    const char *open = strchr(line, '('), *at = open;
    bool is_one = false;
    for (uint32_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
        is_one = is_one || !strncmp(line, begin[i], strlen(begin[i]));
    if (!is_one)
        return;
    while (at && at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
        at--;
    if (at)
        snprintf(name, 64, "%.*s", (int)(open - at), at);
}

/* The label of a comment that begins with one: A1, or H2,T2. */
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

/* FILE FUNCTION LABEL, and what follows. */
static void key_at(const char *file, uint32_t number, const char *what, char *key) {
    char line[LINE], function[64] = "?", label[16] = "";
    FILE *f = fopen(file, "r");
    for (uint32_t i = 0; f && i < number && fgets(line, sizeof line, f); i++)
        function_of(line, function);
    if (f) {
        label_of(line, label);
        fclose(f);
    }
    snprintf(key, KEY - 4, "%s %s%s%s%s", base_name(file), function, *label ? " " : "", label, what);
}

static void key_of(bl_mutant change, char *key) {
    bl_site s = bl_site_get(change.site);
    char text[128];
    bl_mutant_text(change, text, sizeof text);
    const char *what = strchr(text, ' ');
    key_at(s.file, s.line, what ? what : "", key);
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
    if (!g->o->only)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->mutant_count; i++)
        if (!fnmatch(g->o->only, g->mutants[i].key, 0))
            g->mutants[kept++] = g->mutants[i];
    g->mutant_count = kept;
}

/* ---- reasons ---- */

static void find_reason(gate *g, mutant *m) {
    for (uint32_t k = 0; k < g->reason_count; k++)
        if (!m->reason && !fnmatch(g->reasons[k].key, m->key, 0)) {
            m->reason = g->reasons[k].text;
            m->general = strchr(g->reasons[k].key, '*') != NULL;
            g->reasons[k].used = true;
        }
}

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
        find_reason(g, &g->mutants[i]);
    return f != NULL;
}

/* ---- the run ---- */

static void print_mutant(const gate *g, uint32_t i, const char *what) {
    const verdict *v = &g->verdicts[i];
    char client[PROVE_TEXT];
    client_text(g, v->client, client);
    if (v->killed)
        printf("%-10s %s\n           by %s: %s\n", what, g->mutants[i].key, client, v->failure);
    else
        printf("%-10s %s\n           after %llu executions%s%s\n", what, g->mutants[i].key,
               (unsigned long long)v->executions, g->mutants[i].reason ? ": " : "",
               g->mutants[i].reason ? g->mutants[i].reason : "");
}

typedef struct trial {
    gate *g;
    verdict *v;
    prove_limits limits;
    uint64_t spent; /* with the current queue */
    bl_explore_result result;
} trial;

/* Whether the client fails, and only because of the mutant. */
static bool kills(trial *t, uint32_t client, const prove_limits *limits) {
    static bl_explore_result clean;
    prove_limits without = *limits;
    without.mutant = (bl_mutant){0};
    t->v->client = client;
    bool right = is_right(t->g, client, limits, &t->result);
    t->v->executions += t->result.executions;
    t->spent += t->result.executions + t->result.pruned / 4 + 20;
    return !right && is_right(t->g, client, &without, &clean);
}

static bool kills_within_bounds(trial *t, uint32_t client) {
    prove_limits bounded = t->limits;
    if (kills(t, client, &t->limits))
        return true;
    bounded.preemptions = t->g->o->bound;
    return !t->result.complete && kills(t, client, &bounded);
}

static bool meets(const trial *t, uint32_t client) {
    uint32_t site = t->limits.mutant.site;
    return t->g->meets[client][site / 64] >> site % 64 & 1;
}

/* First a little of every client: many mistakes show in the first executions of the right one. */
static bool killed_quickly(trial *t) {
    prove_limits quick = t->limits;
    quick.executions = QUICK;
    for (uint32_t i = 0; i < t->g->count; i++)
        if (meets(t, i) && kills(t, i, &quick))
            return true;
    return false;
}

static bool killed(trial *t) {
    const gate *g = t->g;
    uint32_t queue = UINT32_MAX;
    bool bump = bl_site_get(t->limits.mutant.site).op == BL__SIM_BUMP; /* few, and hard to find */
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t own = i < g->queue_clients ? g->clients[i].queue : prove_queue_count;
        if (!meets(t, i))
            continue;
        t->spent = own == queue ? t->spent : 0;
        queue = own;
        t->limits.executions = own == prove_queue_count ? PROTOCOL * g->o->budget : g->o->budget;
        if (!(own < prove_queue_count && g->clients[i].deep) && t->spent < (bump ? 8 : 1) * g->o->allowance &&
            kills_within_bounds(t, i))
            return true;
    }
    return false;
}

/* The deep clients: few, each with a large budget. */
static bool killed_deep(trial *t) {
    t->limits.executions = PROVE_DEEPER * t->g->o->budget;
    for (uint32_t i = 0; i < t->g->queue_clients; i++)
        if (t->g->clients[i].deep && meets(t, i) && kills_within_bounds(t, i))
            return true;
    return false;
}

static void work(void *arg, uint32_t job) {
    gate *g = arg;
    verdict *v = &g->verdicts[job];
    static trial t;
    static bool guarded;
    if (!guarded)
        prove_guard();
    guarded = true;
    t = (trial){.g = g, .v = v, .limits = {.executions = g->o->budget, .mutant = g->mutants[job].change}};
    bool given_up = is_unreached(&g->mutants[job]) && !g->mutants[job].general;
    v->killed = killed_quickly(&t) || (!given_up && (killed(&t) || killed_deep(&t)));
    if (v->killed)
        snprintf(v->failure, sizeof v->failure, "%.*s", (int)sizeof v->failure - 1, t.result.failure);
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
    double now = bl__now();
    if (now - g->told < (isatty(2) ? 5 : 60))
        return;
    g->told = now;
    fprintf(stderr, "  %u of %u mutants, %.0f s\n", done, g->mutant_count, now - g->begin);
}

/* ---- the score ---- */

typedef struct score {
    uint32_t mutants, killed, equivalent, unreached, survived;
} score;

static void count_mutant(const gate *g, uint32_t i, score *s) {
    bool killed = g->verdicts[i].killed, excused = g->mutants[i].reason != NULL;
    s->mutants++;
    s->killed += killed;
    s->unreached += !killed && is_unreached(&g->mutants[i]);
    s->equivalent += !killed && excused && !is_unreached(&g->mutants[i]);
    s->survived += !killed && !excused;
    if (killed && excused && !g->mutants[i].general)
        print_mutant(g, i, "KILLED, though it has a reason:");
    else if (g->o->verbose && (killed || excused))
        print_mutant(g, i, killed ? "killed" : is_unreached(&g->mutants[i]) ? "unreached" : "equivalent");
}

static void print_score(const char *name, const score *s) {
    printf("%-18s %8u %8u %11u %10u %9u\n", name, s->mutants, s->killed, s->equivalent, s->unreached, s->survived);
}

/* For files that are not queues. */
static const char *folder_of(const char *file) {
    static const char *const folders[] = {"parts/", "schedulers/", "pagerank/"};
    for (uint32_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strstr(file, folders[i]))
            return folders[i];
    return "";
}

static score print_files(const gate *g) {
    score all = {0}, files[64] = {{0}};
    const char *names[64];
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->mutant_count; i++) {
        const char *file = base_name(bl_site_get(g->mutants[i].change.site).file);
        static char text[64][64];
        char name[64];
        snprintf(name, sizeof name, "%s%s", folder_of(bl_site_get(g->mutants[i].change.site).file), file);
        if ((!count || strcmp(names[count - 1], name) != 0) && count < 64) {
            names[count] = strcpy(text[count], name);
            count++;
        }
        count_mutant(g, i, &files[count - 1]);
    }
    printf("%-18s %8s %8s %11s %10s %9s\n", "file", "mutants", "killed", "equivalent", "unreached", "survived");
    for (uint32_t i = 0; i < count; i++) {
        print_score(names[i], &files[i]);
        all.mutants += files[i].mutants;
        all.killed += files[i].killed;
        all.equivalent += files[i].equivalent;
        all.unreached += files[i].unreached;
        all.survived += files[i].survived;
    }
    print_score("all", &all);
    return all;
}

typedef struct never_met {
    gate *g;
    score *all;
} never_met;

/* Counts one more survivor. */
static void count_unmet(void *arg, const char *file, uint32_t line) {
    never_met *n = arg;
    mutant m = {{0, 0, 0}, "", NULL, false};
    key_at(file, line, " never met", m.key);
    find_reason(n->g, &m);
    n->all->mutants++;
    n->all->unreached += m.reason != NULL;
    n->all->survived += m.reason == NULL;
    if (!m.reason || n->g->o->verbose)
        printf("%-10s %s%s%s\n", m.reason ? "unreached" : "SURVIVED", m.key, m.reason ? ": " : "",
               m.reason ? m.reason : "");
}

int prove_mutants(const prove_options *o) {
    gate g = {.o = o, .begin = bl__now()};
    g.clients = prove_all_clients(o, &g.queue_clients);
    g.count = g.queue_clients + (o->protocols ? prove_protocol_count() : 0);
    g.meets = calloc(g.count, sizeof *g.meets);
    g.mutants = calloc(MUTANTS, sizeof *g.mutants);
    g.reasons = calloc(MUTANTS, sizeof *g.reasons);
    if (!g.meets || !g.mutants || !g.reasons)
        return 2;
    glance(&g);
    list_mutants(&g);
    if (!read_reasons(&g))
        fprintf(stderr, "ballast_prove: no reasons: %s\n", o->reasons);
    g.verdicts = workers_share(g.mutant_count * sizeof *g.verdicts);
    workers_plan plan = {g.mutant_count, o->workers, work, crashed, progress, &g};
    if (!g.verdicts || !workers_run(&plan))
        return 2;
    score all = print_files(&g);
    if (o->all && o->every == 1 && !o->only)
        prove_unmet(count_unmet, &(never_met){&g, &all});
    for (uint32_t i = 0; i < g.reason_count && o->all && o->every == 1 && !o->only; i++)
        if (!g.reasons[i].used)
            printf("no such mutant: %s\n", g.reasons[i].key);
    printf("%u of %u killed, %u equivalent with a reason, %u out of reach or never met with a reason, %u survived; "
           "%.0f s\n",
           all.killed, all.mutants, all.equivalent, all.unreached, all.survived, bl__now() - g.begin);
    free(g.clients);
    free(g.meets);
    free(g.mutants);
    free(g.reasons);
    return all.survived != 0;
}
