#define _POSIX_C_SOURCE 200809L /* for the platform header */

#include "uts_tree.h"

#include "../common/parse.h"
#include "sha1.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1000000, ROOT_MAX = 1000000000, ROWS_FIRST = 256, ROWS_MAX = 1 << 20 };

/* ---- trees with known counts ----
 *
 * The large ones are the sample trees of UTS 1.1. The others are small variants, counted by a program that reproduces
 * the counts of the large ones. */

#define FIXED(depth, seed)                                                                                             \
    { UTS_GEOMETRIC, UTS_FIXED, (depth), 4, 0, 0, (seed) }
#define BINOMIAL(root, probability, children, seed)                                                                    \
    { UTS_BINOMIAL, UTS_LINEAR, 0, (root), (probability), (children), (seed) }
#define COUNTS(nodes, depth, leaves)                                                                                   \
    { UINT64_C(nodes), UINT64_C(leaves), (depth) }

static const uts_known known_trees[] = {
    {"T1", FIXED(10, 19), COUNTS(4130071, 10, 3305118)},
    {"T3", BINOMIAL(2000, 0.124875, 8, 42), COUNTS(4112897, 1572, 3599034)},
    {"T1L", FIXED(13, 29), COUNTS(102181082, 13, 81746377)},
    {"T3L", BINOMIAL(2000, 0.200014, 5, 7), COUNTS(111345631, 17844, 89076904)},
    {"T1XL", FIXED(15, 29), COUNTS(1635119272, 15, 1308100063)},
    {"T1XXL", FIXED(15, 19), COUNTS(4230646601, 15, 0)},
    {"T1WL", FIXED(18, 19), COUNTS(270751679750, 18, 216601257283)},
    {"T3WL", BINOMIAL(2000, 0.4999995, 2, 559), COUNTS(157063495159, 758577, 78531748579)},
    {"T0", FIXED(1, 19), COUNTS(6, 1, 5)},
    {"mini_T1_d3", FIXED(3, 19), COUNTS(254, 3, 201)},
    {"mini_T1_d5", FIXED(5, 19), COUNTS(3987, 5, 3232)},
    {"mini_T1_d7", FIXED(7, 19), COUNTS(63914, 7, 51124)},
    {"mini_T1_d9", FIXED(9, 19), COUNTS(1031269, 9, 825408)},
    {"T1_d11", FIXED(11, 19), COUNTS(16526523, 11, 13221220)},
    {"mini_T3_b1", BINOMIAL(1, 0.124875, 8, 42), COUNTS(2, 1, 1)},
    {"mini_T3_b8", BINOMIAL(8, 0.124875, 8, 42), COUNTS(6121, 67, 5356)},
    {"mini_T3_b100", BINOMIAL(100, 0.124875, 8, 42), COUNTS(6797, 67, 5959)},
    {"mini_T3_b200", BINOMIAL(200, 0.124875, 8, 42), COUNTS(2745281, 1572, 2402145)},
};

#undef FIXED
#undef BINOMIAL
#undef COUNTS

static const uint32_t known_count = sizeof known_trees / sizeof *known_trees;

const uts_known *uts_known_at(uint32_t i) { return i < known_count ? known_trees + i : NULL; }

const uts_known *uts_known_find(const char *name) {
    for (uint32_t i = 0; i < known_count; i++)
        if (strcmp(known_trees[i].name, name) == 0)
            return known_trees + i;
    return NULL;
}

static bool same_tree(const uts_tree *x, const uts_tree *y) {
    bool geometric = x->a == y->a && x->d == y->d && x->b == y->b;
    bool binomial = x->q == y->q && x->m == y->m;
    if (x->t != y->t || x->r != y->r)
        return false;
    switch (x->t) {
    case UTS_BINOMIAL:
        return binomial && floor(x->b) == floor(y->b);
    case UTS_GEOMETRIC:
        return geometric;
    default:
        return geometric && binomial;
    }
}

const uts_known *uts_known_match(const uts_tree *tree) {
    for (uint32_t i = 0; i < known_count; i++)
        if (same_tree(&known_trees[i].tree, tree))
            return known_trees + i;
    return NULL;
}

/* ---- options ---- */

const app_option uts_options[] = {
    {"--tree", "NAME", "",
     "a sample tree: T1, T1L, T1XL, T1XXL, T1WL, T3, T3L, T3WL, ...; default: T1, unless a parameter is given"},
    {"-t", "TYPE", "", "0 binomial, 1 geometric, 2 hybrid: geometric above half of -d, binomial below"},
    {"-a", "SHAPE", "", "how geometric trees thin out with depth: 0 linear, 1 exponential, 2 cyclic, 3 not at all"},
    {"-d", "DEPTH", "", "depth by which a geometric tree has thinned out, 0 to 1000000"},
    {"-b", "B", "", "children of the root: 0 to 100 expected; in a binomial tree, the exact number"},
    {"-q", "Q", "", "probability that a binomial node has children; times -m it stays below 1"},
    {"-m", "M", "", "children it then has, 0 to 100"},
    {"-r", "SEED", "", "seed of the root, 0 to 4294967295"},
    {NULL, NULL, NULL, NULL},
};

static const uts_tree uts_defaults = {UTS_GEOMETRIC, UTS_LINEAR, 6, 4, 15.0 / 64, 4, 0};

static int refuse(app_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return 2;
}

static int refuse_name(app_error *error, const char *name) {
    char list[sizeof error->text / 2] = "";
    for (uint32_t i = 0; i < known_count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", known_trees[i].name);
    }
    return refuse(error, "--tree: '%.64s' is not a known tree; known are %s", name, list);
}

/* "" leaves *value alone. */
static int read_whole(uint32_t *value, uint32_t most, const char *option, const char *text, app_error *error) {
    uint32_t number = 0;
    if (*text == '\0')
        return 0;
    if (!parse_u32(text, &number) || number > most)
        return refuse(error, "%s: '%.64s' is not a whole number from 0 to %u", option, text, (unsigned)most);
    *value = number;
    return 0;
}

static int read_real(double *value, const char *option, const char *text, app_error *error) {
    if (*text == '\0' || parse_double(text, value))
        return 0;
    return refuse(error, "%s: '%.64s' is not a number", option, text);
}

static int read_values(uts_tree *tree, const char *const *values, app_error *error) {
    uint32_t type = tree->t, shape = tree->a;
    int status = read_whole(&type, UTS_TYPES - 1, "-t", values[UTS_OPTION_T], error);
    if (status == 0)
        status = read_whole(&shape, UTS_SHAPES - 1, "-a", values[UTS_OPTION_A], error);
    if (status == 0)
        status = read_whole(&tree->d, DEPTH_MAX, "-d", values[UTS_OPTION_D], error);
    if (status == 0)
        status = read_real(&tree->b, "-b", values[UTS_OPTION_B], error);
    if (status == 0)
        status = read_real(&tree->q, "-q", values[UTS_OPTION_Q], error);
    if (status == 0)
        status = read_whole(&tree->m, UTS_MOST_CHILDREN, "-m", values[UTS_OPTION_M], error);
    if (status == 0)
        status = read_whole(&tree->r, UINT32_MAX, "-r", values[UTS_OPTION_R], error);
    tree->t = (uts_type)type;
    tree->a = (uts_shape)shape;
    return status;
}

static int check_values(const uts_tree *tree, app_error *error) {
    bool binomial = tree->t == UTS_BINOMIAL;
    double most = binomial ? ROOT_MAX : UTS_MOST_CHILDREN;
    if (!(tree->b > 0 && tree->b <= most))
        return refuse(error, "-b: %g is not above 0 and at most %.0f, as a %s tree needs it", tree->b, most,
                      binomial ? "binomial" : "geometric");
    if (!(tree->q >= 0 && tree->q <= 1))
        return refuse(error, "-q: %g is not a probability from 0 to 1", tree->q);
    /* T3L lies just above 1 but is known to be finite. */
    if (tree->t != UTS_GEOMETRIC && tree->q * tree->m >= 1 && !uts_known_match(tree))
        return refuse(error,
                      "-q, -m: %g times %u is not below 1: a node has a child or more on average, the tree is infinite",
                      tree->q, (unsigned)tree->m);
    /* b_i = b depth^(-log b / log d) decreases only then; a hybrid tree leaves this rule in time. */
    if (tree->t == UTS_GEOMETRIC && tree->a == UTS_EXPONENTIAL && !(tree->b > 1 && tree->d > 0))
        return refuse(error, "-a 1: needs -b above 1 and -d above 0, or the tree is infinite");
    return 0;
}

/* Rejects a parameter that this kind of tree does not use. */
static int check_given(const uts_tree *tree, const char *const *values, app_error *error) {
    bool binomial = tree->t == UTS_BINOMIAL;
    for (int i = UTS_OPTION_T; i <= UTS_OPTION_R && tree->t != UTS_HYBRID; i++) {
        bool shape = i == UTS_OPTION_A || i == UTS_OPTION_D, chance = i == UTS_OPTION_Q || i == UTS_OPTION_M;
        if (*values[i] != '\0' && (binomial ? shape : chance))
            return refuse(error, "%s: a %s tree does not use it (accepted with -t %d, -t %d)", uts_options[i].name,
                          binomial ? "binomial" : "geometric", binomial ? UTS_GEOMETRIC : UTS_BINOMIAL, UTS_HYBRID);
    }
    return 0;
}

int uts_tree_parse(uts_tree *tree, const char *const *values, app_error *error) {
    const char *name = values[UTS_OPTION_TREE];
    bool given = false;
    for (int i = UTS_OPTION_T; i <= UTS_OPTION_R; i++)
        given = given || *values[i] != '\0';
    const uts_known *known = uts_known_find(*name != '\0' ? name : "T1");
    if (known == NULL)
        return refuse_name(error, name);
    *tree = *name == '\0' && given ? uts_defaults : known->tree;
    int status = read_values(tree, values, error);
    if (status == 0)
        status = check_values(tree, error);
    return status != 0 ? status : check_given(tree, values, error);
}

/* ---- the rules ---- */

static double probability(uint32_t value) { return value / 2147483648.0; }

/* Expected children of a geometric node at a depth. */
static double branching(const uts_tree *tree, uint32_t depth) {
    double b = tree->b, at = depth, d = tree->d;
    if (depth == 0)
        return b;
    switch (tree->a) {
    case UTS_EXPONENTIAL:
        return b * pow(at, -log(b) / log(d));
    case UTS_CYCLIC:
        return at > 5 * d ? 0 : pow(b, sin(2.0 * 3.141592653589793 * at / d));
    case UTS_FIXED:
        return at < d ? b : 0;
    default:
        return b * (1.0 - at / d);
    }
}

/* log(1 - p) of the geometric distribution with mean `b`; 0 if there are no children. */
static double geometric_base(double b) { return b > 0 ? log(1.0 - 1.0 / (1.0 + b)) : 0; }

static uint32_t geometric_children(double base, uint32_t value) {
    if (!(base < 0))
        return 0;
    double children = floor(log(1.0 - probability(value)) / base);
    return children < UTS_MOST_CHILDREN ? (uint32_t)children : UTS_MOST_CHILDREN;
}

static bool is_geometric(const uts_tree *tree, uint32_t depth) {
    return tree->t == UTS_GEOMETRIC || (tree->t == UTS_HYBRID && depth < 0.5 * tree->d);
}

uint32_t uts_rule(const uts_tree *tree, uint32_t depth, uint32_t value) {
    if (is_geometric(tree, depth))
        return geometric_children(geometric_base(branching(tree, depth)), value);
    if (tree->t == UTS_BINOMIAL && depth == 0)
        return (uint32_t)tree->b;
    return probability(value) < tree->q ? tree->m : 0;
}

uts_node uts_root(const uts_tree *tree) {
    uts_node root = {.depth = 1};
    uts_sha1_root(root.state, tree->r);
    return root;
}

uint32_t uts_root_children(const uts_tree *tree) { return uts_rule(tree, 0, uts_root(tree).state[4] & UTS_VALUE_MASK); }

/* ---- the rules as thresholds ---- */

/* The smallest value with at least `children`. The bracket around the closed form only saves steps. The search is
 * exact, since geometric_children is monotonic: the logarithms of neighbouring values differ by at least 2^-31, far
 * more than their rounding. */
static uint32_t geometric_threshold(double base, uint32_t children) {
    uint32_t low = 0, high = UTS_NEVER;
    double guess = -expm1(base * children) * 2147483648.0;
    if (guess > 16 && guess < UTS_NEVER - 16) {
        uint32_t below = (uint32_t)guess - 16, above = (uint32_t)guess + 16;
        low = geometric_children(base, below) < children ? below : 0;
        high = geometric_children(base, above) >= children ? above : UTS_NEVER;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (geometric_children(base, middle) >= children)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The number of values with children: all those below some bound. */
static uint32_t binomial_values(double q) {
    uint32_t low = 0, high = UTS_NEVER;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (probability(middle) < q)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void row_clear(uts_row *row) {
    row->scale = 0;
    row->flip = 0;
    row->step = 1;
    for (uint32_t k = 0; k <= UTS_MOST_CHILDREN; k++)
        row->thresholds[k] = UTS_NEVER;
}

static void geometric_row(uts_row *row, double base) {
    row_clear(row);
    if (!(base < 0))
        return;
    row->scale = (float)(-log(2) / base);
    for (uint32_t k = 0; k < UTS_MOST_CHILDREN; k++) {
        row->thresholds[k] = geometric_threshold(base, k + 1);
        if (row->thresholds[k] == UTS_NEVER)
            return;
    }
}

static void binomial_row(uts_row *row, const uts_tree *tree) {
    row_clear(row);
    row->flip = UTS_VALUE_MASK;
    row->step = tree->m;
    row->thresholds[0] = UTS_NEVER - binomial_values(tree->q);
}

/* The number of rows after which nothing changes. Row 0 exists for simplicity: the host processes the root. */
static uint32_t rows_needed(const uts_tree *tree) {
    if (tree->t == UTS_BINOMIAL)
        return 2;
    if (tree->t == UTS_HYBRID)
        return (tree->d + 1) / 2 + 2;
    switch (tree->a) {
    case UTS_EXPONENTIAL:
        return UINT32_MAX;
    case UTS_CYCLIC:
        return 5 * tree->d + 2;
    default:
        return tree->d + 2;
    }
}

static void fill_row(uts_row *rows, uint32_t depth, const uts_tree *tree) {
    if (is_geometric(tree, depth)) {
        double b = branching(tree, depth);
        if (depth > 0 && branching(tree, depth - 1) == b)
            rows[depth] = rows[depth - 1];
        else
            geometric_row(rows + depth, geometric_base(b));
    } else {
        binomial_row(rows + depth, tree);
    }
}

static int table_resize(uts_table *table, const uts_tree *tree, uint32_t count) {
    uint32_t needed = rows_needed(tree);
    if (count > needed)
        count = needed;
    uts_row *rows = count <= ROWS_MAX ? (uts_row *)realloc(table->rows, count * sizeof *rows) : NULL;
    if (rows == NULL)
        return BL_ENOMEM;
    table->rows = rows;
    for (; table->count < count; table->count++)
        fill_row(rows, table->count, tree);
    table->lasts = count == needed;
    return BL_OK;
}

int uts_table_make(uts_table *table, const uts_tree *tree) {
    *table = (uts_table){.rows = NULL};
    return table_resize(table, tree, ROWS_FIRST);
}

int uts_table_grow(uts_table *table, const uts_tree *tree) { return table_resize(table, tree, 4 * table->count); }

void uts_table_free(uts_table *table) {
    free(table->rows);
    *table = (uts_table){.rows = NULL};
}
