/* Problems with known answers, whose runs are stopped and resumed, by several nodes or processes and by one. */
#ifndef BALLAST_TESTS_RIDDLES_H
#define BALLAST_TESTS_RIDDLES_H

#include "bushes.h"

#include <string.h>

enum { WORDS, LEAVES, TERMS, SPREAD, RIDDLES };
enum { WORD_ROOTS = 12, TERMS_COUNT = 1000000 };

typedef struct riddle {
    uint32_t kind, seed;
    uint64_t tasks; /* 0: it is not known */
    word words[WORD_ROOTS];
    uint64_t number; /* LEAVES: the sum; SPREAD: what the tasks of this process have added up */
    double reduced;
} riddle;

static inline uint32_t spread_children(place p) { return p.depth < 60 ? mix(p.hash, 7) % (p.depth < 13 ? 5 : 3) : 0; }

/* Without results: what is found lies in memory. */
static inline void spread(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    place p = *(const place *)payload;
    p.hash = mix(p.hash, index);
    p.depth++;
    bl_fetch_add64_relaxed(*(uint64_t *const *)shared, p.hash);
    const uint32_t n = spread_children(p);
    if (n)
        bl_task_spawn(task, &p, n);
}

static inline uint64_t spread_alone(place p, uint32_t count, uint64_t *tasks) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const place child = {mix(p.hash, i), p.depth + 1};
        ++*tasks;
        sum += child.hash;
        sum += spread_alone(child, spread_children(child), tasks);
    }
    return sum;
}

static inline void riddle_combine(void *into, const void *from, size_t bytes) {
    (void)bytes;
    *(uint64_t *)into += *(const uint64_t *)from;
}

static inline int spread_run(riddle *r, bl_context *c, bl_stats *stats) {
    bl_program *program = bl_program_from_function(spread, sizeof(place), sizeof(uint64_t *), 1);
    const place root = {r->seed, 0};
    void *memory = NULL, *other = NULL;
    int status = bl_alloc(c, &memory, sizeof(uint64_t));
    if (status == BL_OK)
        status = bl_alloc(c, &other, 1000);
    if (status == BL_OK)
        status = bl_combine(c, memory, riddle_combine);
    if (status == BL_OK)
        status = bl_combine(c, other, NULL);
    if (status == BL_OK)
        status = bl_zero(c, memory, sizeof(uint64_t));
    if (status == BL_OK)
        status = bl_run(c, program, &memory, &root, 1, stats);
    if (status == BL_OK)
        status = bl_copy_out(c, &r->number, memory, sizeof r->number);
    bl_free(c, other);
    bl_free(c, memory);
    bl_program_free(program);
    return status;
}

static inline word_node riddle_word(const riddle *r, uint32_t i) { return (word_node){i * 7919u + r->seed, 12, 0}; }
static inline leaf_node riddle_leaf(const riddle *r) { return (leaf_node){r->seed * 104729u + 1, 14}; }

static inline int riddle_run(riddle *r, bl_context *c, bl_stats *stats) {
    word_node words[WORD_ROOTS];
    const leaf_node leaf = riddle_leaf(r);
    const uint32_t from = r->seed;
    for (uint32_t i = 0; i < WORD_ROOTS; i++)
        words[i] = riddle_word(r, i);
    return r->kind == WORDS    ? bl_run_join(c, words_cpu(), NULL, words, WORD_ROOTS, r->words, stats)
           : r->kind == LEAVES ? bl_run_join(c, leaves_cpu(), NULL, &leaf, 1, &r->number, stats)
           : r->kind == TERMS  ? bl_run_reduce(c, terms_cpu(), NULL, &from, TERMS_COUNT, &r->reduced, stats)
                               : spread_run(r, c, stats);
}

/* The answer, by one worker or by recursion. */
static inline riddle riddle_solve(uint32_t kind, uint32_t seed) {
    riddle r = {.kind = kind, .seed = seed};
    bl_context *c = NULL;
    bl_stats stats = {.tasks = 0};
    switch (kind) {
    case WORDS:
        for (uint32_t i = 0; i < WORD_ROOTS; i++) {
            r.words[i] = word_expect(riddle_word(&r, i), 0);
            r.tasks += r.words[i].tasks;
        }
        break;
    case LEAVES:
        r.number = leaf_expect(riddle_leaf(&r), 0, &r.tasks);
        break;
    case SPREAD:
        r.number = spread_alone((place){seed, 0}, 1, &r.tasks);
        break;
    default:
        bl_open(&c, &(bl_config){.device = "cpu", .workers = 1, .grain = 16});
        riddle_run(&r, c, &stats);
        r.tasks = stats.tasks;
        bl_close(c);
    }
    return r;
}

/* SPREAD: `all`, what all processes have added up. */
static inline bool riddle_is_right(const riddle *got, uint64_t all, const riddle *want) {
    return got->kind == WORDS   ? !memcmp(got->words, want->words, sizeof want->words)
           : got->kind == TERMS ? !memcmp(&got->reduced, &want->reduced, sizeof want->reduced)
                                : all == want->number;
}

#endif
