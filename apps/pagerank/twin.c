#include "twin.h"

#include "cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct twin {
    const graph *g;
    double damping;
    double *value;  /* (PAGERANK_STEPS + 1) x nodes: values of runs after the first */
    double *base;   /* values of the first run */
    double *buffer; /* a list of values to be added up */
    double first_delta[PAGERANK_STEPS];
} twin;

/* The one order of a sum: pieces of PAGERANK_FAN values, then pieces of their sums, until one is left. */
static double add_up(double *list, uint32_t count) {
    while (count > 1) {
        uint32_t pieces = 0;
        for (uint32_t i = 0; i < count; pieces++) {
            uint32_t end = count - i > PAGERANK_FAN ? i + PAGERANK_FAN : count;
            double sum = 0;
            while (i < end)
                sum += list[i++];
            list[pieces] = sum;
        }
        count = pieces;
    }
    return count ? list[0] : 0;
}

static double scale_of(const twin *t, uint32_t node) {
    return t->g->out_degree[node] ? t->damping / t->g->out_degree[node] : 1;
}

static void iterate(const twin *t, double *to, const double *from) {
    const graph *g = t->g;
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t first = g->in_first[v], count = g->in_first[v + 1] - first;
        for (uint32_t i = 0; i < count; i++)
            t->buffer[i] = from[g->in_source[first + i]];
        to[v] = add_up(t->buffer, count) * scale_of(t, v);
    }
}

static double dangling_mass(const twin *t, const double *from) {
    uint32_t count = 0;
    for (uint32_t v = 0; v < t->g->nodes; v++)
        if (t->g->out_degree[v] == 0)
            t->buffer[count++] = from[v];
    return add_up(t->buffer, count);
}

/* As many iterations as one run makes, from score to score. */
static void run(twin *t, bool first, uint32_t steps, double *score) {
    double *value = first ? t->base : t->value, delta[PAGERANK_STEPS], given[PAGERANK_STEPS];
    size_t nodes = t->g->nodes;
    for (uint32_t v = 0; v < nodes; v++)
        value[v] = score[v] * scale_of(t, v);
    for (uint32_t step = 0; step < steps; step++) {
        delta[step] = dangling_mass(t, value + step * nodes);
        iterate(t, value + (step + 1) * nodes, value + step * nodes);
    }
    if (first)
        memcpy(t->first_delta, delta, sizeof *delta * steps);
    pagerank_given(given, delta, t->first_delta, steps, t->damping);
    for (uint32_t v = 0; v < nodes; v++) {
        double sum = value[steps * nodes + v];
        for (uint32_t j = 0; j < steps; j++)
            sum = fma(given[j], t->base[(steps - 1 - j) * nodes + v], sum);
        score[v] = sum / scale_of(t, v);
    }
}

bool pagerank_twin(const graph *g, double damping, uint32_t iterations, double *score) {
    size_t bytes = sizeof(double) * g->nodes * (PAGERANK_STEPS + 1), most = g->nodes > g->edges ? g->nodes : g->edges;
    twin t = {.g = g, .damping = damping, .value = malloc(bytes), .base = malloc(bytes)};
    t.buffer = malloc(sizeof(double) * most);
    bool good = t.value && t.base && t.buffer;
    for (uint32_t v = 0; v < g->nodes; v++)
        score[v] = 1 / (double)g->nodes;
    for (uint32_t done = 0, steps; good && done < iterations; done += steps) {
        steps = iterations - done < PAGERANK_STEPS ? iterations - done : PAGERANK_STEPS;
        run(&t, done == 0, steps, score);
    }
    free(t.value);
    free(t.base);
    free(t.buffer);
    return good;
}
