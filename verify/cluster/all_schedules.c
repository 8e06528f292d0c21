#include "all_schedules.h"

#include <ballast/parts/random.h>
#include <stdlib.h>

enum { DEPTH_MAX = 400, SEEDS = 12, PRINT_MAX = 100 };

typedef struct state {
    uint64_t digest[2]; /* 0, 0: a free place */
    double schedules;   /* to be had from here; negative while they are being explored */
    uint32_t depth;     /* of the longest one */
} state;

typedef struct explorer {
    state *table;
    uint64_t places;
    uint64_t states_max;
    size_t size;  /* of a world */
    char *worlds; /* one for each depth */
    world_action path[DEPTH_MAX];
    uint32_t length;
    bool kills;
    uint32_t nodes;
    uint32_t seeds[SEEDS];
    cluster_explored result;
} explorer;

static world *world_of(explorer *x, uint32_t depth) { return (world *)(void *)(x->worlds + depth * x->size); }

static state *look_up(explorer *x, const uint64_t digest[2]) {
    uint64_t i = digest[0] & (x->places - 1);
    while (x->table[i].digest[0] | x->table[i].digest[1]) {
        if (x->table[i].digest[0] == digest[0] && x->table[i].digest[1] == digest[1])
            break;
        i = (i + 1) & (x->places - 1);
    }
    return &x->table[i];
}

/* Generators whose next numbers lie in the middles of SEEDS equal parts of all numbers, so that they select each of 2,
 * 3 or 4 victims. */
static void find_seeds(explorer *x) {
    uint32_t found = 0;
    for (uint32_t seed = 1; found < SEEDS; seed++) {
        uint32_t random = seed * 2654435769u, start = random;
        if ((uint64_t)bl__random32(&random) * SEEDS * 8 >> 32 == 8 * found + 4)
            x->seeds[found++] = start;
    }
}

static uint32_t explore(explorer *x, double *schedules);

/* Does the action with every victim that may be selected in it. */
static void branch(explorer *x, world_action a, double *schedules, uint32_t *deepest) {
    world *now = world_of(x, x->length), *next = world_of(x, x->length + 1);
    uint32_t victims = 0; /* a bit for each that was selected before */
    for (uint32_t s = 0; s < SEEDS && !x->result.wrong; s++) {
        world_copy(next, now);
        *world_random(next, a.node) = x->seeds[s];
        world_do(next, a);
        bool selected = *world_random(next, a.node) != x->seeds[s];
        uint32_t victim = 1u << world_victim(next, a.node);
        if (selected && (victims & victim))
            continue;
        victims |= victim;
        x->path[x->length++] = a;
        x->result.steps++;
        double more = 0;
        uint32_t depth = 1 + explore(x, &more);
        *schedules += more;
        if (depth > *deepest)
            *deepest = depth;
        if (!x->result.wrong)
            x->length--;
        if (!selected)
            break;
    }
}

static void branch_kills(explorer *x, double *schedules, uint32_t *deepest) {
    for (uint32_t node = 0; node < x->nodes; node++)
        for (uint32_t other = 0; other < x->nodes; other++)
            for (int drop = 0; drop < 2 && other != node; drop++) {
                world_action a = {WORLD_KILL, node, other, drop};
                bool kills = x->kills;
                x->kills = false;
                if (!x->result.wrong)
                    branch(x, a, schedules, deepest);
                x->kills = kills;
            }
}

/* From the world at the end of the path. Returns the longest way from there. */
static uint32_t explore(explorer *x, double *schedules) {
    world *w = world_of(x, x->length);
    uint64_t digest[2];
    world_action notice;
    x->result.wrong = world_wrong(w);
    if (!x->result.wrong && x->length + 1 >= DEPTH_MAX)
        x->result.wrong = "it does not end";
    if (x->result.wrong)
        return 0;
    world_digest(w, digest);
    digest[0] += x->kills; /* what may yet happen is part of the state */
    state *known = look_up(x, digest);
    if (known->digest[0] | known->digest[1]) {
        if (known->schedules < 0)
            x->result.wrong = "it goes round in circles";
        *schedules = known->schedules;
        return known->depth;
    }
    if (x->result.states == x->states_max) {
        x->result.complete = false;
        return 0;
    }
    x->result.states++;
    known->digest[0] = digest[0];
    known->digest[1] = digest[1];
    known->schedules = -1;
    if (world_counted(w)->idle > x->result.messages)
        x->result.messages = world_counted(w)->idle;
    double sum = 0;
    uint32_t deepest = 0;
    bool noticing = world_unnoticed(w, &notice);
    if (x->kills)
        branch_kills(x, &sum, &deepest);
    if (noticing && !x->result.wrong)
        branch(x, notice, &sum, &deepest);
    for (uint32_t i = 0; i < world_runnable(w) && !x->result.wrong; i++)
        branch(x, world_run(w, i), &sum, &deepest);
    for (uint32_t i = 0; i < world_arriving(w) && !x->result.wrong; i++)
        branch(x, world_deliver(w, i), &sum, &deepest);
    if (!noticing && !world_runnable(w) && !world_arriving(w))
        sum += 1;
    known->schedules = sum;
    known->depth = deepest;
    *schedules = sum;
    return deepest;
}

static void print_path(explorer *x, FILE *out) {
    char text[200];
    fprintf(out, "    %s:\n", x->result.wrong);
    for (uint32_t i = 0; i < x->length && i < PRINT_MAX; i++) {
        world_describe(world_of(x, i), x->path[i], text, sizeof text);
        fprintf(out, "    %3u  %s\n", i + 1, text);
    }
}

cluster_explored cluster_explore(const world_options *o, const world_tree *t, bool kills, uint64_t states_max,
                                 FILE *out) {
    explorer *x = calloc(1, sizeof *x);
    cluster_explored none = {0, 0, 0, 0, 0, false, "out of memory"}, result;
    if (!x)
        return none;
    for (x->places = 1024; x->places < states_max + states_max / 2;)
        x->places *= 2;
    x->size = world_size(o, t);
    x->table = calloc(x->places, sizeof *x->table);
    x->worlds = malloc((DEPTH_MAX + 1) * x->size);
    x->states_max = states_max;
    x->kills = kills;
    x->nodes = o->nodes;
    x->result.complete = true;
    find_seeds(x);
    if (x->table && x->worlds) {
        world_begin(x->worlds, o, t);
        x->result.depth = explore(x, &x->result.schedules);
        if (x->result.wrong && out)
            print_path(x, out);
        result = x->result;
    } else
        result = none;
    free(x->table);
    free(x->worlds);
    free(x);
    return result;
}
