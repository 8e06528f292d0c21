#include "trees.h"

#include <ballast/parts/random.h>

/* Entry e is the next child of its parent, behind the others. */
static void link_child(tree_memory *m, uint32_t e) {
    uint32_t p = m->parent[e];
    if (p == WORLD_NONE)
        return;
    uint16_t *at = &m->child[p];
    while (*at != WORLD_NONE)
        at = &m->sibling[*at];
    *at = (uint16_t)e;
}

static void add(tree_memory *m, world_tree *t, uint32_t parent, uint32_t where, bool late) {
    uint32_t e = t->count++;
    m->parent[e] = (uint16_t)parent;
    m->where[e] = (uint16_t)where;
    m->late[e] = late;
    m->child[e] = m->sibling[e] = WORLD_NONE;
}

static void start(tree_memory *m, bool results, world_tree *t) {
    *t = (world_tree){0, results, m->parent, m->child, m->sibling, m->late, m->where};
}

bool tree_read(tree_memory *m, const char *text, bool results, world_tree *t) {
    uint32_t above[TREE_MAX], depth = 0, last = WORLD_NONE, parent = WORLD_NONE;
    start(m, results, t);
    for (; *text; text++) {
        if (*text >= 'a' && *text <= 'z' && t->count < TREE_MAX) {
            last = t->count;
            add(m, t, parent, 0, false);
        } else if (*text >= '0' && *text <= '9' && last != WORLD_NONE)
            m->where[last] = (uint16_t)(*text - '0');
        else if (*text == '\'' && last != WORLD_NONE)
            m->late[last] = 1;
        else if (*text == '(' && last != WORLD_NONE) {
            above[depth++] = parent;
            parent = last;
            last = WORLD_NONE;
        } else if (*text == ')' && depth) {
            last = parent;
            parent = above[--depth];
        } else
            return false;
    }
    for (uint32_t e = 0; e < t->count; e++)
        link_child(m, e);
    return depth == 0;
}

static uint32_t below(uint64_t *random, uint32_t n) { return (uint32_t)((bl__random64(random) >> 16) % n); }

void tree_random(tree_memory *m, uint32_t count, uint32_t nodes, bool results, uint64_t *random, world_tree *t) {
    uint32_t roots = below(random, 2) ? 1 : 1 + below(random, 2 * nodes);
    uint32_t places = below(random, 2) ? 1 : nodes;
    uint32_t near = 1 + below(random, below(random, 2) ? 4 : 64); /* how far back a parent lies: thin or bushy */
    uint32_t late = results ? below(random, 4) : 0;
    start(m, results, t);
    while (t->count < count) {
        uint32_t e = t->count;
        if (e < roots)
            add(m, t, WORLD_NONE, below(random, places), false);
        else
            add(m, t, e - 1 - below(random, near < e ? near : e), 0, below(random, 8) < late);
    }
    for (uint32_t e = count; e--;) { /* from behind, so that each goes in front */
        uint32_t p = m->parent[e];
        if (p == WORLD_NONE)
            continue;
        m->sibling[e] = m->child[p];
        m->child[p] = (uint16_t)e;
    }
}
