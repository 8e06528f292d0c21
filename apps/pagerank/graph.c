#include "graph.h"

#include "../common/parse.h"
#include "../common/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct edge {
    uint32_t from, to;
} edge;

/* Edges as read, with the node numbers of the file. */
typedef struct edge_list {
    edge *at;
    uint32_t count, room;
    uint32_t nodes; /* as declared by the file, numbered from 1; 0 if the edges determine them */
} edge_list;

/* Memory grows with the data read, not with what a header claims. */
static bool grow(source *s, edge_list *list) {
    if (list->count == GRAPH_EDGES_MAX)
        return source_fail(s, "more than the %" PRIu32 " edges that are accepted", GRAPH_EDGES_MAX);
    uint32_t room = list->room ? list->room * 2 : 1024;
    edge *at = realloc(list->at, sizeof *at * room);
    if (!at)
        return source_fail(s, "out of memory after %" PRIu32 " edges", list->count);
    list->at = at;
    list->room = room;
    return true;
}

static bool add(source *s, edge_list *list, uint32_t from, uint32_t to) {
    if (list->count == list->room && !grow(s, list))
        return false;
    list->at[list->count++] = (edge){from, to};
    return true;
}

/* ---- lines ---- */

/* An unterminated last line may have lost digits. */
static bool end_line(source *s, const char *expected) {
    text_skip_blanks(s);
    if (text_peek(s) == SOURCE_END)
        return source_fail(s, "line %" PRIu64 ": the end of the line is missing; the file may be cut", s->line);
    if (!text_at_line_end(s))
        return source_fail(s, "line %" PRIu64 ": more than %s", s->line, expected);
    text_next(s);
    return !s->failed;
}

/* True at a line that holds data; skips blank lines and those that begin with `mark`. */
static bool find_line(source *s, char mark) {
    while (source_more(s)) {
        text_skip_blanks(s);
        if (!text_at_line_end(s) && text_peek(s) != mark)
            return true;
        if (!text_skip_line(s))
            return false;
    }
    return false;
}

static bool read_whole(source *s, uint32_t least, uint32_t most, const char *what, const char *expected,
                       uint32_t *value) {
    char word[SOURCE_WORD];
    if (!text_word(s, word))
        return false;
    if (word[0] == '\0')
        return source_fail(s, "line %" PRIu64 ": too few values; expected %s", s->line, expected);
    if (!parse_u32(word, value) || *value < least || *value > most)
        return source_fail(s,
                           "line %" PRIu64 ": \"%s\" is not %s; expected a whole number from %" PRIu32 " to %" PRIu32,
                           s->line, word, what, least, most);
    return true;
}

/* ---- SNAP ---- */

static const char snap_line[] = "two node numbers, FROM and TO";

static bool read_snap(source *s, edge_list *list) {
    while (find_line(s, '#')) {
        uint32_t from, to;
        if (!read_whole(s, 0, UINT32_MAX, "a node number", snap_line, &from) ||
            !read_whole(s, 0, UINT32_MAX, "a node number", snap_line, &to) || !end_line(s, snap_line) ||
            !add(s, list, from, to))
            return false;
    }
    return s->failed ? false : list->count > 0 || source_fail(s, "holds no edges; expected lines of %s", snap_line);
}

/* ---- Matrix Market (Boisvert, Pozo, Remington 1996) ---- */

typedef struct market {
    bool valued, symmetric;
    uint32_t entries;
    uint64_t size_line;
} market;

static const char market_words[] =
    "\"%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric\""; /* in any case */

static bool read_market_head(source *s, market *m) {
    char word[5][SOURCE_WORD];
    for (int i = 0; i < 5; i++)
        if (!text_word(s, word[i]))
            return false;
    m->symmetric = strcasecmp(word[4], "symmetric") == 0;
    m->valued = strcasecmp(word[3], "pattern") != 0;
    bool good = strcasecmp(word[0], "%%MatrixMarket") == 0 && strcasecmp(word[1], "matrix") == 0 &&
                strcasecmp(word[2], "coordinate") == 0 && (m->symmetric || strcasecmp(word[4], "general") == 0) &&
                (!m->valued || strcasecmp(word[3], "integer") == 0 || strcasecmp(word[3], "real") == 0);
    return good ? end_line(s, market_words) : source_fail(s, "line %" PRIu64 ": expected %s", s->line, market_words);
}

/* Nodes without edges take memory too, so the number of entries limits how many nodes a header may claim. */
static bool check_market_nodes(source *s, uint32_t nodes, uint32_t entries) {
    return nodes <= GRAPH_NODES_FREE || nodes / GRAPH_NODES_PER_ENTRY <= entries ||
           source_fail(s,
                       "line %" PRIu64 ": %" PRIu32 " nodes but only %" PRIu32 " entries; accepted: up to %" PRIu32
                       " nodes, or %" PRIu32 " for each entry",
                       s->line, nodes, entries, GRAPH_NODES_FREE, GRAPH_NODES_PER_ENTRY);
}

static bool read_market_size(source *s, market *m, edge_list *list) {
    static const char expected[] = "the three numbers ROWS COLUMNS ENTRIES";
    uint32_t columns;
    if (!find_line(s, '%'))
        return source_fail(s, "line %" PRIu64 ": the file ends; expected %s", s->line, expected);
    m->size_line = s->line;
    if (!read_whole(s, 1, GRAPH_NODES_MAX, "a number of rows", expected, &list->nodes) ||
        !read_whole(s, 1, GRAPH_NODES_MAX, "a number of columns", expected, &columns) ||
        !read_whole(s, 0, GRAPH_EDGES_MAX, "a number of entries", expected, &m->entries))
        return false;
    if (columns != list->nodes)
        return source_fail(s, "line %" PRIu64 ": %" PRIu32 " rows and %" PRIu32 " columns; expected as many of both",
                           s->line, list->nodes, columns);
    return check_market_nodes(s, list->nodes, m->entries) && end_line(s, expected);
}

static bool read_market_entry(source *s, const market *m, edge_list *list) {
    const char *expected = m->valued ? "ROW COLUMN VALUE" : "ROW COLUMN";
    char word[SOURCE_WORD];
    uint32_t row, column;
    double ignored;
    if (!read_whole(s, 1, list->nodes, "a row of this matrix", expected, &row) ||
        !read_whole(s, 1, list->nodes, "a column of this matrix", expected, &column))
        return false;
    if (m->valued && (!text_word(s, word) || !text_number(s, word, &ignored)))
        return false;
    return end_line(s, expected) && add(s, list, row, column) &&
           (!m->symmetric || row == column || add(s, list, column, row));
}

static bool read_market(source *s, edge_list *list) {
    market m;
    if (!read_market_head(s, &m) || !read_market_size(s, &m, list))
        return false;
    for (uint32_t i = 0; i < m.entries; i++) {
        if (!find_line(s, '%'))
            return source_fail(
                s, "line %" PRIu64 ": the file ends after %" PRIu32 " entries; line %" PRIu64 " declares %" PRIu32,
                s->line, i, m.size_line, m.entries);
        if (!read_market_entry(s, &m, list))
            return false;
    }
    if (find_line(s, '%'))
        return source_fail(s, "line %" PRIu64 ": more than the %" PRIu32 " entries that line %" PRIu64 " declares",
                           s->line, m.entries, m.size_line);
    return !s->failed;
}

/* ---- from node numbers of the file to nodes ---- */

static void radix_pass(uint32_t *to, const uint32_t *from, size_t count, unsigned shift) {
    size_t start[256] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        start[from[i] >> shift & 255]++;
    for (int digit = 0; digit < 256; digit++) {
        size_t n = start[digit];
        start[digit] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[start[from[i] >> shift & 255]++] = from[i];
}

/* Sorts, removes duplicates and returns how many are left. `spare` has room for as many. */
static size_t sort_distinct(uint32_t *number, uint32_t *spare, size_t count) {
    for (unsigned shift = 0; shift < 32; shift += 16) {
        radix_pass(spare, number, count, shift);
        radix_pass(number, spare, count, shift + 8);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || number[kept - 1] != number[i])
            number[kept++] = number[i];
    return kept;
}

static bool label_by_edges(graph *g, const edge_list *list) {
    size_t count = 2 * (size_t)list->count;
    uint32_t *number = malloc(sizeof *number * count), *spare = malloc(sizeof *spare * count);
    for (size_t i = 0; number && i < list->count; i++) {
        number[2 * i] = list->at[i].from;
        number[2 * i + 1] = list->at[i].to;
    }
    if (number && spare)
        g->nodes = (uint32_t)sort_distinct(number, spare, count);
    bool good = number && spare;
    free(spare);
    g->label = good ? realloc(number, sizeof *number * g->nodes) : NULL;
    if (!g->label)
        free(number);
    return g->label != NULL;
}

static bool label_in_order(graph *g, uint32_t nodes) {
    g->nodes = nodes;
    g->label = malloc(sizeof *g->label * nodes);
    for (uint32_t v = 0; g->label && v < nodes; v++)
        g->label[v] = v + 1;
    return g->label != NULL;
}

static uint32_t node_of(const graph *g, uint32_t label) {
    uint32_t low = 0, high = g->nodes - 1;
    if (g->label[high] - g->label[0] == high) /* no gaps, as in most files */
        return label - g->label[0];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->label[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Stable, so that the in-edges of a node keep the order of the file. */
static bool place_edges(graph *g, const edge_list *list) {
    g->edges = list->count;
    g->out_degree = calloc(g->nodes, sizeof *g->out_degree);
    g->in_first = calloc((size_t)g->nodes + 2, sizeof *g->in_first);
    g->in_source = malloc(sizeof *g->in_source * (g->edges ? g->edges : 1));
    if (!g->out_degree || !g->in_first || !g->in_source)
        return false;
    uint32_t *next = g->in_first + 1; /* one slot ahead, so that in the end it points to where each list begins */
    for (uint32_t i = 0; i < g->edges; i++) {
        edge *e = &list->at[i];
        *e = (edge){node_of(g, e->from), node_of(g, e->to)};
        g->out_degree[e->from]++;
        next[e->to + 1]++;
    }
    for (uint32_t v = 1; v <= g->nodes; v++)
        next[v] += next[v - 1];
    for (uint32_t i = 0; i < g->edges; i++)
        g->in_source[next[list->at[i].to]++] = list->at[i].from;
    return true;
}

static bool read_file(source *s, graph *g) {
    edge_list list = {0};
    bool good = source_more(s) || source_fail(s, "is empty; expected a graph");
    good = good && (text_peek(s) == '%' ? read_market(s, &list) : read_snap(s, &list));
    if (good && !((list.nodes ? label_in_order(g, list.nodes) : label_by_edges(g, &list)) && place_edges(g, &list)))
        good = source_fail(s, "out of memory for %" PRIu32 " edges", list.count);
    if (good && g->nodes > GRAPH_NODES_MAX)
        good = source_fail(s, "more than the %" PRIu32 " nodes that are accepted", GRAPH_NODES_MAX);
    free(list.at);
    return good;
}

int graph_read(graph *read, const char *path, app_error *error) {
    size_t length = strlen(path);
    source s;
    *read = (graph){0};
    bool good =
        source_open(&s, path, length > 3 && strcmp(path + length - 3, ".gz") == 0, error) && read_file(&s, read);
    source_close(&s);
    if (!good)
        graph_free(read);
    return good ? 0 : 1;
}

void graph_free(graph *g) {
    free(g->label);
    free(g->out_degree);
    free(g->in_first);
    free(g->in_source);
    *g = (graph){0};
}
