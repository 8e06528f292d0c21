#define _POSIX_C_SOURCE 200809L /* for the platform header */
#define UTS_WITHOUT_PROGRAM

#include "task.h"
#include "uts_tree.h"

#include <stdlib.h>

/* Siblings not yet visited. */
typedef struct range {
    uts_node parent;
    uint32_t begin, end;
} range;

typedef struct walk {
    const uts_tree *tree;
    uts_table *table;
    range *stack;
    size_t top, capacity;
    uts_counts counts;
} walk;

/* A root may have 10^9 children: visit this many at a time, so that the stack need not hold them all. */
enum { BLOCK = 256 };

static bool make_room(walk *w) {
    if (w->top + BLOCK <= w->capacity)
        return true;
    size_t capacity = 2 * w->capacity + BLOCK;
    range *stack = (range *)realloc(w->stack, capacity * sizeof *stack);
    if (stack == NULL)
        return false;
    w->stack = stack;
    w->capacity = capacity;
    return true;
}

/* NULL when out of memory. */
static const uts_row *row_at(walk *w, uint32_t depth) {
    uts_table *table = w->table;
    while (depth >= table->count && !table->lasts)
        if (uts_table_grow(table, w->tree) != BL_OK)
            return NULL;
    return table->rows + (depth < table->count ? depth : table->count - 1);
}

/* Visits the siblings and leaves those with children on the stack. Whether a node is a leaf is a coin toss to the
 * branch predictor, so every node is written to the top of the stack, and the top moves or not. */
static void visit(walk *w, const range *siblings, const uts_row *row) {
    uint32_t depth = siblings->parent.depth;
    size_t top = w->top;
    for (uint32_t i = siblings->begin; i < siblings->end; i++) {
        range *node = w->stack + top;
        uts_sha1_child(node->parent.state, siblings->parent.state, i);
        uint32_t value = node->parent.state[4] & UTS_VALUE_MASK;
        node->parent.depth = depth + 1;
        node->begin = 0;
        node->end = row != NULL ? uts_children(row, value) : uts_rule(w->tree, depth, value);
        top += node->end > 0;
    }
    uint32_t count = siblings->end - siblings->begin;
    w->counts.nodes += count;
    w->counts.leaves += count - (top - w->top);
    if (w->counts.depth < depth)
        w->counts.depth = depth;
    w->top = top;
}

static range take(walk *w) {
    range *newest = w->stack + w->top - 1, taken = *newest;
    if (taken.end - taken.begin > BLOCK)
        newest->begin = taken.end = taken.begin + BLOCK;
    else
        w->top--;
    return taken;
}

static int count_below(walk *w) {
    while (w->top > 0) {
        range siblings = take(w);
        const uts_row *row = w->table != NULL ? row_at(w, siblings.parent.depth) : NULL;
        if ((w->table != NULL && row == NULL) || !make_room(w))
            return BL_ENOMEM;
        visit(w, &siblings, row);
    }
    return BL_OK;
}

int uts_twin(const uts_tree *tree, uts_table *table, uts_counts *counts) {
    walk w = {.tree = tree, .table = table, .counts = {.nodes = 1}};
    uint32_t children = uts_root_children(tree);
    if (!make_room(&w))
        return BL_ENOMEM;
    if (children > 0)
        w.stack[w.top++] = (range){uts_root(tree), 0, children};
    else
        w.counts.leaves = 1;
    int status = count_below(&w);
    free(w.stack);
    *counts = w.counts;
    return status;
}
