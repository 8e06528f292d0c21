#include "random_schedule.h"
#include "trees.h"

#include <ballast/parts/random.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 64, STEPS_MAX = 1 << 20 };

static uint32_t below(uint64_t *random, uint32_t n) { return (uint32_t)((bl__random64(random) >> 16) % n); }

/* The world's memory is kept for the next one: most are small. */
static void *memory_for(size_t size) {
    static void *memory;
    static size_t room;
    if (size > room) {
        free(memory);
        memory = malloc(size);
        room = memory ? size : 0;
    }
    return memory;
}

static world_options some_options(uint64_t *random) {
    static const uint32_t sizes[] = {2, 3, 4, 8, 16, NODES_MAX};
    uint32_t largest = sizes[below(random, 6)];
    world_options o;
    o.nodes = 2 + below(random, largest - 1);
    o.most = below(random, 4) ? 1000 : 1 + below(random, 3);
    o.seed = (uint32_t)bl__random64(random);
    o.early = below(random, 2);
    o.lazy = below(random, 3) == 0;
    o.strong = below(random, 2) ? bl__random64(random) : 0;
    return o;
}

/* How the schedule prefers running to arriving, and one pair to another. */
typedef struct habits {
    uint32_t runs, of; /* runs an entry in `runs` of `of` steps */
    uint32_t slow;     /* in 8 pairs */
    uint64_t pairs;    /* which ones */
} habits;

static bool is_slow(const habits *h, world_action a) {
    return ((a.from * 64u + a.node) * h->pairs >> 40) % 8 < h->slow;
}

static world_action select_action(const world *w, const habits *h, uint64_t *random) {
    uint32_t runnable = world_runnable(w), arriving = world_arriving(w);
    if (runnable && (!arriving || below(random, h->of) < h->runs))
        return world_run(w, below(random, runnable));
    world_action a = world_deliver(w, below(random, arriving));
    for (int i = 0; i < 8 && is_slow(h, a); i++)
        a = world_deliver(w, below(random, arriving));
    return a;
}

/* Kills a node, if two others live: one of those notices. */
static bool some_kill(const world *w, uint32_t nodes, uint64_t *random, world_action *a) {
    uint32_t node = below(random, nodes), other = below(random, nodes);
    *a = (world_action){WORLD_KILL, node, other, below(random, 2)};
    return node != other && world_alive(w, node) && world_alive(w, other);
}

/* When the last result has been taken, the nodes that were busy ask, are refused and leave their names; reports climb
 * the tree, each of those that were under way may start a probe, and the last probe finds everything idle. */
static uint64_t allowed_messages(uint32_t nodes) {
    uint32_t dimensions = 0;
    while (1u << dimensions < nodes)
        dimensions++;
    return (uint64_t)nodes * (8 + 4 * dimensions);
}

cluster_schedule cluster_random(uint64_t seed, FILE *out) {
    static tree_memory trees;
    cluster_schedule c;
    world_tree t;
    char text[200];
    uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
    memset(&c, 0, sizeof c);
    if (!random)
        random = 1;
    world_options o = some_options(&random);
    uint32_t size = below(&random, 4) ? 20 : 200;
    c.nodes = o.nodes;
    c.entries = below(&random, 16) ? 1 + below(&random, size) : 0;
    c.allowed = allowed_messages(o.nodes);
    tree_random(&trees, c.entries, o.nodes, below(&random, 2), &random, &t);
    habits h = {1 + below(&random, 7), 8, below(&random, 8), bl__random64(&random)};
    uint64_t kill_at = below(&random, 5) ? UINT64_MAX : below(&random, 4 * c.entries + 2 * o.nodes);
    world *w = memory_for(world_size(&o, &t));
    if (!w) {
        c.wrong = "out of memory";
        return c;
    }
    world_begin(w, &o, &t);
    while (!(c.wrong = world_wrong(w))) {
        world_action a, notice;
        bool unnoticed = world_unnoticed(w, &notice);
        bool anything = world_runnable(w) || world_arriving(w);
        if (c.steps >= kill_at && some_kill(w, o.nodes, &random, &a)) {
            c.killed++;
            kill_at =
                c.killed < 3 && c.killed + 2 < o.nodes && below(&random, 2) ? c.steps + below(&random, 50) : UINT64_MAX;
        } else if (unnoticed && (!anything || below(&random, 16) == 0))
            a = notice;
        else if (anything)
            a = select_action(w, &h, &random);
        else
            break;
        if (out) {
            world_describe(w, a, text, sizeof text);
            fprintf(out, "%6llu  %s\n", (unsigned long long)c.steps, text);
        }
        world_do(w, a);
        c.sums = *world_counted(w);
        if (++c.steps > STEPS_MAX)
            c.wrong = "it does not end";
        else if (!c.killed && c.sums.idle > c.allowed)
            c.wrong = "nobody has work, and messages do not cease";
        if (c.wrong)
            break;
    }
    return c;
}
