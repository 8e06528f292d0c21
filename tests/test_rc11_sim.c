/* The model checker against the axioms: for random straight-line programs it shows exactly the outcomes of RC11 (Lahav
 * et al. 2017). The test derives these from the definitions, relation by relation, for every order of the steps and
 * every store that a load could return. As in verify/explorer/views.c, a load returns an earlier store, stores to a
 * location are ordered by their steps, and release sequences are those of C++20. */
#include "check.h"

#include "ballast/platform/platform.h"
#include "explorer/explorer.h"

#include <stdlib.h>

#ifndef BL_TARGET_SIM
#error "compile this test with -DBL_TARGET_SIM"
#endif

enum { THREADS = 4, LENGTH = 4, WORDS = 3, EVENTS = 32, OUTCOMES = 1 << 12 };

typedef enum order { RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST } order;
typedef enum op { LOAD, STORE, ADD, SWAP, FENCE, LIGHT, HEAVY } op;

#define CHOICES(X)                                                                                                     \
    X(0, LOAD, RELAXED, got = bl_load32_relaxed(x))                                                                    \
    X(1, LOAD, ACQUIRE, got = bl_load32_acquire(x))                                                                    \
    X(2, LOAD, SEQ_CST, got = bl_load32_seq_cst(x))                                                                    \
    X(3, STORE, RELAXED, bl_store32_relaxed(x, v))                                                                     \
    X(4, STORE, RELEASE, bl_store32_release(x, v))                                                                     \
    X(5, STORE, SEQ_CST, bl_store32_seq_cst(x, v))                                                                     \
    X(6, ADD, RELAXED, got = bl_fetch_add32_relaxed(x, 1))                                                             \
    X(7, ADD, ACQUIRE, got = bl_fetch_add32_acquire(x, 1))                                                             \
    X(8, ADD, RELEASE, got = bl_fetch_add32_release(x, 1))                                                             \
    X(9, ADD, SEQ_CST, got = bl_fetch_add32_seq_cst(x, 1))                                                             \
    X(10, SWAP, SEQ_CST, (void)bl_cas32_seq_cst(x, &got, v))                                                           \
    X(11, FENCE, ACQUIRE, bl_fence_acquire())                                                                          \
    X(12, FENCE, RELEASE, bl_fence_release())                                                                          \
    X(13, FENCE, SEQ_CST, bl_fence_seq_cst())                                                                          \
    X(14, LIGHT, SEQ_CST, bl_fence_light())                                                                            \
    X(15, HEAVY, SEQ_CST, bl_fence_heavy())

typedef struct step {
    uint8_t choice, word;
} step;

typedef struct program {
    uint32_t threads, words, length[THREADS];
    step steps[THREADS][LENGTH];
    uint32_t w[WORDS], got[THREADS][LENGTH];
    uint64_t *outcomes; /* a set; 0: none */
    uint32_t count;
} program;

static uint32_t value_of(uint32_t thread, uint32_t i) { return thread * LENGTH + i + 1; }

/* 4 bits for each value read and for each final value. */
static void enter(program *p, uint64_t outcome) {
    uint32_t at = (uint32_t)((++outcome * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % OUTCOMES;
    while (p->outcomes[at] && p->outcomes[at] != outcome)
        at = (at + 1) % OUTCOMES;
    p->count += !p->outcomes[at];
    p->outcomes[at] = outcome;
}

static void enter_now(program *p) {
    uint64_t outcome = 0;
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            outcome = outcome << 4 | (p->got[t][i] & 15);
    for (uint32_t i = 0; i < p->words; i++)
        outcome = outcome << 4 | (p->w[i] & 15);
    enter(p, outcome);
}

/* ---- by exploration ---- */

static void before(void *arg) {
    program *p = arg;
    memset(p->w, 0, sizeof p->w);
    memset(p->got, 0, sizeof p->got);
}

static void body(void *arg, uint32_t thread, uint32_t lane) {
    program *p = arg;
    (void)lane;
    for (uint32_t i = 0; i < p->length[thread]; i++) {
        uint32_t *x = &p->w[p->steps[thread][i].word], v = value_of(thread, i), got = 0;
        switch (p->steps[thread][i].choice) {
#define STEP(number, kind, strength, ...)                                                                              \
    case number:                                                                                                       \
        __VA_ARGS__;                                                                                                   \
        break;
            CHOICES(STEP)
#undef STEP
        default:
            break;
        }
        p->got[thread][i] = got;
    }
}

static const char *after(void *arg) {
    enter_now(arg);
    return NULL;
}

/* ---- by the axioms ---- */

typedef uint32_t relation[EVENTS]; /* a set for each event */

typedef struct event {
    int thread, word; /* -1: the start; a fence */
    op op;
    order order;
    bool reads, writes;
    uint32_t value, from; /* from: the event it reads from */
} event;

typedef struct graph {
    program *p;
    event e[EVENTS];
    uint32_t n, at[THREADS];
    relation po, rmw;
} graph;

static const struct {
    op op;
    order order;
} choices[] = {
#define ROW(number, kind, strength, ...) {kind, strength},
    CHOICES(ROW)
#undef ROW
};

static void join(const graph *g, relation to, const relation a) {
    for (uint32_t i = 0; i < g->n; i++)
        to[i] |= a[i];
}
static void follow(const graph *g, relation to, const relation a, const relation b) { /* to: a, then b */
    relation sum = {0};
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t k = 0; k < g->n; k++)
            if (a[i] >> k & 1)
                sum[i] |= b[k];
    memcpy(to, sum, sizeof sum);
}
static void close_over(const graph *g, relation r) {
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t i = 0; i < g->n; i++)
            if (r[i] >> k & 1)
                r[i] |= r[k];
}
static bool is_cyclic(const graph *g, relation r) {
    close_over(g, r);
    for (uint32_t i = 0; i < g->n; i++)
        if (r[i] >> i & 1)
            return true;
    return false;
}
static void add_identity(const graph *g, relation r) {
    for (uint32_t i = 0; i < g->n; i++)
        r[i] |= 1u << i;
}
static void restrict_to(const graph *g, relation r, uint32_t from, uint32_t to) {
    for (uint32_t i = 0; i < g->n; i++)
        r[i] = from >> i & 1 ? r[i] & to : 0;
}

static bool acquires(const event *e) { return e->order == ACQUIRE || e->order >= ACQ_REL; }
static bool releases(const event *e) { return e->order == RELEASE || e->order >= ACQ_REL; }
static bool same_word(const event *a, const event *b) { return a->word >= 0 && a->word == b->word; }

static void find_communication(const graph *g, relation rf, relation mo, relation rb) {
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t k = 0; k < g->n; k++) {
            const event *a = &g->e[i], *b = &g->e[k];
            if (b->reads && b->from == i)
                rf[i] |= 1u << k;
            if (a->writes && b->writes && i < k && same_word(a, b))
                mo[i] |= 1u << k;
            if (a->reads && b->writes && a->from < k && same_word(a, b) && i != k)
                rb[i] |= 1u << k;
        }
}

/* From a release, over a store and the read-modify-writes that continue its release sequence, to an acquire. */
static void find_synchronization(const graph *g, const relation rf, relation sw) {
    relation sequence = {0}, chain, released = {0}, acquired = {0};
    follow(g, chain, rf, g->rmw);
    close_over(g, chain);
    add_identity(g, chain);
    follow(g, sequence, chain, rf); /* from a store to the reads of its release sequence */
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t k = 0; k < g->n; k++) {
            const event *a = &g->e[i], *b = &g->e[k];
            bool before = g->po[i] >> k & 1, fence = a->op == FENCE || a->op == HEAVY;
            if (b->writes && b->thread >= 0 && releases(a) && (i == k || (before && fence)))
                released[i] |= 1u << k;
            fence = b->op == FENCE || b->op == HEAVY;
            if (a->reads && acquires(b) && (i == k || (before && fence)))
                acquired[i] |= 1u << k;
        }
    follow(g, sw, released, sequence);
    follow(g, sw, sw, acquired);
}

static bool is_consistent(const graph *g) {
    relation rf = {0}, mo = {0}, rb = {0}, sw = {0}, hb, eco, scb, psc, step, apart = {0};
    uint32_t all = 0, accesses = 0, fences = 0, heavy = 0, light = 0;
    find_communication(g, rf, mo, rb);
    find_synchronization(g, rf, sw);
    memcpy(hb, g->po, sizeof hb);
    join(g, hb, sw);
    memcpy(eco, rf, sizeof eco);
    join(g, eco, mo);
    join(g, eco, rb);
    close_over(g, eco);
    if (is_cyclic(g, hb))
        return false;
    follow(g, step, hb, eco);
    for (uint32_t i = 0; i < g->n; i++)
        if (step[i] >> i & 1)
            return false;
    for (uint32_t i = 0; i < g->n; i++) {
        const event *e = &g->e[i];
        all |= 1u << i;
        accesses |= (uint32_t)(e->word >= 0 && e->order == SEQ_CST) << i;
        fences |= (uint32_t)((e->op == FENCE || e->op == HEAVY) && e->order == SEQ_CST) << i;
        heavy |= (uint32_t)(e->op == HEAVY) << i;
        light |= (uint32_t)(e->op == LIGHT) << i;
        for (uint32_t k = 0; k < g->n; k++)
            if (g->po[i] >> k & 1 && !same_word(e, &g->e[k]))
                apart[i] |= 1u << k;
    }
    /* scb = po, po to another location; hb; po from another location, hb at one location, mo, rb */
    follow(g, scb, apart, hb);
    follow(g, scb, scb, apart);
    join(g, scb, g->po);
    join(g, scb, mo);
    join(g, scb, rb);
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t k = 0; k < g->n; k++)
            if (hb[i] >> k & 1 && same_word(&g->e[i], &g->e[k]))
                scb[i] |= 1u << k;
    relation enter_hb, leave_hb, base, eco_between, lights;
    memcpy(enter_hb, hb, sizeof hb); /* a seq_cst access itself; a fence, or what happens after it */
    restrict_to(g, enter_hb, fences, all);
    memcpy(leave_hb, hb, sizeof hb);
    restrict_to(g, leave_hb, all, fences);
    for (uint32_t i = 0; i < g->n; i++) {
        enter_hb[i] |= (accesses | fences) & 1u << i;
        leave_hb[i] |= (accesses | fences) & 1u << i;
    }
    follow(g, base, enter_hb, scb);
    follow(g, psc, base, leave_hb);
    follow(g, eco_between, hb, eco);
    follow(g, eco_between, eco_between, hb);
    join(g, eco_between, hb);
    memcpy(lights, eco_between, sizeof lights);
    restrict_to(g, lights, light, heavy);
    join(g, psc, lights);
    memcpy(lights, eco_between, sizeof lights);
    restrict_to(g, lights, heavy, light);
    join(g, psc, lights);
    restrict_to(g, eco_between, fences, fences);
    join(g, psc, eco_between);
    return !is_cyclic(g, psc);
}

static uint32_t push_event(graph *g, event e) {
    uint32_t i = g->n++;
    g->e[i] = e;
    g->po[i] = g->rmw[i] = 0;
    for (uint32_t k = 0; k < i; k++)
        if (g->e[k].thread < 0 || g->e[k].thread == e.thread)
            g->po[k] |= e.thread < 0 ? 0 : 1u << i;
    return i;
}

static void pop_events(graph *g, uint32_t n) {
    for (g->n = n; n < EVENTS; n++)
        for (uint32_t k = 0; k < EVENTS; k++) {
            g->po[k] &= ~(1u << n);
            g->rmw[k] &= ~(1u << n);
        }
}

static void go_on(graph *g);

static uint32_t newest(const graph *g, int word) {
    uint32_t i = g->n;
    while (!g->e[--i].writes || g->e[i].word != word)
        ;
    return i;
}

static void try_reading(graph *g, event e, uint32_t from, bool updates, uint32_t stored) {
    uint32_t n = g->n, thread = (uint32_t)e.thread, i = g->at[thread], now = newest(g, e.word);
    uint32_t *w = &g->p->w[e.word], was = *w;
    event read = e;
    read.reads = true;
    read.writes = false;
    read.from = from;
    read.value = g->e[from].value;
    uint32_t r = push_event(g, read);
    g->p->got[thread][i] = read.value;
    if (updates) {
        e.writes = true;
        e.reads = false;
        e.value = *w = stored;
        g->rmw[r] |= 1u << push_event(g, e);
    }
    g->at[thread]++;
    if (from == now || is_consistent(g)) /* the first test only saves time: at the end everything is checked */
        go_on(g);
    g->at[thread]--;
    *w = was;
    pop_events(g, n);
}

static void make_step(graph *g, uint32_t thread) {
    uint32_t i = g->at[thread], n = g->n, v = value_of(thread, i);
    step s = g->p->steps[thread][i];
    event e = {.thread = (int)thread, .word = s.word, .op = choices[s.choice].op, .order = choices[s.choice].order};
    uint32_t now = newest(g, e.word), was = g->p->w[s.word];
    if (e.op == STORE) {
        e.writes = true;
        e.value = g->p->w[s.word] = v;
    } else if (e.op >= FENCE) {
        e.word = -1;
    }
    if (e.op == STORE || e.op >= FENCE) {
        push_event(g, e);
        g->p->got[thread][i] = 0;
        g->at[thread]++;
        go_on(g);
        g->at[thread]--;
        g->p->w[s.word] = was;
        pop_events(g, n);
        return;
    }
    if (e.op == ADD || (e.op == SWAP && g->e[now].value == 0))
        try_reading(g, e, now, true, e.op == ADD ? g->e[now].value + 1 : v);
    if (e.op == SWAP)
        e.order = ACQUIRE; /* it fails */
    for (uint32_t k = 0; k < n && e.op != ADD; k++)
        if (g->e[k].writes && g->e[k].word == e.word && (e.op == LOAD || g->e[k].value))
            try_reading(g, e, k, false, 0);
}

/* The moment of a fence does not matter to other threads: execute it at once. */
static void go_on(graph *g) {
    bool ended = true;
    for (uint32_t t = 0; t < g->p->threads; t++)
        if (g->at[t] < g->p->length[t] && choices[g->p->steps[t][g->at[t]].choice].op >= FENCE) {
            make_step(g, t);
            return;
        }
    for (uint32_t t = 0; t < g->p->threads; t++)
        if (g->at[t] < g->p->length[t]) {
            ended = false;
            make_step(g, t);
        }
    if (ended && is_consistent(g))
        enter_now(g->p);
}

static void by_the_axioms(program *p) {
    static graph g;
    memset(&g, 0, sizeof g);
    g.p = p;
    before(p);
    for (uint32_t i = 0; i < p->words; i++)
        push_event(&g, (event){.thread = -1, .word = (int)i, .op = STORE, .writes = true});
    go_on(&g);
}

/* ---- both ---- */

static uint64_t random_state;
static uint32_t below(uint32_t n) { return check_below(&random_state, n); }

/* Arbitrary operations, or mostly one family. */
static void make_any(program *p) {
    static const uint8_t families[][8] = {{2, 5, 2, 5, 2, 5, 9, 10},  {2, 5, 1, 4, 9, 8, 0, 3},
                                          {0, 3, 13, 0, 3, 13, 2, 5}, {0, 3, 14, 15, 0, 3, 14, 13},
                                          {1, 4, 2, 5, 13, 8, 7, 6},  {1, 2, 2, 5, 8, 9, 4, 5}};
    uint32_t family = below(8);
    for (uint32_t t = 0; t < p->threads; t++) {
        p->length[t] = p->threads == 2 ? 2 + below(3) : 1 + below(2);
        for (uint32_t i = 0; i < p->length[t]; i++) {
            uint8_t any = (uint8_t)below(16), one = family < 6 ? families[family][below(8)] : any;
            p->steps[t][i] = (step){one, (uint8_t)below(p->words)};
        }
    }
}

/* A ring, like most litmus tests: each thread ends at the location where the next one begins, with a fence or an access
 * in between. */
static void make_ring(program *p) {
    static const uint8_t loads[] = {0, 1, 2, 2}, stores[] = {3, 4, 5, 5, 6, 9, 10, 8},
                         fences[] = {13, 13, 14, 15, 11, 12};
    uint32_t fenced = below(2), strong = below(2);
    for (uint32_t t = 0; t < p->threads; t++) {
        bool between = below(3) != 0 && p->threads < 4;
        p->length[t] = 2 + between;
        for (uint32_t i = 0; i < p->length[t]; i++) {
            bool last = i + 1 == p->length[t], middle = i && !last, load = below(4) < (last ? 3u : 1u);
            uint8_t access = load ? loads[below(4)] : stores[below(8)];
            access = strong && !fenced && below(3) ? (load ? 2 : 5) : access;
            access = fenced && below(2) ? (load ? 0 : 3) : access;
            p->steps[t][i].choice = middle && (fenced || below(2)) ? fences[below(6)] : access;
            p->steps[t][i].word = (uint8_t)((t + (middle ? below(p->words) : last)) % p->words);
        }
    }
}

static void make_program(program *p, uint64_t seed) {
    random_state = seed * 7919 + 1;
    below(2);
    bool ring = seed % 8 != 0;
    *p = (program){.threads = ring && seed % 32 == 1 ? 4 : 2 + below(2), .words = 1 + below(3)};
    p->words = ring && p->words < 2 ? 2 : p->words;
    if (ring)
        make_ring(p);
    else
        make_any(p);
}

static void print_program(const program *p) {
    static const char *const texts[] = {
#define TEXT(number, kind, strength, ...) #kind " " #strength,
        CHOICES(TEXT)
#undef TEXT
    };
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            printf("    thread %u: %s %u\n", t, texts[p->steps[t][i].choice], p->steps[t][i].word);
}

static uint32_t not_in(const uint64_t *a, const uint64_t *b) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < OUTCOMES; i++) {
        bool found = !a[i];
        for (uint32_t k = 0; k < OUTCOMES && !found; k++)
            found = a[i] == b[k];
        sum += !found;
    }
    return sum;
}

static uint64_t compare(uint64_t seed) {
    static uint64_t outcomes[2][OUTCOMES];
    program p;
    bl_explore_result result;
    bl_explore_options o = {.before = before, .after = after, .stale = 100};
    memset(outcomes, 0, sizeof outcomes);
    make_program(&p, seed);
    check_at("program %llu", (unsigned long long)seed);
    p.outcomes = outcomes[0];
    CHECK(bl_explore(p.threads, body, &p, &o, &result) && result.complete && !result.left_out);
    p.outcomes = outcomes[1];
    p.count = 0;
    by_the_axioms(&p);
    uint32_t too_many = not_in(outcomes[0], outcomes[1]), missing = not_in(outcomes[1], outcomes[0]);
    if (!CHECK(!too_many && !missing)) {
        printf("    shown and not allowed: %u, allowed and not shown: %u, both: %u\n", too_many, missing,
               p.count - missing);
        print_program(&p);
    }
    return p.count;
}

int main(void) {
    uint64_t outcomes = 0, programs = 500 / CHECK_SLOWER;
    check_limit(300);
    for (uint64_t seed = 0; seed < programs; seed++)
        outcomes += compare(seed);
    check_at("%s", "");
    printf("%llu programs, %llu outcomes\n", (unsigned long long)programs, (unsigned long long)outcomes);
    return check_end();
}
