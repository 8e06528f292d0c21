#include "units.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MANY = 16 }; /* units per worker, from which on it does not matter whether all have as many */

/* Made in two passes over the same code: the first counts, the second fills. */
typedef struct builder {
    const graph *g;
    units *u;
    uint32_t dangling, weight;
    bool fills;
    uint32_t used;          /* weight of the unit so far */
    bool cuts;              /* in the middle of a row that is cut */
    pagerank_unit now;      /* the unit so far */
    uint32_t units, pieces; /* so far, as those below */
    uint32_t long_rows, cut_rows, sources;
    uint32_t long_partials, cut_partials; /* the latter lie behind all of the former */
    uint32_t cuts_at;                     /* where */
} builder;

static uint32_t pieces_of(uint32_t count) { return count ? (count - 1) / PAGERANK_FAN + 1 : 1; }

/* The partial sums of all levels but the highest, which is the row's value. */
static uint32_t levels_of(uint32_t count) {
    uint32_t all = 0;
    while (count > PAGERANK_FAN) {
        count = pieces_of(count);
        all += count;
    }
    return all;
}

static void close_unit(builder *b) {
    pagerank_unit *now = &b->now;
    now->source.end = b->sources;
    now->piece.end = b->pieces;
    now->longs.end = b->long_rows;
    now->cut.end = b->cut_rows + (b->cuts ? 1 : 0);
    if (b->fills)
        b->u->unit[b->units] = *now;
    b->units++;
    now->source.first = b->sources;
    now->piece.first = b->pieces;
    now->longs.first = b->long_rows;
    now->cut.first = b->cut_rows;
    b->used = 0;
}

static void add_piece(builder *b, uint32_t count, uint32_t target) {
    if (b->fills)
        b->u->piece[b->pieces] = (pagerank_piece){b->sources, target};
    b->pieces++;
    b->sources += count;
    b->used += count + 1;
}

/* Pieces whose sums are stored from `first` on. Returns how many units they are in. */
static uint32_t add_partials(builder *b, uint32_t count, uint32_t first) {
    uint32_t before = b->units;
    for (uint32_t i = 0; i < count; i += PAGERANK_FAN) {
        uint32_t n = count - i < PAGERANK_FAN ? count - i : PAGERANK_FAN;
        if (n + 1 > b->weight - b->used)
            close_unit(b);
        add_piece(b, n, PAGERANK_PARTIAL | (first + i / PAGERANK_FAN));
    }
    return b->units - before + 1;
}

static void add_long(builder *b, uint32_t row, uint32_t count) {
    if (b->fills)
        b->u->longs[b->long_rows] = (pagerank_piece){b->long_partials, row};
    add_partials(b, count, b->long_partials);
    b->long_rows++;
    b->long_partials += pieces_of(count);
}

static void add_cut(builder *b, uint32_t row, uint32_t count) {
    pagerank_cut cut = {row, b->cuts_at + b->cut_partials, pieces_of(count), 0};
    if (b->weight - b->used <= PAGERANK_FAN)
        close_unit(b);
    b->cuts = true;
    cut.units = add_partials(b, count, cut.first);
    b->cuts = false;
    if (b->fills)
        b->u->cut[b->cut_rows] = cut;
    b->cut_rows++;
    b->cut_partials += levels_of(count);
}

/* A row is only cut if much of a unit would stay empty otherwise. */
static void add_row(builder *b, uint32_t row, uint32_t count) {
    uint32_t pieces = pieces_of(count);
    uint64_t weight = (uint64_t)count + pieces;
    if (weight > b->weight - b->used && (pieces == 1 || weight <= b->weight / 4))
        close_unit(b);
    if (pieces == 1)
        add_piece(b, count, row);
    else if (weight <= b->weight - b->used && pieces <= PAGERANK_FAN)
        add_long(b, row, count);
    else
        add_cut(b, row, count);
}

/* Returns the number of units. */
static uint32_t add_all(builder *b, uint32_t weight) {
    builder begin = {
        .g = b->g, .u = b->u, .dangling = b->dangling, .weight = weight, .fills = b->fills, .cuts_at = b->cuts_at};
    *b = begin;
    add_row(b, b->g->nodes, b->dangling);
    for (uint32_t v = 0; v < b->g->nodes; v++)
        add_row(b, v, b->g->in_first[v + 1] - b->g->in_first[v]);
    close_unit(b);
    return b->units;
}

/* ---- how much work a unit should be ---- */

static uint64_t weight_of_all(const builder *b) {
    uint64_t all = (uint64_t)b->dangling + pieces_of(b->dangling) + b->g->edges;
    for (uint32_t v = 0; v < b->g->nodes; v++)
        all += pieces_of(b->g->in_first[v + 1] - b->g->in_first[v]);
    return all;
}

/* All workers get equally many units, as few as possible. Where rows end decides how full units are, hence the
 * attempts: larger ones, until one more for each worker would be better. */
static uint32_t choose_weight(builder *b, uint32_t workers) {
    uint64_t all = weight_of_all(b), rounds = (all - 1) / ((uint64_t)workers * PAGERANK_UNIT_EDGES) + 1;
    for (;; rounds++) {
        uint32_t least = (uint32_t)((all - 1) / (workers * rounds) + 1);
        least = least < UNIT_WEIGHT_MIN ? UNIT_WEIGHT_MIN : least;
        if (rounds > ROUNDS_MANY)
            return least;
        for (uint32_t weight = least; weight <= least + least / rounds && weight <= PAGERANK_UNIT_EDGES;
             weight += least / 32 + 1)
            if (add_all(b, weight) <= workers * rounds)
                return weight;
    }
}

/* ---- all of it ---- */

static bool allocate(units *u, const builder *counted, uint32_t nodes) {
    u->units = counted->units;
    u->pieces = counted->pieces;
    u->long_rows = counted->long_rows;
    u->cuts = counted->cut_rows;
    u->sources = counted->sources;
    u->partials = counted->long_partials + counted->cut_partials;
    u->unit = malloc(sizeof *u->unit * u->units);
    u->piece = malloc(sizeof *u->piece * ((size_t)u->pieces + 1));
    u->longs = malloc(sizeof *u->longs * ((size_t)u->long_rows + 1));
    u->cut = malloc(sizeof *u->cut * ((size_t)u->cuts + 1));
    u->source = malloc(sizeof *u->source * ((size_t)u->sources + 1));
    u->scale = malloc(sizeof *u->scale * ((size_t)nodes + 1));
    return u->unit && u->piece && u->longs && u->cut && u->source && u->scale;
}

/* The lists one after another, in the order of the rows. */
static void fill_nodes(units *u, const graph *g, double damping) {
    uint32_t dangling = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        u->scale[v] = g->out_degree[v] ? damping / g->out_degree[v] : 1;
        if (g->out_degree[v] == 0)
            u->source[dangling++] = v;
    }
    u->scale[g->nodes] = 1;
    if (g->edges)
        memcpy(u->source + dangling, g->in_source, sizeof *u->source * g->edges);
}

bool units_make(units *made, const graph *g, double damping, uint32_t workers, uint32_t weight) {
    builder b = {.g = g, .u = made};
    memset(made, 0, sizeof *made);
    for (uint32_t v = 0; v < g->nodes; v++)
        b.dangling += g->out_degree[v] == 0;
    if (weight == 0)
        weight = choose_weight(&b, workers);
    add_all(&b, weight);
    if (!allocate(made, &b, g->nodes)) {
        units_free(made);
        return false;
    }
    b.fills = true;
    b.cuts_at = b.long_partials;
    add_all(&b, weight);
    made->piece[made->pieces] = (pagerank_piece){made->sources, 0};
    made->longs[made->long_rows] = (pagerank_piece){b.cuts_at, 0};
    fill_nodes(made, g, damping);
    return true;
}

void units_free(units *u) {
    free(u->unit);
    free(u->piece);
    free(u->longs);
    free(u->cut);
    free(u->source);
    free(u->scale);
    memset(u, 0, sizeof *u);
}
