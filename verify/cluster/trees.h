/* Trees of entries for a simulated cluster. */
#ifndef VERIFY_CLUSTER_TREES_H
#define VERIFY_CLUSTER_TREES_H

#include "world.h"

enum { TREE_MAX = 1024 };

typedef struct tree_memory {
    uint16_t parent[TREE_MAX], child[TREE_MAX], sibling[TREE_MAX], where[TREE_MAX];
    uint8_t late[TREE_MAX];
} tree_memory;

/* Reads a tree: an entry is a letter, with its children behind it in parentheses; a late child has a ' behind it. Roots
 * start at the node whose digit follows the letter: "a0(bc'(d))e1". Returns false if the text is no tree. */
bool tree_read(tree_memory *m, const char *text, bool results, world_tree *t);
/* A random tree of `count` entries. Its shape, too, is random: bushy, thin, many roots, one root. */
void tree_random(tree_memory *m, uint32_t count, uint32_t nodes, bool results, uint64_t *random, world_tree *t);

#endif
