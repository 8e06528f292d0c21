/* Programs with results (join_programs.c), and the same results by recursion.
 *
 * words: a tree whose shape comes from a hash. A node returns a word that depends on its subtree and the order of its
 * children, and the number of tasks in it. An inner node forks twice: the join of the first fork makes the second, with
 * the first one's result in its payload. leaves: the number of leaves of the same trees. */
#ifndef BALLAST_TESTS_JOIN_TREES_H
#define BALLAST_TESTS_JOIN_TREES_H

#include <ballast/ballast.h>
#include <ballast/task.h>

#define JOINS_WIDTH 5u

typedef struct word_node {
    uint64_t hash; /* of the parent; the index distinguishes its children */
    uint32_t depth, joined;
} word_node;

typedef struct word {
    uint64_t text;
    uint32_t tasks, depth;
} word;

BL_FN uint64_t word_mix(uint64_t hash, uint64_t with) {
    hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}
BL_FN uint32_t word_children(uint64_t hash, uint32_t depth) {
    return depth == 0 || hash % 7 == 0 ? 0 : 1 + (uint32_t)(hash >> 8) % JOINS_WIDTH;
}
BL_FN word word_leaf(uint64_t hash) {
    word w = {hash, 1, 0};
    return w;
}
BL_FN word word_of(uint64_t hash, const word *words, uint32_t count) {
    word all = {hash, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        all.text = word_mix(all.text + i, words[i].text);
        all.tasks += words[i].tasks;
        all.depth = all.depth > words[i].depth ? all.depth : words[i].depth;
    }
    all.depth++;
    return all;
}

static BL_TASK void word_run(bl_task *t, const word_node *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    if (t->lane != t->lanes - 1) /* not the leading lane: any lane may return */
        return;
    word_node node = {word_mix(parent->hash, index), parent->depth - 1, 0};
    uint32_t count = word_children(node.hash, node.depth);
    if (count) {
        bl_fork(t, &node, &node, count);
    } else {
        word leaf = word_leaf(node.hash);
        bl_return(t, &leaf);
    }
}

/* The first join forks again, only leaves; the second one returns. */
static BL_TASK void word_join(bl_task *t, const word_node *node, const word *words, uint32_t count,
                              const bl_nothing *shared, bl_nothing *local) {
    (void)shared, (void)local;
    if (t->lane != 0)
        return;
    word all = word_of(node->hash, words, count);
    if (!node->joined) {
        word_node again = {all.text, 1, all.tasks + 1}, child = {all.text, 1, 0};
        bl_fork(t, &again, &child, 2);
    } else {
        all.tasks += node->joined; /* this node and the tasks of its first fork */
        bl_return(t, &all);
    }
}

static inline word word_expect(word_node parent, uint32_t index) {
    word_node node = {word_mix(parent.hash, index), parent.depth - 1, 0};
    uint32_t count = word_children(node.hash, node.depth);
    word words[JOINS_WIDTH];
    if (!count)
        return word_leaf(node.hash);
    for (uint32_t i = 0; i < count; i++)
        words[i] = word_expect(node, i);
    word first = word_of(node.hash, words, count);
    for (uint32_t i = 0; i < 2; i++)
        words[i] = word_leaf(word_mix(first.text, i));
    word all = word_of(first.text, words, 2);
    all.tasks += first.tasks + 1;
    return all;
}

typedef struct leaf_node {
    uint32_t hash, depth;
} leaf_node;

BL_FN uint32_t leaf_hash(const leaf_node *parent, uint32_t index) {
    return (uint32_t)(word_mix(parent->hash, index) >> 7);
}

/* Every now and then spawns a side task whose result is discarded. */
static BL_TASK void leaf_run(bl_task *t, const leaf_node *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    if (t->lane != 0)
        return;
    leaf_node node = {leaf_hash(parent, index), parent->depth - 1}, beside = {1, 1};
    uint32_t count = word_children(node.hash, node.depth);
    if (node.hash % 5 == 0 && node.depth > 0)
        bl_spawn(t, &beside);
    if (count) {
        bl_fork(t, &node, &node, count);
    } else {
        uint64_t value = node.hash % 1000;
        bl_return(t, &value);
    }
}

static inline uint64_t leaf_expect(leaf_node parent, uint32_t index, uint64_t *tasks) {
    leaf_node node = {leaf_hash(&parent, index), parent.depth - 1};
    uint32_t count = word_children(node.hash, node.depth);
    uint64_t sum = count ? 0 : node.hash % 1000;
    *tasks += node.hash % 5 == 0 && node.depth > 0 ? 2 : 1;
    for (uint32_t i = 0; i < count; i++)
        sum += leaf_expect(node, i, tasks);
    return sum;
}

const bl_program *words_cpu(void);
const bl_program *words_sim(void);
const bl_program *leaves_cpu(void);
const bl_program *leaves_sim(void);

#endif
