/* UTS on the host: the hash, the rules and their thresholds, the options, and both sequential twins. */
#define _POSIX_C_SOURCE 200809L /* for the platform header */
#define UTS_WITHOUT_PROGRAM

#include "check.h"

#include "../apps/uts/task.h"
#include "../apps/uts/uts_tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* CHECK, after check_at with the other arguments. */
#define CHECK_FOR(condition, ...) (check_at(__VA_ARGS__), (void)CHECK(condition))

static uint64_t random_state = 1;

static uint32_t random32(void) { return check_random32(&random_state); }

/* ---- SHA-1, written from the standard, on bytes ---- */

static uint32_t rotate(uint32_t x, unsigned by) { return x << by | x >> (32 - by); }

static void store_word(uint8_t *bytes, uint32_t word) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

static uint32_t load_word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t round_function(int t, uint32_t b, uint32_t c, uint32_t d) {
    if (t < 20)
        return (b & c) | (~b & d);
    if (t >= 40 && t < 60)
        return (b & c) | (b & d) | (c & d);
    return b ^ c ^ d;
}

static void reference_sha1(uint8_t digest[20], const uint8_t *message, size_t length) {
    static const uint32_t keys[] = {0x5a827999u, 0x6ed9eba1u, 0x8f1bbcdcu, 0xca62c1d6u};
    uint32_t hash[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u}, v[5], w[80];
    uint8_t block[64] = {0};
    memcpy(block, message, length);
    block[length] = 0x80;
    store_word(block + 60, (uint32_t)(8 * length));
    for (int t = 0; t < 80; t++)
        w[t] = t < 16 ? load_word(block + 4 * t) : rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    memcpy(v, hash, sizeof v);
    for (int t = 0; t < 80; t++) {
        uint32_t next = rotate(v[0], 5) + round_function(t, v[1], v[2], v[3]) + v[4] + keys[t / 20] + w[t];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++)
        store_word(digest + 4 * i, hash[i] + v[i]);
}

static void test_reference_sha1(void) {
    static const uint8_t abc[20] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                                    0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
    uint8_t digest[20];
    reference_sha1(digest, (const uint8_t *)"abc", 3);
    CHECK_FOR(memcmp(digest, abc, sizeof digest) == 0, "the example of the standard");
}

static void test_child_hash(void) {
    for (int repeat = 0; repeat < 2000; repeat++) {
        uint32_t parent[5], child[5], index = repeat % 2 ? random32() : (uint32_t)repeat;
        uint8_t message[24], digest[20], bytes[20];
        for (int i = 0; i < 5; i++)
            store_word(message + 4 * i, parent[i] = random32());
        store_word(message + 20, index);
        reference_sha1(digest, message, sizeof message);
        uts_sha1_child(child, parent, index);
        for (int i = 0; i < 5; i++)
            store_word(bytes + 4 * i, child[i]);
        CHECK_FOR(memcmp(digest, bytes, sizeof digest) == 0, "child %" PRIu32 " of random parent %d", index, repeat);
        uts_sha1_child(parent, parent, index);
        CHECK_FOR(memcmp(parent, child, sizeof parent) == 0, "in place, random parent %d", repeat);
    }
}

static void test_root_hash(void) {
    for (int repeat = 0; repeat < 200; repeat++) {
        uts_tree tree = {.t = UTS_GEOMETRIC, .b = 4, .r = repeat % 2 ? random32() : (uint32_t)repeat};
        uts_node root = uts_root(&tree);
        uint8_t message[20] = {0}, digest[20], bytes[20];
        store_word(message + 16, tree.r);
        reference_sha1(digest, message, sizeof message);
        for (int i = 0; i < 5; i++)
            store_word(bytes + 4 * i, root.state[i]);
        CHECK_FOR(memcmp(digest, bytes, sizeof digest) == 0 && root.depth == 1, "seed %" PRIu32, tree.r);
    }
}

/* ---- rules and thresholds ---- */

/* The rules again, as UTS's documentation states them. */
static uint32_t reference_children(const uts_tree *tree, uint32_t depth, uint32_t value) {
    double u = value / 2147483648.0, b = tree->b, children;
    if (tree->t == UTS_BINOMIAL && depth == 0)
        return (uint32_t)floor(tree->b);
    if (tree->t == UTS_BINOMIAL || (tree->t == UTS_HYBRID && !(depth < 0.5 * tree->d)))
        return u < tree->q ? tree->m : 0;
    if (depth > 0 && tree->a == UTS_LINEAR)
        b = tree->b * (1.0 - (double)depth / (double)tree->d);
    if (depth > 0 && tree->a == UTS_EXPONENTIAL)
        b = tree->b * pow((double)depth, -log(tree->b) / log((double)tree->d));
    if (depth > 0 && tree->a == UTS_CYCLIC)
        b = depth > 5 * tree->d ? 0 : pow(tree->b, sin(2.0 * 3.141592653589793 * (double)depth / (double)tree->d));
    if (depth > 0 && tree->a == UTS_FIXED && depth >= tree->d)
        b = 0;
    if (b <= 0)
        return 0;
    children = floor(log(1 - u) / log(1 - 1.0 / (1.0 + b)));
    return children > 100 ? 100 : (uint32_t)children;
}

static const uts_tree shapes[] = {
    {UTS_GEOMETRIC, UTS_LINEAR, 12, 4, 0, 0, 34},
    {UTS_GEOMETRIC, UTS_FIXED, 2, 100, 0, 0, 0},
    {UTS_GEOMETRIC, UTS_LINEAR, 0, 3, 0, 0, 2},
    {UTS_GEOMETRIC, UTS_EXPONENTIAL, 4, 3, 0, 0, 1},
    {UTS_GEOMETRIC, UTS_EXPONENTIAL, 1, 5, 0, 0, 3},
    {UTS_GEOMETRIC, UTS_CYCLIC, 8, 3, 0, 0, 502},
    {UTS_GEOMETRIC, UTS_CYCLIC, 16, 0.7, 0, 0, 7},
    {UTS_GEOMETRIC, UTS_FIXED, 5, 4, 0, 0, 19},
    {UTS_GEOMETRIC, UTS_FIXED, 3, 21.7, 0, 0, 4},
    {UTS_GEOMETRIC, UTS_FIXED, 1000, 0.99, 0, 0, 11},
    {UTS_GEOMETRIC, UTS_FIXED, 4, 1, 0, 0, 8},
    {UTS_BINOMIAL, UTS_LINEAR, 0, 2000, 0.124, 8, 42},
    {UTS_BINOMIAL, UTS_LINEAR, 0, 300.5, 0.0099, 100, 5},
    {UTS_BINOMIAL, UTS_LINEAR, 0, 40, 0, 8, 6},
    {UTS_BINOMIAL, UTS_LINEAR, 0, 40, 1, 0, 6},
    {UTS_HYBRID, UTS_LINEAR, 16, 4, 0.2, 4, 1},
    {UTS_HYBRID, UTS_FIXED, 9, 3, 0.24, 4, 17},
    {UTS_HYBRID, UTS_CYCLIC, 7, 2, 0.15, 6, 3},
    {UTS_HYBRID, UTS_EXPONENTIAL, 10, 2, 0.3, 3, 23},
    {UTS_HYBRID, UTS_LINEAR, 0, 4, 0.9, 1, 9},
};
static const size_t shape_count = sizeof shapes / sizeof *shapes;

static bool value_agrees(const uts_tree *tree, const uts_table *table, uint32_t depth, uint32_t value) {
    uint32_t expected = reference_children(tree, depth, value);
    const uts_row *row = table->rows + (depth < table->count ? depth : table->count - 1);
    return uts_children(row, value) == expected && uts_rule(tree, depth, value) == expected;
}

static bool row_agrees(const uts_tree *tree, const uts_table *table, uint32_t depth) {
    const uts_row *row = table->rows + (depth < table->count ? depth : table->count - 1);
    bool agrees = true;
    for (int i = 0; i < 1000; i++)
        agrees = agrees && value_agrees(tree, table, depth, random32() & UTS_VALUE_MASK);
    for (uint32_t i = 0; i < 31; i++) /* the long tail: u near 1 */
        agrees = agrees && value_agrees(tree, table, depth, UTS_VALUE_MASK >> i << i) &&
                 value_agrees(tree, table, depth, UTS_VALUE_MASK - (1u << i));
    for (uint32_t k = 0; k <= UTS_MOST_CHILDREN; k++)
        for (uint32_t around = 0; around < 5; around++) {
            uint32_t value = (row->thresholds[k] + around - 2) & UTS_VALUE_MASK;
            agrees = agrees && value_agrees(tree, table, depth, value ^ row->flip);
        }
    return agrees && row->thresholds[UTS_MOST_CHILDREN] == UTS_NEVER;
}

static void test_thresholds(void) {
    for (size_t i = 0; i < shape_count; i++) {
        uts_table table;
        if (uts_table_make(&table, shapes + i) != BL_OK) {
            CHECK_FOR(false, "no memory");
            continue;
        }
        uint32_t depths = table.lasts ? table.count + 3 : table.count;
        for (uint32_t depth = 1; depth < depths; depth++)
            CHECK_FOR(row_agrees(shapes + i, &table, depth), "shape %zu, depth %" PRIu32, i, depth);
        uts_table_free(&table);
    }
}

/* The initial guess may be off by any amount. */
static void test_lookup_without_guess(void) {
    static const float scales[] = {0, 0.01f, 1, 1000, 100000};
    uts_tree tree = {UTS_GEOMETRIC, UTS_FIXED, 2, 20, 0, 0, 0};
    uts_table table;
    CHECK_FOR(uts_table_make(&table, &tree) == BL_OK, "no memory");
    if (table.rows == NULL)
        return;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        table.rows[1].scale = scales[i];
        for (int j = 0; j < 1000; j++) {
            uint32_t value = random32() & UTS_VALUE_MASK;
            CHECK_FOR(value_agrees(&tree, &table, 1, value), "scale %g, value %" PRIu32, (double)scales[i], value);
        }
    }
    uts_table_free(&table);
}

/* ---- counting ---- */

/* `exact`: may be NULL. */
static bool count_both(const uts_tree *tree, uts_counts *fast, uts_counts *exact) {
    uts_table table;
    if (uts_table_make(&table, tree) != BL_OK)
        return false;
    bool counted = uts_twin(tree, &table, fast) == BL_OK && (!exact || uts_twin(tree, NULL, exact) == BL_OK);
    uts_table_free(&table);
    return counted;
}

static bool same_counts(const uts_counts *x, const uts_counts *y) {
    return x->nodes == y->nodes && x->leaves == y->leaves && x->depth == y->depth;
}

static void test_known_trees(void) {
    const uts_known *known;
    for (uint32_t i = 0; (known = uts_known_at(i)) != NULL; i++) {
        uts_counts fast, exact;
        CHECK_FOR(uts_known_find(known->name) == known, "%s", known->name);
        CHECK_FOR(uts_known_match(&known->tree) == known, "%s", known->name);
        if (known->counts.nodes > 5000000)
            continue;
        bool counted = count_both(&known->tree, &fast, known->counts.nodes > 1000000 ? NULL : &exact);
        CHECK_FOR(counted && same_counts(&fast, &known->counts), "%s by the table", known->name);
        if (known->counts.nodes <= 1000000)
            CHECK_FOR(counted && same_counts(&exact, &known->counts), "%s by the rules", known->name);
    }
    CHECK_FOR(uts_known_find("T9") == NULL, "no such tree");
}

static void test_twins_agree(void) {
    for (size_t i = 0; i < shape_count; i++) {
        uts_tree tree = shapes[i];
        for (uint32_t seed = 0; seed < 8; seed++) {
            uts_counts fast, exact;
            tree.r = shapes[i].r + seed;
            bool counted = count_both(&tree, &fast, &exact);
            CHECK_FOR(counted && same_counts(&fast, &exact), "shape %zu, seed %" PRIu32, i, tree.r);
        }
    }
}

/* A chain of single children, deeper than the initial table, and a root with more children than the twin visits at
 * once. */
static void test_unusual_trees(void) {
    uts_tree deep = {UTS_GEOMETRIC, UTS_FIXED, 100000, 0.999, 0, 0, 0},
             wide = {UTS_BINOMIAL, UTS_LINEAR, 0, 100000, 0, 0, 0};
    uts_counts fast = {0}, exact = {0}, deepest = {0};
    for (deep.r = 0; deep.r < 400; deep.r++) {
        CHECK_FOR(count_both(&deep, &fast, &exact) && same_counts(&fast, &exact), "seed %" PRIu32, deep.r);
        if (deepest.depth < fast.depth)
            deepest = fast;
    }
    CHECK_FOR(deepest.depth > 256, "only %" PRIu32 " deep", deepest.depth);
    CHECK_FOR(count_both(&wide, &fast, &exact) && fast.nodes == 100001 && fast.leaves == 100000 && fast.depth == 1,
              "wide");
    wide.b = 0.5;
    CHECK_FOR(count_both(&wide, &fast, &exact) && fast.nodes == 1 && fast.leaves == 1 && fast.depth == 0,
              "a root alone");
}

/* ---- options ---- */

/* "" if the option is not given. */
typedef struct option_case {
    const char *values[8]; /* --tree -t -a -d -b -q -m -r */
    const char *error;     /* the beginning of the message; NULL if the values are valid */
    uts_tree tree;         /* the expected tree */
} option_case;

static const option_case option_cases[] = {
    {{"", "", "", "", "", "", "", ""}, NULL, {UTS_GEOMETRIC, UTS_FIXED, 10, 4, 0, 0, 19}},
    {{"T3", "", "", "", "", "", "", ""}, NULL, {UTS_BINOMIAL, UTS_LINEAR, 0, 2000, 0.124875, 8, 42}},
    {{"T1", "", "", "12", "", "", "", ""}, NULL, {UTS_GEOMETRIC, UTS_FIXED, 12, 4, 0, 0, 19}},
    {{"", "", "", "", "", "", "", "7"}, NULL, {UTS_GEOMETRIC, UTS_LINEAR, 6, 4, 15.0 / 64, 4, 7}},
    {{"", "2", "3", "9", "2.5", "0.5", "1", "4294967295"}, NULL, {UTS_HYBRID, UTS_FIXED, 9, 2.5, 0.5, 1, UINT32_MAX}},
    {{"", "1", "", "", "4", "1", "", ""}, "-q: a geometric tree does not use it (accepted with -t 0, -t 2)", {0}},
    {{"T1", "", "", "", "", "", "100", ""}, "-m: a geometric tree does not use it (accepted with -t 0, -t 2)", {0}},
    {{"T3", "", "", "6", "", "", "", ""}, "-d: a binomial tree does not use it (accepted with -t 1, -t 2)", {0}},
    {{"", "0", "1", "", "", "", "", ""}, "-a: a binomial tree does not use it (accepted with -t 1, -t 2)", {0}},
    {{"T9", "", "", "", "", "", "", ""}, "--tree: 'T9' is not a known tree; known are T1, T3, ", {0}},
    {{"", "3", "", "", "", "", "", ""}, "-t: '3' ", {0}},
    {{"", "", "4", "", "", "", "", ""}, "-a: '4' ", {0}},
    {{"", "", "", "1000001", "", "", "", ""}, "-d: '1000001' ", {0}},
    {{"", "", "", "-1", "", "", "", ""}, "-d: '-1' ", {0}},
    {{"", "", "", "", "x", "", "", ""}, "-b: 'x' ", {0}},
    {{"", "", "", "", "0", "", "", ""}, "-b: 0 ", {0}},
    {{"", "", "", "", "100.5", "", "", ""}, "-b: 100.5 ", {0}},
    {{"", "0", "", "", "2e9", "", "", ""}, "-b: 2e+09 ", {0}},
    {{"", "", "", "", "", "1.01", "", ""}, "-q: 1.01 ", {0}},
    {{"", "", "", "", "", "", "101", ""}, "-m: '101' ", {0}},
    {{"", "0", "", "", "", "0.25", "4", ""}, "-q, -m: 0.25 times 4 ", {0}},
    {{"", "2", "", "", "", "1", "1", ""}, "-q, -m: 1 times 1 ", {0}},
    {{"", "", "", "", "", "", "", "4294967296"}, "-r: '4294967296' ", {0}},
    {{"", "", "1", "0", "", "", "", ""}, "-a 1: ", {0}},
    {{"", "", "1", "", "1", "", "", ""}, "-a 1: ", {0}},
};

static bool same_tree(const uts_tree *x, const uts_tree *y) {
    return x->t == y->t && x->a == y->a && x->d == y->d && x->b == y->b && x->q == y->q && x->m == y->m && x->r == y->r;
}

static void test_options(void) {
    for (size_t i = 0; i < sizeof option_cases / sizeof *option_cases; i++) {
        const option_case *c = option_cases + i;
        uts_tree tree;
        app_error error = {{0}};
        int status = uts_tree_parse(&tree, c->values, &error);
        if (c->error == NULL)
            CHECK_FOR(status == 0 && same_tree(&tree, &c->tree), "case %zu: %.200s", i, error.text);
        else
            CHECK_FOR(status == 2 && strncmp(error.text, c->error, strlen(c->error)) == 0 &&
                          strchr(error.text, '\n') == NULL,
                      "case %zu: %.200s", i, error.text);
    }
}

int main(void) {
    test_reference_sha1();
    test_child_hash();
    test_root_hash();
    test_thresholds();
    test_lookup_without_guess();
    test_options();
    test_twins_agree();
    test_unusual_trees();
    test_known_trees();
    return check_end();
}
