/* The host side of pagerank: the reader and what it rejects, the sequential twin against a plain power iteration, the
 * cells of the data-driven form, the units of the sweeps, and real graphs against known scores. */
#include "check.h"
#include "files.h"

#include "../apps/pagerank/cells.h"
#include "../apps/pagerank/graph.h"
#include "../apps/pagerank/twin.h"
#include "../apps/pagerank/units.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- the reader: accepted input ---- */

static graph read_text(const char *name, const char *text) {
    graph g;
    app_error error = {""};
    check_at("reading %s", name);
    write_file(name, text, strlen(text));
    if (!CHECK_SAME(graph_read(&g, path_of(name), &error), 0)) {
        printf("    %s\n", error.text);
        exit(check_end());
    }
    remove(path_of(name));
    return g;
}

/* Edges as "from>to" in the order of the in-lists, for example "1>0 2>0". */
static void has_edges(graph g, uint32_t nodes, const char *expected) {
    char text[512] = "";
    size_t used = 0;
    for (uint32_t v = 0; v < g.nodes; v++)
        for (uint32_t i = g.in_first[v]; i < g.in_first[v + 1] && used < sizeof text - 30; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%u>%u", used ? " " : "",
                                     g.label[g.in_source[i]], g.label[v]);
    CHECK_SAME(g.nodes, nodes);
    if (!CHECK(!strcmp(text, expected)))
        printf("    %s\n    %s\n", text, expected);
    uint32_t out = 0;
    for (uint32_t v = 0; v < g.nodes; v++)
        out += g.out_degree[v];
    CHECK_SAME(out, g.edges);
    graph_free(&g);
}

static void test_good_files(void) {
    has_edges(read_text("plain.txt", "0 1\n0 2\n2 0\n"), 3, "2>0 0>1 0>2");
    has_edges(read_text("windows.txt", "# nodes: 3\r\n0\t1\r\n\r\n0 2 \r\n  2 0\r\n"), 3, "2>0 0>1 0>2");
    has_edges(read_text("comments.txt", "0 1\n# in the middle \xc3\xa9\n  # another\n\n1 0\n# last, not ended"), 2,
              "1>0 0>1");
    has_edges(read_text("gaps.txt", "4294967295 7\n7 100\n100 4294967295\n"), 3, "4294967295>7 7>100 100>4294967295");
    has_edges(read_text("from_five.txt", "6 5\n5 7\n"), 3, "6>5 5>7");
    has_edges(read_text("twice.txt", "1 1\n0 1\n0 1\n"), 2, "1>1 0>1 0>1");
    has_edges(read_text("pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n% note\n4 4 2\n1 2\n3 2\n"),
              4, "1>2 3>2");
    has_edges(read_text("real.mtx",
                        "%%matrixmarket MATRIX Coordinate Real General\r\n3 3 2\r\n1 2 -0.5e3\r\n% x\r\n\r\n"
                        "3 3 7\r\n% end"),
              3, "1>2 3>3");
    has_edges(read_text("symmetric.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 1\n"),
              3, "2>1 1>2 3>3");
    has_edges(read_text("no_edges.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 0\n"), 2, "");
#ifdef BL_HAVE_ZLIB
    has_edges(read_text("zipped.txt.gz", "0 1\n0 2\n2 0\n"), 3, "2>0 0>1 0>2");
    has_edges(read_text("zipped.mtx.gz", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n"), 2, "2>1");
#endif
}

/* ---- the reader: input rejected with one line that names the file ---- */

static void refuses(const char *name, const char *text, size_t bytes, const char *words) {
    graph g;
    app_error error = {""};
    check_at("refusing %s", name);
    write_file(name, text, bytes);
    CHECK_SAME(graph_read(&g, path_of(name), &error), 1);
    if (!CHECK(strstr(error.text, name) && strstr(error.text, words) && !strchr(error.text, '\n')))
        printf("    %s\n    %s\n", error.text, words);
    CHECK(!g.label && !g.in_first && !g.in_source && !g.out_degree);
    remove(path_of(name));
}
#define REFUSES(name, text, words) refuses(name, text, sizeof(text) - 1, words)

static void test_bad_lists(void) {
    REFUSES("empty.txt", "", "is empty");
    REFUSES("comments.txt", "# only\n\n# comments\n", "holds no edges");
    REFUSES("text.txt", "0 1\n1 two\n", "line 2: \"two\" is not a node number; expected a whole number from 0");
    REFUSES("negative.txt", "0 1\n\n-1 2\n", "line 3: \"-1\" is not a node number");
    REFUSES("huge.txt", "0 4294967296\n", "line 1: \"4294967296\" is not a node number");
    REFUSES("real.txt", "0 1.5\n", "line 1: \"1.5\"");
    REFUSES("one.txt", "0 1\n2\n", "line 2: too few values; expected two node numbers");
    REFUSES("three.txt", "0 1\n2 3 4\n", "line 2: more than two node numbers");
    REFUSES("joined.txt", "0 1 2 3\n", "line 1: more than two node numbers");
    REFUSES("cut.txt", "0 1\n1 2", "line 2: the end of the line is missing");
    REFUSES("binary.txt", "0 1\n\x01\x02\x00\xff\n", "line 2: byte 0x01");
    REFUSES("zero.txt", "0 1\n1 \0 2\n", "line 2: byte 0x00");
    REFUSES("commas.txt", "0,1\n", "line 1: \"0,1\"");
}

#define HEAD "%%MatrixMarket matrix coordinate pattern general\n"
static void test_bad_markets(void) {
    REFUSES("one_percent.mtx", "%MatrixMarket matrix coordinate pattern general\n2 2 0\n",
            "line 1: expected \"%%Matrix");
    REFUSES("array.mtx", "%%MatrixMarket matrix array real general\n2 2\n", "line 1: expected");
    REFUSES("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 0\n", "pattern|integer|real");
    REFUSES("skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 0\n", "general|symmetric");
    REFUSES("words.mtx", "%%MatrixMarket matrix coordinate pattern general more\n2 2 0\n", "line 1: more than");
    REFUSES("short.mtx", "%%MatrixMarket matrix coordinate\n", "line 1: expected");
    REFUSES("cut_head.mtx", "%%MatrixMarket matrix coordinate pattern general",
            "line 1: the end of the line is missing");
    REFUSES("no_size.mtx", HEAD "% nothing\n", "line 3: the file ends; expected the three numbers");
    REFUSES("size.mtx", HEAD "2 2\n", "line 2: too few values; expected the three numbers");
    REFUSES("sizes.mtx", HEAD "2 2 0 0\n", "line 2: more than the three numbers");
    REFUSES("none.mtx", HEAD "0 0 0\n", "line 2: \"0\" is not a number of rows");
    REFUSES("oblong.mtx", HEAD "2 3 0\n", "line 2: 2 rows and 3 columns");
    REFUSES("few.mtx", HEAD "2 2 3\n1 1\n1 2\n", "line 5: the file ends after 2 entries; line 2 declares 3");
    REFUSES("many.mtx", HEAD "2 2 1\n1 1\n1 2\n", "line 4: more than the 1 entries that line 2 declares");
    REFUSES("row.mtx", HEAD "2 2 1\n3 1\n",
            "line 3: \"3\" is not a row of this matrix; expected a whole number from 1 to 2");
    REFUSES("column.mtx", HEAD "2 2 1\n1 0\n", "line 3: \"0\" is not a column");
    REFUSES("value.mtx", HEAD "2 2 1\n1 2 5\n", "line 3: more than ROW COLUMN");
    REFUSES("claims.mtx", HEAD "2147483647 2147483647 1\n1 1\n",
            "line 2: 2147483647 nodes but only 1 entries; accepted: up to 1048576 nodes, or 64 for each entry");
    REFUSES("claims_more.mtx", HEAD "134217792 134217792 2097151\n1 1\n", "line 2: 134217792 nodes but only 2097151");
    REFUSES("promises.mtx", HEAD "134217792 134217792 2097153\n1 1\n", "line 4: the file ends after 1 entries");
    REFUSES("no_value.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n",
            "line 3: \"\" is not a number");
    REFUSES("bad_value.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n", "line 3: \"x\"");
    REFUSES("cut.mtx", HEAD "2 2 1\n1 2", "line 3: the end of the line is missing");
}

static void test_bad_files(void) {
    graph g;
    app_error error;
    check_at("files that are none");
    CHECK(graph_read(&g, path_of("missing.txt"), &error) == 1 && strstr(error.text, "missing.txt: cannot be opened"));
    CHECK(mkdir(path_of("folder.txt"), 0700) == 0);
    CHECK(graph_read(&g, path_of("folder.txt"), &error) == 1 && strstr(error.text, "folder.txt"));
    remove(path_of("folder.txt"));
#ifdef BL_HAVE_ZLIB
    static char text[20000], packed[20000];
    size_t bytes = 0;
    for (int i = 0; i < 1500; i++)
        bytes += (size_t)snprintf(text + bytes, sizeof text - bytes, "%d %d\n", i, i * 7919 % 1501);
    write_file("whole.txt.gz", text, bytes);
    FILE *file = fopen(path_of("whole.txt.gz"), "rb");
    size_t size = file ? fread(packed, 1, sizeof packed, file) : 0;
    CHECK(file && size > 100 && fclose(file) == 0);
    remove(path_of("whole.txt.gz"));
    for (size_t cut = 0; cut < size; cut += cut < 40 ? 1 : 97) {
        file = fopen(path_of("cut.txt.gz"), "wb");
        CHECK(file && fwrite(packed, 1, cut, file) == cut && fclose(file) == 0);
        check_at("gzip data cut after %zu of %zu bytes", cut, size);
        CHECK(graph_read(&g, path_of("cut.txt.gz"), &error) == 1 && strstr(error.text, "cut.txt.gz: "));
    }
    remove(path_of("cut.txt.gz"));
    packed[size / 2] ^= 4;
    file = fopen(path_of("broken.txt.gz"), "wb");
    CHECK(file && fwrite(packed, 1, size, file) == size && fclose(file) == 0);
    check_at("broken gzip data");
    CHECK(graph_read(&g, path_of("broken.txt.gz"), &error) == 1 && strstr(error.text, "broken.txt.gz: "));
    remove(path_of("broken.txt.gz"));
#endif
}

/* ---- graphs to compute on ---- */

/* Most nodes have edges to and from node 0, every third has no out-edges, some have no in-edges, some edges are
 * duplicated. */
static graph make_graph(uint32_t nodes, uint32_t edges, uint64_t seed) {
    char *text = malloc(24 * (size_t)(edges + 2 * nodes + 1));
    size_t used = 0;
    if (!text)
        exit(check_end());
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t from = check_below(&seed, nodes), to = check_below(&seed, nodes - nodes / 5);
        used += (size_t)sprintf(text + used, "%u %u\n", from - from % 3 * (from > 0), to);
    }
    for (uint32_t v = 0; v < nodes; v++)
        used += (size_t)sprintf(text + used, v % 3 ? "0 %u\n" : "%u 0\n", v);
    graph g = read_text("made.txt", text);
    free(text);
    return g;
}

/* The definition as it stands, written independently of the rest. */
static void plain_iterations(const graph *g, double damping, uint32_t iterations, double *rank) {
    double *next = malloc(sizeof *next * g->nodes);
    if (!next)
        exit(check_end());
    for (uint32_t v = 0; v < g->nodes; v++)
        rank[v] = 1.0 / g->nodes;
    for (uint32_t k = 0; k < iterations; k++) {
        double mass = 0;
        for (uint32_t v = 0; v < g->nodes; v++)
            mass += g->out_degree[v] ? 0 : rank[v];
        for (uint32_t v = 0; v < g->nodes; v++) {
            double sum = 0;
            for (uint32_t i = g->in_first[v]; i < g->in_first[v + 1]; i++)
                sum += rank[g->in_source[i]] / g->out_degree[g->in_source[i]];
            next[v] = (1 - damping) / g->nodes + damping * (sum + mass / g->nodes);
        }
        memcpy(rank, next, sizeof *rank * g->nodes);
    }
    free(next);
}

static double worst_difference(const double *a, const double *b, uint32_t count) {
    double worst = 0;
    for (uint32_t v = 0; v < count; v++)
        worst = fmax(worst, fabs(a[v] - b[v]) / b[v]);
    return worst;
}

static void test_twin(void) {
    static const uint32_t iterations[] = {1, 2, 7, 8, 9, 16, 30};
    static const double damping[] = {0.85, 0.5, 1};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        graph g = make_graph((uint32_t)(seed * seed * 11), (uint32_t)(seed * seed * (seed % 4) * 9), seed);
        double *ours = malloc(sizeof *ours * g.nodes), *plain = malloc(sizeof *plain * g.nodes);
        for (int i = 0; i < 7 && ours && plain; i++) {
            double d = damping[(seed + i) % 3];
            check_at("the twin, seed %u, %u iterations, damping %g", (unsigned)seed, iterations[i], d);
            CHECK(pagerank_twin(&g, d, iterations[i], ours));
            plain_iterations(&g, d, iterations[i], plain);
            CHECK(worst_difference(ours, plain, g.nodes) < 1e-12);
        }
        free(ours);
        free(plain);
        graph_free(&g);
    }
}

/* ---- cells and units ---- */

/* The nodes that a cell ultimately adds up, in order. */
static uint32_t leaves_of(const pagerank_cells *c, uint32_t cell, uint32_t *leaf) {
    uint32_t count = 0;
    for (uint32_t i = c->source_first[cell]; i < c->source_first[cell + 1]; i++) {
        uint32_t from = c->source[i];
        if (from < c->nodes)
            leaf[count++] = from;
        else
            count += leaves_of(c, from, leaf + count);
    }
    return count;
}

static void check_lists(const graph *g, const pagerank_cells *c, uint32_t *leaf) {
    bool right = true;
    uint32_t cell, count = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t n = g->in_first[v + 1] - g->in_first[v];
        right = right && leaves_of(c, v, leaf) == n && !memcmp(leaf, g->in_source + g->in_first[v], 4 * (size_t)n);
    }
    CHECK(right);
    for (uint32_t v = 0; v < g->nodes; v++)
        count += g->out_degree[v] == 0;
    CHECK_SAME(c->dangling, count);
    if (CHECK_SAME(cells_dangling(c, &cell), count > 0) && count) {
        CHECK_SAME(leaves_of(c, cell, leaf), count);
        CHECK(cell / c->unit_cells == c->units - 1 && c->target_first[c->units - 1] == c->target_first[c->units]);
    }
}

/* Every source of a cell lies in a unit that arrives at the cell's unit, and no other unit arrives. */
static void check_units(const pagerank_cells *c) {
    unsigned char *arrives = calloc((size_t)c->units * c->units, 1);
    bool right = arrives != NULL;
    for (uint32_t unit = 0; right && unit < c->units; unit++)
        for (uint32_t i = c->target_first[unit]; i < c->target_first[unit + 1]; i++)
            right = !arrives[(size_t)c->target[i] * c->units + unit]++ && right;
    for (uint32_t cell = 0; right && cell < cells_count(c); cell++) {
        uint32_t first = c->source_first[cell], end = c->source_first[cell + 1], edge = c->node_units * c->unit_cells;
        right = end - first <= PAGERANK_FAN;
        for (uint32_t i = first; i < end; i++) {
            arrives[(size_t)(cell / c->unit_cells) * c->units + c->source[i] / c->unit_cells] |= 2;
            right = right && (c->source[i] < edge) == (c->source[first] < edge);
        }
    }
    CHECK(right);
    for (uint32_t unit = 0; right && unit < c->units; unit++) {
        uint32_t needs = 0;
        for (uint32_t from = 0; from < c->units; from++) {
            unsigned char flag = arrives[(size_t)unit * c->units + from];
            right = right && (flag == 0 || flag == 3);
            needs += flag == 3;
        }
        right = right && needs == c->needs[unit];
    }
    CHECK(right);
    free(arrives);
}

static void test_cells(void) {
    static const uint32_t blocks[] = {1, 3, 64, 500};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        graph g = make_graph((uint32_t)(seed * seed * 40), (uint32_t)(seed * seed * 60), seed);
        uint32_t *leaf = malloc(sizeof *leaf * (g.edges + g.nodes));
        for (int i = 0; i < 4 && leaf; i++) {
            pagerank_cells c;
            check_at("cells, seed %u, block %u", (unsigned)seed, blocks[i]);
            if (!CHECK(cells_make(&c, &g, 0.85, blocks[i])))
                continue;
            check_lists(&g, &c, leaf);
            check_units(&c);
            cells_free(&c);
        }
        free(leaf);
        graph_free(&g);
    }
}

/* ---- the units of sweeps ---- */

/* Walks over all pieces in order, as the tasks of a wave do; `unit` is the one that a piece is in. */
typedef struct walk {
    const units *u;
    uint32_t piece, unit, longs, cut;
} walk;

static uint32_t end_of(const walk *w) { return w->u->piece[w->piece + 1].first; }

static void step_on(walk *w) {
    w->piece++;
    while (w->unit + 1 < w->u->units && w->piece == w->u->unit[w->unit].piece.end)
        w->unit++;
}

static bool in(pagerank_part part, uint32_t number) { return number >= part.first && number < part.end; }

/* The partial sums of a row from `first` on. Returns how many units they are in, 0 if something is wrong. */
static uint32_t walk_partials(walk *w, uint32_t source, uint32_t count, uint32_t first) {
    uint32_t units = 0, last = UINT32_MAX;
    for (uint32_t i = 0; i < count; i += PAGERANK_FAN, step_on(w)) {
        uint32_t n = count - i < PAGERANK_FAN ? count - i : PAGERANK_FAN;
        const pagerank_piece *p = &w->u->piece[w->piece];
        if (p->first != source + i || end_of(w) != source + i + n ||
            p->target != (PAGERANK_PARTIAL | (first + i / PAGERANK_FAN)))
            return 0;
        units += w->unit != last;
        last = w->unit;
    }
    return units;
}

static bool walk_row(walk *w, uint32_t row, uint32_t source, uint32_t count) {
    const units *u = w->u;
    const pagerank_piece *p = &u->piece[w->piece], *l = &u->longs[w->longs];
    const pagerank_cut *c = &u->cut[w->cut];
    uint32_t pieces = count ? (count - 1) / PAGERANK_FAN + 1 : 1, unit = w->unit;
    if (!(p->target & PAGERANK_PARTIAL)) {
        bool right = pieces == 1 && p->target == row && p->first == source && end_of(w) == source + count;
        step_on(w);
        return right;
    }
    if (w->longs < u->long_rows && l->target == row)
        return pieces <= PAGERANK_FAN && l[1].first - l->first == pieces && in(u->unit[unit].longs, w->longs++) &&
               walk_partials(w, source, count, l->first) == 1;
    bool right =
        w->cut < u->cuts && c->row == row && c->count == pieces && c->first >= l[u->long_rows - w->longs].first;
    for (uint32_t i = 0; right && i < c->units; i++)
        right = in(u->unit[unit + i].cut, w->cut);
    w->cut++;
    return right && walk_partials(w, source, count, c->first) == c->units;
}

static void check_rows(const graph *g, const units *u) {
    walk w = {.u = u};
    uint32_t dangling = 0;
    bool right = true;
    for (uint32_t v = 0; v < g->nodes; v++)
        if (g->out_degree[v] == 0)
            right = right && u->source[dangling++] == v;
    right = right && !memcmp(u->source + dangling, g->in_source, sizeof *u->source * g->edges);
    right = right && walk_row(&w, g->nodes, 0, dangling);
    for (uint32_t v = 0; right && v < g->nodes; v++)
        right = walk_row(&w, v, dangling + g->in_first[v], g->in_first[v + 1] - g->in_first[v]);
    CHECK(right && w.piece == u->pieces && w.longs == u->long_rows && w.cut == u->cuts);
}

/* What one unit ends with, the next begins with; a cut row may be in both. */
static void check_parts(const units *u, uint32_t weight) {
    pagerank_unit last = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    bool right = true;
    uint32_t arrivals = 0, expected = 0;
    for (uint32_t i = 0; i < u->units; i++) {
        const pagerank_unit *n = &u->unit[i];
        uint32_t is = n->source.end - n->source.first + n->piece.end - n->piece.first;
        right = right && n->source.first == last.source.end && n->piece.first == last.piece.end &&
                n->longs.first == last.longs.end && n->piece.first < n->piece.end && is <= weight;
        right = right && (n->cut.first == last.cut.end || n->cut.first + 1 == last.cut.end);
        arrivals += n->cut.end - n->cut.first;
        last = *n;
    }
    for (uint32_t i = 0; i < u->cuts; i++)
        expected += u->cut[i].units;
    CHECK(right && last.source.end == u->sources && last.piece.end == u->pieces && last.cut.end == u->cuts);
    CHECK_SAME(arrivals, expected);
}

static void test_units(void) {
    static const uint32_t weights[] = {0, UNIT_WEIGHT_MIN, 100, 1000, PAGERANK_UNIT_EDGES},
                          workers[] = {1, 7, 100, 526};
    uint32_t longs = 0, cuts = 0, several = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        graph g = make_graph((uint32_t)(seed * seed * seed * 12), (uint32_t)(seed * seed * seed * 60), seed);
        for (int i = 0; i < 20; i++) {
            units u;
            uint32_t weight = weights[i / 4], most = weight ? weight : PAGERANK_UNIT_EDGES, team = workers[i % 4];
            check_at("units, seed %u, weight %u, %u workers", (unsigned)seed, weight, team);
            if (!CHECK(units_make(&u, &g, 0.85, team, weight)))
                continue;
            check_rows(&g, &u);
            check_parts(&u, most);
            if (!weight) /* no worker has two units while another could take one of them */
                CHECK(u.units <= team || (uint64_t)u.sources + u.pieces > (uint64_t)team * PAGERANK_UNIT_EDGES * 3 / 4);
            longs += u.long_rows;
            for (uint32_t k = 0; k < u.cuts; k++)
                several += u.cut[k].units > 1;
            cuts += u.cuts;
            units_free(&u);
        }
        graph_free(&g);
    }
    CHECK(longs > 0 && several > 0 && cuts > several); /* there were all kinds */
}

/* ---- real graphs, through the application ---- */

#ifdef BL_HAVE_ZLIB
static double *read_known(const char *path, uint32_t nodes) {
    double *known = malloc(sizeof *known * nodes);
    gzFile file = gzopen(path, "rb");
    int bytes = (int)(sizeof *known * nodes);
    if (known && file && gzread(file, known, (unsigned)bytes) != bytes) {
        free(known);
        known = NULL;
    }
    if (file)
        gzclose(file);
    return file ? known : NULL;
}

static double *read_scores(const char *path, uint32_t nodes) {
    double *score = malloc(sizeof *score * nodes);
    FILE *file = fopen(path, "r");
    uint32_t node, v = 0;
    while (file && score && v < nodes && fscanf(file, "%u %lf", &node, &score[v]) == 2 && node == v)
        v++;
    CHECK(file && v == nodes && fgetc(file) == '\n' && fgetc(file) == EOF);
    if (file)
        fclose(file);
    return score;
}

static bool solve(const char *graph_path, const char *option, const char *value, const char *output) {
    const app *pagerank = app_find("pagerank");
    const char *values[16] = {NULL}, *how = "";
    app_error error = {""};
    void *problem = NULL;
    bl_context *context = NULL;
    bl_stats stats;
    for (int i = 0; pagerank->options[i].name; i++)
        values[i] = !strcmp(pagerank->options[i].name, "--graph")    ? graph_path
                    : !strcmp(pagerank->options[i].name, "--output") ? output
                    : !strcmp(pagerank->options[i].name, option)     ? value
                                                                     : pagerank->options[i].initial;
    bool good = CHECK_SAME(pagerank->open(&problem, values, 1, &error), 0) &&
                CHECK_SAME(bl_open(&context, &(bl_config){.device = "cpu"}), BL_OK) &&
                CHECK_SAME(pagerank->load(problem, context), BL_OK) &&
                CHECK_SAME(pagerank->run(problem, context, &stats), BL_OK) &&
                CHECK(pagerank->check(problem, &stats, true, &how, &error)) &&
                CHECK_SAME(pagerank->write(problem, context, &error), 0);
    if (!good)
        printf("    %s\n", error.text);
    if (context)
        pagerank->unload(problem, context);
    bl_close(context);
    if (problem)
        pagerank->close(problem);
    return good;
}

/* The known scores were taken after `known` iterations; converged scores are only as precise as the last of them. */
static void test_graph(const char *data, const char *name, uint32_t nodes, const char *suffix, const char *option,
                       const char *value, double precision) {
    char graph_path[512], known_path[512], output[512];
    snprintf(graph_path, sizeof graph_path, "%s/graphs/%s.txt.gz", data, name);
    snprintf(known_path, sizeof known_path, "%s/pagerank/%s.%s.f64le.gz", data, name, suffix);
    snprintf(output, sizeof output, "%s", path_of("scores.txt"));
    check_at("%s %s %s", name, option, value);
    double *known = read_known(known_path, nodes);
    if (access(graph_path, R_OK) != 0 || !known) {
        printf("skipped: %s or %s is missing\n", graph_path, known_path);
        free(known);
        return;
    }
    if (solve(graph_path, option, value, output)) {
        double *score = read_scores(output, nodes);
        double worst = score ? worst_difference(score, known, nodes) : INFINITY;
        if (!CHECK(worst < precision))
            printf("    %g\n", worst);
        free(score);
    }
    remove(output);
    free(known);
}

static void test_graphs(const char *data) {
    static const char gnutella[] = "p2p-Gnutella31", web[] = "web-NotreDame";
    test_graph(data, gnutella, 62586, "pr8", "--iterations", "8", 1e-10);
    test_graph(data, gnutella, 62586, "prconv", "--iterations", "23", 1e-10);
    test_graph(data, gnutella, 62586, "prconv", "--tolerance", "1e-12", 1e-9);
    test_graph(data, web, 325729, "pr8", "--iterations", "8", 1e-10);
    if (CHECK_SLOWER == 1)
        test_graph(data, web, 325729, "prconv", "--tolerance", "1e-12", 1e-10);
}
#endif

int main(void) {
    check_limit(200);
    if (!mkdtemp(folder))
        return 1;
    test_good_files();
    test_bad_lists();
    test_bad_markets();
    test_bad_files();
    test_twin();
    test_cells();
    test_units();
    const char *data = getenv("BALLAST_DATA");
#ifdef BL_HAVE_ZLIB
    if (data)
        test_graphs(data);
    else
        puts("skipped: the real graphs, since BALLAST_DATA does not lead to them");
#else
    (void)data;
    puts("skipped: the real graphs, since this build has no zlib");
#endif
    CHECK(rmdir(folder) == 0);
    return check_end();
}
