/* What runs the loops: the CPU, or one GPU. Both measure one repeat of one loop with one queue, set up from scratch,
 * and verify the result. */
#ifndef BALLAST_BENCH_DEVICE_H
#define BALLAST_BENCH_DEVICE_H

#include "atomics.h"
#include "contender.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_spec {
    const bench_contender *queue;
    bench_step loop;
    uint32_t threads;  /* lanes on a GPU */
    bool per_warp;     /* GPU: only one lane of each warp calls */
    uint32_t capacity; /* rounded up to a power of two, and to the queue's minimum */
    uint32_t filled;   /* items in it when the clock starts */
    uint32_t push, pop, fma, rounds, seed;
    double seconds; /* CPU, TEN and OWNER: how long */
} bench_spec;

typedef struct bench_result {
    double seconds;
    uint64_t pushes, pops; /* that were DONE */
    uint64_t full, empty;  /* attempts that failed */
    uint32_t capacity;     /* after rounding */
    bool right;            /* count and sum of squares of popped items equal those of pushed items */
    char problem[160];     /* why there is no figure; "" otherwise */
} bench_result;

typedef struct bench_atomic_result {
    double busy; /* seconds that a thread was running, on average; on a CPU excluding the time without a core */
    double span; /* seconds from the first start to the last end */
    bool right;  /* every number was handed out exactly once */
} bench_atomic_result;

/* How many threads a loop can run at once, since they wait for each other, and the registers per thread (0: does not
 * apply). */
typedef struct bench_room {
    uint32_t threads, registers;
} bench_room;

typedef struct bench_device {
    char id[24], name[128];
    const char *target;  /* whose code it runs */
    char about[256];     /* driver, compiler */
    uint32_t processors; /* cores, multiprocessors */
    uint32_t warp;       /* lanes that run in lockstep: 1 on a CPU */
    double patience;     /* seconds after which a loop that does not return is abandoned */
    bench_room (*room)(struct bench_device *d, const bench_contender *queue, bench_step loop);
    void (*measure)(struct bench_device *d, const bench_spec *spec, bench_result *result);
    uint32_t (*atomic_room)(struct bench_device *d); /* how many threads can run at once */
    void (*atomics)(struct bench_device *d, bench_access access, uint32_t threads, uint32_t times,
                    bench_atomic_result *result);
    void (*close)(struct bench_device *d);
} bench_device;

bool bench_open_cpu(bench_device *d);
bool bench_open_cuda(bench_device *d, int number); /* false: there is none */

/* ---- for devices ---- */

uint32_t bench_callers(const bench_device *d, const bench_spec *spec);
/* Fills in the job except the pointers; false, and a problem, if the queue cannot have that shape. */
bool bench_plan(const bench_device *d, const bench_spec *spec, bench_job *job, bench_result *result);
/* The arrays of a job, after its loop; items drained later are added. */
typedef struct bench_drained {
    uint64_t out;
    uint64_t pops;
} bench_drained;
void bench_check(const bench_spec *spec, const bench_job *job, bench_drained drained, bench_result *result);
/* Tickets 0 .. times - 1 for each thread (plain), or one series for all; `last` is the shared word at the end. */
bool bench_check_atomics(bench_access access, uint32_t threads, uint32_t times, const uint64_t *out, uint32_t last);
bool bench_needs_drain(const bench_spec *spec);
/* A loop that does not return cannot be stopped, only abandoned: prints one line and ends the program. */
void bench_give_up(const bench_device *d, const char *what, uint32_t threads) __attribute__((noreturn));
/* The same if the system started only some of the threads: those would wait for the missing ones for ever. */
void bench_no_threads(const bench_device *d, const char *what, uint32_t threads, uint32_t started, int error)
    __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
