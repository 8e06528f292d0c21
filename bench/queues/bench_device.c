/* The part of a measurement that is the same on every device: the shape, and whether popped items match pushed
 * items. */
#include "bench_device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CPU_STRIDE = 16777210 }; /* values per caller, a multiple of BENCH_PAIRS; 64 callers stay below BENCH_FILLED */

uint32_t bench_callers(const bench_device *d, const bench_spec *spec) {
    return spec->per_warp ? (spec->threads + d->warp - 1) / d->warp : spec->threads;
}

static uint32_t shift_of(uint32_t warp) {
    uint32_t shift = 0;
    while (1u << shift < warp)
        shift++;
    return shift;
}

bool bench_plan(const bench_device *d, const bench_spec *spec, bench_job *job, bench_result *result) {
    const bench_contender *queue = spec->queue;
    uint32_t wanted = spec->capacity < queue->least ? queue->least : spec->capacity;
    bl_shape shape = {wanted, 1, bench_callers(d, spec)};
    bl_fit fit = bl__shape_fit(&shape, queue->least, queue->most_threads, queue->by_handle);
    if (fit != BL_FIT_EXACT && fit != BL_FIT_ROUNDED) {
        snprintf(result->problem, sizeof result->problem, "%s", bl_fit_text(fit));
        return false;
    }
    *job = (bench_job){
        .capacity = shape.capacity, .threads = shape.threads, .callers = shape.threads, .items = spec->filled};
    job->shift = spec->per_warp ? shift_of(d->warp) : 0;
    job->group = d->warp > 1 ? BENCH_BLOCK >> job->shift : 1;
    job->push = spec->push;
    job->pop = spec->pop;
    job->fma = spec->fma;
    job->rounds = spec->rounds;
    job->seed = spec->seed;
    job->stride = d->warp > 1 ? BENCH_PAIRS * (spec->rounds ? spec->rounds : 1) : CPU_STRIDE;
    result->capacity = shape.capacity;
    return true;
}

bool bench_needs_drain(const bench_spec *spec) {
    return spec->loop != BENCH_TEN && spec->queue->kind != BL_QUEUE_KIND_CEILING;
}

/* ---- what went in ---- */

static uint64_t square(uint32_t value) { return (uint64_t)value * value; }

/* The values of one caller are consecutive, and wrap around if there are too many. */
static uint64_t squares_pushed(const bench_job *job, uint32_t rank) {
    uint32_t first = bench_first(job, rank), value = first;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < job->pushes[rank]; i++) {
        sum += square(value++);
        if (value - first >= job->stride)
            value = first;
    }
    return sum;
}

/* How many times a caller tried, from the same generator. */
static void attempts(const bench_job *job, uint32_t rank, uint64_t *pushes, uint64_t *pops) {
    uint32_t random = bench_random_start(job, rank);
    for (uint32_t round = 0; round < job->rounds; round++) {
        random = bench_random_next(random);
        for (uint32_t left = bench_some_pairs(random); left > 0; left--) {
            random = bench_random_next(random);
            *pushes += bench_chance(random) < job->push;
            random = bench_random_next(random);
            *pops += bench_chance(random) < job->pop;
        }
    }
}

void bench_check(const bench_spec *spec, const bench_job *job, bench_drained drained, bench_result *result) {
    uint64_t in = 0, out = drained.out, tried_push = 0, tried_pop = 0;
    result->pushes = result->pops = 0;
    for (uint32_t rank = 0; rank < job->threads; rank++) {
        in += squares_pushed(job, rank);
        out += job->out[rank];
        result->pushes += job->pushes[rank];
        result->pops += job->pops[rank];
        if (spec->loop == BENCH_MIXED)
            attempts(job, rank, &tried_push, &tried_pop);
    }
    for (uint32_t i = 0; i < job->items; i++)
        in += square(BENCH_FILLED + i);
    if (spec->loop == BENCH_MIXED) {
        result->full = tried_push - result->pushes;
        result->empty = tried_pop - result->pops;
    }
    bool all_out = result->pushes + job->items == result->pops + drained.pops;
    result->right = spec->queue->kind == BL_QUEUE_KIND_CEILING || (all_out && in == out);
}

static uint64_t squares_below(uint64_t n) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += i * i;
    return sum;
}

bool bench_check_atomics(bench_access access, uint32_t threads, uint32_t times, const uint64_t *out, uint32_t last) {
    uint64_t tickets = (uint64_t)threads * times, sum = 0, one = squares_below(times);
    bool right = true;
    for (uint32_t i = 0; i < threads; i++) {
        sum += out[i];
        right = right && out[i] == one;
    }
    return access == BENCH_PLAIN ? right : last == tickets && sum == squares_below(tickets);
}

/* Threads that wait or loop cannot be stopped, so the program exits without them. */
static void leave(const bench_device *d, const char *what, uint32_t threads, const char *why) __attribute__((noreturn));
static void leave(const bench_device *d, const char *what, uint32_t threads, const char *why) {
    fflush(NULL);
    fprintf(stderr, "ballast: %s with %u threads on %s: %s; the rows so far are complete\n", what, (unsigned)threads,
            d->id, why);
    _exit(1);
}

void bench_give_up(const bench_device *d, const char *what, uint32_t threads) {
    char why[64];
    snprintf(why, sizeof why, "timed out after %g s", d->patience);
    leave(d, what, threads, why);
}

void bench_no_threads(const bench_device *d, const char *what, uint32_t threads, uint32_t started, int error) {
    char why[160];
    snprintf(why, sizeof why, "only %u threads could be started: %.100s", (unsigned)started, strerror(error));
    leave(d, what, threads, why);
}
