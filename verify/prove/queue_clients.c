/* The clients, enumerated.
 *
 * Deques: every script of the owner up to length 4, thieves s, ss, sss, s|s, ss|s. On an initially empty deque, a
 * script that begins with a pop shows no more than the rest of it, and is omitted: 15 scripts, 75 clients for each
 * shape. FIFO queues: every pair of scripts up to length 3, every three up to length 2, and every script of length 4
 * against one call, ignoring the order of the threads; capacities 1, 2 and 4, with enough initial items for the scripts
 * to reach FULL or EMPTY. Counters begin at 0, or so that they wrap around at the first call. Then pairs with calls for
 * two items if the queue implements them, a thread that reads the size, calls in place, and a close.
 *
 * Of queues that wait only what cannot wait for ever: every order of its steps (a ticket, then the slot) ends. */
#include "prove.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct list {
    uint32_t queue, count, room;
    prove_client *clients;
    bool failed;
} list;

static uint32_t letters(const prove_client *c, const char *any) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < c->threads; i++)
        for (const char *at = c->script[i]; *at; at++)
            sum += strchr(any, *at) != NULL;
    return sum;
}

/* ---- queues that wait ---- */

typedef struct waiting {
    const prove_client *c;
    uint32_t pushes, pops;         /* tickets handed out */
    uint32_t pushed, popped;       /* masks of tickets that are done */
    uint32_t at[PROVE_THREADS];    /* next letter */
    int32_t ticket[PROVE_THREADS]; /* of the current call, or -1 */
} waiting;

static bool can_finish(const waiting *w, uint32_t thread) {
    uint32_t ticket = (uint32_t)w->ticket[thread];
    if (w->c->script[thread][w->at[thread]] == '+')
        return ticket < w->c->capacity || w->popped >> (ticket - w->c->capacity) & 1;
    return w->pushed >> ticket & 1;
}

static bool always_ends(waiting w) {
    bool moved = false, ended = true;
    for (uint32_t thread = 0; thread < w.c->threads; thread++) {
        char call = w.c->script[thread][w.at[thread]];
        waiting next = w;
        if (!call)
            continue;
        ended = false;
        if (w.ticket[thread] < 0) {
            next.ticket[thread] = (int32_t)(call == '+' ? next.pushes++ : next.pops++);
        } else if (can_finish(&w, thread)) {
            *(call == '+' ? &next.pushed : &next.popped) |= 1u << w.ticket[thread];
            next.ticket[thread] = -1;
            next.at[thread]++;
        } else {
            continue;
        }
        moved = true;
        if (!always_ends(next))
            return false;
    }
    return moved || ended;
}

static bool ends(const prove_client *c) {
    waiting w = {.c = c, .pushes = c->filled, .pushed = (1u << c->filled) - 1, .ticket = {-1, -1, -1}};
    if (prove_queues[c->queue].kind != BL_QUEUE_KIND_WAITING)
        return true;
    return letters(c, "c") || (!letters(c, "POSsn") && always_ends(w));
}

/* ---- shapes ---- */

static void add(list *l, prove_client c) {
    if (c.capacity < prove_queues[l->queue].least || !ends(&c))
        return;
    if (l->count == l->room) {
        uint32_t room = l->room ? 2 * l->room : 1024;
        prove_client *larger = realloc(l->clients, room * sizeof *larger);
        l->failed = l->failed || !larger;
        if (!larger)
            return;
        l->clients = larger;
        l->room = room;
    }
    c.calls = 0;
    for (uint32_t i = 0; i < c.threads; i++)
        c.calls = (uint8_t)(c.calls + strlen(c.script[i]));
    l->clients[l->count++] = c;
}

static void add_shape(list *l, prove_client c, uint32_t capacity, uint32_t filled, bool wraps) {
    c.capacity = (uint8_t)capacity;
    c.filled = (uint8_t)filled;
    c.start = wraps ? 0u - 1 - filled : 0;
    add(l, c);
}

static void add_fifo_shapes(list *l, prove_client c) {
    uint32_t pushes = letters(&c, "+R") + 2 * letters(&c, "P"), pops = letters(&c, "-C") + 2 * letters(&c, "O");
    for (uint32_t filled = 0; filled <= 1; filled++)
        add_shape(l, c, 1, filled, true);
    for (uint32_t filled = 0; filled <= 2; filled++) {
        bool far = filled + pushes <= 2 && pops <= filled; /* neither FULL nor EMPTY can be reached */
        if (!far)
            add_shape(l, c, 2, filled, filled != 0);
        if (filled == 0)
            add_shape(l, c, 2, filled, true);
    }
    for (uint32_t filled = 0; filled <= 4; filled++)
        if (filled + pushes > 4 || (filled && filled < pops))
            add_shape(l, c, 4, filled, true);
}

static void add_deque_shapes(list *l, prove_client c) {
    if (c.script[0][0] != '-') {
        add_shape(l, c, 2, 0, false);
        add_shape(l, c, 4, 0, true);
        add_shape(l, c, 1, 0, true);
    }
    add_shape(l, c, 2, 1, true);
    add_shape(l, c, 2, 2, true);
}

/* ---- scripts ---- */

/* The i-th word over these letters, shorter ones first; false: longer than `most`. */
static bool word(char *script, const char *alphabet, uint32_t i, uint32_t most) {
    uint32_t base = (uint32_t)strlen(alphabet), length = 1, words = base;
    while (i >= words) {
        i -= words;
        words *= base;
        length++;
    }
    if (length > most)
        return false;
    script[length] = 0;
    for (uint32_t k = length; k-- > 0; i /= base)
        script[k] = alphabet[i % base];
    return true;
}

static void all_pairs(list *l, const char *alphabet, uint32_t most, uint32_t most_calls, const char *with) {
    prove_client c = {.queue = l->queue, .threads = 2};
    for (uint32_t i = 0; word(c.script[0], alphabet, i, most); i++)
        for (uint32_t k = i; word(c.script[1], alphabet, k, most); k++)
            if (strlen(c.script[0]) + strlen(c.script[1]) <= most_calls && (!with || letters(&c, with)))
                add_fifo_shapes(l, c);
}

static void all_threes(list *l) {
    prove_client c = {.queue = l->queue, .threads = 3};
    for (uint32_t i = 0; word(c.script[0], "+-", i, 2); i++)
        for (uint32_t k = i; word(c.script[1], "+-", k, 2); k++)
            for (uint32_t m = k; word(c.script[2], "+-", m, 2); m++)
                add_fifo_shapes(l, c);
}

/* One long script, so that what a thread took can return to where it was, against a single call. */
static void all_long(list *l) {
    prove_client c = {.queue = l->queue, .threads = 2};
    for (uint32_t i = 0; word(c.script[0], "+-", i, 4); i++)
        for (uint32_t k = 0; strlen(c.script[0]) == 4 && word(c.script[1], "+-", k, 1); k++)
            add_fifo_shapes(l, c);
}

/* Calls for two items, and the size; some with so many items that a thief may take two of them. */
static void all_deque_batches(list *l) {
    static const struct {
        const char *owner;
        uint32_t most;
        const char *thieves[2];
    } kinds[] = {{"+-", 3, {"n", ""}},    {"+-PO", 2, {"s", ""}}, {"+-PO", 2, {"S", ""}},
                 {"+-PO", 2, {"S", "s"}}, {"+-", 3, {"Ss", ""}},  {"+-", 2, {"S", "S"}}};
    for (uint32_t t = 0; t < sizeof kinds / sizeof kinds[0]; t++) {
        prove_client c = {.queue = l->queue, .threads = kinds[t].thieves[1][0] ? 3 : 2};
        strcpy(c.script[1], kinds[t].thieves[0]);
        strcpy(c.script[2], kinds[t].thieves[1]);
        for (uint32_t i = 0; word(c.script[0], kinds[t].owner, i, kinds[t].most); i++) {
            if (!letters(&c, "PONSn"))
                continue;
            add_deque_shapes(l, c);
            add_shape(l, c, 4, 3, true);
            add_shape(l, c, 4, 4, true);
        }
    }
}

static void all_deques(list *l) {
    static const char thieves[][2][4] = {{"s", ""}, {"ss", ""}, {"sss", ""}, {"s", "s"}, {"ss", "s"}};
    for (uint32_t t = 0; t < 5; t++) {
        prove_client c = {.queue = l->queue, .threads = thieves[t][1][0] ? 3 : 2};
        strcpy(c.script[1], thieves[t][0]);
        strcpy(c.script[2], thieves[t][1]);
        for (uint32_t i = 0; word(c.script[0], "+-", i, 4); i++)
            add_deque_shapes(l, c);
    }
    all_deque_batches(l);
}

static void add_closing_shapes(list *l, prove_client c) {
    for (uint32_t capacity = 1; capacity <= 2; capacity++)
        for (uint32_t filled = 0; filled <= capacity; filled++)
            add_shape(l, c, capacity, filled, true);
}

/* The thread that closes does not wait before, so every thread returns. */
static void all_closing(list *l) {
    static const char *const closers[] = {"c", "c+", "c-", "cc"};
    for (uint32_t t = 0; t < sizeof closers / sizeof closers[0]; t++) {
        prove_client c = {.queue = l->queue, .threads = 2};
        strcpy(c.script[1], closers[t]);
        for (uint32_t i = 0; word(c.script[0], "+-", i, 3); i++)
            add_closing_shapes(l, c);
        for (uint32_t i = 0; word(c.script[0], "+-POc", i, 2); i++)
            if (letters(&c, "PO") || strchr(c.script[0], 'c'))
                add_closing_shapes(l, c);
        c.threads = 3;
        strcpy(c.script[2], closers[t]);
        for (uint32_t i = 0; word(c.script[0], "+-", i, 2); i++)
            for (uint32_t k = i; word(c.script[1], "+-", k, 2); k++)
                add_closing_shapes(l, c);
    }
}

static void all_fifos(list *l) {
    all_pairs(l, "+-", 3, 6, NULL);
    all_threes(l);
    all_long(l);
    if (prove_queues[l->queue].flags & BL_QUEUE_BATCHED)
        all_pairs(l, "+-PO", 2, 3, "PO");
    if (prove_more_of(l->queue)->put)
        all_pairs(l, "+-RC", 2, 3, "RC");
    if (prove_more_of(l->queue)->close)
        all_closing(l);
    prove_client c = {.queue = l->queue, .threads = 2, .script = {"", "n"}};
    for (uint32_t i = 0; word(c.script[0], "+-", i, 3); i++)
        add_fifo_shapes(l, c);
}

static int cheaper(const void *a, const void *b) {
    const prove_client *x = a, *y = b;
    int calls = x->calls - y->calls, threads = x->threads - y->threads;
    return calls ? calls : threads ? threads : memcmp(x, y, offsetof(prove_client, script) + sizeof x->script);
}

/* The clients of deep.txt, for which the ordinary budget does not suffice to show what they are for. */
static void all_deep(list *l) {
    char line[PROVE_TEXT];
    prove_client c;
    FILE *f = fopen(PROVE_DEEP, "r");
    l->failed = l->failed || !f;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, ":\n")] = 0;
        if (line[0] != '#' && prove_client_parse(line, &c) && c.queue == l->queue) {
            c.deep = true;
            add(l, c);
        }
    }
    if (f)
        fclose(f);
}

prove_client *prove_clients(uint32_t queue, uint32_t *count) {
    list l = {.queue = queue};
    if (prove_queues[queue].kind == BL_QUEUE_KIND_DEQUE)
        all_deques(&l);
    else if (prove_queues[queue].kind != BL_QUEUE_KIND_CEILING)
        all_fifos(&l);
    all_deep(&l);
    if (l.failed) {
        free(l.clients);
        return NULL;
    }
    if (l.count)
        qsort(l.clients, l.count, sizeof *l.clients, cheaper);
    *count = l.count;
    return l.clients ? l.clients : calloc(1, sizeof *l.clients);
}

prove_client *prove_all_clients(const prove_options *o, uint32_t *count) {
    prove_client *all = NULL;
    *count = 0;
    for (uint32_t queue = 0; queue < prove_queue_count; queue++) {
        uint32_t n = 0;
        prove_client *some = prove_wanted(o, queue) ? prove_clients(queue, &n) : NULL;
        prove_client *larger = realloc(all, (*count + n + 1) * sizeof *all);
        if (!larger)
            exit(2);
        all = larger;
        for (uint32_t i = 0; i < n; i += o->every)
            all[(*count)++] = some[i];
        free(some);
    }
    return all;
}

/* ---- as text ---- */

void prove_client_text(const prove_client *c, char text[PROVE_TEXT]) {
    int n = snprintf(text, PROVE_TEXT, "%s %u %u %u %s", prove_queues[c->queue].name, c->capacity, c->start, c->filled,
                     c->script[0]);
    for (uint32_t i = 1; i < c->threads; i++)
        n += snprintf(text + n, PROVE_TEXT - (size_t)n, "|%s", c->script[i]);
}

/* Whether the queue has all calls of the scripts. */
static bool has_calls(const prove_client *c) {
    const prove_more *more = prove_more_of(c->queue);
    uint32_t known = letters(c, "+-sPOSn") + (more->put ? letters(c, "RC") : 0) + (more->close ? letters(c, "c") : 0);
    return known == letters(c, "+-sPOSnRCc") && known != 0;
}

bool prove_client_parse(const char *text, prove_client *c) {
    char name[32], scripts[32];
    unsigned capacity, start, filled, i = 0;
    memset(c, 0, sizeof *c);
    if (sscanf(text, "%31s %u %u %u %31s", name, &capacity, &start, &filled, scripts) != 5 || filled > PROVE_MOST)
        return false;
    while (c->queue < prove_queue_count && strcmp(prove_queues[c->queue].name, name) != 0)
        c->queue++;
    for (char *word = strtok(scripts, "|"); word; word = strtok(NULL, "|")) {
        if (i == PROVE_THREADS || strlen(word) > PROVE_CALLS)
            return false;
        strcpy(c->script[i++], word);
    }
    c->threads = (uint8_t)i;
    if (c->queue < prove_queue_count && !has_calls(c))
        return false;
    c->capacity = (uint8_t)capacity;
    c->start = start;
    c->filled = (uint8_t)filled;
    return c->queue < prove_queue_count && i && filled <= capacity && capacity <= PROVE_MOST;
}
