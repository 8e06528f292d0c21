#include "cells.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 8 }; /* 32^8 exceeds the length of any list */

/* Lists of lists, built in two passes over the same code: the first counts, the second fills. */
typedef struct lists {
    uint32_t *first; /* lists + 1; while filling, where the next entry of each list goes */
    uint32_t *entry; /* NULL while counting */
} lists;

static void lists_add(lists *l, uint32_t list, uint32_t entry) {
    if (l->entry)
        l->entry[l->first[list]++] = entry;
    else
        l->first[list + 1]++;
}

static bool lists_turn(lists *l, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        l->first[i + 1] += l->first[i];
    l->entry = malloc(sizeof *l->entry * (l->first[count] ? l->first[count] : 1));
    return l->entry != NULL;
}

/* Each `first` has advanced to the end of its list, where the next list begins. */
static void lists_end(lists *l, uint32_t count) {
    memmove(l->first + 1, l->first, sizeof *l->first * count);
    l->first[0] = 0;
}

/* ---- cells ---- */

typedef struct builder {
    const graph *g;
    pagerank_cells *cells;
    lists sources;
    uint32_t *dangling, dangling_count; /* nodes without out-edges */
    uint64_t level[LEVELS_MAX];         /* cells of each level; 0 are the nodes */
    uint32_t next[LEVELS_MAX];          /* the next cell of each level */
} builder;

static uint32_t pieces_of(uint32_t count) { return (count - 1) / PAGERANK_FAN + 1; }

static void count_pieces(builder *b, uint32_t count) {
    for (int level = 1; count > PAGERANK_FAN; level++) {
        count = pieces_of(count);
        b->level[level] += count;
    }
}

static uint64_t whole_units(const builder *b, uint64_t cells) {
    return (cells + b->cells->unit_cells - 1) / b->cells->unit_cells;
}

/* Where each level begins, and how many units there are. The dangling mass gets a separate unit, or it would hold up
 * others. */
static bool lay_out(builder *b) {
    pagerank_cells *c = b->cells;
    b->level[0] = c->nodes;
    for (uint32_t v = 0; v < c->nodes; v++)
        count_pieces(b, b->g->in_first[v + 1] - b->g->in_first[v]);
    count_pieces(b, b->dangling_count);
    uint64_t units = 0;
    for (int level = 0; level < LEVELS_MAX; level++) {
        b->next[level] = (uint32_t)(units * c->unit_cells);
        units += whole_units(b, b->level[level]);
        if (units * c->unit_cells >= UINT32_MAX - c->unit_cells)
            return false;
        if (level == 0)
            c->node_units = (uint32_t)units;
    }
    c->dangling = b->dangling_count;
    c->units = (uint32_t)units + (c->dangling ? 1 : 0);
    return true;
}

/* Places the list of a cell: directly if it is short, otherwise piece by piece, level by level. */
static void place_list(builder *b, uint32_t cell, const uint32_t *list, uint32_t count) {
    uint32_t begin = 0; /* above the lowest level, a list is a run of consecutive cells */
    for (int level = 1; count > PAGERANK_FAN; level++, list = NULL) {
        uint32_t first = b->next[level];
        for (uint32_t i = 0; i < count; i++)
            lists_add(&b->sources, first + i / PAGERANK_FAN, list ? list[i] : begin + i);
        count = pieces_of(count);
        b->next[level] += count;
        begin = first;
    }
    for (uint32_t i = 0; i < count; i++)
        lists_add(&b->sources, cell, list ? list[i] : begin + i);
}

static void place_all(builder *b) {
    uint32_t next[LEVELS_MAX], dangling;
    const graph *g = b->g;
    memcpy(next, b->next, sizeof next);
    for (uint32_t v = 0; v < g->nodes; v++)
        place_list(b, v, g->in_source + g->in_first[v], g->in_first[v + 1] - g->in_first[v]);
    if (cells_dangling(b->cells, &dangling))
        place_list(b, dangling, b->dangling, b->dangling_count);
    memcpy(b->next, next, sizeof next);
}

static bool make_sources(builder *b) {
    pagerank_cells *c = b->cells;
    uint32_t cells = cells_count(c);
    c->source_first = calloc((size_t)cells + 1, sizeof *c->source_first);
    b->sources.first = c->source_first;
    if (!c->source_first)
        return false;
    place_all(b);
    if (!lists_turn(&b->sources, cells))
        return false;
    c->source = b->sources.entry;
    place_all(b);
    lists_end(&b->sources, cells);
    return true;
}

static bool make_scale(builder *b, double damping) {
    pagerank_cells *c = b->cells;
    uint32_t cells = cells_count(c);
    c->scale = malloc(sizeof *c->scale * cells);
    for (uint32_t i = 0; c->scale && i < cells; i++) {
        uint32_t degree = i < c->nodes ? b->g->out_degree[i] : 0;
        c->scale[i] = degree ? damping / degree : 1;
    }
    return c->scale != NULL;
}

/* ---- units ---- */

/* Which units add up values of which others, each pair once: seen[u] is the last unit that was found to use unit u. */
static void place_targets(const pagerank_cells *c, lists *targets, uint32_t *seen) {
    memset(seen, 0xff, sizeof *seen * c->units);
    for (uint32_t unit = 0; unit < c->units; unit++) {
        uint32_t begin = c->source_first[unit * c->unit_cells], end = c->source_first[(unit + 1) * c->unit_cells];
        c->needs[unit] = 0;
        for (uint32_t i = begin; i < end; i++) {
            uint32_t from = c->source[i] / c->unit_cells;
            if (seen[from] == unit)
                continue;
            seen[from] = unit;
            lists_add(targets, from, unit);
            c->needs[unit]++;
        }
    }
}

static bool make_targets(pagerank_cells *c) {
    uint32_t *seen = malloc(sizeof *seen * c->units);
    c->needs = malloc(sizeof *c->needs * c->units);
    c->target_first = calloc((size_t)c->units + 1, sizeof *c->target_first);
    lists targets = {c->target_first, NULL};
    bool good = seen && c->needs && c->target_first;
    if (good) {
        place_targets(c, &targets, seen);
        good = lists_turn(&targets, c->units);
    }
    if (good) {
        c->target = targets.entry;
        place_targets(c, &targets, seen);
        lists_end(&targets, c->units);
    }
    free(seen);
    return good;
}

/* ---- all of it ---- */

static bool find_dangling(builder *b) {
    b->dangling = malloc(sizeof *b->dangling * b->g->nodes);
    for (uint32_t v = 0; b->dangling && v < b->g->nodes; v++)
        if (b->g->out_degree[v] == 0)
            b->dangling[b->dangling_count++] = v;
    return b->dangling != NULL;
}

bool cells_make(pagerank_cells *made, const graph *g, double damping, uint32_t unit_cells) {
    builder b = {.g = g, .cells = made};
    memset(made, 0, sizeof *made);
    made->nodes = g->nodes;
    made->unit_cells = unit_cells;
    bool good = find_dangling(&b) && lay_out(&b) && make_sources(&b) && make_scale(&b, damping) && make_targets(made);
    free(b.dangling);
    if (!good)
        cells_free(made);
    return good;
}

void cells_free(pagerank_cells *c) {
    free(c->source_first);
    free(c->source);
    free(c->scale);
    free(c->target_first);
    free(c->target);
    free(c->needs);
    memset(c, 0, sizeof *c);
}

uint32_t cells_count(const pagerank_cells *c) { return c->units * c->unit_cells; }

bool cells_dangling(const pagerank_cells *c, uint32_t *cell) {
    *cell = cells_count(c) - c->unit_cells;
    return c->dangling != 0;
}
