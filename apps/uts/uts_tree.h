/* UTS trees on the host: parameters and their options, the rules, the threshold tables derived from them, trees with
 * known counts, and the sequential twin. */
#ifndef BALLAST_UTS_TREE_H
#define BALLAST_UTS_TREE_H

#include "../common/app.h"
#include "uts.h"

typedef enum uts_type { UTS_BINOMIAL, UTS_GEOMETRIC, UTS_HYBRID, UTS_TYPES } uts_type;
typedef enum uts_shape { UTS_LINEAR, UTS_EXPONENTIAL, UTS_CYCLIC, UTS_FIXED, UTS_SHAPES } uts_shape;

/* The letters are UTS's options. A binomial tree does not use a and d, a geometric one does not use q and m. */
typedef struct uts_tree {
    uts_type t;
    uts_shape a;
    uint32_t d; /* depth by which a geometric tree thins out or ends */
    double b;   /* children of the root: expected, or exactly (binomial) */
    double q;   /* probability that a binomial node has children */
    uint32_t m; /* how many it then has */
    uint32_t r; /* seed */
} uts_tree;

typedef struct uts_counts {
    uint64_t nodes, leaves;
    uint32_t depth;
} uts_counts;

/* ---- trees with known counts ---- */

typedef struct uts_known {
    const char *name;
    uts_tree tree;
    uts_counts counts; /* leaves are 0 if they were never published */
} uts_known;

const uts_known *uts_known_at(uint32_t i); /* NULL past the end */
const uts_known *uts_known_find(const char *name);
const uts_known *uts_known_match(const uts_tree *tree); /* by the parameters that its type uses */

/* ---- options ---- */

enum {
    UTS_OPTION_TREE,
    UTS_OPTION_T,
    UTS_OPTION_A,
    UTS_OPTION_D,
    UTS_OPTION_B,
    UTS_OPTION_Q,
    UTS_OPTION_M,
    UTS_OPTION_R
};
extern const app_option uts_options[]; /* in this order */

/* Empty values come from the named tree; without a name, from T1 if all are empty, otherwise from UTS's defaults.
 * Returns 0, or 2 with the reason in `error`. Infinite trees are rejected too. */
int uts_tree_parse(uts_tree *tree, const char *const *values, app_error *error);

/* ---- the rules ---- */

/* The node with which a run starts: the root as a parent. */
uts_node uts_root(const uts_tree *tree);

/* The number of children of a node by the published rules, in doubles. */
uint32_t uts_rule(const uts_tree *tree, uint32_t depth, uint32_t value);
uint32_t uts_root_children(const uts_tree *tree);

/* ---- the rules as thresholds ---- */

typedef struct uts_table {
    uts_row *rows;
    uint32_t count;
    bool lasts; /* the last row holds for all greater depths; otherwise uts_table_grow adds rows */
} uts_table;

/* Both return BL_OK or BL_ENOMEM; the latter leaves the table unchanged. */
int uts_table_make(uts_table *table, const uts_tree *tree);
int uts_table_grow(uts_table *table, const uts_tree *tree);
void uts_table_free(uts_table *table);

/* ---- the sequential twin: twin.c ---- */

/* Counts the tree depth first. With a table it is the baseline for runs, and it extends the table if the tree is
 * deeper. Without one (NULL) it follows uts_rule, as an independent check. Returns BL_OK or BL_ENOMEM. */
int uts_twin(const uts_tree *tree, uts_table *table, uts_counts *counts);

#endif
