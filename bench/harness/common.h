/* Shared by the benchmarks: clocks, and the median of a few measurements with their spread. */
#ifndef BALLAST_BENCH_COMMON_H
#define BALLAST_BENCH_COMMON_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_REPEATS_MAX = 101 };

typedef struct bench_times {
    double all[BENCH_REPEATS_MAX];
    uint32_t count;
} bench_times;

typedef struct bench_spread {
    double median, least, most;
} bench_spread;

static inline double bench_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static inline double bench_now(void) { return bench_clock(CLOCK_MONOTONIC); }

static inline void bench_add(bench_times *times, double value) {
    if (times->count < BENCH_REPEATS_MAX)
        times->all[times->count++] = value;
}

static inline int bench_ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline bench_spread bench_sum_up(const bench_times *times) {
    bench_spread spread = {0, 0, 0};
    uint32_t n = times->count;
    if (n == 0)
        return spread;
    double sorted[BENCH_REPEATS_MAX];
    memcpy(sorted, times->all, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, bench_ascending);
    spread.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    spread.least = sorted[0];
    spread.most = sorted[n - 1];
    return spread;
}

/* Runtimes let idle threads spin for a while after a region; the next method must not share the cores with them. */
static inline void bench_settle(void) {
    struct timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

#endif
